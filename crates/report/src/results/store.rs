//! Finished cells of a sweep, kept as they finish: `results/<name>/cells.jsonl`, one line per cell, appended and fsynced.
//!
//! A killed run loses at most the cell it was computing. A torn last line is dropped by name; a damaged line before it is an error.
//! The file is locked while a run writes to it, so two runs of one configuration cannot interleave. A cell's measured seconds are
//! stored with it, so that running a finished configuration again changes no byte of any result.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{FileError, refuse_links, write_file};
use super::tables::{rows_to_json, rows_to_parquet};
use super::{ResultRow, ResultsError};

/// The name of a cell: a hash of everything that moves its figures.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellKey(String);

impl fmt::Display for CellKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a cell: 32 hex digits of the blake3 hash of its description as JSON. Pure, so the same configuration finds the same
/// cells on any machine.
pub fn cell_key(description: &impl Serialize) -> Result<CellKey, ResultsError> {
    let bytes =
        serde_json::to_vec(description).map_err(|source| ResultsError::Encode { what: "a cell key", source })?;
    Ok(CellKey(blake3::hash(&bytes).to_hex()[..32].to_string()))
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: CellKey,
    rows: Vec<ResultRow>,
}

/// The finished cells of one configuration.
#[derive(Debug)]
pub struct ResultStore {
    folder: PathBuf,
    log: File,
    cells: HashMap<CellKey, Vec<ResultRow>>,
    warnings: Vec<String>,
}

impl ResultStore {
    /// Opens `folder` (made if needed), locks it for this run and reads the cells that are finished.
    pub fn open(folder: &Path) -> Result<Self, ResultsError> {
        fs::create_dir_all(folder).map_err(FileError::new("create the folder", folder))?;
        refuse_links(folder)?;
        let path = folder.join("cells.jsonl");
        let mut log = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(FileError::new("open", &path))?;
        match log.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(ResultsError::Busy(folder.to_path_buf())),
            // a file system without locks (some network mounts): one run at a time is then the user's care
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut text = Vec::new();
        log.read_to_end(&mut text).map_err(FileError::new("read", &path))?;
        let Parsed { cells, whole, warning } = parse(&path, &text)?;
        if whole < text.len() {
            log.set_len(whole as u64).map_err(FileError::new("repair", &path))?;
            log.seek(SeekFrom::End(0)).map_err(FileError::new("repair", &path))?;
        }
        Ok(Self { folder: folder.to_path_buf(), log, cells, warnings: warning.into_iter().collect() })
    }

    /// The keys of the cells that are finished, without taking the folder: for a dry run. A folder that is not there has none.
    pub fn peek(folder: &Path) -> Result<HashSet<CellKey>, ResultsError> {
        let path = folder.join("cells.jsonl");
        match fs::read(&path) {
            Ok(text) => Ok(parse(&path, &text)?.cells.into_keys().collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashSet::new()),
            Err(error) => Err(FileError::new("read", &path)(error).into()),
        }
    }

    /// Forgets every cell of a configuration, so that all are computed again.
    pub fn forget(folder: &Path) -> Result<(), ResultsError> {
        let store = Self::open(folder)?;
        let path = folder.join("cells.jsonl");
        store.log.set_len(0).map_err(FileError::new("empty", &path))?;
        Ok(())
    }

    /// Sentences on cells that were dropped while opening.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The rows of a cell that is finished.
    pub fn get(&self, key: &CellKey) -> Option<&[ResultRow]> {
        self.cells.get(key).map(Vec::as_slice)
    }

