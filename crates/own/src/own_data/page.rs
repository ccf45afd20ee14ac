//! The page of a user's matrix: what it cost, a map of the items, curves, spectrum, similarities, and what was made from the factors.
//!
//! What needs texts or stored scores is gathered once, when a run ends ([`Gathered`]); the page is made from that file, the rows, and the tables
//! next to them. It shows up to [`DRAWN`] items, a uniform sample if there are more. Cost of gathering: m²r flops and 9m² bytes for m items, and
//! an arrangement by t-SNE.

use std::path::Path;

use landmark_core::stream::stream;
use landmark_report::amounts::{count, counted};
use landmark_report::{Coloring, Interval, ItemMap, MapLayout, MatrixPage, Metric, Near, ResultRow, Tile, write_file};
use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::FACTORS;
use super::curve;
use super::layout::error_level;
use crate::factors::Factors;
use landmark_harness::experiment::FinishedRun;
use landmark_harness::experiments::errors::{self, Errors};
use landmark_harness::facts::FactorCalls;
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::{SweepContext, whole};
use landmark_harness::sweep::{Cell, Comparison};

mod answers;
mod arrangement;
mod axes;
mod chapters;
mod survey;
mod table;

use answers::Drawn;
pub use answers::central_items;
use survey::{Bin, Survey};

/// Items drawn at most.
const DRAWN: usize = 5_000;
/// Neighbors listed of an item.
const NEIGHBORS: usize = 10;
const LINES: usize = 20;
const BARS: usize = 48;
/// Bytes of factors that are read for a page at most.
const LARGEST: u64 = 2_000_000_000;
/// File of what the page shows of single items, in the folder of the results.
pub(super) const GATHERED: &str = "items.json";

/// What the page shows of single items. It needs their texts and the stored scores, so it is gathered when a run ends, into [`GATHERED`].
#[derive(Serialize, Deserialize)]
struct Gathered {
    /// Hash of the configuration, and identity of the oracle.
    of: (String, String),
    /// Numbers of the drawn items, ascending.
    items: Vec<usize>,
    ids: Vec<String>,
    /// Texts of the drawn items; empty if they have none.
    texts: Vec<String>,
    /// Classes of the drawn items, if the dataset has any.
    classes: Option<Vec<String>>,
    near: Vec<Vec<Near>>,
    /// Most similar pairs: places among the drawn items, score, and whether it was evaluated.
    pairs: Vec<(usize, usize, f64, bool)>,
    bins: Option<Vec<Bin>>,
    /// Two principal axes, and the share of the variation that they hold.
    plane: (Vec<(f64, f64)>, f64),
    /// Places by t-SNE.
    arranged: Option<Vec<(f64, f64)>>,
    /// Eigenvalues of the factors over the drawn items.
    eigenvalues: Vec<f64>,
}

/// Gathers what the page shows of the items, unless this was done for the same factors; answers why a part is missing.
pub(super) fn gather(context: &SweepContext<'_>) -> Option<String> {
    let folder = context.folder.join(FACTORS);
    let path = context.folder.join(GATHERED);
    let info = Factors::peek(&folder)?;
    let of = (context.config_hash.clone(), context.problem.raw.identity().to_hex());
    if info.config.as_ref() != Some(&of.0) || info.oracle != of.1 {
        return None;
    }
    if read(&path).is_some_and(|gathered| gathered.of == of) {
        return None;
    }
    if 8 * info.items as u64 * info.columns as u64 > LARGEST {
        return Some("no map is drawn: the factors take more than 2 GB".to_owned());
    }
    let factors = Factors::read(&folder).map_err(|error| JobError::Failed(error.into()));
    let written = factors.and_then(|factors| {
        let gathered = Gathered::of(context, &factors, of)?;
        let text = serde_json::to_vec(&gathered).map_err(|error| JobError::Failed(error.into()))?;
        write_file(&path, &text).map_err(|error| JobError::Failed(error.into()))
    });
    // the page is no reason to lose a run
    written.err().map(|error| format!("no map is drawn: {error}"))
}

fn read(path: &Path) -> Option<Gathered> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

