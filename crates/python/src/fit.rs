//! Planned calls and fit: from settings to the factors, their evaluated columns, and an estimate of the error.
//!
//! K̃ as Python reads it is Z diag(±1) Zᵀ with what was evaluated put back: columns, scattered pairs, a known diagonal. That is arrays and
//! nothing else, so that it can be pickled, saved and read by the program. Streams of random numbers are named as the program names
//! them, so that the same seed and name give the same bits.

use std::collections::HashSet;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError};
use landmark_core::approximation::{Approximation, Diagonal, Embedding, Known, ScatteredEntries};
use landmark_core::entries::{Certainty, EntryPlan};
use landmark_core::error_estimate::{ErrorEstimate, Sample};
use landmark_core::fit_report::FitReport;
use landmark_core::landmarks::{LandmarkPolicy, Landmarks};
use landmark_core::oracle::{Oracle as CoreOracle, OracleError, OracleShape, Pair, block_of};
use landmark_core::parameter::BadParameter;
use landmark_core::stream::{Rng, stream};
use ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::Rng as _;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::methods::{MethodSettings, PolicySettings};
use crate::reading::{item_array, pair_array};
use crate::scores::Scores;
use crate::session::detached;

/// Settings of a fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FitSettings {
    method: MethodSettings,
    landmarks: PolicySettings,
    rank: usize,
    seed: u64,
    /// Name of the random streams, as `dataset.name` is in a configuration.
    name: String,
    /// Entries evaluated to estimate the error with; 0 for no estimate.
    samples: usize,
    confidence: f64,
    /// Keep the evaluated columns.
    known: bool,
}

/// A fit that can be planned and run.
pub(crate) struct Fit {
    pub(crate) method: Arc<dyn Approximate>,
    policy: LandmarkPolicy,
    pub(crate) rank: usize,
    settings: FitSettings,
}

/// What a fit takes.
pub(crate) struct CallPlan {
    rank: usize,
    /// Calls that the store does not have.
    missing: u64,
    /// Calls if nothing were there.
    calls: u64,
    /// Calls of the error estimate among them.
    estimate: u64,
    entries: u64,
    items: usize,
    certainty: Certainty,
}

impl CallPlan {
    pub(crate) fn json(&self) -> Json {
        json!({
            "rank": self.rank, "calls": self.missing, "calls_alone": self.calls, "calls_of_the_estimate": self.estimate,
            "entries": self.entries, "items": self.items, "exact": self.certainty == Certainty::Exact,
        })
    }
}

/// The answer of a fit.
pub(crate) struct Fitted {
    embedding: Embedding,
    landmarks: Vec<usize>,
    columns: Option<Array2<f64>>,
    scattered: Option<ScatteredEntries>,
    report: FitReport,
    error: Option<ErrorEstimate>,
    /// Calls of the estimate that no meter saw.
    uncounted: u64,
    rank: usize,
    is_cut_short: bool,
}

impl FitSettings {
    /// Checked, with its proxies.
    pub(crate) fn ready(self, proxies: Vec<Arc<dyn CoreOracle>>) -> PyResult<Fit> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let message = format!("`confidence` is {}, but must be above 0 and below 1", self.confidence);
            return Err(PyValueError::new_err(message));
        }
        Ok(Fit {
            method: self.method.around(proxies)?,
            policy: self.landmarks.policy()?,
            rank: self.rank,
            settings: self,
        })
    }
}

impl Fit {
    pub(crate) fn stream(&self, purpose: &str) -> Rng {
        stream(self.settings.seed, &self.settings.name, purpose, 0)
    }

    /// True where the landmarks are known before the first call.
    fn needs_no_score(&self) -> bool {
        matches!(self.policy, LandmarkPolicy::Uniform | LandmarkPolicy::Given { .. })
    }

    /// Landmarks that need no score; for a call estimate they stand in for those that do.
    fn drawn(&self, scores: &Scores) -> Result<Landmarks, ApproximateError> {
        let mut rng = self.stream("landmarks");
        Ok(match &self.policy {
            LandmarkPolicy::Given { indices } => Landmarks::given(scores.shape().len, indices, &mut rng)?,
            _ => scores.landmarks(&mut rng),
        })
    }

