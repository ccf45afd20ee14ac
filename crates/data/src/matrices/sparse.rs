//! Sparse matrices as SciPy's `save_npz` writes them: CSR, CSC and COO, read to dense ones.
//!
//! Entries that stand twice are added up, as SciPy does. Memory 8 · rows · columns bytes, whatever the file holds, which is why that is bounded.

use std::io::{Read, Seek};
use std::path::Path;

use ndarray::Array2;
use zip::ZipArchive;

use crate::error::DataError;
use crate::npy::{self, read_any};
use crate::unpack::{Bounded, TooLarge};

/// Bytes of a dense matrix that a sparse one may become, however small its file is.
const FREE: u64 = 1 << 30;
/// Longest text of a member `format`.
const LONGEST_NAME: u64 = 4096;

/// An archive of SciPy's, and the size of its file.
pub(super) struct Sparse<'a, R> {
    pub(super) path: &'a Path,
    pub(super) archive: ZipArchive<R>,
    pub(super) packed: u64,
}

impl<R: Read + Seek> Sparse<'_, R> {
    /// True if the names of the arrays are those of a sparse matrix.
    pub(super) fn is_one(names: &[&str]) -> bool {
        names.contains(&"format") && names.contains(&"shape")
    }

    pub(super) fn read(mut self) -> Result<Array2<f64>, DataError> {
        let format = self.format()?;
        let shape = self.places("shape")?;
        let &[rows, cols] = &shape[..] else {
            return Err(self.refused(format!("a sparse array of {} dimensions", shape.len())));
        };
        let mut bound = TooLarge::of(self.packed);
        bound.most = bound.most.max(FREE);
        let bytes = (rows as u64).checked_mul(cols as u64).and_then(|cells| cells.checked_mul(8));
        if bytes.is_none_or(|bytes| bytes > bound.most) {
            return Err(DataError::TooLarge { path: self.path.to_owned(), bound });
        }
        let values = self.numbers("data")?;
        let (places_of_rows, places_of_columns) = match format.as_str() {
            "coo" => (self.places("row")?, self.places("col")?),
            "csr" => (self.expanded(rows)?, self.places("indices")?),
            "csc" => {
                let columns = self.expanded(cols)?;
                (self.places("indices")?, columns)
            }
            other => return Err(self.refused(format!("a sparse matrix of the layout `{other}`"))),
        };
        if places_of_rows.len() != values.len() || places_of_columns.len() != values.len() {
            let seen = format!(
                "a sparse matrix of {} values, {} rows and {} columns of them",
                values.len(),
                places_of_rows.len(),
                places_of_columns.len()
            );
            return Err(self.refused(seen));
        }
        let mut matrix = Array2::zeros((rows, cols));
        for ((&i, &j), value) in places_of_rows.iter().zip(&places_of_columns).zip(values) {
            match matrix.get_mut((i, j)) {
                Some(entry) => *entry += value,
                None => return Err(self.refused(format!("a value at ({i}, {j}) of a matrix of {rows} × {cols}"))),
            }
        }
        Ok(matrix)
    }

    fn refused(&self, seen: String) -> DataError {
        let wanted = "a CSR, CSC or COO matrix of SciPy's, or a dense one: `numpy.save(file, matrix.toarray())`";
        DataError::UnsupportedArray { path: self.path.to_owned(), seen, wanted }
    }

    fn member(&mut self, name: &str) -> Result<impl Read + '_, DataError> {
        let (path, packed) = (self.path, self.packed);
        let missing = |what: String| DataError::UnsupportedArray {
            path: path.to_owned(),
            seen: format!("a sparse matrix without the array `{name}` ({what})"),
            wanted: "an archive of `scipy.sparse.save_npz`",
        };
        let member = self.archive.by_name(&format!("{name}.npy")).map_err(|error| missing(error.to_string()))?;
        Ok(Bounded::new(member, packed))
    }

    /// The text of `format`: an array of one text.
    fn format(&mut self) -> Result<String, DataError> {
        let path = self.path;
        let mut bytes = Vec::new();
        self.member("format")?.take(LONGEST_NAME).read_to_end(&mut bytes).map_err(DataError::io(path))?;
        // a header ends with its line; texts of NumPy are filled up with zeros, four bytes a letter or one
        let text = bytes.split(|&byte| byte == b'\n').next_back().unwrap_or_default();
        Ok(text.iter().filter(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect())
    }

    fn numbers(&mut self, name: &str) -> Result<Vec<f64>, DataError> {
        let path = self.path;
        let mut member = self.member(name)?;
        let (dtype, _, shape) = read_any(path, &mut member)?;
        let [count] = shape[..] else {
            return Err(DataError::UnsupportedArray {
                path: path.to_owned(),
                seen: format!("an array `{name}` of {} dimensions in a sparse matrix", shape.len()),
                wanted: "one dimension",
            });
        };
        npy::numbers(
            path,
            dtype,
            npy::promised(dtype, &shape),
            &format!("the {count} numbers of `{name}`"),
            &mut member,
        )
    }

    fn places(&mut self, name: &str) -> Result<Vec<usize>, DataError> {
        let numbers = self.numbers(name)?;
        // every whole number below 2^53 is itself
        let is_place = |&number: &f64| number >= 0.0 && number.fract() == 0.0 && number < 9e15;
        match numbers.iter().find(|number| !is_place(number)) {
            Some(number) => Err(self.refused(format!("a sparse matrix whose `{name}` has {number}"))),
            None => Ok(numbers.into_iter().map(|number| number as usize).collect()),
        }
    }

    /// The row of each value, or the column: `indptr` holds where each of them begins.
    fn expanded(&mut self, lines: usize) -> Result<Vec<usize>, DataError> {
        let ends = self.places("indptr")?;
        let is_whole = ends.len() == lines + 1 && ends.first() == Some(&0) && ends.is_sorted();
        let count = self.numbers("indices")?.len();
        if !is_whole || ends.last() != Some(&count) {
            let seen = format!("a sparse matrix whose `indptr` is not {} places of {count} values", lines + 1);
            return Err(self.refused(seen));
        }
        let lengths = ends.windows(2).map(|pair| pair[1] - pair[0]);
        Ok(lengths.enumerate().flat_map(|(line, length)| std::iter::repeat_n(line, length)).collect())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::read_square;
    use super::*;
    use crate::test_files::{file, zipped};

    fn longs(values: &[i64]) -> Vec<u8> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        npy::encode(&format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}\n", values.len()), &bytes)
    }

    fn singles(values: &[f32]) -> Vec<u8> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        npy::encode(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}\n", values.len()), &bytes)
    }

    fn text(text: &str) -> Vec<u8> {
        npy::encode("{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n", text.as_bytes())
    }

    fn saved(arrays: &[(&str, Vec<u8>)]) -> Result<Array2<f64>, String> {
        let names: Vec<String> = arrays.iter().map(|(name, _)| format!("{name}.npy")).collect();
        let members: Vec<(&str, &[u8])> =
            names.iter().zip(arrays).map(|(name, (_, bytes))| (name.as_str(), bytes.as_slice())).collect();
        let (_folder, path) = file("x.npz", zipped(&members));
        read_square(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_columns_and_triples_of_scipy_are_read() {
        let wanted = array![[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 3.0]];
        let values = ("data", singles(&[1.0, 0.5, 2.0, 3.0]));
        let shape = ("shape", longs(&[3, 3]));
        let csr = [
            ("format", text("csr")),
            shape.clone(),
            values.clone(),
            ("indices", longs(&[0, 1, 1, 2])),
            ("indptr", longs(&[0, 2, 2, 4])),
        ];
        assert_eq!(saved(&csr), Ok(wanted.clone()));
        let mut csc = csr.clone();
        csc[0].1 = text("csc");
        assert_eq!(saved(&csc), Ok(wanted.t().to_owned()));
        let coo = |columns: &[i64]| {
            let row = ("row", longs(&[0, 0, 2, 2]));
            saved(&[("format", text("coo")), shape.clone(), values.clone(), row, ("col", longs(columns))])
        };
        assert_eq!(coo(&[0, 1, 1, 2]), Ok(wanted));
        // what stands twice is added up
        assert_eq!(coo(&[1, 1, 0, 0]), Ok(array![[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]));
    }

    #[test]
    fn a_sparse_matrix_that_lies_is_an_error_that_names_the_file() {
        let csr = |shape: &[i64], indices: &[i64], ends: &[i64], format: &str| {
            let arrays = [
                ("format", text(format)),
                ("shape", longs(shape)),
                ("data", singles(&[1.0, 2.0])),
                ("indices", longs(indices)),
                ("indptr", longs(ends)),
            ];
            saved(&arrays).unwrap_err()
        };
        for (message, wanted) in [
            (csr(&[1_000_000, 1_000_000], &[0, 1], &[0, 1, 2], "csr"), "unpacks to more than 1.0 GiB"),
            (csr(&[i64::MAX, i64::MAX], &[0, 1], &[0, 1, 2], "csr"), "whose `shape` has"),
            (csr(&[2, 2], &[0, 2], &[0, 1, 2], "csr"), "a value at (1, 2) of a matrix of 2 × 2"),
            (csr(&[2, 2], &[0, -1], &[0, 1, 2], "csr"), "whose `indices` has -1"),
            (csr(&[2, 2], &[0, 1], &[0, 2, 1], "csr"), "whose `indptr` is not 3 places of 2 values"),
            (csr(&[2, 2], &[0, 1], &[0, 1, 9_000_000_000], "csr"), "whose `indptr` is not"),
            (csr(&[2, 2], &[0], &[0, 1, 1], "csr"), "2 values, 1 rows and 1 columns"),
            (csr(&[2, 2], &[0, 1], &[0, 1, 2], "bsr"), "of the layout `bsr`"),
            (csr(&[2, 2, 2], &[0, 1], &[0, 1, 2], "csr"), "a sparse array of 3 dimensions"),
        ] {
            assert!(message.contains("x.npz") && message.contains(wanted), "{message}");
        }
    }
}
