//! Rows as files: `results.json` (one row a line, so that a change reads well in a diff) and `results.parquet` (one column a field).

use polars::prelude::{Column, DataFrame, ParquetCompression, ParquetWriter};

use super::ResultRow;
use super::axes::Axes;
use super::error::ResultsError;
use super::stored::StoredRow;

/// A JSON array with one row a line.
///
/// # Errors
/// Never in practice: rows are plain data.
pub(super) fn rows_to_json(rows: &[ResultRow]) -> Result<Vec<u8>, ResultsError> {
    let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|source| ResultsError::Encode { what: "`results.json`", source })?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")).into_bytes())
}

/// The same rows in Parquet. The writer stores no time and no machine, so the same rows give the same bytes.
///
/// # Errors
/// Message of the frame library.
pub(super) fn rows_to_parquet(rows: &[ResultRow]) -> Result<Vec<u8>, ResultsError> {
    let rows: Vec<StoredRow> = rows.iter().cloned().map(StoredRow::from).collect();
    let rows = rows.as_slice();
    let fail = |error: polars::error::PolarsError| ResultsError::Parquet(error.to_string());
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
        Column::new("metric".into(), rows.iter().map(|row| row.metric.id()).collect::<Vec<_>>()),
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
        columns.push(Column::new("axes".into(), rows.iter().map(axes).collect::<Result<Vec<_>, _>>()?));
    }
    if rows.iter().any(|row| row.is_cap.is_some()) {
        columns.push(Column::new("is_cap".into(), rows.iter().map(|row| row.is_cap).collect::<Vec<_>>()));
    }
    let mut frame = DataFrame::new(rows.len(), columns).map_err(fail)?;
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Uncompressed)
        .finish(&mut frame)
        .map_err(fail)?;
    Ok(bytes)
}

fn axes_as_json(axes: &Axes) -> Result<String, ResultsError> {
    serde_json::to_string(axes).map_err(|source| ResultsError::Encode { what: "the axes of a row", source })
}

fn text<'a>(name: &str, rows: &'a [StoredRow], of: impl Fn(&'a StoredRow) -> Option<&'a str>) -> Column {
    Column::new(name.into(), rows.iter().map(of).collect::<Vec<_>>())
}

fn count(name: &str, rows: &[StoredRow], of: impl Fn(&StoredRow) -> Option<u64>) -> Column {
    Column::new(name.into(), rows.iter().map(of).collect::<Vec<_>>())
}

fn number(name: &str, rows: &[StoredRow], of: impl Fn(&StoredRow) -> Option<f64>) -> Column {
    Column::new(name.into(), rows.iter().map(of).collect::<Vec<_>>())
}
