//! `landmark list`: the catalog, for people, for Markdown, for programs.

use landmark_yaml::did_you_mean;
use miette::Result;
use serde_json::{Map, Value as Json};

use super::names::{self, entry_facts};
use crate::exit::UsageError;
use crate::output::{Answer, columns};
use crate::registry::{self, KINDS, Kind, schema};

/// What is no list: the schema that editors check configurations with.
const SCHEMA: &str = "schema";

/// All lists, one of them, the explanation of a name, or the schema of a configuration.
pub(super) fn list(what: Option<&str>) -> Result<Answer> {
    let kinds: Vec<&Kind> = match what {
        None => KINDS.iter().collect(),
        Some(SCHEMA) => return Ok(Answer::new(schema::text(), schema::schema())),
        Some(what) => match KINDS.iter().find(|kind| kind.plural == what || kind.singular == what) {
            Some(kind) => vec![kind],
            None => return names::explained(what).ok_or_else(|| unknown(what)),
        },
    };
    let text = kinds.iter().map(|kind| text(kind)).collect::<Vec<_>>().join("\n");
    let lists: Map<_, _> = kinds.iter().map(|kind| (kind.plural.to_owned(), json(kind))).collect();
    Ok(Answer::new(text, Json::Object(lists)))
}

fn unknown(what: &str) -> miette::Report {
    let ids: Vec<&str> = KINDS.iter().flat_map(|kind| (kind.entries)()).map(|entry| entry.id).collect();
    let names = KINDS.iter().map(|kind| kind.plural).chain([SCHEMA]).chain(ids);
    let help = match did_you_mean(what, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if what.ends_with(".yaml") => {
            format!("`landmark check --print {what}` prints a configuration as it would run")
        }
        None => "`landmark list` prints every name".to_owned(),
    };
    UsageError::new(format!("no list, method, oracle or other name is called `{what}`"), Some(help)).into()
}

fn text(kind: &Kind) -> String {
    let rows: Vec<_> = (kind.entries)().iter().map(|e| vec![format!("  {}", e.id), e.summary.to_owned()]).collect();
    let heading = kind.plural.to_uppercase();
    format!("{heading} — {}\n{}", kind.summary, columns(&rows))
}

/// A Markdown table; that of the methods has the entries that they read.
pub fn markdown(kind: &Kind) -> String {
    let is_methods = kind.plural == "methods";
    let mut table = if is_methods {
        "| id | K̃ | entries | what it is |\n|---|---|---|---|\n".to_owned()
    } else {
        "| id | what it is | source |\n|---|---|---|\n".to_owned()
    };
    for entry in (kind.entries)() {
        let cells = match registry::registry().ingredients.method(entry.id).filter(|_| is_methods) {
            Some(method) => vec![format!("`{}`", method.formula), method.entries.to_owned(), entry.summary.to_owned()],
            None => vec![entry.summary.to_owned(), entry.source.to_owned()],
        };
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        table += &format!("| `{}` | {} |\n", entry.id, cells.join(" | "));
    }
    table
}

fn json(kind: &Kind) -> Json {
    Json::Array((kind.entries)().iter().map(|entry| entry_facts(kind, entry)).collect())
}
