//! landmark-data: datasets in, typed items out.

pub mod bag_of_words;
pub mod catalog;
pub mod corpus;
pub mod documents;
pub mod embedded;
mod error;
mod lines;
pub mod matrices;
mod normal;
mod npy_header;
pub mod splits;
pub mod tokens;
pub mod word_vectors;

pub use bag_of_words::BagsOfWords;
pub use corpus::{Corpus, Coverage, TokenRules};
pub use documents::{Columns, DocumentFormat, Headers, LabelledDocuments};
pub use error::DataError;
pub use splits::{Part, Split, stratified_sample};
pub use word_vectors::{PpmiParams, VectorFiles, VectorFormat, WordVectors, ppmi_svd};
