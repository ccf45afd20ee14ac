//! Linear support vector machines on features: the workhorse behind every classification table.
//!
//! A class scores an item by w_m·x + b_m and the highest score wins (ties: the smaller class). The machines are trained one class
//! against the rest, each by finite Newton or dual coordinate descent, or all together by Crammer & Singer's formulation; [`svm`](crate::svm)
//! states the objectives, the files below it the updates. Two classes need a single machine, whose mirror image scores class 0.
//!
//! The bias is the weight of a constant feature and so is regularized like the others (LIBLINEAR's `-B`).
//! Factors of an indefinite matrix come with a signature ±1 a column; the machine sees the columns as plain features, that is,
//! the associated positive definite space and not the indefinite inner product.
//!
//! Cost: O(n·d) an epoch and class, classes in parallel; memory O(n + d) a class at work in addition to the rows. Dense rows that are wider than
//! there are of them, up to 4,096, take O(n²) an epoch, and n² numbers for all classes, once their inner products are worth taking. The result
//! depends on the seed only through the order of visits, and not on the number of threads.

use ndarray::{Array1, Array2, ArrayView2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;
use landmark_core::stream::stream;

use crate::svm::descent::DescentOptions;
use crate::svm::dual_descent::DualDescent;
use crate::svm::{
    BiasedSparseRows, ClassWeights, DenseRows, Features, Loss, OneVsRest, Rows, SolveReport, SvmError, Tolerance,
    TrainingSet, check_labels, check_params, check_positive, transposed, unit_costs,
};

mod crammer_singer;
mod folds;
mod linfa_traits;
mod newton;

use crammer_singer::CrammerSinger;
use folds::{FoldMachines, Shared};
use newton::{Climb, Newton};

/// Multi-class strategy: one machine a class, or one for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MultiClass {
    /// One machine a class, against all other classes.
    #[default]
    OneVsRest,
    /// One machine for all classes (Crammer & Singer 2001); its loss is the hinge.
    CrammerSinger,
}

/// Solver of one machine against the rest. Both methods lead to the same optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// Newton where it applies and has at most [`NEWTON_WIDTH`] columns and no more of them than rows, else dual descent.
    #[default]
    Auto,
    /// Dual coordinate descent: both losses, dense and sparse rows, any width.
    DualDescent,
    /// Finite Newton: squared hinge on dense rows, one-vs-rest. Far fewer passes at large C or with overlapping classes, and
    /// d² numbers of memory a class at work.
    Newton,
}

/// The widest rows (bias included) for which [`Solver::Auto`] takes Newton: 32 MiB of Gram matrix a class at work.
pub const NEWTON_WIDTH: usize = 2048;

/// Parameters as a configuration gives them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinearSvmParams {
    /// Cost C of an error against the regularizer ½‖w‖² (the λ⁻¹ of the papers): positive.
    pub c: f64,
    /// Loss of an error. [`MultiClass::CrammerSinger`] always uses the hinge.
    pub loss: Loss,
    /// One against the rest, or all together.
    pub multi_class: MultiClass,
    /// Solver of one-vs-rest.
    pub solver: Solver,
    /// The constant feature behind the bias: `None` for machines through the origin (LIBLINEAR's default).
    pub bias: Option<f64>,
    /// Weight of each class.
    pub class_weights: ClassWeights,
    /// When to stop.
    pub tolerance: Tolerance,
    /// Give up after this many epochs (the report then shows `converged: false`).
    pub max_epochs: usize,
    /// Set coordinates aside that seem settled: the same solution, sooner.
    pub shrinking: bool,
}

impl Default for LinearSvmParams {
    fn default() -> Self {
        Self {
            c: 1.0,
            loss: Loss::default(),
            multi_class: MultiClass::default(),
            solver: Solver::default(),
            bias: Some(1.0),
            class_weights: ClassWeights::default(),
            tolerance: Tolerance::default(),
            max_epochs: 1000,
            shrinking: true,
        }
    }
}

impl LinearSvmParams {
    /// The parameters, checked once.
    ///
    /// # Errors
    /// C, bias, tolerance or a class weight that is not positive and finite; no epoch.
    pub fn check(self) -> Result<LinearSvmValidParams, SvmError> {
        check_params(self.c, &self.class_weights, self.tolerance, self.max_epochs)?;
        self.bias.map_or(Ok(()), |bias| check_positive("bias", bias))?;
        let newton_applies = self.loss == Loss::SquaredHinge && self.multi_class == MultiClass::OneVsRest;
        if self.solver == Solver::Newton && !newton_applies {
            let wanted = "`auto` or `dual_descent` unless `loss: squared_hinge` and `multi_class: one_vs_rest`";
            return Err(BadParameter::new("solver", "newton", wanted).into());
        }
        Ok(LinearSvmValidParams(self))
    }
}

