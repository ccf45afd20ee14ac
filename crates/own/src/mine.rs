//! `landmark mine` and `landmark mine --groups`: the most similar pairs of all, the groups that they make, and how many of the true ones that is.
//!
//! Four ways, by what they may cost:
//! ```text
//! nothing                 the best pairs by the factors alone, with a warning
//! --budget B              the likely best pairs of all, in rounds of B calls in all (`mine/searched.rs`)
//! --rerank N              each item's N nearest that are no landmark, scored by the oracle; pairs with a landmark are known
//! --target-recall ρ       pairs by estimate, then a uniform sample of the others, until a share ρ of all pairs with K ≥ t is found with probability
//!                         1 − δ (`mine/audited.rs`)
//! ```
//! On two lists there are no factors: `mine/across.rs`.

use std::collections::HashSet;
use std::path::Path;

use crate::own_data::{self, Statement};
use landmark_core::oracle::{Oracle, Pair, block_of};
use landmark_core::rank::RankCmp;
use landmark_harness::config::{Budget, MatrixSubject};
use landmark_harness::invocation::Invocation;
use landmark_harness::run::{self, Ended, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::recall::Target;
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_tasks::groups::connected;
use landmark_tasks::neighbors::{ScoredPair, best_pairs, top_k};
use miette::{IntoDiagnostic, Result};

use crate::calls::checks;
use crate::named::Named;
use crate::own::{GIVEN, Own, PAIRS_AT_A_TIME, ended, own_matrix, refused};

mod across;
mod audited;
mod searched;

/// Landmark columns read at a time.
const COLUMNS_AT_A_TIME: usize = 16;
/// Pairs listed where neither a number nor a threshold is given.
const PAIRS: usize = 1000;
/// Pairs listed at most of those that no call was made for, where a threshold is given and no number.
const MOST_FREE: usize = 1_000_000;
/// Warning about pairs that nothing was scored for.
const PAIRS_BY_ESTIMATES: &str = "warning: these pairs are estimates, and similar pairs may be missing: use `--budget CALLS` to search for more, \
    `--rerank ITEMS` for exact scores, or `--at-least SCORE --target-recall 0.9` for a guarantee\n";
/// The end of a search that stopped early without a pair: a list of an earlier search stays.
const UNWRITTEN: &str = "no list was written; the list of an earlier search is unchanged\n";
/// A group of more than one in this number of items is pointed out: what chains of pairs connect is hardly one thing.
const CHAINED: usize = 4;

/// Pairs wanted, and what they may cost.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The number of best pairs; where a threshold is given, all of them by default.
    pub pairs: Option<usize>,
    /// None below this similarity.
    pub at_least: Option<f64>,
    /// Candidates of each item that are scored.
    pub rescore: Option<usize>,
    /// Recall to be reached, with its δ.
    pub target: Option<Target>,
    /// Calls that may be made; with neither candidates nor a recall, a search makes them.
    pub budget: Option<u64>,
    /// Reports how many calls would be made, and makes none.
    pub dry_run: bool,
}

impl Wanted {
    /// Refuses a dry run of what makes no call.
    fn check(self) -> Result<Self> {
        if self.dry_run && self.rescore.is_none() && self.target.is_none() && self.budget.is_none() {
            let help = "add `--budget CALLS`, `--rerank ITEMS` or `--target-recall RECALL`";
            return Err(refused("cannot estimate the calls: this command makes none", help));
        }
        Ok(self)
    }
}

/// A pair, and whether its score is the oracle's.
#[derive(Debug, Clone, Copy)]
struct Mined {
    pair: ScoredPair,
    exact: bool,
}

impl Mined {
    fn exact(first: usize, second: usize, score: f64) -> Self {
        Self { pair: ScoredPair { first, second, score }, exact: true }
    }
}

