//! Points of R^d, and Euclidean distances between a few of them and many others, in f64.
//!
//! `|x − y|² = |x|² + |y|² − 2 x·y` by tiles of one point against [`TILE`], so that a point is read once for four products.
//! Where two lie so near that the difference cancels (below [`NEAR`] of the squared norms) it is computed again as
//! Σ (x_k − y_k)², which is exact for equal points: the relative error of a distance stays below 10⁻¹⁰ for any pair.
//! Each product is summed in one order whatever the tile, so a distance has the same bits whatever else is computed, and
//! whichever of the two comes first.
//!
//! Cost: d multiplications and additions a distance, as a matrix product.

use ndarray::{Array2, ArrayView2};

use super::processor::{LANES, padded, widest_registers};

/// Points that are multiplied at once.
const TILE: usize = 4;

/// Squared distance, relative to the sum of the squared norms, below which it is computed without cancellation.
const NEAR: f64 = 1e-4;

/// n points, each padded with zeros to whole registers, and their squared norms.
#[derive(Debug, Clone)]
pub(super) struct Points<T> {
    stride: usize,
    values: Vec<T>,
    squared_norms: Vec<f64>,
}

impl<T: Copy + Default + Into<f64>> Points<T> {
    pub(super) fn new<'a>(dimension: usize, points: impl Iterator<Item = ndarray::ArrayView1<'a, T>>) -> Self
    where
        T: 'a,
    {
        let mut gathered = Self { stride: padded(dimension).max(LANES), values: Vec::new(), squared_norms: Vec::new() };
        for point in points {
            let begin = gathered.values.len();
            gathered.values.extend(point);
            gathered.values.resize(begin + gathered.stride, T::default());
            gathered.squared_norms.push(squared_norm(&gathered.values[begin..]));
        }
        gathered
    }

    pub(super) fn len(&self) -> usize {
        self.squared_norms.len()
    }

    /// All values with their padding, point after point.
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn point(&self, index: u32) -> &[T] {
        &self.values[index as usize * self.stride..][..self.stride]
    }

    fn squared_norm(&self, index: u32) -> f64 {
        self.squared_norms[index as usize]
    }
}

/// A few points in f64, ready to be multiplied.
#[derive(Debug, Default)]
pub(super) struct Selection {
    len: usize,
    stride: usize,
    /// The points, rounded up to whole tiles with zeros.
    values: Vec<f64>,
    squared_norms: Vec<f64>,
}

impl Selection {
    /// Takes over the points `indices`; allocates only where there was less room before.
    pub(super) fn load<T: Copy + Default + Into<f64>>(&mut self, points: &Points<T>, indices: &[u32]) {
        (self.len, self.stride) = (indices.len(), points.stride);
        self.values.clear();
        self.values.resize(indices.len().next_multiple_of(TILE) * self.stride, 0.0);
        self.squared_norms.clear();
        for (&index, to) in indices.iter().zip(self.values.chunks_exact_mut(self.stride)) {
            to.iter_mut().zip(points.point(index)).for_each(|(to, &x)| *to = x.into());
            self.squared_norms.push(points.squared_norm(index));
        }
    }
}

widest_registers! {
    /// Distances of each of `others` to each selected point: `out` is others.len() × selected.
    pub(super) fn distances_f32(points: &Points<f32>, others: &[u32], selected: &Selection, out: &mut [f64])
        = distances::<f32>
}

widest_registers! {
    /// As [`distances_f32`].
    pub(super) fn distances_f64(points: &Points<f64>, others: &[u32], selected: &Selection, out: &mut [f64])
        = distances::<f64>
}

#[inline(always)]
fn distances<T: Copy + Default + Into<f64>>(points: &Points<T>, others: &[u32], selected: &Selection, out: &mut [f64]) {
    let (len, stride) = (selected.len, selected.stride);
    for first in (0..len).step_by(TILE) {
        let tile = &selected.values[first * stride..][..TILE * stride];
        let valid = TILE.min(len - first);
        for (&other, out) in others.iter().zip(out.chunks_exact_mut(len)) {
            let (x, own) = (points.point(other), points.squared_norm(other));
            for (k, product) in products(x, tile, stride).into_iter().enumerate().take(valid) {
                let norms = own + selected.squared_norms[first + k];
                let squared = norms - 2.0 * product;
                out[first + k] =
                    if squared < NEAR * norms { squared_difference(x, &tile[k * stride..][..stride]) } else { squared };
            }
        }
    }
    out.iter_mut().for_each(|squared| *squared = squared.sqrt());
}

