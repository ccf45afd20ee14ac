//! The nearest neighbors of every item from factors, approximately: an inverted file of clusters of the items is searched, instead of all of K̃.
//!
//! ```text
//! K̃_ij = ⟨D z_i, z_j⟩, D = diag(±1);  item i is compared with the items of the clusters whose centers c have the highest ⟨D z_i, c⟩
//! ```
//! k-means divides the items into 4√n clusters (Jégou, Douze & Schmid 2011, "Product quantization for nearest neighbor search", their IVF without codes). The
//! mean estimate of an item with the members of a cluster is that with its center, so that negative signs need no other treatment.
//!
//! How many clusters are searched follows from the recall that is wanted: some items, drawn uniformly, are compared with all others, and the places of the
//! clusters of their nearest are known. Items of another draw then measure the recall of the lists. Where half of all clusters would be searched, all pairs are
//! compared instead, which is exact.
//!
//! Scores are compared in single precision, a matrix product for each cluster; the best of them are scored again in f64, known pairs by what is known, and
//! ties go to the smaller index. Lists depend on factors and seed alone, not on the number of threads.
//!
//! Cost: 8nr√n operations to place the items and as many to rank the clusters, 2n²r times the share of the clusters that is searched, and 2rn for each of the
//! items that are compared with all. Memory: 4nr bytes of vectors, 16nk of lists where all are kept.

use landmark_core::stats::{clopper_pearson_lower, clopper_pearson_upper};
use landmark_core::stream::stream;
use ndarray::{ArrayView1, ArrayView2};
use rand::seq::index::sample;
use rayon::prelude::*;

use super::inverted_file::InvertedFile;
use super::{Neighbor, SignedVectors, top_k_of};

/// Items whose lists are searched for between two words of progress.
const ITEMS_A_STEP: usize = 1 << 14;
const ITEMS_A_TASK: usize = 256;
const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ApproximateParams {
    /// Mean share of the k nearest of an item that its list is to hold, from 0 to 1.
    pub recall: f64,
    /// Largest share of the clusters that is searched, even if the recall is then lower.
    pub max_share: f64,
    /// Items that the number of clusters is chosen by, and as many of another draw whose lists are compared with the exact ones.
    pub checked: usize,
    /// Seed of the clusters and of the draws of items.
    pub seed: u64,
}

impl Default for ApproximateParams {
    fn default() -> Self {
        Self { recall: 0.99, max_share: 1.0, checked: 500, seed: 2022 }
    }
}

/// Lists of an approximate search, and how many of the exact neighbors they hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Approximate {
    /// The nearest found of each item, best first; always min(k, n − 1).
    pub lists: Vec<Vec<Neighbor>>,
    /// Their recall; `None` where all pairs were compared.
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

/// The `k` most similar other items of every item, approximately, and their measured recall. Where half of the clusters would be searched, and for an item
/// whose clusters hold fewer than `k` others, the search is exact. `done` gets, now and then, how much of the searching is behind, from 0 to 1; the
/// clustering, which comes before, reports nothing.
///
/// # Errors
/// A vector that is not finite, or a sign that is neither 1 nor −1.
pub fn approximate_top_k(
    vectors: SignedVectors<'_>,
    k: usize,
    params: ApproximateParams,
    done: impl FnMut(f64),
) -> Result<Approximate, IndexError> {
    let mut lists = vec![Vec::new(); vectors.len()];
    let recall = approximate_lists(vectors, k, params, done, |item, list| lists[item] = list)?;
    Ok(Approximate { lists, recall })
}

/// As [`approximate_top_k`], but `take` gets the list of one item after the other, each once and in no particular order; never if all lists are empty. A
/// caller that keeps only part of each list needs less memory, unless the search is exact.
///
/// # Errors
/// As [`approximate_top_k`].
pub fn approximate_lists(
    vectors: SignedVectors<'_>,
    k: usize,
    params: ApproximateParams,
    mut done: impl FnMut(f64),
    mut take: impl FnMut(usize, Vec<Neighbor>),
) -> Result<Option<MeasuredRecall>, IndexError> {
    refuse_non_finite(vectors.vectors)?;
    if let Some((column, &value)) = vectors.signature.iter().enumerate().find(|(_, sign)| sign.abs() != 1.0) {
        return Err(IndexError::Signature { column, value });
    }
    let n = vectors.len();
    let k = k.min(n.saturating_sub(1));
    if k == 0 {
        return Ok(None);
    }
    let index = InvertedFile::build(vectors, params.seed);
    let drawn = |purpose: &str| {
        sample(&mut stream(params.seed, "neighbours", purpose, 0), n, params.checked.clamp(1, n)).into_vec()
    };
    let wanted = index.n_probes(k, params.recall, &drawn("probes"));
    let most = (params.max_share * index.clusters() as f64).ceil() as usize;
    let n_probes = wanted.min(most).max(1);
    if 2 * n_probes >= index.clusters() {
        drop(index);
        super::top_k(vectors, k, done).into_iter().enumerate().for_each(|(item, list)| take(item, list));
        return Ok(None);
    }
    let mut checked = drawn("checked");
    checked.sort_unstable();
    let mut measured = vec![Vec::new(); checked.len()];
    let mut keep = |item: usize, list: Vec<Neighbor>| {
        if let Ok(place) = checked.binary_search(&item) {
            measured[place].clone_from(&list);
        }
        take(item, list);
    };
    let mut short = Vec::new();
    for first in (0..n).step_by(ITEMS_A_STEP) {
        let end = (first + ITEMS_A_STEP).min(n);
        let tasks: Vec<usize> = (first..end).step_by(ITEMS_A_TASK).collect();
        let found: Vec<Vec<Vec<Neighbor>>> =
            tasks.par_iter().map(|&start| index.lists(start..(start + ITEMS_A_TASK).min(end), n_probes, k)).collect();
        for (row, list) in (first..end).zip(found.into_iter().flatten()) {
            match list.len() < k {
                true => short.push(index.item(row)),
                false => keep(index.item(row), list),
            }
        }
        done(end as f64 / n as f64);
    }
    drop(index);
    short.sort_unstable();
    for (&item, list) in short.iter().zip(top_k_of(&short, vectors, k)) {
        keep(item, list);
    }
    Ok(Some(measure(&checked, &measured, vectors, k)))
}

