//! How wrong an approximation is: exactly, where all of K can be read, or estimated from a sample of extra entries.
//!
//! ```text
//! relative error = ‖K − K̃‖_F / ‖K‖_F
//! ```
//! The estimate (ALGORITHMS §2e) draws m cells uniformly from those outside the bought rows and columns. With u items outside the landmarks, a
//! cell stands for u²/m cells; what was bought is counted exactly. Both ‖K − K̃‖² and ‖K‖² are unbiased. The interval is that
//! of a ratio of means (delta method, normal quantile); it is honest for m of some hundreds and errors without a few
//! dominating cells, and its coverage is tested by simulation.
//!
//! Cost: n² entries for the exact error (read, by blocks of 8 MB), m for the estimate.

use ndarray::Array2;
use rand::Rng as _;

use crate::approximation::Approximation;
use crate::entries::{Certainty, EntryBlock, Plan, Rows};
use crate::oracle::{Oracle, OracleError, Pair};
use crate::stream::Rng;

/// Cells of one block of rows: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// ‖K − K̃‖_F / ‖K‖_F over all n² cells, by blocks of rows. 0 where both are 0.
///
/// The reference may be the raw score or its symmetrised form; errors against a raw asymmetric score cannot be less than
/// that of symmetrising it.
///
/// # Errors
/// Whatever the reference answers, or the addend of the approximation.
pub fn relative_error(reference: &dyn Oracle, approximation: &Approximation) -> Result<f64, OracleError> {
    let all: Vec<usize> = (0..reference.len()).collect();
    let sums = block_sums(reference, approximation, &all, &all)?;
    Ok(ratio(sums.missed, sums.total).sqrt())
}

/// Σ (K − K̃)² and Σ K² over some cells.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    missed: f64,
    total: f64,
}

fn ratio(missed: f64, total: f64) -> f64 {
    if total > 0.0 { missed / total } else { missed }
}

fn block_sums(
    reference: &dyn Oracle,
    approximation: &Approximation,
    rows: &[usize],
    cols: &[usize],
) -> Result<Sums, OracleError> {
    let height = (CELLS_PER_BLOCK / cols.len().max(1)).max(1);
    let mut sums = Sums::default();
    for rows in rows.chunks(height) {
        let (mut truth, mut guess) = (Array2::zeros((rows.len(), cols.len())), Array2::zeros((rows.len(), cols.len())));
        reference.block(rows, cols, truth.view_mut())?;
        approximation.block(rows, cols, guess.view_mut())?;
        for (k, approximated) in truth.iter().zip(&guess) {
            sums.missed += (k - approximated).powi(2);
            sums.total += k * k;
        }
    }
    Ok(sums)
}

/// Cells drawn to estimate an error with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    landmarks: Vec<usize>,
    outside: Vec<usize>,
    pairs: Vec<Pair>,
}

/// What a sample says of an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimate {
    /// Estimate of ‖K − K̃‖_F / ‖K‖_F.
    pub relative_error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Cells sampled.
    pub samples: usize,
}

impl Sample {
    /// `samples` cells, with replacement, among those whose row and column are no landmark. O(n + samples).
    pub fn draw(n: usize, landmarks: &[usize], samples: usize, rng: &mut Rng) -> Self {
        let mut is_landmark = vec![false; n];
        landmarks.iter().for_each(|&j| is_landmark[j] = true);
        let outside: Vec<usize> = (0..n).filter(|&i| !is_landmark[i]).collect();
        let mut draw = || outside[rng.gen_range(0..outside.len())];
        let pairs = if outside.is_empty() { Vec::new() } else { (0..samples).map(|_| (draw(), draw())).collect() };
        Self { landmarks: landmarks.to_vec(), outside, pairs }
    }

    /// What [`estimate`](Self::estimate) asks for beyond the landmark columns: the drawn cells, at most.
    pub fn plan(&self) -> Plan {
        let mut pairs = self.pairs.clone();
        pairs.sort_unstable();
        pairs.dedup();
        let block = |(i, j): Pair| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
        Plan { blocks: pairs.into_iter().map(block).collect(), certainty: Certainty::Exact }
    }

