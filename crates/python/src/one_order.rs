//! One order of each pair first, for a search by an asymmetric score whose mean of both orders is wanted.
//!
//! Scores of one order are kept under the identity of the score as it was given, and those of both orders under that of the mean, where they were asked for
//! together. Both kinds spend from one budget. A pair of which one order is kept takes the other alone to have its mean.

use std::sync::Arc;

use landmark_core::oracle::{
    Coin, Identity, Metered, OneOrder, Oracle as CoreOracle, OracleError, OracleShape, Pair, ask_block, ask_pairs,
};
use landmark_store::{ItemList, OracleLabel, StoreError, Stored, TileStore};
use ndarray::ArrayViewMut2;

/// A score that is counted and limited.
pub(crate) type Meter = Arc<Metered<Arc<dyn CoreOracle>>>;

/// Scores as they are kept.
type Kept = Arc<Stored<Meter>>;

/// The score of one order, and what lists of its items share.
#[derive(Clone)]
pub(crate) struct GivenScore {
    pub(crate) oracle: Arc<dyn CoreOracle>,
    pub(crate) item_list: Option<ItemList>,
}

/// Scores of single orders, next to their means.
#[derive(Clone)]
pub(crate) struct GivenOrders {
    meter: Meter,
    given: Kept,
    means: Kept,
}

impl GivenOrders {
    /// Scores in one order, which spend from the budget of `mean`. `shares`: what other lists of the items keep is taken over, and written unless `dry`.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub(crate) fn open(
        score: GivenScore,
        mean: &Meter,
        means: Kept,
        (store, label): (&TileStore, OracleLabel),
        (shares, dry): (bool, bool),
    ) -> Result<Self, StoreError> {
        let meter = Arc::new(Metered::sharing(score.oracle, mean.as_ref()));
        let given = Arc::new(store.attach(Arc::clone(&meter), label)?);
        if let Some(list) = score.item_list.filter(|_| shares) {
            given.carry_over(&list, !dry)?;
        }
        Ok(Self { meter, given, means })
    }

    /// What another value of the same scores keeps is kept here, too.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub(crate) fn copy_from(&self, other: &Self) -> Result<(), StoreError> {
        for (to, from) in [(&self.given, &other.given), (&self.means, &other.means)] {
            let pairs = from.pairs();
            let known: Vec<f64> = from.known(&pairs).into_iter().map(|score| score.unwrap_or(f64::NAN)).collect();
            to.put(&pairs, &known)?;
        }
        Ok(())
    }

    /// Scores in the order in which they are asked for.
    pub(crate) fn given(&self) -> &Kept {
        &self.given
    }

    /// Calls of single orders so far.
    pub(crate) fn spent(&self) -> u64 {
        self.meter.spent().evaluations
    }

    /// False while a thread is at work on them.
    pub(crate) fn is_free(&self) -> bool {
        self.meter.is_free()
    }

    /// Scores of the order that a coin draws.
    pub(crate) fn one(&self, coin: Coin) -> OneOrder<Kept> {
        OneOrder::new(Arc::clone(&self.given), coin)
    }

    /// True if the mean of a pair is kept, and the order that the coin draws is not.
    pub(crate) fn has_mean_alone(&self, (i, j): Pair, coin: Coin) -> bool {
        let (first, second) = coin.order(i, j);
        !self.given.has(first, second) && self.means.has(i, j)
    }

    /// Calls that the mean of a pair takes, if it is not kept.
    pub(crate) fn calls(&self, i: usize, j: usize) -> u64 {
        let orders = if i == j { 1 } else { self.means.shape().evaluations_per_pair };
        let kept = u64::from(self.given.has(i, j)) + u64::from(i != j && self.given.has(j, i));
        orders.saturating_sub(kept)
    }

    /// True if one order of a pair is kept, or both, and not their mean.
    fn is_begun(&self, (i, j): Pair) -> bool {
        !self.means.has(i, j) && (self.given.has(i, j) || self.given.has(j, i))
    }

    /// Means of begun pairs: the orders that are missing are asked for, pair after pair.
    fn complete(&self, begun: &[Pair]) -> Result<Vec<f64>, OracleError> {
        let missing: Vec<Pair> =
            begun.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).filter(|&(i, j)| !self.given.has(i, j)).collect();
        let mut scores = vec![0.0; missing.len()];
        ask_pairs(self.given.as_ref(), &missing, &mut scores)?;
        let turned: Vec<Pair> = begun.iter().map(|&(i, j)| (j, i)).collect();
        let of = |pairs: &[Pair]| {
            let mut scores = vec![0.0; pairs.len()];
            // all of them are kept
            ask_pairs(self.given.as_ref(), pairs, &mut scores).map(|()| scores)
        };
        Ok(of(begun)?.into_iter().zip(of(&turned)?).map(|(one, other)| 0.5 * one + 0.5 * other).collect())
    }

    /// Reads what others have published of single orders since the last look: it decides what is asked for.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub(crate) fn refresh(&self) -> Result<(), OracleError> {
        let failed = |error: StoreError| OracleError::Failed { what: "the store".to_owned(), source: Box::new(error) };
        self.given.refresh().map_err(failed).map(drop)
    }

    /// Writes what waits to be written.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.given.flush()
    }

    /// Makes this usable in a forked child.
    pub(crate) fn after_fork(&self) -> Result<(), StoreError> {
        self.given.after_fork()
    }
}

/// The means: from single orders where one is kept.
impl CoreOracle for GivenOrders {
    fn shape(&self) -> OracleShape {
        self.means.shape()
    }

    fn identity(&self) -> Identity {
        self.means.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut begun: Vec<Pair> = Vec::new();
        let mut others: Vec<Pair> = Vec::new();
        let is_begun: Vec<bool> = pairs.iter().map(|&pair| self.is_begun(pair)).collect();
        for (&pair, &is_begun) in pairs.iter().zip(&is_begun) {
            if is_begun { begun.push(pair) } else { others.push(pair) }
        }
        if begun.is_empty() {
            return ask_pairs(self.means.as_ref(), pairs, out);
        }
        let mut rest = vec![0.0; others.len()];
        ask_pairs(self.means.as_ref(), &others, &mut rest)?;
        let (mut completed, mut rest) = (self.complete(&begun)?.into_iter(), rest.into_iter());
        for (score, is_begun) in out.iter_mut().zip(is_begun) {
            *score = if is_begun { completed.next() } else { rest.next() }.expect("one score a pair");
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        let pairs = || rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j)));
        if self.given.entries() == 0 || !pairs().any(|pair| self.is_begun(pair)) {
            return ask_block(self.means.as_ref(), rows, cols, out);
        }
        let pairs: Vec<Pair> = pairs().collect();
        let mut scores = vec![0.0; pairs.len()];
        self.evaluate(&pairs, &mut scores)?;
        out.iter_mut().zip(scores).for_each(|(out, score)| *out = score);
        Ok(())
    }
}
