//! Rows as files: `results.json` (one row a line, so that a change reads well in a diff) and `results.parquet` (one column a field).

use std::path::Path;

use serde_json::Value as Json;

use super::axes::Axes;
use super::files::FileError;
use super::row::StoredRow;
use super::{ResultRow, ResultsError};
use crate::columns::{Column, read_parquet, write_parquet};

/// A JSON array with one row a line.
pub(super) fn rows_to_json(rows: &[ResultRow]) -> Result<Vec<u8>, ResultsError> {
    let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|source| ResultsError::Encode { what: "`results.json`", source })?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")).into_bytes())
}

/// The same rows in Parquet. The writer stores no time and no machine, so the same rows give the same bytes.
pub(super) fn rows_to_parquet(rows: &[ResultRow]) -> Result<Vec<u8>, ResultsError> {
    let rows: Vec<StoredRow> = rows.iter().cloned().map(StoredRow::from).collect();
    let rows = rows.as_slice();
    let mut columns = vec![
        text("dataset", rows, |row| Some(&row.dataset)),
        text("method", rows, |row| Some(&row.method)),
        text("method_id", rows, |row| Some(&row.method_id)),
        text("variant", rows, |row| Some(&row.variant)),
        text("comparison", rows, |row| Some(&row.comparison)),
        count("items", rows, |row| Some(row.items)),
        count("columns", rows, |row| Some(row.columns)),
        count("rank", rows, |row| Some(row.rank)),
        count("cells", rows, |row| Some(row.cells)),
        count("evaluations", rows, |row| Some(row.evaluations)),
        count("replicate", rows, |row| Some(row.replicate)),
        Column::text("metric", rows.iter().map(|row| Some(row.metric.id()))),
        count("position", rows, |row| row.position),
        number("value", rows, |row| Some(row.value)),
        number("lower", rows, |row| row.lower),
        number("upper", rows, |row| row.upper),
        number("seconds", rows, |row| row.seconds),
        text("note", rows, |row| row.note.as_deref()),
        text("profile", rows, |row| Some(&row.profile)),
    ];
    // of named axes a column of JSON, and of caps one of flags, where there are any
    if rows.iter().any(|row| row.axes.is_some()) {
        let axes = |row: &StoredRow| row.axes.as_ref().map(axes_as_json).transpose();
        columns.push(Column::text("axes", rows.iter().map(axes).collect::<Result<Vec<_>, _>>()?));
    }
    if rows.iter().any(|row| row.is_cap.is_some()) {
        columns.push(Column::flag("is_cap", rows.iter().map(|row| row.is_cap)));
    }
    let mut bytes = Vec::new();
    write_parquet(&mut bytes, [columns]).map_err(|error| ResultsError::Parquet(error.to_string()))?;
    Ok(bytes)
}

/// The rows of a `results.parquet`, as they were written.
pub fn rows_from_parquet(path: &Path) -> Result<Vec<ResultRow>, ResultsError> {
    let fail = |what: String| ResultsError::Parquet(format!("`{}`{what}", path.display()));
    let other = |error| fail(format!(" is of another version: {error}"));
    let file = std::fs::File::open(path).map_err(FileError::new("read", path))?;
    let rows = read_parquet(file).map_err(|error| fail(format!(": {error}")))?;
    let row = |mut row: serde_json::Map<String, Json>| {
        // axes by name are JSON in a column of text
        if let Some(axes) = row.get_mut("axes")
            && let Some(text) = axes.as_str()
        {
            *axes = serde_json::from_str(text).map_err(other)?;
        }
        serde_json::from_value(Json::Object(row)).map_err(other)
    };
    rows.into_iter().map(row).collect()
}

fn axes_as_json(axes: &Axes) -> Result<String, ResultsError> {
    serde_json::to_string(axes).map_err(|source| ResultsError::Encode { what: "the axes of a row", source })
}

fn text<'a>(name: &'static str, rows: &'a [StoredRow], of: impl Fn(&'a StoredRow) -> Option<&'a str>) -> Column {
    Column::text(name, rows.iter().map(of))
}

fn count(name: &'static str, rows: &[StoredRow], of: impl Fn(&StoredRow) -> Option<u64>) -> Column {
    Column::count(name, rows.iter().map(of))
}

fn number(name: &'static str, rows: &[StoredRow], of: impl Fn(&StoredRow) -> Option<f64>) -> Column {
    Column::number(name, rows.iter().map(of))
}
