//! Requests to one server: made again until they are answered or given up, at its pace and within the money.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use landmark_core::oracle::OracleError;
use url::Url;

use crate::connection::{self, Again, Connection, Fault, Reply};
use crate::error::HttpError;
use crate::flow::Flow;
use crate::params::HttpParams;
use crate::spend_limit::{Exhausted, SpendLimit};

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) url: Url,
    pub(crate) connection: Connection,
    pub(crate) flow: Flow,
    pub(crate) spending: Arc<SpendLimit>,
    patience: Duration,
    retries: AtomicU64,
    warned: Mutex<Option<Instant>>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    answered: Option<Instant>,
    fault: Option<String>,
}

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
            spending: SpendLimit::new(params.price.unwrap_or_default(), money.filter(|_| params.price.is_some())),
            patience: params.patience(),
            retries: AtomicU64::new(0),
            warned: Mutex::default(),
            progress: Mutex::default(),
        })
    }

    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// One request for `calls` calls, made again until it is answered or given up, or until `stop` is set because nobody waits for it any more. Its
    /// patience starts when it is queued, and again whenever the server answers a request while it is there.
    pub(crate) async fn exchange(&self, body: &str, calls: usize, stop: &AtomicBool) -> Result<Reply, HttpError> {
        let mut attempts = None;
        loop {
            // about four bytes a token, which a quota a minute need not know better
            self.flow.pace(body.len() / 4).await;
            let attempts = attempts.get_or_insert_with(|| Attempts::new(self.patience));
            let is_queued = attempts.count == 0;
            let has_waited = || is_queued && self.waited_since(attempts.start) > self.patience;
            let place = self.flow.enter(|| stop.load(Ordering::Relaxed) || has_waited()).await;
            if is_queued {
                attempts.start = self.start_of(attempts.start);
            }
            let Some(place) = place else {
                let last = match stop.load(Ordering::Relaxed) {
                    true => "another request failed for good".to_owned(),
                    // why requests before this one are made again
                    false => {
                        self.progress().fault.clone().unwrap_or_else(|| "no request before it was answered".to_owned())
                    }
                };
                return Err(attempts.given_up(self, last));
            };
            let reserved = self.spending.reserve(body.len(), calls).await.map_err(HttpError::from)?;
            let again = match self.connection.post(body).await {
                Ok((reply, usage)) => {
                    match reply {
                        Reply::TooLarge { .. } => reserved.release(),
                        Reply::Json(_) | Reply::NoJson(_) => reserved.settle(usage),
                    }
                    place.succeeded();
                    self.progress().answered = Some(Instant::now());
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
            self.progress().fault = Some(again.what.clone());
            self.wait(attempts, again, stop).await?;
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time from which a request in the queue has waited in vain: since it came, or since the last answer.
    fn start_of(&self, queued: Instant) -> Instant {
        self.progress().answered.map_or(queued, |answered| answered.max(queued))
    }

    fn waited_since(&self, queued: Instant) -> Duration {
        self.start_of(queued).elapsed()
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
                Err(Fault::Again(again)) => self.wait(&mut attempts, again, &AtomicBool::new(false)).await?,
            }
        }
    }

    /// Waits before the next attempt, until nobody waits for its answer any more. A wait beyond the patience ends the request at once, and with
    /// it the run: those in the queue don't sit through it.
    async fn wait(&self, attempts: &mut Attempts, again: Again, stop: &AtomicBool) -> Result<(), HttpError> {
        attempts.count += 1;
        let wait = again.wait.unwrap_or_else(|| connection::backoff(attempts.count));
        if attempts.start.elapsed() + wait > attempts.patience {
            let asked = again.wait.map(|wait| format!("; it asks for a wait of {}", in_units(wait)));
            return Err(attempts.given_up(self, again.what + &asked.unwrap_or_default()));
        }
        if again.wait.is_some() {
            self.flow.pause(wait);
        }
        if wait >= WARN_FROM && self.is_time_to_warn() {
            let left = attempts.patience.saturating_sub(attempts.start.elapsed());
            let (wait, left) = (in_units(wait), in_units(left));
            let tries = attempts.count;
            tracing::warn!("waiting {wait} for {}: {}; tried {tries} times, gives up in {left}", self.url, again.what);
        }
        self.retries.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("{} {}; again in {:.1} s", self.url, again.what, wait.as_secs_f64());
        let until = Instant::now() + wait;
        while !stop.load(Ordering::Relaxed)
            && let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            tokio::time::sleep(left.min(LOOK)).await;
        }
        Ok(())
    }

    /// True once in a while: requests that fail together are reported once.
    fn is_time_to_warn(&self) -> bool {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = warned.is_none_or(|warned| warned.elapsed() >= WARN_EVERY);
        if is_time {
            *warned = Some(Instant::now());
        }
        is_time
    }
}

/// Waits from which on there is a warning, and the time between two.
const WARN_FROM: Duration = Duration::from_secs(3);
const WARN_EVERY: Duration = Duration::from_secs(10);
/// A wait looks so often whether somebody still waits for its end.
const LOOK: Duration = Duration::from_millis(200);

/// A wait in words: `7 s`, `9 min`, `15 h`.
fn in_units(wait: Duration) -> String {
    match wait.as_secs_f64() {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.0} h", seconds / 3600.0),
    }
}

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