    /// Keeps a finished cell: on disk when this returns. A cell that is already there stays as it is.
    pub fn record(&mut self, key: &CellKey, rows: Vec<ResultRow>) -> Result<(), ResultsError> {
        if self.cells.contains_key(key) {
            return Ok(());
        }
        rows.iter().try_for_each(check_finite)?;
        let encode = |source| ResultsError::Encode { what: "a cell", source };
        let mut line = serde_json::to_vec(&Line { key: key.clone(), rows }).map_err(encode)?;
        // kept as a later run will read it, so that both print the same last digit
        let Line { key, rows } = serde_json::from_slice(&line).map_err(encode)?;
        line.push(b'\n');
        let path = self.folder.join("cells.jsonl");
        let before = self.log.metadata().map_err(FileError::new("read", &path))?.len();
        if let Err(error) = self.log.write_all(&line).and_then(|()| self.log.sync_data()) {
            // half a line on a full disk must not swallow the next one; if this fails too, opening repairs it
            let _ = self.log.set_len(before);
            return Err(FileError::new("append to", &path)(error).into());
        }
        self.cells.insert(key, rows);
        Ok(())
    }

    /// The rows of those of these cells that are finished, in this order: for a run that ended before its time.
    pub fn finished_rows(&self, keys: &[CellKey]) -> Vec<ResultRow> {
        keys.iter().filter_map(|key| self.cells.get(key)).flatten().cloned().collect()
    }

    /// Writes `results.json` and `results.parquet` of these rows. Same rows, same bytes.
    pub fn publish(&self, rows: &[ResultRow]) -> Result<(), ResultsError> {
        write_file(&self.folder.join("results.json"), &rows_to_json(rows)?)?;
        write_file(&self.folder.join("results.parquet"), &rows_to_parquet(rows)?)?;
        Ok(())
    }
}

fn check_finite(row: &ResultRow) -> Result<(), ResultsError> {
    let ends = row.interval.map(|interval| [interval.lower, interval.upper]);
    let mut numbers = [Some(row.value), row.cost.seconds].into_iter().flatten().chain(ends.into_iter().flatten());
    match numbers.find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(value) => Err(ResultsError::NotFinite {
            metric: row.metric.spec().label.to_string(),
            method: row.subject.method.clone(),
            dataset: row.subject.dataset.clone(),
            axes: row.axes.to_string(),
            replicate: row.replicate,
            value,
        }),
    }
}

struct Parsed {
    cells: HashMap<CellKey, Vec<ResultRow>>,
    /// Bytes up to and with the last whole line.
    whole: usize,
    warning: Option<String>,
}

