//! Blocks of rows sketched side by side, then merged in a tree.
//!
//! The blocks are cut by number, each is sketched by one task in its own order, and neighbors are merged level by level: the result
//! depends on the number of blocks and not on that of threads. Bounds survive merging, so more blocks cost no accuracy in the bound.
//! [`MergeTree`] is the same tree for sketches that come one after another, from a disk or another machine.

use ndarray::{ArrayView2, s};
use rayon::prelude::*;

use super::{FrequentDirections, FrequentDirectionsParams, SketchError};
use landmark_core::oracle::Identity;

/// Sketches blocks `0..blocks` in parallel, `fill` appending the rows of one, and merges them. Memory: a sketch and a buffer a thread, and
/// a sketch for each block that waits.
///
/// # Errors
/// The first error of `fill` by block, or as [`FrequentDirectionsParams::check`]; `blocks` = 0.
pub fn sketch_blocks<E: From<SketchError> + Send>(
    params: &FrequentDirectionsParams,
    columns: usize,
    features: Identity,
    blocks: usize,
    fill: impl Fn(usize, &mut FrequentDirections) -> Result<(), E> + Sync,
) -> Result<FrequentDirections, E> {
    let of_block = |block| {
        let mut sketch = params.check(columns, features)?;
        fill(block, &mut sketch)?;
        Ok(sketch)
    };
    let sketches: Vec<Result<FrequentDirections, E>> = (0..blocks).into_par_iter().map(of_block).collect();
    let sketches = sketches.into_iter().collect::<Result<Vec<_>, E>>()?;
    Ok(merge_tree(sketches)?)
}

/// The rows of X (n × d) in `batches` blocks of nearly equal size, in order: the "batch" of the paper's table 3.
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
        return Err(SketchError::Parameter { parameter: "batches", value: batches.to_string(), wanted });
    }
    sketch_blocks(params, x.ncols(), features, batches, |block, sketch| {
        sketch.append_block(x.slice(s![block * n / batches..(block + 1) * n / batches, ..]))
    })
}

/// Merges neighbors until one sketch is left, and finishes it.
///
/// # Errors
/// No sketch, or sketches that do not belong together.
pub fn merge_tree(mut sketches: Vec<FrequentDirections>) -> Result<FrequentDirections, SketchError> {
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
    let nothing = SketchError::Parameter { parameter: "blocks", value: "0".into(), wanted: "at least 1".into() };
    let mut sketch = sketches.pop().ok_or(nothing)?;
    sketch.finish()?;
    Ok(sketch)
}

/// [`merge_tree`] of sketches that come one by one, in order: the same tree and the same bits, and never more than log₂ of their number in memory.
///
/// ```
/// use landmark_features::sketch::{FrequentDirectionsParams, Identity, MergeTree};
/// let params = FrequentDirectionsParams { rows: 2, ..FrequentDirectionsParams::default() };
/// let mut tree = MergeTree::default();
/// for block in 0..5 {
///     let mut sketch = params.check(3, Identity::of(&[]))?;
///     sketch.append(&[1.0, f64::from(block), 0.0])?;
///     tree.push(sketch)?;
/// }
/// assert_eq!(tree.into_merged()?.unwrap().rows_seen(), 5);
/// # Ok::<(), landmark_features::sketch::SketchError>(())
/// ```
#[derive(Debug, Default)]
pub struct MergeTree {
    /// Whole subtrees from left to right with their heights, which descend.
    subtrees: Vec<(u32, FrequentDirections)>,
}

impl MergeTree {
    /// The next sketch, merged with its neighbors as far as whole subtrees come together.
    ///
    /// # Errors
    /// Sketches that do not belong together; [`SketchError::Linalg`].
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
