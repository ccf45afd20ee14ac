//! Blocks of rows sketched side by side, then merged in a tree.
//!
//! The blocks are cut by number, each is sketched by one task in its own order, and neighbors are merged level by level: the result
//! depends on the number of blocks and not on that of threads. Bounds survive merging, so more blocks cost no accuracy in the bound.
//! [`MergeTree`] is the same tree for sketches that come one after another, from a disk or another machine.

use ndarray::{ArrayView2, s};
use rayon::prelude::*;

use super::{FrequentDirections, FrequentDirectionsParams, SketchError};
use landmark_core::oracle::Identity;
use landmark_core::parameter::BadParameter;

/// The rows of X (n × d) in `batches` blocks of nearly equal size, in order and in parallel, merged: the "batch" of the paper's table 3. Memory: a
/// sketch and a buffer a thread, and a sketch for each block that waits.
///
/// # Errors
/// `batches` = 0 or above n; a NaN or ∞ (its row counted within its batch), or as [`FrequentDirectionsParams::check`].
pub fn sketch_batches(
    params: &FrequentDirectionsParams,
    features: Identity,
    x: ArrayView2<'_, f64>,
    batches: usize,
) -> Result<FrequentDirections, SketchError> {
    let n = x.nrows();
    if batches == 0 || batches > n {
        let wanted = format!("between 1 and the {n} rows");
        return Err(BadParameter::new("batches", batches, &wanted).into());
    }
    let of_batch = |batch| {
        let mut sketch = params.check(x.ncols(), features)?;
        sketch.append_block(x.slice(s![batch * n / batches..(batch + 1) * n / batches, ..]))?;
        Ok(sketch)
    };
    let sketches: Vec<Result<FrequentDirections, SketchError>> = (0..batches).into_par_iter().map(of_batch).collect();
    merge_tree(sketches.into_iter().collect::<Result<_, _>>()?)
}

/// Merges neighbors until one sketch is left, and finishes it.
///
/// # Errors
/// No sketch, or sketches that do not belong together.
pub(super) fn merge_tree(mut sketches: Vec<FrequentDirections>) -> Result<FrequentDirections, SketchError> {
    while sketches.len() > 1 {
        let pairs: Vec<Result<FrequentDirections, SketchError>> = sketches
            .par_chunks_mut(2)
            .map(|pair| {
                let [left, rest @ ..] = pair else { unreachable!("a chunk has a sketch") };
                for right in rest {
                    left.merge(right)?;
                }
                Ok(left.clone())
            })
            .collect();
        sketches = pairs.into_iter().collect::<Result<_, _>>()?;
    }
    let mut sketch = sketches.pop().ok_or_else(|| BadParameter::new("blocks", 0, "at least 1"))?;
    sketch.finish()?;
    Ok(sketch)
}

/// [`merge_tree`] of sketches that come one by one, in order: the same tree and the same bits, and never more than log₂ of their number in memory.
#[derive(Debug, Default)]
pub struct MergeTree {
    /// Whole subtrees from left to right with their heights, which descend.
    subtrees: Vec<(u32, FrequentDirections)>,
}

impl MergeTree {
    /// The next sketch, merged with its neighbors as far as whole subtrees come together.
    pub fn push(&mut self, sketch: FrequentDirections) -> Result<(), SketchError> {
        let mut subtree = (0, sketch);
        while let Some((_, mut left)) = self.subtrees.pop_if(|(height, _)| *height == subtree.0) {
            left.merge(&subtree.1)?;
            subtree = (subtree.0 + 1, left);
        }
        self.subtrees.push(subtree);
        Ok(())
    }

    /// All of them merged, or `None` of no sketch. It is not finished: more rows may follow.
    pub fn into_merged(mut self) -> Result<Option<FrequentDirections>, SketchError> {
        let Some((_, mut right)) = self.subtrees.pop() else { return Ok(None) };
        while let Some((_, mut left)) = self.subtrees.pop() {
            left.merge(&right)?;
            right = left;
        }
        Ok(Some(right))
    }
}