/// Checked parameters: the estimator.
///
/// ```
/// use landmark_tasks::linear_svm::LinearSvmParams;
/// use ndarray::array;
///
/// let x = array![[1.0, 0.1], [0.9, -0.2], [-1.1, 0.0], [-0.8, 0.3]];
/// let machine = LinearSvmParams::default().check()?.train(x.view(), &[0, 0, 1, 1], 2, 2022)?;
/// assert!(machine.report().converged());
/// assert_eq!(machine.predict(array![[0.7, 0.0], [-2.0, 1.0]].view())?, [0, 1]);
/// # Ok::<(), landmark_tasks::svm::SvmError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSvmValidParams(LinearSvmParams);

impl LinearSvmValidParams {
    /// Trains on rows x (n × d, dense or sparse) with labels in `0..classes`.
    pub fn train<'a>(
        &self,
        x: impl Into<Features<'a>>,
        labels: &'a [usize],
        classes: usize,
        seed: u64,
    ) -> Result<LinearSvm, SvmError> {
        self.train_on(&TrainingSet::new(x, labels, classes)?, seed)
    }

    /// Trains on a checked training set.
    ///
    /// # Errors
    /// Class weights that do not match the number of classes, [`SvmError::Overflow`] of Newton's method.
    pub fn train_on(&self, set: &TrainingSet<'_>, seed: u64) -> Result<LinearSvm, SvmError> {
        let mut path = self.train_path(set, &[self.0.c], seed)?;
        Ok(path.swap_remove(0))
    }

    /// One machine for each C of `costs` (in place of the parameters' own), each started from the one before it. Ascending costs
    /// are the fastest order; the solutions are those of separate runs to within the tolerance.
    ///
    /// # Errors
    /// A cost that is not positive and finite, or as [`train_on`](Self::train_on).
    pub fn train_path(&self, set: &TrainingSet<'_>, costs: &[f64], seed: u64) -> Result<Vec<LinearSvm>, SvmError> {
        costs.iter().try_for_each(|&c| check_positive("c", c))?;
        let unit = set.unit_costs(&self.0.class_weights)?;
        let paths = Paths { params: &self.0, set, unit: &unit, costs, seed };
        Ok(match set.features {
            Features::Dense(x) => {
                let rows = DenseRows::new(x, self.0.bias);
                if paths.use_newton(rows.width(), rows.len()) { paths.newton(&rows)? } else { paths.train(&rows) }
            }
            Features::Sparse(_) if self.0.solver == Solver::Newton => {
                let wanted = "`auto` or `dual_descent` for sparse rows";
                return Err(BadParameter::new("solver", "newton", wanted).into());
            }
            Features::Sparse(rows) => paths.train(&BiasedSparseRows { rows, bias: self.0.bias }),
        })
    }

    /// The paths of [`train_path`](Self::train_path) on several parts of the rows x (n × d, finite), which overlap as the training rows of folds do: by part,
    /// then by cost, all parts at once. `None` where [`Solver::Auto`] or the tolerance wants another solver, or a part lacks a class.
    pub(crate) fn train_folds<'a>(
        &self,
        x: ArrayView2<'a, f64>,
        labels: &'a [usize],
        classes: usize,
        parts: &[&[usize]],
        costs: &[f64],
    ) -> Result<Option<Vec<Vec<LinearSvm>>>, SvmError> {
        let set = TrainingSet::new(x, labels, classes)?;
        let rows = DenseRows::new(x, self.0.bias);
        let paths = Paths { params: &self.0, set: &set, unit: &[], costs, seed: 0 };
        let applies = parts.iter().all(|part| paths.use_newton(rows.width(), part.len()));
        if !applies || !matches!(self.0.tolerance, Tolerance::DualityGap(_)) {
            return Ok(None);
        }
        let mut units = vec![vec![0.0; labels.len()]; parts.len()];
        for (units, part) in units.iter_mut().zip(parts) {
            let of_part: Vec<usize> = part.iter().map(|&i| labels[i]).collect();
            if check_labels(part.len(), &of_part, classes).is_err() {
                return Ok(None);
            }
            let costs = unit_costs(&of_part, classes, &self.0.class_weights)?;
            part.iter().zip(costs).for_each(|(&i, cost)| units[i] = cost);
        }
        paths.newton_of_folds(x, &rows, &units).map(Some)
    }
}

