//! Scale-out: the work of a configuration cut into tiles that any number of machines do, through a store that all of them reach.
//!
//! ```text
//! runner plan      what is missing → tiles of minutes → plans/<name>/plan.json
//! runner worker    claims a tile, does it, marks it done; any number of them, any number of times
//! runner merge     when all are done: the run itself, which finds everything there
//! ```
//!
//! What a run decides on while it goes, such as the rounds of a search, is handed out batch by batch instead ([`batches`]).
//!
//! A plan is data. Of a matrix, tiles are entries to be bought ([`purchase`]); of a stream, runs of bytes that are sketched apart and merged in a tree.

use std::ops::Range;

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Identity, OracleShape};
use serde::{Deserialize, Serialize};

pub mod batches;
pub mod executor;
pub mod purchase;
mod tiles;
pub mod workers;

use purchase::Purchase;

/// Version of the document.
const VERSION: u32 = 2;
/// Seconds that a worker may be silent before its tile is taken over, where a configuration says nothing.
pub const LEASE: u64 = 60;
/// The document's name.
pub const PLAN: &str = "plan.json";

/// Work to be done, and the pieces it is cut into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TilePlan {
    version: u32,
    /// Digest of everything below; its first digits name the tiles.
    pub id: String,
    /// Identity of what is worked on: an oracle with its items and parameters, or a file and how it is sketched.
    pub subject: String,
    work: Work,
    /// The pieces.
    pub tiles: Vec<Tile>,
    /// Seconds that a unit of a tile's size took when the plan was made, where something was left to time.
    pub seconds_each: Option<f64>,
}

/// Work that the tiles are pieces of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    /// Entries of a matrix.
    Purchase(Purchase),
    /// A stream of bytes.
    Stream,
}

/// A piece of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tile {
    /// TileRange of the work that it covers.
    pub part: TileRange,
    /// Distinct entries, bought or not; or bytes.
    pub size: u64,
}

/// TileRange of the work that a tile covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TileRange {
    /// Rows from and to, in the order of the purchase, times columns.
    Rows(usize, usize),
    /// Scattered pairs from and to.
    Pairs(usize, usize),
    /// Bytes from and to.
    Bytes(u64, u64),
}

impl TilePlan {
    /// Cuts a set of entries into tiles of about `entries` each.
    ///
    /// # Errors
    /// A plan that can't be written down.
    pub fn of_entries(
        set: &EntrySet,
        shape: OracleShape,
        oracle: Identity,
        entries: u64,
        seconds_each: Option<f64>,
    ) -> Result<Self, serde_json::Error> {
        let purchase = Purchase::new(set, shape);
        let tiles = purchase.cut(shape, entries);
        Self::new(oracle, Work::Purchase(purchase), tiles, seconds_each)
    }

    /// Runs of bytes of a stream, each a tile.
    ///
    /// # Errors
    /// As [`of_entries`](Self::of_entries).
    pub fn of_stream(stream: Identity, pieces: &[Range<u64>], seconds_each: f64) -> Result<Self, serde_json::Error> {
        let tile =
            |piece: &Range<u64>| Tile { part: TileRange::Bytes(piece.start, piece.end), size: piece.end - piece.start };
        Self::new(stream, Work::Stream, pieces.iter().map(tile).collect(), Some(seconds_each))
    }

    fn new(
        subject: Identity,
        work: Work,
        tiles: Vec<Tile>,
        seconds_each: Option<f64>,
    ) -> Result<Self, serde_json::Error> {
        let mut plan =
            Self { version: VERSION, id: String::new(), subject: subject.to_hex(), work, tiles, seconds_each };
        plan.id = plan.digest()?;
        Ok(plan)
    }

    /// The entries that are to be bought, unless it is the plan of a stream.
    pub fn purchase(&self) -> Option<&Purchase> {
        match &self.work {
            Work::Purchase(purchase) => Some(purchase),
            Work::Stream => None,
        }
    }

    /// The name of a tile: in the names of its files, of its claim and of its mark.
    pub fn tile_name(&self, tile: usize) -> String {
        format!("{}{tile:06}", self.tile_prefix())
    }

    /// What the names of all tiles begin with.
    pub fn tile_prefix(&self) -> String {
        format!("{}t", &self.id[..8.min(self.id.len())])
    }