    /// The relative error with its interval at a confidence such as 0.95.
    ///
    /// The columns of the landmarks are read as well; they are bought, so behind a store or a memory they cost nothing.
    ///
    /// # Errors
    /// Whatever the reference answers, or the addend of the approximation.
    pub fn estimate(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
        confidence: f64,
    ) -> Result<ErrorEstimate, OracleError> {
        let all: Vec<usize> = (0..reference.len()).collect();
        let columns = block_sums(reference, approximation, &all, &self.landmarks)?;
        let rows = block_sums(reference, approximation, &self.landmarks, &self.outside)?;
        let known = Sums { missed: columns.missed + rows.missed, total: columns.total + rows.total };

        let (mut truth, mut guess) = (vec![0.0; self.pairs.len()], vec![0.0; self.pairs.len()]);
        // a drawn pair may repeat: asked once, through a block of one cell it would be twice
        let mut distinct = self.pairs.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let mut scores = vec![0.0; distinct.len()];
        evaluate_known_diagonal(reference, &distinct, &mut scores)?;
        for (score, pair) in truth.iter_mut().zip(&self.pairs) {
            let at = distinct.binary_search(pair).unwrap_or_default();
            *score = scores[at];
        }
        approximation.pairs(&self.pairs, &mut guess)?;
        let missed: Vec<f64> = truth.iter().zip(&guess).map(|(k, g)| (k - g).powi(2)).collect();
        let total: Vec<f64> = truth.iter().map(|k| k * k).collect();
        Ok(interval(known, &missed, &total, (self.outside.len() as f64).powi(2), confidence))
    }
}

/// Scores pairs, taking f(i, i) from the oracle's own knowledge where it has it.
fn evaluate_known_diagonal(reference: &dyn Oracle, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
    let known = reference.known_diagonal();
    let asked: Vec<usize> = (0..pairs.len()).filter(|&k| known.is_none() || pairs[k].0 != pairs[k].1).collect();
    let wanted: Vec<Pair> = asked.iter().map(|&k| pairs[k]).collect();
    let mut scores = vec![0.0; wanted.len()];
    reference.evaluate(&wanted, &mut scores)?;
    if let Some(value) = known {
        out.fill(value);
    }
    asked.iter().zip(&scores).for_each(|(&k, &score)| out[k] = score);
    Ok(())
}

/// √(A/B), A = known + cells·mean(missed), B likewise, and the delta-method interval of A/B under the root.
fn interval(known: Sums, missed: &[f64], total: &[f64], cells: f64, confidence: f64) -> ErrorEstimate {
    let m = missed.len();
    let mean = |values: &[f64]| if m == 0 { 0.0 } else { values.iter().sum::<f64>() / m as f64 };
    let scale = if m == 0 { 0.0 } else { cells };
    let a = known.missed + scale * mean(missed);
    let b = known.total + scale * mean(total);
    let squared = ratio(a, b);
    let spread = if m < 2 || b <= 0.0 {
        0.0
    } else {
        let deviations: Vec<f64> = missed.iter().zip(total).map(|(&x, &y)| x - squared * y).collect();
        let centre = mean(&deviations);
        let variance = deviations.iter().map(|d| (d - centre).powi(2)).sum::<f64>() / (m - 1) as f64;
        normal_quantile(0.5 + confidence / 2.0) * cells * (variance / m as f64).sqrt() / b
    };
    ErrorEstimate {
        relative_error: squared.sqrt(),
        lower: (squared - spread).max(0.0).sqrt(),
        upper: (squared + spread).sqrt(),
        samples: m,
    }
}

/// z with P(Z ≤ z) = p for a standard normal Z and ½ ≤ p < 1, by bisection of the series of the error function: 1e-12.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 9.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Φ(z) = ½ + φ(z) Σ z^(2k+1) / (1·3·…·(2k+1)).
fn normal_cdf(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    let mut k = 1.0;
    while term.abs() > 1e-17 * sum.abs() {
        term *= z * z / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    0.5 + sum * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests;
