//! The score above which an item is called positive.

use super::{MetricError, check_finite, check_lengths};

use landmark_core::rank::RankCmp;

/// A cut between scores, and the share of labels it gets right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Positive is what scores above it.
    pub value: f64,
    /// Accuracy on the scores it was chosen on.
    pub accuracy: f64,
}

/// The threshold of the best accuracy: the middle of a gap between neighboring scores, of several equally good gaps the widest, of
/// equally wide ones the lowest. None where all scores are the same. O(n log n).
pub fn best_threshold(scores: &[f64], labels: &[bool]) -> Result<Option<Threshold>, MetricError> {
    const METRIC: &str = "best_threshold";
    check_lengths(METRIC, ("scores", scores.len()), ("labels", labels.len()), 1)?;
    check_finite(METRIC, "scores", scores)?;
    let mut ranked: Vec<(f64, bool)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    ranked.sort_by(|a, b| a.0.rank_cmp(&b.0));
    // with the cut below all scores every positive is right
    let mut right = labels.iter().filter(|&&label| label).count();
    let mut best: Option<(usize, f64, f64)> = None;
    for pair in ranked.windows(2) {
        let [(below, label), (above, _)] = *pair else { continue };
        // the lower one is now called negative
        right = if label { right - 1 } else { right + 1 };
        let gap = above - below;
        if gap > 0.0 && best.is_none_or(|(most, widest, _)| (right, gap) > (most, widest)) {
            best = Some((right, gap, below + gap / 2.0));
        }
    }
    Ok(best.map(|(right, _, value)| Threshold { value, accuracy: right as f64 / scores.len() as f64 }))
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    fn by_trial(scores: &[f64], labels: &[bool]) -> f64 {
        let right = |cut: f64| scores.iter().zip(labels).filter(|(score, label)| (**score > cut) == **label).count();
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let cuts = scores.iter().flat_map(|a| scores.iter().map(move |b| (a + b) / 2.0));
        let best = cuts.filter(|cut| (least..most).contains(cut)).map(right).max().unwrap_or(0);
        best as f64 / scores.len() as f64
    }

    #[test]
    fn no_other_cut_gets_more_right() {
        let mut rng = StdRng::seed_from_u64(1);
        for n in 2..60 {
            // rounded, so that some scores are the same
            let scores: Vec<f64> = (0..n).map(|_| (rng.r#gen::<f64>() * 20.0).round() / 20.0).collect();
            let labels: Vec<bool> = scores.iter().map(|score| rng.r#gen::<f64>() < *score).collect();
            let Some(best) = best_threshold(&scores, &labels).unwrap() else { continue };
            assert_eq!(best.accuracy, by_trial(&scores, &labels), "{scores:?} {labels:?}");
            let right = scores.iter().zip(&labels).filter(|(score, label)| (**score > best.value) == **label).count();
            assert_eq!(best.accuracy, right as f64 / f64::from(n));
        }
    }

    #[test]
    fn of_equally_good_gaps_the_widest_is_taken() {
        let best = best_threshold(&[0.0, 0.5, 1.0, 3.0], &[false, true, false, true]).unwrap().unwrap();
        assert_eq!(best, Threshold { value: 2.0, accuracy: 0.75 });
    }

    #[test]
    fn what_has_no_threshold_has_none_and_what_is_no_list_is_refused() {
        assert_eq!(best_threshold(&[0.3, 0.3], &[true, false]), Ok(None));
        assert!(matches!(best_threshold(&[], &[]), Err(MetricError::TooFew { .. })));
        assert!(matches!(best_threshold(&[0.1], &[true, false]), Err(MetricError::Lengths { .. })));
        assert!(matches!(
            best_threshold(&[0.1, f64::NAN], &[true, false]),
            Err(MetricError::NotFinite { index: 1, .. })
        ));
    }
}
