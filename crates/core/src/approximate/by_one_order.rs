//! A method on one order a pair of an asymmetric score whose mean of both orders is wanted.
//!
//! ```text
//! obs_ij = f(i, j) or f(j, i), σ_ij = ±1 marks which;   f(i, j) − f(j, i) ≈ 2 (a_i − a_j)
//! (L + 5I) a = b,   L the Laplacian of the evaluated pairs, b_i = Σ_j σ_ij (obs − m)_ij,   m out of fold
//! K̃ = method(obs − σ (a_i − a_j)),   an evaluated cell returns .85 of that and .15 of what the method predicts without it
//! ```
//! The coin makes the antisymmetric half of the score noise of mean 0; of that noise the items' own part is estimated and removed. m predicts
//! the evaluated columns from the method's fit to the other four fifths of them, so that it knows nothing of the noise it is held against.
//! This project's own method; half the calls a column, worth it at s/n ≤ .1.
//!
//! Cost: entries as the method, and half the calls; its flops about six times; 16 bytes an evaluated entry during the fit.

use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2};

use super::{Approximate, ApproximateError, ColumnReader};
use crate::approximation::{Approximation, Known};
use crate::entries::{EntryPlan, EntrySet};
use crate::folds::folds;
use crate::landmarks::Landmarks;
use crate::oracle::{Coin, Identity, Oracle, OracleError, OracleShape, Pair, Remembered, Symmetry, block_of};
use crate::stream::Rng;

mod effects;
#[cfg(test)]
mod tests;

pub use effects::item_effects;

const FOLDS: usize = 5;

const SHARE: f64 = 0.85;

/// Cells predicted at a time: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// A method on an oracle that answers one order a pair ([`OneOrder`](crate::oracle::OneOrder)) by the same coin.
#[derive(Clone)]
pub struct ByOneOrder {
    method: Arc<dyn Approximate>,
    coin: Coin,
}

impl ByOneOrder {
    /// A method that reads columns alone, or every fit is refused; `coin` is that of the oracle.
    pub fn new(method: Arc<dyn Approximate>, coin: Coin) -> Self {
        Self { method, coin }
    }

    fn effects(
        &self,
        oracle: &Remembered<&dyn Oracle>,
        landmarks: &Landmarks,
        plan: &EntryPlan,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Vec<f64>, ApproximateError> {
        let n = oracle.len();
        let folds = self.folds(oracle, landmarks, plan, rank)?;
        let mut predicted = EntrySet::new(OracleShape::of(oracle));
        folds.iter().flat_map(|fold| &fold.held).for_each(|&t| predicted.add_column(t));
        let mut sums = vec![0.0; n];
        for Fold { held, landmarks, rank } in folds {
            let fitted = self.method.fit(oracle, &landmarks, rank, Known::NOTHING, &mut rng.clone())?;
            self.add_residuals(oracle, &fitted, &predicted, &held, &mut sums)?;
        }
        Ok(item_effects(n, &predicted, &sums))
    }

    /// Σ_j σ_ij (obs − m)_ij over the pairs of `held` columns. A pair of two predicted columns is met in both and counts by halves.
    fn add_residuals(
        &self,
        oracle: &dyn Oracle,
        fitted: &Approximation,
        predicted: &EntrySet,
        held: &[usize],
        sums: &mut [f64],
    ) -> Result<(), ApproximateError> {
        let all: Vec<usize> = (0..oracle.len()).collect();
        for rows in all.chunks((CELLS_PER_BLOCK / held.len().max(1)).max(1)) {
            let scores = block_of(oracle, rows, held)?;
            let mut ours = Array2::zeros(scores.dim());
            fitted.block(rows, held, ours.view_mut())?;
            for ((a, b), &score) in scores.indexed_iter() {
                let (i, j) = (rows[a], held[b]);
                let weight = if predicted.has_column(i) { 0.5 } else { 1.0 };
                let left = weight * self.coin.sign(i, j) * (score - ours[[a, b]]);
                sums[i] += left;
                sums[j] -= left;
            }
        }
        Ok(())
    }

    /// Fits that each leave a part of the columns out and ask for nothing else; all of them at once where there is no such fit.
    fn folds(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        plan: &EntryPlan,
        rank: usize,
    ) -> Result<Vec<Fold>, ApproximateError> {
        let (n, shape) = (oracle.len(), OracleShape::of(oracle));
        let whole = || vec![Fold { held: plan.full_columns(), landmarks: landmarks.clone(), rank }];
        let needed = self.method.landmarks_needed(n, rank);
        let order = &landmarks.order()[..needed];
        let mut entries = EntrySet::of(shape, plan);
        let mut all = Vec::new();
        for mut held in folds(order, FOLDS) {
            let kept: Vec<usize> = order.iter().copied().filter(|item| !held.contains(item)).collect();
            held.retain(|&t| entries.has_column(t));
            let mut fewer = rank.min(kept.len());
            while fewer > 0 && self.method.landmarks_needed(n, fewer) > kept.len() {
                fewer -= 1;
            }
            if fewer == 0 {
                return Ok(whole());
            }
            let kept = Landmarks::new(n, kept, landmarks.independent().to_vec())?;
            let price = entries.evaluations();
            entries.add(&self.method.plan(shape, &kept, fewer)?);
            if entries.evaluations() > price {
                return Ok(whole());
            }
            all.push(Fold { held, landmarks: kept, rank: fewer });
        }
        Ok(all)
    }
}

struct Fold {
    held: Vec<usize>,
    landmarks: Landmarks,
    rank: usize,
}

impl Approximate for ByOneOrder {
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
        match self.method.plan(shape, landmarks, rank)?.chosen {
            0 => Ok(()),
            _ => Err(ApproximateError::ChoosesPairs { method: self.method.id() }),
        }
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        let oracle = Remembered::new(columns.oracle());
        let plan = self.entries(oracle.len(), landmarks, rank);
        oracle.evaluate_plan(&plan)?;
        if let Some(fitted) = columns.fit_in_unit(self, &oracle, rng)? {
            return Ok(fitted);
        }
        let effects = self.effects(&oracle, landmarks, &plan, rank, rng)?;
        let corrected = Corrected { inner: &oracle, coin: self.coin, effects: &effects };
        let on_core = Known { diagonal: false, ..columns.known() };
        Ok(self.method.fit(&corrected, landmarks, rank, on_core, rng)?.with_known_shrunk(SHARE))
    }
}

/// obs − σ (a_i − a_j).
struct Corrected<'a> {
    inner: &'a Remembered<&'a dyn Oracle>,
    coin: Coin,
    effects: &'a [f64],
}

impl Corrected<'_> {
    fn effect(&self, i: usize, j: usize) -> f64 {
        self.coin.sign(i, j) * (self.effects[i] - self.effects[j])
    }
}

impl Oracle for Corrected<'_> {
    fn shape(&self) -> OracleShape {
        OracleShape { symmetry: Symmetry::Symmetric, is_checked: false, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        let effects: Vec<u8> = self.effects.iter().flat_map(|effect| effect.to_le_bytes()).collect();
        Identity::of(&[("kind", b"corrected"), ("effects", &effects), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)?;
        pairs.iter().zip(out).for_each(|(&(i, j), score)| *score -= self.effect(i, j));
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.inner.block(rows, cols, out.view_mut())?;
        out.indexed_iter_mut().for_each(|((a, b), score)| *score -= self.effect(rows[a], cols[b]));
        Ok(())
    }
}
