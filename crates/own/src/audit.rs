//! `landmark audit`: the share of the true pairs, or of each item's true neighbors, that candidates hold, whoever made them: a blocking rule, an
//! index, a join.
//!
//! Pairs: uniform samples of the candidates and of all other pairs are scored. Lists: all pairs of uniform items are. The bounds are those of
//! [`GivenPairs`] and [`GivenLists`]; nothing is assumed of the candidates or of the score, and no run is needed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use landmark_core::oracle::{Pair, ask_pairs};
use landmark_core::stream::{Rng, stream};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::progress::Progress;
use landmark_harness::run::{self, Ended, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::recall::{GivenLists, GivenPairs, share_found};
use landmark_neighbors::{Universe, sample_of};
use landmark_report::amounts::{count, counted};
use miette::Result;

use crate::calls::{Place, checks};
use crate::own::target;
use crate::pairs::{Listed, ListedPairs};

/// Pairs of an audit of pairs, unless the calls are given.
const PAIRS: u64 = 4000;
/// Items of an audit of lists, unless the calls are given.
const ROWS: u64 = 60;
/// Pairs asked of the oracle at a time.
const PAIRS_AT_A_TIME: usize = 4096;

/// Pairs or neighbors that candidates should hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// All pairs of at least this score.
    AtLeast(f64),
    /// This number of nearest neighbors of every item.
    Nearest(usize),
}

/// Candidates, and what their audit may cost.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// A file with a pair per row; of lists, an item and one item of its list.
    pub file: PathBuf,
    /// Columns of both items, each an id or a text; `first` and `second`, or those of a table of neighbors, by default.
    pub columns: (Option<String>, Option<String>),
    pub truth: Truth,
    /// Probability that the recall is lower than the bound.
    pub delta: f64,
    /// Maximum number of calls, stored scores included.
    pub calls: Option<u64>,
    /// Counts the calls, and makes none.
    pub dry_run: bool,
}

/// States the recall of candidates: an estimate and a lower bound.
pub fn audit(invocation: &Invocation, wanted: &Candidates) -> Result<(String, Ended)> {
    // any recall will do: the probability is checked
    target(0.5, wanted.delta)?;
    let place = Place::unlimited(invocation, wanted.dry_run)?;
    let (first, second) = wanted.columns.clone();
    let file = ListedPairs { first, second, ..ListedPairs::of(wanted.file.clone()) };
    let text = run::with_sweep(&place.config, &place.matrix, &place.options, |context| {
        let audited = Listed::read(place.named(), context.problem.items(), &place.config.run.name, &file, false)
            .and_then(|listed| Audit::of(&context, place.named().left(), listed.pairs(), wanted))
            .and_then(|audit| audit.run(&context, &place, wanted));
        context.metered.flush()?;
        Ok(audited)
    });
    Ok((text??, Ended::Done))
}

/// Everything that is drawn before the first call.
struct Audit {
    universe: Universe,
    /// Rows of the file that add nothing: an item with itself, or a pair again.
    idle: u64,
    draw: Draw,
}

enum Draw {
    Pairs(PairDraw),
    Lists {
        /// Uniform items.
        rows: Vec<usize>,
        /// The list of each item that has one.
        listed: HashMap<usize, HashSet<usize>>,
    },
}

/// Samples of the candidates and of the other pairs.
struct PairDraw {
    candidates: u64,
    left_out: u64,
    scored: Vec<Pair>,
    sampled: Vec<Pair>,
}

impl PairDraw {
    fn of(universe: Universe, distinct: &HashSet<Pair>, pairs: u64, rng: &mut Rng) -> Self {
        let mut list: Vec<Pair> = distinct.iter().copied().collect();
        list.sort_unstable();
        let (candidates, left_out) = (list.len() as u64, universe.len() - list.len() as u64);
        // candidates get half of the pairs at most, unless few others are left
        let scored = candidates.min((pairs / 2).max(pairs.saturating_sub(left_out)));
        let scored_pairs = sample_of(list, usize::try_from(scored).unwrap_or(usize::MAX), rng);
        let sampled = universe.sample(left_out, pairs - scored, |pair| !distinct.contains(pair), rng);
        Self { candidates, left_out, scored: scored_pairs, sampled }
    }
}

fn ordered((i, j): Pair) -> Pair {
    (i.min(j), i.max(j))
}

