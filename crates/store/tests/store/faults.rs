//! Files and folders that are not as they should be; each error names the file and the next step.

use std::error::Error as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use landmark_core::oracle::{Identity, Itemless, Oracle, OracleError, Symmetry};
use landmark_store::{AfterClose, ItemList, OracleLabel, StoreError, Stored, TileStore};
use ndarray::Array2;

use crate::counting::{Counting, attach, open, open_faulty, tiles};
use crate::faulty::{Fault, Faults};

fn label() -> OracleLabel {
    OracleLabel::new("counting", "")
}

fn evaluated(folder: &Path) {
    let stored = attach(folder, Counting::symmetric(20));
    stored.block(&[0, 1, 2, 3], &[5, 6, 7], Array2::zeros((4, 3)).view_mut()).unwrap();
    stored.flush().unwrap();
}

/// The error of attaching, which must name the only tile.
fn refusal(folder: &Path) -> StoreError {
    let error = open(folder).attach(Counting::symmetric(20), label()).err().expect("a bad tile must be refused");
    let tile = tiles(folder).remove(0);
    assert!(error.to_string().contains(&tile.display().to_string()), "{error}");
    error
}

pub(crate) fn root_cause(error: &OracleError) -> &StoreError {
    match error {
        OracleError::Failed { source, .. } => source.downcast_ref().expect("an error of the store"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_torn_or_edited_tile_is_refused_by_name_wherever_it_is_cut_or_changed() {
    let folder = tempfile::tempdir().unwrap();
    evaluated(folder.path());
    let tile = tiles(folder.path()).remove(0);
    let whole = std::fs::read(&tile).unwrap();
    for at in 0..whole.len() {
        let mut edited = whole.clone();
        edited[at] ^= 1;
        std::fs::write(&tile, &edited).unwrap();
        assert!(matches!(refusal(folder.path()), StoreError::Torn { .. }), "byte {at}");
    }
    for len in [0, 1, 7, 8, 79, 80, 111, 112, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&tile, &whole[..len]).unwrap();
        let error = refusal(folder.path());
        assert!(matches!(error, StoreError::Torn { .. }) && error.to_string().contains("landmark store gc"), "{error}");
    }
}

#[test]
fn an_edited_tile_with_a_fitting_checksum_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    evaluated(folder.path());
    let tile = tiles(folder.path()).remove(0);
    let mut bytes = std::fs::read(&tile).unwrap();
    let body = bytes.len() - 32;
    bytes[body - 1] ^= 1;
    let checksum = blake3::hash(&bytes[..body]);
    bytes[body..].copy_from_slice(checksum.as_bytes());
    std::fs::write(&tile, bytes).unwrap();
    assert!(matches!(refusal(folder.path()), StoreError::Renamed { .. }));
}

#[test]
fn a_tile_of_another_oracle_is_refused_by_name() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    evaluated(here.path());
    let other = attach(there.path(), Counting::symmetric(21));
    other.evaluate(&[(3, 20)], &mut [0.0]).unwrap();
    drop(other);
    let (mine, foreign) = (tiles(here.path()).remove(0), tiles(there.path()).remove(0));
    std::fs::copy(&foreign, mine.with_file_name(foreign.file_name().unwrap())).unwrap();
    let error = open(here.path()).attach(Counting::symmetric(20), label()).err().unwrap();
    assert!(matches!(&error, StoreError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains(&foreign.file_name().unwrap().display().to_string()), "{error}");
}

#[test]
fn a_description_of_another_oracle_or_of_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    evaluated(folder.path());
    let manifest = tiles(folder.path()).remove(0).with_file_name("oracle.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"items\": 20", "\"items\": 19")).unwrap();
    let error = open(folder.path()).attach(Counting::symmetric(20), label()).err().unwrap();
    assert!(matches!(error, StoreError::ForeignManifest { what: "the number of items", .. }), "{error}");
    let expected =
        "oracle.json` describes another oracle: the number of items is 19, but here it must be 20. Remove it;";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(!error.to_string().contains("tile"), "{error}");
    std::fs::write(&manifest, "{ not json").unwrap();
    let error = open(folder.path()).attach(Counting::symmetric(20), label()).err().unwrap();
    assert!(matches!(error, StoreError::Manifest { .. }), "{error}");
}

#[test]
fn a_tile_that_is_listed_and_never_there_is_an_error_and_one_that_comes_back_is_read() {
    let folder = tempfile::tempdir().unwrap();
    evaluated(folder.path());
    let tile = tiles(folder.path()).remove(0);
    let name = tile.file_name().unwrap().to_str().unwrap();
    let faults = Arc::<Faults>::default();
    let store = open_faulty(folder.path(), &faults);
    faults.hide(name, 2);
    assert_eq!(store.attach(Counting::symmetric(20), label()).unwrap().entries(), 12);
    faults.hide(name, 10);
    let error = store.attach(Counting::symmetric(20), label()).err().expect("ten times is never");
    assert!(error.to_string().contains(&tile.display().to_string()), "{error}");
    assert!(error.source().unwrap().to_string().contains("listed 3 times"), "{error}");
}

#[test]
fn a_close_that_failed_can_be_tried_once_more_and_letting_go_publishes_what_it_could_not() {
    for retries in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let faults = Arc::<Faults>::default();
        let store = open_faulty(folder.path(), &faults);
        let stored = store.attach(Counting::symmetric(20), label()).unwrap();
        stored.evaluate(&[(0, 5), (1, 6)], &mut [0.0; 2]).unwrap();
        faults.arm(0, 100, Fault::Before);
        stored.close(AfterClose::Refuse).unwrap_err();
        stored.flush().unwrap_err();
        stored.close(AfterClose::Refuse).unwrap_err();
        faults.disarm();
        if retries {
            stored.close(AfterClose::Refuse).unwrap();
            let error = stored.evaluate(&[(2, 3)], &mut [0.0]).unwrap_err();
            assert!(matches!(root_cause(&error), StoreError::Closed { .. }), "{error}");
        }
        drop(stored);
        assert_eq!((tiles(folder.path()).len(), attach(folder.path(), Counting::symmetric(20)).entries()), (1, 2));
    }
}