fn parse(path: &Path, text: &[u8]) -> Result<Parsed, ResultsError> {
    let mut parsed = Parsed { cells: HashMap::new(), whole: 0, warning: None };
    let mut number = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        number += 1;
        let last = parsed.whole + line.len() == text.len();
        match serde_json::from_slice::<Line>(line) {
            Ok(Line { key, rows }) if line.ends_with(b"\n") => {
                parsed.cells.entry(key).or_insert(rows);
                parsed.whole += line.len();
            }
            Err(source) if !last => {
                return Err(ResultsError::Damaged { path: path.to_path_buf(), line: number, source });
            }
            Ok(_) | Err(_) => {
                parsed.warning = Some(format!(
                    "`{}` line {number} was cut short by a killed run; its cell is computed again",
                    path.display()
                ));
            }
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Metric, Subject};

    fn row(method: &str, replicate: u64, value: f64) -> ResultRow {
        let subject = Subject::new("tweets", method.to_lowercase()).called(method).items(100);
        let row = ResultRow::new(subject, Metric::RelativeError, value).compared_at("rank").replicate(replicate);
        let row = row.at("columns", 10_u64).at("rank", 10_u64).cost(1000, 955).seconds(0.1 + 0.2);
        ResultRow { profile: "laptop".into(), ..row }
    }

    fn key(name: &str) -> CellKey {
        cell_key(&serde_json::json!({ "cell": name })).unwrap()
    }

    #[test]
    fn a_key_is_a_pure_function_of_the_description() {
        assert_eq!(key("a"), key("a"));
        assert_ne!(key("a"), key("b"));
        assert_eq!(key("a").to_string().len(), 32);
    }

    #[test]
    fn finished_cells_survive_and_come_back_in_the_order_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ResultStore::open(folder.path()).unwrap();
        store.record(&key("b"), vec![row("B", 0, 2.0 / 3.0)]).unwrap();
        store.record(&key("a"), vec![row("A", 0, 1.0 / 3.0)]).unwrap();
        let first = store.finished_rows(&[key("a"), key("b")]);
        drop(store);
        let store = ResultStore::open(folder.path()).unwrap();
        assert_eq!(store.finished_rows(&[key("a"), key("b")]), first);
        assert_eq!(first[0].subject.method, "A");
        assert_eq!(store.finished_rows(&[key("c"), key("b")]).len(), 1);
    }

    #[test]
    fn a_cell_that_is_there_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ResultStore::open(folder.path()).unwrap();
        store.record(&key("a"), vec![row("A", 0, 1.0)]).unwrap();
        store.record(&key("a"), vec![row("A", 0, 2.0)]).unwrap();
        assert_eq!(store.get(&key("a")).unwrap()[0].value, 1.0);
        assert_eq!(fs::read_to_string(folder.path().join("cells.jsonl")).unwrap().lines().count(), 1);
    }

    #[test]
    fn publishing_twice_and_after_a_restart_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<_> = (0..20u32).map(|i| key(&i.to_string())).collect();
        let mut store = ResultStore::open(folder.path()).unwrap();
        for (i, key) in (0u32..).zip(&keys) {
            // figures with long decimals: the last digit must survive the file
            store.record(key, vec![row("A", u64::from(i), (f64::from(i) + 0.1).sqrt() * 1e-3)]).unwrap();
        }
        let publish = |store: &ResultStore| {
            store.publish(&store.finished_rows(&keys)).unwrap();
            ["results.json", "results.parquet"].map(|name| fs::read(folder.path().join(name)).unwrap())
        };
        let first = publish(&store);
        drop(store);
        let store = ResultStore::open(folder.path()).unwrap();
        assert_eq!(publish(&store), first);
        assert_eq!(&first[1][..4], b"PAR1");
        let parsed: Vec<ResultRow> = serde_json::from_slice(&first[0]).unwrap();
        assert_eq!(rows_to_json(&parsed).unwrap(), first[0]);
    }

    #[test]
    fn a_torn_last_line_is_dropped_by_name_and_its_cell_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let mut store = ResultStore::open(folder.path()).unwrap();
        store.record(&key("a"), vec![row("A", 0, 1.0)]).unwrap();
        store.record(&key("b"), vec![row("B", 0, 2.0)]).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        // cut anywhere in the second line, its line break included
        let second = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for cut in [second + 1, second + 40, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut store = ResultStore::open(folder.path()).unwrap();
            assert!(store.warnings()[0].contains("line 2 was cut short"), "{:?}", store.warnings());
            assert!(store.get(&key("a")).is_some() && store.get(&key("b")).is_none());
            store.record(&key("b"), vec![row("B", 0, 2.0)]).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_refused_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let mut store = ResultStore::open(folder.path()).unwrap();
        store.record(&key("a"), vec![row("A", 0, 1.0)]).unwrap();
        store.record(&key("b"), vec![row("B", 0, 2.0)]).unwrap();
        drop(store);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"value\":", "\"valeu\":", 1)).unwrap();
        let error = ResultStore::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 1 is damaged") && error.contains("delete that line"), "{error}");
    }

    #[test]
    fn two_runs_of_one_configuration_cannot_interleave() {
        let folder = tempfile::tempdir().unwrap();
        let _first = ResultStore::open(folder.path()).unwrap();
        let error = ResultStore::open(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("another run is writing to"), "{error}");
    }

    #[test]
    fn a_figure_that_is_not_finite_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ResultStore::open(folder.path()).unwrap();
        let error = store.record(&key("a"), vec![row("SiCUR", 3, f64::NAN)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "`relative error` of `SiCUR` on `tweets` at columns 10, rank 10, replicate 3, is NaN, but must be finite"
        );
    }
}
