//! Errors of a fit, apart from the methods, so that what they return can carry them without knowing the methods.

use crate::landmarks::LandmarkError;
use crate::linalg::{LinalgError, NotPositiveDefinite};
use crate::oracle::OracleError;
use crate::parameter::BadParameter;

/// Reason why a matrix could not be approximated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproximateError {
    #[error("rank {rank} is impossible for {len} items: it must be between 1 and {len}")]
    Rank { rank: usize, len: usize },
    #[error("`{method}` at rank {rank} needs {needed} landmarks, but only {given} are given")]
    TooFewLandmarks { method: &'static str, rank: usize, needed: usize, given: usize },
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error(transparent)]
    Landmarks(#[from] LandmarkError),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    #[error("cannot fit the residuals of an item; look for extreme or non-finite scores")]
    LeastSquares(#[from] NotPositiveDefinite),
    #[error(
        "the diagonal is to be returned exactly, but this oracle does not know its self-similarities without a call; leave the diagonal out of what is known"
    )]
    NoKnownDiagonal,
    #[error(
        "`{method}` chooses pairs by the scores it has seen, and one order a pair takes several fits, each of which would choose its own: read columns alone"
    )]
    ChoosesPairs { method: &'static str },
    #[error("`{method}` needs a symmetric score, and the order of a pair matters to this one: symmetrize it first")]
    Asymmetric { method: &'static str },
}
