//! Error and recall against landmarks, from nested prefixes of the columns that a run has evaluated: no call is made for them.
//!
//! The factors of the first s′ < s landmarks are fitted from the store. Their error is measured as that of all; their recall@10 at the columns of the
//! later landmarks, which that fit treats like any other item: the ten true nearest of such an item against the ten that exact entries of the first s′
//! and factors for the rest would list. It needs uniform landmarks. The proxy's own recall at the same items stands next to that of the largest prefix.
//! Of a matrix that is given the recall is the true one, of all s landmarks too, at every other item.
//! Cost: fits at s/8, s/4, s/2 and 3s/4, less than twice the one at s; of a given matrix about 2n² comparisons for each.

use std::collections::HashSet;

use landmark_core::approximation::Approximation;
use landmark_core::oracle::{Oracle, block_of};
use landmark_core::rank::RankCmp;
use landmark_report::{Chapter, Interval, Mark, Metric, Notation, Plot, PlotAxis, ResultRow, half_width};
use ndarray::{Array2, Axis};

use super::{Made, held_out};
use landmark_harness::config::LandmarkConfig;
use landmark_harness::experiments::errors::{self, Errors};
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::SweepContext;
use landmark_harness::sweep::{Cell, Setting};

/// Comparison of the rows of a curve.
const PREFIX: &str = "prefix";
/// Comparison of the row of the proxy's own recall.
const PROXY: &str = "proxy alone";
/// Prefixes, in eighths of the landmarks.
const EIGHTHS: [usize; 4] = [1, 2, 4, 6];
/// Smallest prefix.
const SMALLEST: usize = 4;
/// Neighbors that a recall is of.
const NEAREST: usize = 10;
/// Columns that a recall is measured at: no fewer, and no more.
const JUDGED: (usize, usize) = (5, 200);
/// Entries of the columns up to which further fits take seconds.
const MOST_ENTRIES: usize = 50_000_000;
/// Last points of a curve that a line is laid through.
const FITTED: usize = 3;

/// Rows of the prefixes of a fit; none where a call would be needed.
pub(super) fn rows(context: &SweepContext<'_>, cell: &Cell, gamma: Option<f64>) -> Result<Vec<ResultRow>, JobError> {
    let method = context.sweep.method(cell);
    let is_seen = matches!(context.matrix.landmarks, LandmarkConfig::Seen(_));
    if is_seen || method.chooses_pairs() || cell.rank * context.problem.items() > MOST_ENTRIES {
        return Ok(Vec::new());
    }
    let mut ranks: Vec<usize> = EIGHTHS.iter().map(|eighths| cell.rank * eighths / 8).collect();
    ranks.retain(|&rank| rank >= SMALLEST && rank < cell.rank);
    ranks.dedup();
    let errors = Errors::of(context);
    let mut rows = Vec::new();
    for rank in ranks {
        let prefix = Cell { rank, columns: rank, ..cell.clone() };
        let plan = context.sweep.plan(&prefix, context.metered.shape())?;
        let requests = errors::requests(context, errors, &prefix, &plan)?;
        let is_there = !context.problem.is_priced || context.missing(&requests) == 0;
        if is_there {
            rows.extend(prefix_rows(context, errors, &prefix, cell.rank, gamma)?);
        }
    }
    // next to the largest prefix: the judged items of the others are not the same
    let last = of_curve(&rows, Metric::RecallAt10).last().map_or(0, |row| row.count("rank"));
    rows.retain(|row| row.comparison != PROXY || row.count("rank") == last);
    Ok(rows)
}

