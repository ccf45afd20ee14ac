//! Proxy and residual: approximate what a cheap relative of the oracle leaves over, not the oracle itself.
//!
//! ```text
//! K̃ = q(P) + method(K − q(P))
//! ```
//! Most expensive similarities have a cheap relative P: the cosine of bi-encoder embeddings for a cross-encoder, relaxed
//! for exact word mover's distance. q is fitted by least squares on the off-diagonal entries of the evaluated columns. Any
//! method then factors the residual, whose columns are known because K's and P's are, so no further entry is evaluated. The
//! zero core competes: a quarter of the evaluated columns is predicted from the others with and without the method, and a
//! residual that holds nothing to be learned is left alone, so that K̃ does no worse there than the proxy does.
//! This project's own method. Several proxies, and hubness (`hubness.rs`), compete with q(P): `choice.rs`.
//!
//! q(P) is evaluated where it is read. Vectors: the residual's own, next to shift_ridge vectors of q(P) on many more
//! landmarks, for its entries are free.
//!
//! Cost: entries as the method; its flops twice at most; one proxy score a evaluated entry; 16 bytes more a evaluated entry
//! during the fit.

use std::sync::Arc;

use ndarray::Array2;
use rand::seq::index::sample;

use super::anchors::{choose_anchors, usual_anchors};
use super::{Approximate, ApproximateError, ColumnReader, FitReport, check_proxies, require_symmetric};
use crate::approximation::{Approximation, Factors, Known, Signed};
use crate::balance;
use crate::entries::{EntryPlan, EntrySet, Rows};
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleError, OracleShape, Remembered, block_of};
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod choice;
mod fitted;
mod link;
mod linked;
#[cfg(test)]
mod tests;

pub use link::{FittedLink, Link};

use choice::{Evidence, FEWEST_COLUMNS};
use fitted::Fitted;
use linked::{Linked, Residual};

/// Evaluated entries that q is fitted to, at most: far more than its few parameters need.
const FIT_ENTRIES: usize = 1 << 20;

const VALIDATION_ROWS: usize = 2000;

const HELD_OUT: f64 = 0.25;

/// A method that learns the residual of a proxy.
///
/// ```
/// use std::sync::Arc;
/// use landmark_core::approximate::{Approximate, Link, Proxied, ShiftRidgeParams};
/// use landmark_core::approximation::Known;
/// use landmark_core::landmarks::Landmarks;
/// use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Precomputed};
/// use landmark_core::stream::stream;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vectors = ndarray::Array2::from_shape_fn((50, 3), |(i, k)| ((7 * i + 3 * k) as f64).sin());
/// let cosine = EmbeddingProxy::cosine(vectors)?;
/// let all: Vec<usize> = (0..50).collect();
/// let scores = landmark_core::oracle::block_of(&cosine, &all, &all)?.mapv(|p| 0.2 + 0.8 * p * p);
/// let oracle = Precomputed::new(scores, AsymmetryPolicy::Reject)?;
///
/// let method = Proxied::new(Arc::new(ShiftRidgeParams::default().check()?), Arc::new(cosine), Link::default());
/// let landmarks = Landmarks::uniform(50, &mut stream(1, "doc", "landmarks", 0));
/// let fit = method.fit(&oracle, &landmarks, 5, Known::LANDMARKS, &mut stream(1, "doc", "fit", 0))?;
/// assert!((fit.entry(3, 44)? - oracle.matrix()[[3, 44]]).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Proxied {
    method: Arc<dyn Approximate>,
    proxies: Vec<Arc<dyn Oracle>>,
    link: Link,
    knows_hubness: bool,
}

impl Proxied {
    /// Any method on the residual of a symmetric proxy over the same items. The proxy goes unmetered; one that is not
    /// quite free is best handed over [`Remembered`].
    pub fn new(method: Arc<dyn Approximate>, proxy: Arc<dyn Oracle>, link: Link) -> Self {
        Self { method, proxies: vec![proxy], link, knows_hubness: false }
    }

    /// More proxies. The link of the one that predicts columns best which it was not fitted to, and a link of all of them,
    /// compete; see [`fit`](Approximate::fit)'s report.
    #[must_use]
    pub fn with_more(mut self, proxies: impl IntoIterator<Item = Arc<dyn Oracle>>) -> Self {
        self.proxies.extend(proxies);
        self
    }

    /// A link with the hubness of items, q(p, h_i + h_j, h_i h_j), competes too, from three columns on: whichever predicts columns best which
    /// it was not fitted to.
    #[must_use]
    pub fn with_hubness(mut self) -> Self {
        self.knows_hubness = true;
        self
    }

    pub fn proxies(&self) -> &[Arc<dyn Oracle>] {
        &self.proxies
    }

    fn check_proxy(&self, shape: OracleShape) -> Result<(), ApproximateError> {
        require_symmetric(self.id(), shape.symmetry)?;
        self.proxies.iter().try_for_each(|proxy| require_symmetric("proxy", proxy.symmetry()))?;
        check_proxies("proxy", &self.proxies, shape.len)?;
        match self.link.degree {
            1..=3 => Ok(()),
            degree => Err(BadParameter::new("degree", degree, "1, 2 or 3").of("proxy").into()),
        }
    }
}

