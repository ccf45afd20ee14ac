//! The hypergeometric test behind a recall guarantee for pairs: how many positives a uniform sample can have missed.
//!
//! ```text
//! u(G) = ⌊G (1 − ρ)/ρ⌋ + 1                    unseen positives that make "recall ≥ ρ" false if G are found
//! p(N, m, u, X) = P(Hyp(N, u + X, m) ≤ X)     chance that a sample of m of N pairs holds at most X of u + X positives; 0 for u > N − m
//! ```
//! The sum starts at its first term by logarithms, Σ ln(1 − max(M, m)/(N − i)), and continues by ratios; ln Γ alone would lose five digits at
//! N = 5·10¹⁰. Cost: min(M, m) + X operations.

use landmark_core::stats::regularized_beta;

/// Least number of unseen positives that makes a recall of `recall` false if `found` positives are found.
pub fn least_wrong(found: u64, recall: f64) -> u64 {
    // a count far below 2⁵²; the allowance keeps 9 · 0.1/0.9 at 1
    (found as f64 * (1.0 - recall) / recall + 1e-9).floor() as u64 + 1
}

/// Probability that a uniform sample of `sample` of `pairs` holds at most `missed` of the `unseen + missed` positives among them.
pub fn p_value(pairs: u64, sample: u64, unseen: u64, missed: u64) -> f64 {
    if unseen > pairs.saturating_sub(sample) {
        return 0.0;
    }
    let positives = unseen + missed;
    if positives <= missed || sample <= missed {
        return 1.0;
    }
    let (n, m, k) = (pairs as f64, sample as f64, positives as f64);
    // fewest positives that a sample of this size can hold
    let first = (positives + sample).saturating_sub(pairs);
    let log = if first == 0 {
        let (few, many) = (positives.min(sample), k.max(m));
        (0..few).map(|i| (-many / (n - i as f64)).ln_1p()).sum::<f64>()
    } else {
        log_probability(n, k, m, first as f64)
    };
    if log < LEAST_LOG {
        return around_the_mode((n, k, m), first, missed);
    }
    let mut term = log.exp();
    let mut sum = term;
    for j in first..missed {
        let j = j as f64;
        term *= (k - j) * (m - j) / ((j + 1.0) * (n - k - m + j + 1.0));
        sum += term;
    }
    sum.min(1.0)
}

/// Logarithm below which a first term is too small for a number: sums start at their largest term then.
const LEAST_LOG: f64 = -650.0;

/// ln P(Hyp(n, k, m) = j).
fn log_probability(n: f64, k: f64, m: f64, j: f64) -> f64 {
    let choose = |a: f64, b: f64| libm::lgamma(a + 1.0) - libm::lgamma(b + 1.0) - libm::lgamma(a - b + 1.0);
    choose(k, j) + choose(n - k, m - j) - choose(n, m)
}

/// P(first ≤ Hyp(n, k, m) ≤ missed), from its largest term downward and upward.
fn around_the_mode((n, k, m): (f64, f64, f64), first: u64, missed: u64) -> f64 {
    // a count, below both k and m
    let mode = ((k + 1.0) * (m + 1.0) / (n + 2.0)).floor() as u64;
    let start = mode.clamp(first, missed);
    let largest = log_probability(n, k, m, start as f64).exp();
    let (mut sum, mut term) = (largest, largest);
    for j in (first + 1..=start).rev() {
        let j = j as f64;
        term *= j * (n - k - m + j) / ((k - j + 1.0) * (m - j + 1.0));
        sum += term;
    }
    term = largest;
    for j in start..missed {
        let j = j as f64;
        term *= (k - j) * (m - j) / ((j + 1.0) * (n - k - m + j + 1.0));
        sum += term;
    }
    sum.min(1.0)
}

/// Least sample of `pairs` for which at most `tolerated` sampled positives refute `unseen` others at level `delta`.
pub fn sample_size(pairs: u64, unseen: u64, tolerated: u64, delta: f64) -> u64 {
    least(0, pairs, |sample| p_value(pairs, sample, unseen, tolerated) <= delta)
}

/// Most positives that can be unseen in addition to `missed` sampled ones, at level `delta`.
pub fn most_unseen(pairs: u64, sample: u64, missed: u64, delta: f64) -> u64 {
    // the first number that is refuted, less one; nothing unseen is never refuted
    least(1, pairs - sample + 1, |unseen| p_value(pairs, sample, unseen, missed) <= delta) - 1
}

/// Largest recall that an audit of `sample` of `pairs` can show at level `delta`, if it meets no positive and `found` are found.
pub fn reachable_recall(found: u64, pairs: u64, sample: u64, delta: f64) -> f64 {
    let unseen = most_unseen(pairs, sample.min(pairs), 0, delta) as f64;
    if found == 0 { 0.0 } else { found as f64 / (found as f64 + unseen) }
}

/// Least whole number in `low..=high` for which `holds`, which does from some number on; `high` if it does for none.
fn least(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// P(Bin(n, p) ≤ x) for a real n.
pub(super) fn binomial_tail(n: f64, p: f64, x: u64) -> f64 {
    let x = x as f64;
    if n <= x { 1.0 } else { regularized_beta(1.0 - p, n - x, x + 1.0) }
}
