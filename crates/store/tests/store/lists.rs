//! Lists of items that grow, shrink and change their order under one scorer: what is kept of their pairs is not asked for again.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use landmark_core::oracle::{Identity, Itemless, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{ItemList, OracleLabel, ScorePool, Stored};

use crate::counting::open;

struct Letters {
    words: Vec<&'static str>,
    scorer: &'static str,
    symmetry: Symmetry,
    calls: AtomicU64,
}

impl Letters {
    fn new(words: &[&'static str]) -> Self {
        Self { words: words.to_vec(), scorer: "letters", symmetry: Symmetry::Symmetric, calls: AtomicU64::new(0) }
    }

    fn score(&self, (i, j): Pair) -> f64 {
        let letter = |item: usize| f64::from(self.words[item].as_bytes()[0]);
        match self.symmetry {
            Symmetry::Symmetric => letter(i) * letter(j),
            Symmetry::Asymmetric => letter(i) / letter(j),
        }
    }

    fn list(&self) -> ItemList {
        let identity = Identity::of(&[("scorer", self.scorer.as_bytes())]);
        ItemList::new(Itemless { identity, symmetry: self.symmetry }, self.words.iter().copied())
    }

    fn pairs(&self) -> Vec<Pair> {
        let n = self.len();
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j).collect()
    }
}

impl Oracle for Letters {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.words.len(), self.symmetry)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("scorer", self.scorer.as_bytes()), ("words", self.words.join(" ").as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.calls.fetch_add(pairs.len() as u64, Ordering::Relaxed);
        out.iter_mut().zip(pairs).for_each(|(out, &pair)| *out = self.score(pair));
        Ok(())
    }
}

fn attach(folder: &Path, oracle: Letters) -> Stored<Letters> {
    open(folder).attach(oracle, OracleLabel::new("letters", "first letters")).unwrap()
}

/// Scores every pair of a list; answers (scores carried over, calls made).
fn scored(folder: &Path, oracle: Letters) -> (u64, u64) {
    let stored = attach(folder, oracle);
    let carried = stored.carry_over(&stored.inner().list(), true).unwrap();
    let pairs = stored.inner().pairs();
    let mut scores = vec![0.0; pairs.len()];
    stored.evaluate(&pairs, &mut scores).unwrap();
    let right: Vec<f64> = pairs.iter().map(|&pair| stored.inner().score(pair)).collect();
    assert_eq!(scores, right);
    stored.flush().unwrap();
    (carried, stored.inner().calls.load(Ordering::Relaxed))
}

#[test]
fn a_list_that_changed_asks_only_for_pairs_of_new_items() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert_eq!(scored(path, Letters::new(&["apple", "berry", "cherry"])), (0, 3));
    // grown, and in another order
    assert_eq!(scored(path, Letters::new(&["date", "cherry", "apple", "berry"])), (3, 3));
    // a sample
    assert_eq!(scored(path, Letters::new(&["berry", "date"])), (1, 0));
    // from two lists at once
    assert_eq!(scored(path, Letters::new(&["elder", "fig"])), (0, 1));
    assert_eq!(scored(path, Letters::new(&["fig", "apple", "elder", "cherry"])), (1 + 1, 6 - 2));
    // the list itself, again
    assert_eq!(scored(path, Letters::new(&["date", "cherry", "apple", "berry"])), (0, 0));
}

#[test]
fn equal_items_are_items_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let twice = ["apple", "berry", "apple"];
    assert_eq!(scored(path, Letters::new(&twice)), (0, 3));
    // the first is the first there, the second the second, and one more is the second again, but for the pair of both
    assert_eq!(scored(path, Letters::new(&["apple", "apple", "berry", "apple"])), (5, 1));
    assert_eq!(scored(path, Letters::new(&["berry", "apple"])), (1, 0));
    // many of them cost no more than the list itself
    let many = vec!["cherry"; 300];
    let all = 300 * 299 / 2;
    assert_eq!(scored(path, Letters::new(&many)), (0, all));
    assert_eq!(scored(path, Letters::new(&[&many[..], &["date"]].concat())), (all, 300));
}

#[test]
fn a_tile_that_was_torn_and_removed_is_taken_over_again() {
    let folder = tempfile::tempdir().unwrap();
    scored(folder.path(), Letters::new(&["apple", "berry", "cherry"]));
    let grown = || Letters::new(&["cherry", "apple", "berry", "date"]);
    let own = attach(folder.path(), grown()).identity().to_hex();
    assert_eq!(scored(folder.path(), grown()), (3, 3));
    for tile in walk(&folder.path().join(own)).iter().filter(|path| path.extension().is_some_and(|end| end == "tile")) {
        let mut rights = std::fs::metadata(tile).unwrap().permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "of a test")]
        rights.set_readonly(false);
        std::fs::set_permissions(tile, rights).unwrap();
        std::fs::write(tile, b"torn").unwrap();
    }
    open(folder.path()).clean(false).unwrap();
    assert_eq!(scored(folder.path(), grown()), (3, 3));
}

