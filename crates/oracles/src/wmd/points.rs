//! Points of R^d, and Euclidean distances between a few of them and many others, in f64.
//!
//! `|x − y|² = |x|² + |y|² − 2 x·y` by tiles of one point against [`TILE`], so that a point is read once for four products.
//! A distance so small that the difference cancels (below [`NEAR`] of the squared norms) is computed again as
//! Σ (x_k − y_k)², which is exact for equal points: the relative error of a distance stays below 10⁻¹⁰ for any pair.
//! Each product is summed in one order whatever the tile, so a distance has the same bits whatever else is computed, and
//! whichever of the two comes first.
//!
//! Cost: d multiplications and additions a distance, as a matrix product. With AVX2 the products are written in its
//! instructions (left to itself, the compiler adds across the lanes of a register, 3 to 5 times slower); they have the bits
//! of the portable ones.

use ndarray::{Array2, ArrayView2};

use super::processor::{LANES, padded};

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

impl<T: Coordinate> Points<T> {
    pub(super) fn new<'a>(dimension: usize, points: impl Iterator<Item = ndarray::ArrayView1<'a, T>>) -> Self
    where
        T: 'a,
    {
        let mut gathered = Self { stride: padded(dimension).max(LANES), values: Vec::new(), squared_norms: Vec::new() };
        points.for_each(|point| gathered.push(point));
        gathered
    }

    pub(super) fn push<'a>(&mut self, point: impl IntoIterator<Item = &'a T>)
    where
        T: 'a,
    {
        let begin = self.values.len();
        self.values.extend(point);
        self.values.resize(begin + self.stride, T::default());
        self.squared_norms.push(squared_norm(&self.values[begin..]));
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
    pub(super) fn load<T: Coordinate>(&mut self, points: &Points<T>, indices: &[u32]) {
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

/// A number that widens to f64 without loss.
pub(super) trait Coordinate: Copy + Default + Into<f64> {
    /// Four numbers in a register.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn load(four: &[Self; 4]) -> std::arch::x86_64::__m256d;
}

impl Coordinate for f32 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load(four: &[Self; 4]) -> std::arch::x86_64::__m256d {
        // SAFETY: four numbers are read from an array of four; our caller has the processor for it
        unsafe { std::arch::x86_64::_mm256_cvtps_pd(std::arch::x86_64::_mm_loadu_ps(four.as_ptr())) }
    }
}

impl Coordinate for f64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn load(four: &[Self; 4]) -> std::arch::x86_64::__m256d {
        // SAFETY: four numbers are read from an array of four; our caller has the processor for it
        unsafe { std::arch::x86_64::_mm256_loadu_pd(four.as_ptr()) }
    }
}

/// Distances of each of `others` to each selected point: `out` is others.len() × selected.
pub(super) fn distances<T: Coordinate>(points: &Points<T>, others: &[u32], selected: &Selection, out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the feature was just detected
        return unsafe { distances_avx2(points, others, selected, out) };
    }
    distances_by(products, points, others, selected, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn distances_avx2<T: Coordinate>(points: &Points<T>, others: &[u32], selected: &Selection, out: &mut [f64]) {
    distances_by(|x, tile| products_avx2(x, tile), points, others, selected, out);
}

/// The distances, given how to multiply a point with each of a tile.
#[inline(always)]
fn distances_by<T: Coordinate>(
    products: impl Fn(&[T], [&[f64]; TILE]) -> [f64; TILE],
    points: &Points<T>,
    others: &[u32],
    selected: &Selection,
    out: &mut [f64],
) {
    let (len, stride) = (selected.len, selected.stride);
    for first in (0..len).step_by(TILE) {
        let tile: [&[f64]; TILE] = std::array::from_fn(|k| &selected.values[(first + k) * stride..][..stride]);
        let valid = TILE.min(len - first);
        for (&other, out) in others.iter().zip(out.chunks_exact_mut(len)) {
            let (x, own) = (points.point(other), points.squared_norm(other));
            let products = products(x, tile);
            for k in 0..valid {
                let norms = own + selected.squared_norms[first + k];
                let squared = norms - 2.0 * products[k];
                out[first + k] = if squared < NEAR * norms { squared_difference(x, tile[k]) } else { squared };
            }
        }
    }
    out.iter_mut().for_each(|squared| *squared = squared.sqrt());
}

/// The products of x with the points of a tile: eight sums along the coordinates each, added up by [`total`].
fn products<T: Coordinate>(x: &[T], tile: [&[f64]; TILE]) -> [f64; TILE] {
    tile.map(|y| {
        let mut sums = [0.0; LANES];
        for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                sums[lane] += x[lane].into() * y[lane];
            }
        }
        total(sums)
    })
}

