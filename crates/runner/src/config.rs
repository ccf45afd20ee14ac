//! A configuration: what one run measures, complete and checked.
//!
//! YAML file → tree with places ([`tree`]) → profile laid over it, then `--set` ([`overlay`]) → typed [`Config`]
//! ([`read`]). Everything that is wrong is collected and shown with its place ([`problem`]); what leaves here is plain
//! Rust that nobody checks again.

use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;
use serde::Serialize;
use serde_json::Value as Json;

pub mod dataset;
pub mod landmarks;
pub mod method;
pub mod oracle;
pub mod overlay;
pub mod problem;
pub mod read;
pub mod section;
pub mod settings;
pub mod tree;
pub mod values;

mod check;

pub use dataset::{
    DatasetConfig, Distribution, DocumentsConfig, Fallback, Items, Learned, MatrixConfig, RandomMatrix, SplitConfig,
    VectorsConfig,
};
pub use landmarks::LandmarkConfig;
pub use method::{MethodConfig, ProxyConfig, ProxyFit, ProxyKind};
pub use oracle::{EmptyDocuments, OracleConfig};
pub use problem::ConfigError;
pub use settings::{Budget, ErrorEstimateConfig, SearchConfig, SpectrumConfig, Strategy, SvmConfig};
pub use values::{Axis, Compare, ConfigPath, Range, Rank, Scale, Tuned};

use crate::registry::{self, EXPERIMENTS};
use problem::{Problem, Sources, list};
use read::Problems;
use section::Section;
use tree::{Node, Value};

/// The profile used where none is named.
pub const DEFAULT_PROFILE: &str = "laptop";
/// Profiles every configuration has; one that is not written lays nothing over the file.
pub const PROFILES: [&str; 3] = ["smoke", "laptop", "paper"];

/// What one run measures.
#[derive(Debug, Clone, Serialize)]
pub struct Config {
    /// Names the folder of results.
    pub name: String,
    /// One line for the report.
    pub title: Option<String>,
    /// Folder of `experiments/` with the paper's numbers.
    pub paper: Option<String>,
    /// What is measured.
    pub experiment: Experiment,
    /// The items.
    pub dataset: DatasetConfig,
    /// What scores a pair.
    pub oracle: OracleConfig,
    /// The methods, in the order of the tables.
    pub methods: Vec<MethodConfig>,
    /// Which columns are bought.
    pub landmarks: LandmarkConfig,
    /// The ranks, as written: counts or shares of n.
    pub ranks: Vec<Rank>,
    /// How methods are held against each other.
    pub compare: Compare,
    /// Repetitions with other landmarks and splits.
    pub replicates: usize,
    /// Every random draw follows from it.
    pub seed: u64,
    /// Hard limits.
    pub budget: Budget,
    /// How hyper-parameters are chosen.
    pub search: SearchConfig,
    /// The classifier.
    pub svm: SvmConfig,
    /// Whether and how the error is estimated from extra entries.
    pub error_estimate: Option<ErrorEstimateConfig>,
    /// Grow the rank, up to the largest of `ranks`, until the estimate of the relative error is below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_error: Option<f64>,
    /// What `experiment: spectrum` shows.
    pub spectrum: SpectrumConfig,
    /// The profile this is, and what it changed.
    #[serde(skip)]
    pub profile: Profile,
    /// Folder of results.
    #[serde(skip)]
    pub results: Option<PathBuf>,
    /// Folder or URL of the tile store.
    #[serde(skip)]
    pub store: Option<String>,
    /// Threads; all cores where absent.
    #[serde(skip)]
    pub threads: Option<usize>,
    /// The file as read, for provenance.
    #[serde(skip)]
    pub text: String,
    /// Its path.
    #[serde(skip)]
    pub file: PathBuf,
}

