//! Standard normal numbers by Box and Muller (1958): r cos 2πv and r sin 2πv, r = √(−2 ln u), u in (0, 1], v in [0, 1).

use std::f64::consts::TAU;

use rand::Rng as _;

use crate::stream::Rng;

/// r and 2πv.
fn polar(rng: &mut Rng) -> (f64, f64) {
    let radius = (-2.0 * (1.0 - rng.r#gen::<f64>()).ln()).sqrt();
    (radius, TAU * rng.r#gen::<f64>())
}

/// One draw from N(0, 1), the cosine of a pair.
pub fn standard_normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = polar(rng);
    radius * angle.cos()
}

/// Independent draws from N(0, 1), cosine and sine of each pair, into `out`.
pub fn fill_normal(rng: &mut Rng, out: &mut [f64]) {
    for pair in out.chunks_mut(2) {
        let (radius, angle) = polar(rng);
        let (sine, cosine) = angle.sin_cos();
        pair[0] = radius * cosine;
        if let Some(second) = pair.get_mut(1) {
            *second = radius * sine;
        }
    }
}

/// `n` independent draws from N(0, 1), as [`fill_normal`].
pub fn normals(rng: &mut Rng, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    fill_normal(rng, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::stream;

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let draws = normals(&mut stream(1, "test", "normal", 0), 200_001);
        let n = draws.len() as f64;
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        // five standard errors of each moment: √(1/n), √(2/n), √(15/n), √(96/n)
        assert!(moment(1).abs() < 5.0 / n.sqrt());
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!(moment(3).abs() < 5.0 * (15.0 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
        // neighbors, which share a radius, are uncorrelated, and so are their squares
        let pairs = draws.as_chunks::<2>().0;
        let pair_count = pairs.len() as f64;
        let product = |f: fn(f64) -> f64| pairs.iter().map(|[a, b]| f(*a) * f(*b)).sum::<f64>() / pair_count;
        assert!(product(|x| x).abs() < 5.0 / pair_count.sqrt());
        assert!(product(|x| x * x - 1.0).abs() < 5.0 * 2.0 / pair_count.sqrt());
    }
}
