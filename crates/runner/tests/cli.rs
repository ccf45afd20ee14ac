//! The command line: the real binary in a scratch folder.

use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;

fn runner(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("landmark"));
    command
        .args(arguments)
        .env_remove("LANDMARK_DATA")
        .env("XDG_CACHE_HOME", "/nowhere")
        .env_remove("RUST_LOG")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
    command
}

fn printed(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&runner(arguments).assert().success().get_output().stdout).into_owned()
}

fn complaint(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&runner(arguments).assert().code(2).get_output().stderr).into_owned()
}

#[test]
fn the_lists_are_those_of_the_registry() {
    insta::assert_snapshot!(printed(&["list", "methods"]));
    insta::assert_snapshot!(printed(&["list", "methods", "--markdown"]));
}

#[test]
fn all_lists_come_as_json_for_programs() {
    let lists: serde_json::Value = serde_json::from_str(&printed(&["list", "--json"])).unwrap();
    for kind in ["methods", "oracles", "proxies", "landmarks", "experiments", "sections", "tasks", "datasets"] {
        assert!(lists[kind].as_array().is_some_and(|entries| !entries.is_empty()), "{kind}");
    }
    assert_eq!(lists["methods"][1]["parameters"][0]["name"], "alpha");
}

#[test]
fn a_name_is_explained() {
    insta::assert_snapshot!(printed(&["show", "sms_nystrom"]));
    insta::assert_snapshot!(printed(&["show", "wmd"]));
    insta::assert_snapshot!(printed(&["show", "search"]));
}

/// Documents, a matrix, questions with trees, pairs of sentences, or an experiment with a section of its own: an example belongs to one of them.
const AROUND: [&[(&str, &str)]; 6] = [
    &[
        ("ranks", "[5]"),
        ("experiment", "error_curve"),
        ("dataset", "{ name: embedded, vectors: { kind: ppmi_svd } }"),
        ("oracle", "{ kind: wmd, gamma: 1 }"),
        ("methods", "[nystrom]"),
    ],
    &[
        ("ranks", "[5]"),
        ("experiment", "error_curve"),
        ("dataset", "random_psd"),
        ("oracle", "precomputed"),
        ("methods", "[nystrom]"),
    ],
    &[
        ("ranks", "[5]"),
        ("experiment", "error_curve"),
        ("dataset", "{ name: trec, split: given }"),
        ("oracle", "tree_kernel"),
        ("methods", "[nystrom]"),
    ],
    &[
        ("ranks", "[5]"),
        ("experiment", "error_curve"),
        ("dataset", "{ name: texts, path: items.txt }"),
        ("oracle", "{ kind: subprocess, command: [score] }"),
        ("methods", "[nystrom]"),
    ],
    &[
        ("ranks", "[5]"),
        ("experiment", "glue"),
        ("dataset", "{ name: stsb, fallback: embedded }"),
        ("oracle", "cross_encoder"),
        ("methods", "[nystrom]"),
    ],
    &[],
];

