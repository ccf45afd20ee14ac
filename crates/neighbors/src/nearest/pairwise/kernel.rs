//! Kernels of the items of a Gaussian process over pairs: of the vectors of a proxy, and of the rows of the current estimate.
//!
//! ```text
//! KE_iz = cos(e_i − ē, e_z − ē) + 0.1          vectors e of a proxy, the mean over several; exp(P_iz / mean P_zz − 1) of a proxy without vectors
//! KC_iz = exp(3 (cos(F_i, F_z) − 1))           F: known scores and estimates at some reference items, less the means of columns
//! ```
//! for z among r ≤ 512 items. Both are Nyström's: Φ = k (k_ZZ)^(−½), of which the 256 leading directions of k_ZZ are kept.

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

use landmark_core::linalg::{self, Eigh, LinalgError};
use landmark_core::oracle::{Oracle, OracleError, ask_block, block_of};

/// Items that a kernel is known by.
const NODES: usize = 512;

/// Directions of them that are kept.
const DIRECTIONS: usize = 256;

/// Added to the cosine of vectors, so that all residuals may share a mean.
const SHARED: f32 = 0.1;

/// Sharpness of the kernel of rows.
const SHARPNESS: f32 = 3.0;

/// Jitter on k_ZZ, in parts of its mean diagonal.
const JITTER: f64 = 1e-5;

/// The least eigenvalue of k_ZZ, in parts of the greatest.
const FLOOR: f64 = 1e-7;

/// Rows of a block of a proxy.
const BLOCK: usize = 1024;

/// Number of items that the kernels of n items are known by.
pub(super) fn nodes(n: usize) -> usize {
    n.min(NODES)
}

/// KE of a proxy, n × r.
pub(super) fn of_proxy(proxy: &dyn Oracle, nodes: &[usize]) -> Result<Array2<f32>, OracleError> {
    match proxy.features() {
        Some(features) => Ok(of_features(features.view(), nodes)),
        None => of_similarity(proxy, nodes),
    }
}

fn of_features(vectors: ArrayView2<'_, f64>, nodes: &[usize]) -> Array2<f32> {
    let mean = vectors.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(vectors.ncols()));
    let mut centered = Array2::<f32>::zeros(vectors.dim());
    centered.axis_iter_mut(Axis(0)).into_par_iter().zip(vectors.axis_iter(Axis(0)).into_par_iter()).for_each(
        |(mut out, row)| {
            let row = &row - &mean;
            let norm = row.dot(&row).sqrt();
            if norm > 0.0 && norm.is_finite() {
                out.zip_mut_with(&row, |out, value| *out = (value / norm) as f32);
            }
        },
    );
    let own = centered.select(Axis(0), nodes);
    linalg::single_product(centered.view(), own.t()) + SHARED
}

fn of_similarity(proxy: &dyn Oracle, nodes: &[usize]) -> Result<Array2<f32>, OracleError> {
    let among = block_of(proxy, nodes, nodes)?;
    let mean = among.diag().mean().unwrap_or(0.0);
    let scale = if mean > 0.0 { mean } else { 1.0 };
    // a similarity far above its own diagonal is no kernel, and its exponential must stay a number
    columns_of(proxy, nodes, |value| (value / scale - 1.0).clamp(-30.0, 3.0).exp() as f32)
}

/// A function of the scores of all items with some, n × their number.
pub(super) fn columns_of(
    proxy: &dyn Oracle,
    others: &[usize],
    of: impl Fn(f64) -> f32,
) -> Result<Array2<f32>, OracleError> {
    let items: Vec<usize> = (0..proxy.len()).collect();
    let mut columns = Array2::zeros((items.len(), others.len()));
    for rows in items.chunks(BLOCK) {
        let mut block = Array2::zeros((rows.len(), others.len()));
        ask_block(proxy, rows, others, block.view_mut())?;
        let mut out = columns.slice_mut(ndarray::s![rows[0]..rows[0] + rows.len(), ..]);
        out.zip_mut_with(&block, |out, &value| *out = of(value));
    }
    Ok(columns)
}

/// The kernel where nothing is known of the items: ½, and 1 of an item with itself.
pub(super) fn of_nothing(n: usize, nodes: &[usize]) -> Array2<f32> {
    let mut kernel = Array2::from_elem((n, nodes.len()), 0.5);
    nodes.iter().enumerate().for_each(|(place, &item)| kernel[[item, place]] = 1.0);
    kernel
}

/// KC of the estimates F at the reference items, n × T, which is overwritten.
pub(super) fn of_rows(mut estimates: Array2<f32>, references: &[usize], nodes: &[usize]) -> Array2<f32> {
    let n = estimates.nrows();
    // the score of an item with itself is no estimate
    let means: Vec<f32> = (references.iter().enumerate())
        .map(|(place, &own)| {
            let others = estimates.column(place).into_iter().enumerate().filter(|&(item, _)| item != own);
            // sums of many in double precision
            let sum: f64 = others.map(|(_, &value)| f64::from(value)).sum();
            (sum / n.saturating_sub(1).max(1) as f64) as f32
        })
        .collect();
    references.iter().enumerate().for_each(|(place, &own)| estimates[[own, place]] = means[place]);
    let means = Array1::from_vec(means);
    estimates.axis_iter_mut(Axis(0)).into_par_iter().for_each(|mut row| {
        row -= &means;
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 && norm.is_finite() {
            row /= norm;
        } else {
            row.fill(0.0);
        }
    });
    let own = estimates.select(Axis(0), nodes);
    let mut kernel = linalg::single_product(estimates.view(), own.t());
    kernel.par_mapv_inplace(|cosine| (SHARPNESS * (cosine - 1.0)).exp());
    kernel
}

/// The mean of two kernels, or the one that is there.
pub(super) fn mixed(
    of_proxy: Option<&Arc<Array2<f32>>>,
    of_rows: Option<&Arc<Array2<f32>>>,
    nothing: impl Fn() -> Array2<f32>,
) -> Arc<Array2<f32>> {
    match (of_proxy, of_rows) {
        (Some(one), Some(other)) => {
            let mut mean = one.as_ref().clone();
            mean.zip_mut_with(other, |mean, value| *mean = (*mean + value) / 2.0);
            Arc::new(mean)
        }
        (Some(one), None) | (None, Some(one)) => Arc::clone(one),
        (None, None) => Arc::new(nothing()),
    }
}

/// Φ = k (k_ZZ + jitter)^(−½), n × 256 at most.
///
/// # Errors
/// Eigenvalues of r × r that can't be had.
pub(super) fn features(kernel: &Array2<f32>, nodes: &[usize]) -> Result<Array2<f32>, LinalgError> {
    let rows = kernel.select(Axis(0), nodes).mapv(f64::from);
    let mut among = (&rows + &rows.t()) / 2.0;
    let jitter = JITTER * among.diag().mean().unwrap_or(0.0);
    among.diag_mut().map_inplace(|value| *value += jitter);
    let Eigh { values, vectors } = linalg::eigh_largest(among.view(), DIRECTIONS.min(nodes.len()))?;
    let greatest = values.iter().fold(0.0_f64, |greatest, &value| greatest.max(value));
    let floor = (FLOOR * greatest).max(f64::MIN_POSITIVE);
    // turned by the eigenvectors, which changes no inner product
    let root = vectors * &values.mapv(|value| value.max(floor).sqrt().recip());
    Ok(linalg::single_product(kernel.view(), root.mapv(|value| value as f32).view()))
}
