//! Items that are equal, whose score is known without an estimate.

use std::collections::HashMap;
use std::hash::Hash;

/// Items that are equal to others, and the score of two equal ones.
#[derive(Debug, Clone)]
pub(crate) struct EqualItems {
    pub(crate) score: f64,
    /// The first item that is equal to each.
    first: Vec<usize>,
    /// Items by their first, ascending; only of more than one.
    members: HashMap<usize, Vec<usize>>,
}

impl EqualItems {
    /// Items are equal if their keys are.
    pub(crate) fn of<K: Hash + Eq>(keys: impl Iterator<Item = K>, score: f64) -> Self {
        let mut seen = HashMap::new();
        let first: Vec<usize> = keys.enumerate().map(|(item, key)| *seen.entry(key).or_insert(item)).collect();
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        first.iter().enumerate().for_each(|(item, &first)| members.entry(first).or_default().push(item));
        members.retain(|_, items| items.len() > 1);
        Self { score, first, members }
    }

    /// Score of two items if they are equal.
    pub(crate) fn score(&self, i: usize, j: usize) -> Option<f64> {
        (self.first[i] == self.first[j]).then_some(self.score)
    }

    /// Items that are equal to this one, itself included; none if there are no others.
    pub(crate) fn of_item(&self, item: usize) -> &[usize] {
        self.members.get(&self.first[item]).map_or(&[], Vec::as_slice)
    }

    /// Those among some items, numbered by their places.
    pub(crate) fn select(&self, items: &[usize]) -> Self {
        Self::of(items.iter().map(|&item| self.first[item]), self.score)
    }
}
