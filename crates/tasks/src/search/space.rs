//! Space of a search: named dimensions, and points in them.

use std::collections::BTreeMap;

use landmark_core::stream::Rng;
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use super::SearchError;

/// The values one hyper-parameter may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Dimension {
    /// One of these numbers, in a meaningful order.
    Values(Vec<f64>),
    /// One of these names, in no order.
    Choices(Vec<String>),
    /// Any number in [low, high].
    Uniform { low: f64, high: f64 },
    /// Any number in [low, high], its logarithm uniform.
    LogUniform { low: f64, high: f64 },
    /// Any whole number in [low, high].
    Integer { low: i64, high: i64 },
}

/// The value of one hyper-parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Of [`Dimension::Integer`].
    Integer(i64),
    /// Of [`Dimension::Values`], [`Dimension::Uniform`] and [`Dimension::LogUniform`].
    Float(f64),
    /// Of [`Dimension::Choices`].
    Choice(String),
}

pub type Space = BTreeMap<String, Dimension>;

/// One value for each dimension of a space.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub(super) BTreeMap<String, Value>);

impl Point {
    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    /// A number (a whole one counts).
    pub fn float(&self, name: &str) -> Result<f64, SearchError> {
        match self.0.get(name) {
            Some(Value::Float(value)) => Ok(*value),
            // whole hyper-parameters are far below 2⁵³
            Some(Value::Integer(value)) => Ok(*value as f64),
            _ => Err(SearchError::NoSuchValue { name: name.into(), kind: "number" }),
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<i64, SearchError> {
        match self.0.get(name) {
            Some(Value::Integer(value)) => Ok(*value),
            _ => Err(SearchError::NoSuchValue { name: name.into(), kind: "whole number" }),
        }
    }

    /// A choice.
    pub fn choice(&self, name: &str) -> Result<&str, SearchError> {
        match self.0.get(name) {
            Some(Value::Choice(value)) => Ok(value),
            _ => Err(SearchError::NoSuchValue { name: name.into(), kind: "choice" }),
        }
    }
}

impl Dimension {
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Values(values) if values.is_empty() => Some("the list of values is empty".into()),
            Self::Values(values) => {
                values.iter().find(|v| !v.is_finite()).map(|v| format!("the value {v} is not finite"))
            }
            Self::Choices(choices) if choices.is_empty() => Some("the list of choices is empty".into()),
            Self::Choices(_) => None,
            Self::LogUniform { low, .. } if *low <= 0.0 => Some(format!("`low` is {low}, but must be positive")),
            Self::Uniform { low, high } | Self::LogUniform { low, high } => {
                let good = low < high && low.is_finite() && high.is_finite();
                (!good).then(|| format!("`low` {low} must be below `high` {high}, both finite"))
            }
            Self::Integer { low, high } => (low > high).then(|| format!("`low` {low} must not be above `high` {high}")),
        }
    }

    /// The values of a grid, `points` of them where the dimension is not a list.
    pub(super) fn grid(&self, points: usize) -> Vec<Value> {
        let spaced = |low: f64, high: f64| -> Vec<f64> {
            if points == 1 {
                return vec![0.5 * (low + high)];
            }
            let share = |k: usize| k as f64 / (points - 1) as f64;
            (0..points).map(|k| low * (1.0 - share(k)) + high * share(k)).collect()
        };
        match self {
            Self::Values(values) => values.iter().map(|&v| Value::Float(v)).collect(),
            Self::Choices(choices) => choices.iter().cloned().map(Value::Choice).collect(),
            Self::Uniform { low, high } => spaced(*low, *high).into_iter().map(Value::Float).collect(),
            Self::LogUniform { low, high } => {
                let at = |log: f64| Value::Float(log.exp().clamp(*low, *high));
                spaced(low.ln(), high.ln()).into_iter().map(at).collect()
            }
            Self::Integer { low, high } => {
                let mut whole: Vec<i64> = spaced(*low as f64, *high as f64).iter().map(|v| v.round() as i64).collect();
                whole.dedup();
                whole.into_iter().map(Value::Integer).collect()
            }
        }
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> Value {
        match self {
            Self::Values(values) => Value::Float(values[rng.gen_range(0..values.len())]),
            Self::Choices(choices) => Value::Choice(choices[rng.gen_range(0..choices.len())].clone()),
            Self::Uniform { low, high } => Value::Float(rng.gen_range(*low..=*high)),
            Self::LogUniform { low, high } => {
                Value::Float(rng.gen_range(low.ln()..=high.ln()).exp().clamp(*low, *high))
            }
            Self::Integer { low, high } => Value::Integer(rng.gen_range(*low..=*high)),
        }
    }
}
