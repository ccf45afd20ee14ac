//! Mentions of ECB+.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &["mentions, ECB+ XML"];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
