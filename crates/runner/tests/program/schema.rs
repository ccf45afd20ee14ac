//! The JSON Schema that editors check configurations with: it is derived from the structs, every shipped configuration names it and satisfies it,
//! and it refuses what the program refuses.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use landmark_harness::config::{Config, Overlays};
use landmark_yaml::{Node, Value};
use runner::registry::{KINDS, registry, schema};
use serde_json::{Map, Value as Json, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A YAML text as JSON.
fn json_of(text: &str) -> Json {
    fn of(node: &Node) -> Json {
        match &node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Integer(value) => json!(i64::try_from(*value).unwrap()),
            // 1e6 is a whole number to JSON Schema
            Value::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => json!(*value as i64),
            Value::Number(value) => json!(value),
            Value::Text(text) => json!(text),
            Value::List(items) => items.iter().map(of).collect(),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.text.clone(), of(value))).collect::<Map<_, _>>())
            }
        }
    }
    of(&landmark_yaml::parse(text, 0).unwrap())
}

/// Why a value does not satisfy a schema, by the keywords of draft 07 that ours uses; others are a fault of this test.
fn fault(value: &Json, schema: &Json, root: &Json, path: &str) -> Option<String> {
    let map = match schema {
        Json::Bool(true) => return None,
        Json::Bool(false) => return Some(format!("{path}: nothing goes here")),
        Json::Object(map) => map,
        other => panic!("{other} is no schema"),
    };
    let number = value.as_f64();
    for (keyword, wanted) in map {
        let unless = |is_good: bool, why: &str| (!is_good).then(|| format!("{path}: {why} {wanted}, not {value}"));
        let bounded = |holds: fn(&f64, &f64) -> bool| number.is_none_or(|n| holds(&n, &wanted.as_f64().unwrap()));
        let found = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "examples" | "definitions" | "then" => None,
            "$ref" => {
                let name = wanted.as_str().unwrap().strip_prefix("#/definitions/").unwrap();
                fault(value, &root["definitions"][name], root, path)
            }
            "type" => {
                let names = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                let is = |name: &Json| match name.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("the type {other}"),
                };
                unless(names.iter().any(is), "must be")
            }
            "const" => unless(value == wanted, "must be"),
            "enum" => unless(wanted.as_array().unwrap().contains(value), "must be one of"),
            "minimum" => unless(bounded(f64::ge), "must be at least"),
            "maximum" => unless(bounded(f64::le), "must be at most"),
            "exclusiveMinimum" => unless(bounded(f64::gt), "above"),
            "exclusiveMaximum" => unless(bounded(f64::lt), "below"),
            "minItems" | "maxItems" => {
                let len = value.as_array().map(Vec::len);
                let bound = usize::try_from(wanted.as_u64().unwrap()).unwrap();
                let is_good = len.is_none_or(|len| if keyword == "minItems" { len >= bound } else { len <= bound });
                unless(is_good, "items")
            }
            "items" => value.as_array().into_iter().flatten().enumerate().find_map(|(index, item)| {
                let schema = wanted.as_array().map_or(wanted, |schemas| &schemas[index.min(schemas.len() - 1)]);
                fault(item, schema, root, &format!("{path}[{index}]"))
            }),
            "required" => {
                let lacks = |key: &&Json| value.as_object().is_some_and(|map| !map.contains_key(key.as_str().unwrap()));
                wanted.as_array().unwrap().iter().find(lacks).map(|key| format!("{path}: lacks {key}"))
            }
            "properties" => wanted.as_object().unwrap().iter().find_map(|(key, schema)| {
                // an empty key is as none
                let value = value.get(key).filter(|value| !value.is_null())?;
                fault(value, schema, root, &format!("{path}.{key}"))
            }),
            "additionalProperties" => value.as_object().into_iter().flatten().find_map(|(key, value)| {
                let is_known = map.get("properties").is_some_and(|known| known.get(key).is_some());
                if is_known { None } else { fault(value, wanted, root, &format!("{path}.{key}")) }
            }),
            "anyOf" | "oneOf" => {
                let faults: Vec<_> =
                    wanted.as_array().unwrap().iter().map(|one| fault(value, one, root, path)).collect();
                let good = faults.iter().filter(|fault| fault.is_none()).count();
                let is_good = if keyword == "anyOf" { good > 0 } else { good == 1 };
                let none_of = || faults.into_iter().flatten().collect::<Vec<_>>().join(" / ");
                (!is_good).then(|| format!("{path}: none of {}", none_of()))
            }
            "allOf" => wanted.as_array().unwrap().iter().find_map(|one| fault(value, one, root, path)),
            "if" => match fault(value, wanted, root, path) {
                None => fault(value, &map["then"], root, path),
                Some(_) => None,
            },
            other => panic!("the keyword `{other}` at {path}"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn wrong(text: &str) -> Option<String> {
    static SCHEMA: LazyLock<Json> = LazyLock::new(schema::schema);
    fault(&json_of(text), &SCHEMA, &SCHEMA, "")
}

fn configurations() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![repository().join("configs")]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(ending) if ending == "yaml" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn the_schema_stays_short_enough_to_review() {
    let lines = schema::text().lines().count();
    assert!(lines < 3_000, "{lines} lines");
}

#[test]
fn a_profile_may_leave_out_what_a_file_must_have() {
    assert_eq!(wrong(&sweep("profiles: { smoke: { dataset: { limit: 5 }, oracle: { gamma: 1 } } }")), None);
    assert_eq!(wrong(&sweep("profiles: { smoke: { tuning: { gamma: { from: 1 } } } }")), None);
    assert!(wrong(&sweep("profiles: { smoke: { methods: [{ alpha: 2 }] } }")).is_some(), "a list is replaced whole");
}

#[test]
fn every_key_has_a_doc() {
    for kind in KINDS {
        for entry in (kind.entries)() {
            for key in entry.keys.list() {
                assert!(!key.doc.is_empty(), "{} {} {}", kind.singular, entry.id, key.name);
            }
        }
    }
}

#[test]
fn the_committed_schema_is_what_the_structs_say_and_the_program_prints() {
    let committed = std::fs::read_to_string(repository().join(schema::FILE)).unwrap_or_default();
    let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("landmark.schema.json");
    std::fs::write(&new, schema::text()).unwrap();
    assert!(committed == schema::text(), "run `cargo xtask docs --write`, or copy `{}`", new.display());
    let output = Command::new(assert_cmd::cargo::cargo_bin!("landmark")).args(["list", "schema"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap() == committed);
}

#[test]
fn every_shipped_configuration_names_the_schema_and_satisfies_it() {
    let all = configurations();
    assert!(all.len() >= 60, "{}", all.len());
    let file = repository().join(schema::FILE);
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let named = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# yaml-language-server: $schema="))
            .unwrap_or_default();
        let named = path.parent().unwrap().join(named);
        assert_eq!(named.canonicalize().ok(), Some(file.clone()), "{path:?}");
        assert_eq!(wrong(&text), None, "{path:?}");
    }
}

#[test]
fn every_shipped_configuration_is_good_in_all_profiles_and_reads_back_as_itself() {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("landmark")).arg("check").args(configurations()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for path in configurations() {
        let text = std::fs::read_to_string(&path).unwrap();
        let parse = |text: &str| Config::parse(&path, text, &Overlays::default(), registry()).unwrap();
        let config = parse(&text);
        let again = parse(&config.to_yaml().unwrap());
        assert_eq!(again.config_hash().unwrap(), config.config_hash().unwrap(), "{}", path.display());
        // a collection has the profiles of its members, and few files lie deeper
        if path.parent().is_some_and(|folder| folder.ends_with("configs")) && !text.contains("experiment: collection") {
            for profile in ["smoke", "laptop", "paper"] {
                let is_written = [": ", ":\n"].iter().any(|end| text.contains(&format!("\n  {profile}{end}")));
                assert!(is_written, "{}: {profile}", path.display());
            }
        }
    }
}

/// A good sweep, with a line replaced or added.
fn sweep(changed: &str) -> String {
    let mut lines = vec![
        "name: m",
        "experiment: classification",
        "dataset: { name: embedded, vectors: self300 }",
        "oracle: { kind: wmd, gamma: 0.5 }",
        "methods: [nystrom]",
        "ranks: [10]",
    ];
    let key = changed.split(':').next().unwrap();
    lines.retain(|line| !line.starts_with(&format!("{key}:")));
    lines.push(changed);
    lines.join("\n")
}

#[test]
fn the_schema_refuses_what_is_broken() {
    assert_eq!(wrong(&sweep("seed: 7")), None);
    let broken = [
        "sede: 7",
        "seed: seven",
        "replicates: 0",
        "threads: 0",
        "hours: -1",
        "experiment: clasification",
        "dataset: imaginary",
        "dataset: { name: embedded }",
        "dataset: { name: embedded, vectors: self300, limt: 5 }",
        "dataset: { name: embedded, vectors: self300, limit: 1 }",
        "dataset: { name: random_psd, n: 1 }",
        "dataset: { name: texts }",
        "oracle: wdm",
        "oracle: { kind: wmd, gamma: high }",
        "oracle: { kind: wmd, gamma: 0 }",
        "oracle: { kind: wmd, negligible: 2 }",
        "oracle: { kind: tree_kernel, kernel: pktk }",
        "oracle: { kind: http }",
        "oracle: { kind: subprocess, command: [a], procesess: 2 }",
        "methods: []",
        "methods: [nystorm]",
        "methods: [{ id: sms_nystrom, alhpa: 2 }]",
        "methods: [{ id: sms_nystrom, outer_shift: 1 }]",
        "methods: [{ id: nystrom, proxy: { kind: rwmd, degree: 4 } }]",
        "methods: [{ id: nystrom, entries: { kind: scattered, columns: 1.5 } }]",
        "ranks: 0",
        "ranks: []",
        "landmarks: { policy: leverage, first_round: 2 }",
        "budget: { entires: 5 }",
        "budget: { calls: 0 }",
        "tuning: { folds: 1 }",
        "tuning: { gamma: { from: 1 } }",
        "svm: { loss: hing }",
        "target_error: 1.5",
        "error_estimate: { confidence: 2 }",
        "profiles: { smoke: { ranks: [0] } }",
        "profiles: { smoke: { name: other } }",
    ];
    for line in broken {
        assert!(wrong(&sweep(line)).is_some(), "{line}");
    }
    assert!(wrong("name: m\nexperiment: error_curve\n").is_some(), "a sweep needs a dataset and an oracle");
    assert!(wrong("experiment: corpora\ncorpora: []\n").is_some(), "a configuration needs a name");
}
