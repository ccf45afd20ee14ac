//! Outcome in a sentence: how many claims hold, and how many published numbers stand next to ours.

use crate::claims::claims_sentence;
use crate::input::ReportInput;
use crate::table::Table;
use crate::verdict::VerdictCounts;

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