#[test]
fn the_example_of_every_name_is_part_of_a_good_configuration() {
    let lists: serde_json::Value = serde_json::from_str(&printed(&["list", "--json"])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // the file that the example of a text stream names
    std::fs::write(folder.path().join("texts.txt"), "one text\n").unwrap();
    // the member that the example of a collection names
    let member: String = AROUND[0].iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    std::fs::write(folder.path().join("member.yaml"), format!("name: member\n{member}")).unwrap();
    for kind in ["methods", "oracles", "proxies", "landmarks", "experiments", "sections", "datasets"] {
        for entry in lists[kind].as_array().unwrap() {
            let id = entry["id"].as_str().unwrap();
            let shown = printed(&["show", id]);
            let examples = shown.split("In a configuration:\n").skip(1).map(|rest| rest.split("\n\n").next().unwrap());
            let file = folder.path().join(format!("{id}.yaml"));
            let is_good = |example: &str, around: &[(&str, &str)]| {
                let example: String =
                    example.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
                // what searches for γ is classification
                let around = around.iter().map(|&(key, value)| match value {
                    "error_curve" if example.contains("search") => (key, "classification"),
                    _ => (key, value),
                });
                let rest: String = around
                    .filter(|(key, _)| !example.starts_with(&format!("{key}:")))
                    .map(|(key, value)| format!("{key}: {value}\n"))
                    .collect();
                std::fs::write(&file, format!("name: example\n{rest}{example}")).unwrap();
                runner(&["validate"]).arg(&file).ok().is_ok()
            };
            for example in examples {
                assert!(AROUND.iter().any(|around| is_good(example, around)), "{kind} {id}: {example}");
            }
        }
    }
}

#[test]
fn a_mistyped_name_list_or_command_is_guessed() {
    insta::assert_snapshot!(complaint(&["show", "sicurr"]));
    insta::assert_snapshot!(complaint(&["list", "metods"]));
    insta::assert_snapshot!(complaint(&["valdate"]));
    // behind a flag as well
    assert!(complaint(&["--quiet", "valdate"]).contains("the command `validate`?"));
    // clap complains of the second word
    for (words, help) in [(["tpok", "mine.yaml"], "the command `topk`?"), (["qqqq", "mine.yaml"], "`landmark --help`")] {
        let complaint = complaint(&words);
        assert!(complaint.contains("neither a command nor a file") && complaint.contains(help), "{complaint}");
    }
}

#[test]
fn a_file_of_items_is_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.tsv");
    std::fs::write(&file, "id\ttext\na\tone\na\ttwo\n").unwrap();
    let said = |arguments: &[&str]| {
        let assert = runner(arguments).assert().code(2);
        String::from_utf8_lossy(&assert.get_output().stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let path = file.to_str().unwrap();
    assert!(said(&[path]).contains("landmark init"));
    let refused = said(&["init", path, "--score", "wmd", "--id", "id"]);
    assert!(refused.contains("holds no ids: 1 of its 2 cells"), "{refused}");
    std::fs::write(&file, "id\ttext\na\tone\n").unwrap();
    assert!(said(&["init", path, "--score", "wmd"]).contains("wanted are at least two"));
    let table = folder.path().join("mine.csv");
    std::fs::write(&table, "id,text\na,one\nb,\"two\nc,three\nd,four\n").unwrap();
    let refused = said(&["init", table.to_str().unwrap(), "--score", "wmd"]);
    assert!(refused.contains("mine.csv` row 2: line 3 opens a quote that is never closed; close it"), "{refused}");
}

#[test]
fn the_version_names_the_revision() {
    let version = printed(&["--version"]);
    assert!(version.starts_with(&format!("landmark {} (", env!("CARGO_PKG_VERSION"))), "{version}");
}

#[test]
fn the_help_lists_commands_and_exit_codes() {
    let help = printed(&["--help"]);
    assert!(help.contains("Exit codes:") && help.contains("validate"), "{help}");
    let tour = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md")).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (code, meaning) in runner::exit::CODES {
        assert!(words(&help).contains(&format!("{code} {meaning}")), "{code}: {help}");
        assert!(tour.contains(&format!("| {code} | {meaning} |")), "{code}");
    }
    runner(&[]).assert().code(2).stderr(contains("Usage:"));
    runner(&["--no-such-flag"]).assert().code(2);
}

#[test]
fn the_help_of_a_command_says_which_configuration_it_takes() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in ["mine", "dedupe", "cluster", "classify", "export", "pairs", "project"] {
        let help = words(&printed(&[command, "--help"]));
        assert!(help.contains("Configuration with `experiment: own_data`, run before"), "{command}: {help}");
        assert!(!help.contains("for an index"), "{command}: {help}");
    }
    let search = words(&printed(&["search", "--help"]));
    assert!(search.contains("Configuration with `experiment: search`, run before"), "{search}");
    let topk = words(&printed(&["topk", "--help"]));
    assert!(topk.contains("`experiment: own_data`; run before, but for `--calls-per-item`"), "{topk}");
}

