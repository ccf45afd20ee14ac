//! Verdicts of runs that were published before `run.json` held their counts: read from the tables of `summary.md`.

use crate::verdict_counts::VerdictCounts;

/// Verdicts in the tables of a summary that hold a column of the paper's numbers.
pub(super) fn counts_in_summary(summary: &str) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    let mut is_comparison = false;
    for line in summary.lines() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            is_comparison = false;
        } else if cells.contains(&"verdict") {
            is_comparison = cells.iter().any(|cell| cell.starts_with("paper "));
        } else if is_comparison {
            // footnotes stand behind the word
            let last = cells.last().map_or("", |cell| cell.trim_end_matches(|c: char| !c.is_ascii_alphabetic()));
            if let Some(count) = counts.by_word(last) {
                *count += 1;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_a_summary_are_counted_where_the_paper_stands_beside_them() {
        let summary = "| method | paper accuracy (%) | ours | verdict |\n|---|---|---|---|\n| a | 1 | 2 | within |\n| b | 1 | 2 | not comparable¹˒² |\n\n\
                       | method | difference | verdict |\n|---|---|---|\n| a | 1 | better |\n";
        assert_eq!(counts_in_summary(summary).in_words(), "1 within, 1 not comparable");
        assert_eq!(counts_in_summary(""), VerdictCounts::default());
    }
}
