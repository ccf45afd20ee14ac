//! Popularity of items, and the link that uses it: K ≈ q(p, h_i + h_j, h_i h_j).
//!
//! ```text
//! c_l = mean_{j≠l} K_jl        h_i = mean_{l∈S, l≠i} (K_il − c_l) / sd
//! K_ij ≈ least squares on [1, h_i + h_j, h_i h_j, p_a, p_a², p_a p_b]
//! ```
//! Rows of K differ mostly by how well an item scores with everybody, which a proxy of pairs can't see and a few evaluated
//! columns tell for nothing. Where the link is fitted to an entry of column l, that column is left out of h, or the fit would
//! read its own answer. This project's own (ALGORITHMS_2 §11). Cost: O(ns), and O(F²) a row of the fit, F its few terms.

use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

/// Ridge of the link, as a part of the number of rows, on every term but the constant.
const RIDGE: f64 = 1e-4;

/// Mean of what an item's evaluated scores exceed those of others by, in standard deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct Popularity {
    values: Vec<f64>,
    /// Σ_{l∈S, l≠i} (K_il − c_l), and how many they are.
    sums: Vec<(f64, u32)>,
    /// c_l of each column.
    centers: Vec<f64>,
    deviation: f64,
}

impl Popularity {
    /// No column is known: all items are alike.
    pub fn unknown(len: usize) -> Self {
        Self { values: vec![0.0; len], sums: vec![(0.0, 0); len], centers: Vec::new(), deviation: 1.0 }
    }

    /// From evaluated columns (n × s, of the items `columns`); what is not finite counts as not evaluated, and the diagonal
    /// is not read.
    ///
    /// # Panics
    /// When there is not one column a name.
    pub fn of(columns: &[usize], scores: ArrayView2<'_, f64>) -> Self {
        assert_eq!(columns.len(), scores.ncols(), "columns and their items");
        let is_seen = |i: usize, l: usize, score: f64| i != l && score.is_finite();
        let center = |(a, &l): (usize, &usize)| {
            let seen = scores.column(a).into_iter().enumerate().filter(|&(i, &score)| is_seen(i, l, score));
            let (sum, count) = seen.fold((0.0, 0_u32), |(sum, count), (_, score)| (sum + score, count + 1));
            sum / f64::from(count.max(1))
        };
        let centers: Vec<f64> = columns.iter().enumerate().map(center).collect();
        let sum = |(i, row): (usize, ndarray::ArrayView1<'_, f64>)| {
            let seen = row.into_iter().zip(columns).zip(&centers).filter(|&((&score, &l), _)| is_seen(i, l, score));
            seen.fold((0.0, 0), |(sum, count), ((score, _), center)| (sum + score - center, count + 1))
        };
        let sums: Vec<(f64, u32)> = scores.rows().into_iter().enumerate().map(sum).collect();
        let values: Vec<f64> = sums.iter().map(|&(sum, count)| mean(sum, count)).collect();
        let n = values.len().max(1) as f64;
        let average = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - average).powi(2)).sum::<f64>() / n;
        let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        Self { values: values.iter().map(|value| value / deviation).collect(), sums, centers, deviation }
    }

    /// True where columns were read.
    pub fn is_known(&self) -> bool {
        !self.centers.is_empty()
    }

    /// h of all items, length n.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// h_i without what some columns say, each given by its place and K of item i there.
    pub fn without(&self, i: usize, columns: impl IntoIterator<Item = (usize, f64)>) -> f64 {
        let subtract = |(sum, count): (f64, u32), (a, score): (usize, f64)| {
            (sum - (score - self.centers[a]), count.saturating_sub(1))
        };
        let (sum, count) = columns.into_iter().fold(self.sums[i], subtract);
        mean(sum, count) / self.deviation
    }

    /// h of a new item from its scores with the columns, in their order.
    pub fn of_new(&self, scores: impl IntoIterator<Item = f64>) -> f64 {
        let seen = scores.into_iter().zip(&self.centers).filter(|(score, _)| score.is_finite());
        let (sum, count) = seen.fold((0.0, 0), |(sum, count), (score, center)| (sum + score - center, count + 1));
        mean(sum, count) / self.deviation
    }

    /// Every number that decides it, for an identity.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().chain(&self.centers).copied().chain([self.deviation])
    }
}

