//! The last words of a run: what came out, in a sentence, and what to do next, in another.

use std::collections::BTreeMap;

use landmark_report::{Direction, Interval, Metric, ResultRow};

use crate::config::{RetrievalConfig, Config, Subject};
use crate::sweep::Comparison;

/// Lines of a table that a terminal shows; the files hold all of them.
const LINES: usize = 10;

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
        Subject::Matrix(matrix, _) if matrix.queries().is_some() => "calls a query",
        Subject::Matrix(matrix, _) if matrix.own_section::<RetrievalConfig>().is_some() => "calls an item",
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

/// What to do next.
pub(super) fn next_step(config: &Config, page: &str) -> String {
    let is_own = config.run.paper.is_none();
    match &config.subject {
        Subject::Matrix(matrix, _)
            if !matrix.experiment.makes_factors() && is_own && matrix.dataset.texts().is_some() =>
        {
            format!("Next: look at `{page}`; one method alone with `experiment: own_data` leaves its factors in files.")
        }
        _ => format!("Next: look at `{page}`."),
    }
}

/// A summary as a terminal shows it: the first lines of each table, and how many more there are.
pub(super) fn shortened(summary: &str, file: &str) -> String {
    let (mut out, mut in_table) = (String::new(), 0_usize);
    let close = |out: &mut String, in_table: usize| {
        // a head and a rule stand above the lines
        let hidden = in_table.saturating_sub(LINES + 2);
        if hidden > 0 {
            *out += &format!("… {hidden} more in `{file}`\n");
        }
    };
    for line in summary.lines() {
        if line.starts_with('|') {
            in_table += 1;
            if in_table > LINES + 2 {
                continue;
            }
        } else {
            close(&mut out, std::mem::take(&mut in_table));
        }
        out += line;
        out.push('\n');
    }
    close(&mut out, in_table);
    out
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_terminal_shows_ten_lines_of_a_table() {
        let table = |lines: usize| {
            let body: String = (0..lines).map(|line| format!("| {line} |\n")).collect();
            format!("# title\n\n| a |\n|---|\n{body}\nafter\n")
        };
        assert_eq!(shortened(&table(10), "summary.md"), table(10));
        let long = shortened(&table(13), "summary.md");
        assert!(long.contains("| 9 |\n… 3 more in `summary.md`\n\nafter\n") && !long.contains("| 10 |"), "{long}");
    }
}
