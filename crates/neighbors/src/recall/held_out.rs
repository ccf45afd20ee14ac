//! Shares of an audited row's true neighbors: what the bounds are made of.
//!
//! ```text
//! true top-k of l: the items whose score is at least l's k-th best, so that ties are as good as each other
//! share = min(k, found among them) / k
//! static form: 5 folds over uniform columns; a held-out landmark's candidates at depth r are the r best by a fit without its fold,
//!              and the landmarks of that fit, whose scores are known
//! ```

use std::collections::HashSet;

/// Folds of the static form.
const FOLDS: usize = 5;

/// Share of the k most similar items of `item` that `is_found`; `row` has all its scores. Ties are as good as each other.
///
/// Cost: n operations.
pub fn share_found(row: &[f64], item: usize, k: usize, is_found: impl Fn(usize) -> bool) -> f64 {
    let (top, k) = top_items(row, item, k);
    if k == 0 {
        return 1.0;
    }
    let found = top.iter().filter(|&&other| is_found(other)).count().min(k);
    found as f64 / k as f64
}

/// The items other than `item` that score at least its k-th best, and k or as many others as there are. Those without a score, NaN, are no
/// neighbors.
pub fn top_items(row: &[f64], item: usize, k: usize) -> (Vec<usize>, usize) {
    let others = || (0..row.len()).filter(|&other| other != item && !row[other].is_nan());
    let k = k.min(others().count());
    if k == 0 {
        return (Vec::new(), 0);
    }
    let mut scores: Vec<f64> = others().map(|other| row[other]).collect();
    let (_, least, _) = scores.select_nth_unstable_by(k - 1, |one, other| other.total_cmp(one));
    let least = *least;
    (others().filter(|&other| row[other] >= least).collect(), k)
}

/// Folds of `columns` landmarks in their order, each a list of places; as many as there are columns where these are fewer than 5.
pub fn folds(columns: usize) -> Vec<Vec<usize>> {
    landmark_core::folds::folds(&(0..columns).collect::<Vec<_>>(), FOLDS)
}

/// Share found at every depth of `depths` (rising): `ranked` are the candidates of `item` by the estimate, best first, `known` those
/// that cost nothing.
pub fn depth_shares(
    row: &[f64],
    item: usize,
    k: usize,
    known: &HashSet<usize>,
    ranked: &[usize],
    depths: &[usize],
) -> Vec<f64> {
    let (top, k) = top_items(row, item, k);
    if k == 0 {
        return vec![1.0; depths.len()];
    }
    let top: HashSet<usize> = top.into_iter().collect();
    let mut found = top.iter().filter(|other| known.contains(other)).count();
    let mut place = 0;
    let mut shares = Vec::with_capacity(depths.len());
    for &depth in depths {
        while place < depth.min(ranked.len()) {
            found += usize::from(top.contains(&ranked[place]));
            place += 1;
        }
        shares.push(found.min(k) as f64 / k as f64);
    }
    shares
}