fn mean(sum: f64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// One row of the fit: an evaluated pair.
#[derive(Debug, Clone, Copy)]
pub struct LinkRow<'a> {
    /// h of the two items.
    pub popularity: (f64, f64),
    /// Scores of the proxies.
    pub proxies: &'a [f64],
    /// K.
    pub score: f64,
}

/// A fitted link.
#[derive(Debug, Clone, PartialEq)]
pub struct HubLink {
    has_popularity: bool,
    /// Mean and deviation of each proxy over the rows of the fit.
    standards: Vec<(f64, f64)>,
    coefficients: Vec<f64>,
}

impl HubLink {
    /// Fits to rows that come in `chunks`, each handed over by `rows`; the same for any number of threads. Without rows the
    /// link is 0.
    pub fn fit<R>(proxies: usize, has_popularity: bool, chunks: usize, rows: R) -> Self
    where
        R: Fn(usize, &mut dyn FnMut(LinkRow<'_>)) + Sync,
    {
        let sums = in_chunks(chunks, |chunk| {
            let (mut count, mut sums) = (0.0, Array1::zeros(proxies));
            rows(chunk, &mut |row| {
                count += 1.0;
                row.proxies.iter().zip(&mut sums).for_each(|(proxy, sum)| *sum += proxy);
            });
            (count, sums)
        });
        let add = |(count, sums): (f64, Array1<f64>), (more, others): (f64, Array1<f64>)| (count + more, sums + others);
        let (count, sums) = sums.into_iter().fold((0.0, Array1::zeros(proxies)), add);
        let centered = Self {
            has_popularity,
            standards: sums.iter().map(|sum| (sum / f64::max(count, 1.0), 1.0)).collect(),
            coefficients: Vec::new(),
        };
        let width = centered.width();
        let parts = in_chunks(chunks, |chunk| {
            let (mut gram, mut right) = (Array2::<f64>::zeros((width, width)), Array1::<f64>::zeros(width));
            let mut terms = vec![0.0; width];
            rows(chunk, &mut |row| {
                centered.terms(row.popularity, row.proxies, &mut terms);
                for (a, &term) in terms.iter().enumerate() {
                    right[a] += term * row.score;
                    terms[..=a].iter().enumerate().for_each(|(b, other)| gram[[a, b]] += term * other);
                }
            });
            (gram, right)
        });
        let zero = (Array2::zeros((width, width)), Array1::zeros(width));
        let (gram, right) = parts.into_iter().fold(zero, |sum, part| (sum.0 + part.0, sum.1 + part.1));
        centered.solve(count, gram, right)
    }

    /// The normal equations of centred proxies, standardised.
    fn solve(self, count: f64, mut gram: Array2<f64>, mut right: Array1<f64>) -> Self {
        let first = 1 + if self.has_popularity { 2 } else { 0 };
        let proxies = self.standards.len();
        let deviation = |a: usize| {
            let variance = gram[[first + a, first + a]] / count.max(1.0);
            // a proxy that is constant but for rounding says nothing
            let rounding = (self.standards[a].0 * f64::EPSILON).powi(2) * 16.0;
            if variance > rounding { variance.sqrt() } else { 1.0 }
        };
        let standards: Vec<(f64, f64)> = (0..proxies).map(|a| (self.standards[a].0, deviation(a))).collect();
        let mut scales = vec![1.0; first];
        scales.extend(standards.iter().map(|(_, deviation)| deviation));
        scales.extend(squares(proxies).map(|(a, b)| standards[a].1 * standards[b].1));
        for a in 0..scales.len() {
            right[a] /= scales[a];
            (0..=a).for_each(|b| gram[[a, b]] /= scales[a] * scales[b]);
            gram[[a, a]] += if a == 0 { 0.0 } else { RIDGE * count };
        }
        let coefficients = if count > 0.0 { solve_spd(gram, right.to_vec()) } else { None };
        Self { coefficients: coefficients.unwrap_or_else(|| vec![0.0; scales.len()]), standards, ..self }
    }

    fn width(&self) -> usize {
        let proxies = self.standards.len();
        1 + if self.has_popularity { 2 } else { 0 } + proxies + proxies * (proxies + 1) / 2
    }

    fn terms(&self, (one, other): (f64, f64), proxies: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
        let mut place = 1;
        if self.has_popularity {
            (out[1], out[2]) = (one + other, one * other);
            place = 3;
        }
        let m = proxies.len();
        for (a, (proxy, (center, deviation))) in proxies.iter().zip(&self.standards).enumerate() {
            out[place + a] = (proxy - center) / deviation;
        }
        for (k, (a, b)) in squares(m).enumerate() {
            out[place + m + k] = out[place + a] * out[place + b];
        }
    }

    /// The link at one pair: h of its items, and the scores of the proxies.
    #[inline]
    pub fn at(&self, (one, other): (f64, f64), proxies: &[f64]) -> f64 {
        let mut value = self.coefficients[0];
        let mut rest = &self.coefficients[1..];
        if self.has_popularity {
            value += rest[0] * (one + other) + rest[1] * one * other;
            rest = &rest[2..];
        }
        let standard = |a: usize| (proxies[a] - self.standards[a].0) / self.standards[a].1;
        let (linear, mut quadratic) = rest.split_at(self.standards.len());
        for (a, coefficient) in linear.iter().enumerate() {
            let t = standard(a);
            let (row, later) = quadratic.split_at(linear.len() - a);
            value += t * (coefficient + row.iter().enumerate().map(|(b, c)| c * standard(a + b)).sum::<f64>());
            quadratic = later;
        }
        value
    }

    /// Every number that decides it, for an identity.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.coefficients.iter().copied().chain(self.standards.iter().flat_map(|&(center, scale)| [center, scale]))
    }
}

/// (a, b) with a ≤ b, in the order of the terms.
fn squares(proxies: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..proxies).flat_map(move |a| (a..proxies).map(move |b| (a, b)))
}

