//! A user's items in Parquet, whose reader may panic: caught, and an error like any other.

#![no_main]

use landmark_fuzz::{files, seed, with_file};
use landmark_harness::config::TextsFormat;
use landmark_harness::table_file::TableFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seed(files("results", ".parquet")), |bytes: &[u8]| {
    with_file("items.parquet", bytes, |path| {
        let file = TableFile { path, layout: TextsFormat::Parquet, delimiter: None };
        let head = file.head().map_err(|error| error.to_string())?;
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        file.read(&head).map(drop).map_err(|error| error.to_string())
    });
});
