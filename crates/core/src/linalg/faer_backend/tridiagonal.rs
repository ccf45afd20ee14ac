//! Eigenvalues and eigenvectors of a symmetric tridiagonal matrix T, a on the diagonal and b beside it.
//!
//! Values: the QL iteration in its form without square roots (Pal–Walker–Kahan; Parlett 1998, "The symmetric eigenvalue problem",
//! §8.15), each to about ε‖T‖. Vectors: T − λI = L D₊ Lᵀ from the top and U D₋ Uᵀ from the bottom; with r where
//! |γᵣ| = |D₊ᵣ + D₋ᵣ − (aᵣ − λ)| is least, z with zᵣ = 1 solves (T − λI)z = γᵣeᵣ by products alone, and its
//! residual is |γᵣ| / ‖z‖ (Dhillon & Parlett 2004, "Orthogonal eigenvectors and relative gaps", §3). Eight vectors side by side, so that
//! the divisions, which wait for one another along T, are made eight at a time.
//!
//! Cost: about 30n² flops for all values, 15n a vector; memory 4n numbers for eight vectors.

use multiversion::multiversion;

/// A symmetric tridiagonal matrix: n numbers, and the n − 1 beside them.
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    pub(super) beside: Vec<f64>,
}

/// Sweeps a value may take; two are usual.
const SWEEPS: usize = 30;