    fn chosen(&self, scores: &Scores, oracle: &dyn CoreOracle, rank: usize) -> Result<Landmarks, ApproximateError> {
        if self.needs_no_score() {
            return self.drawn(scores);
        }
        let longest = self.method.landmarks_needed(oracle.len(), rank);
        Ok(self.policy.select_up_to(oracle, rank, longest, &mut self.stream("landmarks"))?)
    }

    fn sample(&self, scores: &Scores, landmarks: &Landmarks, rank: usize) -> Result<Option<Sample>, ApproximateError> {
        if self.settings.samples == 0 {
            return Ok(None);
        }
        let shape = scores.shape();
        let plan = self.method.plan(shape, landmarks, rank)?;
        // where pairs are chosen a part of the landmarks has no column
        let columns = if plan.chosen == 0 { landmarks.prefix(rank)?.to_vec() } else { plan.full_columns() };
        let (samples, mut rng) = (self.settings.samples, self.stream("error estimate"));
        let sample = match &scores.contents {
            Some(contents) => Sample::draw_by_content(contents, &columns, samples, &mut rng),
            None => Sample::draw(shape.len, &columns, samples, &mut rng),
        };
        // where nothing is left to draw the error is known without a further call
        Ok(Some(sample))
    }

    /// The planned calls at a rank. No call is made.
    pub(crate) fn call_plan(&self, scores: &Scores, rank: usize) -> Result<CallPlan, ApproximateError> {
        let shape = scores.shape();
        let landmarks = self.drawn(scores)?;
        let plan = self.method.plan(shape, &landmarks, rank)?;
        let mut set = scores.set();
        set.add(&plan);
        let (cells, of_fit) = (plan.cells(shape.len), set.evaluations());
        if let Some(sample) = self.sample(scores, &landmarks, rank)? {
            set.add(&sample.plan());
        }
        let (calls, missing) = (set.evaluations(), scores.missing(&set));
        let estimate = calls - of_fit;
        // pairs that are chosen on the way may be copies of others
        let is_bound = plan.chosen > 0 && scores.has_copies();
        let certainty = if is_bound { Certainty::UpperBound } else { plan.certainty };
        let call_plan = CallPlan { rank, missing, calls, estimate, entries: cells, items: shape.len, certainty };
        self.with_choice(call_plan, &plan, shape)
    }

    /// What is known by name before the first call: full columns, and single pairs.
    ///
    /// # Errors
    /// Landmarks that are chosen by what is seen, and whatever a plan refuses.
    pub(crate) fn entries(&self, scores: &Scores) -> Result<(Vec<usize>, Vec<Pair>), ApproximateError> {
        if !self.needs_no_score() {
            let wanted = "`uniform` or a list: other landmarks are chosen by scores that are not there yet";
            return Err(BadParameter::new("landmarks", self.policy.id(), wanted).into());
        }
        let shape = scores.shape();
        let landmarks = self.drawn(scores)?;
        let mut set = scores.set();
        set.add(&self.method.plan(shape, &landmarks, self.rank)?);
        if let Some(sample) = self.sample(scores, &landmarks, self.rank)? {
            set.add(&sample.plan());
        }
        Ok((set.columns(), set.scattered()))
    }

    /// Distinct pairs of different items, as many as `count` where there are, and whether the fit requests all of them: rows of its first landmarks where
    /// these are known before any score is.
    pub(crate) fn probed(&self, scores: &Scores, count: usize) -> Result<(Vec<Pair>, bool), ApproximateError> {
        /// Landmarks whose rows are looked at: a budget may end before the columns of later ones.
        const FIRST: usize = 4;
        let n = scores.shape().len;
        let mut columns = match self.needs_no_score() {
            true => self.method.plan(scores.shape(), &self.drawn(scores)?, self.rank)?.full_columns(),
            false => Vec::new(),
        };
        let is_named = !columns.is_empty();
        columns.truncate(FIRST);
        if !is_named {
            columns = (0..n).collect();
        }
        let first = |item: usize| scores.contents.as_ref().map_or(item, |contents| contents.first(item));
        let (mut rng, mut seen, mut pairs) = (self.stream("both orders"), HashSet::new(), Vec::new());
        // few items, or copies, may have fewer pairs
        for _ in 0..64 * count {
            let (i, j) = (first(rng.gen_range(0..n)), first(columns[rng.gen_range(0..columns.len())]));
            if pairs.len() < count && i != j && seen.insert((i.min(j), i.max(j))) {
                pairs.push((i, j));
            }
        }
        Ok((pairs, is_named))
    }

