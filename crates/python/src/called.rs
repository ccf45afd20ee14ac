//! A score in Python as the mathematics asks it: a function of pairs, or of blocks.
//!
//! ```text
//! pairs    (i₁ … i_m), (j₁ … j_m)  →  m scores
//! blocks   (i₁ … i_r), (j₁ … j_c)  →  r × c scores, row by row: as scikit-learn's rbf_kernel(X, Y)
//! ```
//! A block is asked for in parts of about a quarter of a second, so that Ctrl-C is heard and little is lost; single pairs in the fewest blocks that hold
//! little else ([`blocks`]). Cells that come along, the mirrored ones of a square among them, are no calls: nobody asked for them, and they are dropped.
//!
//! Cost: some 20 µs a request, and 2 ns a cell of a block.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use landmark_core::entries::PairHasher;
use landmark_core::oracle::{
    DistinctPairs, Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_indices, check_pairs,
    evaluate_block,
};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use crate::reading::number;
use crate::session::ScoreQueue;

/// Cells of the first block: few, for a score may take a minute.
const FIRST: usize = 64;
/// Cells of the largest block: 2 MB, which stay in cache while a function goes over them several times.
const LARGEST: usize = 1 << 18;
/// Growth from one block to the next, at most: a function that costs little is asked for the largest block after three.
const GROWTH: usize = 16;
/// Time that a block should take.
const TARGET: Duration = Duration::from_millis(250);
/// A line of single pairs joins a block where at least 2 of 3 cells that it adds are wanted.
const WANTED: (usize, usize) = (2, 3);

/// Form of a score in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A number for each pair of two lists of one length.
    Pairs,
    /// A number for each item of one list with each of another.
    Blocks,
}

/// A score in Python: a function of two arrays of items, served through the queue.
pub(crate) struct Called {
    pub(crate) queue: Arc<ScoreQueue>,
    pub(crate) len: usize,
    pub(crate) symmetry: Symmetry,
    pub(crate) diagonal: Option<f64>,
    pub(crate) identity: Identity,
    pub(crate) at_once: usize,
    pub(crate) form: Form,
    pub(crate) size: BlockSize,
    /// Room of the last block, for the next.
    pub(crate) room: Mutex<Vec<f64>>,
}

/// Cells of the next block.
pub(crate) struct BlockSize(AtomicUsize);

impl Default for BlockSize {
    fn default() -> Self {
        Self(AtomicUsize::new(FIRST))
    }
}

impl BlockSize {
    fn cells(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes note of a block and adapts.
    fn adapt(&self, cells: usize, taken: Duration) {
        let before = self.cells();
        let fits = cells as f64 * TARGET.as_secs_f64() / taken.as_secs_f64().max(1e-9);
        let fits = if fits >= LARGEST as f64 { LARGEST } else { fits as usize };
        // a small block shows little of how a large one scales, so it may not raise the size
        let most = if cells < before / 2 { before } else { (GROWTH * before).min(LARGEST) };
        self.0.store(fits.clamp((before / GROWTH).max(1), most), Ordering::Relaxed);
    }
}

impl Called {
    /// The room of the last block, unless another thread is taking it.
    fn room(&self) -> Option<MutexGuard<'_, Vec<f64>>> {
        self.room.try_lock().ok()
    }

    fn ask_pairs(&self, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let side = |of: fn(&Pair) -> usize| pairs.iter().map(|pair| number(of(pair))).collect();
        self.queue.ask(side(|pair| pair.0), side(|pair| pair.1), pairs.len(), Vec::new())
    }

    /// All of rows × columns, in parts.
    fn ask_block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        let items = |of: &[usize]| of.iter().copied().map(number).collect::<Vec<i64>>();
        let (mut above, mut room) = (0, self.room().map(|mut room| std::mem::take(&mut *room)).unwrap_or_default());
        while above < rows.len() {
            let cells = self.size.cells();
            let left = rows.len() - above;
            // parts of one height: a last one of few rows would cost a call like any other
            let parts = (left * cols.len()).div_ceil(cells + cells / 8);
            let rows = &rows[above..above + left.div_ceil(parts.max(1))];
            let mut part = out.slice_axis_mut(Axis(0), (above..above + rows.len()).into());
            let width = cells.clamp(1, cols.len());
            for (cols, mut part) in cols.chunks(width).zip(part.axis_chunks_iter_mut(Axis(1), width)) {
                let start = Instant::now();
                let count = rows.len() * cols.len();
                room = self.queue.ask(items(rows), items(cols), count, room)?;
                self.size.adapt(count, start.elapsed());
                let scores = ArrayView2::from_shape((rows.len(), cols.len()), &room);
                part.assign(&scores.map_err(|error| failed(rows, cols, error))?);
            }
            above += rows.len();
        }
        if let Some(mut last) = self.room() {
            *last = room;
        }
        Ok(())
    }

    fn ask_in_blocks(&self, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let mut out = vec![f64::NAN; pairs.len()];
        for Block { rows, cols, cells } in blocks(pairs) {
            let mut scores = Array2::zeros((rows.len(), cols.len()));
            self.ask_block(&rows, &cols, scores.view_mut())?;
            cells.iter().for_each(|&(pair, cell)| out[pair] = scores[cell]);
        }
        Ok(out)
    }
}

