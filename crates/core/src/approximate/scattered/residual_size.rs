//! v(i, j), the predicted √|K − m|: from the prediction itself, the proxies, and how large the residuals of both items are.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::ridge::{Linear, Moments};
use super::table::{Chunk, Table};
use crate::approximate::ApproximateError;
use crate::oracle::{Oracle, OracleError, ask_pairs};

/// Rows that the mean square of all counts as in the mean square of an item.
const PRIOR: f64 = 5.0;

/// Features without a proxy, and those that each proxy adds.
const OWN: usize = 8;
const PER_PROXY: usize = 4;

/// σ of every item, and v's regression.
#[derive(Debug, Clone)]
pub(crate) struct ResidualSize {
    /// σ_i.
    sigma: Vec<f64>,
    /// √(σ_i / √√g): √τ is a product of two of them.
    roots: Vec<f64>,
    scale: f64,
    linear: Linear,
}

/// √g, or 1 where nothing is missed: τ = σ_i σ_j / √g is 0 then whatever it is divided by.
fn scale_of(mean_square: f64) -> f64 {
    if mean_square > 0.0 { mean_square.sqrt() } else { 1.0 }
}

/// Squares of residuals and rows, by item and over all.
struct Squares {
    sums: Vec<f64>,
    counts: Vec<f64>,
    mean: f64,
}

impl Squares {
    fn of(n: usize, table: &Table) -> Self {
        let (mut sums, mut counts, mut total) = (vec![0.0; n], vec![0.0; n], 0.0);
        for chunk in table.chunks() {
            for ((i, j), residual) in chunk.pairs().into_iter().zip(chunk.residuals()) {
                let square = residual * residual;
                for item in [i, j] {
                    sums[item] += square;
                    counts[item] += 1.0;
                }
                total += square;
            }
        }
        Self { sums, counts, mean: total / (table.len() as f64).max(1.0) }
    }

    /// σ of an item; without one of its rows where that row is trained on.
    fn sigma(&self, item: usize, without: Option<f64>) -> f64 {
        let (sum, count) = match without {
            Some(residual) => (self.sums[item] - residual * residual, self.counts[item] - 1.0),
            None => (self.sums[item], self.counts[item]),
        };
        ((sum.max(0.0) + PRIOR * self.mean) / (count + PRIOR)).sqrt()
    }
}

impl ResidualSize {
    /// Learned from residuals of predictions that had not seen their pair.
    pub(crate) fn fit(n: usize, table: &Table, proxies: &[Arc<dyn Oracle>]) -> Result<Self, ApproximateError> {
        let squares = Squares::of(n, table);
        let scale = scale_of(squares.mean);
        let moments: Vec<Result<Moments, OracleError>> = table
            .chunks()
            .par_iter()
            .map(|chunk| Ok(Moments::of(design(chunk, &squares, scale, proxies)?.view())))
            .collect();
        let width = OWN + PER_PROXY * proxies.len() + 1;
        let mut all = Moments::of(Array2::zeros((0, width)).view());
        for part in moments {
            all = all.join(part?);
        }
        let sigma: Vec<f64> = (0..n).map(|item| squares.sigma(item, None)).collect();
        let roots = sigma.iter().map(|sigma| (sigma / scale.sqrt()).sqrt()).collect();
        Ok(Self { sigma, roots, scale, linear: all.regress()? })
    }

    /// v of the rows it was learned from, each without its own residual in the σ of its items.
    pub(crate) fn of_rows(&self, table: &Table, proxies: &[Arc<dyn Oracle>]) -> Result<Vec<f64>, OracleError> {
        let squares = Squares::of(self.sigma.len(), table);
        let sizes = |chunk: &Chunk<'_>| -> Result<Vec<f64>, OracleError> {
            let rows = design(chunk, &squares, self.scale, proxies)?;
            let features = rows.slice(s![.., ..-1]);
            Ok(features.rows().into_iter().map(|row| self.linear.at(&row.to_vec())).collect())
        };
        let parts: Vec<Result<Vec<f64>, OracleError>> = table.chunks().par_iter().map(sizes).collect();
        Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// σ of an item.
    #[cfg(test)]
    pub(crate) fn sigma(&self, item: usize) -> f64 {
        self.sigma[item]
    }

    /// v over a block: `sizes` holds m and becomes v; `proxies` are blocks of the same cells.
    pub(crate) fn block(
        &self,
        rows: &[usize],
        cols: &[usize],
        proxies: &[ArrayView2<'_, f64>],
        mut sizes: Array2<f64>,
    ) -> Array2<f64> {
        for ((a, &i), mut line) in rows.iter().enumerate().zip(sizes.rows_mut()) {
            for ((b, &j), cell) in cols.iter().enumerate().zip(&mut line) {
                *cell = self.at(i, j, *cell, proxies.iter().map(|proxy| proxy[[a, b]]));
            }
        }
        sizes
    }

    /// v at one pair.
    pub(crate) fn at(&self, i: usize, j: usize, m: f64, proxies: impl Iterator<Item = f64>) -> f64 {
        let tau = self.sigma[i] * self.sigma[j] / self.scale;
        let root = self.roots[i] * self.roots[j];
        let w = &self.linear.weights;
        let own = m * (w[0] + m * (w[1] + m * w[2]))
            + w[3] * (self.sigma[i] + self.sigma[j])
            + tau * (w[4] + m * (w[5] + m * w[6]))
            + w[7] * root;
        let of_proxies = proxies.zip(w[OWN..].chunks_exact(PER_PROXY));
        let added = of_proxies.map(|(p, w)| p * (w[0] + p * w[1] + m * w[2] + tau * w[3])).sum::<f64>();
        self.linear.constant + own + added
    }
}

/// Features of some rows, and √|res| in the last column; a row is left out of the σ of its own items.
fn design(
    chunk: &Chunk<'_>,
    squares: &Squares,
    scale: f64,
    proxies: &[Arc<dyn Oracle>],
) -> Result<Array2<f64>, OracleError> {
    let pairs = chunk.pairs();
    let mut rows = Array2::zeros((pairs.len(), OWN + PER_PROXY * proxies.len() + 1));
    let last = rows.ncols() - 1;
    let mut taus = Vec::with_capacity(pairs.len());
    let of_pairs = pairs.iter().zip(chunk.predicted).zip(chunk.residuals());
    for ((((i, j), &m), residual), mut row) in of_pairs.zip(rows.rows_mut()) {
        let (one, other) = (squares.sigma(*i, Some(residual)), squares.sigma(*j, Some(residual)));
        let tau = one * other / scale;
        let own = [m, m * m, m * m * m, one + other, tau, tau * m, tau * m * m, tau.sqrt()];
        row.iter_mut().zip(own).for_each(|(cell, feature)| *cell = feature);
        row[last] = residual.abs().sqrt();
        taus.push(tau);
    }
    for (k, proxy) in proxies.iter().enumerate() {
        let mut scores = vec![0.0; pairs.len()];
        ask_pairs(&**proxy, &pairs, &mut scores)?;
        for (((p, &m), tau), mut row) in scores.into_iter().zip(chunk.predicted).zip(&taus).zip(rows.rows_mut()) {
            let features = [p, p * p, p * m, p * tau];
            let first = OWN + PER_PROXY * k;
            features.into_iter().enumerate().for_each(|(offset, feature)| row[first + offset] = feature);
        }
    }
    Ok(rows)
}
