//! The rule that audited pairs replaced, for comparison: a bound on the recall of all pairs with K ≥ t, from uniform landmark columns and fits that have
//! not seen them. It is wrong more often than stated if similar pairs come in groups, because a group that no column meets leaves no trace.
//!
//! ```text
//! l in S, j not: T_l = #{K_lj ≥ t}, A_l(θ) = #{K_lj ≥ t, E_lj ≥ θ}, E from a fit without l; R(θ) = ΣA / ΣT
//! In = pairs ≥ t with a landmark (exact), Off = ΣT (n − s)/(2s) the others (estimated); ρ' = max(0, (ρ (In + Off) − In)/Off), 0 for s = n
//! e_l = A_l − R T_l; var = (1 − s/n) · s/(s − 1) · Σe² / (ΣT)²
//! n(θ) = R (1 − R)/var where .3 < R < 1, R ≤ max(ρ', least such R); n* = median of the last 10, (ΣT)²/ΣT² where there is none,
//!        at most ΣT/(1 − s/n), times (z(δ)/t(δ; m − 1))², m = (ΣT)²/ΣT²; LCB(θ) = BetaInv(δ; R n*, n* − R n* + 1)
//! ```
//! The answer is the highest θ whose bound, and that of all lower ones, reaches ρ': pairs with E ≥ θ are evaluated. A landmark's positives stand
//! or fall together, which is what n* is for. Its variance is itself an estimate, from as many landmarks as m counts, which is what Student's t is
//! for (Korn & Graubard 1998). Coverage is checked by simulation.
//!
//! Cost: ΣT log ΣT for sorting, s for each θ.

use landmark_core::stats::{clopper_pearson_lower, median, upper_normal, upper_student_t};
use landmark_neighbors::recall::Target;

use landmark_core::rank::RankCmp;

/// Sizes n(θ) whose median counts.
const LAST: usize = 10;
/// R below which n(θ) shows little about the θ that decides.
const LEAST_RECALL: f64 = 0.3;

/// Positives of the landmarks, as fits that have not seen them estimate them.
#[derive(Debug, Clone)]
pub(super) struct PairAudit {
    items: usize,
    /// Estimates of each landmark's positives outside the landmarks.
    estimates: Vec<Vec<f64>>,
    /// Pairs of two landmarks that are positive.
    between_landmarks: usize,
}

/// Threshold on the estimate, and the recall that evaluating every pair above it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairBound {
    /// θ: pairs of no landmark whose estimate is at least this are to be evaluated; infinite where none need be.
    pub(super) threshold: f64,
    /// Estimated recall of all pairs with K ≥ t.
    pub(super) recall: f64,
    pub(super) lower: f64,
    /// Positive pairs with a landmark: found.
    pub(super) found: usize,
    /// Positive pairs without one, estimated.
    pub(super) expected: f64,
}

/// Sums over the landmarks.
struct Totals {
    positives: f64,
    squares: f64,
    landmarks: f64,
    /// 1 − s/n.
    left: f64,
}

impl Totals {
    /// Number of landmarks that would carry as much information if each had as many positives as the others; 0 without a positive.
    fn telling(&self) -> f64 {
        self.positives.powi(2) / self.squares.max(1.0)
    }

    /// Worth of independent finds whose number was estimated from few landmarks: (z/t)².
    fn trust(&self, delta: f64) -> f64 {
        let degrees = (self.telling() - 1.0).max(1.0);
        // at δ = ½ and beyond both quantiles are 0 or have no usable tail
        if delta >= 0.5 { 1.0 } else { (upper_normal(delta) / upper_student_t(delta, degrees)).powi(2) }
    }
}

impl PairAudit {
    /// Of n `items`: for each landmark the held-out estimates of its positives that are no landmark, and the number of positive pairs of two
    /// landmarks. The landmarks must have been drawn uniformly.
    pub(super) fn new(items: usize, estimates: Vec<Vec<f64>>, between_landmarks: usize) -> Self {
        Self { items, estimates, between_landmarks }
    }

    /// Positive pairs with a landmark, which are found.
    fn found(&self) -> usize {
        self.estimates.iter().map(Vec::len).sum::<usize>() + self.between_landmarks
    }

    /// ρ': the recall of the other pairs that the target takes.
    fn needed(&self, totals: &Totals, recall: f64) -> f64 {
        if self.estimates.len() >= self.items {
            return 0.0;
        }
        let (known, expected) = (self.found() as f64, self.expected(totals));
        match expected > 0.0 {
            true => ((recall * (known + expected) - known) / expected).max(0.0),
            // no positive was seen outside the landmarks: nothing is known of the others
            false => recall,
        }
    }

