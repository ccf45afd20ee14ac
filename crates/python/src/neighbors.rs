//! Neighbors and pairs: by the factors at no call, by the score at a number of calls, or until a recall is stated.

use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Coin, Oracle, OracleError, OracleShape, Pair, ask_pairs};
use landmark_core::stream::{Rng, stream};
use landmark_neighbors::nearest::{
    Candidates, Known, Neighbor, NeighborError, Rounds, RoundsParams, Search, Step, factors,
};
use landmark_neighbors::recall::{
    Audit, AuditError, Audited, AuditedSearch, Bound as RecallBound, Enough, Target, audited_items, nearest_to,
};
use ndarray::Array2;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::errors::{of_audit, of_search, value};
use crate::factor_neighbors;
use crate::reading::{self, number, pair_array};
use crate::scores::{Orders, Scores};

/// A recall and the probability of missing it.
pub(crate) fn target(recall: f64, delta: f64) -> PyResult<Target> {
    Target::new(recall, delta).map_err(|error| value(&error))
}

/// Pairs asked of the score at a time: who is interrupted loses no more of a search than that.
const PAIRS_AT_A_TIME: usize = 1 << 12;

/// Settings of a search.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchSettings {
    rounds: RoundsParams,
    seed: u64,
    name: String,
    recall: Option<f64>,
    #[serde(default = "usual_delta")]
    delta: f64,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    audit_rows: Option<usize>,
    /// True if the calls of audited rows count within `rounds.calls_per_item`.
    #[serde(default)]
    is_bounded: bool,
}

fn usual_delta() -> f64 {
    0.1
}

/// A search that can be run.
pub(crate) struct Ready {
    settings: SearchSettings,
    rounds: Rounds,
    audit: Option<Audit>,
    proxies: Vec<Arc<dyn Oracle>>,
    known: Known,
    candidates: Option<Candidates>,
}

/// Why there are no lists.
pub(crate) enum SearchError {
    Search(NeighborError),
    Audit(AuditError),
    /// Calls per item that are fewer than audited rows take.
    TooFewCalls(String),
}

impl SearchError {
    pub(crate) fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Search(error) => of_search(py, error),
            Self::Audit(error) => of_audit(py, error),
            Self::TooFewCalls(message) => PyValueError::new_err(message.clone()),
        }
    }
}

/// Lists, and what can be stated of them.
pub(crate) struct Lists {
    lists: Vec<Vec<Neighbor>>,
    k: usize,
    statement: Json,
    /// Pairs that were asked for in every order, and their scores; none where rows were audited.
    asked: Vec<(Pair, f64)>,
}

impl SearchSettings {
    pub(crate) fn ready(
        self,
        proxies: Vec<Arc<dyn Oracle>>,
        known: Known,
        candidates: Option<Candidates>,
    ) -> PyResult<Ready> {
        let rounds = self.rounds.clone().check().map_err(|error| value(&error))?;
        let audit = self.audit()?;
        Ok(Ready { settings: self, rounds, audit, proxies, known, candidates })
    }

    fn audit(&self) -> PyResult<Option<Audit>> {
        let Some(recall) = self.recall else { return Ok(None) };
        let target: Target = target(recall, self.delta)?;
        Ok(Some(Audit { target, is_strict: self.strict, rows: self.audit_rows, calls: None }))
    }

    /// Calls of a search and its audit together, if they are bounded.
    fn calls(&self, shape: OracleShape) -> Option<u64> {
        self.is_bounded.then(|| (shape.len as u64).saturating_mul(self.rounds.calls_per_item as u64))
    }

    /// JSON of the planned calls: an upper bound where audited rows decide, where a search on `known` pairs may run out of candidates, or where items
    /// are equal.
    pub(crate) fn call_plan(&self, scores: &Scores, has_proxy: bool, known: Option<u64>) -> PyResult<String> {
        let shape = scores.shape();
        let mut rounds = self.rounds.clone().check().map_err(|error| value(&error))?;
        if scores.has_orders() && self.recall.is_none() {
            rounds.in_one_order(self.seed);
        }
        let n = shape.len as u64;
        let all = n * n.saturating_sub(1) / 2;
        let call_plan = match self.audit()? {
            None => match known {
                Some(known) => json!({ "calls": rounds.call_plan_beyond(shape, true, known).calls, "exact": false }),
                None => json!({ "calls": rounds.call_plan(shape, has_proxy).calls, "exact": !scores.has_copies() }),
            },
            Some(audit) => {
                let k = self.rounds.k;
                let rows = audit.rows.unwrap_or_else(|| RecallBound::of(k, audit.is_strict).rows(audit.target));
                let rows = rows.min(shape.len) as u64;
                let whole = rows * n.saturating_sub(1) - rows * rows.saturating_sub(1) / 2;
                let whole = if self.is_bounded { 0 } else { whole.saturating_mul(shape.evaluations_per_pair) };
                let most = whole.saturating_add(n.saturating_mul(self.rounds.calls_per_item as u64));
                json!({ "calls": most.min(all.saturating_mul(shape.evaluations_per_pair)), "exact": false })
            }
        };
        Ok(call_plan.to_string())
    }
}

