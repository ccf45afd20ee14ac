//! `experiment: classification` — linear SVMs on the factors of K̃: table 2 of the SMS-Nyström paper (§4.1, appendix A).
//!
//! K̃ approximates the similarities of all items, test items included; no label of a test item is seen before it is predicted. γ and C are
//! chosen for each method and size by cross-validation on the training items of the split, on the landmarks of the first replicate of that
//! split; distances are evaluated once and serve every γ. The exact kernel is a kernel SVM on K itself.

use std::time::Instant;

use landmark_core::approximation::Approximation;
use landmark_core::oracle::Spent;
use landmark_report::{CellKey, Metric, ResultRow, ResultStore};
use landmark_tasks::cross_validation;
use landmark_tasks::search::{Direction, Search, Space, Strategy as SearchStrategy};
use landmark_yaml::{Entry, Keys, Problem, Section};
use serde_json::json;

use crate::ranked_search::{self, Choice, dimension};
use landmark_harness::config::matrix::{ExperimentEntry, MatrixSubject, Purpose};
use landmark_harness::config::{SplitConfig, Strategy, Tuned};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::{reference, report_rows};
use landmark_harness::experiments::errors::{self, Errors};
use landmark_harness::facts::{Facts, LabelCount};
use landmark_harness::job::{ExtraCalls, Job, JobError, Request};
use landmark_harness::layout::Layout;
use landmark_harness::sweep::context::{SweepContext, group, rows_of_duplicate, whole};
use landmark_harness::sweep::{Cell, Setting, wme};

mod evidence;
mod layout;

pub(crate) use evidence::{evidence, validate};
use layout::layout;

use evidence::Evidence;

static ENTRY: ExperimentEntry = ExperimentEntry {
    check,
    ..ExperimentEntry::new(
        Entry {
            id: "classification",
            summary: "SVM accuracy on factors of the matrix against the exact kernel",
            keys: Keys::NONE,
            source: "SMS-Nyström paper, table 2",
        },
        Purpose::Accuracy,
    )
};

fn check(matrix: &MatrixSubject, section: &Section<'_>) {
    let dataset = &matrix.dataset;
    if dataset.has_labels() {
        return;
    }
    let message = format!("`classification` needs labels, but the dataset `{}` has none", dataset.name);
    // a matrix has its labels in a file of their own, texts in a column
    let help = match dataset.texts() {
        Some(_) => "name the column that holds them, `label: …`, or use `experiment: error_curve`",
        None => {
            "add `labels: FILE` to a matrix, name the column of texts, `label: …`, or use `experiment: error_curve`"
        }
    };
    section.problems().add(Problem::new(message).at(dataset.place).help(help));
}

/// Accuracy of support vector machines on the factors.
pub struct Classification;

impl Experiment for Classification {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        jobs(context)
    }

    fn note_facts(&self, context: &SweepContext<'_>, _: &[ResultRow], facts: &mut Facts) -> Result<(), JobError> {
        facts.most_frequent = most_frequent(context);
        Ok(())
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout(run)
    }
}

