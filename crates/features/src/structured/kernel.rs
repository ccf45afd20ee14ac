//! Spherically invariant kernels Λ_f(x, y) = E[f(r·x) f(r·y)], r ~ N(0, I): the function f and the closed form.
//!
//! Paper, §2.1, equation 2 and examples 1 to 3. With θ the angle between x and y:
//!
//! | kernel | f(t) | Λ_f |
//! |---|---|---|
//! | inner product | t | x·y |
//! | step | 1 where t ≥ 0, else 0 | (π − θ)/2π |
//! | sign | 1 where t ≥ 0, else −1 | 1 − 2θ/π |
//! | ReLU | max(t, 0) | ½ k₁ |
//! | arc-cosine b | √2 step(t) tᵇ | k_b = (‖x‖‖y‖)ᵇ J_b(θ)/π (Cho & Saul 2009) |
//! | Gaussian σ | (cos t/σ, sin t/σ) | exp(−‖x − y‖²/2σ²) |
//!
//! J₀ = π − θ, J₁ = sin θ + (π − θ) cos θ, J₂ = 3 sin θ cos θ + (π − θ)(1 + 2 cos²θ). A zero vector has no angle, but f(0) is
//! defined, and so is the expectation: the closed form and the estimate then agree on it.

use std::f64::consts::{PI, SQRT_2};

use landmark_core::parameter::BadParameter;
use serde::{Deserialize, Serialize};

use super::StructuredError;
use super::error::require_length;
use super::named::name_or_map;

/// A kernel that a pointwise function of Gaussian projections estimates. In a configuration a name, or a map with
/// the key `id` and the kernel's own keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "id", rename_all = "snake_case")]
pub enum SphericalKernel {
    /// x·y (Johnson–Lindenstrauss).
    InnerProduct,
    /// (π − θ)/2π.
    Step,
    /// 1 − 2θ/π.
    Sign,
    /// Half the arc-cosine kernel of order 1.
    Relu,
    /// Cho & Saul's k_b.
    ArcCosine {
        /// b: 0, 1 or 2.
        order: u8,
    },
    /// exp(−‖x − y‖²/2σ²); two features a projection.
    Gaussian {
        /// σ > 0, in the units of the items.
        sigma: f64,
    },
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(tag = "id", rename_all = "snake_case", deny_unknown_fields)]
enum Map {
    InnerProduct {},
    Step {},
    Sign {},
    Relu {},
    ArcCosine { order: u8 },
    Gaussian { sigma: f64 },
}

impl From<Map> for SphericalKernel {
    fn from(map: Map) -> Self {
        match map {
            Map::InnerProduct {} => Self::InnerProduct,
            Map::Step {} => Self::Step,
            Map::Sign {} => Self::Sign,
            Map::Relu {} => Self::Relu,
            Map::ArcCosine { order } => Self::ArcCosine { order },
            Map::Gaussian { sigma } => Self::Gaussian { sigma },
        }
    }
}

name_or_map!(SphericalKernel by Map, "the name of a kernel, or a map with the key `id`");

impl Default for SphericalKernel {
    fn default() -> Self {
        Self::Gaussian { sigma: 1.0 }
    }
}

impl SphericalKernel {
    /// Every id, in the order of the documentation.
    pub const IDS: [&'static str; 6] = ["inner_product", "step", "sign", "relu", "arc_cosine", "gaussian"];

    pub fn id(&self) -> &'static str {
        match self {
            Self::InnerProduct => "inner_product",
            Self::Step => "step",
            Self::Sign => "sign",
            Self::Relu => "relu",
            Self::ArcCosine { .. } => "arc_cosine",
            Self::Gaussian { .. } => "gaussian",
        }
    }

    /// Range check of the parameters.
    ///
    /// # Errors
    /// An order above 2, a σ that is not positive and finite.
    pub fn check(self) -> Result<Self, StructuredError> {
        let wrong =
            |parameter, value: String, wanted| Err(BadParameter::new(parameter, value, wanted).of(self.id()).into());
        match self {
            Self::ArcCosine { order } if order > 2 => wrong("order", order.to_string(), "0, 1 or 2"),
            Self::Gaussian { sigma } if !(sigma > 0.0 && sigma.is_finite()) => {
                wrong("sigma", sigma.to_string(), "positive and finite")
            }
            _ => Ok(self),
        }
    }

    /// Features of one projection: 2 for the Gaussian kernel, else 1.
    pub fn features_per_projection(&self) -> usize {
        if matches!(self, Self::Gaussian { .. }) { 2 } else { 1 }
    }

