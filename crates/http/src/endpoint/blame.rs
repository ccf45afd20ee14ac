//! Which item is at fault when a server refuses pairs.
//!
//! A refused request of several pairs is halved until the pairs that are refused alone are found. An item that was refused alone with two
//! others, more often than it was answered and at least as often as those others, is a *suspect*: its pairs leave the requests of other pairs.
//! A server may refuse a text as a query and take it as a document, so that the two sides of a pair are distinguished.
//! A suspect that a status of 400, 413 or 422 refused with two texts gets no request with a text that is at least as long as both: such a
//! pair fails as they did. Judges that answer without sense do so for reasons of their own, so that their pairs are always asked for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use landmark_core::oracle::Pair;

/// Refused partners that make an item a suspect, and shorter ones that decide a pair without a request.
const WITNESSES: usize = 2;
/// Answers without sense, whose pairs have one when asked alone, after which requests get smaller.
const STRIKES: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// By a status that refuses the input.
    Refused,
    /// By an answer without sense.
    Senseless,
}

/// An item on one side of a pair: the second, that of a query, or the first.
type Placed = (usize, bool);

fn sides((i, j): Pair) -> [(Placed, Placed); 2] {
    [((i, false), (j, true)), ((j, true), (i, false))]
}

#[derive(Debug, Default)]
pub(super) struct Blame(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    pairs: HashSet<Pair>,
    partners: HashMap<Placed, BTreeMap<usize, Failure>>,
    /// Pairs of an item that were answered, of items that failed.
    answered: HashMap<Placed, usize>,
    named: HashSet<usize>,
    strikes: u32,
}

impl Blame {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed(&self, pair: Pair, failure: Failure) {
        let mut state = self.lock();
        state.pairs.insert(pair);
        for (item, (partner, _)) in sides(pair) {
            state.partners.entry(item).or_default().insert(partner, failure);
        }
    }

    pub(super) fn answered(&self, pairs: &[Pair]) {
        let mut state = self.lock();
        for (item, _) in pairs.iter().flat_map(|&pair| sides(pair)) {
            *state.answered.entry(item).or_default() += 1;
        }
    }

    pub(super) fn has_any(&self, pairs: &[Pair]) -> bool {
        let state = self.lock();
        !state.pairs.is_empty() && pairs.iter().any(|pair| state.pairs.contains(pair))
    }

    pub(super) fn suspects(&self, pairs: &[Pair]) -> Vec<usize> {
        let state = self.lock();
        if state.pairs.len() < WITNESSES {
            return Vec::new();
        }
        let has_one =
            |&place: &usize| sides(pairs[place]).iter().any(|&(item, partner)| state.is_suspect(item, partner));
        (0..pairs.len()).filter(has_one).collect()
    }

    /// Places of the pairs with an item that failed alone with another, as either side, and was not answered more often: where to look first.
    pub(super) fn presumed(&self, pairs: &[Pair]) -> Vec<usize> {
        let state = self.lock();
        let failed = |item: usize| {
            let sides = [(item, false), (item, true)];
            let partners: usize = sides.iter().filter_map(|side| state.partners.get(side)).map(BTreeMap::len).sum();
            let answered: usize = sides.iter().filter_map(|side| state.answered.get(side)).sum();
            (partners > answered).then_some(partners)
        };
        // of a pair that failed either may be at fault, and the other is so in few of these pairs
        let most = pairs.iter().flat_map(|&(i, j)| [failed(i), failed(j)]).flatten().max();
        let has_one = |&place: &usize| {
            let (i, j) = pairs[place];
            most.is_some() && (failed(i) == most || failed(j) == most)
        };
        (0..pairs.len()).filter(has_one).collect()
    }

    /// The suspect of a pair that fails without a request, and the two texts with which it was refused.
    pub(super) fn decided(&self, pair: Pair, texts: &[impl AsRef<str>]) -> Option<(usize, [usize; WITNESSES])> {
        let state = self.lock();
        sides(pair).into_iter().find_map(|(suspect, (partner, side))| {
            if !state.is_suspect(suspect, (partner, side)) {
                return None;
            }
            let length = |item: usize| {
                let text = texts[item].as_ref();
                (text.len(), text.split_whitespace().count())
            };
            let (bytes, words) = length(partner);
            let refused = state.partners.get(&suspect)?.iter().filter(|(_, failure)| **failure == Failure::Refused);
            let mut shorter = refused.map(|(&item, _)| item).filter(|&item| {
                let (other_bytes, other_words) = length(item);
                item != partner && other_bytes <= bytes && other_words <= words
            });
            Some((suspect.0, [shorter.next()?, shorter.next()?]))
        })
    }

    pub(super) fn is_news(&self, suspect: usize) -> bool {
        self.lock().named.insert(suspect)
    }

    /// Notes that an answer to several pairs had no sense, though each has an answer alone; true once that is the rule.
    pub(super) fn strike(&self) -> bool {
        let mut state = self.lock();
        state.strikes += 1;
        state.strikes >= STRIKES
    }
}

impl State {
    fn is_suspect(&self, item: Placed, (_, side): Placed) -> bool {
        let count = |partner: usize| self.partners.get(&(partner, side)).map_or(0, BTreeMap::len);
        let Some(partners) = self.partners.get(&item) else { return false };
        // a partner that fails more often is itself the reason
        let blame = partners.keys().filter(|&&partner| count(partner) <= partners.len()).count();
        blame >= WITNESSES && blame > self.answered.get(&item).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_that_all_failures_share_is_the_suspect_and_none_of_its_partners() {
        let blame = Blame::default();
        for partner in 0..6 {
            blame.failed((partner, 7), Failure::Refused);
            blame.failed((8, partner), Failure::Refused);
        }
        assert_eq!(blame.suspects(&[(0, 7), (0, 1), (8, 9), (2, 3), (7, 0), (9, 8)]), [0, 2], "on that side");
    }

    #[test]
    fn an_item_that_is_answered_more_often_than_it_fails_is_no_suspect() {
        let blame = Blame::default();
        blame.failed((1, 7), Failure::Senseless);
        blame.failed((2, 7), Failure::Senseless);
        assert_eq!(blame.suspects(&[(3, 7)]), [0]);
        blame.answered(&[(3, 7), (4, 7)]);
        assert!(blame.suspects(&[(3, 7)]).is_empty());
    }

    #[test]
    fn a_pair_is_decided_by_two_shorter_texts_that_a_status_refused() {
        let texts = ["one", "one two", "one two three", "a", "long long long long"];
        for (failure, wanted) in [(Failure::Refused, Some((4, [0, 1]))), (Failure::Senseless, None)] {
            let blame = Blame::default();
            blame.failed((0, 4), failure);
            blame.failed((1, 4), failure);
            assert_eq!(blame.decided((2, 4), &texts), wanted);
            assert_eq!(blame.decided((3, 4), &texts), None, "this text is shorter than those that were refused");
            assert_eq!(blame.decided((2, 3), &texts), None, "no suspect");
        }
    }
}
