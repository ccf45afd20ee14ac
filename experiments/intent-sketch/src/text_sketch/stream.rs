//! The stream of `text_sketch`: read in one go, or in shares by several processes.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use landmark_core::oracle::Identity;
use landmark_data::DataError;
use landmark_data::feature_hashing::{HashedRow, NgramHash};
use landmark_data::text_stream::{self, StreamPlace, TextStream};
use landmark_features::sketch::{FrequentDirections, MergeTree, SketchError};
use landmark_harness::progress::Progress;
use landmark_harness::share::Share;
use landmark_harness::study::{StudyContext, StudyError};
use landmark_report::amounts::bytes;
use landmark_store::TileStore;
use serde_json::json;

use super::saved::SavedStream;
use super::{SAVED, Settings};

/// Bytes at the beginning of a file by which it is known again.
const FINGERPRINT: u64 = 1 << 16;
/// Texts between two looks at the clock.
const TEXTS_PER_LOOK: u64 = 1000;

/// blake3 of some bytes of a file as it lies.
fn fingerprint(path: &Path, bytes: Range<u64>) -> Result<String, DataError> {
    let io = || DataError::io(path);
    let mut file = std::fs::File::open(path).map_err(io())?;
    file.seek(SeekFrom::Start(bytes.start)).map_err(io())?;
    let mut content = Vec::new();
    file.take(bytes.end - bytes.start).read_to_end(&mut content).map_err(io())?;
    Ok(blake3::hash(&content).to_hex().to_string())
}

/// A text file and how it is sketched.
pub(super) struct Stream {
    pub(super) settings: Settings,
    pub(super) hash: NgramHash,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Of its beginning.
    pub(super) fingerprint: String,
    /// Folder of its saved sketch.
    pub(super) folder: PathBuf,
    /// Address of the store that has the shares.
    store: String,
}

impl Stream {
    pub(super) fn new(settings: &Settings, path: PathBuf, context: &StudyContext<'_>) -> Result<Self, StudyError> {
        let bytes = std::fs::metadata(&path).map_err(DataError::io(&path))?.len();
        let fingerprint = fingerprint(&path, 0..FINGERPRINT.min(bytes))?;
        let (settings, hash) = (settings.clone(), settings.hash.check()?);
        Ok(Self {
            settings,
            hash,
            path,
            bytes,
            fingerprint,
            folder: context.folder.to_owned(),
            store: context.store.to_owned(),
        })
    }

    /// A sketch of nothing, at the beginning of the file.
    fn nothing_yet(&self) -> Result<SavedStream, StudyError> {
        Ok(SavedStream {
            sketch: self.settings.sketch().check(self.hash.columns(), self.hash.identity())?,
            place: StreamPlace::default(),
            head_bytes: FINGERPRINT.min(self.bytes),
            fingerprint: self.fingerprint.clone(),
            pieces: 1,
        })
    }

    fn append(&self, text: &str, row: &mut HashedRow, sketch: &mut FrequentDirections) -> Result<(), SketchError> {
        self.hash.hash(text, row);
        sketch.append_sparse(row.columns(), row.values())
    }

    /// State at which an earlier run stood, or the beginning.
    fn begin(&self) -> Result<SavedStream, StudyError> {
        let (path, nothing) = (self.folder.join(SAVED), self.nothing_yet()?);
        if !path.is_file() {
            return Ok(nothing);
        }
        let empty = nothing.sketch;
        let saved = SavedStream::load(&path, self.hash.identity())?;
        let differs = |what: &str, seen: String, wanted: String| -> StudyError {
            let remove = "remove it to start the stream again, or give this configuration another `name`";
            format!("`{}` was made with {what} {seen}, but now {wanted} is asked for; {remove}", path.display()).into()
        };
        if saved.sketch.sketch_rows() != empty.sketch_rows() {
            return Err(differs("rows", saved.sketch.sketch_rows().to_string(), empty.sketch_rows().to_string()));
        }
        if saved.sketch.form() != empty.form() {
            return Err(differs("the form", saved.sketch.form().id().to_owned(), empty.form().id().to_owned()));
        }
        if self.bytes < saved.head_bytes || fingerprint(&self.path, 0..saved.head_bytes)? != saved.fingerprint {
            return Err(differs("a file", "of another beginning".into(), format!("`{}`", self.path.display())));
        }
        Ok(saved)
    }

