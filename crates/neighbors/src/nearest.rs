//! The nearest neighbors of every item at a fixed number of calls.
//!
//! ```text
//! some rows of s columns; the rest of them, if items differ in hubness by more than the proxies predict; else none
//! s columns → hubness h → candidates (top by the proxy, top by the link)
//! R times:   ranks, where they predict better; link on all known pairs; row kriging and a Gaussian process over pairs of what it leaves over,
//!            weighed by pairs that were hidden from both; evaluate the pairs that stand highest
//! the lists: exact where evaluated, estimates elsewhere
//! ```
//! Which pairs are evaluated depends on scores; *how many* does not, so the call estimate is exact before the first call
//! ([`Rounds::call_plan`]). A pair serves both of its items. Of an asymmetric score the mean of both orders is searched: first by one order of each pair,
//! then by the other order of the best of them ([`RoundsParams::one_order`]).
//!
//! [`nearest`] drives it on any oracle. [`Search`] is the state behind it, one batch after the other, for who evaluates pairs
//! in another way, watches it, or stops it by a rule of his own. Where scores are there already, [`Search::knowing`] stands on them. This project's own algorithm: docs/explanation/neighbor-search.md.
//!
//! Cost, with m = calls an item, w = candidates an item ([`Rounds::width`]) and d numbers a proxy vector: n²d/2 multiply–adds for the one pass over the
//! proxies, and in each round n·(m²d + m³/3 + wd); memory about 44 bytes per candidate pair with one proxy, and 16 more
//! per scored pair. The first pool has at most 2nw pairs; every round adds some. Nothing is n². `examples/neighbor_times.rs` measures both
//! (docs/explanation/neighbor-search.md has figures). That is without the process over pairs (`RoundsParams::pairwise`), whose cost stands in
//! `nearest/pairwise.rs`; with it, all pairs are looked at once more above 20,000 items, and in every round below. There is no process above 300,000
//! items ([`PROCESS_ITEMS`]).

use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::LinalgError;
use landmark_core::oracle::{
    OneOrder, Oracle, OracleError, OracleShape, Remembered, Symmetrization, Symmetrized, Symmetry, ask_pairs,
};
use landmark_core::parameter::BadParameter;

mod best;
mod columns;
mod factors;
mod kriging;
mod lists;
mod pairwise;
mod places;
mod pool;
mod prefetch;
mod rank_transform;
mod rounds;
mod scan;
mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use factors::factors;
pub use pairwise::MOST_ITEMS as PROCESS_ITEMS;
pub use prefetch::{Proven, nearest_within_bounds};
pub use rounds::{CallPlan, Rounds, RoundsParams};
pub use scan::scan_seconds;
pub use search::{Batch, Candidates, Found, Known, Neighbor, RoundReport, Search, Step};

use std::sync::Arc;

/// Role of a similarity that is handed over in addition to the score, as errors name it.
const PROXY: &str = "proxy";
/// The same of one that no score exceeds.
const BOUND: &str = "bound";

/// Reason why neighbors could not be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeighborError {
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// An asymmetric score.
    #[error(
        "neighbors need a symmetric score, and the order of a pair matters to this one: symmetrize it first (`symmetrize: mean`, or `Symmetrized` in Rust), which counts both orders"
    )]
    Asymmetric,
    /// A proxy or a bound over other items.
    #[error("{role} {number} is over {seen} items, the score over {wanted}; hand over one over the same items")]
    ProxyItems { role: &'static str, number: usize, seen: usize, wanted: usize },
    /// A proxy or a bound that failed, or is not finite somewhere.
    #[error("{role} {number} can't be used")]
    Proxy {
        role: &'static str,
        number: usize,
        #[source]
        source: OracleError,
    },
    /// Exact neighbors without a bound.
    #[error("exact neighbors need a bound that no score exceeds, and there is none")]
    NoBound,
    /// A bound that is none.
    #[error("the score of the pair ({i}, {j}) is {score}, above its bound {bound}: what was given as a bound is none")]
    AboveBound { i: usize, j: usize, score: f64, bound: f64 },
    /// More candidate pairs than can be numbered.
    #[error("{pairs} candidate pairs are more than can be kept; lower `calls_per_item` or `candidates`")]
    TooManyCandidates { pairs: usize },
    /// Landmarks over other items, or fewer than there are columns.
    #[error("{wanted} columns are evaluated, but {given} landmarks are given; draw as many")]
    TooFewLandmarks { wanted: usize, given: usize },
    /// Candidates of other items.
    #[error(
        "cannot use the candidates: there are {seen} rows (expected {wanted}, one per item, in the order of the items)"
    )]
    CandidateLists { seen: usize, wanted: usize },
    /// A candidate that is no item.
    #[error("cannot use the candidates: row {row} names item {item} (expected 0 to {})", len.saturating_sub(1))]
    NoCandidate { row: usize, item: usize, len: usize },
    /// Candidates of which each item has itself alone.
    #[error(
        "cannot use the candidates: no item has another item as its candidate; ask the index for at least 2 neighbors"
    )]
    NoCandidates,
    /// A pair handed back that nobody could have asked for.
    #[error("a score of the pair ({i}, {j}) was recorded, which is no pair of two of {len} items")]
    NoPair { i: usize, j: usize, len: usize },
    /// The score's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A factorization failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

