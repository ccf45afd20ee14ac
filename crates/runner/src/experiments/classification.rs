//! `experiment: classification` — linear SVMs on the factors of K̃: table 2 of the SMS-Nyström paper (§4.1, appendix A).
//!
//! K̃ approximates the similarities of all items, test items included; no label of a test item is seen before it is predicted. γ and C are
//! chosen for each method and size by cross-validation on the training items of the split, on the landmarks of the first replicate of that
//! split; distances are bought once and serve every γ. The exact kernel is a kernel SVM on K itself.

use std::time::Instant;

use landmark_core::approximation::Approximation;
use landmark_core::oracle::Spent;
use landmark_tasks::search::{Direction, Search, Space, Strategy as SearchStrategy};
use serde_json::json;

use super::error_curve::{reference, report_rows};
use super::errors::{self, Errors};
use super::ranked_search::{self, Choice, dimension};
use super::{Bench, Beside, Job, JobError, Task, group, has_gamma, rows_of_twin, whole, wme};
use crate::config::{SplitConfig, Strategy, Tuned};
use crate::results::{CellKey, Metric, ResultRow, ResultStore};
use crate::sweep::{Cell, Setting};

mod evidence;
mod layout;

pub(super) use evidence::{evidence, validate};
pub(super) use layout::layout;

use evidence::Evidence;

pub(super) fn jobs(bench: &Bench<'_>) -> Result<Vec<Job>, JobError> {
    let errors = Errors::of(bench);
    let mut jobs = Vec::new();
    if errors == Errors::Exact && bench.stage.is_priced {
        jobs.push(reference(bench)?);
    }
    for cell in bench.sweep.cells() {
        if ranked_search::is_searched(bench, &cell) {
            jobs.extend(ranked_search::jobs(bench, &cell)?);
            jobs.push(Job {
                key: measuring_key(bench, &cell)?,
                title: bench.sweep.title(&cell),
                group: group(bench.sweep, "", &cell),
                plan: ranked_search::measuring_plan(bench, &cell)?,
                beside: beside(bench, &cell),
                task: Task::Measure(cell),
            });
            continue;
        }
        let fit = bench.plan(&cell)?;
        if is_tuned(bench) && first_of_split(bench, &cell) == cell.replicate && bench.sweep.twin(&cell).is_none() {
            jobs.push(Job {
                key: tuning_key(bench, &cell)?,
                title: format!("γ and C of {}", bench.sweep.title(&cell)),
                group: group(bench.sweep, "γ and C of ", &cell),
                plan: fit.clone(),
                beside: Beside::NONE,
                task: Task::Tune(cell.clone()),
            });
        }
        jobs.push(Job {
            key: measuring_key(bench, &cell)?,
            title: bench.sweep.title(&cell),
            group: group(bench.sweep, "", &cell),
            plan: errors::plan(bench, errors, &cell, &fit)?,
            beside: beside(bench, &cell),
            task: Task::Measure(cell),
        });
    }
    Ok(jobs)
}

/// Distances to random documents of a replicate that no search has drawn.
fn beside(bench: &Bench<'_>, cell: &Cell) -> Beside {
    let is_drawn = ranked_search::is_searched(bench, cell) && cell.replicate == 0;
    if bench.sweep.method(cell).id == wme::ID && !is_drawn { wme::beside(bench, cell, 1) } else { Beside::NONE }
}

fn is_tuned(bench: &Bench<'_>) -> bool {
    bench.matrix.oracle.gamma() == Some(Tuned::Search) || bench.matrix.svm.c == Tuned::Search
}

/// The first replicate with the same split: all of them where the split is given, itself where each draws its own.
pub(super) fn first_of_split(bench: &Bench<'_>, cell: &Cell) -> u64 {
    match bench.matrix.dataset.split() {
        Some(SplitConfig::Train(_)) => cell.replicate,
        Some(SplitConfig::Given) | None => 0,
    }
}

fn measuring_key(bench: &Bench<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    let more = json!({ "svm": bench.matrix.svm, "search": bench.matrix.search, "split": bench.matrix.dataset.split(),
        "errors": Errors::of(bench) });
    Ok(bench.key("classification", Some(cell), &more)?)
}

fn tuning_key(bench: &Bench<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    let cell = Cell { replicate: first_of_split(bench, cell), ..cell.clone() };
    let more = json!({ "svm": bench.matrix.svm, "search": bench.matrix.search, "split": bench.matrix.dataset.split() });
    Ok(bench.key("tuning", Some(&cell), &more)?)
}

