//! Both orders of an asymmetric score as one symmetric score.
//!
//! `K[i, j] = (f(i, j) + f(j, i)) / 2` (or the larger, or the smaller), as paper 000/001 does for cross-encoders and
//! coreference. Each off-diagonal pair costs two evaluations, the diagonal one.

use ndarray::{ArrayViewMut2, Axis, Zip};
use serde::{Deserialize, Serialize};

use super::fallible::gathered;
use super::{
    Attempt, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, ask_block, ask_pairs, block_of,
    check_indices,
};

/// Cells of the reversed order held at a time: 8 MiB.
const CHUNK: usize = 1 << 20;

/// Rule by which the two orders become one score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetrization {
    /// `(f(i, j) + f(j, i)) / 2`
    #[default]
    Mean,
    Max,
    Min,
}

impl Symmetrization {
    pub(super) fn combine(self, forward: f64, backward: f64) -> f64 {
        match self {
            Self::Mean => 0.5 * forward + 0.5 * backward,
            Self::Max => forward.max(backward),
            Self::Min => forward.min(backward),
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// A symmetric oracle over an asymmetric one. A symmetric inner oracle passes through untouched, at its own price.
#[derive(Debug, Clone)]
pub struct Symmetrized<O> {
    inner: O,
    mode: Symmetrization,
}

impl<O: Oracle> Symmetrized<O> {
    pub fn new(inner: O, mode: Symmetrization) -> Self {
        Self { inner, mode }
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    fn is_symmetric_already(&self) -> bool {
        self.inner.symmetry() == Symmetry::Symmetric
    }
}

impl<O: Oracle> Oracle for Symmetrized<O> {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        if shape.symmetry == Symmetry::Symmetric {
            return shape;
        }
        OracleShape {
            symmetry: Symmetry::Symmetric,
            evaluations_per_pair: 2 * shape.evaluations_per_pair,
            is_checked: true,
            ..shape
        }
    }

    fn identity(&self) -> Identity {
        self.identity_over(self.inner.identity())
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        self.inner.fallible().map(|_| self as &dyn Fallible)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        if self.is_symmetric_already() {
            return self.inner.evaluate(pairs, out);
        }
        let (both, _) = both_orders(pairs);
        let mut scores = vec![0.0; both.len()];
        ask_pairs(&self.inner, &both, &mut scores)?;
        self.combine_pairs(pairs, scores, out);
        Ok(())
    }

    /// Three kinds of inner blocks, each ordered pair in exactly one. With X the items on both sides: rows × cols holds
    /// both orders of X × X; (cols × rows∖X) and (cols∖X × X) hold the reversed order of the rest.
    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        if self.is_symmetric_already() {
            return self.inner.block(rows, cols, out);
        }
        check_indices(self.len(), rows, cols)?;
        let [(distinct_rows, row_places), (distinct_cols, col_places)] = [distinct(rows), distinct(cols)];
        if distinct_rows.len() < rows.len() || distinct_cols.len() < cols.len() {
            let scores = block_of(self, &distinct_rows, &distinct_cols)?;
            out.indexed_iter_mut().for_each(|((a, b), cell)| *cell = scores[[row_places[a], col_places[b]]]);
            return Ok(());
        }
        ask_block(&self.inner, rows, cols, out.view_mut())?;
        let sides = Sides::new(rows, cols);
        for own in sides.own_rows.chunks((CHUNK / cols.len().max(1)).max(1)) {
            let all_cols: Vec<usize> = (0..cols.len()).collect();
            self.combine_reversed(rows, cols, own, &all_cols, &mut out)?;
        }
        for own in sides.own_cols.chunks((CHUNK / sides.shared.len().max(1)).max(1)) {
            let shared_rows: Vec<usize> = sides.shared.iter().map(|&(a, _)| a).collect();
            self.combine_reversed(rows, cols, &shared_rows, own, &mut out)?;
        }
        for (k, &(a, b)) in sides.shared.iter().enumerate() {
            for &(other_a, other_b) in &sides.shared[..k] {
                let both = self.mode.combine(out[[a, other_b]], out[[other_a, b]]);
                out[[a, other_b]] = both;
                out[[other_a, b]] = both;
            }
        }
        Ok(())
    }
}

impl<O: Oracle> Fallible for Symmetrized<O> {
    fn identity_of_scores(&self) -> Identity {
        let inner = self.inner.fallible().map_or_else(|| self.inner.identity(), Fallible::identity_of_scores);
        self.identity_over(inner)
    }

    fn stand_in(&self) -> Option<f64> {
        self.inner.fallible()?.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        let Some(inner) = self.inner.fallible() else {
            return Attempt { failed: Vec::new(), error: self.evaluate(pairs, out).err() };
        };
        if self.is_symmetric_already() {
            return inner.attempt(pairs, out);
        }
        let (both, places) = both_orders(pairs);
        let mut scores = vec![f64::NAN; both.len()];
        let attempt = inner.attempt(&both, &mut scores);
        self.combine_pairs(pairs, scores, out);
        gathered(attempt, |place| places[place])
    }
}

/// Both orders of each pair, one after the other, and the place of the pair that each is of.
fn both_orders(pairs: &[Pair]) -> (Vec<Pair>, Vec<usize>) {
    let (mut both, mut places) = (Vec::with_capacity(2 * pairs.len()), Vec::with_capacity(2 * pairs.len()));
    for (place, &(i, j)) in pairs.iter().enumerate() {
        both.push((i, j));
        places.push(place);
        if i != j {
            both.push((j, i));
            places.push(place);
        }
    }
    (both, places)
}

impl<O: Oracle> Symmetrized<O> {
    fn identity_over(&self, inner: Identity) -> Identity {
        if self.is_symmetric_already() {
            return inner;
        }
        let mode = self.mode.id();
        Identity::of(&[("kind", b"symmetrized"), ("mode", mode.as_bytes()), ("inner", inner.as_bytes())])
    }

    /// The scores of pairs from those of both orders; NaN where one of them is missing.
    fn combine_pairs(&self, pairs: &[Pair], both: Vec<f64>, out: &mut [f64]) {
        let mut scores = both.into_iter();
        for (&(i, j), score) in pairs.iter().zip(out) {
            let forward = scores.next().unwrap_or(f64::NAN);
            *score = match i == j {
                true => forward,
                false => match scores.next().unwrap_or(f64::NAN) {
                    // the larger of a number and NaN would be the number
                    backward if forward.is_nan() || backward.is_nan() => f64::NAN,
                    backward => self.mode.combine(forward, backward),
                },
            };
        }
    }

    /// Evaluates `f(cols[b], rows[a])` for the listed positions and combines it with the forward order in `out`.
    fn combine_reversed(
        &self,
        rows: &[usize],
        cols: &[usize],
        row_places: &[usize],
        col_places: &[usize],
        out: &mut ArrayViewMut2<'_, f64>,
    ) -> Result<(), OracleError> {
        if row_places.is_empty() || col_places.is_empty() {
            return Ok(());
        }
        let row_items: Vec<usize> = row_places.iter().map(|&a| rows[a]).collect();
        let col_items: Vec<usize> = col_places.iter().map(|&b| cols[b]).collect();
        let reversed = block_of(&self.inner, &col_items, &row_items)?;
        for (&a, backward) in row_places.iter().zip(reversed.axis_iter(Axis(1))) {
            let mut row = out.row_mut(a);
            if col_places.len() == cols.len() {
                Zip::from(&mut row).and(&backward).for_each(|x, &y| *x = self.mode.combine(*x, y));
            } else {
                for (&b, &y) in col_places.iter().zip(backward) {
                    row[b] = self.mode.combine(row[b], y);
                }
            }
        }
        Ok(())
    }
}

/// Items without those that were listed before, and the place of each item among them.
fn distinct(items: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut distinct = Vec::with_capacity(items.len());
    let mut place_of = std::collections::HashMap::with_capacity(items.len());
    let place = |&item: &usize| {
        *place_of.entry(item).or_insert_with(|| {
            distinct.push(item);
            distinct.len() - 1
        })
    };
    let places = items.iter().map(place).collect();
    (distinct, places)
}

/// Positions of the items that only the rows, only the columns, or both list; each lists an item once.
struct Sides {
    own_rows: Vec<usize>,
    own_cols: Vec<usize>,
    shared: Vec<(usize, usize)>,
}

impl Sides {
    fn new(rows: &[usize], cols: &[usize]) -> Self {
        let mut place_of: std::collections::HashMap<usize, usize> =
            cols.iter().enumerate().map(|(b, &j)| (j, b)).collect();
        let (mut own_rows, mut shared) = (Vec::new(), Vec::new());
        for (a, i) in rows.iter().enumerate() {
            match place_of.remove(i) {
                Some(b) => shared.push((a, b)),
                None => own_rows.push(a),
            }
        }
        let own_cols = (0..cols.len()).filter(|&b| place_of.get(&cols[b]) == Some(&b)).collect();
        Self { own_rows, own_cols, shared }
    }
}
