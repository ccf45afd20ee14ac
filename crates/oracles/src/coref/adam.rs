//! Adam (Kingma & Ba 2015) with its state in the open, so that a training can be written down and gone on with.
//!
//! `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`, `w ← w − η m̂ / (√v̂ + ε)` with m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ).

use std::collections::BTreeMap;

use tch::{TchError, Tensor};

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The moments of every weight.
#[derive(Debug)]
pub(super) struct Adam {
    first: BTreeMap<String, Tensor>,
    second: BTreeMap<String, Tensor>,
    steps: i32,
}

impl Adam {
    pub(super) fn new(weights: &BTreeMap<String, Tensor>) -> Result<Self, TchError> {
        let zeros = || -> Result<BTreeMap<String, Tensor>, TchError> {
            weights.iter().map(|(name, tensor)| Ok((name.clone(), tensor.f_detach()?.f_zeros_like()?))).collect()
        };
        Ok(Self { first: zeros()?, second: zeros()?, steps: 0 })
    }

    /// Goes on from moments that were written down.
    pub(super) fn resumed(first: BTreeMap<String, Tensor>, second: BTreeMap<String, Tensor>, steps: i32) -> Self {
        Self { first, second, steps }
    }

    pub(super) fn moments(&self) -> (&BTreeMap<String, Tensor>, &BTreeMap<String, Tensor>) {
        (&self.first, &self.second)
    }

    pub(super) fn steps(&self) -> i32 {
        self.steps
    }

    /// One step down the gradient of `loss`.
    pub(super) fn step(
        &mut self,
        weights: &mut BTreeMap<String, Tensor>,
        loss: &Tensor,
        rate: f64,
    ) -> Result<(), TchError> {
        self.steps += 1;
        let (unbias_1, unbias_2) = (1.0 - BETA_1.powi(self.steps), 1.0 - BETA_2.powi(self.steps));
        let held: Vec<Tensor> = weights.values().map(Tensor::shallow_clone).collect();
        let gradients = Tensor::f_run_backward(&[loss], &held, false, false)?;
        tch::no_grad(|| {
            for ((weight, gradient), (m, v)) in
                weights.values_mut().zip(&gradients).zip(self.first.values_mut().zip(self.second.values_mut()))
            {
                *m = m.f_mul_scalar(BETA_1)?.f_add(&gradient.f_mul_scalar(1.0 - BETA_1)?)?;
                *v = v.f_mul_scalar(BETA_2)?.f_add(&gradient.f_square()?.f_mul_scalar(1.0 - BETA_2)?)?;
                let scale = v.f_div_scalar(unbias_2)?.f_sqrt()?.f_add_scalar(EPSILON)?;
                let change = m.f_div(&scale)?.f_mul_scalar(-rate / unbias_1)?;
                let _ = weight.f_add_(&change)?;
            }
            Ok(())
        })
    }
}
