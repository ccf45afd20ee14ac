//! The storage behind a store, made synchronous: a folder, memory, or a bucket, all through `object_store`.
//!
//! Requests run on a small runtime of their own and are waited for on a plain channel, so that any thread may call,
//! inside a thread pool or an asynchronous program as well.

use std::future::Future;
use std::path::{Component, Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use tokio::runtime::Runtime;
use url::Url;

use super::{PerProcess, StoreError};

/// Objects under one root, addressed by names relative to it (`<oracle id>/<tile>`).
pub(super) struct Backend {
    address: String,
    storage: Arc<dyn ObjectStore>,
    root: Path,
    folder: Option<PathBuf>,
    runtime: PerProcess<Worker>,
}

pub(super) struct Listing {
    pub(super) folders: Vec<String>,
    pub(super) objects: Vec<Object>,
}

pub(super) struct Object {
    pub(super) name: String,
    pub(super) bytes: u64,
}

impl Backend {
    /// Reaches a folder (which need not exist yet) or a URL, through a wrapper of its storage.
    pub(super) fn open(
        address: &str,
        wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    ) -> Result<Self, StoreError> {
        let (storage, root, folder) = match parse(address)? {
            Address::Folder(folder) => {
                let storage: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new().with_fsync(true));
                let root = Path::from_absolute_path(&folder).map_err(|error| refused(address, &error))?;
                (storage, root, Some(folder))
            }
            Address::Url(url) => {
                // credentials and regions come from the environment, as each cloud's own tools read them
                let options = std::env::vars().map(|(key, value)| (key.to_ascii_lowercase(), value));
                let (storage, root) = object_store::parse_url_opts(&url, options)
                    .map_err(|error| unreachable_url(address, &url, &error))?;
                (Arc::from(storage), root, None)
            }
        };
        let runtime = start().map_err(|source| StoreError::System { action: "start its worker thread", source })?;
        let runtime = PerProcess::new(Worker(Some(runtime)));
        Ok(Self { address: address.to_owned(), storage: wrap(storage), root, folder, runtime })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn folder(&self) -> Option<&FilePath> {
        self.folder.as_deref()
    }

    /// Address of the object `name`, for messages.
    pub(super) fn describe(&self, name: &str) -> String {
        match &self.folder {
            Some(folder) => folder.join(name).display().to_string(),
            None => format!("{}/{name}", self.address.trim_end_matches('/')),
        }
    }

    /// Publishes `bytes` under `name`, whole or not at all; answers false where an object of that name is already there.
    pub(super) fn create(&self, name: &str, bytes: Vec<u8>) -> Result<bool, StoreError> {
        self.put(name, bytes, PutMode::Create)
    }

    /// Publishes an object that is named by its content. One of that name that is there already and holds something else was torn on its
    /// way, and is written again; so is one whose answer was lost or came too late.
    pub(super) fn create_content(&self, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        let is_there = match self.create(name, bytes.clone()) {
            Ok(is_new) => is_new || self.get(name)?.is_some_and(|there| there == bytes),
            // a client repeats what may be done twice, which it does not know of an object that it is to create
            Err(StoreError::Storage { .. }) if self.folder.is_none() => false,
            Err(error) => return Err(error),
        };
        if is_there { Ok(()) } else { self.replace(name, bytes) }
    }

    pub(super) fn replace(&self, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.put(name, bytes, PutMode::Overwrite).map(|_| ())
    }

    /// Refuses an object that is a link, or lies below one: its target is no part of the store. The store itself may be one.
    fn refuse_links(&self, name: &str) -> Result<(), StoreError> {
        let Some(mut path) = self.folder.clone() else { return Ok(()) };
        for part in name.split('/').filter(|part| !part.is_empty()) {
            path.push(part);
            if path.is_symlink() {
                let reason = format!("`{}` is a link, and a store holds files of its own; remove it", path.display());
                return Err(refused(&self.address, &reason));
            }
        }
        Ok(())
    }

    fn put(&self, name: &str, bytes: Vec<u8>, mode: PutMode) -> Result<bool, StoreError> {
        self.refuse_links(name)?;
        let (storage, path) = (Arc::clone(&self.storage), self.path(name));
        let done = self.wait(async move { storage.put_opts(&path, PutPayload::from(bytes), mode.into()).await });
        match done {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(source) => Err(StoreError::storage("write", self.describe(name), source)),
        }
    }

    /// All bytes of an object, or `None` where there is none of that name.
    pub(super) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get_with(name, GetOptions::default())
    }

    /// The first `len` bytes of an object, fewer where it is shorter.
    pub(super) fn get_head(&self, name: &str, len: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.get_with(name, GetOptions { range: Some(GetRange::Bounded(0..len)), ..GetOptions::default() })
    }

    fn get_with(&self, name: &str, options: GetOptions) -> Result<Option<Vec<u8>>, StoreError> {
        self.refuse_links(name)?;
        let (storage, path) = (Arc::clone(&self.storage), self.path(name));
        let got = self.wait(async move { storage.get_opts(&path, options).await?.bytes().await });
        match got {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(StoreError::storage("read", self.describe(name), source)),
        }
    }

    /// Folders and objects directly under `name` (`""` for the root), sorted.
    pub(super) fn list(&self, name: &str) -> Result<Listing, StoreError> {
        let (storage, path) = (Arc::clone(&self.storage), self.path(name));
        let found = self
            .wait(async move { storage.list_with_delimiter(Some(&path)).await })
            .map_err(|source| StoreError::storage("list", self.describe(name), source))?;
        let mut folders: Vec<_> = found.common_prefixes.iter().map(last).collect();
        folders.sort_unstable();
        Ok(Listing { folders, objects: by_name(found.objects.iter().map(object).collect()) })
    }

    /// Removes an object; one that is already gone is fine.
    pub(super) fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.refuse_links(name)?;
        let (storage, path) = (Arc::clone(&self.storage), self.path(name));
        match self.wait(async move { storage.delete(&path).await }) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(StoreError::storage("remove", self.describe(name), source)),
        }
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').filter(|part| !part.is_empty()).fold(self.root.clone(), |path, part| path.join(part))
    }

    fn wait<T: Send + 'static>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> object_store::Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.runtime.get_or(|| Worker(start().ok())).0 {
            runtime.spawn(async move { answer.send(request.await) });
        }
        answered.recv().unwrap_or_else(|_| {
            Err(object_store::Error::Generic { store: "tile store", source: "the request was abandoned".into() })
        })
    }
}

