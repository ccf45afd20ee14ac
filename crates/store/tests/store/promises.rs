//! One run: right values, every pair evaluated once, nothing lost when the oracle stops half-way.

use landmark_core::entries::{EntryPlan, EntrySet};
use landmark_core::oracle::{Oracle, OracleError, OracleShape, Symmetry};
use landmark_store::{AfterClose, OracleLabel, StoreError, TileStore};
use ndarray::Array2;
use proptest::prelude::*;

use crate::counting::{Counting, attach, tiles};
use crate::faults::root_cause;

#[derive(Debug, Clone)]
enum Ask {
    Block(Vec<usize>, Vec<usize>),
    Pairs(Vec<(usize, usize)>),
    Restart,
}

fn asks(n: usize) -> impl Strategy<Value = Vec<Ask>> {
    let items = || proptest::sample::subsequence((0..n).collect::<Vec<_>>(), 0..=n).prop_shuffle();
    let ask = prop_oneof![
        3 => (items(), items()).prop_map(|(rows, cols)| Ask::Block(rows, cols)),
        3 => proptest::collection::vec((0..n, 0..n), 0..40).prop_map(Ask::Pairs),
        1 => Just(Ask::Restart),
    ];
    proptest::collection::vec(ask, 1..8)
}

fn check(n: usize, symmetry: Symmetry, diagonal: Option<f64>, memory: u64, asks: Vec<Ask>) {
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap().with_memory(memory);
    let fresh = || Counting { symmetry, known_diagonal: diagonal, ..Counting::symmetric(n) };
    let label = || OracleLabel::new("counting", "");
    let reference = fresh();
    let mut stored = store.attach(fresh(), label()).unwrap();
    let (mut calls, mut largest) = (0, 0);
    for ask in asks {
        match ask {
            Ask::Block(rows, cols) => {
                let mut out = Array2::from_elem((rows.len(), cols.len()), f64::NAN);
                stored.block(&rows, &cols, out.view_mut()).unwrap();
                for ((a, b), &value) in out.indexed_iter() {
                    assert_eq!(value, reference.score(rows[a], cols[b]));
                }
            }
            Ask::Pairs(pairs) => {
                let mut out = vec![f64::NAN; pairs.len()];
                stored.evaluate(&pairs, &mut out).unwrap();
                for (&(i, j), value) in pairs.iter().zip(out) {
                    assert_eq!(value, reference.score(i, j));
                }
            }
            Ask::Restart => {
                calls += stored.inner().calls().0;
                largest = largest.max(stored.inner().calls().1);
                drop(stored);
                stored = store.attach(fresh(), label()).unwrap();
            }
        }
    }
    calls += stored.inner().calls().0;
    assert!(largest.max(stored.inner().calls().1) <= 1, "a pair was evaluated twice");
    assert_eq!(calls, stored.entries(), "a pair was evaluated twice, or forgotten");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sequence_of_requests_gets_the_oracles_values_and_evaluates_each_pair_once(
        asks in asks(23),
        symmetric in any::<bool>(),
        diagonal in proptest::option::of(Just(0.5)),
        // none of the columns in memory, some of them, all
        memory in prop_oneof![Just(0), Just(8 * 23 * 5), Just(u64::MAX)],
    ) {
        let symmetry = if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        check(23, symmetry, diagonal, memory, asks);
    }

    #[test]
    fn a_dry_run_knows_what_is_there(columns in proptest::sample::subsequence((0..40).collect::<Vec<usize>>(), 1..12), evaluated in 0..12usize) {
        let folder = tempfile::tempdir().unwrap();
        let stored = attach(folder.path(), Counting::symmetric(40));
        let mut set = EntrySet::new(OracleShape::of(&stored));
        set.add(&EntryPlan::columns(&columns));
        prop_assert_eq!(stored.missing(&set), set.evaluations());
        let first = &columns[..evaluated.min(columns.len())];
        let all: Vec<usize> = (0..40).collect();
        stored.block(&all, first, Array2::zeros((40, first.len())).view_mut()).unwrap();
        let before = stored.evaluated();
        prop_assert_eq!(stored.missing(&set), set.evaluations() - before);
        stored.block(&all, &columns, Array2::zeros((40, columns.len())).view_mut()).unwrap();
        prop_assert_eq!(stored.missing(&set), 0);
        prop_assert_eq!(stored.evaluated(), set.evaluations());
    }
}

