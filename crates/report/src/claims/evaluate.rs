//! Predicates on rows: both sides at every place, and how far the claim is from failing there.

use std::collections::BTreeMap;

use super::predicate::{Axis, Expression, Fold, Operator, Predicate, Term};
use crate::groups::half_width;
use crate::results::ResultRow;

/// Rows, each with the name of its run.
pub(super) type Rows<'a> = &'a [(&'a str, &'a ResultRow)];

/// Value that leaves an axis free and matches nothing along it.
const ANY: &str = "any";
/// Values that stand for an end of an axis.
const ENDS: [&str; 2] = ["smallest", "largest"];

/// Place along the axes that an expression leaves free.
type Place = BTreeMap<Axis, String>;

/// One place of a claim.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) place: Place,
    pub(super) left: f64,
    pub(super) right: f64,
    /// Distance of the left side from the right one, positive on the good side.
    pub(super) margin: f64,
    /// Half the 95 % interval of the margin over replicates, where both sides have the same ones.
    pub(super) half: Option<f64>,
}

/// A number, and its values by replicate; a constant has none and goes with any.
#[derive(Debug, Clone)]
struct Figure {
    mean: f64,
    replicates: Replicates,
}

#[derive(Debug, Clone, PartialEq)]
enum Replicates {
    Constant,
    Of(BTreeMap<u64, f64>),
    /// Two sides that were not measured on the same replicates.
    Mixed,
}

/// Both sides of a predicate at every place that both have.
pub(super) fn points(predicate: &Predicate, rows: Rows<'_>) -> Result<Vec<Point>, String> {
    let (left, right) = (figures(&predicate.left, rows)?, figures(&predicate.right, rows)?);
    let relation = predicate.relation;
    let joined = join(&left, &right, |a, b| relation.margin(a, b));
    let point = |(place, left, right, margin): (Place, f64, f64, Figure)| {
        let half = match &margin.replicates {
            Replicates::Of(values) => half_width(&values.values().copied().collect::<Vec<_>>()),
            Replicates::Constant | Replicates::Mixed => None,
        };
        Point { place, left, right, margin: margin.mean, half }
    };
    let points: Vec<_> = joined.into_iter().map(point).collect();
    if points.is_empty() {
        return Err(
            "its two sides share no place: no size, dataset or comparison that both were measured at".to_owned()
        );
    }
    Ok(points)
}

fn figures(expression: &Expression, rows: Rows<'_>) -> Result<Vec<(Place, Figure)>, String> {
    Ok(match expression {
        Expression::Number(value) => {
            vec![(Place::new(), Figure { mean: *value, replicates: Replicates::Constant })]
        }
        Expression::Rows(term) => of_term(term, rows, |row| Some(row.value))?,
        Expression::EntryShare(term) => of_term(term, rows, entry_share)?,
        Expression::Pair(operator, left, right) => {
            let (left, right) = (figures(left, rows)?, figures(right, rows)?);
            let joined = join(&left, &right, |a, b| operator.of(a, b));
            joined.into_iter().map(|(place, _, _, figure)| (place, figure)).collect()
        }
        Expression::Abs(inner) => {
            let zero = [(Place::new(), Figure { mean: 0.0, replicates: Replicates::Constant })];
            let joined = join(&figures(inner, rows)?, &zero, |value, _| value.abs());
            joined.into_iter().map(|(place, _, _, figure)| (place, figure)).collect()
        }
        Expression::Over(fold, inner) => {
            let all = figures(inner, rows)?;
            let mean = fold.of(&all.iter().map(|(_, figure)| figure.mean).collect::<Vec<_>>());
            vec![(Place::new(), Figure { mean, replicates: by_replicate(&all, |values| fold.of(values)) })]
        }
        Expression::ShareWithin(bound, inner) => {
            let all = figures(inner, rows)?;
            let share = |values: &[f64]| {
                values.iter().filter(|value| value.abs() < *bound).count() as f64 / values.len() as f64
            };
            let replicates = by_replicate(&all, share);
            let mean = match &replicates {
                // the share of means is not the mean of shares
                Replicates::Of(shares) => shares.values().sum::<f64>() / shares.len() as f64,
                Replicates::Constant | Replicates::Mixed => {
                    share(&all.iter().map(|(_, figure)| figure.mean).collect::<Vec<_>>())
                }
            };
            vec![(Place::new(), Figure { mean, replicates })]
        }
    })
}

