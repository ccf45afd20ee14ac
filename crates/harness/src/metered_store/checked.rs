//! The checks of a program or an endpoint by a command that does not know what it will ask for: when the first score is asked for that the store lacks.

use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_core::stream::stream;
use landmark_store::Stored;
use ndarray::ArrayViewMut2;
use rand::Rng as _;

use super::Meter;
use crate::oracles::scorer::Scorer;

/// Pairs that are looked through for some that the store holds.
pub(crate) const LOOKED_THROUGH: usize = 4096;
/// Two scores of one pair that differ by no more, relative to the larger, are the same: batches of a model move the last digits.
const SAME: f64 = 1e-3;

/// Scores of a program or an endpoint that is checked before the first of them is evaluated that the store lacks.
pub(crate) struct CheckedOnCall {
    /// Scores that are wanted, evaluated if they are not stored.
    scores: Arc<dyn Oracle>,
    wanted: Arc<Stored<Meter>>,
    /// Store of the program's own scores: below the mean of both orders, the same otherwise. Evaluations of the checks count there.
    own: Arc<Stored<Meter>>,
    scorer: Scorer,
    most: usize,
    is_done: Mutex<bool>,
}

impl CheckedOnCall {
    /// Checks by `most` pairs each; `(wanted, own)`: where what is wanted is kept, and what the program itself answers.
    pub(crate) fn new(
        scores: Arc<dyn Oracle>,
        (wanted, own): (Arc<Stored<Meter>>, Arc<Stored<Meter>>),
        scorer: Scorer,
        most: usize,
    ) -> Self {
        Self { scores, wanted, own, scorer, most, is_done: Mutex::new(false) }
    }

    /// Makes the checks where one of these pairs is to be evaluated, once.
    fn before(&self, pairs: impl Iterator<Item = Pair>) -> Result<(), OracleError> {
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_done {
            return Ok(());
        }
        let asked: Vec<Pair> = pairs.filter(|&(i, j)| i != j && i.max(j) < self.len()).collect();
        let missing = self.wanted.missing_pairs(asked.iter().copied());
        if missing.is_empty() {
            return Ok(());
        }
        self.check_identity(&asked)?;
        self.check_order(&missing)?;
        *is_done = true;
        Ok(())
    }

    /// Asks a program again for pairs that are kept: some of those wanted now, and of others. An endpoint may vary.
    pub(crate) fn check_identity(&self, asked: &[Pair]) -> Result<(), OracleError> {
        if !matches!(self.scorer, Scorer::Program(_)) {
            return Ok(());
        }
        let mut rng = stream(0, "", "program check", 0);
        let others = (0..LOOKED_THROUGH).map(|_| (rng.gen_range(0..self.len()), rng.gen_range(0..self.len())));
        let looked_through = asked.iter().copied().take(LOOKED_THROUGH).chain(others);
        let mut stored = Vec::new();
        for (i, j) in looked_through.flat_map(|(i, j)| [(i, j), (j, i)]).filter(|(i, j)| i != j) {
            if stored.len() == self.most {
                break;
            }
            let is_new = !stored.contains(&(i, j)) && !stored.contains(&(j, i));
            if is_new && self.own.has(i, j) {
                stored.push((i, j));
            }
        }
        let (mut then, mut now) = (vec![0.0; stored.len()], vec![0.0; stored.len()]);
        self.own.evaluate(&stored, &mut then)?;
        self.own.inner().evaluate(&stored, &mut now)?;
        refuse_another_score(&self.scorer, &stored, &then, &now).map_err(refused)
    }

    /// Asks for some of the pairs in the other order.
    fn check_order(&self, missing: &[Pair]) -> Result<(), OracleError> {
        if !self.scorer.is_symmetric() {
            return Ok(());
        }
        let some = apart(missing.iter().copied(), self.most);
        let mut forward = vec![0.0; some.len()];
        // these are among the wanted, and kept
        self.scores.evaluate(&some, &mut forward)?;
        let refusal = order_refusal(&self.scorer, &some, &forward, |pairs| {
            let mut scores = vec![0.0; pairs.len()];
            self.own.inner().evaluate(pairs, &mut scores)?;
            Ok::<_, OracleError>(scores)
        })?;
        refusal.map_or(Ok(()), |reason| Err(refused(reason)))
    }
}

