//! Pairs that cannot be scored: kept next to the scores, and asked again on request.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use landmark_core::entries::{EntryPlan, EntrySet};
use landmark_core::oracle::{
    Attempt, FailedPair, Fallible, Identity, Metered, Oracle, OracleError, OracleShape, Pair, Symmetrization,
    Symmetrized, Symmetry,
};
use landmark_store::{OracleLabel, Stored};

use crate::counting::{open, open_faulty};
use crate::faulty::{Fault, Faults};

/// f(i, j) = i + j/100; pairs with i = 4 fail, as long as `fails` is true.
#[derive(Clone)]
struct Choosy {
    stand_in: Option<f64>,
    fails: bool,
    symmetry: Symmetry,
    calls: Arc<AtomicU64>,
    /// Calls after which it is at its end.
    patience: u64,
}

impl Choosy {
    fn new(stand_in: Option<f64>) -> Self {
        let calls = Arc::default();
        Self { stand_in, fails: true, symmetry: Symmetry::Asymmetric, calls, patience: u64::MAX }
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

fn score(&(i, j): &Pair) -> f64 {
    i as f64 + j as f64 / 100.0
}

impl Oracle for Choosy {
    fn shape(&self) -> OracleShape {
        OracleShape::new(12, self.symmetry)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"choosy"), ("stand-in", format!("{:?}", self.stand_in).as_bytes())])
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        Some(self)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.attempt(pairs, out).settled("a choosy oracle", self.stand_in, out)
    }
}

impl Fallible for Choosy {
    fn identity_of_scores(&self) -> Identity {
        Self::new(None).identity()
    }

    fn stand_in(&self) -> Option<f64> {
        self.stand_in
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        let mut failed = Vec::new();
        out.fill(f64::NAN);
        for (place, pair) in pairs.iter().enumerate() {
            if self.calls.fetch_add(1, Ordering::Relaxed) >= self.patience {
                let error = OracleError::TimeExhausted { budget_seconds: 1.0, spent: self.patience };
                return Attempt { failed, error: Some(error) };
            }
            match pair.0 {
                4 if self.fails => failed.push(FailedPair { place, error: format!("no score for {pair:?}") }),
                _ => out[place] = score(pair),
            }
        }
        Attempt { failed, error: None }
    }
}

fn attach<O: Oracle>(folder: &Path, oracle: O) -> Stored<O> {
    open(folder).attach(oracle, OracleLabel::new("choosy", "fails on item 4")).unwrap()
}

fn asked(stored: &Stored<impl Oracle>, pairs: &[Pair]) -> Result<Vec<f64>, String> {
    let mut out = vec![f64::NAN; pairs.len()];
    let in_words = |error: OracleError| {
        format!("{error}: {}", std::error::Error::source(&error).map_or(String::new(), ToString::to_string))
    };
    stored.evaluate(pairs, &mut out).map(|()| out).map_err(in_words)
}

fn column() -> Vec<Pair> {
    (0..12).map(|i| (i, 3)).collect()
}

fn wanted(stand_in: f64) -> Vec<f64> {
    column().iter().map(|pair| if pair.0 == 4 { stand_in } else { score(pair) }).collect()
}

#[test]
fn a_stand_in_is_set_changed_and_unset_without_a_call() {
    let folder = tempfile::tempdir().unwrap();
    for (stand_in, calls) in [(0.0, 12), (-1.0, 0), (5.0, 0)] {
        let oracle = Metered::new(Choosy::new(Some(stand_in)));
        let stored = attach(folder.path(), oracle);
        assert_eq!(asked(&stored, &column()), Ok(wanted(stand_in)));
        assert_eq!((stored.inner().inner().calls(), stored.inner().spent().evaluations), (calls, calls));
        assert_eq!((stored.failed_pairs(), stored.evaluated()), (1, calls));
    }
    let strict = attach(folder.path(), Choosy::new(None));
    let error = asked(&strict, &column()).unwrap_err();
    assert!(error.contains("no score for (4, 3)") && error.contains("gc --failures"), "{error}");
    // without the pair that failed there is no error
    assert_eq!(asked(&strict, &column()[..4]), Ok(wanted(0.0)[..4].to_vec()));
    assert_eq!(strict.inner().calls(), 0);
    let mut set = EntrySet::new(OracleShape::of(&strict));
    set.add(&EntryPlan::columns(&[3]));
    assert_eq!(strict.missing(&set), 0, "what failed is not evaluated again");
}

