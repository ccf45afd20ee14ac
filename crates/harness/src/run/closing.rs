//! The last words of a run: what came out, in a sentence, and what to do next, in another.

use std::collections::BTreeMap;

use landmark_report::{Direction, Metric, ResultRow};

use crate::config::{Config, Subject};

/// Lines of a table that a terminal shows; the files hold all of them.
const LINES: usize = 10;

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

/// The best of a run in its most telling measure: `Accuracy 95.2 at best, by shift_ridge at rank 100.`
pub(super) fn outcome(rows: &[ResultRow]) -> Option<String> {
    let metric =
        TELLING.into_iter().find(|metric| rows.iter().any(|row| row.metric == *metric && !row.subject.is_cap))?;
    let mut means: BTreeMap<(&str, u64), (f64, u64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.metric == metric && !row.subject.is_cap && row.value.is_finite()) {
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
    let ((method, columns), of) = best;
    let at = if columns > 0 { format!(" at {columns} columns") } else { String::new() };
    let head = metric.head();
    let mut letters = head.chars();
    let head: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let by = if is_choice { "at best, by" } else { "by" };
    Some(format!("{head}: {} {by} {method}{at}.", metric.show(mean(of))))
}

/// What to do next.
pub(super) fn next_step(config: &Config, page: &str) -> String {
    let is_own = config.run.paper.is_none();
    match &config.subject {
        Subject::Matrix(matrix, _)
            if !matrix.experiment.makes_factors && is_own && matrix.dataset.texts().is_some() =>
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
