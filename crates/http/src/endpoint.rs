//! An endpoint as an oracle: columns cut into requests, requests answered, what fails found by halving.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, StreamExt};
use landmark_core::oracle::{
    Attempt, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, PairErrors, Symmetry, attempt_off_diagonal,
};
use landmark_oracles::subprocess::{FailedPairs, ScoredItems};
use serde::Serialize;
use url::Url;

use crate::client::{self, Client};
use crate::connection;
use crate::error::HttpError;
use crate::params::{ChangedModel, HttpParams, Shape};
use crate::rating::shortened;
use crate::shape;
use crate::spend_limit::{Paid, PriceEstimate};

mod blame;
mod dividing;
mod jobs;
mod repeated;

use blame::Blame;
use jobs::Jobs;
pub use repeated::Repeated;
use repeated::RepeatedAnswers;

const ENDPOINT: &str = "an endpoint";
const WARNINGS: u64 = 5;
/// Failed pairs after which an endpoint that scored none is given up, whatever failed pairs may do.
const MOST_FAILED: u64 = 20;

pub struct Http {
    params: HttpParams,
    items: Arc<ScoredItems>,
    identity: Identity,
    runtime: tokio::runtime::Runtime,
    client: Client,
    jobs: Option<Jobs>,
    /// Pairs of a request that the server takes, as far as it is known.
    largest: AtomicUsize,
    model: Mutex<Option<String>>,
    changed: AtomicU64,
    scored: AtomicBool,
    failed: AtomicU64,
    blame: Blame,
    /// Held by the one request that looks for the item at fault.
    inquiry: tokio::sync::Mutex<()>,
    /// The endpoint was asked for two items that are no suspects.
    probed: AtomicBool,
    pair_errors: PairErrors,
    repeated: RepeatedAnswers,
}

impl Http {
    /// Prepares requests about these items, and makes none. `money` is the most that may be spent.
    ///
    /// # Errors
    /// A parameter out of range, a key that the environment lacks, a certificate that cannot be read.
    pub fn new(params: HttpParams, items: Arc<ScoredItems>, money: Option<f64>) -> Result<Self, HttpError> {
        let url = params.check()?;
        let scores = identity(&params, FailedPairs::Error, &url, items.identity());
        Ok(Self {
            identity: identity(&params, params.failed_pairs, &url, items.identity()),
            client: Client::new(&params, &url, money)?,
            jobs: params.batch.as_ref().map(|batch| Jobs::new(batch, &url, &scores)),
            runtime: client::runtime(&url)?,
            largest: AtomicUsize::new(params.pairs_per_request()),
            repeated: RepeatedAnswers::default(),
            items,
            params,
            model: Mutex::default(),
            changed: AtomicU64::new(0),
            scored: AtomicBool::new(false),
            failed: AtomicU64::new(0),
            blame: Blame::default(),
            inquiry: tokio::sync::Mutex::default(),
            probed: AtomicBool::new(false),
            pair_errors: PairErrors::default(),
        })
    }

    pub fn url(&self) -> &Url {
        &self.client.url
    }

    /// Digest of all that moves a score but the items.
    pub fn identity_apart_from_items(&self) -> Identity {
        identity(&self.params, FailedPairs::Error, self.url(), ScoredItems::NONE)
    }

    pub fn items(&self) -> &Arc<ScoredItems> {
        &self.items
    }

    /// True where the configuration states what tokens or requests cost.
    pub fn has_price(&self) -> bool {
        self.params.price.is_some()
    }

    pub fn paid(&self) -> Paid {
        self.client.spending.paid()
    }

    /// Price of `calls` calls by what those so far have cost; `None` before two requests were answered, and without a price.
    pub fn price_of(&self, calls: u64) -> Option<PriceEstimate> {
        self.params.price?;
        self.client.spending.estimate(calls, self.largest.load(Ordering::Relaxed))
    }

    /// Variation of the answers to one pair, if there are several.
    pub fn repeated(&self) -> Option<Repeated> {
        self.repeated.measured()
    }

    pub fn model(&self) -> Option<String> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers of another model or fingerprint than the first.
    pub fn changed_models(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// Pairs that could not be scored so far.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub fn retries(&self) -> u64 {
        self.client.retries()
    }

    /// Scores pairs until one of them ends the work; what is in flight then is still waited for.
    async fn score(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), HttpError> {
        if let Some(jobs) = &self.jobs {
            return jobs.score(self, pairs, out).await;
        }
        let stop = &AtomicBool::new(false);
        let batches = shape::cut(&self.params, pairs, self.largest.load(Ordering::Relaxed));
        let answers = stream::iter(&batches).map(async |batch| {
            let (scores, outcome) = self.mean(batch, stop).await;
            (batch, scores, outcome)
        });
        // what is ahead of the limit of the flow waits there, so that a grown limit is used at once
        let mut answers = answers.buffer_unordered(self.params.in_flight);
        let mut outcome = Ok(());
        while let Some((batch, scores, ended)) = answers.next().await {
            for (&place, &score) in batch.places.iter().zip(&scores) {
                out[place] = score;
            }
            if ended.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            outcome = outcome.and(ended);
        }
        outcome
    }

    /// The body of a request about a few pairs.
    fn body(&self, pairs: &[Pair]) -> String {
        let texts = self.items.texts();
        let texts: Vec<shape::Texts<'_>> = pairs.iter().map(|&(i, j)| (&*texts[i], &*texts[j])).collect();
        shape::request(&self.params, &texts).to_string()
    }

