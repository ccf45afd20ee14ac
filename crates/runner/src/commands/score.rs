//! `landmark score`: predictions against gold, as the official scorer of a task prints them.

use std::path::Path;

use landmark_data::conll::{ConllDocument, ConllFile, RepeatedMention, Span};
use landmark_data::relevancy::Judgments;
use landmark_tasks::coreference::{PrecisionRecall, Singletons, score_coreference};
use landmark_tasks::ranking::{self, score_ranking};
use miette::{IntoDiagnostic, Result};
use serde_json::{Value as Json, json};

use crate::cli::{ScoreArgs, ScoreTask};
use crate::exit::UsageError;
use crate::output::{self, Answer};

pub(super) fn score(arguments: &ScoreArgs) -> Result<Answer> {
    let ScoreArgs { task, gold, predictions, keep_singletons } = arguments;
    match (task, keep_singletons) {
        (ScoreTask::Cqa, false) => cqa(gold, predictions),
        (ScoreTask::Cqa, true) => {
            let help = "leave out `--keep-singletons`".to_owned();
            Err(UsageError::new("cannot keep singletons in `cqa`: only `coref` has clusters", Some(help)).into())
        }
        (ScoreTask::Coref, &keep_singletons) => coref(gold, predictions, keep_singletons),
    }
}

/// MAP and AvgRec as fractions, the others in per cent, with the decimals of the official table.
fn cqa(gold: &Path, predictions: &Path) -> Result<Answer> {
    let gold = Judgments::read(gold).map_err(UsageError::of)?;
    let predictions = Judgments::read(predictions).map_err(UsageError::of)?;
    let questions: Vec<Vec<ranking::Answer>> = gold
        .joined_with(&predictions)
        .map_err(UsageError::of)?
        .into_iter()
        .map(|comments| {
            let answer = |judged: landmark_data::relevancy::Judged| ranking::Answer {
                score: judged.score,
                predicted: judged.predicted,
                relevant: judged.relevant,
            };
            comments.into_iter().map(answer).collect()
        })
        .collect();
    let scores = score_ranking(&questions).into_diagnostic()?;
    let text = format!(
        "MAP     {:.4}\nAvgRec  {:.4}\nMRR     {:.4}\nP       {:.4}\nR       {:.4}\nF1      {:.4}\nAcc     {:.4}\n{} questions, {} comments\n",
        scores.map,
        scores.avg_rec,
        100.0 * scores.mrr,
        scores.precision,
        scores.recall,
        scores.f1,
        scores.accuracy,
        scores.questions,
        scores.answers
    );
    Ok(Answer::new(text, serde_json::to_value(scores).into_diagnostic()?))
}

/// The table that the reference scorers print: per cent with two decimals.
fn coref(key: &Path, response: &Path, keep_singletons: bool) -> Result<Answer> {
    let (key, response) =
        (ConllFile::read(key).map_err(UsageError::of)?, ConllFile::read(response).map_err(UsageError::of)?);
    for (name, file) in [("key", &key), ("response", &response)] {
        warn_of_repetitions(name, file);
    }
    let pairs = key.paired_with(&response).map_err(UsageError::of)?;
    let clusters = |document: &ConllDocument| -> Vec<Vec<Span>> {
        document.clusters.iter().map(|(_, mentions)| mentions.clone()).collect()
    };
    let documents: Vec<_> = pairs.iter().map(|(key, response)| (clusters(key), clusters(response))).collect();
    let documents: Vec<_> = documents.iter().map(|(key, response)| (&key[..], &response[..])).collect();
    let singletons = if keep_singletons { Singletons::Keep } else { Singletons::Drop };
    let scores = score_coreference(&documents, singletons).into_diagnostic()?;
    let repeated = |file: &ConllFile| {
        let one = |one: &RepeatedMention| {
            json!({
                "document": one.document, "first_word": one.span.start, "last_word": one.span.end, "kept_in": one.kept, "dropped_from": one.dropped,
                "line": one.line,
            })
        };
        file.repeated().iter().map(one).collect::<Json>()
    };
    let mut result = serde_json::to_value(scores).into_diagnostic()?;
    result["singletons"] = json!(keep_singletons);
    result["repeated"] = json!({ "key": repeated(&key), "response": repeated(&response) });
    let row = |(name, score): (&str, PrecisionRecall)| {
        let percent = |share: f64| 100.0 * share;
        let (recall, precision, f1) = (percent(score.recall), percent(score.precision), percent(score.f1));
        format!("{name:<10}{recall:>10.2}{precision:>11.2}{f1:>10.2}\n")
    };
    let rows: String = [
        ("mentions", scores.mentions),
        ("muc", scores.muc),
        ("bcub", scores.b_cubed),
        ("ceafm", scores.ceaf_m),
        ("ceafe", scores.ceaf_e),
        ("blanc", scores.blanc),
        ("lea", scores.lea),
    ]
    .into_iter()
    .map(row)
    .collect();
    let text = format!(
        "{:<10}{:>10}{:>11}{:>10}\n{rows}CoNLL score: {:.2}\nkey: {} mentions in {} clusters, response: {} in {}, singletons {}\n",
        "",
        "recall",
        "precision",
        "F1",
        100.0 * scores.conll,
        scores.key_mentions,
        scores.key_clusters,
        scores.response_mentions,
        scores.response_clusters,
        if keep_singletons { "kept" } else { "dropped" }
    );
    Ok(Answer::new(text, result))
}

/// Repetitions that are listed one by one.
const LISTED: usize = 20;

/// Names the mentions that are dropped as the reference scorer drops them, so that all can be removed from the file at once.
fn warn_of_repetitions(name: &str, file: &ConllFile) {
    let repeated = file.repeated();
    for one in repeated.iter().take(LISTED) {
        output::note(&format!("warning: {name}, {one}"));
    }
    if repeated.len() > LISTED {
        output::note(&format!("warning: {name}: {} more repeated mentions are dropped", repeated.len() - LISTED));
    }
}
