//! Chains of CoNLL-2012.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &["coreference, CoNLL-2012"];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
