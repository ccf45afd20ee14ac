//! Neighbors with a stated recall: a search in rounds that stops when audited rows show it.
//!
//! ```text
//! v uniform items apart from the columns → their rows evaluated, and hidden: the search treats them as any other item, and a pair
//!     of it that an audited row has costs nothing
//! rounds of a fifth of what was asked so far, until LCB(share of true neighbors among the pairs asked for) ≥ ρ'
//! the lists: scores that were evaluated come first, the audited rows revealed
//! ```
//! What is known before the search is not hidden from it: it must not depend on the draw of the audited rows, as the columns of a fit do not.
//!
//! Cost beyond that of the search: v(n − 1) calls less what it asks for of them, 8·v·n bytes. [`Audit::calls`] bounds both together.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::shares::{AuditPath, Recall};
use super::{Bound, Target, TooFewAudited};
use crate::nearest::{Known, Neighbor, NeighborError, RoundsParams, Search};
use landmark_core::contents::Contents;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleError, OracleShape, Pair};
use landmark_core::rank::RankCmp;
use landmark_core::stream::Rng;

use hidden::Hidden;

mod hidden;
#[cfg(test)]
mod tests;

/// Growth of the effort from step to step.
const GROWTH: f64 = 0.2;
/// Columns of a search whose effort is not known before.
const COLUMNS: usize = 4;
/// Scores kept of an item, as a multiple of k, before the worst are dropped.
const KEPT: usize = 4;
/// Calls that the search left over make one more round if they are at least this part of the items.
const WORTH_A_ROUND: u64 = 20;

/// Recall that the lists of a search are to have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Audit {
    pub target: Target,
    /// True where the bound is to be a theorem.
    pub is_strict: bool,
    /// v; by default as many as the bound asks for.
    pub rows: Option<usize>,
    /// Calls at most, those of the audited rows included; without it `calls_per_item` of the parameters bounds the search, and the audited rows come
    /// on top.
    pub calls: Option<u64>,
}

/// A search that audited rows stop: everything but the score and the recall.
#[derive(Clone)]
pub struct AuditedSearch<'a> {
    /// Cheap similarities over the same items, the best first.
    pub proxies: &'a [Arc<dyn Oracle>],
    /// Columns are 4 and the growth of the effort a fifth where they are not set.
    pub params: RoundsParams,
    /// Uniform.
    pub landmarks: &'a Landmarks,
    /// What is evaluated already. It must not depend on the draw of the audited rows.
    pub known: Known,
    /// Contents of the items: audited rows are drawn by them if they are given, so that the draw stays when the list grows.
    pub contents: Option<&'a Contents>,
}

/// Recall after one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AuditStep {
    /// Pairs that the search had asked for.
    pub asked: u64,
    /// Estimated recall of all lists.
    pub recall: f64,
    pub lower: f64,
}

/// Pairs or rows that would have been enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// This number of further pairs, by the estimates as they stand.
    Pairs(u64),
    /// This number of audited rows.
    Rows(usize),
    /// Nothing that is known here: the true neighbors are no candidates.
    Unknown,
}

/// Lists of neighbors, and their recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// The k most similar other items of every item that were evaluated, best first; estimates fill up where fewer were.
    pub lists: Vec<Vec<Neighbor>>,
    /// Columns of the search.
    pub landmarks: usize,
    pub rows: Vec<usize>,
    pub bound: Bound,
    /// Recall step by step; the last one is that of the lists.
    pub steps: Vec<AuditStep>,
    /// `None` where the target is reached.
    pub refused: Option<Enough>,
    /// True if a budget of the oracle ended the search.
    pub is_cut_short: bool,
}

