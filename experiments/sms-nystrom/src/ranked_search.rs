//! Searching for the rank together with γ, C and |S2|/|S1|: appendix A of the SMS-Nyström paper, figures 7 and 8, table 7.
//!
//! For each method, and for small and large ranks apart: the columns that any trial may read are evaluated first, then every trial fits on
//! them and is validated on the training items of the first replicate's split. A trial is a job of its own, so a search that was
//! interrupted resumes where it was; the point it tries follows from the trials before it.

use landmark_core::approximate::ApproximateError;
use landmark_core::entries::{Certainty, EntryPlan};
use landmark_core::oracle::Spent;
use landmark_report::{CellKey, Metric, ResultRow, ResultStore};
use landmark_tasks::cross_validation;
use landmark_tasks::search::{Dimension, Direction, Point, Search, Space, Strategy as SearchStrategy};
use serde_json::json;

use crate::classification::{evidence, validate};
use landmark_harness::config::{Axis, Regimes, Scale, Strategy, Tuned};
use landmark_harness::experiments::errors;
use landmark_harness::job::{ExtraCalls, Job, JobError, Request, Work};
use landmark_harness::sweep::context::{SweepContext, group};
use landmark_harness::sweep::{Cell, Comparison, Setting, wme};

/// Random candidates before TPE starts to model.
const STARTUP: usize = 8;

/// Hyper-parameters that a trial tries, and that a search ends with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) rank: usize,
    /// γ and |S2|/|S1|.
    pub(crate) setting: Setting,
    /// C.
    pub(crate) cost: f64,
}

impl Choice {
    /// `rank 412, γ = 0.1000, C = 3.0000, s2 = 1.70·s1`.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("rank {}", self.rank);
        if let Some(gamma) = self.setting.gamma {
            words += &format!(", γ = {gamma:.4}");
        }
        words += &format!(", C = {:.4}", self.cost);
        if let Some(ratio) = self.setting.s2 {
            words += &format!(", s2 = {ratio:.2}·s1");
        }
        if let Some(most) = self.setting.max_words {
            words += &format!(", Dmax = {most}");
        }
        words
    }
}

/// True where the rank of a cell is searched for: of everything that has a rank.
pub(crate) fn is_searched(context: &SweepContext<'_>, cell: &Cell) -> bool {
    matches!(cell.comparison, Comparison::SmallRank | Comparison::LargeRank) && context.sweep.method(cell).entry.sized
}

/// The search of a cell's method: its evaluations and its trials. The replicates of a method share it.
pub(crate) fn jobs<'a>(context: &'a SweepContext<'_>, cell: &Cell) -> Result<Vec<Job<'a>>, JobError> {
    if cell.replicate != 0 {
        return Ok(Vec::new());
    }
    let is_wme = context.sweep.method(cell).id == wme::ID;
    let job = |title: String, group: String, requests, work: Work<'a>, key| Job {
        key,
        title,
        group,
        requests,
        extra: ExtraCalls::NONE,
        work,
    };
    let named = |what: &str| format!("{what} of {}", context.sweep.title(cell));
    let grouped = |what: &str| group(context.sweep, &format!("{what} of "), cell);
    let stock = key(context, cell, "stock", 0)?;
    let plan = largest_plan(context, cell)?;
    let mut jobs = vec![job(
        named("columns"),
        grouped("columns"),
        Request::of_sweep(plan.clone()),
        Box::new(move |_, _| errors::evaluate(context, &plan).map(|()| Vec::new())),
        stock,
    )];
    if is_wme {
        let candidates = context.matrix.search.max_words.as_ref().map_or(1, |axis| axis.points().len());
        jobs[0].extra = wme::extra_calls(context.problem.items(), cell.columns, candidates);
    }
    for number in 0..context.matrix.search.trials {
        let key = key(context, cell, "trial", number)?;
        let title = named(&format!("trial {}", number + 1));
        let cell = cell.clone();
        let work: Work<'a> = Box::new(move |results, _| run_trial(context, &cell, number, results));
        // what it reads was evaluated before the first one
        jobs.push(job(title, grouped("trials"), Vec::new(), work, key));
    }
    Ok(jobs)
}

