//! Order of pairs by the better of their two places: an estimate's best of every item first.

use std::cmp::Ordering;
use std::collections::HashSet;

use landmark_core::oracle::Pair;
use landmark_core::rank::RankCmp;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Places of a row that are sorted at first, beyond those needed on average.
const SPARE: usize = 32;

/// The `count` unknown pairs (i < j) of the highest priority, or all there are: min(place of j in row i, place of i in row j), ties by score, then by
/// number. A place counts all other items, known ones included. O(n²) and a sort of what is looked at.
pub(super) fn pairs_in_order(
    scores: ArrayView2<'_, f64>,
    is_known: impl Fn(usize, usize) -> bool + Sync,
    count: usize,
) -> Vec<Pair> {
    let n = scores.nrows();
    let mut depth = (2 * count).div_ceil(n.max(1)) + SPARE;
    loop {
        let whole = depth + 1 >= n;
        let rows: Vec<Vec<usize>> = (0..n).into_par_iter().map(|i| nearest(scores, i, depth)).collect();
        let (mut pairs, mut taken) = (Vec::with_capacity(count), HashSet::new());
        for place in 0..depth.min(n.saturating_sub(1)) {
            if pairs.len() >= count {
                break;
            }
            let at_place = rows.iter().enumerate().map(|(i, row)| (i.min(row[place]), i.max(row[place])));
            let mut new: Vec<Pair> = at_place.filter(|&(i, j)| !is_known(i, j) && taken.insert((i, j))).collect();
            new.sort_unstable_by(|a, b| scores[[b.0, b.1]].rank_cmp(&scores[[a.0, a.1]]).then(a.cmp(b)));
            pairs.extend(new);
        }
        if pairs.len() >= count || whole {
            pairs.truncate(count);
            return pairs;
        }
        depth *= 2;
    }
}

/// The nearest other items of an item, best first, ties by number.
pub(super) fn nearest(scores: ArrayView2<'_, f64>, item: usize, count: usize) -> Vec<usize> {
    let row = scores.row(item);
    best_of(row.len(), item, count, |a, b| row[b].rank_cmp(&row[a]))
}

/// The first `count` items but one in an order, ties by number.
pub(super) fn best_of(n: usize, but: usize, count: usize, order: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut items: Vec<usize> = (0..n).filter(|&item| item != but).collect();
    let by = |a: &usize, b: &usize| order(*a, *b).then(a.cmp(b));
    if count == 0 {
        return Vec::new();
    }
    if count < items.len() {
        items.select_nth_unstable_by(count - 1, by);
        items.truncate(count);
    }
    items.sort_unstable_by(by);
    items
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::Array2;
    use rand::Rng as _;

    use super::*;

    fn symmetric(n: usize, seed: u64) -> Array2<f64> {
        let mut rng = stream(seed, "places", "matrix", 0);
        let half = Array2::from_shape_fn((n, n), |_| f64::from(rng.gen_range(0_i32..20)));
        &half + &half.t()
    }

    /// By its definition: all places of all pairs.
    fn brute_force(scores: &Array2<f64>, is_known: &dyn Fn(usize, usize) -> bool, count: usize) -> Vec<Pair> {
        let n = scores.nrows();
        let place =
            |i: usize, j: usize| (0..n).filter(|&l| l != i && (scores[[i, l]], j) > (scores[[i, j]], l)).count();
        let mut pairs: Vec<_> = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| !is_known(i, j))
            .map(|(i, j)| (place(i, j).min(place(j, i)), -scores[[i, j]], (i, j)))
            .collect();
        pairs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        pairs.into_iter().map(|(_, _, pair)| pair).take(count).collect()
    }

    #[test]
    fn the_order_is_that_of_its_definition() {
        for (n, seed) in [(2, 0), (3, 1), (7, 2), (13, 3), (14, 4), (14, 5)] {
            let scores = symmetric(n, seed);
            let is_known = |i: usize, j: usize| (i + j + i * j).is_multiple_of(5);
            for count in [0, 1, 5, 20, 120] {
                let wanted = brute_force(&scores, &is_known, count);
                assert_eq!(pairs_in_order(scores.view(), is_known, count), wanted, "{n} {count}");
            }
        }
    }

    #[test]
    fn rows_are_sorted_deeper_where_most_of_their_best_is_known() {
        let n = 200;
        let scores = symmetric(n, 3);
        let best: Vec<HashSet<usize>> = (0..n).map(|i| nearest(scores.view(), i, 120).into_iter().collect()).collect();
        let is_known = |i: usize, j: usize| best[i].contains(&j) || best[j].contains(&i);
        assert_eq!(pairs_in_order(scores.view(), is_known, 500), brute_force(&scores, &is_known, 500));
    }
}
