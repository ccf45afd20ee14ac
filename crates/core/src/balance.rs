//! Powers of two that keep squares and products within the range of f64.
//!
//! A relative error, a least-squares fit and a decomposition do not depend on the unit of the scores, but their squares leave the range of f64 from
//! 1e±154 on, and products of four scores from 1e±77 on. Whatever takes such products first multiplies by a power of two, which rounds nothing.

use ndarray::{ArrayView1, ArrayView2};

/// Scores whose largest lies within 2^±60 are left as they are: products of four of them, and sums of those, are far from both ends of the range.
const PLAIN: i32 = 60;

/// The power of 16 that brings numbers of this size near 1. It is 1 within 2^±60, for 0 and for what is not finite.
pub fn balancing(largest: f64) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return 1.0;
    }
    // of a subnormal number too the exponent is an integer far within i32
    let exponent = largest.abs().log2().floor() as i32;
    // a power of 16: its fourth root rounds nothing either; 2^±1000 has an inverse, and brings every number of f64 near enough
    if exponent.abs() <= PLAIN { 1.0 } else { 2.0_f64.powi(-4 * exponent.clamp(-1000, 1000).div_euclid(4)) }
}

/// max|a|, 0 for none. NaN is passed over.
pub fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// [`balancing`] of the largest entry of some matrices together.
pub fn balancing_of(matrices: &[ArrayView2<'_, f64>]) -> f64 {
    balancing(matrices.iter().map(largest).fold(0.0, f64::max))
}

/// The length of a vector, whose squares may be out of range.
pub fn length(vector: ArrayView1<'_, f64>) -> f64 {
    let scale = balancing(largest(vector));
    if scale == 1.0 {
        return vector.dot(&vector).sqrt();
    }
    vector.iter().map(|value| (scale * value).powi(2)).sum::<f64>().sqrt() / scale
}

/// ‖truth − guess‖ / ‖truth‖ over pairs of both; none where all of the truth is 0.
pub fn relative_error(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let size = pairs.clone().fold(0.0, |largest: f64, (truth, guess)| largest.max(truth.abs()).max(guess.abs()));
    let scale = balancing(size);
    let norm: f64 = pairs.clone().map(|(truth, _)| (scale * truth).powi(2)).sum();
    let error: f64 = pairs.map(|(truth, guess)| (scale * truth - scale * guess).powi(2)).sum();
    (norm > 0.0).then(|| (error / norm).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_relative_errors_of_numbers_whose_squares_are_out_of_range() {
        let vector = ndarray::array![3.0, -4.0];
        let pairs = [(3.0, 2.5), (-4.0, -4.0)];
        for exponent in [-560, -300, 300, 560] {
            let unit = 2.0_f64.powi(exponent);
            assert_eq!(length((&vector * unit).view()), 5.0 * unit);
            assert_eq!(relative_error(pairs.iter().map(|(truth, guess)| (truth * unit, guess * unit))), Some(0.1));
        }
        assert_eq!(relative_error([(0.0, 1.0)].into_iter()), None);
    }
}
