//! Dual coordinate descent for one binary machine (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008).
//!
//! Visits the coordinates in random order and minimizes the dual exactly along each:
//!
//! G = y_i w·x_i − 1 + D_i α_i,  α_i ← clip(α_i − G / (x_i·x_i + D_i), 0, U_i),  w ← w + Δα_i y_i x_i
//!
//! with D_i = 0, U_i = C_i (hinge) or D_i = 1/2C_i, U_i = ∞ (squared hinge). Coordinates that the gradients of the last epoch
//! predict to stay at their bound are set aside (shrinking, §3.2 there) until the next audit (see [`descent`](super::descent)).
//!
//! A coordinate with x_i·x_i + D_i ≤ 0 (an indefinite Gram matrix) uses a tiny positive curvature instead, which
//! takes the step to the end of the box: the objective still decreases with every step.
//!
//! Cost: 4d flops a visit (the second half only where α moves); memory O(n + d) in addition to the rows.

use rand::Rng as _;

use landmark_core::stream::Rng;

use super::descent::{Audit, Descent, DescentOptions, descend};
use super::{Loss, Rows, SolveReport};

/// Curvature used in place of a non-positive one (LIBSVM's τ).
pub(crate) const TAU: f64 = 1e-12;

/// Gradients below the first at α = U, or above the second at α = 0, are set aside.
const NO_BOUNDS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A binary machine in training: rows, signs y_i = ±1, and the dual variables with their state.
pub(crate) struct DualDescent<'a, R> {
    rows: &'a R,
    signs: Vec<f64>,
    curvatures: &'a [f64],
    options: DescentOptions,
    alpha: Vec<f64>,
    state: Vec<f64>,
    active: Vec<usize>,
}

impl<'a, R: Rows> DualDescent<'a, R> {
    /// Starts at α = 0. `curvatures[i]` = x_i·x_i, shared by the machines of all classes.
    pub(crate) fn new(rows: &'a R, signs: Vec<f64>, curvatures: &'a [f64], options: DescentOptions) -> Self {
        let (n, width) = (rows.len(), rows.width());
        Self {
            rows,
            signs,
            curvatures,
            options,
            alpha: vec![0.0; n],
            state: vec![0.0; width],
            active: (0..n).collect(),
        }
    }

    /// The state: w for features, the scores for a Gram matrix.
    pub(crate) fn state(&self) -> &[f64] {
        &self.state
    }

    /// α_i y_i.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        self.alpha.iter().zip(&self.signs).map(|(a, y)| a * y).collect()
    }

    /// Continues from the present α to the optimum for these costs C_i.
    pub(crate) fn solve(&mut self, costs: &[f64], rng: &mut Rng) -> SolveReport {
        self.rescale(costs);
        self.active = (0..self.rows.len()).collect();
        let options = self.options;
        descend(&mut Costed { machine: self, costs, bounds: NO_BOUNDS }, &options, rng)
    }

    /// Takes the α of other costs to the best multiple tα that fits the new box: t* = Σα / (αᵀQα + Σ D α²), cut at the box.
    fn rescale(&mut self, costs: &[f64]) {
        let (mut linear, mut quadratic, mut room) = (0.0, 0.0, f64::INFINITY);
        for (i, (&alpha, &cost)) in self.alpha.iter().zip(costs).enumerate() {
            if alpha > 0.0 {
                let (upper, ridge) = box_of(self.options.loss, cost);
                linear += alpha;
                quadratic += alpha * (self.signs[i] * self.rows.score(i, &self.state) + ridge * alpha);
                room = room.min(upper / alpha);
            }
        }
        if linear == 0.0 {
            return;
        }
        let factor = if quadratic > 0.0 { (linear / quadratic).min(room) } else { room.min(1.0) };
        self.state.iter_mut().for_each(|s| *s *= factor);
        for (alpha, &cost) in self.alpha.iter_mut().zip(costs) {
            // rounding may leave a bounded α one ulp off its bound: put it there
            let (upper, scaled) = (box_of(self.options.loss, cost).0, *alpha * factor);
            *alpha = if scaled > upper * (1.0 - 1e-15) { upper } else { scaled };
        }
    }
}

