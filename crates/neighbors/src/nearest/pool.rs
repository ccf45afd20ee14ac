//! Candidate pairs, row by row: the only pairs that a search looks at.
//!
//! A pair {i, j} has two slots, one in the row of each. Columns that were evaluated are part of it, and so is every other
//! pair with a score, so that a place in a row is a place among known and unknown alike.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use super::best::Best;
use super::rank_transform::RankTransform;
use super::{NeighborError, PROXY};
use crate::universe::Universe;
use landmark_core::linalg;
use landmark_core::oracle::{Oracle, OracleError, Pair, ask_block, ask_pairs};
use landmark_core::popularity::{HubLink, Popularity};

/// Rows and columns of a block of the scan: 8 MB a proxy.
const BLOCK: usize = 1024;

/// Columns of a block that one task looks through.
const COLUMNS_PER_TASK: usize = 64;

/// Items up to which all pairs are looked at in every round, in double precision, and the process over pairs is fitted in full.
pub(super) const OFTEN: usize = 20_000;

/// Rows whose proxy scores are read at a time.
pub(super) const ROWS_PER_CHUNK: usize = 256;

/// Marks a pair without a score.
pub(super) const UNKNOWN: f64 = f64::NAN;

/// Marks a pair whose score could not be had: it is not asked for again, and listed nowhere.
pub(super) const FAILED: f64 = f64::NEG_INFINITY;

/// Candidate pairs of n items.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    /// The slots of row i are `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// The other item of a slot, ascending within a row.
    others: Vec<u32>,
    /// The same pair's slot in the row of the other.
    mirrors: Vec<u32>,
    /// Scores of the m proxies, slot by slot.
    proxies: Vec<f64>,
    width: usize,
    /// K, [`UNKNOWN`] or [`FAILED`].
    raw: Vec<f64>,
    /// What a search works on: the transform of K, [`UNKNOWN`] or [`FAILED`].
    pub(super) scores: Vec<f64>,
    transform: RankTransform,
    /// Items whose pairs a proxy was fitted to; none where it is empty.
    fitted: Vec<bool>,
}

