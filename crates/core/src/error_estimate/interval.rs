//! Intervals for a ratio of totals estimated from a stratified sample, by empirical likelihood.
//!
//! The sample fits every population that is near it: one with probabilities p on the draws of each stratum and on the worst cell that a stratum may
//! hold, such that Σ n_h KL(sample_h ‖ p_h) ≤ −ln(1 − confidence). The interval holds the ratios of all these populations (Owen 2001, chapters 2 and 6;
//! the added cell is that of Honda & Takemura 2010). If a stratum of m draws shows nothing, −ln(1 − confidence)/m of it may be the worst, as in the
//! exact bound for a share of which none was met. A normal interval has no width there, and misses rare large errors. Coverage is measured in
//! `docs/explanation/error-intervals.md`.
//!
//! The limit is that of the rare case, which is above half the squared normal quantile, so common cases are covered more often than is stated.

use super::exact::ratio;

/// Most improvements of an end of the interval; a handful are needed.
const ROUNDS: usize = 60;

const STEPS: usize = 200;

const ACCURACY: f64 = 1e-8;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Extent {
    pub(super) const EMPTY: Self = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY };

    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self::EMPTY, Self::with)
    }

    pub(super) fn with(self, value: f64) -> Self {
        Self { least: self.least.min(value), greatest: self.greatest.max(value) }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    fn is_empty(self) -> bool {
        self.least > self.greatest
    }

    pub(super) fn is_point(self) -> bool {
        self.least >= self.greatest
    }

    fn nearest(self, value: f64) -> f64 {
        value.max(self.least).min(self.greatest)
    }
}

/// A part of the population: its size, and (y, x) = (squared error, squared value) of the cells drawn from it without replacement.
#[derive(Debug, Clone)]
pub(super) struct Stratum {
    pub(super) cells: f64,
    /// The part of it that was drawn, for the finite population correction; 0 where draws are not exhaustive.
    pub(super) fraction: f64,
    pub(super) drawn: Vec<(f64, f64)>,
    pub(super) scores: Extent,
    /// The values of K̃ there.
    pub(super) ours: Extent,
    /// A usual score, and a usual value of K̃.
    pub(super) usual: (f64, f64),
}

impl Stratum {
    /// Estimated Σ y and Σ x; 0 for a part without draws.
    pub(super) fn totals(&self) -> (f64, f64) {
        if self.drawn.is_empty() {
            return (0.0, 0.0);
        }
        let weight = self.cells / self.drawn.len() as f64;
        let (y, x) = self.drawn.iter().fold((0.0, 0.0), |(y, x), cell| (y + cell.0, x + cell.1));
        (weight * y, weight * x)
    }

    /// Variance of the estimated Σ (y − ratio·x); 0 of a single draw, which knows of none.
    pub(super) fn variance(&self, ratio: f64) -> f64 {
        let m = self.drawn.len() as f64;
        if self.drawn.len() < 2 {
            return 0.0;
        }
        let deviations = || self.drawn.iter().map(|(y, x)| y - ratio * x);
        let mean = deviations().sum::<f64>() / m;
        let variance = deviations().map(|d| (d - mean).powi(2)).sum::<f64>() / (m - 1.0);
        self.cells * self.cells * (1.0 - self.fraction).max(0.0) * variance / m
    }

    /// (y, x) of the cell with the largest `sign`·(y − ratio·x) among those that the part can hold.
    fn extreme(&self, ratio: f64, sign: f64) -> (f64, f64) {
        let mut best = (f64::NEG_INFINITY, (0.0, 0.0));
        let mut add = |cell: (f64, f64)| {
            let gain = sign * (cell.0 - ratio * cell.1);
            if gain > best.0 {
                best = (gain, cell);
            }
        };
        if !self.scores.is_empty() && !self.ours.is_empty() {
            let Extent { least, greatest } = self.ours;
            let mut consider = |score: f64, ours: f64| add(((score - ours).powi(2), score * score));
            for score in [self.scores.least, self.scores.greatest] {
                consider(score, self.usual.1);
                if sign < 0.0 {
                    consider(score, self.ours.nearest(score));
                }
            }
            for ours in [least, greatest] {
                consider(self.usual.0, ours);
                // the square in the score has its vertex here
                let vertex = ours / (1.0 - ratio);
                if sign < 0.0 && vertex.is_finite() {
                    consider(self.scores.nearest(vertex), ours);
                }
            }
        }
        self.drawn.iter().for_each(|&cell| add(cell));
        best.1
    }
}

/// The interval of (Σ y + missed) / (Σ x + total), where (missed, total) is known exactly.
pub(super) fn interval(strata: &[Stratum], exact: (f64, f64), confidence: f64) -> (f64, f64) {
    let limit = -(-confidence).ln_1p();
    (end(strata, exact, limit, -1.0), end(strata, exact, limit, 1.0))
}

