//! Regularised incomplete beta function and its inverse in x: what Clopper and Pearson's bound is made of.
//!
//! ```text
//! I_x(a, b) = x^a (1 − x)^b / (a B(a, b)) · continued fraction (DiDonato & Morris 1992, §8; Lentz 1976)
//! ```
//! The fraction converges fast for x < (a + 1)/(a + b + 2); beyond, I_x(a, b) = 1 − I_{1−x}(b, a). Relative error about 1e-13 for
//! a + b below a million; the quantile by bisection, to the last bits of x. Checked against SciPy.

/// Terms of the continued fraction at most; it takes about √max(a, b).
const TERMS: u32 = 100_000;

/// I_x(a, b), the probability that a Beta(a, b) variable is at most x; a, b > 0.
pub fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) { 1.0 - lower_tail(1.0 - x, b, a) } else { lower_tail(x, a, b) }
}

/// I_x(a, b) by the fraction, where it converges fast.
fn lower_tail(x: f64, a: f64, b: f64) -> f64 {
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = (a * x.ln() + b * (-x).ln_1p() - log_beta).exp() / a;
    front * fraction(x, a, b)
}

/// The continued fraction, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut c = 1.0;
    let mut d = away_from_zero(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut value = d;
    for term in 1..=TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            d = away_from_zero(1.0 + coefficient * d).recip();
            c = away_from_zero(1.0 + coefficient / c);
            step = c * d;
            value *= step;
        }
        if (step - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// x with I_x(a, b) = p; a, b > 0 and 0 ≤ p ≤ 1.
///
/// ```
/// use landmark_neighbours::recall::beta_quantile;
/// // 30 of 30 seen: the lower bound at confidence .9 is .1^(1/30)
/// assert!((beta_quantile(0.1, 30.0, 1.0) - 0.1_f64.powf(1.0 / 30.0)).abs() < 1e-13);
/// ```
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    largest(|x| regularized_beta(x, a, b) <= p)
}

/// The largest x in [0, 1] for which `holds`, which does below some x and does not above.
pub(super) fn largest(holds: impl Fn(f64) -> bool) -> f64 {
    if holds(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // as often as it takes to meet neighbouring numbers, unless x is tiny
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}
