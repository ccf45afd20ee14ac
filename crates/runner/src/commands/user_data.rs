//! The commands on a user's own items: their arguments, as [`landmark_own`] takes them.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use landmark_harness::invocation::Invocation;
use landmark_harness::recorded::CommandRecord;
use landmark_harness::run::{Ended, RunOptions};
use landmark_own::own_data::export::Form;
use landmark_own::{
    self as matrix, Candidates, InitWanted, LabelColumns, ListedPairs, Queries, ScoreKind, Truth, Wanted,
};
use miette::Result;

use crate::cli::{
    ExampleName, ExportForm, FinishedRunArgs, LogArgs, OverlayArgs, PairArgs, ScoreName, UserDataCommand,
};
use crate::exit::Exit;
use crate::output::Answer;
use crate::registry;

pub(super) fn user_data(command: UserDataCommand, log: LogArgs) -> Result<(Answer, Exit)> {
    let record = CommandRecord::default();
    let at = |arguments: &FinishedRunArgs| invocation(arguments, log).recorded_in(&record);
    let whole = |text: String| (text, Ended::Done);
    let (text, ended) = match command {
        UserDataCommand::Init { example: Some(ExampleName::Quickstart), force, .. } => {
            let files = matrix::write_example(Path::new("."), force)?;
            files.iter().for_each(|file| record.file(file));
            whole("wrote quickstart.yaml, records.yaml and records.tsv; next: landmark quickstart.yaml\n".to_owned())
        }
        UserDataCommand::Init {
            file,
            example: _,
            score,
            out,
            id,
            text,
            label,
            command,
            model,
            url,
            key,
            landmarks,
            force,
            places,
        } => {
            let score = score.map(Into::into);
            let file = file.unwrap_or_default();
            let wanted = InitWanted { file, score, out, id, text, label, command, model, url, key, landmarks, force };
            let options = super::run::options(&OverlayArgs::default(), &places, log);
            let options = RunOptions { record: record.clone(), ..options };
            whole(matrix::init(&wanted, &options, registry::registry(), &mut ask)?)
        }
        UserDataCommand::Pairs { config, file, first, second, against, evaluate, budget, out, overlay, places } => {
            let invocation = Invocation { out, ..super::run::invocation(&config, &overlay, &places, log) };
            let invocation = invocation.recorded_in(&record);
            matrix::pairs(&invocation, &ListedPairs { file, first, second, against, rescore: evaluate, budget })?
        }
        UserDataCommand::Audit {
            config,
            candidates: file,
            at_least,
            k,
            first,
            second,
            calls,
            delta,
            dry_run,
            overlay,
            places,
        } => {
            let invocation = super::run::invocation(&config, &overlay, &places, log).recorded_in(&record);
            // clap sees to it that one of them is given
            let truth = at_least.map_or(Truth::Nearest(k.unwrap_or(1)), Truth::AtLeast);
            let candidates = Candidates { file, columns: (first, second), truth, delta, calls, dry_run };
            matrix::audit(&invocation, &candidates)?
        }
        UserDataCommand::Project { config, items, embeddings, k, overlay, places } => {
            let invocation = super::run::invocation(&config, &overlay, &places, log).recorded_in(&record);
            whole(matrix::project(&invocation, &items, embeddings.as_deref(), k)?)
        }
        UserDataCommand::Topk(arguments) => super::topk::topk(&at(&arguments.run), &arguments)?,
        UserDataCommand::Search { queries, embeddings, calls_per_query, k, dry_run, run } => {
            let asked =
                Queries { file: &queries, embeddings: embeddings.as_deref(), calls: calls_per_query, k, dry_run };
            whole(matrix::search(&at(&run), asked)?)
        }
        UserDataCommand::Mine(PairArgs {
            pairs,
            at_least,
            groups,
            rerank,
            target_recall,
            delta,
            budget,
            dry_run,
            run,
        }) => {
            let target = target_recall.map(|recall| matrix::target(recall, delta)).transpose()?;
            let pairs = if groups { Some(usize::MAX) } else { pairs };
            let wanted = Wanted { pairs, at_least, rescore: rerank, target, budget, dry_run };
            if groups { matrix::groups(&at(&run), wanted)? } else { matrix::mine(&at(&run), wanted)? }
        }
        UserDataCommand::Cluster { pivots: true, at_least: Some(at_least), budget, run, .. } => {
            matrix::cluster_by_pivots(&at(&run), at_least, budget)?
        }
        UserDataCommand::Cluster { clusters, run, .. } => whole(matrix::cluster(&at(&run), clusters)?),
        UserDataCommand::Classify { labels, id, label, split, run } => {
            let columns = LabelColumns { id: id.as_deref(), label: &label, split: split.as_deref() };
            whole(matrix::classify(&at(&run), &labels, columns)?)
        }
        UserDataCommand::Export { to, run } => whole(matrix::export(&at(&run), to.into())?),
    };
    record.fact("ended", format!("{ended:?}"));
    Ok((Answer::recorded(text, &record), ended.into()))
}

fn invocation(arguments: &FinishedRunArgs, log: LogArgs) -> Invocation {
    let FinishedRunArgs { config, out, overlay, places } = arguments;
    Invocation { out: out.clone(), ..super::run::invocation(config, overlay, places, log) }
}

/// Asks in a terminal: an answer by its name or number. `None` without a terminal.
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
            ScoreName::String => Self::String,
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
            ExportForm::Parquet => Self::Parquet,
            ExportForm::SentenceTransformers => Self::SentenceTransformers,
            ExportForm::Spreadsheet => Self::Spreadsheet,
        }
    }
}
