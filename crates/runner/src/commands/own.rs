//! The commands on one's own matrix: their arguments, as [`landmark_own`] takes them.

use std::io::{self, BufRead, IsTerminal};

use landmark_harness::invocation::Invocation;
use landmark_harness::recorded::CommandRecord;
use landmark_harness::run::{Ended, RunOptions};
use landmark_own::own_data::export::Form;
use landmark_own::{
    self as matrix, Calls, InitWanted, LabelColumns, ListedPairs, Lists, Queries, Recalled, ScoreKind, Scoring, Wanted,
};
use miette::{IntoDiagnostic, Result};

use crate::catalogue;
use crate::cli::{
    ExportForm, LogArgs, OverlayArgs, OwnArgs, OwnCommand, RecallArgs, ScoreName, ScoringArgs, StatedBound,
};
use crate::exit::Exit;
use crate::output::Answer;

/// Does one of them.
pub(super) fn own(command: OwnCommand, log: LogArgs) -> Result<Exit> {
    let record = CommandRecord::default();
    let at = |arguments: &OwnArgs| invocation(arguments, log).recorded_in(&record);
    let whole = |text: String| (text, Ended::Done);
    let (text, ended) = match command {
        OwnCommand::Init { file, score, out, id, text, label, command, model, url, key, landmarks, force, places } => {
            let score = score.map(Into::into);
            let wanted = InitWanted { file, score, out, id, text, label, command, model, url, key, landmarks, force };
            let options = super::run::options(&OverlayArgs::default(), &places, log);
            let options = RunOptions { record: record.clone(), ..options };
            whole(matrix::init(&wanted, &options, catalogue::catalogue(), &mut ask)?)
        }
        OwnCommand::Pairs { config, file, first, second, against, rescore, budget, out, overlay, places } => {
            let invocation = Invocation { out, ..super::run::invocation(&config, &overlay, &places, log) };
            let invocation = invocation.recorded_in(&record);
            matrix::pairs(&invocation, &ListedPairs { file, first, second, against, rescore, budget })?
        }
        OwnCommand::Project { config, items, embeddings, k, overlay, places } => {
            let invocation = super::run::invocation(&config, &overlay, &places, log).recorded_in(&record);
            whole(matrix::project(&invocation, &items, embeddings.as_deref(), k)?)
        }
        OwnCommand::Topk {
            k,
            budget,
            target_recall: Some(target),
            recall,
            calls_per_item,
            share,
            dry_run,
            own,
            ..
        } => {
            let RecallArgs { delta, bound, audit, from_factors } = recall;
            let is_strict = bound == StatedBound::Strict;
            let wanted =
                Recalled { k, target, delta, is_strict, audit, from_factors, calls_per_item, share, budget, dry_run };
            matrix::top_k_with_recall(&at(&own), &wanted)?
        }
        OwnCommand::Topk {
            k,
            rescore,
            budget,
            approximate,
            ef,
            calls_per_item,
            rounds,
            share,
            exact,
            dry_run,
            own,
            ..
        } => match Calls::of(k, calls_per_item, (rounds, share), exact)? {
            Some(calls) => matrix::top_k_by_calls(&at(&own), &calls, budget, dry_run)?,
            None if dry_run => return Err(matrix::no_dry_run()),
            None => matrix::top_k(&at(&own), Lists { k, rescore, budget, approximate: approximate.then_some(ef) })?,
        },
        OwnCommand::Search { queries, embeddings, calls, k, dry_run, own } => {
            let asked = Queries { file: &queries, embeddings: embeddings.as_deref(), calls, k, dry_run };
            whole(matrix::search(&at(&own), asked)?)
        }
        OwnCommand::Mine { pairs, at_least, scoring, own } => {
            matrix::mine(&at(&own), Wanted::of(pairs, at_least, scoring.into())?)?
        }
        OwnCommand::Dedupe { at_least, scoring, own } => {
            matrix::dedupe(&at(&own), Wanted::of(Some(usize::MAX), Some(at_least), scoring.into())?)?
        }
        OwnCommand::Cluster { pivots: true, at_least: Some(at_least), budget, own, .. } => {
            matrix::cluster_by_pivots(&at(&own), at_least, budget)?
        }
        OwnCommand::Cluster { clusters, own, .. } => whole(matrix::cluster(&at(&own), clusters)?),
        OwnCommand::Classify { labels, id, label, split, own } => {
            let columns = LabelColumns { id: id.as_deref(), label: &label, split: split.as_deref() };
            whole(matrix::classify(&at(&own), &labels, columns)?)
        }
        OwnCommand::Export { to, own } => whole(matrix::export(&at(&own), to.into())?),
    };
    record.fact("ended", format!("{ended:?}"));
    Answer::recorded(text, &record).print(log).into_diagnostic()?;
    Ok(ended.into())
}

fn invocation(arguments: &OwnArgs, log: LogArgs) -> Invocation {
    let OwnArgs { config, out, overlay, places } = arguments;
    Invocation { out: out.clone(), ..super::run::invocation(config, overlay, places, log) }
}

/// Asks in a terminal: an answer by its name or number. Nothing where nobody sits there.
fn ask(question: &str, choices: &[(&str, &str)]) -> Option<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    eprintln!("{question}");
    choices.iter().zip(1..).for_each(|((name, what), number)| eprintln!("  {number} {name}: {what}"));
    eprint!("> ");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
    let answer = line.trim();
    let by_number = answer.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    Some(by_number.map_or_else(|| answer.to_owned(), |(name, _)| (*name).to_owned()))
}

impl From<ScoreName> for ScoreKind {
    fn from(name: ScoreName) -> Self {
        match name {
            ScoreName::Program => Self::Program,
            ScoreName::CrossEncoder => Self::CrossEncoder,
            ScoreName::Wmd => Self::Wmd,
            ScoreName::Rerank => Self::Rerank,
            ScoreName::Chat => Self::Chat,
            ScoreName::Matrix => Self::Matrix,
        }
    }
}

impl From<ExportForm> for Form {
    fn from(form: ExportForm) -> Self {
        match form {
            ExportForm::Npy => Self::Npy,
            ExportForm::Arrow => Self::Arrow,
            ExportForm::SentenceTransformers => Self::SentenceTransformers,
            ExportForm::Spreadsheet => Self::Spreadsheet,
        }
    }
}

impl From<ScoringArgs> for Scoring {
    fn from(arguments: ScoringArgs) -> Self {
        let ScoringArgs { rescore, target_recall, delta, budget, dry_run } = arguments;
        Self { rescore, target_recall, delta, budget, dry_run }
    }
}
