//! Faults of a coreference scorer.

use std::path::PathBuf;

use landmark_oracles::neural::ModelFileError;

use crate::encoder::ModelError;

/// A fault of a coreference scorer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorefError {
    /// The encoder, or a file of tensors.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// libtorch.
    #[error("libtorch failed: {0}")]
    Torch(#[from] tch::TchError),
    /// Nothing to learn from.
    #[error("there is no {what} to learn from; {next}")]
    NothingToLearn {
        /// Kind of the examples that are missing.
        what: &'static str,
        /// The next step.
        next: &'static str,
    },
    /// A loss that is no number.
    #[error("the loss of epoch {epoch} is {loss}; lower `learning_rate`")]
    Diverged {
        /// Epoch, from 1.
        epoch: usize,
        loss: f64,
    },
    /// States that cannot be used.
    #[error("`{}` holds {seen} rows of states, wanted are {wanted}; remove it and run again", path.display())]
    States {
        path: PathBuf,
        /// Its rows.
        seen: usize,
        /// Rows of the corpus.
        wanted: usize,
    },
    /// The figure that an epoch is judged by could not be computed.
    #[error("epoch {epoch} cannot be judged: {source}")]
    Judge {
        /// Epoch, from 1.
        epoch: usize,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<ModelFileError> for CorefError {
    fn from(error: ModelFileError) -> Self {
        Self::Model(error.into())
    }
}
