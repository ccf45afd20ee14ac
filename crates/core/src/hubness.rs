//! Hubness of items, and the link that uses it: K ≈ q(p, h_i + h_j, h_i h_j).
//!
//! ```text
//! c_l = mean_{j≠l} K_jl        h_i = mean_{l∈S, l≠i} (K_il − c_l) / sd
//! K_ij ≈ least squares on [1, h_i + h_j, h_i h_j, p_a, p_a², p_a p_b]
//! ```
//! Rows of K differ mostly by how well an item scores with everybody, which a proxy of pairs can't see and a few evaluated
//! columns show at no extra cost. Where the link is fitted to an entry of column l, that column is left out of h, or the fit would
//! read its own answer. Scores and proxies are multiplied by powers of two that keep their products within range, so that their unit does not matter.
//! This project's own. Cost: O(ns), and O(F²) a row of the fit, F its few terms.

use ndarray::{Array1, ArrayView2};
use rayon::prelude::*;

use crate::balance::balancing;
use crate::linalg::{NotPositiveDefinite, RidgeRegression};

/// Ridge of the link, as a part of the number of rows, on every term but the constant.
const RIDGE: f64 = 1e-4;

/// Mean of what an item's evaluated scores exceed those of others by, in standard deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct Hubness {
    values: Vec<f64>,
    /// Σ_{l∈S, l≠i} (K_il − c_l), and how many they are.
    sums: Vec<(f64, u32)>,
    centers: Vec<f64>,
    deviation: f64,
}

impl Hubness {
    /// No column is known: all items are alike.
    pub fn unknown(len: usize) -> Self {
        Self { values: vec![0.0; len], sums: vec![(0.0, 0); len], centers: Vec::new(), deviation: 1.0 }
    }

    /// From evaluated columns (n × s, of the items `columns`); what is not finite counts as not evaluated, and the diagonal
    /// is not read.
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
        // squares of scores may be out of range
        let scale = balancing(values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs())));
        let average = values.iter().map(|value| scale * value).sum::<f64>() / n;
        let variance = values.iter().map(|value| (scale * value - average).powi(2)).sum::<f64>() / n;
        let deviation = if variance > 0.0 { variance.sqrt() / scale } else { 1.0 };
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

    /// h_i without the scores of some columns, each given by its place and K of item i there.
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
    pub hubness: (f64, f64),
    pub proxies: &'a [f64],
    /// K.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HubLink {
    has_hubness: bool,
    /// Mean and deviation of each proxy over the rows of the fit.
    standards: Vec<(f64, f64)>,
    coefficients: Vec<f64>,
    fault: Option<NotPositiveDefinite>,
}

/// What the first reading of the rows finds: their number, the sums of the proxies and of the score, and the largest of each.
struct Totals {
    count: f64,
    sums: Array1<f64>,
    largest: Array1<f64>,
}

