//! Requests of one endpoint: those that are refused are divided until the pair or the item at fault is known.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use landmark_core::oracle::Pair;
use landmark_oracles::subprocess::FailedPairs;

use super::Http;
use super::blame::Failure;
use crate::connection::Reply;
use crate::error::HttpError;
use crate::shape::Batch;

#[derive(Debug, Clone, Copy)]
struct Under<'a> {
    stop: &'a AtomicBool,
    is_inquiry: bool,
}

impl Http {
    /// The scores of a few pairs, NaN where there is none: the mean of several calls.
    pub(super) async fn mean(&self, batch: &Batch, stop: &AtomicBool) -> (Vec<f64>, Result<(), HttpError>) {
        let mut mean = vec![0.0; batch.pairs.len()];
        let mut answers = vec![Vec::with_capacity(self.params.repeats); batch.pairs.len()];
        for _ in 0..self.params.repeats {
            let mut scores = vec![f64::NAN; batch.pairs.len()];
            let outcome = match stop.load(Ordering::Relaxed) {
                true => return (scores, Ok(())),
                false => self.answer(&batch.pairs, &mut scores, Under { stop, is_inquiry: false }).await,
            };
            answers.iter_mut().zip(&scores).for_each(|(answers, &score)| answers.push(score));
            mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / self.params.repeats as f64);
            if outcome.is_err() {
                // a mean of fewer calls is another score
                if self.params.repeats > 1 {
                    mean.fill(f64::NAN);
                }
                return (mean, outcome);
            }
        }
        answers.iter().for_each(|answers| self.repeated.take(answers));
        (mean, Ok(()))
    }

    /// Scores a few pairs: in one request, or in parts of it. A refusal of several pairs is divided down to what is wrong: if a pair fails
    /// alone too, it is the fault and later requests stay as large; if none does, the request was too large, now and for good. Pairs of
    /// an item that was found to be at fault are asked for apart from the others, or not at all ([`Blame`]).
    ///
    /// Requests in flight together are refused for one item together. One of them finds it, and the others wait for what it finds.
    fn answer<'a>(
        &'a self,
        pairs: &'a [Pair],
        out: &'a mut [f64],
        under: Under<'a>,
    ) -> BoxFuture<'a, Result<(), HttpError>> {
        Box::pin(async move {
            if pairs.len() > self.largest.load(Ordering::Relaxed) {
                return self.halves(pairs, out, under).await;
            }
            let suspects = self.blame.suspects(pairs);
            if pairs.len() > 1 && !suspects.is_empty() {
                return self.apart(pairs, &suspects, out, under).await;
            }
            if let &[pair] = pairs
                && !suspects.is_empty()
                && self.fails_unasked(pair, under.stop).await?
            {
                return Ok(());
            }
            let (reason, failure) = match self.request(pairs, under.stop).await? {
                Reply::TooLarge { status, excerpt } => (format!("it answered {status}: {excerpt}"), Failure::Refused),
                Reply::NoJson(excerpt) => (format!("it answered `{excerpt}`, which is not JSON"), Failure::Senseless),
                Reply::Json(answer) => match self.understand(&answer, pairs.len())? {
                    Ok(scores) => {
                        self.blame.answered(pairs);
                        out.copy_from_slice(&scores);
                        return Ok(());
                    }
                    Err(reason) => (reason, Failure::Senseless),
                },
            };
            if let &[pair] = pairs {
                self.blame.failed(pair, failure);
                return self.fail(pair, format!("asked alone, {reason}"));
            }
            self.divided(pairs, out, under, failure).await?;
            // no pair is at fault: the number of pairs is
            if !self.blame.has_any(pairs) && (failure == Failure::Refused || self.blame.strike()) {
                let smaller = pairs.len().div_ceil(2);
                if self.largest.fetch_min(smaller, Ordering::Relaxed) > smaller {
                    tracing::warn!(
                        "{} has no answer to {} pairs in a request: {reason}. It has one to fewer, and gets at most {smaller} from now on",
                        self.url(),
                        pairs.len()
                    );
                }
            }
            Ok(())
        })
    }

    /// Scores pairs that were refused together. Pairs of an item that failed before leave the others first; halves find the rest.
    async fn divided(
        &self,
        pairs: &[Pair],
        out: &mut [f64],
        under: Under<'_>,
        failure: Failure,
    ) -> Result<(), HttpError> {
        // answers without sense have reasons of their own
        let waits = failure == Failure::Refused && !under.is_inquiry;
        let found = if waits { Some(self.inquiry.lock().await) } else { None };
        let under = Under { is_inquiry: under.is_inquiry || waits, ..under };
        if pairs.len() > self.largest.load(Ordering::Relaxed) {
            // they were too many, which needs no inquiry
            drop(found);
            return self.halves(pairs, out, under).await;
        }
        let mut apart = self.blame.suspects(pairs);
        if apart.is_empty() && failure == Failure::Refused {
            apart = self.blame.presumed(pairs);
        }
        match apart.is_empty() {
            true => self.halves(pairs, out, under).await,
            false => self.apart(pairs, &apart, out, under).await,
        }
    }

    async fn answer_at(
        &self,
        places: &[usize],
        pairs: &[Pair],
        out: &mut [f64],
        under: Under<'_>,
    ) -> Result<(), HttpError> {
        if places.is_empty() {
            return Ok(());
        }
        let some: Vec<Pair> = places.iter().map(|&place| pairs[place]).collect();
        let mut scores = vec![f64::NAN; some.len()];
        let outcome = self.answer(&some, &mut scores, under).await;
        places.iter().zip(scores).for_each(|(&place, score)| out[place] = score);
        outcome
    }

    /// The reply to a few pairs. A 400 may mean one text that is too long: a server that refuses every request ends with this error, asked for
    /// one pair.
    async fn request(&self, pairs: &[Pair], stop: &AtomicBool) -> Result<Reply, HttpError> {
        match self.client.exchange(&self.body(pairs), pairs.len(), stop).await {
            Err(HttpError::Refused { status, excerpt, .. })
                if status.starts_with("400")
                    && (pairs.len() > 1
                        || self.scored.load(Ordering::Relaxed)
                        || self.params.failed_pairs != FailedPairs::Error) =>
            {
                Ok(Reply::TooLarge { status: reqwest::StatusCode::BAD_REQUEST, excerpt })
            }
            other => other,
        }
    }

    /// True for a pair whose suspect was refused with two shorter texts: it failed, without a request.
    async fn fails_unasked(&self, pair: Pair, stop: &AtomicBool) -> Result<bool, HttpError> {
        let Some((suspect, [first, second])) = self.blame.decided(pair, self.items.texts()) else { return Ok(false) };
        if !self.scored.load(Ordering::Relaxed) {
            self.probe(stop).await?;
        }
        // an endpoint that has scored nothing refuses all items, not this one
        if !self.scored.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let ids = self.items.ids();
        if self.blame.is_news(suspect) {
            tracing::warn!(
                "{} refuses `{}`, with `{}` and with `{}`, each alone: look at this item. Its pairs with texts that are as long get no request",
                self.url(),
                ids[suspect],
                ids[first],
                ids[second]
            );
        }
        self.blame.failed(pair, Failure::Refused);
        let reason = format!(
            "`{}` was refused with `{}` and `{}`, which are no longer, so that no request was made",
            ids[suspect], ids[first], ids[second]
        );
        self.fail(pair, reason).map(|()| true)
    }

    /// Asks once for the two shortest items that are no suspects, so that an endpoint which refuses everything is distinguished from one bad item.
    async fn probe(&self, stop: &AtomicBool) -> Result<(), HttpError> {
        if self.probed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let texts = self.items.texts();
        let mut sound: Vec<usize> = (0..texts.len()).collect();
        sound.sort_by_key(|&item| (texts[item].len(), item));
        sound.retain(|&item| self.blame.suspects(&[(item, item)]).is_empty());
        if let [first, second, ..] = sound.as_slice()
            && let Reply::Json(answer) = self.request(&[(*first, *second)], stop).await?
        {
            // its score is not asked for
            let _ = self.understand(&answer, 1)?;
        }
        Ok(())
    }

    /// Scores the pairs at other places than these together, then those at these places, each alone, the shortest first. Once one of them is
    /// answered and none has a suspect, the rest of them go together.
    async fn apart(
        &self,
        pairs: &[Pair],
        places: &[usize],
        out: &mut [f64],
        under: Under<'_>,
    ) -> Result<(), HttpError> {
        let others: Vec<usize> = (0..pairs.len()).filter(|place| !places.contains(place)).collect();
        self.answer_at(&others, pairs, out, under).await?;
        let texts = self.items.texts();
        let mut places = places.to_vec();
        places.sort_by_key(|&place| texts[pairs[place].0].len() + texts[pairs[place].1].len());
        for (asked, place) in places.iter().enumerate() {
            self.answer_at(std::slice::from_ref(place), pairs, out, under).await?;
            let rest = &places[asked + 1..];
            let left: Vec<Pair> = rest.iter().map(|&place| pairs[place]).collect();
            if out[*place].is_finite() && self.blame.suspects(&left).is_empty() {
                return self.answer_at(rest, pairs, out, under).await;
            }
        }
        Ok(())
    }

    async fn halves(&self, pairs: &[Pair], out: &mut [f64], under: Under<'_>) -> Result<(), HttpError> {
        let ((first, second), (of_first, of_second)) =
            (pairs.split_at(pairs.len() / 2), out.split_at_mut(pairs.len() / 2));
        self.answer(first, of_first, under).await?;
        self.answer(second, of_second, under).await
    }
}
