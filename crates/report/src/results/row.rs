//! A measured figure: what it is of, where it lies, what it took.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Metric;
use super::axes::{Axes, FRACTION, Place};

mod stored;

pub(super) use stored::StoredRow;

/// One measured figure, with everything needed to place it in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredRow", into = "StoredRow")]
pub struct ResultRow {
    pub subject: Subject,
    /// Ground on which methods are held against each other: `rank`, `entries`, `small_rank`, `large_rank`, or empty.
    pub comparison: String,
    /// Replicate number, from 0.
    pub replicate: u64,
    pub metric: Metric,
    /// The figure, in the metric's unit (accuracies are fractions).
    pub value: f64,
    /// 95 % interval over items, where the metric has one.
    pub interval: Option<Interval>,
    /// Its places along the axes of the experiment. A sweep has two: `columns`, s of the comparison (the rank itself at equal rank, the number of
    /// full columns that may be evaluated at equal entries), and `rank`, that handed to the method (s1 of the papers).
    pub axes: Axes,
    pub cost: Cost,
    pub note: Option<String>,
    pub profile: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Dataset id, as in the configuration: `twitter`.
    pub dataset: String,
    /// Display name, unique in a sweep: what tables and legends call the method.
    pub method: String,
    /// The registry id: `sms_nystrom`. With an empty `variant` it is the paper's method of that id.
    pub id: String,
    pub variant: Variant,
    pub items: u64,
    /// True of a method that reads all of K: the cap, no contender.
    pub is_cap: bool,
}

impl Subject {
    /// A method under its id, on a dataset.
    pub fn new(dataset: impl Into<String>, id: impl Into<String>) -> Self {
        let id = id.into();
        let (dataset, method) = (dataset.into(), id.clone());
        Self { dataset, method, id, variant: Variant::default(), items: 0, is_cap: false }
    }

    #[must_use]
    pub fn called(self, method: impl Into<String>) -> Self {
        Self { method: method.into(), ..self }
    }

    #[must_use]
    pub fn items(self, items: usize) -> Self {
        Self { items: items as u64, ..self }
    }

    /// As what no method can beat.
    #[must_use]
    pub fn cap(self) -> Self {
        Self { is_cap: true, ..self }
    }
}

/// Extras beyond the paper's method, each a name with what it is set to: `known: landmarks · proxy: rwmd`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant(Vec<(String, Option<String>)>);

/// Between two extras.
const AND: &str = " · ";
/// Between the name of an extra and its setting.
const IS: &str = ": ";

impl Variant {
    /// Adds an extra and its setting.
    pub fn set(&mut self, name: &str, setting: impl Into<String>) {
        self.0.push((name.to_owned(), Some(setting.into())));
    }

    /// Adds an extra that is there or not.
    pub fn switch_on(&mut self, name: &str) {
        self.0.push((name.to_owned(), None));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).and_then(|(_, setting)| setting.as_deref())
    }

    pub(crate) fn parse(words: &str) -> Self {
        let extra = |part: &str| match part.split_once(IS) {
            Some((name, setting)) => (name.to_owned(), Some(setting.to_owned())),
            None => (part.to_owned(), None),
        };
        Self(words.split(AND).filter(|part| !part.is_empty()).map(extra).collect())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, setting)) in self.0.iter().enumerate() {
            write!(f, "{}{name}", if number > 0 { AND } else { "" })?;
            if let Some(setting) = setting {
                write!(f, "{IS}{setting}")?;
            }
        }
        Ok(())
    }
}

/// Ends of an interval: at 95 %, of an estimated error at the level of its configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub lower: f64,
    pub upper: f64,
}

/// Cost of a figure: cells, calls and seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Cells of K requested: the papers' accounting.
    pub cells: u64,
    /// Calls of the similarity function, had this method run alone.
    pub evaluations: u64,
    /// Wall seconds it took to compute when it was first measured.
    pub seconds: Option<f64>,
}

impl ResultRow {
    /// A figure that lies along no axis and took nothing yet.
    pub fn new(subject: Subject, metric: Metric, value: f64) -> Self {
        Self {
            subject,
            comparison: String::new(),
            replicate: 0,
            metric,
            value,
            interval: None,
            axes: Axes::default(),
            cost: Cost::default(),
            note: None,
            profile: String::new(),
        }
    }

    #[must_use]
    pub fn at(mut self, name: &str, place: impl Into<Place>) -> Self {
        self.axes.set(name, place);
        self
    }

    #[must_use]
    pub fn compared_at(self, comparison: impl Into<String>) -> Self {
        Self { comparison: comparison.into(), ..self }
    }

    #[must_use]
    pub fn replicate(self, replicate: u64) -> Self {
        Self { replicate, ..self }
    }

    #[must_use]
    pub fn within(self, lower: f64, upper: f64) -> Self {
        Self { interval: Some(Interval { lower, upper }), ..self }
    }

    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    #[must_use]
    pub fn cost(self, cells: u64, evaluations: u64) -> Self {
        Self { cost: Cost { cells, evaluations, ..self.cost }, ..self }
    }

    #[must_use]
    pub fn seconds(self, seconds: f64) -> Self {
        Self { cost: Cost { seconds: Some(seconds), ..self.cost }, ..self }
    }

    /// Place along the axis of this name, 0 where it has none. `fraction` is `columns` over the number of items where it is not named itself.
    pub fn along(&self, axis: &str) -> f64 {
        let fraction = || (axis == FRACTION).then(|| self.along("columns") / self.subject.items.max(1) as f64);
        self.axes.number(axis).or_else(fraction).unwrap_or(0.0)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn count(&self, axis: &str) -> u64 {
        // ranks and numbers of columns are far below 2⁵³
        self.along(axis).max(0.0) as u64
    }
}
