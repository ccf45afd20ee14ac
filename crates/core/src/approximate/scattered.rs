//! Scattered entries: a part of the calls goes to columns, the rest to the pairs that the columns predict worst.
//!
//! ```text
//! B = calls of s columns;  s0 = the most landmarks whose entries cost f·B, at least 4;  the rest of B in rounds:
//!   out of fold: the method without a fifth of its columns predicts that fifth
//!   σ_i² = (Σ res² over pairs of i + 5 g) / (count + 5),  g = mean res²
//!   v(i, j) ≈ √|res|: ridge on [m, m², m³, σ_i + σ_j, τ, τm, τm², √τ, p, p², pm, pτ],  τ = σ_i σ_j / √g
//!   evaluate the unevaluated pairs of largest v; they train σ and v of the next round
//! K̃ = method on s0 columns, exact where evaluated
//! ```
//! This project's own method. Which entries are known decides the error from s/n = .1 on; at s/n ≤ .02, and on
//! a matrix that s columns determine, columns alone are better.
//!
//! Cost: the entries of s columns in number, so that the call estimate is exact, though not which pairs they are; six fits of the method;
//! n²r flops a round to look at every pair, as blocked products (n² entries of the proxy with `nearest`); 24 bytes an entry of the columns and
//! 80 a scattered pair during the fit.

use std::sync::Arc;

use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Approximate, ApproximateError, ColumnReader, FitReport};
use crate::approximation::{Approximation, Known, ScatteredEntries};
use crate::entries::{EntryPlan, EntrySet};
use crate::folds::folds;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleError, OracleShape, Pair, Remembered, block_of};
use crate::parameter::BadParameter;
use crate::stream::Rng;

pub(super) mod residual_size;
pub(super) mod ridge;
pub(super) mod selection;
pub(super) mod table;
#[cfg(test)]
mod tests;

use residual_size::ResidualSize;
use selection::Search;
use table::Table;

pub(super) const FEWEST_LANDMARKS: usize = 4;

const FOLDS: usize = 5;

/// Pairs of one request: what a budget or a crash leaves undone is no more than this.
pub(super) const PAIRS_PER_REQUEST: usize = 1 << 16;

/// Raw parameters of scattered entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScatteredParams {
    /// f, the part of the calls that goes to columns, 0 < f < 1.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub columns: f64,
    /// Rounds in which the pairs are chosen, each with what was seen before.
    #[schemars(range(min = 1))]
    pub rounds: usize,
    /// Looks for pairs among this many nearest items of each under the first proxy; none, or too few pairs: in all of K.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nearest: Option<usize>,
}

impl Default for ScatteredParams {
    fn default() -> Self {
        Self { columns: 0.75, rounds: 2, nearest: None }
    }
}

impl ScatteredParams {
    /// These parameters, if they make sense.
    pub fn check(self) -> Result<Self, BadParameter> {
        if !(self.columns > 0.0 && self.columns < 1.0) {
            return Err(BadParameter::new("columns", self.columns, "above 0 and below 1"));
        }
        if self.rounds == 0 {
            return Err(BadParameter::new("rounds", self.rounds, "at least 1"));
        }
        if self.nearest == Some(0) {
            return Err(BadParameter::new("nearest", 0, "at least 1"));
        }
        Ok(self)
    }

    /// Any method with a part of its calls on scattered entries. `proxies` are free symmetric scores over the same items that
    /// help to predict residuals: those of a [`Proxied`](super::Proxied) method, as a rule.
    ///
    /// # Errors
    /// A parameter out of range, or nearest items without a proxy.
    pub fn around(
        self,
        method: Arc<dyn Approximate>,
        proxies: Vec<Arc<dyn Oracle>>,
    ) -> Result<Scattered, ApproximateError> {
        let params = self.check().map_err(|bad| bad.of("entries"))?;
        if let (Some(nearest), true) = (params.nearest, proxies.is_empty()) {
            return Err(BadParameter::new("nearest", nearest, "left out where there is no proxy").of("entries").into());
        }
        Ok(Scattered { method, proxies, params })
    }
}

/// A method whose calls go to columns and to scattered pairs.
///
/// ```
/// use std::sync::Arc;
/// use landmark_core::approximate::{Approximate, ScatteredParams, ShiftRidgeParams};
/// use landmark_core::approximation::Known;
/// use landmark_core::landmarks::Landmarks;
/// use landmark_core::oracle::{AsymmetryPolicy, OracleShape, Precomputed};
/// use landmark_core::stream::stream;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scores = ndarray::Array2::from_shape_fn((60, 60), |(i, j)| (0.01 * ((i * i + j * j) as f64) + (i * j) as f64).cos());
/// let oracle = Precomputed::new(scores, AsymmetryPolicy::Reject)?;
/// let method = ScatteredParams::default().around(Arc::new(ShiftRidgeParams::default().check()?), Vec::new())?;
/// let landmarks = Landmarks::uniform(60, &mut stream(1, "doc", "landmarks", 0));
/// let plan = method.plan(OracleShape::of(&oracle), &landmarks, 20)?;
/// let fit = method.fit(&oracle, &landmarks, 20, Known::LANDMARKS, &mut stream(1, "doc", "fit", 0))?;
/// let scattered = fit.scattered().expect("a quarter of the calls");
/// assert_eq!(scattered.len() as u64, plan.chosen);
/// let (i, j, score) = scattered.pairs().next().expect("at least one");
/// assert_eq!(fit.entry(j, i)?, score);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Scattered {
    method: Arc<dyn Approximate>,
    proxies: Vec<Arc<dyn Oracle>>,
    params: ScatteredParams,
}

