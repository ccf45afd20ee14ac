//! Texts of the user's own.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Identity;
use landmark_data::{Corpus, Part, Split, TokenRules, stratified_sample};
use landmark_oracles::subprocess::ScoredItems;
use landmark_oracles::wmd::{EmptyDocuments as Empty, WordClouds};

use super::{EmptyDocuments, Labels, LoadError, Loaded, LoadedItems, documents, pairs};
use crate::config::dataset::{DatasetConfig, Items, Learned, OwnPairsConfig, TextsConfig, VectorsConfig};
use crate::config::run_settings::RunSettings;
use crate::config::{LabelsConfig, RowSplit};
use crate::items::OwnItems;

pub struct Texts {
    pub scored: Arc<ScoredItems>,
    /// The file, as the configuration names it.
    pub file: String,
    /// Texts behind those of the file that are not from there: queries, new items.
    pub others: usize,
    /// Which of the file they are, where all of them are from there.
    pub chosen: Option<Chosen>,
    /// Their words, where the oracle or a proxy compares them.
    pub words: Option<PlacedTexts>,
    pub labels: Option<Labels>,
    /// The labeled pairs that they are the texts of.
    pub pairs: Option<TextPairs>,
}

/// Items of a file that a run has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Their places among the items of the file.
    pub places: Vec<usize>,
    /// Items of the file; `None` if it was not read to its end.
    pub of: Option<usize>,
}

impl Chosen {
    pub fn all(items: usize) -> Self {
        Self { places: (0..items).collect(), of: Some(items) }
    }
}

pub struct TextPairs {
    pub pairs: Vec<(usize, usize)>,
    /// People's judgment of each, between 0 and 1.
    pub targets: Vec<f64>,
    /// True where that is a grade rather than yes or no.
    pub are_graded: bool,
    /// Pairs to choose the threshold of a yes on.
    pub calibration: Option<(Vec<landmark_core::oracle::Pair>, Vec<bool>)>,
    pub train: usize,
}

pub struct PlacedTexts {
    pub clouds: Arc<WordClouds>,
    pub vectors: String,
    pub identity: Identity,
}

/// Texts of a file as they are read, before anything is made of them.
struct Read {
    ids: Vec<String>,
    texts: Vec<String>,
    labels: Option<Labels>,
    chosen: Chosen,
}

/// The texts; those without a label, where there are labels, only on request.
pub(super) fn load(
    run: &RunSettings,
    dataset: &str,
    (config, takes_unlabeled): (&TextsConfig, bool),
    words: Option<EmptyDocuments>,
    data: Option<&Path>,
) -> Result<Loaded, LoadError> {
    let mut notes = Vec::new();
    let Read { ids, texts, labels, chosen } = match &config.labels {
        Some(labels) if !takes_unlabeled => labeled(run, dataset, config, labels, data, &mut notes)?,
        labels => unsplit(config, labels.as_ref(), data, &mut notes)?,
    };
    let items = Arc::new(ScoredItems::new(ids, texts)?);
    let file = config.files();
    let source = (file.as_str(), config.vectors.as_ref());
    let (texts, of_words) = Texts::of(run, dataset, source, Arc::clone(&items), &items, words, data)?;
    notes.extend(of_words);
    let items = LoadedItems::Texts(Texts { labels, chosen: Some(chosen), ..texts });
    Ok(Loaded { dataset: dataset.to_owned(), items, stamps: Vec::new(), notes })
}

