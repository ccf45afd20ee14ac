//! Draws from N(0, 1).

use landmark_core::stream::Rng;
use rand::Rng as _;

/// One standard normal number by Box and Muller (1958): √(−2 ln u) cos 2πv with u in (0, 1], v in [0, 1).
pub(crate) fn standard_normal(rng: &mut Rng) -> f64 {
    let u = 1.0 - rng.r#gen::<f64>();
    let v = rng.r#gen::<f64>();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;

    use super::*;

    #[test]
    fn moments_are_those_of_the_standard_normal() {
        let mut rng = stream(1, "test", "normal", 0);
        let draws: Vec<f64> = (0..100_000).map(|_| standard_normal(&mut rng)).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / draws.len() as f64;
        // standard errors √(1/n), √(2/n), √(15/n), √(96/n): five of each
        for (power, wanted, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let error: f64 = moment(power) - wanted;
            assert!(error.abs() < 5.0 * (variance / 1e5_f64).sqrt(), "moment {power}: {error}");
        }
    }
}
