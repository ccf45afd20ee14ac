//! Small values that several sections share.

use std::path::{Path, PathBuf};

use landmark_yaml::{Node, Problem, Problems, Value};
use serde::{Deserialize, Serialize, Serializer};

/// Beginning of a path that starts at the folder of the corpora, whatever names it: `--data` or the variable.
const CORPORA: &str = "$LANDMARK_DATA/";

/// Path as written in the file (or in `--set`), and as resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPath {
    /// As written: this is what counts for the hash of a configuration.
    pub written: String,
    /// Relative paths of the file start at its folder, those of `--set` at the working directory.
    pub resolved: PathBuf,
}

impl ConfigPath {
    /// Reads a path; `folder` is the one of the configuration file.
    pub fn read(node: &Node, path: &str, folder: &Path, problems: &Problems) -> Option<Self> {
        let written: String = problems.read(node, path)?;
        let from_file = node.place.source == 0;
        let resolved = if from_file { folder.join(&written) } else { PathBuf::from(&written) };
        Some(Self { written, resolved })
    }

    /// The place of the file, where a path may start at the folder of the corpora: `$LANDMARK_DATA/…`. Nothing where nobody names that folder.
    pub fn at(&self, data: Option<&Path>) -> Option<PathBuf> {
        match self.written.strip_prefix(CORPORA) {
            Some(below) => data.map(|data| data.join(below)),
            None => Some(self.resolved.clone()),
        }
    }
}

impl Serialize for ConfigPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

/// Number of landmarks: a count, or a share of the n items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rank {
    /// So many.
    Count(usize),
    /// A share of n, above 0 and at most 1.
    Fraction(f64),
}

impl Rank {
    /// Reads `250` or `0.1`.
    pub fn read(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let rank = match node.value {
            Value::Integer(count) => usize::try_from(count).ok().filter(|&count| count > 0).map(Self::Count),
            Value::Number(share) if share > 0.0 && share <= 1.0 => Some(Self::Fraction(share)),
            _ => None,
        };
        if rank.is_none() {
            let wanted = match node.value {
                Value::Integer(_) | Value::Number(_) => "a rank must be at least 1",
                _ => "a rank must be a number",
            };
            let problem = Problem::new(format!("`{path}` is {}, but {wanted}", node.describe()));
            problems.add(
                problem.at(node.place).help("write a whole number like `250`, or a share of the items like `0.1`"),
            );
        }
        rank
    }

    /// The number of landmarks out of n; a share is rounded, and is never less than one.
    pub fn of(self, n: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Fraction(share) => ((share * n as f64).round() as usize).max(1),
        }
    }
}

/// A number, or to be searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tuned {
    Fixed(f64),
    /// Chosen by cross-validation within `search`.
    Search,
}

impl Tuned {
    /// Reads a positive number, or `search`.
    pub fn read(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let number = match &node.value {
            Value::Text(text) if text == "search" => return Some(Self::Search),
            Value::Integer(value) => Some(*value as f64),
            Value::Number(value) => Some(*value),
            _ => None,
        };
        let good = number.filter(|value| *value > 0.0 && value.is_finite());
        if good.is_none() {
            let message = format!("`{path}` is {}, but must be a number above 0 or `search`", node.describe());
            problems.add(Problem::new(message).at(node.place));
        }
        good.map(Self::Fixed)
    }
}

impl Serialize for Tuned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(value) => serializer.serialize_f64(*value),
            Self::Search => serializer.serialize_str("search"),
        }
    }
}

/// Basis on which methods are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// At equal rank, as the paper does.
    Rank,
    /// At equal numbers of bought entries.
    Entries,
    Both,
}

/// Candidates for one hyper-parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Axis {
    /// These.
    Values(Vec<f64>),
    Range(Range),
}

/// `steps` values from `from` to `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The smallest.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// Number of values that a grid tries; random search and TPE draw anywhere between.
    #[serde(default = "Range::default_steps")]
    pub steps: usize,
    /// Even steps of the value or of its logarithm.
    #[serde(default)]
    pub scale: Scale,
}

/// Spacing of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// By even factors.
    #[default]
    Log,
    /// By even differences.
    Linear,
}

impl Range {
    fn default_steps() -> usize {
        7
    }
}

impl Axis {
    /// Reads a list of positive numbers, or `{ from, to, steps, scale }`.
    pub fn read(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let axis = match &node.value {
            Value::List(_) => Self::Values(problems.read(node, path)?),
            Value::Map(_) => Self::Range(problems.read(node, path)?),
            _ => {
                let message = format!("`{path}` is {}, but must be a list or a range", node.describe());
                problems.add(
                    Problem::new(message)
                        .at(node.place)
                        .help("for example `[0.1, 1, 10]` or `{ from: 0.01, to: 10, steps: 7 }`"),
                );
                return None;
            }
        };
        let bad = match &axis {
            Self::Values(values) if values.is_empty() => Some("has no value".to_owned()),
            Self::Values(values) => values.iter().find(|v| !(**v > 0.0 && v.is_finite())).map(|v| format!("has {v}")),
            Self::Range(r) if !(r.from > 0.0 && r.to >= r.from && r.to.is_finite()) => {
                Some(format!("goes from {} to {}", r.from, r.to))
            }
            Self::Range(r) if r.steps == 0 || (r.steps == 1 && r.to > r.from) => Some(format!("has {} steps", r.steps)),
            Self::Range(_) => None,
        };
        match bad {
            None => Some(axis),
            Some(bad) => {
                let wanted = "but must be numbers above 0, from the smaller to the larger, in at least 2 steps";
                problems.add(Problem::new(format!("`{path}` {bad}, {wanted}")).at(node.place));
                None
            }
        }
    }

    /// The grid.
    pub fn points(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.clone(),
            Self::Range(Range { from, steps: 1, .. }) => vec![*from],
            Self::Range(Range { from, to, steps, scale }) => {
                let share = |k: usize| k as f64 / (steps - 1) as f64;
                let point = |k| match scale {
                    Scale::Log => (from.ln() + share(k) * (to.ln() - from.ln())).exp(),
                    Scale::Linear => from + share(k) * (to - from),
                };
                (0..*steps).map(point).collect()
            }
        }
    }

    /// Smallest and largest.
    pub fn bounds(&self) -> (f64, f64) {
        match self {
            Self::Values(values) => {
                values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
            }
            Self::Range(range) => (range.from, range.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_items_is_rounded_and_never_zero() {
        assert_eq!(Rank::Fraction(0.1).of(3115), 312);
        assert_eq!(Rank::Fraction(0.001).of(10), 1);
    }

    #[test]
    fn a_logarithmic_range_has_even_factors_and_both_ends() {
        let axis = Axis::Range(Range { from: 0.01, to: 10.0, steps: 4, scale: Scale::Log });
        for (point, wanted) in axis.points().iter().zip([0.01, 0.1, 1.0, 10.0]) {
            assert!((point / wanted - 1.0).abs() < 1e-14, "{point}"); // exp(ln x) is good to a few ulps
        }
    }
}
