//! SMS-Nyström, submatrix-shifted Nyström: make the landmark block positive definite before it is inverted.
//!
//! ```text
//! K̃ = (C + eE)(W + eI)⁺(C + eE)ᵀ,   e = −α · min(0, λmin(K[S2,S2])),   S1 ⊂ S2, |S2| = z·|S1|
//! ```
//! with C = K[:,S1], W = K[S1,S1] and E the columns S1 of the identity: `e` is added where row and column are the same
//! item. Ray, Monath, McCallum & Musco, *Sublinear time approximation of text similarity matrices*, §2.3, Algorithm 1;
//! the rescaling is in the appendix. K̃ = K + eI on the landmark columns, so the shift stays on s diagonal entries and the
//! error rises again with s; `correct_diagonal` takes it off.
//!
//! Cost: n·s1 + (s2−s1)² entries; 9s1³ + 2(n−s1)s1² flops, and 2s2² a Lanczos step; 8ns1 + 8s2² bytes.

use std::sync::Arc;

use ndarray::{Array1, Array2, s};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column_reader::Map;
use super::core_weights::{CoreWeights, condition, count_negative, largest, pseudo_inverse};
use super::{Approximate, ApproximateError, ColumnReader, FitReport, column_evaluations, largest_rank};
use crate::approximation::Approximation;
use crate::balance::balancing;
use crate::entries::{EntryBlock, EntryPlan, Rows};
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{OracleError, block_of};
use crate::parameter::BadParameter;
use crate::stream::Rng;

const ID: &str = "sms_nystrom";

/// Blocks beyond this size have their λmin by Lanczos rather than by a full decomposition.
const LANCZOS_ABOVE: usize = 400;

/// Relative tolerance of Lanczos: α leaves far more room than that.
const LANCZOS_TOLERANCE: f64 = 1e-3;

/// Raw parameters of SMS-Nyström.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SmsNystromParams {
    /// α ≥ 0, how far beyond λmin to shift; the paper takes 1.5.
    pub alpha: f64,
    /// z ≥ 1, |S2| / |S1|; the paper takes 2.
    pub z: f64,
    /// Shift C as well as W (Algorithm 1 as printed); `false` is what the authors' program computes.
    pub outer_shift: bool,
    /// Subtract `e` again where K̃ carries it; needs `outer_shift`.
    pub correct_diagonal: bool,
    /// Divide K̃ by β = ‖W‖ / ‖W + eI‖, in this norm.
    pub rescale: Rescale,
}

/// The norm of the appendix' β.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rescale {
    /// β = 1.
    #[default]
    None,
    /// The largest |eigenvalue|, as the paper writes.
    Spectral,
    /// The root of the sum of squares, as the authors' coreference program does.
    Frobenius,
}

