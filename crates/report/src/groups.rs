//! Rows of the same cell put together: mean, standard deviation and 95 % interval over replicates.
//!
//! The interval is Student's t on the replicates, mean ± t₀.₉₇₅(R − 1)·sd/√R: with the 3 to 20 replicates of a sweep the bootstrap of a
//! mean is too narrow. A single replicate takes the interval over items that came with its row, if one did.

use std::collections::{BTreeMap, HashMap};

use landmark_core::stats::upper_student_t;
use landmark_tasks::metrics::Summary;

use crate::error::ReportError;
use crate::results::ResultRow;
use crate::spec::Selection;

/// All replicates of one cell.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    /// Any of its rows: subject, comparison and axes are the same in all.
    pub(super) row: &'a ResultRow,
    /// Replicate and value, ascending by replicate.
    pub(super) values: Vec<(u64, f64)>,
    pub(super) estimate: Estimate,
}

/// Mean with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    pub(super) sd: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
}

impl Estimate {
    fn of(rows: &[&ResultRow]) -> Result<Self, ReportError> {
        let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
        let Summary { mean, sd, .. } = Summary::of(&values)?;
        let interval = match (half_width(&values), rows) {
            (Some(half), _) => Some((mean - half, mean + half)),
            (None, [row]) => row.interval.map(|interval| (interval.lower, interval.upper)),
            (None, _) => None,
        };
        Ok(Self { mean, sd, interval })
    }

    /// Half the width of the interval, 0 where there is none.
    pub(super) fn half_width(&self) -> f64 {
        self.interval.map_or(0.0, |(low, high)| 0.5 * (high - low))
    }
}

/// Half the 95 % interval of a mean over replicates; `None` for fewer than two.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let Summary { sd, count, .. } = Summary::of(values).ok()?;
    sd.map(|sd| upper_student_t(0.025, (count - 1) as f64) * sd / (count as f64).sqrt())
}

/// Groups the selected rows by dataset, comparison, method and all their axes: datasets and methods in the order of the selection, else of their
/// first appearance; comparisons in order of appearance; `columns` ascending, methods within them, then `rank`, `position` and the others.
pub(super) fn groups<'a>(rows: &'a [ResultRow], select: &Selection) -> Result<Vec<Group<'a>>, ReportError> {
    let mut datasets = Order::starting(&select.datasets);
    let mut methods = Order::starting(&select.methods);
    let mut comparisons = Order::starting(&[]);
    let mut cells: BTreeMap<_, Vec<&ResultRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| select.matches(row)) {
        let dataset = datasets.place(&row.subject.dataset);
        let comparison = comparisons.place(&row.comparison);
        let method = methods.place(&row.subject.method);
        let key = (dataset, comparison, row.count("columns"), method, row.axes.place());
        cells.entry(key).or_default().push(row);
    }
    let group = |mut rows: Vec<&'a ResultRow>| {
        rows.sort_by_key(|row| row.replicate);
        let values = rows.iter().map(|row| (row.replicate, row.value)).collect();
        Ok(Group { row: rows[0], values, estimate: Estimate::of(&rows)? })
    };
    cells.into_values().map(group).collect()
}

/// The groups of each dataset and comparison: a panel of a figure, a block of a table.
pub(crate) fn panels<'g, 'a>(groups: &'g [Group<'a>]) -> impl Iterator<Item = &'g [Group<'a>]> {
    groups.chunk_by(|a, b| a.row.subject.dataset == b.row.subject.dataset && a.row.comparison == b.row.comparison)
}

/// `at equal rank`, `small rank`: a comparison in words.
pub(super) fn comparison_words(id: &str) -> String {
    match id {
        "" => String::new(),
        "rank" => "at equal rank".to_string(),
        "entries" => "at equal entries".to_string(),
        other => other.replace('_', " "),
    }
}

/// Numbers names in the order they are met.
pub(super) struct Order<'a> {
    places: HashMap<&'a str, usize>,
}

impl<'a> Order<'a> {
    pub(super) fn starting(names: &'a [String]) -> Self {
        Self { places: names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect() }
    }

    pub(super) fn place(&mut self, name: &'a str) -> usize {
        let next = self.places.len();
        *self.places.entry(name).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::results::Metric;

    #[test]
    fn replicates_are_averaged_with_an_interval() {
        let rows = fixture::rows();
        let groups = groups(&rows, &Selection::compared_at(Metric::RelativeError, "rank")).unwrap();
        let sms = groups
            .iter()
            .find(|group| group.row.subject.method == "SMS-Nyström" && group.row.count("rank") == 100)
            .unwrap();
        assert_eq!(sms.values.iter().map(|(replicate, _)| *replicate).collect::<Vec<_>>(), [0, 1, 2]);
        let mean = sms.values.iter().map(|(_, value)| value).sum::<f64>() / 3.0;
        assert!((sms.estimate.mean - mean).abs() < 1e-15);
        let (low, high) = sms.estimate.interval.unwrap();
        // t(2) = 4.302652729749464 over √3
        assert!(((high - low) / 2.0 - 4.302_652_729_749_464 * sms.estimate.sd.unwrap() / 3f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn sizes_ascend_and_methods_keep_their_first_appearance() {
        let rows = fixture::rows();
        let groups = groups(&rows, &Selection::compared_at(Metric::RelativeError, "rank")).unwrap();
        let tweets = groups.iter().filter(|group| group.row.subject.dataset == "tweets");
        let sizes: Vec<u64> = tweets.map(|group| group.row.count("columns")).collect();
        assert!(sizes.is_sorted());
        assert_eq!(groups[0].row.subject.method, "Nyström");
    }
}