impl Pool {
    /// Candidates of the lists; `known` pairs are part of it.
    pub(super) fn new(
        lists: Vec<Vec<u32>>,
        known: &[(Pair, f64)],
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Self, NeighborError> {
        let none = Self { starts: vec![0; lists.len() + 1], width: proxies.len(), ..Self::default() };
        none.with(known, lists, proxies)
    }

    /// The same pool with more known pairs and more candidates. What was read of the proxies is not read again.
    pub(super) fn with(
        self,
        known: &[(Pair, f64)],
        lists: Vec<Vec<u32>>,
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Self, NeighborError> {
        let mut rows = symmetric(lists, known);
        rows.par_iter_mut().enumerate().for_each(|(i, row)| {
            row.extend(&self.others[self.row(i)]);
            row.sort_unstable();
            row.dedup();
        });
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        for row in &rows {
            starts.push(starts[starts.len() - 1] + row.len());
        }
        let count = starts[rows.len()];
        if u32::try_from(count).is_err() {
            return Err(NeighborError::TooManyCandidates { pairs: count / 2 });
        }
        let mut others = Vec::with_capacity(count);
        rows.iter_mut().for_each(|row| others.append(&mut std::mem::take(row)));
        drop(rows);
        let mirrors = mirrors(&starts, &others);
        let mut pool = Self { starts, others, mirrors, width: self.width, ..Self::default() };
        pool.take_over(self);
        pool.read_proxies(proxies)?;
        for &((i, j), score) in known {
            pool.set(i, j, score);
        }
        Ok(pool)
    }

    /// Copies what an earlier pool knew of its slots; the others are not known and not read.
    fn take_over(&mut self, earlier: Self) {
        let (count, width) = (self.others.len(), self.width);
        let (mut raw, mut proxies) = (vec![UNKNOWN; count], vec![UNKNOWN; count * width]);
        let ends: Vec<usize> = self.starts.iter().map(|start| start * width).collect();
        by_rows(&self.starts, &mut raw).zip(by_rows(&ends, &mut proxies)).enumerate().for_each(
            |(i, (raw, proxies))| {
                let others = &self.others[self.row(i)];
                let mut place = 0;
                for slot in earlier.row(i) {
                    // both rows ascend, and the new one holds all of the old
                    place += others[place..].partition_point(|&other| other < earlier.others[slot]);
                    raw[place] = earlier.raw[slot];
                    proxies[place * width..(place + 1) * width].copy_from_slice(earlier.proxies(slot));
                }
            },
        );
        self.raw = raw;
        self.proxies = proxies;
        self.transform_by(earlier.transform);
        self.fitted = earlier.fitted;
    }

    /// Ranks among the scores that are known now.
    pub(super) fn ranks(&self) -> RankTransform {
        // every pair stands there twice, which moves no rank
        RankTransform::of(self.raw.iter().copied().filter(|score| score.is_finite()).collect())
    }

    /// The scores from now on as `transform` sees them.
    pub(super) fn transform_by(&mut self, transform: RankTransform) {
        self.scores = self.raw.par_iter().map(|&score| transform.at(score)).collect();
        self.transform = transform;
    }

    /// K in a slot, [`UNKNOWN`] or [`FAILED`].
    pub(super) fn raw(&self, slot: usize) -> f64 {
        self.raw[slot]
    }

    /// Writes scores into the slots of this row that are in the upper triangle, and into their mirrors.
    pub(super) fn rewrite(&mut self, i: usize, score: impl Fn(usize, f64) -> Option<f64>) {
        for slot in self.row(i).filter(|&slot| self.other(slot) > i).collect::<Vec<_>>() {
            if let Some(score) = score(self.other(slot), self.raw[slot]) {
                self.set(i, self.other(slot), score);
            }
        }
    }

    /// An estimate of what a search works on, as an estimate of K.
    pub(super) fn estimated(&self, transformed: f64) -> f64 {
        self.transform.back(transformed)
    }

    /// Scores of the proxies that are not read yet: of each pair once, and the same in both of its slots.
    fn read_proxies(&mut self, proxies: &[Arc<dyn Oracle>]) -> Result<(), NeighborError> {
        let (width, n) = (self.width, self.len());
        let chunks: Vec<(usize, usize)> =
            (0..n).step_by(ROWS_PER_CHUNK).map(|first| (first, (first + ROWS_PER_CHUNK).min(n))).collect();
        for (a, proxy) in proxies.iter().enumerate() {
            let is_new = |i: usize, slot: usize| self.other(slot) > i && self.proxies[slot * width + a].is_nan();
            let parts: Vec<Vec<(usize, f64)>> = chunks
                .par_iter()
                .map(|&(first, end)| {
                    let new = |i: usize| self.row(i).filter(move |&slot| is_new(i, slot)).map(move |slot| (i, slot));
                    let slots: Vec<(usize, usize)> = (first..end).flat_map(new).collect();
                    let pairs: Vec<Pair> = slots.iter().map(|&(i, slot)| (i, self.other(slot))).collect();
                    let mut scores = vec![0.0; pairs.len()];
                    ask_pairs(&**proxy, &pairs, &mut scores)?;
                    Ok(slots.into_iter().map(|(_, slot)| slot).zip(scores).collect())
                })
                .collect::<Result<_, _>>()
                .map_err(|source| NeighborError::Proxy { role: PROXY, number: a + 1, source })?;
            for (slot, score) in parts.into_iter().flatten() {
                let mirror = self.mirror(slot);
                self.proxies[slot * width + a] = score;
                self.proxies[mirror * width + a] = score;
            }
        }
        Ok(())
    }

    /// Number of items n.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Slots in all.
    pub(super) fn slots(&self) -> usize {
        self.others.len()
    }

    /// Slots of row i.
    pub(super) fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// First slot of each row, and their end.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(super) fn other(&self, slot: usize) -> usize {
        self.others[slot] as usize
    }

    pub(super) fn mirror(&self, slot: usize) -> usize {
        self.mirrors[slot] as usize
    }

    /// Scores of the proxies in a slot.
    pub(super) fn proxies(&self, slot: usize) -> &[f64] {
        &self.proxies[slot * self.width..(slot + 1) * self.width]
    }

    /// Score of the first proxy in a slot; 0 without one.
    pub(super) fn first_proxy(&self, slot: usize) -> f64 {
        self.proxies(slot).first().copied().unwrap_or(0.0)
    }

    /// True where a slot has a score, or failed to get one.
    pub(super) fn is_asked(&self, slot: usize) -> bool {
        !self.scores[slot].is_nan()
    }

    /// True where a slot has a score, and no proxy was fitted to it.
    pub(super) fn teaches(&self, slot: usize) -> bool {
        let is_fitted = |item: usize| self.fitted.get(item).copied().unwrap_or(false);
        self.scores[slot].is_finite() && !is_fitted(self.other(slot)) && !is_fitted(self.other(self.mirror(slot)))
    }

    /// From now on pairs of these items do not teach.
    pub(super) fn set_fitted(&mut self, fitted: Vec<bool>) {
        self.fitted = fitted;
    }

    /// The proxies in another order, by their places.
    pub(super) fn reorder_proxies(&mut self, places: &[usize]) {
        let width = self.width;
        self.proxies.par_chunks_mut(width.max(1)).for_each(|scores| {
            let before = scores.to_vec();
            scores.iter_mut().zip(places).for_each(|(score, &place)| *score = before[place]);
        });
    }

    /// Slot of (i, j) in row i, where the pair is a candidate.
    pub(super) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let row = self.row(i);
        let j = u32::try_from(j).ok()?;
        self.others[row.clone()].binary_search(&j).ok().map(|place| row.start + place)
    }

