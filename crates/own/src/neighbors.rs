//! `landmark topk`: the nearest items of each.

use std::collections::HashMap;

use crate::own_data;
use landmark_core::oracle::Pair;
use landmark_core::rank::RankCmp;
use landmark_harness::config::Budget;
use landmark_harness::invocation::Invocation;
use landmark_harness::run::{self, Ended};
use landmark_neighbors::nearest::Neighbor as Listed;
use landmark_report::amounts::{count, counted};
use landmark_tasks::neighbors::{
    ApproximateParams, MeasuredRecall, Neighbor, approximate_top_k, top_k as most_similar,
};
use miette::{IntoDiagnostic, Result};

use crate::own::{ESTIMATES, GIVEN, Own, PAIRS_AT_A_TIME, ended, refused};

/// Lists wanted of the factors, and what the oracle may be asked for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lists {
    pub k: usize,
    /// Candidates of each item that the oracle scores.
    pub rescore: Option<usize>,
    /// Calls that may be made for that.
    pub budget: Option<u64>,
    /// True for a search of clusters of the items, in place of a walk through all pairs.
    pub approximate: bool,
}

/// Lists the `k` most similar items of every item.
pub fn top_k(invocation: &Invocation, wanted: Lists) -> Result<(String, Ended)> {
    let Lists { k, rescore, budget, approximate } = wanted;
    let own = Own::open_for_table(invocation)?;
    let given = own.given()?;
    if given.is_some() && approximate {
        return Err(refused(
            "cannot use an index: a given matrix has every score, and its lists are exact",
            "leave out `--mode index`",
        ));
    }
    let wide = if given.is_some() { k } else { rescore.unwrap_or(k).max(k) };
    let (mut text, mut is_cut_short) = (String::new(), false);
    let (progress, done) = own.progress("items done");
    let mut found = match (&given, approximate) {
        (Some(matrix), _) => most_similar(matrix.view(), wide, done),
        (None, false) => most_similar(own.estimates(), wide, done),
        (None, true) => {
            let params = ApproximateParams { seed: own.config.run.seed, ..ApproximateParams::default() };
            let found = approximate_top_k(own.vectors(), wide, params, done).into_diagnostic()?;
            text += &measured_in_words(found.recall, wide, found.lists.len());
            found.lists
        }
    };
    drop(progress);
    let mut exact = match rescore {
        _ if given.is_some() => {
            text += GIVEN;
            let pairs = |(i, list): (usize, &Vec<Neighbor>)| {
                list.iter().map(move |one| (pair(i, one.item), one.score)).collect::<Vec<_>>()
            };
            found.iter().enumerate().flat_map(pairs).collect()
        }
        Some(_) => {
            let (exact, evaluated, asked) = own.rescore(&found, budget)?;
            let scored = exact.len() as u64;
            is_cut_short = scored < asked;
            text += &scored_in_words(scored, asked, evaluated);
            exact
        }
        None => {
            text += ESTIMATES;
            HashMap::new()
        }
    };
    // of equal items no estimate is listed
    for (item, near) in found.iter().enumerate().flat_map(|(item, list)| list.iter().map(move |near| (item, near.item)))
    {
        let score = own.equal.as_ref().filter(|_| given.is_none()).and_then(|equal| equal.score(item, near));
        exact.extend(score.map(|score| (pair(item, near), score)));
    }
    for (item, list) in found.iter_mut().enumerate() {
        rank_again(item, list, &exact);
        list.truncate(k);
    }
    let path = own.write(own_data::NEIGHBORS, own.named().neighbors(&marked(&found, &exact)))?;
    own.write_statement(&path, None)?;
    own.options.record.fact("items", found.len());
    own.options.record.fact("listed", k.min(found.len().saturating_sub(1)));
    own.options.record.fact("exact_pairs", exact.len());
    let listed = k.min(found.len().saturating_sub(1));
    text += &format!(
        "the {listed} nearest neighbors of each of {} items: `{}`\n",
        count(found.len() as u64),
        path.display()
    );
    text += &own.draw_again();
    Ok((text, ended(is_cut_short)))
}

