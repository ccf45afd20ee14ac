//! Logs of calls, as they are and with checksums that fit.

#![no_main]

use landmark_fuzz::seed;
use landmark_store::fuzzing::{example_log, read_log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seed(vec![example_log()]), |bytes: &[u8]| read_log(bytes));
