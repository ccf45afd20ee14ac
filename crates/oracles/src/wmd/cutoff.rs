//! Word mover's distance that is solved only where it may matter: the bounds WCD ≤ WMD and RWMD ≤ WMD go first.
//!
//! A bound b that reaches the cutoff D stands for the distance d ≥ b ≥ D. Seen through exp(−γ·), both are at most ε = exp(−γ D), so
//!
//! `|exp(−γ b) − exp(−γ d)| ≤ ε` an entry, and `‖K̂ − K‖_F ≤ ε √(2k)` where k unordered pairs of a matrix were not solved;
//!
//! the same holds at every larger γ. Kusner et al. 2015 (§4) prune nearest neighbors by these bounds; here they prune a matrix.
//!
//! Cost of a pair: d operations for WCD; then its distance table and m·n operations for RWMD; then, below the cutoff, the solver.
//! Memory: the n centroids.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_core::parameter::BadParameter;

use super::WmdScratch;
use super::bounds::{Wcd, relaxed};
use super::distance_tables::{PairTable, score_pairs};
use super::word_clouds::WordClouds;

/// Distances are not solved where a bound reaches `distance`.
#[derive(Debug)]
pub(super) struct Cutoff {
    pub(super) distance: f64,
    centroids: Wcd,
    skipped: AtomicU64,
}

#[derive(Default)]
struct Scratch {
    nearest: Vec<f64>,
    wmd: WmdScratch,
}

impl Cutoff {
    pub(super) fn new(clouds: &Arc<WordClouds>, distance: f64) -> Result<Self, OracleError> {
        if !(distance > 0.0 && distance.is_finite()) {
            return Err(BadParameter::new("cutoff", distance, "a finite distance above 0").into());
        }
        Ok(Self { distance, centroids: Wcd::new(Arc::clone(clouds)), skipped: AtomicU64::new(0) })
    }

    /// Solves that the bounds made needless so far.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    pub(super) fn evaluate(&self, clouds: &WordClouds, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.centroids.evaluate(pairs, out)?;
        let is_near = |&k: &usize| out[k] < self.distance;
        let near: Vec<usize> = (0..pairs.len()).filter(is_near).collect();
        // a document without words is at a given distance, which nobody solves
        let has_words = |&k: &usize| clouds.distance_without_words(pairs[k]).is_none();
        let far = (0..pairs.len()).filter(|k| !is_near(k)).filter(has_words).count();
        self.skipped.fetch_add(far as u64, Ordering::Relaxed);

        let close: Vec<Pair> = near.iter().map(|&k| pairs[k]).collect();
        let mut distances = vec![0.0; close.len()];
        score_pairs(clouds, &close, &mut distances, |scratch: &mut Scratch, pair| self.distance(scratch, pair));
        near.iter().zip(distances).for_each(|(&k, distance)| out[k] = distance);
        Ok(())
    }

    fn distance(&self, scratch: &mut Scratch, pair: &PairTable<'_>) -> f64 {
        let bound = relaxed(&mut scratch.nearest, pair);
        if bound < self.distance {
            return scratch.wmd.distance(pair);
        }
        self.skipped.fetch_add(1, Ordering::Relaxed);
        bound
    }
}
