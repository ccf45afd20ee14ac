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
fn all_lists_come_as_json_for_programs() {
    let lists: serde_json::Value = serde_json::from_str(&printed(&["list", "--json"])).unwrap();
    for kind in ["methods", "oracles", "proxies", "landmarks", "experiments", "sections", "tasks", "datasets"] {
        assert!(lists["result"][kind].as_array().is_some_and(|entries| !entries.is_empty()), "{kind}");
    }
    assert_eq!(lists["result"]["methods"][1]["parameters"][0]["name"], "alpha");
}

#[test]
fn a_filter_of_the_log_that_cannot_be_read_is_named() {
    let seen = |filter: &str| {
        let done = runner(&["list"]).env("RUST_LOG", filter).assert().success();
        String::from_utf8_lossy(&done.get_output().stderr).into_owned()
    };
    for filter in ["landmark_store=loud", "debg", "debg,warn"] {
        assert!(seen(filter).contains(&format!("cannot read RUST_LOG `{filter}`")), "{filter}");
    }
    for filter in ["", "warn", "landmark_store=debug,warn", "warn, landmark_store=debug", "landmark_store"] {
        assert!(!seen(filter).contains("RUST_LOG"), "{filter}");
    }
}

#[test]
fn a_list_and_a_name_are_explained_and_a_mistyped_one_is_guessed() {
    let explained = ["methods", "sms_nystrom", "wmd", "search"].map(|name| printed(&["list", name]));
    let guessed = [&["list", "sicurr"][..], &["list", "metods"], &["chekc"]].map(complaint);
    insta::assert_snapshot!([&explained[..], &guessed].concat().join("\n"));
}

/// Dataset, oracle and experiment: an example belongs to one of these, or is a whole configuration.
const AROUND: [[&str; 3]; 6] = [
    ["{ name: embedded, vectors: { kind: ppmi_svd } }", "{ kind: wmd, gamma: 1 }", "error_curve"],
    ["random_psd", "precomputed", "error_curve"],
    ["{ name: trec, split: given }", "tree_kernel", "error_curve"],
    ["{ name: texts, path: items.txt }", "{ kind: subprocess, command: [score] }", "error_curve"],
    ["{ name: stsb, fallback: embedded }", "cross_encoder", "glue"],
    ["{ name: texts, path: items.txt }", "string", "own_data"],
];

