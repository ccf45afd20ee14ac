//! Why a task could not be done.

use crate::metrics::MetricError;
use crate::svm::SvmError;

/// Why a task could not be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    #[error(transparent)]
    Svm(#[from] SvmError),
    #[error(transparent)]
    Metric(#[from] MetricError),
    #[error("fold {fold} of {folds}: {source}")]
    Fold { fold: usize, folds: usize, source: Box<TaskError> },
    #[error("cannot cut {items} items into {folds} folds: `folds` must be between 2 and the number of items")]
    Folds { folds: usize, items: usize },
    #[error("{items} items have {labels} labels: give one an item")]
    Labels { items: usize, labels: usize },
    #[error("the {part} set names item {item}, but there are {items} items (0 to {})", .items.saturating_sub(1))]
    NoSuchItem { part: &'static str, item: usize, items: usize },
    #[error("item {item} is in the split twice: train and test sets must be disjoint and without repetition")]
    Repeated { item: usize },
    #[error("the {part} set is empty")]
    EmptyPart { part: &'static str },
}
