//! `tuning:` — which hyper-parameters are tried, and how many.

use landmark_yaml::{Node, Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{Axis, Range, Scale};

/// The method with grids of its own.
const WME: &str = "wme";

/// Hyper-parameter search: cross-validation on the training items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// `grid`: every candidate; `random`; `tpe`: tree-structured Parzen estimator
    pub strategy: Strategy,
    /// folds of the cross-validation
    #[schemars(range(min = 2))]
    pub folds: usize,
    /// candidates that `random` and `tpe` try
    #[schemars(range(min = 1))]
    pub trials: usize,
    /// candidates for γ: a list, or a range (logarithmic, or `scale: linear`)
    pub gamma: Axis,
    /// candidates for C
    pub c: Axis,
    /// `{ small: [50, 550], large: [551, 4096] }`: ranks are searched for, instead of `ranks`
    #[serde(skip_serializing_if = "Regimes::is_empty")]
    pub rank: Regimes,
    /// candidates for |S2|/|S1| of methods with a second set: `{ from: 1.2, to: 2.5, scale: linear }`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s2: Option<Axis>,
    /// candidates for the most words of WME's random documents: `[3, 9, 15]`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_words: Option<Axis>,
    /// `{ gamma: …, c: … }`: candidates of WME if they differ from those of the others: its features differ little from document to document, so it needs a far larger C
    #[serde(skip_serializing_if = "WmeSearch::is_empty")]
    pub wme: WmeSearch,
}

/// The grids of WME alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WmeSearch {
    /// candidates for γ
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Axis>,
    /// candidates for C
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<Axis>,
}

impl WmeSearch {
    /// True where WME is searched for on the grids of the others.
    fn is_empty(&self) -> bool {
        self.gamma.is_none() && self.c.is_none()
    }
}

/// Ranks to choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regimes {
    /// Range of the ranks that the paper calls small: up to 550.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small: Option<(usize, usize)>,
    /// Range of the ranks that the paper calls large: up to 4,096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large: Option<(usize, usize)>,
}

impl Regimes {
    /// True where ranks are not searched for.
    pub fn is_empty(&self) -> bool {
        self.small.is_none() && self.large.is_none()
    }

    fn problem(&self) -> Option<String> {
        let bad = |(from, to): &(usize, usize)| *from == 0 || from > to;
        let (from, to) = [self.small, self.large].into_iter().flatten().find(bad)?;
        Some(format!("`tuning.rank` goes from {from} to {to}, but must go from at least 1 to no less"))
    }
}

/// Search strategy: the candidates that are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// All of them.
    #[default]
    Grid,
    Random,
    /// Tree-structured Parzen estimator.
    Tpe,
}

impl Default for SearchConfig {
    fn default() -> Self {
        let log = |from, to, steps| Axis::Range(Range { from, to, steps, scale: Scale::Log });
        Self {
            strategy: Strategy::Grid,
            folds: 10,
            trials: 30,
            gamma: log(0.01, 10.0, 7),
            c: log(0.01, 1000.0, 6),
            rank: Regimes::default(),
            s2: None,
            max_words: None,
            wme: WmeSearch::default(),
        }
    }
}

impl SearchConfig {
    pub fn gamma_of(&self, method: &str) -> &Axis {
        self.wme.gamma.as_ref().filter(|_| method == WME).unwrap_or(&self.gamma)
    }

    pub fn c_of(&self, method: &str) -> &Axis {
        self.wme.c.as_ref().filter(|_| method == WME).unwrap_or(&self.c)
    }

    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "tuning", problems)?;
        let search: Self = section.whole()?;
        let whole = |words: &f64| words.fract() == 0.0 && (1.0..=500.0).contains(words);
        if let Some(words) = search.max_words.iter().flat_map(Axis::points).find(|words| !whole(words)) {
            section.refuse(
                "max_words",
                format!("`tuning.max_words` has {words}, but must be whole numbers from 1 to 500: write a list like `[3, 9, 15]`"),
            );
        }
        if let Some(problem) = search.rank.problem() {
            section.refuse("rank", problem);
        }
        if !search.rank.is_empty() && search.strategy == Strategy::Grid {
            section.refuse(
                "strategy",
                "`tuning.rank` needs `strategy: random` or `tpe`: a grid over ranks is what `ranks` is for",
            );
        }
        Some(search)
    }
}
