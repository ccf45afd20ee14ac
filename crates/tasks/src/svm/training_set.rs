//! Labeled rows, checked once, and what each of them weighs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;

use super::{Features, SvmError, check_positive};

/// Cost of the errors of each class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// All classes alike.
    #[default]
    Equal,
    /// n / (classes · rows of the class), so that every class has the same total cost.
    Balanced,
    /// One positive factor a class.
    Given(Vec<f64>),
}

/// Labeled rows that a machine can be trained on: finite features and squares of rows, labels in `0..classes`, every class with an example.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a> {
    pub(crate) features: Features<'a>,
    pub(crate) labels: &'a [usize],
    pub(crate) classes: usize,
    weights: Option<&'a [f64]>,
}

impl<'a> TrainingSet<'a> {
    /// Checks features (n × d) and labels (n, each in `0..classes`). One pass over the data.
    ///
    /// # Errors
    /// No row or column, a NaN or ∞ (row and column named), a row too long to be squared, a label out of range, a single class, a class without a row.
    pub fn new(features: impl Into<Features<'a>>, labels: &'a [usize], classes: usize) -> Result<Self, SvmError> {
        let features = features.into();
        let (rows, columns) = features.shape();
        if rows == 0 || columns == 0 {
            return Err(SvmError::Empty { rows, columns });
        }
        check_labels(rows, labels, classes)?;
        features.check_squares()?;
        Ok(Self { features, labels, classes, weights: None })
    }

    /// Gives each row its own weight: its cost is C times this times the weight of its class.
    ///
    /// # Errors
    /// Another length than the rows', or a weight that is not positive and finite.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self, SvmError> {
        if weights.len() != self.labels.len() {
            return Err(SvmError::Lengths { list: "weights", rows: self.labels.len(), found: weights.len() });
        }
        for &weight in weights {
            check_positive("weights", weight)?;
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Cost of a unit of C at each row: the weight of its class times its own.
    pub(crate) fn unit_costs(&self, class_weights: &ClassWeights) -> Result<Vec<f64>, SvmError> {
        let mut costs = unit_costs(self.labels, self.classes, class_weights)?;
        if let Some(weights) = self.weights {
            costs.iter_mut().zip(weights).for_each(|(cost, weight)| *cost *= weight);
        }
        Ok(costs)
    }
}

/// The weight of each row's class.
pub(crate) fn unit_costs(labels: &[usize], classes: usize, class_weights: &ClassWeights) -> Result<Vec<f64>, SvmError> {
    let of_class = match class_weights {
        ClassWeights::Equal => vec![1.0; classes],
        ClassWeights::Balanced => {
            let mut counts = vec![0.0; classes];
            for &label in labels {
                counts[label] += 1.0;
            }
            counts.iter().map(|count| labels.len() as f64 / (classes as f64 * count)).collect()
        }
        ClassWeights::Given(given) if given.len() == classes => given.clone(),
        ClassWeights::Given(given) => {
            let value = format!("a list of {}", given.len());
            return Err(BadParameter::new("class_weights", value, "one factor a class").into());
        }
    };
    Ok(labels.iter().map(|&label| of_class[label]).collect())
}

pub(crate) fn check_labels(rows: usize, labels: &[usize], classes: usize) -> Result<(), SvmError> {
    if labels.len() != rows {
        return Err(SvmError::Lengths { list: "labels", rows, found: labels.len() });
    }
    let mut seen = vec![false; classes];
    for (row, &label) in labels.iter().enumerate() {
        *seen.get_mut(label).ok_or(SvmError::Label { row, label, classes })? = true;
    }
    if labels.iter().all(|&label| label == labels[0]) {
        return Err(SvmError::OneClass { label: labels[0], rows });
    }
    match seen.iter().position(|&s| !s) {
        Some(class) => Err(SvmError::NoExample { class, classes }),
        None => Ok(()),
    }
}