/// The label that most judged items have, which needs no similarity.
fn most_frequent(context: &SweepContext<'_>) -> Option<LabelCount> {
    let labels = context.problem.labels()?;
    let judged: Vec<usize> = match &labels.given_split {
        Some(split) if matches!(context.matrix.dataset.split(), Some(SplitConfig::Given) | None) => split.test.clone(),
        _ => (0..labels.of.len()).collect(),
    };
    let count = |label: usize| judged.iter().filter(|&&item| labels.of[item] == label).count();
    let (count, label) = (0..labels.names.len()).map(|label| (count(label), label)).max()?;
    Some(LabelCount { label: labels.names[label].clone(), count, of: judged.len() })
}

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    let errors = Errors::of(context);
    let mut jobs = Vec::new();
    if errors == Errors::Exact && context.problem.is_priced {
        jobs.push(reference(context)?);
    }
    for cell in context.sweep.cells() {
        if ranked_search::is_searched(context, &cell) {
            jobs.extend(ranked_search::jobs(context, &cell)?);
            jobs.push(Job {
                key: measuring_key(context, &cell)?,
                title: context.sweep.title(&cell),
                group: group(context.sweep, "", &cell),
                requests: Request::of_sweep(ranked_search::measuring_plan(context, &cell)?),
                extra: extra_calls(context, &cell),
                work: Box::new(move |results, _| measure(context, &cell, results)),
            });
            continue;
        }
        let fit = context.plan(&cell)?;
        if is_tuned(context)
            && context.first_of_split(&cell) == cell.replicate
            && context.sweep.duplicate_of(&cell).is_none()
        {
            jobs.push(Job {
                key: tuning_key(context, &cell)?,
                title: format!("γ and C of {}", context.sweep.title(&cell)),
                group: group(context.sweep, "γ and C of ", &cell),
                requests: Request::of_sweep(fit.clone()),
                extra: ExtraCalls::NONE,
                work: Box::new({
                    let cell = cell.clone();
                    move |_, _| tune(context, &cell)
                }),
            });
        }
        jobs.push(Job {
            key: measuring_key(context, &cell)?,
            title: context.sweep.title(&cell),
            group: group(context.sweep, "", &cell),
            requests: Request::of_sweep(errors::plan(context, errors, &cell, &fit)?),
            extra: extra_calls(context, &cell),
            work: Box::new(move |results, _| measure(context, &cell, results)),
        });
    }
    Ok(jobs)
}

/// Distances to random documents of a replicate that no search has drawn.
fn extra_calls(context: &SweepContext<'_>, cell: &Cell) -> ExtraCalls {
    let is_drawn = ranked_search::is_searched(context, cell) && cell.replicate == 0;
    if context.sweep.method(cell).id == wme::ID && !is_drawn {
        wme::extra_calls(context.problem.items(), cell.columns, 1)
    } else {
        ExtraCalls::NONE
    }
}

fn is_tuned(context: &SweepContext<'_>) -> bool {
    context.matrix.oracle.gamma() == Some(Tuned::Search) || context.matrix.svm.c == Tuned::Search
}

fn measuring_key(context: &SweepContext<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    let more = json!({ "svm": context.matrix.svm, "search": context.matrix.search, "split": context.matrix.dataset.split(),
        "errors": Errors::of(context) });
    Ok(context.key("classification", Some(cell), &more)?)
}

fn tuning_key(context: &SweepContext<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    let cell = Cell { replicate: context.first_of_split(cell), ..cell.clone() };
    let more =
        json!({ "svm": context.matrix.svm, "search": context.matrix.search, "split": context.matrix.dataset.split() });
    Ok(context.key("tuning", Some(&cell), &more)?)
}

/// Candidates for C, or the one that is fixed.
fn costs(context: &SweepContext<'_>, cell: &Cell) -> Vec<f64> {
    match context.matrix.svm.c {
        Tuned::Fixed(cost) => vec![cost],
        Tuned::Search => context.matrix.search.c_of(context.sweep.method(cell).id).points(),
    }
}

/// Random candidates before TPE starts to model.
const STARTUP: usize = 8;

struct Trial {
    gamma: Option<f64>,
    cost: f64,
    accuracy: f64,
}