/// Pairs found, and what can be stated of them.
#[derive(Default)]
struct Found {
    pairs: Vec<Mined>,
    /// What was scored and the calls that it took, for people.
    text: String,
    /// The recall, for programs.
    statement: Option<Statement>,
    /// True where the budget ended before all candidates were scored.
    is_cut_short: bool,
}

/// Lists the most similar pairs of all.
pub fn mine(invocation: &Invocation, wanted: Wanted) -> Result<(String, Ended)> {
    let wanted = wanted.check()?;
    if own_matrix(&invocation.config()?)?.dataset.has_two_lists() {
        return across::mine(invocation, wanted);
    }
    let own = Own::open_for_table(invocation)?;
    let Found { pairs, mut text, statement, is_cut_short } = own.pairs(wanted)?;
    if wanted.dry_run {
        return Ok((text, Ended::Done));
    }
    if pairs.is_empty() && is_cut_short {
        return Ok((text + UNWRITTEN, ended(is_cut_short)));
    }
    let path = own.write(own_data::PAIRS, pair_columns(own.named(), &pairs))?;
    own.write_statement(&path, statement.as_ref())?;
    own.options.record.fact("pairs", pairs.len());
    text += &listed(&pairs, wanted, &path);
    text += &own.draw_again();
    Ok((text, ended(is_cut_short)))
}

/// How many pairs are listed, and where, as lines.
fn listed(pairs: &[Mined], wanted: Wanted, path: &Path) -> String {
    let found = match wanted.at_least {
        Some(least) => format!("{} pairs of at least {least}", count(pairs.len() as u64)),
        None => format!("the {} most similar pairs", count(pairs.len() as u64)),
    };
    let none = if pairs.is_empty() { "no pair is that similar; lower `--at-least`\n" } else { "" };
    format!("{found}: `{}`\n{none}", path.display())
}

/// Groups items that pairs of at least `wanted.at_least` connect.
pub fn groups(invocation: &Invocation, wanted: Wanted) -> Result<(String, Ended)> {
    let wanted = wanted.check()?;
    let own = Own::open_for_table(invocation)?;
    let Found { pairs, mut text, statement, is_cut_short } = own.pairs(wanted)?;
    if wanted.dry_run {
        return Ok((text, Ended::Done));
    }
    if pairs.is_empty() && is_cut_short {
        return Ok((text + UNWRITTEN, ended(is_cut_short)));
    }
    let items = own.factors.info.items;
    let groups = connected(items, pairs.iter().map(|mined| (mined.pair.first, mined.pair.second)));
    let mut order: Vec<usize> = (0..items).collect();
    order.sort_by_key(|&item| (groups.labels[item], item));
    // the first of each group, in the order of the items, stays
    let is_first = |place: &usize| *place == 0 || groups.labels[order[*place]] != groups.labels[order[*place - 1]];
    let mut columns = vec![
        own.named().ids("id", &order),
        Column::count("group", order.iter().map(|&item| Some(groups.labels[item] as u64))),
        Column::count("size", order.iter().map(|&item| Some(groups.sizes[groups.labels[item]] as u64))),
        Column::flag("keep", (0..items).map(|place| Some(is_first(&place)))),
    ];
    columns.extend(own.named().texts("text", &order));
    let path = own.write(own_data::GROUPS, columns)?;
    own.write_statement(&path, statement.as_ref())?;
    let (shared, kept) = (groups.shared(), groups.sizes.len());
    let record = &own.options.record;
    record.fact("pairs", pairs.len());
    record.fact("groups", shared);
    record.fact("kept", kept);
    record.fact("items", items);
    text += &format!(
        "{} pairs form {} groups of two or more, the largest of {}; {} of {} items are kept: `{}`\n",
        count(pairs.len() as u64),
        count(shared as u64),
        count(groups.sizes.first().copied().unwrap_or(0) as u64),
        count(kept as u64),
        count(items as u64),
        path.display()
    );
    if CHAINED * groups.sizes.first().copied().unwrap_or(0) > items {
        text += "warning: the largest group contains more than a quarter of all items, connected by chains of pairs; raise `--at-least`\n";
    }
    if statement.is_some() {
        text += "this is the recall of pairs: one missed pair can separate two large groups\n";
    }
    text += &own.draw_again();
    Ok((text, ended(is_cut_short)))
}

