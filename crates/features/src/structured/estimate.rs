//! Λ_f for any number of vectors, with f, β and Ψ of the user (paper, §2.1, equation 1, and §2.3, equation 12):
//! Λ_f(v₁ … v_k) = E[Ψ(s₁ … s_m)], sᵢ = β(f(rᵢ·v₁) … f(rᵢ·v_k)), rᵢ ~ N(0, I).

use ndarray::ArrayView2;

use super::StructuredError;
use super::error::require_some;

/// Ψ(s₁ … s_m) from the projections of the vectors (k × m, row j = (r₁·vⱼ … r_m·vⱼ)).
///
/// The kernels of this module are f(t), β(a, b) = ab and Ψ = mean. Cost: km calls of f, m of β, one of Ψ.
///
/// ```
/// use landmark_features::structured::{SphericalKernel, StructuredFeaturesParams};
/// use ndarray::array;
///
/// // how often three vectors lie on one side of a random hyperplane: 1 − (θ₁₂ + θ₂₃ + θ₁₃)/2π = ¼ for orthogonal ones
/// let params = StructuredFeaturesParams { kernel: SphericalKernel::Step, features: 4096, ..Default::default() };
/// let map = params.check()?.draw(3)?;
/// let same_side = map.estimate_multivariate(
///     array![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]].view(),
///     |t| if t >= 0.0 { 1.0 } else { 0.0 },
///     |signs| if signs.iter().all(|&sign| sign == signs[0]) { 1.0 } else { 0.0 },
///     |values| values.iter().sum::<f64>() / values.len() as f64,
/// )?;
/// assert!((same_side - 0.25).abs() < 0.05);
/// # Ok::<(), landmark_features::structured::StructuredError>(())
/// ```
///
/// # Errors
/// No vector or no projection.
pub fn multivariate(
    projections: ArrayView2<'_, f64>,
    f: impl Fn(f64) -> f64,
    beta: impl Fn(&[f64]) -> f64,
    psi: impl Fn(&[f64]) -> f64,
) -> Result<f64, StructuredError> {
    require_some("the number of vectors", projections.nrows())?;
    require_some("the number of projections", projections.ncols())?;
    let mut values = vec![0.0; projections.nrows()];
    let combined: Vec<f64> = projections
        .columns()
        .into_iter()
        .map(|column| {
            values.iter_mut().zip(column).for_each(|(value, &t)| *value = f(t));
            beta(&values)
        })
        .collect();
    Ok(psi(&combined))
}
