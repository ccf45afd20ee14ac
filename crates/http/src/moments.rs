//! Mean and variance of numbers that come one by one.

/// Number of values, their mean and the sum of their squared deviations from it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) mean: f64,
    squares: f64,
}

impl Moments {
    pub(crate) fn take(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
    }

    /// Of two values or more.
    pub(crate) fn variance(&self) -> Option<f64> {
        (self.count >= 2).then(|| self.squares / (self.count - 1) as f64)
    }
}
