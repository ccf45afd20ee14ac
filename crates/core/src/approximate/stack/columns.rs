//! Evaluated columns with the proxies at the same entries; and the polynomial of several proxies, without products of two of them, that is fitted
//! to their entries.

use std::sync::Arc;

use ndarray::{Array2, Axis, Zip};

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
fn regress(columns: &Columns, powers: &[(usize, usize)]) -> Result<Linear, ApproximateError> {
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

/// c + Σ_k Σ_d c_kd p_k^d.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polynomials {
    pub(super) constant: f64,
    /// By proxy, by power from 0, whose coefficient is 0.
    pub(super) powers: Vec<Vec<f64>>,
}

impl Polynomials {
    pub(super) fn constant(constant: f64) -> Self {
        Self { constant, powers: Vec::new() }
    }

    /// The first `proxies` of the columns: the main one to the degree, p + p² of the others. 0 without a proxy.
    pub(super) fn fit(columns: &Columns, proxies: usize, degree: usize) -> Result<Self, ApproximateError> {
        if proxies == 0 {
            return Ok(Self::constant(0.0));
        }
        let main = (1..=degree).map(|power| (0, power));
        let others = (1..proxies).flat_map(|proxy| [(proxy, 1), (proxy, 2)]);
        let terms: Vec<(usize, usize)> = main.chain(others).collect();
        let linear = regress(columns, &terms)?;
        let mut sum = Self::constant(linear.constant);
        for (&(proxy, power), &weight) in terms.iter().zip(&linear.weights) {
            let mut coefficients = vec![0.0; power + 1];
            coefficients[power] = weight;
            sum.add_powers(proxy, &coefficients);
        }
        Ok(sum)
    }

    /// Adds `weight` times another.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.constant += weight * other.constant;
        for (proxy, powers) in other.powers.iter().enumerate() {
            self.add_powers(proxy, &powers.iter().map(|c| weight * c).collect::<Vec<_>>());
        }
    }

    /// Adds Σ_d c_d p^d of a proxy.
    pub(super) fn add_powers(&mut self, proxy: usize, coefficients: &[f64]) {
        if self.powers.len() <= proxy {
            self.powers.resize(proxy + 1, Vec::new());
        }
        let own = &mut self.powers[proxy];
        if own.len() < coefficients.len() {
            own.resize(coefficients.len(), 0.0);
        }
        own.iter_mut().zip(coefficients).for_each(|(own, c)| *own += c);
    }

    pub(super) fn at(&self, proxies: impl Iterator<Item = f64>) -> f64 {
        let terms = self.powers.iter().zip(proxies).map(|(powers, p)| horner(powers, p));
        self.constant + terms.sum::<f64>()
    }

    pub(super) fn block(&self, shape: (usize, usize), proxies: &[Array2<f64>]) -> Array2<f64> {
        let mut sum = Array2::from_elem(shape, self.constant);
        for (powers, scores) in self.powers.iter().zip(proxies) {
            Zip::from(&mut sum).and(scores).for_each(|sum, &p| *sum += horner(powers, p));
        }
        sum
    }

    pub(super) fn numbers(&self) -> Vec<u8> {
        let lengths = self.powers.iter().map(|powers| powers.len() as f64);
        let all = std::iter::once(self.constant).chain(lengths).chain(self.powers.iter().flatten().copied());
        all.flat_map(f64::to_le_bytes).collect()
    }
}

pub(super) fn horner(powers: &[f64], p: f64) -> f64 {
    powers.iter().rev().fold(0.0, |value, c| value * p + c)
}
