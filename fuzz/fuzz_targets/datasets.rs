//! Documents, pairs, threads, mentions and judgments in the layouts of the datasets.

#![no_main]

use landmark_fuzz::{examples, read, seed};
use libfuzzer_sys::fuzz_target;

const READERS: &[&str] = &[
    "documents, TSV",
    "documents, JSON lines",
    "pairs, TSV",
    "threads, JSON lines",
    "mentions, JSON lines",
    "relevancy",
];

fuzz_target!(init: seed(examples(READERS)), |bytes: &[u8]| read(READERS, bytes));
