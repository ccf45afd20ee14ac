//! Faults of a coreference scorer.

use std::path::PathBuf;

use landmark_oracles::neural::ModelFileError;

use crate::encoder::ModelError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorefError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("libtorch failed: {0}")]
    Torch(#[from] tch::TchError),
    #[error("there is no {what} to learn from; {next}")]
    NothingToLearn { what: &'static str, next: &'static str },
    #[error("the loss of epoch {epoch} is {loss}; lower `learning_rate`")]
    Diverged { epoch: usize, loss: f64 },
    #[error("`{}` holds {seen} rows of states (expected {wanted}); remove it and run again", path.display())]
    States { path: PathBuf, seen: usize, wanted: usize },
    #[error("epoch {epoch} cannot be judged: {source}")]
    Judge { epoch: usize, source: Box<dyn std::error::Error + Send + Sync> },
}

impl From<ModelFileError> for CorefError {
    fn from(error: ModelFileError) -> Self {
        Self::Model(error.into())
    }
}