/// One end: Dinkelbach's iteration, which moves outward until it stands.
fn end(strata: &[Stratum], exact: (f64, f64), limit: f64, sign: f64) -> f64 {
    let add = |sum: (f64, f64), part: (f64, f64)| (sum.0 + part.0, sum.1 + part.1);
    let (y, x) = strata.iter().map(Stratum::totals).fold(exact, add);
    let mut end = ratio(y, x);
    if !end.is_finite() {
        return if sign > 0.0 { f64::INFINITY } else { 0.0 };
    }
    let (open, census): (Vec<&Stratum>, Vec<&Stratum>) =
        strata.iter().filter(|stratum| stratum.cells > 0.0).partition(|stratum| stratum.fraction < 1.0);
    let fixed = census.iter().map(|stratum| stratum.totals()).fold(exact, add);
    let mut multiplier = None;
    for _ in 0..ROUNDS {
        let (y, x) = add(fixed, tilted(&open, end, sign, limit, &mut multiplier));
        let next = ratio(y.max(0.0), x);
        let moved = sign * (next - end);
        if next.is_nan() || moved <= 0.0 {
            break;
        }
        end = next;
        if moved <= ACCURACY * end || end.is_infinite() {
            break;
        }
    }
    end
}

/// Σ y and Σ x of the population with the largest Σ `sign`·(y − ratio·x) among those within the limit. `start` is where the multiplier is looked for.
fn tilted(open: &[&Stratum], ratio: f64, sign: f64, limit: f64, start: &mut Option<f64>) -> (f64, f64) {
    let tilts: Vec<Tilt<'_>> = open.iter().map(|stratum| Tilt::of(stratum, ratio, sign)).collect();
    let at = |multiplier: f64| {
        tilts.iter().fold(Moved::default(), |sum, tilt| {
            let part = tilt.at(multiplier);
            Moved { divergence: sum.divergence + part.divergence, y: sum.y + part.y, x: sum.x + part.x }
        })
    };
    // of a normal population, and of one that shows nothing
    let variance: f64 = open.iter().map(|stratum| stratum.variance(ratio)).sum();
    let unseen = tilts.iter().map(|tilt| tilt.room / tilt.draws * (-limit / tilt.draws).exp()).fold(0.0, f64::max);
    let first = start.unwrap_or((variance / (2.0 * limit)).sqrt().max(unseen));
    if !(first > 0.0 && first.is_finite()) {
        return open.iter().map(|stratum| stratum.totals()).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    }
    // the logarithm of the divergence falls nearly linearly in that of the multiplier
    let excess = |place: f64| (at(place.exp()).divergence.max(1e-300) / limit).ln();
    let mut low = (first.ln(), excess(first.ln()));
    let mut high = low;
    let mut step = 0.1;
    for _ in 0..STEPS {
        if low.1 >= 0.0 && high.1 <= 0.0 {
            break;
        }
        if low.1 < 0.0 {
            high = low;
            low.0 -= step;
            low.1 = excess(low.0);
        } else {
            low = high;
            high.0 += step;
            high.1 = excess(high.0);
        }
        step *= 2.0;
    }
    // regula falsi, Illinois
    let mut last = 0;
    for _ in 0..STEPS {
        if high.1 > -ACCURACY || high.0 - low.0 <= 1e-13 * high.0.abs() || low.1 <= high.1 {
            break;
        }
        let place = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let value = excess(place);
        if value > 0.0 {
            if last > 0 {
                high.1 /= 2.0;
            }
            (low, last) = ((place, value), 1);
        } else {
            if last < 0 {
                low.1 /= 2.0;
            }
            (high, last) = ((place, value), -1);
        }
    }
    *start = Some(high.0.exp());
    let Moved { y, x, .. } = at(high.0.exp());
    (y, x)
}

/// Totals of a tilted population, and how far it is from the sample.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    divergence: f64,
    y: f64,
    x: f64,
}

/// A stratum whose probabilities are moved toward large gains.
struct Tilt<'a> {
    stratum: &'a Stratum,
    /// How far each draw's gain is below the largest one.
    gaps: Vec<f64>,
    /// How far the gain of the extreme cell is above the largest one.
    room: f64,
    extreme: (f64, f64),
    /// Draws, more of them where few cells were left out.
    draws: f64,
}