/// The products of x with the points of a tile.
#[inline(always)]
fn products<T: Copy + Into<f64>>(x: &[T], tile: &[f64], stride: usize) -> [f64; TILE] {
    let mut sums = [[0.0; LANES]; TILE];
    let (y0, rest) = tile.split_at(stride);
    let (y1, rest) = rest.split_at(stride);
    let (y2, y3) = rest.split_at(stride);
    let chunks = x.chunks_exact(LANES).zip(y0.chunks_exact(LANES)).zip(y1.chunks_exact(LANES));
    for (((x, y0), y1), (y2, y3)) in chunks.zip(y2.chunks_exact(LANES).zip(y3.chunks_exact(LANES))) {
        for lane in 0..LANES {
            let x: f64 = x[lane].into();
            sums[0][lane] += x * y0[lane];
            sums[1][lane] += x * y1[lane];
            sums[2][lane] += x * y2[lane];
            sums[3][lane] += x * y3[lane];
        }
    }
    sums.map(total)
}

/// |x|², summed in the order of [`products`].
#[inline(always)]
fn squared_norm<T: Copy + Into<f64>>(x: &[T]) -> f64 {
    let mut sums = [0.0; LANES];
    for x in x.chunks_exact(LANES) {
        for lane in 0..LANES {
            let x: f64 = x[lane].into();
            sums[lane] += x * x;
        }
    }
    total(sums)
}

#[inline(always)]
fn squared_difference<T: Copy + Into<f64>>(x: &[T], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (x, y) in x.chunks_exact(LANES).zip(y.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let difference = x[lane].into() - y[lane];
            sums[lane] += difference * difference;
        }
    }
    total(sums)
}

#[inline(always)]
fn total(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Euclidean distances between the rows of `x` (m × d) and of `y` (n × d): m × n costs for [`emd`](super::emd()).
///
/// # Panics
/// Where the rows differ in dimension.
pub fn ground_distances(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Array2<f64> {
    assert_eq!(x.ncols(), y.ncols(), "points of one dimension");
    let points = Points::new(x.ncols(), x.rows().into_iter().chain(y.rows()));
    let indices: Vec<u32> = (0..points.len() as u32).collect();
    let (rows, columns) = indices.split_at(x.nrows());
    let mut selected = Selection::default();
    selected.load(&points, columns);
    let mut costs = Array2::zeros((x.nrows(), y.nrows()));
    if let (Some(out), true) = (costs.as_slice_mut(), y.nrows() > 0) {
        distances_f64(&points, rows, &selected, out);
    }
    costs
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::Array2;
    use rand::Rng;

    use super::*;

    #[test]
    fn distances_keep_nine_digits_between_far_near_and_equal_points() {
        let mut rng = stream(1, "points", "distances", 0);
        // 13 points of 11 numbers: neither fills whole tiles or registers
        let mut x = Array2::from_shape_fn((13, 11), |_| rng.gen_range(-1.0..1.0));
        let twin = x.row(3).to_owned();
        x.row_mut(5).assign(&twin);
        for (k, gap) in [(6, 1e-3), (7, 1e-6), (8, 1e-9)] {
            x.row_mut(k).assign(&(&twin + gap));
        }
        let costs = ground_distances(x.view(), x.view());
        for i in 0..13 {
            for j in 0..13 {
                let exact = (&x.row(i) - &x.row(j)).mapv(|d| d * d).sum().sqrt();
                // the error bound of the module, and nothing at all between equal points
                assert!((costs[[i, j]] - exact).abs() <= 1e-10 * exact, "({i}, {j}): {} {exact}", costs[[i, j]]);
                assert_eq!(costs[[i, j]].to_bits(), costs[[j, i]].to_bits());
            }
        }
        assert_eq!(costs[[3, 5]], 0.0);
    }

    #[test]
    fn points_without_coordinates_are_all_the_same() {
        let costs = ground_distances(Array2::zeros((2, 0)).view(), Array2::zeros((3, 0)).view());
        assert_eq!(costs, Array2::<f64>::zeros((2, 3)));
    }
}
