//! `landmark topk --target-recall ρ --from-factors`: candidates of the factors, scored as deep as held-out landmark columns require.
//!
//! The static form of ALGORITHMS_2 §12: no further rows are evaluated, and no round is waited for. `landmark_neighbors::recall` has the bound,
//! `crate::own_data::held_out` the shares.

use crate::own_data::{self, Statement, held_out};
use landmark_core::oracle::{Oracle, Pair, block_of};
use landmark_harness::config::{Budget, MatrixSubject};
use landmark_harness::invocation::Invocation;
use landmark_harness::job::JobError;
use landmark_harness::run::{self, RunError};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::nearest::Neighbor;
use landmark_neighbors::recall::{AuditPath, KnownLists, Target};
use landmark_report::amounts::count;
use landmark_tasks::neighbors::top_k;
use miette::{IntoDiagnostic, Report, Result};

use crate::calls::checks;
use crate::own::{Own, PAIRS_AT_A_TIME, refused};

/// Landmark columns read at a time.
const COLUMNS_AT_A_TIME: usize = 16;

/// Lists wanted, their recall, and what they may cost.
#[derive(Debug, Clone, Copy)]
pub struct Recalled {
    pub k: usize,
    pub target: f64,
    /// δ: the probability with which the recall may be lower.
    pub delta: f64,
    /// A bound that is a theorem, instead of one that was checked by simulation.
    pub is_strict: bool,
    /// Uniform items whose whole rows are evaluated to judge the lists.
    pub audit: Option<usize>,
    /// Candidates from the factors, judged by held-out landmark columns, instead of a search in rounds.
    pub from_factors: bool,
    pub calls_per_item: Option<usize>,
    /// Part of each round that goes to the proxy's best pairs.
    pub share: f64,
    pub budget: Option<u64>,
    /// Reports what would be evaluated, without a call.
    pub dry_run: bool,
}

/// Call estimate of a list, instead of the list.
enum Answer {
    Estimate(String),
    Lists(Vec<Vec<Neighbor>>, Box<Statement>),
}

/// Lists the most similar items of every item, with a recall that the landmarks of the factors state.
pub(crate) fn from_factors(invocation: &Invocation, wanted: &Recalled, target: Target) -> Result<String> {
    let own = Own::open_for_table(invocation)?;
    if let Some(reason) = held_out::not_uniform(&own.matrix) {
        return Err(refused(
            format!("cannot guarantee a recall from the factors: {reason}"),
            "leave out `--from-factors`, or make the factors with `landmarks: uniform`",
        ));
    }
    if wanted.is_strict {
        let message =
            "cannot use `--bound strict` with `--from-factors`: held-out columns allow no theorem about other items";
        return Err(refused(message, "leave out `--from-factors`, or `--bound strict`"));
    }
    let budget = Budget { calls: wanted.budget, ..Budget::default() };
    let matrix = MatrixSubject { budget, ..own.matrix.clone() };
    let answer = run::with_sweep(&own.config, &matrix, &own.options, |context| {
        let answer = own.check_oracle(&context).and_then(|()| own.stated(&context, wanted, target));
        context.metered.flush()?;
        Ok(answer)
    });
    let (lists, statement) = match answer?? {
        Answer::Estimate(text) => return Ok(text),
        Answer::Lists(lists, statement) => (lists, statement),
    };
    let path = own.write(own_data::NEIGHBORS, own.named().neighbors(&lists))?;
    own.write_statement(&path, Some(&statement))?;
    own.options.record.fact("items", lists.len());
    let listed = statement.k.unwrap_or(wanted.k);
    let items = count(lists.len() as u64);
    Ok(format!(
        "{}the {listed} nearest neighbors of each of {items} items: `{}`\n{}",
        statement.lines(),
        path.display(),
        own.draw_again()
    ))
}

impl Own {
    /// Candidates of the factors, scored as deep as it takes.
    fn stated(&self, context: &SweepContext<'_>, wanted: &Recalled, target: Target) -> Result<Answer> {
        let (k, budget) = (wanted.k, wanted.budget);
        let info = &self.factors.info;
        let (n, s) = (info.items, info.landmarks.len());
        let path = AuditPath::of_landmarks(k.min(n.saturating_sub(1)).max(1), n, s, target)
            .map_err(|error| refused(error.to_string(), "raise `ranks`, or leave out `--from-factors`"))?;
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
            let enough = rows.map_or_else(String::new, |rows| format!("; about {rows} are needed"));
            let message = format!("{s} landmark columns can guarantee a recall of at most {lower:.3}{enough}");
            return Err(refused(message, "raise `ranks`, or leave out `--from-factors`"));
        };
        let pairs = self.candidate_pairs(depth);
        let mut entries = context.metered.entries();
        pairs.iter().for_each(|&(i, j)| entries.add_entry(i, j));
        let planned = context.metered.missing(&entries);
        let asked = count(pairs.len() as u64);
        if wanted.dry_run {
            return Ok(Answer::Estimate(format!(
                "{asked} pairs to score, {depth} candidates of each item: {} new calls\n{}",
                count(planned),
                if planned > 0 { checks(context) } else { String::new() }
            )));
        }
        // a program is checked before its first call, by the same budget
        let planned = if planned > 0 { planned + context.most_checks() } else { 0 };
        if let Some(budget) = budget.filter(|&budget| budget < planned) {
            let message = format!(
                "cannot reach that recall: it takes {planned} calls for {asked} pairs, and the budget is {budget}"
            );
            return Err(refused(message, format!("raise `--budget` to {planned}, or lower `--target-recall`")));
        }
        let oracle = context.similarities(info.gamma).into_diagnostic()?;
        let mut lists = KnownLists::new(n, k.min(n.saturating_sub(1)));
        self.offer_landmarks(oracle.as_ref(), &mut lists)?;
        let (progress, mut done) = self.progress("items scored");
        let at_a_time = PAIRS_AT_A_TIME;
        for (number, chunk) in pairs.chunks(at_a_time).enumerate() {
            let mut scores = vec![0.0; chunk.len()];
            oracle.evaluate(chunk, &mut scores).map_err(|error| failed(JobError::from(error)))?;
            lists.offer(chunk, &scores);
            done((number * at_a_time) as f64 / pairs.len() as f64);
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
            guaranteed: false,
            enough: None,
        };
        Ok(Answer::Lists(lists.finish(), Box::new(statement)))
    }

    /// The `depth` best of every item that is no landmark among the others, each pair once.
    fn candidate_pairs(&self, depth: usize) -> Vec<Pair> {
        let others = self.others();
        let (_progress, done) = self.progress("items done");
        // as the held-out columns judged them: by the factors alone
        let lists = top_k(others.vectors(), depth, done);
        let others = others.items;
        let of = |(item, list): (usize, &Vec<landmark_tasks::neighbors::Neighbor>)| {
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
    RunError::Asked(Box::new(error)).into()
}
