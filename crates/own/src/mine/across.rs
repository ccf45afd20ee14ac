//! `mine` on two lists: pairs across them, without factors.
//!
//! ```text
//! --budget B          the likely most similar pairs across, in rounds of B calls in all
//! --target-recall ρ   the same by a few calls per item, which puts the other pairs in order; then as `mine/audited.rs` does
//! ```

use std::collections::HashMap;

use landmark_core::oracle::{OracleShape, Pair};
use landmark_core::rank::RankCmp;
use landmark_harness::invocation::Invocation;
use landmark_harness::run::{self, Ended, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::Universe;
use landmark_neighbors::nearest::{CallPlan, Rounds, RoundsParams, Search};
use landmark_neighbors::recall::{PairQuery, Target};
use landmark_report::amounts::count;
use miette::{IntoDiagnostic, Result};

use super::audited::Source;
use super::{Found, Mined, UNWRITTEN, Wanted, listed, most, pair_columns};
use crate::calls::{Place, checks, proxies};
use crate::known::{SearchScores, stored_pairs, stored_scores};
use crate::own::{PAIRS_AT_A_TIME, ended, progress_over, refused, write_statement, write_table};
use crate::own_data::PAIRS;

/// Neighbors that the rounds look for, twice as many per item.
const NEIGHBORS: usize = 10;
/// Equal items that each item is listed with, of those that the store holds.
const MOST_EQUAL: usize = 100;
/// Calls per item of both lists of a search with a recall, unless a budget is given.
const CALLS_PER_ITEM: u64 = 10;

/// Lists the most similar pairs across two lists.
pub(super) fn mine(invocation: &Invocation, wanted: Wanted) -> Result<(String, Ended)> {
    if wanted.rescore.is_some() || (wanted.budget.is_none() && wanted.target.is_none()) {
        let message = "cannot list pairs across two lists by factors: there are none";
        return Err(refused(message, "add `--budget CALLS`, or `--at-least SCORE --target-recall 0.9`"));
    }
    let place = Place::of(invocation, wanted.budget, wanted.dry_run)?;
    let mined = run::with_sweep(&place.config, &place.matrix, &place.options, |context| {
        let across = Across { place: &place, context: &context, left: place.named().left() };
        let mined = match (wanted.target, wanted.budget) {
            (Some(target), _) => across.with_recall(wanted, target),
            (None, budget) => across.searched(wanted, budget.unwrap_or(0)),
        };
        context.metered.flush()?;
        Ok(mined)
    });
    let Found { mut pairs, mut text, statement, is_cut_short } = mined??;
    if wanted.dry_run {
        return Ok((text, Ended::Done));
    }
    let order = |one: &Mined, other: &Mined| {
        let (one, other) = (one.pair, other.pair);
        other.score.rank_cmp(&one.score).then((one.first, one.second).cmp(&(other.first, other.second)))
    };
    if pairs.is_empty() && is_cut_short {
        return Ok((text + UNWRITTEN, ended(is_cut_short)));
    }
    pairs.sort_by(order);
    pairs.truncate(most(wanted));
    let options = &place.options;
    let path = invocation.out.clone().unwrap_or_else(|| place.table.with_file_name(PAIRS));
    write_table(&path, pair_columns(place.named(), &pairs))?;
    options.record.file(&path);
    write_statement(&path, statement.as_ref(), invocation.out.is_none(), options)?;
    options.record.fact("pairs", pairs.len());
    text += &listed(&pairs, wanted, &path);
    Ok((text, ended(is_cut_short)))
}

struct Across<'a, 'b> {
    place: &'a Place,
    context: &'a SweepContext<'b>,
    left: Option<usize>,
}

/// What a search evaluated, and the search itself.
struct Searched {
    evaluated: HashMap<Pair, f64>,
    search: Search,
    is_cut_short: bool,
}

fn ordered((i, j): Pair) -> Pair {
    (i.min(j), i.max(j))
}

impl Across<'_, '_> {
    fn universe(&self) -> Universe {
        Universe { items: self.context.problem.items(), left: self.left }
    }

    fn listed(&self) -> u64 {
        self.left.unwrap_or(self.context.problem.items()).max(1) as u64
    }

    /// Rounds of `calls` calls in all.
    fn rounds(&self, calls: u64) -> Result<(SearchScores, Rounds)> {
        let calls_per_item = usize::try_from(calls.div_ceil(self.listed())).unwrap_or(usize::MAX).max(1);
        let params = RoundsParams {
            k: NEIGHBORS,
            calls_per_item,
            pairs: true,
            left: self.left,
            calls: Some(calls),
            ..RoundsParams::default()
        };
        let rounds = params.check().into_diagnostic()?;
        SearchScores::of(self.context, self.context.fixed_gamma(), &rounds).into_diagnostic()
    }

    /// The exact plan of a search of `calls` calls.
    fn call_plan(&self, calls: u64) -> Result<CallPlan> {
        let (scores, rounds) = self.rounds(calls)?;
        let has_proxy = !proxies(self.context)?.1.is_empty();
        Ok(rounds.call_plan(OracleShape::of(scores.wanted()), has_proxy))
    }

    fn search(&self, calls: u64) -> Result<Searched> {
        let (scores, rounds) = self.rounds(calls)?;
        let (_, proxies) = proxies(self.context)?;
        let landmarks = self.context.problem.uniform_landmarks(self.context.run.seed, 0);
        let mut search =
            Search::new(rounds, OracleShape::of(scores.wanted()), proxies, &landmarks).into_diagnostic()?;
        let (_progress, mut done) = progress_over(search.call_plan().calls, "calls", self.place.options.quiet);
        let mut evaluated = HashMap::new();
        let mut is_cut_short = false;
        'search: while let Some(batch) = search.next_batch().into_diagnostic()? {
            for pairs in batch.pairs.chunks(PAIRS_AT_A_TIME) {
                match scores.ask(&mut search, &batch, pairs) {
                    Ok(both) => evaluated.extend(both.into_iter().map(|(pair, score)| (ordered(pair), score))),
                    Err(error) if error.is_exhausted() => {
                        is_cut_short = true;
                        break 'search;
                    }
                    Err(error) => return Err(RunError::from(error).into()),
                }
            }
            done(search.calls() as f64 / search.call_plan().calls.max(1) as f64);
        }
        evaluated.retain(|_, score| score.is_finite());
        Ok(Searched { evaluated, search, is_cut_short })
    }

    /// Pairs that a number of calls finds, and those that the store holds.
    fn searched(&self, wanted: Wanted, budget: u64) -> Result<Found> {
        let calls = budget.saturating_sub(self.context.most_checks());
        if wanted.dry_run {
            let calls = count(self.call_plan(calls)?.calls);
            let text = format!("exactly {calls} calls; stored scores are reused\n{}", checks(self.context));
            return Ok(Found { text, ..Found::default() });
        }
        let Searched { mut evaluated, is_cut_short, .. } = self.search(calls)?;
        let stored = stored_pairs(self.context, self.universe(), MOST_EQUAL);
        let scores = stored_scores(self.context, &stored)?;
        evaluated.extend(stored.into_iter().map(ordered).zip(scores).filter(|(_, score)| score.is_finite()));
        let at_least = wanted.at_least.unwrap_or(f64::NEG_INFINITY);
        let good = evaluated.iter().filter(|(_, score)| **score >= at_least);
        let pairs = good.map(|(&(first, second), &score)| Mined::exact(first, second, score)).collect();
        let all = self.universe().len();
        let text = format!(
            "{} of {} pairs across are evaluated, {} new calls{}\n",
            count(evaluated.len() as u64),
            count(all),
            count(self.context.metered.spent().evaluations),
            match evaluated.len() as u64 {
                known if known == all => "",
                _ =>
                    "; how many similar pairs are missing is not known: `--target-recall 0.9` guarantees a recall (with `--at-least SCORE`)",
            }
        );
        Ok(Found { pairs, text, statement: None, is_cut_short })
    }

    /// Pairs of at least a similarity, with a guaranteed recall.
    fn with_recall(&self, wanted: Wanted, target: Target) -> Result<Found> {
        let Some(at_least) = wanted.at_least else {
            return Err(refused(
                "cannot guarantee a recall of all pairs",
                "add a minimum similarity, such as `--at-least 0.8`",
            ));
        };
        let universe = self.universe();
        let price = self.context.metered.shape().evaluations_per_pair.max(1);
        let both = universe.items as u64 * price;
        let agreed = wanted.budget.unwrap_or(CALLS_PER_ITEM * both);
        let first = (agreed / 4).min(CALLS_PER_ITEM / 2 * both);
        if wanted.dry_run {
            let text = format!(
                "{} calls search first; then pairs by their estimates and an audit of the others, {} calls at most in all\n{}",
                count(self.call_plan(first)?.calls),
                count(agreed.min(universe.len() * price)),
                checks(self.context)
            );
            return Ok(Found { text, ..Found::default() });
        }
        let Searched { evaluated, mut search, is_cut_short } = self.search(first)?;
        if is_cut_short {
            let text = "the recall is unknown: the budget ended before the search did\n".to_owned();
            return Ok(Found { text, is_cut_short, ..Found::default() });
        }
        let order = in_order(&mut search, &evaluated)?;
        let good = evaluated.iter().filter(|(_, score)| **score >= at_least);
        let known: Vec<Mined> = good.map(|(&(first, second), &score)| Mined::exact(first, second, score)).collect();
        let query = PairQuery {
            items: universe.items,
            at_least,
            target,
            known: evaluated.len() as u64,
            known_positives: known.len() as u64,
        };
        let oracle = self.context.similarities(self.context.fixed_gamma()).into_diagnostic()?;
        let source = Source {
            context: self.context,
            oracle: oracle.as_ref(),
            quiet: self.place.options.quiet,
            left: self.left,
            is_known: &|pair| evaluated.contains_key(&pair),
            best: &|count| order[..count.min(order.len())].to_vec(),
            agreed: Some(agreed),
            refused: None,
            query,
        };
        source.run(wanted, known)
    }
}

/// The candidates of a search that have no exact score, the highest estimate first.
fn in_order(search: &mut Search, evaluated: &HashMap<Pair, f64>) -> Result<Vec<Pair>> {
    let lists = search.candidates(usize::MAX).into_diagnostic()?;
    let all = lists.iter().enumerate().flat_map(|(i, list)| list.iter().map(move |near| (near.score, (i, near.item))));
    let mut open: Vec<(f64, Pair)> = all.filter(|(_, pair)| !evaluated.contains_key(pair)).collect();
    open.sort_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
    Ok(open.into_iter().map(|(_, pair)| pair).collect())
}
