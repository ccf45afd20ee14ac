//! The report of a finished run again, from what stands in its folder: `run.json` and `results.parquet`. No item is loaded and no store is opened.

use std::path::{Component, Path, PathBuf};

use landmark_report::{Rendered, ResultRow, ResultsError, folders_of, refuse_links, rows_from_parquet};
use landmark_yaml::DEFAULT_PROFILE;

use super::{PUBLISHED, ReportSection, RunError, RunOptions, collection, completed, publish, results_folder};
use crate::config::{Config, Subject, old_names};
use crate::provenance;

/// Rows of a run, as it leaves them and as they are published.
const ROWS: &str = "results.parquet";

/// Writes tables, figures and pages again into the folder of a run.
pub fn report_again(config: &Config, options: &RunOptions) -> Result<PathBuf, RunError> {
    let folder = results_folder(config, options);
    refuse_links(&folder)?;
    sections_again(config, options)?;
    Ok(folder)
}

/// Tables, figures and page of the run in a folder as these rows make them, in memory.
pub fn render_again(
    config: &Config,
    options: &RunOptions,
    folder: &Path,
    rows: Vec<ResultRow>,
) -> Result<Rendered, RunError> {
    let facts = provenance::kept(folder).unwrap_or_default();
    let section = ReportSection::new(config, folder, rows, facts, &of_the_run(config, options))?;
    Ok(landmark_report::render(&section.input())?)
}

/// Sections of the page of a finished run, written again; of a published run they are written where a run would write them.
pub(super) fn sections_again(config: &Config, options: &RunOptions) -> Result<Vec<ReportSection>, RunError> {
    if let Subject::Collection(collection) = &config.subject {
        return collection::report_again(config, collection, options);
    }
    let (to, from) = (results_folder(config, options), rows_folder(config, options));
    let kept = if is_there(&from) { provenance::kept(&from) } else { None };
    let Some(facts) = kept else {
        return Err(ResultsError::Unfinished { folder: to }.into());
    };
    let rows = rows_from_parquet(&from.join(ROWS))?;
    let facts = if to == from { completed(facts, None, &rows, &to)? } else { facts };
    let section = ReportSection::new(config, &from, rows, facts, &of_the_run(config, options))?;
    publish(&section, &to)?;
    Ok(vec![section])
}

/// The folder that holds the rows of a configuration: that of its run or, if the working copy has none, of the published run in its profile.
pub fn rows_folder(config: &Config, options: &RunOptions) -> PathBuf {
    let own = results_folder(config, options);
    if is_there(&own) || options.results.is_some() || config.results.is_some() {
        return own;
    }
    let published = Path::new(PUBLISHED);
    let is_of_profile = |folder: &PathBuf| {
        let facts = provenance::kept(folder).unwrap_or_default();
        facts["config"]["profile"].as_str().map(old_names::of_profile) == Some(config.run.profile.name.as_str())
    };
    let mut folders = folders_of(published, &config.run.name).into_iter().map(|folder| published.join(folder));
    folders.find(is_of_profile).unwrap_or(own)
}

/// True if a folder holds the rows of a run.
pub(super) fn is_there(folder: &Path) -> bool {
    folder.join(ROWS).is_file()
}

/// Options of a report, which names the command of the run and not its own.
pub(super) fn of_the_run(config: &Config, options: &RunOptions) -> RunOptions {
    RunOptions { command: command_of(config), ..options.clone() }
}

/// The command that runs a configuration in its profile.
pub(super) fn command_of(config: &Config) -> String {
    let profile = match config.run.profile.name.as_str() {
        DEFAULT_PROFILE => String::new(),
        other => format!(" --profile {other}"),
    };
    format!("landmark {}{profile}", without_detours(&config.run.file).display())
}

/// `configs/b.yaml` of `configs/a/../b.yaml`: a path to be read, which symbolic links may make another one.
fn without_detours(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut kept, part| {
        if part == Component::ParentDir && matches!(kept.components().next_back(), Some(Component::Normal(_))) {
            kept.pop();
        } else {
            kept.push(part);
        }
        kept
    })
}
