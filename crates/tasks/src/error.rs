//! Why a task could not be done.

use crate::metrics::MetricError;
use crate::svm::SvmError;

/// Why a task could not be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Training or asking a machine failed.
    #[error(transparent)]
    Svm(#[from] SvmError),
    /// A figure could not be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Training on one fold failed.
    #[error("fold {fold} of {folds}: {source}")]
    Fold {
        /// Fold, 0-based.
        fold: usize,
        /// Number of folds.
        folds: usize,
        /// Why.
        source: Box<TaskError>,
    },
    /// A number of folds that cannot be cut.
    #[error("cannot cut {items} items into {folds} folds: `folds` must be between 2 and the number of items")]
    Folds {
        /// Folds wanted.
        folds: usize,
        /// Items at hand.
        items: usize,
    },
    /// Labels that do not match the items.
    #[error("{items} items have {labels} labels: give one an item")]
    Labels {
        /// Rows of the features or of the Gram matrix.
        items: usize,
        /// Labels given.
        labels: usize,
    },
    /// A split that names an item that is not there.
    #[error("the {part} set names item {item}, but there are {items} items (0 to {})", .items.saturating_sub(1))]
    NoSuchItem {
        /// `train` or `test`.
        part: &'static str,
        /// The index.
        item: usize,
        /// Number of items.
        items: usize,
    },
    /// An item trained and tested on, or named twice.
    #[error("item {item} is in the split twice: train and test sets must be disjoint and without repetition")]
    Repeated {
        /// The index.
        item: usize,
    },
    /// No item to train or to test on.
    #[error("the {part} set is empty")]
    EmptyPart {
        /// `train` or `test`.
        part: &'static str,
    },
}