impl Gathered {
    fn of(context: &SweepContext<'_>, factors: &Factors, of: (String, String)) -> Result<Self, JobError> {
        let items = sample(context);
        let vectors = factors.vectors.select(ndarray::Axis(0), &items);
        if vectors.iter().any(|value| !value.is_finite()) {
            return Err("the factors hold a number that is not finite".into());
        }
        let scored = context.problem.texts();
        let ids = match scored {
            Some(scored) => scored.ids().to_vec(),
            None => (0..context.problem.items()).map(|item| item.to_string()).collect(),
        };
        let texts = scored.map(|scored| items.iter().map(|&item| scored.texts()[item].clone()).collect());
        let classes = context.problem.labels().map(|labels| {
            let name = |&item: &usize| {
                labels.of.get(item).and_then(|&label| labels.names.get(label)).cloned().unwrap_or_default()
            };
            items.iter().map(name).collect()
        });
        let survey = Survey::of(context, factors, &items)?;
        let principal = axes::principal(vectors.view(), &factors.signature, 2)?;
        let plane: Vec<(f64, f64)> = principal.points.rows().into_iter().map(|row| (row[0], row[1])).collect();
        Ok(Self {
            of,
            ids,
            texts: texts.unwrap_or_default(),
            classes,
            near: survey.nearest(NEIGHBORS),
            pairs: survey.best_pairs(LINES),
            bins: survey.histogram(BARS),
            arranged: arrangement::of(&survey, &plane),
            plane: (plane, principal.share),
            eigenvalues: axes::spectrum(vectors.view(), &factors.signature)?,
            items,
        })
    }
}

/// Numbers of the items that are drawn, ascending.
fn sample(context: &SweepContext<'_>) -> Vec<usize> {
    let n = context.problem.items();
    if n <= DRAWN {
        return (0..n).collect();
    }
    let mut rng = stream(context.run.seed, &context.problem.dataset, "map", 0);
    let mut drawn = index::sample(&mut rng, n, DRAWN).into_vec();
    drawn.sort_unstable();
    drawn
}

/// The page, if the folder holds factors of this configuration.
pub(super) fn page(run: &FinishedRun<'_>) -> Option<MatrixPage> {
    let FinishedRun { facts, rows, .. } = *run;
    let info =
        Factors::peek(&facts.folder.join(FACTORS)).filter(|info| info.config.as_ref() == Some(&facts.config_hash))?;
    let mut page = MatrixPage { tiles: tiles(run), lead: lead(run), ..MatrixPage::default() };
    page.chapters.extend(curve::chapter(rows));
    let gathered = read(&facts.folder.join(GATHERED)).filter(|gathered| gathered.of.0 == facts.config_hash);
    if let Some(gathered) = gathered {
        show(run, &info.landmarks, gathered, &mut page);
    }
    Some(page)
}

fn show(run: &FinishedRun<'_>, landmarks: &[usize], gathered: Gathered, page: &mut MatrixPage) {
    let (n, is_given) = (gathered.ids.len(), run.facts.is_given);
    let drawn = Drawn::new(&gathered);
    let mut colorings = answers::colorings(&run.facts.folder, &drawn, gathered.classes.as_deref());
    colorings.push(landmark_colors(landmarks, &gathered.items));
    let all = if n > gathered.items.len() {
        format!(
            "{} of {} items, drawn at random, and neighbors among them",
            count(gathered.items.len() as u64),
            count(n as u64)
        )
    } else {
        format!("All {} items", count(n as u64))
    };
    page.map = Some(ItemMap {
        caption: format!(
            "{all}. Items that the factors find similar are close, as far as a plane can show it (the two principal axes hold {:.0} % of the \
             variation). Point at an item to read it; click it for its nearest neighbors{}.",
            100.0 * gathered.plane.1,
            if is_given { " in the matrix itself" } else { "" }
        ),
        ids: drawn.ids(),
        texts: gathered.texts.clone(),
        layouts: layouts(&gathered),
        colorings,
        near: gathered.near.clone(),
    });
    page.chapters.extend(chapters::spectrum(&gathered.eigenvalues, n, gathered.items.len()));
    page.chapters.extend(gathered.bins.as_deref().map(|bins| chapters::histogram(bins, is_given)));
    page.chapters.extend(chapters::pairs(&gathered.pairs, &drawn, is_given));
    page.chapters.extend(chapters::alone(&gathered.near, &drawn));
    page.chapters.extend(chapters::hubs(&gathered.near, &drawn));
    page.chapters.extend(answers::chapters(&run.facts.folder, &drawn));
}

