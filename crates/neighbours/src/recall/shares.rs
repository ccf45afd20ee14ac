//! Bound on the mean share of true neighbours found, from v audited rows, along a path of growing effort.
//!
//! ```text
//! x_l(e) = share of l's true top-k found by effort e, m = mean, u = variance; N = n − s items that are no landmark
//! ρ' = (ρ n − s) / N: what they must reach, since a landmark finds all
//! design effect: deff(e) = k u / (m (1 − m)) where .5 < m < 1, u > 0, m ≤ max(ρ', least such m);
//!                deff = median of the last 5 in [1, k], k where there is none
//!                n* = (k v / deff) / (1 − v/N), LCB = BetaInv(δ; m n*, n* − m n* + 1)
//! k = 1:         Clopper & Pearson (1934) for m v of v
//! KL:            the largest ρ < m with v·KL(m‖ρ) ≥ ln 1/δ (Hoeffding 1963, theorem 1)
//! betting:       the largest ρ with mean_g Π_l (1 + (g/ρ)(x_l − ρ)) ≥ 1/δ, g = .2, .4, .6, .8, 1 (Waudby-Smith & Ramdas 2024)
//! ```
//! Shares rise with the effort and audited rows are hidden from the search, so the first effort whose bound reaches ρ' may be taken without a
//! correction for looking often: a wrong stop is a wrong bound at the last effort that is too small. KL and betting are theorems, also without
//! replacement (such draws are negatively associated); the design effect is a normal-theory correction, checked by simulation.

use std::fmt;

use super::beta::largest;
use super::{Target, clopper_pearson, median};

/// Stakes of the betting bound, equally weighted.
const STAKES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
/// Design effects whose median counts.
const LAST: usize = 5;
/// Allowance for rounding: taken from a mean, added to ρ'.
const ROUNDING: f64 = 1e-12;
/// Audited rows for lists of five and more, whose shares are fine-grained.
const ROWS: usize = 30;
/// Audited rows for shorter lists.
const ROWS_OF_SHORT_LISTS: usize = 45;

/// Kind of lower confidence bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Clopper–Pearson at the number of independent finds that the variance between rows leaves; for k > 1.
    DesignEffect,
    /// Clopper–Pearson of rows; for k = 1, where it is a theorem.
    ClopperPearson,
    /// Hoeffding's bound by the Kullback–Leibler divergence: a theorem for every k.
    KullbackLeibler,
    /// A betting martingale: a theorem, and closer than KL where shares vary less than coins.
    Betting,
}

impl Bound {
    /// The default for lists of k, or the closest one that is a theorem.
    pub fn of(k: usize, strict: bool) -> Self {
        match (strict, k) {
            (false, 0 | 1) => Self::ClopperPearson,
            (false, _) => Self::DesignEffect,
            (true, 0 | 1) => Self::KullbackLeibler,
            (true, _) => Self::Betting,
        }
    }

    /// True where it holds whatever the shares are.
    pub fn is_theorem(self) -> bool {
        self != Self::DesignEffect
    }

    /// Audited rows to draw for a target: 30, 45 for k < 5, and for bounds that know no variance twice the least that can reach it.
    pub fn rows(self, k: usize, target: Target) -> usize {
        let rows = if k < 5 { ROWS_OF_SHORT_LISTS } else { ROWS };
        match self {
            Self::DesignEffect => rows,
            _ => rows.max(2 * self.fewest(target, target.recall())),
        }
    }

    /// The least number of rows, all of which find everything, whose bound reaches `needed`; 2 where that hangs on the variance.
    fn fewest(self, target: Target, needed: f64) -> usize {
        if self == Self::DesignEffect {
            return 2;
        }
        let reaches = |rows: usize| self.lower(&vec![1.0; rows], target.delta(), 0.0) >= needed;
        // not truncating: a count far below 2⁵²; betting needs a little more
        let mut rows = (target.fewest_draws(needed).floor() as usize).max(1);
        while !reaches(rows) {
            rows += 1;
        }
        rows
    }

