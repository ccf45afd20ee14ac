//! One process at a time fetches into a folder.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::console::Watch;
use crate::error::FetchError;

/// Held until it is dropped; the system lets it go when a process is killed.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn wait(folder: &Path, watch: &mut dyn Watch) -> Result<Self, FetchError> {
        std::fs::create_dir_all(folder).map_err(FetchError::write(folder))?;
        let path = folder.join(".lock");
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(FetchError::write(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                watch.say(&format!("another fetch into `{}` is in progress; waiting for it", folder.display()));
                file.lock().map_err(FetchError::write(&path))?;
            }
            Err(TryLockError::Error(source)) => return Err(FetchError::Write { path, source }),
        }
        Ok(Self { _file: file })
    }
}
