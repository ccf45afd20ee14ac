//! Neighbours with a stated recall: a search in rounds that stops when audited rows say so.
//!
//! ```text
//! v uniform items beside the columns → their rows evaluated, and hidden: the search treats them as any other item, and a pair
//!     of it that an audited row has costs nothing
//! rounds of a fifth of what was asked so far, until LCB(share of true neighbours among the pairs asked for) ≥ ρ'
//! the lists: scores that were evaluated come first, the audited rows revealed
//! ```
//! Source: this project (ALGORITHMS_2 §12). Cost beyond that of the search: v(n − 1) calls less what it asks for of them, 8·v·n bytes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::shares::{AuditPath, Recall};
use super::{Bound, Target, TooFewAudited, depth_shares, share_found};
use crate::nearest::{Neighbour, NeighbourError, RoundsParams, Search};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleError, OracleShape, Pair, ask_pairs};
use landmark_core::rank::RankCmp;
use landmark_core::stream::Rng;

#[cfg(test)]
mod tests;

/// Growth of the effort from step to step.
const GROWTH: f64 = 0.2;
/// Columns of a search whose effort is not known before.
const COLUMNS: usize = 4;
/// Scores kept of an item, as a multiple of k, before the worst are dropped.
const KEPT: usize = 4;
/// Pairs asked of the oracle at a time: what is answered is stored before the next.
const PAIRS_AT_A_TIME: usize = 1 << 12;
/// Samples so many times as large are looked at when a bound is too low.
const LARGEST_SAMPLE: usize = 64;

/// Recall that the lists of a search are to have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Audit {
    /// ρ and δ.
    pub target: Target,
    /// True where the bound is to be a theorem.
    pub is_strict: bool,
    /// v; by default as many as the bound asks for.
    pub rows: Option<usize>,
}

/// Recall after one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AuditStep {
    /// Pairs that the search had asked for.
    pub asked: u64,
    /// Estimated recall of all lists.
    pub recall: f64,
    /// Its lower bound.
    pub lower: f64,
}

/// Pairs or rows that would have been enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// So many further pairs, by the estimates as they stand.
    Pairs(u64),
    /// So many audited rows.
    Rows(usize),
    /// Nothing that is known here: the true neighbours are no candidates.
    Unknown,
}

/// Lists of neighbours, and their recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// The k most similar other items of every item that were evaluated, best first; estimates fill up where fewer were.
    pub lists: Vec<Vec<Neighbour>>,
    /// Columns of the search.
    pub landmarks: usize,
    /// The audited items.
    pub rows: Vec<usize>,
    /// The bound.
    pub bound: Bound,
    /// Recall step by step; the last one is that of the lists.
    pub steps: Vec<AuditStep>,
    /// `None` where the target is reached.
    pub refused: Option<Enough>,
}

