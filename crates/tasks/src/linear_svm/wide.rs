//! One-vs-rest by dual descent on dense rows that are wider than there are of them.
//!
//! A visit costs d for rows of features. With the inner products X Xᵀ at hand and the scores f = X Xᵀ (α∘y) for its state in place of
//! w = Xᵀ (α∘y), the score of a row is looked up and a step adds n < d numbers: the same visits, the same steps. The products themselves take as long as
//! some dozens of epochs. So each machine starts on the rows, and those that have not met their costs in as many go on with the products, which they share.

use ndarray::ArrayView2;
use rayon::prelude::*;

use landmark_core::linalg;
use landmark_core::stream::{Rng, stream};

use super::{LinearSvm, MultiClass, Paths, Solved};
use crate::svm::dual_descent::DualDescent;
use crate::svm::{DenseRows, GramRows, Rows, SolveReport};

/// The most rows whose inner products are held: 128 MiB. With more of them a step waits for its row of the products as it would for one of features:
/// five folds of 7,718 × 8,192 took 173 s with, 182 s without, and 3,097 × 8,192 no less with one matrix for all folds than with one for each.
const MOST_ROWS: usize = 4096;

/// Epochs of each of some machines that together take about as long as the inner products they would share, n²·d flops of a matrix product: on two threads
/// n / 90 of one machine for 4,000 rows × 4,096 columns, n / 50 of three together for 1,733 × 8,192, and n / 8 for 500 × 512, which stay in the cache
/// (`--example time_svm`). A machine that is done before has lost nothing, and one that is done soon after takes about twice its time.
fn epochs_worth_products(rows: usize, machines: usize) -> usize {
    (rows / (32 * machines)).max(1)
}

/// A machine on its path of costs.
struct Walk {
    solved: Vec<Solved>,
    /// α for the next cost and the epochs that it took, where the rows were left.
    left: Option<(Vec<f64>, usize)>,
    visits: Rng,
}

impl Paths<'_, '_> {
    /// True of one-vs-rest on rows that are no more than their width, and few enough for the matrix of their inner products.
    pub(super) fn are_wide(&self, width: usize, rows: usize) -> bool {
        self.params.multi_class == MultiClass::OneVsRest && rows <= width.min(MOST_ROWS)
    }

    /// As [`one_vs_rest`](Self::one_vs_rest).
    pub(super) fn one_vs_rest_wide(&self, x: ArrayView2<'_, f64>, rows: &DenseRows<'_>) -> Vec<LinearSvm> {
        let curvatures: Vec<f64> = (0..rows.len()).map(|i| rows.curvature(i)).collect();
        let mut walks = self.of_each_class(|class| (class, self.on_rows(class, rows, &curvatures)));
        if walks.iter().any(|(_, walk)| walk.left.is_some()) {
            let gram = linalg::gram(x.t()) + rows.bias() * rows.bias();
            let products = GramRows::new(gram.view());
            walks.par_iter_mut().for_each(|(class, walk)| self.on_products(*class, walk, rows, &products, &curvatures));
        }
        self.by_cost(walks.into_iter().map(|(_, walk)| walk.solved).collect())
    }

    /// The machine of a class on the rows, for as many epochs as that is the cheaper way.
    fn on_rows(&self, class: usize, rows: &DenseRows<'_>, curvatures: &[f64]) -> Walk {
        let mut visits = stream(self.seed, "", "linear_svm.visits", class as u64);
        let mut machine = DualDescent::new(rows, self.signs(class), curvatures, self.options());
        let mut solved = Vec::with_capacity(self.costs.len());
        let mut worth = epochs_worth_products(rows.len(), self.machines().len());
        for &c in self.costs {
            let epochs = worth.min(self.params.max_epochs);
            let report = machine.solve_within(epochs, &self.costs_of_rows(c), &mut visits);
            if !report.converged && report.epochs < self.params.max_epochs {
                return Walk { solved, left: Some((machine.into_alpha(), report.epochs)), visits };
            }
            solved.push(Solved { weights: machine.state().to_vec(), report });
            worth = worth.saturating_sub(report.epochs).max(1);
        }
        Walk { solved, left: None, visits }
    }

    /// Takes a machine that has left the rows to the end of its path.
    fn on_products(
        &self,
        class: usize,
        walk: &mut Walk,
        rows: &DenseRows<'_>,
        products: &GramRows<'_>,
        curvatures: &[f64],
    ) {
        let Some((alpha, mut epochs)) = walk.left.take() else { return };
        let mut machine = DualDescent::resume(products, self.signs(class), curvatures, alpha, self.options());
        for &c in &self.costs[walk.solved.len()..] {
            let left = self.params.max_epochs - epochs;
            let report = machine.solve_within(left, &self.costs_of_rows(c), &mut walk.visits);
            let weights = rows.state_of(&machine.coefficients());
            walk.solved.push(Solved { weights, report: SolveReport { epochs: epochs + report.epochs, ..report } });
            epochs = 0;
        }
    }
}
