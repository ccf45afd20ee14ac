//! Kernel support vector machines on a Gram matrix that is already there, positive definite or not: the exact baseline that
//! factored features are measured against, and the machine of the "saving" of Croce, Filice & Basili (2016) (its support vectors against our landmarks).
//!
//! f(x) = Σ_i β_i K(x_i, x) + b with the hinge loss, one class against the rest; the class with the highest score wins. With a bias,
//! each machine is found by SMO; without one, by the same dual coordinate descent as the linear machines, on rows of K.
//!
//! An indefinite K (a transformed distance, a cross-encoder) has no primal problem behind it: both solvers then stop at a
//! stationary point of the box-constrained dual, every step having improved it, and `gap` in the report certifies nothing. Stop by
//! violation (the default) rather than by gap there. The squared hinge is not offered: its dual has no box, and an indefinite
//! K could make it unbounded.
//!
//! Cost: O(n) per step, n² entries of K read where they lie (rows that are not contiguous are copied once); classes in parallel.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use landmark_core::stream::stream;

use crate::linear_svm::{TrainingReport, highest};
use crate::svm::descent::DescentOptions;
use crate::svm::dual_descent::DualDescent;
use crate::svm::{
    ClassWeights, DenseRows, GramRows, Loss, OneVsRest, Rows, SolveReport, SvmError, Tolerance, check_labels,
    check_params, check_positive, transposed, unit_costs,
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
    /// True where scores have a free (unregularized) bias, as in LIBSVM.
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
        check_params(self.c, &self.class_weights, self.tolerance, self.max_epochs)?;
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
        costs.iter().try_for_each(|&c| check_positive("c", c))?;
        check_labels(gram.nrows(), labels, classes)?;
        let unit = unit_costs(labels, classes, &self.0.class_weights)?;
        // C times the weight of each item, for each C
        let costs: Vec<Vec<f64>> = costs.iter().map(|c| unit.iter().map(|u| c * u).collect()).collect();
        let KernelSvmParams { bias, tolerance, max_epochs, .. } = self.0;
        let problems = OneVsRest { labels, classes };
        let paths: Vec<Vec<Solved>> = if bias {
            let (rows, diagonal) = (DenseRows::new(gram, None), gram.diag().to_vec());
            problems.each(|_, signs| {
                let mut machine = Smo::new(&rows, &diagonal, signs);
                let solve = |costs: &Vec<f64>| {
                    let (bias, report) = machine.solve(costs, tolerance, max_epochs);
                    Solved { coefficients: machine.coefficients().to_vec(), bias, report }
                };
                costs.iter().map(solve).collect()
            })
        } else {
            let rows = GramRows::new(gram);
            let curvatures: Vec<f64> = (0..rows.len()).map(|i| rows.curvature(i)).collect();
            let options = DescentOptions { loss: Loss::Hinge, tolerance, max_epochs, shrinking: true };
            problems.each(|class, signs| {
                let mut machine = DualDescent::new(&rows, signs, &curvatures, options);
                let mut rng = stream(seed, "", "kernel_svm.visits", class as u64);
                let solve = |costs: &Vec<f64>| {
                    let report = machine.solve(costs, &mut rng);
                    Solved { coefficients: machine.coefficients(), bias: 0.0, report }
                };
                costs.iter().map(solve).collect()
            })
        };
        Ok(transposed(paths).map(KernelSvm::assemble).collect())
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
    pub fn decision(&self, similarities: ArrayView2<'_, f64>) -> Result<Array2<f64>, SvmError> {
        if similarities.ncols() != self.items {
            return Err(SvmError::Width { wanted: self.items, found: similarities.ncols() });
        }
        self.decision_on_support(similarities.select(Axis(1), &self.support).view())
    }

    /// Scores (m × classes) from the similarities of m items to the [`support`](Self::support) only, in its order.
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
