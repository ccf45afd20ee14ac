//! What a search hands out, and what it answers.

use serde::Serialize;

use landmark_core::oracle::{Coin, Pair};

/// Purpose of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Some rows of the columns, which decide whether the columns are evaluated.
    Trial,
    /// Full columns of uniform items.
    Columns,
    /// Pairs that the caller brought.
    Given,
    /// The proxy's best pairs.
    First,
    /// A round's share for the proxy's best pairs, and those by which ways to learn are compared; rounds count from 0.
    Proxy(usize),
    /// Calls left of a round, for the best pairs by the estimate.
    Estimate(usize),
    /// The other order of the best pairs that were asked for in one.
    SecondOrder,
}

/// Pairs to be evaluated next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub step: Step,
    /// The pairs, each of two items and none of them twice in a search, but for their second order.
    pub pairs: Vec<Pair>,
    /// Draws the order in which each pair is to be asked for, once; otherwise the score itself is wanted, which is made of both.
    pub order: Option<Coin>,
}

/// An item, how similar it is, and whether that is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Neighbor {
    pub item: usize,
    /// K where it was evaluated, an estimate elsewhere.
    pub score: f64,
    /// True where it was evaluated.
    pub exact: bool,
}

/// State of the estimates when a round began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RoundReport {
    /// Pairs that were handed out before it.
    pub asked: u64,
    /// True where the link and kriging see the ranks of scores, which then predict the order of known pairs better than the scores.
    pub ranks: bool,
    /// λ of kriging; `None` where the link alone predicted better, or no proxy gives a kernel.
    pub lambda: Option<f64>,
    /// Root of the mean squared error of known entries, or of their transformed ranks: with the link alone.
    pub error_without: f64,
    /// The same with kriging, each entry left out.
    pub error_with: f64,
    pub kriging_weight: f64,
    pub process_weight: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The k most similar other items of every item, best first; fewer only where there are not as many.
    pub lists: Vec<Vec<Neighbor>>,
    /// Pairs that were handed out.
    pub pairs: u64,
    pub calls: u64,
    /// Pairs whose score could not be had.
    pub failed: u64,
    /// Numbers of the proxies as they were handed over, in the order in which they predict columns: the first gives the kernel and the
    /// places.
    pub proxies: Vec<usize>,
    /// The rounds, and the state at the end.
    pub rounds: Vec<RoundReport>,
}
