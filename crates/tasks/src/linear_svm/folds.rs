//! The machines of one class on all folds of a cross-validation at once, for the squared hinge.
//!
//! The folds' training rows are nearly the same, and so are the Newton systems H_f p = −g_f of their machines (see [`newton`](super::newton)). All folds are
//! therefore solved by conjugate gradients in step, with one Cholesky factor as their preconditioner:
//!
//! M = 1 + 2c Σ_i q_i x_i x_iᵀ,  q_i the mean over the folds of u_i where row i is trained on and pays, else 0
//!
//! Every product with the rows then serves all folds, at the speed of a matrix product. The factor is kept from step to step and from C to C, and only
//! made again when the iterations would cost more than it does. A machine that no shared factor serves (C so large that the rows that one fold
//! lacks decide) continues alone.
//!
//! Cost: 4 f·(d·|I| + d²/2) flops an iteration for f folds, of which a step takes some; the Gram matrix and factor of one machine for all.
//! Memory a class at work: d² twice, the rows that pay, and f·n.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, aview1, s};

use landmark_core::linalg::{Cholesky, add_product, product, product_into};

use super::newton::{self, Newton, add_rows, minimum_along};
use crate::svm::descent::DescentOptions;
use crate::svm::vector::add_scaled;
use crate::svm::{DenseRows, Rows, SolveReport, SvmError};

/// Rows of a product: they stay in the cache between being multiplied by the directions and by what came of that.
const BLOCK_ROWS: usize = 256;

/// Residual of a Newton system relative to the gradient, unless less is enough to meet the tolerance.
const FORCING: f64 = 0.05;

/// Residual relative to the gradient that the tolerance allows.
const SAFETY: f64 = 0.3;

/// Iterations after which a fresh factor has failed.
const MOST_ITERATIONS: usize = 60;

/// The machines of one class, a fold each, on the path of costs.
pub(super) struct FoldMachines<'a> {
    /// n × d, without the bias feature
    features: ArrayView2<'a, f64>,
    rows: &'a DenseRows<'a>,
    signs: Vec<f64>,
    /// folds × n: cost of a row for C = 1, 0 where the fold tests on it
    units: &'a [Vec<f64>],
    options: DescentOptions,
    /// folds × width
    weights: Array2<f64>,
    /// folds × n: y_i w·x_i
    margins: Vec<Vec<f64>>,
    shared: Shared,
}

/// The Gram matrix of all folds together, and the factor of M.
pub(super) struct Shared {
    /// Σ q_i x_i x_iᵀ, lower triangle
    gram: Array2<f64>,
    held: Vec<f64>,
    factor: Option<Cholesky>,
}

impl Shared {
    /// At w = 0, where all rows pay.
    pub(super) fn of_all(rows: &DenseRows<'_>, units: &[Vec<f64>]) -> Self {
        let mut shared =
            Self { gram: Array2::zeros((rows.width(), rows.width())), held: vec![0.0; rows.len()], factor: None };
        shared.update(rows, mean_over_folds(units, |_, _| true));
        shared
    }

    /// A class's own, without a factor.
    pub(super) fn start(&self) -> Self {
        Self { gram: self.gram.clone(), held: self.held.clone(), factor: None }
    }

    /// Takes the Gram matrix to other q.
    fn update(&mut self, rows: &DenseRows<'_>, wanted: Vec<f64>) {
        let changed = |held: &[f64]| -> Vec<usize> { (0..held.len()).filter(|&i| held[i] != wanted[i]).collect() };
        if changed(&self.held).len() > wanted.iter().filter(|&&q| q > 0.0).count() {
            self.gram.fill(0.0);
            self.held.fill(0.0);
        }
        let sizes: Vec<f64> = self.held.iter().zip(&wanted).map(|(held, wanted)| (wanted - held).abs()).collect();
        let (more, less): (Vec<usize>, Vec<usize>) =
            changed(&self.held).into_iter().partition(|&i| wanted[i] > self.held[i]);
        add_rows(&mut self.gram, rows, &sizes, &more, 1.0);
        add_rows(&mut self.gram, rows, &sizes, &less, -1.0);
        self.held = wanted;
    }
}

