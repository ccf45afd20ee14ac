//! The tiles of a plan as a worker meets them: which are done, which are free, and how one is evaluated.

use std::sync::Arc;
use std::time::Duration;

use landmark_core::oracle::{Oracle, OracleError};
use landmark_store::{Claim, OracleLabel, StoreError, Taken, TileStore};

use super::TilePlan;
use super::purchase::{Entries, Purchase};
use crate::interrupt::flush_before_the_end;

/// Tiles by number: which are marked as done, and the seconds since the worker of one was heard of.
pub(super) struct TileProgress {
    pub(super) done: Vec<bool>,
    pub(super) claimed: Vec<Option<u64>>,
}

impl TileProgress {
    /// Of the plan called `name` in the store.
    pub(super) fn of(store: &TileStore, name: &str, plan: &TilePlan) -> Result<Self, StoreError> {
        let mut progress = Self { done: vec![false; plan.tiles.len()], claimed: vec![None; plan.tiles.len()] };
        let prefix = plan.tile_prefix();
        for (document, age) in store.plan_documents(name)? {
            let Some((tile, kind)) = document.strip_prefix(&prefix).and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            let Some(tile) = tile.parse::<usize>().ok().filter(|&tile| tile < plan.tiles.len()) else { continue };
            if kind == "done" {
                progress.done[tile] = true;
            } else if kind.starts_with("claim-") {
                let latest = progress.claimed[tile].map_or(age, |other: u64| other.min(age));
                progress.claimed[tile] = Some(latest);
            }
        }
        Ok(progress)
    }
}

/// Tiles that are to be done, by this worker or by others.
pub(super) struct OpenTiles<'a> {
    store: &'a TileStore,
    name: &'a str,
    plan: &'a TilePlan,
    lease: Duration,
    waiting: Vec<usize>,
    /// Place in `waiting`.
    next: usize,
    /// Tiles by number that a living worker had when `waiting` was looked through last.
    is_busy: Vec<bool>,
    /// Something was found to do since `waiting` was looked through from its beginning.
    was_work: bool,
}

/// What a worker does next.
pub(super) enum NextTile {
    /// This one, which is its own until the claim is dropped.
    Do(usize, Claim),
    /// Nothing for now: so many tiles are with others.
    Wait(usize),
    /// Nothing more.
    AllDone,
}

impl<'a> OpenTiles<'a> {
    /// These tiles of the plan called `name`; a worker that is silent for the lease loses its own.
    pub(super) fn new(
        store: &'a TileStore,
        name: &'a str,
        plan: &'a TilePlan,
        tiles: Vec<usize>,
        lease: Duration,
    ) -> Self {
        Self { store, name, plan, lease, waiting: tiles, next: 0, is_busy: Vec::new(), was_work: false }
    }

    /// The next tile that is free.
    pub(super) fn next(&mut self) -> Result<NextTile, StoreError> {
        loop {
            if self.next == 0 {
                let TileProgress { done, claimed } = TileProgress::of(self.store, self.name, self.plan)?;
                self.waiting.retain(|&tile| !done[tile]);
                let is_alive = |age: Option<u64>| age.is_some_and(|age| age < self.lease.as_secs().max(1));
                self.is_busy = claimed.into_iter().map(is_alive).collect();
                self.was_work = false;
                if self.waiting.is_empty() {
                    return Ok(NextTile::AllDone);
                }
            }
            while let Some(&tile) = self.waiting.get(self.next) {
                self.next += 1;
                if self.is_busy[tile] {
                    continue;
                }
                match self.store.take(self.name, &self.plan.tile_name(tile), self.lease)? {
                    Taken::Busy => {}
                    Taken::Done => self.was_work = true,
                    Taken::Claimed(claim) => {
                        self.was_work = true;
                        return Ok(NextTile::Do(tile, claim));
                    }
                }
            }
            self.next = 0;
            if !self.was_work {
                return Ok(NextTile::Wait(self.waiting.len()));
            }
        }
    }
}

/// A tile that was evaluated.
pub(super) struct EvaluatedTile {
    /// Its distinct entries that are in the store now.
    pub(super) entries: u64,
    /// Distinct pairs that were evaluated for it.
    pub(super) new: u64,
}

/// Evaluates what of a tile is in no tile of its name yet, and publishes it. `order` is the [`row_order`](Purchase::row_order) of `purchase`, the plan's.
///
/// # Errors
/// Those of the oracle and of the store.
pub(super) fn evaluate<O: Oracle + 'static>(
    store: &TileStore,
    (oracle, label): (O, OracleLabel),
    (plan, tile): (&TilePlan, usize),
    (purchase, order): (&Purchase, &[usize]),
) -> Result<EvaluatedTile, OracleError> {
    let stored = Arc::new(store.attach_part(oracle, label, &plan.tile_name(tile))?);
    flush_before_the_end(&stored);
    match purchase.entries_of(plan.tiles[tile].part, order) {
        Entries::Block(rows, cols) => stored.stock(&rows, &cols)?,
        Entries::Pairs(pairs) => stored.evaluate(&pairs, &mut vec![0.0; pairs.len()])?,
    }
    stored.flush()?;
    Ok(EvaluatedTile { entries: stored.entries(), new: stored.bought() })
}
