//! Matrices as they are: a user's `.npy`, `.npz` or CSV, and generated ones whose spectrum is known.
//!
//! Memory 8n² bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ndarray::{Array2, ShapeBuilder};
use zip::ZipArchive;

use crate::contained::contained;
use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::npy::{self, Header};
use crate::unpack::{Bounded, check_promise, open};

mod generated;
mod sparse;

use sparse::Sparse;

pub use generated::{gaussian, psd_gaussian, psd_uniform};

/// True where the ending of a name is that of NumPy's arrays.
pub fn is_array(path: &Path) -> bool {
    matches!(ending(path).as_str(), "npy" | "npz")
}

/// The ending of a name in small letters, without that of a program that packed the file.
fn ending(path: &Path) -> String {
    let is_packed = path
        .extension()
        .is_some_and(|ending| ["gz", "bz2", "zip"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let path = if is_packed { Path::new(path.file_stem().unwrap_or_default()) } else { path };
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Reads an n × n matrix: `.npy` of real or whole numbers in C or Fortran order, `.npz` with one array or with a sparse matrix of SciPy's, or
/// numbers in lines (`.csv`, `.tsv`, `.txt`) with a header and a column of names or without. All but `.npz` may be packed. Symmetry is not
/// checked: the caller decides whether the matrix is symmetric, since an asymmetric similarity is one, too.
///
/// # Errors
/// [`DataError`] naming the shape of a matrix that is not square, the first entry (i, j) in row order that is NaN or
/// infinite, the type of numbers that are not read, a file that ends too soon, the line that is no row of numbers.
pub fn read_square(path: &Path) -> Result<Array2<f64>, DataError> {
    let not_square = |rows, cols| DataError::NotSquare { path: path.to_owned(), rows, cols };
    if !["npz", "csv", "tsv", "txt"].contains(&ending(path).as_str()) {
        // before its numbers are read
        let Header { rows, cols, .. } = npy::read_header(path, &mut open(path)?)?;
        if rows != cols {
            return Err(not_square(rows, cols));
        }
    }
    let matrix = read_finite(path, "a similarity")?;
    let (rows, cols) = matrix.dim();
    if rows == cols { Ok(matrix) } else { Err(not_square(rows, cols)) }
}

/// Reads an n × d matrix of the same forms, one row an item: embeddings of a user's own model.
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

fn read_npy(path: &Path) -> Result<Array2<f64>, DataError> {
    let mut reader = open(path)?;
    let header = npy::read_header(path, &mut reader)?;
    check_promise(path, &promise(&header), header.bytes())?;
    read_numbers(path, &header, &mut reader)
}

fn promise(header: &Header) -> String {
    format!("a matrix of {} × {} numbers", header.rows, header.cols)
}

/// The matrix behind a header.
fn read_numbers(path: &Path, header: &Header, reader: &mut dyn Read) -> Result<Array2<f64>, DataError> {
    let numbers = npy::numbers(path, header.dtype, header.bytes(), &promise(header), reader)?;
    let &Header { fortran_order, rows, cols, .. } = header;
    // as many numbers as the shape states
    Ok(Array2::from_shape_vec((rows, cols).set_f(fortran_order), numbers).unwrap_or_default())
}

fn read_npz(path: &Path) -> Result<Array2<f64>, DataError> {
    let refused = |seen: String, wanted| DataError::UnsupportedArray { path: path.to_owned(), seen, wanted };
    let unreadable = |why: String| refused(format!("no archive of NumPy's ({why})"), "`numpy.savez(file, matrix)`");
    let file = File::open(path).map_err(DataError::io(path))?;
    let packed = file.metadata().map_err(DataError::io(path))?.len();
    let read = || {
        let mut archive = ZipArchive::new(file).map_err(|error| unreadable(error.to_string()))?;
        let names: Vec<&str> = archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name)).collect();
        if Sparse::<File>::is_one(&names) {
            return Sparse { path, archive, packed }.read();
        }
        if names.len() != 1 {
            return Err(refused(format!("{} arrays: {}", names.len(), names.join(", ")), "one matrix: save it alone"));
        }
        let array = archive.by_index(0).map_err(|error| unreadable(error.to_string()))?;
        let mut array = Bounded::new(array, packed);
        let header = npy::read_header(path, &mut array)?;
        read_numbers(path, &header, &mut array)
    };
    contained(read).unwrap_or_else(|panic| Err(unreadable(panic)))
}

/// What a line of numbers in text is read to: its cells, with those in quotes taken out of them.
fn cells(text: &str, delimiter: char) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' if is_quoted => is_quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                is_quoted = true;
            }
            _ if letter == delimiter && !is_quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    cells.push(cell);
    // blanks that align columns
    cells.retain(|cell| delimiter != ' ' || !cell.is_empty());
    cells.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    cells
}

