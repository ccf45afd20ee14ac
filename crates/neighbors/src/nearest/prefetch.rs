//! The exact neighbors of every item under a score with proven bounds: prefetch and prune.
//!
//! ```text
//! K_ij ≤ min over bounds of b_ij       item i asks for its others by falling bound, until the next bound is no better than its k-th best
//! ```
//! Recall is 1, and no order of an item's own others asks for fewer; a pair serves both of its items. How many calls that takes is
//! known only afterwards: with tight bounds little more than k an item, with loose ones all pairs. Kusner, Sun, Kolkin & Weinberger
//! 2015, section 4.3 (there by the looser of two bounds first, which saves scores of the tighter one and not calls).
//!
//! Cost: n²/2 scores of every bound once, n of them again for an item whose candidates run out; memory 16 bytes a candidate.

use std::sync::Arc;

use super::best::Best;
use super::scan::{offer, proxy_blocks};
use super::search::Neighbor;
use super::{BOUND, NeighborError, require_symmetric};
use landmark_core::entries::PairMap;
use landmark_core::oracle::{Oracle, OracleShape, Pair, ask_pairs};
use landmark_core::rank::RankCmp;

/// Candidates that an item keeps in addition to its k.
const AHEAD: usize = 64;

/// Rows and columns of a block of the scan.
const BLOCK: usize = 1024;

/// Share of the largest bound's size by which a score may exceed its own: both are sums of many roundings.
const ROUNDING: f64 = 1e-9;

/// Exact neighbors, and what they took.
#[derive(Debug, Clone, PartialEq)]
pub struct Proven {
    /// The k most similar other items of every item, best first; the order of equal scores at the k-th place is arbitrary.
    pub lists: Vec<Vec<Neighbor>>,
    /// Pairs that were evaluated.
    pub pairs: u64,
    /// Times that the oracle was asked.
    pub rounds: usize,
}

/// An item on the way to its exact neighbors.
struct Item {
    /// Others by falling bound; those before `next` have a score.
    ahead: Vec<(f64, u32)>,
    next: usize,
    /// True where `ahead` holds all others that are left.
    is_all: bool,
    best: Best,
}

/// The `k` most similar others of every item, proven. `bounds` are similarities that no score exceeds; the tightest counts.
///
/// # Errors
/// No bound, an asymmetric oracle, bounds over other items, a score above its bound, and whatever the oracle answers.
pub fn nearest_within_bounds(
    oracle: &dyn Oracle,
    bounds: &[Arc<dyn Oracle>],
    k: usize,
    mut asked: impl FnMut(u64),
) -> Result<Proven, NeighborError> {
    require_symmetric(OracleShape::of(oracle))?;
    let n = oracle.len();
    if bounds.is_empty() {
        return Err(NeighborError::NoBound);
    }
    if let Some((place, bound)) = bounds.iter().enumerate().find(|(_, bound)| bound.len() != n) {
        return Err(NeighborError::ProxyItems { role: BOUND, number: place + 1, seen: bound.len(), wanted: n });
    }
    let k = k.min(n.saturating_sub(1));
    if k == 0 {
        return Ok(Proven { lists: vec![Vec::new(); n], pairs: 0, rounds: 0 });
    }
    let (mut items, scale) = begin(n, bounds, k)?;
    let mut known: PairMap<f64> = PairMap::default();
    let mut rounds = 0;
    loop {
        let mut pairs: Vec<(Pair, f64)> = Vec::new();
        for (i, item) in items.iter_mut().enumerate() {
            // the first k of an item are wanted in any case
            for _ in 0..(k - item.best.len().min(k)).max(1) {
                let Some((bound, j)) = next(item, i, bounds, &known, k)? else { break };
                pairs.push(((i.min(j), i.max(j)), bound));
                item.next += 1;
            }
        }
        pairs.sort_unstable_by_key(|&(pair, _)| pair);
        pairs.dedup_by_key(|&mut (pair, _)| pair);
        if pairs.is_empty() {
            break;
        }
        rounds += 1;
        let only: Vec<Pair> = pairs.iter().map(|&(pair, _)| pair).collect();
        let mut scores = vec![0.0; only.len()];
        ask_pairs(oracle, &only, &mut scores)?;
        for (((i, j), bound), score) in pairs.into_iter().zip(scores) {
            if score > bound + ROUNDING * scale {
                return Err(NeighborError::AboveBound { i, j, score, bound });
            }
            known.insert((i, j), score);
            items[i].best.offer(j, score);
            items[j].best.offer(i, score);
        }
        asked(known.len() as u64);
    }
    let exact = |(score, item): (f64, u32)| Neighbor { item: item as usize, score, exact: true };
    let lists = items.into_iter().map(|item| item.best.into_scored().map(exact).collect()).collect();
    Ok(Proven { lists, pairs: known.len() as u64, rounds })
}

