//! Items by cluster: an inverted file, whose clusters are searched for the nearest of an item ([`approximate_top_k`](super::approximate_top_k)).

use std::ops::Range;

use landmark_core::linalg;
use landmark_core::stream::stream;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rand::seq::index::sample;
use rayon::prelude::*;

use super::{BLOCK, Best, Neighbor, SignedVectors, top_k_of};
use crate::k_means;

/// Items that the centers of clusters are fitted to, per cluster.
const POINTS_A_CLUSTER: usize = 20;
const ITERATIONS: usize = 6;
/// Items kept in addition to k while scores are in single precision, which may order the last of them wrongly.
const SPARE: usize = 8;

/// Items by cluster.
pub(super) struct InvertedFile<'a> {
    vectors: SignedVectors<'a>,
    /// Vectors, cluster after cluster, in single precision and divided by the largest norm, so that no product overflows.
    rows: Array2<f32>,
    /// Item of each row.
    items: Vec<usize>,
    /// Cluster of each item.
    cluster_of: Vec<usize>,
    /// The rows of cluster c are `starts[c]..starts[c + 1]`.
    starts: Vec<usize>,
    /// Centers, clusters × r.
    centers: Array2<f32>,
}

/// The largest norm of a row, in two factors, neither of which overflows: the largest |z|, and the largest norm in its unit.
fn scale_of(z: ArrayView2<'_, f64>) -> (f64, f64) {
    let largest_of = |of_row: &dyn Fn(ArrayView1<'_, f64>) -> f64| {
        z.rows().into_iter().map(of_row).fold(0.0, f64::max).max(f64::MIN_POSITIVE)
    };
    let unit = largest_of(&|row| row.iter().fold(0.0, |largest: f64, z| largest.max(z.abs())));
    (unit, largest_of(&|row| row.iter().map(|z| (z / unit).powi(2)).sum::<f64>().sqrt()))
}

impl<'a> InvertedFile<'a> {
    pub(super) fn build(vectors: SignedVectors<'a>, seed: u64) -> Self {
        let (z, n) = (vectors.vectors, vectors.len());
        let (unit, longest) = scale_of(z);
        let scaled = |items: &[usize]| z.select(Axis(0), items).mapv_into(|z| z / unit / longest);
        // counts of items, far below 2^52
        let clusters = ((4.0 * (n as f64).sqrt()) as usize).min(n / 8).max(1);
        let draw = sample(&mut stream(seed, "neighbours", "clusters", 0), n, (POINTS_A_CLUSTER * clusters).min(n));
        let points = scaled(&draw.into_vec());
        let centers = k_means::refine(points.view(), points.slice(s![..clusters, ..]).to_owned(), ITERATIONS);
        let mut cluster_of = Vec::with_capacity(n);
        let items: Vec<usize> = (0..n).collect();
        for items in items.chunks(BLOCK) {
            cluster_of.extend(k_means::nearest_center(scaled(items).view(), centers.view()));
        }
        let mut starts = vec![0; clusters + 1];
        cluster_of.iter().for_each(|&cluster| starts[cluster + 1] += 1);
        (0..clusters).for_each(|cluster| starts[cluster + 1] += starts[cluster]);
        let mut items = items;
        items.sort_by_key(|&item| cluster_of[item]);
        let mut rows = Array2::zeros(z.dim());
        rows.axis_iter_mut(Axis(0)).into_par_iter().zip(&items).for_each(|(mut row, &item)| {
            row.zip_mut_with(&z.row(item), |row, z| *row = (z / unit / longest) as f32);
        });
        Self { vectors, rows, items, cluster_of, starts, centers: centers.mapv(|center| center as f32) }
    }

    pub(super) fn clusters(&self) -> usize {
        self.centers.nrows()
    }

    /// Estimates of some rows, times D, with the centers.
    fn with_centers(&self, queries: ArrayView2<'_, f32>) -> Array2<f32> {
        linalg::single_product(queries, self.centers.t())
    }

    /// Item of a row.
    pub(super) fn item(&self, row: usize) -> usize {
        self.items[row]
    }