    /// The planned calls with those that the choice of landmarks may add to the fit.
    fn with_choice(
        &self,
        call_plan: CallPlan,
        plan: &EntryPlan,
        shape: OracleShape,
    ) -> Result<CallPlan, ApproximateError> {
        if self.needs_no_score() {
            return Ok(call_plan);
        }
        let longest = self.method.landmarks_needed(shape.len, call_plan.rank);
        let choice = self.policy.plan(shape, longest)?;
        // its columns are columns of the fit, where that reads as many in full
        let extra = match (plan.full_columns().len() >= longest, choice.diagonal) {
            (true, false) => 0,
            (true, true) => shape.evaluations(0, shape.len as u64),
            (false, _) => choice.evaluations(shape),
        };
        // stand-ins do not show what the store has of those that are chosen
        Ok(CallPlan {
            missing: call_plan.calls + extra,
            calls: call_plan.calls + extra,
            certainty: Certainty::UpperBound,
            ..call_plan
        })
    }

    /// The largest rank that the budget pays for, the error estimate included.
    fn affordable(&self, scores: &Scores) -> Result<usize, ApproximateError> {
        let Some(left) = scores.left().filter(|_| self.needs_no_score()) else { return Ok(self.rank) };
        let fits = |rank: usize| Ok::<_, ApproximateError>(self.call_plan(scores, rank)?.missing <= left);
        if fits(self.rank)? {
            return Ok(self.rank);
        }
        let (mut low, mut high) = (0, self.rank - 1);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle)? { low = middle } else { high = middle - 1 }
        }
        if low == 0 {
            let requested = self.call_plan(scores, 1)?.missing;
            return Err(OracleError::BudgetExhausted { budget: left, spent: 0, requested }.into());
        }
        Ok(low)
    }

    /// Evaluates and factors; `again` has what was evaluated.
    pub(crate) fn run(
        &self,
        scores: &Scores,
        oracle: &dyn CoreOracle,
        again: &dyn CoreOracle,
    ) -> Result<Fitted, ApproximateError> {
        self.method.check_fit(OracleShape::of(oracle), &self.drawn(scores)?, self.rank)?;
        let rank = self.affordable(scores)?;
        let landmarks = self.chosen(scores, oracle, rank)?;
        let fitted = self.method.fit(oracle, &landmarks, rank, Known::NOTHING, &mut self.stream("fit"))?;
        let (columns, report) = (fitted.landmarks().to_vec(), fitted.report().clone());
        let scattered = fitted.scattered().cloned();
        let embedding = fitted.into_embedding()?;
        let all: Vec<usize> = (0..oracle.len()).collect();
        let known = match self.settings.known && !columns.is_empty() {
            true => Some(block_of(again, &all, &columns)?),
            false => None,
        };
        let mut fitted = Fitted {
            embedding,
            landmarks: columns,
            columns: known,
            scattered,
            report,
            error: None,
            uncounted: 0,
            rank,
            is_cut_short: rank < self.rank,
        };
        if let Some(sample) = self.sample(scores, &landmarks, rank)? {
            let read = fitted.as_read(oracle.known_diagonal())?;
            fitted.error = Some(sample.estimate(again, &read, self.settings.confidence)?);
            if !scores.keeps() {
                let mut set = scores.set();
                set.add(&sample.plan());
                fitted.uncounted = set.evaluations();
            }
        }
        Ok(fitted)
    }
}

