//! Kernel support vector machines on a Gram matrix that is already there, positive definite or not: the exact baseline that
//! factored features are measured against, and the machine of the "saving" of Croce, Filice & Basili (2016) (its support vectors against our landmarks).
//!
//! f(x) = Σ_i β_i K(x_i, x) + b with the hinge loss, one class against the rest; the class with the highest score wins. With a bias,
//! each machine is found by [SMO](smo); without one, by the same dual coordinate descent as the linear machines, on rows of K.
//!
//! An indefinite K (a transformed distance, a cross-encoder) has no primal problem behind it: both solvers then stop at a
//! stationary point of the box-constrained dual, every step having improved it, and `gap` in the report certifies nothing. Stop by
//! violation (the default) rather than by gap there. The squared hinge is not offered: its dual has no box, and an indefinite
//! K could make it unbounded.
//!
//! Cost: O(n) per step, n² entries of K read where they lie (rows that are not contiguous are copied once); classes in parallel.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;
use landmark_core::stream::stream;

use crate::linear_svm::{TrainingReport, highest};
use crate::svm::descent::DescentOptions;
use crate::svm::dual_descent::DualDescent;
use crate::svm::{
    ClassWeights, DenseRows, GramRows, Loss, Rows, SolveReport, SvmError, Tolerance, check_labels, check_positive,
    unit_costs,
};

mod smo;

use smo::Smo;

/// Relative difference of K(i, j) and K(j, i) that still counts as symmetric: sums in another order, not another function.
const SYMMETRY_TOLERANCE: f64 = 1e-9;

/// Parameters as a configuration gives them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelSvmParams {
    /// Cost C of an error: positive.
    pub c: f64,
    /// True where scores have a free (unregularised) bias, as in LIBSVM.
    pub bias: bool,
    pub class_weights: ClassWeights,
    pub tolerance: Tolerance,
    /// Give up after this number of steps per item (the report then has `converged: false`).
    pub max_epochs: usize,
}

impl Default for KernelSvmParams {
    fn default() -> Self {
        Self {
            c: 1.0,
            bias: true,
            class_weights: ClassWeights::default(),
            tolerance: Tolerance::Violation(1e-3),
            max_epochs: 1000,
        }
    }
}

impl KernelSvmParams {
    /// The parameters, checked once.
    ///
    /// # Errors
    /// C, tolerance or a class weight that is not positive and finite; no epoch.
    pub fn check(self) -> Result<KernelSvmValidParams, SvmError> {
        check_positive("c", self.c)?;
        if let ClassWeights::Given(weights) = &self.class_weights {
            weights.iter().try_for_each(|&weight| check_positive("class_weights", weight))?;
        }
        self.tolerance.check()?;
        if self.max_epochs == 0 {
            return Err(BadParameter::new("max_epochs", "0", "at least 1").into());
        }
        Ok(KernelSvmValidParams(self))
    }
}

/// Checked parameters: the estimator.
///
/// ```
/// use landmark_tasks::kernel_svm::KernelSvmParams;
/// use ndarray::array;
///
/// // the kernel exp(−|x−y|) of the points 0, 1, 10, 11, and the similarities of the point 9 to them
/// let gram = array![0.0, 1.0, 10.0, 11.0];
/// let gram = ndarray::Array2::from_shape_fn((4, 4), |(i, j)| f64::exp(-f64::abs(gram[i] - gram[j])));
/// let machine = KernelSvmParams::default().check()?.train(gram.view(), &[0, 0, 1, 1], 2, 2022)?;
/// let similarities = array![[f64::exp(-9.0), f64::exp(-8.0), f64::exp(-1.0), f64::exp(-2.0)]];
/// assert_eq!(machine.predict(similarities.view())?, [1]);
/// # Ok::<(), landmark_tasks::svm::SvmError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSvmValidParams(KernelSvmParams);

impl KernelSvmValidParams {
    pub fn params(&self) -> &KernelSvmParams {
        &self.0
    }

    /// Trains on the symmetric n × n matrix of similarities between training items, with labels in `0..classes`.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric, or not finite (the entry is named); labels as in
    /// [`TrainingSet::new`](crate::svm::TrainingSet::new).
    pub fn train(
        &self,
        gram: ArrayView2<'_, f64>,
        labels: &[usize],
        classes: usize,
        seed: u64,
    ) -> Result<KernelSvm, SvmError> {
        let mut path = self.train_path(gram, labels, classes, &[self.0.c], seed)?;
        Ok(path.swap_remove(0))
    }

