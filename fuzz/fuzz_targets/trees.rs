//! Trees in brackets, examples of KeLP, parses of CoNLL-U.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &["trees in brackets", "examples, KeLP", "parses, CoNLL-U"];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
