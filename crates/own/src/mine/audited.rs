//! `--target-recall` of `mine`: pairs by their estimates, and an audit of the pairs that are left out.
//!
//! The draw of the audit depends on the seed, the threshold and the target alone, and the cut on scores that the store keeps: a run that was killed repeats
//! both without a call. Pairs with a landmark are known; what else the store holds takes no call when its turn comes.

use crate::own_data::Statement;
use landmark_core::oracle::{Oracle, Pair};
use landmark_core::stream::stream;
use landmark_harness::run::RunError;
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::recall::{
    AuditedPairs, Batch, PairQuery, PairSource, PairsEnd, Target, least_wrong, pairs_with_recall, reachable_recall,
    sample_size,
};
use landmark_report::amounts::count;
use miette::{IntoDiagnostic, Report, Result};

use super::{Found, Mined, Own, Wanted, all_pairs, missing};
use crate::calls::checks;
use crate::own::{PAIRS_AT_A_TIME, progress_over, refused};

impl Own {
    /// Pairs of at least `wanted.at_least`, with a guaranteed recall.
    pub(super) fn audited_pairs(&self, context: &SweepContext<'_>, wanted: Wanted, target: Target) -> Result<Found> {
        let Some(at_least) = wanted.at_least else {
            return Err(refused(
                "cannot guarantee a recall of all pairs",
                "add a minimum similarity, such as `--at-least 0.8`",
            ));
        };
        let info = &self.factors.info;
        let oracle = context.similarities(info.gamma).into_diagnostic()?;
        let known = self.landmark_pairs(oracle.as_ref(), at_least, None)?;
        let query = PairQuery {
            items: info.items,
            at_least,
            target,
            known: self.pairs_of_columns(),
            known_positives: known.len() as u64,
        };
        // unless `--budget` is given, a priced score is asked for no more than the factors took
        let columns = self.pairs_of_columns() * context.metered.shape().evaluations_per_pair;
        let agreed = match wanted.budget {
            Some(budget) => Some(budget),
            None => context.problem.is_priced.then_some(columns),
        };
        if wanted.dry_run {
            let text = self.least_calls(context, query, agreed, wanted.budget.is_some());
            return Ok(Found { text, ..Found::default() });
        }
        let is_landmark: Vec<bool> = self.places().iter().map(Option::is_some).collect();
        let source = Source {
            context,
            oracle: oracle.as_ref(),
            quiet: self.options.quiet,
            left: None,
            is_known: &|(i, j)| is_landmark[i] || is_landmark[j],
            best: &|wanted| self.best_of_others(wanted),
            agreed,
            refused: None,
            query,
        };
        let mut found = source.run(wanted, known)?;
        if let Some(statement) = &mut found.statement {
            statement.landmarks = self.factors.info.landmarks.len();
        }
        Ok(found)
    }

    /// The least that a search takes, for a dry run: its first batch, and an audit that meets no positive.
    fn least_calls(
        &self,
        context: &SweepContext<'_>,
        query: PairQuery,
        agreed: Option<u64>,
        has_budget: bool,
    ) -> String {
        let (n, s) = (query.items as f64, self.factors.info.landmarks.len().max(1) as f64);
        let unknown = all_pairs(query.items as u64) - query.known;
        // pairs with a landmark stand for all of them
        let expected = (query.known_positives as f64 * n / (2.0 * s)).max(1.0).floor();
        // a number of pairs, far below 2⁵²
        let unseen = least_wrong(expected as u64, query.target.recall());
        let first = (query.items as u64 / 2).min(unknown);
        let audit = sample_size(unknown - first, unseen, 0, query.target.delta());
        let price = context.metered.shape().evaluations_per_pair;
        let least = (first + audit) * price;
        let limit = agreed.map_or_else(String::new, |agreed| {
            let of = if has_budget {
                "`--budget`"
            } else {
                "the limit without `--budget`: the calls of the landmark columns"
            };
            let verdict = match least > agreed {
                true => format!("too few for the expected audit; pass `--budget {least}` or more"),
                false => "enough if the estimates are good".to_owned(),
            };
            format!("{} calls are allowed ({of}): {verdict}\n", count(agreed))
        });
        format!(
            "{} pairs of the landmark columns reach {}; about {} of all are expected to\nat least {} calls: {} pairs by their estimates and an audit of \
             {}; more if the estimates are poor, {} at most\n{limit}{}",
            count(query.known_positives),
            query.at_least,
            count(expected as u64),
            count(least),
            count(first),
            count(audit),
            count(unknown * price),
            checks(context)
        )
    }
}

/// Pairs of the items, scored by the oracle.
pub(super) struct Source<'a, 'b> {
    pub(super) context: &'a SweepContext<'b>,
    pub(super) oracle: &'a dyn Oracle,
    pub(super) quiet: bool,
    /// Items of the first of two lists.
    pub(super) left: Option<usize>,
    /// True of pairs that are known from the start.
    pub(super) is_known: &'a dyn Fn(Pair) -> bool,
    /// The other pairs, best first.
    pub(super) best: &'a dyn Fn(usize) -> Vec<Pair>,
    pub(super) agreed: Option<u64>,
    /// Why the search was not allowed to continue.
    pub(super) refused: Option<String>,
    pub(super) query: PairQuery,
}

