//! The approximators: from bought columns to a factored matrix.
//!
//! Every method is one file, one set of checked parameters and one implementation of [`Approximate`].

use serde::Serialize;

use crate::approximation::Approximation;
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleError, OracleShape};
use crate::stream::Rng;

/// A method that buys entries of K and returns K̃ in factored form.
///
/// `rank` is s, the size of the first landmark set (`s1` of the papers). A method that needs more (S2 of SMS-Nyström, the
/// rows of SiCUR) takes a longer prefix of the same nested order, so that all methods of a replicate share landmarks.
pub trait Approximate: Send + Sync {
    /// The stable id of the field: `nystrom`, `sms_nystrom`, …
    fn id(&self) -> &'static str;

    /// What [`fit`](Approximate::fit) will request. Pure: no oracle call.
    ///
    /// # Errors
    /// A rank of 0 or above n, or too few landmarks.
    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError>;

    /// Buys exactly what [`plan`](Approximate::plan) says and factors it. `rng` serves choices that cost nothing
    /// (folds of an internal validation).
    ///
    /// # Errors
    /// As `plan`; whatever the oracle answers; a factorisation that did not converge.
    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError>;

    /// The largest rank whose cells do not exceed those of `columns` full columns: how methods are compared at equal
    /// entries rather than at equal rank.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize;
}

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
    /// The oracle's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A factorisation failed.
    #[error("{op} of a {rows} × {cols} matrix did not converge{hint}")]
    Linalg {
        /// The operation.
        op: &'static str,
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
        /// What to try.
        hint: &'static str,
    },
    /// A symmetric method was handed an asymmetric oracle.
    #[error("`{method}` needs a symmetric oracle; wrap it in `Symmetrized` (`oracle.symmetrize: mean`)")]
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
    /// Error of the proxy alone on the bought columns, where a proxy was used.
    pub proxy_error: Option<f64>,
    /// Held-out error of the chosen (shift, ridge), where one was chosen.
    pub validation_error: Option<f64>,
    /// Wall seconds of the fit, oracle included.
    pub seconds: f64,
}
