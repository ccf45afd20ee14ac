//! `cargo xtask docs`: the parts of the documentation that are generated from the program.
//!
//! They stand between markers: the lists of the catalog in docs/reference/methods.md, the datasets in docs/reference/datasets.md. The page
//! docs/reference/command-line.md and the JSON Schema of a configuration are generated as a whole.

use std::path::{Path, PathBuf};

use landmark_harness::config::top_keys;
use landmark_yaml::{Keys, Parameter};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use runner::commands::list::markdown;
use runner::exit::UsageError;
use runner::output::Answer;
use runner::registry::{KINDS, Kind, schema};
use serde_json::json;

use crate::command_line;

/// A file, the marker of its generated part, and that part.
type Table = (&'static str, &'static str, fn() -> String);

const TABLES: [Table; 3] = [
    ("docs/reference/methods.md", "registry", registry),
    ("docs/reference/datasets.md", "data", landmark_fetch::table::markdown),
    ("docs/reference/configuration.md", "keys", keys),
];
const COMMAND_LINE: &str = "docs/reference/command-line.md";

/// Compares the files, or writes them.
pub(crate) fn docs(root: &Path, write: bool) -> Result<Answer> {
    let mut files: Vec<(PathBuf, String)> =
        vec![(root.join(COMMAND_LINE), command_line::page()), (root.join(schema::FILE), schema::text())];
    for (file, marker, table) in TABLES {
        files.push(with_table(root.join(file), marker, &table())?);
    }
    let written = update(files, write, "run `cargo xtask docs --write`")?;
    let text = match written.as_slice() {
        [] => "the generated documents are up to date\n".to_owned(),
        written => written.iter().map(|path| format!("{}: written\n", path.display())).collect(),
    };
    Ok(Answer::new(text, json!({ "up_to_date": written.is_empty() })).with_files(written))
}

/// A file, and its text with this table between the markers.
pub(crate) fn with_table(path: PathBuf, marker: &str, table: &str) -> Result<(PathBuf, String)> {
    let old = std::fs::read_to_string(&path)
        .map_err(|error| UsageError::new(format!("cannot read `{}`: {error}", path.display()), None))?;
    let new = regenerated(&old, marker, table).ok_or_else(|| {
        let help = format!("put `<!-- {marker}:begin -->` and `<!-- {marker}:end -->` on lines of their own");
        UsageError::new(format!("`{}` has no place for its table", path.display()), Some(help))
    })?;
    Ok((path, new))
}

/// Writes the files whose text is another one, or fails at the first of them with this help; the files that were written.
pub(crate) fn update(files: Vec<(PathBuf, String)>, write: bool, help: &str) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (path, new) in files {
        if std::fs::read_to_string(&path).is_ok_and(|old| old == new) {
            continue;
        }
        let name = path.display().to_string();
        if !write {
            return Err(miette!(help = help, "`{name}` is out of date"));
        }
        std::fs::write(&path, new).into_diagnostic().wrap_err_with(|| format!("cannot write `{name}`"))?;
        written.push(path);
    }
    Ok(written)
}

/// The text with a new part between the markers; `None` if they are not there.
fn regenerated(old: &str, marker: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {marker}:begin -->"), format!("<!-- {marker}:end -->"));
    let (before, rest) = old.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

/// The lists of the catalog.
fn registry() -> String {
    let table = |kind: &Kind| format!("**{}**: {}\n\n{}", capitalized(kind.plural), kind.summary, markdown(kind));
    let tables: Vec<String> = KINDS.iter().filter(|kind| kind.plural != "datasets").map(table).collect();
    tables.join("\n")
}

/// The keys of a configuration, from the structs that read them.
fn keys() -> String {
    let rows = |keys: &Keys| {
        let row = |key: Parameter| {
            let default = if key.default.is_empty() { "required".to_owned() } else { format!("`{}`", key.default) };
            format!("| `{}` | {default} | {} |\n", key.name, key.doc.replace('|', "\\|"))
        };
        keys.list().into_iter().map(row).collect::<String>()
    };
    let head = "| key | default | effect |\n|---|---|---|\n";
    let [run, sweep, _] = top_keys();
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
            text += &format!("\n## {}\n", capitalized(kind.plural));
        }
        for (rows, ids) in tables {
            text += &format!("\n{}:\n\n{head}{rows}", ids.join(", "));
        }
    }
    text
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_table_is_replaced_and_the_rest_is_kept() {
        let old = "# A\n<!-- registry:begin -->\nstale\n<!-- registry:end -->\nend\n";
        let new = regenerated(old, "registry", &registry()).unwrap();
        let begin = "# A\n<!-- registry:begin -->\n\n**Methods**";
        assert!(new.starts_with(begin) && new.ends_with("<!-- registry:end -->\nend\n"), "{new}");
        assert!(new.contains("`sms_nystrom`") && !new.contains("stale"));
        assert_eq!(regenerated(&new, "registry", &registry()), Some(new));
        assert_eq!(regenerated("# A\n<!-- registry:begin -->\n", "registry", ""), None);
    }
}
