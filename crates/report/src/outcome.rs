//! Outcome in a sentence: how many claims hold, and how many published numbers stand next to ours.

use serde::{Deserialize, Serialize};

use crate::claims::claims_sentence;
use crate::input::ReportInput;
use crate::table::Table;

/// Published numbers next to ours by verdict: what `run.json` keeps of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerdictCounts {
    /// Differences that the spread explains.
    pub within: u64,
    /// Differences below the printed digit.
    pub even: u64,
    pub better: u64,
    pub worse: u64,
    /// Ours differs, and neither side is good.
    pub different: u64,
    /// The two numbers do not measure the same thing.
    pub not_comparable: u64,
    /// The run has no such number.
    pub not_run: u64,
}

impl VerdictCounts {
    /// Each with its words in a table.
    pub fn named(&self) -> [(u64, &'static str); 7] {
        [
            (self.within, "within"),
            (self.even, "even"),
            (self.better, "better"),
            (self.worse, "worse"),
            (self.different, "different"),
            (self.not_comparable, "not comparable"),
            (self.not_run, "not run"),
        ]
    }

    /// `12 within, 3 better`; empty where there are none.
    pub fn in_words(&self) -> String {
        let listed = self.named().into_iter().filter(|(count, _)| *count > 0);
        listed.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// The sentence, or nothing where there is neither a claim nor a published number.
pub(super) fn sentence(input: &ReportInput<'_>, tables: &[Table]) -> Option<String> {
    let parts: Vec<String> = claims_sentence(&input.claims).into_iter().chain(numbers(tables)).collect();
    (!parts.is_empty()).then(|| parts.join(". ") + ".")
}

/// `Of 12 published numbers next to ours: 9 within, 1 better, 2 worse; 4 are not comparable; 30 were not run`.
fn numbers(tables: &[Table]) -> Option<String> {
    let counts = verdict_counts(tables);
    let VerdictCounts { not_comparable: apart, not_run, .. } = counts;
    let compared = VerdictCounts { not_comparable: 0, not_run: 0, ..counts };
    let compared_count: u64 = compared.named().iter().map(|(count, _)| count).sum();
    let listed = compared.in_words();
    let mut text = match compared_count {
        0 => "No published number can be compared with ours".to_owned(),
        1 => format!("One published number is next to ours: {listed}"),
        n => format!("Of {n} published numbers next to ours: {listed}"),
    };
    if apart > 0 {
        text += &format!("; {apart} {} not comparable", if apart == 1 { "is" } else { "are" });
    }
    if not_run > 0 {
        text += &format!("; {not_run} {} not run", if not_run == 1 { "was" } else { "were" });
    }
    (compared_count + apart + not_run > 0).then_some(text)
}

/// Verdicts of all comparisons with the paper, by the cells that hold them.
pub(super) fn verdict_counts(tables: &[Table]) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    let blocks = tables.iter().flat_map(|table| &table.blocks);
    let cells = blocks.flat_map(|block| block.lines.iter().chain(&block.folded)).flatten();
    for verdict in cells.filter_map(|cell| cell.verdict.as_ref()) {
        *verdict.count_in(&mut counts) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn verdicts_are_counted_by_what_cells_hold_and_not_by_their_words() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let input = fixture::input(&rows, &reference);
        let mut tables: Vec<Table> = input.tables.iter().map(|spec| Table::build(spec, &input).unwrap()).collect();
        let counts = verdict_counts(&tables);
        assert!(counts != VerdictCounts::default(), "the fixture compares with a paper");
        let sentence = sentence(&input, &tables);
        for cell in tables.iter_mut().flat_map(|table| &mut table.blocks).flat_map(|block| &mut block.lines).flatten() {
            cell.text = "better".to_owned();
        }
        for head in tables.iter_mut().flat_map(|table| &mut table.blocks).flat_map(|block| &mut block.head) {
            head.text = "another language".to_owned();
        }
        assert_eq!((verdict_counts(&tables), super::sentence(&input, &tables)), (counts, sentence));
    }
}
