//! The smaller sections: budget, SVM, error estimate, spectrum, store, output.

use landmark_store::SyncPolicy;
use landmark_tasks::linear_svm::LinearSvmParams;
use landmark_yaml::{FromNode, Keys, Node, Problem, Problems, Section, Value, read_from_node, schema_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::own_section::OwnSection;
use super::values::Tuned;

/// Hard limits of one run; a run that reaches one writes what it has and reports it, and the next one may spend as much again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// calls: evaluations of the oracle
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// wall seconds of evaluating
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Option<f64>,
    /// the most that calls may cost, in the currency of `cost_per_entry`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub money: Option<f64>,
    /// cost of a call
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cost_per_entry: Option<f64>,
}

impl Budget {
    /// The most calls that the budget allows.
    pub fn limit(&self) -> Option<u64> {
        let affordable = self.money.zip(self.cost_per_entry).map(|(money, cost)| {
            let entries = (money / cost).floor();
            // beyond 2^53 nobody counts
            if entries >= 9e15 { u64::MAX } else { entries as u64 }
        });
        match (self.calls, affordable) {
            (Some(calls), Some(affordable)) => Some(calls.min(affordable)),
            (calls, affordable) => calls.or(affordable),
        }
    }

    /// Key of the first limit, where there is one.
    pub fn limits(&self) -> Option<&'static str> {
        let keys =
            [("calls", self.calls.is_some()), ("money", self.money.is_some()), ("seconds", self.seconds.is_some())];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }

    /// Price of this number of evaluations, where that of one is known.
    pub fn price(&self, evaluations: u64) -> Option<f64> {
        self.cost_per_entry.map(|cost| cost * evaluations as f64)
    }
}

/// `store:` — its address, or a section with more keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// folder or URL
    pub at: Option<String>,
    /// moment from which calls are safe from a power cut: `batch`, or `second`; none: what suits the oracle
    pub sync: Option<SyncPolicy>,
}

/// The store: an address, or a section with more keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreKey(pub StoreConfig);

impl FromNode for StoreKey {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        Some(Self(match &node.value {
            Value::Map(_) => Section::new(node, path, problems)?.whole()?,
            _ => StoreConfig { at: problems.read(node, path)?, sync: None },
        }))
    }
}

read_from_node!(StoreKey, json!({ "anyOf": [{ "type": "string" }, schema_of::<StoreConfig>()] }));

/// Output of `experiment: own_data` in addition to its tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// forms of the factors: `npy`, which the commands that use factors read, `safetensors`, `parquet`
    pub formats: Vec<FactorFormat>,
}

/// A form of the factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactorFormat {
    /// NumPy, which the commands that use factors read.
    Npy,
    Safetensors,
    /// Parquet, a row an item with its id.
    Parquet,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { formats: vec![FactorFormat::Npy, FactorFormat::Safetensors, FactorFormat::Parquet] }
    }
}

impl OutputConfig {
    pub fn read(section: &Section<'_>) -> Option<Self> {
        let output: Self = section.whole()?;
        if !output.formats.contains(&FactorFormat::Npy) {
            section.refuse("formats", "`output.formats` lacks `npy`, from which `project`, `topk` and the others read");
        }
        Some(output)
    }
}

/// Training input of a classifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrainedOn {
    /// A linear machine on the rows of the embedding, n × r.
    #[default]
    Embedding,
    /// A kernel machine on all of K̃, 8n² bytes: nothing of a proxy is lost to the rank of an embedding.
    Matrix,
}

/// The classifier: the linear SVM of `landmark-tasks`, its cost C perhaps searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmConfig {
    pub on: TrainedOn,
    pub c: Tuned,
    /// Everything else; its own `c` holds a fixed C, and 1 where C is searched for.
    pub params: LinearSvmParams,
}

/// The keys of the classifier in addition to those of the SVM; the first `c` counts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct SvmKeys {
    /// cost of an error: a number, or `search`
    c: Tuned,
    /// `embedding`, or `matrix`: a kernel SVM on all of K̃ (8n² bytes), which keeps what a proxy knows beyond the rank
    on: TrainedOn,
}

