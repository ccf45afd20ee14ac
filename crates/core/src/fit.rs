//! What a fit has to say: its report, or why it failed.
//!
//! Apart from the methods, so that what they return can carry it without knowing them.

use serde::Serialize;

use crate::landmarks::LandmarkError;
use crate::linalg::LinalgError;
use crate::oracle::OracleError;

/// Why a matrix could not be approximated.
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
    #[error("`{method}`: `{parameter}` is {value}, but must be {wanted}")]
    Parameter {
        /// Method id.
        method: &'static str,
        /// Parameter name as in the configuration.
        parameter: &'static str,
        /// The value seen.
        value: String,
        /// The range wanted.
        wanted: &'static str,
    },
    /// Landmarks that can't be had.
    #[error(transparent)]
    Landmarks(#[from] LandmarkError),
    /// The oracle's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// The exact diagonal was asked for, but every self-similarity costs a call.
    #[error("`known` lists `diagonal`, but this oracle does not know its self-similarities without a call; remove it")]
    NoKnownDiagonal,
    /// A symmetric method was handed an asymmetric oracle.
    #[error(
        "`{method}` needs a symmetric oracle; say `symmetrize: mean` under `oracle:` (in Rust: wrap it in `Symmetrized`)"
    )]
    Asymmetric {
        /// Method id.
        method: &'static str,
    },
}

/// What a fit has to say about itself; nothing is repaired silently.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FitReport {
    /// Method id.
    pub method: String,
    /// s, the size of the first landmark set.
    pub rank: usize,
    /// Eigenvalue shift e ≥ 0 that was added (SMS-Nyström, shift_ridge), else 0.
    pub shift: f64,
    /// Ridge ρ (shift_ridge), else 0.
    pub ridge: f64,
    /// λmin of the landmark block that decided the shift, where one was computed.
    pub lambda_min: Option<f64>,
    /// Negative eigenvalues of K[S1, S1].
    pub negative_eigenvalues: Option<usize>,
    /// max|w| / min|w| over the eigenvalues kept.
    pub condition: Option<f64>,
    /// Eigenvalues or singular values dropped by the pseudo-inverse.
    pub dropped: usize,
    /// Identity of the proxy, 64 hexadecimal digits, where one was used.
    pub proxy: Option<String>,
    /// Relative error of the proxy alone on the bought columns, off the diagonal.
    pub proxy_error: Option<f64>,
    /// Whether the method's core was left out, because held-out columns were predicted better by the proxy alone.
    pub core_dropped: bool,
    /// Held-out relative error of the chosen (shift, ridge), where one was chosen.
    pub validation_error: Option<f64>,
    /// The (shift, ridge) of the positive semi-definite embedding, where it was chosen apart.
    pub clipped_choice: Option<(f64, f64)>,
    /// Wall seconds of the fit, oracle included.
    pub seconds: f64,
}
