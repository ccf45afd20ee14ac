//! Recursive arc-cosine kernels: the features of one layer are the items of the next (paper, §2.1, example 3; Cho & Saul 2009,
//! §2.3). k⁽¹⁾ = k_b(x, y); k⁽ˡ⁺¹⁾(x, y) = (k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y))^{b/2} J_b(θ⁽ˡ⁾)/π with cos θ⁽ˡ⁾ = k⁽ˡ⁾(x, y)/√(k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y)).
//!
//! One layer is unbiased; deeper ones are consistent: the bias of layer l + 1 falls with the features of layer l.

use ndarray::{Array2, ArrayView2};

use super::error::require_some;
use super::kernel::arc_cosine_of_angle;
use super::transforms::FftPlans;
use super::{Family, SphericalKernel, StructuredError, StructuredFeatures, StructuredFeaturesParams};

/// Layers of structured arc-cosine features.
#[derive(Debug, Clone)]
pub struct LayeredFeatures {
    layers: Vec<StructuredFeatures>,
}

impl LayeredFeatures {
    /// One layer an (order, features), each with random numbers of its own.
    ///
    /// # Errors
    /// No layer, or what [`StructuredFeaturesParams`] refuses.
    pub fn draw(
        layers: &[(u8, usize)],
        family: Family,
        cols: usize,
        seed: u64,
        replicate: u64,
    ) -> Result<Self, StructuredError> {
        require_some("the number of layers", layers.len())?;
        let (mut plans, mut cols, mut drawn) = (FftPlans::new(), cols, Vec::new());
        for (number, &(order, features)) in layers.iter().enumerate() {
            let params = StructuredFeaturesParams {
                kernel: SphericalKernel::ArcCosine { order },
                family,
                features,
                preprocess: true,
                seed,
                // layers of one replicate are as independent as replicates are
                replicate: replicate.wrapping_mul(layers.len() as u64).wrapping_add(number as u64),
            };
            let layer = params.check()?.draw_with(cols, &mut plans)?;
            cols = layer.feature_count();
            drawn.push(layer);
        }
        Ok(Self { layers: drawn })
    }

    /// Features of the last layer: r × its number of features.
    ///
    /// # Errors
    /// Items of another length, NaN or infinities.
    pub fn features(&self, items: ArrayView2<'_, f64>) -> Result<Array2<f64>, StructuredError> {
        let mut features = items.to_owned();
        for layer in &self.layers {
            features = layer.features(features.view())?;
        }
        Ok(features)
    }
}

/// The composed kernel k⁽ᴸ⁾(x, y) of the orders of its layers, first layer first.
///
/// # Errors
/// No layer, an order above 2, vectors of different lengths, NaN or infinities.
pub fn arc_cosine_composition(orders: &[u8], x: &[f64], y: &[f64]) -> Result<f64, StructuredError> {
    let Some((&first, deeper)) = orders.split_first() else {
        return Err(StructuredError::Empty { what: "the number of layers" });
    };
    let kernel = SphericalKernel::ArcCosine { order: first }.check()?;
    let (mut xx, mut yy) = (kernel.closed_form(x, x)?, kernel.closed_form(y, y)?);
    let mut xy = kernel.closed_form(x, y)?;
    for &order in deeper {
        SphericalKernel::ArcCosine { order }.check()?;
        let composed = |norms: f64, cosine: f64| arc_cosine_of_angle(order, norms, cosine.clamp(-1.0, 1.0).acos());
        let norms = (xx * yy).sqrt();
        // a zero vector stays zero for b ≥ 1, and a layer of order 0 has no zero image
        xy = if norms > 0.0 { composed(norms, xy / norms) } else { zero_image(order, xx, yy) };
        xx = if xx > 0.0 { composed(xx, 1.0) } else { zero_image(order, xx, xx) };
        yy = if yy > 0.0 { composed(yy, 1.0) } else { zero_image(order, yy, yy) };
    }
    Ok(xy)
}

/// k_b where at least one of the vectors is zero.
fn zero_image(order: u8, xx: f64, yy: f64) -> f64 {
    match (order, xx > 0.0 || yy > 0.0) {
        (0, true) => 1.0,
        (0, false) => 2.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn one_layer_is_the_arc_cosine_kernel_and_norms_follow_the_recursion() {
        let (x, y) = ([1.0, 2.0, 0.5], [0.5, -1.0, 2.0]);
        for order in 0..3 {
            let single = SphericalKernel::ArcCosine { order }.closed_form(&x, &y).unwrap();
            assert_eq!(arc_cosine_composition(&[order], &x, &y).unwrap(), single);
        }
        // k₁(x, x) = ‖x‖² at every depth
        let norm = arc_cosine_composition(&[1, 1, 1, 1], &x, &x).unwrap();
        assert!((norm - 5.25).abs() < 1e-7, "an arc cosine of 1 − 1e-16 is 1e-8: {norm}");
        assert_eq!(arc_cosine_composition(&[1, 1], &x, &[0.0; 3]).unwrap(), 0.0);
    }

    #[test]
    fn two_structured_layers_come_near_the_composed_kernel() {
        let items = array![[1.0, 2.0, 0.5, 0.0], [0.5, -1.0, 2.0, 1.0]];
        let exact = arc_cosine_composition(&[1, 1], &items.row(0).to_vec(), &items.row(1).to_vec()).unwrap();
        let replicates = 60;
        let estimates: Vec<f64> = (0..replicates)
            .map(|replicate| {
                let layers = LayeredFeatures::draw(&[(1, 512), (1, 512)], Family::Toeplitz, 4, 1, replicate).unwrap();
                let features = layers.features(items.view()).unwrap();
                features.row(0).dot(&features.row(1))
            })
            .collect();
        let mean = estimates.iter().sum::<f64>() / replicates as f64;
        let variance = estimates.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (replicates - 1) as f64;
        // 4.9 standard errors (one in a million) and a bias below one feature's share, 1/512 of ‖x‖‖y‖ ≈ 5.8
        let error = (mean - exact).abs();
        assert!(error < 4.9 * (variance / replicates as f64).sqrt() + 5.8 / 512.0, "{mean} against {exact}");
    }

    #[test]
    fn no_layer_is_refused() {
        assert!(LayeredFeatures::draw(&[], Family::Circulant, 4, 0, 0).is_err());
        assert!(arc_cosine_composition(&[], &[1.0], &[1.0]).is_err());
        assert!(arc_cosine_composition(&[1, 3], &[1.0], &[1.0]).is_err());
    }
}
