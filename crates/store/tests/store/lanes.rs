//! Oracles that work on several calls at once: no pair is evaluated twice, whoever asks.

use std::time::Duration;

use landmark_core::oracle::{Oracle, OracleError, Symmetrization, Symmetrized, Symmetry};
use landmark_store::OracleLabel;
use ndarray::Array2;

use crate::counting::{Counting, attach, open};

#[test]
fn requests_that_overlap_share_what_is_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let n = 60;
    let counting = Counting { at_once: 4, delay: Duration::from_micros(20), ..Counting::symmetric(n) };
    let stored = attach(folder.path(), counting);
    let all: Vec<usize> = (0..n).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (stored, all) = (&stored, &all);
            scope.spawn(move || {
                let cols: Vec<usize> = (0..30).map(|k| (k * 7 + thread * 13) % n).collect();
                let mut out = Array2::zeros((n, cols.len()));
                stored.block(all, &cols, out.view_mut()).unwrap();
                for ((a, b), &value) in out.indexed_iter() {
                    assert_eq!(value, stored.inner().score(a, cols[b]));
                }
            });
        }
    });
    assert_eq!(stored.inner().calls(), (stored.evaluated(), 1));
}

#[test]
fn a_store_above_a_store_hands_both_orders_on_and_evaluates_each_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let label = || OracleLabel::new("counting", "");
    let n = 40;
    let given = Counting { at_once: 4, symmetry: Symmetry::Asymmetric, known_diagonal: None, ..Counting::symmetric(n) };
    let as_given = store.attach(given, label()).unwrap();
    let both = store.attach(Symmetrized::new(&as_given, Symmetrization::Mean), label()).unwrap();
    assert_eq!(both.calls_at_once(), 4);
    let all: Vec<usize> = (0..n).collect();
    both.block(&all, &all, Array2::zeros((n, n)).view_mut()).unwrap();
    assert_eq!(as_given.inner().calls(), ((n * n) as u64, 1));
}

#[test]
fn a_budget_is_spent_to_the_last_evaluation_and_all_of_it_is_kept() {
    for (at_once, budget) in [(1, 333), (4, 1), (4, 8), (4, 333), (4, 500)] {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<usize> = (0..50).collect();
        let stored = attach(folder.path(), Counting { at_once, budget, ..Counting::symmetric(50) });
        let error = stored.block(&all, &all, Array2::zeros((50, 50)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::BudgetExhausted { .. }), "{error}");
        assert_eq!((stored.evaluated(), stored.inner().calls()), (budget, (budget, 1)));
        // published already, without a flush
        let again = attach(folder.path(), Counting::symmetric(50));
        assert_eq!(again.entries(), budget);
        again.block(&all, &all, Array2::zeros((50, 50)).view_mut()).unwrap();
        assert_eq!(again.inner().calls(), (50 * 49 / 2 - budget, 1));
    }
}

#[test]
fn a_score_that_is_not_a_number_ends_the_request_and_what_was_in_flight_is_kept() {
    let all: Vec<usize> = (0..60).collect();
    for at_once in [1, 4] {
        let folder = tempfile::tempdir().unwrap();
        let counting = Counting { at_once, broken: Some((7, 2)), ..Counting::symmetric(60) };
        let stored = attach(folder.path(), counting);
        let error = stored.block(&all, &[0, 1, 2, 3, 4], Array2::zeros((60, 5)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::NotFinite { i: 7, j: 2, .. }), "{error}");
        let (calls, most) = stored.inner().calls();
        assert_eq!(most, 1, "a pair was asked for twice");
        let fixed = attach(folder.path(), Counting::symmetric(60));
        assert_eq!(fixed.entries(), calls - 1);
        let mut out = [0.0];
        fixed.evaluate(&[(2, 7)], &mut out).unwrap();
        assert_eq!((out[0], fixed.inner().calls().0), (fixed.inner().score(2, 7), 1));
    }
}
