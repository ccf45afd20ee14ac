//! The pairs that exist: those of one list, or those across two.

use std::collections::HashSet;

use landmark_core::oracle::Pair;
use rand::Rng;

/// Pairs up to which a sample is drawn from their list.
const LISTED: u64 = 1 << 22;

/// All pairs that exist: of one list, or of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Universe {
    /// Number of items, those of both lists.
    pub items: usize,
    /// Items of the first of two lists, which come first.
    pub left: Option<usize>,
}

impl Universe {
    /// Number of pairs.
    pub fn len(&self) -> u64 {
        let n = self.items as u64;
        match self.left {
            Some(left) => left as u64 * (n - left as u64),
            None => n * n.saturating_sub(1) / 2,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the pair exists.
    pub fn has(&self, (i, j): Pair) -> bool {
        i < j && j < self.items && self.left.is_none_or(|left| i < left && left <= j)
    }

    /// All pairs (i, j), i < j.
    pub fn pairs(self) -> impl Iterator<Item = Pair> {
        let Self { items, left } = self;
        (0..left.unwrap_or(items)).flat_map(move |i| (left.unwrap_or(i + 1)..items).map(move |j| (i, j)))
    }

    fn draw(&self, rng: &mut impl Rng) -> Pair {
        if let Some(left) = self.left {
            return (rng.gen_range(0..left), rng.gen_range(left..self.items));
        }
        loop {
            let (i, j) = (rng.gen_range(0..self.items), rng.gen_range(0..self.items));
            if i != j {
                return (i.min(j), i.max(j));
            }
        }
    }

    /// A uniform sample without replacement of the `count` pairs for which `is_left` holds; all of them if it is as large.
    pub fn sample(&self, count: u64, size: u64, is_left: impl Fn(&Pair) -> bool, rng: &mut impl Rng) -> Vec<Pair> {
        let wanted = usize::try_from(size.min(count)).unwrap_or(usize::MAX);
        if count <= LISTED || size > count / 4 || count < self.len() / 64 {
            return sample_of(self.pairs().filter(is_left).collect(), wanted, rng);
        }
        let (mut drawn, mut seen) = (Vec::with_capacity(wanted), HashSet::with_capacity(wanted));
        while drawn.len() < wanted {
            let pair = self.draw(rng);
            if is_left(&pair) && seen.insert(pair) {
                drawn.push(pair);
            }
        }
        drawn
    }
}

/// A uniform sample without replacement of a list, in random order; all of it if it is as large.
pub fn sample_of<T>(mut list: Vec<T>, size: usize, rng: &mut impl Rng) -> Vec<T> {
    let size = size.min(list.len());
    for place in 0..size {
        let other = rng.gen_range(place..list.len());
        list.swap(place, other);
    }
    list.truncate(size);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_two_lists_are_those_across() {
        let universe = Universe { items: 5, left: Some(2) };
        let pairs: Vec<Pair> = universe.pairs().collect();
        assert_eq!(pairs, [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]);
        assert_eq!(universe.len(), 6);
        assert!(!universe.has((0, 1)) && universe.has((1, 2)) && !universe.has((2, 3)));
    }
}
