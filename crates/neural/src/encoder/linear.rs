//! Matrix products of a layer: in f32, in bfloat16 or in int8.

use std::ops::Range;

use landmark_oracles::neural::Precision;
use tch::{Kind, Tensor};

use super::{ModelError, Weights};

/// A matrix and the vector added to its product.
///
/// In int8 (dynamic quantization after training; Zafrir et al. 2019, Q8BERT) each row w of the matrix is `scale(w) · q`, q whole and
/// between −127 and 127, and so is each token's row of x as it comes: products and sums are exact, and a token's result does not
/// depend on the others of its batch.
#[derive(Debug)]
pub(super) struct Linear {
    /// Outputs × inputs; int8 once it is rounded to that.
    pub(super) weight: Tensor,
    pub(super) bias: Tensor,
    /// Scale of each row of `weight`; absent where that is not int8.
    scales: Option<Tensor>,
}

/// The largest |q|; −128 is left out, so that both signs reach as far.
const LARGEST: f64 = 127.0;
const SMALLEST: f64 = 1e-30;

impl Linear {
    pub(super) fn new(weight: Tensor, bias: Tensor) -> Self {
        Self { weight, bias, scales: None }
    }

    pub(super) fn read(weights: &Weights, name: &str, shape: [i64; 2]) -> Result<Self, ModelError> {
        let weight = weights.get(&format!("{name}.weight"), &shape)?;
        Ok(Self::new(weight, weights.get(&format!("{name}.bias"), &shape[..1])?))
    }

    /// x Wᵀ + b in the kind of x.
    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor, ModelError> {
        if let Some(scales) = &self.scales {
            return self.apply_int8(x, scales);
        }
        let kind = x.kind();
        Ok(x.f_linear(&self.weight.f_to_kind(kind)?, Some(&self.bias.f_to_kind(kind)?))?)
    }

    /// The same with x quantized row by row.
    fn apply_int8(&self, x: &Tensor, scales: &Tensor) -> Result<Tensor, ModelError> {
        let mut shape = x.size();
        let inputs = shape.pop().unwrap_or(0);
        shape.extend(self.bias.size());
        let (rows, of_rows) = quantized(&x.f_reshape([-1, inputs])?)?;
        let products =
            rows.f_internal_int_mm(&self.weight.f_transpose(0, 1)?)?.f_to_kind(Kind::Float)?.f_mul_(&of_rows)?;
        Ok(self.bias.f_addcmul(&products, scales)?.f_view(&shape[..])?)
    }

    /// Some of its outputs alone; nothing is copied.
    pub(super) fn part(&self, outputs: Range<i64>) -> Result<Self, ModelError> {
        let cut = |tensor: &Tensor| tensor.f_narrow(0, outputs.start, outputs.end - outputs.start);
        Ok(Self {
            weight: cut(&self.weight)?,
            bias: cut(&self.bias)?,
            scales: self.scales.as_ref().map(cut).transpose()?,
        })
    }

    pub(super) fn shared(&self) -> Self {
        Self {
            weight: self.weight.shallow_clone(),
            bias: self.bias.shallow_clone(),
            scales: self.scales.as_ref().map(Tensor::shallow_clone),
        }
    }

    /// Rounds the matrix once and for all; it can't be trained after.
    pub(super) fn round(&mut self, precision: Precision) -> Result<(), ModelError> {
        if precision == Precision::Int8 {
            let (weight, scales) = quantized(&self.weight)?;
            (self.weight, self.scales) = (weight, Some(scales.f_squeeze_dim(1)?));
        } else {
            self.weight = self.weight.f_to_kind(kind(precision))?;
            self.bias = self.bias.f_to_kind(kind(precision))?;
        }
        Ok(())
    }

    pub(super) fn visit<'a>(&'a mut self, name: &str, visit: &mut dyn FnMut(String, &'a mut Tensor)) {
        visit(format!("{name}.weight"), &mut self.weight);
        visit(format!("{name}.bias"), &mut self.bias);
    }
}

/// The kind of hidden states: those between products in int8 are in f32.
pub(super) fn kind(precision: Precision) -> Kind {
    match precision {
        Precision::F32 | Precision::Int8 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    }
}

/// A matrix in int8, row by row, and the scale of each row: rows × 1.
fn quantized(matrix: &Tensor) -> Result<(Tensor, Tensor), ModelError> {
    let scales = matrix.f_abs()?.f_amax([1], true)?.f_div_scalar_(LARGEST)?.f_clamp_min_(SMALLEST)?;
    Ok((matrix.f_div(&scales)?.f_round_()?.f_to_kind(Kind::Int8)?, scales))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(values: &[f32], rows: i64) -> Tensor {
        Tensor::from_slice(values).view([rows, -1])
    }

    fn values(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.reshape(-1)).unwrap()
    }

    #[test]
    fn whole_numbers_times_their_scales_are_the_row_to_half_a_scale() {
        let rows = [0.3_f32, -1.27, 0.0, 0.011, 0.0, 0.0, 0.0, 0.0, 5e-9, 1e-9, -3e-9, 2e-9];
        let (whole, scales) = quantized(&matrix(&rows, 3)).unwrap();
        let scales_of = values(&scales);
        let back = values(&(whole.to_kind(Kind::Float) * &scales));
        for (k, (x, y)) in rows.iter().zip(back).enumerate() {
            assert!((x - y).abs() <= 0.5001 * scales_of[k / 4], "{x} {y}");
        }
        assert_eq!(values(&whole.to_kind(Kind::Float))[1], -127.0);
    }

    #[test]
    fn a_product_in_whole_numbers_is_near_that_in_f32_and_its_rows_know_nothing_of_each_other() {
        let numbers = |count: i64, step: f64| (Tensor::arange(count, (Kind::Double, tch::Device::Cpu)) * step).sin();
        let float = |tensor: Tensor| tensor.to_kind(Kind::Float);
        let (weight, bias) = (float(numbers(24 * 40, 0.7)).view([24, 40]), float(numbers(24, 1.1)));
        let x = float(numbers(2 * 3 * 40, 0.37)).view([2, 3, 40]);
        let exact = Linear::new(weight.shallow_clone(), bias.shallow_clone());
        let mut rounded = Linear::new(weight, bias);
        rounded.round(Precision::Int8).unwrap();
        let (wanted, seen) = (exact.apply(&x).unwrap(), rounded.apply(&x).unwrap());
        assert_eq!(seen.size(), [2, 3, 24]);
        // 40 terms, each off by up to half a scale of either factor
        let off = (&wanted - &seen).abs().max();
        assert!(f64::try_from(&off).unwrap() < 0.1, "{off:?}");
        assert_ne!(values(&wanted), values(&seen));
        let alone = rounded.apply(&x.narrow(0, 1, 1)).unwrap();
        assert_eq!(values(&alone), values(&seen.narrow(0, 1, 1)));
        let part = rounded.part(8..16).unwrap().apply(&x).unwrap();
        assert_eq!(values(&part), values(&seen.narrow(2, 8, 8)));
    }
}
