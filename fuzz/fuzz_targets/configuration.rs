//! Configurations: profile, assignments, every section; and what is read is written and read again.

#![no_main]

use std::path::Path;

use landmark_fuzz::{files, seed};
use landmark_harness::config::{Config, Overlays};
use libfuzzer_sys::fuzz_target;
use runner::registry::registry;

fuzz_target!(init: seed(files("configs", ".yaml")), |bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let file = Path::new("configs/mine.yaml");
    match Config::parse(file, text, &Overlays::default(), registry()) {
        Ok(config) => {
            let resolved = config.to_yaml().expect("what was read can be written");
            let again = Config::parse(file, &resolved, &Overlays::default(), registry());
            if let Err(error) = again {
                panic!("`{resolved}` is not read again: {}", error.lines());
            }
        }
        Err(error) => assert!(error.lines().contains("mine.yaml"), "{}", error.lines()),
    }
});
