//! Equal items as one item: pairs of copies are asked for once, as pairs of the first of them.
//!
//! A pair of two equal items is the self-similarity of their first. Sits above the store, so that what is kept is numbered as without it;
//! [`EntrySet::among`](crate::entries::EntrySet::among) counts what it asks for.

use std::collections::HashMap;
use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2};

use super::{
    Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, ask_block, ask_pairs, check_indices, check_pairs,
};
use crate::contents::Contents;

/// An oracle that is asked for no pair of items and again for its copies.
#[derive(Debug, Clone)]
pub struct DistinctItems<O> {
    inner: O,
    contents: Arc<Contents>,
}

/// The oracle behind [`DistinctItems`] where some items are known to be equal, and itself where not.
pub fn among_distinct<O: Oracle + 'static>(inner: O, contents: Option<&Arc<Contents>>) -> Arc<dyn Oracle> {
    match contents.filter(|contents| contents.has_copies()) {
        Some(contents) => Arc::new(DistinctItems::new(inner, Arc::clone(contents))),
        None => Arc::new(inner),
    }
}

impl<O: Oracle> DistinctItems<O> {
    /// Over an oracle whose items have these contents.
    pub fn new(inner: O, contents: Arc<Contents>) -> Self {
        assert_eq!(inner.len(), contents.len(), "items of an oracle and of their contents");
        Self { inner, contents }
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// The first of equal items for each of some, once each, and where each item's is.
    fn firsts(&self, items: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut firsts, mut place_of) = (Vec::new(), HashMap::with_capacity(items.len()));
        let place = |&item: &usize| {
            let first = self.contents.first(item);
            *place_of.entry(first).or_insert_with(|| {
                firsts.push(first);
                firsts.len() - 1
            })
        };
        let places = items.iter().map(place).collect();
        (firsts, places)
    }
}

impl<O: Oracle> Oracle for DistinctItems<O> {
    fn shape(&self) -> OracleShape {
        OracleShape { is_checked: true, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        let is_symmetric = self.symmetry() == Symmetry::Symmetric;
        let (mut asked, mut place_of) = (Vec::new(), HashMap::with_capacity(pairs.len()));
        let place = |&(i, j): &Pair| {
            let pair = (self.contents.first(i), self.contents.first(j));
            let key = if is_symmetric && pair.0 < pair.1 { (pair.1, pair.0) } else { pair };
            *place_of.entry(key).or_insert_with(|| {
                asked.push(pair);
                asked.len() - 1
            })
        };
        let places: Vec<usize> = pairs.iter().map(place).collect();
        let mut scores = vec![0.0; asked.len()];
        ask_pairs(&self.inner, &asked, &mut scores)?;
        out.iter_mut().zip(places).for_each(|(score, place)| *score = scores[place]);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let ((asked_rows, row_of), (asked_cols, col_of)) = (self.firsts(rows), self.firsts(cols));
        if asked_rows == rows && asked_cols == cols {
            return ask_block(&self.inner, rows, cols, out);
        }
        let mut scores = Array2::zeros((asked_rows.len(), asked_cols.len()));
        ask_block(&self.inner, &asked_rows, &asked_cols, scores.view_mut())?;
        out.indexed_iter_mut().for_each(|((a, b), score)| *score = scores[[row_of[a], col_of[b]]]);
        Ok(())
    }
}