impl Own {
    fn pairs(&self, wanted: Wanted) -> Result<Found> {
        let at_least = wanted.at_least.unwrap_or(f64::NEG_INFINITY);
        if !wanted.dry_run
            && let Some(matrix) = self.given()?
        {
            let (_progress, done) = self.progress("items done");
            let found = best_pairs(matrix.view(), most_free(wanted), at_least, done);
            let pairs: Vec<Mined> = found.into_iter().map(|pair| Mined { pair, exact: true }).collect();
            return Ok(Found {
                text: GIVEN.to_owned() + &cut_in_words(pairs.len(), wanted),
                pairs,
                ..Found::default()
            });
        }
        if wanted.rescore.is_none() && wanted.target.is_none() && wanted.budget.is_none() {
            let (_progress, done) = self.progress("items done");
            let found = best_pairs(self.estimates(), most_free(wanted), at_least, done);
            let is_exact = |pair: ScoredPair| self.equal.as_ref()?.score(pair.first, pair.second);
            let pairs: Vec<Mined> =
                found.into_iter().map(|pair| Mined { pair, exact: is_exact(pair).is_some() }).collect();
            let text = PAIRS_BY_ESTIMATES.to_owned() + &cut_in_words(pairs.len(), wanted);
            return Ok(Found { pairs, text, ..Found::default() });
        }
        let budget = Budget { calls: wanted.budget, ..Budget::default() };
        let matrix = MatrixSubject { budget, ..self.matrix.clone() };
        let mined = run::with_sweep(&self.config, &matrix, &self.options, |context| {
            let mined =
                self.check_oracle(&context).and_then(|()| match (wanted.target, wanted.rescore, wanted.budget) {
                    (Some(target), ..) => self.audited_pairs(&context, wanted, target),
                    (None, None, Some(budget)) => self.searched_pairs(&context, wanted, budget),
                    (None, ..) => self.scored_pairs(&context, wanted),
                });
            context.metered.flush()?;
            Ok(mined)
        });
        let mut found = mined??;
        found.pairs.sort_by(|one, other| {
            let places = |mined: &Mined| (mined.pair.first, mined.pair.second);
            other.pair.score.rank_cmp(&one.pair.score).then_with(|| places(one).cmp(&places(other)))
        });
        found.pairs.truncate(most(wanted));
        Ok(found)
    }

    /// Pairs of two items one of which is a landmark.
    fn pairs_of_columns(&self) -> u64 {
        let info = &self.factors.info;
        all_pairs(info.items as u64) - all_pairs((info.items - info.landmarks.len()) as u64)
    }