/// q_i: the mean over the folds of the unit costs of the rows that `pays` names by fold and row.
fn mean_over_folds(units: &[Vec<f64>], pays: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    let mut mean = vec![0.0; units[0].len()];
    for (fold, of_fold) in units.iter().enumerate() {
        for (i, (mean, unit)) in mean.iter_mut().zip(of_fold).enumerate() {
            *mean += if pays(fold, i) { unit / units.len() as f64 } else { 0.0 };
        }
    }
    mean
}

enum Outcome {
    Moved,
    /// No step gains anything.
    Stuck,
    /// The shared factor does not serve it.
    Unsolved,
}

impl<'a> FoldMachines<'a> {
    /// Starts at w = 0, with `shared` from [`Shared::of_all`].
    pub(super) fn new(
        features: ArrayView2<'a, f64>,
        rows: &'a DenseRows<'a>,
        signs: Vec<f64>,
        units: &'a [Vec<f64>],
        shared: Shared,
        options: DescentOptions,
    ) -> Self {
        let (weights, margins) = (Array2::zeros((units.len(), rows.width())), vec![vec![0.0; rows.len()]; units.len()]);
        Self { features, rows, signs, units, options, weights, margins, shared }
    }

    /// w of a fold, with the bias feature's weight last.
    pub(super) fn weights(&self, fold: usize) -> Vec<f64> {
        self.weights.row(fold).to_vec()
    }

    /// Continues from the present w to the optima for the costs C_i = c·u_i. Violations are not measured.
    pub(super) fn solve(&mut self, c: f64) -> Result<Vec<SolveReport>, SvmError> {
        let mut open: Vec<usize> = (0..self.units.len()).collect();
        let (mut gradients, mut reports, mut paying) = self.measure(c, &open);
        for steps in 1..=self.options.max_epochs {
            let left: Vec<usize> = (0..open.len()).filter(|&place| !reports[open[place]].converged).collect();
            open = left.iter().map(|&place| open[place]).collect();
            if open.is_empty() {
                break;
            }
            let system = System { c, open: &open, paying: &paying };
            let outcomes = self.step(&system, &gradients.select(Axis(0), &left), &reports);
            for (&fold, outcome) in open.iter().zip(&outcomes) {
                if let Outcome::Unsolved = outcome {
                    reports[fold] = self.go_alone(c, fold)?;
                }
            }
            let still = open.iter().zip(&outcomes).filter(|(_, outcome)| matches!(outcome, Outcome::Moved));
            open = still.map(|(&fold, _)| fold).collect();
            let measured;
            (gradients, measured, paying) = self.measure(c, &open);
            for (&fold, report) in open.iter().zip(measured) {
                reports[fold] = SolveReport { epochs: steps, ..report };
            }
        }
        Ok(reports)
    }

    /// Gradients w − Σ α_i y_i x_i of some machines, a row each, their objectives (the gap is half the gradient's square), and the rows that pay.
    fn measure(&self, c: f64, open: &[usize]) -> (Array2<f64>, Vec<SolveReport>, Paying) {
        let mut gradients = self.weights.select(Axis(0), open);
        let paying = self.paying(open);
        let alpha = |(place, k): (usize, usize)| {
            let i = paying.indices[k];
            2.0 * c * self.signs[i] * self.weighed_error(open[place], i)
        };
        let alpha = Array2::from_shape_fn((open.len(), paying.indices.len()), alpha);
        add_product(alpha.view(), paying.rows.view(), -1.0, gradients.view_mut());
        let report = |(&fold, gradient): (&usize, ArrayView1<'_, f64>)| {
            let (mut losses, mut support) = (0.0, 0);
            for i in 0..self.rows.len() {
                let weighed = self.weighed_error(fold, i);
                losses += c * weighed * (1.0 - self.margins[fold][i]);
                support += usize::from(weighed > 0.0);
            }
            let weights = self.weights.row(fold);
            let primal = 0.5 * weights.dot(&weights) + losses;
            let dual = primal - 0.5 * gradient.dot(&gradient);
            let report = SolveReport { primal, dual, violation: f64::INFINITY, epochs: 0, support, converged: false };
            SolveReport { converged: report.meets(self.options.tolerance), ..report }
        };
        let reports = open.iter().zip(gradients.outer_iter()).map(report).collect();
        (gradients, reports, paying)
    }