fn tune(context: &SweepContext<'_>, cell: &Cell) -> Result<Vec<ResultRow>, JobError> {
    let split = context.split(cell.replicate)?;
    let costs = costs(context, cell);
    let gammas = context.matrix.search.gamma_of(context.sweep.method(cell).id);
    let try_gamma = |gamma: Option<f64>| -> Result<Trial, JobError> {
        let (cost, accuracy) = validate(context, &evidence(context, cell, Setting::at(gamma))?, &split, &costs)?;
        Ok(Trial { gamma, cost, accuracy })
    };
    let mut trials = Vec::new();
    match (context.matrix.oracle.gamma(), context.matrix.search.strategy) {
        (Some(Tuned::Search), Strategy::Grid) => {
            for gamma in gammas.points() {
                trials.push(try_gamma(Some(gamma))?);
            }
        }
        (Some(Tuned::Search), strategy) => {
            let trials_wanted = context.matrix.search.trials;
            let strategy = match strategy {
                Strategy::Tpe => SearchStrategy::Tpe { trials: trials_wanted, startup: STARTUP.min(trials_wanted) },
                Strategy::Random | Strategy::Grid => SearchStrategy::Random { trials: trials_wanted },
            };
            let space = Space::from([("gamma".to_owned(), dimension(gammas))]);
            let mut search = Search::new(space, strategy, Direction::Maximize, context.run.seed)?;
            while let Some(point) = search.suggest()? {
                let trial = try_gamma(Some(point.float("gamma")?))?;
                search.observe(point, Ok(trial.accuracy));
                trials.push(trial);
            }
        }
        (Some(Tuned::Fixed(gamma)), _) => trials.push(try_gamma(Some(gamma))?),
        (None, _) => trials.push(try_gamma(None)?),
    }
    Ok(trial_rows(context, cell, &trials))
}

/// Every trial, then the best of them as γ and C; in a tie the smaller C, then the smaller γ, so that machines agree.
fn trial_rows(context: &SweepContext<'_>, cell: &Cell, trials: &[Trial]) -> Vec<ResultRow> {
    let nothing = Spent::default();
    let blank = |metric, value| context.row(cell, &nothing, metric, value);
    let mut rows: Vec<ResultRow> = trials
        .iter()
        .zip(1..)
        .map(|(trial, number): (_, u64)| {
            let note = match trial.gamma {
                Some(gamma) => format!("γ = {gamma:.4}, C = {:.4}", trial.cost),
                None => format!("C = {:.4}", trial.cost),
            };
            blank(Metric::ValidationAccuracy, trial.accuracy).at("trial", number).note(note)
        })
        .collect();
    let simplest = |trial: &Trial| (trial.cost, trial.gamma.unwrap_or(0.0));
    let best = trials.iter().reduce(|best, trial| {
        let is_tied = cross_validation::is_tied(trial.accuracy, best.accuracy);
        let is_better = if is_tied { simplest(trial) < simplest(best) } else { trial.accuracy > best.accuracy };
        if is_better { trial } else { best }
    });
    if let Some(best) = best {
        rows.extend(best.gamma.map(|gamma| blank(Metric::Gamma, gamma)));
        rows.push(blank(Metric::Cost, best.cost));
    }
    rows
}

/// Rank, γ and C of a cell: fixed, or as its tuning or search chose.
fn chosen(context: &SweepContext<'_>, cell: &Cell, results: &ResultStore) -> Result<Choice, JobError> {
    if ranked_search::is_searched(context, cell) {
        return ranked_search::best(context, cell, results);
    }
    let fixed_cost = match context.matrix.svm.c {
        Tuned::Fixed(cost) => Some(cost),
        Tuned::Search => None,
    };
    let rows = if is_tuned(context) {
        let needs = JobError::Needs { title: context.sweep.title(cell), needs: "the choice of γ and C" };
        results.get(&tuning_key(context, context.sweep.duplicate_of(cell).as_ref().unwrap_or(cell))?).ok_or(needs)?
    } else {
        &[]
    };
    let value = |metric| rows.iter().find(|row| row.metric == metric).map(|row| row.value);
    let gamma = if context.matrix.has_gamma() { value(Metric::Gamma).or(context.fixed_gamma()) } else { None };
    let cost = value(Metric::Cost).or(fixed_cost).unwrap_or(1.0);
    Ok(Choice { rank: cell.rank, setting: Setting::at(gamma), cost })
}

