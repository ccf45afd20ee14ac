//! Matrices and rows in `.npy`, `.npz` and lines.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &["matrix, npy", "rows, npy", "rows, npz", "matrix, sparse npz", "matrix, lines"];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
