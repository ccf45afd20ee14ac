//! One order of each pair first, for a search by an asymmetric score whose mean of both orders is wanted.
//!
//! Scores of one order are kept under the identity of the score as it was given, those of both where all others of the mean are. Both kinds spend from one
//! budget.

use std::sync::{Arc, OnceLock};

use landmark_core::oracle::{
    Coin, Identity, MeanOfOrders, Metered, OneOrder, Oracle as CoreOracle, OracleError, OracleShape, Pair, ask_pairs,
};
use landmark_store::{OracleLabel, StoreError, Stored, TileStore};

/// A score that is counted and limited.
pub(crate) type Meter = Arc<Metered<Arc<dyn CoreOracle>>>;

/// Scores of single orders: what keeps them is opened by the first search that asks for some.
pub(crate) struct GivenOrders {
    meter: Meter,
    store: TileStore,
    label: OracleLabel,
    opened: OnceLock<Arc<Stored<Meter>>>,
}

impl GivenOrders {
    /// Scores of `given` in one order, which spend from the budget of `mean`.
    pub(crate) fn new(given: Arc<dyn CoreOracle>, mean: &Meter, store: TileStore, label: OracleLabel) -> Self {
        Self { meter: Arc::new(Metered::sharing(given, mean.as_ref())), store, label, opened: OnceLock::new() }
    }

    /// Calls of single orders so far.
    pub(crate) fn spent(&self) -> u64 {
        self.meter.spent().evaluations
    }

    /// False while a thread is at work on them.
    pub(crate) fn is_free(&self) -> bool {
        self.meter.is_free()
    }

    /// Both ways in which a search asks, with `stored` for the means.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub(crate) fn open(&self, stored: &Arc<Stored<Meter>>, coin: Coin) -> Result<SearchOrders, StoreError> {
        let given = match self.opened.get() {
            Some(given) => Arc::clone(given),
            None => {
                let given = Arc::new(self.store.attach(Arc::clone(&self.meter), self.label.clone())?);
                Arc::clone(self.opened.get_or_init(|| given))
            }
        };
        let one = OneOrder::new(Arc::clone(&given), coin);
        let mean = MeanOfOrders::new(one.clone(), OneOrder::new(Arc::clone(&given), coin.turned()));
        let mean = KeptMeans { mean, stored: Arc::clone(stored) };
        Ok(SearchOrders { one, mean, kept: KeptOrders { given, stored: Arc::clone(stored), coin } })
    }

    /// Writes what waits to be written.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.opened.get().map_or(Ok(()), |given| given.flush())
    }

    /// Makes this usable in a forked child.
    pub(crate) fn after_fork(&self) -> Result<(), StoreError> {
        self.opened.get().map_or(Ok(()), |given| given.after_fork())
    }
}

type Given = Arc<Stored<Meter>>;

/// Scores of single orders, and of both from them.
pub(crate) struct SearchOrders {
    /// The order that the coin draws.
    pub(crate) one: OneOrder<Given>,
    /// Both orders.
    pub(crate) mean: KeptMeans,
    pub(crate) kept: KeptOrders,
}

/// What is kept of pairs.
pub(crate) struct KeptOrders {
    given: Given,
    stored: Given,
    coin: Coin,
}

impl KeptOrders {
    /// True if the mean of a pair is kept, and the order that the coin draws is not.
    pub(crate) fn has_mean_alone(&self, (i, j): Pair) -> bool {
        let (first, second) = self.coin.order(i, j);
        !self.given.has(first, second) && self.stored.has(i, j)
    }
}

/// Means of both orders, kept with the others once they are known.
pub(crate) struct KeptMeans {
    mean: MeanOfOrders<OneOrder<Given>, OneOrder<Given>>,
    stored: Given,
}

impl CoreOracle for KeptMeans {
    fn shape(&self) -> OracleShape {
        self.stored.shape()
    }

    fn identity(&self) -> Identity {
        self.stored.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let open: Vec<Pair> = pairs.iter().copied().filter(|&(i, j)| !self.stored.has(i, j)).collect();
        let mut means = vec![0.0; open.len()];
        ask_pairs(&self.mean, &open, &mut means)?;
        let failed = |error: StoreError| OracleError::Failed { what: "the store".to_owned(), source: Box::new(error) };
        self.stored.put(&open, &means).map_err(failed)?;
        ask_pairs(self.stored.as_ref(), pairs, out)
    }
}