/// Entries that the largest fit of a search requests; every smaller one takes a part of them, because landmark sets are nested.
pub(crate) fn largest_plan(context: &SweepContext<'_>, cell: &Cell) -> Result<EntryPlan, JobError> {
    let widest = context.sweep.widest(context.sweep.method(cell))?;
    Ok(context.sweep.plan_of(cell, &widest, context.metered.shape())?)
}

fn has_second_set(context: &SweepContext<'_>, cell: &Cell) -> bool {
    context.sweep.method(cell).approximator.second_set().is_some()
}

fn key(context: &SweepContext<'_>, cell: &Cell, what: &str, number: usize) -> Result<CellKey, JobError> {
    let cell = Cell { replicate: context.first_of_split(cell), ..cell.clone() };
    // what a trial tries does not depend on how many follow it
    let search = landmark_harness::config::SearchConfig { trials: 0, ..context.matrix.search.clone() };
    let more = json!({ "svm": context.matrix.svm, "search": search, "split": context.matrix.dataset.split(), "number": number });
    Ok(context.key(what, Some(&cell), &more)?)
}

/// The dimensions that are searched for this cell.
fn space(context: &SweepContext<'_>, cell: &Cell) -> Space {
    let search = &context.matrix.search;
    let method = context.sweep.method(cell).id;
    let Regimes { small, large } = search.rank;
    let range = if cell.comparison == Comparison::SmallRank { small } else { large };
    let (from, _) = range.unwrap_or((1, cell.columns));
    // no rank exceeds the number of items, nor do those of a small corpus leave a gap below it
    let whole = |rank: usize| i64::try_from(rank).unwrap_or(i64::MAX);
    let mut space = Space::from([(
        "rank".to_owned(),
        Dimension::Integer { low: whole(from.min(cell.columns)), high: whole(cell.columns) },
    )]);
    if context.matrix.oracle.gamma() == Some(Tuned::Search) {
        space.insert("gamma".to_owned(), dimension(search.gamma_of(method)));
    }
    if context.matrix.svm.c == Tuned::Search {
        space.insert("c".to_owned(), dimension(search.c_of(method)));
    }
    if let Some(axis) = search.s2.as_ref().filter(|_| has_second_set(context, cell)) {
        space.insert("s2".to_owned(), dimension(axis));
    }
    if let Some(axis) = search.max_words.as_ref().filter(|_| method == wme::ID) {
        // a list, so that no more random documents are scored than the dry run states
        space.insert("max_words".to_owned(), Dimension::Values(axis.points()));
    }
    space
}

/// The candidates of an axis as a dimension of a search.
pub(crate) fn dimension(axis: &Axis) -> Dimension {
    match axis {
        Axis::Values(values) => Dimension::Values(values.clone()),
        Axis::Range(range) => match range.scale {
            _ if range.from == range.to => Dimension::Values(vec![range.from]),
            Scale::Log => Dimension::LogUniform { low: range.from, high: range.to },
            Scale::Linear => Dimension::Uniform { low: range.from, high: range.to },
        },
    }
}

fn choice(context: &SweepContext<'_>, point: &Point, most: usize) -> Result<Choice, JobError> {
    let cost = match context.matrix.svm.c {
        Tuned::Fixed(cost) => cost,
        Tuned::Search => point.float("c")?,
    };
    let gamma = match context.matrix.oracle.gamma() {
        Some(Tuned::Search) => Some(point.float("gamma")?),
        _ => context.common_gamma(),
    };
    let rank = usize::try_from(point.integer("rank")?).unwrap_or(most);
    let max_words = point.float("max_words").ok().map(whole_words);
    Ok(Choice { rank, setting: Setting { gamma, s2: point.float("s2").ok(), max_words }, cost })
}

/// Candidates are whole and far below 2³².
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole_words(value: f64) -> usize {
    value.round().max(1.0) as usize
}