#[test]
fn completions_exist_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(printed(&["completions", shell]).contains("dry-run"), "{shell}");
    }
}

#[test]
fn corpora_that_are_not_there_are_named_with_the_variable() {
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_str().unwrap();
    let listed = printed(&["data", "--data", folder]);
    assert!(listed.lines().any(|line| line.contains("twitter") && line.contains("missing")), "{listed}");
    assert!(listed.lines().any(|line| line.contains("embedded") && line.contains("inside")), "{listed}");
    assert!(printed(&["data"]).contains("set LANDMARK_DATA, pass `--data DIR` or fetch one"));
    assert!(printed(&["data", "twitter"]).contains("sha256"));
    assert!(complaint(&["data", "twiter"]).contains("did you mean `twitter`?"));
}

#[test]
fn an_empty_store_holds_nothing_and_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    assert!(printed(&["store", "ls", store]).contains("holds nothing"));
    assert!(printed(&["store", "verify", store]).contains("0 sound tiles"));
    assert!(printed(&["store", "gc", "--dry-run", store]).contains("0 files would be removed"));
}

#[test]
fn stale_tables_are_refused_and_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let readme = folder.path().join("README.md");
    std::fs::write(&readme, "# Mine\n<!-- registry:begin -->\nold\n<!-- registry:end -->\nend\n").unwrap();
    runner(&["docs"]).arg(&readme).assert().code(1).stderr(contains("out of date"));
    runner(&["docs", "--write"]).arg(&readme).assert().success();
    runner(&["docs", "--check"]).arg(&readme).assert().success();
    assert!(std::fs::read_to_string(&readme).unwrap().ends_with("<!-- registry:end -->\nend\n"));
    std::fs::write(&readme, "# Mine\n").unwrap();
    runner(&["docs"]).arg(&readme).assert().code(2).stderr(contains("no place for the tables"));
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_registry() {
    let methods = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/methods.md");
    runner(&["docs", "--check"]).arg(methods).assert().success();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md");
    runner(&["docs", "--check"]).arg(data).assert().success();
}

#[test]
fn validate_warns_of_items_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    let oracle = "oracle: { kind: subprocess, command: [cat] }";
    std::fs::write(
        &file,
        format!("name: mine\nexperiment: own_data\ndataset: {{ name: texts, path: mine.tsv }}\n{oracle}\nmethods: [nystrom]\nranks: 5\n"),
    )
    .unwrap();
    let path = file.to_str().unwrap();
    runner(&["validate", path]).assert().success().stderr(contains("mine.tsv").and(contains("are not there")));
    std::fs::write(folder.path().join("mine.tsv"), "text\none\ntwo\n").unwrap();
    runner(&["validate", path]).assert().success().stderr("");
    // what stands in two parts of a section is known in both
    runner(&["validate", path, "--set", "oracle.foo=1"])
        .assert()
        .code(2)
        .stderr(contains("`gamma`").and(contains("`checks`")));
}

#[test]
fn validate_takes_the_flags_of_a_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quickstart.yaml").display().to_string();
    let validate = |flags: &[&'static str]| [&["validate", file.as_str()], flags].concat();
    let all = ["--set", "ranks=[5]", "--profile", "smoke", "--store", "store", "--results", "out", "--data", "."];
    let said = printed(&validate(&all));
    assert!(said.ends_with("good in smoke\n"), "{said}");
    for (flags, wanted) in [
        (["--set", "ranks=[0]"], "ranks"),
        (["--profile", "smok"], "smoke"),
        (["--data", "nowhere"], "there is no folder `nowhere`"),
        (["--store", "nowhere://x"], "nowhere"),
    ] {
        let said = complaint(&validate(&flags));
        assert!(said.contains(wanted), "{flags:?}: {said}");
    }
}
