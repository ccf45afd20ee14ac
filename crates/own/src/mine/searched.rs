//! `--budget` of `mine` without `--target-recall` and `--rerank`: a search at this number of calls.
//!
//! The calls go to the pairs that are likely the most similar of all, in rounds that stand on the factors; what does not make a call per item goes to the
//! best of all other pairs by the factors. Every evaluated pair takes part, whichever command evaluated it.

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleShape, Pair, ask_pairs};
use landmark_harness::run::RunError;
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::nearest::{NeighborError, RoundsParams};
use landmark_report::amounts::count;
use landmark_tasks::neighbors::ScoredPair;
use miette::{IntoDiagnostic, Report, Result};

use super::{Found, Mined, Own, PAIRS_AT_A_TIME, Wanted};
use crate::calls::{checks, known_in_words, opened, proxies};
use crate::known::{Basis, SearchScores, basis, stored_scores};
use crate::own::refused;

/// Equal items that each item is listed with, of those that the store holds.
const MOST_EQUAL: usize = 100;

/// Pairs that the rounds look for, twice as many per item.
const NEIGHBORS: usize = 10;

/// Evaluated pairs, the smaller item first.
type Evaluated = HashMap<Pair, f64>;

impl Own {
    /// Pairs among those that are known and those that `budget` calls find.
    pub(super) fn searched_pairs(&self, context: &SweepContext<'_>, wanted: Wanted, budget: u64) -> Result<Found> {
        if wanted.dry_run {
            let text = format!("{} calls at most\n{}", count(budget), checks(context));
            return Ok(Found { text, ..Found::default() });
        }
        self.refuse_another_gamma(context)?;
        let Basis { known, note } = basis(context)?;
        let mut text = note + &known_in_words(&known);
        let mut evaluated = Evaluated::new();
        known.pairs.iter().for_each(|&(pair, score)| keep(&mut evaluated, pair, score));
        let n = self.factors.info.items;
        // a program is checked before its first call, by the same budget. What the store holds counts, too: the same command asks for the same pairs again
        let price = context.metered.shape().evaluations_per_pair.max(1);
        let allowed = budget.saturating_sub(context.most_checks()) / price;
        let per_item = usize::try_from(allowed * price / n.max(1) as u64).unwrap_or(usize::MAX);
        let mut calls = 0;
        let params =
            RoundsParams { k: NEIGHBORS, calls_per_item: per_item.max(1), pairs: true, ..RoundsParams::default() };
        let rounds = params.check().into_diagnostic()?;
        let (scores, rounds) = SearchScores::of(context, self.factors.info.gamma, &rounds).into_diagnostic()?;
        let oracle = scores.wanted();
        if per_item > 0 {
            let (_, proxies) = proxies(context)?;
            let landmarks = context.problem.uniform_landmarks(context.run.seed, 0);
            let mut search = opened(rounds, OracleShape::of(oracle), proxies, &landmarks, known).map_err(failed)?;
            let (progress, mut done) = self.progress_over(search.call_plan().calls, "calls");
            'search: while let Some(batch) = search.next_batch().map_err(failed)? {
                for pairs in batch.pairs.chunks(PAIRS_AT_A_TIME) {
                    match scores.ask(&mut search, &batch, pairs) {
                        Ok(both) => both.into_iter().for_each(|(pair, score)| keep(&mut evaluated, pair, score)),
                        Err(error) if error.is_exhausted() => break 'search,
                        Err(error) => return Err(RunError::from(error).into()),
                    }
                }
                calls = search.calls();
                done(calls as f64 / search.call_plan().calls.max(1) as f64);
            }
            drop(progress);
        }
        let further = usize::try_from((allowed * price).saturating_sub(calls) / price).unwrap_or(usize::MAX);
        let mut best = self.best_of_others(further.saturating_add(evaluated.len()));
        best.retain(|&pair| !evaluated.contains_key(&ordered(pair)));
        best.truncate(further);
        let scores = self.as_far_as_allowed(oracle, &best)?;
        best.iter().zip(scores).for_each(|(&pair, score)| keep(&mut evaluated, pair, score));
        let stored = context.metered.stored_pairs(MOST_EQUAL);
        for pairs in stored.chunks(PAIRS_READ) {
            let scores = stored_scores(context, pairs)?;
            pairs.iter().zip(scores).for_each(|(&pair, score)| keep(&mut evaluated, pair, score));
        }
        let at_least = wanted.at_least.unwrap_or(f64::NEG_INFINITY);
        let good = evaluated.iter().filter(|(_, score)| **score >= at_least);
        let mined = |(&(first, second), &score): (&Pair, &f64)| Mined {
            pair: ScoredPair { first, second, score },
            exact: true,
        };
        let pairs = good.map(mined).collect();
        let spent = context.metered.spent().evaluations;
        text += &format!(
            "{} pairs are evaluated, {} new calls; how many similar pairs are missing is not known: `--target-recall 0.9` guarantees a recall (with \
             `--at-least SCORE`)\n",
            count(evaluated.len() as u64),
            count(spent)
        );
        Ok(Found { pairs, text, ..Found::default() })
    }

    /// Refuses factors of another γ than the configuration: known and new scores would not be the same function.
    fn refuse_another_gamma(&self, context: &SweepContext<'_>) -> Result<()> {
        let (made, now) = (self.factors.info.gamma, context.fixed_gamma());
        if made == now {
            return Ok(());
        }
        let of = |gamma: Option<f64>| gamma.map_or_else(|| "none".to_owned(), |gamma| gamma.to_string());
        let message = format!(
            "cannot search: the factors were made with `gamma` {}, the configuration has {}",
            of(made),
            of(now)
        );
        Err(refused(message, "run the configuration again, or set `oracle.gamma` to that of the factors"))
    }

    /// Scores of pairs, from the first on, until a budget ends.
    fn as_far_as_allowed(&self, oracle: &Arc<dyn Oracle>, pairs: &[Pair]) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; pairs.len()];
        let mut done = 0;
        for chunk in pairs.chunks(PAIRS_AT_A_TIME) {
            match ask_pairs(oracle.as_ref(), chunk, &mut scores[done..done + chunk.len()]) {
                Ok(()) => done += chunk.len(),
                Err(error) if error.is_exhausted() => break,
                Err(error) => return Err(RunError::from(error).into()),
            }
        }
        scores.truncate(done);
        Ok(scores)
    }
}

/// Pairs whose stored scores are read at a time.
const PAIRS_READ: usize = 1 << 16;

fn ordered((i, j): Pair) -> Pair {
    (i.min(j), i.max(j))
}

fn keep(evaluated: &mut Evaluated, pair: Pair, score: f64) {
    if score.is_finite() {
        evaluated.insert(ordered(pair), score);
    }
}

fn failed(error: NeighborError) -> Report {
    Report::from_err(error)
}
