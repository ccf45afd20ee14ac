//! The nearest neighbors of every item from factors, approximately: a graph of the items is walked, instead of all of K̃.
//!
//! ```text
//! K̃_ij = ⟨D z_i, z_j⟩, D = diag(±1);  distance of i and j: 1 − K̃_ij / M², M = max ‖z_j‖
//! ```
//! The graph is a hierarchical navigable small world (Malkov & Yashunin 2020; the crate `hnsw_rs`) whose edges join items of large K̃ itself, as in ip-NSW
//! (Morozov & Babenko 2018, "Non-metric similarity graphs for maximum inner product search"): the search compares distances and adds none, so that no triangle
//! inequality is wanted, and an item that is searched for lies among those that the graph was made of, whatever the signs.
//!
//! The index holds f32; every candidate is scored again in f64, known pairs by what is known, and ties go to the smaller index.
//! What the graph misses is measured, always: some items, drawn uniformly, are also compared with all others.
//!
//! The graph is made by one thread, in a random order of the items, since it depends on the order in which they come; the searches run on all. So lists
//! depend on factors and seed alone.
//!
//! Cost: some 2,000 products of r numbers an item to build and as many to search with ef = 100, more for many items; 2rn flops for each item that is
//! compared with all. Memory: 4n(r + 64) bytes of vectors, 2 to 3 kB an item of edges, 16nk of lists.

use hnsw_rs::prelude::{Distance, Hnsw};
use landmark_core::linalg;
use landmark_core::stats::{clopper_pearson_lower, clopper_pearson_upper};
use landmark_core::stream::stream;
use multiversion::multiversion;
use ndarray::{ArrayView1, ArrayView2, Axis};
use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rayon::prelude::*;

use super::{BLOCK, Best, Neighbor, SignedVectors};

/// Items whose lists are searched for between two words of progress.
const ITEMS_A_STEP: usize = 1 << 14;
const ITEMS_A_TASK: usize = 256;
/// Edges of a node in each layer (M of HNSW); twice as many in the lowest.
const EDGES: usize = 24;
/// Candidates that are kept while the graph is made.
const EF_CONSTRUCTION: usize = 100;
/// Layers at most, as many as the crate has: M¹⁶ items.
const LAYERS: usize = 16;
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApproximateParams {
    /// Candidates that a search keeps (`ef` of HNSW): more find more, and take longer. At least k + 1 are kept.
    pub ef: usize,
    /// Items whose lists are compared with the exact ones.
    pub checked: usize,
    /// Seed of the order in which the graph is made, and of the draw of items that are checked.
    pub seed: u64,
}

impl Default for ApproximateParams {
    fn default() -> Self {
        Self { ef: 100, checked: 500, seed: 2022 }
    }
}

/// Lists of an approximate search, and how many of the exact neighbors they hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Approximate {
    /// The nearest found of each item, best first; always min(k, n − 1).
    pub lists: Vec<Vec<Neighbor>>,
    /// Their recall; `None` where so few items are there that all were compared.
    pub recall: Option<MeasuredRecall>,
}

/// Mean share of an item's k nearest by K̃ that its list holds; one that ties with the k-th is as good as it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredRecall {
    /// Items compared with all others, drawn uniformly without replacement.
    pub checked: usize,
    pub mean: f64,
    /// Ends of the 95 % interval for the mean over all items: Clopper and Pearson's, at the number of independent finds that the variance between
    /// items leaves (Korn & Graubard 1998). Both are the mean where every item was checked.
    pub interval: (f64, f64),
}

/// Why no index could be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    #[error(
        "the vector of item {item} holds {value} in column {column}; an index needs finite numbers: compute the factors again"
    )]
    NotFinite { item: usize, column: usize, value: f64 },
    #[error(
        "cannot index column {column}: its sign is {value} (expected 1 or -1). Multiply the column by the square root of the size of its sign, and keep the sign"
    )]
    Signature { column: usize, value: f64 },
}

