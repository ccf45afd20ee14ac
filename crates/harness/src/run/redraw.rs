//! Drawing a run again from its published rows: for a clone that has no cells, and for a check.

use std::path::Path;

use landmark_report::{CellKey, Rendered, ResultRow, ResultStore, ResultsError, rows_from_parquet};
use serde_json::Value as Json;

use super::{
    BillTotal, Calls, Outcome, ReportSection, RunError, RunOptions, bills, calls_of_all, drawing, gather_provenance,
    publish, results_folder, with_rows, with_source,
};
use crate::config::Config;
use crate::provenance;
use crate::run_source::RunSource;

/// Tables, figures and page of a run as its published rows make them, in memory. No model is trained and nothing is evaluated.
///
/// # Errors
/// Data that are missing, results that are not there.
pub fn redraw(config: &Config, options: &RunOptions, rows: Vec<ResultRow>) -> Result<Rendered, RunError> {
    let options = &drawing(config, options);
    with_source(config, options, |source| {
        let folder = results_folder(config, options);
        let facts = provenance::kept(&folder).unwrap_or_default();
        refuse_other_items(source, &facts, &folder)?;
        let section = ReportSection::new(config, source, rows, &Outcome::default(), facts, options)?;
        Ok(landmark_report::render(&section.input())?)
    })
}

/// The section of a finished run, drawn again into its folder.
pub(super) fn section_again(
    config: &Config,
    source: &dyn RunSource,
    options: &RunOptions,
) -> Result<ReportSection, RunError> {
    let jobs = source.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
    let folder = results_folder(config, options);
    let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
    let rows = kept_rows(&folder, &keys)?;
    let provenance = match provenance::kept(&folder) {
        Some(kept) => {
            refuse_other_items(source, &kept, &folder)?;
            kept
        }
        None => {
            let bills = BillTotal::of(&bills::read(&folder)?, &keys);
            let calls = calls_of_all(source, &jobs, &Outcome::default(), Calls::default(), bills.calls)?;
            gather_provenance(config, source, &calls, bills, std::time::Duration::ZERO, options)?
        }
    };
    let provenance = with_rows(provenance, &rows, &folder)?;
    let section = ReportSection::new(config, source, rows, &Outcome::default(), provenance, options)?;
    publish(&section, &folder)?;
    Ok(section)
}

/// Rows are of the items of their run: a page that speaks of others, such as the sample inside where a corpus is not at hand, would be false.
fn refuse_other_items(source: &dyn RunSource, facts: &Json, folder: &Path) -> Result<(), RunError> {
    let of = |facts: &Json| {
        [&facts["dataset"], &facts["items"], &facts["documents"], &facts["more"]["documents"]].map(Json::clone)
    };
    let (theirs, here) = (of(&facts["data"]), of(source.about().facts));
    let differ = |(theirs, here): (&Json, &Json)| !theirs.is_null() && !here.is_null() && theirs != here;
    match theirs.iter().zip(&here).any(differ) {
        true => Err(RunError::OtherItems { folder: folder.to_owned() }),
        false => Ok(()),
    }
}

/// True where a folder holds results, finished or not.
pub(super) fn is_there(folder: &Path) -> bool {
    has_cells(folder) || folder.join(ROWS).is_file()
}

/// True of a run of this working copy; a clone has only the rows of what is published.
pub(super) fn has_cells(folder: &Path) -> bool {
    folder.join("cells.jsonl").exists()
}

const ROWS: &str = "results.parquet";

/// The rows of these cells; of a published run without cells those of `results.parquet`. A folder that is not there is not made.
fn kept_rows(folder: &Path, keys: &[CellKey]) -> Result<Vec<ResultRow>, RunError> {
    if !is_there(folder) {
        let (folder, wanted) = (folder.to_owned(), keys.len());
        return Err(ResultsError::Unfinished { folder, missing: wanted, wanted }.into());
    }
    if !has_cells(folder) {
        return Ok(rows_from_parquet(&folder.join(ROWS))?);
    }
    Ok(ResultStore::open(folder)?.rows(keys)?)
}
