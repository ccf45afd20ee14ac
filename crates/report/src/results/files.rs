//! Writing a file whole or not at all: temporary sibling, fsync, rename.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file that could not be read or written, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} `{}`; {}", path.display(), next_step(source))]
pub struct FileError {
    pub path: PathBuf,
    /// Action that was tried: `write`, `create the folder`, …
    pub action: &'static str,
    pub source: io::Error,
}

impl FileError {
    /// Maker of errors that name the action and the file, from one of the system.
    pub fn new(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self { path, action, source }
    }
}

fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and run the same command again: finished jobs are kept"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "choose a results folder you may write to and run the same command again"
        }
        io::ErrorKind::InvalidInput => "it is a link: remove it, so that results are not written elsewhere",
        io::ErrorKind::NotFound => "check the path: something on it is missing",
        _ => "fix this and run the same command again: finished jobs are kept",
    }
}

/// Refuses a folder of results with a link in it: what is written there would go to the target of the link. The folder itself may be one.
pub fn refuse_links(folder: &Path) -> Result<(), FileError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(FileError::new("read the folder", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(FileError::new("read the folder", folder))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let kind = kind.map_err(FileError::new("look at", &path))?;
        if kind.is_symlink() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link");
            return Err(FileError { path, action: "write", source });
        }
        if kind.is_dir() {
            refuse_links(&path)?;
        }
    }
    Ok(())
}

/// Writes `bytes` to `path` so that a reader sees the old content or the new, never a part. A file that already holds exactly
/// these bytes is left alone.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let part = part_of(path)?;
    let written = (|| {
        let mut file = create_new(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    })();
    written.map_err(|error| {
        // the half-written sibling is of no use; that it may be gone already is no news
        let _ = fs::remove_file(&part);
        FileError::new("write", path)(error)
    })
}

/// Refuses a path that [`write_file`] could not write to, before anything is paid for what it would hold. Makes the folders above it.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    let part = part_of(path)?;
    create_new(&part).and_then(|_| fs::remove_file(&part)).map_err(FileError::new("write", path))
}

/// A file of that name that was not there before: what a run of the same number left, or a link that waits there, is removed and not followed.
fn create_new(path: &Path) -> io::Result<fs::File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::File::create_new(path)
}

/// The sibling that a file is written to before it takes its name; makes the folders above it.
fn part_of(path: &Path) -> Result<PathBuf, FileError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::new("create the folder", folder))?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_in_a_folder_of_results_are_refused_and_one_that_waits_for_a_file_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, theirs) = (scratch.path().join("results"), scratch.path().join("theirs"));
        fs::create_dir_all(folder.join("factors")).unwrap();
        fs::write(&theirs, "theirs").unwrap();
        refuse_links(&folder).unwrap();
        let page = folder.join("report.html");
        std::os::unix::fs::symlink(&theirs, part_of(&page).unwrap()).unwrap();
        write_file(&page, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "ours");
        for link in [folder.join("cells.jsonl"), folder.join("factors/info.json")] {
            std::os::unix::fs::symlink(&theirs, &link).unwrap();
            let error = refuse_links(&folder).unwrap_err().to_string();
            assert!(error.contains(link.to_str().unwrap()) && error.contains("it is a link"), "{error}");
            assert!(crate::results::ResultStore::open(&folder).is_err());
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    }

    #[test]
    fn a_path_is_tried_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/list.tsv");
        check_writable(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
        fs::write(folder.path().join("file"), "").unwrap();
        let refused = check_writable(&folder.path().join("file/list.tsv")).unwrap_err().to_string();
        assert!(refused.starts_with("could not create the folder"), "{refused}");
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_no_sibling() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/summary.md");
        write_file(&path, b"one").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn writing_the_same_bytes_again_does_not_touch_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.tex");
        write_file(&path, b"same").unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        write_file(&path, b"same").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn an_unwritable_place_is_named_with_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a_file");
        fs::write(&file, "").unwrap();
        let error = write_file(&file.join("below.md"), b"x").unwrap_err().to_string();
        assert!(error.contains("a_file") && error.contains("run the same command again"), "{error}");
        let full = FileError::new("write", Path::new("results/x"))(io::ErrorKind::StorageFull.into()).to_string();
        assert!(full.contains("could not write `results/x`") && full.contains("free some space"), "{full}");
    }
}
