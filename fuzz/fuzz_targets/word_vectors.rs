//! Word vectors of word2vec and GloVe.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &["word vectors"];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