/// Division of the calls of s columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Division {
    /// s0, the rank of the method.
    pub(super) rank: usize,
    pub(super) pairs: u64,
}

impl Division {
    /// The most landmarks for `share` of the calls, and the pairs that the rest of the calls pays for; all landmarks and no pairs
    /// where the fit evaluates all of K anyway, or nothing of it.
    pub(super) fn of(
        shape: OracleShape,
        rank: usize,
        share: f64,
        plan: impl Fn(usize) -> Result<EntryPlan, ApproximateError>,
    ) -> Result<Self, ApproximateError> {
        let budget = plan(rank)?.evaluations(shape);
        let all = EntryPlan::all(shape.len).evaluations(shape);
        if rank <= FEWEST_LANDMARKS || budget >= all {
            return Ok(Self { rank, pairs: 0 });
        }
        // the part of a budget far below 2^52
        let affordable = (share * budget as f64).floor() as u64;
        let (mut low, mut high) = (FEWEST_LANDMARKS, rank);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if plan(middle)?.evaluations(shape) <= affordable { low = middle } else { high = middle - 1 }
        }
        let named = EntrySet::of(shape, &plan(low)?);
        let affordable = budget.saturating_sub(named.evaluations()) / shape.evaluations_per_pair.max(1);
        Ok(Self { rank: low, pairs: affordable.min(named.left()) })
    }
}

impl Scattered {
    fn division(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Division, ApproximateError> {
        Division::of(shape, rank, self.params.columns, |rank| self.method.plan(shape, landmarks, rank))
    }
}

impl Approximate for Scattered {
    /// That of the method: [`FitReport::scattered`] shows that scattered entries took part.
    fn id(&self) -> &'static str {
        self.method.id()
    }

    fn wrapped(&self) -> Option<&dyn Approximate> {
        Some(&*self.method)
    }

    fn with_second_set(&self, ratio: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        let method = self.method.with_second_set(ratio)?;
        Ok(method.map(|method| -> Arc<dyn Approximate> { Arc::new(Self { method, ..self.clone() }) }))
    }

    fn check_fit(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        super::check_proxies("entries", &self.proxies, shape.len)?;
        super::require_symmetric(self.id(), shape.symmetry)?;
        self.method.check_fit(shape, landmarks, rank)
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<EntryPlan, ApproximateError> {
        self.check_fit(shape, landmarks, rank)?;
        let Division { rank, pairs } = self.division(shape, landmarks, rank)?;
        let plan = self.method.plan(shape, landmarks, rank)?;
        Ok(EntryPlan { chosen: plan.chosen + pairs, ..plan })
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        let (shape, asked) = (OracleShape::of(columns.oracle()), rank);
        let Division { rank, pairs } = self.division(shape, landmarks, asked)?;
        let known = Known { diagonal: false, ..columns.known() };
        if pairs == 0 {
            return self.method.fit(columns.oracle(), landmarks, rank, known, rng);
        }
        let oracle = Remembered::new(columns.oracle());
        let plan = self.method.plan(shape, landmarks, rank)?;
        oracle.evaluate_plan(&plan)?;
        if let Some(fitted) = columns.fit_in_unit(self, &oracle, rng)? {
            return Ok(fitted);
        }

        let fitted = self.method.fit(&oracle, landmarks, rank, known, rng)?;
        // one prediction a pair, whatever its order
        let symmetric = if fitted.is_symmetric() { None } else { Some(fitted.clone().symmetrized()?) };
        let predicted = symmetric.as_ref().unwrap_or(&fitted);
        let table = self.out_of_fold(&oracle, landmarks, rank, rng)?;
        let ScatteredParams { rounds, nearest, .. } = self.params;
        let chosen = Chosen::new(EntrySet::of(shape, &plan));
        let chosen = chosen.in_rounds(columns.oracle(), (predicted, &self.proxies), table, (pairs, rounds, nearest))?;
        let report = FitReport { rank: asked, scattered: chosen.pairs.len(), ..fitted.report().clone() };
        Ok(fitted.with_scattered(chosen.entries())?.with_report(report))
    }
}

pub(crate) struct Chosen {
    named: EntrySet,
    is_column: Vec<bool>,
    pub(super) pairs: Vec<Pair>,
    pub(super) scores: Vec<f64>,
}

impl Chosen {
    pub(super) fn new(named: EntrySet) -> Self {
        let is_column = (0..named.shape().len).map(|j| named.has_column(j)).collect();
        Self { named, is_column, pairs: Vec::new(), scores: Vec::new() }
    }