/// Calls that a stated recall takes before the search, and what the budget has left for them.
struct Unpaid {
    calls: u64,
    left: u64,
}

impl Ready {
    /// The coin that draws the order in which a pair is first asked for.
    pub(crate) fn coin(&self) -> Coin {
        Coin::new(self.settings.seed)
    }

    /// With `orders`, a search without an audit asks for one order of each pair first.
    pub(crate) fn run(
        self,
        scores: &Scores,
        oracle: &Arc<dyn Oracle>,
        orders: Option<&Orders>,
    ) -> Result<Lists, SearchError> {
        let landmarks = scores.landmarks(&mut self.stream("landmarks"));
        let Some(audit) = self.audit else {
            return self.in_rounds(&self.rounds, oracle.as_ref(), orders, &landmarks).map_err(SearchError::Search);
        };
        let audit = Audit { calls: self.settings.calls(OracleShape::of(oracle)), ..audit };
        if let Some(unpaid) = self.unpaid(scores, audit, &landmarks)? {
            return self
                .without_recall(unpaid, audit, oracle.as_ref(), orders, &landmarks)
                .map_err(SearchError::Search);
        }
        let wanted = self.audited(scores, &landmarks);
        let mut rng = self.stream("audit");
        let found = nearest_to(oracle.as_ref(), wanted, audit, &mut rng);
        let found = found.map_err(|error| self.no_recall(oracle.len(), error))?;
        let Audited { lists, rows, bound, steps, refused, is_cut_short, .. } = found;
        let last = steps.last().copied();
        let asked = last.map_or(0, |step| step.asked);
        // the bound of the step at which the search stopped was chosen by looking
        let lower = match refused {
            None => audit.target.recall(),
            Some(_) => last.map_or(0.0, |step| step.lower),
        };
        let statement = json!({
            "target_recall": audit.target.recall(), "delta": audit.target.delta(), "reached": refused.is_none(),
            "recall": last.map(|step| step.recall), "lower": lower,
            "bound": bound.to_string(), "audited_rows": rows.len(), "scored_pairs": asked,
            "cut_short": refused.is_some() && is_cut_short, "enough": refused.map(in_words),
        });
        Ok(Lists { lists, k: self.settings.rounds.k, statement, asked: Vec::new() })
    }

    fn no_recall(&self, n: usize, error: AuditError) -> SearchError {
        let AuditError::TooFewCalls { rows, needed, given } = error else { return SearchError::Audit(error) };
        let per_item = self.settings.rounds.calls_per_item;
        // calls of one more per item
        let each = (given / (per_item as u64).max(1)).max(n as u64).max(1);
        let least = needed.div_ceil(each);
        SearchError::TooFewCalls(format!(
            "cannot guarantee a recall with `calls_per_item={per_item}`: the {rows} audited rows alone take {needed} calls (expected at least \
             `calls_per_item={least}`, got {given} calls); give more for the search itself, or leave `target_recall` out"
        ))
    }

    fn stream(&self, purpose: &str) -> Rng {
        stream(self.settings.seed, &self.settings.name, purpose, 0)
    }

