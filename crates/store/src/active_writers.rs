//! Several runs that evaluate from one oracle at once, and how they keep out of each other's way.
//!
//! A run that evaluates leaves a small object beside the tiles and renews it. Every run thereby knows how many there are and
//! which of them it is, begins its requests in another place (at 0, 1/2, 1/4, 3/4, … of the cells) and looks for new
//! tiles before each batch, so that they meet in the middle instead of evaluating the same; towards the end of a request batches grow smaller. This is advice, not a lock: a
//! run that died is forgotten after a minute, and the worst that can happen is an entry evaluated twice.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::StoreError;
use super::backend::{Backend, Object};

/// Prefix of the names of these objects.
pub(super) const PREFIX: &str = "buyer-";
/// Seconds after which a run that has not renewed is taken for dead.
const ALIVE_SECONDS: i64 = 60;
/// Time between two renewals.
const RENEW: Duration = Duration::from_secs(15);

/// This run among those that evaluate.
pub(super) struct ActiveWriters {
    /// Prefix of its name and of those of the others in the same part.
    prefix: String,
    name: String,
    renewed: Option<Instant>,
    place: usize,
    count: usize,
}

impl ActiveWriters {
    /// A run that has not evaluated yet; `salt` tells two of one process apart. Writers of a part only mind each other.
    pub(super) fn new(salt: u64, part: Option<&str>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&now.to_le_bytes()).update(&std::process::id().to_le_bytes()).update(&salt.to_le_bytes());
        // the time comes first, so that a run that joins later has a later place
        let prefix = part.map_or_else(|| PREFIX.to_owned(), |part| format!("{PREFIX}{part}."));
        let name = format!("{prefix}{now:032x}-{}", &hasher.finalize().to_hex()[..12]);
        Self { prefix, name, renewed: None, place: 0, count: 1 }
    }

    /// Announces that this run is evaluating, at most every [`RENEW`].
    pub(super) fn announce(&mut self, backend: &Backend, folder: &str) -> Result<(), StoreError> {
        if self.renewed.is_none_or(|renewed| renewed.elapsed() >= RENEW) {
            let text = format!("process {} is buying entries\n", std::process::id());
            backend.replace(&format!("{folder}/{}", self.name), text.into_bytes())?;
            self.renewed = Some(Instant::now());
        }
        Ok(())
    }

    /// True once this run has announced itself.
    pub(super) fn is_announced(&self) -> bool {
        self.renewed.is_some()
    }

    /// Takes note of who else is there.
    pub(super) fn look(&mut self, objects: &[Object]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let others = || {
            // a time that is yet to come is that of a clock that was set back
            let alive = objects.iter().filter(|object| (now - object.modified).abs() < ALIVE_SECONDS);
            alive.filter(|object| {
                let rest = object.name.strip_prefix(&self.prefix);
                rest.is_some_and(|rest| !rest.contains('.')) && object.name != self.name
            })
        };
        self.place = others().filter(|object| object.name < self.name).count();
        self.count = others().count() + 1;
    }

    /// Number of runs that are evaluating, this one included.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Share of a request at which this run begins: 0, 1/2, 1/4, 3/4, 1/8, … by place (van der Corput's sequence).
    pub(super) fn share(&self) -> f64 {
        let (mut place, mut share, mut step) = (self.place, 0.0, 0.5);
        while place > 0 {
            share += step * (place % 2) as f64;
            (place, step) = (place / 2, step / 2.0);
        }
        share
    }

    /// Takes this run off the list; a failure only leaves an object that will be ignored.
    pub(super) fn leave(&mut self, backend: &Backend, folder: &str) {
        if self.renewed.take().is_some()
            && let Err(error) = backend.remove(&format!("{folder}/{}", self.name))
        {
            tracing::debug!("could not remove `{}`: {error}", self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_begins_in_the_largest_gap() {
        let mut run = ActiveWriters::new(0, None);
        let shares: Vec<f64> = (0..5)
            .map(|place| {
                run.place = place;
                run.share()
            })
            .collect();
        assert_eq!(shares, [0.0, 0.5, 0.25, 0.75, 0.125]);
    }
}
