//! Sizes of batches: about half a second's worth, whatever a score costs, and never less than keeps the oracle busy.
//!
//! An oracle that works on several calls at once gets at least two rounds of them, because its last calls of a batch may take longest.

/// Entries of the first batch: few, for a score may take a minute.
const FIRST: usize = 8;
/// Entries of the largest batch and tile: 2 MB of values.
pub(super) const LARGEST: usize = 1 << 18;
/// Seconds that what is in flight should take.
const TARGET: f64 = 0.5;
/// Seconds of evaluating after which a tile is published: with what is in flight, about a second.
const PUBLISH: f64 = 0.75;

/// The batch size so far, and what waits to be published.
pub(super) struct BatchSizer {
    at_once: usize,
    batch: usize,
    entries: usize,
    seconds: f64,
}

impl BatchSizer {
    /// Of an oracle that works on `at_once` calls at once.
    pub(super) fn new(at_once: usize) -> Self {
        let at_once = at_once.clamp(1, LARGEST);
        let sizer = Self { at_once, batch: FIRST, entries: 0, seconds: 0.0 };
        Self { batch: FIRST.max(sizer.fewest()), ..sizer }
    }

    pub(super) fn batch(&self) -> usize {
        self.batch
    }

    /// Takes note of a batch that took `seconds` seconds and adapts, at most fourfold at a time.
    pub(super) fn adapt(&mut self, landed: usize, seconds: f64) {
        self.entries += landed;
        self.seconds += seconds;
        let fits = landed as f64 / seconds.max(1e-9) * TARGET;
        let fits = if fits >= LARGEST as f64 { LARGEST } else { fits as usize };
        let largest = (4 * self.batch).min(LARGEST);
        // a small batch shows little of how a large one scales, so it may not raise the batch
        let largest = if landed < self.batch { self.batch } else { largest };
        let batch = fits.clamp((self.batch / 4).max(1), largest).max(self.fewest());
        // as many for every lane; LARGEST is a guideline, which a batch may exceed by a call a lane
        self.batch = batch.next_multiple_of(self.at_once);
    }

    fn fewest(&self) -> usize {
        if self.at_once > 1 { (2 * self.at_once).min(LARGEST) } else { 1 }
    }

    /// True where what waits is worth a tile: full, or expensive.
    pub(super) fn is_due(&self) -> bool {
        self.entries >= LARGEST || self.seconds >= PUBLISH
    }

    pub(super) fn published(&mut self) {
        (self.entries, self.seconds) = (0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes note of whole batches, one after the other, at `seconds_each` seconds an entry.
    fn land(sizer: &mut BatchSizer, batches: usize, seconds_each: f64) {
        for _ in 0..batches {
            sizer.adapt(sizer.batch(), seconds_each * sizer.batch() as f64);
        }
    }

    #[test]
    fn a_slow_oracle_is_asked_for_one_score_at_a_time() {
        let mut sizer = BatchSizer::new(1);
        land(&mut sizer, 4, 60.0);
        assert_eq!(sizer.batch(), 1);
        assert!(sizer.is_due());
    }

    #[test]
    fn a_fast_oracle_is_asked_for_a_whole_tile_within_eight_steps() {
        let mut sizer = BatchSizer::new(1);
        land(&mut sizer, 8, 0.0);
        assert_eq!(sizer.batch(), LARGEST);
    }

    #[test]
    fn an_oracle_of_several_lanes_gets_two_calls_a_lane_or_more_however_long_they_take() {
        for lanes in [2, 4, 16] {
            let mut sizer = BatchSizer::new(lanes);
            land(&mut sizer, 4, 60.0);
            assert_eq!(sizer.batch(), 2 * lanes);
            land(&mut sizer, 40, 1e-3);
            assert!(sizer.batch().is_multiple_of(lanes) && sizer.batch().abs_diff(500) <= lanes, "{}", sizer.batch());
        }
    }
}
