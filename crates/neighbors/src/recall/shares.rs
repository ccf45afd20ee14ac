//! Bound on the mean share of true neighbors found, from v audited rows, along a path of growing effort.
//!
//! ```text
//! x_l(e) = share of l's true top-k found by effort e, m = mean; N = n − s items that are no landmark
//! ρ' = (ρ n − s) / N: what they must reach, since a landmark finds all
//! spacings:      the largest ρ with P(Σ (x_l − ρ) E_l − ρ E_0 ≤ 0) ≤ δ, E_0..E_v independent exponentials (Gaffke 2005)
//! k = 1:         Clopper & Pearson (1934) for m v of v, which spacings are for shares of 0 and 1
//! KL:            the largest ρ < m with v·KL(m‖ρ) ≥ ln 1/δ (Hoeffding 1963, theorem 1)
//! betting:       the largest ρ with mean_g Π_l (1 + (g/ρ)(x_l − ρ)) ≥ 1/δ, g = .2, .4, .6, .8, 1 (Waudby-Smith & Ramdas 2024)
//! ```
//! Shares rise with the effort and audited rows are hidden from the search, and each bound rises with every share. So the first effort whose bound reaches ρ'
//! may be taken without a correction for looking often: a wrong stop is a wrong bound at the last effort that is too small. Clopper–Pearson, KL and
//! betting are theorems, also without replacement (such draws are negatively associated). Spacings for other shares than 0 and 1 are a conjecture
//! without a counterexample; the tests count its wrong statements.

use std::fmt;

use super::Target;
use landmark_core::stats::{clopper_pearson_lower, largest};

/// Stakes of the betting bound, equally weighted.
const STAKES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
/// Allowance for rounding: taken from a mean, added to ρ'.
const ROUNDING: f64 = 1e-12;
/// Least number of audited rows by default.
const ROWS: usize = 24;
/// Points of the integral for spacings, and its ends: error below 1e-7.
const POINTS: u32 = 700;
const FROM: f64 = 1e-7;
const TO: f64 = 3e3;
/// Error of the integral.
const PRECISION: f64 = 1e-7;