    /// Evaluates `pairs` pairs, in each round those of largest size as learned from the rounds before; `table` has rows that the prediction
    /// has not seen.
    pub(super) fn in_rounds(
        mut self,
        oracle: &dyn Oracle,
        (predicted, proxies): (&Approximation, &[Arc<dyn Oracle>]),
        mut table: Table,
        (pairs, rounds, nearest): (u64, usize, Option<usize>),
    ) -> Result<Self, ApproximateError> {
        for round in 0..rounds {
            let wanted = (pairs - self.pairs.len() as u64) / (rounds - round) as u64;
            if wanted == 0 {
                continue;
            }
            let size = ResidualSize::fit(oracle.len(), &table, proxies)?;
            let found = Search { predicted, proxies, size: &size, known: &self, nearest }.largest(wanted)?;
            let scores = evaluate(oracle, &found)?;
            table.extend(predicted, &found, &scores)?;
            found.iter().for_each(|&(i, j)| self.named.add_entry(i, j));
            self.pairs.extend(found);
            self.scores.extend(scores);
        }
        Ok(self)
    }

    pub(super) fn items(&self) -> Vec<usize> {
        (0..self.is_column.len()).filter(|&i| !self.is_column[i]).collect()
    }

    pub(super) fn contains(&self, i: usize, j: usize) -> bool {
        self.named.contains(i, j)
    }

    pub(super) fn left(&self) -> u64 {
        self.named.left()
    }

    pub(super) fn entries(&self) -> ScatteredEntries {
        ScatteredEntries::new(self.is_column.len(), &self.pairs, &self.scores)
    }
}

/// Scores of pairs that are asked for the first time, in requests of a bounded size.
pub(super) fn evaluate(oracle: &dyn Oracle, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    for (pairs, scores) in pairs.chunks(PAIRS_PER_REQUEST).zip(scores.chunks_mut(PAIRS_PER_REQUEST)) {
        crate::oracle::ask_pairs(oracle, pairs, scores)?;
    }
    Ok(scores)
}

/// Positions 0..t in at most five parts, drawn.
pub(super) fn drawn_folds(t: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mut positions: Vec<usize> = (0..t).collect();
    positions.shuffle(rng);
    folds(&positions, FOLDS)
}

impl Scattered {
    /// Every evaluated column, predicted by the method without a fifth of them that it belongs to, on rows that this fit did not use.
    fn out_of_fold(
        &self,
        oracle: &Remembered<&dyn Oracle>,
        landmarks: &Landmarks,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Table, ApproximateError> {
        let shape = OracleShape::of(oracle);
        let plan = self.method.plan(shape, landmarks, rank)?;
        let (columns, evaluated) = (plan.full_columns(), EntrySet::of(shape, &plan));
        let mut table = Table::default();
        for fold in drawn_folds(columns.len(), rng) {
            let held: Vec<usize> = fold.into_iter().map(|position| columns[position]).collect();
            let Some((kept, fewer)) = self.without(&held, landmarks, rank, &evaluated)? else { continue };
            let training = self.method.plan(shape, &kept, fewer)?;
            let smaller = self.method.fit(oracle, &kept, fewer, Known::NOTHING, rng)?;
            let rows = training.unnamed(shape.len);
            for rows in rows.chunks((PAIRS_PER_REQUEST / held.len()).max(1)) {
                let scores = block_of(oracle, rows, &held)?;
                let mut predicted = ndarray::Array2::zeros(scores.dim());
                smaller.block(rows, &held, predicted.view_mut())?;
                for ((a, b), &score) in scores.indexed_iter() {
                    if rows[a] != held[b] {
                        table.push((rows[a], held[b]), predicted[[a, b]], score);
                    }
                }
            }
        }
        Ok(table)
    }

    /// The landmarks without some of them, and the largest rank whose fit reads nothing that is not evaluated.
    fn without(
        &self,
        held: &[usize],
        landmarks: &Landmarks,
        rank: usize,
        evaluated: &EntrySet,
    ) -> Result<Option<(Landmarks, usize)>, ApproximateError> {
        let n = landmarks.len();
        let mut is_held = vec![false; n];
        held.iter().for_each(|&j| is_held[j] = true);
        let keep = |order: &[usize], needed: usize| -> Vec<usize> {
            order[..needed.min(order.len())].iter().copied().filter(|&j| !is_held[j]).collect()
        };
        let order = keep(landmarks.order(), self.method.landmarks_needed(n, rank));
        let independent = keep(landmarks.independent(), self.method.independent_needed(rank));
        let fits = |fewer: usize| {
            self.method.landmarks_needed(n, fewer) <= order.len()
                && self.method.independent_needed(fewer) <= independent.len()
        };
        let (mut fewer, price) = (rank - 1, evaluated.evaluations());
        let kept = Landmarks::from_orders(n, order.clone(), independent.clone());
        let shape = evaluated.shape();
        while fewer > 0 {
            if fits(fewer) {
                let mut with = evaluated.clone();
                with.add(&self.method.plan(shape, &kept, fewer)?);
                if with.evaluations() == price {
                    return Ok(Some((kept, fewer)));
                }
            }
            fewer -= 1;
        }
        Ok(None)
    }
}
