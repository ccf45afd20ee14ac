//! Pairs above a similarity with a guaranteed recall, as `mine --target-recall` of the program: docs/explanation/recall.md.
//!
//! Pairs with a landmark are known. The others are scored in the order of their estimates, and a uniform sample of the rest is audited. The sample
//! depends on the seed, the name, the threshold and the target alone, and the cut on scores that the store keeps, so a search that was interrupted repeats
//! both without a call.

use landmark_core::approximation::ScatteredEntries;
use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_core::stream::stream;
use landmark_neighbors::Universe;
use landmark_neighbors::recall::{
    AuditedPairs, Batch, PairQuery, PairSource, PairsEnd, Target, least_wrong, pairs_with_recall, reachable_recall,
    sample_size,
};
use landmark_tasks::neighbors::{SignedVectors, best_pairs};
use ndarray::{Array1, Array2, Axis};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::factor_neighbors;
use crate::neighbors::{self, as_far_as_paid, target};
use crate::reading::{self, pair_array};
use crate::scores::Scores;

/// Pairs scored between two looks for an interruption.
const PAIRS_AT_A_TIME: usize = 1 << 12;
/// Rows of one product of estimates.
const ROWS_AT_A_TIME: usize = 256;

/// Settings of a search for pairs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairSettings {
    at_least: f64,
    recall: f64,
    delta: f64,
    seed: u64,
    name: String,
    /// Most new calls.
    budget: Option<u64>,
    /// Only plans the next calls.
    plan: bool,
    /// Items of the first of two lists.
    #[serde(default)]
    pub(crate) left: Option<usize>,
}

/// What a fit knows of the pairs, and how it orders the others.
pub(crate) struct Factored {
    universe: Universe,
    is_landmark: Vec<bool>,
    /// Items that are no landmark; `vectors` and `scattered` are what the fit holds for them.
    others: Vec<usize>,
    vectors: Array2<f64>,
    signature: Array1<f64>,
    scattered: Option<ScatteredEntries>,
    /// Pairs with a landmark, each once.
    known: Vec<(Pair, f64)>,
}

impl Factored {
    pub(crate) fn of(n: usize, fitted: neighbors::Fitted<'_>, left: Option<usize>) -> PyResult<Self> {
        let universe = Universe { items: n, left };
        let (landmarks, block, pairs, scores, vectors, signature) = fitted;
        let (landmarks, block) = (reading::items(n, &landmarks)?, block.as_array());
        let vectors = vectors.as_array();
        if block.dim() != (n, landmarks.len()) || vectors.nrows() != n {
            return Err(PyValueError::new_err("what a fit left is of other items than these"));
        }
        let signature = signature.as_array().to_owned();
        factor_neighbors::check(vectors, &signature)?;
        let (mut is_landmark, mut known) = (vec![false; n], Vec::new());
        for (column, &landmark) in landmarks.iter().enumerate() {
            if std::mem::replace(&mut is_landmark[landmark], true) {
                continue;
            }
            let new = (0..n).filter(|&item| !is_landmark[item]);
            let scored = new.map(|item| ((item.min(landmark), item.max(landmark)), block[[item, column]]));
            known.extend(scored.filter(|&(pair, _)| universe.has(pair)));
        }
        let others: Vec<usize> = (0..n).filter(|&item| !is_landmark[item]).collect();
        let scattered = factor_neighbors::scattered(n, &Some((pairs, scores)))?.map(|entries| entries.select(&others));
        let vectors = vectors.select(Axis(0), &others);
        Ok(Self { universe, is_landmark, others, vectors, signature, scattered, known })
    }
}

/// A search that can be run.
pub(crate) struct Ready {
    settings: PairSettings,
    target: Target,
    of: Factored,
}

/// Pairs that were found, best first, and what is known of the others.
pub(crate) struct Found {
    pairs: Vec<(Pair, f64)>,
    statement: Json,
}

impl PairSettings {
    pub(crate) fn ready(self, of: Factored) -> PyResult<Ready> {
        Ok(Ready { target: target(self.recall, self.delta)?, settings: self, of })
    }
}