    /// Takes the scores of these slots and of their mirrors away, for a while.
    pub(super) fn hide(&mut self, slots: &[usize]) {
        for slot in slots.iter().flat_map(|&slot| [slot, self.mirror(slot)]).collect::<Vec<_>>() {
            self.scores[slot] = UNKNOWN;
        }
    }

    /// Shows them again.
    pub(super) fn reveal(&mut self, slots: &[usize]) {
        for slot in slots.iter().flat_map(|&slot| [slot, self.mirror(slot)]).collect::<Vec<_>>() {
            self.scores[slot] = self.transform.at(self.raw[slot]);
        }
    }

    /// Writes a score into both slots; false where the pair is no candidate.
    pub(super) fn set(&mut self, i: usize, j: usize, score: f64) -> bool {
        let Some(slot) = self.slot(i, j) else { return false };
        for slot in [slot, self.mirror(slot)] {
            self.raw[slot] = score;
            self.scores[slot] = self.transform.at(score);
        }
        true
    }
}

/// Every pair of a list or with a score, in both rows, ascending.
fn symmetric(mut rows: Vec<Vec<u32>>, known: &[(Pair, f64)]) -> Vec<Vec<u32>> {
    let mut degrees = vec![0_usize; rows.len()];
    rows.iter().flatten().for_each(|&j| degrees[j as usize] += 1);
    let listed: Vec<usize> = rows.iter().map(Vec::len).collect();
    rows.iter_mut().zip(&degrees).for_each(|(row, &more)| row.reserve_exact(more));
    for (i, &listed) in listed.iter().enumerate() {
        for place in 0..listed {
            let j = rows[i][place] as usize;
            // an index of an item fits
            rows[j].push(i as u32);
        }
    }
    for &((i, j), _) in known {
        rows[i].push(j as u32);
        rows[j].push(i as u32);
    }
    rows.par_iter_mut().for_each(|row| {
        row.sort_unstable();
        row.dedup();
    });
    rows
}

fn mirrors(starts: &[usize], others: &[u32]) -> Vec<u32> {
    let n = starts.len() - 1;
    let mut mirrors = vec![0; others.len()];
    by_rows(starts, &mut mirrors).enumerate().for_each(|(i, row)| {
        for (mirror, &j) in row.iter_mut().zip(&others[starts[i]..starts[i + 1]]) {
            let there = starts[j as usize]..starts[j as usize + 1];
            let place = others[there.clone()].partition_point(|&other| (other as usize) < i);
            // the number of slots was checked to fit
            *mirror = (there.start + place) as u32;
        }
    });
    debug_assert!(n == 0 || mirrors.iter().all(|&mirror| (mirror as usize) < others.len()));
    mirrors
}

/// One value a slot, cut into rows, in parallel and in order.
pub(super) fn by_rows<'a, T: Send>(
    starts: &'a [usize],
    mut values: &'a mut [T],
) -> impl IndexedParallelIterator<Item = &'a mut [T]> {
    let mut rows = Vec::with_capacity(starts.len() - 1);
    for pair in starts.windows(2) {
        let (row, rest) = values.split_at_mut(pair[1] - pair[0]);
        rows.push(row);
        values = rest;
    }
    rows.into_par_iter()
}

