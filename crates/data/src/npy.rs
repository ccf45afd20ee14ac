//! Arrays in NumPy's files. By hand: ndarray-npy knows neither half precision nor what a good message names, and is half a minute of a build.
//!
//! Format: `\x93NUMPY`, a major and a minor version, the length of what follows (u16, from version 2 on u32) and a
//! Python dictionary with `descr`, `fortran_order` and `shape`; then the numbers.
//!
//! Cost: the bytes of the file, once. Reading holds 8 bytes a number and a chunk of 1 MiB, writing no second copy.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use half::f16;
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn, ShapeBuilder};

use crate::error::{DataError, excerpt};
use crate::unpack::{check_promise, open};

/// Bytes of a header that is read; NumPy reads a sixth of that.
const LONGEST: u64 = 1 << 16;

/// A number that is written as it is.
pub trait Number: Copy {
    /// NumPy's name of its type.
    const DESCR: &'static str;
    type Bytes: AsRef<[u8]>;
    fn bytes(self) -> Self::Bytes;
}

macro_rules! number {
    ($type:ty, $descr:literal, $size:literal) => {
        impl Number for $type {
            const DESCR: &'static str = $descr;
            type Bytes = [u8; $size];
            fn bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    };
}
number!(f32, "<f4", 4);
number!(f64, "<f8", 8);
number!(u64, "<u8", 8);

/// Writes an array of any shape in C order.
///
/// # Errors
/// A file that can't be created or written.
pub fn write<T, S, D>(path: &Path, array: &ArrayBase<S, D>) -> io::Result<()>
where
    T: Number,
    S: Data<Elem = T>,
    D: Dimension,
{
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write_to(&mut out, array)?;
    out.flush()
}

/// The same to any writer, number by number.
///
/// # Errors
/// Those of the writer.
pub fn write_to<T, S, D>(out: &mut impl Write, array: &ArrayBase<S, D>) -> io::Result<()>
where
    T: Number,
    S: Data<Elem = T>,
    D: Dimension,
{
    let shape: String = array.shape().iter().map(|size| format!("{size}, ")).collect();
    // as Python writes a tuple: a comma behind the one number of a vector alone
    let shape = if array.ndim() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", T::DESCR);
    // the numbers begin at a multiple of 64
    header += &" ".repeat((10 + header.len() + 1).next_multiple_of(64) - (10 + header.len() + 1));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    array.iter().try_for_each(|number| out.write_all(number.bytes().as_ref()))
}

/// An array that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct NpyArray {
    /// Whole numbers as well: up to 2^53 each is itself.
    pub values: ArrayD<f64>,
    /// True where the file holds whole numbers.
    pub are_whole: bool,
}

/// Reads an array of any shape, packed or not, in C or Fortran order.
///
/// # Errors
/// [`DataError`] naming a header that is none, the type of numbers that are not read, a file that is shorter than its header promises.
pub fn read(path: &Path) -> Result<NpyArray, DataError> {
    let mut reader = open(path)?;
    let (dtype, fortran_order, shape) = read_any(path, &mut reader)?;
    let (what, wanted) = ("the numbers that its header promises", promised(dtype, &shape));
    check_promise(path, what, wanted)?;
    let numbers = numbers(path, dtype, wanted, what, &mut reader)?;
    // as many numbers as the shape states
    let values = ArrayD::from_shape_vec(IxDyn(&shape).set_f(fortran_order), numbers).unwrap_or_default();
    Ok(NpyArray { values, are_whole: matches!(dtype, Dtype::Whole { .. }) })
}

/// Bytes of an array, `None` where they are more than can be counted.
pub(crate) fn promised(dtype: Dtype, shape: &[usize]) -> Option<u64> {
    shape.iter().try_fold(dtype.size() as u64, |bytes, &size| bytes.checked_mul(size as u64))
}

