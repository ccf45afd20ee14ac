//! Files of the catalog: from a mirror that has them ready, or made from their raw sources.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use landmark_data::catalog::{self, DataFile, Dataset, FileState};
use landmark_data::raw::archive::LIMIT;
use landmark_data::raw::recipes::{self, Recipe, Source};
use landmark_data::raw::{RawFiles, hex, text_sha256};

use crate::console::{Watch, megabytes};
use crate::download::{Downloader, Fault, length};
use crate::error::FetchError;
use crate::lock::Lock;
use crate::places::Places;

pub const PAPERS: [(&str, &[&str]); 4] = [
    (
        "sms-nystrom",
        &["twitter", "recipe_l", "ohsumed", "20news", "stsb", "mrpc", "rte", "ecbplus", "self300", "gn300_8k"],
    ),
    ("intent-sketch", &["clinc150", "snips", "atis", "sentences", "self300", "glove50_8k"]),
    ("structured-embeddings", &["twitter", "snips_utterances", "self300"]),
    ("tree-kernels", &["trec", "qatar_living", "self300"]),
];

/// Names of the datasets of a paper.
///
/// # Errors
/// The names there are.
pub fn of_paper(paper: &str) -> Result<&'static [&'static str], String> {
    let found = PAPERS.iter().find(|(name, _)| *name == paper);
    found.map(|(_, datasets)| *datasets).ok_or_else(|| PAPERS.map(|(name, _)| name).join(", "))
}

/// Every file of these datasets, of all where none is named: dataset, path and state. Of all, only files that are there.
pub fn verify(names: &[&str], folder: &Path) -> Result<Vec<(&'static str, &'static str, FileState)>, FetchError> {
    let mut found = Vec::new();
    for dataset in catalog::all().filter(|dataset| names.is_empty() || names.contains(&dataset.name)) {
        for file in &dataset.files {
            let state = file.state(folder)?;
            if !names.is_empty() || state != FileState::Missing {
                found.push((dataset.name, file.path, state));
            }
        }
    }
    Ok(found)
}

/// What must come before a dataset is whole.
#[derive(Debug, Clone)]
pub struct Missing {
    pub dataset: &'static Dataset,
    pub files: Vec<&'static DataFile>,
}

/// Files of these datasets that are not there yet.
///
/// # Errors
/// [`FetchError::InTheWay`] for a file that is another; a file that can't be read.
pub fn missing(names: &[&str], folder: &Path) -> Result<Vec<Missing>, FetchError> {
    missing_by(names, |file| match file.state(folder)? {
        FileState::Present => Ok(false),
        FileState::Missing => Ok(true),
        FileState::Corrupt { sha256 } => Err(FetchError::InTheWay { path: folder.join(file.path), seen: sha256 }),
    })
}

pub(crate) fn missing_by(
    names: &[&str],
    is_missing: impl Fn(&DataFile) -> Result<bool, FetchError>,
) -> Result<Vec<Missing>, FetchError> {
    let mut missing = Vec::new();
    for name in names {
        let dataset = catalog::find(name)?;
        let mut files = Vec::new();
        for file in &dataset.files {
            if is_missing(file)? {
                files.push(file);
            }
        }
        if !files.is_empty() {
            missing.push(Missing { dataset, files });
        }
    }
    Ok(missing)
}

/// Bytes to download, about: each source once, by the first recipe of a file; a file without one by its own size.
pub fn download_bytes(missing: &[Missing]) -> u64 {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    for file in missing.iter().flat_map(|missing| &missing.files) {
        match recipes::of(file.path) {
            Some(recipe) => {
                let new = recipe.sources.iter().filter(|source| seen.insert(source.addresses[0].url.as_str()));
                bytes += new.map(|source| source.bytes).sum::<u64>();
            }
            None if seen.insert(file.sha256) => bytes += file.bytes,
            None => {}
        }
    }
    bytes
}

