//! The table of the factors, and notes on them.

use landmark_harness::config::matrix::MatrixSubject;
use landmark_harness::experiment::FinishedRun;
use landmark_harness::layout::Layout;
use landmark_report::amounts::counted;
use landmark_report::{Interval, Metric, ResultRow, TableKind, TableSpec};

use super::{FACTORS, POOR, page, statement};
use crate::factors::Factors;

pub(super) fn layout(run: &FinishedRun<'_>) -> Layout {
    let FinishedRun { matrix, facts, rows, .. } = *run;
    let find = |metric: Metric| rows.iter().find(|row| row.metric == metric);
    let Some(first) = rows.first() else { return Layout::default() };
    let is_given = facts.is_given;
    let mut lines = vec![
        line("items", &first.subject.items.to_string()),
        line("method", &first.subject.method),
        line("landmarks", &find(Metric::Rank).map_or(0.0, |row| row.value).to_string()),
        line(
            if is_given {
                "entries of the matrix that the fit reads"
            } else if facts.calls.is_some_and(|calls| calls.fit_has_estimate) {
                "evaluations, with those of the error estimate"
            } else {
                "evaluations, without those of the error estimate"
            },
            &first.cost.evaluations.to_string(),
        ),
    ];
    if let Some(price) = matrix.budget.price(first.cost.evaluations) {
        lines.push(line("their price", &format!("{price:.2}")));
    }
    let with_known = find(Metric::ErrorWithKnown);
    let of_files = find(Metric::EstimatedError).or_else(|| find(Metric::RelativeError));
    let name = if with_known.is_some() {
        "relative error of the factors in the files, all entries"
    } else {
        "relative error, all entries"
    };
    let errors = [
        ("relative error off the diagonal", find(Metric::OffDiagonalError)),
        (name, of_files),
        ("relative error with what is in no file: known entries, a corrected diagonal", with_known),
        ("relative error of the entries that were not evaluated", find(Metric::UnevaluatedError)),
    ];
    for (name, row) in errors.into_iter().filter_map(|(name, row)| Some((name, row?))) {
        let interval = match row.interval {
            Some(Interval { lower, upper }) => format!(" ({lower:.4} to {upper:.4})"),
            None => " (exact)".to_owned(),
        };
        lines.push(line(name, &format!("{:.4}{interval}", row.value)));
    }
    let agreement = [
        (
            "relative error of large scores, the top 1 % of sampled entries that were not evaluated",
            Metric::LargeScoreError,
        ),
        ("correlation with the score at the same entries", Metric::ScoreCorrelation),
    ];
    for (name, row) in agreement.into_iter().filter_map(|(name, metric)| Some((name, find(metric)?))) {
        lines.push(line(name, &format!("{:.4}", row.value)));
    }
    lines.push(line("factors", &format!("{FACTORS}/")));
    let table = TableSpec::new(
        "table-factors",
        "The factors",
        caption(is_given, find(Metric::OffDiagonalError), &error_level(matrix)),
        TableKind::plain(&["", ""], [1], lines),
    );
    let failed = Factors::peek(&facts.folder.join(FACTORS)).map_or(0, |info| info.failed_pairs);
    let mut notes = Vec::new();
    let estimate = find(Metric::EstimatedError).map(|row| row.value);
    if let (Some(target), Some(estimate)) = (matrix.target_error, estimate)
        && estimate > target
    {
        notes.push(format!(
            "the relative error is {estimate:.4} and not the {target} that `target_error` asks for: `ranks` ends too early, or the method \
             cannot reach it on this matrix"
        ));
    }
    if let Some(row) = find(Metric::OffDiagonalError).filter(|row| row.value >= POOR) {
        notes.push(format!(
            "the factors miss {:.0} % of the norm of K off the diagonal: what is made from them is a list of candidates. More landmarks or a proxy \
             bring more; `topk --calls-per-item` asks the score itself",
            100.0 * row.value
        ));
    }
    if find(Metric::LargeScoreError).is_some() && find(Metric::ScoreCorrelation).is_none() {
        notes.push(
            "all sampled scores are the same, or the factors give the same for all of them: a small error then shows nothing about which items are similar. \
             Look at the score of a few pairs (`landmark score`)"
                .to_owned(),
        );
    }
    if failed > 0 {
        notes.push(format!(
            "{} could not be scored and got the score of `oracle.failed_pairs`",
            counted(failed, "pair")
        ));
    }
    let tables = std::iter::once(table).chain(statement::table(&facts.folder)).collect();
    Layout { tables, notes, matrix: page::page(run), ..Layout::default() }
}

/// Level of the intervals of estimated errors, in words.
pub(super) fn error_level(matrix: &MatrixSubject) -> String {
    matrix.error_estimate.unwrap_or_default().level()
}

/// Caption of the table: from what the error is known.
fn caption(is_given: bool, error: Option<&ResultRow>, level: &str) -> String {
    let from = match error {
        Some(row) if row.interval.is_some() => {
            format!(" with its {level} interval, from entries evaluated for the purpose")
        }
        Some(_) if is_given => " against every entry of the matrix, which is given".to_owned(),
        Some(_) => " against all of K, which was evaluated".to_owned(),
        None => String::new(),
    };
    let evaluations = if is_given { "" } else { " Evaluations are those of an empty store." };
    format!(
        "The relative error is ‖K − K̃‖_F / ‖K‖_F{from}; neighbors, pairs and clusters leave the diagonal out.{evaluations}"
    )
}

fn line(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), value.to_owned()]
}