impl Default for SmsNystromParams {
    fn default() -> Self {
        Self { alpha: 1.5, z: 2.0, outer_shift: true, correct_diagonal: false, rescale: Rescale::None }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct SmsNystrom(SmsNystromParams);

impl SmsNystromParams {
    /// The method, if the parameters make one.
    pub fn check(self) -> Result<SmsNystrom, ApproximateError> {
        let refuse = |bad: BadParameter| Err(bad.of(ID).into());
        if !(self.alpha.is_finite() && self.alpha >= 0.0) {
            return refuse(BadParameter::new("alpha", self.alpha, "a number ≥ 0"));
        }
        if !(self.z.is_finite() && self.z >= 1.0) {
            return refuse(BadParameter::new("z", self.z, "a number ≥ 1"));
        }
        if self.correct_diagonal && !self.outer_shift {
            let wanted = "false where `outer_shift` is false: K̃ carries no shift";
            return refuse(BadParameter::new("correct_diagonal", true, wanted));
        }
        Ok(SmsNystrom(self))
    }
}

impl Approximate for SmsNystrom {
    fn id(&self) -> &'static str {
        ID
    }

    fn second_set(&self) -> Option<f64> {
        Some(self.0.z)
    }

    fn with_second_set(&self, z: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        Ok(Some(Arc::new(SmsNystromParams { z, ..self.0 }.check()?)))
    }

    fn entries(&self, n: usize, landmarks: &Landmarks, rank: usize) -> EntryPlan {
        let (first, extra) = landmarks.order()[..self.landmarks_needed(n, rank)].split_at(rank);
        let mut plan = EntryPlan::columns(first);
        if !extra.is_empty() {
            plan.blocks.push(EntryBlock { rows: Rows::These(extra.to_vec()), cols: extra.to_vec() });
        }
        plan
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        let n = columns.oracle().len();
        let (first, extra) = landmarks.order()[..self.landmarks_needed(n, rank)].split_at(rank);
        let corner = columns.corner()?;
        let lambda_min = smallest_eigenvalue(&wider_block(columns, &corner, extra)?)?;
        let shift = -self.0.alpha * lambda_min.min(0.0);

        let eigen = linalg::eigh(corner.view())?;
        let shifted = &eigen.values + shift;
        let beta = self.beta(&eigen.values, &shifted);
        let core = CoreWeights::new(&eigen.vectors, &(pseudo_inverse(&shifted) / beta));
        let report = FitReport {
            rank,
            shift,
            lambda_min: Some(lambda_min),
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&shifted),
            dropped: rank - core.rank(),
            ..FitReport::default()
        };
        let corner = core.corner(&eigen.values);
        let [mut vectors] =
            columns.finish([Map::Spectral { projector: core.projector.view(), corner: corner.view() }])?;
        if self.0.outer_shift {
            for (&item, row) in first.iter().zip(core.projector.rows()) {
                vectors.row_mut(item).scaled_add(shift, &row);
            }
        }
        let approximation = Approximation::new(core.into_factors(vectors), first.to_vec(), report);
        if !self.0.correct_diagonal {
            return Ok(approximation);
        }
        let mut correction = vec![0.0; n];
        // rescaled, K̃ = (W + eI)/β on the landmarks
        first.iter().for_each(|&item| correction[item] = -shift / beta);
        Ok(approximation.with_diagonal_shift(correction))
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        largest_rank(n, columns, |rank| {
            let extra = usize::try_from(rank).map_or(0, |rank| self.landmarks_needed(n, rank) - rank) as u64;
            column_evaluations(n, rank) + extra * (extra + 1) / 2
        })
    }
}

impl SmsNystrom {
    fn beta(&self, values: &Array1<f64>, shifted: &Array1<f64>) -> f64 {
        let ratio = match self.0.rescale {
            Rescale::None => return 1.0,
            Rescale::Spectral => largest(values) / largest(shifted),
            Rescale::Frobenius => {
                let scale = balancing(largest(values).max(largest(shifted)));
                let norm =
                    |values: &Array1<f64>| values.iter().map(|value| (scale * value).powi(2)).sum::<f64>().sqrt();
                norm(values) / norm(shifted)
            }
        };
        // a block of zeros has no scale
        if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
    }
}

/// K[S2,S2], of which the first s1 columns are read in full anyway.
fn wider_block(
    columns: &mut ColumnReader<'_>,
    corner: &Array2<f64>,
    extra: &[usize],
) -> Result<Array2<f64>, OracleError> {
    let (s1, s2) = (corner.nrows(), corner.nrows() + extra.len());
    let mut block = Array2::zeros((s2, s2));
    block.slice_mut(s![..s1, ..s1]).assign(corner);
    if !extra.is_empty() {
        let below = columns.rows(extra)?;
        block.slice_mut(s![s1.., ..s1]).assign(&below);
        block.slice_mut(s![..s1, s1..]).assign(&below.t());
        block.slice_mut(s![s1.., s1..]).assign(&block_of(columns.oracle(), extra, extra)?);
    }
    Ok(block)
}

fn smallest_eigenvalue(block: &Array2<f64>) -> Result<f64, ApproximateError> {
    let n = block.nrows();
    if n <= LANCZOS_ABOVE {
        return Ok(linalg::eigvalsh(block.view())?[0]);
    }
    let found = linalg::smallest_eigenvalue(n, LANCZOS_TOLERANCE, |x, out| linalg::apply(block.view(), x, out))?;
    Ok(found.value)
}

#[cfg(test)]
mod tests;
