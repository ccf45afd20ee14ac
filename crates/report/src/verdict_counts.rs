//! How many published numbers stand next to ours, by verdict: what `run.json` keeps of a report.

use serde::{Deserialize, Serialize};

/// Numbers of verdicts.
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