/// The `wanted` bytes of numbers behind a header; room is made as they come. `what` is what a file that ends too soon should have.
pub(crate) fn numbers(
    path: &Path,
    dtype: Dtype,
    wanted: Option<u64>,
    what: &str,
    reader: &mut dyn Read,
) -> Result<Vec<f64>, DataError> {
    let truncated = |seen| DataError::Truncated {
        path: path.to_owned(),
        at: what.to_owned(),
        seen,
        wanted: wanted.unwrap_or(u64::MAX),
    };
    let wanted = wanted.ok_or_else(|| truncated(0))?;
    let (mut numbers, mut chunk, mut seen) = (Vec::new(), Vec::new(), 0);
    while seen < wanted {
        chunk.clear();
        // a multiple of the size of every type
        let read = (&mut *reader).take((wanted - seen).min(1 << 20)).read_to_end(&mut chunk);
        let read = read.map_err(DataError::io(path))?;
        seen += read as u64;
        if read == 0 || chunk.len() % dtype.size() != 0 {
            return Err(truncated(seen));
        }
        numbers.extend(chunk.chunks_exact(dtype.size()).map(|bytes| number(dtype, bytes)));
    }
    Ok(numbers)
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dtype {
    F16,
    F32,
    F64,
    /// Whole numbers of `bytes` bytes each, with a sign or without; truth values are bytes.
    Whole {
        bytes: usize,
        signed: bool,
    },
}

impl Header {
    /// Bytes of all its numbers, `None` where they are more than can be counted.
    pub(crate) fn bytes(&self) -> Option<u64> {
        promised(self.dtype, &[self.rows, self.cols])
    }
}

impl Dtype {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Whole { bytes, .. } => bytes,
        }
    }

    /// By NumPy's name of it.
    fn of(descr: &str) -> Option<Self> {
        let whole = |bytes, signed| Some(Self::Whole { bytes, signed });
        match descr {
            "<f2" => Some(Self::F16),
            "<f4" => Some(Self::F32),
            "<f8" => Some(Self::F64),
            "|b1" | "|u1" => whole(1, false),
            "|i1" => whole(1, true),
            "<i2" => whole(2, true),
            "<u2" => whole(2, false),
            "<i4" => whole(4, true),
            "<u4" => whole(4, false),
            "<i8" => whole(8, true),
            "<u8" => whole(8, false),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    pub(crate) fortran_order: bool,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

/// Reads up to the first number of a matrix.
pub(crate) fn read_header(path: &Path, reader: &mut dyn Read) -> Result<Header, DataError> {
    let (dtype, fortran_order, shape) = read_any(path, reader)?;
    if let [rows, cols] = shape[..] {
        return Ok(Header { dtype, fortran_order, rows, cols });
    }
    // as Python writes a tuple
    let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let comma = if shape.len() == 1 { "," } else { "" };
    let seen = format!("an array of shape ({sizes}{comma})");
    Err(DataError::UnsupportedArray { path: path.to_owned(), seen, wanted: "a matrix, two dimensions" })
}

/// Reads up to the first number of an array: its type, whether its columns come first, and its shape.
pub(crate) fn read_any(path: &Path, reader: &mut dyn Read) -> Result<(Dtype, bool, Vec<usize>), DataError> {
    let bad = |seen: String| DataError::BadHeader {
        path: path.to_owned(),
        seen,
        wanted: "the header of a NumPy `.npy` file".into(),
    };
    let mut magic = [0; 8];
    reader.read_exact(&mut magic).map_err(|_| bad("fewer than 8 bytes".into()))?;
    let length_bytes = match magic {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => 2,
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => 4,
        _ => return Err(bad(format!("`{}`", magic.escape_ascii()))),
    };
    let mut length = [0; 4];
    reader.read_exact(&mut length[..length_bytes]).map_err(|_| bad("a header that ends too soon".into()))?;
    let mut dictionary = Vec::new();
    let wanted = u64::from(u32::from_le_bytes(length));
    if wanted > LONGEST {
        return Err(bad(format!("a header of {wanted} bytes")));
    }
    reader.take(wanted).read_to_end(&mut dictionary).map_err(DataError::io(path))?;
    if (dictionary.len() as u64) < wanted {
        return Err(bad("a header that ends too soon".into()));
    }
    let dictionary = String::from_utf8_lossy(&dictionary);
    let unreadable = || bad(format!("the header `{}`", excerpt(dictionary.trim())));
    let unsupported = |seen: String, wanted| DataError::UnsupportedArray { path: path.to_owned(), seen, wanted };

    let descr = value_of(&dictionary, "descr").ok_or_else(unreadable)?.trim_matches(['\'', '"']).to_owned();
    let wanted = "real numbers, little-endian: `matrix.astype(\"<f8\")`";
    let dtype = Dtype::of(&descr).ok_or_else(|| unsupported(format!("numbers of type `{descr}`"), wanted))?;
    let fortran_order = match value_of(&dictionary, "fortran_order").ok_or_else(unreadable)? {
        "True" => true,
        "False" => false,
        _ => return Err(unreadable()),
    };
    // one dictionary, one tuple: a reader of Python literals takes twice as long for every bracket within brackets
    if dictionary.matches(['{', '(', '[']).count() > 2 {
        return Err(unreadable());
    }
    let shape = value_of(&dictionary, "shape").ok_or_else(unreadable)?;
    let sizes: Result<Vec<usize>, _> =
        shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(of_python).collect();
    Ok((dtype, fortran_order, sizes.map_err(|_| unreadable())?))
}

/// A size as Python writes it; Python 2 marks a long one: `24L`.
fn of_python(size: &str) -> Result<usize, std::num::ParseIntError> {
    size.strip_suffix('L').unwrap_or(size).parse()
}

/// The text of a dictionary's value: up to the next comma, or between the parentheses of a tuple.
fn value_of<'a>(dictionary: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = dictionary.split_once(&format!("'{key}'"))?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    match value.strip_prefix('(') {
        Some(tuple) => tuple.split_once(')').map(|(inside, _)| inside),
        None => value.split([',', '}']).next().map(str::trim),
    }
}

/// A `.npy` file of version 1 with these bytes for numbers: what the tests of this crate read.
#[cfg(test)]
pub(crate) fn encode(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(dictionary.len()).unwrap();
    [b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), dictionary.as_bytes(), data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Header, String> {
        read_header(Path::new("m.npy"), &mut &bytes[..]).map_err(|error| error.to_string())
    }

    #[test]
    fn arrays_are_written_as_another_library_reads_them_and_read_back() {
        /// What is written, once another library has read the same array from it.
        fn both<T, D>(array: &ndarray::Array<T, D>) -> Vec<u8>
        where
            T: Number + ndarray_npy::ReadableElement + std::fmt::Debug,
            D: Dimension,
        {
            let mut bytes = Vec::new();
            write_to(&mut bytes, array).unwrap();
            assert_eq!((bytes.len() - array.len() * size_of::<T>()) % 64, 0);
            let theirs: ndarray::Array<T, D> = ndarray_npy::ReadNpyExt::read_npy(&bytes[..]).unwrap();
            assert_eq!(format!("{theirs:?}"), format!("{array:?}"));
            bytes
        }
        let matrix = ndarray::array![[1.5, -2.0, 1e300], [0.0, f64::NAN, 7.0]];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.npy");
        std::fs::write(&path, both(&matrix)).unwrap();
        assert_eq!(read(&path).unwrap().values.shape(), [2, 3]);
        for columns in [0, 3, 9, 12345] {
            let whole = ndarray::Array2::from_shape_fn((2, columns), |(i, j)| (i * 7 + j) as u64);
            std::fs::write(&path, both(&whole)).unwrap();
            assert_eq!(read(&path).unwrap(), NpyArray { values: whole.mapv(|x| x as f64).into_dyn(), are_whole: true });
        }
        let vector = ndarray::array![1.0f32, 2.5];
        both(&vector);
        write(&path, &vector).unwrap();
        assert_eq!(read(&path).unwrap(), NpyArray { values: vector.mapv(f64::from).into_dyn(), are_whole: false });
        let single = both(&ndarray::arr0(3.0)).escape_ascii().to_string();
        assert!(single.contains(r"{\'descr\': \'<f8\', \'fortran_order\': False, \'shape\': (), } "), "{single}");
        // a transposed matrix is written as what it is
        write(&path, &matrix.t()).unwrap();
        assert_eq!(read(&path).unwrap().values[[2, 0]], 1e300);
        // more than the chunks in which it is read
        let long = ndarray::Array1::from_shape_fn(300_001, |i| i as f64);
        write(&path, &long).unwrap();
        assert_eq!(read(&path).unwrap().values, long.into_dyn());
        let length = std::fs::metadata(&path).unwrap().len();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 9).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("2399999 bytes are left, wanted are 2400008"), "{error}");
    }

    #[test]
    fn headers_of_every_version_are_read() {
        let dictionary = "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 20), }  \n";
        let wanted = Header { dtype: Dtype::F16, fortran_order: false, rows: 3, cols: 20 };
        assert_eq!(parse(&encode(dictionary, &[])), Ok(wanted));
        let mut second = b"\x93NUMPY\x02\x00".to_vec();
        second.extend(u32::try_from(dictionary.len()).unwrap().to_le_bytes());
        second.extend(dictionary.as_bytes());
        assert_eq!(parse(&second), Ok(wanted));
        let other_order = "{'shape': (1,2), 'fortran_order': True, 'descr': '<f8'}";
        assert_eq!(
            parse(&encode(other_order, &[])),
            Ok(Header { dtype: Dtype::F64, fortran_order: true, rows: 1, cols: 2 })
        );
    }

    #[test]
    fn sizes_that_python_2_marks_as_long_are_read() {
        let header = parse(&encode("{'descr': '<f8', 'fortran_order': False, 'shape': (24L, 24L)}", &[])).unwrap();
        assert_eq!((header.rows, header.cols), (24, 24));
    }

    #[test]
    fn other_files_types_and_shapes_are_named() {
        for (bytes, wanted) in [
            (b"short".to_vec(), "begins with fewer than 8 bytes"),
            (b"PK\x03\x04 a zip file".to_vec(), "begins with `PK\\x03\\x04 a z`"),
            (encode("{'descr': '<c16', 'fortran_order': False, 'shape': (2, 2)}", &[]), "numbers of type `<c16`"),
            (encode("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2)}", &[]), "real numbers, little-endian"),
            (encode("{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}", &[]), "an array of shape (7,)"),
            (encode("{'descr': '<f4', 'shape': (7, 7)}", &[]), "begins with the header `{'descr'"),
            (encode("{'descr': '<f4', 'fortran_order': False, 'shape': (7, -7)}", &[]), "begins with the header"),
            // found by libFuzzer: a minute in the reader of Python literals
            (
                encode(
                    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2),{{{{'des':{{{{{{{{'des':{{ [ .1),2",
                    &[],
                ),
                "begins with the header",
            ),
            (b"\x93NUMPY\x01\x00\xff\x00{'descr'".to_vec(), "a header that ends too soon"),
        ] {
            let message = parse(&bytes).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