impl Default for SvmKeys {
    fn default() -> Self {
        Self { c: Tuned::Search, on: TrainedOn::default() }
    }
}

impl Serialize for SvmConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut params = serde_json::to_value(&self.params).map_err(serde::ser::Error::custom)?;
        params["c"] = serde_json::to_value(self.c).map_err(serde::ser::Error::custom)?;
        if self.on != TrainedOn::default() {
            params["on"] = serde_json::to_value(self.on).map_err(serde::ser::Error::custom)?;
        }
        params.serialize(serializer)
    }
}

impl Default for SvmConfig {
    fn default() -> Self {
        Self { on: TrainedOn::default(), c: Tuned::Search, params: LinearSvmParams::default() }
    }
}

impl SvmConfig {
    pub const KEYS: Keys = Keys::of::<SvmKeys>().and::<LinearSvmParams>();

    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "svm", problems)?;
        let keys = section.part();
        let params = section.part();
        section.finish(&[]);
        let (SvmKeys { c, on }, mut params): (_, LinearSvmParams) = (keys?, params?);
        if let Tuned::Fixed(c) = c {
            params.c = c;
        }
        if let Err(error) = params.clone().check() {
            problems.add(Problem::new(format!("`svm`: {error}")).at(section.place()));
        }
        Some(Self { on, c, params })
    }
}

/// The error learned from entries evaluated for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorEstimateConfig {
    /// entries evaluated beyond the fit
    #[schemars(range(min = 2))]
    pub samples: usize,
    /// level of the interval
    #[schemars(extend("exclusiveMinimum" = 0.5, "exclusiveMaximum" = 1))]
    pub confidence: f64,
}

impl Default for ErrorEstimateConfig {
    fn default() -> Self {
        Self { samples: 1000, confidence: 0.95 }
    }
}

impl ErrorEstimateConfig {
    /// The level in words: `95 %`.
    pub fn level(&self) -> String {
        format!("{} %", (1e4 * self.confidence).round() / 100.0)
    }
}

/// `error_estimate:` — `true` is the default, a number the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimateKey(pub Option<ErrorEstimateConfig>);

impl FromNode for ErrorEstimateKey {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let default = ErrorEstimateConfig::default();
        Some(Self(match node.value {
            Value::Bool(wanted) => wanted.then_some(default),
            Value::Integer(samples @ 2..) => {
                Some(ErrorEstimateConfig { samples: usize::try_from(samples).unwrap_or(usize::MAX), ..default })
            }
            Value::Map(_) => Some(Section::new(node, path, problems)?.whole()?),
            _ => {
                let wanted = "`true`, `false`, a number of samples of at least 2, or a section of keys";
                let message = format!("`{path}` is {}, but must be {wanted}", node.describe());
                problems.add(Problem::new(message).at(node.place));
                return None;
            }
        }))
    }
}

read_from_node!(
    ErrorEstimateKey,
    json!({ "anyOf": [{ "type": "boolean" }, { "type": "integer", "minimum": 2 }, schema_of::<ErrorEstimateConfig>()] })
);

/// Eigenvalues and histogram that `experiment: spectrum` shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpectrumConfig {
    /// first eigenvalue shown, ranked by size from 1
    #[schemars(range(min = 1))]
    pub from: usize,
    /// last eigenvalue shown
    #[schemars(range(min = 1))]
    pub to: usize,
    /// principal submatrices sampled for the histogram
    pub samples: usize,
    /// items of each
    #[schemars(range(min = 1))]
    pub sample_size: usize,
    /// bars of the histogram
    #[schemars(range(min = 1))]
    pub bins: usize,
}

impl Default for SpectrumConfig {
    fn default() -> Self {
        Self { from: 2, to: 201, samples: 50, sample_size: 200, bins: 60 }
    }
}

impl SpectrumConfig {
    pub fn read(section: &Section<'_>) -> Option<Self> {
        let spectrum: Self = section.whole()?;
        if spectrum.to < spectrum.from {
            section.refuse(
                "to",
                format!("`spectrum.to` is {}, but must be at least `from`, {}", spectrum.to, spectrum.from),
            );
        }
        Some(spectrum)
    }
}

impl OwnSection for OutputConfig {}

impl OwnSection for SpectrumConfig {}