/// Sentence on what an index finds of the exact lists.
fn measured_in_words(recall: Option<MeasuredRecall>, k: usize, items: usize) -> String {
    let (of, k) = (counted(items as u64, "item"), k.min(items.saturating_sub(1)));
    let Some(MeasuredRecall { checked, mean, interval: (lower, upper) }) = recall else {
        return format!(
            "the {k} nearest by the factors are exact: an index would save nothing, so all pairs are compared\n"
        );
    };
    let of = if checked == items {
        "all of them".to_owned()
    } else {
        format!("{} of {of} drawn at random, 95% interval {lower:.4} to {upper:.4}", count(checked as u64))
    };
    format!(
        "searched an index instead of all pairs: recall {mean:.4} of the {k} nearest by the factors, measured at {of}\n"
    )
}

/// Sentence on the pairs that were scored, and what that took.
pub(crate) fn scored_in_words(scored: u64, asked: u64, evaluated: u64) -> String {
    let (of, evaluated) = (counted(asked, "pair"), counted(evaluated, "new call"));
    let cut = if scored < asked { "; the budget ended before the others" } else { "" };
    format!("{} of {of} have an exact score, {evaluated}{cut}\n", count(scored))
}

/// Scores by pair, the smaller item first.
type Exact = HashMap<Pair, f64>;

fn pair(i: usize, j: usize) -> Pair {
    (i.min(j), i.max(j))
}

impl Own {
    /// Asks the oracle for the pairs found, everyone's nearest first, until the budget ends: the scores, how many were evaluated,
    /// and how many there are in all.
    fn rescore(&self, found: &[Vec<Neighbor>], budget: Option<u64>) -> Result<(Exact, u64, u64)> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for place in 0..found.iter().map(Vec::len).max().unwrap_or(0) {
            let at_place = found.iter().enumerate().filter_map(|(item, list)| Some((item, list.get(place)?.item)));
            pairs.extend(at_place.map(|(i, j)| pair(i, j)).filter(|&pair| seen.insert(pair)));
        }
        let budget = Budget { calls: budget, ..Budget::default() };
        let matrix = landmark_harness::config::MatrixSubject { budget, ..self.matrix.clone() };
        let asked = pairs.len() as u64;
        run::with_sweep(&self.config, &matrix, &self.options, |context| {
            if let Err(report) = self.check_oracle(&context) {
                return Ok(Err(report));
            }
            let oracle = context.similarities(self.factors.info.gamma)?;
            let mut exact = Exact::new();
            for pairs in pairs.chunks(PAIRS_AT_A_TIME) {
                let mut scores = vec![0.0; pairs.len()];
                match oracle.evaluate(pairs, &mut scores) {
                    Ok(()) => exact.extend(pairs.iter().copied().zip(scores)),
                    Err(error) if error.is_exhausted() => break,
                    Err(error) => return Err(error.into()),
                }
            }
            context.metered.flush()?;
            Ok(Ok((exact, context.metered.spent().evaluations, asked)))
        })?
    }
}

/// Orders a list by what is known best: the oracle's score where there is one, else that of the factors.
fn rank_again(item: usize, list: &mut [Neighbor], exact: &Exact) {
    if exact.is_empty() {
        return;
    }
    for neighbor in list.iter_mut() {
        neighbor.score = exact.get(&pair(item, neighbor.item)).copied().unwrap_or(neighbor.score);
    }
    list.sort_by(|one, other| other.score.rank_cmp(&one.score).then(one.item.cmp(&other.item)));
}

/// The same lists, each entry with whether the oracle itself scored it.
fn marked(found: &[Vec<Neighbor>], exact: &Exact) -> Vec<Vec<Listed>> {
    let mark = |item: usize, one: &Neighbor| Listed {
        item: one.item,
        score: one.score,
        exact: exact.contains_key(&pair(item, one.item)),
    };
    found.iter().enumerate().map(|(item, list)| list.iter().map(|one| mark(item, one)).collect()).collect()
}
