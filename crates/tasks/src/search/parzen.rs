//! The next point by tree-structured Parzen estimators (Bergstra, Bardenet, Bengio & Kégl 2011), through the crate `tpe`.
//!
//! Each dimension models the values of the best tenth of the trials and of the rest by two densities, draws candidates from the
//! first and keeps the one whose ratio of densities is highest. Dimensions are independent. Numbers are modeled on the scale
//! of their dimension (the logarithm for a log-uniform one, the place in the list for a list), choices by histograms.

use std::convert::Infallible;

use landmark_core::stream::Rng;
use rand::RngCore as _;
use rand_core::TryRng;
use tpe::TpeOptimizer;

use super::SearchError;
use super::space::{Dimension, Value};

/// Our stream, through the traits that `tpe` draws with.
struct Adapted<'r>(&'r mut Rng);

impl TryRng for Adapted<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// A value for one dimension, given the values and losses (lower is better, ∞ for a failure) of earlier trials.
pub(super) fn propose<'t>(
    name: &str,
    dimension: &Dimension,
    history: impl Iterator<Item = (&'t Value, f64)>,
    rng: &mut Rng,
) -> Result<Value, SearchError> {
    let failed = |problem: String| SearchError::Dimension { name: name.into(), problem };
    let (low, high) = span(dimension);
    let range = tpe::range(low, high).map_err(|error| failed(error.to_string()))?;
    let estimator = match dimension {
        Dimension::Choices(_) => tpe::histogram_estimator(),
        _ => tpe::parzen_estimator(),
    };
    let mut optimizer = TpeOptimizer::new(estimator, range);
    for (value, loss) in history {
        // the range of `tpe` is open at its end
        let coordinate = coordinate(dimension, value).clamp(low, high.next_down());
        optimizer.tell(coordinate, loss).map_err(|error| failed(error.to_string()))?;
    }
    let asked = optimizer.ask(&mut Adapted(rng)).map_err(|error| failed(error.to_string()))?;
    Ok(value_at(dimension, asked.clamp(low, high.next_down())))
}

/// The interval that models a dimension, open at its end.
fn span(dimension: &Dimension) -> (f64, f64) {
    match dimension {
        Dimension::Values(values) => (0.0, values.len() as f64),
        Dimension::Choices(choices) => (0.0, choices.len() as f64),
        Dimension::Uniform { low, high } => (*low, *high),
        Dimension::LogUniform { low, high } => (low.ln(), high.ln()),
        Dimension::Integer { low, high } => (*low as f64, *high as f64 + 1.0),
    }
}

/// Coordinate of a value in that interval; lists and whole numbers at the middle of their unit cell.
fn coordinate(dimension: &Dimension, value: &Value) -> f64 {
    let cell = |place: Option<usize>| place.unwrap_or(0) as f64 + 0.5;
    match (dimension, value) {
        (Dimension::Values(values), Value::Float(v)) => cell(values.iter().position(|x| x == v)),
        (Dimension::Values(values), Value::Integer(v)) => cell(values.iter().position(|x| *x == *v as f64)),
        (Dimension::Choices(choices), Value::Choice(v)) => cell(choices.iter().position(|x| x == v)),
        (Dimension::LogUniform { .. }, Value::Float(v)) => v.ln(),
        (Dimension::LogUniform { .. }, Value::Integer(v)) => (*v as f64).ln(),
        (Dimension::Integer { .. }, Value::Integer(v)) => *v as f64 + 0.5,
        (_, Value::Float(v)) => *v,
        (_, Value::Integer(v)) => *v as f64,
        (_, Value::Choice(_)) => 0.0,
    }
}

fn value_at(dimension: &Dimension, coordinate: f64) -> Value {
    // a coordinate within `0..len`: rounded down, it is an index
    let index = coordinate.floor() as usize;
    match dimension {
        Dimension::Values(values) => Value::Float(values[index.min(values.len() - 1)]),
        Dimension::Choices(choices) => Value::Choice(choices[index.min(choices.len() - 1)].clone()),
        Dimension::Uniform { low, high } => Value::Float(coordinate.clamp(*low, *high)),
        Dimension::LogUniform { low, high } => Value::Float(coordinate.exp().clamp(*low, *high)),
        Dimension::Integer { low, high } => Value::Integer((coordinate.floor() as i64).clamp(*low, *high)),
    }
}
