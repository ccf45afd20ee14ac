//! The outcome of a run in a sentence.

use std::collections::BTreeMap;

use landmark_report::{Direction, Interval, Metric, ResultRow};

use crate::config::{Config, RetrievalConfig, Subject};
use crate::sweep::Comparison;

/// Relative errors below this are those of rounding.
const ROUNDING: f64 = 1e-12;

/// Measures that a run is summed up by, the most telling first.
const TELLING: [Metric; 9] = [
    Metric::Accuracy,
    Metric::Pearson,
    Metric::F1,
    // the uses of factors leave the diagonal out
    Metric::OffDiagonalError,
    Metric::EstimatedError,
    Metric::RelativeError,
    Metric::ConllF1,
    Metric::MeanAveragePrecision,
    Metric::RecallAt10,
];

/// The best of a run in its most telling measure, at equal entries where methods are compared at them: `Accuracy: 95.2 at best, by shift_ridge at 100 columns.`
pub(super) fn outcome(config: &Config, rows: &[ResultRow]) -> Option<String> {
    let is_told =
        |row: &&ResultRow, metric: Metric| row.metric == metric && !row.subject.is_cap && row.value.is_finite();
    let metric = TELLING.into_iter().find(|metric| rows.iter().any(|row| is_told(&row, *metric)))?;
    let told = || rows.iter().filter(|row| is_told(row, metric));
    let at_entries = told().find(|row| row.comparison == Comparison::Entries.id());
    // prefixes of the columns and other comparisons stand behind the first
    let comparison = at_entries.or_else(|| told().next()).map(|row| row.comparison.as_str())?;
    let told: Vec<&ResultRow> = told().filter(|row| row.comparison == comparison).collect();
    let mut means: BTreeMap<(&str, u64), (f64, u64)> = BTreeMap::new();
    let unit = match &config.subject {
        Subject::Matrix(matrix, _) if matrix.queries().is_some() => "calls per query",
        Subject::Matrix(matrix, _) if matrix.own_section::<RetrievalConfig>().is_some() => "calls per item",
        _ => "columns",
    };
    for row in &told {
        let mean = means.entry((&row.subject.method, row.count("columns"))).or_default();
        *mean = (mean.0 + row.value, mean.1 + 1);
    }
    let sign = if metric.spec().better == Direction::Lower { -1.0 } else { 1.0 };
    let mean = |(sum, count): (f64, u64)| sum / count as f64;
    let is_choice = means.len() > 1;
    // of equals the fewest columns
    let best = means.into_iter().reduce(|best, other| {
        let (one, two) = (sign * mean(best.1), sign * mean(other.1));
        if two > one || (two == one && other.0.1 < best.0.1) { other } else { best }
    })?;
    let ((method, size), of) = best;
    let at = if size > 0 { format!(" at {size} {unit}") } else { String::new() };
    let head = metric.head();
    let mut letters = head.chars();
    let head: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let by = if is_choice { "at best, by" } else { "by" };
    let at_equal = if at_entries.is_some() { " at equal entries" } else { "" };
    let is_error = matches!(metric, Metric::OffDiagonalError | Metric::RelativeError);
    let is_estimate = is_error || metric == Metric::EstimatedError;
    let known = match told.as_slice() {
        rows if is_error && rows.iter().all(|row| row.interval.is_none()) => "; exact, against all of K".to_owned(),
        [ResultRow { interval: Some(Interval { lower, upper }), .. }] => {
            let estimated = match &config.subject {
                Subject::Matrix(matrix, _) if is_estimate => matrix.error_estimate,
                _ => None,
            };
            let level = estimated.unwrap_or_default().level();
            format!(", {level} interval {} to {}", metric.show(*lower), metric.show(*upper))
        }
        _ => String::new(),
    };
    // an error of rounding is none
    let value = if is_error && mean(of) < ROUNDING { 0.0 } else { mean(of) };
    Some(format!("{head}{at_equal}: {} {by} {method}{at}{known}.", metric.show(value)))
}