fn in_chunks<T: Send>(chunks: usize, part: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..chunks).into_par_iter().map(part).collect()
}

/// Solves A x = b by Cholesky, of a symmetric A whose lower triangle is read; `None` where A is not positive definite.
pub fn solve_spd(mut matrix: Array2<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    let matrix = matrix.as_slice_mut()?;
    for a in 0..size {
        let (before, row) = matrix.split_at_mut(a * size);
        for b in 0..a {
            let other = &before[b * size..b * size + b + 1];
            let dot: f64 = row[..b].iter().zip(&other[..b]).map(|(x, y)| x * y).sum();
            row[b] = (row[b] - dot) / other[b];
        }
        let pivot = row[a] - row[..a].iter().map(|x| x * x).sum::<f64>();
        // a pivot that is all rounding belongs to no positive definite matrix
        if pivot.is_nan() || pivot <= row[a] * f64::EPSILON * size as f64 {
            return None;
        }
        row[a] = pivot.sqrt();
        right[a] = (right[a] - row[..a].iter().zip(&right[..a]).map(|(x, y)| x * y).sum::<f64>()) / row[a];
    }
    for a in (0..size).rev() {
        right[a] /= matrix[a * size + a];
        let value = right[a];
        right[..a].iter_mut().zip(&matrix[a * size..a * size + a]).for_each(|(x, l)| *x -= l * value);
    }
    Some(right)
}
