//! Requests to one server: made again until they are answered or given up, at its pace and within the money.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use landmark_core::oracle::OracleError;
use url::Url;

use crate::connection::{self, Again, Connection, Fault, Reply};
use crate::error::HttpError;
use crate::flow::Flow;
use crate::params::HttpParams;
use crate::purse::{Exhausted, Purse};

/// A server, and what was asked of it so far.
#[derive(Debug)]
pub(crate) struct Client {
    /// The address, without what might be secret.
    pub(crate) url: Url,
    pub(crate) connection: Connection,
    pub(crate) flow: Flow,
    pub(crate) purse: Arc<Purse>,
    patience: Duration,
    retries: AtomicU64,
}

/// Attempts at one request.
struct Attempts {
    start: Instant,
    count: u32,
    patience: Duration,
}

impl Client {
    pub(crate) fn new(params: &HttpParams, url: &Url, money: Option<f64>) -> Result<Self, HttpError> {
        Ok(Self {
            url: connection::public(url),
            connection: Connection::new(params, url)?,
            flow: Flow::new(params),
            purse: Purse::new(params.price.unwrap_or_default(), money.filter(|_| params.price.is_some())),
            patience: params.patience(),
            retries: AtomicU64::new(0),
        })
    }

    /// Requests that were made again so far.
    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// One request for so many calls, made again until it is answered or given up, or `stop` says that nobody waits for it any more.
    pub(crate) async fn exchange(&self, body: &str, calls: usize, stop: &AtomicBool) -> Result<Reply, HttpError> {
        let mut attempts = Attempts::new(self.patience);
        loop {
            // about four bytes a token, which a quota a minute need not know better
            let place = self.flow.enter(body.len() / 4).await;
            if stop.load(Ordering::Relaxed) {
                return Err(attempts.given_up(self, "another request failed for good".to_owned()));
            }
            let reserved = self.purse.reserve(body.len(), calls).await.map_err(HttpError::from)?;
            let again = match self.connection.post(body).await {
                Ok((reply, usage)) => {
                    match reply {
                        Reply::TooLarge { .. } => reserved.release(),
                        Reply::Json(_) | Reply::NoJson(_) => reserved.settle(usage),
                    }
                    place.succeeded();
                    return Ok(reply);
                }
                Err(Fault::Final(error)) => {
                    reserved.release();
                    return Err(error);
                }
                Err(Fault::Again(again)) => again,
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
            self.wait(&mut attempts, again).await?;
        }
    }

    /// One request about jobs, free of charge, made again until it is answered or given up.
    pub(crate) async fn about_jobs(
        &self,
        url: &Url,
        body: Option<(&str, &[u8])>,
        most_bytes: usize,
    ) -> Result<Vec<u8>, HttpError> {
        let mut attempts = Attempts::new(self.patience);
        loop {
            let body = body.map(|(kind, bytes)| (kind, bytes.to_vec()));
            match self.connection.about_jobs(url, body, most_bytes).await {
                Ok(answer) => return Ok(answer),
                Err(Fault::Final(error)) => return Err(error),
                Err(Fault::Again(again)) => self.wait(&mut attempts, again).await?,
            }
        }
    }

    async fn wait(&self, attempts: &mut Attempts, again: Again) -> Result<(), HttpError> {
        attempts.count += 1;
        let wait = again.wait.unwrap_or_else(|| connection::backoff(attempts.count));
        if attempts.start.elapsed() + wait > attempts.patience {
            // nor do the requests behind this one sit through a wait that is too long
            let asked = again.wait.map(|wait| format!("; it asks for a wait of {} s", wait.as_secs()));
            return Err(attempts.given_up(self, again.what + &asked.unwrap_or_default()));
        }
        if again.wait.is_some() {
            self.flow.pause(wait);
        }
        if wait >= TOLD {
            let url = connection::public(&self.url);
            tracing::warn!("waiting {} s for {url}: {}", wait.as_secs(), again.what);
        }
        self.retries.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("{} {}; again in {:.1} s", self.url, again.what, wait.as_secs_f64());
        tokio::time::sleep(wait).await;
        Ok(())
    }
}

/// A wait from here on is told.
const TOLD: Duration = Duration::from_secs(10);

impl Attempts {
    fn new(patience: Duration) -> Self {
        Self { start: Instant::now(), count: 0, patience }
    }

    fn given_up(&self, client: &Client, last: String) -> HttpError {
        let seconds = self.start.elapsed().as_secs_f64();
        HttpError::GaveUp { url: client.url.to_string(), attempts: self.count, seconds, last }
    }
}

impl From<Exhausted> for HttpError {
    fn from(exhausted: Exhausted) -> Self {
        let Exhausted { limit, spent, wanted } = exhausted;
        Self::Money(OracleError::MoneyExhausted { limit, spent, wanted })
    }
}

/// A runtime of one thread, whose requests wait for the network alone.
pub(crate) fn runtime(url: &Url) -> Result<tokio::runtime::Runtime, HttpError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(|error| HttpError::Client { url: connection::public(url).to_string(), what: error.to_string() })
}