impl Totals {
    /// Of proxies and, last, the score, each multiplied by its scale.
    fn of<R>(proxies: usize, chunks: usize, rows: &R, scales: Option<&[f64]>) -> Self
    where
        R: Fn(usize, &mut dyn FnMut(LinkRow<'_>)) + Sync,
    {
        let none = || Self { count: 0.0, sums: Array1::zeros(proxies + 1), largest: Array1::zeros(proxies + 1) };
        let parts = in_chunks(chunks, |chunk| {
            let mut part = none();
            rows(chunk, &mut |row| {
                part.count += 1.0;
                for (k, value) in row.proxies.iter().chain([&row.score]).enumerate() {
                    let value = scales.map_or(*value, |scales| scales[k] * value);
                    part.sums[k] += value;
                    part.largest[k] = part.largest[k].max(value.abs());
                }
            });
            part
        });
        parts.into_iter().fold(none(), |mut all, part| {
            all.largest.zip_mut_with(&part.largest, |all, part| *all = all.max(*part));
            Self { count: all.count + part.count, sums: all.sums + part.sums, ..all }
        })
    }
}

impl HubLink {
    /// Fits to rows that come in `chunks`, each handed over by `rows`; the same for any number of threads. Without rows the
    /// link is 0. Rows whose least squares have no solution, because a number in them is not finite, give the mean score everywhere, and
    /// [`fault`](Self::fault) states why.
    pub fn fit<R>(proxies: usize, has_hubness: bool, chunks: usize, rows: R) -> Self
    where
        R: Fn(usize, &mut dyn FnMut(LinkRow<'_>)) + Sync,
    {
        let mut totals = Totals::of(proxies, chunks, &rows, None);
        let scales: Vec<f64> = totals.largest.iter().map(|&largest| balancing(largest)).collect();
        if scales.iter().any(|&scale| scale != 1.0) {
            // the sums themselves may be out of range
            totals = Totals::of(proxies, chunks, &rows, Some(&scales));
        }
        let (count, score_scale) = (totals.count, scales[proxies]);
        let mean = |k: usize| totals.sums[k] / f64::max(count, 1.0);
        let centered = Self {
            has_hubness,
            standards: (0..proxies).map(|k| (mean(k), 1.0)).collect(),
            coefficients: Vec::new(),
            fault: None,
        };
        let width = centered.width();
        let parts = in_chunks(chunks, |chunk| {
            let mut part = RidgeRegression::new(width);
            let (mut terms, mut scaled) = (vec![0.0; width], vec![0.0; proxies]);
            rows(chunk, &mut |row| {
                scaled.iter_mut().zip(row.proxies).zip(&scales).for_each(|((out, proxy), scale)| *out = scale * proxy);
                centered.terms(row.hubness, &scaled, &mut terms);
                part.add(&terms, score_scale * row.score);
            });
            part
        });
        let regression = parts.into_iter().fold(RidgeRegression::new(width), RidgeRegression::join);
        let mut link = centered.solve(count, regression);
        if link.fault.is_some() {
            link.coefficients.fill(0.0);
            link.coefficients[0] = mean(proxies);
        }
        link.coefficients.iter_mut().for_each(|coefficient| *coefficient /= score_scale);
        for ((center, deviation), scale) in link.standards.iter_mut().zip(&scales) {
            (*center, *deviation) = (*center / scale, *deviation / scale);
        }
        link
    }

    /// Why the link is the mean score and nothing else; `None` for a link that was solved for.
    pub fn fault(&self) -> Option<NotPositiveDefinite> {
        self.fault
    }

    fn solve(self, count: f64, regression: RidgeRegression) -> Self {
        let first = 1 + if self.has_hubness { 2 } else { 0 };
        let proxies = self.standards.len();
        let deviation = |a: usize| {
            let variance = regression.squares(first + a) / count.max(1.0);
            // a proxy that is constant but for rounding carries no information
            let rounding = (self.standards[a].0 * f64::EPSILON).powi(2) * 16.0;
            if variance > rounding { variance.sqrt() } else { 1.0 }
        };
        let standards: Vec<(f64, f64)> = (0..proxies).map(|a| (self.standards[a].0, deviation(a))).collect();
        let mut scales = vec![1.0; first];
        scales.extend(standards.iter().map(|(_, deviation)| deviation));
        scales.extend(squares(proxies).map(|(a, b)| standards[a].1 * standards[b].1));
        // a pivot that is all rounding belongs to no positive definite matrix
        let tolerance = f64::EPSILON * scales.len() as f64;
        let solved = if count > 0.0 {
            regression.scaled(&scales).solve(RIDGE * count, tolerance)
        } else {
            Ok(vec![0.0; scales.len()])
        };
        let fault = solved.as_ref().err().copied();
        let coefficients = solved.unwrap_or_else(|_| vec![0.0; scales.len()]);
        Self { coefficients, standards, fault, ..self }
    }

    fn width(&self) -> usize {
        let proxies = self.standards.len();
        1 + if self.has_hubness { 2 } else { 0 } + proxies + proxies * (proxies + 1) / 2
    }

    fn terms(&self, (one, other): (f64, f64), proxies: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
        let mut place = 1;
        if self.has_hubness {
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
        if self.has_hubness {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_that_has_no_solution_gives_the_mean_score_with_the_reason_and_never_zero() {
        let fit = |bad: f64| {
            HubLink::fit(1, false, 1, |_, take| {
                for proxy in [0.0, 1.0, bad, 3.0] {
                    take(LinkRow { hubness: (0.0, 0.0), proxies: &[proxy], score: 5.0 });
                }
            })
        };
        for bad in [f64::NAN, f64::INFINITY] {
            let link = fit(bad);
            let fault = link.fault().expect("no solution");
            assert!(!fault.is_finite(), "{fault}");
            assert_eq!(link.coefficients[0], 5.0);
        }
        assert!(fit(2.0).fault().is_none());
        // without rows the link is 0, as documented
        let none = HubLink::fit(1, true, 0, |_, _| ());
        assert_eq!((none.fault(), none.at((1.0, 1.0), &[1.0])), (None, 0.0));
    }
}
