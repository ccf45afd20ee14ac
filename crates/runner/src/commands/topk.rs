//! `landmark topk`: one mode, and the numbers that belong to it.

use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::run::Ended;
use landmark_own::{self as matrix, Calls, Lists, Recalled};
use miette::Result;

use crate::cli::{Mode, StatedBound, TopkArgs};

const ROUNDS: usize = 4;
/// Share of each round for the best pairs of the proxy.
const PROXY_SHARE: f64 = 0.2;
/// Probability that a recall is below its bound.
const DELTA: f64 = 0.1;

/// Finds the neighbors in the mode that is given, or that the numbers imply.
pub(super) fn topk(invocation: &Invocation, arguments: &TopkArgs) -> Result<(String, Ended)> {
    let &TopkArgs { k, rerank, calls_per_item, target_recall, budget, dry_run, .. } = arguments;
    let &TopkArgs { rounds, proxy_share, delta, bound, audit, from_factors, .. } = arguments;
    let share = proxy_share.unwrap_or(PROXY_SHARE);
    let lists = Lists { k, rescore: rerank, budget, approximate: false };
    match mode(arguments)? {
        Mode::Factors | Mode::Rerank => matrix::top_k(invocation, lists),
        Mode::Index => matrix::top_k(invocation, Lists { approximate: true, ..lists }),
        Mode::Search => {
            let per_item = calls_per_item.ok_or_else(|| lacks(Mode::Search, "--calls-per-item CALLS"))?;
            let candidates = arguments.candidates.clone();
            let calls = Calls::in_rounds(k, per_item, rounds.unwrap_or(ROUNDS), share, candidates)?;
            matrix::top_k_by_calls(invocation, &calls, budget, dry_run)
        }
        Mode::Exact => matrix::top_k_by_calls(invocation, &Calls::Proven(k), budget, dry_run),
        Mode::Recall => {
            let target = target_recall.ok_or_else(|| lacks(Mode::Recall, "--target-recall RECALL"))?;
            let (delta, is_strict) = (delta.unwrap_or(DELTA), bound == Some(StatedBound::Strict));
            let wanted =
                Recalled { k, target, delta, is_strict, audit, from_factors, calls_per_item, share, budget, dry_run };
            matrix::top_k_with_recall(invocation, &wanted)
        }
    }
}

/// The mode, after a check that every number belongs to it.
fn mode(arguments: &TopkArgs) -> Result<Mode> {
    let TopkArgs { rerank, calls_per_item, target_recall, budget, dry_run, from_factors, audit, .. } = arguments;
    let TopkArgs { rounds, proxy_share, delta, bound, .. } = arguments;
    let implied = match (target_recall, calls_per_item, rerank) {
        (Some(_), ..) => Mode::Recall,
        (_, Some(_), _) => Mode::Search,
        (.., Some(_)) => Mode::Rerank,
        _ => Mode::Factors,
    };
    let mode = arguments.mode.unwrap_or(implied);
    let calling = [Mode::Search, Mode::Recall, Mode::Exact];
    let options: [(&str, bool, &[Mode]); 12] = [
        ("--rerank", rerank.is_some(), &[Mode::Rerank]),
        ("--calls-per-item", calls_per_item.is_some(), &[Mode::Search, Mode::Recall]),
        ("--target-recall", target_recall.is_some(), &[Mode::Recall]),
        ("--budget", budget.is_some(), &[Mode::Rerank, Mode::Search, Mode::Recall, Mode::Exact]),
        ("--dry-run", *dry_run, &calling),
        ("--rounds", rounds.is_some(), &[Mode::Search]),
        ("--candidates", arguments.candidates.is_some(), &[Mode::Search]),
        ("--proxy-share", proxy_share.is_some(), &[Mode::Search, Mode::Recall]),
        ("--delta", delta.is_some(), &[Mode::Recall]),
        ("--bound", bound.is_some(), &[Mode::Recall]),
        ("--audit", audit.is_some(), &[Mode::Recall]),
        ("--from-factors", *from_factors, &[Mode::Recall]),
    ];
    if let Some((option, _, modes)) = options.iter().find(|(_, given, modes)| *given && !modes.contains(&mode)) {
        let modes: Vec<String> = modes.iter().map(|mode| format!("`{}`", name(*mode))).collect();
        let message = format!("cannot use `{option}` in the mode `{}`", name(mode));
        let help = format!("leave it out, or use the mode {}", modes.join(" or "));
        return Err(UsageError::new(message, Some(help)).into());
    }
    if mode == Mode::Rerank && rerank.is_none() {
        return Err(lacks(mode, "--rerank ITEMS").into());
    }
    Ok(mode)
}

/// A mode whose number was not given.
fn lacks(mode: Mode, option: &str) -> UsageError {
    UsageError::new(format!("the mode `{}` requires a number", name(mode)), Some(format!("add `{option}`")))
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Factors => "factors",
        Mode::Rerank => "rerank",
        Mode::Index => "index",
        Mode::Search => "search",
        Mode::Recall => "recall",
        Mode::Exact => "exact",
    }
}

#[cfg(test)]
mod tests {
    use super::{mode, name};
    use crate::cli::{Cli, Command, TopkArgs, UserDataCommand};
    use clap::FromArgMatches as _;

    fn arguments(words: &str) -> TopkArgs {
        let words = format!("landmark topk c.yaml {words}");
        let matches = Cli::parser(true).try_get_matches_from(words.split_whitespace()).unwrap();
        match Cli::from_arg_matches(&matches).unwrap().command {
            Some(Command::UserData(UserDataCommand::Topk(arguments))) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_numbers_of_topk_imply_its_mode() {
        for (words, wanted) in [
            ("", "factors"),
            ("--rerank 20 --budget 100", "rerank"),
            ("--calls-per-item 5 --rounds 2 -n", "search"),
            ("--target-recall 0.9 --calls-per-item 50 --delta 0.2", "recall"),
            ("--mode exact -n", "exact"),
            ("--mode index", "index"),
        ] {
            assert_eq!(name(mode(&arguments(words)).unwrap()), wanted, "{words}");
        }
    }

    #[test]
    fn a_number_of_another_mode_is_refused_with_the_modes_that_take_it() {
        for (words, option, modes) in [
            ("--dry-run", "--dry-run", "`search` or `recall` or `exact`"),
            ("--budget 5", "--budget", "`rerank` or `search` or `recall` or `exact`"),
            ("--rerank 20 --calls-per-item 5", "--rerank", "`rerank`"),
            ("--target-recall 0.9 --rounds 2", "--rounds", "`search`"),
            ("--mode exact --calls-per-item 5", "--calls-per-item", "`search` or `recall`"),
        ] {
            let report = mode(&arguments(words)).unwrap_err();
            let help = report.help().map(|help| help.to_string()).unwrap_or_default();
            assert!(report.to_string().contains(option) && help.ends_with(modes), "{words}: {report} {help}");
        }
        assert!(mode(&arguments("--mode rerank")).unwrap_err().to_string().contains("requires a number"));
    }
}