/// Reason why there is no stated recall.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Too few rows.
    #[error(transparent)]
    TooFew(#[from] TooFewAudited),
    /// Fewer calls than the audited rows take.
    #[error("{rows} audited rows take {needed} calls, more than the {given} of the search and the audit together")]
    TooFewCalls { rows: usize, needed: u64, given: u64 },
    /// The search's own error.
    #[error(transparent)]
    Search(#[from] NeighborError),
}

impl From<OracleError> for AuditError {
    fn from(error: OracleError) -> Self {
        Self::Search(error.into())
    }
}

/// Searches until the recall is stated, or the calls of `audit`, or `calls_per_item` of the search, are spent; a budget of the oracle that ends does
/// the same. `rng` draws the audited rows.
///
/// # Errors
/// Too few audited rows for any statement, fewer calls than they take, and those of [`nearest`](crate::nearest::nearest).
pub fn nearest_to(
    oracle: &dyn Oracle,
    wanted: AuditedSearch<'_>,
    audit: Audit,
    rng: &mut Rng,
) -> Result<Audited, AuditError> {
    let n = oracle.len();
    let opened = open(OracleShape::of(oracle), wanted, audit, rng)?;
    let Opened { mut search, items, path, bound, k, known, mut left } = opened;
    let columns = search.columns().len();
    let mut hidden = Hidden::evaluate(oracle, items, &known)?;
    let mut lists = KnownLists::new(n, k);
    hidden.ask(known.iter().map(|&(pair, _)| pair));
    let (pairs, scores): (Vec<Pair>, Vec<f64>) = known.into_iter().unzip();
    lists.offer(&pairs, &scores);
    let known = pairs.len() as u64;
    let mut steps: Vec<AuditStep> = Vec::new();
    // of one item nothing can be missed
    let mut is_reached = n < 2;
    let (mut asked, mut is_stated, mut is_cut_short) = (0, true, false);
    let mut judge = |asked: u64, hidden: &Hidden| {
        let Recall { estimate, lower, is_reached } = path.step(&hidden.shares(k));
        let is_all = asked + known == n as u64 * (n as u64 - 1) / 2;
        steps.push(AuditStep { asked, recall: estimate, lower: if is_all { estimate } else { lower } });
        is_reached || is_all
    };
    if known > 0 && !is_reached {
        is_reached = judge(0, &hidden);
    }
    while !is_reached {
        let Some(batch) = search.next_batch()? else {
            // pairs of audited rows took no call of the search: what it left makes one more round
            match left {
                Some(left) if left * WORTH_A_ROUND >= n as u64 && left > 0 && search.extend(left) => continue,
                _ => break,
            }
        };
        let within = hidden.first_within(&batch.pairs, left);
        let (scores, calls) = hidden.answer_paid(oracle, within)?;
        let pairs = &within[..scores.len()];
        is_cut_short = pairs.len() < within.len();
        search.record(pairs, &scores)?;
        lists.offer(pairs, &scores);
        left = left.map(|left| left - calls);
        asked += pairs.len() as u64;
        // the proxy's pairs of a round are half a step
        is_stated = !search.is_within_round();
        is_reached = is_stated && judge(asked, &hidden);
        if pairs.len() < batch.pairs.len() {
            break;
        }
    }
    // a round that ended early
    if !is_stated {
        is_reached = judge(asked, &hidden);
    }
    let refused = if is_reached { None } else { Some(hidden.enough(&mut search, &path, k)?) };
    hidden.reveal(&mut lists);
    let mut lists = lists.finish();
    fill(&mut lists, &mut search, k)?;
    Ok(Audited { lists, landmarks: columns, rows: hidden.items, bound, steps, refused, is_cut_short })
}

/// Items whose rows [`nearest_to`] evaluates first, of the same arguments: what a budget has to pay for before any recall is known.
///
/// # Errors
/// Too few audited rows for any statement, fewer calls than they take, parameters outside their range, proxies over other items.
pub fn audited_items(
    shape: OracleShape,
    wanted: AuditedSearch<'_>,
    audit: Audit,
    rng: &mut Rng,
) -> Result<Vec<usize>, AuditError> {
    Ok(open(shape, wanted, audit, rng)?.items)
}

/// A search and the items that it audits, before its first call.
struct Opened {
    search: Search,
    items: Vec<usize>,
    path: AuditPath,
    bound: Bound,
    k: usize,
    /// Known pairs, each once.
    known: Vec<(Pair, f64)>,
    /// Pairs that may be evaluated beyond those of the audited rows.
    left: Option<u64>,
}

fn open(shape: OracleShape, wanted: AuditedSearch<'_>, audit: Audit, rng: &mut Rng) -> Result<Opened, AuditError> {
    let AuditedSearch { proxies, params, landmarks, known, contents } = wanted;
    let n = shape.len;
    let k = params.k.min(n.saturating_sub(1));
    let rounds = growing(params, n).check().map_err(NeighborError::from)?;
    let known = whole_columns(known, n);
    let pairs = known.pairs.clone();
    let mut search = match known.pairs.is_empty() && known.seed.is_none() {
        true => Search::new(rounds, shape, proxies.to_vec(), landmarks)?,
        false => Search::knowing(rounds, shape, proxies.to_vec(), landmarks, known)?,
    };
    let columns = search.columns().len();
    let bound = Bound::of(k, audit.is_strict);
    let rows = audit.rows.unwrap_or_else(|| bound.rows(audit.target)).min(n - columns);
    let path = AuditPath::new(n, columns, rows, audit.target, bound)?;
    let items = draw(n, search.columns(), rows, contents, rng);
    let left = match audit.calls {
        None => None,
        Some(calls) => {
            let needed = calls_of_rows(shape, &items, contents, &pairs);
            let Some(left) = calls.checked_sub(needed) else {
                return Err(AuditError::TooFewCalls { rows, needed, given: calls });
            };
            let left = left / shape.evaluations_per_pair.max(1);
            search.limit(left);
            Some(left)
        }
    };
    Ok(Opened { search, items, path, bound, k, known: pairs, left })
}

/// Calls that the rows of some items take beyond what is known. Pairs of copies are called for once, as pairs of the first of them, and pairs of two
/// copies as a self-similarity.
fn calls_of_rows(shape: OracleShape, items: &[usize], contents: Option<&Contents>, known: &[(Pair, f64)]) -> u64 {
    let first = |item: usize| contents.map_or(item, |contents| contents.first(item));
    let audited: HashSet<usize> = items.iter().map(|&item| first(item)).collect();
    let mut copies = vec![0_usize; shape.len];
    (0..shape.len).for_each(|item| copies[first(item)] += 1);
    let is_known = |&&((i, j), score): &&(Pair, f64)| {
        score.is_finite() && i != j && (audited.contains(&first(i)) || audited.contains(&first(j)))
    };
    let known: HashSet<Pair> =
        (known.iter().filter(is_known)).map(|&((i, j), _)| (first(i).min(first(j)), first(i).max(first(j)))).collect();
    let known_of_two = known.iter().filter(|(i, j)| i != j).count() as u64;
    let is_asked_of_itself =
        |&&item: &&usize| !shape.diagonal_known() && copies[item] > 1 && !known.contains(&(item, item));
    let of_themselves = audited.iter().filter(is_asked_of_itself).count() as u64;
    let groups = contents.map_or(shape.len, Contents::distinct);
    shape.evaluations(pairs_of(groups, audited.len()) - known_of_two, of_themselves)
}

/// Pairs that have one of `rows` items.
fn pairs_of(n: usize, rows: usize) -> u64 {
    let (n, rows) = (n as u64, rows as u64);
    rows * n.saturating_sub(1) - rows * rows.saturating_sub(1) / 2
}

/// The same with each pair once, and without columns some of whose pairs are not known: an item counts as one whose neighbors are all found.
fn whole_columns(known: Known, n: usize) -> Known {
    let Known { mut columns, mut pairs, seed } = known;
    for ((i, j), _) in &mut pairs {
        (*i, *j) = ((*i).min(*j), (*i).max(*j));
    }
    pairs.sort_by_key(|one| one.0);
    pairs.dedup_by_key(|one| one.0);
    let mut degrees = vec![0; n];
    let scored = pairs.iter().filter(|((i, j), score)| i != j && *j < n && score.is_finite());
    scored.flat_map(|&((i, j), _)| [i, j]).for_each(|item| degrees[item] += 1);
    columns.retain(|&item| item < n && degrees[item] + 1 == n);
    Known { columns, pairs, seed }
}

/// Parameters of a search among n items whose effort is not known before: columns are 4, and the growth of the effort a fifth,
/// where `params` leave them unset.
pub fn growing(params: RoundsParams, n: usize) -> RoundsParams {
    let columns = params.columns.unwrap_or(COLUMNS).min(n.saturating_sub(1) / 2);
    let columns = if columns < 2 { 0 } else { columns };
    // audited rows are of both orders, and so are the pairs that they are compared with
    RoundsParams { one_order: None, columns: Some(columns), growth: Some(params.growth.unwrap_or(GROWTH)), ..params }
}

/// `rows` uniform items that are no columns.
fn draw(n: usize, columns: &[usize], rows: usize, contents: Option<&Contents>, rng: &mut Rng) -> Vec<usize> {
    let columns: HashSet<usize> = columns.iter().copied().collect();
    if let Some(contents) = contents {
        let others: Vec<usize> = (0..n).filter(|item| !columns.contains(item)).collect();
        return contents.draw_items(&others, rows, rng);
    }
    let order = Landmarks::uniform(n, rng);
    order.order().iter().copied().filter(|item| !columns.contains(item)).take(rows).collect()
}

/// The best of the scores that are known, item by item. Memory: 64k bytes an item.
#[derive(Debug, Clone)]
pub struct KnownLists {
    k: usize,
    best: Vec<Vec<(f64, usize)>>,
}

impl KnownLists {
    /// Lists of the k best for n items, none known yet.
    pub fn new(n: usize, k: usize) -> Self {
        Self { k, best: vec![Vec::new(); n] }
    }

    /// Takes scores into the lists of both items; each pair once. Those that are not finite are nobody's.
    pub fn offer(&mut self, pairs: &[Pair], scores: &[f64]) {
        for (&(i, j), &score) in pairs.iter().zip(scores).filter(|(_, score)| score.is_finite()) {
            for (item, other) in [(i, j), (j, i)] {
                self.best[item].push((score, other));
                if self.best[item].len() > KEPT * self.k.max(1) {
                    self.cut(item);
                }
            }
        }
    }

    fn cut(&mut self, item: usize) {
        self.best[item].sort_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
        self.best[item].truncate(self.k);
    }

    /// The lists, best first; ties go to the smaller item.
    pub fn finish(mut self) -> Vec<Vec<Neighbor>> {
        (0..self.best.len()).for_each(|item| self.cut(item));
        let known = |best: Vec<(f64, usize)>| {
            best.into_iter().map(|(score, item)| Neighbor { item, score, exact: true }).collect()
        };
        self.best.into_iter().map(known).collect()
    }
}

/// Lists shorter than k are filled up with estimates.
fn fill(lists: &mut [Vec<Neighbor>], search: &mut Search, k: usize) -> Result<(), NeighborError> {
    if lists.iter().all(|list| list.len() >= k) {
        return Ok(());
    }
    for (list, candidates) in lists.iter_mut().zip(search.last_candidates(usize::MAX)?) {
        let left = k - list.len().min(k);
        let listed: HashSet<usize> = list.iter().map(|near| near.item).collect();
        let is_new = |near: &Neighbor| !near.exact && !listed.contains(&near.item);
        list.extend(candidates.into_iter().filter(is_new).take(left));
    }
    Ok(())
}