/// A training set, and the costs for which it is solved in turn.
struct Paths<'p, 's> {
    params: &'p LinearSvmParams,
    set: &'p TrainingSet<'s>,
    unit: &'p [f64],
    costs: &'p [f64],
    seed: u64,
}

/// Weights (with the bias feature's last, where there is one) of one machine, and how it was found.
struct Solved {
    weights: Vec<f64>,
    report: SolveReport,
}

impl Paths<'_, '_> {
    fn train<R: Rows>(&self, rows: &R) -> Vec<LinearSvm> {
        let curvatures: Vec<f64> = (0..rows.len()).map(|i| rows.curvature(i)).collect();
        match self.params.multi_class {
            MultiClass::CrammerSinger => self.crammer_singer(rows, &curvatures),
            MultiClass::OneVsRest => self.one_vs_rest(rows, &curvatures),
        }
    }

    fn options(&self) -> DescentOptions {
        let LinearSvmParams { loss, tolerance, max_epochs, shrinking, .. } = *self.params;
        DescentOptions { loss, tolerance, max_epochs, shrinking }
    }

    fn costs_of_rows(&self, c: f64) -> Vec<f64> {
        self.unit.iter().map(|unit| c * unit).collect()
    }

    fn use_newton(&self, width: usize, rows: usize) -> bool {
        match self.params.solver {
            Solver::Newton => true,
            Solver::DualDescent => false,
            Solver::Auto => {
                self.params.loss == Loss::SquaredHinge
                    && self.params.multi_class == MultiClass::OneVsRest
                    && width <= NEWTON_WIDTH.min(rows)
            }
        }
    }

    fn classes(&self) -> OneVsRest<'_> {
        OneVsRest { labels: self.set.labels, classes: self.set.classes }
    }

    fn one_vs_rest<R: Rows>(&self, rows: &R, curvatures: &[f64]) -> Vec<LinearSvm> {
        self.by_cost(self.classes().each(|class, signs| {
            let mut machine = DualDescent::new(rows, signs, curvatures, self.options());
            let mut rng = stream(self.seed, "", "linear_svm.visits", class as u64);
            let solve = |&c: &f64| {
                let report = machine.solve(&self.costs_of_rows(c), &mut rng);
                Solved { weights: machine.state().to_vec(), report }
            };
            self.costs.iter().map(solve).collect()
        }))
    }

    fn newton(&self, rows: &DenseRows<'_>) -> Result<Vec<LinearSvm>, SvmError> {
        let gram = newton::gram_of_all(rows, self.unit);
        let of_class: Vec<Result<Vec<Solved>, SvmError>> = self.classes().each(|_, signs| {
            let mut machine = Newton::new(rows, signs, self.unit, gram.clone(), self.options());
            let mut climb = Climb::from_zero(rows);
            let solve = |&c: &f64| {
                let report = climb.to(c, |c| machine.solve(c))?;
                Ok(Solved { weights: machine.weights().to_vec(), report })
            };
            self.costs.iter().map(solve).collect()
        });
        Ok(self.by_cost(of_class.into_iter().collect::<Result<_, _>>()?))
    }

    /// By fold, then by cost; `units` by fold: costs of the rows for C = 1, 0 where the fold tests.
    fn newton_of_folds(
        &self,
        x: ArrayView2<'_, f64>,
        rows: &DenseRows<'_>,
        units: &[Vec<f64>],
    ) -> Result<Vec<Vec<LinearSvm>>, SvmError> {
        let shared = Shared::of_all(rows, units);
        let of_class: Vec<Result<Vec<Vec<Solved>>, SvmError>> = self.classes().each(|_, signs| {
            let mut machines = FoldMachines::new(x.view(), rows, signs, units, shared.start(), self.options());
            let mut of_fold: Vec<Vec<Solved>> = units.iter().map(|_| Vec::new()).collect();
            let mut climb = Climb::from_zero(rows);
            for &c in self.costs {
                for (fold, report) in climb.to(c, |c| machines.solve(c))?.into_iter().enumerate() {
                    of_fold[fold].push(Solved { weights: machines.weights(fold), report });
                }
            }
            Ok(of_fold)
        });
        let of_class: Vec<Vec<Vec<Solved>>> = of_class.into_iter().collect::<Result<_, _>>()?;
        Ok(transposed(of_class).map(|of_fold| self.by_cost(of_fold)).collect())
    }

    /// The machines of all classes at each cost.
    fn by_cost(&self, of_class: Vec<Vec<Solved>>) -> Vec<LinearSvm> {
        transposed(of_class).map(|solved| self.assemble(solved)).collect()
    }

    fn crammer_singer<R: Rows>(&self, rows: &R, curvatures: &[f64]) -> Vec<LinearSvm> {
        let mut machine = CrammerSinger::new(rows, self.set.labels, self.set.classes, curvatures, self.options());
        let mut rng = stream(self.seed, "", "linear_svm.visits", 0);
        let solve = |&c: &f64| {
            let report = machine.solve(&self.costs_of_rows(c), &mut rng);
            let of_class: Vec<&[f64]> = machine.weights().chunks(rows.width()).collect();
            let (weights, bias) = self.split(&of_class);
            LinearSvm { weights, bias, report: TrainingReport { problems: vec![report] } }
        };
        self.costs.iter().map(solve).collect()
    }

    /// One machine a class, or the single one of two classes with its mirror image.
    fn assemble(&self, solved: Vec<Solved>) -> LinearSvm {
        let (weights, bias) = match solved.as_slice() {
            [only] => {
                let mirrored: Vec<f64> = only.weights.iter().map(|w| -w).collect();
                self.split(&[&mirrored, &only.weights])
            }
            several => self.split(&several.iter().map(|s| s.weights.as_slice()).collect::<Vec<_>>()),
        };
        LinearSvm { weights, bias, report: TrainingReport { problems: solved.iter().map(|s| s.report).collect() } }
    }

    /// Weight vectors with the constant feature's weight taken off and multiplied out.
    fn split(&self, machines: &[&[f64]]) -> (Array2<f64>, Array1<f64>) {
        let columns = self.set.features.shape().1;
        let mut weights = Array2::zeros((machines.len(), columns));
        let mut bias = Array1::zeros(machines.len());
        for (class, machine) in machines.iter().enumerate() {
            let (features, constant) = machine.split_at(columns);
            weights.row_mut(class).assign(&ndarray::aview1(features));
            bias[class] = constant.iter().zip(self.params.bias).map(|(w, value)| w * value).sum();
        }
        (weights, bias)
    }
}

