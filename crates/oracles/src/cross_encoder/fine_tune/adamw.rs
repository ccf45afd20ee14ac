//! AdamW: Adam with weight decay apart from the gradient.
//!
//! ```text
//! m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²
//! p ← p − η·λ·p − η·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε)
//! ```
//!
//! Loshchilov & Hutter 2019. Eight passes over four tensors of the size of the weights; on the CPU they are made over a piece
//! that stays in the cache, so that memory is read and written once.

use tch::{Kind, Tensor};

use crate::encoder::ModelError;

/// Its constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct AdamWParams {
    pub(super) beta1: f64,
    pub(super) beta2: f64,
    pub(super) epsilon: f64,
    pub(super) weight_decay: f64,
}

impl Default for AdamWParams {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 }
    }
}

/// Numbers of a piece: 256 KB each of weights, gradient and both moments.
const PIECE: i64 = 1 << 16;

/// An optimiser of some tensors and what it remembers of them.
pub(super) struct AdamW {
    params: AdamWParams,
    weights: Vec<Tensor>,
    first: Vec<Tensor>,
    second: Vec<Tensor>,
    steps: u64,
}

impl AdamW {
    /// Of tensors that ask for gradients; matrices decay, vectors do not.
    pub(super) fn new(params: AdamWParams, weights: Vec<Tensor>) -> Result<Self, ModelError> {
        let zeros = || {
            weights.iter().map(|weight| Ok(weight.f_detach()?.f_zeros_like()?)).collect::<Result<Vec<_>, ModelError>>()
        };
        Ok(Self { params, first: zeros()?, second: zeros()?, weights, steps: 0 })
    }

    /// Both moments in the order of the weights, and the number of steps behind them.
    pub(super) fn state(&self) -> (&[Tensor], &[Tensor], u64) {
        (&self.first, &self.second, self.steps)
    }

    /// Goes on from a state.
    pub(super) fn load(&mut self, first: &[Tensor], second: &[Tensor], steps: u64) -> Result<(), ModelError> {
        let _no_gradients = tch::no_grad_guard();
        for (mine, theirs) in self.first.iter_mut().zip(first).chain(self.second.iter_mut().zip(second)) {
            mine.f_copy_(theirs)?;
        }
        self.steps = steps;
        Ok(())
    }

    /// One step along these gradients, whose norm is clipped first.
    pub(super) fn step(&mut self, gradients: Vec<Tensor>, rate: f64, clip: f64) -> Result<(), ModelError> {
        let _no_gradients = tch::no_grad_guard();
        self.steps += 1;
        let mut squares = 0.0;
        for gradient in &gradients {
            squares += gradient.f_norm()?.f_double_value(&[])?.powi(2);
        }
        let scale = (clip / squares.sqrt().max(f64::MIN_POSITIVE)).min(1.0);
        for (k, gradient) in gradients.iter().enumerate() {
            let decays = self.weights[k].dim() > 1;
            let numbers = i64::try_from(gradient.numel()).unwrap_or(i64::MAX);
            let piece = if gradient.device().is_cuda() { numbers } else { PIECE };
            let flat = |tensor: &Tensor| tensor.f_detach()?.f_view([-1]);
            let gradient = gradient.f_contiguous()?.f_view([-1])?;
            let all = [flat(&self.weights[k])?, flat(&self.first[k])?, flat(&self.second[k])?];
            let mut start = 0;
            while start < numbers {
                let length = piece.min(numbers - start);
                let [weight, first, second] = &all;
                let cut = |tensor: &Tensor| tensor.f_narrow(0, start, length);
                let pieces = Piece { weight: cut(weight)?, first: cut(first)?, second: cut(second)? };
                self.params.update(pieces, &cut(&gradient)?, self.steps, rate, scale, decays)?;
                start += length;
            }
        }
        Ok(())
    }
}

/// Views of the same numbers of a tensor and its moments.
struct Piece {
    weight: Tensor,
    first: Tensor,
    second: Tensor,
}

impl AdamWParams {
    fn update(
        &self,
        piece: Piece,
        gradient: &Tensor,
        step: u64,
        rate: f64,
        scale: f64,
        decays: bool,
    ) -> Result<(), ModelError> {
        let Piece { mut weight, mut first, mut second } = piece;
        let gradient = gradient.f_to_kind(Kind::Float)?.f_mul_scalar(scale)?;
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let (unbias1, unbias2) = (1.0 - self.beta1.powi(step), 1.0 - self.beta2.powi(step));
        let _ = first.f_lerp_(&gradient, 1.0 - self.beta1)?;
        let _ = second.f_lerp_(&gradient.f_square()?, 1.0 - self.beta2)?;
        if decays && self.weight_decay > 0.0 {
            let _ = weight.f_mul_scalar_(1.0 - rate * self.weight_decay)?;
        }
        let mut below = second.f_sqrt()?;
        // p ← p + m / ((√v/√(1−β₂ᵗ) + ε)·(−(1−β₁ᵗ)/η))
        let factor = -unbias1 / rate;
        let _ = below.f_mul_scalar_(factor / unbias2.sqrt())?.f_add_scalar_(factor * self.epsilon)?;
        let _ = weight.f_addcdiv_(&first, &below)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_formula() {
        let params = AdamWParams { weight_decay: 0.1, ..AdamWParams::default() };
        let start = [[1.0_f64, -2.0], [0.5, 3.0]];
        let weight = Tensor::from_slice2(&start).to_kind(Kind::Float).set_requires_grad(true);
        let mut adam = AdamW::new(params, vec![weight.shallow_clone()]).unwrap();
        let (mut p, mut m, mut v) = (start.concat(), vec![0.0; 4], vec![0.0; 4]);
        for t in 1..=5 {
            let gradient: Vec<f64> = (0..4).map(|k| (f64::from(k) - 1.5) * f64::from(t)).collect();
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            for k in 0..4 {
                let g = gradient[k] * (1.0 / norm).min(1.0);
                m[k] = 0.9 * m[k] + 0.1 * g;
                v[k] = 0.999 * v[k] + 0.001 * g * g;
                let (mean, square) = (m[k] / (1.0 - 0.9_f64.powi(t)), v[k] / (1.0 - 0.999_f64.powi(t)));
                p[k] = p[k] * (1.0 - 0.01 * 0.1) - 0.01 * mean / (square.sqrt() + 1e-8);
            }
            let gradient = Tensor::from_slice(&gradient).to_kind(Kind::Float).view([2, 2]);
            adam.step(vec![gradient], 0.01, 1.0).unwrap();
        }
        let seen: Vec<f64> = Vec::try_from(weight.detach().to_kind(Kind::Double).view(-1)).unwrap();
        for (seen, wanted) in seen.iter().zip(p) {
            assert!((seen - wanted).abs() < 1e-6, "{seen} {wanted}"); // five steps in f32
        }
    }
}
