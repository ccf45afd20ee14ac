//! The nearest neighbors of every item, and the best pairs of all, from the factors of K̃ = Z diag(±1) Zᵀ, exact where scattered
//! entries were evaluated in addition to them; or from a matrix that is there.
//!
//! K̃ is walked in square blocks of its upper triangle: each block is one matrix product, and serves its rows and, mirrored,
//! its columns, so that half the products of a brute-force search are enough. Only what beats the worst of the best so far
//! is looked at twice. Exact: ties go to the smaller index, and
//! nothing depends on the number of threads.
//!
//! Cost: n²r flops and n²/2 comparisons for [`top_k`], [`best_pairs`] the same; memory 16nk bytes and one block (8 MB).
//! [`approximate_top_k`] searches clusters of the items instead, and reports how many of the nearest it finds.

use std::cmp::Ordering;

use landmark_core::approximation::ScatteredEntries;
use landmark_core::linalg;
use landmark_core::rank::RankCmp;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

mod approximate;
mod inverted_file;

pub use approximate::{
    Approximate, ApproximateParams, IndexError, MeasuredRecall, approximate_lists, approximate_top_k,
};

/// Rows and columns of a block: 8 MB of scores.
const BLOCK: usize = 1024;
/// Columns of a block that one task looks through.
const COLUMNS_PER_TASK: usize = 64;

/// Vectors of the items and the sign of each column: what an embedding is made of.
#[derive(Debug, Clone, Copy)]
pub struct SignedVectors<'a> {
    /// Z, n × r.
    pub vectors: ArrayView2<'a, f64>,
    /// +1 or −1 for each column, length r.
    pub signature: &'a Array1<f64>,
    /// Pairs whose score is known, which no vectors hold.
    pub scattered: Option<&'a ScatteredEntries>,
}

/// Similarities of all pairs, symmetric, read block by block.
pub trait Similarities {
    /// Number of items n.
    fn items(&self) -> usize;

    /// Those of rows `a..b` with rows `c..d`.
    fn block(&self, rows: (usize, usize), cols: (usize, usize)) -> Array2<f64>;
}

impl Similarities for ArrayView2<'_, f64> {
    fn items(&self) -> usize {
        self.nrows()
    }

    fn block(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> Array2<f64> {
        self.slice(s![a..b, c..d]).to_owned()
    }
}

impl Similarities for SignedVectors<'_> {
    fn items(&self) -> usize {
        self.len()
    }

    fn block(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> Array2<f64> {
        let left = &self.vectors.slice(s![a..b, ..]) * self.signature;
        let mut block = linalg::product(left.view(), self.vectors.slice(s![c..d, ..]).t());
        if let Some(scattered) = self.scattered {
            let (rows, cols): (Vec<usize>, Vec<usize>) = ((a..b).collect(), (c..d).collect());
            scattered.overwrite(&rows, &cols, block.view_mut());
        }
        block
    }
}

impl SignedVectors<'_> {
    /// Number of items n.
    pub fn len(&self) -> usize {
        self.vectors.nrows()
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// K̃ at one pair. O(r).
    pub fn score(&self, i: usize, j: usize) -> f64 {
        if let Some(score) = self.scattered.and_then(|scattered| scattered.get(i, j)) {
            return score;
        }
        let (one, other) = (self.vectors.row(i), self.vectors.row(j));
        one.iter().zip(other).zip(self.signature).map(|((x, y), sign)| x * y * sign).sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    pub item: usize,
    /// K̃.
    pub score: f64,
}

/// Two items, `first < second`, and how similar they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredPair {
    /// The item of the smaller index.
    pub first: usize,
    pub second: usize,
    /// K̃.
    pub score: f64,
}

impl ScoredPair {
    /// The most similar first, of equals the one with the smaller items.
    fn by_rank(&self, other: &Self) -> Ordering {
        other.score.rank_cmp(&self.score).then((self.first, self.second).cmp(&(other.first, other.second)))
    }
}

/// The k best so far, best first.
#[derive(Debug, Clone)]
struct Best {
    k: usize,
    found: Vec<Neighbor>,
    /// Score that another must beat, or equal at a smaller index.
    threshold: f64,
}

impl Best {
    fn new(k: usize) -> Self {
        Self { k, found: Vec::with_capacity(k), threshold: f64::NEG_INFINITY }
    }

    #[inline]
    fn offer(&mut self, item: usize, score: f64) {
        if score >= self.threshold {
            self.take(Neighbor { item, score });
        }
    }

    fn take(&mut self, new: Neighbor) {
        let place = self.found.partition_point(|other| is_better(other.score, other.item, new.score, new.item));
        if place == self.k {
            return;
        }
        if self.found.len() == self.k {
            self.found.pop();
        }
        self.found.insert(place, new);
        if self.found.len() == self.k {
            self.threshold = self.found[self.k - 1].score;
        }
    }
}