/// Place of the first pair that two lists of scores differ at.
fn difference(one: &[f64], other: &[f64]) -> Option<usize> {
    one.iter().zip(other).position(|(one, other)| (one - other).abs() > SAME * one.abs().max(other.abs()).max(1e-6))
}

/// Some of these pairs, each item in one of them: an endpoint that groups pairs by their items is asked for these in the order they have.
pub(crate) fn apart(pairs: impl Iterator<Item = Pair>, most: usize) -> Vec<Pair> {
    let mut seen = std::collections::HashSet::new();
    pairs
        .filter(|&(i, j)| i != j && !seen.contains(&i) && !seen.contains(&j) && seen.insert(i) && seen.insert(j))
        .take(most)
        .collect()
}

/// Two items of a scorer, by their ids.
fn shown(scorer: &Scorer, (i, j): Pair) -> String {
    let ids = scorer.ids();
    format!("`{}` and `{}`", ids[i], ids[j])
}

/// The sentence that ends a refusal.
const OFF: &str = "`oracle.checks: 0` leaves this out";

/// Refuses a program that gives pairs another score `now` than it gave `then`, under the same name.
pub(crate) fn refuse_another_score(scorer: &Scorer, pairs: &[Pair], then: &[f64], now: &[f64]) -> Result<(), String> {
    let Some(at) = difference(then, now) else { return Ok(()) };
    Err(format!(
        "the program calls itself `{}`, as it did when its scores were stored, but gives {} now {} where the store has {}: a program that \
         has changed needs another identity, and one that varies can't be kept; {OFF}",
        scorer.name(),
        shown(scorer, pairs[at]),
        now[at],
        then[at]
    ))
}

/// Reason to refuse a scorer that is taken as symmetric and is not: `ask` scores pairs in the order they have, and `forward` are scores of these.
/// An endpoint whose scores vary is asked again, and refused only if the order moves them by more than twice as much as that.
pub(crate) fn order_refusal<E>(
    scorer: &Scorer,
    pairs: &[Pair],
    forward: &[f64],
    ask: impl Fn(&[Pair]) -> Result<Vec<f64>, E>,
) -> Result<Option<String>, E> {
    let turned: Vec<Pair> = pairs.iter().map(|&(i, j)| (j, i)).collect();
    let back = ask(&turned)?;
    let Some(at) = difference(forward, &back) else { return Ok(None) };
    let advice = match scorer {
        Scorer::Program(_) => {
            "the program states that its score is symmetric: let it greet with `\"symmetric\": false`".to_owned()
        }
        Scorer::Endpoint(_) => {
            let again = ask(pairs)?;
            let largest = |other: &[f64]| {
                forward.iter().zip(other).fold(0.0_f64, |largest, (one, other)| largest.max((one - other).abs()))
            };
            if largest(&back) <= 2.0 * largest(&again) {
                return Ok(None);
            }
            "`oracle.symmetric` is true: set it to false".to_owned()
        }
    };
    Ok(Some(format!(
        "cannot use `{}` as a symmetric score: it gives {} {} in one order and {} in the other; {advice}, and set `oracle.symmetrize: mean`; {OFF}",
        scorer.name(),
        shown(scorer, pairs[at]),
        forward[at],
        back[at]
    )))
}

fn refused(reason: String) -> OracleError {
    OracleError::Failed { what: "a check of the scores".to_owned(), source: reason.into() }
}

impl Oracle for CheckedOnCall {
    fn shape(&self) -> OracleShape {
        self.scores.shape()
    }

    fn identity(&self) -> Identity {
        self.scores.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.before(pairs.iter().copied())?;
        self.scores.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.before(cols.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j))))?;
        self.scores.block(rows, cols, out)
    }
}
