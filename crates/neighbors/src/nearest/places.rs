//! The open pairs, unknown or known in one order, that stand highest in the row of either of their items, or among all pairs.
//!
//! ```text
//! place_i(j) = rank of j in row i of F        priority of {i, j} = min(place_i(j), place_j(i)), ties by F
//! ```
//! Every item's best comes before any item's second best, so that no item goes without. Cost: a sort of every row.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::pool::Pool;
use landmark_core::oracle::Pair;
use landmark_core::rank::RankCmp;

/// The `count` open pairs of smallest priority, (i, j) with i < j ascending; fewer where fewer are left. `value` is F in a slot of row i, of all pairs; it
/// and `is_open` are the same in both slots of a pair. `only_first`: places in the row of the first item alone count.
pub(super) fn places(
    pool: &Pool,
    count: usize,
    value: impl Fn(usize, usize) -> f64 + Sync,
    is_open: impl Fn(usize, usize) -> bool + Sync,
    only_first: bool,
) -> Vec<Pair> {
    if count == 0 {
        return Vec::new();
    }
    let priorities = priorities(pool, &value, only_first);
    let priority = |slot: usize| priorities[pool.number(slot)] as usize;
    let open = |i: usize| pool.upper(i).filter(|&slot| is_open(i, slot)).collect::<Vec<_>>();
    // the place at which the count is reached; what stands there competes by value
    let at_place = (0..pool.len()).into_par_iter().fold(Vec::new, |mut counts: Vec<usize>, i| {
        for place in open(i).into_iter().map(priority) {
            if place >= counts.len() {
                counts.resize(place + 1, 0);
            }
            counts[place] += 1;
        }
        counts
    });
    let at_place = at_place.reduce(Vec::new, |mut one, other| {
        one.resize(one.len().max(other.len()), 0);
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    });
    let (mut last, mut before) = (at_place.len(), 0);
    for (place, &here) in at_place.iter().enumerate() {
        if before + here >= count {
            last = place;
            break;
        }
        before += here;
    }
    let here = |i: usize| open(i).into_iter().map(move |slot| (slot, (i, pool.other(slot))));
    let mut chosen: Vec<Pair> = (0..pool.len())
        .into_par_iter()
        .flat_map_iter(|i| here(i).filter(|&(slot, _)| priority(slot) < last).map(|(_, pair)| pair))
        .collect();
    let mut tied: Vec<(f64, Pair)> = (0..pool.len())
        .into_par_iter()
        .flat_map_iter(|i| {
            here(i).filter(|&(slot, _)| priority(slot) == last).map(|(slot, pair)| (value(pair.0, slot), pair))
        })
        .collect();
    tied.par_sort_unstable_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
    chosen.extend(tied.into_iter().take(count - before).map(|(_, pair)| pair));
    chosen.par_sort_unstable();
    chosen
}

/// The `count` open pairs of largest value among all, (i, j) with i < j ascending; fewer where fewer are left.
pub(super) fn highest(
    pool: &Pool,
    count: usize,
    value: impl Fn(usize, usize) -> f64 + Sync,
    is_open: impl Fn(usize, usize) -> bool,
) -> Vec<Pair> {
    let is_open = &is_open;
    let open = |i: usize| pool.upper(i).filter(move |&slot| is_open(i, slot));
    let mut pairs: Vec<(f64, Pair)> = (0..pool.len())
        .flat_map(|i| open(i).map(move |slot| (slot, (i, pool.other(slot)))))
        .map(|(slot, pair)| (value(pair.0, slot), pair))
        .collect();
    let better = |one: &(f64, Pair), other: &(f64, Pair)| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1));
    if count == 0 {
        return Vec::new();
    }
    if count < pairs.len() {
        pairs.select_nth_unstable_by(count - 1, better);
        pairs.truncate(count);
    }
    let mut chosen: Vec<Pair> = pairs.into_iter().map(|(_, pair)| pair).collect();
    chosen.sort_unstable();
    chosen
}

/// Of every pair the smaller of its ranks in the rows of both items, or its rank in the row of the first; from 0.
fn priorities(pool: &Pool, value: &(impl Fn(usize, usize) -> f64 + Sync), only_first: bool) -> Vec<u32> {
    let priorities: Vec<AtomicU32> = (0..pool.pair_count()).map(|_| AtomicU32::new(u32::MAX)).collect();
    (0..pool.len()).into_par_iter().for_each(|i| {
        for (rank, slot) in (0..).zip(ranked(pool, i, value)) {
            if !only_first || pool.other(slot) > i {
                priorities[pool.number(slot)].fetch_min(rank, Ordering::Relaxed);
            }
        }
    });
    priorities.into_iter().map(AtomicU32::into_inner).collect()
}

/// Slots of row i, the largest value first; equal values go by index.
pub(super) fn ranked(pool: &Pool, i: usize, value: &(impl Fn(usize, usize) -> f64 + Sync)) -> Vec<usize> {
    let mut slots: Vec<(f64, usize)> = pool.row(i).map(|slot| (value(i, slot), slot)).collect();
    slots.sort_unstable_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
    slots.into_iter().map(|(_, slot)| slot).collect()
}
