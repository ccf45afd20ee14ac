//! Recall of all pairs above a similarity, from fits that have not seen a fifth of the landmarks.
//!
//! As `mine --target-recall` of the program: five fits, each without a fold of the columns, estimate the rows of that fold. No call is made
//! for it. Bounds: `landmark_neighbours::recall`.

use std::collections::HashSet;
use std::sync::Arc;

use landmark_core::approximate::ApproximateError;
use landmark_core::approximation::{Embedding, Known};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, block_of};
use landmark_core::parameter::BadParameter;
use landmark_neighbours::recall::{PairAudit, Target, folds};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::value;
use crate::fit::Fit;

pub(crate) fn target(recall: f64, delta: f64) -> PyResult<Target> {
    Target::new(recall, delta).map_err(|error| value(&error))
}

/// Estimates of the pairs that the columns show, by fits without them.
pub(crate) fn audit(
    fit: &Fit,
    oracle: &Arc<dyn Oracle>,
    columns: &[usize],
    at_least: f64,
) -> Result<PairAudit, ApproximateError> {
    let n = oracle.len();
    let items: Vec<usize> = (0..n).collect();
    let mut is_column = vec![false; n];
    columns.iter().for_each(|&item| is_column[item] = true);
    let (mut estimates, mut between) = (vec![Vec::new(); columns.len()], 0);
    for fold in folds(columns.len()) {
        let held: HashSet<usize> = fold.iter().map(|&place| columns[place]).collect();
        let left: Vec<usize> = columns.iter().copied().filter(|item| !held.contains(item)).collect();
        let embedding = fit_to(fit, oracle.as_ref(), left)?;
        for place in fold {
            let item = columns[place];
            let scores = block_of(oracle.as_ref(), &items, &[item])?;
            let estimate = embedding.vectors.dot(&(&embedding.vectors.row(item) * &embedding.signature));
            for other in (0..n).filter(|&other| other != item && scores[[other, 0]] >= at_least) {
                if !is_column[other] {
                    estimates[place].push(estimate[other]);
                } else if other < item {
                    between += 1;
                }
            }
        }
    }
    Ok(PairAudit::new(n, estimates, between))
}

/// The method on some columns alone, at the largest rank that these allow.
fn fit_to(fit: &Fit, oracle: &dyn Oracle, left: Vec<usize>) -> Result<Embedding, ApproximateError> {
    let (n, method) = (oracle.len(), fit.method.as_ref());
    let is_enough = |rank: &usize| {
        method.landmarks_needed(n, *rank) <= left.len() && method.independent_needed(*rank) <= left.len()
    };
    let Some(rank) = (1..=fit.rank.min(left.len())).rev().find(is_enough) else {
        let wanted = "more, so that each of five folds leaves enough for the method";
        return Err(BadParameter::new("n_components", fit.rank, wanted).into());
    };
    let landmarks = Landmarks::new(n, left.clone(), left)?;
    method.fit(oracle, &landmarks, rank, Known::NOTHING, &mut fit.stream("fit"))?.into_embedding()
}

/// JSON of the threshold that reaches a recall.
pub(crate) fn bound_json(audit: &PairAudit, target: Target) -> PyResult<String> {
    let bound =
        audit.threshold(target).map_err(|error| PyValueError::new_err(format!("no recall can be stated: {error}")))?;
    Ok(json!({
        // infinite where no further pair need be scored
        "threshold": bound.threshold.is_finite().then_some(bound.threshold),
        "recall": bound.recall, "lower": bound.lower, "found": bound.found, "expected": bound.expected,
    })
    .to_string())
}
