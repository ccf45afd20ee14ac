//! `landmark data`: lists the corpora; `data fetch`, `verify` and `rm`.

use std::path::{Path, PathBuf};

use landmark_data::catalog::{self, DATA_VARIABLE, DataFile, DatasetStatus, FileState};
use landmark_fetch::{Console, DownloadSettings, Downloader, Places, Wish, corpora};
use landmark_yaml::did_you_mean;
use miette::{IntoDiagnostic, Result};
use serde_json::{Value as Json, json};

use crate::cli::{DataCommand, LogArgs, PlaceArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{Answer, columns};

/// A table of all datasets, or one in full.
pub(super) fn data(name: Option<&str>, folder: Option<PathBuf>) -> Result<Answer> {
    let folder = PlaceArgs { data: folder, ..PlaceArgs::default() }.data();
    let statuses = catalog::status(folder.as_deref()).into_diagnostic()?;
    let place = match &folder {
        Some(folder) => format!("in `{}`", folder.display()),
        None => {
            let default = Places::look(None).data;
            format!("no folder yet: set {DATA_VARIABLE}, pass `--data DIR`, or fetch one into `{}`", default.display())
        }
    };
    let Some(name) = name else {
        let rows: Vec<_> = statuses.iter().map(row).collect();
        let text = format!(
            "DATASETS — {place}\n{}\n`landmark data NAME` shows one in full, `landmark data fetch NAME` downloads it\n",
            columns(&rows)
        );
        return Ok(Answer::new(
            text,
            json!({ "folder": folder, "datasets": statuses.iter().map(facts).collect::<Json>() }),
        ));
    };
    match statuses.iter().find(|status| status.dataset.name == name) {
        Some(status) => Ok(Answer::new(full(status), facts(status))),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> miette::Report {
    let near = did_you_mean(name, catalog::all().map(|dataset| dataset.name));
    let help = near.map_or("`landmark data` lists the datasets".to_owned(), |near| format!("did you mean `{near}`?"));
    UsageError::new(format!("unknown dataset `{name}`"), Some(help)).into()
}

/// Fetches, verifies or removes.
pub(super) fn command(command: &DataCommand, folder: Option<&Path>, log: LogArgs) -> Result<(Answer, Exit)> {
    let places = Places::look(folder);
    match command {
        DataCommand::Fetch { names, all, paper, accept_licenses } => {
            let names = chosen(names, *all, paper.as_deref())?;
            Ok((fetch(&names, &places, *accept_licenses, log.quiet)?, Exit::Done))
        }
        DataCommand::Verify { names } => verify(names, &places),
    }
}

fn known(names: &[String]) -> Result<Vec<&'static str>> {
    names.iter().map(|name| catalog::find(name).map(|dataset| dataset.name).map_err(|_| unknown(name))).collect()
}

fn chosen(names: &[String], all: bool, paper: Option<&str>) -> Result<Vec<&'static str>> {
    if all {
        return Ok(catalog::all().map(|dataset| dataset.name).collect());
    }
    let mut chosen = known(names)?;
    if let Some(paper) = paper {
        let unknown =
            |names| UsageError::new(format!("unknown paper `{paper}`"), Some(format!("expected one of {names}")));
        chosen.extend(corpora::of_paper(paper).map_err(unknown)?);
    }
    Ok(chosen)
}

fn fetch(names: &[&str], places: &Places, accept_licenses: bool, quiet: bool) -> Result<Answer> {
    let mut console = Console::new(quiet);
    let missing = corpora::missing(names, &places.data).into_diagnostic()?;
    if missing.is_empty() {
        let text = format!("nothing to fetch: every file is present and verified in {}\n", places.data.display());
        return Ok(Answer::new(text, json!({ "folder": &places.data, "fetched": 0 })));
    }
    let wish = Wish { fetch: true, accept_licenses }.or_variables();
    corpora::agree(&missing, &places.data, wish.accept_licenses, &mut console).into_diagnostic()?;
    let downloader = Downloader::new(DownloadSettings::default()).into_diagnostic()?;
    let files = corpora::fetch(names, places, &downloader, &mut console).into_diagnostic()?;
    let text = format!("{} files fetched and verified: {}\n", files.len(), places.data.display());
    Ok(Answer::new(text, json!({ "folder": &places.data, "fetched": files.len() })))
}

/// Every file that is there, and whether it is the catalog's.
fn verify(names: &[String], places: &Places) -> Result<(Answer, Exit)> {
    if !places.data.is_dir() {
        let help = "`landmark data fetch NAME` creates it".to_owned();
        return Err(UsageError::new(format!("no such folder: `{}`", places.data.display()), Some(help)).into());
    }
    let found = corpora::verify(&known(names)?, &places.data).into_diagnostic()?;
    let is_good = found.iter().all(|(_, _, state)| *state == FileState::Present);
    let row = |(dataset, path, state): &(&str, &str, FileState)| {
        let state = match state {
            FileState::Present => "verified",
            FileState::Missing => "missing",
            FileState::Corrupt { .. } => "WRONG sha256: remove the file, then fetch it again",
        };
        vec![format!("  {dataset}"), (*path).to_owned(), state.to_owned()]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let file = |(dataset, path, state): &(&str, &str, FileState)| json!({ "dataset": dataset, "file": path, "state": word(state) });
    let result =
        json!({ "folder": &places.data, "verified": is_good, "files": found.iter().map(file).collect::<Json>() });
    let text = format!("{}\n{}", places.data.display(), columns(&rows));
    Ok((Answer::new(text, result), if is_good { Exit::Done } else { Exit::Failed }))
}

fn state(status: &DatasetStatus) -> &'static str {
    if status.dataset.files.is_empty() {
        "built in"
    } else if status.is_ready() {
        "ready"
    } else if status.files.iter().any(|state| matches!(state, FileState::Corrupt { .. })) {
        "changed"
    } else {
        "missing"
    }
}

fn word(state: &FileState) -> &'static str {
    match state {
        FileState::Present => "present",
        FileState::Missing => "missing",
        FileState::Corrupt { .. } => "other_sha256",
    }
}