impl Approximate for Proxied {
    /// That of the method: [`FitReport::proxy`] shows that a proxy took part.
    fn id(&self) -> &'static str {
        self.method.id()
    }

    fn wrapped(&self) -> Option<&dyn Approximate> {
        Some(&*self.method)
    }

    fn with_second_set(&self, ratio: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        let method = self.method.with_second_set(ratio)?;
        Ok(method.map(|method| -> Arc<dyn Approximate> { Arc::new(Self { method, ..self.clone() }) }))
    }

    fn check_fit(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        self.check_proxy(shape)?;
        self.method.check_fit(shape, landmarks, rank)
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        let plan = self.entries(columns.oracle().len(), landmarks, rank);
        let oracle = Remembered::new(columns.oracle());
        let remembered: Vec<_> = self.proxies.iter().map(|proxy| Remembered::new(&**proxy)).collect();
        let proxies: Vec<&dyn Oracle> = remembered.iter().map(|proxy| proxy as &dyn Oracle).collect();
        oracle.evaluate_plan(&plan)?;

        let Chosen { fitted, error, validation } = self.choose(&oracle, &proxies, &plan, (landmarks, rank), rng)?;
        let residual = Residual { oracle: &oracle, proxies: &proxies, fitted: &fitted };
        let on_core = Known { diagonal: false, ..columns.known() };
        let core = match validation.keeps_core {
            true => self.method.fit(&residual, landmarks, rank, on_core, rng)?,
            false => zero_core(&residual, plan.full_columns(), rank, on_core)?,
        };

        let report = FitReport {
            proxy: Some(self.proxies[fitted.main()].identity().to_hex()),
            proxy_error: error,
            knows_hubness: fitted.knows_hubness(),
            core_dropped: !validation.keeps_core,
            validation_error: validation.error,
            ..core.report().clone()
        };
        let anchors = choose_anchors(landmarks, usual_anchors(rank).clamp(1, landmarks.len()), Some(rng));
        let linked = Linked { proxies: self.proxies.clone(), fitted, landmarks: core.landmarks().to_vec(), anchors };
        Ok(core.with_addend(Arc::new(linked)).with_report(report))
    }
}

/// A link, its relative error on evaluated entries, and how well it and the method predict held-out columns.
struct Chosen {
    fitted: Fitted,
    error: Option<f64>,
    validation: Validation,
}

fn fewer(rank: usize) -> usize {
    // a quarter of the rank is held out, rounded, but at least one: counts far below 2^52
    rank - ((HELD_OUT * rank as f64).round() as usize).max(1)
}

/// How well the method's core predicts held-out columns.
struct Validation {
    /// False where no core predicts them better.
    keeps_core: bool,
    /// Relative error of K̃ on them, where there were any.
    error: Option<f64>,
}

impl Proxied {
    /// The link and its validation. Where hubness predicts left-out columns better, it is validated together with the core,
    /// too: at a higher rank the method finds the same thing by itself, and better.
    fn choose(
        &self,
        oracle: &Remembered<&dyn Oracle>,
        proxies: &[&dyn Oracle],
        plan: &EntryPlan,
        (landmarks, rank): (&Landmarks, usize),
        rng: &mut Rng,
    ) -> Result<Chosen, ApproximateError> {
        let columns = plan.full_columns();
        let validate =
            |fitted: &Fitted, rng: &mut Rng| self.validate(&Residual { oracle, proxies, fitted }, landmarks, rank, rng);
        if columns.is_empty() || (proxies.len() == 1 && !self.knows_hubness) {
            let pairs = scored_by_both(oracle, proxies[0], plan, rng)?;
            let link = self.link.fit(&pairs);
            let error = relative_error(&pairs, &link);
            let fitted = Fitted::Pair { main: 0, link };
            let validation = validate(&fitted, rng)?;
            return Ok(Chosen { fitted, error, validation });
        }
        let fewest = self.knows_hubness.then_some(FEWEST_COLUMNS);
        let evidence = Evidence::read(oracle, proxies, columns, fewest, rng)?;
        let (fitted, with_hubness) = evidence.choose(self.link);
        // the same held-out rows for both
        let mut same = rng.clone();
        let mut chosen = Chosen { validation: validate(&fitted, rng)?, fitted, error: None };
        if let Some(fitted) = with_hubness {
            let training = self.method.plan(OracleShape::of(oracle), landmarks, fewer(rank).max(1))?.full_columns();
            let less = Evidence::read(oracle, proxies, training, Some(1), &mut rng.clone())?;
            let validation = validate(&less.fitted(fitted.order(), true), &mut same)?;
            let is_better = |(with, without): (f64, f64)| with < without;
            if validation.error.zip(chosen.validation.error).is_none_or(is_better) {
                chosen = Chosen { fitted, validation, error: None };
            }
        }
        chosen.error = evidence.relative_error(proxies, &chosen.fitted)?;
        Ok(chosen)
    }

