//! Sizes of batches: about half a second's worth, whatever a score costs, and never less than keeps the oracle busy.
//!
//! An oracle that works on several calls at once is handed two batches, of half the size, so that it begins the second while
//! the first ends. The rate is then that of all calls that ended while a batch was under way.

/// Entries of the first batch: few, for a score may take a minute.
const FIRST: usize = 8;
/// Entries of the largest batch and tile: 2 MB of values.
pub(super) const LARGEST: usize = 1 << 18;
/// Seconds that what is under way should take.
const TARGET: f64 = 0.5;
/// Seconds of evaluating after which a tile is published: with what is under way, about a second.
const PUBLISH: f64 = 0.75;

/// The batch size so far, and what waits to be published.
pub(super) struct BatchSizer {
    at_once: usize,
    batch: usize,
    entries: usize,
    seconds: f64,
}

/// A batch that has its scores.
pub(super) struct Landing {
    /// Its entries.
    pub(super) batch: usize,
    /// Entries of all batches that landed while it was under way, itself included.
    pub(super) landed: usize,
    /// Seconds that it was under way.
    pub(super) seconds: f64,
}

impl BatchSizer {
    /// Of an oracle that works on so many calls at once.
    pub(super) fn new(at_once: usize) -> Self {
        let at_once = at_once.clamp(1, LARGEST);
        Self { at_once, batch: FIRST.max(at_once), entries: 0, seconds: 0.0 }
    }

    /// Entries to ask for next.
    pub(super) fn batch(&self) -> usize {
        self.batch
    }

    /// Batches that may be under way at a time.
    pub(super) fn batches_at_once(&self) -> usize {
        if self.at_once > 1 { 2 } else { 1 }
    }

    /// Takes note of a batch and adapts, at most fourfold at a time.
    pub(super) fn adapt(&mut self, landing: &Landing) {
        let rate = landing.landed as f64 / landing.seconds.max(1e-9);
        self.entries += landing.batch;
        self.seconds += landing.batch as f64 / rate;
        let fits = rate * TARGET / self.batches_at_once() as f64;
        let fits = if fits >= LARGEST as f64 { LARGEST } else { fits as usize };
        let largest = (4 * self.batch).min(LARGEST);
        // a small batch says little of how a large one scales, so it may not raise the batch
        let largest = if landing.batch < self.batch { self.batch } else { largest };
        let batch = fits.clamp((self.batch / 4).max(1), largest).max(self.at_once);
        // as many for every lane; LARGEST is a guideline, which a batch may exceed by a call a lane
        self.batch = batch.next_multiple_of(self.at_once);
    }

    /// True where what waits is worth a tile: full, or dear.
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

    /// Takes note of whole batches, one after the other, at so many seconds an entry.
    fn land(sizer: &mut BatchSizer, batches: usize, seconds_each: f64) {
        for _ in 0..batches {
            let batch = sizer.batch();
            sizer.adapt(&Landing { batch, landed: batch, seconds: seconds_each * batch as f64 });
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
    fn a_batch_takes_about_half_a_second() {
        let mut sizer = BatchSizer::new(1);
        land(&mut sizer, 20, 1e-3);
        assert_eq!(sizer.batch(), 500);
    }

    #[test]
    fn an_oracle_of_four_lanes_is_asked_for_four_calls_or_more_however_long_they_take() {
        let mut sizer = BatchSizer::new(4);
        assert_eq!((sizer.batch(), sizer.batches_at_once()), (8, 2));
        land(&mut sizer, 4, 60.0);
        assert_eq!(sizer.batch(), 4);
    }

    /// Lanes that take the next call as soon as they are free, and a clock that only they move.
    #[test]
    fn lanes_are_busy_all_the_time_and_about_a_second_of_calls_waits_to_be_published() {
        for (lanes, seconds_each) in [(2, 1.0 / 285.0), (4, 1e-3), (4, 0.1), (4, 0.35), (16, 0.02)] {
            let mut sizer = BatchSizer::new(lanes);
            let (mut free_at, mut busy) = (vec![0.0_f64; lanes], 0.0);
            let (mut under_way, mut now, mut landed) = (Vec::new(), 0.0_f64, 0);
            while now < 60.0 {
                while under_way.len() < sizer.batches_at_once() {
                    let mut end = now;
                    for _ in 0..sizer.batch() {
                        let lane = free_at.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
                        *lane = lane.max(now) + seconds_each;
                        busy += seconds_each;
                        end = end.max(*lane);
                    }
                    under_way.push((end, now, landed, sizer.batch()));
                }
                under_way.sort_by(|a: &(f64, f64, usize, usize), b| b.0.total_cmp(&a.0));
                let (end, start, landed_before, batch) = under_way.pop().unwrap();
                now = end;
                landed += batch;
                sizer.adapt(&Landing { batch, landed: landed - landed_before, seconds: now - start });
                let unpublished = sizer.entries + under_way.iter().map(|batch| batch.3).sum::<usize>();
                let rate = lanes as f64 / seconds_each;
                assert!(
                    now < 10.0 || unpublished as f64 <= 1.25 * rate + 2.0 * lanes as f64,
                    "{unpublished} at {rate}/s"
                );
                if sizer.is_due() {
                    sizer.published();
                }
            }
            let end = free_at.iter().copied().fold(0.0, f64::max);
            let share = busy / (end * lanes as f64);
            assert!(share > 0.97, "{lanes} lanes of {seconds_each} s a call are busy {share:.3} of the time");
        }
    }
}
