//! Matrices as they are: a user's `.npy`, `.npz` or CSV, and generated ones whose spectrum is known.
//!
//! Memory 8n² bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use half::f16;
use ndarray::{Array2, ShapeBuilder};
use zip::ZipArchive;

use crate::contained::contained;
use crate::error::{DataError, excerpt};
use crate::lines::{Lines, check_promise, open};
use crate::npy_header::{self, Dtype, Header};

mod generated;

pub use generated::{gaussian, psd_gaussian, psd_uniform, with_spectrum};

/// True where the ending of a name is that of NumPy's arrays.
pub fn is_array(path: &Path) -> bool {
    matches!(ending(path).as_str(), "npy" | "npz")
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Reads an n × n matrix: `.npy` of real or whole numbers in C or Fortran order, `.npz` with one array, or numbers in lines (`.csv`, `.tsv`,
/// `.txt`) with a header and a column of names or without. Whether it is symmetric is for the reader to say: an asymmetric similarity is
/// one, too.
///
/// # Errors
/// [`DataError`] naming the shape of a matrix that is not square, the first entry (i, j) in row order that is NaN or
/// infinite, the type of numbers that are not read, a file that ends too soon, the line that is no row of numbers.
pub fn read_square(path: &Path) -> Result<Array2<f64>, DataError> {
    let not_square = |rows, cols| DataError::NotSquare { path: path.to_owned(), rows, cols };
    if !["npz", "csv", "tsv", "txt"].contains(&ending(path).as_str()) {
        // before its numbers are read
        let Header { rows, cols, .. } = npy_header::read(path, &mut open(path)?)?;
        if rows != cols {
            return Err(not_square(rows, cols));
        }
    }
    let matrix = read_finite(path, "a similarity")?;
    let (rows, cols) = matrix.dim();
    if rows == cols { Ok(matrix) } else { Err(not_square(rows, cols)) }
}

/// Reads an n × d matrix of the same forms, one row an item: embeddings of a model of one's own.
///
/// # Errors
/// As [`read_square`], except for the shape.
pub fn read_rows(path: &Path) -> Result<Array2<f64>, DataError> {
    read_finite(path, "an embedding")
}

fn read_finite(path: &Path, what: &'static str) -> Result<Array2<f64>, DataError> {
    let matrix = match ending(path).as_str() {
        "npz" => read_npz(path)?,
        "csv" | "tsv" | "txt" => read_lines(path)?,
        _ => read_npy(path)?,
    };
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(matrix),
        Some(((i, j), &value)) => Err(DataError::NotFiniteEntry { path: path.to_owned(), i, j, value, what }),
    }
}

/// Refuses a `.npy` file, of an array of any shape, that is shorter than its header promises, before somebody makes room for that.
///
/// # Errors
/// [`DataError::Truncated`], and as [`read_square`] where it has no header that is known.
pub fn check_npy(path: &Path) -> Result<(), DataError> {
    let bytes = npy_header::promised(path, &mut open(path)?)?;
    check_promise(path, "the numbers that its header promises", bytes)
}

fn read_npy(path: &Path) -> Result<Array2<f64>, DataError> {
    let mut reader = open(path)?;
    let header = npy_header::read(path, &mut reader)?;
    check_promise(path, &promise(&header), header.bytes())?;
    read_numbers(path, &header, &mut reader)
}

/// Numbers that a header promises, in words.
fn promise(header: &Header) -> String {
    format!("a matrix of {} × {} numbers", header.rows, header.cols)
}

/// The numbers behind a header; room is made as they come.
fn read_numbers(path: &Path, header: &Header, reader: &mut dyn Read) -> Result<Array2<f64>, DataError> {
    let &Header { dtype, fortran_order, rows, cols } = header;
    let truncated = |seen| DataError::Truncated {
        path: path.to_owned(),
        at: promise(header),
        seen,
        wanted: header.bytes().unwrap_or(u64::MAX),
    };
    let wanted = header.bytes().ok_or_else(|| truncated(0))?;
    let mut bytes = Vec::new();
    reader.take(wanted).read_to_end(&mut bytes).map_err(DataError::io(path))?;
    if (bytes.len() as u64) < wanted {
        return Err(truncated(bytes.len() as u64));
    }
    let numbers: Vec<f64> = bytes.chunks_exact(dtype.size()).map(|bytes| number(dtype, bytes)).collect();
    // as many numbers as the shape says
    Ok(Array2::from_shape_vec((rows, cols).set_f(fortran_order), numbers).unwrap_or_default())
}

fn number(dtype: Dtype, bytes: &[u8]) -> f64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    let whole = u64::from_le_bytes(eight);
    match dtype {
        Dtype::F16 => f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(),
        Dtype::F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        Dtype::F64 => f64::from_le_bytes(eight),
        Dtype::Whole { signed: false, .. } => whole as f64,
        // the sign stands at the top of the bytes that there are
        Dtype::Whole { bytes, signed: true } => ((whole << (64 - 8 * bytes)) as i64 >> (64 - 8 * bytes)) as f64,
    }
}