/// One number of all places, in each replicate.
fn by_replicate(all: &[(Place, Figure)], of: impl Fn(&[f64]) -> f64) -> Replicates {
    let Some(Replicates::Of(first)) = all.first().map(|(_, figure)| &figure.replicates) else {
        return Replicates::Mixed;
    };
    let at = |replicate: u64| -> Option<f64> {
        Some(of(&all.iter().map(|(_, figure)| figure.at(replicate)).collect::<Option<Vec<_>>>()?))
    };
    let folded: Option<BTreeMap<_, _>> = first.keys().map(|&replicate| Some((replicate, at(replicate)?))).collect();
    folded.map_or(Replicates::Mixed, Replicates::Of)
}

/// Entries asked for over n²; none of a row without items.
fn entry_share(row: &ResultRow) -> Option<f64> {
    (row.subject.items > 0).then(|| row.cost.cells as f64 / (row.subject.items as f64).powi(2))
}

/// A number of each row of a term, a figure for each place along its free axes.
fn of_term(
    term: &Term,
    rows: Rows<'_>,
    number: impl Fn(&ResultRow) -> Option<f64>,
) -> Result<Vec<(Place, Figure)>, String> {
    let pinned = |axis: Axis| term.axes.iter().any(|(known, _)| *known == axis);
    let is_end = |wanted: &str| ENDS.contains(&wanted);
    let matches = |(run, row): &(&str, &ResultRow)| {
        row.metric == term.metric
            && term.axes.iter().all(|(axis, wanted)| wanted == ANY || is_end(wanted) || is_at(run, row, *axis, wanted))
    };
    let mut chosen: Vec<(&str, &ResultRow)> = rows.iter().copied().filter(matches).collect();
    for (axis, wanted) in term.axes.iter().filter(|(_, wanted)| is_end(wanted)) {
        chosen = at_end(&chosen, *axis, wanted);
    }
    let mut places: BTreeMap<Place, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for (run, row) in chosen {
        let Some(value) = number(row) else { continue };
        // a rank follows from the size and the method, a run from its dataset and number of items: they are no axes of their own
        let is_free = |axis: &Axis| !matches!(axis, Axis::Rank | Axis::Run) && !pinned(*axis);
        let free = Axis::ALL.iter().map(|(_, axis)| *axis).filter(is_free);
        let place = free.filter_map(|axis| Some((axis, value_of(run, row, axis)?))).collect();
        places.entry(place).or_default().entry(row.replicate).or_default().push(value);
    }
    if places.is_empty() {
        return Err(format!("no row of {}", words(term)));
    }
    let figure = |values: BTreeMap<u64, Vec<f64>>| {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let by: BTreeMap<u64, f64> = values.iter().map(|(replicate, values)| (*replicate, mean(values))).collect();
        Figure { mean: by.values().sum::<f64>() / by.len() as f64, replicates: Replicates::Of(by) }
    };
    Ok(places.into_iter().map(|(place, values)| (place, figure(values))).collect())
}

/// Rows at one end of an axis, for each dataset, number of its items and comparison.
fn at_end<'a>(rows: &[(&'a str, &'a ResultRow)], axis: Axis, wanted: &str) -> Vec<(&'a str, &'a ResultRow)> {
    let number = |(run, row): &(&str, &ResultRow)| value_of(run, row, axis).and_then(|value| value.parse::<u64>().ok());
    let numbers: Vec<Option<u64>> = rows.iter().map(number).collect();
    let group = |row: &'a ResultRow| (row.subject.dataset.as_str(), row.subject.items, row.comparison.as_str());
    let mut ends: BTreeMap<(&str, u64, &str), u64> = BTreeMap::new();
    for ((_, row), number) in rows.iter().zip(&numbers) {
        let Some(number) = *number else { continue };
        let end = ends.entry(group(row)).or_insert(number);
        *end = if wanted == ENDS[0] { number.min(*end) } else { number.max(*end) };
    }
    let is_end = |row: &'a ResultRow, number: Option<u64>| number.is_some() && number == ends.get(&group(row)).copied();
    rows.iter().zip(numbers).filter(|((_, row), number)| is_end(row, *number)).map(|(named, _)| *named).collect()
}

