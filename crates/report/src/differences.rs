//! Differences of two runs, row by row, and the digest of the figures of one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use crate::ResultRow;

/// What a row is, as against what it is called: the figures that are compared.
const FIGURES: [&str; 5] = ["value", "lower", "upper", "cells", "evaluations"];
/// Never compared: a clock, and words that hold figures.
const LEFT_OUT: [&str; 2] = ["seconds", "note"];

/// Digest of the figures of some rows, whatever the clock read.
pub fn digest(rows: &[ResultRow]) -> serde_json::Result<String> {
    let mut lines = Vec::new();
    for row in rows {
        let mut row = as_map(row)?;
        LEFT_OUT.iter().for_each(|key| drop(row.remove(*key)));
        lines.push(Json::Object(row).to_string());
    }
    let text = lines.join("\n");
    Ok(landmark_core::oracle::Identity::of(&[("rows v1", text.as_bytes())]).to_hex()[..16].to_owned())
}

fn as_map(row: &ResultRow) -> serde_json::Result<Map<String, Json>> {
    match serde_json::to_value(row)? {
        Json::Object(map) => Ok(map),
        other => Ok(Map::from_iter([("row".to_owned(), other)])),
    }
}

/// Rows by what names them, with their figures; a name that repeats is distinguished by how often it was seen.
type Named = BTreeMap<(String, usize), (String, Vec<Option<f64>>)>;

fn named(rows: &[ResultRow]) -> serde_json::Result<Named> {
    let (mut seen, mut all) = (HashMap::<String, usize>::new(), Named::new());
    for row in rows {
        let mut map = as_map(row)?;
        let figures = FIGURES.iter().map(|key| map.remove(*key).and_then(|value| value.as_f64())).collect();
        LEFT_OUT.iter().for_each(|key| drop(map.remove(*key)));
        let name = Json::Object(map).to_string();
        let count = seen.entry(name.clone()).or_default();
        all.insert((name, *count), (row.metric.id().to_owned(), figures));
        *count += 1;
    }
    Ok(all)
}

/// Metric by metric: rows in both, the largest difference, rows in one alone; and whether all agree to the printed digit.
pub fn differences(rows: &[ResultRow], others: &[ResultRow]) -> serde_json::Result<(String, bool)> {
    #[derive(Default)]
    struct Of {
        rows: usize,
        largest: f64,
        alone: usize,
    }
    let (left, right) = (named(rows)?, named(others)?);
    let mut metrics: BTreeMap<String, Of> = BTreeMap::new();
    for (name, (metric, figures)) in &left {
        // a clock differs by nature
        if metric.contains("seconds") {
            continue;
        }
        let of = metrics.entry(metric.clone()).or_default();
        let Some((_, other)) = right.get(name) else {
            of.alone += 1;
            continue;
        };
        of.rows += 1;
        let difference = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        };
        of.largest = figures.iter().zip(other).map(difference).fold(of.largest, f64::max);
    }
    for (metric, _) in right.iter().filter(|(name, _)| !left.contains_key(name)).map(|(_, row)| row) {
        if !metric.contains("seconds") {
            metrics.entry(metric.clone()).or_default().alone += 1;
        }
    }
    let mut out = format!("{:32} {:>8} {:>22} {:>12}\n", "metric", "rows", "largest difference", "on one side");
    for (metric, of) in &metrics {
        let _ = writeln!(out, "{metric:32} {:>8} {:>22.6e} {:>12}", of.rows, of.largest, of.alone);
    }
    let is_alike = metrics.values().all(|of| of.largest == 0.0 && of.alone == 0);
    out += if is_alike { "the same in every figure\n" } else { "they differ\n" };
    Ok((out, is_alike))
}
