//! Kernels over examples that are made of items: a question and a comment, two sentences.
//!
//! Many examples may share an item (one question has ten comments); each distinct pair of items of a call is scored once.

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_finite, check_pairs};

use super::CombineError;

/// k(item of x, item of y): a kernel over items as one over examples.
pub struct OnItems {
    inner: Arc<dyn Oracle>,
    items: Vec<usize>,
}

impl OnItems {
    /// Example e is item `items[e]`; several examples may be one item.
    pub fn new(inner: Arc<dyn Oracle>, items: Vec<usize>) -> Result<Self, CombineError> {
        let len = inner.len();
        match items.iter().position(|&item| item >= len) {
            Some(example) => Err(CombineError::NoSuchItem { example, item: items[example], len }),
            None => Ok(Self { inner, items }),
        }
    }
}

/// Scores pairs of items, each distinct one once (in one order, where the order does not matter).
fn score_distinct(oracle: &dyn Oracle, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
    let symmetric = oracle.symmetry() == Symmetry::Symmetric;
    let mut place: HashMap<Pair, usize> = HashMap::with_capacity(pairs.len());
    let mut distinct: Vec<Pair> = Vec::new();
    let places: Vec<usize> = pairs
        .iter()
        .map(|&(i, j)| {
            let pair = if symmetric { (i.min(j), i.max(j)) } else { (i, j) };
            *place.entry(pair).or_insert_with(|| {
                distinct.push(pair);
                distinct.len() - 1
            })
        })
        .collect();
    let mut scores = vec![0.0; distinct.len()];
    oracle.evaluate(&distinct, &mut scores)?;
    check_finite(&distinct, &scores)?;
    out.iter_mut().zip(places).for_each(|(out, place)| *out = scores[place]);
    Ok(())
}

impl Oracle for OnItems {
    fn shape(&self) -> OracleShape {
        OracleShape { len: self.items.len(), ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        let items: Vec<u8> = self.items.iter().flat_map(|&item| (item as u64).to_le_bytes()).collect();
        Identity::of(&[("kind", b"on_items"), ("items", &items), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        let of_items: Vec<Pair> = pairs.iter().map(|&(x, y)| (self.items[x], self.items[y])).collect();
        score_distinct(&self.inner, &of_items, out)
    }
}
