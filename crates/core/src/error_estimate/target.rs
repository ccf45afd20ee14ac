//! As many landmarks as an error needs: grows the rank along nested landmarks until the estimate meets a target.
//!
//! Ranks rise geometrically, columns of smaller ranks are part of the larger and sampled entries stay in the sample, all
//! behind one memory: nothing is evaluated twice. When the budget ends, the best approximation so far is the answer.
//!
//! Cost: the entries of the last rank and about m·(1 + log of the growth) for the estimates; a fit a rank, so at most
//! 1/(1 − 1/growth) times the flops of the last for methods linear in the rank.

use rand::RngCore;
use rand::SeedableRng;

use super::{ErrorEstimate, Sample};
use crate::approximate::{Approximate, ApproximateError};
use crate::approximation::{Approximation, Known};
use crate::entries::EntrySet;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleError, OracleShape, Remembered};
use crate::parameter::BadParameter;
use crate::stream::Rng;

/// Figure that is held against the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ErrorCriterion {
    /// The upper end of the interval. The confidence holds for all ranks that may be tried together.
    #[default]
    UpperBound,
    Estimate,
}

/// Growth of the rank: where it stops, and its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetError {
    /// The relative error wanted, above 0.
    pub target: f64,
    pub first_rank: usize,
    /// Factor from rank to rank, above 1.
    pub growth: f64,
    /// The largest rank tried; as many as the landmarks allow where none is given.
    pub largest_rank: Option<usize>,
    /// Entries sampled for each estimate.
    pub samples: usize,
    /// Confidence of the intervals of all ranks together, between 0 and 1.
    pub confidence: f64,
    /// Figure that is held against the target.
    pub criterion: ErrorCriterion,
}