fn measure(context: &SweepContext<'_>, cell: &Cell, results: &ResultStore) -> Result<Vec<ResultRow>, JobError> {
    if let Some(original) = context.sweep.duplicate_of(cell)
        && let Some(rows) = results.get(&measuring_key(context, &original)?)
    {
        return Ok(rows_of_duplicate(rows, cell));
    }
    let chosen = chosen(context, cell, results)?;
    let Choice { rank, setting, cost } = chosen;
    let cell = &Cell { rank, ..cell.clone() };
    let split = context.split(cell.replicate)?;
    let Fitted { rank, spent, seconds, reported, evidence } = fit(context, cell, setting)?;
    let cell = &Cell { rank, ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut rows = reported;
    let outcome = evidence::test(context, &evidence, &split, cost)?;
    let note = (!outcome.report.converged()).then(|| "the SVM stopped at its limit of epochs".to_owned());
    let mut settings = match setting.gamma {
        _ if ranked_search::is_searched(context, cell) => chosen.words(),
        Some(gamma) => format!("γ = {gamma:.4}, C = {cost:.4}"),
        None => format!("C = {cost:.4}"),
    };
    if let Some(support) = outcome.support {
        settings += &format!("; {support} support vectors");
    }
    if ranked_search::is_searched(context, cell) {
        rows.push(blank(Metric::Rank, rank as f64));
    }
    let note = note.map_or(settings.clone(), |note| format!("{settings}; {note}"));
    rows.push(blank(Metric::Accuracy, outcome.accuracy).seconds(seconds).note(note));
    rows.push(blank(Metric::MacroF1, outcome.f1_macro));
    Ok(rows)
}

/// A fit, and what is left of it to train on.
struct Fitted {
    rank: usize,
    spent: Spent,
    seconds: f64,
    /// Rows of the fit's report, and of its error.
    reported: Vec<ResultRow>,
    evidence: Evidence,
}

fn fit(context: &SweepContext<'_>, cell: &Cell, setting: Setting) -> Result<Fitted, JobError> {
    if context.sweep.method(cell).id == evidence::EXACT {
        // all of K is evaluated
        let (started, plan) = (Instant::now(), whole(context.problem.items()));
        errors::evaluate(context, &plan)?;
        let seconds = started.elapsed().as_secs_f64();
        let (cells, evaluations) = (plan.cells(context.problem.items()), plan.evaluations(context.metered.shape()));
        let spent = Spent { cells, evaluations, seconds };
        let reported = vec![context.row(cell, &spent, Metric::Shift, 0.0)];
        let evidence = evidence(context, cell, setting)?;
        return Ok(Fitted { rank: cell.rank, spent, seconds, reported, evidence });
    }
    let (approximation, spent) = context.fit(cell, setting)?;
    // a growing rank ends where it ends
    let rank = approximation.report().rank.clamp(1, cell.rank);
    let cell = &Cell { rank, ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut reported = report_rows(&approximation, &blank);
    reported.extend(error(context, cell, setting, &approximation, &blank)?);
    let seconds = approximation.report().seconds;
    Ok(Fitted { rank, spent, seconds, reported, evidence: Evidence::of(context, approximation)? })
}

/// The relative error of a cell. Where each method has chosen a γ of its own, errors are those of one γ for all, so that they can be
/// held against each other: a fit more.
fn error(
    context: &SweepContext<'_>,
    cell: &Cell,
    setting: Setting,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Option<ResultRow>, JobError> {
    let errors = Errors::of(context);
    let common = context.common_gamma();
    if common == setting.gamma || errors == Errors::Unknown {
        return errors::row(context, errors, cell, setting.gamma, approximation, blank);
    }
    let (approximation, _) = context.fit(cell, Setting { gamma: common, ..setting })?;
    let row = errors::row(context, errors, cell, common, &approximation, blank)?;
    Ok(row.map(|row| ResultRow { note: common.map(|gamma| format!("γ = {gamma:.4}")), ..row }))
}
