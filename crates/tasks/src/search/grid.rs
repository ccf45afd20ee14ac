//! Grid of a search: every combination of the values of its dimensions, the last dimension turning fastest.

use super::{Point, SearchError, Space, Value};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    axes: Vec<(String, Vec<Value>)>,
    combinations: usize,
    /// Number of the first combination that was not tried.
    next: usize,
}

impl Grid {
    /// The grid of a space, `points` values of a dimension that is no list; nothing was tried.
    pub(super) fn new(space: &Space, points: usize) -> Result<Self, SearchError> {
        let axes: Vec<_> = space.iter().map(|(name, dimension)| (name.clone(), dimension.grid(points))).collect();
        let product = axes.iter().try_fold(1_usize, |product, (_, values)| product.checked_mul(values.len()));
        let combinations = product.ok_or(SearchError::LargeGrid { dimensions: axes.len() })?;
        Ok(Self { axes, combinations, next: 0 })
    }

    pub(super) fn next(&self) -> Option<Point> {
        (self.next < self.combinations).then(|| self.combination(self.next))
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    fn combination(&self, mut number: usize) -> Point {
        let mut point = Point::default();
        for (name, values) in self.axes.iter().rev() {
            point.0.insert(name.clone(), values[number % values.len()].clone());
            number /= values.len();
        }
        point
    }
}
