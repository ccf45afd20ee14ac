//! The header of a NumPy file, read by hand: ndarray-npy knows neither half precision nor what a good message names.
//!
//! Format: `\x93NUMPY`, a major and a minor version, the length of what follows (u16, from version 2 on u32) and a
//! Python dictionary with `descr`, `fortran_order` and `shape`.

use std::io::Read;
use std::path::Path;

use crate::error::{DataError, excerpt};

/// Bytes of a header that is read; NumPy reads a sixth of that.
const LONGEST: u64 = 1 << 16;

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
        let cells = (self.rows as u64).checked_mul(self.cols as u64)?;
        cells.checked_mul(self.dtype.size() as u64)
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
pub(crate) fn read(path: &Path, reader: &mut dyn Read) -> Result<Header, DataError> {
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

/// Bytes of all numbers that a header promises, `None` where they are more than can be counted.
pub(crate) fn promised(path: &Path, reader: &mut dyn Read) -> Result<Option<u64>, DataError> {
    let (dtype, _, shape) = read_any(path, reader)?;
    Ok(shape.iter().try_fold(dtype.size() as u64, |bytes, &size| bytes.checked_mul(size as u64)))
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
        read(Path::new("m.npy"), &mut &bytes[..]).map_err(|error| error.to_string())
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
