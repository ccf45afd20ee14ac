//! The catalogue against the code: every default that a list states, written into a configuration, changes nothing of it.

use std::collections::HashSet;
use std::path::Path;

use landmark_harness::config::{Config, Overlays};
use landmark_yaml::{Entry, Problems, parse};
use runner::catalogue::{
    self, DATASETS, ENTRY_POLICIES, KINDS, LANDMARK_POLICIES, METHODS, ORACLES, PROXIES, SECTIONS, TASKS,
};
use serde_json::Value as Json;

const IN_WORDS: [&str; 2] = ["none", "all"];

const TAKEN_BELOW: &[&str] = &["20news.headers"];

const FRAMES: [[&str; 3]; 8] = [
    ["classification", "{ name: embedded, vectors: self300 }", "wmd"],
    ["classification", "trec", "tree_kernel"],
    ["glue", "embedded_pairs", "cross_encoder"],
    ["error_curve", "{ name: texts, path: a.tsv }", "{ kind: subprocess, command: [a] }"],
    ["classification", "{ name: precomputed, path: a.npy, labels: a.txt }", "precomputed"],
    ["error_curve", "random_psd", "precomputed"],
    ["error_curve", "trec", "tree_kernel"],
    ["error_curve", "{ name: texts, path: a.tsv }", "cross_encoder"],
];

fn sweep(place: &str, value: &str) -> Result<Json, String> {
    let mut said = String::new();
    for [experiment, dataset, oracle] in FRAMES {
        let parts = [
            ("experiment", experiment),
            ("dataset", dataset),
            ("oracle", oracle),
            ("methods", "[nystrom]"),
            ("ranks", "[2]"),
        ];
        let mut text = String::from("name: m\n");
        for (key, usual) in parts {
            text += &format!("{key}: {}\n", if key == place { value } else { usual });
        }
        if parts.iter().all(|(key, _)| *key != place) {
            text += &format!("{place}: {value}\n");
        }
        match parsed(&text) {
            Ok(config) => return Ok(config),
            Err(error) => said += &error,
        }
    }
    Err(said)
}

fn parsed(text: &str) -> Result<Json, String> {
    let config = Config::parse(Path::new("c.yaml"), text, &Overlays::default(), catalogue::catalogue());
    let config = config.map_err(|error| format!("{text}{:?}", miette::Report::new(error)))?;
    Ok(serde_json::to_value(&config).unwrap())
}

fn compare(entry: &Entry, name: &str, read: &dyn Fn(&str) -> Result<Json, String>) -> Vec<(String, bool)> {
    let required: Vec<_> = entry
        .parameters
        .iter()
        .filter(|p| p.default.is_empty())
        .map(|p| format!("{}: {}", p.name, p.example))
        .collect();
    let written = |more: &[String]| {
        let keys = [if name.is_empty() { vec![] } else { vec![name.to_owned()] }, required.clone(), more.to_vec()];
        read(&format!("{{ {} }}", keys.concat().join(", ")))
    };
    let plain = written(&[]).unwrap_or_else(|error| panic!("`{}`: {error}", entry.id));
    let stated = entry.parameters.iter().filter(|p| !p.default.is_empty() && !IN_WORDS.contains(&p.default));
    let compared = stated.map(|p| {
        let with = written(&[format!("{}: {}", p.name, p.default)]);
        (format!("{}.{}", entry.id, p.name), with.is_ok_and(|with| with == plain))
    });
    compared.collect()
}

#[test]
fn every_default_of_the_catalogue_is_the_one_the_code_takes() {
    let mut compared = Vec::new();
    for method in METHODS {
        let read = |value: &str| sweep("methods", &format!("[{value}]"));
        compared.extend(compare(&method.entry(), &format!("id: {}", method.id), &read));
    }
    for proxy in PROXIES.iter().filter(|proxy| proxy.id != catalogue::proxies::MENTION_COSINE) {
        let read = |value: &str| sweep("methods", &format!("[{{ id: nystrom, proxy: {value} }}]"));
        compared.extend(compare(proxy, &format!("kind: {}", proxy.id), &read));
    }
    for entries in ENTRY_POLICIES {
        let read = |value: &str| sweep("methods", &format!("[{{ id: nystrom, entries: {value} }}]"));
        compared.extend(compare(entries, &format!("kind: {}", entries.id), &read));
    }
    let oracles: Vec<Entry> = ORACLES.iter().map(|oracle| oracle.entry).collect();
    for (list, place, key) in [
        (oracles.as_slice(), "oracle", "kind"),
        (LANDMARK_POLICIES, "landmarks", "policy"),
        (DATASETS.as_slice(), "dataset", "name"),
    ] {
        for entry in list {
            compared.extend(compare(entry, &format!("{key}: {}", entry.id), &|value| sweep(place, value)));
        }
    }
    for section in SECTIONS {
        compared.extend(compare(section, "", &|value| sweep(section.id, value)));
    }
    for task in TASKS.iter().filter(|task| !task.parameters.is_empty()) {
        compared.extend(compare(task, "", &|value| sweep("svm", value)));
    }
    for study in catalogue::experiments::STUDIES {
        // a file that is looked for must be there
        let read = |value: &str| {
            let value = value.replace("texts.txt", "Cargo.toml");
            parsed(&format!("name: m\nexperiment: {0}\n{0}: {value}\n", study.entry.id))
        };
        // a list of datasets has no parameters of its own
        if study.entry.parameters.iter().any(|p| !p.default.is_empty()) {
            compared.extend(compare(&study.entry, "", &read));
        }
    }
    assert!(compared.len() > 90, "only {} defaults were compared", compared.len());
    let differs: Vec<_> = compared.iter().filter(|(_, same)| !same).map(|(name, _)| name.as_str()).collect();
    assert_eq!(differs, TAKEN_BELOW, "defaults that the code does not take");
}

#[test]
fn ids_are_unique_and_texts_are_there() {
    for kind in KINDS {
        let mut seen = HashSet::new();
        for entry in (kind.entries)() {
            assert!(seen.insert(entry.id), "`{}` twice in {}", entry.id, kind.plural);
            assert!(!entry.summary.is_empty() && !entry.summary.ends_with('.'), "{}", entry.id);
            assert!(!entry.source.is_empty(), "{}", entry.id);
        }
    }
}

#[test]
fn the_registry_lists_exactly_the_parameters_a_method_takes_with_their_defaults() {
    for method in METHODS {
        let problems = Problems::default();
        let built = (method.read)(&parse("{}", 0).unwrap(), method.id, &problems).unwrap();
        let value = |text: &str| serde_json::from_str(text).unwrap_or(Json::String(text.to_owned()));
        let listed: Vec<_> = method.parameters.iter().map(|p| (p.name, value(p.default))).collect();
        let written: Vec<_> = built.params.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        assert_eq!(listed, written, "`{}`", method.id);
        assert_eq!(built.approximator.id(), method.id);
    }
}
