//! One order of each pair first, for a search by an asymmetric score whose mean of both orders is wanted.
//!
//! Scores of one order are kept under the identity of the score as it was given, those of both where all others of the mean are. Both kinds spend from one
//! budget. A pair of which one order is kept takes the other alone to have its mean.

use std::sync::Arc;

use landmark_core::oracle::{
    Coin, Identity, MeanOfOrders, Metered, OneOrder, Oracle as CoreOracle, OracleError, OracleShape, Pair, ask_block,
    ask_pairs,
};
use landmark_store::{OracleLabel, StoreError, Stored, TileStore};
use ndarray::ArrayViewMut2;

/// A score that is counted and limited.
pub(crate) type Meter = Arc<Metered<Arc<dyn CoreOracle>>>;

type Given = Arc<Stored<Meter>>;

/// Scores of single orders, next to their means.
#[derive(Clone)]
pub(crate) struct GivenOrders {
    meter: Meter,
    given: Given,
    means: Given,
}

impl GivenOrders {
    /// Scores of `score` in one order, which spend from the budget of `mean`. Means of pairs whose orders are both there are kept from now on.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub(crate) fn open(
        score: Arc<dyn CoreOracle>,
        mean: &Meter,
        means: Given,
        store: &TileStore,
        label: OracleLabel,
    ) -> Result<Self, StoreError> {
        let meter = Arc::new(Metered::sharing(score, mean.as_ref()));
        let given = Arc::new(store.attach(Arc::clone(&meter), label)?);
        let orders = Self { meter, given, means };
        orders.keep_means()?;
        Ok(orders)
    }

    fn keep_means(&self) -> Result<(), StoreError> {
        let is_whole = |&(i, j): &Pair| i < j && self.given.has(j, i) && !self.means.has(i, j);
        let pairs: Vec<Pair> = self.given.pairs().into_iter().filter(is_whole).collect();
        let turned: Vec<Pair> = pairs.iter().map(|&(i, j)| (j, i)).collect();
        let scores = self.given.known(&pairs).into_iter().zip(self.given.known(&turned));
        // as `MeanOfOrders` has it
        let means: Vec<f64> = scores.map(|(one, other)| mean(one, other).unwrap_or(f64::NAN)).collect();
        self.means.put(&pairs, &means).map(drop)
    }

    /// What another value of the same scores keeps is kept here, too.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub(crate) fn take(&self, other: &Self) -> Result<(), StoreError> {
        take(&self.given, &other.given)?;
        self.keep_means()
    }

    /// Asks for the other order of the pairs of which one is kept.
    fn end(&self, pairs: impl Iterator<Item = Pair>) -> Result<(), OracleError> {
        if self.given.entries() == 0 {
            return Ok(());
        }
        let is_begun = |&(i, j): &Pair| !self.means.has(i, j) && (self.given.has(i, j) || self.given.has(j, i));
        let begun: Vec<Pair> = pairs.filter(is_begun).collect();
        if begun.is_empty() {
            return Ok(());
        }
        // any coin: both orders are wanted
        let coin = Coin::new(0);
        let mut means = vec![0.0; begun.len()];
        ask_pairs(&MeanOfOrders::new(self.one(coin), self.one(coin.turned())), &begun, &mut means)?;
        let failed = |error: StoreError| OracleError::Failed { what: "the store".to_owned(), source: Box::new(error) };
        self.means.put(&begun, &means).map_err(failed).map(drop)
    }

    /// Scores in the order in which they are asked for.
    pub(crate) fn given(&self) -> &Given {
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
    pub(crate) fn one(&self, coin: Coin) -> OneOrder<Given> {
        OneOrder::new(Arc::clone(&self.given), coin)
    }

    /// True if the mean of a pair is kept, and the order that the coin draws is not.
    pub(crate) fn has_mean_alone(&self, (i, j): Pair, coin: Coin) -> bool {
        let (first, second) = coin.order(i, j);
        !self.given.has(first, second) && self.means.has(i, j)
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

/// What `from` keeps is kept in `to`, too.
///
/// # Errors
/// A store that cannot be written.
pub(crate) fn take(to: &Given, from: &Given) -> Result<(), StoreError> {
    let pairs = from.pairs();
    let known = from.known(&pairs).into_iter().map(|score| score.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    to.put(&pairs, &known).map(drop)
}

fn mean(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(0.5 * one? + 0.5 * other?)
}

/// The means: from single orders if one is kept.
impl CoreOracle for GivenOrders {
    fn shape(&self) -> OracleShape {
        self.means.shape()
    }

    fn identity(&self) -> Identity {
        self.means.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.end(pairs.iter().copied())?;
        ask_pairs(self.means.as_ref(), pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.end(cols.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j))))?;
        ask_block(self.means.as_ref(), rows, cols, out)
    }
}