impl<'a> Tilt<'a> {
    fn of(stratum: &'a Stratum, ratio: f64, sign: f64) -> Self {
        let gain = |&(y, x): &(f64, f64)| stratum.cells * sign * (y - ratio * x);
        let largest = stratum.drawn.iter().map(gain).fold(f64::NEG_INFINITY, f64::max);
        let extreme = stratum.extreme(ratio, sign);
        Self {
            stratum,
            gaps: stratum.drawn.iter().map(|cell| largest - gain(cell)).collect(),
            room: if stratum.drawn.is_empty() { 0.0 } else { (gain(&extreme) - largest).max(0.0) },
            extreme,
            draws: (stratum.drawn.len() as f64 / (1.0 - stratum.fraction)).max(f64::MIN_POSITIVE),
        }
    }

    /// p_i = weight / (level − gain_i), where the level makes them sum to 1, or leaves the rest to the extreme cell.
    fn at(&self, multiplier: f64) -> Moved {
        let Stratum { cells, drawn, .. } = self.stratum;
        if drawn.is_empty() {
            return Moved { divergence: 0.0, y: cells * self.extreme.0, x: cells * self.extreme.1 };
        }
        let n = drawn.len() as f64;
        let weight = multiplier * self.draws / n;
        // above the largest gain
        let mut level = self.room;
        let mass = |level: f64| self.gaps.iter().map(|gap| weight / (level + gap)).sum::<f64>();
        let is_open = level > 0.0 && mass(level) <= 1.0;
        if !is_open {
            level = weight;
            for _ in 0..STEPS {
                let (sum, slope) = self.gaps.iter().fold((0.0, 0.0), |(sum, slope), gap| {
                    let part = 1.0 / (level + gap);
                    (sum + part, slope + part * part)
                });
                // Newton for 1/mass, which is concave: from below, never beyond the root
                let step = sum * (weight * sum - 1.0) / slope;
                if step.is_nan() || step <= 1e-12 * level {
                    break;
                }
                level += step;
            }
        }
        let (mut moved, mut sum) = (Moved::default(), 0.0);
        for (gap, &(y, x)) in self.gaps.iter().zip(drawn) {
            let p = weight / (level + gap);
            sum += p;
            moved.divergence -= (n * p).ln();
            moved.y += p * y;
            moved.x += p * x;
        }
        let rest = if is_open { (1.0 - sum).max(0.0) } else { 0.0 };
        Moved {
            divergence: (moved.divergence * self.draws / n).max(0.0),
            y: cells * (moved.y + rest * self.extreme.0),
            x: cells * (moved.x + rest * self.extreme.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(cells: f64, fraction: f64, ones: usize, draws: usize) -> Stratum {
        let drawn = (0..draws).map(|k| (f64::from(u8::from(k < ones)), 1.0)).collect();
        let unit = Extent { least: 0.0, greatest: 1.0 };
        Stratum { cells, fraction, drawn, scores: Extent { least: 1.0, greatest: 1.0 }, ours: unit, usual: (1.0, 0.5) }
    }

    /// n (k̂ ln(k̂/p) + (1 − k̂) ln((1 − k̂)/(1 − p))).
    fn binomial(k: usize, n: usize, p: f64) -> f64 {
        let part =
            |count: usize, p: f64| if count == 0 { 0.0 } else { count as f64 * (count as f64 / n as f64 / p).ln() };
        part(k, p) + part(n - k, 1.0 - p)
    }

    #[test]
    fn the_ends_for_shares_are_those_of_the_likelihood_ratio() {
        for (k, n) in [(0, 50), (1, 300), (7, 100), (40, 41), (30, 30)] {
            let (lower, upper) = interval(&[shares(1000.0, 0.0, k, n)], (0.0, 0.0), 0.95);
            let limit = 20.0_f64.ln();
            if k == 0 {
                assert_eq!(lower, 0.0);
                assert!((upper - (1.0 - (-limit / n as f64).exp())).abs() < 1e-6, "{upper}");
            }
            if k == n {
                assert!((lower - (-limit / n as f64).exp()).abs() < 1e-6, "{lower}");
                assert_eq!(upper, 1.0);
            }
            for p in [lower, upper].into_iter().filter(|&p| p > 0.0 && p < 1.0) {
                assert!((binomial(k, n, p) - limit).abs() < 1e-5, "{k} of {n}: {p}");
            }
        }
    }

    #[test]
    fn a_stratum_of_one_draw_is_not_known_exactly() {
        let sure = shares(1000.0, 0.0, 5, 100);
        let (_, without) = interval(&[sure.clone(), shares(100.0, 1.0, 0, 100)], (0.0, 0.0), 0.95);
        let (_, with) = interval(&[sure.clone(), shares(100.0, 0.0, 0, 1)], (0.0, 0.0), 0.95);
        let (_, undrawn) = interval(&[sure, shares(100.0, 0.0, 0, 0)], (0.0, 0.0), 0.95);
        // a hundred of 1,100 cells that one draw or none gives information on
        assert!(with > without + 0.02 && undrawn >= with, "{without} {with} {undrawn}");
    }
}