/// The one matrix of an archive.
fn read_npz(path: &Path) -> Result<Array2<f64>, DataError> {
    let refused = |seen: String, wanted| DataError::UnsupportedArray { path: path.to_owned(), seen, wanted };
    let unreadable = |why: String| refused(format!("no archive of NumPy's ({why})"), "`numpy.savez(file, matrix)`");
    let file = File::open(path).map_err(DataError::io(path))?;
    let read = || {
        let mut archive = ZipArchive::new(file).map_err(|error| unreadable(error.to_string()))?;
        let names: Vec<&str> = archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name)).collect();
        if names.len() != 1 {
            return Err(refused(format!("{} arrays: {}", names.len(), names.join(", ")), "one matrix: save it alone"));
        }
        let mut array = archive.by_index(0).map_err(|error| unreadable(error.to_string()))?;
        let header = npy_header::read(path, &mut array)?;
        read_numbers(path, &header, &mut array)
    };
    contained(read).unwrap_or_else(|said| Err(unreadable(said)))
}

/// Numbers in lines: between commas, semicolons, tabs or blanks, with a header and a column of names or without.
fn read_lines(path: &Path) -> Result<Array2<f64>, DataError> {
    const DELIMITERS: [char; 4] = [',', ';', '\t', ' '];
    let mut lines = Lines::open(path)?;
    let (mut delimiter, mut width, mut rows, mut numbers) = (None, None, 0, Vec::new());
    while let Some((line, text)) = lines.next_line()? {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let found =
            *delimiter.get_or_insert_with(|| DELIMITERS.into_iter().find(|&one| text.contains(one)).unwrap_or(','));
        let split = |cell: &str| cell.trim().trim_matches('"').parse::<f64>().map_err(|_| cell.trim().to_owned());
        let mut cells: Vec<Result<f64, String>> =
            text.split(found).filter(|cell| found != ' ' || !cell.is_empty()).map(split).collect();
        if rows == 0 && cells.iter().filter(|cell| cell.is_err()).count() > 1 && width.is_none() {
            // the header, whose first cell may be that of the names
            width = Some(0);
            continue;
        }
        if cells.first().is_some_and(Result::is_err) {
            drop(cells.remove(0));
        }
        let malformed =
            |seen: String, wanted: String| DataError::Malformed { path: path.to_owned(), line, seen, wanted };
        let row: Vec<f64> = cells
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|cell| malformed(format!("`{}`", excerpt(&cell)), "a number".to_owned()))?;
        match width {
            Some(width) if width > 0 && width != row.len() => {
                return Err(malformed(format!("{} numbers", row.len()), format!("{width}, as in the rows above")));
            }
            _ => width = Some(row.len()),
        }
        rows += 1;
        numbers.extend(row);
    }
    if rows == 0 {
        return Err(DataError::Empty { path: path.to_owned(), what: "rows of numbers" });
    }
    // every row has the width of the first
    Ok(Array2::from_shape_vec((rows, numbers.len() / rows), numbers).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use ndarray_npy::WriteNpyExt;

    use super::*;

    #[test]
    fn what_is_not_finite_is_called_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.csv");
        std::fs::write(&path, "1,nan\n3,4\n").unwrap();
        let said = |read: Result<Array2<f64>, DataError>| read.unwrap_err().to_string();
        assert!(said(read_rows(&path)).ends_with("the entry (i = 0, j = 1) is NaN; an embedding must be finite"));
        assert!(said(read_square(&path)).ends_with("the entry (i = 0, j = 1) is NaN; a similarity must be finite"));
    }

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
            (
                whole[..whole.len() - 8].to_vec(),
                "truncated at a matrix of 3 × 3 numbers: 64 bytes are left, wanted are 72",
            ),
            (npy_header::encode("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }\n", &[0; 8]), "`<c8`"),
            (
                npy_header::encode("{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n", &[0; 8]),
                "truncated at a matrix of 100000 × 100000 numbers: 88 bytes are left, wanted are 80000000000",
            ),
            (b"1.0, 0.5\n0.5, 1.0\n".to_vec(), "wanted is the header of a NumPy `.npy` file"),
        ] {
            let message = load(&bytes).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    fn load_as(name: &str, bytes: &[u8]) -> Result<Array2<f64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_square(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_numbers_and_half_precision_are_read() {
        let wanted = array![[1.0, -2.0], [3.0, 100.0]];
        let npy = |descr: &str, bytes: Vec<u8>| {
            npy_header::encode(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}\n"), &bytes)
        };
        let halves = wanted.iter().flat_map(|&value| f16::from_f64(value).to_le_bytes()).collect();
        assert_eq!(load(&npy("<f2", halves)).unwrap(), wanted);
        assert_eq!(load(&npy("|i1", vec![1, 0xfe, 3, 100])).unwrap(), wanted);
        let longs = wanted.iter().flat_map(|&value| (value as i64).to_le_bytes()).collect();
        assert_eq!(load(&npy("<i8", longs)).unwrap(), wanted);
        assert_eq!(load(&npy("|b1", vec![1, 0, 0, 1])).unwrap(), array![[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(load(&npy("<u2", vec![1, 0, 0, 1, 255, 255, 0, 0])).unwrap(), array![[1.0, 256.0], [65535.0, 0.0]]);
    }

    #[test]
    fn numbers_in_lines_are_read_with_names_and_without() {
        let wanted = array![[1.0, 0.5], [-0.25, 1.0]];
        for (name, text) in [
            ("x.csv", "1.0, 0.5\n-0.25, 1.0\n"),
            ("x.csv", "\u{feff}1.0;0.5\r\n-2.5e-1;1\r\n\r\n"),
            ("x.tsv", "\ta\tb\na\t1.0\t0.5\nb\t-0.25\t1.0\n"),
            ("x.csv", "id,a,b\na,1.0,0.5\nb,-0.25,1.0\n"),
            ("x.txt", "# a comment\n1.0 0.5\n-0.25  1.0\n"),
        ] {
            assert_eq!(load_as(name, text.as_bytes()).as_ref(), Ok(&wanted), "{text:?}");
        }
        for (text, wanted) in [
            ("1,2\n3\n", "x.csv:2: 1 numbers; wanted is 2"),
            ("1,2\n3,four\n", "x.csv:2: `four`; wanted is a number"),
            ("1,2,3\n4,5,6\n", "a matrix of shape 2 × 3"),
            ("1,nan\n3,4\n", "the entry (i = 0, j = 1) is NaN"),
            ("\n", "rows of numbers"),
        ] {
            let message = load_as("x.csv", text.as_bytes()).unwrap_err();
            assert!(message.contains(wanted), "{text:?}: {message}");
        }
    }

    #[test]
    fn an_archive_of_one_matrix_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        let archive = |arrays: &[(&str, Array2<i32>)]| {
            let mut writer = ndarray_npy::NpzWriter::new(File::create(&path).unwrap());
            arrays.iter().for_each(|(name, array)| writer.add_array(*name, array).unwrap());
            writer.finish().unwrap();
            read_square(&path).map_err(|error| error.to_string())
        };
        let matrix = array![[1, 2], [3, 4]];
        assert_eq!(archive(&[("k", matrix.clone())]), Ok(matrix.mapv(f64::from)));
        let message = archive(&[("k", matrix.clone()), ("other", matrix)]).unwrap_err();
        assert!(message.contains("2 arrays: k, other"), "{message}");
        // an archive packs: what it says of its size is not believed, nor that of its file
        let promised = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n";
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        writer.start_file("k.npy", zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, &npy_header::encode(promised, &[0; 8])).unwrap();
        writer.finish().unwrap();
        let message = read_square(&path).unwrap_err().to_string();
        assert!(message.contains("x.npz` is truncated at a matrix of 100000 × 100000 numbers: 8 bytes"), "{message}");
    }
}