impl Fitted {
    /// K̃ as Python reads it. Copies the vectors twice while the error is measured.
    fn as_read(&self, diagonal: Option<f64>) -> Result<Approximation, OracleError> {
        let mut read = self.embedding.product(self.landmarks.clone(), self.report.clone());
        if let Some(columns) = &self.columns {
            read = read.with_known_columns(columns.clone());
        }
        if let Some(scattered) = &self.scattered {
            read = read.with_scattered(scattered.clone())?;
        }
        Ok(match diagonal {
            Some(value) => read.with_diagonal(Diagonal::Constant(value)),
            None => read,
        })
    }

    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Self { embedding, landmarks, columns, scattered, report, error, uncounted, rank, is_cut_short } = self;
        let out = PyDict::new(py);
        let Embedding { vectors, signature, projector, with_addend } = embedding;
        if with_addend.is_some() {
            let (width, landmarks) = (vectors.ncols(), landmarks.clone());
            let (vectors, signature) = (Array2::zeros((0, width)), Array1::zeros(0));
            let embedding = Embedding { vectors, signature, projector: None, with_addend };
            out.set_item("projector", Py::new(py, Projector { embedding, landmarks })?)?;
        } else {
            out.set_item("projector", projector.map(|projector| standard(projector).into_pyarray(py)))?;
        }
        out.set_item("vectors", standard(vectors).into_pyarray(py))?;
        out.set_item("signature", signature.into_pyarray(py))?;
        out.set_item("landmarks", item_array(py, landmarks))?;
        out.set_item("columns", columns.map(|columns| standard(columns).into_pyarray(py)))?;
        if let Some(scattered) = scattered {
            let (pairs, scores): (Vec<Pair>, Vec<f64>) = scattered.pairs().map(|(i, j, score)| ((i, j), score)).unzip();
            out.set_item("scattered_pairs", pair_array(py, pairs)?)?;
            out.set_item("scattered_scores", scores.into_pyarray(py))?;
        }
        out.set_item("report", json!(report).to_string())?;
        out.set_item("error", error.map(|error| error_json(&error).to_string()))?;
        out.set_item("uncounted", uncounted)?;
        out.set_item("rank", rank)?;
        out.set_item("cut_short", is_cut_short)?;
        Ok(out)
    }
}

/// Row by row, as NumPy expects.
fn standard(matrix: Array2<f64>) -> Array2<f64> {
    if matrix.is_standard_layout() { matrix } else { matrix.as_standard_layout().into_owned() }
}

fn error_json(error: &ErrorEstimate) -> Json {
    let part = |estimate: landmark_core::error_estimate::Estimate| json!({ "value": estimate.value, "lower": estimate.lower, "upper": estimate.upper });
    json!({
        "relative_error": error.relative_error, "lower": error.lower, "upper": error.upper,
        "off_diagonal": part(error.off_diagonal), "unevaluated": error.unevaluated.map(part),
        "large_scores": error.agreement.large_scores, "correlation": error.agreement.correlation,
        "confidence": error.confidence, "samples": error.samples,
    })
}

/// Vectors of new items where a proxy takes part.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct Projector {
    embedding: Embedding,
    landmarks: Vec<usize>,
}

#[pymethods]
impl Projector {
    /// Items whose proxy scores embed a new one.
    #[getter]
    fn anchors(&self) -> Vec<usize> {
        self.embedding.anchors().to_vec()
    }

    /// Vectors (m × r) of new items from their similarities to the landmarks (m × t) and each proxy's scores with the landmarks (m × t) and
    /// with the anchors (m × a).
    fn project<'py>(
        &self,
        py: Python<'py>,
        similarities: PyReadonlyArray2<'_, f64>,
        to_landmarks: Vec<PyReadonlyArray2<'_, f64>>,
        to_anchors: Vec<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let owned = |arrays: &[PyReadonlyArray2<'_, f64>]| -> Vec<Array2<f64>> {
            arrays.iter().map(|array| array.as_array().to_owned()).collect()
        };
        let similarities = similarities.as_array();
        let wanted = (similarities.nrows(), self.landmarks.len());
        if similarities.ncols() != wanted.1 || to_landmarks.iter().any(|array| array.as_array().dim() != wanted) {
            let message = format!("similarities of new items are m × {}, one column a landmark", wanted.1);
            return Err(PyValueError::new_err(message));
        }
        let (to_landmarks, to_anchors) = (owned(&to_landmarks), owned(&to_anchors));
        let vectors = detached(py, || {
            self.embedding.project_with_proxy(similarities, &self.landmarks, &to_landmarks, &to_anchors)
        })?;
        let none = || PyValueError::new_err("this method embeds no new items");
        Ok(standard(vectors.ok_or_else(none)?).into_pyarray(py))
    }
}
