//! A configuration: what one run measures, complete and checked.
//!
//! YAML file → tree with places → profile laid over it, then `--set` → typed [`Config`]. Everything that is wrong is collected and
//! shown with its place (`landmark_yaml`); what leaves here is plain Rust that nobody checks again.

use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;
use landmark_data::unpack;
use landmark_report::ResultRow;
use landmark_store::SyncPolicy;
use landmark_yaml::{
    Change, ConfigError, DEFAULT_PROFILE, Entry, Keys, Node, Problems, Profile, Section, Sources, lay_profile, overlay,
    profile_names,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub mod coverage;
pub mod dataset;
pub mod entries;
pub mod item_kind;
pub mod landmarks;
pub mod matrix;
pub mod method;
pub mod method_entry;
pub mod own_pairs;
pub mod own_section;
pub mod own_trees;
pub mod proxy;
pub mod queries;
pub mod reading;
pub mod retrieval;
pub mod run_settings;
pub mod search;
pub mod settings;
pub mod split;
pub mod subject;
pub mod texts;
pub mod values;
pub mod word_vectors;

pub(crate) mod collection;

mod check;
mod file;
pub(crate) mod gathering;
pub(crate) mod old_names;

pub use collection::Collection;
pub use coverage::CoverageConfig;
pub use dataset::{
    DATASETS, DatasetConfig, Distribution, DocumentsConfig, Fallback, Items, Learned, MatrixConfig, PairsConfig,
    QuestionsConfig, RandomMatrix, SplitConfig, TextsConfig, VectorFile, VectorsConfig,
};
pub use entries::{ENTRY_POLICIES, EntriesConfig};
pub use gathering::{COLLECTION, GATHERING, Shown};
pub use item_kind::ItemKind;
pub use landmarks::{GivenLandmarks, LANDMARK_POLICIES, LandmarkConfig};
pub use matrix::{ExperimentEntry, MatrixSubject, Purpose};
pub use method::MethodConfig;
pub use method_entry::MethodKeys;
pub use own_pairs::{OwnPairsConfig, PairTarget};
pub use own_section::OwnSection;
pub use own_trees::OwnTreesConfig;
pub use proxy::{PROXIES, ProxyConfig, ProxyFit, ProxyKind, ProxyLink};
pub use queries::QueriesConfig;
pub use reading::Ingredients;
pub use reading::Reading;
pub use retrieval::{RetrievalConfig, SearchPart};
pub use run_settings::RunSettings;
pub use search::{Regimes, SearchConfig, Strategy, WmeSearch};
pub use settings::{
    Budget, ErrorEstimateConfig, FactorFormat, OutputConfig, SpectrumConfig, StoreConfig, StoreKey, SvmConfig,
    TrainedOn,
};
pub use subject::Subject;
pub use texts::{EmptyTexts, LabelsConfig, RowSplit, TextsFormat};
pub use values::{Axis, Compare, ConfigPath, Range, Rank, Ranks, Scale, Tuned};

use crate::experiment::FinishedRun;
use crate::facts::Facts;
use crate::layout::Layout;
use crate::registry::Registry;
use gathering::CollectionKeys;
use subject::{read_subject, read_unnamed};

#[derive(Clone, Serialize)]
pub struct Config {
    /// Name, seed, replicates, profile.
    #[serde(flatten)]
    pub run: RunSettings,
    /// Subject of the run: what is measured, and on what.
    #[serde(flatten)]
    pub subject: Subject,
    #[serde(skip)]
    pub results: Option<PathBuf>,
    #[serde(skip)]
    pub store: Option<String>,
    /// Bytes that packed files may unpack to, in place of the usual bounds.
    #[serde(skip)]
    pub max_unpacked: Option<u64>,
    /// The file as read, for provenance.
    #[serde(skip)]
    pub text: String,
}

impl Config {
    /// The tables and figures of a finished run; a collection has none of its own.
    pub fn layout(&self, facts: &Facts, rows: &[ResultRow]) -> Layout {
        let layout = match &self.subject {
            Subject::Matrix(matrix, experiment) => {
                experiment.layout(&FinishedRun { settings: &self.run, matrix, facts, rows })
            }
            Subject::Study(study) => study.layout(&self.run, facts, rows),
            Subject::Collection(_) => Layout::default(),
        };
        layout.with_sentence_case()
    }
}

/// The keys of every configuration, except `experiment` and `profiles`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunKeys {
    /// names the folder of results
    #[schemars(example = &"my_run")]
    name: String,
    /// one line for the report
    title: Option<String>,
    /// the folder of `experiments/` with a paper's numbers
    paper: Option<String>,
    /// repetitions with other landmarks, splits and random draws
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    replicates: usize,
    /// every random draw follows from it
    #[serde(default = "seed")]
    seed: u64,
    /// threads; none: all cores
    #[schemars(range(min = 1))]
    threads: Option<usize>,
    /// hours that the run takes on two cores
    #[schemars(extend("exclusiveMinimum" = 0))]
    hours: Option<f64>,
    /// folder of results
    results: Option<PathBuf>,
    /// folder or URL of the store of scores, or `{ at, sync }`
    store: Option<StoreKey>,
    /// GiB that packed files may unpack to, in place of the usual bounds; at most a pebibyte
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_048_576))]
    max_unpacked_gib: Option<f64>,
}

