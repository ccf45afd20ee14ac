//! Documents and claims by which several machines share the work of a plan.
//!
//! ```text
//! <store>/plans/<name>/plan.json             a document, replaced as a whole
//!                      <work>.done           a document that is created once
//!                      <work>.claim-<g>      held by one worker, renewed while it lives
//! ```
//!
//! A claim is taken by creating an object that must not exist yet, which every storage does for exactly one of several. One
//! that was not renewed for its lease belongs to a worker that died; the next generation of it is free to be taken. Clocks
//! that differ by more than a lease, or are set back by more, make workers share a piece, which wastes little and breaks nothing. `plans/model.rs` goes through
//! all that two workers and their clocks can do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backend::Backend;
use super::{StoreError, TileStore};

/// The folder of all plans.
const PLANS: &str = "plans";
/// The shortest lease: times of objects are whole seconds.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);
/// A claim is renewed so many times a lease.
const RENEWALS: u32 = 4;

/// Outcome of asking for a piece of work.
pub enum Taken {
    /// It is marked as done.
    Done,
    /// A worker that lives has it.
    Busy,
    /// It is the asker's until the claim is dropped.
    Claimed(Claim),
}

/// A piece of work that nobody else works on, until this is dropped.
pub struct Claim {
    backend: Arc<Backend>,
    object: String,
    is_over: Arc<AtomicBool>,
    renewer: Option<JoinHandle<()>>,
}

impl TileStore {
    /// A document of a plan, if it is there.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn plan_document(&self, plan: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.backend.get(&format!("{PLANS}/{plan}/{name}"))
    }

    /// Address of a document of a plan, for messages.
    pub fn plan_document_address(&self, plan: &str, name: &str) -> String {
        self.backend.describe(&format!("{PLANS}/{plan}/{name}"))
    }

    /// Writes a document of a plan, in place of one that is there.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn write_plan_document(&self, plan: &str, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.backend.replace(&format!("{PLANS}/{plan}/{name}"), bytes)
    }

    /// Names of the documents and claims of a plan, with the seconds since each was written or renewed.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn plan_documents(&self, plan: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let age = |modified: i64| silence(now, u64::try_from(modified).unwrap_or(0));
        let listing = self.backend.list(&format!("{PLANS}/{plan}"))?;
        Ok(listing.objects.into_iter().map(|object| (object.name, age(object.modified))).collect())
    }

    /// Removes the documents of a plan whose names begin with `prefix`.
    ///
    /// # Errors
    /// A store that cannot be read or written.
    pub fn remove_plan_documents(&self, plan: &str, prefix: &str) -> Result<(), StoreError> {
        let documents = self.plan_documents(plan)?;
        let mut names = documents.iter().map(|(name, _)| name).filter(|name| name.starts_with(prefix));
        names.try_for_each(|name| self.backend.remove(&format!("{PLANS}/{plan}/{name}")))
    }

    /// Takes a piece of work that is neither done nor had by a living worker. `lease` is how long one may be silent.
    ///
    /// # Errors
    /// A lease below one second; a store that cannot be read or written.
    pub fn take(&self, plan: &str, work: &str, lease: Duration) -> Result<Taken, StoreError> {
        let Some(claim) = self.claim(plan, work, lease)? else { return Ok(Taken::Busy) };
        // another may have finished it between the look at its claims and ours
        let is_done = self.plan_document(plan, &done(work))?.is_some();
        Ok(if is_done { Taken::Done } else { Taken::Claimed(claim) })
    }

    /// Marks a piece of work as done. What it made must stand in the store before.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn mark_done(&self, plan: &str, work: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.write_plan_document(plan, &done(work), bytes)
    }

    fn claim(&self, plan: &str, work: &str, lease: Duration) -> Result<Option<Claim>, StoreError> {
        if lease < SHORTEST_LEASE {
            return Err(StoreError::Lease { work: work.to_owned(), lease });
        }
        let prefix = format!("{work}.claim-");
        let documents = self.plan_documents(plan)?;
        let claims = documents.iter().filter_map(|(name, age)| Some((name.strip_prefix(&prefix)?.parse().ok()?, *age)));
        let Some(generation) = next_generation(claims, lease.as_secs()) else { return Ok(None) };
        let object = format!("{PLANS}/{plan}/{prefix}{generation}");
        if !self.backend.create(&object, signature())? {
            return Ok(None);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let renewer = {
            let (backend, object, is_over) = (Arc::clone(&self.backend), object.clone(), Arc::clone(&is_over));
            thread::spawn(move || renew(&backend, &object, &is_over, lease / RENEWALS))
        };
        Ok(Some(Claim { backend: Arc::clone(&self.backend), object, is_over, renewer: Some(renewer) }))
    }
}

