//! What a run learns about its store, and what a closed store answers. Values, calls and kills are those of the [model](crate::model).

use landmark_core::entries::{EntryPlan, EntrySet};
use landmark_core::oracle::{AsymmetryPolicy, Oracle, OracleShape, Precomputed, Symmetry};
use landmark_store::{AfterClose, OracleLabel, StoreError};
use ndarray::Array2;
use proptest::prelude::*;

use crate::counting::{Counting, attach, open, tiles};
use crate::faults::root_cause;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

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
fn a_closed_store_has_published_all_and_reports_that_it_is_closed_to_those_that_ask_for_more() {
    let folder = tempfile::tempdir().unwrap();
    for after in [AfterClose::Refuse, AfterClose::Wait] {
        let stored = attach(folder.path(), Counting::symmetric(20));
        stored.evaluate(&[(0, 5)], &mut [0.0]).unwrap();
        stored.close(after).unwrap();
        stored.close(after).unwrap();
        assert_eq!(attach(folder.path(), Counting::symmetric(20)).entries(), 1, "what waited is published");
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
fn pairs_that_are_missing_are_listed_once_whatever_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = Array2::from_shape_fn((6, 6), |(i, j)| if i == j { 1.0 } else { (i + j) as f64 });
    let oracle = Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap();
    let stored = open(folder.path()).attach(oracle, OracleLabel::new("precomputed", "six items")).unwrap();
    stored.evaluate(&[(1, 0), (2, 4)], &mut [0.0; 2]).unwrap();
    let missing = stored.missing_pairs([(0, 1), (3, 5), (5, 3), (4, 2), (0, 5)]);
    assert_eq!(missing, [(3, 5), (0, 5)]);
    assert_eq!(stored.evaluated(), 2, "nothing is evaluated");
}

#[test]
fn what_is_missing_takes_the_calls_that_are_stated_and_what_is_here_nothing() {
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
