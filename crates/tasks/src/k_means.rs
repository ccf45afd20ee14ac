//! k-means on the vectors of items, seeded by k-means++: clusters of items from the factors of a similarity matrix.
//!
//! Lloyd's iteration: every point goes to its nearest center, every center to the mean of its points, until no point moves.
//! Distances are ‖x‖² − 2x·c + ‖c‖², so that a block of points costs one matrix product. Arthur & Vassilvitskii, *k-means++: the
//! advantages of careful seeding*, 2007. Cost: 2ncr flops an iteration; memory one block of n × c.

use landmark_core::linalg;
use landmark_core::stream::Rng;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng as _;
use serde::{Deserialize, Serialize};

/// Coordinates whose size is beyond 2^±this are scaled: squares of larger ones overflow, of smaller ones vanish.
const LARGEST_EXPONENT: i32 = 480;

const POINTS_AT_A_TIME: usize = 4096;

/// Parameters as a configuration gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KMeansParams {
    /// Number of clusters, at least 1.
    pub clusters: usize,
    pub iterations: usize,
}

impl Default for KMeansParams {
    fn default() -> Self {
        Self { clusters: 10, iterations: 100 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct KMeans {
    /// Cluster of each point, length n.
    pub labels: Vec<usize>,
    /// Their means, c × r; where the iterations ran out, those of the labels of the iteration before.
    pub centers: Array2<f64>,
    /// Σ ‖x − center‖²; infinite only where that exceeds the largest number.
    pub inertia: f64,
    /// Iterations until no point moved, or as many as were allowed.
    pub iterations: usize,
    /// Clusters that lost all points and began again at the point farthest from its center.
    pub restarted: usize,
}

/// Clusters the rows of `points` (n × r).
///
/// # Errors
/// No cluster, no iteration, more clusters than points, or a coordinate that is not finite.
pub fn k_means(points: ArrayView2<'_, f64>, params: KMeansParams, rng: &mut Rng) -> Result<KMeans, KMeansError> {
    let KMeansParams { clusters, iterations } = params;
    if clusters == 0 || clusters > points.nrows() || iterations == 0 {
        return Err(KMeansError::Numbers { clusters, iterations, points: points.nrows() });
    }
    if let Some(((point, column), &value)) = points.indexed_iter().find(|(_, value)| !value.is_finite()) {
        return Err(KMeansError::NotFinite { point, column, value });
    }
    let largest = points.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let exponent = if largest > 0.0 { largest.log2().floor() as i32 } else { 0 };
    if exponent.abs() <= LARGEST_EXPONENT {
        return iterate(points, params, rng);
    }
    // in two steps, of which neither overflows; powers of two change no digit
    let (half, rest) = (exponent / 2, exponent - exponent / 2);
    let scaled = points.mapv(|value| value * 2.0_f64.powi(-half) * 2.0_f64.powi(-rest));
    let mut found = iterate(scaled.view(), params, rng)?;
    found.centers.mapv_inplace(|value| value * 2.0_f64.powi(half) * 2.0_f64.powi(rest));
    for step in [half, rest, half, rest] {
        found.inertia *= 2.0_f64.powi(step);
    }
    Ok(found)
}

/// Lloyd's iteration, for points whose squares are neither too large nor too small.
fn iterate(points: ArrayView2<'_, f64>, params: KMeansParams, rng: &mut Rng) -> Result<KMeans, KMeansError> {
    let KMeansParams { clusters, iterations } = params;
    let lengths = squares(points);
    let mut centers = seed(points, &lengths, clusters, rng);
    let mut labels = vec![usize::MAX; points.nrows()];
    let mut restarted = 0;
    for iteration in 1..=iterations {
        let (now, distances) = assign(points, &lengths, centers.view());
        let moved = now != labels;
        labels = now;
        if !moved || iteration == iterations {
            return Ok(KMeans { labels, centers, inertia: distances.sum(), iterations: iteration, restarted });
        }
        restarted += update(points, &labels, distances, &mut centers);
    }
    Err(KMeansError::Numbers { clusters, iterations, points: points.nrows() })
}

/// Centers after some of Lloyd's iterations from these, for points whose squares are neither too large nor too small.
pub(crate) fn refine(points: ArrayView2<'_, f64>, mut centers: Array2<f64>, iterations: usize) -> Array2<f64> {
    let lengths = squares(points);
    for _ in 0..iterations {
        let (labels, distances) = assign(points, &lengths, centers.view());
        update(points, &labels, distances, &mut centers);
    }
    centers
}

/// The nearest of these centers of each point, ties to the smaller.
pub(crate) fn nearest_center(points: ArrayView2<'_, f64>, centers: ArrayView2<'_, f64>) -> Vec<usize> {
    assign(points, &squares(points), centers).0
}

/// ‖x‖² of each point.
fn squares(points: ArrayView2<'_, f64>) -> Array1<f64> {
    points.rows().into_iter().map(|row| row.dot(&row)).collect()
}

/// Why points cannot be clustered.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KMeansError {
    #[error(
        "{clusters} clusters of {points} points in {iterations} iterations are impossible: ask for 1 to {points} clusters and at least 1 iteration"
    )]
    Numbers { clusters: usize, iterations: usize, points: usize },
    #[error(
        "cannot cluster point {point}: its column {column} is {value} (expected a finite number). Leave the point out, or fit its vector again"
    )]
    NotFinite { point: usize, column: usize, value: f64 },
}

