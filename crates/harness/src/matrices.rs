//! The matrices of a run: one in a sweep, one a topic in coreference, none in most studies.

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{OracleError, OracleShape};
use landmark_http::PriceEstimate;
use landmark_store::StoreError;

use crate::metered_store::{MeteredStore, Timed};
use crate::plan::Forecast;
use crate::progress::Count;

/// A matrix whose entries are evaluated.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// Size, symmetry and price, known before anything is trained.
    pub shape: OracleShape,
    /// Evaluation and storage of its entries; `None` while the model behind it is still to be trained.
    pub metered: Option<&'a MeteredStore>,
}

impl<'a> Matrix<'a> {
    /// A matrix whose entries can be had now.
    pub fn of(metered: &'a MeteredStore) -> Self {
        Self { shape: metered.shape(), metered: Some(metered) }
    }
}

pub struct Matrices<'a>(pub Vec<Matrix<'a>>);

impl<'a> Matrices<'a> {
    fn stores(&self) -> impl Iterator<Item = &'a MeteredStore> {
        self.0.iter().filter_map(|matrix| matrix.metered)
    }

    /// Those that count calls of their own.
    fn meters(&self) -> impl Iterator<Item = &'a MeteredStore> {
        self.stores().filter(|metered| !metered.is_counted_elsewhere())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The empty set of entries of each.
    pub fn entries(&self) -> Vec<EntrySet> {
        let empty =
            |matrix: &Matrix<'_>| matrix.metered.map_or_else(|| EntrySet::new(matrix.shape), MeteredStore::entries);
        self.0.iter().map(empty).collect()
    }

    /// True where the stored entries of each are known.
    pub fn are_open(&self) -> bool {
        self.0.iter().all(|matrix| matrix.metered.is_some())
    }

    /// Calls of one column and of an error estimate with this number of samples, if no score is stored and no two items are equal.
    pub fn most_for_one_landmark(&self, samples: usize) -> u64 {
        self.0
            .iter()
            .map(|matrix| matrix.shape.evaluations(samples as u64 + (matrix.shape.len as u64).saturating_sub(1), 0))
            .sum()
    }

    /// True where scores can be had now.
    pub fn can_score(&self) -> bool {
        self.are_open() && self.stores().all(MeteredStore::can_score)
    }

    /// True where an entry costs enough to be worth keeping.
    pub fn are_priced(&self) -> bool {
        self.0.iter().any(|matrix| matrix.metered.is_none_or(MeteredStore::is_priced))
    }

    /// Evaluations of a forecast that are not in the store; all of them where that is not known yet, as of stand-ins and of pairs that
    /// are chosen on the way.
    pub fn missing(&self, forecast: &Forecast) -> u64 {
        if !forecast.are_named() {
            return forecast.evaluations();
        }
        let missing = |(matrix, entries): (&Matrix<'_>, _)| match matrix.metered {
            Some(metered) => metered.missing(entries),
            None => entries.evaluations(),
        };
        self.0.iter().zip(&forecast.entries).map(missing).sum()
    }

    /// Makes `calls` evaluations that the forecast is certain of and the store lacks, and keeps them; `None` where there is none.
    pub fn time(&self, forecast: &Forecast, calls: u64) -> Result<Option<Timed>, OracleError> {
        let mut all = Timed { evaluations: 0, first: 0, seconds: 0.0 };
        for (metered, entries) in self.0.iter().zip(forecast.certain()).filter_map(|(m, set)| Some((m.metered?, set))) {
            let Some(timed) = metered.time(entries, calls.saturating_sub(all.evaluations))? else { continue };
            all.evaluations += timed.evaluations;
            all.first += timed.first;
            all.seconds += timed.seconds;
        }
        Ok((all.evaluations > 0).then_some(all))
    }

    /// Price of this number of calls by what those so far have cost, where the scorer has one.
    pub fn price_of(&self, calls: u64) -> Option<PriceEstimate> {
        self.stores().find_map(|metered| metered.price_of(calls))
    }

    /// Money paid so far, where the scorer has a price.
    pub fn paid(&self) -> Option<f64> {
        self.stores().find_map(MeteredStore::paid)
    }

    /// Calls made so far: evaluations of matrices that are not given.
    pub fn calls(&self) -> u64 {
        self.meters().filter(|metered| metered.is_priced()).map(|metered| metered.spent().evaluations).sum()
    }

    /// Evaluations made so far, entries that were read off a given matrix among them.
    pub fn evaluations(&self) -> u64 {
        self.meters().map(|metered| metered.spent().evaluations).sum()
    }

    /// Entries of the matrices that the store held before this run.
    pub fn found(&self) -> u64 {
        self.stores().map(MeteredStore::found).sum()
    }

    pub fn evaluations_by_others(&self) -> u64 {
        self.stores().map(MeteredStore::spent_by_others).sum()
    }

    /// A reader of the evaluations made so far, for the progress line.
    pub fn counter(&self) -> impl Fn() -> Count + Send + 'static {
        let boxed = |metered: &MeteredStore| Box::new(metered.counter()) as Box<dyn Fn() -> Count + Send>;
        let counters: Vec<_> = self.meters().map(boxed).collect();
        move || counters.iter().map(|counter| counter()).sum()
    }

    /// Publishes what waits to be written to the store.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.stores().try_for_each(MeteredStore::flush)
    }
}