#[test]
fn many_columns_fill_several_tiles_and_come_back_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let (n, s) = (3000, 200);
    let (all, cols): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..s).map(|k| 7 * k).collect());
    let mut evaluated = Array2::zeros((n, s));
    attach(folder.path(), Counting::symmetric(n)).block(&all, &cols, evaluated.view_mut()).unwrap();
    assert!(tiles(folder.path()).len() > 1);

    let again = attach(folder.path(), Counting::symmetric(n));
    let mut read = Array2::zeros((n, s));
    again.block(&all, &cols, read.view_mut()).unwrap();
    assert_eq!(read, evaluated);
    assert_eq!(again.inner().calls().0, 0);
    assert_eq!(again.entries(), (n * s - s * (s + 1) / 2) as u64);
}

#[test]
fn a_budget_is_spent_to_the_last_evaluation_and_all_of_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<usize> = (0..50).collect();
    let stored = attach(folder.path(), Counting { budget: 333, ..Counting::symmetric(50) });
    let error = stored.block(&all, &all, Array2::zeros((50, 50)).view_mut()).unwrap_err();
    assert!(matches!(error, OracleError::BudgetExhausted { budget: 333, spent: 333, .. }), "{error}");
    assert_eq!(stored.evaluated(), 333);
    // published already, without a flush
    let again = attach(folder.path(), Counting::symmetric(50));
    assert_eq!(again.entries(), 333);
    again.block(&all, &all, Array2::zeros((50, 50)).view_mut()).unwrap();
    assert_eq!(again.inner().calls(), (50 * 49 / 2 - 333, 1));
}

#[test]
fn a_closed_store_has_published_all_and_evaluates_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Counting::symmetric(20));
    stored.block(&[0, 1, 2, 3], &[5, 6, 7], Array2::zeros((4, 3)).view_mut()).unwrap();
    assert!(tiles(folder.path()).is_empty(), "a moment of evaluating waits");
    stored.close(AfterClose::Wait).unwrap();
    assert_eq!(attach(folder.path(), Counting::symmetric(20)).entries(), 12);
    // what is there is still answered
    let mut out = [f64::NAN];
    stored.evaluate(&[(0, 5)], &mut out).unwrap();
    assert_eq!((out[0], stored.inner().calls().0), (stored.inner().score(0, 5), 12));
    // and letting go of it does not wait
    drop(stored);
}

#[test]
fn every_method_of_a_closed_store_returns_and_those_that_take_something_in_say_that_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    for after in [AfterClose::Refuse, AfterClose::Wait] {
        let stored = attach(folder.path(), Counting::symmetric(20));
        stored.evaluate(&[(0, 5)], &mut [0.0]).unwrap();
        stored.close(after).unwrap();
        stored.close(after).unwrap();
        assert!(matches!(stored.flush().unwrap_err(), StoreError::Closed { .. }));
        assert!(matches!(stored.refresh().unwrap_err(), StoreError::Closed { .. }));
        let mut set = EntrySet::new(OracleShape::of(&stored));
        set.add(&EntryPlan::columns(&[0]));
        assert_eq!(stored.missing(&set), 18);
        assert_eq!(stored.missing_pairs([(0, 5), (0, 6)]), [(0, 6)]);
        stored.evaluate(&[(5, 0)], &mut [0.0]).unwrap();
        if after == AfterClose::Refuse {
            let error = stored.evaluate(&[(1, 2)], &mut [0.0]).unwrap_err();
            assert!(matches!(root_cause(&error), StoreError::Closed { .. }), "{error}");
        }
    }
}

