//! The store against a model: a script of operations, faults and kills, given as bytes, and after each step the promises.
//!
//! The model is the score itself, what each store has been given (`known`, which it must not ask for again), what no kill may take
//! (`secure`, what landed without a fault) and what stands in tiles (`tiled`). Checked at every step: each answer is the score, each error has a
//! cause and names the file that is at fault, nothing known is asked for again; at the end: all of the matrix is answered,
//! nothing secure is asked for, and the store is sound. `proof.rs` draws scripts.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{OracleLabel, Stored, SyncPolicy, TileStore};
use ndarray::Array2;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tempfile::TempDir;

use super::faulty::{Fault, Faults, Faulty};

/// Runs a script.
///
/// # Panics
/// Where the store breaks a promise.
pub(crate) fn check(script: &[u8]) {
    let mut script = Script(script);
    let mut model = Model::new(&mut script);
    while let Some(operation) = script.byte() {
        model.bad_before = model.faults.bad();
        model.step(operation % 16, &mut script);
        model.check_asked();
    }
    model.finish();
}

/// Bytes that are left; zeros after the end.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte().unwrap_or(0)) % n
    }

    fn items(&mut self, most: usize, n: usize) -> Vec<usize> {
        (0..self.below(most + 1)).map(|_| self.below(n)).collect()
    }
}

struct World {
    len: usize,
    symmetry: Symmetry,
    known_diagonal: Option<f64>,
    at_once: usize,
    fails_after: AtomicI64,
    failures: AtomicI64,
    broken: Mutex<Vec<String>>,
}

impl World {
    fn pair(&self, (i, j): Pair) -> Pair {
        if self.symmetry == Symmetry::Symmetric && i < j { (j, i) } else { (i, j) }
    }

    fn score(&self, (i, j): Pair) -> f64 {
        if let (true, Some(value)) = (i == j, self.known_diagonal) {
            return value;
        }
        let (i, j) = self.pair((i, j));
        ((i * 31 + j) as f64).sqrt() - 3.5
    }

    /// Every pair that may be asked for, once.
    fn pairs(&self) -> HashSet<Pair> {
        let all = (0..self.len).flat_map(|i| (0..self.len).map(move |j| (i, j)));
        all.filter(|(i, j)| i != j || self.known_diagonal.is_none()).map(|pair| self.pair(pair)).collect()
    }
}

#[derive(Default)]
struct Asked {
    known: HashSet<Pair>,
    landed: HashSet<Pair>,
}

struct Scorer {
    world: Arc<World>,
    asked: Arc<Mutex<Asked>>,
}

impl Oracle for Scorer {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.world.known_diagonal,
            calls_at_once: self.world.at_once,
            ..OracleShape::new(self.world.len, self.world.symmetry)
        }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"model"), ("n", &self.world.len.to_le_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let World { fails_after, failures, broken, .. } = &*self.world;
        for (&pair, score) in pairs.iter().zip(out) {
            if fails_after.load(Ordering::Relaxed) >= 0 && fails_after.fetch_sub(1, Ordering::Relaxed) == 0 {
                failures.fetch_add(1, Ordering::Relaxed);
                return Err(OracleError::Failed { what: "the model".to_owned(), source: "made to fail".into() });
            }
            let pair = self.world.pair(pair);
            if self.asked.lock().unwrap().known.contains(&pair) {
                broken.lock().unwrap().push(format!("{pair:?} is known and was asked for again"));
            }
            *score = self.world.score(pair);
        }
        let mut asked = self.asked.lock().unwrap();
        for &pair in pairs {
            asked.known.insert(self.world.pair(pair));
            asked.landed.insert(self.world.pair(pair));
        }
        Ok(())
    }
}

enum Place {
    Folder(TempDir),
    Memory(Arc<InMemory>),
}

impl Place {
    fn folder() -> Self {
        // in memory, for the store waits for its disk at every tile
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        Self::Folder(folder.unwrap())
    }

