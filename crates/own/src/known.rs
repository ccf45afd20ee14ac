//! What a search by calls stands on: the factors of an earlier run with the scores that they were made of, and whatever else the store holds.
//!
//! The search knows the factors' columns and pairs from the start. Other stored scores take no call when their turn comes, and enter the lists at the
//! end: a search that was killed asks for the same pairs again, whatever it has stored meanwhile.

use std::collections::HashSet;
use std::sync::Arc;

use crate::factors::{Factors, FactorsError};
use crate::own_data::FACTORS;
use landmark_core::oracle::{Oracle, OracleError, Pair, ask_pairs};
use landmark_core::rank::RankCmp;
use landmark_harness::metered_store::OneOrderScores;
use landmark_harness::run::RunError;
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::Universe;
use landmark_neighbors::nearest::{Batch, Known, Neighbor, Rounds, Search, factors};
use landmark_neighbors::recall::KnownLists;

const PAIRS_AT_A_TIME: usize = 1 << 16;

/// What is known, and a line on factors that hold nothing on these items.
pub(crate) struct Basis {
    pub(crate) known: Known,
    pub(crate) note: String,
}

/// The factors of this run's folder with the stored scores of their columns and scattered pairs; nothing is evaluated.
pub(crate) fn basis(context: &SweepContext<'_>) -> Result<Basis, RunError> {
    let none = |note: String| Ok(Basis { known: Known::default(), note });
    let place = context.folder.join(FACTORS);
    let unused = |reason: &str| format!("ignored the factors in `{}`: {reason}\n", place.display());
    let found = match Factors::read(&place) {
        Ok(found) => found,
        Err(FactorsError::Missing(_)) => return none(String::new()),
        Err(error) => return none(unused(&error.to_string())),
    };
    let (info, problem) = (&found.info, context.problem);
    let texts = problem.texts().map(|texts| texts.identity().to_hex());
    let is_of_these = info.items == problem.items() && info.oracle == problem.raw.identity().to_hex();
    if !is_of_these || texts.is_some_and(|texts| info.texts.as_ref().is_some_and(|then| *then != texts)) {
        return none(unused("they belong to another score function or to other items"));
    }
    if info.gamma != context.fixed_gamma() {
        return none(unused("they were built with another `gamma`"));
    }
    let (n, metered) = (info.items, context.metered);
    let (all, mut column) = ((0..n).collect::<Vec<_>>(), vec![f64::NAN; n]);
    let mut pairs: Vec<Pair> = Vec::new();
    for &landmark in &info.landmarks {
        if !metered.stored_column(&all, landmark, &mut column) {
            return none(String::new());
        }
        pairs.extend(all.iter().filter(|&&i| i != landmark && column[i].is_finite()).map(|&i| (i, landmark)));
    }
    for (i, j, _) in found.scattered.iter().flat_map(|scattered| scattered.pairs()) {
        let mut score = [f64::NAN];
        if metered.stored_column(&[i], j, &mut score) && score[0].is_finite() {
            pairs.push((i, j));
        }
    }
    let mut seen = HashSet::new();
    pairs.retain(|&(i, j)| seen.insert((i.min(j), i.max(j))));
    let scores = stored_scores(context, &pairs)?;
    let seed = factors(found.vectors, &found.signature.to_vec())?;
    let pairs = pairs.into_iter().zip(scores).collect();
    Ok(Basis { known: Known { columns: found.info.landmarks, pairs, seed: Some(seed) }, note: String::new() })
}

/// Scores that a search asks for: of one order of each pair as long as it explores by one, of both otherwise.
pub(crate) struct SearchScores {
    wanted: Arc<dyn Oracle>,
    one: Option<OneOrderScores>,
}

impl SearchScores {
    /// The scores of a run, and the same rounds in one order first if there are two.
    pub(crate) fn of(
        context: &SweepContext<'_>,
        gamma: Option<f64>,
        rounds: &Rounds,
    ) -> Result<(Self, Rounds), OracleError> {
        let one = context.one_order(gamma)?;
        let mut rounds = rounds.clone();
        if one.is_some() {
            rounds.in_one_order(context.run.seed);
        }
        Ok((Self { wanted: context.similarities(gamma)?, one }, rounds))
    }

    pub(crate) fn wanted(&self) -> &Arc<dyn Oracle> {
        &self.wanted
    }

    /// Asks for some pairs of a batch, and passes the scores to the search; answers the scores of both orders that this showed.
    pub(crate) fn ask(
        &self,
        search: &mut Search,
        batch: &Batch,
        pairs: &[Pair],
    ) -> Result<Vec<(Pair, f64)>, OracleError> {
        let of_search =
            |error| OracleError::Failed { what: "a search of neighbors".to_owned(), source: Box::new(error) };
        let scored = |oracle: &dyn Oracle, pairs: &[Pair]| {
            let mut scores = vec![0.0; pairs.len()];
            ask_pairs(oracle, pairs, &mut scores).map(|()| scores)
        };
        let one = self.one.as_ref().filter(|_| batch.order.is_some());
        let (both, single): (Vec<Pair>, Vec<Pair>) =
            pairs.iter().partition(|&&pair| one.is_none_or(|one| one.is_kept_as_one(pair)));
        let scores = scored(self.wanted.as_ref(), &both)?;
        search.record(&both, &scores).map_err(of_search)?;
        if let Some(one) = one {
            let scores = scored(one.scores(), &single)?;
            search.record_part(batch, &single, &scores).map_err(of_search)?;
        }
        Ok(both.into_iter().zip(scores).collect())
    }
}