/// k-means++: the first center uniformly, each further one with probability proportional to the squared distance to the
/// nearest so far.
fn seed(points: ArrayView2<'_, f64>, lengths: &Array1<f64>, clusters: usize, rng: &mut Rng) -> Array2<f64> {
    let n = points.nrows();
    let mut centers = Array2::zeros((clusters, points.ncols()));
    let mut nearest = Array1::from_elem(n, f64::INFINITY);
    let mut chosen = rng.gen_range(0..n);
    for c in 0..clusters {
        centers.row_mut(c).assign(&points.row(chosen));
        let mut products = vec![0.0; n];
        let center = points.row(chosen).to_vec();
        linalg::apply(points, &center, &mut products);
        for ((near, product), length) in nearest.iter_mut().zip(&products).zip(lengths) {
            *near = near.min((length - 2.0 * product + lengths[chosen]).max(0.0));
        }
        nearest[chosen] = 0.0;
        chosen = draw(&nearest, rng);
    }
    centers
}

/// A point with probability proportional to its weight; any where all weigh nothing.
fn draw(weights: &Array1<f64>, rng: &mut Rng) -> usize {
    let total = weights.sum();
    if total <= 0.0 {
        return rng.gen_range(0..weights.len());
    }
    let mut left = rng.gen_range(0.0..total);
    for (point, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return point;
        }
    }
    weights.len() - 1
}

/// The nearest center of each point, ties to the smaller, and the squared distance to it.
fn assign(
    points: ArrayView2<'_, f64>,
    lengths: &Array1<f64>,
    centers: ArrayView2<'_, f64>,
) -> (Vec<usize>, Array1<f64>) {
    let of_centers = squares(centers);
    let mut labels = Vec::with_capacity(points.nrows());
    let mut distances = Vec::with_capacity(points.nrows());
    for block in points.axis_chunks_iter(Axis(0), POINTS_AT_A_TIME) {
        let products = linalg::product(block, centers.t());
        for row in products.rows() {
            let (mut label, mut least) = (0, f64::INFINITY);
            for (c, (&product, &length)) in row.iter().zip(&of_centers).enumerate() {
                let distance = length - 2.0 * product;
                if distance < least {
                    (label, least) = (c, distance);
                }
            }
            distances.push((least + lengths[labels.len()]).max(0.0));
            labels.push(label);
        }
    }
    (labels, Array1::from(distances))
}

