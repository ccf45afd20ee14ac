//! `runner topk --target-recall ρ`: lists of neighbours that hold a share ρ of the true ones with probability 1 − δ.
//!
//! ```text
//! audited (default)   v uniform items are evaluated against all and hidden; a search in rounds goes on until they say that it is enough
//! --from-factors      each item's candidates by the factors are scored, as deep as held-out landmark columns say; no further rows are needed
//! ```

use std::sync::Arc;

use landmark_core::entries::EntrySet;
use landmark_core::landmarks::Landmarks;
use landmark_core::neighbours::{Neighbour, NeighbourError, RoundsParams};
use landmark_core::oracle::{Oracle, OracleError, Pair, block_of};
use landmark_core::recall::{Audit, AuditError, AuditPath, Audited, Bound, Enough, KnownLists, Target, nearest_to};
use landmark_core::stream::stream;
use landmark_harness::config::{Budget, MatrixSubject};
use landmark_harness::experiments::own_data::{self, Statement, held_out};
use landmark_harness::job::JobError;
use landmark_harness::run::{self, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_report::amounts::count;
use landmark_tasks::neighbours::{SignedVectors, top_k};
use miette::{IntoDiagnostic, Report, Result};
use ndarray::Axis;
use polars::prelude::Column;

use super::Own;
use crate::cli::{LogArgs, OwnArgs, RecallArgs, StatedBound};
use crate::exit::{Exit, UsageError};

/// Pairs asked of the oracle at a time.
const PAIRS_AT_A_TIME: usize = 256;
/// Landmark columns read at a time.
const COLUMNS_AT_A_TIME: usize = 16;
/// Calls an item at which a search gives up where nothing is said.
const CALLS_PER_ITEM: usize = 100;

/// Lists of neighbours with what is known of them.
struct Stated {
    lists: Vec<Vec<Neighbour>>,
    statement: Statement,
}

/// Bill of a list, instead of the list.
enum Answer {
    Bill(String),
    Lists(Box<Stated>),
}

/// Lists the `k` most similar items of every item, with a stated recall; [`Exit::Budget`] where it is not reached.
pub(crate) fn stated_top_k(
    arguments: &OwnArgs,
    k: usize,
    target: f64,
    recall: &RecallArgs,
    budget: Option<u64>,
    log: LogArgs,
) -> Result<(String, Exit)> {
    let refused = |message: String, help: &str| UsageError::new(message, Some(help.to_owned()));
    let target = Target::new(target, recall.delta)
        .map_err(|error| UsageError::new(format!("no recall can be stated: {error}"), None))?;
    let own = Own::open(arguments, log)?;
    let is_strict = recall.bound == StatedBound::Strict;
    if recall.from_factors {
        if let Some(reason) = held_out::not_uniform(&own.matrix) {
            let help = "leave out `--from-factors`, or make the factors with `landmarks: uniform`";
            return Err(refused(format!("no recall can be stated from the factors: {reason}"), help).into());
        }
        if is_strict {
            let message = "held-out columns speak for other items, which no bound that is a theorem allows";
            return Err(refused(message.to_owned(), "leave out `--from-factors`, or `--bound strict`").into());
        }
    }
    let matrix = MatrixSubject { budget: Budget { entries: budget, ..Budget::default() }, ..own.matrix.clone() };
    let answer = run::with_sweep(&own.config, &matrix, &own.options, |context| {
        let answer = own.check_oracle(&context).and_then(|()| match recall.from_factors {
            true => own.from_factors(&context, k, target, recall, budget),
            false => own.audited(&context, k, Audit { target, is_strict, rows: recall.audit }, recall, budget),
        });
        context.metered.flush()?;
        Ok(answer)
    });
    let Stated { lists, statement } = match answer.into_diagnostic()?? {
        Answer::Bill(text) => return Ok((text, Exit::Done)),
        Answer::Lists(stated) => *stated,
    };
    let path = own.write(own_data::NEIGHBOURS, columns(&own, &lists))?;
    own.write_statement(&path, Some(&statement))?;
    let mut text = format!(
        "{}\n{} pairs scored, {} calls now, {:.1} an item\n",
        statement.sentence(),
        count(statement.scored_pairs),
        count(statement.evaluations),
        statement.calls_per_item
    );
    if let Some(enough) = &statement.enough {
        text += &format!("the recall of {} at δ = {} is not reached: {enough}\n", target.recall(), target.delta());
    }
    let listed = k.min(lists.len().saturating_sub(1));
    text += &format!("the {listed} most similar of each of {} items: `{}`\n", count(lists.len() as u64), path.display());
    Ok((text, if statement.reached { Exit::Done } else { Exit::Budget }))
}

impl Own {
    /// A search in rounds, heeding audited rows.
    fn audited(
        &self,
        context: &SweepContext<'_>,
        k: usize,
        audit: Audit,
        recall: &RecallArgs,
        budget: Option<u64>,
    ) -> Result<Answer> {
        let (n, gamma) = (self.factors.info.items, self.factors.info.gamma);
        let oracle = context.metered.similarities(gamma).into_diagnostic()?;
        let calls_per_item = recall.most.unwrap_or(CALLS_PER_ITEM).min(n.saturating_sub(1)).max(1);
        let params = RoundsParams { k, calls_per_item, ..RoundsParams::default() };
        if recall.dry_run {
            let bound = Bound::of(k, audit.is_strict);
            let rows = audit.rows.unwrap_or_else(|| bound.rows(k, audit.target)).min(n) as u64;
            let (whole, n) = (rows * (n as u64).saturating_sub(1) - rows * rows.saturating_sub(1) / 2, n as u64);
            let per_pair = context.metered.shape().evaluations_per_pair.max(1);
            let most = (whole + n * calls_per_item as u64).min(n * n.saturating_sub(1) / 2) * per_pair;
            return Ok(Answer::Bill(format!(
                "{} evaluations for {rows} audited rows, and {} at most in all; what the store has takes none\n",
                count(whole * per_pair),
                count(most)
            )));
        }
        let names = (self.config.run.seed, context.problem.dataset.as_str());
        // the order that the factors draw from: where they are uniform, their columns are there
        let landmarks = Landmarks::uniform(n, &mut stream(names.0, names.1, "landmarks", 0));
        let mut rng = stream(names.0, names.1, "audit", 0);
        let proxies = self.proxies(context)?;
        let found = nearest_to(oracle.as_ref(), &proxies, params, &landmarks, audit, &mut rng);
        let Audited { lists, landmarks, rows, bound, steps, refused } = found.map_err(|error| audit_failed(error, budget))?;
        let last = steps.last().copied();
        let evaluations = context.metered.spent().evaluations;
        let enough = refused.map(|enough| match enough {
            Enough::Pairs(pairs) => format!(
                "about {} further pairs would be enough by the estimates as they stand; raise `--most` or `--budget`",
                count(pairs)
            ),
            Enough::Rows(rows) => format!("about {rows} audited rows would be enough, `--audit {rows}`"),
            Enough::Unknown => "the true neighbours are no candidates: raise `--most`, or give a better proxy".to_owned(),
        });
        let statement = Statement {
            k: Some(k.min(n.saturating_sub(1))),
            at_least: None,
            target_recall: audit.target.recall(),
            delta: audit.target.delta(),
            reached: enough.is_none(),
            recall: last.map_or(0.0, |step| step.recall),
            lower: last.map_or(0.0, |step| step.lower),
            bound: bound.to_string(),
            rows: rows.len(),
            landmarks,
            scored_pairs: last.map_or(0, |step| step.asked),
            evaluations,
            calls_per_item: evaluations as f64 / n.max(1) as f64,
            enough,
        };
        Ok(Answer::Lists(Box::new(Stated { lists, statement })))
    }

    /// The proxy of the method, where it has one.
    fn proxies(&self, context: &SweepContext<'_>) -> Result<Vec<Arc<dyn Oracle>>> {
        let kinds = self.matrix.methods.first().and_then(|method| method.proxy.as_ref()).into_iter();
        let open = |proxy: &landmark_harness::config::ProxyConfig| {
            context.problem.proxy(&proxy.kind, self.factors.info.gamma).into_diagnostic()
        };
        kinds.filter_map(|proxy| open(proxy).transpose()).collect()
    }

    /// Candidates of the factors, scored as deep as it takes.
    fn from_factors(
        &self,
        context: &SweepContext<'_>,
        k: usize,
        target: Target,
        recall: &RecallArgs,
        budget: Option<u64>,
    ) -> Result<Answer> {
        let info = &self.factors.info;
        let (n, s) = (info.items, info.landmarks.len());
        let refused = |message: String, help: String| Report::from(UsageError::new(message, Some(help)));
        let mut path = AuditPath::of_landmarks(k.min(n.saturating_sub(1)).max(1), n, s, target)
            .map_err(|error| refused(error.to_string(), "raise `ranks`, or leave out `--from-factors`".to_owned()))?;
        let judged = held_out::Judged { rank: info.rank, columns: &info.landmarks };
        let depths = judged.depths(context, k).map_err(failed)?;
        let mut last = None;
        let reached = depths.iter().find_map(|(depth, shares)| {
            let recall = path.step(shares);
            last = Some(recall);
            recall.is_reached.then_some((*depth, recall))
        });
        let Some((depth, stated)) = reached else {
            let shares = depths.last().map_or(&[][..], |(_, shares)| shares.as_slice());
            let (lower, rows) = (last.map_or(0.0, |recall| recall.lower), path.rows_needed(shares, 64));
            let enough = rows.map_or_else(String::new, |rows| format!("; about {rows} would be enough"));
            let message = format!("{s} landmark columns bound the recall by {lower:.3} at most{enough}");
            return Err(refused(message, "raise `ranks`, or leave out `--from-factors`".to_owned()));
        };
        let pairs = self.candidate_pairs(depth);
        let mut entries = EntrySet::new(context.metered.shape());
        pairs.iter().for_each(|&(i, j)| entries.add_entry(i, j));
        let bill = context.metered.missing(&entries).into_diagnostic()?;
        let asked = count(pairs.len() as u64);
        if recall.dry_run {
            return Ok(Answer::Bill(format!(
                "{asked} pairs to score, {depth} candidates of each item, for which {} evaluations are to be bought\n",
                count(bill)
            )));
        }
        if let Some(budget) = budget.filter(|&budget| budget < bill) {
            let message = format!("{asked} pairs must be scored for that recall, {bill} evaluations, and the budget is {budget}");
            return Err(refused(message, format!("raise `--budget` to {bill}, or ask for less")));
        }
        let oracle = context.metered.similarities(info.gamma).into_diagnostic()?;
        let mut lists = KnownLists::new(n, k.min(n.saturating_sub(1)));
        self.offer_landmarks(oracle.as_ref(), &mut lists)?;
        let (progress, mut done) = self.progress("items' worth of pairs scored");
        for (number, chunk) in pairs.chunks(PAIRS_AT_A_TIME).enumerate() {
            let mut scores = vec![0.0; chunk.len()];
            oracle.evaluate(chunk, &mut scores).map_err(|error| failed(JobError::from(error)))?;
            lists.offer(chunk, &scores);
            done((number * PAIRS_AT_A_TIME) as f64 / pairs.len() as f64);
        }
        drop(progress);
        let evaluations = context.metered.spent().evaluations;
        let statement = Statement {
            k: Some(k.min(n.saturating_sub(1))),
            at_least: None,
            target_recall: target.recall(),
            delta: target.delta(),
            reached: true,
            recall: stated.estimate,
            lower: stated.lower,
            bound: format!("{}, held-out columns", path.bound()),
            rows: s,
            landmarks: s,
            scored_pairs: pairs.len() as u64,
            evaluations,
            calls_per_item: evaluations as f64 / n.max(1) as f64,
            enough: None,
        };
        Ok(Answer::Lists(Box::new(Stated { lists: lists.finish(), statement })))
    }

    /// The `depth` best of every item that is no landmark among the others, each pair once.
    fn candidate_pairs(&self, depth: usize) -> Vec<Pair> {
        let is_landmark = self.places();
        let others: Vec<usize> = (0..is_landmark.len()).filter(|&item| is_landmark[item].is_none()).collect();
        let vectors = self.factors.vectors.select(Axis(0), &others);
        let vectors = SignedVectors { vectors: vectors.view(), signature: &self.factors.signature };
        let (_progress, done) = self.progress("items done");
        let lists = top_k(vectors, depth, done);
        let of = |(item, list): (usize, &Vec<landmark_tasks::neighbours::Neighbour>)| {
            list.iter().map(|near| (others[item.min(near.item)], others[item.max(near.item)])).collect::<Vec<_>>()
        };
        let mut pairs: Vec<Pair> = lists.iter().enumerate().flat_map(of).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Every pair with a landmark, once.
    fn offer_landmarks(&self, oracle: &dyn Oracle, lists: &mut KnownLists) -> Result<()> {
        let items: Vec<usize> = (0..self.factors.info.items).collect();
        let place = self.places();
        for columns in self.factors.info.landmarks.chunks(COLUMNS_AT_A_TIME) {
            let block = block_of(oracle, &items, columns).into_diagnostic()?;
            for (b, &landmark) in columns.iter().enumerate() {
                let is_first = |item: &usize| place[*item].is_none_or(|other| Some(other) < place[landmark]);
                let others: Vec<usize> = items.iter().copied().filter(is_first).collect();
                let pairs: Vec<Pair> = others.iter().map(|&item| (item, landmark)).collect();
                let scores: Vec<f64> = others.iter().map(|&item| block[[item, b]]).collect();
                lists.offer(&pairs, &scores);
            }
        }
        Ok(())
    }
}

fn failed(error: JobError) -> Report {
    Report::from_err(RunError::Plan(Box::new(error)))
}

/// A budget that ends in the audited rows, too few of them, or what else went wrong.
fn audit_failed(error: AuditError, budget: Option<u64>) -> Report {
    match error {
        AuditError::TooFew(error) => UsageError::new(error.to_string(), Some("raise `--audit`".to_owned())).into(),
        AuditError::Search(NeighbourError::Oracle(OracleError::BudgetExhausted { requested, spent, .. })) => {
            let message = format!(
                "the budget of {} evaluations ends before all audited rows are evaluated",
                budget.unwrap_or(spent)
            );
            let help = format!("raise `--budget` above {}; what was evaluated is kept", spent + requested);
            UsageError::new(message, Some(help)).into()
        }
        AuditError::Search(NeighbourError::Oracle(error)) => failed(JobError::from(error)),
        other => Report::from_err(other),
    }
}

fn columns(own: &Own, lists: &[Vec<Neighbour>]) -> Vec<Column> {
    let all = || lists.iter().enumerate().flat_map(|(item, list)| list.iter().map(move |near| (item, near)));
    vec![
        Column::new("id".into(), all().map(|(item, _)| own.id(item)).collect::<Vec<_>>()),
        Column::new("rank".into(), lists.iter().flat_map(|list| 1..=list.len() as u64).collect::<Vec<_>>()),
        Column::new("neighbour".into(), all().map(|(_, near)| own.id(near.item)).collect::<Vec<_>>()),
        Column::new("score".into(), all().map(|(_, near)| near.score).collect::<Vec<_>>()),
        Column::new("exact".into(), all().map(|(_, near)| near.exact).collect::<Vec<_>>()),
    ]
}