fn is_better(score: f64, item: usize, than: f64, other: usize) -> bool {
    match score.rank_cmp(&than) {
        Ordering::Equal => item < other,
        order => order == Ordering::Greater,
    }
}

/// The `k` most similar other items of every item, best first; fewer only where there are not as many. `done` gets, now
/// and then, how much of the work is behind, from 0 to 1.
pub fn top_k(scores: impl Similarities, k: usize, mut done: impl FnMut(f64)) -> Vec<Vec<Neighbor>> {
    let n = scores.items();
    let k = k.min(n.saturating_sub(1));
    let mut best = vec![Best::new(k); n];
    if k == 0 {
        return best.into_iter().map(|best| best.found).collect();
    }
    for_each_block(n, |rows, cols, share| {
        let block = scores.block(rows, cols);
        offer_rows(&mut best[rows.0..rows.1], block.view(), rows.0, cols.0);
        if rows != cols {
            offer_columns(&mut best[cols.0..cols.1], block.view(), rows.0);
        }
        done(share);
    });
    best.into_iter().map(|best| best.found).collect()
}

/// The `k` items most similar to each of the `queries` (m × r: items embedded later), best first. Scattered entries are no queries'.
pub fn nearest(queries: ArrayView2<'_, f64>, vectors: SignedVectors<'_>, k: usize) -> Vec<Vec<Neighbor>> {
    let signed = &queries * vectors.signature;
    let mut best = vec![Best::new(k.min(vectors.len())); queries.nrows()];
    for (number, items) in vectors.vectors.axis_chunks_iter(Axis(0), BLOCK).enumerate().filter(|_| k > 0) {
        let block = linalg::product(signed.view(), items.t());
        best.par_iter_mut().zip(block.axis_iter(Axis(0)).into_par_iter()).for_each(|(best, scores)| {
            scores.iter().enumerate().for_each(|(b, &score)| best.offer(number * BLOCK + b, score));
        });
    }
    best.into_iter().map(|best| best.found).collect()
}

/// The `k` most similar other items of some `items`, exactly, best first. 2r·n flops an item; memory: one block of scores.
///
/// # Panics
/// When an item is not there.
pub fn top_k_of(items: &[usize], vectors: SignedVectors<'_>, k: usize) -> Vec<Vec<Neighbor>> {
    let n = vectors.len();
    let mut best = vec![Best::new(k.min(n.saturating_sub(1))); items.len()];
    for (rows, best) in items.chunks(BLOCK).zip(best.chunks_mut(BLOCK)).filter(|_| k.min(n) > 0) {
        let signed = vectors.vectors.select(Axis(0), rows) * vectors.signature;
        for (number, others) in vectors.vectors.axis_chunks_iter(Axis(0), BLOCK).enumerate() {
            let mut block = linalg::product(signed.view(), others.t());
            let first = number * BLOCK;
            if let Some(scattered) = vectors.scattered {
                let columns: Vec<usize> = (first..first + others.nrows()).collect();
                scattered.overwrite(rows, &columns, block.view_mut());
            }
            let rows = rows.par_iter().zip(block.axis_iter(Axis(0)).into_par_iter());
            best.par_iter_mut().zip(rows).for_each(|(best, (&item, scores))| {
                for (b, &score) in scores.iter().enumerate().filter(|&(b, _)| first + b != item) {
                    best.offer(first + b, score);
                }
            });
        }
    }
    best.into_iter().map(|best| best.found).collect()
}

/// Row a of the block is item `first_row + a`; an item is no neighbor of itself.
fn offer_rows(best: &mut [Best], block: ArrayView2<'_, f64>, first_row: usize, first_col: usize) {
    best.par_iter_mut().zip(block.axis_iter(Axis(0)).into_par_iter()).enumerate().for_each(|(a, (best, scores))| {
        for (b, &score) in scores.iter().enumerate() {
            if score >= best.threshold && first_col + b != first_row + a {
                best.offer(first_col + b, score);
            }
        }
    });
}

/// The block mirrored: column b offers its rows. Rows outside, so that memory is read as it lies.
fn offer_columns(best: &mut [Best], block: ArrayView2<'_, f64>, first_row: usize) {
    let columns = block.axis_chunks_iter(Axis(1), COLUMNS_PER_TASK).into_par_iter();
    best.par_chunks_mut(COLUMNS_PER_TASK).zip(columns).for_each(|(best, columns)| {
        for (a, scores) in columns.axis_iter(Axis(0)).enumerate() {
            for (best, &score) in best.iter_mut().zip(scores) {
                best.offer(first_row + a, score);
            }
        }
    });
}