/// Moves the centers to the means of their points; one without points goes to the farthest point. Answers how many did.
fn update(
    points: ArrayView2<'_, f64>,
    labels: &[usize],
    mut distances: Array1<f64>,
    centers: &mut Array2<f64>,
) -> usize {
    let mut counts = vec![0_usize; centers.nrows()];
    centers.fill(0.0);
    for (row, &label) in points.rows().into_iter().zip(labels) {
        centers.row_mut(label).scaled_add(1.0, &row);
        counts[label] += 1;
    }
    let mut restarted = 0;
    for (mut center, &count) in centers.rows_mut().into_iter().zip(&counts) {
        if count > 0 {
            center /= count as f64;
            continue;
        }
        let farthest = (0..distances.len()).max_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(b.cmp(&a)));
        if let Some(farthest) = farthest {
            center.assign(&points.row(farthest));
            distances[farthest] = 0.0;
            restarted += 1;
        }
    }
    restarted
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;

    use super::*;

    /// Three clouds far apart, 50 points each.
    fn clouds() -> Array2<f64> {
        let mut rng = stream(3, "clouds", "test", 0);
        Array2::from_shape_fn((150, 2), |(i, k)| {
            let center = [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]][i % 3][k];
            center + rng.gen_range(-1.0..1.0)
        })
    }

    #[test]
    fn clouds_that_lie_apart_are_found_from_any_seed() {
        let points = clouds();
        for replicate in 0..5 {
            let params = KMeansParams { clusters: 3, iterations: 50 };
            let found = k_means(points.view(), params, &mut stream(1, "x", "seed", replicate)).unwrap();
            for i in 0..150 {
                assert_eq!(found.labels[i], found.labels[i % 3], "point {i}");
            }
            assert!(found.inertia < 150.0 * 2.0, "each point is within √2 of its center: {}", found.inertia);
            assert!(found.iterations < 50);
        }
    }

    #[test]
    fn equal_points_fill_all_clusters_without_failing() {
        let points = Array2::ones((6, 2));
        let found =
            k_means(points.view(), KMeansParams { clusters: 3, iterations: 5 }, &mut stream(1, "x", "y", 0)).unwrap();
        assert_eq!(found.inertia, 0.0);
    }

    #[test]
    fn points_of_any_finite_size_are_clustered_as_their_multiples_by_a_power_of_two_are() {
        let points = clouds();
        let params = KMeansParams { clusters: 3, iterations: 50 };
        let plain = k_means(points.view(), params, &mut stream(1, "x", "seed", 0)).unwrap();
        for exponent in [-900, -600, 600, 1000] {
            let scale = 2.0_f64.powi(exponent);
            let found = k_means((&points * scale).view(), params, &mut stream(1, "x", "seed", 0)).unwrap();
            assert_eq!(found.labels, plain.labels, "2^{exponent}");
            assert_eq!((found.centers / scale), plain.centers, "2^{exponent}");
        }
        let far = ndarray::array![[1e200], [-1e200], [f64::MAX], [-f64::MAX]];
        let found = k_means(far.view(), KMeansParams { clusters: 2, iterations: 9 }, &mut stream(1, "x", "y", 0));
        assert!(found.unwrap().centers.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn a_coordinate_that_is_not_finite_is_refused_by_its_place() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut points = clouds();
            points[[7, 1]] = value;
            let error = k_means(points.view(), KMeansParams::default(), &mut stream(1, "x", "y", 0)).unwrap_err();
            assert!(matches!(error, KMeansError::NotFinite { point: 7, column: 1, .. }), "{error}");
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let points = Array2::<f64>::zeros((3, 1));
        for (clusters, iterations) in [(0, 5), (4, 5), (2, 0)] {
            let error =
                k_means(points.view(), KMeansParams { clusters, iterations }, &mut stream(1, "x", "y", 0)).unwrap_err();
            assert!(error.to_string().contains("1 to 3 clusters"), "{error}");
        }
    }
}