    /// The search that audited rows stop.
    fn audited<'a>(&'a self, scores: &'a Scores, landmarks: &'a Landmarks) -> AuditedSearch<'a> {
        AuditedSearch {
            proxies: &self.proxies,
            params: self.settings.rounds.clone(),
            landmarks,
            known: self.known.clone(),
            contents: scores.contents.as_deref(),
        }
    }

    /// Where the budget does not pay for the audited rows: what they take.
    fn unpaid(&self, scores: &Scores, audit: Audit, landmarks: &Landmarks) -> Result<Option<Unpaid>, SearchError> {
        let Some(left) = scores.left() else { return Ok(None) };
        let shape = scores.shape();
        let mut rng = self.stream("audit");
        let items = audited_items(shape, self.audited(scores, landmarks), audit, &mut rng)
            .map_err(|error| self.no_recall(shape.len, error))?;
        let mut set = scores.set();
        for &item in &items {
            (0..shape.len).filter(|&other| other != item).for_each(|other| set.add_entry(item, other));
        }
        let missing = scores.missing(&set);
        Ok((missing > left).then_some(Unpaid { calls: missing, left }))
    }

    /// The lists that what is left of the budget pays for, when it is not enough for a recall.
    fn without_recall(
        &self,
        unpaid: Unpaid,
        audit: Audit,
        oracle: &dyn Oracle,
        orders: Option<&Orders>,
        landmarks: &Landmarks,
    ) -> Result<Lists, NeighborError> {
        let Unpaid { calls, left } = unpaid;
        let per_item = usize::try_from(left.div_ceil((oracle.len() as u64).max(1))).unwrap_or(usize::MAX);
        let per_item = per_item.clamp(1, self.settings.rounds.calls_per_item);
        let rounds = RoundsParams { calls_per_item: per_item, ..self.settings.rounds.clone() }.check()?;
        let Lists { lists, k, statement, asked } = self.in_rounds(&rounds, oracle, orders, landmarks)?;
        let statement = json!({
            "target_recall": audit.target.recall(), "delta": audit.target.delta(), "reached": false, "recall": null,
            "lower": 0.0, "bound": "none: the budget does not pay for audited rows", "audited_rows": 0,
            "scored_pairs": statement["scored_pairs"], "cut_short": true,
            "enough": format!("the rows that it is known by take {calls} calls, and {left} are left"),
        });
        Ok(Lists { lists, k, statement, asked })
    }

    /// Rounds, until the planned calls are made or the budget ends.
    fn in_rounds(
        &self,
        rounds: &Rounds,
        oracle: &dyn Oracle,
        orders: Option<&Orders>,
        landmarks: &Landmarks,
    ) -> Result<Lists, NeighborError> {
        let shape = OracleShape::of(oracle);
        let (proxies, known, mut rounds) = (self.proxies.clone(), self.known.clone(), rounds.clone());
        if orders.is_some() {
            rounds.in_one_order(self.settings.seed);
        }
        let mut search = match known.pairs.is_empty() && known.seed.is_none() {
            true => Search::new(rounds, shape, proxies, landmarks)?,
            false => Search::knowing(rounds, shape, proxies, landmarks, known)?,
        };
        if let Some(candidates) = &self.candidates {
            search = search.with_candidates(candidates.clone(), shape)?;
        }
        let (mut is_cut_short, mut scored, mut pairs) = (false, 0, Vec::new());
        while !is_cut_short && let Some(batch) = search.next_batch()? {
            for asked in batch.pairs.chunks(PAIRS_AT_A_TIME) {
                let exploring = orders.filter(|_| batch.order.is_some());
                let (both, single): (Vec<Pair>, Vec<Pair>) =
                    asked.iter().partition(|&&pair| exploring.is_none_or(|orders| orders.has_mean_alone(pair)));
                // in the last batch the orders that are missing
                let scores = as_far_as_paid(oracle, &both)?;
                search.record(&both[..scores.len()], &scores)?;
                let mut answered = scores.len();
                pairs.extend(both.into_iter().zip(scores));
                if let Some(orders) = exploring {
                    let scores = as_far_as_paid(orders.one.as_ref(), &single)?;
                    search.record_part(&batch, &single[..scores.len()], &scores)?;
                    answered += scores.len();
                }
                is_cut_short = answered < asked.len();
                // the last batch asks for the other order of pairs that are counted
                scored += if batch.step == Step::SecondOrder { 0 } else { answered };
                if is_cut_short {
                    break;
                }
            }
        }
        let statement = json!({ "scored_pairs": scored, "cut_short": is_cut_short });
        Ok(Lists { lists: search.finish()?.lists, k: self.settings.rounds.k, statement, asked: pairs })
    }
}

/// Scores of pairs, from the first on, until a budget ends. Each is asked for once.
pub(crate) fn as_far_as_paid(oracle: &dyn Oracle, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    let (mut paid, mut refused) = (0, pairs.len() + 1);
    let mut next = pairs.len();
    while paid < next {
        match ask_pairs(oracle, &pairs[paid..next], &mut scores[paid..next]) {
            Ok(()) => paid = next,
            Err(error) if error.is_exhausted() => refused = next,
            Err(error) => return Err(error),
        }
        next = usize::midpoint(paid, refused).min(pairs.len());
    }
    scores.truncate(paid);
    Ok(scores)
}

