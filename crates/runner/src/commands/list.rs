//! `landmark list`: the registry, for people, for Markdown, for programs.

use landmark_yaml::{Entry, did_you_mean};
use miette::Result;
use serde_json::{Value as Json, json};

use crate::catalogue::{self, KINDS, Kind};
use crate::cli::Format;
use crate::exit::UsageError;
use crate::output::columns;

/// One list, or all of them.
pub(super) fn list(what: Option<&str>, format: Format) -> Result<String> {
    let kinds: Vec<&Kind> = match what {
        None => KINDS.iter().collect(),
        Some(what) => vec![kind(what)?],
    };
    Ok(match format {
        Format::Text => kinds.iter().map(|kind| text(kind)).collect::<Vec<_>>().join("\n"),
        Format::Markdown => kinds.iter().map(|kind| markdown(kind)).collect::<Vec<_>>().join("\n"),
        Format::Json => {
            let lists: serde_json::Map<_, _> = kinds.iter().map(|kind| (kind.plural.to_owned(), json(kind))).collect();
            format!("{:#}\n", Json::Object(lists))
        }
    })
}

fn kind(what: &str) -> Result<&'static Kind> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.plural == what || kind.singular == what) {
        return Ok(kind);
    }
    let plurals = KINDS.iter().map(|kind| kind.plural);
    let help = match did_you_mean(what, plurals.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("lists: {}", plurals.map(|plural| format!("`{plural}`")).collect::<Vec<_>>().join(", ")),
    };
    Err(UsageError::new(format!("there is no list `{what}`"), Some(help)).into())
}

fn text(kind: &Kind) -> String {
    let rows: Vec<_> = (kind.entries)().iter().map(|e| vec![format!("  {}", e.id), e.summary.to_owned()]).collect();
    let heading = kind.plural.to_uppercase();
    format!("{heading} — {}\n{}", kind.summary, columns(&rows))
}

/// A Markdown table; methods also show what they buy.
pub(super) fn markdown(kind: &Kind) -> String {
    let is_methods = kind.plural == "methods";
    let mut table = if is_methods {
        "| id | K̃ | entries | what it is |\n|---|---|---|---|\n".to_owned()
    } else {
        "| id | what it is | source |\n|---|---|---|\n".to_owned()
    };
    for entry in (kind.entries)() {
        let cells = match catalogue::catalogue().ingredients.method(entry.id).filter(|_| is_methods) {
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

/// A name of the registry as data.
pub(super) fn entry_facts(kind: &Kind, entry: &Entry) -> Json {
    let parameters = entry.keys.list().into_iter().map(|p| json!({ "name": p.name, "default": p.default, "doc": p.doc }));
    let mut json = json!({
        "id": entry.id,
        "summary": entry.summary,
        "source": entry.source,
        "parameters": parameters.collect::<Vec<_>>(),
    });
    if let Some(method) = catalogue::catalogue().ingredients.method(entry.id).filter(|_| kind.plural == "methods") {
        json["formula"] = method.formula.into();
        json["entries"] = method.entries.into();
    }
    json
}
