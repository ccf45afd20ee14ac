//! The share of the true pairs that a list of candidates holds, whoever made it: a blocking rule, an index, a join.
//!
//! Uniform samples of the candidates and of all other pairs are scored; the bound is that of [`GivenPairs`]. Nothing is assumed of the candidates.

use std::collections::HashSet;
use std::path::PathBuf;

use landmark_core::oracle::Pair;
use landmark_core::stream::{Rng, stream};
use landmark_harness::invocation::Invocation;
use landmark_harness::run::Ended;
use landmark_neighbours::recall::{GivenPairs, Universe, sample_of};
use landmark_report::amounts::count;
use miette::Result;

use crate::own::{Own, ended, target};
use crate::pairs::{Listed, ListedPairs};

/// Candidates, and what their audit may cost.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// A file of pairs.
    pub file: PathBuf,
    /// The column of the first item: its id, or its text.
    pub first: String,
    /// The column of the second.
    pub second: String,
    /// Least score of a true pair.
    pub at_least: f64,
    /// Probability that the recall is lower than the bound.
    pub delta: f64,
    /// Most pairs to score: candidates get half of them at most, unless few others are left.
    pub pairs: u64,
    /// Counts the pairs, and scores none.
    pub dry_run: bool,
}

/// Pairs of an audit, drawn before the first call.
struct Draw {
    candidates: u64,
    left_out: u64,
    /// A uniform sample of the candidates.
    scored: Vec<Pair>,
    /// A uniform sample of the other pairs.
    sampled: Vec<Pair>,
}

impl Draw {
    fn of(items: usize, candidates: &[Pair], pairs: u64, rng: &mut Rng) -> Self {
        let universe = Universe { items, left: None };
        let distinct: HashSet<Pair> =
            candidates.iter().map(|&(i, j)| (i.min(j), i.max(j))).filter(|(i, j)| i != j).collect();
        let mut list: Vec<Pair> = distinct.iter().copied().collect();
        list.sort_unstable();
        let (candidates, left_out) = (list.len() as u64, universe.len() - list.len() as u64);
        let scored = candidates.min((pairs / 2).max(pairs.saturating_sub(left_out)));
        let scored_pairs = sample_of(list, usize::try_from(scored).unwrap_or(usize::MAX), rng);
        let sampled = universe.sample(left_out, pairs - scored, |pair| !distinct.contains(pair), rng);
        Self { candidates, left_out, scored: scored_pairs, sampled }
    }
}

/// States the recall of candidate pairs: an estimate and a lower bound.
///
/// # Errors
/// A file that has no pairs of the items, a probability outside (0, 1), and whatever stops a run.
pub fn audit(invocation: &Invocation, wanted: &Candidates) -> Result<(String, Ended)> {
    // any recall will do: the probability is checked
    target(0.5, wanted.delta)?;
    let own = Own::open_for_table(invocation)?;
    let file = ListedPairs {
        file: wanted.file.clone(),
        first: wanted.first.clone(),
        second: wanted.second.clone(),
        against: None,
        rescore: true,
        budget: None,
    };
    let listed = Listed::read(&own, &file)?;
    let names = format!("audit of candidates from {} on", wanted.at_least);
    let mut rng = stream(own.config.run.seed, &own.config.run.name, &names, 0);
    let draw = Draw::of(own.factors.info.items, listed.pairs(), wanted.pairs, &mut rng);
    let asked: Vec<Pair> = draw.scored.iter().chain(&draw.sampled).copied().collect();
    let of_both = format!(
        "{} of {} candidates and {} of {} other pairs",
        count(draw.scored.len() as u64),
        count(draw.candidates),
        count(draw.sampled.len() as u64),
        count(draw.left_out)
    );
    if wanted.dry_run {
        return Ok((format!("{of_both} would be scored: {} pairs at most\n", count(asked.len() as u64)), Ended::Done));
    }
    let (scores, calls) = own.scores_of(&asked, None)?;
    if scores.len() < asked.len() {
        let text =
            format!("the budget ended before the audit did: {} of {} pairs are scored\n", scores.len(), asked.len());
        return Ok((text, ended(true)));
    }
    let (of_candidates, of_others) = scores.split_at(draw.scored.len());
    let positive = |scores: &[f64]| scores.iter().filter(|&&score| score >= wanted.at_least).count() as u64;
    let given = GivenPairs {
        candidates: draw.candidates,
        scored: of_candidates.len() as u64,
        positive: positive(of_candidates),
        left_out: draw.left_out,
        sampled: of_others.len() as u64,
        missed: positive(of_others),
    };
    let lower = given.lower(wanted.delta);
    own.options.record.fact("candidates", draw.candidates);
    own.options.record.fact("scored", scores.len());
    own.options.record.fact("calls", calls);
    let recall = given
        .recall()
        .map_or_else(|| "unknown: no true pair was met".to_owned(), |recall| format!("about {recall:.3}"));
    let text = format!(
        "{of_both} scored; of at least {}: {} candidates and {} others\nrecall of the candidates: {recall}, at least {lower:.3} with probability {}\n{} calls now\n",
        wanted.at_least,
        count(given.positive),
        count(given.missed),
        1.0 - wanted.delta,
        count(calls)
    );
    Ok((text, Ended::Done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_get_half_of_the_pairs_unless_few_others_are_left() {
        let mut rng = stream(1, "audit", "test", 0);
        let every: Vec<Pair> = (0..20).flat_map(|i| (i + 1..20).map(move |j| (j, i))).collect();
        let draw = Draw::of(20, &every[..100], 60, &mut rng);
        assert_eq!((draw.candidates, draw.left_out, draw.scored.len(), draw.sampled.len()), (100, 90, 30, 30));
        let sampled: HashSet<Pair> = draw.sampled.iter().copied().collect();
        assert!(draw.scored.iter().all(|pair| !sampled.contains(pair)));
        let most = Draw::of(20, &every[..180], 150, &mut rng);
        assert_eq!((most.scored.len(), most.sampled.len()), (140, 10));
        // pairs of an item with itself, and pairs listed twice, are no candidates
        assert_eq!(Draw::of(20, &[(3, 3), (1, 2), (2, 1)], 10, &mut rng).candidates, 1);
    }
}
