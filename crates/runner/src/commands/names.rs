//! `landmark list NAME`: one name of the catalog explained.

use landmark_harness::config::proxy::MENTION_COSINE;
use landmark_yaml::{Entry, Parameter};
use serde_json::{Value as Json, json};

use crate::output::{Answer, columns};
use crate::registry::{self, KINDS, Kind};

/// The explanation of a name; `None` if nothing has it.
pub(super) fn explained(name: &str) -> Option<Answer> {
    let found: Vec<(&Kind, Entry)> = KINDS
        .iter()
        .flat_map(|kind| (kind.entries)().into_iter().filter(|entry| entry.id == name).map(move |entry| (kind, entry)))
        .collect();
    let texts: Vec<String> = found.iter().map(|(kind, entry)| explain(kind, entry)).collect();
    let facts = |(kind, entry): &(&Kind, Entry)| {
        let mut facts = entry_facts(kind, entry);
        facts["kind"] = kind.singular.into();
        facts
    };
    let result = json!({ "found": found.iter().map(facts).collect::<Json>() });
    (!found.is_empty()).then(|| Answer::new(texts.join("\n"), result))
}

/// A name of the registry as data.
pub(super) fn entry_facts(kind: &Kind, entry: &Entry) -> Json {
    let parameters =
        entry.keys.list().into_iter().map(|p| json!({ "name": p.name, "default": p.default, "doc": p.doc }));
    let mut json = json!({
        "id": entry.id,
        "summary": entry.summary,
        "source": entry.source,
        "parameters": parameters.collect::<Vec<_>>(),
    });
    if let Some(method) = registry::registry().ingredients.method(entry.id).filter(|_| kind.plural == "methods") {
        json["formula"] = method.formula.into();
        json["entries"] = method.entries.into();
    }
    json
}

fn explain(kind: &Kind, entry: &Entry) -> String {
    let mut text = format!("{} — {}\n\n", entry.id, entry.summary);
    let mut facts = vec![vec!["  kind".to_owned(), kind.singular.to_owned()]];
    let method = registry::registry().ingredients.method(entry.id).filter(|_| kind.singular == "method");
    if let Some(method) = method {
        facts.push(vec!["  K̃".to_owned(), method.formula.to_owned()]);
        facts.push(vec!["  entries".to_owned(), method.entries.to_owned()]);
    }
    facts.push(vec!["  source".to_owned(), entry.source.to_owned()]);
    text += &columns(&facts);
    let keys = entry.keys.list();
    if !keys.is_empty() {
        let row = |p: &Parameter| {
            let default = if p.default.is_empty() { "required" } else { p.default.as_str() };
            vec![format!("  {}", p.name), default.to_owned(), p.doc.clone()]
        };
        let rows: Vec<_> = keys.iter().map(row).collect();
        text += &format!("\nParameters, with their defaults:\n{}", columns(&rows));
    }
    if let Some(example) = example(kind, entry) {
        text += &format!("\nIn a configuration:\n{example}");
    }
    text
}

/// The keys of an experiment: a section named as it, unless they stand at the top of the file.
fn sections(entry: &Entry, written: &[String]) -> String {
    match entry.keys.section() {
        Some(section) => format!("  {section}: {{ {} }}\n", written.join(", ")),
        None => written.iter().map(|key| format!("  {key}\n")).collect(),
    }
}

/// YAML that names it, with its defaults written out.
fn example(kind: &Kind, entry: &Entry) -> Option<String> {
    let value = |p: Parameter| {
        let key = p.name.rsplit_once('.').map_or(p.name.as_str(), |(_, key)| key);
        match p.default.as_str() {
            _ if p.example != "none" => Some(format!("{key}: {}", p.example)),
            // which of the others go together depends on the experiment
            default if kind.singular == "experiment" && !default.is_empty() => None,
            "none" => None,
            default => Some(format!("{key}: {default}")),
        }
    };
    let written: Vec<String> = entry.keys.list().into_iter().filter_map(value).collect();
    let section = |key: &str| {
        let keys: Vec<String> = std::iter::once(format!("{key}: {}", entry.id)).chain(written.clone()).collect();
        format!("{{ {} }}", keys.join(", "))
    };
    Some(match kind.singular {
        "method" => format!("  methods:\n    - {}\n", section("id")),
        "oracle" => format!("  oracle: {}\n", section("kind")),
        "proxy" if entry.id == MENTION_COSINE => format!(
            "  experiment: coref\n  coref:\n    dataset: news\n    methods:\n      - {{ id: shift_ridge, proxy: {} }}\n",
            section("kind")
        ),
        "proxy" => format!("  methods:\n    - {{ id: shift_ridge, proxy: {} }}\n", section("kind")),
        "landmark policy" => format!("  landmarks: {}\n", section("policy")),
        "experiment" => format!("  experiment: {}\n{}", entry.id, sections(entry, &written)),
        "dataset" => format!("  dataset: {}\n", section("name")),
        "section" => format!("  {}: {{ {} }}\n", entry.id, written.join(", ")),
        _ => return None,
    })
}