#[test]
fn a_run_that_a_failure_ends_keeps_what_it_scored() {
    let folder = tempfile::tempdir().unwrap();
    let strict = attach(folder.path(), Choosy::new(None));
    assert!(asked(&strict, &column()).unwrap_err().contains("no score for (4, 3)"));
    let before = strict.inner().calls();
    drop(strict);
    let lenient = attach(folder.path(), Choosy::new(Some(0.0)));
    assert_eq!(asked(&lenient, &column()), Ok(wanted(0.0)));
    assert_eq!(before + lenient.inner().calls(), 12, "no pair was asked twice");
}

#[test]
fn a_failure_that_ended_a_run_is_asked_again_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let strict = attach(folder.path(), Choosy::new(None));
    asked(&strict, &column()).unwrap_err();
    drop(strict);
    assert_eq!(open(folder.path()).failures().unwrap()[0].failures.len(), 1);
    let fixed = attach(folder.path(), Choosy { fails: false, ..Choosy::new(None) });
    assert_eq!(asked(&fixed, &column()), Ok(column().iter().map(score).collect()));
    assert_eq!(fixed.failed_pairs(), 0);
    drop(fixed);
    let lenient = attach(folder.path(), Choosy::new(Some(0.0)));
    assert_eq!(asked(&lenient, &column()), Ok(column().iter().map(score).collect()));
    assert_eq!((lenient.inner().calls(), lenient.failed_pairs()), (0, 0));
}

#[test]
fn an_oracle_that_ends_half_way_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let tired = attach(folder.path(), Choosy { patience: 7, ..Choosy::new(Some(0.0)) });
    assert!(asked(&tired, &column()).unwrap_err().contains("time budget"));
    drop(tired);
    let fresh = attach(folder.path(), Choosy::new(Some(0.0)));
    assert_eq!(asked(&fresh, &column()), Ok(wanted(0.0)));
    assert_eq!(fresh.inner().calls(), 12 - 7);
}

#[test]
fn what_failed_is_listed_and_asked_again_when_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let pairs: Vec<Pair> = (0..12).flat_map(|i| [(i, 3), (i, 7)]).collect();
    asked(&attach(folder.path(), Choosy::new(Some(0.0))), &pairs[..12]).unwrap();
    asked(&attach(folder.path(), Choosy::new(Some(0.0))), &pairs).unwrap();
    let store = open(folder.path());
    let failures = store.failures().unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].failures.len(), failures[0].failures[1].error.as_str()), (2, "no score for (4, 7)"));
    assert!(failures[0].to_string().contains("fails on item 4: 2 failed\n  no score for (4, 3)\n"), "{}", failures[0]);
    assert!(store.verify().unwrap().problems.is_empty());
    assert_eq!(store.retry_failures("ffff").unwrap() + store.retry_failures("").unwrap(), 2);
    assert!(store.failures().unwrap().is_empty());
    let better = attach(folder.path(), Choosy { fails: false, ..Choosy::new(Some(0.0)) });
    assert_eq!(asked(&better, &pairs), Ok(pairs.iter().map(score).collect()));
    assert_eq!((better.inner().calls(), better.failed_pairs()), (2, 0));
}

