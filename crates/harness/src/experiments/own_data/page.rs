//! The page of one's own matrix: what it cost, a map of the items, curves, spectrum, similarities, and what was made from the factors.
//!
//! Everything is read from the factors, the rows of the run, the tables beside them and the store; nothing is evaluated. Up to [`DRAWN`] items are
//! drawn, a uniform sample of them where there are more, and everything about single items is about those. Cost: m²r flops and 9m² bytes for
//! m drawn items, and once a run the arrangement by t-SNE, which is kept in [`ARRANGEMENT`].

use landmark_core::rank::RankCmp;
use landmark_core::stream::stream;
use landmark_report::amounts::{count, counted};
use landmark_report::{
    Chapter, Colouring, Interval, ItemMap, Listed, Listing, MapLayout, Mark, MatrixPage, Metric, Near, Notation, Plot,
    PlotAxis, ResultRow, Tile,
};
use rand::seq::index;

use super::curve;
use super::{FACTORS, error_level};
use crate::experiments::errors::{self, Errors};
use crate::factors::Factors;
use crate::job::JobError;
use crate::sweep::context::{SweepContext, whole};
use crate::sweep::{Cell, Comparison};

mod answers;
mod arrangement;
mod axes;
mod survey;
mod table;

use answers::Drawn;
pub use answers::central_items;
use survey::Survey;

/// Items drawn at most.
const DRAWN: usize = 5_000;
/// Neighbours listed of an item.
const NEIGHBOURS: usize = 10;
/// Lines of a list.
const LINES: usize = 20;
/// Bars of a histogram.
const BARS: usize = 48;
/// Bytes of factors that are read for a page at most.
const LARGEST: u64 = 2_000_000_000;
/// Places of the items on the map, in the folder of the results.
pub(super) const ARRANGEMENT: &str = "map.npy";