/// Runs the trial of this number.
fn run_trial(
    context: &SweepContext<'_>,
    cell: &Cell,
    number: usize,
    results: &ResultStore,
) -> Result<Vec<ResultRow>, JobError> {
    let strategy = match context.matrix.search.strategy {
        Strategy::Tpe => SearchStrategy::Tpe { trials: number + 1, startup: STARTUP.min(number + 1) },
        Strategy::Random | Strategy::Grid => SearchStrategy::Random { trials: number + 1 },
    };
    let mut search = Search::new(space(context, cell), strategy, Direction::Maximize, context.run.seed)?;
    let needs = || JobError::Needs { title: context.sweep.title(cell), needs: "the trials before it" };
    for earlier in 0..number {
        let rows = results.get(&key(context, cell, "trial", earlier)?).ok_or_else(needs)?;
        let point = search.suggest()?.ok_or_else(needs)?;
        let accuracy = rows.iter().find(|row| row.metric == Metric::ValidationAccuracy).map(|row| row.value);
        search.observe(point, accuracy.ok_or_else(|| "the method refused this point".to_owned()));
    }
    let point = search.suggest()?.ok_or_else(needs)?;
    let choice = choice(context, &point, cell.columns)?;
    let tried = Cell { rank: choice.rank, replicate: context.first_of_split(cell), ..cell.clone() };
    let split = context.split(tried.replicate)?;
    let accuracy = match evidence(context, &tried, choice.setting) {
        Ok(evidence) => Some(validate(context, &evidence, &split, &[choice.cost])?.1),
        // a point that the method cannot take (a second set larger than n) is a failed trial, not a failed run
        Err(JobError::Failed(error)) if error.is::<ApproximateError>() => None,
        Err(error) => return Err(error),
    };
    Ok(rows(context, &tried, number, &choice, accuracy))
}

fn rows(
    context: &SweepContext<'_>,
    cell: &Cell,
    number: usize,
    choice: &Choice,
    accuracy: Option<f64>,
) -> Vec<ResultRow> {
    let row = |metric, value| context.row(cell, &Spent::default(), metric, value).at("trial", number + 1);
    let mut rows: Vec<ResultRow> =
        accuracy.map(|accuracy| row(Metric::ValidationAccuracy, accuracy).note(choice.words())).into_iter().collect();
    rows.extend(choice.setting.gamma.map(|gamma| row(Metric::Gamma, gamma)));
    rows.push(row(Metric::Cost, choice.cost));
    rows.extend(choice.setting.s2.map(|ratio| row(Metric::Ratio, ratio)));
    rows.extend(choice.setting.max_words.map(|words| row(Metric::MaxWords, words as f64)));
    rows
}

/// Outcome of the search for a cell's method: the trial of the best accuracy; in a tie the smaller C, then the smaller rank, so that machines agree.
pub(crate) fn best(context: &SweepContext<'_>, cell: &Cell, results: &ResultStore) -> Result<Choice, JobError> {
    let first = Cell { replicate: 0, ..cell.clone() };
    let mut best: Option<(f64, Choice)> = None;
    for number in 0..context.matrix.search.trials {
        let needs = || JobError::Needs { title: context.sweep.title(cell), needs: "the search for its rank" };
        let rows = results.get(&key(context, &first, "trial", number)?).ok_or_else(needs)?;
        let value = |metric| rows.iter().find(|row| row.metric == metric).map(|row| row.value);
        let Some(accuracy) = value(Metric::ValidationAccuracy) else { continue };
        let rank = rows.first().map_or(cell.columns, |row| usize::try_from(row.count("rank")).unwrap_or(cell.columns));
        let setting = Setting {
            gamma: value(Metric::Gamma),
            s2: value(Metric::Ratio),
            max_words: value(Metric::MaxWords).map(whole_words),
        };
        let choice = Choice { rank, setting, cost: value(Metric::Cost).unwrap_or(1.0) };
        let is_better = best.as_ref().is_none_or(|(highest, chosen)| {
            let is_simpler = (choice.cost, choice.rank) < (chosen.cost, chosen.rank);
            if cross_validation::is_tied(accuracy, *highest) { is_simpler } else { accuracy > *highest }
        });
        if is_better {
            best = Some((accuracy, choice));
        }
    }
    let none = JobError::Needs { title: context.sweep.title(cell), needs: "a trial that did not fail" };
    best.map(|(_, choice)| choice).ok_or(none)
}

/// Entries that measuring a cell requests at most: its rank is known only after the search.
pub(crate) fn measuring_plan(context: &SweepContext<'_>, cell: &Cell) -> Result<EntryPlan, JobError> {
    let most = largest_plan(context, cell)?;
    let plan = errors::plan(context, errors::Errors::of(context), cell, &most)?;
    // the first replicate takes a part of what its search has evaluated
    let certainty = if cell.replicate == 0 { plan.certainty } else { Certainty::UpperBound };
    Ok(EntryPlan { certainty, ..plan })
}