    /// The size of all tiles.
    pub fn size(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.size).sum()
    }

    /// Reads a document, or says what is wrong with it.
    ///
    /// # Errors
    /// Bytes that are no plan of this version, or were edited.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        /// Fields that every version has.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("it has version {version}, but this build reads {VERSION}"));
        }
        let plan: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if plan.digest().map_err(|error| error.to_string())? != plan.id {
            return Err("its content does not fit its digest".to_owned());
        }
        Ok(plan)
    }

    /// As bytes of JSON.
    ///
    /// # Errors
    /// As [`of_entries`](Self::of_entries).
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Digest of the plan without what was timed: the same work is the same plan.
    fn digest(&self) -> Result<String, serde_json::Error> {
        let bare = Self { id: String::new(), seconds_each: None, ..self.clone() };
        Ok(Identity::of(&[("landmark plan", &bare.to_bytes()?)]).to_hex())
    }
}

/// `0-3,7` as numbers below `tiles`.
///
/// # Errors
/// Complaint about a text that is no such list.
pub fn parse_tiles(text: &str, tiles: usize) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    for piece in text.split(',').map(str::trim) {
        let (from, to) = piece.split_once('-').unwrap_or((piece, piece));
        let number = |text: &str| {
            text.trim().parse::<usize>().map_err(|_| format!("`{piece}` is no tile or range of tiles like `0-3`"))
        };
        let (from, to) = (number(from)?, number(to)?);
        if from > to || to >= tiles {
            return Err(format!("`{piece}` is not within the tiles 0 to {}", tiles.saturating_sub(1)));
        }
        found.extend(from..=to);
    }
    Ok(found)
}

/// The tiles of worker `k` of `n`, written `k/n`: every n-th.
///
/// # Errors
/// Complaint about a text that is no such share.
pub fn parse_share(text: &str, tiles: usize) -> Result<Vec<usize>, String> {
    let wrong =
        || format!("`{text}` is no share like `0/8`: the number of this worker, from 0, and how many there are");
    let (k, n) = text.split_once('/').ok_or_else(wrong)?;
    let (k, n): (usize, usize) = (k.trim().parse().map_err(|_| wrong())?, n.trim().parse().map_err(|_| wrong())?);
    if k >= n { Err(wrong()) } else { Ok((k..tiles).step_by(n).collect()) }
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::Symmetry;

    use super::*;

    #[test]
    fn a_plan_reads_back_and_refuses_to_be_edited() {
        let shape =
            OracleShape { len: 20, symmetry: Symmetry::Symmetric, diagonal_known: false, evaluations_per_pair: 1 };
        let mut set = EntrySet::new(shape);
        [1, 2].into_iter().for_each(|j| set.add_column(j));
        set.add_entry(5, 6);
        let plan = TilePlan::of_entries(&set, shape, Identity::of(&[]), 10, None).unwrap();
        let stream = TilePlan::of_stream(Identity::of(&[]), &[0..7, 7..12], 0.5).unwrap();
        assert_eq!(stream.size(), 12);
        assert!(plan.purchase().is_some() && stream.purchase().is_none());
        for plan in [plan, stream] {
            assert_eq!(TilePlan::parse(&plan.to_bytes().unwrap()).as_ref(), Ok(&plan));
            let timed = TilePlan { seconds_each: Some(0.1), ..plan.clone() };
            assert_eq!(timed.digest().unwrap(), plan.id, "what was timed makes no other plan");
            let older = TilePlan { version: 1, ..plan.clone() };
            assert!(TilePlan::parse(&older.to_bytes().unwrap()).unwrap_err().contains("version 1"));
            let edited = TilePlan { tiles: plan.tiles[1..].to_vec(), ..plan };
            assert!(TilePlan::parse(&edited.to_bytes().unwrap()).unwrap_err().contains("digest"));
        }
    }

    #[test]
    fn tiles_and_shares_are_read_and_mistakes_named() {
        assert_eq!(parse_tiles("0-2, 7", 8), Ok(vec![0, 1, 2, 7]));
        assert!(parse_tiles("8", 8).unwrap_err().contains("0 to 7"));
        assert!(parse_tiles("x", 8).unwrap_err().contains("`x`"));
        assert_eq!(parse_share("1/3", 8), Ok(vec![1, 4, 7]));
        assert!(parse_share("3/3", 8).is_err() && parse_share("1", 8).is_err());
    }
}