/// The `k` most similar other items of every item, approximately, and their measured recall. Where no more than `ef` others are there, and for an item of
/// which the graph finds fewer than `k` others, the search is exact. `done` gets, now and then, how much of the searching is behind, from 0 to 1; the
/// building, which comes before, reports nothing.
pub fn approximate_top_k(
    vectors: SignedVectors<'_>,
    k: usize,
    params: ApproximateParams,
    mut done: impl FnMut(f64),
) -> Result<Approximate, IndexError> {
    refuse_non_finite(vectors.vectors)?;
    if let Some((column, &value)) = vectors.signature.iter().enumerate().find(|(_, sign)| sign.abs() != 1.0) {
        return Err(IndexError::Signature { column, value });
    }
    let n = vectors.len();
    let k = k.min(n.saturating_sub(1));
    let ef = params.ef.max(k + 1);
    if k == 0 || ef >= n {
        return Ok(Approximate { lists: super::top_k(vectors, k, done), recall: None });
    }
    let index = Index::build(vectors, ef, params.seed);
    let mut lists = Vec::with_capacity(n);
    for first in (0..n).step_by(ITEMS_A_STEP) {
        let items: Vec<usize> = (first..(first + ITEMS_A_STEP).min(n)).collect();
        let found: Vec<Vec<Vec<Neighbor>>> =
            items.par_chunks(ITEMS_A_TASK).map(|items| index.lists(items, k)).collect();
        lists.extend(found.into_iter().flatten());
        done(lists.len() as f64 / n as f64);
    }
    drop(index);
    let short: Vec<usize> = (0..n).filter(|&item| lists[item].len() < k).collect();
    for (&item, list) in short.iter().zip(top_k_of(&short, vectors, k)) {
        lists[item] = list;
    }
    let recall = Some(measure(&lists, vectors, k, params));
    Ok(Approximate { lists, recall })
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

/// Sums kept apart, so that they fill wide registers; the order of additions is the same on every processor.
const LANES: usize = 32;

/// Distance 1 − ⟨x₊, y₊⟩ + ⟨x₋, y₋⟩ of rows (x₊, x₋).
#[derive(Debug, Clone, Copy)]
struct SignedProduct {
    /// Length of x₊.
    positive: usize,
}

impl Distance<f32> for SignedProduct {
    fn eval(&self, x: &[f32], y: &[f32]) -> f32 {
        // rounding may leave less than 0, which the crate refuses
        (1.0 - signed_product(x, y, self.positive)).max(0.0)
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn signed_product(x: &[f32], y: &[f32], positive: usize) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (x, y) = (x.split_at(positive), y.split_at(positive));
    for (x, y) in x.0.chunks_exact(LANES).zip(y.0.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for (x, y) in x.1.chunks_exact(LANES).zip(y.1.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] -= x[lane] * y[lane];
        }
    }
    sums.iter().sum()
}

/// How rows of the index are written: positive columns before the negative ones, each part filled up with zeros to whole registers, divided by M, so that no
/// product overflows single precision.
struct Layout {
    /// Column of z, and its place in a row.
    places: Vec<(usize, usize)>,
    positive: usize,
    width: usize,
    /// M in two steps, neither of which overflows: the largest |z|, and the largest norm in its unit.
    unit: f64,
    longest: f64,
}

impl Layout {
    fn of(vectors: SignedVectors<'_>) -> Self {
        let (of_sign, z) =
            (|sign: f64| (0..vectors.signature.len()).filter(move |&a| vectors.signature[a] == sign), vectors.vectors);
        let positive = of_sign(1.0).count().next_multiple_of(LANES);
        let places: Vec<(usize, usize)> = of_sign(1.0).zip(0..).chain(of_sign(-1.0).zip(positive..)).collect();
        let width = positive + of_sign(-1.0).count().next_multiple_of(LANES);
        let largest_of = |of_row: &dyn Fn(ArrayView1<'_, f64>) -> f64| {
            z.rows().into_iter().map(of_row).fold(0.0, f64::max).max(f64::MIN_POSITIVE)
        };
        let unit = largest_of(&|row| row.iter().fold(0.0, |largest: f64, z| largest.max(z.abs())));
        let longest = largest_of(&|row| row.iter().map(|z| (z / unit).powi(2)).sum::<f64>().sqrt());
        Self { places, positive, width, unit, longest }
    }

    fn write(&self, row: ArrayView1<'_, f64>, out: &mut [f32]) {
        for &(from, to) in &self.places {
            out[to] = (row[from] / self.unit / self.longest) as f32;
        }
    }
}

/// The graph over all items, and what scores its candidates.
struct Index<'a> {
    graph: Hnsw<'a, f32, SignedProduct>,
    layout: Layout,
    vectors: SignedVectors<'a>,
    ef: usize,
}