    /// Pairs with a landmark, which are known, and the candidates among the others.
    fn scored_pairs(&self, context: &SweepContext<'_>, wanted: Wanted) -> Result<Found> {
        let oracle = context.similarities(self.factors.info.gamma).into_diagnostic()?;
        let at_least = wanted.at_least.unwrap_or(f64::NEG_INFINITY);
        let candidates = self.candidates(wanted);
        let planned = missing(context, &candidates);
        let asked = asked(candidates.len() as u64, self.factors.info.items as u64);
        if wanted.dry_run {
            self.options.record.fact("pairs_to_score", candidates.len());
            self.options.record.fact("calls", planned);
            let text = format!(
                "{asked} to score, {} new calls\n{}",
                count(planned),
                if planned > 0 { checks(context) } else { String::new() }
            );
            return Ok(Found { text, ..Found::default() });
        }
        let mut pairs = self.landmark_pairs(oracle.as_ref(), at_least, wanted.pairs)?;
        let (progress, mut done) = self.progress_over(candidates.len() as u64, "pairs scored");
        let mut scored = 0;
        for chunk in candidates.chunks(PAIRS_AT_A_TIME) {
            let mut scores = vec![0.0; chunk.len()];
            match oracle.evaluate(chunk, &mut scores) {
                Ok(()) => {}
                Err(error) if error.is_exhausted() => break,
                Err(error) => return Err(RunError::from(error).into()),
            }
            scored += chunk.len();
            let good = chunk.iter().zip(scores).filter(|&(_, score)| score >= at_least);
            pairs.extend(
                good.map(|(&(first, second), score)| Mined { pair: ScoredPair { first, second, score }, exact: true }),
            );
            done(scored as f64 / candidates.len() as f64);
        }
        drop(progress);
        let evaluated = context.metered.spent().evaluations;
        let is_cut_short = scored < candidates.len();
        let cut = if is_cut_short { "; the budget ended before the others" } else { "" };
        let text =
            format!("{} of {asked} have an exact score, {} new calls{cut}\n", count(scored as u64), count(evaluated));
        Ok(Found { pairs, text, statement: None, is_cut_short })
    }

    /// Pairs with a landmark whose similarity is at least `at_least`, the best `most` of them; all are in the store.
    fn landmark_pairs(&self, oracle: &dyn Oracle, at_least: f64, most: Option<usize>) -> Result<Vec<Mined>> {
        let items: Vec<usize> = (0..self.factors.info.items).collect();
        let place = self.places();
        let most = if at_least == f64::NEG_INFINITY { most.unwrap_or(PAIRS) } else { usize::MAX };
        let mut pairs: Vec<Mined> = Vec::new();
        for columns in self.factors.info.landmarks.chunks(COLUMNS_AT_A_TIME) {
            let block = block_of(oracle, &items, columns).map_err(RunError::from)?;
            for (b, &landmark) in columns.iter().enumerate() {
                // a pair of two landmarks stands in the column of the later one
                let is_first = |item: usize| place[item].is_none_or(|other| Some(other) < place[landmark]);
                let good = items.iter().filter(|&&item| is_first(item) && block[[item, b]] >= at_least);
                pairs.extend(good.map(|&item| Mined {
                    pair: ScoredPair { first: item.min(landmark), second: item.max(landmark), score: block[[item, b]] },
                    exact: true,
                }));
            }
            if pairs.len() / 2 > most {
                pairs.sort_by(|one, other| other.pair.score.rank_cmp(&one.pair.score));
                pairs.truncate(most);
            }
        }
        Ok(pairs)
    }

    /// The best pairs of two items that are no landmarks, by the factors.
    fn best_of_others(&self, wanted: usize) -> Vec<Pair> {
        let others = self.others();
        let (_progress, done) = self.progress("items done");
        let best = best_pairs(others.estimates(), wanted, f64::NEG_INFINITY, done);
        best.iter().map(|pair| (others.items[pair.first], others.items[pair.second])).collect()
    }

    /// Pairs of two items that are no landmarks, to be scored: the nearest of each, places first.
    fn candidates(&self, wanted: Wanted) -> Vec<Pair> {
        let others = self.others();
        let depth = wanted.rescore.unwrap_or(1);
        let (_progress, done) = self.progress("items done");
        let lists = top_k(others.estimates(), depth, done);
        let mut seen = HashSet::new();
        let mut pairs = Vec::new();
        for place in 0..depth {
            let at_place = lists.iter().enumerate().filter_map(|(item, list)| Some((item, list.get(place)?)));
            let mut of_place: Vec<(f64, Pair)> = at_place
                .map(|(item, near)| (near.score, (item.min(near.item), item.max(near.item))))
                .filter(|&(_, pair)| seen.insert(pair))
                .collect();
            // a budget is to end at the worst
            of_place.sort_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
            pairs.extend(of_place.into_iter().map(|(_, (i, j))| (others.items[i], others.items[j])));
        }
        pairs
    }
}

