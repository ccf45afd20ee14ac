//! Distances that are not solved, because a bound proves their similarity negligible (`oracle.negligible`).

use std::sync::Arc;

use landmark_core::oracle::OracleError;
use landmark_oracles::wmd::{Wmd, WordClouds};
use serde::Serialize;

use crate::config::MatrixSubject;

/// How far word mover's distance is solved.
#[derive(Debug)]
pub struct Negligible {
    epsilon: f64,
    distance: f64,
    wmd: Wmd,
}

/// What was not solved, and what that may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Skipped {
    /// Pairs that a bound proved negligible.
    pub solves: u64,
    /// ε: no entry of K is off by more.
    pub entry_bound: f64,
    /// ε √(2 · solves): nor is K in the Frobenius norm, each pair standing for two entries.
    pub frobenius_bound: f64,
}

/// Word mover's distance as the configuration wants it solved.
pub(super) fn wmd(matrix: &MatrixSubject, clouds: &Arc<WordClouds>) -> Result<(Wmd, Option<Negligible>), OracleError> {
    let Some((epsilon, distance)) = matrix.negligible() else { return Ok((Wmd::new(Arc::clone(clouds)), None)) };
    let wmd = Wmd::with_cutoff(Arc::clone(clouds), distance)?;
    Ok((wmd.clone(), Some(Negligible { epsilon, distance, wmd })))
}

impl Negligible {
    /// What a reader must know before the first call.
    pub(super) fn note(&self) -> String {
        let Self { epsilon, distance, .. } = self;
        format!(
            "distances that WCD or RWMD prove to be {distance:.4} or more are not solved, the bound stands for them: at every γ here \
             that moves a similarity by at most {epsilon:e}"
        )
    }

    /// What was not solved so far.
    pub fn skipped(&self) -> Skipped {
        let solves = self.wmd.skipped();
        let frobenius_bound = self.epsilon * (2.0 * solves as f64).sqrt();
        Skipped { solves, entry_bound: self.epsilon, frobenius_bound }
    }
}
