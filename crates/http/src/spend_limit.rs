//! Money: reserved before a request leaves, settled when its answer is there.
//!
//! What a request can cost at most is set aside first, so that what was spent and what is in flight never pass the limit
//! together. A token is at least one byte, so the bytes of a request bound its tokens. A request that was cut off
//! may have been charged: it counts as if it had been, in full.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use landmark_core::parameter::BadParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::Notify;

use crate::moments::Moments;

/// Prices of a server, in the currency of `budget.money`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Of a million tokens that are sent.
    pub input: f64,
    /// Of a million tokens that are answered.
    pub output: f64,
    pub request: f64,
    /// Tokens of an answer, at most; what bounds the cost of a request in advance.
    pub output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Paid {
    /// Money, requests of unknown fate included in full.
    pub money: f64,
    pub in_doubt: f64,
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

#[derive(Debug, Default)]
pub(crate) struct SpendLimit {
    price: Price,
    limit: Option<f64>,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    paid: Paid,
    reserved: f64,
    in_flight: usize,
    /// Cost of a call's tokens, over the requests that were answered.
    tokens: Moments,
}

/// Price of calls that are still to be made, estimated from those that were made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceEstimate {
    pub money: f64,
    /// Lower and upper end of its 95 % interval.
    pub interval: (f64, f64),
    pub requests: u64,
}

/// The limit was reached before a request left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exhausted {
    pub(crate) limit: f64,
    pub(crate) spent: f64,
    pub(crate) wanted: f64,
}

/// Money set aside for a request; dropped before it is settled or released it counts as spent, in doubt.
#[derive(Debug)]
pub(crate) struct Reserved {
    spending: Arc<SpendLimit>,
    most: f64,
    calls: usize,
    is_booked: bool,
}

impl Price {
    pub(crate) fn check(&self) -> Result<(), BadParameter> {
        for (parameter, price) in
            [("price.input", self.input), ("price.output", self.output), ("price.request", self.request)]
        {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(BadParameter::new(parameter, price, "a number of at least 0"));
            }
        }
        if self.output > 0.0 && self.output_tokens == 0 {
            let wanted = "the most tokens of an answer, as its `max_tokens`, where `price.output` is above 0";
            return Err(BadParameter::new("price.output_tokens", 0, wanted));
        }
        Ok(())
    }

    fn of(&self, usage: Usage) -> f64 {
        self.request + (self.input * usage.input as f64 + self.output * usage.output as f64) / 1e6
    }

    pub(crate) fn most(&self, bytes: usize) -> f64 {
        self.of(Usage { input: bytes as u64, output: self.output_tokens })
    }
}

impl Usage {
    pub(crate) fn of(answer: &Json) -> Option<Self> {
        let count = |names: &[&str]| names.iter().find_map(|name| answer.pointer(name).and_then(Json::as_u64));
        let total = count(&["/usage/total_tokens"]);
        let output = count(&["/usage/completion_tokens", "/usage/output_tokens"]);
        let input = count(&["/usage/prompt_tokens", "/usage/input_tokens", "/meta/billed_units/input_tokens"])
            .or_else(|| Some(total?.saturating_sub(output.unwrap_or(0))));
        input.map(|input| Self { input, output: output.unwrap_or(0) })
    }
}

impl SpendLimit {
    pub(crate) fn new(price: Price, limit: Option<f64>) -> Arc<Self> {
        Arc::new(Self { price, limit, ..Self::default() })
    }

    pub(crate) fn paid(&self) -> Paid {
        self.lock().paid
    }

    /// Price of `calls` calls at `per_request` a request: tokens as those so far, and the price of each request. `None` before two requests were
    /// answered, for one does not show how they differ.
    ///
    /// The interval is that of the mean over requests, x̄ ± 1.96·s/√R.
    pub(crate) fn estimate(&self, calls: u64, per_request: usize) -> Option<PriceEstimate> {
        let tokens = self.lock().tokens;
        let (requests, mean) = (tokens.count, tokens.mean);
        let error = 1.96 * (tokens.variance()? / requests as f64).sqrt();
        let fixed = self.price.request * calls.div_ceil(per_request.max(1) as u64) as f64;
        let of = |each: f64| fixed + each.max(0.0) * calls as f64;
        Some(PriceEstimate { money: of(mean), interval: (of(mean - error), of(mean + error)), requests })
    }

    /// Sets the most aside that a request of `bytes` bytes can cost, where there is room for it now.
    pub(crate) fn reserve_now(self: &Arc<Self>, bytes: usize, calls: usize) -> Result<Reserved, Exhausted> {
        self.try_reserve(&mut self.lock(), bytes, calls)
    }

    fn try_reserve(self: &Arc<Self>, state: &mut State, bytes: usize, calls: usize) -> Result<Reserved, Exhausted> {
        let (most, spent) = (self.price.most(bytes), state.paid.money + state.reserved);
        match self.limit {
            Some(limit) if spent + most > limit => Err(Exhausted { limit, spent, wanted: most }),
            _ => Ok(self.set_aside(state, most, calls)),
        }
    }