/// All texts of the file, or the first of them, as the commands on a user's own matrix read them; one without a label is of a class without a name.
fn unsplit(
    config: &TextsConfig,
    labels: Option<&LabelsConfig>,
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<Read, LoadError> {
    let more: Vec<&str> = labels.iter().map(|labels| labels.column.as_str()).collect();
    let OwnItems { ids, texts, more, blank, empty, beyond, .. } = OwnItems::with(config, &more, data)?;
    notes.extend(left_out(config, blank, empty));
    if let Some(LabelsConfig { split: RowSplit::File(path), .. }) = labels {
        notes.push(format!("`{}` is for `experiment: classification`: its texts are no items here", path.written));
    }
    let labels = more.first().map(|column| {
        let names = names_of(column.iter().map(|label| label.trim()));
        let of = column.iter().map(|label| place_in(&names, label.trim())).collect();
        Labels { of, names, given_split: None }
    });
    let chosen = Chosen { of: beyond.map(|beyond| ids.len() + beyond), ..Chosen::all(ids.len()) };
    Ok(Read { ids, texts, labels, chosen })
}

fn names_of<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<String> {
    labels.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect()
}

fn place_in(names: &[String], label: &str) -> usize {
    names.partition_point(|name| name.as_str() < label)
}

fn left_out(config: &TextsConfig, blank: usize, empty: usize) -> Vec<String> {
    let file = config.files();
    let lines = (blank > 0).then(|| format!("{blank} blank lines of `{file}` were left out"));
    let rows = (empty > 0).then(|| format!("{empty} rows of `{file}` without a text were left out"));
    lines.into_iter().chain(rows).collect()
}

/// A labeled text as it stands in a file.
#[derive(Clone)]
struct Row {
    id: String,
    text: String,
    label: String,
    part: Option<Part>,
    /// Its place among the items of the file.
    place: usize,
}

/// Ids, texts and classes of labeled texts; rows without a label are left out, and counted.
fn labeled(
    run: &RunSettings,
    dataset: &str,
    config: &TextsConfig,
    labels: &LabelsConfig,
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<Read, LoadError> {
    let mut more = vec![labels.column.as_str()];
    if let RowSplit::Column(column) = &labels.split {
        more.push(column);
    }
    let whole = TextsConfig { limit: None, ..config.clone() };
    let mut read = |config: &TextsConfig| -> Result<OwnItems, LoadError> {
        let items = OwnItems::with(config, &more, data)?;
        notes.extend(left_out(config, items.blank, items.empty));
        Ok(items)
    };
    let first = read(&whole)?;
    let mut rows = Vec::new();
    let mut add = |items: OwnItems, file: Option<Part>| -> Result<(), LoadError> {
        for (at, (id, text)) in items.ids.into_iter().zip(items.texts).enumerate() {
            let part = match (file, items.more.get(1).map(|column| column[at].as_str())) {
                (Some(part), _) => Some(part),
                (None, None) => None,
                (None, Some("train")) => Some(Part::Train),
                (None, Some("test")) => Some(Part::Test),
                (None, Some(other)) => {
                    let (column, file) = (more[1], &config.path.written);
                    return Err(LoadError::Part {
                        file: file.clone(),
                        id,
                        column: column.to_owned(),
                        seen: other.to_owned(),
                    });
                }
            };
            // rows of two files that have no ids have the same numbers
            let id = match part.filter(|_| file.is_some() && config.id.is_none()) {
                Some(part) => format!("{}/{id}", part.name()),
                None => id,
            };
            let label = items.more[0][at].trim().to_owned();
            rows.push(Row { id, text, label, part, place: rows.len() });
        }
        Ok(())
    };
    if let RowSplit::File(path) = &labels.split {
        let second = read(&TextsConfig { path: path.clone(), ..whole })?;
        add(first, Some(Part::Train))?;
        add(second, Some(Part::Test))?;
    } else {
        add(first, None)?;
    }
    let all = rows.len();
    rows.retain(|row| !row.label.is_empty());
    if rows.len() < all {
        let (left_out, column) = (all - rows.len(), &labels.column);
        notes.push(format!("{left_out} of {all} texts have nothing in `{column}` and were left out"));
    }
    let names = names_of(rows.iter().map(|row| row.label.as_str()));
    if let Some(limit) = config.limit.filter(|&limit| limit < rows.len()) {
        // each class keeps its share of each side
        let group = |row: &Row| 2 * place_in(&names, &row.label) + usize::from(row.part == Some(Part::Test));
        let groups: Vec<usize> = rows.iter().map(group).collect();
        let kept = stratified_sample(&groups, limit, run.seed, dataset);
        rows = kept.into_iter().map(|row| rows[row].clone()).collect();
    }
    let parts: Option<Vec<Part>> = rows.iter().map(|row| row.part).collect();
    let of = rows.iter().map(|row| place_in(&names, &row.label)).collect();
    let labels = Labels { of, names, given_split: parts.as_deref().map(Split::of) };
    let chosen = Chosen { places: rows.iter().map(|row| row.place).collect(), of: Some(all) };
    let (ids, texts) = rows.into_iter().map(|row| (row.id, row.text)).unzip();
    Ok(Read { ids, texts, labels: Some(labels), chosen })
}

/// The texts of labeled pairs: those to judge by first, then others that only a threshold is chosen on.
pub(super) fn load_pairs(
    run: &RunSettings,
    dataset: &DatasetConfig,
    own: &OwnPairsConfig,
    words: Option<EmptyDocuments>,
    data: Option<&Path>,
) -> Result<Loaded, LoadError> {
    let Items::Pairs(config) = &dataset.items else {
        return Err(LoadError::pair(dataset.name.to_owned(), "pairs"));
    };
    let Loaded { items, stamps, mut notes, .. } = pairs::load(run, dataset.name, config, data)?;
    let LoadedItems::Pairs(loaded) = items else { return Err(LoadError::pair(dataset.name.to_owned(), "pairs")) };
    let mut texts = loaded.dev.sentences().to_vec();
    let mut numbers: HashMap<String, usize> = texts.iter().cloned().zip(0..).collect();
    let calibration = loaded.calibration.as_ref().map(|sample| {
        let number = |text: &String| {
            *numbers.entry(text.clone()).or_insert_with(|| {
                texts.push(text.clone());
                texts.len() - 1
            })
        };
        let of: Vec<usize> = sample.sentences().iter().map(number).collect();
        let pairs = sample.pairs().iter().map(|&(i, j)| (of[i], of[j])).collect();
        (pairs, sample.targets().iter().map(|&target| target > 0.5).collect())
    });
    let pairs = TextPairs {
        pairs: loaded.dev.pairs().to_vec(),
        targets: loaded.dev.targets().to_vec(),
        are_graded: loaded.are_graded,
        calibration,
        train: loaded.train.len(),
    };
    let ids = (1..=texts.len()).map(|number| number.to_string()).collect();
    let scored = Arc::new(ScoredItems::new(ids, texts)?);
    let source = (own.path.written.as_str(), own.vectors.as_ref());
    let (texts, of_words) = Texts::of(run, dataset.name, source, Arc::clone(&scored), &scored, words, data)?;
    notes.extend(of_words);
    let items = LoadedItems::Texts(Texts { pairs: Some(pairs), ..texts });
    Ok(Loaded { dataset: dataset.name.to_owned(), items, stamps, notes })
}

impl Texts {
    /// Puts texts among their word vectors where `words` states what becomes of one without; vectors that are learned are learned from `all`.
    pub fn of(
        run: &RunSettings,
        dataset: &str,
        (file, vectors): (&str, Option<&VectorsConfig>),
        scored: Arc<ScoredItems>,
        all: &ScoredItems,
        words: Option<EmptyDocuments>,
        data: Option<&Path>,
    ) -> Result<(Self, Vec<String>), LoadError> {
        let bare =
            Self { scored, file: file.to_owned(), others: 0, chosen: None, words: None, labels: None, pairs: None };
        let (Some(wanted), Some(empty)) = (vectors, words) else { return Ok((bare, Vec::new())) };
        let corpus = |items: &ScoredItems| Corpus::from_texts(items.ids(), items.texts(), &TokenRules::default());
        let placed = corpus(&bare.scored);
        let learned_from = match wanted {
            VectorsConfig::Learned(Learned::PpmiSvd(_)) => &corpus(all),
            VectorsConfig::Named(_) | VectorsConfig::File(_) => &placed,
        };
        let vectors = documents::load_vectors(dataset, wanted, run.seed, data, dataset, learned_from)?;
        let empty = match empty {
            EmptyDocuments::Distance(distance) => Empty::Fill(distance),
            // an item of the user's own is never dropped: its row would be missing from the factors
            EmptyDocuments::Error | EmptyDocuments::Drop => Empty::Error,
        };
        let clouds = Arc::new(WordClouds::new(&placed.bags(&vectors), vectors.vectors(), empty)?);
        let notes = documents::coverage_note(&placed.coverage(&vectors), vectors.source()).into_iter().collect();
        let words = PlacedTexts { clouds, vectors: vectors.source().to_owned(), identity: vectors.identity() };
        Ok((Self { words: Some(words), ..bare }, notes))
    }

    /// The matrix in words, for the store's listing.
    pub fn description(&self, scored: &str) -> String {
        let others = match self.others {
            0 => String::new(),
            others => format!(" and {others} others"),
        };
        format!("{} texts of `{}`{others} {scored}", self.scored.len() - self.others, self.file)
    }
}