    /// Lower bound of the mean of which `shares` are a sample; `finds` is n* of the design effect.
    fn lower(self, shares: &[f64], delta: f64, finds: f64) -> f64 {
        let rows = shares.len() as f64;
        let mean = mean(shares);
        match self {
            Self::DesignEffect => clopper_pearson(mean * finds, finds, delta),
            Self::ClopperPearson => clopper_pearson(mean * rows, rows, delta),
            Self::KullbackLeibler => largest(|recall| recall < mean && rows * divergence(mean, recall) >= -delta.ln()),
            Self::Betting => largest(|recall| recall == 0.0 || log_wealth(shares, recall) >= -delta.ln()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DesignEffect => "Clopper-Pearson with design effect",
            Self::ClopperPearson => "Clopper-Pearson",
            Self::KullbackLeibler => "Kullback-Leibler",
            Self::Betting => "betting",
        })
    }
}

/// Too few audited rows for the target, whatever they show.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{rows} audited rows cannot show a recall of {recall} at δ = {delta} even if they find everything; {needed} are the least that can \
     (bound: {bound})"
)]
pub struct TooFewAudited {
    /// Rows there are.
    pub rows: usize,
    /// Rows that would do if all find everything.
    pub needed: usize,
    /// ρ.
    pub recall: f64,
    /// δ.
    pub delta: f64,
    /// The bound.
    pub bound: Bound,
}

/// Bounds of the recall of one search at growing efforts.
#[derive(Debug, Clone)]
pub struct AuditPath {
    k: usize,
    items: usize,
    landmarks: usize,
    target: Target,
    bound: Bound,
    /// v/N, subtracted from 1 where the rows are some of those that they speak for, added where they are others.
    correction: f64,
    /// Rows that leave none out.
    all: usize,
    /// Design effects so far.
    effects: Vec<f64>,
    /// Least mean that gave one.
    least: Option<f64>,
}

/// Recall at one effort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// Estimated recall of all n lists; those of landmarks and of nothing else are exact.
    pub estimate: f64,
    /// Its lower bound at confidence 1 − δ.
    pub lower: f64,
    /// True where the bound reaches the target.
    pub is_reached: bool,
}

impl AuditPath {
    /// For lists of `k` of `items`, of which `landmarks` have whole rows, judged by `rows` others drawn uniformly.
    ///
    /// # Errors
    /// [`TooFewAudited`] where not even rows that find everything would reach the target.
    ///
    /// # Panics
    /// When there are more landmarks and rows than items.
    pub fn new(
        k: usize,
        items: usize,
        landmarks: usize,
        rows: usize,
        target: Target,
        bound: Bound,
    ) -> Result<Self, TooFewAudited> {
        assert!(landmarks + rows <= items, "landmarks and audited rows are different items");
        let others = items - landmarks;
        let correction = -(rows as f64) / others.max(1) as f64;
        let path =
            Self { k, items, landmarks, target, bound, correction, all: others, effects: Vec::new(), least: None };
        let needed = bound.fewest(target, path.needed());
        if rows < needed && rows < others && path.needed() > 0.0 {
            let (recall, delta) = (target.recall(), target.delta());
            return Err(TooFewAudited { rows, needed, recall, delta, bound });
        }
        Ok(path)
    }

    /// Static form: the `landmarks` themselves, uniform and held out of the fit that judges them, speak for the other items. The mean of others
    /// differs from theirs by as much again as N lets it: n* = (k v / deff) / (1 + v/N).
    ///
    /// # Errors
    /// As [`new`](Self::new), for landmarks.
    ///
    /// # Panics
    /// When there are more landmarks than items.
    pub fn of_landmarks(k: usize, items: usize, landmarks: usize, target: Target) -> Result<Self, TooFewAudited> {
        assert!(landmarks <= items, "landmarks are items");
        let (bound, others) = (Bound::of(k, false), items - landmarks);
        let correction = landmarks as f64 / others.max(1) as f64;
        let path =
            Self { k, items, landmarks, target, bound, correction, all: usize::MAX, effects: Vec::new(), least: None };
        let needed = bound.fewest(target, path.needed());
        if landmarks < needed && path.needed() > 0.0 {
            let (recall, delta) = (target.recall(), target.delta());
            return Err(TooFewAudited { rows: landmarks, needed, recall, delta, bound });
        }
        Ok(path)
    }