    fn step(&mut self, system: &System<'_>, gradients: &Array2<f64>, reports: &[SolveReport]) -> Vec<Outcome> {
        let System { c, open, .. } = *system;
        let tolerance = self.options.tolerance.value();
        let wanted = |(&fold, gradient): (&usize, ArrayView1<'_, f64>)| {
            let allowed = SAFETY * (2.0 * tolerance * reports[fold].primal).sqrt();
            allowed.max(FORCING * norm(gradient))
        };
        let wanted: Vec<f64> = open.iter().zip(gradients.outer_iter()).map(wanted).collect();
        let mut descent = Conjugate { steps: Array2::zeros(gradients.dim()), residuals: gradients.mapv(|g| -g) };
        let mean = mean_over_folds(self.units, |fold, i| self.margins[fold][i] < 1.0);
        let limit = self.iterations_worth_a_factor(system, &mean);
        if !self.descend(system, &mut descent, &wanted, limit) {
            self.shared.update(self.rows, mean);
            self.shared.factor = newton::factor(&self.shared.gram, c, 1.0).ok();
            self.descend(system, &mut descent, &wanted, MOST_ITERATIONS);
        }
        let moved = self.advance(c, open, &descent.steps);
        let outcome =
            |((residual, &wanted), moved): ((ArrayView1<'_, f64>, &f64), bool)| match (norm(residual) <= wanted, moved)
            {
                (false, _) => Outcome::Unsolved,
                (true, true) => Outcome::Moved,
                (true, false) => Outcome::Stuck,
            };
        descent.residuals.outer_iter().zip(&wanted).zip(moved).map(outcome).collect()
    }

    fn go_alone(&mut self, c: f64, fold: usize) -> Result<SolveReport, SvmError> {
        let at = (self.weights.row(fold).to_vec(), std::mem::take(&mut self.margins[fold]));
        let mut machine = Newton::resume(self.rows, self.signs.clone(), &self.units[fold], at, self.options);
        let report = machine.solve(c)?;
        self.weights.row_mut(fold).assign(&aview1(machine.weights()));
        self.margins[fold] = machine.into_margins();
        Ok(report)
    }

    /// u_i times the error 1 − y_i w·x_i: 0 where row i does not pay or is tested on.
    fn weighed_error(&self, fold: usize, i: usize) -> f64 {
        self.units[fold][i] * (1.0 - self.margins[fold][i]).max(0.0)
    }

    fn paying(&self, open: &[usize]) -> Paying {
        let pays = |&i: &usize| open.iter().any(|&fold| self.weighed_error(fold, i) > 0.0);
        let indices: Vec<usize> = (0..self.rows.len()).filter(pays).collect();
        let mut rows = Array2::zeros((indices.len(), self.rows.width()));
        rows.outer_iter_mut().zip(&indices).for_each(|(row, &i)| self.rows.copy_scaled(i, 1.0, row));
        Paying { indices, rows }
    }

    /// Iterations that cost what a factor for the present rows does, in flops.
    fn iterations_worth_a_factor(&self, system: &System<'_>, mean: &[f64]) -> usize {
        let changed = mean.iter().zip(&self.shared.held).filter(|(mean, held)| mean != held).count();
        let width = self.rows.width();
        let iteration = system.open.len() * (4 * system.paying.indices.len() + 2 * width);
        (width * (changed + width / 3)).div_ceil(iteration)
    }

    /// Conjugate gradients on all open systems, until every residual is as small as `wanted`; `false` after `limit` iterations, or without a factor.
    fn descend(&self, system: &System<'_>, descent: &mut Conjugate, wanted: &[f64], limit: usize) -> bool {
        let Some(factor) = &self.shared.factor else { return false };
        let Conjugate { steps, residuals } = descent;
        let mut conditioned = residuals.clone();
        factor.solve_rows(&mut conditioned);
        let mut directions = conditioned.clone();
        let mut along = row_products(residuals, &conditioned);
        for iteration in 0.. {
            let open: Vec<usize> = (0..wanted.len()).filter(|&k| norm(residuals.row(k)) > wanted[k]).collect();
            if open.is_empty() || iteration == limit {
                return open.is_empty();
            }
            let products = self.curvature(system, &directions);
            let curvatures = row_products(&directions, &products);
            for &k in &open {
                let length = along[k] / curvatures[k];
                steps.row_mut(k).scaled_add(length, &directions.row(k));
                residuals.row_mut(k).scaled_add(-length, &products.row(k));
            }
            conditioned.assign(residuals);
            factor.solve_rows(&mut conditioned);
            let next = row_products(residuals, &conditioned);
            for (k, (mut direction, conditioned)) in
                directions.outer_iter_mut().zip(conditioned.outer_iter()).enumerate()
            {
                direction *= next[k] / along[k];
                direction += &conditioned;
            }
            along = next;
        }
        false
    }

    /// H_f p = p + 2c Σ u_i (x_i·p) x_i over the rows that pay, for the direction of each machine.
    fn curvature(&self, system: &System<'_>, directions: &Array2<f64>) -> Array2<f64> {
        let System { c, open, paying } = system;
        let mut products = directions.clone();
        let mut scores = Array2::zeros((open.len(), BLOCK_ROWS));
        for (indices, block) in paying.indices.chunks(BLOCK_ROWS).zip(paying.rows.axis_chunks_iter(Axis(0), BLOCK_ROWS))
        {
            let mut scores = scores.slice_mut(s![.., ..indices.len()]);
            product_into(directions.view(), block.t(), 2.0 * c, scores.view_mut());
            for (&fold, mut scores) in open.iter().zip(scores.outer_iter_mut()) {
                for (score, &i) in scores.iter_mut().zip(indices) {
                    *score *= if self.margins[fold][i] < 1.0 { self.units[fold][i] } else { 0.0 };
                }
            }
            add_product(scores.view(), block, 1.0, products.view_mut());
        }
        products
    }

    /// Moves each w along its step to the minimum of the objective; `false` where nothing can be gained any more.
    fn advance(&mut self, c: f64, open: &[usize], steps: &Array2<f64>) -> Vec<bool> {
        let columns = self.features.ncols();
        let products = product(steps.slice(s![.., ..columns]), self.features.t());
        let mut moved = Vec::with_capacity(open.len());
        for ((&fold, step), products) in open.iter().zip(steps.outer_iter()).zip(products.outer_iter()) {
            let constant = self.rows.bias() * step.get(columns).unwrap_or(&0.0);
            let slopes: Vec<f64> =
                products.iter().zip(&self.signs).map(|(product, sign)| sign * (product + constant)).collect();
            let (margins, mut weights) = (&mut self.margins[fold], self.weights.row_mut(fold));
            let along = (weights.dot(&step), step.dot(&step));
            let length = minimum_along(along, c, margins, &slopes, &self.units[fold]);
            let before = weights.to_owned();
            weights.scaled_add(length, &step);
            add_scaled(length, &slopes, margins);
            moved.push(weights != before);
        }
        moved
    }
}

/// The Newton systems of some machines: H_f = 1 + 2c Σ u_i x_i x_iᵀ over the rows that pay in fold f.
struct System<'s> {
    c: f64,
    open: &'s [usize],
    paying: &'s Paying,
}

/// Rows that pay in one of some machines, bias feature included, in one piece: every iteration reads them.
struct Paying {
    indices: Vec<usize>,
    rows: Array2<f64>,
}

/// Solutions and residuals of conjugate gradients, a row a machine.
struct Conjugate {
    steps: Array2<f64>,
    residuals: Array2<f64>,
}

fn norm(row: ArrayView1<'_, f64>) -> f64 {
    row.dot(&row).sqrt()
}

fn row_products(left: &Array2<f64>, right: &Array2<f64>) -> Vec<f64> {
    left.outer_iter().zip(right.outer_iter()).map(|(left, right)| left.dot(&right)).collect()
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::{Array2, Axis};
    use rand::Rng as _;

    use super::super::{LinearSvm, LinearSvmParams, MultiClass};
    use crate::svm::{Loss, Tolerance, TrainingSet};

    const COSTS: [f64; 3] = [0.001, 0.1, 10.0];

    /// Noise around three centers, and three overlapping parts of its rows.
    fn parts_of_noise(rows: usize, columns: usize) -> (Array2<f64>, Vec<usize>, Vec<Vec<usize>>) {
        let rng = &mut stream(8, "test", "parts", 0);
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| {
            rng.gen_range(-2.0..2.0) + if j % 3 == i % 3 { 0.5 } else { 0.0 }
        });
        let parts = (0..3).map(|fold| (0..rows).filter(|i| i / 3 % 3 != fold).collect()).collect();
        (x, (0..rows).map(|i| i % 3).collect(), parts)
    }