impl Ready {
    pub(crate) fn run(&self, scores: &Scores, oracle: &dyn Oracle) -> Result<Found, OracleError> {
        let (of, at_least) = (&self.of, self.settings.at_least);
        let mut pairs: Vec<(Pair, f64)> = of.known.iter().copied().filter(|&(_, score)| score >= at_least).collect();
        let query = PairQuery {
            items: of.universe.items,
            at_least,
            target: self.target,
            known: of.known.len() as u64,
            known_positives: pairs.len() as u64,
        };
        let mut source =
            Source { scores, oracle, ready: self, before: scores.spent(), paid: usize::MAX, refused: None };
        let names = format!("pairs from {at_least} on, {} at {}", self.target.recall(), self.target.delta());
        let mut rng = stream(self.settings.seed, &self.settings.name, &names, 0);
        let found = pairs_with_recall(query, &mut source, &mut rng)?;
        let statement = self.statement(query, &found, source.refused);
        pairs.extend(found.found);
        Ok(Found { pairs, statement })
    }

    fn statement(&self, query: PairQuery, found: &AuditedPairs, refused: Option<Refused>) -> Json {
        let raise = |refused: &Refused| format!("{}; raise `budget` to continue", refused.reason);
        let why = refused.as_ref().map_or_else(|| "the budget ended; raise it to continue".to_owned(), raise);
        let (lower, enough) = match found.end {
            PairsEnd::Reached => (self.target.recall(), None),
            PairsEnd::Exact => (1.0, None),
            PairsEnd::Below { lower } => (lower, Some(why)),
            PairsEnd::NotAudited { sample } => {
                let planned = sample.map_or_else(String::new, |sample| format!(", which takes {sample} pairs"));
                (0.0, Some(format!("the search ended before its audit{planned}: {why}")))
            }
            PairsEnd::NothingFound { sample } => {
                let scored = found.by_estimate + query.known;
                let reason = format!(
                    "no pair of at least {} is among the {scored} that were scored, and that there is none at all would take {sample} more; lower the \
                     threshold",
                    query.at_least
                );
                (0.0, Some(reason))
            }
        };
        let is_known = !matches!(found.end, PairsEnd::NotAudited { .. } | PairsEnd::NothingFound { .. });
        let bound = match found.end {
            PairsEnd::Exact => "all pairs",
            _ if is_known => "audited pairs, hypergeometric",
            _ => "none: no pairs were audited",
        };
        json!({
            "target_recall": self.target.recall(), "delta": self.target.delta(), "reached": enough.is_none(),
            "recall": is_known.then_some(found.recall), "lower": lower, "bound": bound, "audited_rows": found.audited,
            "scored_pairs": found.by_estimate + found.audited, "enough": enough,
            "planned": refused.map_or(0, |refused| refused.calls + self.least_audit(query, found, refused.is_audit)),
        })
    }

    /// Pairs of an audit that meets no similar pair, if it is not drawn yet: what a search needs at least beyond its next batch.
    fn least_audit(&self, query: PairQuery, found: &AuditedPairs, is_drawn: bool) -> u64 {
        if is_drawn || matches!(found.end, PairsEnd::Below { .. }) {
            return 0;
        }
        let n = query.items as f64;
        let landmarks = (n - self.of.others.len() as f64).max(1.0);
        // pairs with a landmark stand for all of them; a number of pairs, far below 2⁵²
        let expected = (query.known_positives as f64 * n / (2.0 * landmarks)).max(1.0).floor() as u64;
        let left = found.below_cut.saturating_sub(query.items as u64 / 2);
        sample_size(left, least_wrong(expected, self.target.recall()), 0, self.target.delta())
    }
}

/// Calls that the search did not make.
struct Refused {
    calls: u64,
    is_audit: bool,
    reason: String,
}

/// Pairs of the items, scored as far as the budget goes.
struct Source<'a> {
    scores: &'a Scores,
    oracle: &'a dyn Oracle,
    ready: &'a Ready,
    /// Calls before the search.
    before: u64,
    /// Pairs of the next batch that the budget pays for.
    paid: usize,
    refused: Option<Refused>,
}

impl Source<'_> {
    fn missing(&self, pairs: &[Pair]) -> u64 {
        let mut set = self.scores.set();
        pairs.iter().for_each(|&(i, j)| set.add_entry(i, j));
        self.scores.missing(&set)
    }

    /// Calls that may still be made; `None` if there is no limit.
    fn left(&self) -> Option<u64> {
        if self.ready.settings.plan {
            return Some(0);
        }
        let spent = self.scores.spent() - self.before;
        let own = self.ready.settings.budget.map(|budget| budget.saturating_sub(spent));
        own.into_iter().chain(self.scores.left()).min()
    }
}

