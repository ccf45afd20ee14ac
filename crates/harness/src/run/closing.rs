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
    let is_shown =
        |row: &&ResultRow, metric: Metric| row.metric == metric && !row.subject.is_cap && row.value.is_finite();
    let metric = TELLING.into_iter().find(|metric| rows.iter().any(|row| is_shown(&row, *metric)))?;
    let shown = || rows.iter().filter(|row| is_shown(row, metric));
    let at_entries = shown().find(|row| row.comparison == Comparison::Entries.id());
    // prefixes of the columns and other comparisons stand behind the first
    let comparison = at_entries.or_else(|| shown().next()).map(|row| row.comparison.as_str())?;
    let shown: Vec<&ResultRow> = shown().filter(|row| row.comparison == comparison).collect();
    let mut means: BTreeMap<(&str, u64), (f64, u64)> = BTreeMap::new();
    let is_retrieval = matches!(&config.subject, Subject::Matrix(matrix, _)
        if matrix.queries().is_none() && matrix.own_section::<RetrievalConfig>().is_some());
    let unit = match &config.subject {
        Subject::Matrix(matrix, _) if matrix.queries().is_some() => "calls per query",
        _ if is_retrieval => "calls per item",
        _ => "columns",
    };
    for row in &shown {
        let mean = means.entry((&row.subject.method, row.count("columns"))).or_default();
        *mean = (mean.0 + row.value, mean.1 + 1);
    }
    let sign = if metric.spec().better == Direction::Lower { -1.0 } else { 1.0 };
    let mean = |(sum, count): (f64, u64)| sum / count as f64;
    if is_retrieval
        && metric == Metric::RecallAt10
        && let Some(line) = against_reranking(&means)
    {
        return Some(line);
    }
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
    let known = match shown.as_slice() {
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

/// The search against reranking at the middle of its numbers of calls; baselines and ablations are in the table.
fn against_reranking(means: &BTreeMap<(&str, u64), (f64, u64)>) -> Option<String> {
    let sizes: Vec<u64> =
        means.keys().filter(|(method, _)| *method == RetrievalConfig::SEARCH).map(|key| key.1).collect();
    let size = *sizes.get(sizes.len() / 2)?;
    let of = |method: &'static str| means.get(&(method, size)).map(|(sum, count)| sum / *count as f64);
    let show = |value: f64| Metric::RecallAt10.show(value);
    let (search, reranking) = (of(RetrievalConfig::SEARCH)?, of(RetrievalConfig::RERANKING)?);
    Some(format!(
        "Recall@10 (%) at {size} calls per item: {} by {} (Landmark's search), {} by {}.",
        show(search),
        RetrievalConfig::SEARCH,
        show(reranking),
        RetrievalConfig::RERANKING
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_compared_with_reranking_and_no_ablation_is_named() {
        let of =
            |search, reranking, ablation| [("rounds", search), ("proxy + rescore", reranking), ("one round", ablation)];
        let sizes = [(5, of(0.5, 0.4, 0.9)), (10, of(0.6, 0.5, 0.9)), (20, of(0.7, 0.65, 0.9))];
        let means =
            sizes.iter().flat_map(|(size, of)| of.map(|(method, value)| ((method, *size), (2.0 * value, 2)))).collect();
        assert_eq!(
            against_reranking(&means).unwrap(),
            "Recall@10 (%) at 10 calls per item: 60.0 by rounds (Landmark's search), 50.0 by proxy + rescore."
        );
        assert_eq!(against_reranking(&BTreeMap::new()), None);
    }
}
