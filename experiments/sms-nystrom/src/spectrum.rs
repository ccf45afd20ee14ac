//! `experiment: spectrum` — the eigenvalues of K (figure 1 of the SMS-Nyström paper) and of sampled principal submatrices (figure 2).
//!
//! Evaluates all of K: 8n² bytes, ≈ 9n³ flops.

use landmark_core::linalg;
use landmark_core::stream::stream;
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};
use landmark_yaml::{Entry, Keys};
use ndarray::Array2;
use rand::seq::index;
use serde_json::json;

use landmark_harness::config::SpectrumConfig;
use landmark_harness::config::matrix::{ExperimentEntry, MatrixSubject, Purpose};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::reference;
use landmark_harness::job::{ExtraCalls, Job, JobError, Work};
use landmark_harness::layout::Layout;
use landmark_harness::sweep::context::SweepContext;

/// Name of the rows of all eigenvalues.
const ALL: &str = "K";
/// Name of the rows of the samples.
const SAMPLED: &str = "sampled K[S, S]";

static ENTRY: ExperimentEntry = ExperimentEntry {
    own: Some(|section| Some(std::sync::Arc::new(SpectrumConfig::read(section)?))),
    ..ExperimentEntry::new(
        Entry {
            id: "spectrum",
            summary: "eigenvalues of the matrix and of sampled principal submatrices",
            keys: Keys::of::<SpectrumConfig>().under("spectrum"),
            source: "SMS-Nyström paper, figures 1 and 2",
        },
        Purpose::Matrix,
    )
};

fn settings(matrix: &MatrixSubject) -> SpectrumConfig {
    matrix.own_section().copied().unwrap_or_default()
}

/// Eigenvalues of the matrix and of sampled principal submatrices.
pub struct Spectrum;

impl Experiment for Spectrum {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        jobs(context)
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout(run)
    }
}

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    let mut jobs = Vec::new();
    let whole = reference(context)?;
    let requests = whole.requests.clone();
    if context.problem.is_priced {
        jobs.push(whole);
    }
    let job = |what: &str, more, work: Work<'a>| {
        Ok::<_, JobError>(Job {
            key: context.key(what, None, &more)?,
            title: what.to_owned(),
            group: what.to_owned(),
            requests: requests.clone(),
            extra: ExtraCalls::NONE,
            work,
        })
    };
    jobs.push(job("all eigenvalues", json!(null), Box::new(|_, _| of_all(context)))?);
    for number in 0..settings(context.matrix).samples as u64 {
        let more = json!([number, settings(context.matrix).sample_size]);
        jobs.push(job("eigenvalues of samples", more, Box::new(move |_, _| of_sample(context, number)))?);
    }
    Ok(jobs)
}

fn eigenvalues(context: &SweepContext<'_>, items: &[usize]) -> Result<Vec<f64>, JobError> {
    let oracle = context.metered.similarities(context.fixed_gamma())?;
    let mut block = Array2::zeros((items.len(), items.len()));
    oracle.block(items, items, block.view_mut())?;
    let mut values = linalg::eigh(block.view())?.values.to_vec();
    values.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    Ok(values)
}

fn rows(context: &SweepContext<'_>, name: &str, replicate: u64, values: &[f64]) -> Vec<ResultRow> {
    values
        .iter()
        .zip(1..)
        .map(|(&value, position): (_, u64)| {
            let row = context.row_of(context.subject(name), Metric::Eigenvalue, value).replicate(replicate);
            row.at("columns", values.len()).at("rank", values.len()).at("position", position)
        })
        .collect()
}

fn of_all(context: &SweepContext<'_>) -> Result<Vec<ResultRow>, JobError> {
    let items: Vec<usize> = (0..context.problem.items()).collect();
    Ok(rows(context, ALL, 0, &eigenvalues(context, &items)?))
}

fn of_sample(context: &SweepContext<'_>, number: u64) -> Result<Vec<ResultRow>, JobError> {
    let mut rng = stream(context.run.seed, &context.problem.dataset, "spectrum sample", number);
    let size = settings(context.matrix).sample_size.min(context.problem.items());
    let items = index::sample(&mut rng, context.problem.items(), size).into_vec();
    Ok(rows(context, SAMPLED, number, &eigenvalues(context, &items)?))
}

fn layout(run: &FinishedRun<'_>) -> Layout {
    let (settings, rows) = (&settings(run.matrix), run.rows);
    let all: Vec<f64> = rows.iter().filter(|row| row.subject.id == ALL).map(|row| row.value).collect();
    let negative = all.iter().filter(|&&value| value < 0.0).count();
    let (least, most) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let mass = all.iter().filter(|&&v| v < 0.0).map(|v| v * v).sum::<f64>() / all.iter().map(|v| v * v).sum::<f64>();
    let of = |method: &str| Selection { methods: vec![method.to_owned()], ..Selection::of(Metric::Eigenvalue) };
    let table = TableSpec::new(
        "table-spectrum",
        "How far K is from positive semidefinite",
        "Eigenvalues of the whole matrix.",
        TableKind::plain(
            &["dataset", "n", "negative", "λmin", "λmax", "share of ‖K‖²_F in negative ones"],
            [1, 2, 3, 4, 5],
            vec![vec![
                run.facts.dataset.clone(),
                all.len().to_string(),
                negative.to_string(),
                format!("{least:.4}"),
                format!("{most:.4}"),
                format!("{:.3} %", 100.0 * mass),
            ]],
        ),
    );
    let figures = vec![
        FigureSpec::new(
            "figure-spectrum",
            "Eigenvalues by magnitude",
            format!("Eigenvalues {} to {} of K in decreasing order of magnitude.", settings.from, settings.to),
            of(ALL),
            FigureKind::Spectrum { first: settings.from as u64, last: settings.to as u64 },
        ),
        FigureSpec::new(
            "figure-histogram",
            "Eigenvalues of sampled principal submatrices",
            format!(
                "{} samples of size {}, all eigenvalues together: how often K[S, S] has one near zero.",
                settings.samples, settings.sample_size
            ),
            of(SAMPLED),
            FigureKind::Histogram { bins: settings.bins, log_y: true },
        ),
    ];
    Layout { tables: vec![table], figures, ..Layout::default() }
}
