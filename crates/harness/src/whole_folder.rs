//! A folder of files that is replaced as a whole: at every moment the old one or the new one lies there, whichever way the program ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The sibling that a folder is written to before it takes its name.
pub fn part_of(folder: &Path) -> PathBuf {
    sibling(folder, &format!("{}.part", std::process::id()))
}

fn sibling(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{ending}"));
    folder.with_file_name(name)
}

/// Where the old folder lies while the new one takes its name.
fn aside_of(folder: &Path) -> PathBuf {
    sibling(folder, "old")
}

/// Puts `part` in the place of `folder`. The old one is moved aside first and removed last; where the new one cannot be moved, the old one returns.
pub fn replace(part: &Path, folder: &Path) -> io::Result<()> {
    let aside = aside_of(folder);
    restore(folder)?;
    let was_there = folder.try_exists()?;
    if was_there {
        fs::rename(folder, &aside)?;
    }
    if let Err(error) = fs::rename(part, folder) {
        if was_there {
            fs::rename(&aside, folder)?;
        }
        return Err(error);
    }
    if was_there { fs::remove_dir_all(&aside) } else { Ok(()) }
}

/// The folder to read: the old one where a replacement was broken off between the two moves. It moves nothing: another program may be at it.
pub fn to_read(folder: &Path) -> PathBuf {
    let aside = aside_of(folder);
    if !folder.exists() && aside.is_dir() { aside } else { folder.to_owned() }
}

/// Gives a folder its name again whose replacement was broken off between the two moves, and removes what a later one left.
fn restore(folder: &Path) -> io::Result<()> {
    let aside = aside_of(folder);
    match (aside.try_exists()?, folder.try_exists()?) {
        (true, false) => fs::rename(&aside, folder),
        (true, true) => fs::remove_dir_all(&aside),
        (false, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(path: &Path, text: &str) {
        fs::create_dir(path).unwrap();
        fs::write(path.join("a"), text).unwrap();
    }

    #[test]
    fn a_folder_whose_successor_cannot_be_moved_stays_as_it_was() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("factors");
        folder_of(&folder, "old");
        assert!(replace(&scratch.path().join("absent"), &folder).is_err());
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "old");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_replacement_that_a_crash_broke_off_between_its_moves_is_undone() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("factors");
        folder_of(&folder, "old");
        // the first of the two moves
        fs::rename(&folder, aside_of(&folder)).unwrap();
        assert_eq!(fs::read_to_string(to_read(&folder).join("a")).unwrap(), "old");
        restore(&folder).unwrap();
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "old");
        folder_of(&part_of(&folder), "new");
        replace(&part_of(&folder), &folder).unwrap();
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "new");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
