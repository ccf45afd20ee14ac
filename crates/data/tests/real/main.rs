//! The corpora and vectors of the catalog as they lie in the user's data folder. Without `LANDMARK_DATA` these tests say so and
//! prove nothing.

#![allow(clippy::unwrap_used)] // a test program

use std::path::PathBuf;

use landmark_data::catalog::DATA_VARIABLE;

mod corpora;
mod mentions;
mod questions;
mod raw;

fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: `{DATA_VARIABLE}` is not set");
    }
    folder
}
