//! Evaluated columns with the proxies at the same entries, and what is fitted to their entries.

use std::sync::Arc;

use ndarray::{Array2, Axis};

use crate::approximate::ApproximateError;
use crate::approximate::scattered::ridge::{Linear, Moments};
use crate::approximate::scattered::table::ROWS_PER_TASK;
use crate::oracle::{Oracle, OracleError, Remembered, block_of};

/// L Rᵀ, both n × r.
pub(super) type Part = (Array2<f64>, Array2<f64>);

/// K[:,S] and the proxies there.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    /// S.
    pub(super) items: Vec<usize>,
    /// n × s.
    pub(super) scores: Array2<f64>,
    /// n × s each.
    pub(super) proxies: Vec<Array2<f64>>,
}

impl Columns {
    pub(super) fn read(
        oracle: &Remembered<&dyn Oracle>,
        proxies: &[Arc<dyn Oracle>],
        items: &[usize],
    ) -> Result<Self, OracleError> {
        let all: Vec<usize> = (0..oracle.len()).collect();
        let proxies = proxies.iter().map(|proxy| block_of(&**proxy, &all, items)).collect::<Result<_, _>>()?;
        Ok(Self { items: items.to_vec(), scores: block_of(oracle, &all, items)?, proxies })
    }

    /// Number of items n.
    pub(super) fn len(&self) -> usize {
        self.scores.nrows()
    }

    /// The least and the greatest score of two different items; both 0 where there are none.
    pub(super) fn range(&self) -> (f64, f64) {
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (column, &t) in self.scores.columns().into_iter().zip(&self.items) {
            for (_, &score) in column.iter().enumerate().filter(|(i, _)| *i != t) {
                (least, greatest) = (least.min(score), greatest.max(score));
            }
        }
        if least <= greatest { (least, greatest) } else { (0.0, 0.0) }
    }

    pub(super) fn select(&self, places: &[usize]) -> Self {
        Self {
            items: places.iter().map(|&place| self.items[place]).collect(),
            scores: self.scores.select(Axis(1), places),
            proxies: self.proxies.iter().map(|proxy| proxy.select(Axis(1), places)).collect(),
        }
    }
}

/// Least squares of the scores off the diagonal on powers of the proxies.
pub(super) fn regress(columns: &Columns, powers: &[(usize, usize)]) -> Result<Linear, ApproximateError> {
    let mut is_column = vec![usize::MAX; columns.len()];
    columns.items.iter().enumerate().for_each(|(b, &t)| is_column[t] = b);
    let mut moments = Moments::of(Array2::zeros((0, powers.len() + 1)).view());
    let height = (ROWS_PER_TASK / columns.items.len().max(1)).max(1);
    let all: Vec<usize> = (0..columns.len()).collect();
    for rows in all.chunks(height) {
        let cells: Vec<(usize, usize)> = rows
            .iter()
            .flat_map(|&i| (0..columns.items.len()).map(move |b| (i, b)))
            .filter(|&(i, b)| is_column[i] != b)
            .collect();
        let features = Array2::from_shape_fn((cells.len(), powers.len() + 1), |(row, k)| {
            let cell = cells[row];
            match powers.get(k) {
                Some(&(proxy, power)) => columns.proxies[proxy][cell].powi(i32::try_from(power).unwrap_or(1)),
                None => columns.scores[cell],
            }
        });
        moments = moments.join(Moments::of(features.view()));
    }
    Ok(moments.least_squares()?)
}