    /// One machine for each C of `costs` (in place of the parameters' own), each started from the one before it.
    ///
    /// # Errors
    /// A cost that is not positive and finite, or as [`train`](Self::train).
    pub fn train_path(
        &self,
        gram: ArrayView2<'_, f64>,
        labels: &[usize],
        classes: usize,
        costs: &[f64],
        seed: u64,
    ) -> Result<Vec<KernelSvm>, SvmError> {
        check_gram(gram)?;
        let problems = self.problems(gram.nrows(), labels, classes, costs)?;
        if self.0.bias {
            let (rows, diagonal) = (DenseRows::new(gram, None), gram.diag().to_vec());
            return Ok(self.paths_with_bias(&rows, &diagonal, &problems));
        }
        let rows = GramRows::new(gram);
        let curvatures: Vec<f64> = (0..rows.len()).map(|i| rows.curvature(i)).collect();
        let path = |class: usize| {
            let machine = DualDescent::new(&rows, problems.signs(class), &curvatures, self.descent_options());
            self.path_without_bias(machine, &problems.costs, seed, class as u64)
        };
        Ok(problems.assemble(problems.classes().into_par_iter().map(path).collect()))
    }

    fn problems<'a>(
        &self,
        items: usize,
        labels: &'a [usize],
        classes: usize,
        costs: &[f64],
    ) -> Result<Problems<'a>, SvmError> {
        costs.iter().try_for_each(|&c| check_positive("c", c))?;
        check_labels(items, labels, classes)?;
        let unit = unit_costs(labels, classes, &self.0.class_weights)?;
        let costs = costs.iter().map(|c| unit.iter().map(|u| c * u).collect()).collect();
        Ok(Problems { labels, classes, costs })
    }

    fn paths_with_bias(&self, rows: &DenseRows<'_>, diagonal: &[f64], problems: &Problems<'_>) -> Vec<KernelSvm> {
        let path = |class: usize| -> Vec<Solved> {
            let mut machine = Smo::new(rows, diagonal, problems.signs(class));
            let mut solve = |costs: &Vec<f64>| {
                let (bias, report) = machine.solve(costs, self.0.tolerance, self.0.max_epochs);
                Solved { coefficients: machine.coefficients().to_vec(), bias, report }
            };
            problems.costs.iter().map(&mut solve).collect()
        };
        problems.assemble(problems.classes().into_par_iter().map(path).collect())
    }

    fn path_without_bias(
        &self,
        mut machine: DualDescent<'_, GramRows<'_>>,
        costs: &[Vec<f64>],
        seed: u64,
        class: u64,
    ) -> Vec<Solved> {
        let mut rng = stream(seed, "", "kernel_svm.visits", class);
        let solve = |costs: &Vec<f64>| {
            let report = machine.solve(costs, &mut rng);
            Solved { coefficients: machine.coefficients(), bias: 0.0, report }
        };
        costs.iter().map(solve).collect()
    }

    fn descent_options(&self) -> DescentOptions {
        let KernelSvmParams { tolerance, max_epochs, .. } = self.0;
        DescentOptions { loss: Loss::Hinge, tolerance, max_epochs, shrinking: true }
    }
}

/// One class against the rest, for every class, at every cost.
struct Problems<'a> {
    labels: &'a [usize],
    classes: usize,
    /// C times the weight of each item, for each C.
    costs: Vec<Vec<f64>>,
}

impl Problems<'_> {
    /// Those that need a machine: of two classes only class 1.
    fn classes(&self) -> std::ops::Range<usize> {
        usize::from(self.classes == 2)..self.classes
    }

    fn signs(&self, class: usize) -> Vec<f64> {
        self.labels.iter().map(|&label| if label == class { 1.0 } else { -1.0 }).collect()
    }

    fn assemble(&self, paths: Vec<Vec<Solved>>) -> Vec<KernelSvm> {
        let mut paths: Vec<_> = paths.into_iter().map(Vec::into_iter).collect();
        let at_next_cost = |_: &Vec<f64>| KernelSvm::assemble(paths.iter_mut().filter_map(Iterator::next).collect());
        self.costs.iter().map(at_next_cost).collect()
    }
}