/// The next other of item i that may be among its k best and has no score yet, with its bound.
fn next(
    item: &mut Item,
    i: usize,
    bounds: &[Arc<dyn Oracle>],
    known: &PairMap<f64>,
    k: usize,
) -> Result<Option<(f64, usize)>, NeighborError> {
    loop {
        let Some(&(bound, j)) = item.ahead.get(item.next) else {
            if item.is_all {
                return Ok(None);
            }
            refill(item, i, bounds)?;
            continue;
        };
        if item.best.len() >= k && bound <= item.best.threshold {
            return Ok(None);
        }
        let j = j as usize;
        if !known.contains_key(&(i.min(j), i.max(j))) {
            return Ok(Some((bound, j)));
        }
        item.next += 1;
    }
}

/// The error of a proxy as that of a bound.
fn of_bound(error: NeighborError) -> NeighborError {
    match error {
        NeighborError::Proxy { number, source, .. } => NeighborError::Proxy { role: BOUND, number, source },
        other => other,
    }
}

/// One pass over all pairs: the first others of every item, and the size of the largest bound.
fn begin(n: usize, bounds: &[Arc<dyn Oracle>], k: usize) -> Result<(Vec<Item>, f64), NeighborError> {
    let width = (k + AHEAD).min(n.saturating_sub(1));
    let mut ahead = vec![Best::new(width); n];
    let all: Vec<usize> = (0..n).collect();
    let mut scale = 0.0_f64;
    for rows in all.chunks(BLOCK) {
        for cols in all[rows[0]..].chunks(BLOCK) {
            let mut blocks = proxy_blocks(bounds, rows, cols).map_err(of_bound)?.into_iter();
            let Some(mut least) = blocks.next() else { continue };
            blocks.for_each(|block| least.zip_mut_with(&block, |least, &bound| *least = least.min(bound)));
            scale = least.iter().fold(scale, |scale, bound| scale.max(bound.abs()));
            offer(&mut ahead, &least, rows[0], cols[0]);
        }
    }
    let item = |best: Best| Item {
        ahead: best.into_scored().collect(),
        next: 0,
        is_all: width == n.saturating_sub(1),
        best: Best::new(k),
    };
    Ok((ahead.into_iter().map(item).collect(), scale))
}

/// Reads the row of an item again, for all others that stand behind those it has seen.
fn refill(item: &mut Item, i: usize, bounds: &[Arc<dyn Oracle>]) -> Result<(), NeighborError> {
    let n = bounds[0].len();
    let all: Vec<usize> = (0..n).collect();
    let blocks = proxy_blocks(bounds, &[i], &all).map_err(of_bound)?;
    let bound = |j: usize| blocks.iter().map(|block| block[[0, j]]).fold(f64::INFINITY, f64::min);
    let mut seen = vec![false; n];
    item.ahead.iter().for_each(|&(_, j)| seen[j as usize] = true);
    // an index of an item fits, or it would not be in a list
    let mut rest: Vec<(f64, u32)> = (0..n).filter(|&j| j != i && !seen[j]).map(|j| (bound(j), j as u32)).collect();
    rest.sort_unstable_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
    item.ahead.extend(rest);
    item.is_all = true;
    Ok(())
}