impl PairSource for Source<'_> {
    type Error = OracleError;

    fn left(&self) -> Option<usize> {
        self.ready.of.universe.left
    }

    fn is_known(&self, (i, j): Pair) -> bool {
        self.ready.of.is_landmark[i] || self.ready.of.is_landmark[j]
    }

    fn best(&mut self, count: usize) -> Vec<Pair> {
        let Factored { others, vectors, signature, scattered, .. } = &self.ready.of;
        let signed = SignedVectors { vectors: vectors.view(), signature, scattered: scattered.as_ref() };
        if let Some(left) = self.ready.of.universe.left {
            return best_across(&self.ready.of, left, count);
        }
        let best = best_pairs(signed, count, f64::NEG_INFINITY, |_| {});
        best.into_iter().map(|pair| (others[pair.first], others[pair.second])).collect()
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let pairs = &pairs[..self.paid.min(pairs.len())];
        let mut all = Vec::with_capacity(pairs.len());
        for chunk in pairs.chunks(PAIRS_AT_A_TIME) {
            let scores = as_far_as_paid(self.oracle, chunk)?;
            all.extend(&scores);
            if scores.len() < chunk.len() {
                break;
            }
        }
        Ok(all)
    }

    fn may_evaluate(&mut self, batch: &Batch<'_>) -> Result<bool, OracleError> {
        self.paid = usize::MAX;
        let Some(left) = self.left() else { return Ok(true) };
        let calls = self.missing(batch.pairs);
        if calls <= left {
            return Ok(true);
        }
        let pairs = batch.pairs.len();
        let reason = match batch.audited_of {
            // part of a sample proves nothing: none of it is scored
            Some(below) => format!(
                "the audit of {pairs} of {below} pairs takes {calls} calls, and {left} are left, which could show a recall of {:.2} at most",
                reachable_recall(batch.found, below, left, self.ready.target.delta())
            ),
            None => format!("the next {pairs} pairs take {calls} calls, and {left} are left"),
        };
        self.refused = Some(Refused { calls, is_audit: batch.audited_of.is_some(), reason });
        if batch.audited_of.is_some() || left == 0 {
            return Ok(false);
        }
        let (mut paid, mut too_many) = (0, pairs);
        while too_many - paid > 1 {
            let middle = usize::midpoint(paid, too_many);
            if self.missing(&batch.pairs[..middle]) <= left { paid = middle } else { too_many = middle }
        }
        self.paid = paid;
        Ok(paid > 0)
    }
}

/// The `count` pairs of two lists that are estimated highest, best first, ties by their numbers; without those of a landmark.
///
/// Cost: a product of the vectors of both lists, a block of rows at a time, and memory for twice `count` pairs.
fn best_across(of: &Factored, left: usize, count: usize) -> Vec<Pair> {
    let signed = &of.vectors * &of.signature;
    let (first, second): (Vec<usize>, Vec<usize>) = (0..of.others.len()).partition(|&place| of.others[place] < left);
    let right = of.vectors.select(Axis(0), &second);
    let mut best: Vec<(f64, Pair)> = Vec::new();
    let order = |a: &(f64, Pair), b: &(f64, Pair)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let mut least = f64::NEG_INFINITY;
    for rows in first.chunks(ROWS_AT_A_TIME) {
        let block = signed.select(Axis(0), rows).dot(&right.t());
        for (&row, estimates) in rows.iter().zip(block.rows()) {
            let pair = |(&estimate, &column): (&f64, &usize)| (estimate, (of.others[row], of.others[column]));
            best.extend(estimates.iter().zip(&second).map(pair).filter(|(estimate, _)| *estimate >= least));
        }
        if best.len() > count.saturating_mul(2) {
            best.select_nth_unstable_by(count.saturating_sub(1), order);
            best.truncate(count);
            least = best.iter().map(|(estimate, _)| *estimate).fold(f64::INFINITY, f64::min);
        }
    }
    best.sort_unstable_by(order);
    best.truncate(count);
    best.into_iter().map(|(_, pair)| pair).collect()
}

impl Found {
    /// `pairs` (m × 2), `scores`, and the JSON of the `statement`.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let out = PyDict::new(py);
        let (pairs, scores): (Vec<Pair>, Vec<f64>) = self.pairs.into_iter().unzip();
        out.set_item("pairs", pair_array(py, pairs)?)?;
        out.set_item("scores", scores.into_pyarray(py))?;
        out.set_item("statement", self.statement.to_string())?;
        Ok(out)
    }
}
