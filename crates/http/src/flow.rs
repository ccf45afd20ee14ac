//! Number of requests in flight, and the time at which the next may leave.
//!
//! The number is halved when the server is overwhelmed and grows by one a round of successes; a wait that the server asks for
//! holds for all. Limits a minute that are known in advance are kept by token buckets. A request that waits holds no place.

use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::Notify;

use crate::params::HttpParams;

/// A wait looks so often whether somebody still waits for its end.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Flow {
    most: f64,
    state: Mutex<State>,
    changed: Notify,
    requests: Option<DefaultDirectRateLimiter>,
    tokens: Option<(DefaultDirectRateLimiter, NonZeroU32)>,
}

#[derive(Debug)]
struct State {
    limit: f64,
    in_flight: usize,
    paused_until: Option<Instant>,
    halved_at: Instant,
}

/// A request that is in flight, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    flow: &'a Flow,
    since: Instant,
}

impl Flow {
    pub(crate) fn new(params: &HttpParams) -> Self {
        let limiter = |limit: Option<u32>| {
            let limit = NonZeroU32::new(limit?)?;
            Some((RateLimiter::direct(Quota::per_minute(limit)), limit))
        };
        let most = params.in_flight as f64;
        let state = State { limit: most, in_flight: 0, paused_until: None, halved_at: Instant::now() };
        Self {
            most,
            state: Mutex::new(state),
            changed: Notify::new(),
            requests: limiter(params.requests_per_minute).map(|(limiter, _)| limiter),
            tokens: limiter(params.tokens_per_minute),
        }
    }

    /// Waits until the limits per minute allow a request.
    pub(crate) async fn pace(&self, tokens: usize) {
        if let Some((limiter, limit)) = &self.tokens {
            // a request above the whole quota takes all of it
            let tokens = u32::try_from(tokens).ok().and_then(NonZeroU32::new).unwrap_or(*limit).min(*limit);
            // fails for more than the quota alone
            let _ = limiter.until_n_ready(tokens).await;
        }
        if let Some(limiter) = &self.requests {
            limiter.until_ready().await;
        }
    }

    /// A place among those in flight, once there is one; none once `is_over` returns true because nobody waits for it any more.
    pub(crate) async fn enter(&self, is_over: impl Fn() -> bool) -> Option<Place<'_>> {
        loop {
            if is_over() {
                return None;
            }
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let pause = {
                let mut state = self.lock();
                let now = Instant::now();
                let pause = state.paused_until.filter(|&until| until > now);
                if pause.is_none() && state.in_flight < state.limit as usize {
                    state.in_flight += 1;
                    return Some(Place { flow: self, since: now });
                }
                pause
            };
            let look = Instant::now() + LOOK;
            match pause {
                Some(until) => tokio::time::sleep_until(until.min(look).into()).await,
                // the end of this wait is looked for, whether or not a place became free
                None => drop(tokio::time::timeout_at(look.into(), changed).await),
            }
        }
    }

    pub(crate) fn pause(&self, wait: Duration) {
        let mut state = self.lock();
        let until = Instant::now() + wait;
        state.paused_until = Some(state.paused_until.map_or(until, |earlier| earlier.max(until)));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    pub(crate) fn succeeded(self) {
        let mut state = self.flow.lock();
        let limit = state.limit;
        state.limit = (limit + 1.0 / limit).min(self.flow.most);
    }

    /// The server was overwhelmed. Those that left before the last halving carry no new information.
    pub(crate) fn overwhelmed(self) {
        let mut state = self.flow.lock();
        if self.since >= state.halved_at {
            state.limit = (state.limit / 2.0).max(1.0);
            state.halved_at = Instant::now();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.flow.lock().in_flight -= 1;
        // more than one may find a place where the limit grew
        self.flow.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOES_ON: fn() -> bool = || false;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn a_refusal_halves_once_a_round_and_successes_grow_back() {
        let flow = Flow::new(&HttpParams { in_flight: 8, ..HttpParams::default() });
        run(async {
            let (first, second) = (flow.enter(GOES_ON).await.unwrap(), flow.enter(GOES_ON).await.unwrap());
            first.overwhelmed();
            second.overwhelmed();
            assert_eq!(flow.lock().limit as usize, 4, "both left before the halving");
            flow.enter(GOES_ON).await.unwrap().overwhelmed();
            assert_eq!(flow.lock().limit as usize, 2);
            for _ in 0..100 {
                flow.enter(GOES_ON).await.unwrap().succeeded();
            }
            assert_eq!(flow.lock().limit as usize, 8);
        });
    }

    #[test]
    fn never_more_are_in_flight_than_the_limit() {
        let flow = Flow::new(&HttpParams { in_flight: 2, ..HttpParams::default() });
        run(async {
            let (first, second) = (flow.enter(GOES_ON).await.unwrap(), flow.enter(GOES_ON).await.unwrap());
            let third = flow.enter(GOES_ON);
            let mut third = std::pin::pin!(third);
            assert!(futures_util::poll!(third.as_mut()).is_pending());
            drop(first);
            drop(third.await);
            drop(second);
            assert_eq!(flow.lock().in_flight, 0);
        });
    }

    #[test]
    fn a_pause_ends_when_nobody_waits_any_more() {
        let flow = Flow::new(&HttpParams::default());
        run(async {
            flow.pause(Duration::from_secs(3600));
            let asked = Instant::now();
            let stop = &std::sync::atomic::AtomicBool::new(false);
            let ended = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            };
            let (place, ()) =
                futures_util::future::join(flow.enter(|| stop.load(std::sync::atomic::Ordering::Relaxed)), ended).await;
            assert!(place.is_none() && asked.elapsed() < Duration::from_secs(5));
        });
    }
}
