//! The order in which scores are ranked.

use std::cmp::Ordering;

/// Total order of numbers in which −0.0 and 0.0 are equal, so that what decides between equal scores decides between these.
///
/// A score of −0.0 is what a program writes for a small negative number, or what a product with 0 gives. Apart from that this is
/// [`f64::total_cmp`].
pub trait RankCmp {
    /// The order of two scores.
    fn rank_cmp(&self, other: &Self) -> Ordering;
}

impl RankCmp for f64 {
    fn rank_cmp(&self, other: &Self) -> Ordering {
        // −0.0 + 0.0 is 0.0, and everything else is what it was
        (self + 0.0).total_cmp(&(other + 0.0))
    }
}

impl RankCmp for f32 {
    fn rank_cmp(&self, other: &Self) -> Ordering {
        (self + 0.0).total_cmp(&(other + 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_zero_ties_with_zero_and_nothing_else_does() {
        assert_eq!((-0.0_f64).rank_cmp(&0.0), Ordering::Equal);
        assert_eq!((-0.0_f32).rank_cmp(&0.0), Ordering::Equal);
        let numbers = [f64::NEG_INFINITY, -1.0, -5e-324, 0.0, 5e-324, 1.0, f64::INFINITY, f64::NAN];
        for (i, one) in numbers.iter().enumerate() {
            for (j, other) in numbers.iter().enumerate() {
                assert_eq!(one.rank_cmp(other), i.cmp(&j), "{one} {other}");
            }
        }
    }
}
