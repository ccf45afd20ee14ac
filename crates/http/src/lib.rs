//! Scores behind an HTTP endpoint as an oracle: rerankers, pair scorers, chat models as judges.
//!
//! Cost of a column of n items: ⌈n / `pairs_per_request`⌉ requests, `in_flight` at a time. Retried are 408, 425, 429, 5xx,
//! connections that break and requests that take too long, with a wait that the server names or one that doubles, for
//! `patience_seconds` at most. 413 and 422 of several pairs halve the request, now and for good: the server's limit is met. An
//! answer that makes no sense halves it until the pair stands alone and is named. All other answers are final.
//!
//! A limit on money is never passed, not by requests under way either: what a request can cost at most is set aside before
//! it leaves ([`Paid`]). The key comes from the environment, and goes nowhere but into the header.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use landmark_core::oracle::{Identity, Oracle, OracleError, Pair, Symmetry, check_pairs};
use landmark_oracles::subprocess::{FailedPairs, ScoredItems};
use serde::Serialize;
use url::Url;

mod connection;
mod error;
mod flow;
mod params;
mod purse;
mod rating;
mod shape;
mod wait;

pub use error::HttpError;
pub use params::{ChangedModel, Fields, HttpParams, Shape};
pub use purse::{Paid, Price};
pub use rating::{Rating, RatingSource};

use connection::{Connection, Reply};
use flow::Flow;
use purse::Purse;
use shape::Batch;

/// Failed pairs that are named.
const WARNINGS: u64 = 5;
/// Failed pairs after which an endpoint that scored none is given up, whatever failed pairs may do.
const HOPELESS: u64 = 20;

/// An endpoint as an oracle over texts.
pub struct Http {
    params: HttpParams,
    url: Url,
    items: Arc<ScoredItems>,
    identity: Identity,
    runtime: tokio::runtime::Runtime,
    connection: Connection,
    flow: Flow,
    purse: Arc<Purse>,
    /// Pairs of a request that the server takes, as far as it is known.
    largest: AtomicUsize,
    /// Model and fingerprint of the first answer.
    model: Mutex<Option<String>>,
    changed: AtomicU64,
    scored: AtomicBool,
    failed: AtomicU64,
    retries: AtomicU64,
}

