//! Readers of tiles and of logs of calls as functions of bytes: what `fuzz/` feeds. No other build has this file.

use super::call_log::{self, Subject};
use super::tile::{self, EXTENSION, Entry, Expected, u64_at};

/// Reads a tile of which these are the bytes before its checksum; the checksum, its name and its oracle are made to fit, or no fuzzer would come past them.
///
/// # Panics
/// Where the entries of a tile are not those that were written.
pub fn read_tile(body: &[u8]) {
    let hash = blake3::hash(body);
    let bytes = [body, hash.as_bytes()].concat();
    let name = format!("{}.{EXTENSION}", hash.to_hex());
    let (mut identity, mut len) = ([0; 32], 0);
    if let Some(header) = body.get(16..56) {
        identity.copy_from_slice(&header[..32]);
        len = usize::try_from(u64_at(header, 32)).unwrap_or(usize::MAX);
    }
    let expected = |name| Expected { identity: &identity, len, name, file: "here" };
    let _ = tile::announced(body);
    let Ok(mut entries) = tile::decode(expected(&name), &bytes) else { return };
    entries.sort_by_key(|entry| (entry.col, entry.row));
    let place = |entry: &Entry| (entry.row, entry.col);
    entries.dedup_by_key(|entry| place(entry));
    let (name, bytes) = tile::encode(&identity, len, entries.clone());
    let again = tile::decode(expected(&name), &bytes);
    assert!(again.is_ok_and(|again| again == entries), "a tile is not read as it was written");
}

/// Reads a log of calls: one with these bytes, and one whose head and records fit their checksums.
///
/// # Panics
/// Where an entry of a record that is whole is not read, or none such is.
pub fn read_log(bytes: &[u8]) {
    let subject = Subject { identity: &[7; 32], len: 50 };
    let _ = call_log::decode(subject, "here", bytes);
    let (sealed, whole) = call_log::sealed(subject, bytes);
    let (entries, rest) = call_log::decode(subject, "here", &sealed).unwrap_or_default();
    assert!(entries.len() <= whole && rest <= sealed.len() as u64, "{} entries of {whole}", entries.len());
    assert!(entries.iter().all(|entry| entry.row.max(entry.col) < 50 && entry.value.is_finite()));
}

/// Tiles of either layout, without their checksums.
pub fn example_tiles() -> Vec<Vec<u8>> {
    let entry = |row, col| Entry { row, col, value: f64::from(row) - 0.5 };
    let block: Vec<Entry> = (0..12).map(|k| entry(k % 4, k / 4)).collect();
    let pairs: Vec<Entry> = (0..5).map(|k| entry(9 - k, 2 * k)).collect();
    let body = |entries| {
        let (_, mut bytes) = tile::encode(&[7; 32], 20, entries);
        bytes.truncate(bytes.len() - 32);
        bytes
    };
    vec![body(block[1..].to_vec()), body(block), body(pairs)]
}

/// Records of two entries and of one, as [`read_log`] takes them.
pub fn example_log() -> Vec<u8> {
    let entry = |row: u32, value: f64| [&row.to_le_bytes()[..], &3_u32.to_le_bytes(), &value.to_le_bytes()].concat();
    [vec![2], entry(0, 0.5), entry(49, -2.0), vec![1], entry(7, 1e9)].concat()
}
