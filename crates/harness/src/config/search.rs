//! `search:` — which hyper-parameters are tried, and how many.

use landmark_yaml::{Node, Problems, Section};
use serde::{Deserialize, Serialize};

use super::values::{Axis, Range, Scale};

/// The method with grids of its own.
const WME: &str = "wme";

/// Hyper-parameter search: cross-validation on the training items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchConfig {
    /// Search strategy: the candidates that are tried.
    pub strategy: Strategy,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Candidates that random search and TPE try.
    pub trials: usize,
    /// Candidates for γ.
    pub gamma: Axis,
    /// Candidates for C.
    pub c: Axis,
    /// Ranks searched for as well, small and large ones apart, as appendix A of the SMS-Nyström paper does.
    #[serde(skip_serializing_if = "Regimes::is_empty")]
    pub rank: Regimes,
    /// Candidates for s2/s1 of the methods that have a second landmark set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s2: Option<Axis>,
    /// Candidates for the most words of WME's random documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_words: Option<Axis>,
    /// Candidates of WME, where they are not those of the methods that approximate K.
    #[serde(skip_serializing_if = "WmeSearch::is_empty")]
    pub wme: WmeSearch,
}

/// The grids of WME alone: its features differ little from document to document, so it wants a far larger C.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WmeSearch {
    /// Candidates for γ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Axis>,
    /// Candidates for C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<Axis>,
}

impl WmeSearch {
    /// True where WME is searched for on the grids of the others.
    fn is_empty(&self) -> bool {
        self.gamma.is_none() && self.c.is_none()
    }

    fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "search.wme", problems)?;
        let axis = |key| section.node(key).and_then(|node| Axis::read(node, &section.path_of(key), problems));
        let search = Self { gamma: axis("gamma"), c: axis("c") };
        section.finish(&[]);
        Some(search)
    }
}

/// Ranks to choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        Some(format!("`search.rank` goes from {from} to {to}, but must go from at least 1 to no less"))
    }
}

/// Search strategy: the candidates that are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Candidates for γ of a method.
    pub fn gamma_of(&self, method: &str) -> &Axis {
        self.wme.gamma.as_ref().filter(|_| method == WME).unwrap_or(&self.gamma)
    }

    /// Candidates for C of a method.
    pub fn c_of(&self, method: &str) -> &Axis {
        self.wme.c.as_ref().filter(|_| method == WME).unwrap_or(&self.c)
    }

    /// Reads the section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let default = Self::default();
        let section = Section::new(node, "search", problems)?;
        let axis = |key| section.node(key).and_then(|node| Axis::read(node, &section.path_of(key), problems));
        let search = Self {
            strategy: section.or("strategy", default.strategy),
            folds: section.checked("folds", |&folds: &usize| folds >= 2, "at least 2").unwrap_or(default.folds),
            trials: section.checked("trials", |&trials: &usize| trials >= 1, "at least 1").unwrap_or(default.trials),
            gamma: axis("gamma").unwrap_or(default.gamma),
            c: axis("c").unwrap_or(default.c),
            rank: section.or("rank", default.rank),
            s2: axis("s2"),
            max_words: axis("max_words"),
            wme: section.node("wme").and_then(|node| WmeSearch::read(node, problems)).unwrap_or_default(),
        };
        let whole = |words: &f64| words.fract() == 0.0 && (1.0..=500.0).contains(words);
        if let Some(words) = search.max_words.iter().flat_map(Axis::points).find(|words| !whole(words)) {
            section.refuse(
                "max_words",
                format!("`search.max_words` has {words}, but must be whole numbers from 1 to 500: write a list like `[3, 9, 15]`"),
            );
        }
        if let Some(problem) = search.rank.problem() {
            section.refuse("rank", problem);
        }
        if !search.rank.is_empty() && search.strategy == Strategy::Grid {
            section.refuse(
                "strategy",
                "`search.rank` needs `strategy: random` or `tpe`: a grid over ranks is what `ranks` is for",
            );
        }
        section.finish(&[]);
        Some(search)
    }
}