/// The neighbors of every item, from as many calls as planned. `proxies` are cheap similarities over the same items,
/// larger for pairs that are more alike, the best first; none is allowed. Each pair is asked for once; of an asymmetric oracle, whose mean of both orders
/// is searched, each order at most once.
///
/// ```
/// use std::sync::Arc;
/// use landmark_core::landmarks::Landmarks;
/// use landmark_neighbors::nearest::{RoundsParams, nearest};
/// use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Metered, Precomputed};
/// use landmark_core::stream::stream;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vectors = ndarray::Array2::from_shape_fn((60, 3), |(i, k)| ((7 * i + 3 * k) as f64).sin());
/// let all: Vec<usize> = (0..60).collect();
/// let cosine = EmbeddingProxy::cosine(vectors)?;
/// let scores = landmark_core::oracle::block_of(&cosine, &all, &all)?.mapv(|p| (2.0 * p).exp());
/// let oracle = Metered::new(Precomputed::new(scores, AsymmetryPolicy::Reject)?);
///
/// let rounds = RoundsParams { k: 3, calls_per_item: 8, ..RoundsParams::default() }.check()?;
/// let landmarks = Landmarks::uniform(60, &mut stream(1, "doc", "landmarks", 0));
/// let found = nearest(&oracle, &[Arc::new(cosine)], &rounds, &landmarks)?;
/// assert_eq!(oracle.spent().evaluations, 8 * 60);
/// assert_eq!(found.lists[0].len(), 3);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Proxies over other items or that are not finite, too few landmarks, and whatever the oracle answers.
pub fn nearest(
    oracle: &dyn Oracle,
    proxies: &[Arc<dyn Oracle>],
    rounds: &Rounds,
    landmarks: &Landmarks,
) -> Result<Found, NeighborError> {
    // the first order of a pair is remembered until its second is asked for
    let given = Remembered::new(oracle);
    let both = Symmetrized::new(&given, Symmetrization::Mean);
    let mut rounds = rounds.clone();
    let wanted: &dyn Oracle = match oracle.symmetry() {
        Symmetry::Symmetric => oracle,
        Symmetry::Asymmetric => {
            rounds.in_one_order(0);
            &both
        }
    };
    let mut search = Search::new(rounds, OracleShape::of(wanted), proxies.to_vec(), landmarks)?;
    while let Some(batch) = search.next_batch()? {
        let mut scores = vec![0.0; batch.pairs.len()];
        match batch.order {
            Some(coin) => ask_pairs(&OneOrder::new(&given, coin), &batch.pairs, &mut scores)?,
            None => ask_pairs(wanted, &batch.pairs, &mut scores)?,
        }
        search.record_part(&batch, &batch.pairs, &scores)?;
    }
    search.finish()
}

/// Refuses an asymmetric score.
fn require_symmetric(shape: OracleShape) -> Result<(), NeighborError> {
    match shape.symmetry {
        Symmetry::Symmetric => Ok(()),
        Symmetry::Asymmetric => Err(NeighborError::Asymmetric),
    }
}