/// A binary machine on its way to the optimum for given costs.
struct Costed<'d, 'a, R> {
    machine: &'d mut DualDescent<'a, R>,
    costs: &'d [f64],
    bounds: (f64, f64),
}

impl<R: Rows> Descent for Costed<'_, '_, R> {
    fn samples(&self) -> usize {
        self.machine.rows.len()
    }

    fn active(&self) -> usize {
        self.machine.active.len()
    }

    fn epoch(&mut self, rng: &mut Rng) -> f64 {
        let DualDescent { rows, signs, curvatures, options, alpha, state, active } = &mut *self.machine;
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut left = active.len();
        let mut place = 0;
        while place < left {
            active.swap(place, rng.gen_range(place..left));
            let i = active[place];
            let (upper, ridge) = box_of(options.loss, self.costs[i]);
            let (sign, present) = (signs[i], alpha[i]);
            let gradient = sign * rows.score(i, state) - 1.0 + ridge * present;
            let stuck = (present <= 0.0 && gradient > self.bounds.1) || (present >= upper && gradient < self.bounds.0);
            if stuck {
                left -= 1;
                active.swap(place, left);
                continue;
            }
            place += 1;
            let projected = project(gradient, present, upper);
            lowest = lowest.min(projected);
            highest = highest.max(projected);
            if projected != 0.0 {
                let curvature = curvatures[i] + ridge;
                let step = gradient / if curvature > 0.0 { curvature } else { TAU };
                let moved = (present - step).clamp(0.0, upper);
                if moved != present {
                    alpha[i] = moved;
                    rows.add(i, (moved - present) * sign, state);
                }
            }
        }
        active.truncate(left);
        if options.shrinking {
            self.bounds.0 = if lowest < 0.0 { lowest } else { f64::NEG_INFINITY };
            self.bounds.1 = if highest > 0.0 { highest } else { f64::INFINITY };
        }
        if left == 0 { 0.0 } else { highest - lowest }
    }

    fn audit(&mut self) -> Audit {
        let DualDescent { rows, signs, options, alpha, state, active, .. } = &mut *self.machine;
        let (mut quadratic, mut linear, mut ridges, mut losses) = (0.0, 0.0, 0.0, 0.0);
        let (mut lowest, mut highest) = (0.0f64, 0.0f64);
        active.clear();
        for (i, &present) in alpha.iter().enumerate() {
            let (upper, ridge) = box_of(options.loss, self.costs[i]);
            let margin = signs[i] * rows.score(i, state);
            quadratic += present * margin;
            linear += present;
            ridges += ridge * present * present;
            losses += self.costs[i] * loss_of(options.loss, margin);
            let projected = project(margin - 1.0 + ridge * present, present, upper);
            lowest = lowest.min(projected);
            highest = highest.max(projected);
            if !options.shrinking || projected != 0.0 || (present > 0.0 && present < upper) {
                active.push(i);
            }
        }
        self.bounds = NO_BOUNDS;
        Audit {
            primal: 0.5 * quadratic + losses,
            dual: linear - 0.5 * (quadratic + ridges),
            violation: highest - lowest,
            support: alpha.iter().filter(|a| **a > 0.0).count(),
        }
    }
}

/// ℓ(1 − margin).
pub(crate) fn loss_of(loss: Loss, margin: f64) -> f64 {
    let error = (1.0 - margin).max(0.0);
    match loss {
        Loss::Hinge => error,
        Loss::SquaredHinge => error * error,
    }
}

/// Upper bound U and diagonal term D of a coordinate.
#[inline]
fn box_of(loss: Loss, cost: f64) -> (f64, f64) {
    match loss {
        Loss::Hinge => (cost, 0.0),
        Loss::SquaredHinge => (f64::INFINITY, 0.5 / cost),
    }
}

#[inline]
fn project(gradient: f64, alpha: f64, upper: f64) -> f64 {
    if alpha <= 0.0 {
        gradient.min(0.0)
    } else if alpha >= upper {
        gradient.max(0.0)
    } else {
        gradient
    }
}
