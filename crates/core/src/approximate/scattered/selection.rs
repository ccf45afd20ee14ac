//! The unevaluated pairs of largest v among all of them, without a matrix of n².
//!
//! One pass over all pairs, as blocked products; the candidates are thinned to the wanted number on the way, and later ones must reach the
//! smallest that is left. Memory: 16 bytes a pair wanted, twice that at most, and 200 MB for the blocks at work.

use std::cmp::Ordering;
use std::sync::Arc;

use ndarray::Array2;
use rayon::prelude::*;

use super::Chosen;
use super::residual_size::ResidualSize;
use crate::approximate::ApproximateError;
use crate::approximation::Approximation;
use crate::oracle::{Oracle, OracleError, Pair, ask_block, ask_pairs};

/// Pairs whose sizes are computed at a time.
const PAIRS: usize = 1 << 20;

const ROWS: usize = 512;
const COLUMNS: usize = 2048;

const ROWS_TO_RANK: usize = 16;

/// Candidates beyond twice the wanted number before they are thinned.
const SLACK: usize = 1 << 20;

const BLOCKS_AT_A_TIME: usize = 8;

/// All that v is made of, and what is evaluated.
pub(crate) struct Search<'a> {
    pub(crate) predicted: &'a Approximation,
    pub(crate) proxies: &'a [Arc<dyn Oracle>],
    pub(crate) size: &'a ResidualSize,
    pub(crate) known: &'a Chosen,
    /// Pairs are searched for among this number of nearest items of each item under the first proxy, before all pairs are.
    pub(crate) nearest: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    size: f64,
    i: u32,
    j: u32,
}

impl Candidate {
    /// Largest first; of equals the pair of the smaller numbers.
    fn order(&self, other: &Self) -> Ordering {
        other.size.total_cmp(&self.size).then((self.i, self.j).cmp(&(other.i, other.j)))
    }
}

/// The `wanted` first in their order, the last of them at the end; all where there are no more.
fn thin(candidates: &mut Vec<Candidate>, wanted: usize) {
    if candidates.len() > wanted {
        if let Some(last) = wanted.checked_sub(1) {
            candidates.select_nth_unstable_by(last, Candidate::order);
        }
        candidates.truncate(wanted);
    }
}

fn pairs(found: Vec<Candidate>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = found.into_iter().map(|one| (one.i as usize, one.j as usize)).collect();
    pairs.sort_unstable();
    pairs
}