#[test]
fn the_full_rows_of_a_set_count_among_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Counting { symmetry: Symmetry::Asymmetric, ..Counting::symmetric(10) });
    let mut set = EntrySet::new(OracleShape::of(&stored));
    set.add_row(0);
    assert_eq!(stored.missing(&set), 9, "all but the known diagonal");
    set.add_column(3);
    assert_eq!((stored.missing(&set), set.evaluations()), (17, 17), "(0, 3) counts once");
    stored.evaluate(&[(0, 1), (1, 0), (0, 3)], &mut [0.0; 3]).unwrap();
    assert_eq!(stored.missing(&set), 15);
}

#[test]
fn a_score_that_is_not_a_number_is_refused_by_its_pair_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<usize> = (0..30).collect();
    let stored = attach(folder.path(), Counting { broken: Some((7, 2)), ..Counting::symmetric(30) });
    let error = stored.block(&all, &[0, 1, 2], Array2::zeros((30, 3)).view_mut()).unwrap_err();
    assert!(matches!(error, OracleError::NotFinite { i: 7, j: 2, .. }), "{error}");
    let calls = stored.inner().calls().0;
    let mended = attach(folder.path(), Counting::symmetric(30));
    assert_eq!(mended.entries(), calls - 1);
    let mut out = [0.0];
    mended.evaluate(&[(2, 7)], &mut out).unwrap();
    assert_eq!((out[0], mended.inner().calls().0), (mended.inner().score(2, 7), 1));
}

#[test]
fn indices_and_shapes_are_checked_before_anything_is_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Counting::symmetric(5));
    let error = stored.evaluate(&[(0, 1), (5, 0)], &mut [0.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "index 5 is out of range for an oracle over 5 items");
    let error = stored.evaluate(&[(0, 1)], &mut [0.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "evaluate: 1 pairs but room for 2 scores");
    assert_eq!(stored.inner().calls().0, 0);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "looking must leave no trace");
}

#[test]
fn pairs_that_are_missing_are_told_once_whatever_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap();
    let matrix = ndarray::Array2::from_shape_fn((6, 6), |(i, j)| if i == j { 1.0 } else { (i + j) as f64 });
    let oracle =
        landmark_core::oracle::Precomputed::new(matrix, landmark_core::oracle::AsymmetryPolicy::Reject).unwrap();
    let stored = store.attach(oracle, OracleLabel::new("precomputed", "six items")).unwrap();
    stored.evaluate(&[(1, 0), (2, 4)], &mut [0.0; 2]).unwrap();
    let missing = stored.missing_pairs([(0, 1), (3, 5), (5, 3), (4, 2), (0, 5)]);
    assert_eq!(missing, [(3, 5), (0, 5)]);
    assert_eq!(stored.evaluated(), 2, "nothing is evaluated");
}

#[test]
fn what_is_missing_costs_what_is_said_of_it_and_what_is_here_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stored = attach(folder.path(), Counting { known_diagonal: Some(1.0), ..Counting::symmetric(4) });
    stored.evaluate(&[(0, 1), (2, 3)], &mut [0.0; 2]).unwrap();
    assert!(stored.has(1, 0) && stored.has(2, 2) && !stored.has(0, 2));
    let mut set = EntrySet::new(OracleShape::of(&stored));
    set.add(&EntryPlan::columns(&[0, 1]));
    set.add_entry(2, 3);
    // (2, 0), (3, 0), (2, 1) and (3, 1) are missing, and one of them is free
    let calls = |i: usize, j: usize| if i.max(j) == 3 && i.min(j) == 1 { 0 } else { 7 };
    assert_eq!(stored.missing_at(&set, calls), 21);
    assert_eq!(stored.missing(&set), 4);
}
