//! `landmark store ls|verify|gc`, as functions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use landmark_core::oracle::Oracle;

use crate::counting::{Counting, attach, open, tiles};

fn crumbs(folder: &Path) {
    for k in 1..=40 {
        let stored = attach(folder, Counting::symmetric(50));
        stored.evaluate(&[(k, 0), (k / 2, k)], &mut [0.0; 2]).unwrap();
    }
}

#[test]
fn a_store_that_does_not_exist_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("nothing"));
    assert!(store.contents().unwrap().is_empty());
    assert!(store.verify().unwrap().problems.is_empty());
    assert!(store.clean(false).unwrap().removed.is_empty());
    assert!(!folder.path().join("nothing").exists());
}

#[test]
fn contents_list_what_lies_there() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    std::fs::create_dir(folder.path().join("something else")).unwrap();
    let contents = open(folder.path()).contents().unwrap();
    assert_eq!(contents.len(), 1);
    let found = &contents[0];
    assert_eq!(found.identity, Counting::symmetric(50).identity().to_hex());
    assert_eq!((found.kind.as_str(), found.description.as_str()), ("counting", "counts its calls"));
    assert_eq!((found.items, found.tiles), (Some(50), 40));
    assert_eq!(found.entries, attach(folder.path(), Counting::symmetric(50)).entries());
    let bytes: u64 = tiles(folder.path()).iter().map(|tile| tile.metadata().unwrap().len()).sum();
    assert_eq!(found.bytes, bytes);
}

#[test]
fn merging_small_tiles_keeps_every_entry() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    let before = attach(folder.path(), Counting::symmetric(50));
    let would = open(folder.path()).clean(true).unwrap();
    assert_eq!((would.merged, would.into, tiles(folder.path()).len()), (40, 1, 40));
    let did = open(folder.path()).clean(false).unwrap();
    assert_eq!((did.merged, did.into, tiles(folder.path()).len()), (40, 1, 1));
    let after = attach(folder.path(), Counting::symmetric(50));
    assert_eq!(after.entries(), before.entries());
    let mut scores = [0.0];
    for k in 1..=40 {
        after.evaluate(&[(0, k)], &mut scores).unwrap();
        assert_eq!(scores[0], after.inner().score(0, k));
    }
    assert_eq!(after.inner().calls().0, 0);
    // a run that had read the small ones continues with the large one
    before.refresh().unwrap();
    assert_eq!(before.entries(), after.entries());
    // and putting in order what is in order changes nothing
    let again = open(folder.path()).clean(false).unwrap();
    assert_eq!((again.merged, again.into, again.removed.len()), (0, 0, 0));
}

#[test]
fn bad_files_are_found_by_name_and_removed_and_only_they() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    let all = tiles(folder.path());
    let torn = &all[3];
    let bytes = std::fs::read(torn).unwrap();
    std::fs::write(torn, &bytes[..bytes.len() - 5]).unwrap();
    let renamed = all[0].with_file_name(format!("{}.tile", "0".repeat(64)));
    std::fs::copy(&all[8], &renamed).unwrap();

    let verified = open(folder.path()).verify().unwrap();
    assert_eq!(verified.tiles, 39);
    let mut found: Vec<String> = verified.problems.iter().map(|problem| problem.file.clone()).collect();
    found.sort();
    let mut expected = vec![torn.display().to_string(), renamed.display().to_string()];
    expected.sort();
    assert_eq!(found, expected);

    let cleaned = open(folder.path()).clean(false).unwrap();
    assert_eq!(cleaned.removed.len(), 2);
    let verified = open(folder.path()).verify().unwrap();
    assert!(verified.problems.is_empty() && verified.tiles == 1);
    // one crumb was torn: 2 entries, (3, 0) style, are evaluated again
    let stored = attach(folder.path(), Counting::symmetric(50));
    assert_eq!(stored.entries(), verified.entries);
}

#[test]
fn files_that_a_writer_renames_or_removes_meanwhile_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    let place = tiles(folder.path())[0].parent().unwrap().to_owned();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // half-written, then under another name, then gone
                let paths = |name: &str| (0..300).map(|k| place.join(format!("{name}{k}"))).collect::<Vec<_>>();
                let (half, whole) = (paths("a.tile#"), paths("b.tile#"));
                half.iter().for_each(|path| std::fs::write(path, "half").unwrap());
                half.iter().zip(&whole).for_each(|(half, whole)| std::fs::rename(half, whole).unwrap());
                whole.iter().for_each(|path| std::fs::remove_file(path).unwrap());
            }
        });
        let cleaned: Vec<_> = (0..100).map(|_| open(folder.path()).clean(false)).collect();
        is_over.store(true, Ordering::Relaxed);
        for cleaned in cleaned {
            assert!(cleaned.unwrap().removed.is_empty());
        }
    });
}