/// Pairs of places that agree along every axis both have.
fn join(
    left: &[(Place, Figure)],
    right: &[(Place, Figure)],
    of: impl Fn(f64, f64) -> f64,
) -> Vec<(Place, f64, f64, Figure)> {
    let mut joined = Vec::new();
    for (place, a) in left {
        for (other, b) in
            right.iter().filter(|(other, _)| place.iter().all(|(axis, at)| other.get(axis).is_none_or(|o| o == at)))
        {
            let mut both = place.clone();
            both.extend(other.clone());
            joined.push((both, a.mean, b.mean, a.with(b, &of)));
        }
    }
    joined
}

impl Figure {
    fn at(&self, replicate: u64) -> Option<f64> {
        match &self.replicates {
            Replicates::Constant => Some(self.mean),
            Replicates::Of(values) => values.get(&replicate).copied(),
            Replicates::Mixed => None,
        }
    }

    fn with(&self, other: &Self, of: &impl Fn(f64, f64) -> f64) -> Self {
        let pair = |values: &BTreeMap<u64, f64>| -> Option<BTreeMap<u64, f64>> {
            values.keys().map(|&r| Some((r, of(self.at(r)?, other.at(r)?)))).collect()
        };
        let replicates = match (&self.replicates, &other.replicates) {
            (Replicates::Constant, Replicates::Constant) => Replicates::Constant,
            (Replicates::Of(a), Replicates::Of(b)) if a.len() != b.len() => Replicates::Mixed,
            (Replicates::Of(values), _) | (_, Replicates::Of(values)) => {
                pair(values).map_or(Replicates::Mixed, Replicates::Of)
            }
            _ => Replicates::Mixed,
        };
        Self { mean: of(self.mean, other.mean), replicates }
    }
}

impl Operator {
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Over => left / right,
        }
    }
}

impl Fold {
    fn of(self, values: &[f64]) -> f64 {
        let all = values.iter().copied();
        match self {
            Self::Min => all.fold(f64::INFINITY, f64::min),
            Self::Max => all.fold(f64::NEG_INFINITY, f64::max),
            Self::Mean => all.sum::<f64>() / values.len() as f64,
        }
    }
}

/// The value of a row along an axis, where it has one. Rows that were written before axes had names answer as those that name them.
fn value_of(run: &str, row: &ResultRow, axis: Axis) -> Option<String> {
    let number = |name| row.axes.number(name).map(|number| number.to_string());
    match axis {
        Axis::Run => Some(run.to_owned()),
        Axis::Dataset => Some(row.subject.dataset.clone()),
        Axis::Items => (row.subject.items > 0).then(|| row.subject.items.to_string()),
        Axis::Method => Some(row.subject.method.clone()),
        Axis::Comparison => Some(row.comparison.clone()),
        Axis::Columns => number("columns"),
        Axis::Rank => number("rank"),
        Axis::Position => number("position"),
    }
}

/// True of a row at this value; a method answers to its display name, and without extras to its id.
fn is_at(run: &str, row: &ResultRow, axis: Axis, wanted: &str) -> bool {
    let is_id = axis == Axis::Method && row.subject.variant.is_empty() && row.subject.id == wanted;
    is_id || value_of(run, row, axis).is_some_and(|value| value == wanted)
}

