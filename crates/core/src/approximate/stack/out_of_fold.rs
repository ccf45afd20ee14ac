//! LEVEL0 on some columns, and what it predicts of each fifth of them without it: the table that m is learned from.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, aview1};
use rayon::prelude::*;

use super::Stack;
use super::columns::Columns;
use super::level0::Level0;
use crate::approximate::ApproximateError;
use crate::approximate::scattered::drawn_folds;
use crate::approximate::scattered::ridge::{Linear, Moments};
use crate::approximate::scattered::table::{ROWS_PER_TASK, Table};
use crate::oracle::{Oracle, OracleError, Pair, ask_pairs};
use crate::stream::Rng;

/// What a scattered pair may count in θ, where an entry of the columns counts 1.
const PAIR_WEIGHTS: [f64; 3] = [0.0, 0.2, 1.0];

/// LEVEL0 on some columns, and the same out of fold as a table of features.
pub(super) struct OutOfFold {
    pub(super) columns: Columns,
    pub(super) level0: Level0,
    /// Features of the rows of `table`, in its order.
    design: Vec<f64>,
    width: usize,
    pub(super) table: Table,
    folds: Vec<Range<usize>>,
}

/// m as a regression on the features.
pub(super) struct Fit {
    pub(super) linear: Linear,
    pub(super) predicted: Vec<f64>,
    /// Root mean square of K − m over all rows.
    pub(super) error: f64,
}

impl OutOfFold {
    pub(super) fn of(stack: &Stack, columns: Columns, rng: &mut Rng) -> Result<Self, ApproximateError> {
        let params = stack.params;
        let similar = stack.similar.as_deref();
        let level0 = Level0::fit(&columns, similar, params, rng)?;
        let width = level0.width();
        let (design, table) = (Vec::new(), Table::default());
        let mut stage = Self { columns, level0, design, width, table, folds: Vec::new() };
        for fold in drawn_folds(stage.columns.items.len(), rng) {
            let kept: Vec<usize> = (0..stage.columns.items.len()).filter(|place| !fold.contains(place)).collect();
            if kept.is_empty() {
                continue;
            }
            let smaller = Level0::fit(&stage.columns.select(&kept), similar, params, rng)?;
            let mut is_kept = vec![false; stage.columns.len()];
            kept.iter().for_each(|&place| is_kept[stage.columns.items[place]] = true);
            let rows: Vec<usize> = (0..stage.columns.len()).filter(|&i| !is_kept[i]).collect();
            let first = stage.table.len();
            stage.predict(&smaller, &rows, &fold);
            stage.folds.push(first..stage.table.len());
        }
        Ok(stage)
    }

    /// Rows × the columns of a fold, as predicted by a fit without them.
    fn predict(&mut self, smaller: &Level0, rows: &[usize], fold: &[usize]) {
        let held: Vec<usize> = fold.iter().map(|&place| self.columns.items[place]).collect();
        let proxies: Vec<Array2<f64>> = self.columns.proxies.iter().map(|p| select(p, rows, fold)).collect();
        let views = smaller.blocks(rows, &held, &proxies);
        let mut features = Vec::with_capacity(self.width);
        for (a, &i) in rows.iter().enumerate() {
            for (b, &j) in held.iter().enumerate() {
                if i == j {
                    continue;
                }
                features.clear();
                let (v, p) = (views.iter().map(|v| v[[a, b]]), proxies.iter().map(|p| p[[a, b]]));
                smaller.features(i, j, v, p, &mut features);
                self.design.extend(&features);
                self.table.push((i, j), 0.0, self.columns.scores[[i, fold[b]]]);
            }
        }
    }

    /// θ from the columns, and m of every row.
    pub(super) fn fit(&self) -> Result<Fit, ApproximateError> {
        self.fitted(&joined(self.moments_by_fold()))
    }

