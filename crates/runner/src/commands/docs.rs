//! `landmark docs`: the tables of the documentation that are generated from the registry.
//!
//! Those of docs/reference/methods.md stand between `<!-- registry:begin -->` and `<!-- registry:end -->`; that of the datasets, in docs/data.md, between
//! `<!-- data:begin -->` and `<!-- data:end -->`, those of docs/reference/configuration.md between `<!-- keys:begin -->` and `<!-- keys:end -->`. A file `*.schema.json` is the JSON Schema of a configuration.

use std::path::{Path, PathBuf};

use landmark_harness::config::top_keys;
use landmark_yaml::{Keys, Parameter};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use serde_json::json;

use super::list::markdown;
use crate::catalogue::{KINDS, Kind, schema};
use crate::cli::LogArgs;
use crate::exit::{Exit, UsageError};
use crate::output::Answer;

/// Markers of a table and what stands between them.
type Table = (&'static str, &'static str, fn() -> String);

const TABLES: [Table; 3] = [
    ("<!-- registry:begin -->", "<!-- registry:end -->", registry),
    ("<!-- data:begin -->", "<!-- data:end -->", landmark_fetch::table::markdown),
    ("<!-- keys:begin -->", "<!-- keys:end -->", keys),
];

/// Checks the tables of files, or writes them.
pub(super) fn docs(files: &[PathBuf], write: bool, log: LogArgs) -> Result<Exit> {
    let (mut text, mut written) = (String::new(), Vec::new());
    for file in files {
        let is_written = one(file, write)?;
        let state = if is_written { "written" } else { "up to date" };
        text += &format!("{}: the tables are {state}\n", file.display());
        written.extend(is_written.then(|| file.clone()));
    }
    Answer::new(text, json!({ "checked": files })).with_files(written).print(log).into_diagnostic()?;
    Ok(Exit::Done)
}

/// True if the file was out of date and is written.
fn one(file: &Path, write: bool) -> Result<bool> {
    let name = file.display();
    let is_schema = name.to_string().ends_with(".schema.json");
    let old = match std::fs::read_to_string(file) {
        Ok(old) => old,
        Err(_) if is_schema && write => String::new(),
        Err(error) => return Err(UsageError::new(format!("`{name}` can't be read: {error}"), None).into()),
    };
    let new = if is_schema { Some(schema::text()) } else { regenerate(&old) };
    let Some(new) = new else {
        let help =
            format!("put `{}` and `{}`, or another pair of markers, on lines of their own", TABLES[0].0, TABLES[0].1);
        return Err(UsageError::new(format!("`{name}` has no place for the tables"), Some(help)).into());
    };
    if new == old {
        return Ok(false);
    }
    if !write {
        return Err(miette!(help = "`landmark docs --write` writes them", "the tables of `{name}` are out of date"));
    }
    std::fs::write(file, new).into_diagnostic().wrap_err_with(|| format!("`{name}` can't be written"))?;
    Ok(true)
}

/// The text with its tables as the registry and the catalog have them; `None` where it has no place for any.
fn regenerate(old: &str) -> Option<String> {
    let mut new = None;
    for (begin, end, table) in TABLES {
        let text = new.as_deref().unwrap_or(old);
        let replaced = text.split_once(begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(end)?;
            Some(format!("{before}{begin}\n\n{}\n{end}{after}", table()))
        });
        new = replaced.or(new);
    }
    new
}

/// The lists of the catalogue.
fn registry() -> String {
    let table = |kind: &Kind| format!("**{}**: {}\n\n{}", capitalised(kind.plural), kind.summary, markdown(kind));
    let tables: Vec<String> = KINDS.iter().filter(|kind| kind.plural != "datasets").map(table).collect();
    tables.join("\n")
}

/// The keys of a configuration, from the structs that read them.
fn keys() -> String {
    let rows = |keys: &Keys| {
        let row = |key: Parameter| {
            let default = if key.default.is_empty() { "required".to_owned() } else { format!("`{}`", key.default) };
            format!("| `{}` | {default} | {} |\n", key.name, key.doc)
        };
        keys.list().into_iter().map(row).collect::<String>()
    };
    let head = "| key | default | effect |\n|---|---|---|\n";
    let [run, sweep] = top_keys();
    let mut text = format!("## Every file\n\n{head}{}\n## Every sweep\n\n{head}{}", rows(&run), rows(&sweep));
    for kind in KINDS {
        // entries of the same keys share a table
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        for entry in (kind.entries)().iter().filter(|entry| !entry.keys.is_empty()) {
            let (rows, id) = (rows(&entry.keys), format!("`{}`", entry.id));
            match tables.iter_mut().find(|(known, _)| *known == rows) {
                Some((_, ids)) => ids.push(id),
                None => tables.push((rows, vec![id])),
            }
        }
        if !tables.is_empty() {
            text += &format!("\n## {}\n", capitalised(kind.plural));
        }
        for (rows, ids) in tables {
            text += &format!("\n{}:\n\n{head}{rows}", ids.join(", "));
        }
    }
    text
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_replaced_and_the_rest_is_kept() {
        let new = regenerate("# A\n<!-- registry:begin -->\nstale\n<!-- registry:end -->\nend\n").unwrap();
        assert!(
            new.starts_with("# A\n<!-- registry:begin -->\n\n**Methods**")
                && new.ends_with("<!-- registry:end -->\nend\n")
        );
        assert!(new.contains("`sms_nystrom`") && !new.contains("stale"));
        assert_eq!(regenerate(&new), Some(new));
        assert_eq!(regenerate("# A\n<!-- registry:begin -->\n"), None);
        let new = regenerate("<!-- data:begin -->\nstale\n<!-- data:end -->\n").unwrap();
        assert!(new.contains("| `twitter` |") && !new.contains("stale"));
    }
}