/// Arrangements of the items, the one that keeps neighbors first.
fn layouts(gathered: &Gathered) -> Vec<MapLayout> {
    let mut layouts = Vec::new();
    if let Some(points) = &gathered.arranged {
        layouts.push(MapLayout {
            name: "neighbors kept (t-SNE)".to_owned(),
            note: "t-SNE of the similarities: close items are similar; distances between groups, and their sizes, mean little.".to_owned(),
            points: arrangement::gathered(points),
        });
    }
    layouts.push(MapLayout {
        name: "principal axes (PCA)".to_owned(),
        note: "The two principal axes of the approximation: distances are to scale; other directions are projected onto these.".to_owned(),
        points: gathered.plane.0.clone(),
    });
    layouts
}

fn landmark_colors(landmarks: &[usize], items: &[usize]) -> Coloring {
    let landmarks: std::collections::HashSet<usize> = landmarks.iter().copied().collect();
    Coloring {
        name: "landmarks".to_owned(),
        names: vec!["landmark: compared with every item".to_owned(), "other item".to_owned()],
        of: items.iter().map(|item| Some(usize::from(!landmarks.contains(item)))).collect(),
    }
}

/// The final cell of the rows, for what its entries would cost.
fn cell(context: &SweepContext<'_>, rows: &[ResultRow]) -> Option<Cell> {
    let rank = rows.iter().find(|row| row.metric == Metric::Rank)?.value;
    let first = context.sweep.cells().into_iter().find(|cell| cell.comparison == Comparison::Rank)?;
    // a rank is a small whole number
    let rank = (rank as usize).max(1);
    Some(Cell { rank, columns: rank, ..first })
}

/// Calls of the fit, of the error estimate and of all pairs.
pub(super) fn calls(context: &SweepContext<'_>, rows: &[ResultRow]) -> Option<FactorCalls> {
    let evaluations = rows.first()?.cost.evaluations;
    let all = context.evaluations(&context.requests(whole(context.problem.items())));
    let priced = cell(context, rows).filter(|_| context.problem.is_priced).and_then(|cell| {
        let plan = context.sweep.plan(&cell, context.metered.shape()).ok()?;
        let alone = context.evaluations(&context.requests(plan.clone()));
        let both = errors::requests(context, Errors::of(context), &cell, &plan);
        Some((alone, both.map_or(0, |both| context.evaluations(&both).saturating_sub(alone))))
    });
    let (alone, estimate) = priced.unwrap_or((evaluations, 0));
    let fit_has_estimate = super::is_judged_on_the_way(context);
    // equal items are asked for once, which the rows do not see
    let fit = if fit_has_estimate { evaluations.saturating_sub(estimate) } else { alone.min(evaluations) };
    Some(FactorCalls { fit, estimate, all, fit_has_estimate })
}

/// `4,950 of 44,850 calls (11 %)`.
fn share(part: u64, all: u64) -> String {
    let percent = 100.0 * part as f64 / all.max(1) as f64;
    let decimals = usize::from(percent < 9.95);
    format!("{percent:.decimals$} %")
}