fn around([dataset, oracle, experiment]: [&'static str; 3]) -> Vec<(&'static str, &'static str)> {
    let mut keys = vec![("experiment", experiment), ("dataset", dataset), ("oracle", oracle)];
    if experiment != "own_data" {
        keys.extend([("ranks", "[5]"), ("methods", "[nystrom]")]);
    }
    keys
}

#[test]
fn the_example_of_every_name_is_part_of_a_good_configuration() {
    let lists: serde_json::Value = serde_json::from_str(&printed(&["list", "--json"])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // the file that the example of a text stream names
    std::fs::write(folder.path().join("texts.txt"), "one text\n").unwrap();
    // the member that the example of a collection names
    let member: String = around(AROUND[0]).iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
    std::fs::write(folder.path().join("member.yaml"), format!("name: member\n{member}")).unwrap();
    for kind in ["methods", "oracles", "proxies", "landmarks", "experiments", "sections", "datasets"] {
        for entry in lists["result"][kind].as_array().unwrap() {
            let id = entry["id"].as_str().unwrap();
            let shown = printed(&["list", id]);
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
                runner(&["check"]).arg(&file).ok().is_ok()
            };
            for example in examples {
                let is_part = AROUND.iter().any(|&keys| is_good(example, &around(keys)));
                assert!(is_part || is_good(example, &[]), "{kind} {id}: {example}");
            }
        }
    }
}

#[test]
fn a_mistyped_command_is_guessed() {
    // behind a flag as well
    assert!(complaint(&["--quiet", "chekc"]).contains("the command `check`?"));
    // clap reports an error at the second word
    for (words, help) in [(["tpok", "mine.yaml"], "the command `topk`?"), (["qqqq", "mine.yaml"], "`landmark --help`")]
    {
        let complaint = complaint(&words);
        assert!(complaint.contains("unknown command") && complaint.contains(help), "{complaint}");
    }
}

#[test]
fn a_file_of_items_is_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.tsv");
    std::fs::write(&file, "id\ttext\na\tone\na\ttwo\n").unwrap();
    let complaint_of = |arguments: &[&str]| {
        let assert = runner(arguments).assert().code(2);
        String::from_utf8_lossy(&assert.get_output().stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let path = file.to_str().unwrap();
    assert!(complaint_of(&[path]).contains("landmark init"));
    let refused = complaint_of(&["init", path, "--score", "wmd", "--id", "id"]);
    assert!(refused.contains("as ids: 1 of its 2 cells"), "{refused}");
    std::fs::write(&file, "id\ttext\na\tone\n").unwrap();
    assert!(complaint_of(&["init", path, "--score", "wmd"]).contains("expected at least two"));
    let table = folder.path().join("mine.csv");
    std::fs::write(&table, "id,text\na,one\nb,\"two\nc,three\nd,four\n").unwrap();
    let refused = complaint_of(&["init", table.to_str().unwrap(), "--score", "wmd"]);
    assert!(refused.contains("mine.csv` row 2: line 3 opens a quote that is never closed; close it"), "{refused}");
}

#[test]
fn the_version_names_the_revision() {
    let version = printed(&["--version"]);
    assert!(version.starts_with(&format!("landmark {} (", env!("CARGO_PKG_VERSION"))), "{version}");
}

fn leaves(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
    let has_own_answer = command.get_arguments().any(|arg| arg.is_positional());
    if !command.has_subcommands() || has_own_answer && !words.is_empty() {
        found.push(words.to_vec());
    }
    for below in command.get_subcommands() {
        leaves(below, &[words, &[below.get_name().to_owned()]].concat(), found);
    }
}

#[test]
fn there_are_at_most_24_commands_and_the_short_help_of_each_fits_a_screen() {
    let mut commands = Vec::new();
    leaves(&runner::cli::Cli::parser(true), &[], &mut commands);
    assert!((20..=24).contains(&commands.len()), "{}: {commands:?}", commands.len());
    for words in [vec![vec![]], commands].concat() {
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["-h"]).collect();
        let help = printed(&words);
        let lines = help.lines().count();
        assert!(lines <= 30, "{words:?}: {lines} lines");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    for (command, words) in [("init", "--score"), ("topk", "--delta"), ("topk", "# index: "), ("mine", "--delta")] {
        let help = printed(&[command, "-h"]);
        assert!(help.contains("Examples:\n  landmark ") && help.contains(words), "{command}: {help}");
    }
}

/// Words of LANGUAGE that no help and no list of exit codes may have.
const AVOIDED: [&str; 14] = [
    "bought",
    " buy",
    " bill",
    " anew",
    "so many",
    "beside",
    " said",
    " heed",
    " mend",
    " at hand",
    "licence",
    "neighbour",
    "themselves by",
    " dear",
];

#[test]
fn every_help_line_is_short_and_in_plain_words() {
    fn check(command: &clap::Command) {
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let (name, hidden) = (arg.get_id(), arg.is_hide_short_help_set());
            assert!(hidden || help.chars().count() <= 80, "{} {name}: {help}", command.get_name());
            assert!(!help.is_empty() && !help.ends_with('.'), "{} {name}: {help}", command.get_name());
            let long = arg.get_long_help().map(ToString::to_string).unwrap_or_default() + &help;
            assert!(AVOIDED.iter().all(|word| !long.contains(word)), "{name}: {long}");
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!((1..=80).contains(&about.chars().count()), "{}: {about}", command.get_name());
        command.get_subcommands().for_each(check);
    }
    check(&runner::cli::Cli::parser(true));
}

#[test]
fn an_option_of_one_name_has_one_meaning_over_all_commands() {
    fn collect(
        command: &clap::Command,
        found: &mut std::collections::BTreeMap<String, std::collections::BTreeSet<String>>,
    ) {
        for arg in command.get_opts().filter(|arg| !arg.is_global_set()) {
            let values = arg.get_value_names().unwrap_or_default();
            let shape =
                format!("{:?} {:?}", values.iter().map(ToString::to_string).collect::<Vec<_>>(), arg.get_action());
            found.entry(arg.get_long().unwrap_or_default().to_owned()).or_default().insert(shape);
        }
        command.get_subcommands().for_each(|below| collect(below, found));
    }
    let mut found = std::collections::BTreeMap::new();
    collect(&runner::cli::Cli::parser(true), &mut found);
    // a file of the answer, and the configuration that `init` writes
    found.remove("out");
    let many: Vec<_> = found.iter().filter(|(_, shapes)| shapes.len() > 1).collect();
    assert!(found.len() > 30 && many.is_empty(), "{many:?}");
}

#[test]
fn a_former_command_names_the_one_that_replaced_it() {
    for (former, now) in [
        ("dedupe", "`landmark mine --groups`"),
        ("show", "`landmark list NAME`"),
        ("validate", "`landmark check`"),
        ("claims", "`cargo xtask claims`"),
    ] {
        let shown = complaint(&[former, "mine.yaml"]);
        assert!(shown.contains(&format!("unknown command `{former}`")) && shown.contains(now), "{shown}");
    }
}

#[test]
fn the_help_lists_commands_and_exit_codes() {
    let help = printed(&["--help"]);
    assert!(help.contains("Exit codes:") && help.contains("Use your data:\n  topk "), "{help}");
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/exit-codes.md")).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (code, meaning) in runner::exit::CODES {
        assert!(words(&help).contains(&format!("{code} {meaning}")), "{code}: {help}");
        assert!(page.contains(&format!("| {code} | {meaning} |")), "{code}");
    }
    runner(&[]).assert().code(2).stderr(contains("Usage:"));
    runner(&["--no-such-flag"]).assert().code(2);
}

#[test]
fn the_help_of_a_command_names_which_configuration_it_takes() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in ["mine", "cluster", "classify", "export", "pairs", "project"] {
        let help = words(&printed(&[command, "--help"]));
        assert!(help.contains("Configuration with `experiment: own_data` that was run"), "{command}: {help}");
    }
    let search = words(&printed(&["search", "--help"]));
    assert!(search.contains("Configuration with `experiment: search` that was run"), "{search}");
    let topk = words(&printed(&["topk", "--help"]));
    let modes = "`experiment: own_data`. The modes `factors`, `rerank` and `index` use the factors";
    assert!(topk.contains(modes), "{topk}");
}