    /// Positive pairs without a landmark.
    fn expected(&self, totals: &Totals) -> f64 {
        totals.positives * (self.items as f64 - totals.landmarks) / (2.0 * totals.landmarks.max(1.0))
    }

    fn totals(&self) -> Totals {
        let counts = || self.estimates.iter().map(|one| one.len() as f64);
        let landmarks = self.estimates.len() as f64;
        Totals {
            positives: counts().sum(),
            squares: counts().map(|count| count * count).sum(),
            landmarks,
            left: 1.0 - landmarks / self.items as f64,
        }
    }

    /// The highest threshold that reaches the target; `None` if not even the lowest does.
    pub(super) fn threshold(&self, target: Target) -> Option<PairBound> {
        let totals = self.totals();
        let (found, expected) = (self.found(), self.expected(&totals));
        let (known, needed) = (found as f64, self.needed(&totals, target.recall()));
        // all of no pairs are known
        let all = known + expected;
        let of_all = |recall: f64| if all > 0.0 { (known + recall * expected) / all } else { 1.0 };
        let bound = |threshold: f64, recall: f64, lower: f64| {
            let (recall, lower) = (of_all(recall), of_all(lower));
            PairBound { threshold, recall, lower, found, expected }
        };
        if needed <= 0.0 {
            return Some(bound(f64::INFINITY, 0.0, 0.0));
        }
        let steps = self.bounds(&totals, needed, target.delta());
        let failing = steps.iter().rposition(|step| step.lower < needed);
        let step = steps.get(failing.map_or(0, |place| place + 1))?;
        Some(bound(step.threshold, step.recall, step.lower))
    }

    /// The highest θ at which R itself, believed without a bound, reaches ρ; `None` where items are left and no positive was seen among them. It
    /// falls short about half of the time: for studies.
    pub(super) fn believed(&self, recall: f64) -> Option<f64> {
        let totals = self.totals();
        let needed = self.needed(&totals, recall);
        if needed <= 0.0 {
            return Some(f64::INFINITY);
        }
        let mut estimates = self.estimates.concat();
        estimates.sort_by(|one, other| other.rank_cmp(one));
        // a share of a count that fits in an f64; rounding adds no positive
        let count = (needed * totals.positives - 1e-9).ceil().max(1.0) as usize;
        estimates.get(count - 1).copied()
    }

    /// R and its bound at every θ that a positive has, highest first.
    fn bounds(&self, totals: &Totals, needed: f64, delta: f64) -> Vec<Step> {
        let each = |(landmark, estimates): (usize, &Vec<f64>)| {
            estimates.iter().map(move |&estimate| (estimate, landmark)).collect::<Vec<_>>()
        };
        let mut all: Vec<(f64, usize)> = self.estimates.iter().enumerate().flat_map(each).collect();
        all.sort_by(|one, other| other.0.rank_cmp(&one.0));
        let mut above = vec![0.0; self.estimates.len()];
        let mut sizes = Vec::new();
        let mut least = None;
        let mut steps = Vec::new();
        let trust = totals.trust(delta);
        for tied in all.chunk_by(|one, other| one.0 == other.0) {
            tied.iter().for_each(|&(_, landmark)| above[landmark] += 1.0);
            let recall = above.iter().sum::<f64>() / totals.positives;
            let variance = self.variance(totals, &above, recall);
            if recall > LEAST_RECALL && recall < 1.0 && variance > 0.0 {
                let least = *least.get_or_insert(recall);
                if recall <= needed.max(least) {
                    sizes.push(recall * (1.0 - recall) / variance);
                }
            }
            let finds = trust * effective(totals, &sizes);
            steps.push(Step {
                threshold: tied[0].0,
                recall,
                lower: clopper_pearson_lower(recall * finds, finds, delta),
            });
        }
        steps
    }

    fn variance(&self, totals: &Totals, above: &[f64], recall: f64) -> f64 {
        let residual = |(above, estimates): (&f64, &Vec<f64>)| (above - recall * estimates.len() as f64).powi(2);
        let squares: f64 = above.iter().zip(&self.estimates).map(residual).sum();
        let s = totals.landmarks;
        totals.left * s / (s - 1.0) * squares / totals.positives.powi(2)
    }
}

/// A threshold, the share of positives above it, and its bound.
struct Step {
    threshold: f64,
    recall: f64,
    lower: f64,
}

/// n*.
fn effective(totals: &Totals, sizes: &[f64]) -> f64 {
    let last = &sizes[sizes.len().saturating_sub(LAST)..];
    let most = if totals.left > 0.0 { totals.positives / totals.left } else { f64::INFINITY };
    median(last).unwrap_or_else(|| totals.telling()).min(most)
}

#[cfg(test)]
mod tests;
