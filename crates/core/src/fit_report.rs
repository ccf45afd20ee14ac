//! Report of a fit, apart from the methods, so that what they return can carry it without knowing them.

use serde::Serialize;

/// Choices and losses of a fit; nothing is repaired silently.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FitReport {
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
    /// Relative error of the proxy alone on the evaluated columns, off the diagonal.
    pub proxy_error: Option<f64>,
    /// True where the link of the proxy also uses the hubness of the items.
    #[serde(rename = "knows_popularity")]
    pub knows_hubness: bool,
    /// True where the method's core was left out, because held-out columns were predicted better by the proxy alone.
    pub core_dropped: bool,
    /// Pairs evaluated outside the columns, chosen by what the columns hold.
    pub scattered: usize,
    /// Held-out relative error of the chosen (shift, ridge), where one was chosen.
    pub validation_error: Option<f64>,
    /// Wall seconds of the fit, oracle included.
    pub seconds: f64,
}
