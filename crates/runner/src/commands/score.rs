//! `runner score`: predictions against gold, as the official scorer of a task prints them.

use std::path::Path;

use landmark_data::relevancy::Judgements;
use landmark_tasks::ranking::{Answer, score_ranking};
use miette::{IntoDiagnostic, Result};

use crate::cli::ScoreCommand;

/// The figures, as text.
pub(super) fn score(command: &ScoreCommand) -> Result<String> {
    match command {
        ScoreCommand::Cqa { gold, predictions } => cqa(gold, predictions),
    }
}

/// MAP and AvgRec as fractions, the others in per cent, with the decimals of the official table.
fn cqa(gold: &Path, predictions: &Path) -> Result<String> {
    let gold = Judgements::read(gold).into_diagnostic()?;
    let predictions = Judgements::read(predictions).into_diagnostic()?;
    let questions: Vec<Vec<Answer>> = gold
        .beside(&predictions)
        .into_diagnostic()?
        .into_iter()
        .map(|comments| {
            let answer = |judged: landmark_data::relevancy::Judged| Answer {
                score: judged.score,
                predicted: judged.predicted,
                relevant: judged.relevant,
            };
            comments.into_iter().map(answer).collect()
        })
        .collect();
    let scores = score_ranking(&questions).into_diagnostic()?;
    Ok(format!(
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
    ))
}