/// Reason why there is no stated recall.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// Too few rows.
    #[error(transparent)]
    TooFew(#[from] TooFewAudited),
    /// The search's own error.
    #[error(transparent)]
    Search(#[from] NeighbourError),
}

impl From<OracleError> for AuditError {
    fn from(error: OracleError) -> Self {
        Self::Search(error.into())
    }
}

/// The rows that are hidden from the search.
struct Hidden {
    items: Vec<usize>,
    place: HashMap<usize, usize>,
    /// Row of each audited item.
    rows: Vec<Vec<f64>>,
    /// Items that the search asked for beside each.
    asked: Vec<HashSet<usize>>,
}

/// Searches until the recall is stated, or `params.calls_per_item` are spent; a budget of the oracle that ends does the same. Columns
/// are 4 and the growth of the effort a fifth where `params` say nothing. `landmarks` must be uniform; `rng` draws the audited rows.
///
/// # Errors
/// Too few audited rows for any statement, and those of [`nearest`](crate::nearest::nearest).
pub fn nearest_to(
    oracle: &dyn Oracle,
    proxies: &[Arc<dyn Oracle>],
    params: RoundsParams,
    landmarks: &Landmarks,
    audit: Audit,
    rng: &mut Rng,
) -> Result<Audited, AuditError> {
    let (n, shape) = (oracle.len(), OracleShape::of(oracle));
    let Opened { mut search, items, path, bound, k } = open(shape, proxies, params, landmarks, audit, rng)?;
    let columns = search.columns().len();
    let mut hidden = Hidden::evaluate(oracle, items)?;
    let mut lists = KnownLists::new(n, k);
    let mut steps: Vec<AuditStep> = Vec::new();
    // of one item nothing can be missed
    let mut is_reached = n < 2;
    let (mut asked, mut is_stated) = (0, true);
    let mut judge = |asked: u64, hidden: &Hidden| {
        let Recall { estimate, lower, is_reached } = path.step(&hidden.shares(k));
        let is_all = asked == n as u64 * (n as u64 - 1) / 2;
        steps.push(AuditStep { asked, recall: estimate, lower: if is_all { estimate } else { lower } });
        is_reached || is_all
    };
    while !is_reached && let Some(batch) = search.next_batch()? {
        let scores = match hidden.answer(oracle, &batch.pairs) {
            Ok(scores) => scores,
            Err(error) if error.is_exhausted() => break,
            Err(error) => return Err(error.into()),
        };
        search.record(&batch.pairs, &scores)?;
        lists.offer(&batch.pairs, &scores);
        // the proxy's pairs of a round are half a step
        (asked, is_stated) = (search.asked(), !search.is_within_round());
        is_reached = is_stated && judge(asked, &hidden);
    }
    // a round that ended early
    if !is_stated {
        is_reached = judge(asked, &hidden);
    }
    let refused = if is_reached { None } else { Some(hidden.enough(&mut search, &path, k)?) };
    hidden.reveal(&mut lists);
    let mut lists = lists.finish();
    fill(&mut lists, &mut search, k)?;
    Ok(Audited { lists, landmarks: columns, rows: hidden.items, bound, steps, refused })
}

/// Items whose rows [`nearest_to`] evaluates first, of the same arguments: what a budget has to pay for before any recall is known.
///
/// # Errors
/// Too few audited rows for any statement, parameters outside their range, proxies over other items.
pub fn audited_items(
    shape: OracleShape,
    proxies: &[Arc<dyn Oracle>],
    params: RoundsParams,
    landmarks: &Landmarks,
    audit: Audit,
    rng: &mut Rng,
) -> Result<Vec<usize>, AuditError> {
    Ok(open(shape, proxies, params, landmarks, audit, rng)?.items)
}

/// A search and the items that it audits, before its first call.
struct Opened {
    search: Search,
    items: Vec<usize>,
    path: AuditPath,
    bound: Bound,
    k: usize,
}

fn open(
    shape: OracleShape,
    proxies: &[Arc<dyn Oracle>],
    params: RoundsParams,
    landmarks: &Landmarks,
    audit: Audit,
    rng: &mut Rng,
) -> Result<Opened, AuditError> {
    let n = shape.len;
    let k = params.k.min(n.saturating_sub(1));
    let rounds = growing(params, n).check().map_err(NeighbourError::from)?;
    let search = Search::new(rounds, shape, proxies.to_vec(), landmarks)?;
    let columns = search.columns().len();
    let bound = Bound::of(k, audit.is_strict);
    let rows = audit.rows.unwrap_or_else(|| bound.rows(audit.target)).min(n - columns);
    let path = AuditPath::new(n, columns, rows, audit.target, bound)?;
    let items = draw(n, search.columns(), rows, rng);
    Ok(Opened { search, items, path, bound, k })
}

/// Parameters of a search among n items whose effort is not known before: columns are 4, and the growth of the effort a fifth, where `params` say nothing.
pub fn growing(params: RoundsParams, n: usize) -> RoundsParams {
    let columns = params.columns.unwrap_or(COLUMNS).min(n.saturating_sub(1) / 2);
    let columns = if columns < 2 { 0 } else { columns };
    RoundsParams { columns: Some(columns), growth: Some(params.growth.unwrap_or(GROWTH)), ..params }
}

fn ask(oracle: &dyn Oracle, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    for (pairs, scores) in pairs.chunks(PAIRS_AT_A_TIME).zip(scores.chunks_mut(PAIRS_AT_A_TIME)) {
        ask_pairs(oracle, pairs, scores)?;
    }
    Ok(scores)
}

/// `rows` uniform items that are no columns.
fn draw(n: usize, columns: &[usize], rows: usize, rng: &mut Rng) -> Vec<usize> {
    let columns: HashSet<usize> = columns.iter().copied().collect();
    let order = Landmarks::uniform(n, rng);
    order.order().iter().copied().filter(|item| !columns.contains(item)).take(rows).collect()
}

impl Hidden {
    fn evaluate(oracle: &dyn Oracle, items: Vec<usize>) -> Result<Self, OracleError> {
        let n = oracle.len();
        let place: HashMap<usize, usize> = items.iter().enumerate().map(|(place, &item)| (item, place)).collect();
        let mut rows = vec![vec![f64::NAN; n]; items.len()];
        for (at, &item) in items.iter().enumerate() {
            // pairs of two audited items once
            let is_new = |other: &usize| *other != item && place.get(other).is_none_or(|&there| there > at);
            let others: Vec<usize> = (0..n).filter(is_new).collect();
            let pairs: Vec<Pair> = others.iter().map(|&other| (item.min(other), item.max(other))).collect();
            for (other, score) in others.into_iter().zip(ask(oracle, &pairs)?) {
                rows[at][other] = score;
                if let Some(&there) = place.get(&other) {
                    rows[there][item] = score;
                }
            }
        }
        let asked = vec![HashSet::new(); items.len()];
        Ok(Self { items, place, rows, asked })
    }

    /// Scores of pairs: of audited rows from there, of the others by the oracle.
    fn answer(&mut self, oracle: &dyn Oracle, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let mut scores = vec![f64::NAN; pairs.len()];
        let (mut open, mut places) = (Vec::new(), Vec::new());
        for (at, &(i, j)) in pairs.iter().enumerate() {
            match self.place.get(&i).map(|&row| (row, j)).or_else(|| self.place.get(&j).map(|&row| (row, i))) {
                Some((row, other)) => scores[at] = self.rows[row][other],
                None => {
                    open.push((i, j));
                    places.push(at);
                }
            }
        }
        places.into_iter().zip(ask(oracle, &open)?).for_each(|(at, score)| scores[at] = score);
        for &(i, j) in pairs {
            for (item, other) in [(i, j), (j, i)] {
                if let Some(&row) = self.place.get(&item) {
                    self.asked[row].insert(other);
                }
            }
        }
        Ok(scores)
    }

    fn shares(&self, k: usize) -> Vec<f64> {
        let share = |(place, &item): (usize, &usize)| {
            share_found(&self.rows[place], item, k, |other| self.asked[place].contains(&other))
        };
        self.items.iter().enumerate().map(share).collect()
    }

    /// Rows that would have been enough: reading every list deeper, or more rows.
    fn enough(&self, search: &mut Search, path: &AuditPath, k: usize) -> Result<Enough, NeighbourError> {
        let candidates = search.last_candidates(usize::MAX)?;
        let open = |item: usize| candidates[item].iter().filter(|near| !near.exact).map(|near| near.item);
        let deepest = (0..candidates.len()).map(|item| open(item).count()).max().unwrap_or(0);
        let depths: Vec<usize> = (1..=deepest).collect();
        let by_depth: Vec<Vec<f64>> = (self.items.iter().enumerate())
            .map(|(place, &item)| {
                let ranked: Vec<usize> = open(item).collect();
                depth_shares(&self.rows[place], item, k, &self.asked[place], &ranked, &depths)
            })
            .collect();
        let is_enough = |depth: &&usize| {
            let shares: Vec<f64> = by_depth.iter().map(|shares| shares[**depth - 1]).collect();
            path.step(&shares).is_reached
        };
        if let Some(&depth) = depths.iter().find(is_enough) {
            let of = |item: usize| open(item).take(depth).map(move |other| (item.min(other), item.max(other)));
            let pairs: HashSet<Pair> = (0..candidates.len()).flat_map(of).collect();
            return Ok(Enough::Pairs(pairs.len() as u64));
        }
        Ok(path.rows_needed(&self.shares(k), LARGEST_SAMPLE).map_or(Enough::Unknown, Enough::Rows))
    }

    fn reveal(&self, lists: &mut KnownLists) {
        for (place, &item) in self.items.iter().enumerate() {
            let others = (0..self.rows[place].len()).filter(|&other| other != item);
            let pairs: Vec<Pair> =
                others.filter(|other| !self.asked[place].contains(other)).map(|other| (item, other)).collect();
            // a pair of two audited items that was not asked for stands in both rows
            let pairs: Vec<Pair> = pairs
                .into_iter()
                .filter(|(_, other)| self.place.get(other).is_none_or(|&there| there > place))
                .collect();
            let scores: Vec<f64> = pairs.iter().map(|&(_, other)| self.rows[place][other]).collect();
            lists.offer(&pairs, &scores);
        }
    }
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
    pub fn finish(mut self) -> Vec<Vec<Neighbour>> {
        (0..self.best.len()).for_each(|item| self.cut(item));
        let known = |best: Vec<(f64, usize)>| {
            best.into_iter().map(|(score, item)| Neighbour { item, score, exact: true }).collect()
        };
        self.best.into_iter().map(known).collect()
    }
}

/// Lists shorter than k are filled up with estimates.
fn fill(lists: &mut [Vec<Neighbour>], search: &mut Search, k: usize) -> Result<(), NeighbourError> {
    if lists.iter().all(|list| list.len() >= k) {
        return Ok(());
    }
    for (list, candidates) in lists.iter_mut().zip(search.last_candidates(usize::MAX)?) {
        let left = k - list.len().min(k);
        let listed: HashSet<usize> = list.iter().map(|near| near.item).collect();
        let is_new = |near: &Neighbour| !near.exact && !listed.contains(&near.item);
        list.extend(candidates.into_iter().filter(is_new).take(left));
    }
    Ok(())
}