/// The `width` best of every item by the first proxy, and as many by the link: one pass over half of all pairs.
pub(super) fn scan(
    universe: Universe,
    proxies: &[Arc<dyn Oracle>],
    link: Option<(&HubLink, &Popularity)>,
    width: usize,
    is_large: bool,
) -> Result<Vec<Vec<u32>>, NeighborError> {
    let by_proxy = if proxies.is_empty() { 0 } else { width };
    let by_link = if link.is_some() { width } else { 0 };
    let n = universe.items;
    let mut best = [vec![Best::new(by_proxy); n], vec![Best::new(by_link); n]];
    for_blocks(n, proxies, is_large, |rows, cols, mut blocks| {
        if let Some(block) = blocks.first_mut() {
            offer_pairs(&mut best[0], block, universe, rows, cols);
        }
        if let Some((link, popularity)) = link {
            let mut linked = link_block(link, popularity.values(), &blocks, rows, cols);
            offer_pairs(&mut best[1], &mut linked, universe, rows, cols);
        }
    })?;
    let [first, second] = best;
    Ok(first.into_iter().zip(second).map(|(one, other)| one.into_items().chain(other.into_items()).collect()).collect())
}

/// What a process adds to the link, at the pairs of some rows and columns.
type Block<'a> = &'a dyn Fn(Range<usize>, Range<usize>) -> Array2<f32>;

/// The `width` best of every item by the link and what a process adds to it, with its weight: one pass over half of all pairs.
pub(super) fn scan_estimates(
    universe: Universe,
    proxies: &[Arc<dyn Oracle>],
    (link, popularity): (&HubLink, &Popularity),
    (process, weight): (Block<'_>, f64),
    width: usize,
    is_large: bool,
) -> Result<Vec<Vec<u32>>, NeighborError> {
    let n = universe.items;
    let mut best = vec![Best::new(width); n];
    for_blocks(n, proxies, is_large, |rows, cols, blocks| {
        let mut estimates = link_block(link, popularity.values(), &blocks, rows, cols);
        let process = process(rows[0]..rows[0] + rows.len(), cols[0]..cols[0] + cols.len());
        estimates.zip_mut_with(&process, |estimate, &process| *estimate += weight * f64::from(process));
        offer_pairs(&mut best, &mut estimates, universe, rows, cols);
    })?;
    Ok(best.into_iter().map(|best| best.into_items().collect()).collect())
}

/// Blocks of every proxy, of all pairs in the upper triangle of blocks.
fn for_blocks(
    n: usize,
    proxies: &[Arc<dyn Oracle>],
    is_large: bool,
    mut take: impl FnMut(&[usize], &[usize], Vec<Array2<f64>>),
) -> Result<(), NeighborError> {
    let items: Vec<usize> = (0..n).collect();
    let proxies = Scanned::new(proxies, is_large);
    for rows in items.chunks(BLOCK) {
        for cols in items[rows[0]..].chunks(BLOCK) {
            take(rows, cols, proxies.blocks(rows, cols)?);
        }
    }
    Ok(())
}

/// Seconds that the pass over all pairs of n items takes, by the time of one block of it; 0 where there is no proxy.
///
/// # Errors
/// A proxy that fails or is not finite.
pub fn scan_seconds(n: usize, proxies: &[Arc<dyn Oracle>]) -> Result<f64, NeighborError> {
    if proxies.is_empty() || n == 0 {
        return Ok(0.0);
    }
    let first: Vec<usize> = (0..n.min(BLOCK)).collect();
    // the first of all warms up what later ones find warm
    proxy_blocks(proxies, &first[..1], &first)?;
    let mut best = vec![Best::new(4); first.len()];
    let start = Instant::now();
    let blocks = proxy_blocks(proxies, &first, &first)?;
    offer(&mut best, &blocks[0], 0, 0);
    let side = n as f64 / first.len() as f64;
    Ok(start.elapsed().as_secs_f64() * side * (side + 1.0) / 2.0)
}

/// Proxies as a pass over all pairs reads them: of many items ([`OFTEN`]) the vectors of those that have some in single precision, in half the time. It
/// chooses candidates alone, whose scores are read as they are.
struct Scanned<'a> {
    proxies: &'a [Arc<dyn Oracle>],
    /// Vectors of each proxy that is read by them.
    vectors: Vec<Option<Array2<f32>>>,
}

