//! Sequential minimal optimization for one binary machine with a free bias (Platt 1998), second-order working sets (Fan, Chen & Lin 2005).
//!
//! In β_i = α_i y_i the dual reads
//!
//! max Σ y_i β_i − ½ βᵀKβ,  Σβ_i = 0,  β_i between 0 and C_i y_i
//!
//! and with the residuals F = y − Kβ a step moves a pair (i, j) by ±δ, δ = (F_i − F_j)/a, a = K_ii + K_jj − 2K_ij, cut at the
//! box. i has the largest F among those that may rise; j, among those that may fall, the largest decrease (F_i − F_j)²/a.
//! At the optimum no F that may rise exceeds one that may fall; the excess is the violation.
//!
//! On an indefinite matrix a may be ≤ 0. Then τ = 1e-12 stands in for it (LIBSVM's rule), the step runs to the box, the objective still
//! improves with every step, and the end is a stationary point, not a global optimum.
//!
//! Cost: three passes over n numbers and two rows of K a step; memory O(n) in addition to the rows.

use crate::svm::dual_descent::TAU;
use crate::svm::{DenseRows, SolveReport, Tolerance};

/// A binary machine in training; β is kept between solves.
pub(super) struct Smo<'a> {
    gram: &'a DenseRows<'a>,
    diagonal: &'a [f64],
    signs: Vec<f64>,
    beta: Vec<f64>,
    /// F = y − Kβ
    residuals: Vec<f64>,
}

/// The extremes of the residuals: over those that may rise (with its index), and over those that may fall.
struct Extremes {
    rising: (usize, f64),
    falling: f64,
}

impl<'a> Smo<'a> {
    /// Starts at β = 0. `diagonal[i]` = K_ii.
    pub(super) fn new(gram: &'a DenseRows<'a>, diagonal: &'a [f64], signs: Vec<f64>) -> Self {
        let (beta, residuals) = (vec![0.0; signs.len()], signs.clone());
        Self { gram, diagonal, signs, beta, residuals }
    }

    /// β_i = α_i y_i.
    pub(super) fn coefficients(&self) -> &[f64] {
        &self.beta
    }

    /// Continues from the present β to a stationary point for these costs C_i; answers the bias and how it was found.
    pub(super) fn solve(&mut self, costs: &[f64], tolerance: Tolerance, max_epochs: usize) -> (f64, SolveReport) {
        self.rescale(costs);
        let n = self.signs.len();
        let max_steps = max_epochs.saturating_mul(n);
        let mut steps = 0;
        loop {
            let extremes = self.extremes(costs);
            let violation = (extremes.rising.1 - extremes.falling).max(0.0);
            let measure = match tolerance {
                Tolerance::Violation(wanted) => violation <= wanted,
                // a measurement costs a pass, like a third of a step: take one in ten
                Tolerance::DualityGap(_) => steps % 10 == 0,
            };
            if measure || steps >= max_steps || violation == 0.0 {
                let (bias, mut report) = self.report(costs, violation);
                report.epochs = steps.div_ceil(n);
                report.converged = report.meets(tolerance);
                if report.converged || steps >= max_steps || violation == 0.0 {
                    return (bias, report);
                }
            }
            self.step(costs, extremes.rising);
            steps += 1;
        }
    }

    /// The box of β_i.
    fn bounds(&self, i: usize, cost: f64) -> (f64, f64) {
        if self.signs[i] > 0.0 { (0.0, cost) } else { (-cost, 0.0) }
    }

    /// Room of β_i upwards and downwards within its box.
    fn room(&self, i: usize, cost: f64) -> (f64, f64) {
        let (low, high) = self.bounds(i, cost);
        (high - self.beta[i], self.beta[i] - low)
    }

    fn extremes(&self, costs: &[f64]) -> Extremes {
        let mut extremes = Extremes { rising: (0, f64::NEG_INFINITY), falling: f64::INFINITY };
        for (i, (&residual, &cost)) in self.residuals.iter().zip(costs).enumerate() {
            let (up, down) = self.room(i, cost);
            if up > 0.0 && residual > extremes.rising.1 {
                extremes.rising = (i, residual);
            }
            if down > 0.0 && residual < extremes.falling {
                extremes.falling = residual;
            }
        }
        extremes
    }

