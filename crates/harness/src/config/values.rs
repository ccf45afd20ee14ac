//! Small values that several sections share.

use std::borrow::Cow;
use std::fmt;

pub use landmark_yaml::ConfigPath;
use landmark_yaml::{FromNode, Node, Problem, Problems, Value, read_from_node, schema_of};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

/// Number of landmarks: a count, or a share of the n items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rank {
    /// This number.
    Count(usize),
    /// A share of n, above 0 and at most 1.
    Fraction(f64),
}

impl FromNode for Rank {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
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
}

read_from_node!(
    Rank,
    json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }] })
);

impl Rank {
    /// The number of landmarks out of n; a share is rounded, and is never less than one.
    pub fn of(self, n: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Fraction(share) => ((share * n as f64).round() as usize).max(1),
        }
    }
}

/// `ranks:` — a list of at least one, or a single rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranks(pub Vec<Rank>);

impl FromNode for Ranks {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        match &node.value {
            Value::List(items) if !items.is_empty() => {
                let read = |(index, item)| Rank::from_node(item, &format!("{path}[{index}]"), problems);
                // every fault, not only the first
                let all: Vec<Option<Rank>> = items.iter().enumerate().map(read).collect();
                all.into_iter().collect::<Option<_>>().map(Self)
            }
            Value::Integer(_) | Value::Number(_) => Rank::from_node(node, path, problems).map(|rank| Self(vec![rank])),
            _ => {
                let message =
                    format!("`{path}` is {}, but must be a number, or a list of at least one", node.describe());
                problems.add(Problem::new(message).at(node.place).help("for example `[50, 100, 200]` or `[0.1, 0.2]`"));
                None
            }
        }
    }
}

read_from_node!(Ranks, {
    let rank = schema_of::<Rank>();
    json!({ "anyOf": [rank, { "type": "array", "items": rank, "minItems": 1 }] })
});

/// A number, or to be searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tuned {
    Fixed(f64),
    /// Chosen by cross-validation within `tuning`.
    Search,
}

impl<'de> Deserialize<'de> for Tuned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrSearch;
        impl Visitor<'_> for NumberOrSearch {
            type Value = Tuned;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number above 0 or `search`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Tuned, E> {
                if text == "search" { Ok(Tuned::Search) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Tuned, E> {
                let is_good = value > 0.0 && value.is_finite();
                is_good.then_some(Tuned::Fixed(value)).ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Tuned, E> {
                self.visit_f64(value as f64)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Tuned, E> {
                self.visit_f64(value as f64)
            }
        }
        deserializer.deserialize_any(NumberOrSearch)
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

impl JsonSchema for Tuned {
    fn schema_name() -> Cow<'static, str> {
        "Tuned".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "const": "search" }] })
    }
}

/// Basis on which methods are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// At equal rank, as the paper does.
    Rank,
    /// At equal numbers of evaluated entries.
    Entries,
    Both,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Axis {
    Values(Vec<f64>),
    Range(Range),
}

/// `steps` values from `from` to `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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

impl<'de> Deserialize<'de> for Axis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrRange;
        impl<'de> Visitor<'de> for ListOrRange {
            type Value = Axis;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or a range, for example `[0.1, 1, 10]` or `{ from: 0.01, to: 10, steps: 7 }`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Axis, A::Error> {
                Axis::Values(Vec::deserialize(SeqAccessDeserializer::new(list))?).checked()
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Axis, A::Error> {
                Axis::Range(Range::deserialize(MapAccessDeserializer::new(map))?).checked()
            }
        }
        deserializer.deserialize_any(ListOrRange)
    }
}

impl JsonSchema for Axis {
    fn schema_name() -> Cow<'static, str> {
        "Axis".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let range = generator.subschema_for::<Range>();
        let value = json_schema!({ "type": "number", "exclusiveMinimum": 0 });
        json_schema!({ "anyOf": [{ "type": "array", "items": value, "minItems": 1 }, range] })
    }
}

impl Axis {
    fn checked<E: Error>(self) -> Result<Self, E> {
        let bad = match &self {
            Self::Values(values) if values.is_empty() => Some("an empty list".to_owned()),
            Self::Values(values) => {
                values.iter().find(|v| !(**v > 0.0 && v.is_finite())).map(|v| format!("a list with {v}"))
            }
            Self::Range(r) if !(r.from > 0.0 && r.to >= r.from && r.to.is_finite()) => {
                Some(format!("a range from {} to {}", r.from, r.to))
            }
            Self::Range(r) if r.steps == 0 || (r.steps == 1 && r.to > r.from) => {
                Some(format!("a range in {} steps", r.steps))
            }
            Self::Range(_) => None,
        };
        let wanted = "numbers above 0, from the smaller to the larger, in at least 2 steps";
        bad.map_or(Ok(self), |bad| Err(E::invalid_value(Unexpected::Other(&bad), &wanted)))
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