#[test]
fn a_file_in_place_of_the_folder_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    std::fs::write(&file, "").unwrap();
    let error = TileStore::open(&file.display().to_string()).err().unwrap();
    assert!(matches!(error, StoreError::Address { .. }), "{error}");
    assert!(error.to_string().contains("--store"), "{error}");
    // a file on the way to the folder is found before anything is evaluated
    let below = open(&file.join("below"));
    let error = match below.attach(Counting::symmetric(5), label()) {
        Err(error) => error.to_string(),
        Ok(stored) => {
            let error = stored.evaluate(&[(0, 1)], &mut [0.0]).unwrap_err();
            assert_eq!(stored.inner().calls().0, 0);
            root_cause(&error).to_string()
        }
    };
    assert!(error.contains(&file.display().to_string()), "{error}");
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_cloud_this_build_cannot_reach_is_named_with_the_feature_it_needs() {
    let error = TileStore::open("s3://bucket/prefix").err().unwrap();
    assert!(error.to_string().contains("--features landmark-store/s3"), "{error}");
    assert!(TileStore::open("nonsense://x").is_err());
}

#[test]
fn a_store_that_vanishes_in_the_middle_of_a_run_is_not_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    evaluated(&root);
    let stored = attach(&root, Counting::symmetric(20));
    std::fs::rename(&root, folder.path().join("elsewhere")).unwrap();
    let error = stored.refresh().unwrap_err();
    assert!(matches!(error, StoreError::Vanished { .. }), "{error}");
}

const CHILD: &str = "LANDMARK_TEST_SMALL_DISK";

/// Runs one of the two children below on a small file system of its own, mounted in a private namespace.
fn on_a_small_disk(child: &str, mount: &str) {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("mount {mount} && exec \"$0\" --exact faults::{child} --nocapture");
    let started = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, folder.path())
        .output();
    let done = started.expect("`unshare` lets a test mount a file system");
    assert!(
        done.status.success(),
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
#[ignore = "mounts a file system of its own: needs `unshare` and user namespaces"]
fn a_full_disk_is_named_and_what_was_published_stays() {
    on_a_small_disk("child_on_a_full_disk", "-t tmpfs -o size=160k none \"$LANDMARK_TEST_SMALL_DISK\"");
}

#[test]
fn child_on_a_full_disk() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let all: Vec<usize> = (0..400).collect();
    let first = attach(folder, Counting::symmetric(400));
    first.block(&all, &[0, 1, 2], Array2::zeros((400, 3)).view_mut()).unwrap();
    first.flush().unwrap();
    // 80,000 entries are 640 kB
    let error = first.block(&all, &all, Array2::zeros((400, 400)).view_mut()).unwrap_err();
    let error = root_cause(&error);
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().contains("no space is left"), "{error}");
    let (calls, largest) = first.inner().calls();
    drop(first);
    // the batch that found no room is lost, which is less than four times all before it, and the run ends with it
    let second: Stored<Counting> = attach(folder, Counting::symmetric(400));
    let kept = second.entries();
    assert!(kept >= 3 * 400 - 6 && calls <= 5 * kept && calls < 400 * 399 / 2 && largest == 1, "{kept} of {calls}");
}

#[test]
#[ignore = "mounts a file system of its own: needs `unshare` and user namespaces"]
fn a_read_only_store_is_read_but_nothing_is_evaluated_for_it() {
    on_a_small_disk(
        "child_on_a_read_only_folder",
        "-t tmpfs -o size=1m none \"$LANDMARK_TEST_SMALL_DISK\" && \"$0\" --exact faults::child_that_fills_a_folder && \
         mount -o remount,ro \"$LANDMARK_TEST_SMALL_DISK\"",
    );
}

#[test]
fn child_that_fills_a_folder() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    evaluated(Path::new(&folder));
    let stored = attach(Path::new(&folder), Counting::symmetric(20));
    assert_eq!(stored.carry_over(&numbers(20), true).unwrap(), 0);
}

fn numbers(len: u32) -> ItemList {
    ItemList::new(
        Itemless { identity: Identity::of(&[]), symmetry: Symmetry::Symmetric },
        (0..len).map(u32::to_le_bytes),
    )
}

#[test]
fn child_on_a_read_only_folder() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let stored = attach(Path::new(&folder), Counting::symmetric(20));
    assert_eq!(stored.entries(), 12);
    stored.evaluate(&[(0, 5)], &mut [0.0]).unwrap();
    let error = stored.evaluate(&[(0, 19)], &mut [0.0]).unwrap_err();
    let error = root_cause(&error);
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    assert_eq!(causes.map(ToString::to_string).collect::<Vec<_>>(), ["Read-only file system (os error 30)"]);
    assert_eq!(stored.inner().calls().0, 0, "it cost something that could not be kept");
    // what another list has is available, although it can't be written for this one
    let longer = attach(Path::new(&folder), Counting::symmetric(21));
    assert_eq!((longer.carry_over(&numbers(21), true).unwrap(), longer.entries()), (12, 12));
    longer.evaluate(&[(0, 5)], &mut [0.0]).unwrap();
    longer.flush().unwrap();
    assert_eq!(longer.inner().calls().0, 0);
}