impl Search<'_> {
    /// As many pairs as are wanted, or all that are left, ascending.
    pub(crate) fn largest(&self, wanted: u64) -> Result<Vec<Pair>, ApproximateError> {
        let items = self.known.items();
        let left = self.known.left();
        // as many pairs as can be held in memory
        let wanted = usize::try_from(wanted.min(left)).unwrap_or(usize::MAX);
        if wanted == 0 {
            return Ok(Vec::new());
        }
        if let (Some(count), Some(proxy)) = (self.nearest, self.proxies.first()) {
            let mut found = self.among_nearest(&items, count, &**proxy)?;
            if found.len() >= wanted {
                thin(&mut found, wanted);
                return Ok(pairs(found));
            }
        }
        Ok(pairs(self.of_all(&items, wanted)?))
    }

    fn sizes_of(&self, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let mut sizes = vec![0.0; pairs.len()];
        self.predicted.pairs(pairs, &mut sizes)?;
        let mut proxies = Vec::new();
        for proxy in self.proxies {
            let mut scores = vec![0.0; pairs.len()];
            ask_pairs(&**proxy, pairs, &mut scores)?;
            proxies.push(scores);
        }
        for (k, (&(i, j), size)) in pairs.iter().zip(&mut sizes).enumerate() {
            *size = self.size.at(i, j, *size, proxies.iter().map(|scores| scores[k]));
        }
        Ok(sizes)
    }

    /// The `wanted` largest of all unevaluated pairs.
    fn of_all(&self, items: &[usize], wanted: usize) -> Result<Vec<Candidate>, OracleError> {
        let mut threshold = f64::NEG_INFINITY;
        let mut found: Vec<Candidate> = Vec::new();
        for first in (0..items.len()).step_by(ROWS) {
            let rows = &items[first..items.len().min(first + ROWS)];
            // pairs of a row and a later column, so that each is met once
            let blocks: Vec<&[usize]> = items[first..].chunks(COLUMNS).collect();
            for blocks in blocks.chunks(BLOCKS_AT_A_TIME) {
                let parts: Vec<Result<Vec<Candidate>, OracleError>> =
                    blocks.par_iter().map(|cols| self.in_block(rows, cols, threshold)).collect();
                for part in parts {
                    found.extend(part?);
                }
                if found.len() > wanted.saturating_mul(2).saturating_add(SLACK) {
                    thin(&mut found, wanted);
                    threshold = found.last().map_or(threshold, |last| last.size);
                }
            }
        }
        thin(&mut found, wanted);
        Ok(found)
    }

    /// The unevaluated pairs of each item and its `count` nearest under the proxy, both without a column.
    fn among_nearest(&self, items: &[usize], count: usize, proxy: &dyn Oracle) -> Result<Vec<Candidate>, OracleError> {
        let parts: Vec<Result<Vec<Pair>, OracleError>> = items
            .par_chunks(ROWS_TO_RANK)
            .map(|rows| {
                let mut scores = Array2::zeros((rows.len(), items.len()));
                ask_block(proxy, rows, items, scores.view_mut())?;
                let mut found = Vec::with_capacity(rows.len() * count);
                for (&i, line) in rows.iter().zip(scores.rows()) {
                    let mut others: Vec<usize> =
                        (0..items.len()).filter(|&b| items[b] != i && !self.known.contains(i, items[b])).collect();
                    if count < others.len() {
                        others.select_nth_unstable_by(count, |&a, &b| line[b].total_cmp(&line[a]).then(a.cmp(&b)));
                        others.truncate(count);
                    }
                    found.extend(others.iter().map(|&b| (i.min(items[b]), i.max(items[b]))));
                }
                Ok(found)
            })
            .collect();
        let mut all = Vec::new();
        for part in parts {
            all.extend(part?);
        }
        all.sort_unstable();
        all.dedup();
        let mut found = Vec::with_capacity(all.len());
        for pairs in all.chunks(PAIRS) {
            for (&(i, j), size) in pairs.iter().zip(self.sizes_of(pairs)?) {
                // items are numbered by 32 bits in what comes of them
                if let (Ok(i), Ok(j)) = (u32::try_from(i), u32::try_from(j)) {
                    found.push(Candidate { size, i, j });
                }
            }
        }
        Ok(found)
    }

    fn in_block(&self, rows: &[usize], cols: &[usize], threshold: f64) -> Result<Vec<Candidate>, OracleError> {
        let shape = (rows.len(), cols.len());
        let mut predicted = Array2::zeros(shape);
        self.predicted.block(rows, cols, predicted.view_mut())?;
        let mut proxies = Vec::new();
        for proxy in self.proxies {
            let mut scores = Array2::zeros(shape);
            ask_block(&**proxy, rows, cols, scores.view_mut())?;
            proxies.push(scores);
        }
        let views: Vec<_> = proxies.iter().map(Array2::view).collect();
        let sizes = self.size.block(rows, cols, &views, predicted);
        let mut found = Vec::new();
        for (&i, line) in rows.iter().zip(sizes.rows()) {
            for (&j, &size) in cols.iter().zip(line) {
                if size >= threshold && i < j && !self.known.contains(i, j) {
                    // items are numbered by 32 bits in what comes of them
                    if let (Ok(i), Ok(j)) = (u32::try_from(i), u32::try_from(j)) {
                        found.push(Candidate { size, i, j });
                    }
                }
            }
        }
        Ok(found)
    }
}