    fn understand(&self, answer: &serde_json::Value, count: usize) -> Result<Result<Vec<f64>, String>, HttpError> {
        self.check_model(answer)?;
        let scores = shape::scores(&self.params, answer, count).map_err(|reason| match connection::error_in(answer) {
            Some(error) => format!("{reason}, but the error `{}`", shortened(&error.to_string())),
            None => reason,
        });
        if scores.is_ok() {
            self.scored.store(true, Ordering::Relaxed);
        }
        Ok(scores)
    }

    fn check_model(&self, answer: &serde_json::Value) -> Result<(), HttpError> {
        let Some(second) = shape::answered_by(answer) else { return Ok(()) };
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let first = model.get_or_insert_with(|| second.clone());
        if *first == second {
            return Ok(());
        }
        if self.params.changed_model == ChangedModel::Error {
            return Err(HttpError::ChangedModel { url: self.url().to_string(), first: first.clone(), second });
        }
        if self.changed.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("{} answered as `{second}` after `{first}`: scores of both are mixed", self.url());
        }
        Ok(())
    }

    /// A pair as its failure is noted: the order of a symmetric one is that of its request, which may turn it around.
    fn noted_as(&self, (i, j): Pair) -> Pair {
        if self.params.symmetric { (i.min(j), i.max(j)) } else { (i, j) }
    }

    /// Notes that a pair cannot be scored; an error where that is one, or where no pair ever was.
    fn fail(&self, (i, j): Pair, reason: String) -> Result<(), HttpError> {
        let ids = self.items.ids();
        let next_step = match (self.scored.load(Ordering::Relaxed), self.params.failed_pairs) {
            (false, _) => "compare `oracle.shape` and `oracle.fields` with the server's documentation",
            (true, FailedPairs::Error) => "look at these two items, or set `oracle.failed_pairs: { score: 0 }`",
            (true, FailedPairs::Score(_)) => "look at these two items",
        };
        let pair = format!("(`{}`, `{}`)", ids[i], ids[j]);
        let error = HttpError::Malformed { url: self.url().to_string(), pair, reason, next_step };
        self.pair_errors.note(self.noted_as((i, j)), error.to_string());
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        let FailedPairs::Score(score) = self.params.failed_pairs else { return Err(error) };
        if failed >= MOST_FAILED && !self.scored.load(Ordering::Relaxed) {
            return Err(HttpError::AllFailed { url: self.url().to_string(), failed, last: Box::new(error) });
        }
        match failed {
            ..WARNINGS => tracing::warn!("{error}; it gets the score {score}"),
            WARNINGS => tracing::warn!("{error}; it gets the score {score}. Further ones are counted"),
            _ => tracing::debug!("{error}; it gets the score {score}"),
        }
        Ok(())
    }
}

/// Digest of all that moves a score. Not of it are the key, the pace and the price.
fn identity(params: &HttpParams, failed_pairs: FailedPairs, url: &Url, items: Identity) -> Identity {
    let request = BTreeMap::from_iter(&params.request);
    // an endpoint that moved answers under its earlier address
    let stored_at = params.identity.as_deref().and_then(|earlier| Url::parse(earlier).ok());
    let url = stored_at.as_ref().unwrap_or(url);
    Identity::of(&[
        ("kind", b"http v1"),
        ("url", connection::public(url).as_str().as_bytes()),
        ("shape", &json(&params.shape)),
        ("model", &json(&params.model)),
        ("revision", &json(&params.revision)),
        ("fields", &json(&params.fields)),
        ("request", &json(&request)),
        ("system", &json(&params.system)),
        ("prompt", &json(&params.prompt)),
        ("rating", &json(&params.rating)),
        ("pairs", &json(&(params.shape == Shape::Chat).then(|| params.pairs_per_request()))),
        ("symmetric", &json(&params.symmetric)),
        ("diagonal", &json(&params.diagonal)),
        ("repeats", &json(&params.repeats)),
        ("failed pairs", &json(&failed_pairs)),
        ("items", items.as_bytes()),
    ])
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // names and numbers, which always have a form in JSON
    serde_json::to_vec(value).unwrap_or_default()
}

impl Oracle for Http {
    fn shape(&self) -> OracleShape {
        let symmetry = if self.params.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let requests = self.params.batch.as_ref().map_or(self.params.in_flight, |batch| batch.requests);
        OracleShape {
            known_diagonal: self.params.diagonal,
            evaluations_per_pair: self.params.repeats as u64,
            calls_at_once: requests * self.largest.load(Ordering::Relaxed),
            ..OracleShape::new(self.items.len(), symmetry)
        }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        Some(self)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.attempt(pairs, out).settled(ENDPOINT, self.stand_in(), out)
    }
}

impl Fallible for Http {
    fn identity_of_scores(&self) -> Identity {
        // its query alone is secret, and no part of the identity
        identity(&self.params, FailedPairs::Error, self.url(), self.items.identity())
    }

    fn stand_in(&self) -> Option<f64> {
        self.params.failed_pairs.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        attempt_off_diagonal((self.len(), self.params.diagonal), pairs, out, |pairs, out| {
            let error = self.runtime.block_on(self.score(pairs, out)).err();
            let asked: Vec<Pair> = pairs.iter().map(|&pair| self.noted_as(pair)).collect();
            let failed = self.pair_errors.take(&asked, out);
            // the error is that of the failed pair
            let is_reported = self.stand_in().is_none() && !failed.is_empty();
            Attempt { failed, error: error.filter(|_| !is_reported).map(OracleError::from) }
        })
    }
}
