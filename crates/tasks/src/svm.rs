//! Common parts of the linear and the kernel support vector machines: training sets, tolerances, reports, errors.
//!
//! With rows x_i, labels y_i = ±1 and costs C_i (C times the weights of the class and of the sample), a binary machine solves
//!
//! primal: min over w of ½‖w‖² + Σ C_i ℓ(1 − y_i w·x_i), ℓ(t) = max(0, t) (hinge) or max(0, t)² (squared hinge)
//!
//! dual: max over α ≥ 0 of Σα_i − ½ Σ_ij α_i α_j y_i y_j x_i·x_j, with α_i ≤ C_i (hinge) or less Σ α_i² / 4C_i (squared hinge)
//!
//! The gap primal − dual ≥ 0 bounds how far both are from the optimum. It is measured, never assumed: every report carries it.

use landmark_core::parameter::BadParameter;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) mod descent;
pub(crate) mod dual_descent;
mod rows;
mod training_set;
pub(crate) mod vector;

pub(crate) use rows::{BiasedSparseRows, DenseRows, GramRows, Rows};
pub use rows::{Features, SparseRows};

pub use training_set::{ClassWeights, TrainingSet};
pub(crate) use training_set::{check_labels, unit_costs};

/// Loss of an error of the margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// max(0, t): "L1 loss", LIBLINEAR `-s 3`.
    Hinge,
    /// max(0, t)²: "L2 loss", LIBLINEAR `-s 1` (dual) and `-s 2` (primal), scikit-learn's default.
    #[default]
    SquaredHinge,
}

/// When a solver may stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// (primal − dual) / primal is at most this: a bound on the relative error of the objective.
    DualityGap(f64),
    /// The largest minus the smallest projected gradient of the dual is at most this (LIBLINEAR's `-e` for its dual solvers).
    Violation(f64),
}

impl Default for Tolerance {
    fn default() -> Self {
        Self::DualityGap(1e-4)
    }
}

impl Tolerance {
    pub fn value(self) -> f64 {
        match self {
            Self::DualityGap(value) | Self::Violation(value) => value,
        }
    }
}

/// Report of one optimization problem.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolveReport {
    /// Value of the primal objective.
    pub primal: f64,
    /// Value of the dual objective (as a maximum); on an indefinite Gram matrix it bounds nothing.
    pub dual: f64,
    /// Largest minus smallest projected gradient over all dual variables.
    pub violation: f64,
    /// Work in visits per sample: one epoch touches as many rows as there are samples. Newton's method counts its steps here.
    pub epochs: usize,
    /// Samples with α > 0.
    pub support: usize,
    /// True where the tolerance was met; `false` means that the solver gave up at its limit of epochs.
    pub converged: bool,
}

impl SolveReport {
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// (primal − dual) / primal; 0 where the primal is 0.
    pub fn relative_gap(&self) -> f64 {
        if self.primal == 0.0 { 0.0 } else { self.gap() / self.primal.abs() }
    }

    pub(crate) fn meets(&self, tolerance: Tolerance) -> bool {
        match tolerance {
            Tolerance::DualityGap(wanted) => self.relative_gap() <= wanted,
            Tolerance::Violation(wanted) => self.violation <= wanted,
        }
    }
}

/// Why a machine could not be trained or asked. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SvmError {
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("cannot train on {rows} rows of {columns} features: both must be at least 1")]
    Empty { rows: usize, columns: usize },
    #[error("{rows} rows have {found} `{list}`: give one a row")]
    Lengths { list: &'static str, rows: usize, found: usize },
    #[error("row {row} has label {label}, but there are {classes} classes (0 to {})", .classes.saturating_sub(1))]
    Label { row: usize, label: usize, classes: usize },
    #[error("all {rows} training rows have label {label}: a classifier needs at least two labels")]
    OneClass { label: usize, rows: usize },
    #[error("class {class} of {classes} has no training row: drop it from the classes or give it an example")]
    NoExample { class: usize, classes: usize },
    #[error("feature {column} of row {row} is {value}, but must be finite")]
    NotFinite { row: usize, column: usize, value: f64 },
    #[error("row {row} is too long to be squared, but must be shorter than 1e154: divide all rows by one number")]
    TooLong { row: usize },
    #[error("the squares of the rows times `c` {c} add up to more than f64 holds: divide all rows by one number")]
    Overflow { c: f64 },
    #[error("sparse rows: {problem} at {place}")]
    Sparse { problem: &'static str, place: usize },
    #[error("the Gram matrix is {rows} × {columns}, but must be square")]
    NotSquare { rows: usize, columns: usize },
    #[error(
        "the Gram matrix is not symmetric: K({row}, {column}) = {value}, K({column}, {row}) = {mirrored}; average both first"
    )]
    Asymmetric { row: usize, column: usize, value: f64, mirrored: f64 },
    #[error("K({row}, {column}) of the Gram matrix is {value}, but must be finite")]
    GramNotFinite { row: usize, column: usize, value: f64 },
    #[error("the model was trained on {wanted} columns, but is asked about rows of {found}")]
    Width { wanted: usize, found: usize },
    #[error("{0}")]
    Linfa(String),
}

impl From<linfa::Error> for SvmError {
    fn from(error: linfa::Error) -> Self {
        Self::Linfa(error.to_string())
    }
}

/// `value` > 0 and finite.
pub(crate) fn check_positive(parameter: &'static str, value: f64) -> Result<(), SvmError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(BadParameter::new(parameter, value, "positive and finite").into())
    }
}

/// Range check of what every machine takes.
pub(crate) fn check_params(
    c: f64,
    class_weights: &ClassWeights,
    tolerance: Tolerance,
    max_epochs: usize,
) -> Result<(), SvmError> {
    check_positive("c", c)?;
    if let ClassWeights::Given(weights) = class_weights {
        weights.iter().try_for_each(|&weight| check_positive("class_weights", weight))?;
    }
    check_positive("tolerance", tolerance.value())?;
    if max_epochs == 0 {
        return Err(BadParameter::new("max_epochs", "0", "at least 1").into());
    }
    Ok(())
}

/// Machines of one class against the rest.
#[derive(Clone, Copy)]
pub(crate) struct OneVsRest<'a> {
    pub(crate) labels: &'a [usize],
    pub(crate) classes: usize,
}

impl OneVsRest<'_> {
    /// `of` each class and its signs y_i, in parallel; of two classes only class 1, whose mirror image is class 0.
    pub(crate) fn each<T: Send>(self, of: impl Fn(usize, Vec<f64>) -> T + Sync + Send) -> Vec<T> {
        let signs = |class| self.labels.iter().map(|&label| if label == class { 1.0 } else { -1.0 }).collect();
        (usize::from(self.classes == 2)..self.classes).into_par_iter().map(|class| of(class, signs(class))).collect()
    }
}

/// Rows of equal length as columns: of the paths of classes, the solutions of all classes at each cost.
pub(crate) fn transposed<T>(rows: Vec<Vec<T>>) -> impl Iterator<Item = Vec<T>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
    (0..columns).map(move |_| rows.iter_mut().filter_map(Iterator::next).collect())
}
