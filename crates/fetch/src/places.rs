//! Places: the folder of the corpora, and mirrors that are asked before the public sources.

use std::path::{Path, PathBuf};

use landmark_data::catalog::DATA_VARIABLE;

/// The variable that names a mirror: an address, or a folder.
pub const MIRROR_VARIABLE: &str = "LANDMARK_MIRROR";
/// The variable that leaves the public sources alone, when it is `1`: for a network that ends at its mirror.
pub const MIRROR_ONLY_VARIABLE: &str = "LANDMARK_MIRROR_ONLY";
/// The variable that accepts all licenses, when it is `1`.
pub const ACCEPT_VARIABLE: &str = "LANDMARK_ACCEPT_LICENSES";
/// The variable that lets a run fetch what it lacks, when it is `1`.
pub const FETCH_VARIABLE: &str = "LANDMARK_FETCH";

/// A place that has what the public sources have, as `<host>/<path>`, or files that are ready, as `data/<file>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirror {
    /// Beginning of an address, without a slash at its end.
    Address(String),
    Folder(PathBuf),
}

impl Mirror {
    /// The mirror that a word names: an address begins with `http://` or `https://`.
    pub fn new(word: &str) -> Self {
        if word.starts_with("http://") || word.starts_with("https://") {
            Self::Address(word.trim_end_matches('/').to_owned())
        } else {
            Self::Folder(word.into())
        }
    }

    fn of(&self, url: &str) -> String {
        self.at(url.split_once("://").map_or(url, |(_, rest)| rest))
    }

    pub(crate) fn at(&self, path: &str) -> String {
        match self {
            Self::Address(address) => format!("{address}/{path}"),
            Self::Folder(folder) => folder.join(path).display().to_string(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub data: PathBuf,
    pub mirror: Option<Mirror>,
    pub mirror_only: bool,
}

impl Places {
    /// `data` where given, else what [`DATA_VARIABLE`] names, else the cache folder; the mirror of [`MIRROR_VARIABLE`].
    pub fn look(data: Option<&Path>) -> Self {
        let data = data.map(Path::to_owned).or_else(|| variable(DATA_VARIABLE).map(PathBuf::from));
        let mirror = variable(MIRROR_VARIABLE).and_then(|word| word.into_string().ok());
        Self {
            data: data.unwrap_or_else(cache_folder),
            mirror: mirror.as_deref().map(Mirror::new),
            mirror_only: variable(MIRROR_ONLY_VARIABLE).is_some_and(|value| value == "1"),
        }
    }

    /// The places of a public address, the first tried first.
    pub(crate) fn of(&self, url: &str) -> Vec<String> {
        let public = (!self.mirror_only).then(|| url.to_owned());
        self.mirror.iter().map(|mirror| mirror.of(url)).chain(public).collect()
    }

    /// The folder that a run reads: as [`look`](Self::look), the cache folder only where there is one.
    pub fn to_read(data: Option<&Path>) -> Option<PathBuf> {
        let named = data.map(Path::to_owned).or_else(|| variable(DATA_VARIABLE).map(PathBuf::from));
        named.or_else(|| Some(cache_folder()).filter(|folder| folder.is_dir()))
    }
}

/// The cache folder, shared by all clones: `$XDG_CACHE_HOME/landmark` or `~/.cache/landmark`, on macOS `~/Library/Caches/landmark`,
/// on Windows `%LOCALAPPDATA%\landmark`; without a home `.cache/landmark`.
fn cache_folder() -> PathBuf {
    let home = || variable("HOME").map(PathBuf::from);
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    let base = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // the convention ignores a relative one
        let named = variable("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
        named.or_else(|| home().map(|home| home.join(".cache")))
    };
    base.unwrap_or_else(|| ".cache".into()).join("landmark")
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_has_hosts_as_folders() {
        let mirror = Mirror::new("http://here:80/m/");
        assert_eq!(mirror.of("https://there.org/a/b"), "http://here:80/m/there.org/a/b");
        assert_eq!(Mirror::new("/srv/m").at("data/wmd/x"), "/srv/m/data/wmd/x");
        let places = Places { data: "d".into(), mirror: Some(mirror), mirror_only: false };
        assert_eq!(places.of("https://there.org/a"), ["http://here:80/m/there.org/a", "https://there.org/a"]);
        assert_eq!(Places { mirror_only: true, ..places.clone() }.of("https://t/a"), ["http://here:80/m/t/a"]);
        assert_eq!(Places { mirror: None, ..places }.of("https://t/a"), ["https://t/a"]);
    }

    #[test]
    fn the_folder_that_is_given_wins() {
        assert_eq!(Places::look(Some(Path::new("here"))).data, Path::new("here"));
        assert_eq!(Places::to_read(Some(Path::new("here"))).as_deref(), Some(Path::new("here")));
        assert!(cache_folder().ends_with("landmark"));
    }
}