/// Seconds since a claim was renewed. A time that is yet to come is as far off: a clock was set back, and waiting for it to come again would be waiting
/// for as long as that.
fn silence(now: u64, renewed: u64) -> u64 {
    now.abs_diff(renewed)
}

/// Generation of the claim that a worker may create, or `None` while a claim was renewed within the lease; `claims` are generations and
/// seconds since each was renewed.
fn next_generation(claims: impl Iterator<Item = (u64, u64)>, lease: u64) -> Option<u64> {
    let mut next = 0;
    for (generation, age) in claims {
        // any of them: one that was taken for dead may have woken up while its successor died
        if age < lease {
            return None;
        }
        next = next.max(generation.saturating_add(1));
    }
    Some(next)
}

/// Name of the mark of a piece that is done.
fn done(work: &str) -> String {
    format!("{work}.done")
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(renewer) = self.renewer.take() {
            renewer.thread().unpark();
            // one that panicked renews no more, which is all that is wanted
            let _ = renewer.join();
        }
        if let Err(error) = self.backend.remove(&self.object) {
            tracing::debug!("the claim `{}` could not be removed and will run out: {error}", self.object);
        }
    }
}

fn renew(backend: &Backend, object: &str, is_over: &AtomicBool, every: Duration) {
    loop {
        thread::park_timeout(every);
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = backend.replace(object, signature()) {
            tracing::warn!("the claim `{object}` could not be renewed: {error}");
        }
    }
}

fn signature() -> Vec<u8> {
    format!("process {} of {}\n", std::process::id(), std::env::var("HOSTNAME").unwrap_or_default()).into_bytes()
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_work_is_had_by_one_until_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = TileStore::open(&folder.path().display().to_string()).unwrap();
        let lease = Duration::from_secs(60);
        let first = store.claim("mine", "t1", lease).unwrap();
        assert!(first.is_some() && matches!(store.take("mine", "t1", lease).unwrap(), Taken::Busy));
        assert!(store.claim("mine", "t2", lease).unwrap().is_some(), "another piece is free");
        drop(first);
        assert!(matches!(store.take("mine", "t1", lease).unwrap(), Taken::Claimed(_)));
        store.mark_done("mine", "t1", b"{}".to_vec()).unwrap();
        assert!(matches!(store.take("mine", "t1", lease).unwrap(), Taken::Done));
        let left = store.plan_documents("mine").unwrap();
        assert_eq!(left.len(), 1, "no claim is left: {left:?}");
    }

    #[test]
    fn a_lease_below_a_second_is_refused_and_nothing_is_claimed() {
        let folder = tempfile::tempdir().unwrap();
        let store = TileStore::open(&folder.path().display().to_string()).unwrap();
        for lease in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(999)] {
            let error = store.take("mine", "t1", lease).err().unwrap();
            assert!(matches!(error, StoreError::Lease { .. }), "{error}");
        }
        assert!(store.plan_documents("mine").unwrap().is_empty());
    }

    #[test]
    fn of_many_that_want_one_piece_at_once_one_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = TileStore::open(&folder.path().display().to_string()).unwrap();
        let taken = thread::scope(|scope| {
            let takers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| store.claim("mine", "t1", Duration::from_secs(60)).unwrap())).collect();
            // the claims live until all have tried
            takers.into_iter().map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(taken.iter().flatten().count(), 1);
    }

    #[test]
    fn the_claim_of_a_worker_that_died_runs_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = TileStore::open(&folder.path().display().to_string()).unwrap();
        // an object that nobody renews
        store.write_plan_document("mine", "t1.claim-0", b"gone".to_vec()).unwrap();
        assert!(store.claim("mine", "t1", Duration::from_secs(60)).unwrap().is_none());
        thread::sleep(Duration::from_millis(2100)); // times of files are whole seconds here
        let claim = store.claim("mine", "t1", Duration::from_secs(1)).unwrap();
        assert!(claim.is_some_and(|claim| claim.object.ends_with("t1.claim-1")));
    }

    #[test]
    fn the_claim_of_a_worker_that_died_before_the_clock_was_set_back_runs_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = TileStore::open(&folder.path().display().to_string()).unwrap();
        store.write_plan_document("mine", "t1.claim-0", b"gone".to_vec()).unwrap();
        let claim = std::fs::File::options().append(true).open(folder.path().join("plans/mine/t1.claim-0")).unwrap();
        claim.set_modified(SystemTime::now() + Duration::from_secs(86_400)).unwrap();
        assert!(matches!(store.take("mine", "t1", Duration::from_secs(60)).unwrap(), Taken::Claimed(_)));
    }
}
