//! Reads the matrices of several examples.

use ndarray::Array2;

/// A matrix of little-endian f64, row by row.
pub(crate) fn read(path: &str, rows: usize) -> Result<Array2<f64>, Box<dyn std::error::Error>> {
    let numbers: Vec<f64> = std::fs::read(path)?
        .chunks_exact(8)
        .map(|bytes| Ok(f64::from_le_bytes(bytes.try_into()?)))
        .collect::<Result<_, std::array::TryFromSliceError>>()?;
    Ok(Array2::from_shape_vec((rows, numbers.len() / rows.max(1)), numbers)?)
}
