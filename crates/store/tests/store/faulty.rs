//! A storage whose requests fail after a countdown: before they have an effect, after it, or half-way through it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Before,
    After,
    /// Half of an object is written under its name, as a disk that loses power may leave it.
    Short,
}

#[derive(Debug)]
pub(crate) struct Faults {
    left: AtomicI64,
    row: AtomicI64,
    kind: AtomicU8,
    struck: AtomicU64,
    bad: Mutex<BTreeSet<String>>,
    hidden: Mutex<HashMap<String, u32>>,
}

impl Default for Faults {
    fn default() -> Self {
        let none = || AtomicI64::new(-1);
        let (kind, struck) = (AtomicU8::new(0), AtomicU64::new(0));
        Self { left: none(), row: none(), kind, struck, bad: Mutex::default(), hidden: Mutex::default() }
    }
}

impl Faults {
    /// Lets `row` requests fail after `left` more.
    pub(crate) fn arm(&self, left: u8, row: u8, kind: Fault) {
        self.kind.store(kind as u8, Ordering::Relaxed);
        self.row.store(i64::from(row), Ordering::Relaxed);
        self.left.store(i64::from(left), Ordering::Relaxed);
    }

    pub(crate) fn disarm(&self) {
        self.left.store(-1, Ordering::Relaxed);
    }

    pub(crate) fn struck(&self) -> u64 {
        self.struck.load(Ordering::Relaxed)
    }

    pub(crate) fn bad(&self) -> BTreeSet<String> {
        self.bad.lock().unwrap().clone()
    }

    pub(crate) fn mark(&self, name: &str, is_bad: bool) {
        let mut bad = self.bad.lock().unwrap();
        match is_bad {
            true => bad.insert(name.to_owned()),
            false => bad.remove(name),
        };
    }

    /// Lets the next `reads` of a file find nothing.
    pub(crate) fn hide(&self, name: &str, reads: u32) {
        self.hidden.lock().unwrap().insert(name.to_owned(), reads);
    }

    fn is_hidden(&self, name: &str) -> bool {
        let mut hidden = self.hidden.lock().unwrap();
        hidden.get_mut(name).filter(|reads| **reads > 0).map(|reads| *reads -= 1).is_some()
    }

    fn strike(&self) -> Option<Fault> {
        let left = self.left.load(Ordering::Relaxed);
        if left != 0 {
            self.left.store(left - i64::from(left > 0), Ordering::Relaxed);
            return None;
        }
        if self.row.fetch_sub(1, Ordering::Relaxed) <= 1 {
            self.disarm();
        }
        self.struck.fetch_add(1, Ordering::Relaxed);
        Some([Fault::Before, Fault::After, Fault::Short][usize::from(self.kind.load(Ordering::Relaxed))])
    }
}

#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) faults: Arc<Faults>,
}

fn broken() -> Error {
    Error::Generic { store: "faulty", source: "this request was made to fail".into() }
}

fn is_checked(name: &str) -> bool {
    name.ends_with(".tile") || name == "oracle.json"
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a storage with faults over {}", self.inner)
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let fault = self.faults.strike();
        if fault == Some(Fault::Before) {
            return Err(broken());
        }
        let name = location.filename().unwrap_or_default();
        let is_new = options.mode != PutMode::Create || self.inner.head(location).await.is_err();
        if fault == Some(Fault::Short) && is_new {
            let bytes: Vec<u8> = payload.iter().flatten().copied().collect();
            let half = PutPayload::from(bytes[..bytes.len() / 2].to_vec());
            self.inner.put_opts(location, half, PutMode::Overwrite.into()).await?;
            self.faults.mark(name, is_checked(name));
            return Err(broken());
        }
        let put = self.inner.put_opts(location, payload, options).await?;
        self.faults.mark(name, false);
        if fault.is_some() { Err(broken()) } else { Ok(put) }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if self.faults.is_hidden(location.filename().unwrap_or_default()) {
            return Err(Error::NotFound { path: location.to_string(), source: "hidden".into() });
        }
        if self.faults.strike().is_some() { Err(broken()) } else { self.inner.get_opts(location, options).await }
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let fault = self.faults.strike();
        if fault == Some(Fault::Before) {
            return stream::once(async { Err(broken()) }).boxed();
        }
        let faults = Arc::clone(&self.faults);
        let removed = self.inner.delete_stream(locations).map(move |removed| {
            faults.mark(removed.as_ref().ok().and_then(Path::filename).unwrap_or_default(), false);
            if fault.is_some() { Err(broken()) } else { removed }
        });
        removed.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.faults.strike() {
            Some(_) => stream::once(async { Err(broken()) }).boxed(),
            None => self.inner.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        if self.faults.strike().is_some() { Err(broken()) } else { self.inner.list_with_delimiter(prefix).await }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
