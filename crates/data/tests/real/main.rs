//! The corpora and vectors of the catalog as they lie in the user's data folder. These tests are ignored
//! unless asked for (`cargo test -p landmark-data --test real -- --ignored`), and fail without `LANDMARK_DATA`.

#![allow(clippy::unwrap_used)] // a test program

use std::path::PathBuf;

use landmark_data::catalog::DATA_VARIABLE;

mod corpora;
mod mentions;
mod questions;
mod raw;

fn data_folder() -> PathBuf {
    PathBuf::from(std::env::var_os(DATA_VARIABLE).expect("`LANDMARK_DATA` names the folder of the corpora"))
}
