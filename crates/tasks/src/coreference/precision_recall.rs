//! Precision, recall and F1 from sums over documents; 0/0 = 0.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Fraction {
    pub(super) part: f64,
    pub(super) whole: f64,
}

impl Fraction {
    pub(super) fn value(self) -> f64 {
        if self.whole == 0.0 { 0.0 } else { self.part / self.whole }
    }

    pub(super) fn add(&mut self, (part, whole): (f64, f64)) {
        self.part += part;
        self.whole += whole;
    }
}

/// Precision, recall and their harmonic mean, as fractions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecall {
    /// Share of the response that is right.
    pub precision: f64,
    /// Share of the key that is found.
    pub recall: f64,
    pub f1: f64,
}

impl PrecisionRecall {
    pub(super) fn new(precision: Fraction, recall: Fraction) -> Self {
        let (precision, recall) = (precision.value(), recall.value());
        let sum = precision + recall;
        Self { precision, recall, f1: if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum } }
    }
}
