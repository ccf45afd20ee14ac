//! One pass over half of all pairs: the best of every item by the proxies, the link, or a process.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use super::best::Best;
use super::lists::Lists;
use super::pool::UNKNOWN;
use super::{NeighborError, PROXY};
use crate::universe::Universe;
use landmark_core::hubness::{HubLink, Hubness};
use landmark_core::linalg;
use landmark_core::oracle::{Oracle, OracleError, ask_block};

/// Rows and columns of a block of the scan: 8 MB a proxy.
const BLOCK: usize = 1024;

/// Columns of a block that one task looks through.
const COLUMNS_PER_TASK: usize = 64;

/// The `width` best of every item by the first proxy, and as many by the link: one pass over half of all pairs.
pub(super) fn scan(
    universe: Universe,
    proxies: &[Arc<dyn Oracle>],
    link: Option<(&HubLink, &Hubness)>,
    width: usize,
    is_large: bool,
) -> Result<Lists, NeighborError> {
    let by_proxy = if proxies.is_empty() { 0 } else { width };
    let by_link = if link.is_some() { width } else { 0 };
    let n = universe.items;
    let mut best = [vec![Best::new(by_proxy); n], vec![Best::new(by_link); n]];
    for_blocks(n, proxies, is_large, |rows, cols, mut blocks| {
        if let Some(block) = blocks.first_mut() {
            offer_pairs(&mut best[0], block, universe, rows, cols);
        }
        if let Some((link, hubness)) = link {
            let mut linked = link_block(link, hubness.values(), &blocks, rows, cols);
            offer_pairs(&mut best[1], &mut linked, universe, rows, cols);
        }
    })?;
    let [first, second] = best;
    let mut lists = Lists::default();
    first.into_iter().zip(second).for_each(|(one, other)| lists.push(one.into_items().chain(other.into_items())));
    Ok(lists)
}

/// What a process adds to the link, at the pairs of some rows and columns.
type Block<'a> = &'a dyn Fn(Range<usize>, Range<usize>) -> Array2<f32>;

/// The `width` best of every item by the link and what a process adds to it, with its weight: one pass over half of all pairs.
pub(super) fn scan_estimates(
    universe: Universe,
    proxies: &[Arc<dyn Oracle>],
    (link, hubness): (&HubLink, &Hubness),
    (process, weight): (Block<'_>, f64),
    width: usize,
    is_large: bool,
) -> Result<Lists, NeighborError> {
    let n = universe.items;
    let mut best = vec![Best::new(width); n];
    for_blocks(n, proxies, is_large, |rows, cols, blocks| {
        let mut estimates = link_block(link, hubness.values(), &blocks, rows, cols);
        let process = process(rows[0]..rows[0] + rows.len(), cols[0]..cols[0] + cols.len());
        estimates.zip_mut_with(&process, |estimate, &process| *estimate += weight * f64::from(process));
        offer_pairs(&mut best, &mut estimates, universe, rows, cols);
    })?;
    let mut lists = Lists::default();
    best.into_iter().for_each(|best| lists.push(best.into_items()));
    Ok(lists)
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

fn link_block(link: &HubLink, hubness: &[f64], blocks: &[Array2<f64>], rows: &[usize], cols: &[usize]) -> Array2<f64> {
    let mut linked = Array2::zeros((rows.len(), cols.len()));
    linked.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(a, mut line)| {
        let mut proxies = vec![0.0; blocks.len()];
        let one = hubness[rows[a]];
        for (b, value) in line.iter_mut().enumerate() {
            proxies.iter_mut().zip(blocks).for_each(|(proxy, block)| *proxy = block[[a, b]]);
            *value = link.at((one, hubness[cols[b]]), &proxies);
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