    /// Sets the most aside that a request may have cost which left before: there is no choice any more.
    pub(crate) fn take_over(self: &Arc<Self>, bytes: usize, calls: usize) -> Reserved {
        let most = self.price.most(bytes);
        self.set_aside(&mut self.lock(), most, calls)
    }

    fn set_aside(self: &Arc<Self>, state: &mut State, most: f64, calls: usize) -> Reserved {
        state.reserved += most;
        state.in_flight += 1;
        Reserved { spending: Arc::clone(self), most, calls, is_booked: false }
    }

    /// Sets the most aside that a request of `bytes` bytes can cost, once those in flight leave room for it.
    pub(crate) async fn reserve(self: &Arc<Self>, bytes: usize, calls: usize) -> Result<Reserved, Exhausted> {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            settled.as_mut().enable();
            {
                let mut state = self.lock();
                match self.try_reserve(&mut state, bytes, calls) {
                    // what is in flight will cost less than was set aside for it
                    Err(_) if state.in_flight > 0 => {}
                    outcome => return outcome,
                }
            }
            settled.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, most: f64, book: impl FnOnce(&mut Paid)) {
        let mut state = self.lock();
        state.in_flight -= 1;
        // what many sums and differences leave over is no money
        state.reserved = if state.in_flight == 0 { 0.0 } else { state.reserved - most };
        book(&mut state.paid);
        drop(state);
        self.settled.notify_waiters();
    }
}

impl Reserved {
    /// The server answered; what it counted is paid, or what was set aside where it reports no count.
    pub(crate) fn settle(mut self, usage: Option<Usage>) {
        self.is_booked = true;
        let money = usage.map_or(self.most, |usage| self.spending.price.of(usage));
        self.spending.lock().tokens.take((money - self.spending.price.request) / self.calls.max(1) as f64);
        let Usage { input, output } = usage.unwrap_or_default();
        self.spending.end(self.most, |paid| {
            paid.money += money;
            paid.requests += 1;
            paid.input_tokens += input;
            paid.output_tokens += output;
        });
    }

    pub(crate) fn release(mut self) {
        self.is_booked = true;
        self.spending.end(self.most, |_| {});
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_booked {
            self.spending.end(self.most, |paid| {
                paid.money += self.most;
                paid.in_doubt += self.most;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PRICE: Price = Price { input: 1e6, output: 2e6, request: 0.5, output_tokens: 10 };

    fn now<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn what_is_in_flight_counts_until_it_is_settled() {
        let spending = SpendLimit::new(PRICE, Some(60.0));
        // 0.5 + 10 + 20 at most
        let first = now(spending.reserve(10, 1)).unwrap();
        let second = async {
            futures_util::future::join(spending.reserve(10, 1), async {
                tokio::task::yield_now().await;
                assert_eq!(spending.lock().in_flight, 1, "no room next to the first");
                first.settle(Some(Usage { input: 4, output: 1 }));
            })
            .await
        };
        let (second, ()) = now(second);
        assert_eq!(spending.paid().money, 6.5);
        second.unwrap().release();
        assert_eq!(spending.paid().money, 6.5);
        drop(now(spending.reserve(10, 1)).unwrap());
        assert_eq!((spending.paid().money, spending.paid().in_doubt), (37.0, 30.5));
        assert_eq!(now(spending.reserve(10, 1)).unwrap_err(), Exhausted { limit: 60.0, spent: 37.0, wanted: 30.5 });
    }

    #[test]
    fn an_answer_that_does_not_count_costs_what_was_set_aside() {
        let spending = SpendLimit::new(PRICE, None);
        now(spending.reserve(1, 1)).unwrap().settle(None);
        assert_eq!(spending.paid().money, 21.5);
    }

    #[test]
    fn the_price_of_a_plan_has_an_interval() {
        let spending = SpendLimit::new(Price { input: 1e6, request: 0.5, ..Price::default() }, None);
        assert_eq!(spending.estimate(100, 10), None);
        // 2, 4 and 6 a call, in addition to the price of the request
        for (input, calls) in [(4, 2), (4, 1), (24, 4)] {
            now(spending.reserve(99, calls)).unwrap().settle(Some(Usage { input, output: 0 }));
        }
        let estimate = spending.estimate(101, 10).unwrap();
        let error = 1.96 * (4.0 / 3.0_f64).sqrt() * 101.0;
        assert_eq!((estimate.requests, estimate.money), (3, 5.5 + 404.0));
        assert!(
            (estimate.interval.0 - (409.5 - error)).abs() < 1e-9 && (estimate.interval.1 - 409.5 - error).abs() < 1e-9
        );
    }

    #[test]
    fn usage_is_read_in_the_words_of_several_servers() {
        let read = |answer: Json| Usage::of(&answer).map(|usage| (usage.input, usage.output));
        assert_eq!(read(json!({ "usage": { "prompt_tokens": 7, "completion_tokens": 2 } })), Some((7, 2)));
        assert_eq!(read(json!({ "usage": { "total_tokens": 9 } })), Some((9, 0)));
        assert_eq!(read(json!({ "usage": { "input_tokens": 7, "output_tokens": 2 } })), Some((7, 2)));
        assert_eq!(read(json!({ "results": [] })), None);
        assert_eq!(read(json!([])), None);
    }
}
