//! `landmark list NAME`: one name of the catalogue explained.

use landmark_harness::config::COLLECTION;
use landmark_yaml::{Entry, Parameter};
use serde_json::{Value as Json, json};

use crate::catalogue::proxies::MENTION_COSINE;
use crate::catalogue::{self, KINDS, Kind};
use crate::output::{Answer, columns};

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
    let parameters = entry.parameters.iter().map(|p| json!({ "name": p.name, "default": p.default, "doc": p.doc }));
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

fn explain(kind: &Kind, entry: &Entry) -> String {
    let mut text = format!("{} — {}\n\n", entry.id, entry.summary);
    let mut facts = vec![vec!["  kind".to_owned(), kind.singular.to_owned()]];
    let method = catalogue::catalogue().ingredients.method(entry.id).filter(|_| kind.singular == "method");
    if let Some(method) = method {
        facts.push(vec!["  K̃".to_owned(), method.formula.to_owned()]);
        facts.push(vec!["  entries".to_owned(), method.entries.to_owned()]);
    }
    facts.push(vec!["  source".to_owned(), entry.source.to_owned()]);
    text += &columns(&facts);
    if !entry.parameters.is_empty() {
        let row = |p: &Parameter| {
            let default = if p.default.is_empty() { "required" } else { p.default };
            vec![format!("  {}", p.name), default.to_owned(), p.doc.to_owned()]
        };
        let rows: Vec<_> = entry.parameters.iter().map(row).collect();
        text += &format!("\nParameters, with their defaults:\n{}", columns(&rows));
    }
    if let Some(example) = example(kind, entry) {
        text += &format!("\nIn a configuration:\n{example}");
    }
    text
}

/// The experiment whose `output` stands at the top of the file.
const OWN_DATA: &str = "own_data";

/// The keys of an experiment: a section named as it, unless they stand at the top of the file.
fn sections(entry: &Entry, written: &[String]) -> String {
    // a section of another name, where that of the experiment is taken
    let prefix = entry.parameters.first().and_then(|parameter| parameter.name.split_once('.'));
    if let Some((section, _)) = prefix {
        let keys: Vec<&str> =
            written.iter().map(|key| key.split_once('.').map_or(key.as_str(), |(_, key)| key)).collect();
        return format!("  {section}: {{ {} }}\n", keys.join(", "));
    }
    let at_top = [COLLECTION, OWN_DATA].contains(&entry.id)
        || entry.parameters.iter().any(|parameter| parameter.name == entry.id);
    match (written, at_top) {
        ([], _) => String::new(),
        (keys, true) => keys.iter().map(|key| format!("  {key}\n")).collect(),
        (keys, false) => format!("  {}: {{ {} }}\n", entry.id, keys.join(", ")),
    }
}

/// YAML that names it, with its defaults written out.
fn example(kind: &Kind, entry: &Entry) -> Option<String> {
    let value = |p: &Parameter| match p.default {
        "none" | "all" | "null" => None,
        "" => Some(format!("{}: {}", p.name, p.example)),
        default => Some(format!("{}: {default}", p.name)),
    };
    let written: Vec<String> = entry.parameters.iter().filter_map(value).collect();
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