fn lead(run: &FinishedRun<'_>) -> String {
    let FinishedRun { matrix, facts, rows, .. } = *run;
    let (Some(calls), Some(first)) = (facts.calls, rows.first()) else { return String::new() };
    let rank = rows.iter().find(|row| row.metric == Metric::Rank).map_or(0.0, |row| row.value);
    let items = counted(first.subject.items, "item");
    let spent = calls.fit + calls.estimate;
    let mut text = if !facts.is_given {
        let estimate = match calls.estimate {
            0 => String::new(),
            some => format!(", {} of them for the error estimate", count(some)),
        };
        format!(
            "{items} and {rank:.0} landmarks took {} calls{estimate}: {} of the {} that all pairs take.",
            count(spent),
            share(spent, calls.all),
            count(calls.all)
        )
    } else {
        format!(
            "{items} and {rank:.0} landmarks. The matrix is given, and the factors read {} of its {} different entries ({}).",
            count(calls.fit),
            count(calls.all),
            share(calls.fit, calls.all)
        )
    };
    if let (Some(ours), Some(all)) = (matrix.budget.price(spent), matrix.budget.price(calls.all)) {
        text += &format!(" They cost {ours:.2}, and all pairs would have cost {all:.2}.");
    }
    let error = rows.iter().find(|row| row.metric == Metric::OffDiagonalError);
    if let Some(error) = error {
        text += &format!(
            " The relative error off the diagonal is {:.3}{}.",
            error.value,
            bounds(error, &error_level(matrix))
        );
    }
    if let Some(recall) = curve::best_recall(rows) {
        text += &format!(
            " The factors of {1} landmarks find {0:.0} % of the ten nearest of an item{2}.",
            100.0 * recall.value,
            recall.count("rank"),
            match recall.interval {
                Some(Interval { lower, upper }) =>
                    format!(" (95 % interval {:.0} to {:.0} %)", 100.0 * lower, 100.0 * upper),
                None => String::new(),
            }
        );
    }
    text
}

/// ` (95 % interval .1 to .2)`, or that it is exact.
fn bounds(row: &ResultRow, level: &str) -> String {
    match row.interval {
        Some(Interval { lower, upper }) => format!(" ({level} interval {lower:.3} to {upper:.3})"),
        None => " (exact)".to_owned(),
    }
}

fn tiles(run: &FinishedRun<'_>) -> Vec<Tile> {
    let FinishedRun { matrix, facts, rows, .. } = *run;
    let mut tiles = Vec::new();
    if let Some(calls) = facts.calls {
        let spent = calls.fit + calls.estimate;
        let label = if facts.is_given { "entries read" } else { "calls" };
        let share = share(spent, calls.all).replace(' ', "\u{a0}");
        let note = format!("{share} of the {} of all pairs", count(calls.all));
        tiles.push(Tile::new(label, count(spent), note));
    }
    let find = |metric: Metric| rows.iter().find(|row| row.metric == metric);
    if let Some(error) = find(Metric::OffDiagonalError) {
        let note = match error.interval {
            Some(Interval { lower, upper }) => {
                format!("{lower:.3} to {upper:.3} with {} confidence", error_level(matrix))
            }
            None => "exact, against all of K".to_owned(),
        };
        tiles.push(Tile::new("relative error off the diagonal", format!("{:.3}", error.value), note));
    } else {
        let note = "not measured; error_estimate: 1000 in the configuration evaluates 1,000 pairs for it";
        tiles.push(Tile::new("relative error", "unknown", note));
    }
    if let Some(recall) = curve::best_recall(rows) {
        let interval = recall.interval.map_or_else(String::new, |Interval { lower, upper }| {
            format!("{:.0} to {:.0} % with 95 % confidence, ", 100.0 * lower, 100.0 * upper)
        });
        let judged = match facts.is_given {
            true => "exact, at all items that are no landmarks".to_owned(),
            false => format!("{interval}from {} landmarks, judged at the others", recall.count("rank")),
        };
        let proxy = curve::proxy_recall(rows)
            .map_or_else(String::new, |proxy| format!("; the proxy alone finds {:.0} %", 100.0 * proxy));
        let value = format!("{:.0} %", 100.0 * recall.value);
        tiles.push(Tile::new("recall of the ten nearest", value, judged + &proxy));
    }
    if let Some(correlation) = find(Metric::ScoreCorrelation) {
        let note = "at sampled pairs that the fit did not use";
        tiles.push(Tile::new("correlation with the exact score", format!("{:.3}", correlation.value), note));
    }
    tiles
}
