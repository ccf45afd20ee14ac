//! The multi-class machine of Crammer & Singer (2001) by the sequential dual method (Keerthi, Sundararajan, Chang, Hsieh & Lin 2008).
//!
//! primal: ½ Σ_m ‖w_m‖² + Σ_i C_i max_m (w_m·x_i + [m ≠ y_i] − w_{y_i}·x_i)
//!
//! dual: max −½ Σ_m ‖w_m‖² + Σ_i α_i^{y_i},  w_m = Σ_i α_i^m x_i,  Σ_m α_i^m = 0,  α_i^m ≤ C_i [m = y_i]
//!
//! A visit of sample i minimizes over all its α_i^m exactly: with A = ‖x_i‖² and B_m = w_m·x_i + [m ≠ y_i] − A α_i^m the answer is
//! α_i^m = min(C_i [m = y_i], (β − B_m) / A), where β is found by sorting. Classes whose α is at its bound and whose gradient is
//! below every gradient that may still rise are set aside for that sample until the next audit.
//!
//! Cost: a visit is k dot products, a sort of k numbers, and one addition for each α that moves; memory O(n·k + k·d) in addition to the
//! rows. Samples are visited one after the other, so one machine uses one thread.

use std::ops::Range;

use ndarray::Array2;
use rand::Rng as _;

use landmark_core::stream::Rng;

use crate::svm::descent::{Audit, Descent, DescentOptions, descend};
use crate::svm::{Rows, SolveReport};

/// A multi-class machine in training; α is kept between solves, so that a path of costs starts warm.
pub(super) struct CrammerSinger<'a, R> {
    rows: &'a R,
    labels: &'a [usize],
    curvatures: &'a [f64],
    classes: usize,
    options: DescentOptions,
    /// n × k
    alpha: Array2<f64>,
    /// k × width, row after row
    weights: Vec<f64>,
}

impl<'a, R: Rows> CrammerSinger<'a, R> {
    /// Starts at α = 0. `curvatures[i]` = ‖x_i‖².
    pub(super) fn new(
        rows: &'a R,
        labels: &'a [usize],
        classes: usize,
        curvatures: &'a [f64],
        options: DescentOptions,
    ) -> Self {
        let (alpha, weights) = (Array2::zeros((rows.len(), classes)), vec![0.0; classes * rows.width()]);
        Self { rows, labels, curvatures, classes, options, alpha, weights }
    }

    /// k × width, row after row.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Continues from the present α to the optimum for these costs C_i.
    pub(super) fn solve(&mut self, costs: &[f64], rng: &mut Rng) -> SolveReport {
        self.rescale(costs);
        let (n, k) = self.alpha.dim();
        let options = self.options;
        let visit = Visit { gradient: vec![0.0; k], wanted: vec![0.0; k], sorted: Vec::with_capacity(k) };
        let open = vec![(0..k).collect(); n];
        descend(&mut Costed { machine: self, costs, active: (0..n).collect(), open, visit }, &options, rng)
    }

    /// Takes the α of other costs to the best multiple tα that fits the new box: t* = Σ α_i^{y_i} / Σ‖w_m‖², cut at the box.
    fn rescale(&mut self, costs: &[f64]) {
        let (mut linear, mut room) = (0.0, f64::INFINITY);
        for (i, &label) in self.labels.iter().enumerate() {
            let alpha = self.alpha[[i, label]];
            if alpha > 0.0 {
                linear += alpha;
                room = room.min(costs[i] / alpha);
            }
        }
        if linear > 0.0 {
            let quadratic = squared_norm(&self.weights);
            let factor = if quadratic > 0.0 { (linear / quadratic).min(room) } else { room };
            self.alpha *= factor;
            self.weights.iter_mut().for_each(|w| *w *= factor);
        }
    }
}

/// The machine on its way to the optimum for given costs.
struct Costed<'m, 'a, R> {
    machine: &'m mut CrammerSinger<'a, R>,
    costs: &'m [f64],
    active: Vec<usize>,
    /// The classes of each sample that have not been set aside.
    open: Vec<Vec<usize>>,
    visit: Visit,
}

struct Visit {
    gradient: Vec<f64>,
    wanted: Vec<f64>,
    sorted: Vec<f64>,
}

impl<R: Rows> Costed<'_, '_, R> {
    fn span(&self, class: usize) -> Range<usize> {
        let width = self.machine.rows.width();
        class * width..(class + 1) * width
    }

    /// C_i where `class` is the label of sample `i`, else 0.
    fn upper(&self, i: usize, class: usize) -> f64 {
        if class == self.machine.labels[i] { self.costs[i] } else { 0.0 }
    }

