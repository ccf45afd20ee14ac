//! shift_ridge: Nyström with a shift and a ridge that the evaluated columns themselves choose.
//!
//! ```text
//! K̃ = C V diag(g(w)) Vᵀ Cᵀ,   W = K[S,S] = V diag(w) Vᵀ,   g(w) = (w + a) / ((w + a)² + ρ²)
//! ```
//! (0, 0) is Nyström, ρ = 0 an SMS-like shift of the core, a = 0 a ridge pseudo-inverse. (a, ρ) is chosen by predicting a
//! quarter of the landmark columns from the others, on rows outside the kept landmarks, all of them evaluated already: no
//! oracle call is spent on the choice. This project's own method.
//!
//! Plain embeddings clip g at 0; their (a, ρ) is chosen again under the clip, at almost no cost.
//!
//! The grid is nearly free: with X = K[rows, kept] V and B = K[held, kept] V a prediction is X diag(g) Bᵀ, and
//! ‖Y − X diag(g) Bᵀ‖² = ‖Y‖² − 2 gᵀd + gᵀ G g with d_k = X_kᵀ Y B_k and G = (XᵀX) ∘ (BᵀB), the same for all of the grid.
//!
//! Cost: n·s entries; 9s³ + 2(n − s)s² flops, and ≈ 3·(9 + 5)(¾s)³ for the choice; 8ns bytes.

use ndarray::{Array1, Array2, ArrayView2};
use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column_reader::Map;
use super::core_weights::{CoreWeights, count_negative, largest};
use super::{Approximate, ApproximateError, ColumnReader, FitReport};
use crate::approximation::Approximation;
use crate::balance::balancing_of;
use crate::linalg;
use crate::oracle::block_of;
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod selection;

use selection::{Candidate, Fold, Scale, choose};

const ID: &str = "shift_ridge";

/// Columns outside the landmarks that are judged by where entries are free, at most.
const FREE_COLUMNS: usize = 200;

/// Raw parameters of shift_ridge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShiftRidgeParams {
    /// Candidates for a, as multiples of max(0, −λmin(W)).
    pub shifts: Vec<f64>,
    /// Candidates for ρ, as multiples of max|w|.
    pub ridges: Vec<f64>,
    /// Number of times that a part of the landmarks is held out.
    pub folds: usize,
    /// The part held out, 0 < part ≤ 1/2.
    pub held_out: f64,
    /// Rows outside the landmarks that a prediction is judged on, at most. With 0 it is judged on the landmarks that were held out alone.
    pub validation_rows: usize,
    /// Clip g at 0 in K̃ itself, so that it is positive semi-definite.
    pub clip: bool,
    /// Let K̃ = 0 compete: for residuals, which may hold nothing to be learned.
    pub allow_zero: bool,
    /// This (a, ρ), in the units of K, without a choice.
    pub fixed: Option<FixedShiftRidge>,
}

/// A given (a, ρ).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedShiftRidge {
    /// a.
    pub shift: f64,
    /// ρ ≥ 0.
    pub ridge: f64,
}