/// The `count` most similar pairs of different items, best first, none below `at_least`.
pub fn best_pairs(
    scores: impl Similarities,
    count: usize,
    at_least: f64,
    mut done: impl FnMut(f64),
) -> Vec<ScoredPair> {
    let mut best: Vec<ScoredPair> = Vec::new();
    let mut threshold = at_least;
    for_each_block(scores.items(), |rows, cols, share| {
        if count == 0 {
            return;
        }
        let found = pairs_of(scores.block(rows, cols).view(), rows.0, cols.0, threshold);
        if !found.is_empty() {
            best.extend(found);
            if best.len() >= count {
                best.select_nth_unstable_by(count - 1, ScoredPair::by_rank);
                best.truncate(count);
                threshold = best[count - 1].score;
            }
        }
        done(share);
    });
    best.sort_unstable_by(ScoredPair::by_rank);
    best
}

/// Pairs of a block that score at least `threshold`, the smaller item first.
fn pairs_of(block: ArrayView2<'_, f64>, first_row: usize, first_col: usize, threshold: f64) -> Vec<ScoredPair> {
    let of_row = |(a, scores): (usize, ArrayView1<'_, f64>)| {
        let first = first_row + a;
        let pair = |(b, &score): (usize, &f64)| ScoredPair { first, second: first_col + b, score };
        // collected row by row: a block may have a million of them
        let is_good = |pair: &ScoredPair| pair.score >= threshold && first < pair.second;
        scores.iter().enumerate().map(pair).filter(is_good).collect::<Vec<_>>()
    };
    block.axis_iter(Axis(0)).into_par_iter().enumerate().flat_map_iter(of_row).collect()
}

