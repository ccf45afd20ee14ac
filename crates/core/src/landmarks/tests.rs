//! Policies: what they choose, what they evaluate, what they refuse.

use ndarray::Array2;

use super::*;
use crate::entries::Certainty;
use crate::oracle::tests::Ledger;
use crate::oracle::{AsymmetryPolicy, Metered, OracleShape, Precomputed, Symmetry};
use crate::stream::stream;

fn rng() -> Rng {
    stream(3, "landmarks", "test", 0)
}

fn looking() -> [LandmarkPolicy; 4] {
    use LandmarkPolicy::*;
    [Leverage { first_round: 0.5 }, RpCholesky, KMeansPlusPlus, Farthest]
}

#[test]
fn every_policy_evaluates_what_it_planned_and_nothing_twice() {
    for diagonal_known in [false, true] {
        for policy in looking() {
            let ledger = Ledger::random(40, Symmetry::Symmetric, diagonal_known, 8);
            // positive semi-definite, so that no policy ends early
            let matrix = &ledger.matrix.dot(&ledger.matrix.t()) / 40.0;
            let oracle = Metered::new(Ledger { matrix, ..ledger });
            let shape = OracleShape::of(&oracle);
            let plan = policy.plan(shape, 12).unwrap();
            assert_eq!(oracle.spent().cells, 0, "a plan asks nothing");
            let landmarks = policy.select(&oracle, 12, &mut rng()).unwrap();
            assert_eq!(landmarks.order().len(), 12);
            let (spent, planned) = (oracle.spent().evaluations, plan.evaluations(shape));
            assert_eq!(spent, planned, "{} with a known diagonal: {diagonal_known}", policy.id());
            let asked = oracle.inner().asked();
            assert_eq!(asked.iter().collect::<std::collections::HashSet<_>>().len(), asked.len());
        }
    }
}

#[test]
fn fewer_landmarks_are_a_prefix_of_more() {
    let oracle = Ledger::random(40, Symmetry::Symmetric, false, 8);
    for policy in
        [LandmarkPolicy::Uniform, LandmarkPolicy::RpCholesky, LandmarkPolicy::KMeansPlusPlus, LandmarkPolicy::Farthest]
    {
        let few = policy.select(&oracle, 7, &mut rng()).unwrap();
        let many = policy.select(&oracle, 19, &mut rng()).unwrap();
        assert_eq!(few.prefix(7).unwrap(), many.prefix(7).unwrap(), "{}", policy.id());
    }
}

#[test]
fn a_matrix_of_low_rank_is_exhausted_and_the_rest_is_drawn_without_evaluating() {
    let factor = Ledger::random(40, Symmetry::Asymmetric, false, 8).matrix.slice(ndarray::s![.., ..3]).to_owned();
    let oracle = Metered::new(Precomputed::new(factor.dot(&factor.t()), AsymmetryPolicy::Mean).unwrap());
    let policy = LandmarkPolicy::RpCholesky;
    let plan = policy.plan(OracleShape::of(&oracle), 10).unwrap();
    let landmarks = policy.select(&oracle, 10, &mut rng()).unwrap();
    assert_eq!((plan.columns, plan.certainty), (9, Certainty::UpperBound));
    assert_eq!(landmarks.order().len(), 10);
    // the diagonal and three columns; pairs of the diagonal and of earlier columns are there already
    assert_eq!(oracle.spent().evaluations, 40 + 3 * 40 - 6);
}

#[test]
fn an_indefinite_matrix_and_equal_items_are_survived() {
    let mut matrix = Ledger::random(40, Symmetry::Symmetric, false, 9).matrix;
    for i in 0..40 {
        let copy = matrix[[i, 3]];
        matrix[[i, 4]] = copy;
        matrix[[4, i]] = copy;
    }
    let oracle = Precomputed::new(matrix, AsymmetryPolicy::Mean).unwrap();
    let zero = Precomputed::new(Array2::zeros((40, 40)), AsymmetryPolicy::Reject).unwrap();
    for policy in looking() {
        for oracle in [&oracle, &zero] {
            let landmarks = policy.select(oracle, 40, &mut rng()).unwrap();
            assert!(check_order(40, landmarks.order()).is_ok() && landmarks.order().len() == 40, "{}", policy.id());
        }
    }
}

#[test]
fn farthest_takes_the_item_that_no_landmark_resembles() {
    // items on a line; similarity falls with distance
    let oracle =
        Precomputed::new(Array2::from_shape_fn((101, 101), |(i, j)| -(i.abs_diff(j) as f64)), AsymmetryPolicy::Reject);
    let landmarks = LandmarkPolicy::Farthest.select(&oracle.unwrap(), 5, &mut rng()).unwrap();
    let order = landmarks.order();
    for k in 1..5 {
        let distance = |i: usize| order[..k].iter().map(|&t| i.abs_diff(t)).min().unwrap();
        assert_eq!(distance(order[k]), (0..101).map(distance).max().unwrap(), "landmark {k}");
    }
}

#[test]
fn a_list_is_refused_by_the_item_that_is_wrong() {
    let message = |indices: &[usize]| Landmarks::given(5, indices, &mut rng()).unwrap_err().to_string();
    assert_eq!(message(&[1, 5]), "landmark 1 is item 5, but there are 5 items, numbered from 0; remove it");
    assert_eq!(message(&[1, 2, 4, 2]), "item 2 is landmark 1 and again landmark 3; remove one of them");
    assert!(message(&[]).starts_with("0 landmarks are impossible: 5 can be had"));
    let given = Landmarks::given(5, &[4, 0], &mut rng()).unwrap();
    assert_eq!((given.order(), given.independent().len()), (&[4, 0][..], 5));
    assert!(matches!(given.prefix(3), Err(LandmarkError::Size { size: 3, available: 2 })));
    assert!(matches!(given.prefix(0), Err(LandmarkError::Size { size: 0, .. })));
    assert!(Landmarks::new(5, vec![0, 1], vec![3, 3]).is_err());
}

#[test]
fn an_impossible_choice_is_refused_before_anything_is_evaluated() {
    let oracle = Ledger::random(10, Symmetry::Asymmetric, false, 8);
    for policy in looking() {
        assert!(matches!(policy.select(&oracle, 3, &mut rng()), Err(LandmarkError::Asymmetric { .. })));
        let shape = OracleShape { symmetry: Symmetry::Symmetric, ..OracleShape::of(&oracle) };
        assert!(matches!(policy.plan(shape, 11), Err(LandmarkError::Size { size: 11, available: 10 })));
        assert!(matches!(policy.plan(shape, 0), Err(LandmarkError::Size { .. })));
    }
    let error = LandmarkPolicy::Leverage { first_round: 1.5 }.plan(OracleShape::of(&oracle), 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "landmark policy `leverage`: `first_round` is 1.5, but must be above 0 and at most 1"
    );
    assert!(oracle.asked().is_empty());
}