    fn of_folds(params: &LinearSvmParams, rows: usize, columns: usize) -> Option<Vec<Vec<LinearSvm>>> {
        let (x, labels, parts) = parts_of_noise(rows, columns);
        let parts: Vec<&[usize]> = parts.iter().map(Vec::as_slice).collect();
        params.clone().check().unwrap().train_folds(x.view(), &labels, 3, &parts, &COSTS).unwrap()
    }

    #[test]
    fn machines_of_all_folds_at_once_are_those_of_each_fold_by_itself() {
        let params = LinearSvmParams { tolerance: Tolerance::DualityGap(1e-11), ..Default::default() };
        let at_once = of_folds(&params, 90, 8).expect("folds that share something");
        let (x, labels, parts) = parts_of_noise(90, 8);
        assert_eq!(at_once.len(), parts.len());
        for (part, machines) in parts.iter().zip(at_once) {
            let labels: Vec<usize> = part.iter().map(|&i| labels[i]).collect();
            let x = x.select(Axis(0), part);
            let set = TrainingSet::new(&x, &labels, 3).unwrap();
            let alone = params.clone().check().unwrap().train_path(&set, &COSTS, 7).unwrap();
            assert_eq!(machines.len(), alone.len());
            for (shared, alone) in machines.iter().zip(&alone) {
                assert!(shared.report().converged(), "{:?}", shared.report());
                let weights = (&shared.weights() - &alone.weights()).mapv(f64::abs);
                let bias = (shared.bias() - alone.bias()).mapv(f64::abs);
                assert!(weights.iter().chain(&bias).all(|difference| *difference < 1e-5), "{weights:?} {bias:?}");
            }
        }
    }

    #[test]
    fn folds_that_share_no_system_are_left_to_be_walked_each() {
        let crammer_singer = LinearSvmParams { multi_class: MultiClass::CrammerSinger, ..Default::default() };
        assert!(of_folds(&crammer_singer, 90, 8).is_none());
        let hinge = LinearSvmParams { loss: Loss::Hinge, ..Default::default() };
        assert!(of_folds(&hinge, 90, 8).is_none());
        let wide = LinearSvmParams::default();
        assert!(of_folds(&wide, 90, 100).is_none());
    }
}
