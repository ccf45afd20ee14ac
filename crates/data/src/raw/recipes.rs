//! Recipes: what each file of the catalog is made from, as `recipes.json` lists them.
//!
//! A source has several addresses, which are tried in turn; whichever answers, what came must fit its [`Pin`]. Addresses on GitHub
//! name a commit. A file may have several recipes: first those of copies of its corpus, whose text was compared with ours, then those of canonical
//! homes, where a corpus is published itself, often more of it. The first that works counts, and all of them must give the same text. No home could
//! be reached from where this was written, so a download counts by a digest that several who use it publish, or by the id that a commit of git
//! names it by; where there is neither, what comes first is recorded and shown, and must come again. Files that are used as they
//! are published are no recipes: [`published`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::archive::Unpack;
use super::{Conversion, RawFiles};

/// A file of ours and the way to make it.
#[derive(Debug)]
pub struct Recipe {
    /// Path below the data folder.
    pub file: String,
    /// Sha256 of its text: of the file itself, or of what it unpacks to. Empty where it is not known so far: then the first
    /// fetch [records](crate::catalog::DataFile::recorded) it.
    pub text_sha256: String,
    /// Sources of its raw files.
    pub sources: Vec<&'static Source>,
    /// Conversion of the raw files.
    pub conversion: Conversion,
}

/// Raw files that are fetched together.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ListedSource")]
pub struct Source {
    /// Where they are, the first tried first.
    pub addresses: Vec<Address>,
    /// Size of the download in bytes, about.
    pub bytes: u64,
    /// Digest or id that it is known by.
    pub pin: Pin,
}

/// Digest or id that the raw files of a source are known by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// Digest of the raw files, [`RawFiles::digest`], of a copy that was converted here.
    Files(String),
    /// Sha256 of the download as it comes, packed, which several that use it publish.
    Download(String),
    /// Id of the only raw file in the git repository of its address, which its commit names.
    GitBlob(String),
    /// Nothing: no digest is published. What comes first is believed and recorded.
    Unknown,
}

impl Pin {
    /// True where the sha256 of the download itself must be known.
    pub fn is_of_download(&self) -> bool {
        matches!(self, Self::Download(_))
    }

    /// Holds what came against it: `download` is the sha256 of the bytes as they came.
    ///
    /// # Errors
    /// The digest that was seen and the one that was wanted, in words that follow an address.
    pub fn check(&self, download: &str, files: &RawFiles) -> Result<(), String> {
        let (what, seen, wanted) = match self {
            Self::Unknown => return Ok(()),
            Self::Files(wanted) => ("has the sha256", files.digest(), wanted),
            Self::Download(wanted) => ("has the sha256", download.to_owned(), wanted),
            Self::GitBlob(wanted) => {
                ("has the git id", files.git_id().unwrap_or_else(|| "of no file".to_owned()), wanted)
            }
        };
        if seen == *wanted { Ok(()) } else { Err(format!("{what} {seen}, wanted is {wanted}")) }
    }
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct Address {
    pub url: String,
    pub unpack: Unpack,
}

/// A file of the catalog that is used as it is published, and counts by the sha256 of the catalog.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct Published {
    /// Path below the data folder.
    pub file: String,
    /// Its addresses, the first tried first.
    pub addresses: Vec<String>,
}

#[derive(Deserialize)]
struct ListedSource {
    github: Option<OfGithub>,
    #[serde(default)]
    addresses: Vec<Address>,
    bytes: u64,
    pin: Pin,
}

/// A file of a repository: from where GitHub serves it, and from a content delivery network that keeps what was asked for before.
#[derive(Deserialize)]
struct OfGithub {
    repository: String,
    commit: String,
    path: String,
    unpack: Unpack,
}

impl From<ListedSource> for Source {
    fn from(listed: ListedSource) -> Self {
        let of_github = listed.github.map(|OfGithub { repository, commit, path, unpack }| {
            [
                format!("https://raw.githubusercontent.com/{repository}/{commit}/{path}"),
                format!("https://cdn.jsdelivr.net/gh/{repository}@{commit}/{path}"),
            ]
            .map(|url| Address { url, unpack: unpack.clone() })
        });
        let addresses = of_github.into_iter().flatten().chain(listed.addresses).collect();
        Self { addresses, bytes: listed.bytes, pin: listed.pin }
    }
}

#[derive(Deserialize)]
struct ListedRecipe {
    file: String,
    text_sha256: String,
    sources: Vec<String>,
    conversion: Conversion,
}

