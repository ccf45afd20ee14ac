//! One immutable file of stored entries, version 1. All numbers are little endian.
//!
//! ```text
//! offset    bytes  content
//!      0        8  "LMTILE\r\n"
//!      8        4  version, 1
//!     12        4  layout: 0 rectangle, 1 list of pairs
//!     16       32  identity of the oracle
//!     48        8  n, number of items
//!     56        8  entries in this tile
//!     64        8  r, number of row ids
//!     72        8  c, number of column ids
//!     80     4(r+c) row ids, column ids (u32)
//!      …           values (f64): rectangle r·c column by column, NaN where the tile has no entry; pairs r = c of them
//!    end       32  blake3 of everything before; in hexadecimal it is also the name of the file
//! ```
//!
//! Entries are sorted by (column, row) and the smaller layout is taken, so equal entries give equal bytes and two runs
//! that publish the same tile publish one file. Cost: 8 bytes an entry in a full rectangle, at most 16 + 112 a tile.

use super::StoreError;

const MAGIC: [u8; 8] = *b"LMTILE\r\n";
const VERSION: u32 = 1;
const RECTANGLE: u32 = 0;
const PAIRS: u32 = 1;
pub(super) const HEADER: usize = 80;
const CHECKSUM: usize = 32;
pub(super) const EXTENSION: &str = "tile";

/// One evaluated entry f(row, col), in the order it was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) row: u32,
    pub(super) col: u32,
    pub(super) value: f64,
}

/// Identity, size and name that a tile must have to be read.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) identity: &'a [u8; 32],
    pub(super) len: usize,
    pub(super) name: &'a str,
    pub(super) file: &'a str,
}

/// Name and bytes of the tile that holds `entries`, which are finite and distinct.
pub(super) fn encode(identity: &[u8; 32], len: usize, mut entries: Vec<Entry>) -> (String, Vec<u8>) {
    entries.sort_unstable_by_key(|entry| (entry.col, entry.row));
    let rows = distinct(entries.iter().map(|entry| entry.row));
    let mut cols: Vec<u32> = entries.iter().map(|entry| entry.col).collect();
    cols.dedup();
    let rectangle = 4 * (rows.len() + cols.len()) + 8 * rows.len() * cols.len() <= 16 * entries.len();
    let (layout, r, c) = match rectangle {
        true => (RECTANGLE, rows.len(), cols.len()),
        false => (PAIRS, entries.len(), entries.len()),
    };
    let mut bytes = Vec::with_capacity(HEADER + 16 * entries.len() + CHECKSUM);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(layout.to_le_bytes());
    bytes.extend(identity);
    for number in [len, entries.len(), r, c] {
        bytes.extend((number as u64).to_le_bytes());
    }
    if rectangle {
        bytes.extend(rows.iter().chain(&cols).flat_map(|id| id.to_le_bytes()));
        let mut values = vec![f64::NAN; r * c];
        let (mut b, mut a) = (0, 0);
        for entry in &entries {
            if cols[b] != entry.col {
                (b, a) = (b + 1, 0);
            }
            // without holes it is simply the next row
            if rows.get(a) != Some(&entry.row) {
                a = rows.partition_point(|&row| row < entry.row);
            }
            values[b * r + a] = entry.value;
            a += 1;
        }
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    } else {
        bytes.extend(entries.iter().flat_map(|entry| entry.row.to_le_bytes()));
        bytes.extend(entries.iter().flat_map(|entry| entry.col.to_le_bytes()));
        bytes.extend(entries.iter().flat_map(|entry| entry.value.to_le_bytes()));
    }
    let checksum = blake3::hash(&bytes);
    bytes.extend(checksum.as_bytes());
    (format!("{}.{EXTENSION}", checksum.to_hex()), bytes)
}

/// Reads a tile, or refuses it by name: torn, edited, renamed, or of another oracle.
pub(super) fn decode(expected: Expected<'_>, bytes: &[u8]) -> Result<Vec<Entry>, StoreError> {
    let torn = |reason: String| StoreError::Torn { file: expected.file.to_owned(), reason };
    let Some(body) = bytes.len().checked_sub(CHECKSUM).filter(|&body| body >= HEADER) else {
        return Err(torn(format!("{} bytes are too few for a tile", bytes.len())));
    };
    let (body, checksum) = bytes.split_at(body);
    if body[..MAGIC.len()] != MAGIC {
        return Err(torn("it does not begin as a tile".to_owned()));
    }
    let hash = blake3::hash(body);
    if hash.as_bytes() != checksum {
        return Err(torn(format!("the checksum of its {} bytes does not fit", bytes.len())));
    }
    let version = u32_at(body, 8);
    if version != VERSION {
        return Err(StoreError::Version { file: expected.file.to_owned(), seen: version, wanted: VERSION });
    }
    let content = format!("{}.{EXTENSION}", hash.to_hex());
    let bare = part_of(expected.name).map_or(expected.name, |part| &expected.name[part.len() + 1..]);
    if content != bare {
        return Err(StoreError::Renamed { file: expected.file.to_owned(), content });
    }
    let file = || expected.file.to_owned();
    if body[16..48] != expected.identity[..] {
        return Err(StoreError::Foreign { file: file(), seen: hex(&body[16..48]), wanted: hex(expected.identity) });
    }
    let len = u64_at(body, 48);
    if len != expected.len as u64 {
        return Err(StoreError::ItemCount { file: file(), seen: len, wanted: expected.len });
    }
    let entries = entries(body).ok_or_else(|| torn("its lengths contradict each other".to_owned()))?;
    match entries.iter().find(|entry| entry.row.max(entry.col) as usize >= expected.len) {
        Some(entry) => Err(torn(format!("it holds ({}, {}) of {} items", entry.row, entry.col, expected.len))),
        None => Ok(entries),
    }
}