impl<'a> Index<'a> {
    fn build(vectors: SignedVectors<'a>, ef: usize, seed: u64) -> Self {
        let layout = Layout::of(vectors);
        let distance = SignedProduct { positive: layout.positive };
        let mut graph = Hnsw::new(EDGES, vectors.len(), LAYERS, EF_CONSTRUCTION, distance);
        let mut order: Vec<usize> = (0..vectors.len()).collect();
        order.shuffle(&mut stream(seed, "neighbours", "order of the graph", 0));
        let mut row = vec![0.0; layout.width];
        for item in order {
            layout.write(vectors.vectors.row(item), &mut row);
            graph.insert_slice((&row, item));
        }
        graph.set_searching_mode(true);
        Self { graph, layout, vectors, ef }
    }

    /// The k best of the candidates of some items; fewer where the graph finds fewer.
    fn lists(&self, items: &[usize], k: usize) -> Vec<Vec<Neighbor>> {
        let SignedVectors { vectors, signature, scattered } = self.vectors;
        let mut query = vec![0.0; self.layout.width];
        let list = |&item: &usize| {
            let signed = &vectors.row(item) * signature;
            self.layout.write(vectors.row(item), &mut query);
            let mut best = Best::new(k);
            for (other, score) in scattered.iter().flat_map(|scattered| scattered.row(item)) {
                best.offer(other, score);
            }
            for found in self.graph.search(&query, self.ef, self.ef) {
                let other = found.d_id;
                let is_known = scattered.is_some_and(|scattered| scattered.contains(item, other));
                if other != item && !is_known {
                    best.offer(other, signed.dot(&vectors.row(other)));
                }
            }
            best.found
        };
        items.iter().map(list).collect()
    }
}

fn refuse_non_finite(vectors: ArrayView2<'_, f64>) -> Result<(), IndexError> {
    match vectors.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((item, column), &value)) => Err(IndexError::NotFinite { item, column, value }),
        None => Ok(()),
    }
}