impl Audit {
    fn of(context: &SweepContext<'_>, left: Option<usize>, candidates: &[Pair], wanted: &Candidates) -> Result<Self> {
        let (items, price) = (context.problem.items(), context.metered.shape().evaluations_per_pair.max(1));
        let universe = Universe { items, left };
        let name = match wanted.truth {
            Truth::AtLeast(least) => format!("audit of candidates from {least} on"),
            Truth::Nearest(_) => "audit of lists".to_owned(),
        };
        let mut rng = stream(context.run.seed, &context.run.name, &name, 0);
        let refused = |least: u64, what: &str| {
            let given = count(wanted.calls.unwrap_or(0));
            let message =
                format!("cannot audit candidates with `--calls {given}`: {what} takes {} calls", count(least));
            UsageError::new(message, Some(format!("use at least `--calls {least}`")))
        };
        if let Truth::Nearest(_) = wanted.truth {
            let mut listed: HashMap<usize, HashSet<usize>> = HashMap::new();
            let new = candidates.iter().filter(|(i, j)| i != j && listed.entry(*i).or_default().insert(*j));
            let idle = (candidates.len() - new.count()) as u64;
            let of_row = (items.saturating_sub(left.unwrap_or(1)) as u64 * price).max(1);
            let rows = wanted.calls.map_or(ROWS, |calls| calls / of_row);
            if rows == 0 {
                return Err(refused(of_row, "the row of one item").into());
            }
            let rows =
                sample_of((0..left.unwrap_or(items)).collect(), usize::try_from(rows).unwrap_or(usize::MAX), &mut rng);
            return Ok(Self { universe, idle, draw: Draw::Lists { rows, listed } });
        }
        let distinct: HashSet<Pair> = candidates.iter().copied().map(ordered).filter(|(i, j)| i != j).collect();
        let idle = (candidates.len() - distinct.len()) as u64;
        let pairs = wanted.calls.map_or(PAIRS, |calls| calls / price);
        if pairs < 2 {
            return Err(refused(2 * price, "a candidate and another pair").into());
        }
        Ok(Self { universe, idle, draw: Draw::Pairs(PairDraw::of(universe, &distinct, pairs, &mut rng)) })
    }

    /// Items that have a list: of two lists those of the left.
    fn with_lists(&self) -> usize {
        self.universe.left.unwrap_or(self.universe.items)
    }

    /// The pairs that are scored, each once.
    fn asked(&self) -> Vec<Pair> {
        match &self.draw {
            Draw::Pairs(PairDraw { scored, sampled, .. }) => scored.iter().chain(sampled).copied().collect(),
            Draw::Lists { rows, .. } => {
                let with = |&row: &usize| (0..self.universe.items).map(move |other| ordered((row, other)));
                let mut seen = HashSet::new();
                let exist = rows.iter().flat_map(with).filter(|&pair| self.universe.has(pair));
                exist.filter(|&pair| seen.insert(pair)).collect()
            }
        }
    }

    /// Rows of the file that are ignored, in words.
    fn ignored(&self) -> String {
        match self.idle {
            0 => String::new(),
            1 => "1 row is ignored: it repeats a pair, or pairs an item with itself\n".to_owned(),
            idle => format!("{} rows are ignored: they repeat a pair, or pair an item with itself\n", count(idle)),
        }
    }

    /// What is scored, in words.
    fn in_words(&self) -> String {
        match &self.draw {
            Draw::Pairs(PairDraw { candidates, left_out, scored, sampled }) => format!(
                "{} of {} candidates and {} of {} other pairs are scored",
                count(scored.len() as u64),
                count(*candidates),
                count(sampled.len() as u64),
                count(*left_out)
            ),
            Draw::Lists { rows, listed } => format!(
                "all pairs of {} of {} items are scored; {} have a list",
                count(rows.len() as u64),
                count(self.with_lists() as u64),
                count(listed.len() as u64)
            ),
        }
    }

