//! Those an index is measured against, at the same number of calls.
//!
//! * [`rerank`]: the proxy's best items, scored. What everybody does; no offline part.
//! * [`Anncur`]: Yadav et al. 2022. A query's scores with fixed anchor items I are carried to all items, E = C C[I, :]⁺ y; half of the calls go
//!   to I, half to the best of E.
//! * [`Axn`]: like Yadav et al. 2024 (and ADACUR before it). An item's vector is its row of C; rounds turn between asking for the best items and fitting
//!   the query's vector by ridge regression on what was asked, beginning with the proxy's best.

use ndarray::{Array2, ArrayView2, Axis, aview1};

use super::answer::{Answer, Asking};
use super::{SearchError, best_unknown, check_line, check_matrix};
use landmark_core::linalg::{self, Cholesky, PINV_TOLERANCE};
use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;

/// Ridge of AXN's regression, a share of the mean squared length of an item's row.
const RIDGE: f64 = 0.01;

/// Retrieve and rerank: the `calls` best items of the proxy, scored; all others behind them in the proxy's order.
///
/// # Errors
/// A proxy score that is not finite, whatever `score` answers.
pub fn rerank(
    proxy: &[f64],
    score: impl FnMut(&[usize]) -> Result<Vec<f64>, OracleError>,
    calls: usize,
) -> Result<Answer, SearchError> {
    check_line("the query's proxy scores with the items", proxy, proxy.len())?;
    let mut asking = Asking::new(proxy.len(), score);
    asking.ask(best_unknown(proxy, &asking.is_known, calls))?;
    Ok(asking.finish(proxy.to_vec(), false, 0))
}

/// ANNCUR with fixed anchor items.
#[derive(Debug, Clone)]
pub struct Anncur {
    anchor_items: Vec<usize>,
    /// C C[I, :]⁺, n × |I|.
    carry: Array2<f64>,
}

impl Anncur {
    /// Prepares the anchor items I for scores C of n items with a anchor queries.
    ///
    /// # Errors
    /// Scores that are not finite, an item beyond them, a factorization that did not converge.
    pub fn build(scores: ArrayView2<'_, f64>, anchor_items: &[usize]) -> Result<Self, SearchError> {
        check_matrix("the scores with the anchors", scores, scores.dim())?;
        let len = scores.nrows();
        if let Some(&index) = anchor_items.iter().find(|&&item| item >= len) {
            return Err(OracleError::OutOfRange { index, len }.into());
        }
        let inverse = linalg::pinv(scores.select(Axis(0), anchor_items).view(), PINV_TOLERANCE)?.inverse;
        Ok(Self { anchor_items: anchor_items.to_vec(), carry: linalg::product(scores, inverse.view()) })
    }

    /// Searches with `calls` calls, |I| of them for the anchor items.
    ///
    /// # Errors
    /// Fewer calls than anchor items, whatever `score` answers.
    pub fn query(
        &self,
        score: impl FnMut(&[usize]) -> Result<Vec<f64>, OracleError>,
        calls: usize,
    ) -> Result<Answer, SearchError> {
        let Some(rest) = calls.checked_sub(self.anchor_items.len()) else {
            let wanted = format!("at least one for each of the {} anchor items", self.anchor_items.len());
            return Err(BadParameter::new("calls", calls, &wanted).of("anncur").into());
        };
        let mut asking = Asking::new(self.carry.nrows(), score);
        asking.ask(self.anchor_items.clone())?;
        let estimate = self.carry.dot(&aview1(&asking.values)).to_vec();
        asking.ask(best_unknown(&estimate, &asking.is_known, rest))?;
        Ok(asking.finish(estimate, true, 0))
    }
}

/// Adaptive search by regression on the items' rows of C.
#[derive(Debug, Clone)]
pub struct Axn<'a> {
    scores: ArrayView2<'a, f64>,
    ridge: f64,
    rounds: usize,
}

impl<'a> Axn<'a> {
    /// Takes the rows of C (n × a) for the vectors of the items.
    ///
    /// # Errors
    /// Scores that are not finite, no round.
    pub fn new(scores: ArrayView2<'a, f64>, rounds: usize) -> Result<Self, SearchError> {
        check_matrix("the scores with the anchors", scores, scores.dim())?;
        if rounds == 0 {
            return Err(BadParameter::new("rounds", 0, "at least 1").of("axn").into());
        }
        let squares: f64 = scores.iter().map(|score| score * score).sum();
        let mean = squares / scores.nrows().max(1) as f64;
        Ok(Self { scores, ridge: RIDGE * if mean > 0.0 { mean } else { 1.0 }, rounds })
    }

    /// Searches with `calls` calls, the first round's at the best items of `proxy`.
    ///
    /// # Errors
    /// Proxy scores of another number or not finite, whatever `score` answers.
    pub fn query(
        &self,
        proxy: &[f64],
        score: impl FnMut(&[usize]) -> Result<Vec<f64>, OracleError>,
        calls: usize,
    ) -> Result<Answer, SearchError> {
        let n = self.scores.nrows();
        check_line("the query's proxy scores with the items", proxy, n)?;
        let (mut asking, mut estimate, calls) = (Asking::new(n, score), proxy.to_vec(), calls.min(n));
        for round in 0..self.rounds {
            let budget = (calls - asking.items.len()) / (self.rounds - round);
            let batch = best_unknown(&estimate, &asking.is_known, budget);
            if !batch.is_empty() {
                asking.ask(batch)?;
                estimate = self.regress(&asking.items, &asking.values)?;
            }
        }
        // without a call there is no vector, and the proxy stands on its own scale
        let is_comparable = !asking.items.is_empty();
        Ok(asking.finish(estimate, is_comparable, 0))
    }

    /// C u, u the ridge solution of C[O, :] u = y in its dual form.
    fn regress(&self, items: &[usize], values: &[f64]) -> Result<Vec<f64>, SearchError> {
        let rows = self.scores.select(Axis(0), items);
        let mut gram = linalg::product(rows.view(), rows.t());
        gram.diag_mut().iter_mut().for_each(|entry| *entry += self.ridge);
        // a Gram matrix and a ridge: without a solution something is not finite
        let no_solution = |source| SearchError::NoSolution { what: "the scores of a query", source };
        let solved = Cholesky::of(gram.view()).and_then(|factor| factor.solution(values.to_vec()));
        let weights = solved.map_err(no_solution)?;
        Ok(self.scores.dot(&aview1(&weights).dot(&rows)).to_vec())
    }
}
