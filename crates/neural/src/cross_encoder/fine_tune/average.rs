//! The running mean of the weights over the steps of a training.
//!
//! ```text
//! w̄ ← β·w̄ + (1 − β)·w,  β = min(average, (1 + t) / (10 + t)) at step t
//! ```
//!
//! It lies nearer to the middle of the valley whose sides the steps jump between, and is worth a few tenths of a point of correlation
//! at the price of one pass over the weights a step. Polyak & Juditsky 1992; β grows as there is more to remember (TensorFlow,
//! `ExponentialMovingAverage`).

use tch::Tensor;

use super::trainable::Trainable;
use crate::adamw::copy_values;
use crate::encoder::ModelError;

pub(super) struct Average {
    share: f64,
    weights: Vec<Tensor>,
}

impl Average {
    pub(super) fn new(share: f64, model: &Trainable) -> Result<Self, ModelError> {
        let copy = |leaf: &Tensor| Ok(leaf.f_detach()?.copy());
        let weights = model.parameters().iter().map(copy).collect::<Result<_, ModelError>>()?;
        Ok(Self { share, weights })
    }

    /// Takes in the weights after a step, counted from 1.
    pub(super) fn step(&mut self, model: &Trainable, step: u64) -> Result<(), ModelError> {
        let _no_gradients = tch::no_grad_guard();
        let step = step as f64;
        let share = self.share.min((1.0 + step) / (10.0 + step));
        for (mean, leaf) in self.weights.iter_mut().zip(model.parameters()) {
            let _ = mean.f_lerp_(&leaf, 1.0 - share)?;
        }
        Ok(())
    }

    /// Puts the mean in the place of the weights, or the weights back.
    pub(super) fn exchange(&mut self, model: &mut Trainable) -> Result<(), ModelError> {
        model.exchange(&mut self.weights)
    }

    pub(super) fn weights(&self) -> &[Tensor] {
        &self.weights
    }

    pub(super) fn load(&mut self, weights: &[Tensor]) -> Result<(), ModelError> {
        Ok(copy_values(&mut self.weights, weights)?)
    }
}
