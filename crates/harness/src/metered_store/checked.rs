//! The checks of a program by a command that does not know what it will ask for: when the first score is asked for that the store lacks.

use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_core::stream::stream;
use landmark_oracles::subprocess::Subprocess;
use landmark_store::Stored;
use ndarray::ArrayViewMut2;
use rand::Rng as _;

use super::Meter;

/// Pairs that are looked through for some that the store holds.
pub(crate) const LOOKED_THROUGH: usize = 4096;
/// Two scores of one pair that differ by no more, relative to the larger, are the same: batches of a model move the last digits.
const SAME: f64 = 1e-3;

/// Scores of a program that is checked before the first of them is evaluated that the store lacks.
pub(crate) struct CheckedOnCall {
    /// Scores that are wanted, bought where they are not there.
    scores: Arc<dyn Oracle>,
    /// Store of the wanted scores.
    wanted: Arc<Stored<Meter>>,
    /// Store of the program's own scores: below the mean of both orders, the same otherwise. Evaluations of the checks count there.
    own: Arc<Stored<Meter>>,
    program: Arc<Subprocess>,
    /// Pairs of a check.
    most: usize,
    is_done: Mutex<bool>,
}

impl CheckedOnCall {
    /// Checks by `most` pairs each; `(wanted, own)`: where what is wanted is kept, and what the program itself answers.
    pub(crate) fn new(
        scores: Arc<dyn Oracle>,
        (wanted, own): (Arc<Stored<Meter>>, Arc<Stored<Meter>>),
        program: Arc<Subprocess>,
        most: usize,
    ) -> Self {
        Self { scores, wanted, own, program, most, is_done: Mutex::new(false) }
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

    /// Asks again for pairs that are kept: some of those wanted now, and of others.
    ///
    /// # Errors
    /// A program that has changed, and whatever it refuses.
    pub(crate) fn check_identity(&self, asked: &[Pair]) -> Result<(), OracleError> {
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
        refuse_another_score(&self.program, &stored, &then, &now).map_err(refused)
    }

    /// Asks for some of the pairs in the other order.
    fn check_order(&self, missing: &[Pair]) -> Result<(), OracleError> {
        if !self.program.greeting().symmetric {
            return Ok(());
        }
        let some = &missing[..missing.len().min(self.most)];
        let turned: Vec<Pair> = some.iter().map(|&(i, j)| (j, i)).collect();
        let (mut forward, mut back) = (vec![0.0; some.len()], vec![0.0; some.len()]);
        // these are among the wanted, and kept
        self.scores.evaluate(some, &mut forward)?;
        self.own.inner().evaluate(&turned, &mut back)?;
        refuse_order(&self.program, some, &forward, &back).map_err(refused)
    }
}

/// Place of the first pair that two lists of scores differ at.
fn difference(one: &[f64], other: &[f64]) -> Option<usize> {
    one.iter().zip(other).position(|(one, other)| (one - other).abs() > SAME * one.abs().max(other.abs()).max(1e-6))
}

/// Two items of a program, by their ids.
fn shown(program: &Subprocess, (i, j): Pair) -> String {
    let ids = program.items().ids();
    format!("`{}` and `{}`", ids[i], ids[j])
}

/// The sentence that ends a refusal.
const OFF: &str = "`oracle.checks: 0` leaves this out";

/// Refuses a program that gives pairs another score `now` than it gave `then`, under the same name.
pub(crate) fn refuse_another_score(
    program: &Subprocess,
    pairs: &[Pair],
    then: &[f64],
    now: &[f64],
) -> Result<(), String> {
    let Some(at) = difference(then, now) else { return Ok(()) };
    Err(format!(
        "the program calls itself `{}`, as it did when its scores were stored, but gives {} now {} where the store has {}: a program that \
         has changed needs another identity, and one that varies can't be kept; {OFF}",
        program.greeting().identity,
        shown(program, pairs[at]),
        now[at],
        then[at]
    ))
}

/// Refuses a program that says that its score is symmetric, and answers otherwise.
pub(crate) fn refuse_order(program: &Subprocess, pairs: &[Pair], forward: &[f64], back: &[f64]) -> Result<(), String> {
    let Some(at) = difference(forward, back) else { return Ok(()) };
    Err(format!(
        "the program says that its score is symmetric, but gives {} {} in one order and {} in the other: let it greet with \
         `\"symmetric\": false`, and say `oracle.symmetrize: mean`; {OFF}",
        shown(program, pairs[at]),
        forward[at],
        back[at]
    ))
}

fn refused(reason: String) -> OracleError {
    OracleError::Failed { what: "a check of the program".to_owned(), source: reason.into() }
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
