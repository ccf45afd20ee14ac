//! CHOOSE: the share of the calls that goes to columns, from what half of them hold.

use std::sync::Arc;

use ndarray::Array1;

use super::out_of_fold::{Fit, OutOfFold};
use super::{ENOUGH_TO_CHOOSE, SHARES, Stack};
use crate::approximate::ApproximateError;
use crate::approximate::scattered::Division;
use crate::approximate::scattered::residual_size::ResidualSize;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape, ask_pairs};
use crate::stream::Rng;

/// Verdict of half of the columns on the rest of the calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Choice {
    /// All of them for columns, and no stack.
    Base,
    /// So many.
    Stacked(Division),
}

impl Stack {
    /// The share of least predicted error, or that which was given.
    pub(super) fn choose(
        &self,
        stage: &OutOfFold,
        shape: OracleShape,
        landmarks: &Landmarks,
        rank: usize,
        first: Division,
        rng: &mut Rng,
    ) -> Result<Choice, ApproximateError> {
        let fit = stage.fit()?;
        let (error, base) = (fit.error, stage.base_error());
        let half = first.rank / 2;
        if self.params.columns.is_some() || rank < ENOUGH_TO_CHOOSE || half < 2 {
            return Ok(if base <= error { Choice::Base } else { Choice::Stacked(first) });
        }
        let smaller: Vec<usize> = (0..half).collect();
        let smaller = OutOfFold::of(self, stage.columns.select(&smaller), rng)?;
        let falls = |at_half: f64, now: f64| ((at_half / now).ln() / 2.0_f64.ln()).clamp(0.0, 1.0);
        let (fall, fall_base) = (falls(smaller.fit()?.error, error), falls(smaller.base_error(), base));
        let left = Residuals::of(stage, &fit, &self.proxies)?;
        let n = shape.len as f64;
        // counts below 2^52
        let unknown = |rank: usize| (n - rank as f64) * (n - rank as f64 - 1.0) / 2.0;
        let grown = |rank: usize, fall: f64| (rank as f64 / first.rank as f64).powf(-2.0 * fall);
        let mut best = (Choice::Base, base * base * grown(rank, fall_base) * unknown(rank));
        for share in SHARES {
            let division = match share < 1.0 {
                true => self.division(shape, landmarks, rank, share)?,
                false => Division { rank, pairs: 0 },
            };
            let pairs = unknown(division.rank);
            let predicted =
                error * error * grown(division.rank, fall) * pairs * left.after(division.pairs as f64 / pairs.max(1.0));
            if predicted < best.1 {
                best = (Choice::Stacked(division), predicted);
            }
        }
        Ok(best.0)
    }
}

/// Squared residuals by falling predicted size, as a share of all that is left after each.
struct Residuals(Array1<f64>);

impl Residuals {
    fn of(stage: &OutOfFold, fit: &Fit, proxies: &[Arc<dyn Oracle>]) -> Result<Self, ApproximateError> {
        let table = stage.table(fit);
        let size = ResidualSize::fit(stage.columns.len(), &table, proxies)?;
        let mut sized = Vec::with_capacity(table.len());
        for chunk in table.chunks() {
            let pairs = chunk.pairs();
            let mut cheap = Vec::new();
            for proxy in proxies {
                let mut scores = vec![0.0; pairs.len()];
                ask_pairs(&**proxy, &pairs, &mut scores)?;
                cheap.push(scores);
            }
            for (k, ((&(i, j), &m), residual)) in pairs.iter().zip(chunk.predicted).zip(chunk.residuals()).enumerate() {
                sized.push((size.at(i, j, m, cheap.iter().map(|scores| scores[k])), residual * residual));
            }
        }
        sized.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all: f64 = sized.iter().map(|(_, square)| square).sum();
        let mut left = all;
        let shares = sized.iter().map(|(_, square)| {
            left -= square;
            if all > 0.0 { (left / all).max(0.0) } else { 0.0 }
        });
        Ok(Self(std::iter::once(1.0).chain(shares).collect()))
    }

    /// T(x): what is left of them without the fraction x of largest predicted size.
    fn after(&self, fraction: f64) -> f64 {
        // a place within the table
        let place = (fraction.clamp(0.0, 1.0) * (self.0.len() - 1) as f64) as usize;
        self.0[place]
    }
}