fn refuse_non_finite(vectors: ArrayView2<'_, f64>) -> Result<(), IndexError> {
    match vectors.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((item, column), &value)) => Err(IndexError::NotFinite { item, column, value }),
        None => Ok(()),
    }
}

/// Recall of the lists of some items.
fn measure(items: &[usize], lists: &[Vec<Neighbor>], vectors: SignedVectors<'_>, k: usize) -> MeasuredRecall {
    let n = vectors.len();
    let norm = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
    let longest = vectors.vectors.rows().into_iter().map(norm).fold(0.0, f64::max);
    let share = |((&item, list), exact): ((&usize, &Vec<Neighbor>), &Vec<Neighbor>)| {
        // the exact scores are added in another order
        let row = vectors.vectors.row(item);
        let rounding = f64::EPSILON * row.len() as f64 * norm(row) * longest;
        let worst = exact.last().map_or(f64::NEG_INFINITY, |worst| worst.score - rounding);
        list.iter().filter(|found| found.score >= worst).count() as f64 / k as f64
    };
    let exact = top_k_of(items, vectors, k);
    let shares: Vec<f64> = items.iter().zip(lists).zip(&exact).map(share).collect();
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
        // fewer clusters hold fewer, and a sample of the items shows it; a wrong interval in one of twenty
        let few = search(vectors, 8, ApproximateParams { recall: 0.7, checked: 300, ..ApproximateParams::default() });
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
        let params = ApproximateParams { recall: 0.8, checked: 50, seed: 3, ..ApproximateParams::default() };
        let on = |threads: usize, params| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search(with(&z, &signature), 5, params))
        };
        assert_eq!(on(1, params), on(4, params));
        assert_ne!(on(1, params).lists, on(1, ApproximateParams { seed: 4, ..params }).lists);
    }

    #[test]
    fn where_half_of_the_clusters_would_be_searched_the_lists_are_exact() {
        let (z, signature) = factors(60, 5);
        let vectors = with(&z, &signature);
        for k in [20, 59, 60, 1000] {
            let found = search(vectors, k, ApproximateParams::default());
            assert_eq!(found, Approximate { lists: top_k(vectors, k, |_| {}), recall: None });
        }
        let all = ApproximateParams { recall: 1.0, ..ApproximateParams::default() };
        for (one, other) in search(vectors, 1, all).lists.iter().zip(top_k(vectors, 1, |_| {})) {
            assert_eq!(items(one), items(&other), "every cluster that holds a nearest item is searched");
        }
        // a share of the clusters ends the search before the recall that is wanted
        let (z, signature) = factors(1500, 12);
        let few = ApproximateParams { max_share: 0.02, ..ApproximateParams::default() };
        let recall = |params| search(with(&z, &signature), 20, params).recall.map_or(1.0, |recall| recall.mean);
        assert!(recall(few) < recall(ApproximateParams::default()) - 0.02);
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
    fn every_item_is_handed_out_once_with_the_list_of_the_whole() {
        for n in [0, 1, 60, 900] {
            let (z, signature) = factors(n.max(1), 6);
            let z = z.slice(s![..n, ..]).to_owned();
            // of 900 items in many clusters some lists are short at first
            let params = ApproximateParams { max_share: 0.02, ..ApproximateParams::default() };
            let mut lists = vec![None; n];
            let take = |item: usize, list: Vec<Neighbor>| assert_eq!(lists[item].replace(list), None, "{item}");
            let recall = approximate_lists(with(&z, &signature), 40, params, |_| {}, take).unwrap();
            let whole = search(with(&z, &signature), 40, params);
            assert_eq!(recall, whole.recall);
            let lists: Vec<Vec<Neighbor>> = lists.into_iter().map(Option::unwrap_or_default).collect();
            assert_eq!(lists, whole.lists);
            assert!(lists.iter().all(|list| list.len() == 40.min(n.saturating_sub(1))));
        }
    }

    #[test]
    fn lists_of_equal_items_are_full_and_as_good_as_the_exact_ones() {
        // ten items, 120 times each
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
        let (large, usual) =
            (&z * 2.0_f64.powi(200), ApproximateParams { recall: 0.9, ..ApproximateParams::default() });
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