/// `first`, `second`, `score`, `exact` and the texts; of two lists `left` and `right`.
fn pair_columns(named: Named<'_>, pairs: &[Mined]) -> Vec<Column> {
    let items = |of: fn(&ScoredPair) -> usize| pairs.iter().map(|mined| of(&mined.pair)).collect::<Vec<_>>();
    let (first, second) = (items(|pair| pair.first), items(|pair| pair.second));
    let names = match named.left() {
        Some(_) => ["left", "right", "left_text", "right_text"],
        None => ["first", "second", "first_text", "second_text"],
    };
    let mut columns = vec![
        named.ids(names[0], &first),
        named.ids(names[1], &second),
        Column::number("score", pairs.iter().map(|mined| Some(mined.pair.score))),
        Column::flag("exact", pairs.iter().map(|mined| Some(mined.exact))),
    ];
    columns.extend(named.texts(names[2], &first));
    columns.extend(named.texts(names[3], &second));
    columns
}

/// Pairs to be listed: all of them where a threshold is given.
fn most(wanted: Wanted) -> usize {
    wanted.pairs.unwrap_or(if wanted.at_least.is_some() { usize::MAX } else { PAIRS })
}

/// The same of pairs that no call is made for, of which a low threshold leaves too many.
fn most_free(wanted: Wanted) -> usize {
    most(wanted).min(wanted.pairs.unwrap_or(MOST_FREE))
}

/// A line where a list of at least a threshold ends before its last pair.
fn cut_in_words(listed: usize, wanted: Wanted) -> String {
    let is_cut = wanted.pairs.is_none() && wanted.at_least.is_some() && listed == MOST_FREE;
    if !is_cut {
        return String::new();
    }
    format!("warning: the list ends at {} pairs; raise `--at-least`, or add `--pairs PAIRS`\n", count(listed as u64))
}

fn all_pairs(items: u64) -> u64 {
    items * items.saturating_sub(1) / 2
}

/// A number of pairs, and how many of all that is where it is much.
fn asked(pairs: u64, items: u64) -> String {
    let share = 100 * pairs / all_pairs(items).max(1);
    let of_all = if share >= 10 { format!(" ({share} % of all)") } else { String::new() };
    format!("{} pairs{of_all}", count(pairs))
}

/// Evaluations of pairs that are not in the store.
fn missing(context: &SweepContext<'_>, pairs: &[Pair]) -> u64 {
    let mut entries = context.metered.entries();
    pairs.iter().for_each(|&(i, j)| entries.add_entry(i, j));
    context.metered.missing(&entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_ends_early_says_so_unless_its_length_was_given() {
        let of = |pairs: Option<usize>, at_least: Option<f64>| Wanted {
            pairs,
            at_least,
            rescore: None,
            target: None,
            budget: None,
            dry_run: false,
        };
        let free = |pairs, at_least| most_free(of(pairs, at_least));
        assert_eq!((free(None, None), free(None, Some(0.5))), (PAIRS, MOST_FREE));
        assert_eq!((free(Some(7), None), free(Some(2_000_000), Some(0.5))), (7, 2_000_000));
        assert_eq!((most(of(None, Some(0.5))), most(of(None, None))), (usize::MAX, PAIRS));
        let said = cut_in_words(MOST_FREE, of(None, Some(0.5)));
        assert!(said.contains("1,000,000 pairs") && said.contains("--at-least") && said.contains("--pairs"), "{said}");
        for (listed, wanted) in
            [(MOST_FREE - 1, of(None, Some(0.5))), (PAIRS, of(None, None)), (MOST_FREE, of(Some(MOST_FREE), Some(0.5)))]
        {
            assert_eq!(cut_in_words(listed, wanted), "");
        }
    }
}
