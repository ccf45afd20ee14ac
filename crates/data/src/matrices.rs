//! Similarity matrices as they are: a user's `.npy`, and generated ones whose spectrum is known.
//!
//! Memory 8n² bytes.

use std::path::Path;

use ndarray::Array2;
use ndarray_npy::ReadNpyExt;

use crate::error::DataError;
use crate::lines::{check_promise, open};
use crate::npy_header::{self, Dtype};

mod generated;

pub use generated::{gaussian, psd_gaussian, psd_uniform, with_spectrum};

/// Reads an n × n matrix of f32 or f64 in C or Fortran order. Whether it is symmetric is for the reader to say: an
/// asymmetric similarity is one, too.
///
/// # Errors
/// [`DataError`] naming the shape of a matrix that is not square, the first entry (i, j) in row order that is NaN or
/// infinite, the type of numbers that are not read, a file that ends too soon.
pub fn read_square(path: &Path) -> Result<Array2<f64>, DataError> {
    let header = npy_header::read(path, &mut open(path)?)?;
    if header.rows != header.cols {
        return Err(DataError::NotSquare { path: path.to_owned(), rows: header.rows, cols: header.cols });
    }
    read(path)
}

fn read(path: &Path) -> Result<Array2<f64>, DataError> {
    let header = npy_header::read(path, &mut open(path)?)?;
    check_promise(path, "its first number", header.bytes())?;
    let reader = open(path)?;
    let matrix = match header.dtype {
        Dtype::F64 => Array2::<f64>::read_npy(reader),
        Dtype::F32 => Array2::<f32>::read_npy(reader).map(|matrix| matrix.mapv(f64::from)),
        Dtype::F16 => {
            return Err(DataError::UnsupportedArray {
                path: path.to_owned(),
                seen: "numbers of type `<f2`".into(),
                wanted: "`<f4` or `<f8`: half precision is too coarse for similarities",
            });
        }
    };
    let matrix = matrix.map_err(|source| DataError::BadArray { path: path.to_owned(), source })?;
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(matrix),
        Some(((i, j), &value)) => Err(DataError::NotFiniteEntry { path: path.to_owned(), i, j, value }),
    }
}

/// Reads an n × d matrix of f32 or f64, one row an item: embeddings of a model of one's own.
///
/// # Errors
/// As [`read_square`], except for the shape.
pub fn read_rows(path: &Path) -> Result<Array2<f64>, DataError> {
    read(path)
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use ndarray_npy::WriteNpyExt;

    use super::*;

    fn load(bytes: &[u8]) -> Result<Array2<f64>, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.npy");
        std::fs::write(&path, bytes).unwrap();
        read_square(&path)
    }

    fn encoded(matrix: &Array2<f64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        matrix.write_npy(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn both_precisions_and_both_orders_are_read() {
        let matrix = array![[1.0, 0.5], [-0.25, 1.0]];
        assert_eq!(load(&encoded(&matrix)).unwrap(), matrix);
        assert_eq!(load(&encoded(&matrix.clone().reversed_axes())).unwrap(), matrix.t());
        let mut single = Vec::new();
        matrix.mapv(|value| value as f32).write_npy(&mut single).unwrap();
        assert_eq!(load(&single).unwrap(), matrix);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let mut holed = Array2::<f64>::zeros((3, 3));
        holed[[1, 2]] = f64::NAN;
        let whole = encoded(&Array2::zeros((3, 3)));
        for (bytes, wanted) in [
            (
                encoded(&Array2::zeros((2, 3))),
                "mine.npy` holds a matrix of shape 2 × 3; a similarity matrix must be square",
            ),
            (encoded(&holed), "the entry (i = 1, j = 2) is NaN"),
            (whole[..whole.len() - 8].to_vec(), "mine.npy` cannot be read as a NumPy matrix"),
            (npy_header::encode("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1), }\n", &[0, 0]), "`<f2`"),
            (
                npy_header::encode("{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n", &[0; 8]),
                "truncated at its first number: 88 bytes are left, wanted are 80000000000",
            ),
            (b"1.0, 0.5\n0.5, 1.0\n".to_vec(), "wanted is the header of a NumPy `.npy` file"),
        ] {
            let message = load(&bytes).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