/// Asks for the licenses that were not accepted in this folder before, and remembers the answer.
///
/// # Errors
/// [`FetchError::License`] for a no.
pub fn agree(missing: &[Missing], folder: &Path, accepted: bool, watch: &mut dyn Watch) -> Result<(), FetchError> {
    let path = folder.join(".licences");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let asked: Vec<&Missing> =
        missing.iter().filter(|missing| !before.lines().any(|line| line == missing.dataset.name)).collect();
    if asked.is_empty() {
        return Ok(());
    }
    watch.say("licenses, as the sources state them:");
    for missing in &asked {
        watch.say(&format!("  {}: {}", missing.dataset.name, missing.dataset.license));
    }
    if !accepted && !watch.ask("do you accept them?") {
        let datasets: Vec<String> = asked.iter().map(|missing| format!("`{}`", missing.dataset.name)).collect();
        return Err(FetchError::License { datasets: datasets.join(", ") });
    }
    let names: String = asked.iter().map(|missing| format!("{}\n", missing.dataset.name)).collect();
    std::fs::create_dir_all(folder).map_err(FetchError::write(folder))?;
    std::fs::write(&path, before + &names).map_err(FetchError::write(&path))
}

/// Fetches what is missing of these datasets into the folder; the names of the files that came.
///
/// A file that fails does not keep the others from coming.
///
/// # Errors
/// The first that failed. What came before is there, and a download that was cut off is resumed next time.
pub fn fetch(
    names: &[&str],
    places: &Places,
    downloader: &Downloader,
    watch: &mut dyn Watch,
) -> Result<Vec<&'static str>, FetchError> {
    let _lock = Lock::wait(&places.data, watch)?;
    // another process may have fetched it meanwhile
    let missing = missing(names, &places.data)?;
    let builder = Builder::new(places, downloader)?;
    let (mut come, mut failed) = (Vec::new(), None);
    for Missing { dataset, files } in &missing {
        for file in files {
            if come.contains(&file.path) {
                continue;
            }
            match builder.make(dataset.name, file, &Ways::of(file.path), watch) {
                Ok(()) => come.push(file.path),
                Err(error @ FetchError::Write { .. }) => return Err(error),
                Err(error) => {
                    watch.say(&format!("{error}"));
                    failed.get_or_insert(error);
                }
            }
        }
    }
    match failed {
        Some(error) => Err(error),
        None => {
            // only downloads lie there, and all of them were used
            std::fs::remove_dir_all(&builder.scratch).map_err(FetchError::write(&builder.scratch))?;
            Ok(come)
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Ways<'a> {
    /// Addresses of the file itself, the first tried first.
    pub published: &'a [String],
    /// Recipes to make it by, the first tried first.
    pub recipes: Vec<&'a Recipe>,
}

impl Ways<'static> {
    pub fn of(file: &str) -> Self {
        let published = recipes::published(file).map_or(&[][..], |published| &published.addresses[..]);
        Self { published, recipes: recipes::all_of(file).collect() }
    }
}

/// Fetches one file of a dataset by ways of its own.
pub fn fetch_file(
    dataset: &str,
    file: &DataFile,
    ways: &Ways<'_>,
    places: &Places,
    downloader: &Downloader,
    watch: &mut dyn Watch,
) -> Result<(), FetchError> {
    let _lock = Lock::wait(&places.data, watch)?;
    Builder::new(places, downloader)?.make(dataset, file, ways, watch)
}

struct Builder<'a> {
    places: &'a Places,
    downloader: &'a Downloader,
    scratch: PathBuf,
    /// Those that are whole: several files are made of some.
    whole: RefCell<HashSet<PathBuf>>,
}

impl<'a> Builder<'a> {
    fn new(places: &'a Places, downloader: &'a Downloader) -> Result<Self, FetchError> {
        let scratch = places.data.join(".raw");
        std::fs::create_dir_all(&scratch).map_err(FetchError::write(&scratch))?;
        Ok(Self { places, downloader, scratch, whole: RefCell::default() })
    }

