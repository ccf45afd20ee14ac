//! CHOOSE: the share of the calls that goes to columns, from what half of them hold.

use std::sync::Arc;

use ndarray::Array1;

use super::out_of_fold::{Fit, OutOfFold};
use super::{ENOUGH_TO_CHOOSE, SHARES, Stack};
use crate::approximate::ApproximateError;
use crate::approximate::scattered::Division;
use crate::approximate::scattered::residual_size::ResidualSize;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

/// Part of the squared error that a stack has to promise to save: its regression and its kriging cost about as much where there is nothing to
/// learn, and a promise that few columns make is worth less.
fn least_gain(rank: usize) -> f64 {
    // far below 2^52
    (2.5 / rank as f64).max(0.02)
}

/// Verdict of half of the columns on the rest of the calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Choice {
    /// All of them for columns, and no stack.
    Base,
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
        let n = shape.len;
        let law = Fall::of(n, (half, smaller.fit()?.error), (first.rank, error));
        let left = Residuals::of(stage, &fit, &self.proxies)?;
        // counts below 2^52
        let unknown = |rank: usize| ((n - rank) as f64) * ((n - rank) as f64 - 1.0) / 2.0;
        // the prediction of shift_ridge is a feature of m and gains with it, unless it is better than that of m
        let of_base = match error < base {
            true => law.square_at(rank) * (base / error).powi(2),
            false => Fall::of(n, (half, smaller.base_error()), (first.rank, base)).square_at(rank),
        };
        let mut best = (Choice::Base, of_base * unknown(rank) * (1.0 - least_gain(rank)));
        for share in SHARES {
            let division = match share < 1.0 {
                true => self.division(shape, landmarks, rank, share)?,
                false => Division { rank, pairs: 0 },
            };
            let pairs = unknown(division.rank);
            let predicted = law.square_at(division.rank) * pairs * left.after(division.pairs as f64 / pairs.max(1.0));
            if predicted < best.1 {
                best = (Choice::Stacked(division), predicted);
            }
        }
        Ok(best.0)
    }
}

/// Mean squared error of an unevaluated entry as a function of the number of columns, C (1 − s/n) s^(−2α): the first factor, which alone
/// holds for a random matrix of full rank, is what makes the error vanish where all of K is known.
#[derive(Debug, Clone, Copy)]
struct Fall {
    len: usize,
    /// C.
    scale: f64,
    /// α, 0 ≤ α ≤ 1.
    exponent: f64,
}

impl Fall {
    /// Through the root mean square errors of two numbers of columns, the fewer first, both below n.
    fn of(len: usize, fewer: (usize, f64), more: (usize, f64)) -> Self {
        let left = |rank: usize| 1.0 - rank as f64 / len as f64;
        let per_left = |(rank, error): (usize, f64)| error * error / left(rank);
        let ratio = (more.0 as f64 / fewer.0 as f64).ln();
        let exponent = ((per_left(fewer) / per_left(more)).ln() / (2.0 * ratio)).clamp(0.0, 1.0);
        Self { len, scale: per_left(more) * (more.0 as f64).powf(2.0 * exponent), exponent }
    }

    /// The mean square at another number of columns.
    fn square_at(self, rank: usize) -> f64 {
        self.scale * (1.0 - rank as f64 / self.len as f64) * (rank as f64).powf(-2.0 * self.exponent)
    }
}

/// Squared residuals by falling predicted size, as a share of all that is left after each.
struct Residuals(Array1<f64>);

impl Residuals {
    fn of(stage: &OutOfFold, fit: &Fit, proxies: &[Arc<dyn Oracle>]) -> Result<Self, ApproximateError> {
        let table = stage.table(fit);
        let sizes = ResidualSize::fit(stage.columns.len(), &table, proxies)?.of_rows(&table, proxies)?;
        let squares = table.chunks().into_iter().flat_map(|chunk| chunk.residuals().map(|r| r * r).collect::<Vec<_>>());
        let mut sized: Vec<(f64, f64)> = sizes.into_iter().zip(squares).collect();
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