    /// Clusters to be searched, so that they hold this share of the k nearest of some `items`.
    pub(super) fn n_probes(&self, k: usize, recall: f64, items: &[usize]) -> usize {
        let mut row_of = vec![0; self.vectors.len()];
        self.items.iter().enumerate().for_each(|(row, &item)| row_of[item] = row);
        let rows: Vec<usize> = items.iter().map(|&item| row_of[item]).collect();
        let queries = self.signed(self.rows.select(Axis(0), &rows));
        let products = self.with_centers(queries.view());
        let exact = top_k_of(items, self.vectors, k);
        let mut ranks: Vec<usize> = exact
            .par_iter()
            .zip(items)
            .zip(products.axis_iter(Axis(0)).into_par_iter())
            .flat_map_iter(|((list, &item), products)| {
                let rank = move |near: &Neighbor| {
                    // a known pair is listed in any case
                    if self.vectors.scattered.is_some_and(|scattered| scattered.contains(item, near.item)) {
                        return 0;
                    }
                    let cluster = self.cluster_of[near.item];
                    let is_before = |(other, &product): (usize, &f32)| {
                        product > products[cluster] || (product == products[cluster] && other < cluster)
                    };
                    products.iter().enumerate().filter(|&one| is_before(one)).count()
                };
                list.iter().map(rank)
            })
            .collect();
        ranks.sort_unstable();
        let within = (recall.clamp(0.0, 1.0) * ranks.len() as f64).ceil() as usize;
        1 + ranks[within.clamp(1, ranks.len()) - 1]
    }

    fn signed(&self, mut queries: Array2<f32>) -> Array2<f32> {
        for (mut column, &sign) in queries.columns_mut().into_iter().zip(self.vectors.signature) {
            if sign < 0.0 {
                column.mapv_inplace(|z| -z);
            }
        }
        queries
    }

    /// Clusters that each of some queries searches: of each cluster the numbers of its queries, ascending.
    fn probed(&self, queries: ArrayView2<'_, f32>, n_probes: usize) -> Vec<(usize, usize)> {
        let products = self.with_centers(queries);
        let mut probed = Vec::with_capacity(n_probes * queries.nrows());
        let mut order: Vec<usize> = Vec::new();
        for (query, products) in products.rows().into_iter().enumerate() {
            order.clear();
            order.extend(0..self.clusters());
            order.select_nth_unstable_by(n_probes - 1, |&a, &b| products[b].total_cmp(&products[a]).then(a.cmp(&b)));
            probed.extend(order[..n_probes].iter().map(|&cluster| (cluster, query)));
        }
        probed.sort_unstable();
        probed
    }

    /// The k best of the items of some rows among the clusters that they search; fewer where these hold fewer.
    pub(super) fn lists(&self, range: Range<usize>, n_probes: usize, k: usize) -> Vec<Vec<Neighbor>> {
        let SignedVectors { vectors, signature, scattered } = self.vectors;
        let items = &self.items[range.clone()];
        let queries = self.signed(self.rows.slice(s![range, ..]).to_owned());
        let mut best = vec![Best::new(k + SPARE); items.len()];
        for group in self.probed(queries.view(), n_probes).chunk_by(|one, other| one.0 == other.0) {
            let cluster = group[0].0;
            let members = self.starts[cluster]..self.starts[cluster + 1];
            let asking: Vec<usize> = group.iter().map(|&(_, query)| query).collect();
            let asking_rows = queries.select(Axis(0), &asking);
            for first in members.clone().step_by(BLOCK) {
                let members = first..(first + BLOCK).min(members.end);
                let rows = self.rows.slice(s![members.clone(), ..]);
                let products = linalg::single_product(asking_rows.view(), rows.t());
                for (&query, products) in asking.iter().zip(products.rows()) {
                    let (item, best) = (items[query], &mut best[query]);
                    for (&other, &product) in self.items[members.clone()].iter().zip(products) {
                        let product = f64::from(product);
                        let is_near = product >= best.threshold && other != item;
                        if is_near && !scattered.is_some_and(|scattered| scattered.contains(item, other)) {
                            best.offer(other, product);
                        }
                    }
                }
            }
        }
        let list = |(&item, rough): (&usize, Best)| {
            let signed = &vectors.row(item) * signature;
            let mut best = Best::new(k);
            for (other, score) in scattered.iter().flat_map(|scattered| scattered.row(item)) {
                best.offer(other, score);
            }
            rough.found.iter().for_each(|near| best.offer(near.item, signed.dot(&vectors.row(near.item))));
            best.found
        };
        items.iter().zip(best).map(list).collect()
    }
}