/// The thread that waits for the storage; none where it could not be started.
struct Worker(Option<Runtime>);

fn start() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("tile-store").enable_all().build()
}

impl Drop for Worker {
    /// Lets go of the runtime without waiting, which is also allowed inside an asynchronous program.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn last(path: &Path) -> String {
    path.filename().unwrap_or_default().to_owned()
}

fn object(found: &ObjectMeta) -> Object {
    Object { name: last(&found.location), bytes: found.size }
}

fn by_name(mut objects: Vec<Object>) -> Vec<Object> {
    objects.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    objects
}

enum Address {
    Folder(PathBuf),
    Url(Url),
}

fn parse(address: &str) -> Result<Address, StoreError> {
    let folder = if address.contains("://") {
        let url = Url::parse(address).map_err(|error| refused(address, &error))?;
        if url.scheme() != "file" {
            return Ok(Address::Url(url));
        }
        url.to_file_path().map_err(|()| refused(address, &"a `file://` URL needs an absolute path"))?
    } else if address.is_empty() {
        return Err(refused(address, &"give a folder or a URL with `--store`"));
    } else {
        std::path::absolute(address).map_err(|error| refused(address, &error))?
    };
    let folder = without_dots(&folder).map_err(|error| refused(address, &error))?;
    match std::fs::metadata(&folder) {
        Ok(found) if !found.is_dir() => {
            Err(refused(address, &"it is a file; a store is a folder, give another with `--store`"))
        }
        _ => Ok(Address::Folder(folder)),
    }
}

/// A path without `..`, which names of objects cannot have; those of links are followed as the system does.
fn without_dots(path: &FilePath) -> std::io::Result<PathBuf> {
    let mut kept = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                // the parent of a link is that of what it names
                if kept.is_symlink() {
                    kept = kept.canonicalize()?;
                }
                kept.pop();
            }
            Component::CurDir => {}
            part => kept.push(part),
        }
    }
    Ok(kept)
}

fn refused(address: &str, reason: &dyn std::fmt::Display) -> StoreError {
    StoreError::Address { address: address.to_owned(), reason: reason.to_string() }
}

fn unreachable_url(address: &str, url: &Url, error: &object_store::Error) -> StoreError {
    let feature = match url.scheme() {
        "s3" | "s3a" => Some("s3"),
        "gs" => Some("gcs"),
        "az" | "abfs" | "abfss" | "adl" | "azure" => Some("azure"),
        _ => None,
    };
    match feature {
        Some(feature) => refused(
            address,
            &format!("{error}. `{}://` needs a build with `--features landmark-store/{feature}`", url.scheme()),
        ),
        None => refused(address, &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_may_be_given_with_dots_in_its_path() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("below")).unwrap();
        let dotted = scratch.path().join("below/.././below/../store");
        let backend = Backend::open(dotted.to_str().unwrap(), |storage| storage).unwrap();
        assert!(backend.create("a", vec![1]).unwrap());
        assert_eq!(std::fs::read(scratch.path().join("store/a")).unwrap(), [1]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_store_is_neither_read_nor_written_through() {
        let scratch = tempfile::tempdir().unwrap();
        let (store, theirs) = (scratch.path().join("store"), scratch.path().join("theirs"));
        std::fs::create_dir(&store).unwrap();
        std::fs::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, store.join("a")).unwrap();
        std::os::unix::fs::symlink(scratch.path(), store.join("folder")).unwrap();
        let backend = Backend::open(store.to_str().unwrap(), |storage| storage).unwrap();
        for name in ["a", "folder/theirs", "folder/new"] {
            let error = backend.replace(name, vec![1]).unwrap_err().to_string();
            assert!(error.contains("is a link"), "{error}");
            assert!(
                backend.create(name, vec![1]).is_err() && backend.get(name).is_err() && backend.remove(name).is_err()
            );
        }
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
        assert!(!scratch.path().join("new").exists());
    }
}
