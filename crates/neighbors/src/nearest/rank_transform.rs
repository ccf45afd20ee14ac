//! The rank transform: all that neighbors depend on is which of two scores is larger.
//!
//! ```text
//! z(K) = ln(p / (1 − p))      p = (known scores below K + half of those equal to it) / known scores
//! ```
//! A link and a kriging by least squares follow the few largest of skewed scores, such as exp(−γ·distance) at a large γ. Elsewhere ranks may be
//! worse, so a search takes them only where they predict the order of known pairs, each left out, better by a fortieth of them.

use rayon::prelude::*;

/// z at the distinct known scores, between them by interpolation; beyond them it stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RankTransform {
    /// Distinct scores, ascending; none: scores stay as they are.
    scores: Vec<f64>,
    /// z of each, ascending.
    transformed: Vec<f64>,
}

impl RankTransform {
    /// From known scores, which are finite; of fewer than two distinct ones, that which leaves scores as they are.
    pub(super) fn of(mut known: Vec<f64>) -> Self {
        known.par_sort_unstable_by(f64::total_cmp);
        let (mut scores, mut transformed, mut below) = (Vec::new(), Vec::new(), 0);
        for equal in known.chunk_by(|one, other| one == other) {
            let p = (below as f64 + equal.len() as f64 / 2.0) / known.len() as f64;
            below += equal.len();
            scores.push(equal[0]);
            transformed.push((p / (1.0 - p)).ln());
        }
        if scores.len() < 2 { Self::default() } else { Self { scores, transformed } }
    }

    /// z of a score; that which is not finite stays.
    pub(super) fn at(&self, score: f64) -> f64 {
        if score.is_finite() { interpolated(&self.scores, &self.transformed, score) } else { score }
    }

    /// The score of a z.
    pub(super) fn back(&self, z: f64) -> f64 {
        interpolated(&self.transformed, &self.scores, z)
    }
}

/// y at x, through the points (xs, ys); both ascend.
fn interpolated(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let (Some(first), Some(last)) = (ys.first(), ys.last()) else { return x };
    let above = xs.partition_point(|&known| known <= x);
    if above == 0 {
        return *first;
    }
    if above == xs.len() {
        return *last;
    }
    let (left, right) = (xs[above - 1], xs[above]);
    ys[above - 1] + (x - left) / (right - left) * (ys[above] - ys[above - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sees_ranks_alone_and_comes_back() {
        let known = vec![0.1, 5.0, 0.3, 0.3, -2.0];
        let transform = RankTransform::of(known.clone());
        let logit = |p: f64| (p / (1.0 - p)).ln();
        assert_eq!(known.iter().map(|&k| transform.at(k)).collect::<Vec<_>>(), [0.3, 0.9, 0.6, 0.6, 0.1].map(logit));
        let cubes = RankTransform::of(known.iter().map(|k| k.powi(3)).collect());
        assert!(known.iter().all(|&k| cubes.at(k.powi(3)) == transform.at(k) && transform.back(transform.at(k)) == k));
        let (low, high) = (transform.at(-9.0), transform.at(1e9));
        assert_eq!((low, high, transform.back(-99.0), transform.back(99.0)), (logit(0.1), logit(0.9), -2.0, 5.0));
        assert!((transform.back(transform.at(2.0)) - 2.0).abs() < 1e-12 && transform.at(f64::NAN).is_nan());
    }

    #[test]
    fn without_two_distinct_scores_they_stay_as_they_are() {
        for known in [vec![], vec![0.5; 4]] {
            let transform = RankTransform::of(known);
            assert_eq!((transform.at(0.7), transform.back(0.7)), (0.7, 0.7));
        }
    }
}