#[test]
fn what_another_list_scores_later_is_taken_over_later() {
    let folder = tempfile::tempdir().unwrap();
    let some = |words: &[&'static str], pairs: &[Pair]| {
        let stored = attach(folder.path(), Letters::new(words));
        let carried = stored.carry_over(&stored.inner().list(), true).unwrap();
        stored.evaluate(pairs, &mut vec![0.0; pairs.len()]).unwrap();
        stored.flush().unwrap();
        (carried, stored.inner().calls.load(Ordering::Relaxed))
    };
    let (old, new): (&[_], &[_]) = (&["apple", "berry", "cherry"], &["cherry", "berry", "apple", "date"]);
    assert_eq!(some(old, &[(0, 1)]), (0, 1));
    assert_eq!(some(new, &[(1, 2), (0, 3)]), (1, 1));
    assert_eq!(some(old, &[(0, 2), (1, 2)]), (0, 2));
    assert_eq!(some(new, &[(0, 1), (0, 2)]), (2, 0));
    assert_eq!(some(new, &[]), (0, 0), "once");
}

#[test]
fn the_lists_that_share_the_most_are_looked_through_however_many_came_after() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["apple", "berry", "cherry", "date", "elder", "fig"];
    scored(folder.path(), Letters::new(&words));
    // every pair in a list of its own, some twice, all later than the whole
    let pairs = Letters::new(&words).pairs();
    for &(i, j) in pairs.iter().take(20) {
        scored(folder.path(), Letters::new(&[words[i], words[j]]));
    }
    let grown = [&words[..], &["grape"]].concat();
    assert_eq!(scored(folder.path(), Letters::new(&grown)), (15, 6));
}

#[test]
fn both_orders_of_an_asymmetric_score_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let asymmetric = |words: &[&'static str]| Letters { symmetry: Symmetry::Asymmetric, ..Letters::new(words) };
    assert_eq!(scored(folder.path(), asymmetric(&["apple", "berry"])), (0, 2));
    assert_eq!(scored(folder.path(), asymmetric(&["berry", "apple", "cherry"])), (2, 4));
}

#[test]
fn another_scorer_takes_nothing_over() {
    let folder = tempfile::tempdir().unwrap();
    scored(folder.path(), Letters::new(&["apple", "berry", "cherry"]));
    let other = Letters { scorer: "letters, version 2", ..Letters::new(&["cherry", "berry", "apple"]) };
    assert_eq!(scored(folder.path(), other), (0, 3));
}

#[test]
fn a_look_ahead_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    scored(folder.path(), Letters::new(&["apple", "berry", "cherry"]));
    let files = || walk(folder.path());
    let before = files();
    let stored = attach(folder.path(), Letters::new(&["cherry", "date", "apple"]));
    assert_eq!(stored.carry_over(&stored.inner().list(), false).unwrap(), 1);
    assert_eq!((stored.entries(), stored.missing_pairs(stored.inner().pairs()).len()), (1, 2));
    drop(stored);
    assert_eq!(files(), before);
    // and takes nothing from who looks next
    assert_eq!(scored(folder.path(), Letters::new(&["cherry", "date", "apple"])), (1, 2));
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// A pool of the scorer of `Letters`, as one process writes it.
fn pool(folder: &Path, process: &str) -> ScorePool {
    let scorer = Itemless { identity: Identity::of(&[("scorer", b"letters")]), symmetry: Symmetry::Symmetric };
    ScorePool::open(open(folder), scorer, OracleLabel::new("letters", "a pool"), process.as_bytes()).unwrap()
}

#[test]
fn a_list_and_a_pool_take_each_others_scores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let score = |a: &str, b: &str| f64::from(a.as_bytes()[0]) * f64::from(b.as_bytes()[0]);
    let mut first = pool(path, "first");
    assert_eq!(first.get(b"apple", b"berry"), None);
    let scores = [("berry", "apple"), ("apple", "cherry"), ("apple", "berry")];
    let new = first.put(scores.map(|(a, b)| (a.as_bytes(), b.as_bytes(), score(a, b))));
    assert_eq!((new, first.len()), (2, 2));
    first.flush().unwrap();
    // a list takes over what it has in common
    assert_eq!(scored(path, Letters::new(&["apple", "berry", "cherry"])), (2, 1));
    // and a pool of another process has both
    let mut second = pool(path, "second");
    assert_eq!(second.get(b"cherry", b"berry"), Some(score("berry", "cherry")));
    assert_eq!(second.get(b"berry", b"apple"), Some(score("berry", "apple")));
    // a pool that grows after it was read is read again
    first.put([(&b"date"[..], &b"apple"[..], score("date", "apple"))]);
    first.flush().unwrap();
    assert_eq!(second.refresh().unwrap(), 1);
    assert_eq!(second.get(b"apple", b"date"), Some(score("date", "apple")));
    assert_eq!(scored(path, Letters::new(&["date", "berry", "apple"])), (2, 1));
}

#[test]
fn a_pool_writes_what_waits_when_it_is_dropped_and_stays_whole_under_verification() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = pool(folder.path(), "first");
    first.put([(&b"apple"[..], &b"berry"[..], 2.5)]);
    drop(first);
    assert_eq!(pool(folder.path(), "second").get(b"berry", b"apple"), Some(2.5));
    let verified = open(folder.path()).verify().unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
}

#[test]
fn scores_from_elsewhere_are_added_to_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Letters::new(&["apple", "berry", "cherry"]));
    assert_eq!(stored.known(&[(0, 1)]), [None]);
    assert_eq!(stored.put(&[(0, 1), (2, 0)], &[1.5, 2.5]).unwrap(), 2);
    assert_eq!(stored.put(&[(1, 0)], &[9.0]).unwrap(), 0);
    assert_eq!(stored.known(&[(1, 0), (0, 2), (1, 2)]), [Some(1.5), Some(2.5), None]);
    let again = attach(folder.path(), Letters::new(&["apple", "berry", "cherry"]));
    assert_eq!(again.known(&[(0, 1)]), [Some(1.5)]);
}
