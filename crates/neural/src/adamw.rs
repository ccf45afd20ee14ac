//! AdamW: Adam with weight decay apart from the gradient.
//!
//! ```text
//! m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²
//! p ← p − η·λ·p − η·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε)
//! ```
//!
//! Loshchilov & Hutter 2019. Eight passes over four tensors of the size of the weights.

use tch::{Kind, TchError, Tensor};

#[derive(Debug, Clone, Copy)]
pub(crate) struct AdamWParams {
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    pub(crate) weight_decay: f64,
    /// The largest norm of the gradient; infinity where it is not clipped.
    pub(crate) clip: f64,
    pub(crate) rounding: Rounding,
}

/// Order of the operations of a step: the same in real numbers, not in f32. Either stays as it is, for an oracle is identified by its
/// weights.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rounding {
    /// Interpolation and division in one operation each: encoders.
    Fused,
    /// As the formula has it: the coreference scorer.
    Plain,
}

impl Default for AdamWParams {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, clip: 1.0, rounding: Rounding::Fused }
    }
}

/// Optimizer of some tensors, with both moments of each.
#[derive(Debug)]
pub(crate) struct AdamW {
    params: AdamWParams,
    weights: Vec<Tensor>,
    first: Vec<Tensor>,
    second: Vec<Tensor>,
    steps: u64,
}

impl AdamW {
    /// Of tensors that ask for gradients; matrices decay, vectors do not.
    pub(crate) fn new(params: AdamWParams, weights: Vec<Tensor>) -> Result<Self, TchError> {
        let zeros =
            || weights.iter().map(|weight| weight.f_detach()?.f_zeros_like()).collect::<Result<Vec<_>, TchError>>();
        Ok(Self { params, first: zeros()?, second: zeros()?, weights, steps: 0 })
    }

    /// Both moments in the order of the weights, and the number of steps behind them.
    pub(crate) fn state(&self) -> (&[Tensor], &[Tensor], u64) {
        (&self.first, &self.second, self.steps)
    }

    pub(crate) fn load(&mut self, first: &[Tensor], second: &[Tensor], steps: u64) -> Result<(), TchError> {
        self.steps = steps;
        copy_values(&mut self.first, first)?;
        copy_values(&mut self.second, second)
    }

    /// One step along these gradients, whose norm is clipped first.
    pub(crate) fn step(&mut self, gradients: &[Tensor], rate: f64) -> Result<(), TchError> {
        let _no_gradients = tch::no_grad_guard();
        self.steps += 1;
        let scale = self.params.scale(gradients)?;
        for (k, gradient) in gradients.iter().enumerate() {
            let decays = self.weights[k].dim() > 1;
            let moments = [self.weights[k].f_detach()?, self.first[k].f_detach()?, self.second[k].f_detach()?];
            self.params.update(moments, gradient, self.steps, rate, scale, decays)?;
        }
        Ok(())
    }
}

impl AdamWParams {
    fn scale(&self, gradients: &[Tensor]) -> Result<f64, TchError> {
        if self.clip.is_infinite() {
            return Ok(1.0);
        }
        let mut squares = 0.0;
        for gradient in gradients {
            squares += gradient.f_norm()?.f_double_value(&[])?.powi(2);
        }
        Ok((self.clip / squares.sqrt().max(f64::MIN_POSITIVE)).min(1.0))
    }

    fn update(
        &self,
        [mut weight, mut first, mut second]: [Tensor; 3],
        gradient: &Tensor,
        step: u64,
        rate: f64,
        scale: f64,
        decays: bool,
    ) -> Result<(), TchError> {
        let gradient = gradient.f_to_kind(Kind::Float)?.f_mul_scalar(scale)?;
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let (unbias1, unbias2) = (1.0 - self.beta1.powi(step), 1.0 - self.beta2.powi(step));
        if decays && self.weight_decay > 0.0 {
            let _ = weight.f_mul_scalar_(1.0 - rate * self.weight_decay)?;
        }
        match self.rounding {
            Rounding::Fused => {
                let _ = first.f_lerp_(&gradient, 1.0 - self.beta1)?;
                let _ = second.f_lerp_(&gradient.f_square()?, 1.0 - self.beta2)?;
                let mut below = second.f_sqrt()?;
                // p ← p + m / ((√v/√(1−β₂ᵗ) + ε)·(−(1−β₁ᵗ)/η))
                let factor = -unbias1 / rate;
                let _ = below.f_mul_scalar_(factor / unbias2.sqrt())?.f_add_scalar_(factor * self.epsilon)?;
                let _ = weight.f_addcdiv_(&first, &below)?;
            }
            Rounding::Plain => {
                let square = gradient.f_square()?;
                let _ = first.f_mul_scalar_(self.beta1)?.f_add_(&gradient.f_mul_scalar(1.0 - self.beta1)?)?;
                let _ = second.f_mul_scalar_(self.beta2)?.f_add_(&square.f_mul_scalar(1.0 - self.beta2)?)?;
                let below = second.f_div_scalar(unbias2)?.f_sqrt()?.f_add_scalar(self.epsilon)?;
                let _ = weight.f_add_(&first.f_div(&below)?.f_mul_scalar(-rate / unbias1)?)?;
            }
        }
        Ok(())
    }
}

/// Copies values over those of tensors of the same shapes.
pub(crate) fn copy_values(tensors: &mut [Tensor], values: &[Tensor]) -> Result<(), TchError> {
    let _no_gradients = tch::no_grad_guard();
    tensors.iter_mut().zip(values).try_for_each(|(tensor, value)| tensor.f_copy_(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_formula() {
        for rounding in [Rounding::Fused, Rounding::Plain] {
            steps_are_those_of(AdamWParams { weight_decay: 0.1, rounding, ..AdamWParams::default() });
        }
    }

    fn steps_are_those_of(params: AdamWParams) {
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
            adam.step(&[gradient], 0.01).unwrap();
        }
        let seen: Vec<f64> = Vec::try_from(weight.detach().to_kind(Kind::Double).view(-1)).unwrap();
        for (seen, wanted) in seen.iter().zip(p) {
            assert!((seen - wanted).abs() < 1e-6, "{seen} {wanted}"); // five steps in f32
        }
    }
}
