//! `landmark docs`: the tables of the documentation that are generated from the registry.
//!
//! Those of docs/reference/methods.md stand between `<!-- registry:begin -->` and `<!-- registry:end -->`; that of the datasets, in docs/data.md, between
//! `<!-- data:begin -->` and `<!-- data:end -->`.

use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use serde_json::json;

use super::list::markdown;
use crate::catalogue::{KINDS, Kind};
use crate::cli::LogArgs;
use crate::exit::{Exit, UsageError};
use crate::output::Answer;

/// Markers of a table and what stands between them.
type Table = (&'static str, &'static str, fn() -> String);

const TABLES: [Table; 2] = [
    ("<!-- registry:begin -->", "<!-- registry:end -->", registry),
    ("<!-- data:begin -->", "<!-- data:end -->", landmark_fetch::table::markdown),
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
    let old = std::fs::read_to_string(file)
        .map_err(|error| UsageError::new(format!("`{name}` can't be read: {error}"), None))?;
    let Some(new) = regenerate(&old) else {
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
