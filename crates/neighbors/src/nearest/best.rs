//! The best candidates of every item, found in one pass over all pairs.

/// An item and its score.
pub(super) type Scored = (f64, u32);

/// The `k` best so far, best first; ties go to the smaller index.
#[derive(Debug, Clone)]
pub(super) struct Best {
    k: usize,
    found: Vec<Scored>,
    /// Score that another must reach.
    pub(super) threshold: f64,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        Self { k, found: Vec::new(), threshold: f64::NEG_INFINITY }
    }

    #[inline]
    pub(super) fn offer(&mut self, item: usize, score: f64) {
        if score >= self.threshold {
            self.take((score, item as u32));
        }
    }

    fn take(&mut self, (score, item): Scored) {
        let is_before = |&(other, at): &Scored| other > score || (other == score && at < item);
        let place = self.found.partition_point(is_before);
        if place == self.k {
            return;
        }
        if self.found.len() == self.k {
            self.found.pop();
        }
        self.found.insert(place, (score, item));
        if self.found.len() == self.k {
            self.threshold = self.found[self.k - 1].0;
        }
    }

    /// Number of them, k at most.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Items and scores, best first.
    pub(super) fn into_scored(self) -> impl Iterator<Item = Scored> {
        self.found.into_iter()
    }

    /// The items, best first.
    pub(super) fn into_items(self) -> impl Iterator<Item = u32> {
        self.found.into_iter().map(|(_, item)| item)
    }
}
