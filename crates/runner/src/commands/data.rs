//! `runner data`: which corpora are there, and how to get the others.

use std::path::PathBuf;

use landmark_data::catalog::{self, DATA_VARIABLE, DatasetStatus, FileState};
use landmark_yaml::did_you_mean;
use miette::{IntoDiagnostic, Result};

use crate::cli::PlaceArgs;
use crate::exit::UsageError;
use crate::output::columns;

/// A table of all datasets, or one in full.
pub(super) fn data(name: Option<&str>, folder: Option<PathBuf>) -> Result<String> {
    let folder = PlaceArgs { data: folder, ..PlaceArgs::default() }.data();
    let statuses = catalog::status(folder.as_deref()).into_diagnostic()?;
    let place = match &folder {
        Some(folder) => format!("in `{}`", folder.display()),
        None => format!("no folder is named: set {DATA_VARIABLE} or pass `--data DIR`"),
    };
    let Some(name) = name else {
        let rows: Vec<_> = statuses.iter().map(row).collect();
        return Ok(format!("DATASETS — {place}\n{}\n`runner data NAME` tells how to get one\n", columns(&rows)));
    };
    match statuses.iter().find(|status| status.dataset.name == name) {
        Some(status) => Ok(full(status)),
        None => {
            let near = did_you_mean(name, statuses.iter().map(|status| status.dataset.name));
            let help = near.map_or("`runner data` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
            Err(UsageError::new(format!("there is no dataset `{name}`"), Some(help)).into())
        }
    }
}

fn state(status: &DatasetStatus) -> &'static str {
    if status.dataset.files.is_empty() {
        "inside"
    } else if status.is_ready() {
        "ready"
    } else if status.files.iter().any(|state| matches!(state, FileState::Corrupt { .. })) {
        "changed"
    } else {
        "missing"
    }
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
        vec!["  licence".to_owned(), dataset.licence.to_owned()],
        vec!["  to get it".to_owned(), dataset.how_to_get.to_owned()],
    ];
    if !dataset.caveat.is_empty() {
        facts.push(vec!["  caveat".to_owned(), dataset.caveat.to_owned()]);
    }
    for (file, state) in dataset.files.iter().zip(&status.files) {
        let state = match state {
            FileState::Present => "there".to_owned(),
            FileState::Missing => "missing".to_owned(),
            FileState::Corrupt { sha256 } => format!("another sha256: {sha256}"),
        };
        let wanted = format!("{} ({}, sha256 {}): {state}", file.path, megabytes(file.bytes), file.sha256);
        facts.push(vec!["  file".to_owned(), wanted]);
    }
    text += &columns(&facts);
    text
}