    /// Writes `scale`·f of each projection; the Gaussian kernel's cosines come first, its sines after them.
    pub(super) fn write_features(&self, projections: &[f64], scale: f64, out: &mut [f64]) {
        let pointwise = |out: &mut [f64], f: &dyn Fn(f64) -> f64| {
            out.iter_mut().zip(projections).for_each(|(out, &t)| *out = scale * f(t));
        };
        match *self {
            Self::InnerProduct => out.iter_mut().zip(projections).for_each(|(out, &t)| *out = scale * t),
            Self::Step => {
                out.iter_mut().zip(projections).for_each(|(out, &t)| *out = if t >= 0.0 { scale } else { 0.0 })
            }
            Self::Sign => {
                out.iter_mut().zip(projections).for_each(|(out, &t)| *out = if t >= 0.0 { scale } else { -scale });
            }
            Self::Relu => out.iter_mut().zip(projections).for_each(|(out, &t)| *out = scale * t.max(0.0)),
            Self::ArcCosine { order: 0 } => pointwise(out, &|t| if t >= 0.0 { SQRT_2 } else { 0.0 }),
            Self::ArcCosine { order: 1 } => pointwise(out, &|t| SQRT_2 * t.max(0.0)),
            Self::ArcCosine { .. } => pointwise(out, &|t| SQRT_2 * t.max(0.0) * t),
            Self::Gaussian { sigma } => {
                let (cosines, sines) = out.split_at_mut(projections.len());
                for ((cosine, sine), t) in cosines.iter_mut().zip(sines).zip(projections) {
                    let (s, c) = (t / sigma).sin_cos();
                    (*cosine, *sine) = (scale * c, scale * s);
                }
            }
        }
    }

    /// Λ_f(x, y), exactly.
    pub fn closed_form(&self, x: &[f64], y: &[f64]) -> Result<f64, StructuredError> {
        check_pair(x, y)?;
        Ok(match *self {
            Self::InnerProduct => x.iter().zip(y).map(|(x, y)| x * y).sum(),
            Self::Step => 0.5 * arc_cosine(0, x, y),
            Self::Sign => {
                let zeros = [x, y].iter().filter(|v| norm(v) == 0.0).count();
                // f(0) = 1: E[1 · sign] = 0, E[1 · 1] = 1
                [1.0 - 2.0 * direction_angle(x, y) / PI, 0.0, 1.0][zeros]
            }
            Self::Relu => 0.5 * arc_cosine(1, x, y),
            Self::ArcCosine { order } => arc_cosine(order, x, y),
            Self::Gaussian { sigma } => {
                (-0.5 * x.iter().zip(y).map(|(x, y)| ((x - y) / sigma).powi(2)).sum::<f64>()).exp()
            }
        })
    }
}

/// k_b; for b = 0 a zero vector has step 1 everywhere: k₀ = 1 against any other, 2 against itself.
fn arc_cosine(order: u8, x: &[f64], y: &[f64]) -> f64 {
    let (x_norm, y_norm) = (norm(x), norm(y));
    let zeros = usize::from(x_norm == 0.0) + usize::from(y_norm == 0.0);
    if zeros > 0 {
        return if order > 0 { 0.0 } else { [1.0, 2.0][zeros - 1] };
    }
    arc_cosine_of_angle(order, x_norm * y_norm, direction_angle(x, y))
}

/// (‖x‖‖y‖)ᵇ J_b(θ)/π.
pub(super) fn arc_cosine_of_angle(order: u8, norms: f64, angle: f64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let j = match order {
        0 => PI - angle,
        1 => sine + (PI - angle) * cosine,
        _ => 3.0 * sine * cosine + (PI - angle) * (1.0 + 2.0 * cosine * cosine),
    };
    norms.powi(i32::from(order)) * j / PI
}

/// The angle between two vectors, in [0, π]; accurate near 0 and π, where an arc cosine would lose half the digits.
///
/// θ = 2 atan2(‖u − v‖, ‖u + v‖) of the unit vectors (Kahan 2006).
///
/// # Errors
/// Different lengths, NaN or infinities, a zero vector (its angle is undefined).
pub fn angle(x: &[f64], y: &[f64]) -> Result<f64, StructuredError> {
    check_pair(x, y)?;
    for (which, vector) in [("first", x), ("second", y)] {
        if norm(vector) == 0.0 {
            return Err(StructuredError::ZeroVector { which });
        }
    }
    Ok(direction_angle(x, y))
}