/// Visits the blocks of the upper triangle, row by row of blocks; the visitor gets the share of them that will then be
/// behind.
fn for_each_block(n: usize, mut visit: impl FnMut((usize, usize), (usize, usize), f64)) {
    let side = n.div_ceil(BLOCK);
    let all = (side * (side + 1) / 2) as f64;
    let mut number = 0.0;
    for a in (0..n).step_by(BLOCK) {
        for c in (a..n).step_by(BLOCK) {
            number += 1.0;
            visit((a, (a + BLOCK).min(n)), (c, (c + BLOCK).min(n)), number / all);
        }
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use rand::Rng;

    use super::*;

    fn random(n: usize, r: usize) -> (Array2<f64>, Array1<f64>) {
        let mut rng = stream(7, "neighbours", "test", n as u64);
        let vectors = Array2::from_shape_fn((n, r), |_| rng.gen_range(-1.0..1.0));
        (vectors, Array1::from_shape_fn(r, |k| if k < r / 2 + 1 { 1.0 } else { -1.0 }))
    }

    /// All of K̃, sorted.
    fn brute_force(vectors: SignedVectors<'_>, i: usize) -> Vec<Neighbor> {
        let block = vectors.block((i, i + 1), (0, vectors.len()));
        let mut all: Vec<Neighbor> =
            block.row(0).iter().enumerate().map(|(item, &score)| Neighbor { item, score }).collect();
        all.retain(|neighbor| neighbor.item != i);
        all.sort_by(|a, b| b.score.rank_cmp(&a.score).then(a.item.cmp(&b.item)));
        all
    }

    #[test]
    fn the_neighbors_are_those_of_all_of_k_across_blocks() {
        // two full blocks and a part, so that mirrored blocks take part
        let (z, signature) = random(2 * BLOCK + 100, 6);
        let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let found = top_k(vectors, 7, |_| {});
        for i in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 99] {
            let wanted = brute_force(vectors, i);
            for (found, wanted) in found[i].iter().zip(&wanted[..7]) {
                assert_eq!(found.item, wanted.item, "item {i}");
                // a product of another shape may add in another order
                assert!((found.score - wanted.score).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn equal_scores_go_to_the_smaller_index_and_an_item_is_not_its_own_neighbor() {
        let z = Array2::ones((5, 1));
        let signature = Array1::ones(1);
        let found = top_k(SignedVectors { vectors: z.view(), signature: &signature, scattered: None }, 2, |_| {});
        let items: Vec<Vec<usize>> = found.iter().map(|best| best.iter().map(|one| one.item).collect()).collect();
        assert_eq!(items, [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]);
    }

    #[test]
    fn more_neighbors_than_items_are_all_of_them() {
        let (z, signature) = random(4, 2);
        let found = top_k(SignedVectors { vectors: z.view(), signature: &signature, scattered: None }, 10, |_| {});
        assert!(found.iter().all(|best| best.len() == 3));
        assert!(
            top_k(SignedVectors { vectors: z.view(), signature: &signature, scattered: None }, 0, |_| {})
                .iter()
                .all(Vec::is_empty)
        );
    }

    #[test]
    fn a_scattered_entry_counts_for_both_its_items_and_among_the_pairs() {
        let (z, signature) = random(BLOCK + 60, 4);
        let bare = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let usual = top_k(bare, 3, |_| {});
        let worst = usual[0][0].item;
        let (first, second) = (3, BLOCK + 7);
        let entries = ScatteredEntries::new(BLOCK + 60, &[(second, first), (0, worst)], &[99.0, -99.0]);
        let vectors = SignedVectors { scattered: Some(&entries), ..bare };
        let found = top_k(vectors, 3, |_| {});
        assert_eq!(found[first][0], Neighbor { item: second, score: 99.0 });
        assert_eq!(found[second][0], Neighbor { item: first, score: 99.0 });
        assert!(found[0].iter().all(|one| one.item != worst), "a pair known to be bad is no neighbor");
        let pairs = best_pairs(vectors, 2, f64::NEG_INFINITY, |_| {});
        assert_eq!(pairs[0], ScoredPair { first, second, score: 99.0 });
        assert_eq!((vectors.score(second, first), vectors.score(worst, 0)), (99.0, -99.0));
    }

    #[test]
    fn scores_alike_to_nine_digits_are_told_apart() {
        // items in three blocks, all alike to nine digits, of lengths from 1e-3 to 1e3, and pairs that were evaluated in the last block
        let n = 3 * BLOCK;
        let mut rng = stream(7, "neighbours", "alike", 0);
        let mut z = Array2::from_shape_fn((n, 5), |_| 1.0 + 1e-9 * rng.gen_range(-1.0..1.0));
        z.rows_mut().into_iter().for_each(|mut row| row *= 10_f64.powf(rng.gen_range(-3.0..3.0)));
        let signature = Array1::from(vec![1.0, 1.0, 1.0, -1.0, -1.0]);
        let places = [(n - 1, n - 5), (n - 2, BLOCK + 3), (n - 3, 4)];
        let entries = ScatteredEntries::new(n, &places, &[1e9, -1e9, 1e9]);
        for scattered in [None, Some(&entries)] {
            let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered };
            let found = top_k(vectors, 4, |_| {});
            for i in (0..n).step_by(97).chain([n - 1, n - 2, n - 3, n - 5]) {
                let wanted = brute_force(vectors, i);
                let same =
                    |(one, other): (&Neighbor, &Neighbor)| (one.score - other.score).abs() <= 1e-13 * other.score.abs();
                assert!(found[i].len() == 4 && found[i].iter().zip(&wanted).all(same), "item {i}");
            }
            let pairs = 40;
            let best = best_pairs(vectors, pairs, f64::NEG_INFINITY, |_| {});
            assert!(best.len() == pairs && best.windows(2).all(|two| two[0].score >= two[1].score));
        }
    }

    #[test]
    fn the_best_pairs_are_those_of_all_of_k() {
        let (z, signature) = random(BLOCK + 60, 4);
        let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let mut wanted: Vec<ScoredPair> = (0..vectors.len())
            .flat_map(|first| {
                let later = brute_force(vectors, first).into_iter().filter(move |other| other.item > first);
                later.map(move |other| ScoredPair { first, second: other.item, score: other.score })
            })
            .collect();
        wanted.sort_by(|a, b| b.score.rank_cmp(&a.score));
        let found = best_pairs(vectors, 50, f64::NEG_INFINITY, |_| {});
        let places = |pairs: &[ScoredPair]| pairs.iter().map(|p| (p.first, p.second)).collect::<Vec<_>>();
        assert_eq!(places(&found), places(&wanted[..50]));
        let at_least = wanted[20].score - 1e-9;
        assert_eq!(best_pairs(vectors, 50, at_least, |_| {}).len(), 21);
        assert_eq!(best_pairs(vectors, usize::MAX, at_least, |_| {}).len(), 21);
    }

    #[test]
    fn a_query_that_is_an_item_finds_what_the_item_finds_and_itself() {
        let (z, signature) = random(BLOCK + 10, 5);
        let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let found = nearest(z.slice(s![3..5, ..]), vectors, 4);
        for (row, found) in found.iter().enumerate() {
            let item = 3 + row;
            let mut wanted = brute_force(vectors, item);
            wanted.push(Neighbor { item, score: vectors.score(item, item) });
            wanted.sort_by(|a, b| b.score.rank_cmp(&a.score));
            let items = |list: &[Neighbor]| list.iter().map(|one| one.item).collect::<Vec<_>>();
            assert_eq!(items(found), items(&wanted[..4]));
        }
    }
}