    fn storage(&self) -> Arc<dyn ObjectStore> {
        match self {
            Self::Folder(folder) => Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap()),
            Self::Memory(memory) => Arc::clone(memory) as Arc<dyn ObjectStore>,
        }
    }

    fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    fn copy(&self) -> Self {
        match self {
            Self::Memory(memory) => Self::Memory(Arc::new(memory.fork())),
            Self::Folder(folder) => {
                let copy = Self::folder();
                if let Self::Folder(to) = &copy {
                    copy_folder(folder.path(), to.path());
                }
                copy
            }
        }
    }

    fn objects(&self, end: &str) -> Vec<object_store::path::Path> {
        let storage = self.storage();
        let listed = wait(async move { storage.list(None).collect::<Vec<_>>().await });
        let mut names: Vec<_> = listed.into_iter().map(|object| object.unwrap().location).collect();
        names.retain(|name| name.as_ref().ends_with(end));
        names.sort();
        names
    }

    fn read(&self, name: &object_store::path::Path) -> Vec<u8> {
        let storage = self.storage();
        wait(async move { storage.get(name).await.unwrap().bytes().await.unwrap().to_vec() })
    }

    fn write(&self, name: &object_store::path::Path, bytes: Vec<u8>) {
        let storage = self.storage();
        wait(async move { storage.put(name, PutPayload::from(bytes)).await.unwrap() });
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

struct Open {
    stored: Stored<Scorer>,
    asked: Arc<Mutex<Asked>>,
}

struct Model {
    world: Arc<World>,
    place: Place,
    faults: Arc<Faults>,
    memory: u64,
    sync: SyncPolicy,
    secure: HashSet<Pair>,
    tiled: HashSet<Pair>,
    open: Vec<Open>,
    /// Files that were bad before the operation: it may repair one after it met it.
    bad_before: BTreeSet<String>,
}

impl Model {
    fn new(script: &mut Script<'_>) -> Self {
        let traits = script.below(256);
        let len = 4 + script.below(9);
        let world = World {
            len,
            symmetry: if traits & 1 == 0 { Symmetry::Symmetric } else { Symmetry::Asymmetric },
            known_diagonal: (traits & 2 == 0).then_some(0.25),
            at_once: if traits & 4 == 0 { 1 } else { 3 },
            fails_after: AtomicI64::new(-1),
            failures: AtomicI64::new(0),
            broken: Mutex::default(),
        };
        let mut model = Self {
            world: Arc::new(world),
            place: if traits & 24 == 0 { Place::Memory(Arc::default()) } else { Place::folder() },
            faults: Arc::default(),
            // no column on the heap, some of them, all
            memory: [0, 8 * len as u64 * 3, u64::MAX, u64::MAX][traits >> 5 & 3],
            sync: if traits & 128 == 0 { SyncPolicy::Batch } else { SyncPolicy::Second },
            secure: HashSet::new(),
            tiled: HashSet::new(),
            open: Vec::new(),
            bad_before: BTreeSet::new(),
        };
        model.attach_well();
        model
    }

    fn step(&mut self, operation: u8, script: &mut Script<'_>) {
        let at = script.below(2).min(self.open.len().saturating_sub(1));
        match operation {
            0..4 => {
                let (rows, cols) = (script.items(5, self.world.len), script.items(3, self.world.len));
                let pairs: Vec<Pair> = rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j))).collect();
                self.ask(at, &pairs, |stored| {
                    let mut out = Array2::zeros((rows.len(), cols.len()));
                    stored.block(&rows, &cols, out.view_mut()).map(|()| out.into_iter().collect())
                });
            }
            4..7 => {
                let (rows, cols) = (script.items(9, self.world.len), script.items(9, self.world.len));
                let pairs: Vec<Pair> = rows.into_iter().zip(cols).collect();
                self.ask(at, &pairs, |stored| {
                    let mut out = vec![0.0; pairs.len()];
                    stored.evaluate(&pairs, &mut out).map(|()| out)
                });
            }
            7 => {
                let struck = self.faults.struck();
                match self.open[at].stored.flush() {
                    Ok(()) => self.all_is_tiled(at),
                    Err(error) => self.explain(struck, false, &error.to_string()),
                }
            }
            8 => {
                self.close(at);
                self.attach_or_repair();
            }
            9 if self.open.len() == 2 => self.close(at),
            9 => self.attach_or_repair(),
            10 => {
                let struck = self.faults.struck();
                match self.open[at].stored.refresh() {
                    Ok(_) => self.open[at].asked.lock().unwrap().known.extend(&self.secure),
                    Err(error) => self.explain(struck, false, &error.to_string()),
                }
            }
            11 => {
                let struck = self.faults.struck();
                if let Err(error) = self.store().clean(false) {
                    self.explain(struck, false, &error.to_string());
                }
            }
            12 => self.kill(script),
            13 => {
                let kind = [Fault::Before, Fault::After, Fault::Short][script.below(3)];
                let (left, row) = (script.below(6) as u8, 1 + script.below(3) as u8);
                self.faults.arm(left, row, kind);
            }
            14 => self.damage(script),
            _ => self.world.fails_after.store(script.below(12) as i64, Ordering::Relaxed),
        }
    }

    fn store(&self) -> TileStore {
        let (folder, storage) = match &self.place {
            Place::Folder(folder) => (folder.path().display().to_string(), None),
            Place::Memory(_) => ("memory://".to_owned(), Some(self.place.storage())),
        };
        let faults = Arc::clone(&self.faults);
        let wrap = |inner| Arc::new(Faulty { inner: storage.unwrap_or(inner), faults }) as Arc<dyn ObjectStore>;
        TileStore::open_through(&folder, wrap).unwrap().with_memory(self.memory).with_sync(self.sync)
    }

    fn ask(&mut self, at: usize, pairs: &[Pair], ask: impl FnOnce(&Stored<Scorer>) -> Result<Vec<f64>, OracleError>) {
        let (struck, failures) = (self.faults.struck(), self.world.failures.load(Ordering::Relaxed));
        let before = self.open[at].asked.lock().unwrap().landed.clone();
        let answer = ask(&self.open[at].stored);
        let has_failed = self.world.failures.load(Ordering::Relaxed) > failures;
        match answer {
            Ok(scores) => {
                for (&pair, score) in pairs.iter().zip(scores) {
                    assert_eq!(score, self.world.score(pair), "{pair:?}");
                }
            }
            Err(error) => self.explain(struck, has_failed, &chain(&error)),
        }
        // what landed without a fault is in a tile or in the log
        if self.faults.struck() == struck && self.place.is_folder() {
            let asked = self.open[at].asked.lock().unwrap();
            self.secure.extend(asked.landed.difference(&before));
        }
    }

    /// An error must have a cause: a fault, a failure of the oracle, or a bad file, which it names.
    fn explain(&self, struck: u64, has_failed: bool, error: &str) {
        let is_named = self.bad_before.union(&self.faults.bad()).any(|name| error.contains(name));
        assert!(self.faults.struck() > struck || has_failed || is_named, "an error without a cause: {error}");
    }

    fn all_is_tiled(&mut self, at: usize) {
        let landed = self.open[at].asked.lock().unwrap().landed.clone();
        self.secure.extend(&landed);
        self.tiled.extend(&landed);
    }

    fn close(&mut self, at: usize) {
        let struck = self.faults.struck();
        let Open { stored, asked } = self.open.remove(at);
        drop(stored);
        if self.faults.struck() == struck {
            let landed = &asked.lock().unwrap().landed;
            self.secure.extend(landed);
            self.tiled.extend(landed);
        }
        if self.open.is_empty() {
            self.attach_or_repair();
        }
    }

    fn attach(&mut self) -> Result<(), String> {
        let asked = Arc::new(Mutex::new(Asked { known: self.secure.clone(), landed: HashSet::new() }));
        let scorer = Scorer { world: Arc::clone(&self.world), asked: Arc::clone(&asked) };
        let stored = self.store().attach(scorer, OracleLabel::new("model", "")).map_err(|error| error.to_string())?;
        self.open.push(Open { stored, asked });
        Ok(())
    }

    /// Attaches one more, unless there are two; a bad file is refused by name, and cleaned away.
    fn attach_or_repair(&mut self) {
        if self.open.len() == 2 {
            return;
        }
        let (struck, bad) = (self.faults.struck(), self.faults.bad());
        match self.attach() {
            Ok(()) => assert!(bad.is_empty(), "bad files were read: {bad:?}"),
            Err(error) => {
                self.explain(struck, false, &error);
                self.faults.disarm();
                self.attach_well();
            }
        }
    }

    /// Attaches one more after putting the store in order, which must do.
    fn attach_well(&mut self) {
        self.store().clean(false).unwrap();
        assert!(self.faults.bad().is_empty(), "still bad: {:?}", self.faults.bad());
        self.attach().unwrap();
    }

    /// All processes are killed: what remains is what lies in the store at this moment. A log may have lost its end.
    fn kill(&mut self, script: &mut Script<'_>) {
        let place = self.place.copy();
        let faults = Arc::new(Faults::default());
        self.faults.bad().iter().for_each(|name| faults.mark(name, true));
        self.faults.disarm();
        if !place.is_folder() {
            self.secure = self.tiled.clone();
        } else if script.below(3) == 0 {
            for log in place.objects(".log") {
                let mut bytes = place.read(&log);
                let cut = script.below(256) * bytes.len() / 256;
                match script.below(2) {
                    0 => bytes.truncate(cut),
                    _ => bytes.iter_mut().skip(cut).take(1).for_each(|byte| *byte ^= 1 + script.below(255) as u8),
                }
                // a log whose head is edited is refused by name
                let name = log.filename().unwrap();
                faults.mark(name, bytes.len() >= 68 && cut < 68);
                place.write(&log, bytes);
                self.secure = self.tiled.clone();
            }
        }
        (self.place, self.faults) = (place, faults);
        // letting go of the old ones writes into the old place, which nobody reads any more
        let old = std::mem::take(&mut self.open);
        self.attach_or_repair();
        drop(old);
    }

    fn damage(&mut self, script: &mut Script<'_>) {
        let tiles = self.place.objects(".tile");
        if tiles.is_empty() {
            return;
        }
        let tile = &tiles[script.below(tiles.len())];
        let mut bytes = self.place.read(tile);
        let lost = self.entries_of(tile, &bytes);
        let at = script.below(256) * bytes.len() / 256;
        match script.below(2) {
            0 => bytes.truncate(at),
            // one that was cut before may hold nothing
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 + script.below(255) as u8),
        }
        self.place.write(tile, bytes);
        self.faults.mark(tile.filename().unwrap(), true);
        self.secure.retain(|pair| !lost.contains(pair));
        self.tiled.retain(|pair| !lost.contains(pair));
        for open in &self.open {
            open.asked.lock().unwrap().landed.retain(|pair| !lost.contains(pair));
        }
    }

    /// The pairs that a tile holds, as a store reads it that has no other; none where it is bad.
    fn entries_of(&self, name: &object_store::path::Path, bytes: &[u8]) -> HashSet<Pair> {
        let alone = Place::Memory(Arc::default());
        alone.write(name, bytes.to_vec());
        let storage = alone.storage();
        let store = TileStore::open_through("memory://", |_| storage).unwrap();
        let scorer = Scorer { world: Arc::clone(&self.world), asked: Arc::default() };
        let Ok(stored) = store.attach(scorer, OracleLabel::new("model", "")) else { return HashSet::new() };
        let is_there = |&(i, j): &Pair| {
            let mut set = EntrySet::new(OracleShape::of(&stored));
            set.add_entry(i, j);
            stored.missing(&set) == 0
        };
        self.world.pairs().into_iter().filter(is_there).collect()
    }

    fn check_asked(&self) {
        let broken = self.world.broken.lock().unwrap();
        assert!(broken.is_empty(), "{broken:?}");
    }

    /// Everything is asked for once more: the scores, and nothing that was secure.
    fn finish(mut self) {
        self.faults.disarm();
        self.world.fails_after.store(-1, Ordering::Relaxed);
        while !self.open.is_empty() {
            let Open { stored, asked } = self.open.remove(0);
            drop(stored);
            self.secure.extend(&asked.lock().unwrap().landed);
        }
        self.attach_well();
        let all: Vec<usize> = (0..self.world.len).collect();
        let pairs: Vec<Pair> = all.iter().flat_map(|&i| all.iter().map(move |&j| (i, j))).collect();
        self.ask(0, &pairs, |stored| {
            let mut out = Array2::zeros((all.len(), all.len()));
            stored.block(&all, &all, out.view_mut()).map(|()| out.into_iter().collect())
        });
        self.check_asked();
        assert_eq!(self.open[0].stored.entries(), self.world.pairs().len() as u64);
        self.open.clear();
        let verified = self.store().verify().unwrap();
        assert!(verified.problems.is_empty() && verified.logged == 0, "{verified:?}");
    }
}

/// An error with its causes, for the file is often named by one of them.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