/// The page, where there are factors of this configuration, and why a part of it is missing.
pub(super) fn page(context: &SweepContext<'_>, rows: &[ResultRow]) -> (Option<MatrixPage>, Vec<String>) {
    let folder = context.folder.join(FACTORS);
    let Some(info) = Factors::peek(&folder) else { return (None, Vec::new()) };
    let is_ours =
        info.config.as_ref() == Some(&context.config_hash) && info.oracle == context.problem.raw.identity().to_hex();
    if !is_ours {
        return (None, Vec::new());
    }
    let mut notes = Vec::new();
    let mut page = MatrixPage { tiles: tiles(context, rows), lead: lead(context, rows), ..MatrixPage::default() };
    page.chapters.extend(curve::chapter(rows));
    if 8 * info.items as u64 * info.columns as u64 > LARGEST {
        notes.push("no map is drawn: the factors take more than 2 GB".to_owned());
        return (Some(page), notes);
    }
    let drawn = Factors::read(&folder).map_err(|error| JobError::Failed(error.into()));
    match drawn.and_then(|factors| draw(context, &factors, &mut page)) {
        Ok(()) => {}
        // the page is no reason to lose a run
        Err(error) => notes.push(format!("no map is drawn: {error}")),
    }
    (Some(page), notes)
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

fn draw(context: &SweepContext<'_>, factors: &Factors, page: &mut MatrixPage) -> Result<(), JobError> {
    let n = context.problem.items();
    let items = sample(context);
    let vectors = factors.vectors.select(ndarray::Axis(0), &items);
    if vectors.iter().any(|value| !value.is_finite()) {
        return Err("the factors hold a number that is not finite".into());
    }
    let drawn = Drawn::new(context, &items);
    let survey = Survey::of(context, factors, &items)?;
    let near = survey.nearest(NEIGHBOURS);
    let (layouts, share) = layouts(context, factors, &vectors, &survey)?;
    let mut colourings = answers::colourings(context, &items);
    colourings.push(landmark_colours(&factors.info.landmarks, &items));
    let all = if n > items.len() {
        format!(
            "{} of {} items, drawn at random, and neighbours among them",
            count(items.len() as u64),
            count(n as u64)
        )
    } else {
        format!("All {} items", count(n as u64))
    };
    page.map = Some(ItemMap {
        caption: format!(
            "{all}: near one another where the factors say that they are alike, as far as a plane can show it (these two axes hold {:.0} % of the \
             variation). Point at an item to read it, click for its nearest{}.",
            100.0 * share,
            if context.problem.is_priced { "" } else { " in the matrix itself" }
        ),
        ids: drawn.ids.clone(),
        texts: drawn.texts.clone(),
        layouts,
        colourings,
        near: near.clone(),
    });
    page.chapters.extend(spectrum(context, factors, &vectors)?);
    let is_given = !context.problem.is_priced;
    page.chapters.extend(histogram(&survey, is_given));
    page.chapters.extend(pairs(&survey, &drawn, is_given));
    page.chapters.extend(alone(&near, &drawn));
    page.chapters.extend(hubs(&near, &drawn));
    page.chapters.extend(answers::chapters(context, factors, &drawn));
    Ok(())
}

/// Arrangements of the items, the one that keeps neighbours first, and the share of the variation that the two principal axes hold.
fn layouts(
    context: &SweepContext<'_>,
    factors: &Factors,
    vectors: &ndarray::Array2<f64>,
    survey: &Survey,
) -> Result<(Vec<MapLayout>, f64), JobError> {
    let principal = axes::principal(vectors.view(), &factors.signature, 2)?;
    let plane: Vec<(f64, f64)> = principal.points.rows().into_iter().map(|row| (row[0], row[1])).collect();
    let mut layouts = Vec::new();
    if let Some(points) = arrangement::kept(&context.folder.join(ARRANGEMENT), survey, &plane)? {
        layouts.push(MapLayout {
            name: "neighbours kept (t-SNE)".to_owned(),
            note: "t-SNE of the listed similarities: who stands together is alike; distances between groups, and their sizes, say little.".to_owned(),
            points: arrangement::gathered(&points),
        });
    }
    layouts.push(MapLayout {
        name: "principal axes (PCA)".to_owned(),
        note: "The two principal axes of the centred K̃: distances are to scale, and what lies in other directions is projected onto these.".to_owned(),
        points: plane,
    });
    Ok((layouts, principal.share))
}

fn landmark_colours(landmarks: &[usize], items: &[usize]) -> Colouring {
    let landmarks: std::collections::HashSet<usize> = landmarks.iter().copied().collect();
    Colouring {
        name: "landmarks".to_owned(),
        names: vec!["landmark: its whole column was evaluated".to_owned(), "other item".to_owned()],
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

/// Calls of the fit, of the error estimate beside it, and of all pairs.
struct Bill {
    fit: u64,
    estimate: u64,
    all: u64,
}

fn bill(context: &SweepContext<'_>, rows: &[ResultRow]) -> Option<Bill> {
    let evaluations = rows.first()?.cost.evaluations;
    let all = context.evaluations(&context.requests(whole(context.problem.items())));
    let estimate = cell(context, rows).filter(|_| context.problem.is_priced).map_or(0, |cell| {
        let Ok(plan) = context.sweep.plan(&cell, context.metered.shape()) else { return 0 };
        let alone = context.evaluations(&context.requests(plan.clone()));
        let both = errors::requests(context, Errors::of(context), &cell, &plan);
        both.map_or(0, |both| context.evaluations(&both).saturating_sub(alone))
    });
    let fit = if super::is_judged_on_the_way(context) { evaluations.saturating_sub(estimate) } else { evaluations };
    Some(Bill { fit, estimate, all })
}

/// `4,950 of 44,850 calls (11 %)`.
fn share(part: u64, all: u64) -> String {
    let percent = 100.0 * part as f64 / all.max(1) as f64;
    let decimals = usize::from(percent < 9.95);
    format!("{percent:.decimals$} %")
}

fn lead(context: &SweepContext<'_>, rows: &[ResultRow]) -> String {
    let (Some(bill), Some(first)) = (bill(context, rows), rows.first()) else { return String::new() };
    let rank = rows.iter().find(|row| row.metric == Metric::Rank).map_or(0.0, |row| row.value);
    let items = counted(first.subject.items, "item");
    let spent = bill.fit + bill.estimate;
    let mut text = if context.problem.is_priced {
        let estimate = match bill.estimate {
            0 => String::new(),
            calls => format!(", {} of them to learn the error", count(calls)),
        };
        format!(
            "{items} and {rank:.0} landmarks took {} calls{estimate}; all pairs would have taken {}, so that {} of them were made.",
            count(spent),
            count(bill.all),
            share(spent, bill.all)
        )
    } else {
        format!(
            "{items} and {rank:.0} landmarks: the matrix is given, and the factors read {} of its {} different entries ({}).",
            count(bill.fit),
            count(bill.all),
            share(bill.fit, bill.all)
        )
    };
    if let (Some(ours), Some(all)) = (context.matrix.budget.price(spent), context.matrix.budget.price(bill.all)) {
        text += &format!(" They cost {ours:.2}, and all pairs would have cost {all:.2}.");
    }
    let error = rows.iter().find(|row| row.metric == Metric::OffDiagonalError);
    if let Some(error) = error {
        text += &format!(
            " Off the diagonal the factors are wrong by {:.3} of the norm of K{}.",
            error.value,
            bounds(error, &error_level(context))
        );
    }
    if let Some(recall) = curve::best_recall(rows) {
        text += &format!(
            " Of the ten nearest of an item {:.0} % are found from {} landmarks{}.",
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
        None => " (exact, against all of K)".to_owned(),
    }
}

fn tiles(context: &SweepContext<'_>, rows: &[ResultRow]) -> Vec<Tile> {
    let mut tiles = Vec::new();
    if let Some(bill) = bill(context, rows) {
        let spent = bill.fit + bill.estimate;
        let label = if context.problem.is_priced { "calls" } else { "entries read" };
        tiles.push(Tile {
            label: label.to_owned(),
            value: count(spent),
            note: format!("{} of the {} of all pairs", share(spent, bill.all), count(bill.all)),
        });
    }
    let find = |metric: Metric| rows.iter().find(|row| row.metric == metric);
    if let Some(error) = find(Metric::OffDiagonalError) {
        let note = match error.interval {
            Some(Interval { lower, upper }) => {
                format!("{lower:.3} to {upper:.3} with {} confidence", error_level(context))
            }
            None => "exact, against all of K".to_owned(),
        };
        tiles.push(Tile {
            label: "relative error off the diagonal".to_owned(),
            value: format!("{:.3}", error.value),
            note,
        });
    } else {
        let note =
            "not measured: `error_estimate: 1000` in the configuration buys 1,000 entries to learn it".replace('`', "");
        tiles.push(Tile { label: "relative error".to_owned(), value: "unknown".to_owned(), note });
    }
    if let Some(recall) = curve::best_recall(rows) {
        let interval = recall.interval.map_or_else(String::new, |Interval { lower, upper }| {
            format!("{:.0} to {:.0} % with 95 % confidence, ", 100.0 * lower, 100.0 * upper)
        });
        tiles.push(Tile {
            label: "recall of the ten nearest".to_owned(),
            value: format!("{:.0} %", 100.0 * recall.value),
            note: match context.problem.is_priced {
                true => {
                    format!(
                        "{interval}by the first {} landmarks, judged at the columns of the others",
                        recall.count("rank")
                    )
                }
                false => "exact, at all items that are no landmark".to_owned(),
            },
        });
    }
    if let Some(correlation) = find(Metric::ScoreCorrelation) {
        tiles.push(Tile {
            label: "correlation with the score".to_owned(),
            value: format!("{:.3}", correlation.value),
            note: "at sampled pairs that the fit never saw".to_owned(),
        });
    }
    tiles
}

fn spectrum(
    context: &SweepContext<'_>,
    factors: &Factors,
    vectors: &ndarray::Array2<f64>,
) -> Result<Option<Chapter>, JobError> {
    let mut values = axes::spectrum(vectors.view(), &factors.signature)?;
    let (n, drawn) = (context.problem.items(), vectors.nrows());
    // eigenvalues of a uniform sample grow with its size
    values.iter_mut().for_each(|value| *value *= n as f64 / drawn.max(1) as f64);
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    if squares(&values) == 0.0 {
        return Ok(None);
    }
    let bar = |(place, &value): (usize, &f64)| [place as f64 + 0.6, place as f64 + 1.4, value.min(0.0), value.max(0.0)];
    let bars = |keep: fn(f64) -> bool| {
        values.iter().enumerate().filter(|(_, value)| keep(**value)).map(bar).collect::<Vec<_>>()
    };
    let negative: Vec<f64> = values.iter().copied().filter(|&value| value < 0.0).collect();
    let scaled = if n > drawn {
        format!(" They are those of the drawn items, times {:.1}.", n as f64 / drawn as f64)
    } else {
        String::new()
    };
    let words = match negative.len() {
        0 => "none is negative: K̃ is positive semidefinite".to_owned(),
        some => format!(
            "{} negative, with {:.1} % of the sum of squares: K̃ is indefinite, and no set of plain vectors has all of it",
            if some == 1 { "one is".to_owned() } else { format!("{some} are") },
            100.0 * squares(&negative) / squares(&values)
        ),
    };
    Ok(Some(Chapter {
        id: "spectrum".to_owned(),
        title: "Spectrum of the factors".to_owned(),
        caption: format!("Eigenvalues of K̃ by size; {words}.{scaled}"),
        plots: vec![Plot {
            title: "Eigenvalues of the factors by size, the negative ones below zero".to_owned(),
            x: PlotAxis::linear("eigenvalue, by size", Notation::Whole),
            y: PlotAxis::linear("eigenvalue", Notation::Fixed(2)).holding(&[0.0]),
            marks: vec![
                Mark::Bars { name: "positive".to_owned(), ink: 0, bars: bars(|value| value >= 0.0) },
                Mark::Bars { name: "negative".to_owned(), ink: 1, bars: bars(|value| value < 0.0) },
            ]
            .into_iter()
            .filter(|mark| !matches!(mark, Mark::Bars { bars, .. } if bars.is_empty()))
            .collect(),
        }],
        ..Chapter::default()
    }))
}

fn histogram(survey: &Survey, is_given: bool) -> Option<Chapter> {
    let bins = survey.histogram(BARS)?;
    let bars = |of: fn(&survey::Bin) -> (u64, u64)| -> Vec<[f64; 4]> {
        let bar = |bin: &survey::Bin| {
            let (low, high) = of(bin);
            [bin.from, bin.to, low as f64, high as f64]
        };
        bins.iter().map(bar).filter(|bar| bar[3] > bar[2]).collect()
    };
    let (exact, all): (u64, u64) =
        bins.iter().fold((0, 0), |(a, b), bin| (a + bin.exact, b + bin.exact + bin.estimated));
    Some(Chapter {
        id: "similarities".to_owned(),
        title: "How alike are two items?".to_owned(),
        caption: match is_given {
            true => format!("Similarities of all {} pairs of drawn items, read off the matrix.", count(all)),
            false => format!(
                "Similarities of all {} pairs of drawn items; {} of them were evaluated ({}), the others are estimated by the factors.",
                count(all),
                count(exact),
                share(exact, all)
            ),
        },
        plots: vec![Plot {
            title: "Histogram of similarities".to_owned(),
            x: PlotAxis::linear("similarity", Notation::Fixed(2)),
            y: PlotAxis::linear("pairs", Notation::Whole).holding(&[0.0]),
            marks: vec![
                Mark::Bars { name: "evaluated".to_owned(), ink: 0, bars: bars(|bin| (0, bin.exact)) },
                Mark::Bars {
                    name: "estimated".to_owned(),
                    ink: 5,
                    bars: bars(|bin| (bin.exact, bin.exact + bin.estimated)),
                },
            ]
            .into_iter()
            .filter(|mark| !matches!(mark, Mark::Bars { bars, .. } if bars.is_empty()))
            .collect(),
        }],
        ..Chapter::default()
    })
}

fn pairs(survey: &Survey, drawn: &Drawn<'_>, is_given: bool) -> Option<Chapter> {
    let pairs = survey.best_pairs(LINES);
    let line = |&(first, second, score, is_exact): &(usize, usize, f64, bool)| {
        vec![Listed::Score { value: score, is_exact }, drawn.listed(first), drawn.listed(second)]
    };
    let lines: Vec<_> = pairs.iter().map(line).collect();
    (!lines.is_empty()).then(|| Chapter {
        id: "pairs".to_owned(),
        title: "Most similar pairs".to_owned(),
        caption: match is_given {
            true => "Read off the matrix; `landmark mine` lists more of them.",
            false => "As far as the factors and the store know; `landmark mine` searches all items, and has the score itself check what it finds.",
        }
        .to_owned(),
        listings: vec![Listing {
            head: ["similarity", "one", "other"].map(str::to_owned).to_vec(),
            lines,
            ..Listing::default()
        }],
        ..Chapter::default()
    })
}

fn alone(near: &[Vec<Near>], drawn: &Drawn<'_>) -> Option<Chapter> {
    let mut nearest: Vec<(usize, Near)> =
        near.iter().enumerate().filter_map(|(item, list)| Some((item, *list.first()?))).collect();
    nearest.sort_by(|one, other| one.1.score.rank_cmp(&other.1.score).then(one.0.cmp(&other.0)));
    let line = |(item, near): &(usize, Near)| {
        vec![
            Listed::Score { value: near.score, is_exact: near.is_exact },
            drawn.listed(*item),
            drawn.listed(near.place),
        ]
    };
    let lines: Vec<_> = nearest.iter().take(LINES / 2).map(line).collect();
    (!lines.is_empty()).then(|| Chapter {
        id: "alone".to_owned(),
        title: "Items that nothing resembles".to_owned(),
        caption: "Those whose nearest is farthest: outliers, other languages, broken texts.".to_owned(),
        listings: vec![Listing {
            head: ["similarity to its nearest", "item", "its nearest"].map(str::to_owned).to_vec(),
            lines,
            ..Listing::default()
        }],
        ..Chapter::default()
    })
}

fn hubs(near: &[Vec<Near>], drawn: &Drawn<'_>) -> Option<Chapter> {
    let mut met = vec![0_u64; near.len()];
    near.iter().flatten().for_each(|near| met[near.place] += 1);
    let width = near.iter().map(Vec::len).max().filter(|&width| width > 0)?;
    let mut order: Vec<usize> = (0..met.len()).collect();
    order.sort_by_key(|&item| (std::cmp::Reverse(met[item]), item));
    let line = |&item: &usize| vec![Listed::Number(count(met[item]), met[item] as f64), drawn.listed(item)];
    let never = met.iter().filter(|&&times| times == 0).count() as u64;
    Some(Chapter {
        id: "hubs".to_owned(),
        title: "Hubs".to_owned(),
        caption: format!(
            "Items that are among the {width} nearest of most others; on the mean an item is met {width} times, and {} are met by nobody. A hub that \
             says nothing (boilerplate, a very short text) spoils lists of neighbours.",
            count(never)
        ),
        listings: vec![Listing {
            head: ["lists it is in", "item"].map(str::to_owned).to_vec(),
            lines: order.iter().take(LINES / 2).filter(|&&item| met[item] > 0).map(line).collect(),
            ..Listing::default()
        }],
        ..Chapter::default()
    })
}
