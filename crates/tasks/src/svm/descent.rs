//! The outer loop that every coordinate descent of this crate runs in: epochs over the active set, audits of the whole problem.
//!
//! An epoch may set coordinates aside and may judge convergence by those that are left. An *audit* scores every row: it measures both
//! objectives and the violation of all optimality conditions, and takes back whatever was set aside wrongly. Only an audit
//! ends the loop, so the figures of a report are measured on all rows at the returned solution.

use landmark_core::stream::Rng;

use super::{Loss, SolveReport, Tolerance};

/// Audits of a gap tolerance come at least once in this number of epochs' worth of visits; one costs about half an epoch.
const EPOCHS_BETWEEN_AUDITS: usize = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) struct DescentOptions {
    pub(crate) loss: Loss,
    pub(crate) tolerance: Tolerance,
    pub(crate) max_epochs: usize,
    pub(crate) shrinking: bool,
}

/// A dual problem in the middle of being solved.
pub(crate) trait Descent {
    fn samples(&self) -> usize;
    fn active(&self) -> usize;
    /// Visits the active samples once, in an order drawn from `rng`; answers the violation met on the way.
    fn epoch(&mut self, rng: &mut Rng) -> f64;
    /// Scores every sample and makes all active that an epoch could move.
    fn audit(&mut self) -> Audit;
}

/// Objectives, violation and support after scoring every row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audit {
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) violation: f64,
    pub(crate) support: usize,
}

/// Runs epochs until an audit meets the tolerance, finds the exact optimum, or comes after `max_epochs · n` visits.
pub(crate) fn descend(problem: &mut impl Descent, options: &DescentOptions, rng: &mut Rng) -> SolveReport {
    let n = problem.samples();
    let max_visits = options.max_epochs.saturating_mul(n);
    let by_gap = matches!(options.tolerance, Tolerance::DualityGap(_));
    let (mut visits, mut audited) = (0usize, 0usize);
    // how small the violation of an epoch must be for an audit; for a gap it tightens with every such audit that fails
    let mut target = if by_gap { 0.1 } else { options.tolerance.value() };
    loop {
        visits += problem.active();
        let settled = problem.epoch(rng) <= target;
        let due = by_gap && visits - audited >= EPOCHS_BETWEEN_AUDITS * n;
        let out_of_time = visits >= max_visits;
        if !(settled || due || out_of_time) {
            continue;
        }
        let Audit { primal, dual, violation, support } = problem.audit();
        let epochs = visits.div_ceil(n);
        let mut report = SolveReport { primal, dual, violation, epochs, support, converged: false };
        report.converged = report.meets(options.tolerance);
        // a violation of exactly 0 is the optimum: no later epoch would move anything
        if report.converged || out_of_time || violation == 0.0 {
            return report;
        }
        if by_gap && settled {
            target = 0.1 * target.min(violation);
        }
        audited = visits;
    }
}
