//! Common parts of the fuzz targets: examples to begin with, a file for readers of files, and a bound on memory.
//!
//! The readers and the model of the store are those of the ordinary tests, taken in by their paths. Run by `scripts/test-fuzz`.

use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cap::Cap;
use libfuzzer_sys as _;

#[path = "../../crates/data/tests/readers/targets.rs"]
mod readers;
/// The store against its model.
#[path = "../../crates/store/tests/store"]
pub mod store {
    mod faulty;
    mod model;

    /// Runs a script of operations, faults and kills.
    pub fn check(script: &[u8]) {
        model::check(script);
    }
}

/// Half a GiB for inputs of a few KiB: a header that is believed is a find.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, 512 << 20);

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"))
}

/// Contents of the files below a folder of the repository whose path ends so, if they are small.
pub fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let (mut found, mut folders) = (Vec::new(), vec![repository().join(folder)]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.display().to_string().ends_with(end) {
                found.extend(fs::read(path).ok().filter(|bytes| bytes.len() < 1 << 16));
            }
        }
    }
    found
}

/// Examples of the readers of these names, each behind the number of its reader where there are several.
pub fn examples(names: &[&str]) -> Vec<Vec<u8>> {
    let of = |(number, name): (usize, &&str)| {
        let number: Vec<u8> = if names.len() > 1 { vec![number as u8] } else { Vec::new() };
        (reader(name).examples)().into_iter().map(move |example| [&number[..], &example].concat())
    };
    names.iter().enumerate().flat_map(of).collect()
}

/// Writes examples into the first folder of the command line, where libFuzzer begins.
pub fn seed(examples: Vec<Vec<u8>>) {
    let Some(folder) = std::env::args().skip(1).find(|argument| Path::new(argument).is_dir()) else { return };
    for (number, example) in examples.iter().enumerate() {
        fs::write(Path::new(&folder).join(format!("example-{number}")), example).expect("the corpus");
    }
}

/// Reads a file with one of these readers, the first byte selects which; alone it gets all of the bytes.
pub fn read(names: &[&str], bytes: &[u8]) {
    let (name, bytes) = match (names, bytes) {
        ([name], bytes) => (name, bytes),
        (_, [number, bytes @ ..]) => (&names[usize::from(*number) % names.len()], bytes),
        _ => return,
    };
    let reader = reader(name);
    with_file(reader.file, bytes, |path| (reader.read)(path, bytes));
}

/// Hands a file of this name to a reader, whose error must name it.
///
/// # Panics
/// Where it does not.
pub fn with_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path) -> Result<(), String>) {
    let path = folder().join(name);
    fs::write(&path, bytes).expect("the scratch folder");
    if let Err(error) = read(&path) {
        let is_named = error.contains(name) || error.contains("mentions.jsonl");
        assert!(is_named, "an error that names no file: {error}");
    }
}

/// A scratch folder of this process.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("landmark-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a scratch folder");
        folder
    })
}

fn reader(name: &str) -> &'static readers::Target {
    static READERS: [readers::Target; readers::TARGETS.len()] = readers::TARGETS;
    READERS.iter().find(|reader| reader.name == name).unwrap_or_else(|| panic!("no reader `{name}`"))
}