/// Every key of a configuration.
const KEYS: [&str; 22] = [
    "name",
    "title",
    "paper",
    "experiment",
    "dataset",
    "oracle",
    "methods",
    "landmarks",
    "ranks",
    "compare",
    "replicates",
    "seed",
    "budget",
    "search",
    "svm",
    "error_estimate",
    "target_error",
    "spectrum",
    "results",
    "store",
    "threads",
    "profiles",
];

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// SVM accuracy on factors.
    Classification,
    /// Relative error against rank.
    ErrorCurve,
    /// Eigenvalues.
    Spectrum,
}

impl Experiment {
    /// Id in the registry.
    pub fn id(self) -> &'static str {
        match self {
            Self::Classification => "classification",
            Self::ErrorCurve => "error_curve",
            Self::Spectrum => "spectrum",
        }
    }
}

/// A profile as it was laid over the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Dotted keys that it changed; empty for the paper's own settings.
    pub changed: Vec<String>,
}

/// What a person lays over a file on the command line.
#[derive(Debug, Clone, Default)]
pub struct Overlays {
    /// The profile; [`DEFAULT_PROFILE`] where absent.
    pub profile: Option<String>,
    /// `a.b[0].c=value`, in order.
    pub set: Vec<String>,
}

impl Config {
    /// Reads a file with a profile and assignments laid over it.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn load(file: &Path, overlays: &Overlays) -> Result<Self, ConfigError> {
        let name = file.display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => Self::parse(file, &text, overlays),
            Err(error) => {
                let problem = Problem::new(format!("`{name}` can't be read: {error}"));
                Err(ConfigError::new(&name, &Sources::default(), vec![problem.help(missing_help(file))]))
            }
        }
    }

    /// The same from the text of a file.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(file: &Path, text: &str, overlays: &Overlays) -> Result<Self, ConfigError> {
        let mut sources = Sources::default();
        let name = file.display().to_string();
        let source = sources.add(&name, text);
        let problems = Problems::default();
        let config = tree::parse(text, source).and_then(|mut root| {
            let profile = lay_profile(&mut root, overlays.profile.as_deref())?;
            overlays.set.iter().try_for_each(|assignment| overlay::set(&mut root, assignment, &mut sources))?;
            Ok(Self::read(&root, profile, file, text, &problems))
        });
        let config = problems.keep(config).flatten();
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(ConfigError::new(&name, &sources, problems.into_vec())),
        }
    }

    /// Names of the profiles of a file: the three that always exist, then its own.
    ///
    /// # Errors
    /// Where the file can't be read or is not YAML.
    pub fn profiles(file: &Path) -> Result<Vec<String>, ConfigError> {
        let name = file.display().to_string();
        let mut sources = Sources::default();
        let text = std::fs::read_to_string(file).map_err(|error| {
            let problem = Problem::new(format!("`{name}` can't be read: {error}")).help(missing_help(file));
            ConfigError::new(&name, &sources, vec![problem])
        })?;
        let source = sources.add(&name, &text);
        let root = tree::parse(&text, source).map_err(|problem| ConfigError::new(&name, &sources, vec![problem]))?;
        Ok(profile_names(root.get("profiles")).into_iter().map(str::to_owned).collect())
    }

    fn read(root: &Node, profile: Profile, file: &Path, text: &str, problems: &Problems) -> Option<Self> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let section = Section::new(root, "", problems)?;
        let name = section.required::<String>("name").filter(|name| check::name(name, &section));
        let experiment = section.required_node("experiment").and_then(|node| experiment(node, problems));
        let dataset = section.required_node("dataset").and_then(|node| DatasetConfig::read(node, folder, problems));
        let oracle = section.required_node("oracle").and_then(|node| OracleConfig::read(node, problems));
        let has_methods = section.has("methods") || experiment != Some(Experiment::Spectrum);
        let methods = if has_methods { section.required_node("methods") } else { None };
        let methods = methods.map(|node| MethodConfig::read_all(node, folder, problems)).unwrap_or_default();
        let ranks = if has_methods { section.required_node("ranks") } else { section.node("ranks") };
        let ranks = ranks.map(|node| read_ranks(node, problems)).unwrap_or_default();
        let landmarks = section.node("landmarks");
        let landmarks = landmarks.map(|node| LandmarkConfig::read(node, "landmarks", folder, problems));
        section.finish(&KEYS);
        let config = Self {
            name: name.unwrap_or_default(),
            title: section.optional("title"),
            paper: section.optional("paper"),
            experiment: experiment.unwrap_or(Experiment::ErrorCurve),
            landmarks: landmarks.unwrap_or(Some(LandmarkConfig::Uniform)).unwrap_or(LandmarkConfig::Uniform),
            methods,
            ranks,
            compare: section.or("compare", Compare::Both),
            replicates: section.checked("replicates", |&r: &usize| r >= 1, "at least 1").unwrap_or(1),
            seed: section.or("seed", 2022),
            budget: section.node("budget").and_then(|node| Budget::read(node, problems)).unwrap_or_default(),
            search: section.node("search").and_then(|node| SearchConfig::read(node, problems)).unwrap_or_default(),
            svm: section.node("svm").and_then(|node| SvmConfig::read(node, problems)).unwrap_or_default(),
            target_error: section.checked("target_error", |&e: &f64| e > 0.0 && e < 1.0, "between 0 and 1"),
            error_estimate: section
                .node("error_estimate")
                .and_then(|node| ErrorEstimateConfig::read(node, problems))
                .unwrap_or_default(),
            spectrum: section
                .node("spectrum")
                .and_then(|node| SpectrumConfig::read(node, problems))
                .unwrap_or_default(),
            profile,
            results: section
                .node("results")
                .and_then(|node| ConfigPath::read(node, "results", Path::new(""), problems))
                .map(|path| path.resolved),
            store: section.optional("store"),
            threads: section.checked("threads", |&threads: &usize| threads >= 1, "at least 1"),
            text: text.to_owned(),
            file: file.to_owned(),
            dataset: dataset?,
            oracle: oracle?,
        };
        check::together(&config, &section);
        Some(config)
    }

    /// blake3 of everything that moves a result: the resolved configuration as JSON with sorted keys, without the
    /// paths of results and store and without the number of threads.
    pub fn config_hash(&self) -> Identity {
        Identity::of(&[("landmark config v1", sorted(self.to_json()).to_string().as_bytes())])
    }

    /// The resolved configuration as YAML, defaults included; reading it again gives the same configuration.
    pub fn to_yaml(&self) -> String {
        let json = without_blanks(self.to_json());
        serde_yaml::to_string(&json).unwrap_or_else(|error| format!("# can't be written: {error}\n"))
    }

    /// Without the sections that this experiment does not read.
    fn to_json(&self) -> Json {
        let mut json = serde_json::to_value(self).unwrap_or(Json::Null);
        let unread: &[&str] = match self.experiment {
            Experiment::Classification => &["spectrum"],
            Experiment::ErrorCurve => &["spectrum", "svm", "search"],
            Experiment::Spectrum => &["svm", "search"],
        };
        if let Json::Object(map) = &mut json {
            map.retain(|key, _| !unread.contains(&key.as_str()));
        }
        json
    }

    /// Why the numbers of this run are not the paper's, or `None` where nothing was reduced: stamped in every table.
    pub fn reduction(&self) -> Option<String> {
        let mut reasons = Vec::new();
        if self.profile.name != "paper" && !self.profile.changed.is_empty() {
            reasons.push(format!("profile `{}` ({})", self.profile.name, self.profile.changed.join(", ")));
        }
        if let Some(limit) = self.dataset.documents().and_then(|documents| documents.limit) {
            reasons.push(format!("at most {limit} items"));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
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

/// The same value with the keys of every object in alphabetical order.
fn sorted(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn missing_help(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("there is no folder `{}`", folder.display());
    };
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let wanted = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let yaml = names.iter().map(String::as_str).filter(|name| name.ends_with(".yaml"));
    match crate::suggest::did_you_mean(&wanted, yaml) {
        Some(near) => format!("did you mean `{}`?", file.with_file_name(near).display()),
        None => "`configs/` holds examples to start from".to_owned(),
    }
}

fn profile_names(profiles: Option<&Node>) -> Vec<&str> {
    let mut names = PROFILES.to_vec();
    if let Some(Node { value: Value::Map(entries), .. }) = profiles {
        names.extend(entries.iter().map(|(key, _)| key.text.as_str()).filter(|name| !PROFILES.contains(name)));
    }
    names
}

/// Takes `profiles` out of the tree and lays the chosen one over the rest.
fn lay_profile(root: &mut Node, wanted: Option<&str>) -> Result<Profile, Problem> {
    let profiles = root.remove("profiles");
    let wanted = wanted.unwrap_or(DEFAULT_PROFILE);
    let mut profile = Profile { name: wanted.to_owned(), changed: Vec::new() };
    let node = profiles.as_ref().map(|(_, node)| node);
    if let Some(node) = node
        && !matches!(node.value, Value::Map(_) | Value::Null)
    {
        let message = format!("`profiles` is {}, but must be a section of names", node.describe());
        return Err(Problem::new(message).at(node.place));
    }
    match node.and_then(|node| node.get(wanted)) {
        Some(over) if over.value == Value::Null => {}
        Some(over) => {
            let Value::Map(entries) = &over.value else {
                let message = format!("the profile `{wanted}` is {}, but must be a section of keys", over.describe());
                return Err(Problem::new(message).at(over.place));
            };
            if let Some((key, _)) = entries.iter().find(|(key, _)| key.text == "profiles" || key.text == "name") {
                let message = format!("a profile can't change `{}`", key.text);
                return Err(Problem::new(message).at(key.place));
            }
            leaves(over, "", &mut profile.changed);
            overlay::merge(root, over);
        }
        None if PROFILES.contains(&wanted) => {}
        None => {
            let names = profile_names(node);
            let problem = Problem::unknown("profile", wanted, names.iter().copied());
            let problem = problem.help(match crate::suggest::did_you_mean(wanted, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? This file has: {}", list(&names)),
                None => format!("this file has: {}", list(&names)),
            });
            return Err(match profiles.as_ref() {
                Some((key, _)) => problem.at(key.place).label("its profiles"),
                None => problem,
            });
        }
    }
    Ok(profile)
}

/// Dotted keys of everything that is not a section.
fn leaves(node: &Node, path: &str, out: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
                leaves(value, &path, out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}

fn experiment(node: &Node, problems: &Problems) -> Option<Experiment> {
    let id: String = problems.read(node, "experiment")?;
    match id.as_str() {
        "classification" => Some(Experiment::Classification),
        "error_curve" => Some(Experiment::ErrorCurve),
        "spectrum" => Some(Experiment::Spectrum),
        planned if registry::experiments::PLANNED.contains(&planned) => {
            let now: Vec<&str> = registry::ids(EXPERIMENTS).collect();
            let message = format!("the experiment `{planned}` is planned, but this version can't run it");
            problems.add(Problem::new(message).at(node.place).help(format!("it can run: {}", list(&now))));
            None
        }
        other => {
            problems.add(Problem::unknown("experiment", other, registry::ids(EXPERIMENTS)).at(node.place));
            None
        }
    }
}

fn read_ranks(node: &Node, problems: &Problems) -> Vec<Rank> {
    match &node.value {
        Value::List(items) if !items.is_empty() => {
            let read = |(index, item)| Rank::read(item, &format!("ranks[{index}]"), problems);
            items.iter().enumerate().filter_map(read).collect()
        }
        Value::Integer(_) | Value::Number(_) => Rank::read(node, "ranks", problems).into_iter().collect(),
        _ => {
            let message = format!("`ranks` is {}, but must be a list of at least one", node.describe());
            problems.add(Problem::new(message).at(node.place).help("for example `[50, 100, 200]` or `[0.1, 0.2]`"));
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