    /// Fits the method at three quarters of the rank, all of it evaluated already, and predicts the evaluated columns that it
    /// did not use, on rows that it did not use. Where all of K is evaluated there is nothing to predict and the method
    /// stands; where nothing can be held out (rank 1) the proxy does.
    fn validate(
        &self,
        residual: &Residual<'_>,
        landmarks: &Landmarks,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Validation, ApproximateError> {
        let (shape, untested) = (OracleShape::of(residual), Validation { keeps_core: true, error: None });
        let plan = self.method.plan(shape, landmarks, rank)?;
        let mut entries = EntrySet::of(shape, &plan);
        if entries.columns().len() == shape.len {
            return Ok(untested);
        }
        let fewer = fewer(rank);
        if fewer == 0 {
            return Ok(Validation { keeps_core: false, ..untested });
        }
        let training = self.method.plan(shape, landmarks, fewer)?;
        let price = entries.evaluations();
        entries.add(&training);
        if entries.evaluations() > price {
            // a method whose smaller fit is no part of the larger one can't be validated for free
            return Ok(untested);
        }
        let (held, rows) = unused(&plan, &training, shape.len, rng);
        if held.is_empty() || rows.is_empty() {
            return Ok(untested);
        }
        let (scores, truth) = (block_of(residual.oracle, &rows, &held)?, block_of(residual, &rows, &held)?);
        let smaller = self.method.fit(residual, landmarks, fewer, Known::NOTHING, rng)?;
        let mut predicted = Array2::zeros(truth.dim());
        smaller.block(&rows, &held, predicted.view_mut())?;
        let unit = balance::balancing_of(&[scores.view(), truth.view(), predicted.view()]);
        let squares = |values: &Array2<f64>| values.iter().map(|value| (unit * value).powi(2)).sum::<f64>();
        let (with_method, alone) = (squares(&(&truth - &predicted)), squares(&truth));
        let norm = squares(&scores);
        let error = (norm > 0.0).then(|| (with_method.min(alone) / norm).sqrt());
        Ok(Validation { keeps_core: with_method < alone, error })
    }
}

/// Columns that only the larger plan evaluates, and rows that the smaller one names nowhere.
fn unused(plan: &EntryPlan, training: &EntryPlan, n: usize, rng: &mut Rng) -> (Vec<usize>, Vec<usize>) {
    let in_training = training.full_columns();
    let held: Vec<usize> = plan.full_columns().into_iter().filter(|j| !in_training.contains(j)).collect();
    let free = training.unnamed(n);
    let mut rows: Vec<usize> =
        sample(rng, free.len(), VALIDATION_ROWS.min(free.len())).iter().map(|k| free[k]).collect();
    rows.sort_unstable();
    (held, rows)
}

/// (proxy score, score) of evaluated off-diagonal entries: all of them, or those in some rows drawn at random.
fn scored_by_both(
    oracle: &dyn Oracle,
    proxy: &dyn Oracle,
    plan: &EntryPlan,
    rng: &mut Rng,
) -> Result<Vec<(f64, f64)>, OracleError> {
    let n = oracle.len();
    let mut pairs = Vec::new();
    let full: Vec<_> = plan.blocks.iter().filter(|block| block.rows == Rows::All).collect();
    let blocks = if full.is_empty() { plan.blocks.iter().collect() } else { full };
    for block in blocks {
        let mut rows = match &block.rows {
            Rows::All => (0..n).collect(),
            Rows::These(rows) => rows.clone(),
        };
        let affordable = (FIT_ENTRIES / block.cols.len().max(1)).max(1);
        if rows.len() > affordable {
            rows = sample(rng, rows.len(), affordable).iter().map(|k| rows[k]).collect();
            rows.sort_unstable();
        }
        let (scores, cheap) = (block_of(oracle, &rows, &block.cols)?, block_of(proxy, &rows, &block.cols)?);
        for (((a, b), &score), &cheap) in scores.indexed_iter().zip(&cheap) {
            if rows[a] != block.cols[b] {
                pairs.push((cheap, score));
            }
        }
    }
    Ok(pairs)
}

/// ‖K − q(P)‖ / ‖K‖ over the pairs; none where there is nothing to divide by.
fn relative_error(pairs: &[(f64, f64)], link: &FittedLink) -> Option<f64> {
    balance::relative_error(pairs.iter().map(|&(cheap, score)| (score, link.at(cheap))))
}

/// No core at all: K̃ = q(P) but for the entries that are known.
fn zero_core(
    residual: &Residual<'_>,
    columns: Vec<usize>,
    rank: usize,
    known: Known,
) -> Result<Approximation, ApproximateError> {
    let n = residual.len();
    let factors = Factors::Signed(Signed {
        vectors: Array2::zeros((n, 0)),
        positive: 0,
        negative: 0,
        projector: Some(Array2::zeros((columns.len(), 0))),
    });
    let report = FitReport { rank, ..FitReport::default() };
    let all: Vec<usize> = (0..n).collect();
    let exact = known.landmarks.then(|| block_of(residual, &all, &columns)).transpose()?;
    let core = Approximation::new(factors, columns, report);
    Ok(exact.into_iter().fold(core, Approximation::with_known_columns))
}
