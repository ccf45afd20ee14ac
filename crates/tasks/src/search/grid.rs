//! Grid of a search: every combination of the values of its dimensions, the last dimension turning fastest.
//!
//! Cost: a look-up a combination over the whole search, and memory for the points that were tried.

use std::collections::HashSet;

use super::{Point, SearchError, Space, Value};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    axes: Vec<(String, Vec<Value>)>,
    combinations: usize,
    tried: HashSet<Vec<Option<Coordinate>>>,
    /// Number of the first combination that was not tried.
    next: usize,
}

/// A value as points are compared by it: a whole number is equal to the same number read as a float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Coordinate {
    Number(u64),
    Choice(String),
}

impl Coordinate {
    fn of(value: &Value) -> Self {
        match value {
            // as `Dimension::contains` compares them; −0 becomes 0
            Value::Integer(number) => Self::Number((*number as f64).to_bits()),
            Value::Float(number) => Self::Number((number + 0.0).to_bits()),
            Value::Choice(name) => Self::Choice(name.clone()),
        }
    }
}

impl Grid {
    /// The grid of a space, `points` values of a dimension that is no list; nothing was tried.
    pub(super) fn new(space: &Space, points: usize) -> Result<Self, SearchError> {
        let axes: Vec<_> = space.iter().map(|(name, dimension)| (name.clone(), dimension.grid(points))).collect();
        let product = axes.iter().try_fold(1_usize, |product, (_, values)| product.checked_mul(values.len()));
        let combinations = product.ok_or(SearchError::LargeGrid { dimensions: axes.len() })?;
        Ok(Self { axes, combinations, tried: HashSet::new(), next: 0 })
    }

    pub(super) fn next(&self) -> Option<Point> {
        (self.next < self.combinations).then(|| self.combination(self.next))
    }

    pub(super) fn take(&mut self, point: &Point) {
        self.tried.insert(self.coordinates(point));
        while self.next().is_some_and(|next| self.tried.contains(&self.coordinates(&next))) {
            self.next += 1;
        }
    }

    fn combination(&self, mut number: usize) -> Point {
        let mut point = Point::default();
        for (name, values) in self.axes.iter().rev() {
            point.0.insert(name.clone(), values[number % values.len()].clone());
            number /= values.len();
        }
        point
    }

    fn coordinates(&self, point: &Point) -> Vec<Option<Coordinate>> {
        self.axes.iter().map(|(name, _)| point.0.get(name).map(Coordinate::of)).collect()
    }
}
