//! A row as it is written: the columns that all results share, and the names of its axes where those columns do not give them.
//!
//! Rows that were written before axes had names are read by the same columns: `columns` and `rank` of a size, `position` of a series.

use serde::{Deserialize, Serialize};

use super::super::Metric;
use super::super::axes::{Axes, Column};
use super::{Cost, Interval, ResultRow, Subject, Variant};

/// One line of `results.json`, one line of the Parquet file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct StoredRow {
    pub(in super::super) dataset: String,
    pub(in super::super) method: String,
    pub(in super::super) method_id: String,
    pub(in super::super) variant: String,
    pub(in super::super) comparison: String,
    pub(in super::super) items: u64,
    pub(in super::super) columns: u64,
    pub(in super::super) rank: u64,
    pub(in super::super) cells: u64,
    pub(in super::super) evaluations: u64,
    pub(in super::super) replicate: u64,
    pub(in super::super) metric: Metric,
    pub(in super::super) position: Option<u64>,
    pub(in super::super) value: f64,
    pub(in super::super) lower: Option<f64>,
    pub(in super::super) upper: Option<f64>,
    pub(in super::super) seconds: Option<f64>,
    pub(in super::super) note: Option<String>,
    pub(in super::super) profile: String,
    /// The axes by name, where they are not `columns`, `rank` and `position` themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in super::super) axes: Option<Axes>,
    /// True where it is a cap and its id does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in super::super) is_cap: Option<bool>,
}

/// Ids of the caps of rows that do not state it themselves.
const CAPS: [&str; 2] = ["optimal", "exact"];

impl From<ResultRow> for StoredRow {
    fn from(row: ResultRow) -> Self {
        let ResultRow { subject, comparison, replicate, metric, value, interval, axes, cost, note, profile } = row;
        let columns = axes.count(Column::Columns).unwrap_or(0);
        let rank = axes.count(Column::Rank).unwrap_or(0);
        let position = axes.count(Column::Position);
        let is_read = Axes::of_columns(columns, rank, position) == axes;
        Self {
            is_cap: (CAPS.contains(&subject.id.as_str()) != subject.is_cap).then_some(subject.is_cap),
            dataset: subject.dataset,
            method: subject.method,
            method_id: subject.id,
            variant: subject.variant.to_string(),
            comparison,
            items: subject.items,
            columns,
            rank,
            cells: cost.cells,
            evaluations: cost.evaluations,
            replicate,
            metric,
            position,
            value,
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
            seconds: cost.seconds,
            note,
            profile,
            axes: (!is_read).then_some(axes),
        }
    }
}

impl From<StoredRow> for ResultRow {
    fn from(stored: StoredRow) -> Self {
        let axes = || Axes::of_columns(stored.columns, stored.rank, stored.position);
        Self {
            axes: stored.axes.unwrap_or_else(axes),
            subject: Subject {
                is_cap: stored.is_cap.unwrap_or_else(|| CAPS.contains(&stored.method_id.as_str())),
                dataset: stored.dataset,
                method: stored.method,
                id: stored.method_id,
                variant: Variant::parse(&stored.variant),
                items: stored.items,
            },
            comparison: stored.comparison,
            replicate: stored.replicate,
            metric: stored.metric,
            value: stored.value,
            interval: stored.lower.zip(stored.upper).map(|(lower, upper)| Interval { lower, upper }),
            cost: Cost { cells: stored.cells, evaluations: stored.evaluations, seconds: stored.seconds },
            note: stored.note,
            profile: stored.profile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of a sweep and one of random features, as they were written before axes had names.
    const BEFORE: [&str; 2] = [
        r#"{"dataset":"tweets","method":"shift_ridge + known","method_id":"shift_ridge","variant":"z: 3 · known: landmarks, diagonal · proxy: rwmd","comparison":"entries","items":100,"columns":10,"rank":5,"cells":1000,"evaluations":955,"replicate":2,"metric":"relative_error","position":null,"value":0.1,"lower":0.05,"upper":0.15,"seconds":0.25,"note":"γ = 0.1","profile":"laptop"}"#,
        r#"{"dataset":"ReLU","method":"circulant","method_id":"circulant","variant":"","comparison":"","items":256,"columns":64,"rank":64,"cells":0,"evaluations":0,"replicate":0,"metric":"root_mean_squared_error","position":null,"value":0.1,"lower":null,"upper":null,"seconds":null,"note":null,"profile":"laptop"}"#,
    ];

    #[test]
    fn rows_from_before_axes_had_names_are_read_and_written_as_they_were() {
        for line in BEFORE {
            let row: ResultRow = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&row).unwrap(), line);
        }
        let [sweep, features] = BEFORE.map(|line| serde_json::from_str::<ResultRow>(line).unwrap());
        assert_eq!((sweep.count("columns"), sweep.count("rank"), sweep.along("fraction")), (10, 5, 0.1));
        assert_eq!(sweep.subject.variant.get("proxy"), Some("rwmd"));
        assert_eq!(features.count("m"), 64);
    }

    #[test]
    fn a_row_with_named_axes_keeps_them_and_fills_the_columns_of_before() {
        let subject = Subject::new("ReLU", "circulant").items(256);
        let row = ResultRow::new(subject, Metric::RootMeanSquaredError, 0.1).at("m", 64_u64).at("margin", 0.5);
        let line = serde_json::to_value(&row).unwrap();
        assert_eq!(
            (&line["columns"], &line["rank"], &line["position"]),
            (&64.into(), &64.into(), &serde_json::Value::Null)
        );
        assert_eq!(line["axes"], serde_json::json!({ "m": 64, "margin": 0.5 }));
        assert_eq!(serde_json::from_value::<ResultRow>(line).unwrap(), row);
    }

    #[test]
    fn a_cap_is_stored_where_its_id_does_not() {
        let of = |id: &str| Subject::new("tweets", id);
        for (subject, stored) in [
            (of("exact").cap(), None),
            (of("sicur"), None),
            (of("bound").cap(), Some(true)),
            (of("exact"), Some(false)),
        ] {
            let row = ResultRow::new(subject, Metric::Accuracy, 0.5);
            let line = serde_json::to_value(&row).unwrap();
            assert_eq!(line.get("is_cap").and_then(serde_json::Value::as_bool), stored);
            assert_eq!(serde_json::from_value::<ResultRow>(line).unwrap(), row);
        }
    }
}
