//! The unevaluated pairs of largest v among all of them, without a matrix of n².
//!
//! A threshold that a few more pairs than are wanted should pass is read off 2^20 random pairs; one pass over all pairs, as blocked
//! products, keeps those that do. Where they prove too few, the threshold falls and the pass is repeated; where they are many more, they
//! are thinned on the way. The answer is exact and does not depend on the sample. Memory: 16 bytes a pair wanted, twice that at most,
//! and some blocks of 8 MB.

use std::cmp::Ordering;
use std::sync::Arc;

use ndarray::Array2;
use rand::Rng as _;
use rayon::prelude::*;

use super::Chosen;
use super::residual_size::ResidualSize;
use crate::approximate::ApproximateError;
use crate::approximation::Approximation;
use crate::oracle::{Oracle, OracleError, Pair, ask_block, ask_pairs};
use crate::stream::Rng;

const SAMPLE: usize = if cfg!(test) { 1 << 16 } else { 1 << 20 };

const ROWS: usize = 512;
const COLUMNS: usize = 2048;

const ROWS_TO_RANK: usize = 16;

/// Candidates beyond twice the wanted number before they are thinned.
const SLACK: usize = 1 << 20;

/// Deviations by which the number above the threshold may miss its estimate.
const CAUTION: f64 = 4.0;

/// All that v is made of, and what is evaluated.
pub(crate) struct Search<'a> {
    pub(crate) predicted: &'a Approximation,
    pub(crate) proxies: &'a [Arc<dyn Oracle>],
    pub(crate) size: &'a ResidualSize,
    pub(crate) known: &'a Chosen,
    /// Pairs are looked for among so many nearest of each item under the first proxy, before all are looked at.
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
    pub(crate) fn largest(&self, wanted: u64, rng: &mut Rng) -> Result<Vec<Pair>, ApproximateError> {
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
        let mut expected = 0.0;
        loop {
            let threshold = self.threshold(&items, wanted, left, expected, rng)?;
            let found = self.above(&items, threshold, wanted)?;
            if found.len() == wanted || threshold == f64::NEG_INFINITY {
                return Ok(pairs(found));
            }
            expected = 2.0 * (expected.max(wanted as f64 / left as f64));
        }
    }

    /// A size that a few more than the wanted pairs should exceed, or a given part of all; −∞ where there are few anyway.
    fn threshold(
        &self,
        items: &[usize],
        wanted: usize,
        left: u64,
        part: f64,
        rng: &mut Rng,
    ) -> Result<f64, OracleError> {
        let part = part.max(wanted as f64 / left as f64);
        if left <= 2 * SAMPLE as u64 || part > 0.5 {
            return Ok(f64::NEG_INFINITY);
        }
        let mut sample = Vec::with_capacity(SAMPLE);
        while sample.len() < SAMPLE {
            let (i, j) = (items[rng.gen_range(0..items.len())], items[rng.gen_range(0..items.len())]);
            if i != j && !self.known.contains(i, j) {
                sample.push((i, j));
            }
        }
        let mut sizes = self.sizes_of(&sample)?;
        // places below 2^20
        let place = part * SAMPLE as f64;
        let place = ((place + CAUTION * (place + 1.0).sqrt()) as usize).min(SAMPLE - 1);
        let (_, &mut threshold, _) = sizes.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        Ok(threshold)
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

    /// The `wanted` largest of all unevaluated pairs whose size reaches the threshold.
    fn above(&self, items: &[usize], threshold: f64, wanted: usize) -> Result<Vec<Candidate>, OracleError> {
        let mut threshold = threshold;
        let mut found: Vec<Candidate> = Vec::new();
        for first in (0..items.len()).step_by(ROWS) {
            let rows = &items[first..items.len().min(first + ROWS)];
            // pairs of a row and a later column, so that each is met once
            let blocks: Vec<&[usize]> = items[first..].chunks(COLUMNS).collect();
            let parts: Vec<Result<Vec<Candidate>, OracleError>> =
                blocks.into_par_iter().map(|cols| self.in_block(rows, cols, threshold)).collect();
            for part in parts {
                found.extend(part?);
            }
            if found.len() > wanted.saturating_mul(2).saturating_add(SLACK) {
                thin(&mut found, wanted);
                threshold = threshold.max(found.last().map_or(threshold, |last| last.size));
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
        for pairs in all.chunks(SAMPLE) {
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
