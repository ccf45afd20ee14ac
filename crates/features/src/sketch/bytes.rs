//! A sketch as bytes and back, to the bit: a stream that was interrupted continues as if it had not been.
//!
//! Little-endian: `LMSKETCH`, version 1, fourteen numbers of 8 bytes, the identity of the columns, the squared norms of the rows of Y, Yᵀ row by row,
//! the rows that wait, blake3 of all that. Where the bytes go is the caller's business; write them to a file of another name and rename it.

use ndarray::{Array2, s};

use super::pending::{Csr, Pending};
use super::{Form, FrequentDirections, FrequentDirectionsParams, SketchError};
use landmark_core::oracle::Identity;

const MAGIC: &[u8; 8] = b"LMSKETCH";
const VERSION: u64 = 1;
/// Numbers of 8 bytes in the head.
const NUMBERS: usize = 14;
const HEAD: usize = 8 + 8 + 8 * NUMBERS + 32;
const CHECKSUM: usize = 32;

impl FrequentDirections {
    /// The whole state. 8·d·(rows of Y) bytes and the rows that wait.
    pub fn to_bytes(&self) -> Vec<u8> {
        let kept = self.kept.view();
        let (kind, waiting, entries) = match &self.pending {
            Pending::Sparse(rows) => (0, rows.len(), rows.values.len()),
            Pending::Dense { matrix, rows } => (1, *rows, *rows * matrix.ncols()),
        };
        let form = match self.form {
            Form::Figure1 => 0,
            Form::Buffered => 1,
        };
        let mut bytes = Vec::with_capacity(HEAD + 8 * (kept.len() + kept.ncols()) + 12 * entries + CHECKSUM);
        bytes.extend_from_slice(MAGIC);
        let sizes = [form, self.l, self.buffer, self.columns(), kept.ncols(), kind, waiting, entries];
        let head = [VERSION].into_iter().chain(sizes.map(|size| size as u64));
        let counts = [self.rows, self.shrinks, self.squared_norm.to_bits(), self.subtracted.to_bits(), 0, 0];
        head.chain(counts).for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes.extend_from_slice(self.features.as_bytes());
        let mut put = |value: f64| bytes.extend_from_slice(&value.to_le_bytes());
        self.kept.squares.iter().copied().for_each(&mut put);
        kept.iter().copied().for_each(&mut put);
        match &self.pending {
            Pending::Dense { matrix, rows } => matrix.slice(s![..*rows, ..]).iter().copied().for_each(&mut put),
            Pending::Sparse(rows) => {
                rows.values.iter().copied().for_each(&mut put);
                rows.starts[1..].iter().for_each(|&end| bytes.extend_from_slice(&(end as u64).to_le_bytes()));
                rows.columns.iter().for_each(|column| bytes.extend_from_slice(&column.to_le_bytes()));
            }
        }
        let checksum = blake3::hash(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        bytes
    }

    /// The sketch that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`SketchError::Foreign`] for other bytes or another version, [`SketchError::Truncated`], [`SketchError::Damaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SketchError> {
        let begins = &bytes[..bytes.len().min(MAGIC.len())];
        if begins != &MAGIC[..begins.len()] {
            let wanted = "the bytes `LMSKETCH` at the beginning".to_owned();
            return Err(SketchError::Foreign { seen: "a file of another kind".into(), wanted });
        }
        let truncated = |wanted: u64| SketchError::Truncated { seen: bytes.len() as u64, wanted };
        if bytes.len() < HEAD {
            return Err(truncated((HEAD + CHECKSUM) as u64));
        }
        let mut reader = Reader { bytes: &bytes[MAGIC.len()..] };
        let version = reader.number();
        if version != VERSION {
            let (seen, wanted) = (format!("a sketch of format {version}"), format!("format {VERSION}"));
            return Err(SketchError::Foreign { seen, wanted });
        }
        let [form, l, buffer, columns, kept, kind, waiting, entries] = std::array::from_fn(|_| reader.number());
        let [rows, shrinks, squared_norm, subtracted, _, _] = std::array::from_fn(|_| reader.number());
        let features = Identity::from_bytes(reader.take());
        let waiting_bytes =
            if kind == 0 { 12 * u128::from(entries) + 8 * u128::from(waiting) } else { 8 * u128::from(entries) };
        let body = 8 * u128::from(kept) * (u128::from(columns) + 1) + waiting_bytes;
        let wanted = u64::try_from(body + (HEAD + CHECKSUM) as u128).map_err(|_| SketchError::Damaged)?;
        if (bytes.len() as u64) < wanted {
            return Err(truncated(wanted));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if bytes.len() as u64 > wanted || blake3::hash(content).as_bytes() != checksum {
            return Err(SketchError::Damaged);
        }
        // the checksum holds, so sizes are those of a sketch that was in memory
        let size = |number: u64| usize::try_from(number).map_err(|_| SketchError::Damaged);
        let form = if form == 0 { Form::Figure1 } else { Form::Buffered };
        let given = (form == Form::Buffered).then_some(size(buffer)?);
        let params = FrequentDirectionsParams { rows: size(l)?, form, buffer: given };
        let mut sketch = params.check(size(columns)?, features)?;
        let kept = size(kept)?;
        sketch.kept.squares = reader.values(kept);
        for mut row in sketch.kept.transposed.rows_mut() {
            row.iter_mut().take(kept).for_each(|out| *out = f64::from_bits(reader.number()));
        }
        sketch.pending = reader.pending(kind, size(waiting)?, size(entries)?, size(columns)?);
        (sketch.rows, sketch.shrinks) = (rows, shrinks);
        (sketch.squared_norm, sketch.subtracted) = (f64::from_bits(squared_norm), f64::from_bits(subtracted));
        Ok(sketch)
    }
}

/// Takes numbers off the front of bytes whose length was checked.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let (head, rest) = self.bytes.split_at(N);
        taken.copy_from_slice(head);
        self.bytes = rest;
        taken
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| f64::from_bits(self.number())).collect()
    }

    fn pending(&mut self, kind: u64, waiting: usize, entries: usize, columns: usize) -> Pending {
        if kind == 1 {
            let values = self.values(entries);
            let matrix = Array2::from_shape_fn((waiting, columns), |(i, j)| values[i * columns + j]);
            return Pending::Dense { matrix, rows: waiting };
        }
        let mut rows = Csr::new();
        rows.values = self.values(entries);
        // ends of rows were lengths in memory when they were written
        rows.starts.extend((0..waiting).map(|_| usize::try_from(self.number()).unwrap_or(usize::MAX)));
        rows.columns = (0..entries).map(|_| u32::from_le_bytes(self.take())).collect();
        Pending::Sparse(rows)
    }
}
