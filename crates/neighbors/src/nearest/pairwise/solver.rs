//! The linear system of a Gaussian process over pairs, by preconditioned conjugate gradients.
//!
//! ```text
//! A = Φ Φᵀ + diag t                              covariance of the items (n × n, never formed)
//! G[(i, j), (k, l)] = A_ik A_jl + A_il A_jk      covariance of two unordered pairs
//! (G + ν I) x = y                                y: the scaled residuals of the known pairs, ν = 0.1
//! ```
//! With X the sparse symmetric matrix of x, the entry of (i, j) in G x is (A X A)_ij, so that a product costs two sparse products with Φ and
//! two products of r × r. One direction of G is much larger than the others: without a preconditioner, or from the solution of another kernel, a
//! few dozen iterations can end with a residual above that of zero. The preconditioner is G of the 20 leading directions of Φ, and the start is zero.
//!
//! Cost of an iteration, with p known pairs: 8pr + 4nr² operations; memory 12nr bytes in addition to Φ. Sums run in a fixed order, so that the
//! solution does not depend on the number of threads.

use multiversion::multiversion;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, aview1, s};
use rayon::prelude::*;

use landmark_core::linalg::{self, Cholesky, LinalgError};

/// ν, in parts of the mean square of what is known.
pub(super) const NOISE: f64 = 0.1;

/// The residual at which a solution is good enough, in parts of the right side.
const TOLERANCE: f64 = 0.01;

/// Leading directions of Φ in the preconditioner.
const DIRECTIONS: usize = 20;

/// Known pairs that the preconditioner is made of, at most.
const MOST_SAMPLED: usize = 200_000;

/// Pairs whose features are held at a time.
const FEATURE_ROWS: usize = 4096;

/// Sums of an inner product that run at once.
const LANES: usize = 16;

/// Added to every t: what of an item no other item shares.
const OWN: f32 = 0.2;

/// The covariance of items, A = Φ Φᵀ + diag t.
pub(super) struct Items {
    /// Φ, n × r.
    pub(super) phi: Array2<f32>,
    /// t, length n.
    pub(super) own: Vec<f32>,
}

impl Items {
    /// t_i = 0.2 + max(0, 1 − |φ_i|²).
    pub(super) fn new(phi: Array2<f32>) -> Self {
        let own = phi.rows().into_iter().map(|row| OWN + f32::max(0.0, 1.0 - row.dot(&row))).collect();
        Self { phi, own }
    }
}

/// Known pairs and what is left over at each, row by row of both of their items.
pub(super) struct Residuals {
    /// i < j, ascending.
    pub(super) pairs: Vec<(u32, u32)>,
    /// One value a pair.
    pub(super) values: Vec<f64>,
    /// The other item and the number of the pair: those of item i are `starts[i]..starts[i + 1]`.
    entries: Vec<(u32, u32)>,
    starts: Vec<usize>,
}

impl Residuals {
    /// Of n items; `pairs` ascend.
    pub(super) fn new(n: usize, pairs: Vec<(u32, u32)>, values: Vec<f64>) -> Self {
        let mut starts = vec![0; n + 1];
        for &(i, j) in &pairs {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut ends = starts.clone();
        let mut entries = vec![(0, 0); 2 * pairs.len()];
        for (number, &(i, j)) in (0..).zip(&pairs) {
            for (one, other) in [(i, j), (j, i)] {
                entries[ends[one as usize]] = (other, number);
                ends[one as usize] += 1;
            }
        }
        Self { pairs, values, entries, starts }
    }

    /// Root of the mean square of the values.
    pub(super) fn scale(&self) -> f64 {
        let squares: f64 = self.values.iter().map(|value| value * value).sum();
        (squares / self.values.len().max(1) as f64).sqrt()
    }

    /// X M, for the sparse symmetric X of one number a pair.
    fn times(&self, x: &[f64], matrix: ArrayView2<'_, f32>) -> Array2<f32> {
        let mut out = Array2::zeros(matrix.dim());
        out.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
            for &(other, number) in &self.entries[self.starts[i]..self.starts[i + 1]] {
                // one rounding more on a number that is known to a hundredth
                add(
                    x[number as usize] as f32,
                    line(matrix.row(other as usize)),
                    row.as_slice_mut().unwrap_or_default(),
                );
            }
        });
        out
    }

    /// One number a pair, in parallel.
    fn map(&self, value: impl Fn(usize, (u32, u32)) -> f64 + Sync) -> Vec<f64> {
        self.pairs.par_iter().with_min_len(256).enumerate().map(|(number, &pair)| value(number, pair)).collect()
    }
}