/// Candidates for C, or the one that is fixed.
fn costs(bench: &Bench<'_>, cell: &Cell) -> Vec<f64> {
    match bench.matrix.svm.c {
        Tuned::Fixed(cost) => vec![cost],
        Tuned::Search => bench.matrix.search.c_of(bench.sweep.method(cell).id).points(),
    }
}

/// Random candidates before TPE starts to model.
const STARTUP: usize = 8;

struct Trial {
    gamma: Option<f64>,
    cost: f64,
    accuracy: f64,
}

pub(super) fn tune(bench: &Bench<'_>, cell: &Cell) -> Result<Vec<ResultRow>, JobError> {
    let split = bench.split(cell.replicate)?;
    let costs = costs(bench, cell);
    let gammas = bench.matrix.search.gamma_of(bench.sweep.method(cell).id);
    let try_gamma = |gamma: Option<f64>| -> Result<Trial, JobError> {
        let (cost, accuracy) = validate(bench, &evidence(bench, cell, Setting::at(gamma))?, &split, &costs)?;
        Ok(Trial { gamma, cost, accuracy })
    };
    let mut trials = Vec::new();
    match (bench.matrix.oracle.gamma(), bench.matrix.search.strategy) {
        (Some(Tuned::Search), Strategy::Grid) => {
            for gamma in gammas.points() {
                trials.push(try_gamma(Some(gamma))?);
            }
        }
        (Some(Tuned::Search), strategy) => {
            let trials_wanted = bench.matrix.search.trials;
            let strategy = match strategy {
                Strategy::Tpe => SearchStrategy::Tpe { trials: trials_wanted, startup: STARTUP.min(trials_wanted) },
                Strategy::Random | Strategy::Grid => SearchStrategy::Random { trials: trials_wanted },
            };
            let space = Space::from([("gamma".to_owned(), dimension(gammas))]);
            let mut search = Search::new(space, strategy, Direction::Maximize, bench.config.seed)?;
            while let Some(point) = search.suggest()? {
                let trial = try_gamma(Some(point.float("gamma")?))?;
                search.observe(point, Ok(trial.accuracy));
                trials.push(trial);
            }
        }
        (Some(Tuned::Fixed(gamma)), _) => trials.push(try_gamma(Some(gamma))?),
        (None, _) => trials.push(try_gamma(None)?),
    }
    Ok(trial_rows(bench, cell, &trials))
}

/// Every trial, then the best of them (the first in a tie) as γ and C.
fn trial_rows(bench: &Bench<'_>, cell: &Cell, trials: &[Trial]) -> Vec<ResultRow> {
    let nothing = Spent::default();
    let blank = |metric, value| bench.row(cell, &nothing, metric, value);
    let mut rows: Vec<ResultRow> = trials
        .iter()
        .zip(1..)
        .map(|(trial, number)| ResultRow {
            position: Some(number),
            note: Some(match trial.gamma {
                Some(gamma) => format!("γ = {gamma:.4}, C = {:.4}", trial.cost),
                None => format!("C = {:.4}", trial.cost),
            }),
            ..blank(Metric::ValidationAccuracy, trial.accuracy)
        })
        .collect();
    let best = trials.iter().rev().max_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    if let Some(best) = best {
        rows.extend(best.gamma.map(|gamma| blank(Metric::Gamma, gamma)));
        rows.push(blank(Metric::Cost, best.cost));
    }
    rows
}

/// Rank, γ and C of a cell: fixed, or as its tuning or search chose.
fn chosen(bench: &Bench<'_>, job: &Job, cell: &Cell, results: &ResultStore) -> Result<Choice, JobError> {
    if ranked_search::is_searched(bench, cell) {
        return ranked_search::best(bench, job, cell, results);
    }
    let fixed_cost = match bench.matrix.svm.c {
        Tuned::Fixed(cost) => Some(cost),
        Tuned::Search => None,
    };
    let rows = if is_tuned(bench) {
        let needs = JobError::Needs { title: job.title.clone(), needs: "the choice of γ and C" };
        results.get(&tuning_key(bench, bench.sweep.twin(cell).as_ref().unwrap_or(cell))?).ok_or(needs)?
    } else {
        &[]
    };
    let value = |metric| rows.iter().find(|row| row.metric == metric).map(|row| row.value);
    let gamma = if has_gamma(bench.matrix) { value(Metric::Gamma).or(bench.fixed_gamma()) } else { None };
    let cost = value(Metric::Cost).or(fixed_cost).unwrap_or(1.0);
    Ok(Choice { rank: cell.rank, setting: Setting::at(gamma), cost })
}

