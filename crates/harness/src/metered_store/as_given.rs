//! Scores of a pair's orders, below what is made of the two.

use std::sync::Arc;

use landmark_core::contents::Contents;
use landmark_core::oracle::{Coin, Metered, Oracle, Pair};
use landmark_store::Stored;

/// The meter at the bottom, shared with the progress line.
pub type Meter = Arc<Metered<Arc<dyn Oracle>>>;

/// Number of pairs that could not be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedPairs {
    pub count: u64,
    /// True where those of earlier runs are among them.
    pub is_all: bool,
}

/// Scores of pairs in the order in which they were asked for, kept below what is made of the two orders.
#[derive(Clone)]
pub(super) struct AsGiven {
    pub(super) stored: Arc<Stored<Meter>>,
    pub(super) meter: Meter,
    /// Coin of the order that is asked for; `None` where both are.
    pub(super) coin: Option<Coin>,
}

impl AsGiven {
    pub(super) fn calls(&self, i: usize, j: usize) -> u64 {
        let call = |(i, j)| u64::from(!self.stored.has(i, j));
        match self.coin {
            Some(coin) => call(coin.order(i, j)),
            None if i == j => call((i, j)),
            None => call((i, j)) + call((j, i)),
        }
    }
}

pub struct OneOrderScores {
    pub(super) scores: Arc<dyn Oracle>,
    pub(super) coin: Coin,
    pub(super) below: Arc<Stored<Meter>>,
    pub(super) wanted: Option<Arc<Stored<Meter>>>,
    pub(super) contents: Option<Arc<Contents>>,
}

impl OneOrderScores {
    pub fn scores(&self) -> &dyn Oracle {
        self.scores.as_ref()
    }

    /// True where the score of both orders is kept and the order that is drawn is not, as earlier versions kept it: it takes no call. What a search
    /// itself has asked for is not counted as kept, so that one that was stopped asks for the same again.
    pub fn is_kept_as_one(&self, (i, j): Pair) -> bool {
        let first = |item: usize| self.contents.as_ref().map_or(item, |contents| contents.first(item));
        let (i, j) = self.coin.order(first(i), first(j));
        !self.below.has(i, j) && self.wanted.as_ref().is_some_and(|wanted| wanted.has(i, j))
    }
}
