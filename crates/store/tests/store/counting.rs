//! An oracle that counts how often each pair was asked for, and that can be slow, poor or broken.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{OracleLabel, Stored, TileStore};
use object_store::ObjectStore;

use crate::faulty::{Faults, Faulty};

pub(crate) struct Counting {
    pub(crate) len: usize,
    pub(crate) symmetry: Symmetry,
    pub(crate) known_diagonal: Option<f64>,
    pub(crate) at_once: usize,
    pub(crate) delay: Duration,
    pub(crate) budget: u64,
    pub(crate) broken: Option<Pair>,
    pub(crate) calls: Mutex<HashMap<Pair, u32>>,
    pub(crate) spent: AtomicU64,
}

impl Counting {
    pub(crate) fn symmetric(len: usize) -> Self {
        Self {
            len,
            symmetry: Symmetry::Symmetric,
            known_diagonal: Some(0.0),
            at_once: 1,
            delay: Duration::ZERO,
            budget: u64::MAX,
            broken: None,
            calls: Mutex::default(),
            spent: AtomicU64::new(0),
        }
    }

    pub(crate) fn score(&self, i: usize, j: usize) -> f64 {
        let (low, high) = (i.min(j) as f64, i.max(j) as f64);
        match self.symmetry {
            _ if i == j => self.known_diagonal.unwrap_or(-1.0 - low),
            Symmetry::Symmetric => (1.0 + low).sqrt() * high,
            Symmetry::Asymmetric => i as f64 + 1e-4 * j as f64,
        }
    }

    pub(crate) fn calls(&self) -> (u64, u32) {
        let calls = self.calls.lock().unwrap();
        (calls.values().map(|&count| u64::from(count)).sum(), calls.values().copied().max().unwrap_or(0))
    }
}

impl Oracle for Counting {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.known_diagonal,
            calls_at_once: self.at_once,
            ..OracleShape::new(self.len, self.symmetry)
        }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"counting"), ("n", &self.len.to_le_bytes()), ("s", &[self.symmetry as u8])])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let (requested, budget) = (pairs.len() as u64, self.budget);
        let afford = |spent: u64| spent.checked_add(requested).filter(|&total| total <= budget);
        self.spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, afford)
            .map_err(|spent| OracleError::BudgetExhausted { budget, spent, requested })?;
        std::thread::sleep(self.delay * u32::try_from(pairs.len()).unwrap());
        let mut calls = self.calls.lock().unwrap();
        for (&(i, j), score) in pairs.iter().zip(out) {
            let mirror = self.symmetry == Symmetry::Symmetric && i < j;
            *calls.entry(if mirror { (j, i) } else { (i, j) }).or_default() += 1;
            *score = if self.broken == Some((i, j)) { f64::NAN } else { self.score(i, j) };
        }
        Ok(())
    }
}

pub(crate) fn open(folder: &std::path::Path) -> TileStore {
    TileStore::open(&folder.display().to_string()).unwrap()
}

/// The same through a storage whose requests fail as `faults` has them.
pub(crate) fn open_faulty(folder: &std::path::Path, faults: &Arc<Faults>) -> TileStore {
    let wrap = |inner| Arc::new(Faulty { inner, faults: Arc::clone(faults) }) as Arc<dyn ObjectStore>;
    TileStore::open_through(&folder.display().to_string(), wrap).unwrap()
}

pub(crate) fn attach(folder: &std::path::Path, oracle: Counting) -> Stored<Counting> {
    open(folder).attach(oracle, OracleLabel::new("counting", "counts its calls")).unwrap()
}

pub(crate) fn tiles(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(oracles) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = oracles.flat_map(|oracle| std::fs::read_dir(oracle.unwrap().path()).unwrap());
    let mut tiles: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    tiles.retain(|path| path.extension().is_some_and(|extension| extension == "tile"));
    tiles.sort();
    tiles
}
