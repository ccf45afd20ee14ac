//! Stores that are torn, foreign, misplaced or full: refused by name, with the next step, and repaired by it.

use std::path::{Path, PathBuf};

use crate::scratch::{SAMPLE, Scratch, number_before};

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// A store is refused because of `file`; `verify` lists it, `gc` removes it, and a run evaluates what it held.
fn refused_then_mended(scratch: &Scratch, file: &Path, because: &[&str], lost: u64) {
    let name = name_of(file);
    scratch.complains("--force", &[&[name.as_str(), "landmark store gc"], because].concat());
    scratch.ends(1, "store verify").prints(&[&format!("{name}: "), "store gc"]);
    let planned = scratch.say("store gc --dry-run --store store");
    assert!(planned.out.contains("1 files would be removed") && file.exists(), "{}", planned.out);
    let cleaned = scratch.well("store gc");
    assert!(cleaned.out.contains(&name) && !file.exists(), "{}", cleaned.out);
    let again = scratch.run_well("--force");
    assert_eq!(number_before(&again.err, " new calls"), lost, "{}", again.err);
    scratch.entries_kept("store");
}

fn evaluated() -> (Scratch, PathBuf) {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--quiet");
    let tile = scratch.tiles("store").remove(0);
    (scratch, tile)
}

#[test]
fn a_tile_with_a_flipped_byte_is_refused_by_name() {
    let (scratch, tile) = evaluated();
    let (figures, all) = (scratch.figures("runs/sample"), scratch.entries_kept("store"));
    let mut bytes = std::fs::read(&tile).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&tile, bytes).unwrap();
    let sound = number_before(&scratch.say("store verify").out, " entries");
    refused_then_mended(&scratch, &tile, &["is torn or edited"], all - sound);
    assert_eq!(scratch.figures("runs/sample"), figures);
}

#[test]
fn a_file_is_no_store_and_no_folder_of_results() {
    let scratch = Scratch::with(SAMPLE);
    scratch.write("taken", "");
    scratch.complains("--store taken", &["`taken` is not a store", "it is a file", "--store"]);
    scratch.complains("--results taken", &["create the folder `taken/sample`", "run the same command again"]);
    scratch.complains("--store nowhere://x", &["nowhere://x", "is not a store"]);
}