/// Kind of lower confidence bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Gaffke's bound by spacings; for k > 1.
    Spacings,
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
            (false, _) => Self::Spacings,
            (true, 0 | 1) => Self::KullbackLeibler,
            (true, _) => Self::Betting,
        }
    }

    /// Audited rows to draw for a target: twice the least that can reach it, and 24 at least.
    pub fn rows(self, target: Target) -> usize {
        ROWS.max(self.fewest(target, target.recall()).saturating_mul(2))
    }

    /// The least number of rows, all of which find everything, whose bound reaches `needed`.
    fn fewest(self, target: Target, needed: f64) -> usize {
        let doubt = -target.delta().ln();
        if needed <= 0.0 {
            return 1;
        }
        let reaches = |rows: usize| {
            let rows = rows as f64;
            let evidence = match self {
                Self::Betting => {
                    let logs = STAKES.map(|stake| rows * (stake * (1.0 / needed - 1.0)).ln_1p());
                    log_mean_exp(&logs)
                }
                _ => -rows * needed.ln(),
            };
            evidence >= doubt * (1.0 - ROUNDING)
        };
        let mut high = 1;
        while !reaches(high) && high < usize::MAX / 2 {
            high *= 2;
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if reaches(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// Lower bound of the mean of which `shares` are a sample, with probability 1 − δ.
    pub(super) fn lower(self, shares: &[f64], delta: f64) -> f64 {
        let rows = shares.len() as f64;
        let mean = mean(shares);
        match self {
            Self::Spacings => {
                // as precise as the integral is
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..24 {
                    let middle = 0.5 * (low + high);
                    if spacings(shares, middle) <= delta { low = middle } else { high = middle }
                }
                low
            }
            Self::ClopperPearson => clopper_pearson_lower(mean * rows, rows, delta),
            Self::KullbackLeibler => largest(|recall| recall < mean && rows * divergence(mean, recall) >= -delta.ln()),
            Self::Betting => largest(|recall| recall == 0.0 || log_wealth(shares, recall) >= -delta.ln()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spacings => "spacings",
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
    pub rows: usize,
    pub needed: usize,
    pub recall: f64,
    pub delta: f64,
    pub bound: Bound,
}

/// Bounds of the recall of one search at growing efforts.
#[derive(Debug, Clone)]
pub struct AuditPath {
    items: usize,
    landmarks: usize,
    target: Target,
    bound: Bound,
    /// Rows that leave none out.
    all: usize,
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
    /// For lists of `items`, of which `landmarks` have whole rows, judged by `rows` others drawn uniformly.
    ///
    /// # Errors
    /// [`TooFewAudited`] where not even rows that find everything would reach the target.
    ///
    /// # Panics
    /// When there are more landmarks and rows than items.
    pub fn new(
        items: usize,
        landmarks: usize,
        rows: usize,
        target: Target,
        bound: Bound,
    ) -> Result<Self, TooFewAudited> {
        assert!(landmarks + rows <= items, "landmarks and audited rows are different items");
        Self { items, landmarks, target, bound, all: items - landmarks }.judged_by(rows)
    }

    /// Static form: the `landmarks` themselves, uniform and held out of the fit that judges them, represent the other items.
    ///
    /// # Errors
    /// As [`new`](Self::new), for landmarks.
    ///
    /// # Panics
    /// When there are more landmarks than items.
    pub fn of_landmarks(k: usize, items: usize, landmarks: usize, target: Target) -> Result<Self, TooFewAudited> {
        assert!(landmarks <= items, "landmarks are items");
        Self { items, landmarks, target, bound: Bound::of(k, false), all: usize::MAX }.judged_by(landmarks)
    }

    /// The same, unless not even `rows` that find everything would reach the target.
    fn judged_by(self, rows: usize) -> Result<Self, TooFewAudited> {
        let Self { target, bound, .. } = self;
        let needed = bound.fewest(target, self.needed());
        if rows < needed && rows < self.all && self.needed() > 0.0 {
            return Err(TooFewAudited { rows, needed, recall: target.recall(), delta: target.delta(), bound });
        }
        Ok(self)
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

    /// The next effort: share of the true neighbors that each audited row finds by then. Shares must not fall.
    pub fn step(&self, shares: &[f64]) -> Recall {
        let needed = self.needed();
        let (items, landmarks, others) = (self.items as f64, self.landmarks as f64, self.others() as f64);
        let of_all = |mean: f64| (landmarks + others * mean) / items;
        if shares.is_empty() {
            let lower = of_all(0.0);
            return Recall { estimate: lower, lower, is_reached: needed <= 0.0 };
        }
        // every row was read: nothing is left to chance
        let lower = if shares.len() >= self.all { mean(shares) } else { self.lower(shares) };
        Recall { estimate: of_all(mean(shares)), lower: of_all(lower), is_reached: self.reaches(shares) }
    }

    /// True if the bound reaches the target; cheaper than the bound itself.
    pub fn reaches(&self, shares: &[f64]) -> bool {
        let needed = self.needed();
        if needed <= 0.0 || shares.is_empty() {
            return needed <= 0.0;
        }
        if shares.len() >= self.all {
            return mean(shares) >= needed - ROUNDING;
        }
        match self.bound {
            Bound::Spacings => needed < 1.0 && spacings(shares, needed) <= self.target.delta() + PRECISION,
            _ => self.lower(shares) >= needed - ROUNDING,
        }
    }

    /// Rows at which the bound would reach ρ' if further ones were like these, up to `most` times as many.
    pub fn rows_needed(&self, shares: &[f64], most: usize) -> Option<usize> {
        let of_sample = |times: usize| {
            let rows = shares.len() * times;
            let is_enough = rows >= self.others() || self.lower(&shares.repeat(times)) >= self.needed();
            (is_enough && mean(shares) >= self.needed()).then_some(rows.min(self.others()))
        };
        if shares.is_empty() { None } else { (1..=most).find_map(of_sample) }
    }

    fn lower(&self, shares: &[f64]) -> f64 {
        self.bound.lower(shares, self.target.delta())
    }
}

/// P(Σ (x_l − ρ) E_l − ρ E_0 ≤ 0) for independent exponentials E, by the inversion of its characteristic function (Gil-Pelaez 1951).
///
/// φ(t) = Π (1 − i t a_j)^(−c_j) over the distinct coefficients a_j, scaled to Σ c a² = 1; a trapezoid rule in ln t.
pub(super) fn spacings(shares: &[f64], recall: f64) -> f64 {
    let mut terms: Vec<f64> = shares.iter().map(|share| share - recall).chain([-recall]).collect();
    terms.sort_by(f64::total_cmp);
    let coefficients: Vec<(f64, f64)> =
        terms.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as f64)).collect();
    let scale = coefficients.iter().map(|(a, c)| c * a * a).sum::<f64>().sqrt();
    if scale == 0.0 {
        return 1.0;
    }
    let imaginary = |t: f64| {
        let of_term = |(log, angle): (f64, f64), &(a, c): &(f64, f64)| {
            let ta = t * a / scale;
            (log - 0.5 * c * (ta * ta).ln_1p(), angle + c * ta.atan())
        };
        let (log, angle) = coefficients.iter().fold((0.0, 0.0), of_term);
        log.exp() * angle.sin()
    };
    let step = (TO / FROM).ln() / f64::from(POINTS - 1);
    let weight = |point: u32| if point == 0 || point == POINTS - 1 { 0.5 } else { 1.0 };
    let sum: f64 = (0..POINTS).map(|point| weight(point) * imaginary(FROM * (f64::from(point) * step).exp())).sum();
    (0.5 - sum * step / std::f64::consts::PI).clamp(0.0, 1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
    log_mean_exp(&logs)
}

/// ln of the mean of e^x.
fn log_mean_exp(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + (logs.iter().map(|log| (log - most).exp()).sum::<f64>() / logs.len() as f64).ln()
}
