//! Costs of the jobs: the calls and seconds of each, in `runs/<name>/job_costs.jsonl`, one line for each time that a job was worked on.
//! Earlier versions wrote `bills.jsonl`, which is read.
//!
//! `run.json` sums over them, so that calls, seconds and machines are those of the results and not of the run that happened to draw the page last.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use landmark_report::{CellKey, FileError, ResultsError};
use serde::{Deserialize, Serialize};

const FILE: &str = "job_costs.jsonl";
/// Its name in earlier versions.
const OLD_FILE: &str = "bills.jsonl";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobCost {
    pub key: CellKey,
    pub calls: u64,
    pub seconds: f64,
    /// Machine that it was computed on, in words.
    pub machine: String,
    pub revision: Option<String>,
    /// True where files differed from that revision.
    pub dirty: Option<bool>,
}

/// Sums over the cells of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CostTotal {
    /// Jobs whose cost is known.
    pub cells: u64,
    /// Jobs whose cost is not: computed before costs were kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub cells_without_cost: u64,
    pub calls: u64,
    pub seconds: f64,
    /// Machines, with the cells and seconds of each.
    pub machines: Vec<Share>,
    /// Revisions of the sources, with the cells and seconds of each; `dirty` where files differed.
    pub revisions: Vec<Share>,
}

/// Cells and seconds of one machine, or of one revision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The machine, or the revision.
    pub of: String,
    /// True where files differed from the revision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
    pub cells: u64,
    pub seconds: f64,
}

// serde hands fields over by reference
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Appends a cost. The folder is the run's own: the lock of its cells keeps others out.
pub(crate) fn append(folder: &Path, cost: &JobCost) -> Result<(), ResultsError> {
    let path = folder.join(FILE);
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(FileError::new("open", &path))?;
    let is_torn = !ends_a_line(&mut file).map_err(FileError::new("read", &path))?;
    // half a line of a killed run must not swallow this one
    let mut line = if is_torn { vec![b'\n'] } else { Vec::new() };
    serde_json::to_writer(&mut line, cost)
        .map_err(|source| ResultsError::Encode { what: "the cost of a job", source })?;
    line.push(b'\n');
    file.write_all(&line).map_err(FileError::new("append to", &path))?;
    Ok(())
}

/// True for a file that is empty or ends with a whole line.
fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Cost of each job of a folder: all calls that were ever made for it, and the time, machine and revision of the last time that it was computed.
/// A line that a killed run left half counts for nothing.
pub(crate) fn read(folder: &Path) -> Result<HashMap<CellKey, JobCost>, ResultsError> {
    let mut costs: HashMap<CellKey, JobCost> = HashMap::new();
    for path in [OLD_FILE, FILE].map(|name| folder.join(name)) {
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(FileError::new("read", &path)(error).into()),
        };
        let lines = text.split(|&byte| byte == b'\n');
        for cost in lines.filter_map(|line| serde_json::from_slice::<JobCost>(line).ok()) {
            let calls = costs.get(&cost.key).map_or(0, |earlier| earlier.calls) + cost.calls;
            costs.insert(cost.key.clone(), JobCost { calls, ..cost });
        }
    }
    Ok(costs)
}

impl CostTotal {
    pub fn of(costs: &HashMap<CellKey, JobCost>, keys: &[CellKey]) -> Self {
        let mut total = Self::default();
        for key in keys {
            let Some(cost) = costs.get(key) else {
                total.cells_without_cost += 1;
                continue;
            };
            total.cells += 1;
            total.calls += cost.calls;
            total.seconds += cost.seconds;
            add(&mut total.machines, &cost.machine, false, cost.seconds);
            let revision = cost.revision.as_deref().unwrap_or("unknown");
            add(&mut total.revisions, revision, cost.dirty == Some(true), cost.seconds);
        }
        total
    }
}

fn add(shares: &mut Vec<Share>, of: &str, dirty: bool, seconds: f64) {
    match shares.iter_mut().find(|share| share.of == of && share.dirty == dirty) {
        Some(share) => {
            share.cells += 1;
            share.seconds += seconds;
        }
        None => shares.push(Share { of: of.to_owned(), dirty, cells: 1, seconds }),
    }
}

#[cfg(test)]
mod tests {
    use landmark_report::cell_key;

    use super::*;

    fn cost(cell: &str, calls: u64, machine: &str, revision: &str) -> JobCost {
        JobCost {
            key: cell_key(&cell).unwrap(),
            calls,
            seconds: 0.5,
            machine: machine.to_owned(),
            revision: Some(revision.to_owned()),
            dirty: Some(false),
        }
    }

    #[test]
    fn half_a_line_of_a_killed_run_is_no_cost_and_the_next_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), &cost("a", 3, "one", "r")).unwrap();
        let whole = fs::read(folder.path().join(FILE)).unwrap();
        append(folder.path(), &cost("b", 5, "Gerät", "r")).unwrap();
        let both = fs::read(folder.path().join(FILE)).unwrap();
        // wherever it was cut, in the middle of a letter, too; a line without its end alone is whole
        for cut in whole.len()..both.len() {
            fs::write(folder.path().join(FILE), &both[..cut]).unwrap();
            let is_whole = usize::from(cut + 1 == both.len());
            assert_eq!(read(folder.path()).unwrap().len(), 1 + is_whole, "cut at {cut}");
            append(folder.path(), &cost("c", 7, "one", "r")).unwrap();
            let costs = read(folder.path()).unwrap();
            assert_eq!(costs.len(), 2 + is_whole, "cut at {cut}");
            assert_eq!(costs[&cell_key(&"c").unwrap()].calls, 7);
        }
    }

    #[test]
    fn costs_that_an_earlier_version_wrote_are_read_and_calls_add_up() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), &cost("a", 100, "one", "old")).unwrap();
        fs::rename(folder.path().join(FILE), folder.path().join(OLD_FILE)).unwrap();
        // computed again with `--force`: the store had nearly every entry
        append(folder.path(), &cost("a", 7, "two", "new")).unwrap();
        let keys = ["a", "b"].map(|cell| cell_key(&cell).unwrap());
        let total = CostTotal::of(&read(folder.path()).unwrap(), &keys);
        assert_eq!((total.cells, total.cells_without_cost, total.calls, total.seconds), (1, 1, 107, 0.5));
        assert_eq!((total.machines[0].of.as_str(), total.revisions[0].of.as_str()), ("two", "new"));
    }
}
