//! Calls that are made to learn how long one takes.

use std::time::Instant;

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Oracle as _, OracleError, Pair};

use super::MeteredStore;

/// Calls that were made to learn how long one takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    pub evaluations: u64,
    /// Those of them before the clock was started: with them programs start, or a model warms up.
    pub first: u64,
    /// Seconds of the others.
    pub seconds: f64,
}

impl Timed {
    pub fn seconds_each(self) -> f64 {
        self.seconds / (self.evaluations - self.first) as f64
    }
}

impl MeteredStore {
    /// Makes `calls` evaluations of entries of `set` that are not in the store, from all over it, and keeps them; fewer where fewer are
    /// left, and one more where a pair takes two. `None` where none is left.
    pub fn time(&self, set: &EntrySet, calls: u64) -> Result<Option<Timed>, OracleError> {
        let calls = calls.min(self.missing(set));
        let (scores, per_pair) = (self.scores(), self.shape().evaluations_per_pair.max(1));
        // one pair for every process, where others are left to be timed
        let warm_up = (scores.calls_at_once() as u64 * per_pair).min(calls / 2);
        let mut pairs = scattered_pairs(set, self.shape().len);
        let mut timed = Timed { evaluations: 0, first: 0, seconds: 0.0 };
        while timed.evaluations < calls {
            let is_first = timed.evaluations < warm_up;
            let until = if is_first { warm_up } else { calls };
            let wanted = (until - timed.evaluations).div_ceil(per_pair);
            let sample: Vec<Pair> = pairs.by_ref().take(usize::try_from(wanted).unwrap_or(usize::MAX)).collect();
            if sample.is_empty() {
                break;
            }
            let (before, start) = (self.spent().evaluations, Instant::now());
            scores.evaluate(&sample, &mut vec![0.0; sample.len()])?;
            let new = self.spent().evaluations - before;
            timed.evaluations += new;
            if is_first {
                timed.first += new;
            } else if new > 0 {
                timed.seconds += start.elapsed().as_secs_f64();
            }
        }
        self.flush()?;
        Ok((timed.evaluations > timed.first).then_some(timed))
    }
}

/// All pairs of two items of a set, each once, in strides through its columns, rows and single entries.
pub(crate) fn scattered_pairs(set: &EntrySet, n: usize) -> impl Iterator<Item = Pair> {
    let (columns, rows, single) = (set.columns(), set.rows(), set.scattered());
    let whole = (columns.len() + rows.len()) * n;
    let total = whole + single.len();
    let pair = move |place: usize| match place {
        place if place >= whole => single[place - whole],
        place if place < columns.len() * n => (place % n, columns[place / n]),
        place => (rows[place / n - columns.len()], place % n),
    };
    // a stride near the golden ratio that meets every place once
    let mut stride = (total as f64 * 0.618) as usize | 1;
    while greatest_common_divisor(stride, total) > 1 {
        stride += 2;
    }
    let step = move |place: &usize| Some((*place + stride) % total);
    let places = std::iter::successors((total > 0).then_some(0), step).take(total);
    let is_asked: Vec<bool> = (0..n).map(|item| set.is_asked(item)).collect();
    places.map(pair).filter(move |&(i, j)| i != j && is_asked[i] && is_asked[j])
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use landmark_core::entries::EntryPlan;
    use std::sync::{Arc, Mutex};

    use landmark_core::oracle::{Budget, Identity, OracleShape, Symmetry};
    use landmark_store::OracleLabel;

    use super::*;

    /// Three processes that write down how many pairs they are asked for at a time.
    #[derive(Default)]
    struct Three(Mutex<Vec<usize>>);

    impl landmark_core::oracle::Oracle for Three {
        fn shape(&self) -> OracleShape {
            OracleShape { calls_at_once: 3, ..OracleShape::symmetric(10) }
        }

        fn identity(&self) -> Identity {
            Identity::of(&[("kind", b"three")])
        }

        fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
            self.0.lock().unwrap().push(pairs.len());
            out.fill(0.5);
            Ok(())
        }
    }

    #[test]
    fn every_process_starts_before_the_clock() {
        for (calls, asked) in [(20, vec![3, 17]), (4, vec![2, 2]), (1, vec![1])] {
            let three = Arc::new(Three::default());
            let label = OracleLabel::new("three", "three processes");
            let metered = MeteredStore::of(Arc::clone(&three) as _, label, None, Budget::default()).unwrap();
            let mut set = EntrySet::new(metered.shape());
            set.add(&EntryPlan::columns(&(0..10).collect::<Vec<_>>()));
            let timed = metered.time(&set, calls).unwrap().unwrap();
            assert_eq!(*three.0.lock().unwrap(), asked);
            assert_eq!((timed.evaluations, timed.first), (calls, if asked.len() > 1 { asked[0] as u64 } else { 0 }));
        }
    }

    #[test]
    fn a_sample_meets_every_pair_once_and_begins_all_over_the_set() {
        for n in [1, 2, 5, 30] {
            let shape = OracleShape::new(n, Symmetry::Asymmetric);
            let mut set = EntrySet::new(shape);
            set.add(&EntryPlan::columns(&(0..n.div_ceil(2)).collect::<Vec<_>>()));
            let pairs: Vec<Pair> = scattered_pairs(&set, n).collect();
            let mut distinct = pairs.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!((pairs.len(), distinct.len()), ((n - 1) * n.div_ceil(2), pairs.len()), "{n}");
            let columns: std::collections::BTreeSet<usize> = pairs.iter().take(n / 2).map(|&(_, j)| j).collect();
            // a single item has no pair
            assert!(n == 1 || columns.len() * 4 >= n.div_ceil(2), "{n}: {columns:?}");
        }
    }
}