/// The delimiter of a first line: the first of the list that stands outside of quotes.
fn delimiter_of(text: &str) -> char {
    let outside: String = text.split('"').step_by(2).collect();
    [',', ';', '\t', ' '].into_iter().find(|&one| outside.contains(one)).unwrap_or(',')
}

#[derive(Default)]
struct Rows {
    /// Numbers in front of each row, of which there may be none: a column of names, if one of them is no number.
    first: Vec<Option<f64>>,
    rest: Vec<f64>,
    width: Option<usize>,
}

impl Rows {
    /// Adds a row; otherwise what is wrong with it and what is wanted.
    fn push(&mut self, cells: &[String]) -> Result<(), (String, String)> {
        let Some((first, rest)) = cells.split_first() else { return Ok(()) };
        let number =
            |cell: &String| cell.parse::<f64>().map_err(|_| (format!("`{}`", excerpt(cell)), "a number".to_owned()));
        let rest: Vec<f64> = rest.iter().map(number).collect::<Result<_, _>>()?;
        if let Some(width) = self.width.filter(|&width| width != cells.len()) {
            return Err((format!("{} numbers", cells.len()), format!("{width}, as in the rows above")));
        }
        self.width = Some(cells.len());
        self.first.push(first.parse().ok());
        self.rest.extend(rest);
        Ok(())
    }

    /// True where the first row is 0, 1, 2, … or 1, 2, 3, …, from its second column on or from its first.
    fn begins_with_counts(&self, has_names: bool) -> bool {
        let width = self.width.unwrap_or(0).saturating_sub(1);
        let row = self.first.first().copied().flatten().into_iter().filter(|_| !has_names);
        let row: Vec<f64> = row.chain(self.rest.iter().take(width).copied()).collect();
        row.len() > 1 && [0.0, 1.0].iter().any(|start| row.iter().zip(0u32..).all(|(&x, k)| x == start + f64::from(k)))
    }

    /// True where the first column is 0, 1, 2, … or 1, 2, 3, ….
    fn first_column_counts(&self) -> bool {
        let column = &self.first;
        let counts_from = |start: f64| column.iter().zip(0u32..).all(|(&x, k)| x == Some(start + f64::from(k)));
        column.len() > 1 && [0.0, 1.0].into_iter().any(counts_from)
    }
}

