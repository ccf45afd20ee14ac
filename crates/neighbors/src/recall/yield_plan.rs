//! How many pairs to evaluate in the order of their estimates before the rest is audited. Only the price depends on it, never the guarantee.
//!
//! ```text
//! batches of n/2, growing by 8 %; y = positives of the last eight, b = 0 for the last of them, −1, −2, …
//! log-linear Poisson regression (Newton): y_b + .1 ~ exp(a + s·b), s ≤ 0; L = ln(N/c)/ln 1.08 batches left
//! M̂ = .65 Σ_{b=1..L} exp(a + s·b) + .3      misses to expect below the cut; .65 (positives so far + .7) + .3 before two batches
//! x = least x < 20 with P(Bin(M̂, f_x) ≤ x) ≥ ½, f_x = BetaInv(1 − δ; x + 1, u(G)); price = c + f_x (N − c)
//! ```
//! The audit starts after the first batch without a lower price. If no x does, another batch is evaluated. An audit that starts early continues
//! in the order of the estimates, pair by pair, until it passes; a plan that continues for too long evaluates whole batches. So M̂ is two thirds of
//! what the regression gives. The constants were chosen on the four matrices of docs/explanation/recall.md, at one number of similar pairs each.

use super::Target;
use super::hypergeometric::{binomial_tail, least_wrong};
use landmark_core::stats::beta_quantile;

/// Sampled positives that a plan tolerates at most.
const MOST_TOLERATED: u64 = 20;
/// Growth of the batches.
const GROWTH: f64 = 1.08;
/// Batches of the regression.
const BATCHES: usize = 8;
/// Steps of Newton's method at most.
const STEPS: usize = 30;
/// Share of the misses of the regression that are expected.
const EXPECTED: f64 = 0.65;
/// A price counts as lower from this share on.
const LOWER: f64 = 0.999;

/// What to do after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Batch,
    /// Audit the rest by a sample that tolerates this number of positives.
    Audit(u64),
}

/// The plan so far.
#[derive(Debug)]
pub(super) struct YieldPlan {
    /// Unknown pairs.
    pairs: u64,
    target: Target,
    batch: u64,
    evaluated: u64,
    yields: Vec<f64>,
    lowest: f64,
}

impl YieldPlan {
    /// For `pairs` unknown pairs of `items`.
    pub(super) fn new(pairs: u64, items: usize, target: Target) -> Self {
        let batch = (items as u64 / 2).max(1);
        Self { pairs, target, batch, evaluated: 0, yields: Vec::new(), lowest: f64::INFINITY }
    }

    pub(super) fn batch(&self) -> u64 {
        self.batch.min(self.pairs - self.evaluated)
    }

    /// Takes the positives of a batch; `found` counts all positives that are known.
    pub(super) fn note(&mut self, positives: u64, found: u64) -> Next {
        self.evaluated += self.batch();
        self.batch = (self.batch + 2 * self.batch / 25).max(self.batch + 1);
        self.yields.push(positives as f64);
        let cost = self.cheapest(self.expected(), found);
        let (price, tolerated) = cost.unwrap_or((self.pairs as f64, 0));
        let is_lower = price < LOWER * self.lowest;
        if is_lower {
            self.lowest = price;
        }
        if cost.is_some() && !is_lower { Next::Audit(tolerated) } else { Next::Batch }
    }

    /// M̂.
    fn expected(&self) -> f64 {
        EXPECTED * self.by_yields() + 0.3
    }

    fn by_yields(&self) -> f64 {
        if self.yields.len() < 2 {
            return self.yields.iter().sum::<f64>() + 0.7;
        }
        let (last, slope) = log_linear(&self.yields[self.yields.len().saturating_sub(BATCHES)..]);
        let left = (self.pairs as f64 / self.evaluated as f64).ln() / GROWTH.ln();
        let ratio = slope.min(0.0).exp();
        match ratio > 0.9999 {
            true => last * left,
            false => last * ratio * (1.0 - ratio.powf(left)) / (1.0 - ratio),
        }
    }

    /// Price and tolerated misses of an audit from here; `None` if only all pairs would do.
    fn cheapest(&self, misses: f64, found: u64) -> Option<(f64, u64)> {
        let unseen = least_wrong(found, self.target.recall()) as f64;
        let share = |x: u64| beta_quantile(1.0 - self.target.delta(), x as f64 + 1.0, unseen);
        let tolerated = (0..MOST_TOLERATED).find(|&x| binomial_tail(misses, share(x), x) >= 0.5)?;
        let (done, all) = (self.evaluated as f64, self.pairs as f64);
        Some((done + share(tolerated) * (all - done), tolerated))
    }
}

/// Poisson regression of counts + .1 on their place, by Newton's method: (expected count at the last place, slope of its logarithm).
fn log_linear(counts: &[f64]) -> (f64, f64) {
    let places: Vec<f64> = (0..counts.len()).map(|at| at as f64 - (counts.len() - 1) as f64).collect();
    let (mut intercept, mut slope) = (counts.iter().map(|y| y + 0.1).sum::<f64>() / counts.len() as f64, 0.0);
    intercept = intercept.ln();
    for _ in 0..STEPS {
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 3]);
        for (&y, &place) in counts.iter().zip(&places) {
            let mean = f64::exp(intercept + slope * place);
            let residual = y + 0.1 - mean;
            gradient[0] += residual;
            gradient[1] += residual * place;
            hessian[0] += mean;
            hessian[1] += mean * place;
            hessian[2] += mean * place * place;
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        if determinant.is_nan() || determinant < 1e-12 {
            break;
        }
        let up = (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant;
        let turn = (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant;
        // a long step of Newton's method can overflow exp
        let (up, turn) = (up.clamp(-1.0, 1.0), turn.clamp(-0.5, 0.5));
        intercept += up;
        slope += turn;
        if up.abs() + turn.abs() < 1e-9 {
            break;
        }
    }
    (intercept.exp(), slope)
}

#[cfg(test)]
mod tests {
    use super::log_linear;

    #[test]
    fn the_regression_solves_the_score_equations_as_scipy_does() {
        // scipy.optimize.root of Σ (exp(a + s·b) − y − .1)·(1, b) = 0
        let cases: [(&[f64], f64, f64); 3] = [
            (&[40.0, 31.0, 22.0, 30.0, 12.0, 9.0, 11.0, 5.0], 7.003334914374888, -0.2543236068623868),
            (&[3.0, 0.0, 0.0, 1.0], 0.36163975888550615, -0.59905640432854),
            (&[5.0, 7.0, 9.0, 14.0, 16.0], 16.981390684067282, 0.29180118496896557),
        ];
        for (counts, last, slope) in cases {
            let ours = log_linear(counts);
            assert!((ours.0 / last - 1.0).abs() < 1e-8 && (ours.1 - slope).abs() < 1e-8, "{counts:?}: {ours:?}");
        }
    }
}