/// `accuracy` of `exact`, comparison small_rank.
fn words(term: &Term) -> String {
    let axes: Vec<_> = term.axes.iter().map(|(axis, value)| format!("{} `{value}`", axis.name())).collect();
    let of = if axes.is_empty() { String::new() } else { format!(" at {}", axes.join(", ")) };
    format!("`{}`{of}", term.metric.id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::results::Metric;

    fn of(text: &str) -> Result<Vec<Point>, String> {
        let rows = fixture::rows();
        let named: Vec<_> = rows.iter().map(|row| ("fixture", row)).collect();
        points(&Predicate::parse(text).unwrap(), &named)
    }

    #[test]
    fn a_side_is_the_mean_of_its_rows_at_every_place_and_the_interval_that_of_paired_differences() {
        let rows = fixture::rows();
        let all = of("relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank) < relative_error(method=Nyström, dataset=tweets, comparison=rank)").unwrap();
        let point = all.iter().find(|point| point.place[&Axis::Columns] == "100").unwrap();
        let mean = |method: &str| {
            let values: Vec<f64> = rows
                .iter()
                .filter(|row| {
                    row.metric == Metric::RelativeError && row.subject.dataset == "tweets" && row.comparison == "rank"
                })
                .filter(|row| row.subject.method == method && row.count("columns") == 100)
                .map(|row| row.value)
                .collect();
            (values.iter().sum::<f64>() / values.len() as f64, values)
        };
        let ((sms, a), (nystrom, b)) = (mean("SMS-Nyström"), mean("Nyström"));
        assert!((point.left - sms).abs() < 1e-15 && (point.right - nystrom).abs() < 1e-15);
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        assert!((point.half.unwrap() - half_width(&differences).unwrap()).abs() < 1e-12);
        assert!((point.margin - (nystrom - sms)).abs() < 1e-12);
    }

    #[test]
    fn folds_and_arithmetic_take_places_together() {
        let least = of("min(relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank)) > 0").unwrap();
        let most = of("max(relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank)) > 0").unwrap();
        assert!(least.len() == 1 && least[0].left < most[0].left);
        let twice =
            of("2 * relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank, columns=100) / 2 > 0.5")
                .unwrap();
        let once =
            of("relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank, columns=100) > 0.5").unwrap();
        assert_eq!(twice[0].left, once[0].left);
    }

    #[test]
    fn a_share_is_counted_in_every_replicate() {
        let errors = "relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank)";
        let share = |bound: &str| of(&format!("share_within({bound}, {errors} - 0.5) >= 0")).unwrap();
        let values: Vec<f64> = fixture::rows()
            .into_iter()
            .filter(|row| row.metric == Metric::RelativeError && row.subject.method == "SMS-Nyström")
            .filter(|row| row.subject.dataset == "tweets" && row.comparison == "rank")
            .map(|row| row.value - 0.5)
            .collect();
        let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let middle = f64::midpoint(sizes[sizes.len() / 2 - 1], sizes[sizes.len() / 2]);
        let within = sizes.iter().filter(|size| **size < middle).count() as f64 / sizes.len() as f64;
        let found = share(&format!("{middle}"));
        assert!(found.len() == 1 && (found[0].left - within).abs() < 1e-12, "{found:?} for {within}");
        assert_eq!((share("0")[0].left, share("1e9")[0].left), (0.0, 1.0));
    }

    #[test]
    fn a_share_of_the_matrix_is_what_rows_cost_and_not_what_they_measure() {
        let points =
            of("entry_share(relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank, columns=100)) < 0.5")
                .unwrap();
        let rows = fixture::rows();
        let row = rows.iter().find(|row| {
            row.subject.method == "SMS-Nyström"
                && row.subject.dataset == "tweets"
                && row.comparison == "rank"
                && row.count("columns") == 100
        });
        let row = row.unwrap();
        let share = row.cost.cells as f64 / (row.subject.items * row.subject.items) as f64;
        assert!(points.len() == 1 && share > 0.0 && (points[0].left - share).abs() < 1e-15, "{points:?} for {share}");
    }

    #[test]
    fn a_term_without_a_row_is_named() {
        let largest =
            of("abs(0 - relative_error(method=SMS-Nyström, dataset=tweets, comparison=rank, columns=largest)) > 1")
                .unwrap();
        assert!(largest.len() == 1 && (largest[0].left - 1.86 * 0.998).abs() < 1e-12, "{largest:?}");
        assert!(of("relative_error(run=elsewhere) > 1").is_err() && of("relative_error(run=fixture) > 0").is_ok());
        let error = of("accuracy(method=SMS-Nyström, rank=7) > 0").unwrap_err();
        assert_eq!(error, "no row of `accuracy` at method `SMS-Nyström`, rank `7`");
    }
}