/// As [`products`], bit for bit, two registers of four sums for each point.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn products_avx2<T: Coordinate>(x: &[T], tile: [&[f64]; TILE]) -> [f64; TILE] {
    use std::arch::x86_64::{_mm256_add_pd, _mm256_mul_pd, _mm256_setzero_pd, _mm256_storeu_pd};
    let x = x.as_chunks::<4>().0;
    let tile = tile.map(|y| &y.as_chunks::<4>().0[..x.len()]);
    let mut sums = [[_mm256_setzero_pd(); 2]; TILE];
    for k in (0..x.len()).step_by(2) {
        // SAFETY: this function is only called where AVX2 was detected
        let (low, high) = unsafe { (T::load(&x[k]), T::load(&x[k + 1])) };
        for (sums, y) in sums.iter_mut().zip(tile) {
            // SAFETY: as above
            let (y_low, y_high) = unsafe { (f64::load(&y[k]), f64::load(&y[k + 1])) };
            sums[0] = _mm256_add_pd(sums[0], _mm256_mul_pd(low, y_low));
            sums[1] = _mm256_add_pd(sums[1], _mm256_mul_pd(high, y_high));
        }
    }
    sums.map(|[low, high]| {
        let mut lanes = [0.0; LANES];
        let (to_low, to_high) = lanes.split_at_mut(4);
        // SAFETY: four numbers are written to each half of the eight
        unsafe {
            _mm256_storeu_pd(to_low.as_mut_ptr(), low);
            _mm256_storeu_pd(to_high.as_mut_ptr(), high);
        }
        total(lanes)
    })
}

/// |x|², summed in the order of [`products`].
#[inline(always)]
fn squared_norm<T: Coordinate>(x: &[T]) -> f64 {
    let mut sums = [0.0; LANES];
    for x in x.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let x: f64 = x[lane].into();
            sums[lane] += x * x;
        }
    }
    total(sums)
}

#[inline(always)]
fn squared_difference<T: Coordinate>(x: &[T], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
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
/// Panics if the rows differ in dimension.
pub fn ground_distances(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) -> Array2<f64> {
    assert_eq!(x.ncols(), y.ncols(), "points of one dimension");
    let points = Points::new(x.ncols(), x.rows().into_iter().chain(y.rows()));
    let indices: Vec<u32> = (0..points.len() as u32).collect();
    let (rows, columns) = indices.split_at(x.nrows());
    let mut selected = Selection::default();
    selected.load(&points, columns);
    let mut costs = Array2::zeros((x.nrows(), y.nrows()));
    if let (Some(out), true) = (costs.as_slice_mut(), y.nrows() > 0) {
        distances(&points, rows, &selected, out);
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
    fn every_register_width_gives_the_same_bits() {
        let mut rng = stream(2, "points", "registers", 0);
        let x = Array2::from_shape_fn((9, 29), |_| rng.gen_range(-1.0_f32..1.0));
        let points = Points::new(29, x.rows().into_iter());
        let mut selected = Selection::default();
        selected.load(&points, &[0, 3, 5, 7, 8]);
        let others: Vec<u32> = (0..9).collect();
        let (mut widest, mut baseline) = ([0.0; 45], [1.0; 45]);
        distances(&points, &others, &selected, &mut widest);
        distances_by(products, &points, &others, &selected, &mut baseline);
        assert_eq!(widest.map(f64::to_bits), baseline.map(f64::to_bits));
    }
}