#[test]
fn lists_of_failures_are_merged_and_a_torn_one_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for j in 5..9 {
        asked(&attach(folder.path(), Choosy::new(Some(0.0))), &[(1, j), (4, j)]).unwrap();
    }
    let inner = folder.path().join(Choosy::new(None).identity().to_hex());
    let lists = || {
        let names = std::fs::read_dir(&inner).unwrap().map(|file| file.unwrap().path());
        names.filter(|name| name.extension().is_some_and(|end| end == "failures")).collect::<Vec<_>>()
    };
    assert_eq!(lists().len(), 4);
    open(folder.path()).clean(false).unwrap();
    assert_eq!((lists().len(), open(folder.path()).failures().unwrap()[0].failures.len()), (1, 4));
    let text = std::fs::read(&lists()[0]).unwrap();
    for cut in [0, 1, text.len() / 2, text.len() - 1] {
        std::fs::write(&lists()[0], &text[..cut]).unwrap();
        let attached = open(folder.path()).attach(Choosy::new(Some(0.0)), OracleLabel::new("choosy", ""));
        let error = attached.err().unwrap().to_string();
        assert!(error.contains(".failures"), "{error}");
        assert_eq!(open(folder.path()).verify().unwrap().problems.len(), 1);
    }
    open(folder.path()).clean(false).unwrap();
    let stored = attach(folder.path(), Choosy::new(Some(0.0)));
    asked(&stored, &[(1, 5), (4, 5)]).unwrap();
    assert_eq!(stored.inner().calls(), 1, "the failure alone is asked again");
}

#[test]
fn failures_before_the_first_score_are_the_scorers_and_stay_out_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Choosy::new(Some(0.0)));
    asked(&stored, &[(4, 1), (4, 2)]).unwrap();
    drop(stored);
    assert!(open(folder.path()).failures().unwrap().is_empty());
}

#[test]
fn a_pair_fails_with_either_of_its_orders() {
    let folder = tempfile::tempdir().unwrap();
    let both = |stand_in| Symmetrized::new(Choosy::new(stand_in), Symmetrization::Max);
    let stored = attach(folder.path(), both(Some(-9.0)));
    let scores = asked(&stored, &[(1, 2), (4, 2), (2, 4), (5, 5)]).unwrap();
    assert_eq!(scores, [2.01, -9.0, -9.0, 5.05]);
    assert_eq!((stored.failed_pairs(), stored.inner().inner().calls()), (1, 5));
    drop(stored);
    let other = attach(folder.path(), both(Some(-3.0)));
    assert_eq!(asked(&other, &[(2, 4), (1, 2)]), Ok(vec![-3.0, 2.01]));
    assert_eq!(other.inner().inner().calls(), 0);
}

#[test]
fn a_store_with_stand_ins_among_its_scores_is_read_on() {
    /// As stores were filled before failures were kept apart.
    struct Old(Choosy);
    impl Oracle for Old {
        fn shape(&self) -> OracleShape {
            self.0.shape()
        }

        fn identity(&self) -> Identity {
            self.0.identity()
        }
        fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
            self.0.evaluate(pairs, out)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    asked(&attach(folder.path(), Old(Choosy::new(Some(2.0)))), &column()).unwrap();
    let stored = attach(folder.path(), Choosy::new(Some(2.0)));
    assert_eq!(asked(&stored, &column()), Ok(wanted(2.0)));
    assert_eq!((stored.inner().calls(), stored.keeps_failures_apart()), (0, false));
}

#[test]
fn a_list_that_was_torn_on_its_way_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Arc::<Faults>::default();
    let stored = open_faulty(folder.path(), &faults)
        .attach(Choosy::new(Some(0.0)), OracleLabel::new("choosy", "fails on item 4"))
        .unwrap();
    asked(&stored, &[(1, 3), (4, 3)]).unwrap();
    // the tile comes first
    faults.arm(1, 1, Fault::Short);
    let error = stored.flush().unwrap_err().to_string();
    assert!(error.contains(".failures"), "{error}");
    assert_eq!(open(folder.path()).verify().unwrap().problems.len(), 1);
    stored.flush().unwrap();
    assert!(open(folder.path()).verify().unwrap().problems.is_empty());
    assert_eq!(open(folder.path()).failures().unwrap()[0].failures.len(), 1);
}
