//! What several examples need.

#![allow(dead_code, reason = "each example needs a part")]

use ndarray::Array2;

/// A matrix of little-endian f64, row by row.
pub(crate) fn read(path: &str, rows: usize) -> Result<Array2<f64>, Box<dyn std::error::Error>> {
    let numbers: Vec<f64> = std::fs::read(path)?
        .chunks_exact(8)
        .map(|bytes| Ok(f64::from_le_bytes(bytes.try_into()?)))
        .collect::<Result<_, std::array::TryFromSliceError>>()?;
    Ok(Array2::from_shape_vec((rows, numbers.len() / rows.max(1)), numbers)?)
}

/// User and system seconds of all threads so far.
pub(crate) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    // fields 14 and 15, in ticks of a hundredth
    after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