impl Default for TargetError {
    fn default() -> Self {
        Self {
            target: 0.1,
            first_rank: 50,
            growth: 1.5,
            largest_rank: None,
            samples: 1000,
            confidence: 0.95,
            criterion: ErrorCriterion::UpperBound,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// s.
    pub rank: usize,
    /// Its error.
    pub estimate: ErrorEstimate,
}

/// Reason why the growth ended.
#[derive(Debug)]
pub enum Stop {
    Reached,
    /// The largest rank does not meet it.
    RanksExhausted,
    /// The budget does not allow the next rank, or its estimate.
    BudgetExhausted(OracleError),
}

/// The best that could be had.
#[derive(Debug)]
pub struct TargetOutcome {
    /// Of the ranks that were estimated, the one with the lowest error; the last one where none was.
    pub approximation: Approximation,
    /// Its estimate; none where the budget ended before the first one. Its `confidence` is above that of the target, which holds for all steps.
    pub estimate: Option<ErrorEstimate>,
    /// The entries that the estimate was made from.
    pub sample: Option<Sample>,
    /// Why there is no better one.
    pub stop: Stop,
    /// Every rank that was fitted and estimated.
    pub steps: Vec<Step>,
}

impl TargetError {
    /// The ranks that would be tried, the largest last: the largest that the landmarks allow the method, or
    /// [`largest_rank`](Self::largest_rank).
    pub fn ranks(&self, method: &dyn Approximate, landmarks: &Landmarks) -> Result<Vec<usize>, ApproximateError> {
        self.check()?;
        let (n, given) = (landmarks.len(), landmarks.order().len());
        let mut largest = self.largest_rank.unwrap_or(usize::MAX).min(given);
        while largest > 1 && method.landmarks_needed(n, largest) > given {
            largest -= 1;
        }
        let mut ranks = Vec::new();
        let mut rank = self.first_rank.min(largest);
        while rank < largest {
            ranks.push(rank);
            // counts far below 2^52, and the product is at least one more
            rank = ((rank as f64 * self.growth).ceil() as usize).max(rank + 1);
        }
        ranks.push(largest);
        Ok(ranks)
    }

    /// All that could be evaluated if the target is never met: an upper bound. Pure.
    ///
    /// # Errors
    /// A parameter out of range, or a first rank that the method refuses.
    pub fn most(
        &self,
        method: &dyn Approximate,
        shape: OracleShape,
        landmarks: &Landmarks,
        rng: &mut Rng,
    ) -> Result<EntrySet, ApproximateError> {
        let streams = Streams::new(rng);
        let mut entries = EntrySet::new(shape);
        for rank in self.ranks(method, landmarks)? {
            let plan = method.plan(shape, landmarks, rank)?;
            entries.add(&plan);
            entries.add(&self.sample(shape.len, &plan.full_columns(), &streams).plan());
        }
        Ok(entries)
    }

    /// Fits rank after rank until the target is met.
    ///
    /// # Errors
    /// A parameter out of range, a first rank that the method refuses or the budget does not allow, and any error of
    /// the oracle but an exhausted budget.
    pub fn run(
        &self,
        method: &dyn Approximate,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        known: Known,
        rng: &mut Rng,
    ) -> Result<TargetOutcome, ApproximateError> {
        let streams = Streams::new(rng);
        let memory = Remembered::new(oracle);
        let mut best: Option<(Approximation, Option<(ErrorEstimate, Sample)>)> = None;
        let mut steps: Vec<Step> = Vec::new();
        let mut stop = Stop::RanksExhausted;
        let ranks = self.ranks(method, landmarks)?;
        // every rank is a look at chance, and any of them may end the growth (Bonferroni)
        let confidence = 1.0 - (1.0 - self.confidence) / ranks.len() as f64;
        for rank in ranks {
            let fitted = fit(method, &memory, landmarks, rank, known, &mut streams.fit.clone());
            let (approximation, columns) = match (fitted, &best) {
                (Ok(fitted), _) => fitted,
                (Err(ApproximateError::Oracle(error)), Some(_)) if error.is_exhausted() => {
                    stop = Stop::BudgetExhausted(error);
                    break;
                }
                (Err(error), _) => return Err(error),
            };
            let sample = self.sample(oracle.len(), &columns, &streams);
            let estimate = match sample.estimate(&memory, &approximation, confidence) {
                Ok(estimate) => estimate,
                Err(error) if error.is_exhausted() => {
                    best = best.or(Some((approximation, None)));
                    stop = Stop::BudgetExhausted(error);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            steps.push(Step { rank, estimate });
            let lowest = best.as_ref().and_then(|(_, estimated)| Some(self.error(&estimated.as_ref()?.0)));
            let error = self.error(&estimate);
            if lowest.is_none_or(|lowest| error < lowest) {
                best = Some((approximation, Some((estimate, sample))));
            }
            // no earlier fit was so good, so this one is the best
            if error <= self.target {
                stop = Stop::Reached;
                break;
            }
        }
        let Some((approximation, judged)) = best else {
            return Err(ApproximateError::Rank { rank: 0, len: oracle.len() });
        };
        let (estimate, sample) = judged.unzip();
        Ok(TargetOutcome { approximation, estimate, sample, stop, steps })
    }

    fn error(&self, estimate: &ErrorEstimate) -> f64 {
        match self.criterion {
            ErrorCriterion::UpperBound => estimate.upper,
            ErrorCriterion::Estimate => estimate.relative_error,
        }
    }

    fn sample(&self, len: usize, columns: &[usize], streams: &Streams) -> Sample {
        Sample::draw(len, columns, self.samples, &mut streams.sample.clone())
    }

    fn check(&self) -> Result<(), ApproximateError> {
        let refuse = |parameter, value: String, wanted| {
            Err(BadParameter::new(parameter, value, wanted).of("target_error").into())
        };
        if !(self.target > 0.0 && self.target.is_finite()) {
            return refuse("target", self.target.to_string(), "a number above 0");
        }
        if self.first_rank == 0 {
            return refuse("first_rank", "0".to_owned(), "at least 1");
        }
        if !(self.growth > 1.0 && self.growth.is_finite()) {
            return refuse("growth", self.growth.to_string(), "a number above 1");
        }
        if self.samples < 20 {
            return refuse("samples", self.samples.to_string(), "at least 20");
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return refuse("confidence", self.confidence.to_string(), "between 0 and 1");
        }
        Ok(())
    }
}

/// The same draws for every rank, so that samples are nested and a fit is the one that its rank alone would get.
struct Streams {
    sample: Rng,
    fit: Rng,
}

impl Streams {
    fn new(rng: &mut Rng) -> Self {
        Self { sample: Rng::seed_from_u64(rng.next_u64()), fit: Rng::seed_from_u64(rng.next_u64()) }
    }
}

fn fit(
    method: &dyn Approximate,
    memory: &Remembered<&dyn Oracle>,
    landmarks: &Landmarks,
    rank: usize,
    known: Known,
    rng: &mut Rng,
) -> Result<(Approximation, Vec<usize>), ApproximateError> {
    let plan = method.plan(OracleShape::of(memory), landmarks, rank)?;
    memory.evaluate_plan(&plan)?;
    Ok((method.fit(memory, landmarks, rank, known, rng)?, plan.full_columns()))
}