impl<'a> Scanned<'a> {
    fn new(proxies: &'a [Arc<dyn Oracle>], is_large: bool) -> Self {
        let vectors = |proxy: &Arc<dyn Oracle>| {
            let vectors = proxy.vectors().filter(|_| is_large)?;
            let mut single = Array2::zeros(vectors.dim());
            single.zip_mut_with(&vectors, |single, &value| *single = value as f32);
            Some(single)
        };
        Self { proxies, vectors: proxies.iter().map(vectors).collect() }
    }

    /// A block of every proxy, of items that follow each other.
    fn blocks(&self, rows: &[usize], cols: &[usize]) -> Result<Vec<Array2<f64>>, NeighborError> {
        let of = |items: &[usize]| items[0]..items[0] + items.len();
        let mut blocks = Vec::with_capacity(self.proxies.len());
        for (number, (proxy, vectors)) in self.proxies.iter().zip(&self.vectors).enumerate() {
            blocks.push(match vectors {
                Some(vectors) => {
                    let (left, right) = (vectors.slice(s![of(rows), ..]), vectors.slice(s![of(cols), ..]));
                    linalg::single_product(left, right.t()).mapv(f64::from)
                }
                None => proxy_block(number, proxy, rows, cols)?,
            });
        }
        Ok(blocks)
    }
}

fn proxy_block(
    number: usize,
    proxy: &Arc<dyn Oracle>,
    rows: &[usize],
    cols: &[usize],
) -> Result<Array2<f64>, NeighborError> {
    let mut block = Array2::zeros((rows.len(), cols.len()));
    let asked: Result<(), OracleError> = ask_block(&**proxy, rows, cols, block.view_mut());
    asked.map(|()| block).map_err(|source| NeighborError::Proxy { role: PROXY, number: number + 1, source })
}

/// A block of every proxy.
pub(super) fn proxy_blocks(
    proxies: &[Arc<dyn Oracle>],
    rows: &[usize],
    cols: &[usize],
) -> Result<Vec<Array2<f64>>, NeighborError> {
    proxies.iter().enumerate().map(|(number, proxy)| proxy_block(number, proxy, rows, cols)).collect()
}

fn link_block(
    link: &HubLink,
    popularity: &[f64],
    blocks: &[Array2<f64>],
    rows: &[usize],
    cols: &[usize],
) -> Array2<f64> {
    let mut linked = Array2::zeros((rows.len(), cols.len()));
    linked.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(a, mut line)| {
        let mut proxies = vec![0.0; blocks.len()];
        let one = popularity[rows[a]];
        for (b, value) in line.iter_mut().enumerate() {
            proxies.iter_mut().zip(blocks).for_each(|(proxy, block)| *proxy = block[[a, b]]);
            *value = link.at((one, popularity[cols[b]]), &proxies);
        }
    });
    linked
}

/// Offers a block; of two lists without the pairs within one of them, which become NaN.
fn offer_pairs(best: &mut [Best], block: &mut Array2<f64>, universe: Universe, rows: &[usize], cols: &[usize]) {
    if let Some(left) = universe.left {
        let within = |items: &[usize]| left.saturating_sub(items[0]).min(items.len());
        block.slice_mut(s![..within(rows), ..within(cols)]).fill(UNKNOWN);
        block.slice_mut(s![within(rows).., within(cols)..]).fill(UNKNOWN);
    }
    offer(best, block, rows[0], cols[0]);
}

/// A block of the upper triangle serves its rows and, unless it is on the diagonal, mirrored its columns.
pub(super) fn offer(best: &mut [Best], block: &Array2<f64>, first_row: usize, first_col: usize) {
    let (height, breadth) = block.dim();
    best[first_row..first_row + height]
        .par_iter_mut()
        .zip(block.axis_iter(Axis(0)).into_par_iter())
        .enumerate()
        .for_each(|(a, (best, scores))| {
            for (b, &score) in scores.iter().enumerate() {
                if score >= best.threshold && first_col + b != first_row + a {
                    best.offer(first_col + b, score);
                }
            }
        });
    if first_row == first_col {
        return;
    }
    let columns = block.axis_chunks_iter(Axis(1), COLUMNS_PER_TASK).into_par_iter();
    let best = &mut best[first_col..first_col + breadth];
    best.par_chunks_mut(COLUMNS_PER_TASK).zip(columns).for_each(|(best, columns)| {
        for (a, scores) in columns.axis_iter(Axis(0)).enumerate() {
            for (best, &score) in best.iter_mut().zip(scores) {
                best.offer(first_row + a, score);
            }
        }
    });
}