    fn run(&self, context: &SweepContext<'_>, place: &Place, wanted: &Candidates) -> Result<String> {
        let asked = self.asked();
        let mut set = context.metered.entries();
        asked.iter().for_each(|&(i, j)| set.add_entry(i, j));
        let missing = context.metered.missing(&set);
        let stored = count(set.evaluations() - missing);
        let plan = format!("{}: exactly {} calls, {stored} more are stored", self.in_words(), count(missing));
        let record = &place.options.record;
        record.fact("calls", missing);
        if wanted.dry_run {
            return Ok(format!(
                "{}{plan}\n{}",
                self.ignored(),
                if missing > 0 { checks(context) } else { String::new() }
            ));
        }
        if !place.options.quiet {
            eprintln!("{plan}");
        }
        let oracle = context.similarities(context.fixed_gamma()).map_err(RunError::from)?;
        let progress = Progress::start(missing, "evaluations", place.options.quiet, context.metered.counter());
        let mut scores = vec![0.0; asked.len()];
        for (pairs, scores) in asked.chunks(PAIRS_AT_A_TIME).zip(scores.chunks_mut(PAIRS_AT_A_TIME)) {
            ask_pairs(oracle.as_ref(), pairs, scores).map_err(RunError::from)?;
        }
        drop(progress);
        let (recall, lower, text) = match (&self.draw, wanted.truth) {
            (Draw::Pairs(draw), Truth::AtLeast(least)) => {
                let given = given_pairs(draw, &scores, least);
                let text = format!(
                    "{} candidates and {} other pairs of at least {least}",
                    count(given.positive),
                    count(given.missed)
                );
                (given.recall(), given.lower(wanted.delta), text)
            }
            (Draw::Lists { rows, listed }, Truth::Nearest(k)) => {
                let shares = shares(self.universe.items, rows, listed, &asked, &scores, k);
                let given = GivenLists { shares: &shares, items: self.with_lists(), k };
                let text = format!("the {k} nearest of {}", counted(rows.len() as u64, "audited item"));
                (given.recall(), given.lower(wanted.delta), text)
            }
            _ => (None, 0.0, String::new()),
        };
        let about = recall.map_or_else(
            || "unknown, because no scored pair is that similar".to_owned(),
            |recall| format!("about {recall:.3}"),
        );
        record.fact("scored", asked.len());
        record.fact("recall", recall);
        record.fact("lower", lower);
        record.fact("delta", wanted.delta);
        Ok(format!(
            "{}{text}\nrecall of the candidates: {about}; at least {lower:.3} with probability {}\n{} calls were made now\n",
            self.ignored(),
            1.0 - wanted.delta,
            count(context.metered.spent().evaluations)
        ))
    }
}

fn given_pairs(draw: &PairDraw, scores: &[f64], least: f64) -> GivenPairs {
    let (of_candidates, of_others) = scores.split_at(draw.scored.len());
    let positive = |scores: &[f64]| scores.iter().filter(|&&score| score >= least).count() as u64;
    GivenPairs {
        candidates: draw.candidates,
        scored: of_candidates.len() as u64,
        positive: positive(of_candidates),
        left_out: draw.left_out,
        sampled: of_others.len() as u64,
        missed: positive(of_others),
    }
}

/// Share of the true k nearest of each audited item that its list holds.
fn shares(
    items: usize,
    rows: &[usize],
    listed: &HashMap<usize, HashSet<usize>>,
    asked: &[Pair],
    scores: &[f64],
    k: usize,
) -> Vec<f64> {
    let score_of: HashMap<Pair, f64> = asked.iter().copied().zip(scores.iter().copied()).collect();
    let share = |&row: &usize| {
        let score = |other: usize| score_of.get(&ordered((row, other))).copied().unwrap_or(f64::NAN);
        let scores: Vec<f64> = (0..items).map(score).collect();
        share_found(&scores, row, k, |other| listed.get(&row).is_some_and(|list| list.contains(&other)))
    };
    rows.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_get_half_of_the_pairs_unless_few_others_are_left() {
        let mut rng = stream(1, "audit", "test", 0);
        let every: Vec<Pair> = (0..20).flat_map(|i| (i + 1..20).map(move |j| (i, j))).collect();
        let mut draw = |candidates: usize, pairs| {
            PairDraw::of(
                Universe { items: 20, left: None },
                &every[..candidates].iter().copied().collect(),
                pairs,
                &mut rng,
            )
        };
        let few = draw(100, 60);
        assert_eq!((few.candidates, few.left_out, few.scored.len(), few.sampled.len()), (100, 90, 30, 30));
        let sampled: HashSet<Pair> = few.sampled.iter().copied().collect();
        assert!(few.scored.iter().all(|pair| !sampled.contains(pair)));
        let most = draw(180, 150);
        assert_eq!((most.scored.len(), most.sampled.len()), (140, 10));
    }

    #[test]
    fn the_share_of_an_item_without_a_list_is_zero() {
        let asked: Vec<Pair> = (1..5).map(|j| (0, j)).chain((0..4).map(|i| (i, 4))).map(ordered).collect();
        let scores: Vec<f64> = asked.iter().map(|&(i, j)| -(i.abs_diff(j) as f64)).collect();
        let listed = HashMap::from([(0, HashSet::from([1, 4]))]);
        assert_eq!(shares(5, &[0, 4], &listed, &asked, &scores, 2), [0.5, 0.0]);
    }
}