fn failed(rows: &[usize], cols: &[usize], error: ndarray::ShapeError) -> OracleError {
    let what = format!("the block of {} × {} from ({}, {})", rows.len(), cols.len(), rows[0], cols[0]);
    OracleError::Failed { what, source: Box::new(error) }
}

impl Oracle for Called {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.diagonal,
            calls_at_once: self.at_once,
            ..OracleShape::new(self.len, self.symmetry)
        }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len, pairs, out.len())?;
        let open: Vec<Pair> = match self.diagonal {
            Some(_) => pairs.iter().copied().filter(|(i, j)| i != j).collect(),
            None => pairs.to_vec(),
        };
        let scores = match self.form {
            _ if open.is_empty() => Vec::new(),
            Form::Pairs => self.ask_pairs(&open)?,
            Form::Blocks => self.ask_in_blocks(&open)?,
        };
        let mut scores = scores.into_iter();
        for (&(i, j), out) in pairs.iter().zip(out) {
            *out = match self.diagonal {
                Some(known) if i == j => known,
                _ => scores.next().unwrap_or(f64::NAN),
            };
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        if self.form == Form::Pairs {
            return evaluate_block(self, rows, cols, out);
        }
        check_indices(self.len, rows, cols)?;
        let distinct = DistinctPairs::new(self.shape(), rows, cols);
        if distinct.count() != (0, 0) {
            self.ask_block(rows, cols, out.view_mut())?;
        }
        // a function of blocks may round f(i, j) and f(j, i) differently
        distinct.complete(out);
        Ok(())
    }
}

/// An item, and its pairs: the other item of each, and the place of the pair in its list.
type Line = (usize, Vec<(usize, usize)>);

/// Places by item.
type Places = HashMap<usize, usize, BuildHasherDefault<PairHasher>>;

/// A block, and which pair (by its place in the list) is which of its cells.
struct Block {
    rows: Vec<usize>,
    cols: Vec<usize>,
    cells: Vec<(usize, (usize, usize))>,
}

/// Blocks that hold each pair of a list in one cell, and at most half as many cells again as there are pairs.
///
/// Pairs are put in lines by their columns, or by their rows where these are fewer; a line joins the block before it where
/// [`WANTED`] allows it. Columns that lack the same items become one block, a triangle a few.
fn blocks(pairs: &[Pair]) -> Vec<Block> {
    let (by_row, by_col) = (lines(pairs, |&(i, j)| (i, j)), lines(pairs, |&(i, j)| (j, i)));
    let is_turned = by_row.len() < by_col.len();
    let mut found: Vec<Block> = Vec::new();
    let mut place = Places::default();
    for (item, others) in if is_turned { by_row } else { by_col } {
        let new = others.iter().filter(|(other, _)| !place.contains_key(other)).count();
        let joins = found.last().is_some_and(|block: &Block| {
            let added = place.len() + new * (block.cols.len() + 1);
            WANTED.1 * others.len() >= WANTED.0 * added
        });
        if !joins {
            place.clear();
            found.push(Block { rows: Vec::new(), cols: Vec::new(), cells: Vec::new() });
        }
        let Some(block) = found.last_mut() else { continue };
        block.cols.push(item);
        for (other, pair) in others {
            let row = *place.entry(other).or_insert_with(|| {
                block.rows.push(other);
                block.rows.len() - 1
            });
            block.cells.push((pair, (row, block.cols.len() - 1)));
        }
    }
    if is_turned {
        for block in &mut found {
            std::mem::swap(&mut block.rows, &mut block.cols);
            block.cells.iter_mut().for_each(|(_, (row, col))| std::mem::swap(row, col));
        }
    }
    found
}

/// Pairs by one of their items, in the order in which these come first.
fn lines(pairs: &[Pair], sides: fn(&Pair) -> Pair) -> Vec<Line> {
    let (mut lines, mut line_of): (Vec<Line>, Places) = Default::default();
    for (place, pair) in pairs.iter().enumerate() {
        let (item, other) = sides(pair);
        let line = *line_of.entry(item).or_insert_with(|| {
            lines.push((item, Vec::new()));
            lines.len() - 1
        });
        lines[line].1.push((other, place));
    }
    lines
}