    /// θ from the columns and from scattered pairs, which count as much as lets the rest predict a fold best. LEVEL0 predicts the pairs from all
    /// columns, that fold's too.
    ///
    /// They are not drawn, as the columns are, but the pairs that m misses most.
    pub(super) fn fit_weighted(
        &self,
        pairs: &[Pair],
        scores: &[f64],
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Fit, ApproximateError> {
        if pairs.is_empty() {
            return self.fit();
        }
        let (folds, scattered) = (self.moments_by_fold(), self.moments_of_pairs(pairs, scores, proxies)?);
        let (mut least, mut best) = (f64::INFINITY, 0.0);
        for weight in PAIR_WEIGHTS {
            let mut error = 0.0;
            for (left_out, rows) in self.folds.iter().enumerate() {
                let others = folds.iter().enumerate().filter(|(fold, _)| *fold != left_out);
                let all = joined(others.map(|(_, moments)| moments.clone())).join(scattered.clone().weighted(weight));
                error += self.square_error(&all.regress()?, rows.clone());
            }
            if error < least {
                (least, best) = (error, weight);
            }
        }
        self.fitted(&joined(folds).join(scattered.weighted(best)))
    }

    fn fitted(&self, moments: &Moments) -> Result<Fit, ApproximateError> {
        let linear = moments.regress()?;
        let predicted = self.design.chunks(self.width).map(|features| linear.at(features)).collect();
        let error = self.square_error(&linear, 0..self.table.len()) / (self.table.len() as f64).max(1.0);
        Ok(Fit { linear, predicted, error: error.sqrt() })
    }

    /// Σ (K − m)² of some rows.
    fn square_error(&self, linear: &Linear, rows: Range<usize>) -> f64 {
        let design = self.design[rows.start * self.width..rows.end * self.width].chunks(self.width);
        design.zip(&self.table.scores[rows]).map(|(features, k)| (k - linear.at(features)).powi(2)).sum()
    }

    fn moments_by_fold(&self) -> Vec<Moments> {
        let of_rows = |rows: Range<usize>| {
            let design = &self.design[rows.start * self.width..rows.end * self.width];
            moments(design, &self.table.scores[rows], self.width)
        };
        self.folds.iter().cloned().map(of_rows).collect()
    }

    /// Features and scores of pairs, as LEVEL0 on all columns has them. Rank flops a pair.
    fn moments_of_pairs(
        &self,
        pairs: &[Pair],
        scores: &[f64],
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Moments, ApproximateError> {
        let of_chunk = |(pairs, scores): (&[Pair], &[f64])| -> Result<Moments, OracleError> {
            let mut of_proxies = Array2::zeros((pairs.len(), proxies.len()));
            let mut of_proxy = vec![0.0; pairs.len()];
            for (proxy, mut column) in proxies.iter().zip(of_proxies.columns_mut()) {
                ask_pairs(&**proxy, pairs, &mut of_proxy)?;
                column.assign(&aview1(&of_proxy));
            }
            let (mut design, mut features) = (Vec::with_capacity(pairs.len() * self.width), Vec::new());
            for (&(i, j), p) in pairs.iter().zip(of_proxies.rows()) {
                let values = self.level0.predictions((i, j), p);
                features.clear();
                self.level0.features(i, j, values.into_iter(), p.iter().copied(), &mut features);
                design.extend(&features);
            }
            Ok(moments(&design, scores, self.width))
        };
        let chunks = pairs.par_chunks(ROWS_PER_TASK).zip(scores.par_chunks(ROWS_PER_TASK));
        let parts: Result<Vec<Moments>, OracleError> = chunks.map(of_chunk).collect();
        Ok(joined(parts?))
    }

    /// Root mean square of what shift_ridge around the main proxy misses out of fold: V_1 is the first feature.
    pub(super) fn base_error(&self) -> f64 {
        let squares =
            self.design.chunks(self.width).zip(&self.table.scores).map(|(features, k)| (k - features[0]).powi(2));
        (squares.sum::<f64>() / (self.table.len() as f64).max(1.0)).sqrt()
    }

    /// The table with m in its place.
    pub(super) fn table(&self, fit: &Fit) -> Table {
        self.table.with_predicted(fit.predicted.clone())
    }
}

/// Features, `width` a row, and scores.
fn moments(design: &[f64], scores: &[f64], width: usize) -> Moments {
    let chunks = design.chunks(width * ROWS_PER_TASK).zip(scores.chunks(ROWS_PER_TASK));
    let of_chunk = |(design, scores): (&[f64], &[f64])| {
        let cell = |(row, k): (usize, usize)| if k < width { design[row * width + k] } else { scores[row] };
        Moments::of(Array2::from_shape_fn((scores.len(), width + 1), cell).view())
    };
    chunks.map(of_chunk).fold(Moments::of(Array2::zeros((0, width + 1)).view()), Moments::join)
}

fn joined(parts: impl IntoIterator<Item = Moments>) -> Moments {
    parts.into_iter().reduce(Moments::join).expect("at least one part")
}

fn select(matrix: &Array2<f64>, rows: &[usize], cols: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), cols.len()), |(a, b)| matrix[[rows[a], cols[b]]])
}