/// A trained machine: one weight vector and one bias a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearSvm {
    weights: Array2<f64>,
    bias: Array1<f64>,
    report: TrainingReport,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingReport {
    /// One report a class for one-vs-rest with three classes or more, else a single one.
    pub problems: Vec<SolveReport>,
}

impl TrainingReport {
    /// True where every problem met the tolerance.
    pub fn converged(&self) -> bool {
        self.problems.iter().all(|p| p.converged)
    }

    /// The largest relative duality gap.
    pub fn relative_gap(&self) -> f64 {
        self.problems.iter().map(SolveReport::relative_gap).fold(0.0, f64::max)
    }

    /// The most epochs any problem took.
    pub fn epochs(&self) -> usize {
        self.problems.iter().map(|p| p.epochs).max().unwrap_or(0)
    }
}

impl LinearSvm {
    /// classes × d.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    pub fn bias(&self) -> &Array1<f64> {
        &self.bias
    }

    pub fn report(&self) -> &TrainingReport {
        &self.report
    }

    /// Scores of every class: n × classes.
    pub fn decision<'a>(&self, x: impl Into<Features<'a>>) -> Result<Array2<f64>, SvmError> {
        let x = x.into();
        let (rows, found) = x.shape();
        if found != self.weights.ncols() {
            return Err(SvmError::Width { wanted: self.weights.ncols(), found });
        }
        Ok(match x {
            Features::Dense(x) => x.dot(&self.weights.t()) + &self.bias,
            Features::Sparse(x) => Array2::from_shape_fn((rows, self.bias.len()), |(i, class)| {
                x.row(i).map(|(j, v)| v * self.weights[[class, j]]).sum::<f64>() + self.bias[class]
            }),
        })
    }

    /// The class with the highest score, the smaller one in a tie.
    pub fn predict<'a>(&self, x: impl Into<Features<'a>>) -> Result<Vec<usize>, SvmError> {
        Ok(highest(self.decision(x)?.view()))
    }
}

/// The column of each row's largest value, the first in a tie.
pub(crate) fn highest(scores: ArrayView2<'_, f64>) -> Vec<usize> {
    let best = |row: ndarray::ArrayView1<'_, f64>| {
        let first = (0, f64::NEG_INFINITY);
        row.iter().enumerate().fold(first, |best, (k, &score)| if score > best.1 { (k, score) } else { best }).0
    };
    scores.outer_iter().map(best).collect()
}
