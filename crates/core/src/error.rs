//! Errors of a fit, apart from the methods, so that what they return can carry them without knowing the methods.

use crate::landmarks::LandmarkError;
use crate::linalg::{LinalgError, NotPositiveDefinite};
use crate::oracle::OracleError;
use crate::parameter::BadParameter;

/// Reason why a matrix could not be approximated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproximateError {
    /// Rank 0, or more landmarks than items.
    #[error("rank {rank} is impossible for {len} items: it must be between 1 and {len}")]
    Rank {
        /// The rank asked for.
        rank: usize,
        /// Number of items.
        len: usize,
    },
    /// The landmark list is shorter than the method needs.
    #[error("`{method}` at rank {rank} needs {needed} landmarks, but only {given} are given")]
    TooFewLandmarks {
        /// Method id.
        method: &'static str,
        /// The rank asked for.
        rank: usize,
        /// Landmarks needed.
        needed: usize,
        /// Landmarks at hand.
        given: usize,
    },
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// Landmarks that can't be had.
    #[error(transparent)]
    Landmarks(#[from] LandmarkError),
    /// The oracle's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// Least squares without a solution.
    #[error("cannot fit the residuals of an item; look for extreme or non-finite scores")]
    LeastSquares(#[from] NotPositiveDefinite),
    /// The exact diagonal was asked for, but every self-similarity costs a call.
    #[error(
        "the diagonal is to be returned exactly, but this oracle does not know its self-similarities without a call; leave the diagonal out of what is known"
    )]
    NoKnownDiagonal,
    /// A method that chooses pairs by scores it has seen, over one order a pair.
    #[error(
        "`{method}` chooses pairs by the scores it has seen, and one order a pair takes several fits, each of which would choose its own: read columns alone"
    )]
    ChoosesPairs {
        /// Method id.
        method: &'static str,
    },
    /// A symmetric method was handed an asymmetric oracle.
    #[error("`{method}` needs a symmetric score, and the order of a pair matters to this one: symmetrise it first")]
    Asymmetric {
        /// Method id.
        method: &'static str,
    },
}
