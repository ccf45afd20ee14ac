//! Ours against the paper's: within, better, worse, or not comparable and why.
//!
//! Ours counts as within when it lies no further from the printed number than 2 published standard deviations (about the spread of the
//! paper's own runs), plus what rounding took, plus half of our own 95 % interval.

use serde::{Deserialize, Serialize};

use crate::groups::{Estimate, Group};
use crate::input::ReportInput;
use crate::reference::ReferenceValue;
use crate::results::{Direction, Metric};
use crate::spec::Caveat;

/// Outcome of a comparison with the paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The difference is explained by the spread.
    Within,
    /// The difference is below the printed digit.
    Even,
    /// Beyond it, on the good side.
    Better,
    /// Beyond it, on the bad side.
    Worse,
    /// Beyond it, where neither side is good.
    Different,
    /// The two numbers do not measure the same thing; the reasons.
    NotComparable(Vec<String>),
    /// The paper has a number, this run has none.
    NotRun,
}

impl Verdict {
    /// Compares a measured figure with a printed one.
    pub(super) fn of(metric: Metric, ours: &Estimate, paper: &ReferenceValue, caveats: &[Caveat]) -> Self {
        let of_dataset = |caveat: &&Caveat| caveat.dataset.as_ref().is_none_or(|dataset| *dataset == paper.dataset);
        let reasons: Vec<String> = caveats
            .iter()
            .filter(|caveat| caveat.breaks_comparison)
            .filter(of_dataset)
            .map(|caveat| caveat.text.clone())
            .chain(paper.not_comparable.clone())
            .collect();
        if !reasons.is_empty() {
            return Self::NotComparable(reasons);
        }
        let tolerance = 2.0 * paper.sd.unwrap_or(0.0) + paper.rounding + ours.half_width();
        let difference = ours.mean - paper.value;
        match metric.spec().better {
            _ if difference.abs() <= tolerance => Self::Within,
            // however sure it is, what the table prints as zero is no difference
            _ if metric.show_difference(difference) == metric.show_difference(0.0) => Self::Even,
            Direction::Neither => Self::Different,
            Direction::Higher if difference > 0.0 => Self::Better,
            Direction::Lower if difference < 0.0 => Self::Better,
            Direction::Higher | Direction::Lower => Self::Worse,
        }
    }

    /// True if the two numbers measure the same thing.
    pub(super) fn is_judged(&self) -> bool {
        !matches!(self, Self::NotComparable(_) | Self::NotRun)
    }

    /// Its place among counts.
    pub(super) fn count_in<'a>(&self, counts: &'a mut VerdictCounts) -> &'a mut u64 {
        match self {
            Self::Within => &mut counts.within,
            Self::Even => &mut counts.even,
            Self::Better => &mut counts.better,
            Self::Worse => &mut counts.worse,
            Self::Different => &mut counts.different,
            Self::NotComparable(_) => &mut counts.not_comparable,
            Self::NotRun => &mut counts.not_run,
        }
    }

    /// The word in the table, if the line is judged.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Even => "even",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Different => "different",
            Self::NotComparable(_) => "not comparable",
            Self::NotRun => "not run",
        }
    }
}

/// True where the paper's number is about the method, data and size of this group.
pub(super) fn applies_to(paper: &ReferenceValue, group: &Group<'_>) -> bool {
    let row = group.row;
    // a number without a comparison was taken at equal rank
    let same_comparison = match &paper.comparison {
        Some(comparison) => *comparison == row.comparison,
        None => row.comparison != "entries",
    };
    paper.dataset == row.subject.dataset
        && paper.method == row.subject.id
        && paper.metric == row.metric
        && row.subject.variant.is_empty()
        && same_comparison
        && paper.rank.is_none_or(|rank| rank == row.count("rank"))
}

/// The numbers of a reference table, if the input has it.
pub(super) fn printed<'a>(input: &'a ReportInput<'_>, table: Option<&'a str>) -> Vec<&'a ReferenceValue> {
    match (input.reference, table) {
        (Some(reference), Some(table)) => reference.table(table).collect(),
        _ => Vec::new(),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(value: f64, sd: Option<f64>) -> ReferenceValue {
        ReferenceValue {
            table: "table2".into(),
            dataset: "twitter".into(),
            method: "sms_nystrom".into(),
            comparison: None,
            rank: None,
            metric: Metric::Accuracy,
            value,
            sd,
            rounding: 0.0005,
            not_comparable: None,
        }
    }

    fn ours(mean: f64, half: f64) -> Estimate {
        Estimate { mean, sd: None, interval: Some((mean - half, mean + half)) }
    }

    #[test]
    fn within_is_two_published_deviations_and_half_our_interval() {
        let verdict = |mean| Verdict::of(Metric::Accuracy, &ours(mean, 0.01), &paper(0.75, Some(0.01)), &[]);
        assert_eq!(verdict(0.75 - 0.0304), Verdict::Within);
        assert_eq!(verdict(0.75 - 0.0306), Verdict::Worse);
        assert_eq!(verdict(0.75 + 0.0306), Verdict::Better);
    }

    #[test]
    fn a_difference_below_the_printed_digit_is_even() {
        let paper = ReferenceValue { rounding: 0.00005, ..paper(0.1738, None) };
        let verdict = |mean| Verdict::of(Metric::RelativeError, &ours(mean, 0.0), &paper, &[]);
        assert_eq!(verdict(0.1734), Verdict::Even);
        assert_eq!(verdict(0.1732), Verdict::Better);
        assert_eq!(verdict(0.1738), Verdict::Within);
    }

    #[test]
    fn less_error_is_better_and_more_rank_is_only_different() {
        let error = Verdict::of(Metric::RelativeError, &ours(0.1, 0.0), &paper(0.2, None), &[]);
        assert_eq!(error, Verdict::Better);
        assert_eq!(Verdict::of(Metric::Rank, &ours(9.0, 0.0), &paper(5.0, None), &[]), Verdict::Different);
    }

    #[test]
    fn a_caveat_that_breaks_the_comparison_is_the_verdict() {
        let caveat = |dataset: Option<&str>, breaks_comparison| Caveat {
            dataset: dataset.map(str::to_string),
            text: "600 of 3,115 documents".into(),
            breaks_comparison,
        };
        let verdict = |caveat| Verdict::of(Metric::Accuracy, &ours(0.75, 0.0), &paper(0.75, None), &[caveat]);
        assert!(!verdict(caveat(None, true)).is_judged() && !verdict(caveat(Some("twitter"), true)).is_judged());
        assert_eq!(verdict(caveat(Some("recipe_l"), true)), Verdict::Within);
        assert_eq!(verdict(caveat(None, false)), Verdict::Within);
    }
}