    /// N, items that are no landmark.
    fn others(&self) -> usize {
        self.items - self.landmarks
    }

    /// ρ', the recall that they must reach.
    pub fn needed(&self) -> f64 {
        let (items, landmarks) = (self.items as f64, self.landmarks as f64);
        if self.others() == 0 { 0.0 } else { (self.target.recall() * items - landmarks) / (items - landmarks) }
    }

    /// The bound in use.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The next effort: share of the true neighbours that each audited row finds by then. Shares must not fall.
    pub fn step(&mut self, shares: &[f64]) -> Recall {
        let needed = self.needed();
        let (items, landmarks, others) = (self.items as f64, self.landmarks as f64, self.others() as f64);
        let of_all = |mean: f64| (landmarks + others * mean) / items;
        if shares.is_empty() {
            let lower = of_all(0.0);
            return Recall { estimate: lower, lower, is_reached: needed <= 0.0 };
        }
        self.note_effect(shares, needed);
        // every row was read: nothing is left to chance
        let lower = if shares.len() >= self.all { mean(shares) } else { self.lower(shares) };
        Recall { estimate: of_all(mean(shares)), lower: of_all(lower), is_reached: lower >= needed - ROUNDING }
    }

    /// Rows at which the bound would reach ρ' if further ones were like these, up to `most` times as many.
    pub fn rows_needed(&self, shares: &[f64], most: usize) -> Option<usize> {
        let of_sample = |times: usize| {
            let path = Self { correction: self.correction * times as f64, ..self.clone() };
            let rows = shares.len() * times;
            let is_enough = rows >= self.others() || path.lower(&shares.repeat(times)) >= self.needed();
            (is_enough && mean(shares) >= self.needed()).then_some(rows.min(self.others()))
        };
        if shares.is_empty() { None } else { (1..=most).find_map(of_sample) }
    }

    fn lower(&self, shares: &[f64]) -> f64 {
        let (rows, k) = (shares.len() as f64, self.k as f64);
        let last = &self.effects[self.effects.len().saturating_sub(LAST)..];
        let effect = median(last).map_or(k, |effect| effect.clamp(1.0, k));
        let finds = (k * rows / effect) / (1.0 + self.correction);
        self.bound.lower(shares, self.target.delta(), finds)
    }

    /// Keeps the design effect of an effort at which it says something about the one that decides.
    fn note_effect(&mut self, shares: &[f64], needed: f64) {
        let (mean, variance) = (mean(shares), variance(shares));
        if !(mean > 0.5 && mean < 1.0 && variance > 0.0) {
            return;
        }
        let least = *self.least.get_or_insert(mean);
        if mean <= needed.max(least) {
            self.effects.push(self.k as f64 * variance / (mean * (1.0 - mean)));
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Unbiased variance; 0 of one value.
fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// KL(m‖p) of two coins, p < 1.
fn divergence(m: f64, p: f64) -> f64 {
    let term = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
    term(m, p) + term(1.0 - m, 1.0 - p)
}

/// ln of the mean over stakes of Π (1 + (g/ρ)(x − ρ)).
fn log_wealth(shares: &[f64], recall: f64) -> f64 {
    let of_stake = |stake: f64| shares.iter().map(|share| (stake * (share / recall - 1.0)).ln_1p()).sum::<f64>();
    let logs = STAKES.map(of_stake);
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + (logs.iter().map(|log| (log - most).exp()).sum::<f64>() / STAKES.len() as f64).ln()
}