    /// Fills the gradients of the open classes of sample `i`; answers (max, min over the α that may still rise).
    fn gradients(&mut self, i: usize) -> (f64, f64) {
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for &m in &self.open[i] {
            let margin = f64::from(u8::from(m != self.machine.labels[i]));
            let gradient = self.machine.rows.score(i, &self.machine.weights[self.span(m)]) + margin;
            self.visit.gradient[m] = gradient;
            highest = highest.max(gradient);
            if self.machine.alpha[[i, m]] < self.upper(i, m) {
                lowest = lowest.min(gradient);
            }
        }
        (highest, lowest)
    }

    /// Sets aside the classes of sample `i` whose α sits at its bound and whose gradient keeps it there.
    fn shrink(&mut self, i: usize, lowest: f64) {
        let mut open = std::mem::take(&mut self.open[i]);
        open.retain(|&m| self.machine.alpha[[i, m]] < self.upper(i, m) || self.visit.gradient[m] >= lowest);
        self.open[i] = open;
    }

    /// Minimizes the dual over the open α of sample `i`.
    fn minimize(&mut self, i: usize) {
        let curvature = self.machine.curvatures[i];
        if curvature <= 0.0 {
            return self.minimize_without_features(i);
        }
        let offset = |visit: &Visit, alpha: &Array2<f64>, m: usize| visit.gradient[m] - curvature * alpha[[i, m]];
        self.visit.sorted.clear();
        for &m in &self.open[i] {
            // B_m + A · (upper bound), the value of β from which on class m sits at its bound
            let turning = offset(&self.visit, &self.machine.alpha, m) + curvature * self.upper(i, m);
            self.visit.sorted.push(turning);
        }
        self.visit.sorted.sort_by(|a, b| b.total_cmp(a));
        // with F the classes that turn above β, Σ_m α^m = 0 reads |F|·β = Σ_F (turning points) − A·C_i, wherever the label is
        let mut beta = self.visit.sorted[0] - curvature * self.costs[i];
        let mut count = 1.0;
        for &turning in &self.visit.sorted[1..] {
            if beta >= count * turning {
                break;
            }
            beta += turning;
            count += 1.0;
        }
        beta /= count;
        for &m in &self.open[i] {
            let free = (beta - offset(&self.visit, &self.machine.alpha, m)) / curvature;
            self.visit.wanted[m] = free.min(self.upper(i, m));
        }
    }

    /// A row of zeros only enters the linear term: its α of the label rises to its bound, at the expense of any other class.
    fn minimize_without_features(&mut self, i: usize) {
        let label = self.machine.labels[i];
        let payer = usize::from(label == 0);
        for m in 0..self.machine.classes {
            self.visit.wanted[m] = if m == label { self.costs[i] } else { 0.0 };
        }
        self.visit.wanted[payer] = -self.costs[i];
    }

    /// Moves the open α of sample `i` to where [`minimize`](Self::minimize) wants them.
    fn step(&mut self, i: usize) {
        for &m in &self.open[i] {
            let step = self.visit.wanted[m] - self.machine.alpha[[i, m]];
            if step != 0.0 {
                self.machine.alpha[[i, m]] = self.visit.wanted[m];
                let span = self.span(m);
                self.machine.rows.add(i, step, &mut self.machine.weights[span]);
            }
        }
    }
}

impl<R: Rows> Descent for Costed<'_, '_, R> {
    fn samples(&self) -> usize {
        self.machine.rows.len()
    }

    fn active(&self) -> usize {
        self.active.len()
    }

    fn epoch(&mut self, rng: &mut Rng) -> f64 {
        let mut violation = 0.0f64;
        let mut left = self.active.len();
        let mut place = 0;
        while place < left {
            self.active.swap(place, rng.gen_range(place..left));
            let i = self.active[place];
            let (highest, lowest) = self.gradients(i);
            if self.machine.options.shrinking {
                self.shrink(i, lowest);
            }
            if self.open[i].len() < 2 {
                left -= 1;
                self.active.swap(place, left);
                continue;
            }
            place += 1;
            violation = violation.max(highest - lowest);
            if highest > lowest {
                self.minimize(i);
                self.step(i);
            }
        }
        self.active.truncate(left);
        violation
    }

    fn audit(&mut self) -> Audit {
        let (mut losses, mut linear, mut violation, mut support) = (0.0, 0.0, 0.0f64, 0);
        self.active.clear();
        for i in 0..self.samples() {
            let label = self.machine.labels[i];
            self.open[i].clear();
            self.open[i].extend(0..self.machine.classes);
            let (highest, lowest) = self.gradients(i);
            let alpha = self.machine.alpha[[i, label]];
            losses += self.costs[i] * (highest - self.visit.gradient[label]);
            linear += alpha;
            support += usize::from(alpha > 0.0);
            violation = violation.max(highest - lowest);
            if !self.machine.options.shrinking || highest > lowest {
                self.active.push(i);
            }
        }
        let quadratic = squared_norm(&self.machine.weights);
        Audit { primal: 0.5 * quadratic + losses, dual: linear - 0.5 * quadratic, violation, support }
    }
}

fn squared_norm(weights: &[f64]) -> f64 {
    weights.iter().map(|w| w * w).sum()
}