/// Numbers in lines: between commas, semicolons, tabs or blanks, with a header and a column of names or without.
///
/// A first line is a header where it has two cells or more that are no numbers, where its first cell is empty or where it is a cell shorter than
/// the next line (R), and where it counts the columns (0, 1, 2, … as pandas writes) above as many rows as there are columns. A first column holds
/// names where the header's first cell is empty, where the header is shorter, where one of its cells is no number, and where it counts the rows of a
/// matrix that is square without it. `#` begins a comment, but for a name in front of numbers. A first line `sep=;` names the delimiter.
fn read_lines(path: &Path) -> Result<Array2<f64>, DataError> {
    let mut lines = Lines::open(path)?;
    let (mut delimiter, mut header, mut pending) = (None, None::<Vec<String>>, None::<(usize, Vec<String>)>);
    let (mut rows, mut has_names) = (Rows::default(), false);
    let push = |rows: &mut Rows, line: usize, cells: &[String]| {
        rows.push(cells).map_err(|(seen, wanted)| DataError::malformed(path, line, seen, wanted))
    };
    // lines of old spreadsheets end with CR alone
    let mut earlier = 0;
    while let Some((line, physical)) = lines.next_line()? {
        let physical_line = line + earlier;
        earlier += physical.matches('\r').count();
        for (line, text) in (physical_line..).zip(physical.split('\r')) {
            let text = text.trim_start_matches('\u{feff}').trim_end();
            // a tab in front stands for a corner without a name
            let text = if text.starts_with('\t') { text } else { text.trim_start() };
            if text.is_empty() {
                continue;
            }
            if delimiter.is_none() && text.len() == 5 && text.to_ascii_lowercase().starts_with("sep=") {
                delimiter = text.chars().next_back();
                continue;
            }
            let found = delimiter.unwrap_or_else(|| delimiter_of(text));
            let cells = cells(text, found);
            let numbers = |cells: &[String]| cells.iter().all(|cell| cell.parse::<f64>().is_ok());
            let is_named = found != ' ' && cells.len() > 1 && !cells[0].starts_with("# ") && numbers(&cells[1..]);
            if text.starts_with('#') && !is_named {
                continue;
            }
            delimiter = Some(found);
            if header.is_none() && pending.is_none() && rows.width.is_none() {
                let names = cells.iter().filter(|cell| cell.parse::<f64>().is_err()).count();
                if names > 1 || (cells.len() > 1 && cells[0].is_empty()) {
                    has_names = cells[0].is_empty();
                    header = Some(cells);
                } else {
                    pending = Some((line, cells));
                }
                continue;
            }
            if let Some((place, first)) = pending.take() {
                if first.len() + 1 == cells.len() && !first.is_empty() && first.len() > 1 {
                    header = Some(first);
                } else {
                    push(&mut rows, place, &first)?;
                }
            }
            if rows.width.is_none() && header.as_ref().is_some_and(|header| header.len() + 1 == cells.len()) {
                has_names = true;
            }
            push(&mut rows, line, &cells)?;
        }
    }
    if let Some((place, first)) = pending {
        push(&mut rows, place, &first)?;
    }
    let (count, Some(width)) = (rows.first.len(), rows.width) else {
        return Err(DataError::Empty { path: path.to_owned(), what: "rows of numbers" });
    };
    has_names |= rows.first.iter().any(Option::is_none);
    // a column of numbers of rows, which pandas and R write: where the matrix is square without it, and not with it
    has_names |= count + 1 == width && rows.first_column_counts();
    let columns = width - usize::from(has_names);
    let skipped = usize::from(header.is_none() && count == columns + 1 && rows.begins_with_counts(has_names));
    let mut numbers = Vec::with_capacity(count * columns);
    for row in skipped..count {
        numbers.extend(rows.first[row].filter(|_| !has_names));
        numbers.extend(&rows.rest[row * (width - 1)..(row + 1) * (width - 1)]);
    }
    // every row has the width of the first
    Ok(Array2::from_shape_vec((count - skipped, columns), numbers).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use half::f16;
    use ndarray::array;
    use ndarray_npy::WriteNpyExt;

    use super::*;
    use crate::test_files::{file, zipped};

    #[test]
    fn what_is_not_finite_is_called_what_it_is() {
        let (_folder, path) = file("mine.csv", "1,nan\n3,4\n");
        let message = |read: Result<Array2<f64>, DataError>| read.unwrap_err().to_string();
        assert!(message(read_rows(&path)).ends_with("the entry (i = 0, j = 1) is NaN; an embedding must be finite"));
        assert!(message(read_square(&path)).ends_with("the entry (i = 0, j = 1) is NaN; a similarity must be finite"));
    }

    fn load_as(name: &str, bytes: &[u8]) -> Result<Array2<f64>, String> {
        let (_folder, path) = file(name, bytes);
        read_square(&path).map_err(|error| error.to_string())
    }

    fn load(bytes: &[u8]) -> Result<Array2<f64>, String> {
        load_as("mine.npy", bytes)
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
            (npy::encode("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }\n", &[0; 8]), "`<c8`"),
            (
                npy::encode("{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n", &[0; 8]),
                "truncated at a matrix of 100000 × 100000 numbers: 88 bytes are left, wanted are 80000000000",
            ),
            (b"1.0, 0.5\n0.5, 1.0\n".to_vec(), "wanted is the header of a NumPy `.npy` file"),
        ] {
            let message = load(&bytes).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn whole_numbers_and_half_precision_are_read() {
        let wanted = array![[1.0, -2.0], [3.0, 100.0]];
        let npy = |descr: &str, bytes: Vec<u8>| {
            npy::encode(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}\n"), &bytes)
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
            ("1,2\r3,four\r", "x.csv:2: `four`; wanted is a number"),
            ("1,2\r\n\r\n3,four\r\n", "x.csv:3: `four`; wanted is a number"),
            (",a,b\n\n# x\na,1,2\nb,1\n", "x.csv:5: 2 numbers; wanted is 3"),
            ("1,2,3\n4,5,6\n", "a matrix of shape 2 × 3"),
            ("1,nan\n3,4\n", "the entry (i = 0, j = 1) is NaN"),
            ("\n", "rows of numbers"),
        ] {
            let message = load_as("x.csv", text.as_bytes()).unwrap_err();
            assert!(message.contains(wanted), "{text:?}: {message}");
        }
    }

    #[test]
    fn matrices_are_read_as_pandas_r_and_spreadsheets_write_them() {
        let wanted = array![[1.0, 0.5], [-0.25, 1.0]];
        for (name, text) in [
            ("x.csv", ",0,1\n0,1.0,0.5\n1,-0.25,1.0\n"),
            ("x.csv", "0,1\n1.0,0.5\n-0.25,1.0\n"),
            ("x.csv", "id,0,1\n0,1.0,0.5\n1,-0.25,1.0\n"),
            ("x.csv", "\"V1\",\"V2\"\n\"1\",1.0,0.5\n\"2\",-0.25,1.0\n"),
            ("x.csv", ",\"Doe, Jane\",\"say \"\"x\"\"\"\n\"Doe, Jane\",1.0,0.5\n\"say \"\"x\"\"\",-0.25,1.0\n"),
            ("x.csv", ",#a,#b\n#a,1.0,0.5\n#b,-0.25,1.0\n"),
            ("x.csv", ",nan,1e5\nnan,1.0,0.5\n1e5,-0.25,1.0\n"),
            ("x.csv", "nan,1.0,0.5\nmoon,-0.25,1.0\n"),
            ("x.csv", "sep=;\r\n1.0;0.5\r\n-0.25;1.0\r\n"),
            ("x.tsv", "\t0\t1\n0\t1.0\t0.5\n1\t-0.25\t1.0\n"),
            ("x.txt", "# 1 2\n1.0 0.5\n-0.25 1.0\n"),
            ("x.csv", "sep=;\r1.0;0.5\r-0.25;1.0\r"),
            ("x.csv", "\u{feff}1.0,0.5\r-0.25,1.0\r"),
            ("x.csv", "\"a\",\"b\"\r1.0,0.5\r-0.25,1.0"),
            ("x.csv", "id,a,b\n1,1.0,0.5\n2,-0.25,1.0\n"),
            ("x.csv", "index,a,b\n0,1.0,0.5\n1,-0.25,1.0\n"),
            ("x.csv", "0,1.0,0.5\n1,-0.25,1.0\n"),
        ] {
            assert_eq!(load_as(name, text.as_bytes()).as_ref(), Ok(&wanted), "{text:?}");
        }
        // counts that are numbers of the matrix: distances on a line
        assert_eq!(load_as("x.csv", b"0,1\n1,0\n").unwrap(), array![[0.0, 1.0], [1.0, 0.0]]);
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
        // an archive packs: the size that it states is not trusted, nor that of its file
        let promised = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 100000), }\n";
        std::fs::write(&path, zipped(&[("k.npy", &npy::encode(promised, &[0; 8]))])).unwrap();
        let message = read_square(&path).unwrap_err().to_string();
        assert!(message.contains("x.npz` is truncated at a matrix of 100000 × 100000 numbers: 8 bytes"), "{message}");
    }
}