/// A solution x as what it predicts: (A X A)_ij = U_i·φ_j + φ_i·W_j + t_i t_j X_ij.
pub(super) struct Solution {
    /// Φ(ΦᵀXΦ) + W, n × r.
    pub(super) left: Array2<f32>,
    /// W = diag(t) X Φ, n × r.
    pub(super) right: Array2<f32>,
}

impl Solution {
    fn of(items: &Items, known: &Residuals, x: &[f64]) -> Self {
        let mut right = known.times(x, items.phi.view());
        let inner = linalg::single_product(items.phi.t(), right.view());
        right.axis_iter_mut(Axis(0)).into_par_iter().zip(&items.own).for_each(|(mut row, &own)| row *= own);
        let mut left = linalg::single_product(items.phi.view(), inner.view());
        left.axis_iter_mut(Axis(0))
            .into_par_iter()
            .zip(right.axis_iter(Axis(0)).into_par_iter())
            .for_each(|(mut left, right)| left += &right);
        Self { left, right }
    }

    /// The prediction at a pair without a score; the same in both orders.
    pub(super) fn at(&self, items: &Items, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let (one, other) = (line(self.left.row(i)), line(self.right.row(j)));
        f64::from(product(one, line(items.phi.row(j))) + product(line(items.phi.row(i)), other))
    }
}

/// G x + ν x.
pub(super) fn apply(items: &Items, known: &Residuals, x: &[f64]) -> Vec<f64> {
    let solution = Solution::of(items, known, x);
    known.map(|number, (i, j)| {
        let own = f64::from(items.own[i as usize]) * f64::from(items.own[j as usize]);
        solution.at(items, i as usize, j as usize) + (own + NOISE) * x[number]
    })
}

/// The solution for the known values over `scale`, with at most `iterations` products, and how large a part of the right side is left over.
///
/// # Errors
/// A factorization of r × r that failed.
pub(super) fn solve(
    items: &Items,
    known: &Residuals,
    scale: f64,
    iterations: usize,
) -> Result<(Solution, f64), LinalgError> {
    let mut left: Vec<f64> = known.values.iter().map(|value| value / scale).collect();
    let enough = TOLERANCE * dot(&left, &left).sqrt();
    let mut x = vec![0.0; left.len()];
    let preconditioner = Preconditioner::of(items, known)?;
    let mut turned = preconditioner.apply(known, &left);
    let mut direction = turned.clone();
    let mut product = dot(&left, &turned);
    let mut rest = dot(&left, &left).sqrt();
    for _ in 0..iterations {
        if rest <= enough || product <= 0.0 {
            break;
        }
        let image = apply(items, known, &direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            // rounding alone: G + νI is positive definite
            break;
        }
        let step = product / curvature;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        left.iter_mut().zip(&image).for_each(|(left, image)| *left -= step * image);
        rest = dot(&left, &left).sqrt();
        turned = preconditioner.apply(known, &left);
        let next = dot(&left, &turned);
        let part = next / product;
        direction.iter_mut().zip(&turned).for_each(|(direction, turned)| *direction = turned + part * *direction);
        product = next;
    }
    let part = if enough > 0.0 { rest * TOLERANCE / enough } else { 0.0 };
    Ok((Solution::of(items, known, &x), part))
}

/// The approximate inverse (ρ − Ψ H⁻¹ Ψᵀρ) / σ with H = ΨᵀΨ + σI, for the features Ψ of pairs in the leading directions Y of Φ:
/// ψ_ab(i, j) = Y_ia Y_jb + Y_ib Y_ja, and √2 Y_ia Y_ja for a = b.
struct Preconditioner {
    /// Y, n × q.
    leading: Array2<f32>,
    factor: Option<Cholesky>,
    sigma: f64,
}