impl Default for ShiftRidgeParams {
    fn default() -> Self {
        Self {
            shifts: vec![0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0],
            ridges: vec![0.0, 1e-3, 3e-3, 0.01, 0.02, 0.04, 0.08, 0.15],
            folds: 3,
            held_out: 0.25,
            validation_rows: 400,
            clip: false,
            allow_zero: false,
            fixed: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct ShiftRidge {
    params: ShiftRidgeParams,
    has_free_entries: bool,
}

impl ShiftRidgeParams {
    /// The method, if the parameters make one.
    pub fn check(self) -> Result<ShiftRidge, ApproximateError> {
        let refuse = |parameter, value: String, wanted| Err(BadParameter::new(parameter, value, wanted).of(ID).into());
        let fine = |values: &[f64]| !values.is_empty() && values.iter().all(|value| value.is_finite() && *value >= 0.0);
        if !fine(&self.shifts) {
            return refuse("shifts", format!("{:?}", self.shifts), "a list of numbers ≥ 0");
        }
        if !fine(&self.ridges) {
            return refuse("ridges", format!("{:?}", self.ridges), "a list of numbers ≥ 0");
        }
        if !(self.held_out > 0.0 && self.held_out <= 0.5) {
            return refuse("held_out", self.held_out.to_string(), "above 0 and at most 0.5");
        }
        // each fold holds out other landmarks
        if self.folds == 0 || self.folds as f64 * self.held_out > 1.0 {
            return refuse("folds", self.folds.to_string(), "at least 1 and at most 1 / `held_out`");
        }
        match self.fixed {
            Some(FixedShiftRidge { shift, ridge }) if !(shift.is_finite() && ridge.is_finite() && ridge >= 0.0) => {
                refuse("fixed", format!("({shift}, {ridge})"), "a finite shift and a finite ridge ≥ 0")
            }
            _ => Ok(ShiftRidge { params: self, has_free_entries: false }),
        }
    }
}

impl Approximate for ShiftRidge {
    fn id(&self) -> &'static str {
        ID
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError> {
        let rank = columns.rank();
        let corner = columns.corner()?;
        let seen = self.seen(columns, rng)?;
        let (choice, eigen) = rayon::join(|| self.choose(&corner, seen.as_ref(), rng), || linalg::eigh(corner.view()));
        let ((candidate, error), eigen) = (choice?, eigen?);
        let scale = Scale::of(&eigen.values);
        let weights = candidate.weights(&eigen.values, scale, self.params.clip);
        let core = CoreWeights::new(&eigen.vectors, &weights);
        let (shift, ridge) = candidate.in_units_of(scale);
        let report = FitReport {
            rank,
            shift,
            ridge,
            lambda_min: Some(eigen.values[0]),
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&weights),
            dropped: rank - core.rank(),
            validation_error: error,
            ..FitReport::default()
        };
        let corner = core.corner(&eigen.values);
        let [vectors] = columns.finish([Map::Spectral { projector: core.projector.view(), corner: corner.view() }])?;
        Ok(Approximation::new(core.into_factors(vectors), columns.columns().to_vec(), report))
    }
}

/// max|g| / min|g| over the directions used.
fn condition(weights: &Array1<f64>) -> Option<f64> {
    let sizes = weights.iter().map(|g| g.abs()).filter(|&g| g > 0.0);
    sizes.reduce(f64::min).map(|smallest| largest(weights) / smallest)
}

/// Entries that (a, ρ) is judged by.
enum Seen {
    /// K[rows, T], evaluated already: parts of T are predicted from the others.
    Evaluated(Array2<f64>),
    /// Entries that cost nothing, between items outside T: predicted from all of T.
    Free {
        /// K[rows, T].
        rows: Array2<f64>,
        /// K[held, T].
        below: Array2<f64>,
        /// K[rows, held].
        entries: Array2<f64>,
    },
}

impl Seen {
    fn views<'a>(&'a self, corner: &'a Array2<f64>) -> Vec<ArrayView2<'a, f64>> {
        match self {
            Self::Evaluated(rows) => vec![corner.view(), rows.view()],
            Self::Free { rows, below, entries } => vec![corner.view(), rows.view(), below.view(), entries.view()],
        }
    }

    fn scaled(&self, scale: f64) -> Self {
        match self {
            Self::Evaluated(rows) => Self::Evaluated(rows * scale),
            Self::Free { rows, below, entries } => {
                Self::Free { rows: rows * scale, below: below * scale, entries: entries * scale }
            }
        }
    }
}

impl ShiftRidge {
    /// The same for an oracle whose entries cost nothing: (a, ρ) is judged by entries outside the columns, so that all of these predict
    /// them. An eigenvalue next to zero that all of W has and no part of it would go unseen otherwise.
    #[must_use]
    pub(crate) fn with_free_entries(self) -> Self {
        Self { has_free_entries: true, ..self }
    }

    /// Rows outside the landmarks, evaluated ahead of the others, or free entries. None where there is nothing to choose: (a, ρ)
    /// is given, there is one landmark, or there are no other items.
    fn seen(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Option<Seen>, ApproximateError> {
        let unread = columns.unread();
        if self.params.fixed.is_some() || columns.columns().len() < 2 || unread.is_empty() {
            return Ok(None);
        }
        let mut draw = |items: &[usize], count: usize| {
            let mut drawn: Vec<usize> =
                sample(rng, items.len(), count.min(items.len())).iter().map(|k| items[k]).collect();
            drawn.sort_unstable();
            drawn
        };
        if self.has_free_entries && unread.len() > 1 {
            let held = draw(&unread, FREE_COLUMNS.min(unread.len() / 2));
            let others: Vec<usize> = unread.into_iter().filter(|item| held.binary_search(item).is_err()).collect();
            let rows = draw(&others, self.params.validation_rows);
            let block = |rows: &[usize], items: &[usize]| block_of(columns.oracle(), rows, items);
            let landmarks = columns.columns();
            return Ok(Some(Seen::Free {
                rows: block(&rows, landmarks)?,
                below: block(&held, landmarks)?,
                entries: block(&rows, &held)?,
            }));
        }
        let rows = draw(&unread, self.params.validation_rows);
        Ok(Some(Seen::Evaluated(columns.rows(&rows)?)))
    }

    /// Chooses (a, ρ) by entries that were seen, with its relative error; Nyström where there is nothing to choose by.
    fn choose(
        &self,
        corner: &Array2<f64>,
        seen: Option<&Seen>,
        rng: &mut Rng,
    ) -> Result<(Candidate, Option<f64>), ApproximateError> {
        // products of four entries are summed; the choice does not depend on their unit
        let scale = balancing_of(&seen.map_or_else(Vec::new, |seen| seen.views(corner)));
        if scale != 1.0 {
            return self.choose(&(corner * scale), seen.map(|seen| seen.scaled(scale)).as_ref(), rng);
        }
        let folds = match seen {
            None => {
                let nystrom = Candidate::Relative { shift: 0.0, ridge: 0.0 };
                let fixed = |FixedShiftRidge { shift, ridge }| Candidate::Fixed { shift, ridge };
                return Ok((self.params.fixed.map_or(nystrom, fixed), None));
            }
            Some(Seen::Evaluated(rows)) => self
                .held_out_sets(corner.nrows(), rng)
                .par_iter()
                .map(|(held, kept)| Fold::new(corner, rows, held, kept))
                .collect::<Result<Vec<_>, _>>()?,
            Some(Seen::Free { rows, below, entries }) => vec![Fold::predicting(corner, rows, below, entries)?],
        };
        let (candidate, error) = choose(&folds, &self.candidates(), self.params.clip);
        Ok((candidate, Some(error)))
    }

    /// (held, kept) positions of the landmarks; no landmark is held twice.
    fn held_out_sets(&self, t: usize, rng: &mut Rng) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut positions: Vec<usize> = (0..t).collect();
        positions.shuffle(rng);
        // at most t/2, so nothing is cut off
        let part = ((self.params.held_out * t as f64).round() as usize).clamp(1, t - 1);
        let folds = positions.chunks_exact(part).take(self.params.folds);
        folds
            .map(|held| {
                let mut is_held = vec![false; t];
                held.iter().for_each(|&k| is_held[k] = true);
                (0..t).partition(|&k| is_held[k])
            })
            .collect()
    }

    /// The grid, Nyström first: of equals the first is taken.
    fn candidates(&self) -> Vec<Candidate> {
        let grid = self
            .params
            .shifts
            .iter()
            .flat_map(|&shift| self.params.ridges.iter().map(move |&ridge| Candidate::Relative { shift, ridge }));
        grid.chain(self.params.allow_zero.then_some(Candidate::Zero)).collect()
    }
}

#[cfg(test)]
mod tests;