impl Tridiagonal {
    /// The largest |number|; ‖T‖ is at most three times that.
    fn largest_number(&self) -> f64 {
        self.diagonal.iter().chain(&self.beside).fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// All eigenvalues, ascending; `None` where the iteration does not end or T is 0.
    pub(super) fn eigenvalues(&self) -> Option<Vec<f64>> {
        let scale = self.largest_number();
        if !(scale > 0.0 && scale.recip().is_finite()) {
            return None;
        }
        let mut a: Vec<f64> = self.diagonal.iter().map(|value| value / scale).collect();
        let mut squares: Vec<f64> = self.beside.iter().map(|value| (value / scale).powi(2)).collect();
        // dropping b moves an eigenvalue by b² over the gap, and never by more than b: an eighth of rounding may go
        let eighth = f64::EPSILON / 8.0;
        let negligible = |square: f64, gap: f64| square <= eighth * gap.max(eighth);
        let mut sweeps = SWEEPS * a.len();
        let mut first = 0;
        while first < a.len() {
            let small = |&i: &usize| negligible(squares[i], (a[i + 1] - a[i]).abs());
            let last = (first..squares.len()).find(small).unwrap_or(squares.len());
            if last == first {
                first += 1;
                continue;
            }
            sweeps = sweeps.checked_sub(1)?;
            sweep(&mut a[first..=last], &mut squares[first..last]);
        }
        a.iter_mut().for_each(|value| *value *= scale);
        a.sort_by(f64::total_cmp);
        a.iter().all(|value| value.is_finite()).then_some(a)
    }

    /// Unit eigenvectors of `values`, one after the other in `vectors` (n numbers each); `None` where a residual is more than rounding.
    pub(super) fn eigenvectors(&self, values: &[f64], vectors: &mut [f64]) -> Option<()> {
        let n = self.diagonal.len();
        // the values are good to a few ε a sweep; a vector whose residual is larger belongs to no value of T
        let tolerance = f64::EPSILON * 8.0 * n as f64 * self.largest_number();
        let mut work = Work::of(n);
        for (values, vectors) in values.chunks(LANES).zip(vectors.chunks_mut(LANES * n)) {
            let mut lanes = [values[0]; LANES];
            lanes[..values.len()].copy_from_slice(values);
            twisted(self, &lanes, &mut work);
            let Lanes(norms) = work.norms;
            for (lane, vector) in vectors.chunks_exact_mut(n).enumerate() {
                let rounding = work.residuals.0[lane] <= tolerance * norms[lane];
                if !rounding {
                    return None;
                }
                vector.iter_mut().zip(&work.vectors).for_each(|(out, entry)| *out = entry.0[lane] / norms[lane]);
            }
        }
        Some(())
    }
}

/// One implicit QL sweep over a part without zeros: `a` its diagonal, `squares` the b² beside. Brings `squares[0]` down.
fn sweep(a: &mut [f64], squares: &mut [f64]) {
    // Wilkinson's shift: the eigenvalue of the top 2 × 2 that is nearer to a₀
    let root = squares[0].sqrt();
    let half = (a[1] - a[0]) / (2.0 * root);
    let shift = a[0] - root / (half + half.hypot(1.0).copysign(half));
    let last = squares.len();
    let (mut cosine, mut sine) = (1.0, 0.0);
    let mut gamma = a[last] - shift;
    let mut p = gamma * gamma;
    for i in (0..last).rev() {
        let square = squares[i];
        let r = p + square;
        if i + 1 < last {
            squares[i + 1] = sine * r;
        }
        let (before, old) = (cosine, gamma);
        // r / p is divided beside p / r and not after it: the divisions are what a sweep waits for
        let secant = r / p;
        cosine = p / r;
        sine = square / r;
        gamma = cosine * (a[i] - shift) - sine * old;
        a[i + 1] = old + (a[i] - gamma);
        p = if secant.is_finite() { gamma * gamma * secant } else { before * square };
    }
    squares[0] = sine * p;
    a[0] = shift + gamma;
}

/// Vectors at once.
const LANES: usize = 8;

/// A number of each of eight vectors.
#[derive(Clone, Copy)]
struct Lanes([f64; LANES]);

impl Lanes {
    #[inline(always)]
    fn each(f: impl Fn(usize) -> f64) -> Self {
        Self(std::array::from_fn(f))
    }
}

/// Room for eight vectors.
struct Work {
    /// D₊ of T − λI = L D₊ Lᵀ.
    pivots: Vec<Lanes>,
    /// b / D₊, the numbers of L, and b / D₋, those of U.
    lower: Vec<Lanes>,
    upper: Vec<Lanes>,
    vectors: Vec<Lanes>,
    norms: Lanes,
    /// |γᵣ|; over the norm it is ‖Tz − λz‖ of the unit vector.
    residuals: Lanes,
}

impl Work {
    fn of(n: usize) -> Self {
        let zero = Lanes([0.0; LANES]);
        let column = || vec![zero; n];
        Self { pivots: column(), lower: column(), upper: column(), vectors: column(), norms: zero, residuals: zero }
    }
}

/// The vectors of eight `values`, not normalised, and their norms and residuals. Not for AVX-512: the compiler leaves short loops of fixed length
/// scalar there.
#[multiversion(targets("x86_64+avx2"))]
fn twisted(matrix: &Tridiagonal, values: &[f64; LANES], work: &mut Work) {
    // a pivot of 0 becomes one that is far below rounding
    let tiny = f64::EPSILON.powi(2) * matrix.largest_number();
    let over = |b: f64, pivot: f64| b / if pivot.abs() < tiny { tiny } else { pivot };
    let (a, b, n) = (&matrix.diagonal, &matrix.beside, matrix.diagonal.len());
    let mut pivot = Lanes::each(|lane| a[0] - values[lane]);
    for i in 0..n - 1 {
        let ratio = Lanes::each(|lane| over(b[i], pivot.0[lane]));
        work.pivots[i] = pivot;
        work.lower[i] = ratio;
        pivot = Lanes::each(|lane| (a[i + 1] - values[lane]) - b[i] * ratio.0[lane]);
    }
    let (mut least, mut twist) = (pivot, Lanes([(n - 1) as f64; LANES]));
    pivot = Lanes::each(|lane| a[n - 1] - values[lane]);
    for i in (0..n - 1).rev() {
        let ratio = Lanes::each(|lane| over(b[i], pivot.0[lane]));
        work.upper[i] = ratio;
        pivot = Lanes::each(|lane| (a[i] - values[lane]) - b[i] * ratio.0[lane]);
        let gamma = Lanes::each(|lane| work.pivots[i].0[lane] - b[i] * ratio.0[lane]);
        twist = Lanes::each(|lane| if gamma.0[lane].abs() < least.0[lane].abs() { i as f64 } else { twist.0[lane] });
        least =
            Lanes::each(|lane| if gamma.0[lane].abs() < least.0[lane].abs() { gamma.0[lane] } else { least.0[lane] });
    }
    // from the twist up, then from it down; 0 where the other direction comes
    let mut entry = Lanes::each(|lane| if twist.0[lane] == (n - 1) as f64 { 1.0 } else { 0.0 });
    work.vectors[n - 1] = entry;
    for i in (0..n - 1).rev() {
        let (ratio, at) = (work.lower[i], i as f64);
        let next = Lanes::each(|lane| -ratio.0[lane] * entry.0[lane]);
        entry = Lanes::each(|lane| if at == twist.0[lane] { 1.0 } else { next.0[lane] });
        work.vectors[i] = entry;
    }
    let mut squares = Lanes::each(|lane| entry.0[lane] * entry.0[lane]);
    for i in 1..n {
        let (ratio, there, at) = (work.upper[i - 1], work.vectors[i], i as f64);
        let next = Lanes::each(|lane| -ratio.0[lane] * entry.0[lane]);
        entry = Lanes::each(|lane| if at > twist.0[lane] { next.0[lane] } else { there.0[lane] });
        squares = Lanes::each(|lane| squares.0[lane] + entry.0[lane] * entry.0[lane]);
        work.vectors[i] = entry;
    }
    work.norms = Lanes::each(|lane| squares.0[lane].sqrt());
    work.residuals = Lanes::each(|lane| least.0[lane].abs());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest |Tz − λz| and |ZᵀZ − I|.
    fn residual_and_excess(matrix: &Tridiagonal, values: &[f64], vectors: &[f64]) -> (f64, f64) {
        let (a, b, n) = (&matrix.diagonal, &matrix.beside, matrix.diagonal.len());
        let (mut residual, mut excess) = (0.0_f64, 0.0_f64);
        for (k, (z, value)) in vectors.chunks_exact(n).zip(values).enumerate() {
            for i in 0..n {
                let above = if i > 0 { b[i - 1] * z[i - 1] } else { 0.0 };
                let below = if i + 1 < n { b[i] * z[i + 1] } else { 0.0 };
                residual = residual.max((above + a[i] * z[i] + below - value * z[i]).abs());
            }
            for (j, other) in vectors.chunks_exact(n).enumerate() {
                let product: f64 = z.iter().zip(other).map(|(x, y)| x * y).sum();
                excess = excess.max((product - if j == k { 1.0 } else { 0.0 }).abs());
            }
        }
        (residual, excess)
    }

    #[test]
    fn the_second_difference_has_its_closed_eigenvalues_and_orthogonal_vectors() {
        for n in [2, 3, 7, 8, 9, 50, 129] {
            let matrix = Tridiagonal { diagonal: vec![2.0; n], beside: vec![-1.0; n - 1] };
            let values = matrix.eigenvalues().unwrap();
            let mut vectors = vec![0.0; n * n];
            matrix.eigenvectors(&values, &mut vectors).unwrap();
            for (k, value) in values.iter().enumerate() {
                let angle = (k + 1) as f64 * std::f64::consts::PI / (n + 1) as f64;
                // some ε for each of n rotations
                assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-15 * (8 + n) as f64, "n = {n}, value {k}");
            }
            let (residual, excess) = residual_and_excess(&matrix, &values, &vectors);
            // residuals are those of the values; the closest two of these are about 10/n² apart, and ε over that is what separates vectors
            assert!(
                residual < 1e-15 * (8 + n) as f64 && excess < 1e-15 * (8 + n * n) as f64,
                "n = {n}: {residual:e}, {excess:e}"
            );
        }
    }