/// Scores of pairs that the store holds, as the search sees them.
pub(crate) fn stored_scores(context: &SweepContext<'_>, pairs: &[Pair]) -> Result<Vec<f64>, RunError> {
    let oracle = context.metered.similarities(context.fixed_gamma())?;
    let mut scores = vec![0.0; pairs.len()];
    for (pairs, scores) in pairs.chunks(PAIRS_AT_A_TIME).zip(scores.chunks_mut(PAIRS_AT_A_TIME)) {
        ask_pairs(oracle.as_ref(), pairs, scores)?;
    }
    Ok(scores)
}

/// Pairs that exist whose scores the store holds, of equal items with at most `most_equal` of each.
pub(crate) fn stored_pairs(context: &SweepContext<'_>, universe: Universe, most_equal: usize) -> Vec<Pair> {
    let mut pairs = context.metered.stored_pairs(most_equal);
    pairs.retain(|&(i, j)| universe.has((i.min(j), i.max(j))));
    pairs
}

/// Takes every stored score of a pair that exists into lists of at most k: no list lacks a better neighbor that was evaluated. `known_first` puts
/// estimates last.
pub(crate) fn with_stored(
    context: &SweepContext<'_>,
    lists: &mut [Vec<Neighbor>],
    (k, left): (usize, Option<usize>),
    known_first: bool,
) -> Result<(), RunError> {
    let universe = Universe { items: context.problem.items(), left };
    let pairs = stored_pairs(context, universe, k);
    if pairs.is_empty() {
        return Ok(());
    }
    let mut stored = KnownLists::new(universe.items, k);
    for pairs in pairs.chunks(PAIRS_AT_A_TIME) {
        stored.offer(pairs, &stored_scores(context, pairs)?);
    }
    drop_known(lists, &pairs);
    for (list, best) in lists.iter_mut().zip(stored.finish()) {
        merge(list, best, k, known_first);
    }
    Ok(())
}

/// Takes estimates out of lists whose pairs were evaluated: their scores stand where they belong.
fn drop_known(lists: &mut [Vec<Neighbor>], pairs: &[Pair]) {
    let estimated: HashSet<Pair> = (lists.iter().enumerate())
        .flat_map(|(item, list)| list.iter().filter(|near| !near.exact).map(move |near| (item, near.item)))
        .collect();
    let both = pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]);
    let known: HashSet<Pair> = both.filter(|pair| estimated.contains(pair)).collect();
    for (item, list) in lists.iter_mut().enumerate() {
        list.retain(|near| near.exact || !known.contains(&(item, near.item)));
    }
}

/// The k best of a list and of exact scores.
fn merge(list: &mut Vec<Neighbor>, best: Vec<Neighbor>, k: usize, known_first: bool) {
    let exact: HashSet<usize> = best.iter().map(|near| near.item).collect();
    list.retain(|near| !exact.contains(&near.item));
    list.extend(best);
    list.sort_by(|one, other| {
        let last = |near: &Neighbor| known_first && !near.exact;
        last(one).cmp(&last(other)).then(other.score.rank_cmp(&one.score)).then(one.item.cmp(&other.item))
    });
    list.truncate(k);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_goes_if_its_pair_was_evaluated_however_low_its_score() {
        let near = |item, score, exact| Neighbor { item, score, exact };
        let mut lists =
            vec![vec![near(2, 0.9, true), near(3, 0.8, false), near(1, 0.7, false)], vec![], vec![], vec![]];
        drop_known(&mut lists, &[(0, 2), (3, 0), (0, 4)]);
        assert_eq!(lists[0].iter().map(|near| near.item).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_stored_score_replaces_an_estimate_and_pushes_worse_neighbors_out() {
        let near = |item, score, exact| Neighbor { item, score, exact };
        let list = [near(1, 0.9, true), near(2, 0.7, true), near(3, 0.8, false)];
        let best = vec![near(1, 0.9, true), near(4, 0.75, true), near(3, 0.2, true)];
        let merged = |k, known_first| {
            let mut list = list.to_vec();
            merge(&mut list, best.clone(), k, known_first);
            list.into_iter().map(|near| (near.item, near.exact)).collect::<Vec<_>>()
        };
        assert_eq!(merged(3, true), [(1, true), (4, true), (2, true)]);
        assert_eq!(merged(4, true), [(1, true), (4, true), (2, true), (3, true)]);
        let mut list = vec![near(1, 0.5, true), near(2, 0.9, false)];
        merge(&mut list, vec![near(5, 0.4, true)], 2, false);
        assert_eq!(list, [near(2, 0.9, false), near(1, 0.5, true)]);
    }
}