fn in_words(enough: Enough) -> String {
    match enough {
        Enough::Pairs(pairs) => {
            format!("about {pairs} further pairs would be enough; raise `calls_per_item` or the budget")
        }
        Enough::Rows(rows) => format!("about {rows} audited rows would be enough; set `audit_rows={rows}`"),
        Enough::Unknown => {
            "too many of the true neighbors are no candidates: raise `calls_per_item`, or give a better proxy"
                .to_owned()
        }
    }
}

impl Lists {
    /// Items (n × k, −1 where there are fewer), their scores (NaN there), and which of these are the score's own.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let k = self.k.min(self.lists.len().saturating_sub(1));
        let shape = (self.lists.len(), k);
        let (mut items, mut scores) = (Array2::from_elem(shape, -1_i64), Array2::from_elem(shape, f64::NAN));
        let mut exact = Array2::from_elem(shape, false);
        for (i, list) in self.lists.iter().enumerate() {
            for (place, near) in list.iter().take(k).enumerate() {
                items[[i, place]] = number(near.item);
                (scores[[i, place]], exact[[i, place]]) = (near.score, near.exact);
            }
        }
        let out = PyDict::new(py);
        out.set_item("items", items.into_pyarray(py))?;
        out.set_item("scores", scores.into_pyarray(py))?;
        out.set_item("exact", exact.into_pyarray(py))?;
        out.set_item("statement", self.statement.to_string())?;
        let (pairs, scores): (Vec<Pair>, Vec<f64>) = self.asked.into_iter().unzip();
        out.set_item("pairs", pair_array(py, pairs)?)?;
        out.set_item("pair_scores", scores.into_pyarray(py))?;
        Ok(out)
    }
}

/// Lists of candidates as an index answers: n × w items, −1 for none.
pub(crate) fn candidates(n: usize, lists: &PyReadonlyArray2<'_, i64>) -> PyResult<Candidates> {
    let lists = lists.as_array();
    let item = |row: usize, value: i64| match usize::try_from(value) {
        Ok(item) => Some(Ok(item)),
        Err(_) if value == -1 => None,
        Err(_) => Some(Err(PyValueError::new_err(format!(
            "cannot use the candidates: row {row} names item {value} (expected -1 to {})",
            n.saturating_sub(1)
        )))),
    };
    let list = |(row, values): (usize, ndarray::ArrayView1<'_, i64>)| {
        values.iter().filter_map(|&value| item(row, value)).collect::<PyResult<Vec<usize>>>()
    };
    let lists = lists.rows().into_iter().enumerate().map(list).collect::<PyResult<Vec<_>>>()?;
    Candidates::of_lists(n, lists).map_err(|error| value(&error))
}

/// What a fit leaves, for a search to stand on: landmarks and their columns (n × s), scattered pairs (m × 2) and their scores, Z and its signs.
pub(crate) type Fitted<'py> = (
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, i64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

/// The same as a search takes it.
pub(crate) fn known(n: usize, fitted: Option<Fitted<'_>>) -> PyResult<Known> {
    let Some((landmarks, block, pairs, scores, vectors, signature)) = fitted else { return Ok(Known::default()) };
    let (columns, block) = (reading::items(n, &landmarks)?, block.as_array());
    let (scattered, scores) = (reading::pairs(n, &pairs)?, scores.as_array());
    let (vectors, signature) = (vectors.as_array().to_owned(), signature.as_array().to_owned());
    factor_neighbors::check(vectors.view(), &signature)?;
    if block.dim() != (n, columns.len()) || scattered.len() != scores.len() || vectors.nrows() != n {
        return Err(PyValueError::new_err("what a fit left is of other items than these"));
    }
    let column =
        |(a, &l): (usize, &usize)| (0..n).filter(move |&i| i != l).map(|i| ((i, l), block[[i, a]])).collect::<Vec<_>>();
    let mut pairs: Vec<(Pair, f64)> = columns.iter().enumerate().flat_map(column).collect();
    pairs.extend(scattered.into_iter().zip(scores.iter().copied()));
    let seed = factors(vectors, &signature.to_vec()).map_err(|error| value(&error))?;
    Ok(Known { columns, pairs, seed: Some(seed) })
}