    /// Pairs `i` with the index that promises the largest gain, and moves both.
    fn step(&mut self, costs: &[f64], (i, top): (usize, f64)) {
        let row = self.gram.row(i);
        let curvature = |j: usize| {
            let a = self.diagonal[i] + self.diagonal[j] - 2.0 * row[j];
            if a > 0.0 { a } else { TAU }
        };
        let mut best = (i, 0.0);
        for (j, (&residual, &cost)) in self.residuals.iter().zip(costs).enumerate() {
            let excess = top - residual;
            if excess > 0.0 && self.room(j, cost).1 > 0.0 {
                let gain = excess * excess / curvature(j);
                if gain > best.1 {
                    best = (j, gain);
                }
            }
        }
        let j = best.0;
        if j == i {
            return;
        }
        let other = self.gram.row(j);
        let (up, down) = (self.room(i, costs[i]).0, self.room(j, costs[j]).1);
        let step = ((top - self.residuals[j]) / curvature(j)).min(up).min(down);
        // a step that was cut ends exactly on the bound that cut it
        self.beta[i] = if step == up { self.bounds(i, costs[i]).1 } else { self.beta[i] + step };
        self.beta[j] = if step == down { self.bounds(j, costs[j]).0 } else { self.beta[j] - step };
        for ((residual, a), b) in self.residuals.iter_mut().zip(row).zip(other) {
            *residual -= step * (a - b);
        }
    }

    /// The bias that the free β agree on (or the middle of what the bounded ones allow), and the objectives with it.
    fn report(&self, costs: &[f64], violation: f64) -> (f64, SolveReport) {
        let (mut free, mut count) = (0.0, 0usize);
        for (i, &cost) in costs.iter().enumerate() {
            let (up, down) = self.room(i, cost);
            if up > 0.0 && down > 0.0 {
                free += self.residuals[i];
                count += 1;
            }
        }
        let bias = if count > 0 {
            free / count as f64
        } else {
            let extremes = self.extremes(costs);
            0.5 * (extremes.rising.1 + extremes.falling)
        };
        let (mut linear, mut quadratic, mut losses) = (0.0, 0.0, 0.0);
        for (i, (&beta, &cost)) in self.beta.iter().zip(costs).enumerate() {
            let score = self.signs[i] - self.residuals[i];
            linear += beta.abs();
            quadratic += beta * score;
            losses += cost * (1.0 - self.signs[i] * (score + bias)).max(0.0);
        }
        let support = self.beta.iter().filter(|b| **b != 0.0).count();
        let (primal, dual) = (0.5 * quadratic + losses, linear - 0.5 * quadratic);
        (bias, SolveReport { primal, dual, violation, epochs: 0, support, converged: false })
    }

    /// Takes the β of other costs to the best multiple tβ that fits the new box: t* = Σ|β| / βᵀKβ, cut at the box.
    fn rescale(&mut self, costs: &[f64]) {
        let (mut linear, mut quadratic, mut room) = (0.0, 0.0, f64::INFINITY);
        for (i, (&beta, &cost)) in self.beta.iter().zip(costs).enumerate().filter(|(_, (b, _))| **b != 0.0) {
            linear += beta.abs();
            quadratic += beta * (self.signs[i] - self.residuals[i]);
            room = room.min(cost / beta.abs());
        }
        if linear == 0.0 {
            return;
        }
        let factor = if quadratic > 0.0 { (linear / quadratic).min(room) } else { room };
        for (i, &cost) in costs.iter().enumerate() {
            let scaled = self.beta[i] * factor;
            // rounding may leave a bounded β one ulp off its bound: put it there
            let at_bound = scaled.abs() > cost * (1.0 - 1e-15);
            self.beta[i] = if at_bound { self.signs[i] * cost } else { scaled };
            self.residuals[i] = self.signs[i] - factor * (self.signs[i] - self.residuals[i]);
        }
    }
}
