//! Exact neighbors by proven bounds.

use super::*;

/// A score and a bound of it: the score plus what is never negative.
fn bounded(n: usize, slack: f64) -> (Precomputed, Arc<dyn Oracle>) {
    let (oracle, _) = problem(n, 13);
    let mut rng = stream(14, "neighbours", "slack", 0);
    let mut bound = oracle.matrix().clone();
    for i in 0..n {
        for j in 0..i {
            let more = slack * rng.gen_range(0.0..1.0);
            bound[[i, j]] += more;
            bound[[j, i]] += more;
        }
    }
    (oracle, Arc::new(Precomputed::new(bound, AsymmetryPolicy::Reject).unwrap()))
}

#[test]
fn within_bounds_the_neighbors_are_exact_and_tighter_bounds_take_fewer_calls() {
    let mut before = 0;
    for slack in [0.0, 0.1, 0.5, 9.0] {
        let (oracle, bound) = bounded(150, slack);
        let oracle = Metered::new(oracle);
        let found = nearest_within_bounds(&oracle, &[bound], 5, |_| {}).unwrap();
        assert_eq!(oracle.spent().evaluations, found.pairs);
        for (i, list) in found.lists.iter().enumerate() {
            let items: Vec<usize> = list.iter().map(|one| one.item).collect();
            assert_eq!(items, best_of(oracle.inner().matrix(), i, 5), "slack {slack}, item {i}");
        }
        // bounds that are the scores ask for nothing but the answer
        assert!(slack > 0.0 || found.pairs <= 5 * 150, "{} pairs", found.pairs);
        assert!(found.pairs > before && found.pairs <= 150 * 149 / 2);
        before = found.pairs;
    }
    let (oracle, bound) = bounded(4, 1.0);
    let all = nearest_within_bounds(&oracle, &[bound], 10, |_| {}).unwrap();
    assert!(all.lists.iter().all(|list| list.len() == 3) && all.pairs == 6);
    let (oracle, bound) = bounded(40, 1.0);
    let none = nearest_within_bounds(&oracle, &[bound], 0, |_| {}).unwrap();
    assert!(none.lists.len() == 40 && none.pairs == 0, "no neighbor takes no call");
}

#[test]
fn a_bound_of_a_pair_is_read_once() {
    // more than a block
    let (oracle, bound) = bounded(1100, 0.0);
    let counted = Arc::new(Metered::new(bound));
    nearest_within_bounds(&oracle, &[Arc::clone(&counted) as Arc<dyn Oracle>], 1, |_| {}).unwrap();
    // the upper triangle of blocks, of which those on the diagonal are whole
    assert_eq!(counted.spent().cells, 1024 * 1024 + 1024 * 76 + 76 * 76);
}

#[test]
fn a_bound_that_is_none_is_an_error() {
    let (oracle, proxy) = problem(40, 15);
    let error = nearest_within_bounds(&oracle, &[Arc::new(proxy)], 5, |_| {}).unwrap_err();
    assert!(error.to_string().contains("what was given as a bound is none"), "{error}");
    assert!(matches!(nearest_within_bounds(&oracle, &[], 5, |_| {}), Err(NeighborError::NoBound)));
    let (right, (_, other)) = (bounded(40, 1.0).1, bounded(41, 1.0));
    let error = nearest_within_bounds(&oracle, &[right, other], 5, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "bound 2 is over 41 items, the score over 40; hand over one over the same items");
}

#[test]
fn a_bound_is_checked_as_closely_whatever_the_size_of_the_scores() {
    let oracle = bounded(40, 0.0).0;
    let scaled = |matrix: &Array2<f64>, scale: f64| {
        Precomputed::new(matrix.mapv(|score| score * scale), AsymmetryPolicy::Reject).unwrap()
    };
    let below = oracle.matrix().mapv(|score| score - 1e-6);
    for scale in [1e-200, 1e-10, 1.0, 1e10, 1e200] {
        let rounded = scaled(&oracle.matrix().mapv(|score| score - 1e-13), scale);
        let oracle = scaled(oracle.matrix(), scale);
        assert!(nearest_within_bounds(&oracle, &[Arc::new(rounded)], 5, |_| {}).is_ok(), "{scale:e}");
        let error = nearest_within_bounds(&oracle, &[Arc::new(scaled(&below, scale))], 5, |_| {}).unwrap_err();
        assert!(matches!(error, NeighborError::AboveBound { .. }), "{scale:e}: {error}");
    }
}