impl Http {
    /// Prepares requests about these items, and makes none. `money` is the most that may be spent.
    ///
    /// # Errors
    /// A parameter out of range, a key that the environment lacks, a certificate that cannot be read.
    pub fn new(params: HttpParams, items: Arc<ScoredItems>, money: Option<f64>) -> Result<Self, HttpError> {
        let url = params.check()?;
        let connection = Connection::new(&params, &url)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| HttpError::Client {
            url: connection::public(&url).to_string(),
            what: error.to_string(),
        })?;
        let price = params.price.unwrap_or_default();
        let limit = money.filter(|_| params.price.is_some());
        Ok(Self {
            identity: identity(&params, &url, &items),
            connection,
            flow: Flow::new(&params),
            purse: Purse::new(price, limit),
            largest: AtomicUsize::new(params.pairs_per_request()),
            url: connection::public(&url),
            items,
            runtime,
            params,
            model: Mutex::default(),
            changed: AtomicU64::new(0),
            scored: AtomicBool::new(false),
            failed: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        })
    }

    /// The address, without what might be secret.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The items.
    pub fn items(&self) -> &Arc<ScoredItems> {
        &self.items
    }

    /// Money paid so far.
    pub fn paid(&self) -> Paid {
        self.purse.paid()
    }

    /// Model and fingerprint of the first answer.
    pub fn model(&self) -> Option<String> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers of another model or fingerprint than the first.
    pub fn changed_models(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// Pairs that got the score of `failed_pairs` so far.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Requests that were made again so far.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    async fn score(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), HttpError> {
        let batches = shape::cut(&self.params, pairs, self.largest.load(Ordering::Relaxed));
        let answers = stream::iter(&batches).map(async |batch| {
            let mut mean = vec![0.0; batch.pairs.len()];
            for _ in 0..self.params.repeats {
                let scores = self.answer(&batch.pairs).await?;
                mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / self.params.repeats as f64);
            }
            Ok::<(&Batch, Vec<f64>), HttpError>((batch, mean))
        });
        // what is ahead of the limit of the flow waits there, so that a grown limit is used at once
        let mut answers = answers.buffer_unordered(self.params.in_flight);
        while let Some((batch, scores)) = answers.try_next().await? {
            for (&place, score) in batch.places.iter().zip(scores) {
                out[place] = score;
            }
        }
        Ok(())
    }

    /// The scores of a few pairs: in one request, or in halves of it.
    fn answer<'a>(&'a self, pairs: &'a [Pair]) -> BoxFuture<'a, Result<Vec<f64>, HttpError>> {
        Box::pin(async move {
            if pairs.len() > self.largest.load(Ordering::Relaxed) {
                return self.halves(pairs).await;
            }
            let texts = self.items.texts();
            let texts: Vec<shape::Texts<'_>> = pairs.iter().map(|&(i, j)| (&*texts[i], &*texts[j])).collect();
            let body = shape::request(&self.params, &texts).to_string();
            let reason = match self.exchange(&body).await? {
                Reply::TooLarge { .. } if pairs.len() > 1 => {
                    self.largest.fetch_min(pairs.len().div_ceil(2), Ordering::Relaxed);
                    return self.halves(pairs).await;
                }
                Reply::TooLarge { status, said } => format!("it answered {status}: {said}"),
                Reply::Json(answer) => {
                    self.recognise(&answer)?;
                    match shape::scores(&self.params, &answer, pairs.len()) {
                        Ok(scores) => {
                            self.scored.store(true, Ordering::Relaxed);
                            return Ok(scores);
                        }
                        Err(reason) => reason,
                    }
                }
                Reply::NoJson(said) => format!("it answered `{said}`, which is not JSON"),
            };
            match pairs {
                [pair] => self.fail(*pair, reason).map(|score| vec![score]),
                _ => self.halves(pairs).await,
            }
        })
    }

    async fn halves(&self, pairs: &[Pair]) -> Result<Vec<f64>, HttpError> {
        let (first, second) = pairs.split_at(pairs.len() / 2);
        let mut scores = self.answer(first).await?;
        scores.extend(self.answer(second).await?);
        Ok(scores)
    }

    /// One request, made again until it is answered or given up.
    async fn exchange(&self, body: &str) -> Result<Reply, HttpError> {
        let start = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            // about four bytes a token, which a quota a minute need not know better
            let place = self.flow.enter(body.len() / 4).await;
            let reserved = self.purse.reserve(body.len()).await.map_err(|exhausted| {
                let (limit, spent) = (exhausted.limit, exhausted.spent);
                HttpError::Money(OracleError::MoneyExhausted { limit, spent, wanted: exhausted.wanted })
            })?;
            let outcome = self.connection.post(body).await;
            let again = match outcome {
                Ok((reply, usage)) => {
                    match reply {
                        Reply::TooLarge { .. } => reserved.release(),
                        Reply::Json(_) | Reply::NoJson(_) => reserved.settle(usage),
                    }
                    place.succeeded();
                    return Ok(reply);
                }
                Err(connection::Fault::Final(error)) => {
                    reserved.release();
                    return Err(error);
                }
                Err(connection::Fault::Again(again)) => again,
            };
            if again.may_be_charged {
                drop(reserved);
            } else {
                reserved.release();
            }
            if again.is_overwhelmed {
                place.overwhelmed();
            } else {
                drop(place);
            }
            if let Some(wait) = again.wait {
                self.flow.pause(wait);
            }
            let wait = again.wait.unwrap_or_else(|| connection::backoff(attempts));
            if start.elapsed() + wait > self.params.patience() {
                let seconds = start.elapsed().as_secs_f64();
                return Err(HttpError::GaveUp { url: self.url.to_string(), attempts, seconds, last: again.what });
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            tracing::debug!("{} {}; again in {:.1} s", self.url, again.what, wait.as_secs_f64());
            tokio::time::sleep(wait).await;
        }
    }

    /// Notices another model than the first.
    fn recognise(&self, answer: &serde_json::Value) -> Result<(), HttpError> {
        let Some(second) = shape::answered_by(answer) else { return Ok(()) };
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let first = model.get_or_insert_with(|| second.clone());
        if *first == second {
            return Ok(());
        }
        if self.params.changed_model == ChangedModel::Error {
            return Err(HttpError::ChangedModel { url: self.url.to_string(), first: first.clone(), second });
        }
        if self.changed.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("{} answered as `{second}` after `{first}`: scores of both are mixed", self.url);
        }
        Ok(())
    }

    /// Score, or error, of a pair that cannot be scored.
    fn fail(&self, (i, j): Pair, reason: String) -> Result<f64, HttpError> {
        let ids = self.items.ids();
        let next_step = match (self.scored.load(Ordering::Relaxed), self.params.failed_pairs) {
            (false, _) => "compare `oracle.shape` and `oracle.fields` with the server's documentation",
            (true, FailedPairs::Error) => "look at these two items, or set `oracle.failed_pairs: { score: 0 }`",
            (true, FailedPairs::Score(_)) => "look at these two items",
        };
        let pair = format!("(`{}`, `{}`)", ids[i], ids[j]);
        let error = HttpError::Malformed { url: self.url.to_string(), pair, reason, next_step };
        let FailedPairs::Score(score) = self.params.failed_pairs else { return Err(error) };
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        if failed >= HOPELESS && !self.scored.load(Ordering::Relaxed) {
            return Err(HttpError::Hopeless { url: self.url.to_string(), failed, last: Box::new(error) });
        }
        match failed {
            ..WARNINGS => tracing::warn!("{error}; it gets the score {score}"),
            WARNINGS => tracing::warn!("{error}; it gets the score {score}. Further ones are counted"),
            _ => tracing::debug!("{error}; it gets the score {score}"),
        }
        Ok(score)
    }
}

/// Digest of all that moves a score. Not of it are the key, the pace and the price.
fn identity(params: &HttpParams, url: &Url, items: &ScoredItems) -> Identity {
    let request = BTreeMap::from_iter(&params.request);
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
        ("failed pairs", &json(&params.failed_pairs)),
        ("items", items.identity().as_bytes()),
    ])
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // names and numbers, which always have a form in JSON
    serde_json::to_vec(value).unwrap_or_default()
}

impl Oracle for Http {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn symmetry(&self) -> Symmetry {
        if self.params.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.params.diagonal
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.params.repeats as u64
    }

    fn calls_at_once(&self) -> usize {
        self.params.in_flight * self.largest.load(Ordering::Relaxed)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        let Some(diagonal) = self.params.diagonal.filter(|_| pairs.iter().any(|(i, j)| i == j)) else {
            return Ok(self.runtime.block_on(self.score(pairs, out))?);
        };
        let asked: Vec<Pair> = pairs.iter().copied().filter(|(i, j)| i != j).collect();
        let mut scores = vec![0.0; asked.len()];
        self.runtime.block_on(self.score(&asked, &mut scores))?;
        let mut scores = scores.into_iter();
        for ((i, j), out) in pairs.iter().zip(out) {
            *out = if i == j { diagonal } else { scores.next().unwrap_or(f64::NAN) };
        }
        Ok(())
    }
}