    #[test]
    fn the_close_pairs_of_wilkinson_are_found_with_small_residuals() {
        // W₂₁⁺: its two largest values agree in 14 digits
        let matrix =
            Tridiagonal { diagonal: (0..21).map(|i| f64::from(i - 10).abs()).collect(), beside: vec![1.0; 20] };
        let values = matrix.eigenvalues().unwrap();
        assert!((values[20] - 10.746_194_182_903_393).abs() < 1e-13 && (values[20] - values[19]).abs() < 1e-12);
        let mut vectors = vec![0.0; 21 * 21];
        matrix.eigenvectors(&values, &mut vectors).unwrap();
        assert!(residual_and_excess(&matrix, &values, &vectors).0 < 1e-13);
    }

    #[test]
    fn a_matrix_that_falls_apart_keeps_the_values_of_its_parts() {
        let matrix = Tridiagonal { diagonal: vec![3.0, 1.0, 1.0, 7.0], beside: vec![0.0, 2.0, 0.0] };
        let values = matrix.eigenvalues().unwrap();
        for (value, expected) in values.iter().zip([-1.0, 3.0, 3.0, 7.0]) {
            assert!((value - expected).abs() < 1e-14, "{values:?}");
        }
    }

    #[test]
    fn what_has_no_scale_and_values_that_are_none_are_refused() {
        for diagonal in [vec![0.0; 3], vec![f64::NAN; 3], vec![1.0, f64::INFINITY, 0.0], vec![1e-320; 3]] {
            assert!(Tridiagonal { diagonal, beside: vec![0.0; 2] }.eigenvalues().is_none());
        }
        let matrix = Tridiagonal { diagonal: vec![1.0, 2.0, 3.0], beside: vec![0.5; 2] };
        assert!(matrix.eigenvectors(&[2.5], &mut [0.0; 3]).is_none());
    }
}