impl Preconditioner {
    fn of(items: &Items, known: &Residuals) -> Result<Self, LinalgError> {
        let gram = linalg::single_product(items.phi.t(), items.phi.view()).mapv(f64::from);
        let r = gram.nrows();
        let q = DIRECTIONS.min(r);
        let directions = linalg::eigh_largest(gram.view(), q)?.vectors.mapv(|value| value as f32);
        let leading = linalg::single_product(items.phi.view(), directions.view());
        // evenly spaced pairs stand for all
        let stride = known.pairs.len().div_ceil(MOST_SAMPLED).max(1);
        let sampled: Vec<(u32, u32)> = known.pairs.iter().copied().step_by(stride).collect();
        let square = |row: &[f32]| f64::from(product(row, row));
        let missing = |&(i, j): &(u32, u32)| {
            let (one, other) = (line(items.phi.row(i as usize)), line(items.phi.row(j as usize)));
            let (lead, second) = (line(leading.row(i as usize)), line(leading.row(j as usize)));
            let whole = (square(one) + f64::from(items.own[i as usize]))
                * (square(other) + f64::from(items.own[j as usize]))
                + f64::from(product(one, other)).powi(2);
            whole - square(lead) * square(second) - f64::from(product(lead, second)).powi(2)
        };
        let missing: Vec<f64> = sampled.par_iter().with_min_len(256).map(missing).collect();
        let sigma = NOISE + (missing.iter().sum::<f64>() / missing.len().max(1) as f64).max(0.0);
        let width = q * (q + 1) / 2;
        let mut normal = Array2::<f64>::zeros((width, width));
        let mut features = Array2::<f64>::zeros((FEATURE_ROWS.min(sampled.len().max(1)), width));
        for pairs in sampled.chunks(FEATURE_ROWS) {
            let mut rows = features.slice_mut(s![..pairs.len(), ..]);
            rows.axis_iter_mut(Axis(0)).into_par_iter().zip(pairs).for_each(|(mut row, &(i, j))| {
                let (one, other) = (leading.row(i as usize), leading.row(j as usize));
                let mut place = 0;
                for a in 0..q {
                    row[place] = f64::from(one[a]) * f64::from(other[a]) * std::f64::consts::SQRT_2;
                    place += 1;
                    for b in a + 1..q {
                        row[place] = f64::from(one[a]) * f64::from(other[b]) + f64::from(one[b]) * f64::from(other[a]);
                        place += 1;
                    }
                }
            });
            linalg::add_gram(features.slice(s![..pairs.len(), ..]), normal.view_mut());
        }
        let part = known.pairs.len() as f64 / sampled.len().max(1) as f64;
        normal *= part;
        normal.diag_mut().map_inplace(|value| *value += sigma);
        Ok(Self { factor: Cholesky::of(normal.view()).ok(), leading, sigma })
    }

    fn apply(&self, known: &Residuals, rho: &[f64]) -> Vec<f64> {
        // a matrix with σ > 0 on its diagonal has a factor but for rounding; without it the diagonal alone is the preconditioner
        let Some(factor) = &self.factor else { return rho.iter().map(|value| value / self.sigma).collect() };
        let q = self.leading.ncols();
        let turned = known.times(rho, self.leading.view());
        let inner = linalg::single_product(self.leading.t(), turned.view()).mapv(f64::from);
        let mut right = Vec::with_capacity(q * (q + 1) / 2);
        for a in 0..q {
            right.push(inner[[a, a]] / std::f64::consts::SQRT_2);
            right.extend((a + 1..q).map(|b| (inner[[a, b]] + inner[[b, a]]) / 2.0));
        }
        factor.solve(&mut right);
        let mut coefficients = Array2::<f32>::zeros((q, q));
        let mut solved = right.into_iter();
        for a in 0..q {
            coefficients[[a, a]] = (solved.next().unwrap_or(0.0) * std::f64::consts::SQRT_2) as f32;
            for b in a + 1..q {
                coefficients[[a, b]] = solved.next().unwrap_or(0.0) as f32;
                coefficients[[b, a]] = coefficients[[a, b]];
            }
        }
        let weighted = linalg::single_product(self.leading.view(), coefficients.view());
        known.map(|number, (i, j)| {
            let fitted = product(line(weighted.row(i as usize)), line(self.leading.row(j as usize)));
            (rho[number] - f64::from(fitted)) / self.sigma
        })
    }
}

/// A row of a matrix that lies row by row, as all of them do here.
fn line(row: ArrayView1<'_, f32>) -> &[f32] {
    row.to_slice().unwrap_or_default()
}

/// Inner product of rows of equal length, in sixteen sums.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn product(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    for (one, other) in one.iter().zip(other) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// `to` += factor · row.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add(factor: f32, row: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(row).for_each(|(to, value)| *to += factor * value);
}

/// Inner product of vectors of equal length, in order.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    aview1(one).dot(&aview1(other))
}

/// The whole matrix G + νI, for tests.
#[cfg(test)]
pub(super) fn dense(items: &Items, pairs: &[(u32, u32)]) -> Array2<f64> {
    let phi = items.phi.mapv(f64::from);
    let covariance =
        phi.dot(&phi.t()) + Array2::from_diag(&ndarray::Array1::from_iter(items.own.iter().copied().map(f64::from)));
    Array2::from_shape_fn((pairs.len(), pairs.len()), |(a, b)| {
        let ((i, j), (k, l)) = (pairs[a], pairs[b]);
        let [i, j, k, l] = [i, j, k, l].map(|item| item as usize);
        let cell = covariance[[i, k]] * covariance[[j, l]] + covariance[[i, l]] * covariance[[j, k]];
        cell + if a == b { NOISE } else { 0.0 }
    })
}