/// What the name of a tile of an earlier version may begin with: a digest has no `-`.
fn part_of(name: &str) -> Option<&str> {
    name.split_once('-').map(|(part, _)| part)
}

/// Number of items and of entries that the first [`HEADER`] bytes of a tile announce.
pub(super) fn announced(header: &[u8]) -> Option<(u64, u64)> {
    (header.len() >= HEADER && header[..MAGIC.len()] == MAGIC).then(|| (u64_at(header, 48), u64_at(header, 56)))
}

fn entries(body: &[u8]) -> Option<Vec<Entry>> {
    let [announced, r, c] = [56, 64, 72].map(|at| usize::try_from(u64_at(body, at)).ok());
    let (announced, r, c) = (announced?, r?, c?);
    let (cells, listed) = match u32_at(body, 12) {
        RECTANGLE => (r.checked_mul(c)?, false),
        PAIRS if r == c => (r, true),
        _ => return None,
    };
    let ids = r.checked_add(c)?.checked_mul(4)?;
    if ids.checked_add(cells.checked_mul(8)?)? != body.len() - HEADER {
        return None;
    }
    let (ids, values) = body[HEADER..].split_at(ids);
    let (rows, cols) = ids.split_at(4 * r);
    let mut found = Vec::with_capacity(announced.min(cells));
    for (k, value) in values.chunks_exact(8).map(f64_of).enumerate() {
        let (a, b) = if listed { (k, k) } else { (k % r, k / r) };
        if value.is_finite() {
            found.push(Entry { row: u32_at(rows, 4 * a), col: u32_at(cols, 4 * b), value });
        }
    }
    (found.len() == announced).then_some(found)
}

/// True for a file name with this extension.
pub(super) fn has_extension(name: &str, extension: &str) -> bool {
    name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

/// The first 16 bytes of blake3: the checksum of a record, and what stands for an item.
pub(super) type Digest = [u8; 16];

pub(super) fn digest(bytes: &[u8]) -> Digest {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    short
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The distinct ids, ascending; columns of a block repeat one another's, so most are found without sorting.
fn distinct(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let (mut found, mut at): (Vec<u32>, usize) = (Vec::new(), 0);
    let mut others = Vec::new();
    for id in ids {
        match found.last() {
            _ if found.get(at) == Some(&id) => {}
            Some(&last) if id <= last => match found.binary_search(&id) {
                Ok(place) => at = place,
                Err(_) => {
                    others.push(id);
                    continue;
                }
            },
            _ => {
                found.push(id);
                at = found.len() - 1;
            }
        }
        at += 1;
    }
    found.extend(others);
    found.sort_unstable();
    found.dedup();
    found
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

pub(super) fn f64_of(bytes: &[u8]) -> f64 {
    f64::from_bits(u64_at(bytes, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: [u8; 32] = [7; 32];

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<Entry>, StoreError> {
        decode(Expected { identity: &IDENTITY, len: 100, name, file: "here" }, bytes)
    }

    #[test]
    fn equal_entries_give_equal_files_in_whatever_order_they_came() {
        let entries: Vec<Entry> = (0..60).map(|k| Entry { row: k % 20, col: k / 20, value: f64::from(k) }).collect();
        let reversed = entries.iter().rev().copied().collect();
        assert_eq!(encode(&IDENTITY, 100, entries), encode(&IDENTITY, 100, reversed));
    }

    #[test]
    fn a_full_rectangle_costs_8_bytes_an_entry_and_scattered_pairs_16() {
        let block = (0..2000).map(|k| Entry { row: k % 100, col: k / 100, value: 1.0 }).collect();
        assert_eq!(encode(&IDENTITY, 100, block).1.len(), HEADER + 4 * (100 + 20) + 8 * 2000 + CHECKSUM);
        let pairs = (0..50).map(|k| Entry { row: 99 - k, col: k, value: 1.0 }).collect();
        assert_eq!(encode(&IDENTITY, 100, pairs).1.len(), HEADER + 16 * 50 + CHECKSUM);
    }

    #[test]
    fn a_later_format_is_refused_by_its_number() {
        let (_, mut bytes) = encode(&IDENTITY, 100, vec![Entry { row: 1, col: 2, value: 3.0 }]);
        bytes[8] = 2;
        let body = bytes.len() - CHECKSUM;
        let checksum = blake3::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(checksum.as_bytes());
        let error = read(&format!("{}.tile", checksum.to_hex()), &bytes).unwrap_err();
        assert!(matches!(error, StoreError::Version { seen: 2, wanted: 1, .. }), "{error}");
    }
}