fn one() -> usize {
    1
}

fn seed() -> u64 {
    2022
}

/// Sections of a sweep that more than one experiment reads.
pub static SECTIONS: &[Entry] = &[
    Entry {
        id: "tuning",
        summary: "how γ, C and the rank are chosen: by cross-validation on the training items",
        keys: Keys::of::<SearchConfig>().under("tuning"),
        source: "SMS-Nyström paper, appendix A; Bergstra et al. 2011",
    },
    Entry {
        id: "svm",
        summary: "the classifier of `experiment: classification` and of `classify`",
        keys: SvmConfig::KEYS.under("svm"),
        source: "Hsieh et al. 2008; Crammer & Singer 2001",
    },
    Entry {
        id: "budget",
        summary: "hard limits of one run; finished work is kept, and the next run resumes",
        keys: Keys::of::<Budget>().under("budget"),
        source: "this project",
    },
    Entry {
        id: "error_estimate",
        summary: "the relative error, learned from random entries evaluated for it, with its interval",
        keys: Keys::of::<ErrorEstimateConfig>().under("error_estimate"),
        source: "this project",
    },
];

/// The keys at the top of every file, of every sweep and of a collection, for the schema and for "did you mean".
pub fn top_keys() -> [Keys; 3] {
    [Keys::of::<RunKeys>(), Keys::of::<matrix::SweepKeys>(), Keys::of::<CollectionKeys>()]
}

/// Settings that a person lays over a file on the command line.
#[derive(Debug, Clone, Default)]
pub struct Overlays {
    /// The profile; [`landmark_yaml::DEFAULT_PROFILE`] where absent.
    pub profile: Option<String>,
    /// `a.b[0].c=value`, in order.
    pub set: Vec<String>,
}

impl Config {
    /// Reads a file with a profile and assignments laid over it, and lets packed files unpack to what it states.
    pub fn load(file: &Path, overlays: &Overlays, registry: &Registry) -> Result<Self, ConfigError> {
        let config = Self::parse(file, &file::read(file)?, overlays, registry)?;
        // files that are read for it, in whatever crate
        config.max_unpacked.into_iter().for_each(unpack::raise);
        Ok(config)
    }

