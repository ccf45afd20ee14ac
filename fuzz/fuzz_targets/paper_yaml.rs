//! `reference.yaml` and `claims.yaml` of a paper.

#![no_main]

use landmark_fuzz::{files, seed, with_file};
use landmark_report::{Claims, Reference};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seed([files("experiments", "reference.yaml"), files("experiments", "claims.yaml")].concat()),
    |bytes: &[u8]| {
        with_file("reference.yaml", bytes, |path| Reference::read(path).map(drop).map_err(|error| error.to_string()));
        with_file("claims.yaml", bytes, |path| Claims::read(path).map(drop).map_err(|error| error.to_string()));
    }
);