fn direction_angle(x: &[f64], y: &[f64]) -> f64 {
    let (x_unit, y_unit) = (unit(x), unit(y));
    let length = |combined: fn(f64, f64) -> f64| {
        x_unit.iter().zip(&y_unit).map(|(&x, &y)| combined(x, y).powi(2)).sum::<f64>().sqrt()
    };
    2.0 * length(|x, y| x - y).atan2(length(|x, y| x + y))
}

/// x/‖x‖, also of subnormal and of huge numbers; a zero vector is left as it is.
fn unit(x: &[f64]) -> Vec<f64> {
    let largest = x.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 {
        return x.to_vec();
    }
    let scaled: Vec<f64> = x.iter().map(|value| value / largest).collect();
    let length = scaled.iter().map(|value| value * value).sum::<f64>().sqrt();
    scaled.iter().map(|value| value / length).collect()
}

/// ‖x‖ without under- or overflow on the way.
fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 { 0.0 } else { largest * x.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt() }
}

fn check_pair(x: &[f64], y: &[f64]) -> Result<(), StructuredError> {
    require_length("the second vector", y.len(), x.len())?;
    for (row, vector) in [x, y].iter().enumerate() {
        if let Some(column) = vector.iter().position(|value| !value.is_finite()) {
            return Err(StructuredError::NotFinite { row, column, value: vector[column] });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_of_a_zero_vector_is_undefined_but_its_kernels_are_the_expectations() {
        let (zero, other) = ([0.0, 0.0], [3.0, -4.0]);
        assert_eq!(
            angle(&other, &zero).unwrap_err().to_string(),
            "the second vector is zero, so the angle is undefined; leave it out"
        );
        let value = |kernel: SphericalKernel, x: &[f64], y: &[f64]| kernel.closed_form(x, y).unwrap();
        assert_eq!(value(SphericalKernel::Step, &zero, &other), 0.5);
        assert_eq!(value(SphericalKernel::Step, &zero, &zero), 1.0);
        assert_eq!(value(SphericalKernel::Sign, &zero, &other), 0.0);
        assert_eq!(value(SphericalKernel::Sign, &zero, &zero), 1.0);
        assert_eq!(value(SphericalKernel::ArcCosine { order: 2 }, &zero, &other), 0.0);
        assert_eq!(value(SphericalKernel::Relu, &zero, &zero), 0.0);
        assert_eq!(value(SphericalKernel::Gaussian { sigma: 1.0 }, &zero, &zero), 1.0);
    }

    #[test]
    fn an_angle_is_the_same_at_every_scale_and_exact_near_zero_and_pi() {
        let (x, y) = ([1.0, 2.0, -0.5], [0.25, -1.0, 4.0]);
        let expected = angle(&x, &y).unwrap();
        for scale in [5e-324_f64, 1e-310, 1e-200, 1e200, 1e307] {
            let scaled: Vec<f64> = [4.0, 8.0, -2.0].iter().map(|value| value * scale).collect();
            let ours = angle(&scaled, &y).unwrap();
            // whole multiples of any number keep their direction; three roundings of unit vectors
            assert!((ours - expected).abs() < 1e-15, "{scale}: {ours} against {expected}");
        }
        assert_eq!(angle(&x, &x).unwrap(), 0.0);
        assert_eq!(angle(&x, &x.map(|value| -value)).unwrap(), PI);
        // the sine of a small angle is the angle to third order
        assert!((angle(&[1.0, 0.0], &[1.0, 1e-9]).unwrap() - 1e-9).abs() < 1e-24);
    }

    #[test]
    fn parameters_and_vectors_out_of_range_are_refused() {
        let message = |kernel: SphericalKernel| kernel.check().unwrap_err().to_string();
        assert_eq!(
            message(SphericalKernel::ArcCosine { order: 3 }),
            "`arc_cosine`: `order` is 3, but must be 0, 1 or 2"
        );
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(SphericalKernel::Gaussian { sigma }).ends_with("must be positive and finite"));
        }
        let nan = SphericalKernel::Relu.closed_form(&[1.0, 2.0], &[1.0, f64::NAN]);
        assert!(matches!(nan, Err(StructuredError::NotFinite { row: 1, column: 1, .. })));
        let short = SphericalKernel::Relu.closed_form(&[1.0, 2.0], &[1.0]);
        assert_eq!(short.unwrap_err().to_string(), "the second vector has length 1, but must have 2");
    }
}
