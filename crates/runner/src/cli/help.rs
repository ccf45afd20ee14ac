//! The help: commands in groups, one screen for `-h`, examples, and the names that commands had before.

use clap::Command;

use crate::exit;

/// Name of the program.
pub const PROGRAM: &str = "landmark";

/// The commands, as `--help` groups them.
pub const GROUPS: [(&str, &[&str]); 3] = [
    ("Run an experiment", &["run", "init", "report", "list", "check"]),
    ("Use your data", &["topk", "mine", "audit", "pairs", "project", "search", "cluster", "classify", "export"]),
    ("Manage files, score predictions", &["data", "model", "store", "score", "completions"]),
];

/// Names that commands had before, and what replaced them.
pub(crate) const FORMER: [(&str, &str); 6] = [
    ("dedupe", "`landmark mine --groups`"),
    ("show", "`landmark list NAME`, or `landmark check --print CONFIG.yaml`"),
    ("validate", "`landmark check`"),
    ("docs", "`cargo xtask docs`"),
    ("claims", "`cargo xtask claims`"),
    ("verify", "`cargo xtask verify`"),
];

const EXAMPLES: [(&str, &str); 4] = [
    (
        "init",
        "Examples:
  landmark init articles.csv --score wmd
  landmark init items.tsv --score program --command \"python3 score.py\"
  landmark init items.tsv --score rerank --url http://localhost:8000/rerank",
    ),
    (
        "topk",
        "Examples:
  landmark topk items.yaml -k 5                  # factors: estimated scores of a run
  landmark topk items.yaml --rerank 20           # rerank: the best 20 by exact scores
  landmark topk items.yaml --mode index          # index: as factors, for millions of items
  landmark topk items.yaml --calls-per-item 20   # search: without a run; two lists, too
  landmark topk items.yaml --target-recall 0.9   # recall: until the recall is guaranteed
  landmark topk items.yaml --mode exact          # exact: by proxies that bound the score",
    ),
    (
        "mine",
        "Examples:
  landmark mine items.yaml --pairs 100                          # estimated scores of a run
  landmark mine items.yaml --at-least 0.8 --rerank 20           # the best 20 per item by exact scores
  landmark mine items.yaml --at-least 0.8 --budget 3000         # a search; two lists, too
  landmark mine items.yaml --at-least 0.8 --target-recall 0.9   # until the recall is guaranteed
  landmark mine items.yaml --at-least 0.8 --groups              # groups of near-duplicates",
    ),
    (
        "audit",
        "Examples:
  landmark audit items.yaml blocking.csv --at-least 0.8 --dry-run   # the calls
  landmark audit items.yaml blocking.csv --at-least 0.8
  landmark audit items.yaml index.tsv -k 10 --first query --second hit",
    ),
];

/// Options that are the same for all commands on a configuration.
const COMMON: [&str; 3] = ["data", "store", "results"];

/// The commands in their groups, a line each.
fn grouped(program: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text += &format!("{heading}:\n");
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<12} {about}\n", command.get_name());
        }
    }
    text
}

/// Arranges the help of the program and of its commands: a screen for `-h`, or all of it.
pub(super) fn arrange(program: Command, is_long: bool) -> Command {
    let head = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}", grouped(&program));
    let template = if is_long { head + "\nOptions:\n{options}{after-help}" } else { head + "{after-help}" };
    let mut program = program
        .help_template(template)
        .after_help("Every command takes -v, -q, --json and -h. `landmark --help` lists all options and exit codes.")
        .after_long_help(exit::help());
    // the examples show the modes in use
    program = program.mut_subcommand("topk", |topk| topk.mut_arg("mode", |mode| mode.hide_possible_values(!is_long)));
    for (name, examples) in EXAMPLES {
        program = program.mut_subcommand(name, |command| command.after_help(examples));
    }
    for name in GROUPS[1].1.iter().chain(&["init", "report", "check"]) {
        program = program.mut_subcommand(name, |command| {
            command.mut_args(|arg| match COMMON.contains(&arg.get_id().as_str()) {
                true => arg.hide_short_help(true),
                false => arg,
            })
        });
    }
    program
}

#[cfg(test)]
mod tests {
    use super::{FORMER, GROUPS};
    use crate::cli::Cli;

    #[test]
    fn every_command_stands_in_one_group_and_no_former_name_is_a_command() {
        let program = Cli::parser(true);
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        assert!(FORMER.iter().all(|(former, _)| !names.contains(former)));
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }
}
