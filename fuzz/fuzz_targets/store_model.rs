//! The store against its model: the bytes are a script of operations, faults and kills.

#![no_main]

use landmark_fuzz::store::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| check(&script[..script.len().min(400)]));