    /// Path of the saved sketch, in a folder that is there.
    fn saved_path(&self) -> Result<PathBuf, DataError> {
        let refused = |source| DataError::Write { path: self.folder.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(refused)?;
        Ok(self.folder.join(SAVED))
    }

    /// Streams the file to its end; the sketch is saved now and then.
    pub(super) fn read(&self, progress: &Progress) -> Result<(SavedStream, f64), StudyError> {
        let mut saved = self.begin()?;
        if saved.place.bytes < self.bytes
            && let Some(merged) = self.merged(progress)?
        {
            saved = merged;
        } else if saved.place.lines > 0 {
            progress.say(&format!(
                "going on after line {} from `{}`",
                saved.place.lines,
                self.folder.join(SAVED).display()
            ));
        }
        let mut stream = TextStream::open_at(&self.path, self.settings.policy(), saved.place)?;
        let path = self.saved_path()?;
        let (start, mut row, mut texts) = (Instant::now(), HashedRow::default(), 0);
        while let Some(text) = stream.next_text()? {
            self.append(text, &mut row, &mut saved.sketch)?;
            texts += 1;
            if texts % TEXTS_PER_LOOK == 0 {
                let (read, all) = stream.progress();
                let seconds = start.elapsed().as_secs_f64();
                let mega = |bytes: u64| bytes as f64 / 1e6;
                progress.now(format!(
                    "{:.1} of {:.1} MB ({:.0} %), {:.0} texts/s",
                    mega(read),
                    mega(all),
                    100.0 * read as f64 / all.max(1) as f64,
                    texts as f64 / seconds
                ));
            }
            if texts % self.settings.save_every == 0 {
                saved.place = stream.place();
                saved.save(&path)?;
            }
        }
        saved.place = stream.place();
        if saved.place.texts() == 0 {
            let StreamPlace { lines, empty, invalid_utf8, .. } = saved.place;
            let seen = format!("{lines} lines, {empty} of them empty and {invalid_utf8} not UTF-8");
            return Err(format!("`{}` holds no text: {seen}", self.path.display()).into());
        }
        saved.save(&path)?;
        Ok((saved, start.elapsed().as_secs_f64()))
    }
}

/// Shares of the stream, whose sketches lie in the store until a run merges them.
impl Stream {
    /// Folder of the shares in the store, named by everything that moves one of them.
    fn shares_folder(&self) -> Result<String, StudyError> {
        let Settings { hash, sketch_rows, form, empty, invalid_utf8, .. } = &self.settings;
        let settings = json!([hash, sketch_rows, form, empty, invalid_utf8]).to_string();
        let end = fingerprint(&self.path, self.bytes.saturating_sub(FINGERPRINT)..self.bytes)?;
        let identity = Identity::of(&[
            ("text sketch", settings.as_bytes()),
            ("bytes", &self.bytes.to_le_bytes()),
            ("beginning", self.fingerprint.as_bytes()),
            ("end", end.as_bytes()),
        ]);
        Ok(format!("sketches/{}", identity.to_hex()))
    }

    /// The runs of bytes of `of` shares; a short file has fewer.
    fn pieces(&self, of: usize) -> Result<Vec<Range<u64>>, StudyError> {
        Ok(text_stream::cuts(&self.path, self.bytes.div_ceil(of as u64).max(1))?)
    }

    /// Sketches one share into the store, unless it is there; answers what was done.
    pub(super) fn sketch_share(&self, share: Share) -> Result<String, StudyError> {
        let pieces = self.pieces(share.of())?;
        let Some(piece) = pieces.get(share.number()) else {
            return Ok(format!("nothing to sketch, because the file has {} pieces", pieces.len()));
        };
        let (store, folder, name) =
            (TileStore::open(&self.store)?, self.shares_folder()?, share_name(share.number(), share.of()));
        let size = bytes(piece.end - piece.start);
        if store.document(&folder, &name)?.is_some() {
            return Ok(format!("{size} were sketched before"));
        }
        let mut saved = self.nothing_yet()?;
        let mut stream = TextStream::open_piece(&self.path, self.settings.policy(), piece.clone())?;
        let mut row = HashedRow::default();
        while let Some(text) = stream.next_text()? {
            self.append(text, &mut row, &mut saved.sketch)?;
        }
        saved.place = stream.place();
        store.write_document(&folder, &name, saved.to_bytes())?;
        Ok(format!("{size} sketched"))
    }

    /// The shares in the store as one sketch, if all shares of some number are there; of several such numbers the largest.
    fn merged(&self, progress: &Progress) -> Result<Option<SavedStream>, StudyError> {
        let (store, folder) = (TileStore::open(&self.store)?, self.shares_folder()?);
        let names = store.documents(&folder)?;
        let mut numbers: Vec<usize> = names.iter().filter_map(|name| shares_of(name)).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        for of in numbers {
            let all: Vec<String> = (0..self.pieces(of)?.len()).map(|number| share_name(number, of)).collect();
            let missing = all.iter().filter(|name| !names.contains(name)).count();
            if missing > 0 {
                progress
                    .say(&format!("{missing} of {} shares are missing, so the file is read without them", all.len()));
                continue;
            }
            let (mut merged, mut tree) = (self.nothing_yet()?, MergeTree::default());
            merged.pieces = 0;
            for name in &all {
                let place = PathBuf::from(store.document_address(&folder, name));
                let content = store.document(&folder, name)?.unwrap_or_default();
                let piece = SavedStream::from_bytes(&content, &place, self.hash.identity())?;
                merged.pieces += 1;
                merged.place.bytes = piece.place.bytes;
                merged.place.lines += piece.place.lines;
                merged.place.empty += piece.place.empty;
                merged.place.invalid_utf8 += piece.place.invalid_utf8;
                tree.push(piece.sketch)?;
            }
            if let Some(sketch) = tree.into_merged()? {
                progress.say(&format!("merging {} shares", all.len()));
                merged.sketch = sketch;
                return Ok(Some(merged));
            }
        }
        Ok(None)
    }
}

/// Name of the sketch of a share.
fn share_name(number: usize, of: usize) -> String {
    format!("{number}-of-{of}.sketch")
}

/// The number of shares that the name of a sketch states.
fn shares_of(name: &str) -> Option<usize> {
    name.strip_suffix(".sketch")?.split_once("-of-")?.1.parse().ok().filter(|&of| of > 0)
}