#[derive(Deserialize)]
struct Listed {
    sources: BTreeMap<String, Source>,
    recipes: Vec<ListedRecipe>,
    homes: Vec<ListedRecipe>,
    published: Vec<Published>,
}

struct All {
    recipes: Vec<Recipe>,
    homes: Vec<Recipe>,
    published: Vec<Published>,
}

static ALL: LazyLock<All> = LazyLock::new(|| {
    let Listed { sources, recipes, homes, published } =
        serde_json::from_str(include_str!("recipes.json")).expect("recipes.json lists recipes");
    let sources: &'static BTreeMap<String, Source> = Box::leak(Box::new(sources));
    let with_sources = |listed: ListedRecipe| Recipe {
        sources: listed.sources.iter().map(|name| &sources[name]).collect(),
        file: listed.file,
        text_sha256: listed.text_sha256,
        conversion: listed.conversion,
    };
    All {
        recipes: recipes.into_iter().map(with_sources).collect(),
        homes: homes.into_iter().map(with_sources).collect(),
        published,
    }
});

/// Every recipe whose text was compared with ours, by the path of its file.
pub fn compared() -> &'static [Recipe] {
    &ALL.recipes
}

/// The file that is used as it is published.
pub fn published(file: &str) -> Option<&'static Published> {
    ALL.published.iter().find(|published| published.file == file)
}

/// The first recipe of a file of the catalog; none where it isn't made of anything.
pub fn of(file: &str) -> Option<&'static Recipe> {
    all_of(file).next()
}

/// Every recipe of a file, the first tried first.
pub fn all_of(file: &str) -> impl Iterator<Item = &'static Recipe> {
    ALL.recipes.iter().chain(&ALL.homes).filter(move |recipe| recipe.file == file)
}

/// True where a file can be had from public sources.
pub fn is_public(file: &str) -> bool {
    of(file).is_some() || published(file).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_digests_and_recipes_of_one_file_want_the_same_text() {
        let is_hex =
            |digest: &str, digits| digest.len() == digits && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        for recipe in ALL.recipes.iter().chain(&ALL.homes) {
            assert!(is_hex(&recipe.text_sha256, 64) || recipe.text_sha256.is_empty(), "{}", recipe.file);
            assert!(all_of(&recipe.file).all(|other| other.text_sha256 == recipe.text_sha256), "{}", recipe.file);
            for source in &recipe.sources {
                match &source.pin {
                    Pin::Files(digest) | Pin::Download(digest) => assert!(is_hex(digest, 64), "{digest}"),
                    Pin::GitBlob(id) => assert!(is_hex(id, 40), "{id}"),
                    // what can't be checked must be recorded
                    Pin::Unknown => assert!(recipe.text_sha256.is_empty(), "{}", recipe.file),
                }
            }
        }
        assert!(compared().iter().all(|recipe| !recipe.text_sha256.is_empty()));
    }

    #[test]
    fn every_address_on_github_names_a_commit() {
        let is_commit = |part: &str| part.len() == 40 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
        let recipes = ALL.recipes.iter().chain(&ALL.homes);
        for address in recipes.flat_map(|recipe| &recipe.sources).flat_map(|source| &source.addresses) {
            let is_pinned = address.url.split(['/', '@']).any(is_commit);
            assert!(is_pinned || !address.url.contains("github"), "{}", address.url);
        }
    }

    #[test]
    fn a_pin_says_what_it_saw_and_what_it_wanted() {
        // printf 'hello\n' | git hash-object --stdin; sha256sum
        let (id, sha256) = (
            "ce013625030ba8dba906f756967f9e9ca394464a".to_owned(),
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03".to_owned(),
        );
        let (git, of_files, download) = (Pin::GitBlob(id.clone()), Pin::Files(sha256), Pin::Download("d".to_owned()));
        let files = RawFiles::one("x", b"hello\n".to_vec());
        for pin in [&git, &of_files, &download, &Pin::Unknown] {
            assert_eq!(pin.check("d", &files), Ok(()), "{pin:?}");
        }
        let other = RawFiles::one("x", b"hullo\n".to_vec());
        assert!(git.check("d", &other).unwrap_err().ends_with(&format!("wanted is {id}")));
        assert!(of_files.check("d", &other).unwrap_err().starts_with("has the sha256"));
        assert_eq!(download.check("e", &files), Err("has the sha256 e, wanted is d".to_owned()));
        assert!(git.check("d", &RawFiles::default()).unwrap_err().contains("of no file"));
    }
}