fn facts(status: &DatasetStatus) -> Json {
    let dataset = status.dataset;
    let file = |(file, state): (&DataFile, &FileState)| json!({ "file": file.path, "bytes": file.bytes, "sha256": file.sha256, "state": word(state) });
    json!({
        "name": dataset.name, "title": dataset.title, "state": state(status), "license": dataset.license, "how_to_get": dataset.how_to_get,
        "caveat": dataset.caveat, "files": dataset.files.iter().zip(&status.files).map(file).collect::<Json>(),
    })
}

fn row(status: &DatasetStatus) -> Vec<String> {
    let size = if status.dataset.files.is_empty() { String::new() } else { megabytes(status.bytes()) };
    let size = format!("{size:>8}");
    vec![format!("  {}", status.dataset.name), state(status).to_owned(), size, status.dataset.title.to_owned()]
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn full(status: &DatasetStatus) -> String {
    let dataset = status.dataset;
    let mut text = format!("{} — {}\n\n", dataset.name, dataset.title);
    let mut facts = vec![
        vec!["  state".to_owned(), state(status).to_owned()],
        vec!["  license".to_owned(), dataset.license.to_owned()],
        vec!["  to get it".to_owned(), dataset.how_to_get.to_owned()],
    ];
    if !dataset.caveat.is_empty() {
        facts.push(vec!["  caveat".to_owned(), dataset.caveat.to_owned()]);
    }
    for (file, state) in dataset.files.iter().zip(&status.files) {
        let state = match state {
            FileState::Present => "present".to_owned(),
            FileState::Missing => "missing".to_owned(),
            FileState::Corrupt { sha256 } => format!("wrong sha256: {sha256}"),
        };
        let sha256 = if file.sha256.is_empty() { "recorded at its first fetch" } else { file.sha256 };
        let wanted = format!("{} ({}, sha256 {sha256}): {state}", file.path, megabytes(file.bytes));
        facts.push(vec!["  file".to_owned(), wanted]);
    }
    text += &columns(&facts);
    text
}
