//! LEVEL0 on some columns, and what it predicts of each fifth of them without it: the table that m is learned from.

use ndarray::Array2;

use super::Stack;
use super::columns::Columns;
use super::level0::Level0;
use crate::approximate::ApproximateError;
use crate::approximate::scattered::folds;
use crate::approximate::scattered::ridge::{Linear, Moments};
use crate::approximate::scattered::table::{ROWS_PER_TASK, Table};
use crate::stream::Rng;

/// LEVEL0 on some columns, and the same out of fold as a table of features.
pub(super) struct OutOfFold {
    pub(super) columns: Columns,
    pub(super) level0: Level0,
    /// Features of the rows of `table`, in its order.
    design: Vec<f64>,
    width: usize,
    pub(super) table: Table,
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
        let mut stage = Self { columns, level0, design: Vec::new(), width, table: Table::default() };
        for fold in folds(stage.columns.items.len(), rng) {
            let kept: Vec<usize> = (0..stage.columns.items.len()).filter(|place| !fold.contains(place)).collect();
            if kept.is_empty() {
                continue;
            }
            let smaller = Level0::fit(&stage.columns.select(&kept), similar, params, rng)?;
            let mut is_kept = vec![false; stage.columns.len()];
            kept.iter().for_each(|&place| is_kept[stage.columns.items[place]] = true);
            let rows: Vec<usize> = (0..stage.columns.len()).filter(|&i| !is_kept[i]).collect();
            stage.predict(&smaller, &rows, &fold);
        }
        Ok(stage)
    }

    /// Rows × the columns of a fold, as a fit without them says.
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

    /// θ, and m of every row.
    pub(super) fn fit(&self) -> Result<Fit, ApproximateError> {
        let mut moments = Moments::of(Array2::zeros((0, self.width + 1)).view());
        let parts = self.design.chunks(self.width * ROWS_PER_TASK).zip(self.table.scores.chunks(ROWS_PER_TASK));
        for (design, scores) in parts {
            let rows = Array2::from_shape_fn((scores.len(), self.width + 1), |(row, k)| {
                if k < self.width { design[row * self.width + k] } else { scores[row] }
            });
            moments = moments.join(Moments::of(rows.view()));
        }
        let linear = moments.regress()?;
        let predicted: Vec<f64> = self.design.chunks(self.width).map(|features| linear.at(features)).collect();
        let squares = predicted.iter().zip(&self.table.scores).map(|(m, k)| (k - m) * (k - m)).sum::<f64>();
        let error = (squares / (predicted.len() as f64).max(1.0)).sqrt();
        Ok(Fit { linear, predicted, error })
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

/// These rows and columns.
fn select(matrix: &Array2<f64>, rows: &[usize], cols: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), cols.len()), |(a, b)| matrix[[rows[a], cols[b]]])
}