    fn make(&self, dataset: &str, file: &DataFile, ways: &Ways<'_>, watch: &mut dyn Watch) -> Result<(), FetchError> {
        let mut tried = Vec::new();
        let mirror = self.places.mirror.as_ref().map(|mirror| mirror.at(&format!("data/{}", file.path)));
        // a file that no digest is known of is made here, where its sources can be looked at
        let mirror = mirror.into_iter().filter(|_| !file.sha256.is_empty()).map(|from| (from, "from the mirror"));
        let published =
            self.in_turn(ways.published.iter().map(String::as_str)).into_iter().map(|(_, from)| (from, "as published"));
        for (from, how) in mirror.chain(published) {
            let ours = |part: &Path| {
                let seen = catalog::sha256_of(part)?;
                if seen != file.sha256 {
                    return Ok(Err(format!("has the sha256 {seen}, wanted is {}", file.sha256)));
                }
                let target = self.places.data.join(file.path);
                make_room(&target)?;
                std::fs::rename(part, &target).map_err(FetchError::write(&target)).map(Ok)
            };
            if self.bring(&from, &mut tried, watch, ours)?.is_some() {
                watch.say(&format!("{} ({}): {how}", file.path, megabytes(file.bytes)));
                return Ok(());
            }
        }
        if let [recipe] = ways.recipes[..] {
            return self.by_recipe(file, recipe, watch);
        }
        for recipe in &ways.recipes {
            match self.by_recipe(file, recipe, watch) {
                Ok(()) => return Ok(()),
                Err(error @ FetchError::Write { .. }) => return Err(error),
                Err(FetchError::Nowhere { tried: more, .. }) => tried.extend(more),
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(match tried.is_empty() {
            true => FetchError::NoSource {
                dataset: dataset.to_owned(),
                file: file.path.to_owned(),
                how_to_get: catalog::find(dataset)
                    .map_or("its source is not known", |dataset| dataset.how_to_get)
                    .to_owned(),
            },
            false => FetchError::Nowhere { what: file.path.to_owned(), tried },
        })
    }

    fn by_recipe(&self, file: &DataFile, recipe: &Recipe, watch: &mut dyn Watch) -> Result<(), FetchError> {
        let mut raw = RawFiles::default();
        for source in &recipe.sources {
            raw.extend(self.raw_files(source, watch)?);
        }
        let made = recipe.conversion.file(file.path, &raw)?;
        let (target, bytes) = (self.places.data.join(file.path), megabytes(made.len() as u64));
        if recipe.text_sha256.is_empty() {
            let sha256 = self.record(file, &made)?;
            put(&target, &made)?;
            watch.say(&format!(
                "{} ({bytes}): made; no digest of it is published, recorded is the sha256 {sha256}",
                file.path
            ));
        } else {
            put(&target, &made)?;
            check(recipe, &target)?;
            watch.say(&format!("{} ({bytes}): made, and checked", file.path));
        }
        Ok(())
    }

    /// Writes down what came first of a file that no digest is known of, before the file itself; what came before must come again.
    fn record(&self, file: &DataFile, made: &[u8]) -> Result<String, FetchError> {
        let (sha256, record) = (hex(made), file.record_path(&self.places.data));
        match file.recorded(&self.places.data) {
            Some(recorded) if recorded != sha256 => {
                return Err(FetchError::Changed { file: file.path.to_owned(), seen: sha256, recorded, record });
            }
            Some(_) => {}
            None => {
                put(&record, format!("{sha256}  {}\n", file.path.rsplit('/').next().unwrap_or_default()).as_bytes())?
            }
        }
        Ok(sha256)
    }

    /// What `take` makes of the download from an address; `None` where none came that it accepts, which `tried` then explains.
    ///
    /// Bytes of an earlier time may be of something else: then all of it comes again, once.
    fn bring<T>(
        &self,
        from: &str,
        tried: &mut Vec<String>,
        watch: &mut dyn Watch,
        take: impl Fn(&Path) -> Result<Result<T, String>, FetchError>,
    ) -> Result<Option<T>, FetchError> {
        let part = self.scratch.join(&hex(from.as_bytes())[..32]);
        for is_fresh in [length(&part) == 0, true] {
            // a file in the folder of downloads is whole if one was made of it
            let is_here = self.whole.borrow_mut().remove(&part) && part.exists();
            match if is_here { Ok(()) } else { self.downloader.bring(from, &part, watch) } {
                Err(Fault::Final(error)) => return Err(error),
                Err(Fault::Address(why)) => {
                    tried.push(why);
                    return Ok(None);
                }
                Ok(()) => {}
            }
            match take(&part)? {
                Ok(taken) => {
                    self.whole.borrow_mut().insert(part);
                    return Ok(Some(taken));
                }
                Err(fault) if is_fresh => tried.push(format!("{from} {fault}")),
                Err(_) => {}
            }
            std::fs::remove_file(&part).map_err(FetchError::write(&part))?;
            if is_fresh {
                break;
            }
        }
        Ok(None)
    }

    /// Every address at the mirror, then every public one; each with the place of its address.
    fn in_turn<'u>(&self, urls: impl Iterator<Item = &'u str>) -> Vec<(usize, String)> {
        let mut places = Vec::new();
        for (place, url) in urls.enumerate() {
            places.extend(self.places.of(url).into_iter().rev().enumerate().map(|(turn, from)| (turn, place, from)));
        }
        places.sort_by_key(|(turn, _, _)| std::cmp::Reverse(*turn));
        places.into_iter().map(|(_, place, from)| (place, from)).collect()
    }

    /// The raw files of the first address that has the right ones: of the mirror's, then of the public ones.
    fn raw_files(&self, source: &Source, watch: &mut dyn Watch) -> Result<RawFiles, FetchError> {
        let mut tried = Vec::new();
        for (place, from) in self.in_turn(source.addresses.iter().map(|address| address.url.as_str())) {
            let unpacked = |part: &Path| {
                let download = std::fs::read(part).map_err(FetchError::write(part))?;
                let of_download = if source.pin.is_of_download() { hex(&download) } else { String::new() };
                Ok(match source.addresses[place].unpack.apply(download, LIMIT) {
                    Ok(files) => source.pin.check(&of_download, &files).map(|()| files),
                    Err(error) => Err(format!("sent what can't be unpacked: {error}")),
                })
            };
            if let Some(files) = self.bring(&from, &mut tried, watch, unpacked)? {
                return Ok(files);
            }
        }
        let what = source.addresses.first().map_or("a source", |address| address.url.as_str());
        Err(FetchError::Nowhere { what: what.to_owned(), tried })
    }
}

fn check(recipe: &Recipe, target: &Path) -> Result<(), FetchError> {
    let seen = text_sha256(target)?;
    if seen == recipe.text_sha256 {
        return Ok(());
    }
    std::fs::remove_file(target).map_err(FetchError::write(target))?;
    Err(FetchError::WrongResult { file: recipe.file.clone(), seen, wanted: recipe.text_sha256.clone() })
}

fn make_room(target: &Path) -> Result<(), FetchError> {
    target.parent().map_or(Ok(()), |folder| std::fs::create_dir_all(folder).map_err(FetchError::write(folder)))
}

/// Writes a file at once: it is there whole, or not at all.
fn put(target: &Path, bytes: &[u8]) -> Result<(), FetchError> {
    make_room(target)?;
    let unfinished = target.with_extension("unfinished");
    let write = || {
        let mut file = std::fs::File::create(&unfinished)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, target)
    };
    write().map_err(FetchError::write(target))
}