/// β and b of one machine.
struct Solved {
    coefficients: Vec<f64>,
    bias: f64,
    report: SolveReport,
}

fn check_gram(gram: ArrayView2<'_, f64>) -> Result<(), SvmError> {
    let (rows, columns) = gram.dim();
    if rows != columns {
        return Err(SvmError::NotSquare { rows, columns });
    }
    if rows == 0 {
        return Err(SvmError::Empty { rows, columns });
    }
    if let Some(((row, column), &value)) = gram.indexed_iter().find(|(_, v)| !v.is_finite()) {
        return Err(SvmError::GramNotFinite { row, column, value });
    }
    let largest = gram.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for ((row, column), &value) in gram.indexed_iter() {
        let mirrored = gram[[column, row]];
        if row < column && (value - mirrored).abs() > SYMMETRY_TOLERANCE * largest {
            return Err(SvmError::Asymmetric { row, column, value, mirrored });
        }
    }
    Ok(())
}

/// A trained machine: the items that carry it, and their coefficients for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelSvm {
    items: usize,
    support: Vec<usize>,
    coefficients: Array2<f64>,
    bias: Array1<f64>,
    report: TrainingReport,
}

impl KernelSvm {
    fn assemble(solved: Vec<Solved>) -> Self {
        let items = solved[0].coefficients.len();
        let used = |i: &usize| solved.iter().any(|s| s.coefficients[*i] != 0.0);
        let support: Vec<usize> = (0..items).filter(used).collect();
        // two classes have one machine, whose mirror image scores class 0
        let classes = if solved.len() == 1 { 2 } else { solved.len() };
        let of_class = |class: usize| match solved.as_slice() {
            [only] => (only, if class == 0 { -1.0 } else { 1.0 }),
            several => (&several[class], 1.0),
        };
        let coefficients = Array2::from_shape_fn((classes, support.len()), |(class, k)| {
            let (machine, sign) = of_class(class);
            sign * machine.coefficients[support[k]]
        });
        let bias = (0..classes).map(of_class).map(|(machine, sign)| sign * machine.bias).collect();
        let report = TrainingReport { problems: solved.iter().map(|s| s.report).collect() };
        Self { items, support, coefficients, bias, report }
    }

    /// The training items (rows of the Gram matrix, ascending) with a non-zero coefficient in any class: similarities to the others
    /// need never be computed for a prediction.
    pub fn support(&self) -> &[usize] {
        &self.support
    }

    /// classes × support.
    pub fn coefficients(&self) -> ArrayView2<'_, f64> {
        self.coefficients.view()
    }

    pub fn bias(&self) -> &Array1<f64> {
        &self.bias
    }

    pub fn report(&self) -> &TrainingReport {
        &self.report
    }

    /// Scores (m × classes) from the similarities of m items to all training items (m × n).
    ///
    /// # Errors
    /// [`SvmError::Width`] for another number of columns.
    pub fn decision(&self, similarities: ArrayView2<'_, f64>) -> Result<Array2<f64>, SvmError> {
        if similarities.ncols() != self.items {
            return Err(SvmError::Width { wanted: self.items, found: similarities.ncols() });
        }
        self.decision_on_support(similarities.select(Axis(1), &self.support).view())
    }

    /// Scores (m × classes) from the similarities of m items to the [`support`](Self::support) only, in its order.
    ///
    /// # Errors
    /// [`SvmError::Width`] for another number of columns.
    pub fn decision_on_support(&self, similarities: ArrayView2<'_, f64>) -> Result<Array2<f64>, SvmError> {
        if similarities.ncols() != self.support.len() {
            return Err(SvmError::Width { wanted: self.support.len(), found: similarities.ncols() });
        }
        Ok(similarities.dot(&self.coefficients.t()) + &self.bias)
    }

    /// The class with the highest score, the smaller one in a tie; arguments as for [`decision`](Self::decision).
    pub fn predict(&self, similarities: ArrayView2<'_, f64>) -> Result<Vec<usize>, SvmError> {
        Ok(highest(self.decision(similarities)?.view()))
    }
}
