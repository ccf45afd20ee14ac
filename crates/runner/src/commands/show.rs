//! `landmark show`: one name explained, or one configuration as it will run.

use std::path::Path;

use landmark_harness::config::proxy::MENTION_COSINE;
use landmark_harness::config::Config;
use landmark_yaml::{Entry, Parameter, did_you_mean};
use miette::{IntoDiagnostic, Result};
use serde_json::{Value as Json, json};

use super::list::entry_facts;
use crate::catalogue::{self, KINDS, Kind};
use crate::cli::OverlayArgs;
use crate::exit::UsageError;
use crate::output::{Answer, columns};

/// A name of the registry, or a file.
pub(super) fn show(what: &str, overlay: &OverlayArgs) -> Result<Answer> {
    let is_file = what.ends_with(".yaml") || what.ends_with(".yml") || Path::new(what).is_file();
    if is_file {
        return configuration(Path::new(what), overlay);
    }
    let found: Vec<(&Kind, Entry)> = KINDS
        .iter()
        .flat_map(|kind| (kind.entries)().into_iter().filter(|entry| entry.id == what).map(move |entry| (kind, entry)))
        .collect();
    if !found.is_empty() {
        let texts: Vec<String> = found.iter().map(|(kind, entry)| explain(kind, entry)).collect();
        let facts = |(kind, entry): &(&Kind, Entry)| {
            let mut facts = entry_facts(kind, entry);
            facts["kind"] = kind.singular.into();
            facts
        };
        return Ok(Answer::new(texts.join("\n"), json!({ "found": found.iter().map(facts).collect::<Json>() })));
    }
    let ids: Vec<&str> = KINDS.iter().flat_map(|kind| (kind.entries)()).map(|entry| entry.id).collect();
    let help = match did_you_mean(what, ids) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`landmark list` shows every name; a configuration ends in `.yaml`".to_owned(),
    };
    Err(UsageError::new(format!("nothing is called `{what}`"), Some(help)).into())
}

fn configuration(file: &Path, overlay: &OverlayArgs) -> Result<Answer> {
    let config = Config::load(file, &overlay.overlays(), catalogue::catalogue())?;
    let reduced = match config.reduction() {
        Some(reduction) => format!("# reduced: {reduction}\n"),
        None => String::new(),
    };
    let hash = config.config_hash().into_diagnostic()?;
    let head = format!("# {}, profile `{}`, hash {}\n", file.display(), config.run.profile.name, hash.short());
    let text = format!("{head}{reduced}{}", config.to_yaml().into_diagnostic()?);
    let result = json!({
        "file": file, "profile": config.run.profile.name, "hash": hash.to_hex(), "reduced": config.reduction(),
        "configuration": serde_json::to_value(&config).into_diagnostic()?,
    });
    Ok(Answer::new(text, result))
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
    let keys = entry.keys.list();
    if !keys.is_empty() {
        let row = |p: &Parameter| {
            let default = if p.default.is_empty() { "required" } else { &p.default };
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