#[test]
fn two_that_put_in_order_at_once_remove_each_leftover_once() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    open(folder.path()).clean(false).unwrap();
    let place = tiles(folder.path())[0].parent().unwrap().to_owned();
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    for k in 0..1000 {
        let half = std::fs::File::create(place.join(format!("a.tile#{k}"))).unwrap();
        half.set_modified(long_ago).unwrap();
    }
    let clean = || open(folder.path()).clean(false).unwrap().removed.len();
    let removed = std::thread::scope(|scope| {
        let other = scope.spawn(clean);
        clean() + other.join().unwrap()
    });
    assert_eq!(removed, 1000);
}

#[test]
fn a_bad_description_is_a_problem_and_the_next_run_writes_it_again() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    let manifest = tiles(folder.path())[0].with_file_name("oracle.json");
    std::fs::write(&manifest, "{}").unwrap();
    let verified = open(folder.path()).verify().unwrap();
    assert_eq!((verified.tiles, verified.problems.len()), (40, 1));
    open(folder.path()).clean(false).unwrap();
    assert!(!manifest.exists());
    attach(folder.path(), Counting::symmetric(50)).evaluate(&[(48, 49)], &mut [0.0]).unwrap();
    assert_eq!(open(folder.path()).contents().unwrap()[0].items, Some(50));
}

/// Writes another number of items into the description of the only oracle, and answers its file.
fn miscount(folder: &Path) -> PathBuf {
    let oracle = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let manifest = oracle.join("oracle.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"items\": 50", "\"items\": 49")).unwrap();
    manifest
}

#[test]
fn a_description_of_other_items_is_the_problem_and_no_tile_is_removed_for_it() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    let all = attach(folder.path(), Counting::symmetric(50)).entries();
    let torn = tiles(folder.path()).remove(0);
    let lost = std::fs::read(&torn).unwrap();
    std::fs::write(&torn, &lost[..lost.len() - 5]).unwrap();
    let manifest = miscount(folder.path());
    let verified = open(folder.path()).verify().unwrap();
    let found: Vec<&str> = verified.problems.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!((verified.tiles, found), (39, vec![manifest.to_str().unwrap(), torn.to_str().unwrap()]));
    let message = verified.problems[0].error.to_string();
    for part in ["oracle.json`", "the number of items is 49, but here it must be 50, as in `", "Remove it"] {
        assert!(message.contains(part), "{message}");
    }

    let removed = open(folder.path()).clean(false).unwrap().removed;
    assert_eq!(removed, [manifest.display().to_string(), torn.display().to_string()]);
    assert_eq!(tiles(folder.path()).len(), 39);
    let stored = attach(folder.path(), Counting::symmetric(50));
    assert!(stored.entries() >= all - 2, "{} of {all}", stored.entries());
    stored.evaluate(&[(48, 49)], &mut [0.0]).unwrap();
    drop(stored);
    assert_eq!(open(folder.path()).contents().unwrap()[0].items, Some(50));
    assert!(open(folder.path()).verify().unwrap().problems.is_empty());
}

#[test]
fn a_log_is_not_removed_for_a_description_of_other_items() {
    let folder = tempfile::tempdir().unwrap();
    let killed = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Counting::symmetric(50));
    stored.evaluate(&[(1, 0), (2, 0)], &mut [0.0; 2]).unwrap();
    // what a kill leaves: a log and no tile
    let oracle = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap();
    let copy = killed.path().join(oracle.file_name());
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(oracle.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let manifest = miscount(killed.path());
    let cleaned = open(killed.path()).clean(false).unwrap();
    assert_eq!(cleaned.removed, [manifest.display().to_string()]);
    assert_eq!(attach(killed.path(), Counting::symmetric(50)).entries(), 2);
}

#[test]
fn a_tile_of_other_items_next_to_those_of_the_description_is_named_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    crumbs(folder.path());
    open(folder.path()).clean(false).unwrap();
    let tile = tiles(folder.path()).remove(0);
    // an oracle of other items under the same identity
    let mut bytes = std::fs::read(&tile).unwrap();
    let body = bytes.len() - 32;
    bytes[48] += 1;
    let checksum = blake3::hash(&bytes[..body]);
    bytes[body..].copy_from_slice(checksum.as_bytes());
    // the last by name, so that the description is borne out first
    let odd = tile.with_file_name(format!("z-{}.tile", checksum.to_hex()));
    std::fs::write(&odd, bytes).unwrap();
    let verified = open(folder.path()).verify().unwrap();
    assert_eq!((verified.tiles, verified.problems.len()), (1, 1));
    let message = verified.problems[0].error.to_string();
    assert!(message.contains(odd.to_str().unwrap()) && message.contains("among 51 items, not 50"), "{message}");
    assert!(open(folder.path()).clean(false).unwrap().removed.is_empty() && odd.exists());
}
