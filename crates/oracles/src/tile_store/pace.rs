//! How much to buy at a time: about half a second's worth, whatever a score costs.

/// Entries of the first batch: few, for a score may take a minute.
const FIRST: usize = 32;
/// Entries of the largest batch and tile: 2 MB of values.
pub(super) const LARGEST: usize = 1 << 18;
/// Seconds that a batch should take.
const TARGET: f64 = 0.5;
/// Seconds of buying after which a tile is published.
const PUBLISH: f64 = 1.0;

/// The batch size so far, and what waits to be published.
pub(super) struct Pace {
    batch: usize,
    entries: usize,
    seconds: f64,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { batch: FIRST, entries: 0, seconds: 0.0 }
    }

    /// Entries to ask for next.
    pub(super) fn batch(&self) -> usize {
        self.batch
    }

    /// Takes note of a purchase and adapts, at most fourfold at a time.
    pub(super) fn bought(&mut self, entries: usize, seconds: f64) {
        self.entries += entries;
        self.seconds += seconds;
        let fits = entries as f64 * TARGET / seconds.max(1e-9);
        let fits = if fits >= LARGEST as f64 { LARGEST } else { fits as usize };
        let largest = (4 * self.batch).min(LARGEST);
        // a small purchase says little of how a large one scales, so it may not raise the batch
        let largest = if entries < self.batch { self.batch } else { largest };
        self.batch = fits.clamp((self.batch / 4).max(1), largest);
    }

    /// Whether what waits is worth a tile: full, or dear.
    pub(super) fn is_due(&self) -> bool {
        self.entries >= LARGEST || self.seconds >= PUBLISH
    }

    /// Nothing waits any more.
    pub(super) fn published(&mut self) {
        (self.entries, self.seconds) = (0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_oracle_is_asked_for_one_score_at_a_time() {
        let mut pace = Pace::new();
        for _ in 0..4 {
            pace.bought(pace.batch(), 60.0 * pace.batch() as f64);
        }
        assert_eq!(pace.batch(), 1);
        assert!(pace.is_due());
    }

    #[test]
    fn a_fast_oracle_is_asked_for_a_whole_tile_within_eight_steps() {
        let mut pace = Pace::new();
        for _ in 0..8 {
            pace.bought(pace.batch(), 0.0);
        }
        assert_eq!(pace.batch(), LARGEST);
    }

    #[test]
    fn a_batch_takes_about_half_a_second() {
        let mut pace = Pace::new();
        for _ in 0..20 {
            pace.bought(pace.batch(), pace.batch() as f64 * 1e-3);
        }
        assert_eq!(pace.batch(), 500);
    }
}
