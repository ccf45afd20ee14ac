//! Bills of the cells: what each took when it was computed, in `runs/<name>/bills.jsonl`, one line for each time that a cell was worked on.
//!
//! `run.json` sums over them, so that calls, seconds and machines are those of the results and not of the run that happened to draw the page last.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use landmark_report::{CellKey, FileError, ResultsError};
use serde::{Deserialize, Serialize};

/// Name of the file.
const FILE: &str = "bills.jsonl";

/// Bill of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub key: CellKey,
    /// Calls that were made for it.
    pub calls: u64,
    /// Wall seconds that it took.
    pub seconds: f64,
    /// Machine that it was computed on, in words.
    pub machine: String,
    /// Git revision of the sources.
    pub revision: Option<String>,
    /// True where files differed from that revision.
    pub dirty: Option<bool>,
}

/// Sums over the cells of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BillTotal {
    /// Cells with a bill.
    pub cells: u64,
    /// Cells without one: computed before bills were kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub cells_without_bill: u64,
    /// Calls made.
    pub calls: u64,
    /// Wall seconds.
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
    /// Wall seconds.
    pub seconds: f64,
}

// serde hands fields over by reference
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Appends a bill. The folder is the run's own: the lock of its cells keeps others out.
///
/// # Errors
/// A disk that is full or read-only.
pub(crate) fn append(folder: &Path, bill: &Bill) -> Result<(), ResultsError> {
    let path = folder.join(FILE);
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(FileError::new("open", &path))?;
    let is_torn = !ends_a_line(&mut file).map_err(FileError::new("read", &path))?;
    // half a line of a killed run must not swallow this one
    let mut line = if is_torn { vec![b'\n'] } else { Vec::new() };
    serde_json::to_writer(&mut line, bill)
        .map_err(|source| ResultsError::Encode { what: "the bill of a cell", source })?;
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

/// Bill of each cell of a folder: all calls that were ever made for it, and the time, machine and revision of the last time that it was computed.
/// A folder without bills has none; a line that a killed run left half is no bill.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn read(folder: &Path) -> Result<HashMap<CellKey, Bill>, ResultsError> {
    let path = folder.join(FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(FileError::new("read", &path)(error).into()),
    };
    let mut bills: HashMap<CellKey, Bill> = HashMap::new();
    let lines = text.split(|&byte| byte == b'\n');
    for bill in lines.filter_map(|line| serde_json::from_slice::<Bill>(line).ok()) {
        let calls = bills.get(&bill.key).map_or(0, |earlier| earlier.calls) + bill.calls;
        bills.insert(bill.key.clone(), Bill { calls, ..bill });
    }
    Ok(bills)
}

impl BillTotal {
    /// Sums the bills of these cells.
    pub fn of(bills: &HashMap<CellKey, Bill>, keys: &[CellKey]) -> Self {
        let mut total = Self::default();
        for key in keys {
            let Some(bill) = bills.get(key) else {
                total.cells_without_bill += 1;
                continue;
            };
            total.cells += 1;
            total.calls += bill.calls;
            total.seconds += bill.seconds;
            add(&mut total.machines, &bill.machine, false, bill.seconds);
            let revision = bill.revision.as_deref().unwrap_or("unknown");
            add(&mut total.revisions, revision, bill.dirty == Some(true), bill.seconds);
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

    fn bill(cell: &str, calls: u64, machine: &str, revision: &str) -> Bill {
        Bill {
            key: cell_key(&cell).unwrap(),
            calls,
            seconds: 0.5,
            machine: machine.to_owned(),
            revision: Some(revision.to_owned()),
            dirty: Some(false),
        }
    }

    #[test]
    fn half_a_line_of_a_killed_run_is_no_bill_and_the_next_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), &bill("a", 3, "one", "r")).unwrap();
        let whole = fs::read(folder.path().join(FILE)).unwrap();
        append(folder.path(), &bill("b", 5, "Gerät", "r")).unwrap();
        let both = fs::read(folder.path().join(FILE)).unwrap();
        // wherever it was cut, in the middle of a letter, too; a line without its end alone is whole
        for cut in whole.len()..both.len() {
            fs::write(folder.path().join(FILE), &both[..cut]).unwrap();
            let is_whole = usize::from(cut + 1 == both.len());
            assert_eq!(read(folder.path()).unwrap().len(), 1 + is_whole, "cut at {cut}");
            append(folder.path(), &bill("c", 7, "one", "r")).unwrap();
            let bills = read(folder.path()).unwrap();
            assert_eq!(bills.len(), 2 + is_whole, "cut at {cut}");
            assert_eq!(bills[&cell_key(&"c").unwrap()].calls, 7);
        }
    }
}
