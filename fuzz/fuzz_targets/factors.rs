//! Factors of a run: `vectors.npy` next to a description and signs that are whole.

#![no_main]

use std::fs;

use landmark_fuzz::{files, folder, seed, with_file};
use landmark_harness::factors::Factors;
use libfuzzer_sys::fuzz_target;

const INFO: &str = r#"{"version": 1, "items": 3, "columns": 2, "method": "nystrom", "rank": 2, "landmarks": [0, 2], "oracle": "00",
    "texts": null, "gamma": null, "error": null, "proxy": false, "cut_short": false, "failed_pairs": 0}"#;

/// A NumPy file of numbers 1, 2, …
fn npy(shape: &str, count: u8) -> Vec<u8> {
    let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    let text = format!("{text:<117}\n");
    let numbers: Vec<u8> = (1..=count).flat_map(|k| f64::from(k).to_le_bytes()).collect();
    [b"\x93NUMPY\x01\0\x76\0".as_slice(), text.as_bytes(), &numbers].concat()
}

fn begin() {
    let folder = folder().join("factors");
    fs::create_dir_all(&folder).expect("the scratch folder");
    fs::write(folder.join("factors.json"), INFO).expect("the scratch folder");
    fs::write(folder.join("signature.npy"), npy("2,", 2)).expect("the scratch folder");
    fs::write(folder.join("vectors.npy"), npy("3, 2", 6)).expect("the scratch folder");
    Factors::read(&folder).expect("the example is whole");
    seed([vec![npy("3, 2", 6), npy("100000, 200000", 6)], files("configs", ".npy")].concat());
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    with_file("factors/vectors.npy", bytes, |path| {
        let folder = path.parent().unwrap_or(path);
        Factors::read(folder).map(drop).map_err(|error| error.to_string())
    });
});
