//! Quantiles, correlation and the incomplete beta function.
//!
//! ```text
//! I_x(a, b) = x^a (1 − x)^b / (a B(a, b)) · continued fraction (DiDonato & Morris 1992, §8; Lentz 1976)
//! ```
//! The fraction converges fast for x < (a + 1)/(a + b + 2); beyond, I_x(a, b) = 1 − I_{1−x}(b, a). Relative error about 1e-13 for
//! a + b below a million; quantiles by bisection, to the last bits. Checked against SciPy.

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
/// use landmark_core::stats::beta_quantile;
/// // 30 of 30 seen: the lower bound at confidence .9 is .1^(1/30)
/// assert!((beta_quantile(0.1, 30.0, 1.0) - 0.1_f64.powf(1.0 / 30.0)).abs() < 1e-13);
/// ```
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    largest(|x| regularized_beta(x, a, b) <= p)
}

/// The largest x in [0, 1] for which `holds`, which does below some x and does not above.
pub fn largest(holds: impl Fn(f64) -> bool) -> f64 {
    if holds(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // as often as it takes to meet neighboring numbers, unless x is tiny
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Clopper and Pearson's lower bound at confidence 1 − `delta` of a share, for `found` of `draws`, neither of which need be whole.
pub fn clopper_pearson_lower(found: f64, draws: f64, delta: f64) -> f64 {
    if found <= 0.0 { 0.0 } else { beta_quantile(delta, found, draws - found + 1.0) }
}

/// Clopper and Pearson's upper bound, as [`clopper_pearson_lower`].
pub fn clopper_pearson_upper(found: f64, draws: f64, delta: f64) -> f64 {
    if found < draws { beta_quantile(1.0 - delta, found + 1.0, draws - found) } else { 1.0 }
}

/// t with P(T > t) = `delta` for Student's T of `degrees` of freedom, 0 < δ < ½.
pub fn upper_student_t(delta: f64, degrees: f64) -> f64 {
    // degrees/(degrees + T²) is Beta(degrees/2, ½)
    let x = beta_quantile(2.0 * delta, degrees / 2.0, 0.5);
    (degrees * (1.0 - x) / x).sqrt()
}

/// z with P(Z > z) = `delta` for a standard normal Z, 0 < δ < ½.
pub fn upper_normal(delta: f64) -> f64 {
    // beyond 40 a double cannot distinguish the probability from certainty
    40.0 * largest(|part| libm::erfc(40.0 * part / std::f64::consts::SQRT_2) >= 2.0 * delta)
}

/// The quantile of ascending numbers, linear between order statistics; `None` of none.
pub fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = place.floor();
    // `place` lies in 0..=last, far below 2⁵³
    let index = below as usize;
    Some(ascending[index] + (place - below) * (ascending[(index + 1).min(last)] - ascending[index]))
}

/// The middle number, or the mean of the two middle ones; `None` of none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let half = ascending.len() / 2;
    match ascending.len() {
        0 => None,
        even if even % 2 == 0 => Some(0.5 * (ascending[half - 1] + ascending[half])),
        _ => Some(ascending[half]),
    }
}

/// Pearson's correlation r = Σ(x−x̄)(y−ȳ) / √(Σ(x−x̄)² · Σ(y−ȳ)²), in [−1, 1]; `None` if either list is constant or a number is not finite.
///
/// Each list is scaled by its largest number, centered and scaled by its largest deviation, so that no square leaves the range of f64.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "the correlation of lists of different lengths");
    let (x, y) = (standardized(x)?, standardized(y)?);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(&y) {
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    Some((xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

fn standardized(values: &[f64]) -> Option<Vec<f64>> {
    let largest = |values: &[f64]| values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let first = values.first()?;
    if values.iter().all(|value| value == first) || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let scale = largest(values);
    let mut scaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
    let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
    scaled.iter_mut().for_each(|value| *value -= mean);
    let spread = largest(&scaled);
    (spread > 0.0).then(|| scaled.iter().map(|value| value / spread).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Abramowitz & Stegun, table 26.10, and the normal distribution
        let table = [(0.05, 1.0, 6.314), (0.05, 10.0, 1.812), (0.1, 5.0, 1.476), (0.2, 30.0, 0.854)];
        for (delta, degrees, t) in table {
            assert!((upper_student_t(delta, degrees) - t).abs() < 6e-4, "{delta} {degrees}");
        }
        // four decimals are printed
        let table = [(2.0, 4.3027), (9.0, 2.2622), (30.0, 2.0423), (31.0, 2.0395), (40.0, 2.0211), (120.0, 1.9799)];
        for (degrees, t) in table {
            assert!((upper_student_t(0.025, degrees) - t).abs() < 6e-5, "{degrees}");
        }
        assert!((upper_normal(0.05) - 1.644_853_626_951_473).abs() < 1e-13);
    }

    #[test]
    fn a_median_is_the_middle_and_a_quantile_lies_between_its_neighbors() {
        assert_eq!(
            (median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])),
            (None, Some(2.0), Some(2.5))
        );
        assert_eq!((quantile(&[], 0.5), quantile(&[1.0, 2.0, 4.0], 0.75)), (None, Some(3.0)));
    }

    #[test]
    fn a_constant_list_or_one_that_is_not_finite_has_no_correlation() {
        assert_eq!(pearson(&[1.0, 2.0], &[3.0, 3.0]), None);
        assert_eq!(pearson(&[1.0, f64::NAN], &[3.0, 4.0]), None);
        assert_eq!(pearson(&[1.0, 2.0, 3.0], &[1e300, 2e300, 3e300]), Some(1.0));
    }
}
