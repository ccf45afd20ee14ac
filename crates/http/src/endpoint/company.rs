//! Dependence of a judge's scores on the pairs that share their prompt.
//!
//! ```text
//! sample  some pairs of the first prompts that hold several
//! company mean |second score − first|, asked again in prompts of other pairs
//! noise   the same, asked again in prompts of the same pairs
//! ```
//!
//! A judge whose scores depend on company moves more in new company than it does by itself. Cost: twice the sample, in as many prompts as hold
//! it; those calls are beside the plan, and their scores are kept nowhere.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use landmark_core::oracle::Pair;

use super::Http;
use crate::connection::Reply;
use crate::error::HttpError;
use crate::params::{HttpParams, Shape};

/// Moves of scores that were asked for again, as mean absolute differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Company {
    pub pairs: usize,
    pub moved: f64,
    pub noise: f64,
    /// Standard deviation of the first scores, to measure these by.
    pub spread: f64,
}

impl Company {
    /// True where other company moves scores by more than asking again does, and by a tenth of their spread at least.
    pub fn matters(&self) -> bool {
        self.moved > 1.5 * self.noise && self.moved > 0.1 * self.spread
    }
}

#[derive(Debug)]
pub(crate) struct CompanySample {
    wanted: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    prompts: Vec<Vec<(Pair, f64)>>,
    count: usize,
    is_over: bool,
    measured: Option<Company>,
}

impl CompanySample {
    pub(crate) fn new(params: &HttpParams) -> Self {
        let is_shared = params.shape == Shape::Chat && params.pairs_per_request() > 1;
        Self { wanted: if is_shared { params.company } else { 0 }, state: Mutex::default() }
    }

    pub(crate) fn measured(&self) -> Option<Company> {
        self.lock().measured
    }

    pub(crate) fn take(&self, pairs: &[Pair], scores: &[f64]) {
        let mut state = self.lock();
        if state.count < self.wanted && pairs.len() > 1 && scores.iter().all(|score| score.is_finite()) {
            state.prompts.push(pairs.iter().copied().zip(scores.iter().copied()).collect());
            state.count += pairs.len();
        }
    }

    /// Asks the sample again, once it is whole.
    pub(crate) async fn measure(&self, http: &Http) -> Result<(), HttpError> {
        let prompts = {
            let mut state = self.lock();
            // one prompt alone has no other company
            if state.is_over || state.count < self.wanted || state.prompts.len() < 2 {
                return Ok(());
            }
            state.is_over = true;
            std::mem::take(&mut state.prompts)
        };
        let mixed = dealt(&prompts);
        let (Some(noise), Some(moved)) = (moves(http, &prompts).await?, moves(http, &mixed).await?) else {
            return Ok(());
        };
        let scores: Vec<f64> = prompts.iter().flatten().map(|&(_, score)| score).collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64;
        let company = Company { pairs: scores.len(), moved, noise, spread: variance.sqrt() };
        if company.matters() {
            tracing::warn!(
                "scores depend on the pairs that share their prompt: asked again beside others they moved by {moved:.3} on average, beside the \
                 same by {noise:.3}; ask for fewer at a time by `oracle.pairs_per_request`"
            );
        }
        self.lock().measured = Some(company);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pairs of all prompts dealt anew, like cards: prompt k gets the first of those left of one prompt after the other.
fn dealt(prompts: &[Vec<(Pair, f64)>]) -> Vec<Vec<(Pair, f64)>> {
    let longest = prompts.iter().map(Vec::len).max().unwrap_or(0);
    let by_place = (0..longest).flat_map(|place| prompts.iter().filter_map(move |prompt| prompt.get(place).copied()));
    let cards: Vec<(Pair, f64)> = by_place.collect();
    cards.chunks(longest.max(1)).map(<[(Pair, f64)]>::to_vec).collect()
}

/// Mean absolute difference of the scores, asked for again; `None` where a prompt has no scores this time.
async fn moves(http: &Http, prompts: &[Vec<(Pair, f64)>]) -> Result<Option<f64>, HttpError> {
    let (mut sum, mut count) = (0.0, 0);
    for prompt in prompts {
        let pairs: Vec<Pair> = prompt.iter().map(|&(pair, _)| pair).collect();
        let reply = match http.client.exchange(&http.body(&pairs), pairs.len(), &AtomicBool::new(false)).await {
            Ok(reply) => reply,
            // what is left is for the plan
            Err(HttpError::Money(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Reply::Json(answer) = reply else { return Ok(None) };
        let Ok(scores) = http.understand(&answer, pairs.len())? else { return Ok(None) };
        sum += prompt.iter().zip(&scores).map(|((_, first), second)| (first - second).abs()).sum::<f64>();
        count += pairs.len();
    }
    Ok((count > 0).then(|| sum / f64::from(u32::try_from(count).unwrap_or(u32::MAX))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_gets_other_company() {
        let prompt = |from: usize| (from..from + 3).map(|i| ((i, 0), 0.0)).collect::<Vec<_>>();
        let mixed = dealt(&[prompt(0), prompt(10), prompt(20)]);
        assert_eq!(mixed.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3]);
        assert!(
            mixed.iter().all(|prompt| prompt.windows(2).all(|two| two[0].0.0 / 10 != two[1].0.0 / 10)),
            "{mixed:?}"
        );
    }
}
