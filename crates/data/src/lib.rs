//! landmark-data: datasets in, typed items out.

pub mod bag_of_words;

pub use bag_of_words::BagsOfWords;
