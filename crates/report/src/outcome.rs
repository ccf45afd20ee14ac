//! Outcome in a sentence: how many claims hold, and how many published numbers stand beside ours.

use crate::claims::claims_sentence;
use crate::input::ReportInput;
use crate::table::{Block, Table};
use crate::verdict::Verdict;

/// The sentence, or nothing where there is neither a claim nor a published number.
pub(super) fn sentence(input: &ReportInput<'_>, tables: &[Table]) -> Option<String> {
    let parts: Vec<String> = claims_sentence(&input.claims).into_iter().chain(numbers(tables)).collect();
    (!parts.is_empty()).then(|| parts.join(". ") + ".")
}

/// `Of 12 published numbers beside ours 9 are within, 1 better, 2 worse; 4 can't be held against ours, 30 were not run`.
fn numbers(tables: &[Table]) -> Option<String> {
    // differences between our own methods have words of their own in other tables: only comparisons with a paper count
    let is_comparison = |block: &&Block| block.head.iter().any(|head| head.text.starts_with("paper "));
    let blocks = || tables.iter().flat_map(|table| &table.blocks).filter(is_comparison);
    let words =
        || blocks().flat_map(|block| &block.lines).filter_map(|line| line.last()).map(|cell| cell.text.as_str());
    let count = |verdict: &Verdict| words().filter(|word| *word == verdict.word()).count();
    let verdicts = [Verdict::Within, Verdict::Even, Verdict::Better, Verdict::Worse, Verdict::Different];
    let counts: Vec<(usize, &str)> = verdicts.iter().map(|verdict| (count(verdict), verdict.word())).collect();
    let beside: usize = counts.iter().map(|(count, _)| count).sum();
    let apart = count(&Verdict::NotComparable(Vec::new()));
    let not_run: usize = blocks().map(|block| block.folded.len()).sum();
    let listed: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let mut text = match beside {
        0 => "No published number can be held against ours".to_owned(),
        1 => format!("One published number stands beside ours: {}", listed.join(", ")),
        n => format!("Of {n} published numbers beside ours: {}", listed.join(", ")),
    };
    if apart > 0 {
        text += &format!("; {apart} {} not comparable", if apart == 1 { "is" } else { "are" });
    }
    if not_run > 0 {
        text += &format!("; {not_run} {} not run", if not_run == 1 { "was" } else { "were" });
    }
    (beside + apart + not_run > 0).then_some(text)
}