/// Row of the recall of a whole fit; none where the truth is not there.
pub(super) fn true_recall(
    context: &SweepContext<'_>,
    cell: &Cell,
    gamma: Option<f64>,
    whole: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Option<ResultRow>, JobError> {
    if context.problem.is_priced || context.metered.other_order().is_some() {
        return Ok(None);
    }
    let recall = recall(context, cell, cell.rank, gamma, &Lists::Factors(whole))?;
    Ok(recall.map(|recall| recall.row(blank).compared_at(PREFIX)))
}

fn prefix_rows(
    context: &SweepContext<'_>,
    errors: Errors,
    prefix: &Cell,
    all: usize,
    gamma: Option<f64>,
) -> Result<Vec<ResultRow>, JobError> {
    let (approximation, spent) = match context.fit_without_later(prefix, Setting::at(gamma)) {
        Ok(fitted) => fitted,
        Err(error) => {
            // a prefix too small for its method is no reason to lose the run
            tracing::warn!("no point of the curve at {} landmarks: {error}", prefix.rank);
            return Ok(Vec::new());
        }
    };
    let made = Made::of(approximation)?;
    let blank = |metric, value| context.row(prefix, &spent, metric, value).compared_at(PREFIX);
    let mut rows = errors::rows(context, errors, prefix, gamma, &made.approximation, &blank)?;
    rows.retain(|row| matches!(row.metric, Metric::OffDiagonalError | Metric::UnevaluatedError));
    let is_fair = !context.problem.is_priced || held_out::not_uniform(context.matrix).is_none();
    if is_fair && context.metered.other_order().is_none() {
        rows.extend(
            recall(context, prefix, all, gamma, &Lists::Factors(&made.approximation))?.map(|one| one.row(&blank)),
        );
        let wanted = context.sweep.method(prefix).proxy.as_ref();
        if let Some(proxy) = context.problem.proxies(wanted, gamma)?.first() {
            let alone = recall(context, prefix, all, gamma, &Lists::Proxy(proxy.as_ref()))?;
            rows.extend(alone.map(|one| one.row(&blank).compared_at(PROXY)));
        }
    }
    Ok(rows)
}

/// What lists are made from.
enum Lists<'a> {
    /// Factors, and the exact entries of their landmarks.
    Factors(&'a Approximation),
    /// A proxy alone.
    Proxy(&'a dyn Oracle),
}

impl Lists<'_> {
    fn block(&self, rows: &[usize], cols: &[usize]) -> Result<Array2<f64>, JobError> {
        match self {
            Self::Proxy(proxy) => Ok(block_of(*proxy, rows, cols)?),
            Self::Factors(approximation) => {
                let mut estimate = Array2::zeros((rows.len(), cols.len()));
                approximation.block(rows, cols, estimate.view_mut())?;
                Ok(estimate)
            }
        }
    }
}

/// Mean recall@10, and half its 95 % interval where it is learned from a part of the items.
struct Recall {
    mean: f64,
    half: Option<f64>,
}

impl Recall {
    fn row(&self, blank: &dyn Fn(Metric, f64) -> ResultRow) -> ResultRow {
        let row = blank(Metric::RecallAt10, self.mean);
        match self.half {
            Some(half) => row.within((self.mean - half).max(0.0), (self.mean + half).min(1.0)),
            None => row,
        }
    }
}

/// Recall@10 at the columns behind a prefix, or of a given matrix at all items that are no landmark.
fn recall(
    context: &SweepContext<'_>,
    prefix: &Cell,
    all: usize,
    gamma: Option<f64>,
    lists: &Lists<'_>,
) -> Result<Option<Recall>, JobError> {
    let n = context.problem.items();
    let landmarks = context.landmarks(prefix)?;
    let order = landmarks.order();
    let known: HashSet<usize> = order[..prefix.rank].iter().copied().collect();
    let items: Vec<usize> = (0..n).collect();
    let judged: Vec<usize> = match context.problem.is_priced {
        true => order[prefix.rank..all.min(order.len())].iter().copied().take(JUDGED.1).collect(),
        false => items.iter().copied().filter(|item| !known.contains(item)).collect(),
    };
    if judged.len() < JUDGED.0 || n < 2 * NEAREST {
        return Ok(None);
    }
    let oracle = context.metered.similarities(gamma)?;
    let mut shares: Vec<f64> = Vec::with_capacity(judged.len());
    for judged in judged.chunks(JUDGED.1) {
        let truth = block_of(oracle.as_ref(), &items, judged)?;
        let estimate = lists.block(judged, &items)?;
        let has_exact = matches!(lists, Lists::Factors(_));
        shares.extend(judged.iter().enumerate().map(|(place, &item)| {
            let truth = truth.index_axis(Axis(1), place);
            let ours = |other: usize| {
                if has_exact && known.contains(&other) { truth[other] } else { estimate[[place, other]] }
            };
            share_found(item, |other| truth[other], ours, n)
        }));
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let half = half_width(&shares).filter(|_| context.problem.is_priced);
    Ok(Some(Recall { mean, half }))
}

/// Share of the ten nearest of an item by one measure that are among its ten nearest by another. Ties go to the smaller number.
fn share_found(item: usize, truth: impl Fn(usize) -> f64, ours: impl Fn(usize) -> f64, n: usize) -> f64 {
    let best = |of: &dyn Fn(usize) -> f64| -> Vec<usize> {
        let mut others: Vec<usize> = (0..n).filter(|&other| other != item).collect();
        let order = |one: &usize, other: &usize| of(*other).rank_cmp(&of(*one)).then(one.cmp(other));
        if others.len() > NEAREST {
            others.select_nth_unstable_by(NEAREST - 1, order);
        }
        others.truncate(NEAREST);
        others
    };
    let (wanted, found) = (best(&truth), best(&ours));
    wanted.iter().filter(|item| found.contains(item)).count() as f64 / wanted.len().max(1) as f64
}

fn of_curve(rows: &[ResultRow], metric: Metric) -> Vec<&ResultRow> {
    let mut points: Vec<&ResultRow> =
        rows.iter().filter(|row| row.metric == metric && row.comparison == PREFIX).collect();
    points.sort_by_key(|row| row.count("rank"));
    points
}

/// The recall at the largest prefix, where one was measured.
pub(super) fn best_recall(rows: &[ResultRow]) -> Option<&ResultRow> {
    of_curve(rows, Metric::RecallAt10).pop()
}

/// The proxy's own recall at the same items.
pub(super) fn proxy_recall(rows: &[ResultRow]) -> Option<f64> {
    rows.iter().find(|row| row.metric == Metric::RecallAt10 && row.comparison == PROXY).map(|row| row.value)
}

/// The law y = a·sᵇ through the last points, at least three of them, all positive: (a, b) with b ≤ 0, else nothing.
fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let last = &points[points.len().checked_sub(FITTED)?..];
    if last.iter().any(|&(x, y)| x <= 0.0 || y <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = last.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (covariance, variance) = logs.iter().fold((0.0, 0.0), |(covariance, variance), point| {
        (covariance + (point.0 - x) * (point.1 - y), variance + (point.0 - x).powi(2))
    });
    let slope = covariance / variance;
    (slope.is_finite() && slope <= 0.0).then(|| ((y - slope * x).exp(), slope))
}

/// The chapter of the curves; none without a prefix.
pub(super) fn chapter(rows: &[ResultRow]) -> Option<Chapter> {
    let (rank, items) =
        rows.iter().find(|row| row.metric == Metric::Rank).map(|row| (row.value, row.subject.items as f64))?;
    let mut errors = of_curve(rows, Metric::OffDiagonalError);
    errors.extend(rows.iter().find(|row| row.metric == Metric::OffDiagonalError && row.comparison != PREFIX));
    let recalls = of_curve(rows, Metric::RecallAt10);
    let mut plots = Vec::new();
    let mut brings = Vec::new();
    if errors.len() > 1 {
        let (plot, at_twice) = plot(&errors, rank, "relative error off the diagonal", false);
        plots.push(plot);
        brings.extend(at_twice.map(|error| format!("the error to about {error:.3}")));
    }
    if !recalls.is_empty() {
        let (mut plot, at_twice) = plot(&recalls, rank, "recall of the ten nearest", true);
        if let (Some(proxy), Some(first), Some(last)) = (proxy_recall(rows), recalls.first(), recalls.last()) {
            let points = [first, last].map(|row| (row.along("rank"), proxy)).to_vec();
            plot.marks.push(Mark::Dashed { name: "proxy alone".to_owned(), ink: 2, points });
        }
        plots.push(plot);
        brings.extend(at_twice.map(|recall| format!("the recall to about {:.0} %", 100.0 * recall)));
    }
    let twice = match brings.is_empty() {
        true if 2.0 * rank >= items => "Twice the budget would evaluate every pair".to_owned(),
        true => "The last points show no gain".to_owned(),
        false => format!("Twice the budget, {:.0} landmarks, would bring {}", 2.0 * rank, brings.join(" and ")),
    };
    let caption = format!(
        "Error and recall of smaller fits from the same scores; no call was made for this. {twice}. The dashed line extrapolates the last \
         {FITTED} points by a power law, without a bound.{}",
        match recalls.first() {
            None => "",
            Some(row) if row.interval.is_none() => " Recall is exact, at all items that are no landmarks.",
            Some(_) => " Recall is judged at landmarks that the smaller fit did not use.",
        }
    );
    let chapter = Chapter::new("curve", "What more landmarks bring", caption);
    (!plots.is_empty()).then_some(Chapter { plots, ..chapter })
}

/// The curve of a metric, and what its law gives for twice the landmarks; of a recall the law is one of what is missed.
fn plot(points: &[&ResultRow], rank: f64, label: &str, is_recall: bool) -> (Plot, Option<f64>) {
    let places: Vec<(f64, f64)> = points.iter().map(|row| (row.along("rank"), row.value)).collect();
    let missed = |value: f64| if is_recall { 1.0 - value } else { value };
    let law = power_law(&places.iter().map(|&(x, y)| (x, missed(y))).collect::<Vec<_>>());
    // columns of every item are no approximation
    let law = law.filter(|_| points.iter().all(|row| 2.0 * rank < row.subject.items as f64));
    let at = |(a, b): (f64, f64), s: f64| missed(a * s.powf(b));
    let point = |row: &&ResultRow| {
        let Interval { lower, upper } = row.interval.unwrap_or(Interval { lower: row.value, upper: row.value });
        (row.along("rank"), row.value, lower, upper)
    };
    let name = label.to_owned();
    let mut marks = vec![Mark::Curve { name, ink: 0, points: points.iter().map(point).collect() }];
    if let (Some(law), Some(&(last, _))) = (law, places.last()) {
        let steps = (0..=16).map(|step| last * (2.0 * rank / last).powf(f64::from(step) / 16.0));
        let line = steps.map(|s| (s, at(law, s))).collect();
        marks.push(Mark::Dashed { name: "extrapolated".to_owned(), ink: 1, points: line });
        let name = "at twice the budget".to_owned();
        marks.push(Mark::Dots { name, ink: 1, points: vec![(2.0 * rank, at(law, 2.0 * rank))], is_hollow: true });
    }
    let notation = if is_recall { Notation::Percent } else { Notation::Fixed(3) };
    let held: &[f64] = if is_recall { &[0.0, 1.0] } else { &[0.0] };
    let y = PlotAxis::linear(if is_recall { format!("{label} (%)") } else { label.to_owned() }, notation).holding(held);
    let x = PlotAxis::linear("landmarks", Notation::Whole).logarithmic();
    (Plot { title: format!("{label} against landmarks"), x, y, marks }, law.map(|law| at(law, 2.0 * rank)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_again_and_a_rise_is_none() {
        let points: Vec<(f64, f64)> = [10.0, 20.0, 40.0, 80.0].iter().map(|&s: &f64| (s, 3.0 * s.powf(-0.7))).collect();
        let (a, b) = power_law(&points).unwrap();
        assert!((a - 3.0).abs() < 1e-9 && (b + 0.7).abs() < 1e-12, "{a} {b}");
        // only the last three count
        let bent: Vec<(f64, f64)> = [(5.0, 100.0)].into_iter().chain(points).collect();
        assert!((power_law(&bent).unwrap().1 + 0.7).abs() < 1e-12);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 2.0), (4.0, 3.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.0), (4.0, 0.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.5)]), None);
    }

    #[test]
    fn recall_counts_the_true_ten_among_the_ten_that_are_listed() {
        let truth = |other: usize| -(other as f64);
        // items 1 to 10 are nearest to 0; three of them are put far away
        let ours = |other: usize| if (1..=3).contains(&other) { -100.0 } else { -(other as f64) };
        assert!((share_found(0, truth, ours, 40) - 0.7).abs() < 1e-12);
        assert_eq!(share_found(0, truth, truth, 40), 1.0);
    }
}