pub(super) fn measure(
    bench: &Bench<'_>,
    job: &Job,
    cell: &Cell,
    results: &ResultStore,
) -> Result<Vec<ResultRow>, JobError> {
    if let Some(twin) = bench.sweep.twin(cell)
        && let Some(rows) = results.get(&measuring_key(bench, &twin)?)
    {
        return Ok(rows_of_twin(rows, cell));
    }
    let chosen = chosen(bench, job, cell, results)?;
    let Choice { rank, setting, cost } = chosen;
    let cell = &Cell { rank, ..cell.clone() };
    let split = bench.split(cell.replicate)?;
    let Fitted { rank, spent, seconds, reported, evidence } = fit(bench, cell, setting)?;
    let cell = &Cell { rank, ..cell.clone() };
    let blank = |metric, value| bench.row(cell, &spent, metric, value);
    let mut rows = reported;
    let outcome = evidence::test(bench, &evidence, &split, cost)?;
    let note = (!outcome.report.converged()).then(|| "the SVM stopped at its limit of epochs".to_owned());
    let mut settings = match setting.gamma {
        _ if ranked_search::is_searched(bench, cell) => chosen.words(),
        Some(gamma) => format!("γ = {gamma:.4}, C = {cost:.4}"),
        None => format!("C = {cost:.4}"),
    };
    if let Some(support) = outcome.support {
        settings += &format!("; {support} support vectors");
    }
    if ranked_search::is_searched(bench, cell) {
        rows.push(blank(Metric::Rank, rank as f64));
    }
    let note = note.map_or(settings.clone(), |note| format!("{settings}; {note}"));
    rows.push(ResultRow { seconds: Some(seconds), note: Some(note), ..blank(Metric::Accuracy, outcome.accuracy) });
    rows.push(blank(Metric::MacroF1, outcome.f1_macro));
    Ok(rows)
}

/// A fit, and what is left of it to train on.
struct Fitted {
    rank: usize,
    spent: Spent,
    seconds: f64,
    /// What the fit says of itself, and its error.
    reported: Vec<ResultRow>,
    evidence: Evidence,
}

fn fit(bench: &Bench<'_>, cell: &Cell, setting: Setting) -> Result<Fitted, JobError> {
    if bench.sweep.method(cell).id == evidence::EXACT {
        // all of K is bought, and never held at once
        let (started, plan) = (Instant::now(), whole(bench.stage.items()));
        errors::buy(bench, &plan)?;
        let seconds = started.elapsed().as_secs_f64();
        let (cells, evaluations) = (plan.cells(bench.stage.items()), plan.evaluations(bench.till.shape()));
        let spent = Spent { cells, evaluations, seconds };
        let reported = vec![bench.row(cell, &spent, Metric::Shift, 0.0)];
        let evidence = evidence(bench, cell, setting)?;
        return Ok(Fitted { rank: cell.rank, spent, seconds, reported, evidence });
    }
    let (approximation, spent) = bench.fit(cell, setting)?;
    // a growing rank ends where it ends
    let rank = approximation.report().rank.clamp(1, cell.rank);
    let cell = &Cell { rank, ..cell.clone() };
    let blank = |metric, value| bench.row(cell, &spent, metric, value);
    let mut reported = report_rows(&approximation, &blank);
    reported.extend(error(bench, cell, setting, &approximation, &blank)?);
    let seconds = approximation.report().seconds;
    Ok(Fitted { rank, spent, seconds, reported, evidence: Evidence::of(bench, approximation)? })
}

/// The relative error of a cell. Where each method has chosen a γ of its own, errors are those of one γ for all, so that they can be
/// held against each other: a fit more.
fn error(
    bench: &Bench<'_>,
    cell: &Cell,
    setting: Setting,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Option<ResultRow>, JobError> {
    let errors = Errors::of(bench);
    let common = bench.common_gamma();
    if common == setting.gamma || errors == Errors::Unknown {
        return errors::row(bench, errors, cell, setting.gamma, approximation, blank);
    }
    let (approximation, _) = bench.fit(cell, Setting { gamma: common, ..setting })?;
    let row = errors::row(bench, errors, cell, common, &approximation, blank)?;
    Ok(row.map(|row| ResultRow { note: common.map(|gamma| format!("γ = {gamma:.4}")), ..row }))
}