impl Source<'_, '_> {
    /// Pairs with a guaranteed recall, those that are `known` among them.
    pub(super) fn run(mut self, wanted: Wanted, mut known: Vec<Mined>) -> Result<Found> {
        let (query, context) = (self.query, self.context);
        let target = query.target;
        let names = format!("pairs of at least {}, {} at {}", query.at_least, target.recall(), target.delta());
        let mut rng = stream(context.run.seed, context.problem.dataset.as_str(), &names, 0);
        let found = pairs_with_recall(query, &mut self, &mut rng)?;
        let spent = context.metered.spent().evaluations;
        let statement = statement(query, &found, known.len() + found.found.len(), spent);
        let mut text = words(&found, query, self.refused.take(), wanted.budget.is_some());
        text += &format!("{} pairs scored, {} new calls\n", count(found.by_estimate + found.audited), count(spent));
        let new = found.found.iter();
        known.extend(new.map(|&((first, second), score)| Mined::exact(first, second, score)));
        let is_cut_short = !matches!(found.end, PairsEnd::Reached | PairsEnd::Exact);
        Ok(Found { pairs: known, text, statement, is_cut_short })
    }
}

/// What is known of the recall; `None` if nothing is.
fn statement(query: PairQuery, found: &AuditedPairs, listed: usize, spent: u64) -> Option<Statement> {
    let lower = match found.end {
        PairsEnd::Reached => query.target.recall(),
        PairsEnd::Exact => 1.0,
        PairsEnd::Below { lower } => lower,
        PairsEnd::NothingFound { .. } | PairsEnd::NotAudited { .. } => return None,
    };
    let reached = lower >= query.target.recall();
    let bound = if found.end == PairsEnd::Exact { "all pairs" } else { "audited pairs, hypergeometric" };
    let enough = format!("a larger `--budget` continues from here ({} pairs are listed)", count(listed as u64));
    Some(Statement {
        k: None,
        at_least: Some(query.at_least),
        target_recall: query.target.recall(),
        delta: query.target.delta(),
        reached,
        recall: found.recall,
        lower,
        bound: bound.to_owned(),
        rows: usize::try_from(found.audited).unwrap_or(usize::MAX),
        landmarks: 0,
        scored_pairs: found.by_estimate + found.audited,
        evaluations: spent,
        calls_per_item: spent as f64 / query.items.max(1) as f64,
        guaranteed: true,
        enough: (!reached).then_some(enough),
    })
}

impl PairSource for Source<'_, '_> {
    type Error = Report;

    fn left(&self) -> Option<usize> {
        self.left
    }

    fn is_known(&self, pair: Pair) -> bool {
        (self.is_known)(pair)
    }

    fn best(&mut self, wanted: usize) -> Vec<Pair> {
        (self.best)(wanted)
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>> {
        let mut all = Vec::with_capacity(pairs.len());
        let (_progress, mut done) = progress_over(pairs.len() as u64, "pairs scored", self.quiet);
        for chunk in pairs.chunks(PAIRS_AT_A_TIME) {
            let mut scores = vec![0.0; chunk.len()];
            match self.oracle.evaluate(chunk, &mut scores) {
                Ok(()) => all.extend(scores),
                Err(error) if error.is_exhausted() => break,
                Err(error) => return Err(RunError::from(error).into()),
            }
            done(all.len() as f64 / pairs.len() as f64);
        }
        Ok(all)
    }

    fn may_evaluate(&mut self, batch: &Batch<'_>) -> Result<bool> {
        let Some(agreed) = self.agreed else { return Ok(true) };
        let spent = self.context.metered.spent().evaluations;
        let calls = missing(self.context, batch.pairs);
        // a program is checked once, before its first call
        let checked = if spent == 0 && calls > 0 { self.context.most_checks() } else { 0 };
        if spent + calls + checked <= agreed {
            return Ok(true);
        }
        let needed = count(spent + calls + checked);
        self.refused = Some(match batch.audited_of {
            Some(left) => {
                let price = self.context.metered.shape().evaluations_per_pair.max(1);
                let sample = (agreed.saturating_sub(spent + checked) / price).min(left);
                let reach = reachable_recall(batch.found, left, sample, self.query.target.delta());
                format!(
                    "the audit of {} of {} pairs takes {needed} calls in all, but {} are allowed, which can guarantee a recall of at most {reach:.2}",
                    count(batch.pairs.len() as u64),
                    count(left),
                    count(agreed)
                )
            }
            None => {
                format!("the next {} pairs take {needed} calls in all, but {} are allowed", count(calls), count(agreed))
            }
        });
        Ok(false)
    }
}

/// How the search ended, as lines.
fn words(found: &AuditedPairs, query: PairQuery, refused: Option<String>, has_budget: bool) -> String {
    let (recall, delta) = (query.target.recall(), query.target.delta());
    let audit = format!(
        "audited {} of the other {} pairs, {} of them similar",
        count(found.audited),
        count(found.below_cut),
        count(found.missed)
    );
    let mut text = match found.end {
        PairsEnd::Exact => format!("all pairs are known: every pair of at least {} is listed\n", query.at_least),
        PairsEnd::Reached => format!("recall at least {recall} with probability {}: {audit}\n", 1.0 - delta),
        PairsEnd::Below { lower } => {
            format!(
                "the recall {recall} was not reached; it is at least {lower:.3} with probability {}: {audit}\n",
                1.0 - delta
            )
        }
        PairsEnd::NothingFound { sample } => format!(
            "cannot state a recall: none of the {1} pairs with the highest estimates reaches {0}; to show that no pair does takes {2} more calls. Lower \
             `--at-least`\n",
            query.at_least,
            count(found.by_estimate),
            count(sample)
        ),
        PairsEnd::NotAudited { sample } => {
            let planned =
                sample.map_or_else(String::new, |sample| format!(" ({} pairs were to be audited)", count(sample)));
            format!("the recall is unknown: the search ended before its audit{planned}\n")
        }
    };
    if let Some(refused) = refused {
        let next = match has_budget {
            true => "raise `--budget` to continue",
            false => "this is the limit without `--budget`; pass `--budget CALLS` to allow more",
        };
        text += &format!("{refused}; {next}\n");
    }
    text
}
