//! Tiles of the store, whose checksum always fits.

#![no_main]

use landmark_fuzz::seed;
use landmark_store::fuzzing::{example_tiles, read_tile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seed(example_tiles()), |bytes: &[u8]| read_tile(bytes));
