//! Hubness and link: how an item's score with any query depends on the proxy and on how well both score with everybody.
//!
//! ```text
//! h_i = mean over anchors of (C_ia − mean of column a) / sd(h)      h_a = (mean of column a − mean of all) / its own sd
//! link(p, h_i, h_q) = t₀ + t₁ p + t₂ p² + t₃ h_i + t₄ h_q + t₅ h_i h_q
//! ```
//! fitted by least squares on all of C, an item's hubness taken without the column that is predicted. A pairwise proxy cannot see hubness, and it
//! costs no call. Ridge 1e-4 a pair on all but the constant. Cost: O(36 n·a).

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, aview1};
use serde::{Deserialize, Serialize};

use landmark_core::balance::{balancing, largest};
use landmark_core::linalg::RidgeRegression;

use super::SearchError;

/// Ridge on every coefficient but the constant, times the number of pairs.
const RIDGE: f64 = 1e-4;

/// A pivot below this fraction of its diagonal entry leaves no digit of it.
const SINGULAR: f64 = 1e-13;

/// Number of terms.
const TERMS: usize = 6;

/// A fitted link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HubnessLink {
    /// t₀ … t₅.
    pub coefficients: [f64; TERMS],
    /// Mean of the proxy's scores, subtracted before the link reads one.
    pub mean: f64,
    /// Their deviation, divided by; 1 for a constant proxy.
    pub deviation: f64,
}

/// Hubness of the items and of the anchors.
pub(super) struct Hubness {
    /// h of the items, length n.
    pub items: Array1<f64>,
    /// The same without the column of an anchor, n × a.
    without: Array2<f64>,
    /// h of the anchors, length a.
    pub anchors: Array1<f64>,
}

impl Hubness {
    /// Hubness in the scores of n items with a anchors.
    pub(super) fn of(scores: ArrayView2<'_, f64>) -> Self {
        let count = scores.ncols() as f64;
        let means = scores.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(scores.ncols()));
        let centred = &scores - &means;
        let sums = centred.sum_axis(Axis(1));
        let scale = unless_zero(deviation(sums.view()) / count);
        // of one anchor nothing is left without it
        let without = (&sums.view().insert_axis(Axis(1)) - &centred) / ((count - 1.0).max(1.0) * scale);
        let spread = &means - means.mean().unwrap_or(0.0);
        let anchors = &spread / unless_zero(deviation(spread.view()));
        Self { items: sums / (count * scale), without, anchors }
    }
}

impl HubnessLink {
    /// Fits the link to all of C; `proxy` (n × a) is left out where there is none. Returns it with what it leaves over, C − link.
    pub(super) fn fit(
        scores: ArrayView2<'_, f64>,
        proxy: Option<ArrayView2<'_, f64>>,
        hubness: &Hubness,
    ) -> Result<(Self, Array2<f64>), SearchError> {
        let (mean, deviation) = match proxy {
            Some(proxy) => {
                let mean = proxy.mean().unwrap_or(0.0);
                let unit = balancing(largest(proxy));
                let squares: f64 = proxy.iter().map(|p| (unit * p - unit * mean) * (unit * p - unit * mean)).sum();
                (mean, unless_zero((squares / proxy.len() as f64).sqrt() / unit))
            }
            None => (0.0, 1.0),
        };
        let mut link = Self { coefficients: [0.0; TERMS], mean, deviation };
        let terms = |link: &Self, i: usize, a: usize| {
            let p = proxy.map_or(mean, |proxy| proxy[[i, a]]);
            link.terms(p, hubness.without[[i, a]], hubness.anchors[a])
        };
        let mut regression = RidgeRegression::new(TERMS);
        for ((i, a), &score) in scores.indexed_iter() {
            regression.add(&terms(&link, i, a), score);
        }
        // the ridge makes it positive definite, the constant alone is a count: without a solution something is not finite
        let no_solution = |source| SearchError::NoSolution { what: "the link of the index to its anchors", source };
        let solved = regression.solve(RIDGE * scores.len() as f64, SINGULAR).map_err(no_solution)?;
        link.coefficients.copy_from_slice(&solved);
        let fitted = |(i, a)| terms(&link, i, a).iter().zip(&link.coefficients).map(|(term, t)| term * t).sum::<f64>();
        let residual = Array2::from_shape_fn(scores.dim(), |place| scores[place] - fitted(place));
        Ok((link, residual))
    }

    /// Scores of a query of middling hubness (h_q = 0) with all items; without a proxy their hubness alone.
    pub(super) fn prior(&self, proxy: Option<&[f64]>, hubness: ArrayView1<'_, f64>) -> Array1<f64> {
        let at = |(item, &h): (usize, &f64)| {
            let terms = self.terms(proxy.map_or(self.mean, |proxy| proxy[item]), h, 0.0);
            aview1(&terms).dot(&aview1(&self.coefficients))
        };
        hubness.iter().enumerate().map(at).collect()
    }

    fn terms(&self, proxy: f64, item: f64, query: f64) -> [f64; TERMS] {
        let p = (proxy - self.mean) / self.deviation;
        [1.0, p, p * p, item, query, item * query]
    }
}

fn deviation(values: ArrayView1<'_, f64>) -> f64 {
    let unit = balancing(largest(values));
    let mean = unit * values.mean().unwrap_or(0.0);
    let squares: f64 = values.iter().map(|value| (unit * value - mean) * (unit * value - mean)).sum();
    (squares / values.len().max(1) as f64).sqrt() / unit
}

fn unless_zero(scale: f64) -> f64 {
    if scale > 0.0 { scale } else { 1.0 }
}