    /// The same from the text of a file.
    pub fn parse(file: &Path, text: &str, overlays: &Overlays, registry: &Registry) -> Result<Self, ConfigError> {
        let mut sources = Sources::default();
        let name = file.display().to_string();
        let source = sources.add(&name, text);
        let problems = Problems::in_folder(file.parent().unwrap_or(Path::new("")));
        let config = landmark_yaml::parse(text, source).and_then(|mut root| {
            old_names::replace(&mut root);
            // laying a profile takes the list of profiles away
            let profiles: Vec<String> = profile_names(root.get("profiles")).into_iter().map(str::to_owned).collect();
            let wanted = overlays.profile.as_deref().map(old_names::of_profile);
            let mut profile = lay_profile(&mut root, wanted)?;
            if !overlays.set.is_empty() {
                let laid = root.clone();
                overlays.set.iter().try_for_each(|assignment| overlay::set(&mut root, assignment, &mut sources))?;
                old_names::replace(&mut root);
                profile.settle(&laid, &root);
            }
            Ok(Self::read(&root, &profiles, profile, file, text, registry, &problems))
        });
        let mut config = problems.keep(config).flatten();
        if let Some(config) = &mut config {
            config.run.set.clone_from(&overlays.set);
        }
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(ConfigError::new(&name, &sources, problems.into_vec())),
        }
    }

    /// Names of the profiles of a file: those that always exist, then its own.
    pub fn profiles(file: &Path) -> Result<Vec<String>, ConfigError> {
        let name = file.display().to_string();
        let mut sources = Sources::default();
        let text = file::read(file)?;
        let source = sources.add(&name, &text);
        let mut root =
            landmark_yaml::parse(&text, source).map_err(|problem| ConfigError::new(&name, &sources, vec![problem]))?;
        old_names::replace(&mut root);
        Ok(profile_names(root.get("profiles")).into_iter().map(str::to_owned).collect())
    }

    fn read(
        root: &Node,
        profiles: &[String],
        profile: Profile,
        file: &Path,
        text: &str,
        registry: &Registry,
        problems: &Problems,
    ) -> Option<Self> {
        let reading = Reading { known: &registry.ingredients, problems };
        let section = Section::new(root, "", problems)?;
        let keys: Option<RunKeys> = section.part();
        let is_named = keys.as_ref().is_some_and(|RunKeys { name, .. }| {
            check::name(name, &section) && check::is_no_profile(name, profiles, &section)
        });
        let subject = match section.required_node("experiment") {
            Some(node) => problems
                .read::<String>(node, "experiment")
                .and_then(|id| read_subject(&id, node, &section, &reading, &profile, file, registry)),
            None => {
                read_unnamed(&section, &reading, registry);
                None
            }
        };
        section.finish(&["profiles"]);
        let keys = keys.filter(|_| is_named)?;
        let StoreKey(store) = keys.store.unwrap_or_default();
        let subject = subject.map(|mut subject| {
            if let Subject::Matrix(matrix, _) = &mut subject {
                let suited = if matrix.costs_money() { SyncPolicy::Batch } else { SyncPolicy::Second };
                matrix.sync = store.sync.unwrap_or(suited);
            }
            subject
        });
        Some(Self {
            run: RunSettings {
                name: keys.name,
                title: keys.title,
                paper: keys.paper,
                replicates: keys.replicates,
                seed: keys.seed,
                profile,
                set: Vec::new(),
                threads: keys.threads,
                hours: keys.hours,
                file: file.to_owned(),
            },
            results: keys.results,
            store: store.at,
            max_unpacked: keys.max_unpacked_gib.map(|gib| (gib * f64::from(1_u32 << 30)) as u64),
            text: text.to_owned(),
            subject: subject?,
        })
    }

    /// A warning for each file that does not define the profile it was asked for: a built-in name lays nothing over it.
    pub fn profile_warnings(&self) -> Vec<String> {
        if let Subject::Collection(collection) = &self.subject {
            return collection.members.iter().flat_map(Self::profile_warnings).collect();
        }
        let RunSettings { profile, file, .. } = &self.run;
        let runs_in_full = !profile.is_written && profile.name != DEFAULT_PROFILE;
        let warning =
            || format!("`{}` does not define the profile `{}`: it runs in full", file.display(), profile.name);
        runs_in_full.then(warning).into_iter().collect()
    }

    /// blake3 of everything that moves a result: the resolved configuration as JSON with sorted keys, without the
    /// paths of results and store and without the number of threads.
    pub fn config_hash(&self) -> Result<Identity, serde_json::Error> {
        let mut json = serde_json::to_value(self)?;
        json.sort_all_objects();
        Ok(Identity::of(&[("landmark config v1", json.to_string().as_bytes())]))
    }

    /// The resolved configuration as YAML, defaults included; reading it again gives the same configuration.
    pub fn to_yaml(&self) -> Result<String, serde_json::Error> {
        let json = without_blanks(serde_json::to_value(self)?);
        // JSON is YAML
        let tree = landmark_yaml::parse(&json.to_string(), 0).map_err(serde::ser::Error::custom)?;
        Ok(tree.to_yaml())
    }

    /// Why the numbers of this run are not the paper's, or `None` where nothing was reduced: stamped in every table.
    pub fn reduction(&self) -> Option<String> {
        let mut reasons = Vec::new();
        let changes: Vec<String> = self.run.profile.changed.iter().filter_map(in_words).collect();
        if self.run.profile.name != "paper" && !changes.is_empty() {
            reasons.push(format!("profile `{}`: {}", self.run.profile.name, changes.join(", ")));
        }
        // a user's own data has no settings to depart from
        let set: Vec<String> = self.run.profile.set.iter().filter_map(in_words).collect();
        if self.run.paper.is_some() && !set.is_empty() {
            reasons.push(format!("set by hand: {}", set.join(", ")));
        }
        let documents = self.subject.matrix().and_then(|matrix| matrix.dataset.documents());
        if let Some(limit) = documents.and_then(|documents| documents.limit) {
            reasons.push(format!("at most {limit} items"));
        }
        let pairs = self.subject.matrix().and_then(|matrix| match &matrix.dataset.items {
            Items::Pairs(pairs) => pairs.limit,
            _ => None,
        });
        reasons.extend(pairs.map(|limit| format!("at most {limit} pairs")));
        // a user's own file may have a limit that is no reduction
        if self.subject.matrix().is_some_and(|matrix| matrix.dataset.texts().is_some()) {
            let limit = self.run.profile.changed.iter().find(|change| change.key == "dataset.limit");
            reasons.extend(limit.map(|limit| format!("the first {} items of the data", limit.to)));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// A change in words: `3 replicates instead of 20`; none for what moves no figure.
fn in_words(change: &Change) -> Option<String> {
    let Change { key, from, to } = change;
    let instead = from.as_ref().map_or_else(String::new, |from| format!(" instead of {from}"));
    Some(match key.as_str() {
        "hours" | "name" | "title" | "results" | "store" | "threads" | unpack::KEY => return None,
        key if key.starts_with("budget") => return None,
        // `reduction` states the limit, of items or of pairs
        "dataset.limit" => return None,
        "replicates" => format!("{to} replicate{}{instead}", if to == "1" { "" } else { "s" }),
        "tuning.trials" => format!("{to} trials of the search{instead}"),
        "tuning.folds" => format!("{to} folds of the search{instead}"),
        "ranks" => format!("ranks {to}{instead}"),
        key if key.ends_with("dataset.limit") => format!("the first {to} items of the data"),
        "methods" => "other methods".to_owned(),
        key => format!("`{key}` {to}{instead}"),
    })
}

/// The same value without keys that hold nothing.
fn without_blanks(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let entries = map.into_iter().map(|(key, value)| (key, without_blanks(value)));
            Json::Object(entries.filter(|(_, value)| !is_blank(value)).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_blanks).collect()),
        other => other,
    }
}

fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Object(map) => map.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}
