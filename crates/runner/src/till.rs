//! The till: where entries are really bought, counted, limited and kept.
//!
//! ```text
//! approximator → Metered (cells) → exp(−γd) → Stored → Metered (budget, evaluations) → raw oracle
//!                one per cell of the sweep              └──────────── the till ────────────┘
//! ```
//!
//! γ is applied above the store, so a search over γ buys nothing.

use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Budget, Metered, Oracle, OracleError, OracleShape, Spent, Symmetrized};
use landmark_store::{OracleLabel, StoreError, Stored, TileStore};

use crate::config::MatrixSubject;
use crate::interrupt;
use crate::stage::{Stage, similarity};

/// An interrupted program publishes what waits to be written.
fn flush_before_the_end<O: Oracle + 'static>(stored: &Arc<Stored<O>>) {
    interrupt::before_the_end(stored, |stored| {
        if let Err(error) = stored.close() {
            eprintln!("what was bought last could not be written: {error}");
        }
    });
}

/// The meter at the bottom, shared with the progress line.
type Meter = Arc<Metered<Arc<dyn Oracle>>>;

/// Buys raw scores, each at most once.
pub struct Till {
    meter: Meter,
    stored: Option<Arc<Stored<Meter>>>,
    store: Option<TileStore>,
    budget: Budget,
    beside: Mutex<Vec<Arc<Till>>>,
    /// Scores of pairs as they were asked for, below the mean of both orders.
    as_given: Option<Arc<Stored<Arc<dyn Oracle>>>>,
    can_score: bool,
}

impl Till {
    /// Stacks budget and store on the raw oracle of a stage; a matrix that is already there needs no store.
    ///
    /// # Errors
    /// A store that cannot be opened, or holds a file that is torn or foreign.
    pub fn open(stage: &Stage, matrix: &MatrixSubject, store: &str) -> Result<Self, StoreError> {
        let budget = Budget { entries: matrix.budget.limit(), seconds: matrix.budget.seconds };
        let store = if stage.is_priced { Some(TileStore::open(store)?) } else { None };
        let can_score = stage.sentences.as_ref().is_none_or(|sentences| sentences.is_trained);
        let label = |what: &str| OracleLabel::new(matrix.oracle.kind(), format!("{}{what}", stage.description));
        // both orders of a pair are kept as they are, so that their mean and their maximum share what was bought
        let orders =
            stage.sentences.as_ref().and_then(|sentences| Some((sentences, sentences.order.symmetrization()?)));
        let (Some((sentences, mode)), Some(kept)) = (orders, &store) else {
            return Ok(Self { can_score, ..Self::of(Arc::clone(&stage.raw), label(""), store, budget)? });
        };
        let as_given = Arc::new(kept.attach(Arc::clone(&sentences.as_given), label(", as given"))?);
        flush_before_the_end(&as_given);
        let both: Arc<dyn Oracle> = Arc::new(Symmetrized::new(Arc::clone(&as_given), mode));
        Ok(Self { as_given: Some(as_given), can_score, ..Self::of(both, label(""), store, budget)? })
    }

    /// Stacks budget and store on an oracle.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of(
        raw: Arc<dyn Oracle>,
        label: OracleLabel,
        store: Option<TileStore>,
        budget: Budget,
    ) -> Result<Self, StoreError> {
        let meter = Arc::new(Metered::with_budget(raw, budget));
        let stored = match &store {
            Some(store) => Some(Arc::new(store.attach(Arc::clone(&meter), label)?)),
            None => None,
        };
        if let Some(stored) = &stored {
            flush_before_the_end(stored);
        }
        Ok(Self { meter, stored, store, budget, beside: Mutex::default(), as_given: None, can_score: true })
    }

    /// A till for another oracle, which a method reads besides the matrix: it keeps its scores in the same store, and may spend what
    /// is left of the budget now.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn beside(&self, raw: Arc<dyn Oracle>, label: OracleLabel) -> Result<Arc<Self>, StoreError> {
        let spent = self.spent().evaluations + self.spent_beside();
        let entries = self.budget.entries.map(|entries| entries.saturating_sub(spent));
        let till = Arc::new(Self::of(raw, label, self.store.clone(), Budget { entries, ..self.budget })?);
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&till));
        Ok(till)
    }

    /// Evaluations bought besides the matrix.
    pub fn spent_beside(&self) -> u64 {
        let beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.iter().map(|till| till.spent().evaluations).sum()
    }

    /// The store's side of it, where entries are kept.
    pub fn stored(&self) -> Option<&Stored<impl Oracle + use<>>> {
        self.stored.as_deref()
    }

    /// Raw scores, bought when they are not there.
    pub fn scores(&self) -> Arc<dyn Oracle> {
        match &self.stored {
            Some(stored) => Arc::clone(stored) as Arc<dyn Oracle>,
            None => Arc::clone(&self.meter) as Arc<dyn Oracle>,
        }
    }

    /// Scores of pairs as they are asked for, before both orders became one; [`scores`](Self::scores) where there is one alone.
    pub fn as_given(&self) -> Arc<dyn Oracle> {
        match &self.as_given {
            Some(as_given) => Arc::clone(as_given) as Arc<dyn Oracle>,
            None => self.scores(),
        }
    }

    /// Similarities exp(−γ·score), or the scores themselves.
    ///
    /// # Errors
    /// A γ that is no positive number.
    pub fn similarities(&self, gamma: Option<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
        similarity(self.scores(), gamma)
    }

    /// Whether scores can be had now: of a model that is still to be fine-tuned they cannot.
    pub fn can_score(&self) -> bool {
        self.can_score
    }

    /// Whether an entry costs anything worth keeping: a matrix that is already there does not.
    pub fn is_priced(&self) -> bool {
        self.stored.is_some()
    }

    /// Size, symmetry and price.
    pub fn shape(&self) -> OracleShape {
        OracleShape::of(&self.meter)
    }

    /// Evaluations of a set that are not in the store yet.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn missing(&self, entries: &EntrySet) -> Result<u64, StoreError> {
        match &self.stored {
            Some(stored) => stored.missing(entries),
            None => Ok(entries.evaluations()),
        }
    }

    /// Publishes what waits to be written to the store.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.as_given.as_ref().map_or(Ok(()), |stored| stored.flush())?;
        self.stored.as_ref().map_or(Ok(()), |stored| stored.flush())?;
        let beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.iter().try_for_each(|till| till.flush())
    }

    /// What was really bought so far.
    pub fn spent(&self) -> Spent {
        self.meter.spent()
    }

    /// A reader of the evaluations made so far, for the progress line.
    pub fn counter(&self) -> impl Fn() -> u64 + Send + 'static {
        let meter = Arc::clone(&self.meter);
        move || meter.spent().evaluations
    }
}
