//! Error bound of a sketch, from the sketch alone.
//!
//! Every shrink takes at most δ off each direction of the covariance, so ‖XᵀX − YᵀY‖₂ ≤ Σδ; and it takes at least t·δ off the
//! squared norm (t = ⌈l/2⌉ in the form of the paper, l + 1 in the buffered form), so Σδ ≤ (‖X‖²_F − ‖Y‖²_F) / t. Both hold
//! through merges. Neither needs X: a sketch can state them after a stream that nobody kept.

use serde::Serialize;

/// The bound of a sketch, and what it follows from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ErrorBound {
    /// Rows of X seen.
    pub rows: u64,
    /// ‖X‖²_F.
    pub squared_norm: f64,
    /// ‖Y‖²_F ≤ ‖X‖²_F.
    pub sketch_squared_norm: f64,
    /// Σδ ≥ ‖XᵀX − YᵀY‖₂: the bound this very stream has earned.
    pub subtracted: f64,
    pub shrinks: u64,
    /// The bound known beforehand: 2‖X‖²_F / l for the form of the paper, ‖X‖²_F / l for the buffered one (its k = 0).
    pub proven: f64,
}

impl ErrorBound {
    /// Σδ / ‖X‖²_F: the share of the squared norm by which any direction may be short; 0 of nothing.
    pub fn relative(&self) -> f64 {
        if self.squared_norm > 0.0 { self.subtracted / self.squared_norm } else { 0.0 }
    }
}