#[test]
fn completions_exist_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(printed(&["completions", shell]).contains("dry-run"), "{shell}");
    }
}

#[test]
fn check_warns_of_items_that_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    let oracle = "oracle: { kind: subprocess, command: [cat] }";
    std::fs::write(
        &file,
        format!("name: mine\nexperiment: own_data\ndataset: {{ name: texts, path: mine.tsv }}\n{oracle}\nmethods: [nystrom]\nranks: 5\n"),
    )
    .unwrap();
    let path = file.to_str().unwrap();
    runner(&["check", path]).assert().success().stderr(contains("cannot find the items").and(contains("mine.tsv")));
    std::fs::write(folder.path().join("mine.tsv"), "text\none\ntwo\n").unwrap();
    runner(&["check", path]).assert().success().stderr("");
    // what stands in two parts of a section is known in both
    runner(&["check", path, "--set", "oracle.foo=1"])
        .assert()
        .code(2)
        .stderr(contains("`gamma`").and(contains("`checks`")));
}

#[test]
fn check_takes_the_flags_of_a_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/psd.yaml").display().to_string();
    let check = |flags: &[&'static str]| [&["check", file.as_str()], flags].concat();
    let all = ["--set", "ranks=[5]", "--profile", "smoke", "--store", "store", "--results", "out", "--data", "."];
    let shown = printed(&check(&all));
    assert!(shown.ends_with("good in smoke\n"), "{shown}");
    for (flags, wanted) in [
        (["--set", "ranks=[0]"], "ranks"),
        (["--profile", "smok"], "smoke"),
        (["--data", "nowhere"], "no such folder: `nowhere`"),
        (["--store", "nowhere://x"], "nowhere"),
    ] {
        let shown = complaint(&check(&flags));
        assert!(shown.contains(wanted), "{flags:?}: {shown}");
    }
}
