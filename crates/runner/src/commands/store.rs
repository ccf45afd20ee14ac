//! `landmark store`: lists, verifies and cleans up the stored scores.

use landmark_store::{Contents, OracleFailures, Problem, TileStore};
use miette::{IntoDiagnostic, Result};
use serde_json::{Value as Json, json};

use crate::cli::{StoreArgs, StoreCommand};
use crate::exit::{Exit, UsageError};
use crate::output::{Answer, columns};

/// Folder of the stored scores by default.
pub(crate) const DEFAULT_STORE: &str = "store";

/// Lists, verifies or cleans a store.
pub(super) fn store(command: &StoreCommand) -> Result<(Answer, Exit)> {
    let open = |StoreArgs { store, named }: &StoreArgs| {
        TileStore::open(store.as_deref().or(named.as_deref()).unwrap_or(DEFAULT_STORE)).map_err(UsageError::of)
    };
    Ok(match command {
        StoreCommand::Ls { store, failures: true } => (failures(&open(store)?)?, Exit::Done),
        StoreCommand::Ls { store, failures: false } => (list(&open(store)?)?, Exit::Done),
        StoreCommand::Verify { store } => verify(&open(store)?)?,
        StoreCommand::Gc { store, failures: true, oracle, .. } => {
            let count = open(store)?.retry_failures(oracle.as_deref().unwrap_or_default()).into_diagnostic()?;
            let text = format!("{count} failures forgotten; run again with `--force` to retry those pairs\n");
            (Answer::new(text, json!({ "forgotten": count })), Exit::Done)
        }
        StoreCommand::Gc { store, dry_run, .. } => (clean(&open(store)?, *dry_run)?, Exit::Done),
    })
}

fn list(store: &TileStore) -> Result<Answer> {
    let contents = store.contents().into_diagnostic()?;
    let oracle = |oracle: &Contents| {
        json!({
            "oracle": oracle.identity, "kind": oracle.kind, "description": oracle.description, "items": oracle.items, "entries": oracle.entries,
            "tiles": oracle.tiles, "bytes": oracle.bytes,
        })
    };
    let result = json!({ "store": store.address(), "oracles": contents.iter().map(oracle).collect::<Json>() });
    if contents.is_empty() {
        return Ok(Answer::new(format!("`{}` is empty\n", store.address()), result));
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
    Ok(Answer::new(columns(&rows), result))
}

fn failures(store: &TileStore) -> Result<Answer> {
    let failures = store.failures().into_diagnostic()?;
    let oracle = |oracle: &OracleFailures| json!({ "oracle": oracle.identity, "description": oracle.description, "failures": oracle.failures });
    let result = json!({ "store": store.address(), "oracles": failures.iter().map(oracle).collect::<Json>() });
    let text = match failures.is_empty() {
        true => format!("`{}` has no failed pairs\n", store.address()),
        false => failures.iter().map(ToString::to_string).collect(),
    };
    Ok(Answer::new(text, result))
}

fn verify(store: &TileStore) -> Result<(Answer, Exit)> {
    let verified = store.verify().into_diagnostic()?;
    let mut text = format!("`{}`: {} sound tiles with {} entries", store.address(), verified.tiles, verified.entries);
    if verified.logged > 0 {
        text += &format!(", and {} entries in logs of calls", verified.logged);
    }
    text.push('\n');
    for problem in &verified.problems {
        text += &format!("damaged: {}: {}\n", problem.file, problem.error);
    }
    let problem = |problem: &Problem| json!({ "file": problem.file, "error": problem.error.to_string() });
    let result = json!({
        "store": store.address(), "tiles": verified.tiles, "entries": verified.entries, "logged": verified.logged,
        "problems": verified.problems.iter().map(problem).collect::<Json>(),
    });
    if verified.problems.is_empty() {
        return Ok((Answer::new(text, result), Exit::Done));
    }
    text += &format!(
        "`landmark store gc {}` removes damaged files; their scores are evaluated again when needed\n",
        store.address()
    );
    Ok((Answer::new(text, result), Exit::Failed))
}

fn clean(store: &TileStore, dry_run: bool) -> Result<Answer> {
    let cleaned = store.clean(dry_run).into_diagnostic()?;
    let would = if dry_run { "would be " } else { "" };
    let mut text: String = cleaned.removed.iter().map(|file| format!("{would}removed: {file}\n")).collect();
    text += &format!("`{}`: {} files {would}removed", store.address(), cleaned.removed.len());
    text += &format!(", {} small tiles {would}merged into {}", cleaned.merged, cleaned.into);
    if cleaned.recovered > 0 {
        text += &format!(", {} entries of killed runs {would}given a tile", cleaned.recovered);
    }
    text.push('\n');
    let result = json!({
        "store": store.address(), "dry_run": dry_run, "removed": cleaned.removed, "merged": cleaned.merged, "into": cleaned.into,
        "recovered": cleaned.recovered,
    });
    Ok(Answer::new(text, result))
}
