//! The studies: one file each, and one line in `registry/studies.rs`.

pub mod coref;
pub mod corpora;
pub mod cqa;
pub mod feature_time;
pub mod intent;
pub mod sketching;
pub mod structured;
pub mod text_sketch;
