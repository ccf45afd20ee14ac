//! `runner store`: what was bought, whether it is sound, and putting it in order.

use landmark_store::TileStore;
use miette::{IntoDiagnostic, Result};

use crate::cli::{StoreArgs, StoreCommand};
use crate::exit::{Exit, UsageError};
use crate::output::{self, columns};

/// Folder of the evaluated entries when nothing else is said.
pub(crate) const DEFAULT_STORE: &str = "store";

/// Looks at a store, checks it or cleans it.
pub(super) fn store(command: &StoreCommand) -> Result<Exit> {
    let open = |StoreArgs { store, named }: &StoreArgs| {
        TileStore::open(store.as_deref().or(named.as_deref()).unwrap_or(DEFAULT_STORE)).map_err(UsageError::of)
    };
    let (text, exit) = match command {
        StoreCommand::Ls { store, failures: true } => (failures(&open(store)?)?, Exit::Done),
        StoreCommand::Ls { store, failures: false } => (list(&open(store)?)?, Exit::Done),
        StoreCommand::RetryFailures { oracle, store } => {
            let count = open(store)?.retry_failures(oracle.as_deref().unwrap_or_default()).into_diagnostic()?;
            (format!("{count} failures forgotten; run again with `--force`, which asks for those pairs\n"), Exit::Done)
        }
        StoreCommand::Verify { store } => verify(&open(store)?)?,
        StoreCommand::Gc { store, dry_run } => (clean(&open(store)?, *dry_run)?, Exit::Done),
    };
    output::print(&text).into_diagnostic()?;
    Ok(exit)
}

fn list(store: &TileStore) -> Result<String> {
    let contents = store.contents().into_diagnostic()?;
    if contents.is_empty() {
        return Ok(format!("`{}` holds nothing\n", store.address()));
    }
    let mut rows = vec![["oracle", "kind", "items", "entries", "tiles", "size", "what"].map(str::to_owned).to_vec()];
    rows.extend(contents.iter().map(|oracle| {
        vec![
            oracle.identity.chars().take(12).collect(),
            if oracle.kind.is_empty() { "?".to_owned() } else { oracle.kind.clone() },
            oracle.items.map_or("?".to_owned(), |items| items.to_string()),
            oracle.entries.to_string(),
            oracle.tiles.to_string(),
            format!("{:.1} MB", oracle.bytes as f64 / 1e6),
            oracle.description.clone(),
        ]
    }));
    Ok(columns(&rows))
}

fn failures(store: &TileStore) -> Result<String> {
    let failures = store.failures().into_diagnostic()?;
    match failures.is_empty() {
        true => Ok(format!("`{}` holds no pair that failed\n", store.address())),
        false => Ok(failures.iter().map(ToString::to_string).collect()),
    }
}

fn verify(store: &TileStore) -> Result<(String, Exit)> {
    let verified = store.verify().into_diagnostic()?;
    let mut text = format!("`{}`: {} sound tiles with {} entries", store.address(), verified.tiles, verified.entries);
    if verified.logged > 0 {
        text += &format!(", and {} entries in logs of calls", verified.logged);
    }
    text.push('\n');
    for problem in &verified.problems {
        text += &format!("bad: {}: {}\n", problem.file, problem.error);
    }
    if verified.problems.is_empty() {
        return Ok((text, Exit::Done));
    }
    text += &format!(
        "`runner store gc {}` removes those that can't be used; their entries are evaluated again when needed\n",
        store.address()
    );
    Ok((text, Exit::Failed))
}

fn clean(store: &TileStore, dry_run: bool) -> Result<String> {
    let cleaned = store.clean(dry_run).into_diagnostic()?;
    let would = if dry_run { "would be " } else { "" };
    let mut text: String = cleaned.removed.iter().map(|file| format!("{would}removed: {file}\n")).collect();
    text += &format!("`{}`: {} files {would}removed", store.address(), cleaned.removed.len());
    text += &format!(", {} small tiles {would}merged into {}", cleaned.merged, cleaned.into);
    if cleaned.recovered > 0 {
        text += &format!(", {} entries of killed runs {would}given a tile", cleaned.recovered);
    }
    text.push('\n');
    Ok(text)
}