fn measure(lists: &[Vec<Neighbor>], vectors: SignedVectors<'_>, k: usize, params: ApproximateParams) -> MeasuredRecall {
    let n = lists.len();
    let mut items =
        sample(&mut stream(params.seed, "neighbours", "checked", 0), n, params.checked.clamp(1, n)).into_vec();
    items.sort_unstable();
    let norm = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
    let longest = vectors.vectors.rows().into_iter().map(norm).fold(0.0, f64::max);
    let share = |(&item, exact): (&usize, &Vec<Neighbor>)| {
        // the exact scores are added in another order
        let row = vectors.vectors.row(item);
        let rounding = f64::EPSILON * row.len() as f64 * norm(row) * longest;
        let worst = exact.last().map_or(f64::NEG_INFINITY, |worst| worst.score - rounding);
        lists[item].iter().filter(|found| found.score >= worst).count() as f64 / k as f64
    };
    let exact = top_k_of(&items, vectors, k);
    let shares: Vec<f64> = items.iter().zip(&exact).map(share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    MeasuredRecall { checked: items.len(), mean, interval: interval(&shares, mean, k, n) }
}

/// Interval of the mean share over `all` items, from those of some.
fn interval(shares: &[f64], mean: f64, k: usize, all: usize) -> (f64, f64) {
    let (checked, k) = (shares.len() as f64, k as f64);
    if shares.len() == all {
        return (mean, mean);
    }
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    let variance = squares / (checked - 1.0).max(1.0);
    let effect = if variance > 0.0 { (k * variance / (mean * (1.0 - mean))).clamp(1.0, k) } else { k };
    let draws = k * checked / effect / (1.0 - checked / all as f64);
    let (found, tail) = (mean * draws, 0.5 * (1.0 - CONFIDENCE));
    (clopper_pearson_lower(found, draws, tail), clopper_pearson_upper(found, draws, tail))
}

#[cfg(test)]
mod tests {
    use landmark_core::approximation::ScatteredEntries;
    use ndarray::{Array1, Array2, s};
    use rand::Rng;
    use rayon::ThreadPoolBuilder;

    use super::super::top_k;
    use super::*;

    /// Items around n/20 centers; the last third of the columns is negative, and smaller.
    fn factors(n: usize, r: usize) -> (Array2<f64>, Array1<f64>) {
        let mut rng = stream(7, "approximate", "test", n as u64);
        let centers = Array2::from_shape_fn((n / 20 + 1, r), |_| rng.gen_range(-1.0..1.0));
        let mut z = Array2::from_shape_fn((n, r), |_| rng.gen_range(-0.5..0.5));
        for mut row in z.rows_mut() {
            row += &centers.row(rng.gen_range(0..centers.nrows()));
        }
        let first_negative = r - r / 3;
        z.slice_mut(s![.., first_negative..]).mapv_inplace(|z| 0.4 * z);
        (z, Array1::from_shape_fn(r, |a| if a < first_negative { 1.0 } else { -1.0 }))
    }

    fn with<'a>(z: &'a Array2<f64>, signature: &'a Array1<f64>) -> SignedVectors<'a> {
        SignedVectors { vectors: z.view(), signature, scattered: None }
    }

    fn search(vectors: SignedVectors<'_>, k: usize, params: ApproximateParams) -> Approximate {
        approximate_top_k(vectors, k, params, |_| {}).unwrap()
    }

    fn items(list: &[Neighbor]) -> Vec<usize> {
        list.iter().map(|one| one.item).collect()
    }

    #[test]
    fn most_of_the_exact_neighbors_are_found_and_the_recall_is_that_of_the_lists() {
        let (z, signature) = factors(2500, 24);
        let vectors = with(&z, &signature);
        let exact = top_k(vectors, 8, |_| {});
        let shares = |lists: &[Vec<Neighbor>]| -> f64 {
            let share = |(list, exact): (&Vec<Neighbor>, &Vec<Neighbor>)| {
                items(list).iter().filter(|item| items(exact).contains(item)).count() as f64 / 8.0
            };
            lists.iter().zip(&exact).map(share).sum::<f64>() / 2500.0
        };
        let all = search(vectors, 8, ApproximateParams { checked: 2500, ..ApproximateParams::default() });
        let (truth, recall) = (shares(&all.lists), all.recall.unwrap());
        assert!(truth > 0.95, "{truth}");
        assert!((recall.mean - truth).abs() < 1e-9, "{recall:?}, {truth}");
        assert_eq!(recall.interval, (recall.mean, recall.mean));
        // fewer candidates find fewer, and a sample of the items shows it; a wrong interval in one of twenty
        let few = search(vectors, 8, ApproximateParams { ef: 9, checked: 300, ..ApproximateParams::default() });
        let (truth, recall) = (shares(&few.lists), few.recall.unwrap());
        let (lower, upper) = recall.interval;
        assert!(truth < shares(&all.lists) && recall.checked == 300);
        assert!((lower..=upper).contains(&truth) && upper - lower < 0.1, "{truth}: {recall:?}");
        for (item, list) in all.lists.iter().enumerate() {
            assert!(list.len() == 8 && list.iter().all(|one| one.item != item));
            assert!(list.iter().all(|one| (one.score - vectors.score(item, one.item)).abs() < 1e-12));
        }
    }

    #[test]
    fn a_sign_that_is_neither_1_nor_minus_1_is_refused_and_no_column_is_dropped() {
        let (z, signature) = factors(300, 6);
        for value in [2.0, 0.5, 0.0, f64::NAN] {
            let mut signature = signature.clone();
            signature[4] = value;
            let error = approximate_top_k(with(&z, &signature), 3, ApproximateParams::default(), |_| {}).unwrap_err();
            assert!(matches!(error, IndexError::Signature { column: 4, .. }), "{error}");
        }
    }

    #[test]
    fn the_lists_depend_on_the_seed_and_not_on_the_threads() {
        let (z, signature) = factors(1500, 12);
        let params = ApproximateParams { ef: 12, checked: 50, seed: 3 };
        let on = |threads: usize, params| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search(with(&z, &signature), 5, params))
        };
        assert_eq!(on(1, params), on(4, params));
        assert_ne!(on(1, params).lists, on(1, ApproximateParams { seed: 4, ..params }).lists);
    }

    #[test]
    fn as_many_candidates_as_items_or_few_items_are_the_exact_lists() {
        let (z, signature) = factors(60, 5);
        let vectors = with(&z, &signature);
        for k in [1, 59, 60, 1000] {
            let found = search(vectors, k, ApproximateParams::default());
            assert_eq!(found, Approximate { lists: top_k(vectors, k, |_| {}), recall: None });
        }
        let (z, signature) = factors(300, 5);
        let found = search(with(&z, &signature), 1000, ApproximateParams::default());
        assert!(found.lists.iter().all(|list| list.len() == 299), "all others, where more are asked for");
        for n in [0, 1] {
            let z = Array2::ones((n, 2));
            let found = search(with(&z, &Array1::ones(2)), 3, ApproximateParams::default());
            assert_eq!(found.lists, vec![Vec::new(); n]);
        }
    }

    #[test]
    fn lists_of_equal_items_are_full_and_as_good_as_the_exact_ones() {
        // ten items, 120 times each: the graph of an item's copies has no way out
        let (few, signature) = factors(10, 6);
        let z = Array2::from_shape_fn((1200, 6), |(i, a)| few[[i % 10, a]]);
        let found =
            search(with(&z, &signature), 150, ApproximateParams { checked: 1200, ..ApproximateParams::default() });
        assert!(found.lists.iter().all(|list| list.len() == 150));
        let zeros = Array2::zeros((500, 3));
        let found = search(with(&zeros, &Array1::ones(3)), 4, ApproximateParams::default());
        assert_eq!(found.recall.unwrap().mean, 1.0, "of equal scores one is as good as the other");
    }

    #[test]
    fn a_known_pair_counts_for_both_its_items() {
        let (z, signature) = factors(800, 6);
        let usual = top_k(with(&z, &signature), 3, |_| {});
        let worst = usual[0][0].item;
        let entries = ScatteredEntries::new(800, &[(700, 3), (0, worst)], &[99.0, -99.0]);
        let vectors = SignedVectors { scattered: Some(&entries), ..with(&z, &signature) };
        let found = search(vectors, 3, ApproximateParams::default());
        assert_eq!(found.lists[3][0], Neighbor { item: 700, score: 99.0 });
        assert_eq!(found.lists[700][0], Neighbor { item: 3, score: 99.0 });
        assert!(found.lists[0].iter().all(|one| one.item != worst));
        let exact = top_k(vectors, 3, |_| {});
        for (item, list) in [700, 0, 3].into_iter().zip(top_k_of(&[700, 0, 3], vectors, 3)) {
            assert_eq!(items(&list), items(&exact[item]));
        }
    }

    #[test]
    fn a_scale_beyond_single_precision_changes_no_list() {
        let (z, signature) = factors(700, 6);
        let (large, usual) = (&z * 2.0_f64.powi(200), ApproximateParams { ef: 20, ..ApproximateParams::default() });
        let lists = |z: &Array2<f64>| search(with(z, &signature), 4, usual).lists;
        let (large, small) = (lists(&large), lists(&z));
        assert!(large.iter().zip(&small).all(|(one, other)| items(one) == items(other)));
    }

    #[test]
    fn a_number_that_is_none_is_refused_by_its_place() {
        let (mut z, signature) = factors(300, 4);
        z[[17, 2]] = f64::NAN;
        let error = approximate_top_k(with(&z, &signature), 3, ApproximateParams::default(), |_| {}).unwrap_err();
        let wanted =
            "the vector of item 17 holds NaN in column 2; an index needs finite numbers: compute the factors again";
        assert_eq!(error.to_string(), wanted);
    }

    #[test]
    fn the_interval_is_clopper_and_pearsons_at_the_finds_that_are_independent() {
        // items that find all or nothing: as many independent finds as items; SciPy's beta.ppf
        let shares: Vec<f64> = (0..100).map(|l| if l < 90 { 1.0 } else { 0.0 }).collect();
        let (lower, upper) = interval(&shares, 0.9, 10, 1_000_000_000);
        assert!((lower - 0.8238).abs() < 2e-3 && (upper - 0.9510).abs() < 2e-3, "{lower}, {upper}");
        // all found, of which nothing is known but the number of items: 1 − .025^(1/100)
        let (lower, upper) = interval(&[1.0; 100], 1.0, 10, 1_000_000_000);
        assert!((lower - 0.9638).abs() < 1e-4 && upper == 1.0, "{lower}, {upper}");
        assert_eq!(interval(&[0.5; 7], 0.5, 10, 7), (0.5, 0.5));
    }
}
