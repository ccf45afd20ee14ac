//! The smaller sections: budget, SVM, error estimate, spectrum.

use landmark_store::SyncPolicy;
use landmark_tasks::linear_svm::LinearSvmParams;
use landmark_yaml::{Node, Problem, Problems, Section, Value};
use serde::{Deserialize, Serialize, Serializer};

use super::values::Tuned;

/// Hard limits of one run; a run that reaches one writes what it has and says so, and the next one may spend as much again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Budget {
    /// Evaluations of the oracle.
    pub entries: Option<u64>,
    /// Wall seconds.
    pub seconds: Option<f64>,
    /// Limit of what may be paid, in the currency of `cost_per_entry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Price of an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_entry: Option<f64>,
}

impl Budget {
    /// Reads the section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "budget", problems)?;
        let budget = Self {
            entries: section.checked("entries", |&entries: &u64| entries > 0, "at least 1"),
            seconds: section.checked("seconds", |&s: &f64| s > 0.0 && s.is_finite(), "a number above 0"),
            money: section.checked("money", |&m: &f64| m > 0.0 && m.is_finite(), "a number above 0"),
            cost_per_entry: section.checked("cost_per_entry", |&c: &f64| c > 0.0 && c.is_finite(), "a number above 0"),
        };
        section.finish(&[]);
        Some(budget)
    }

    /// The most evaluations that entries and money allow.
    pub fn limit(&self) -> Option<u64> {
        let affordable = self.money.zip(self.cost_per_entry).map(|(money, cost)| {
            let entries = (money / cost).floor();
            // beyond 2^53 nobody counts
            if entries >= 9e15 { u64::MAX } else { entries as u64 }
        });
        match (self.entries, affordable) {
            (Some(entries), Some(affordable)) => Some(entries.min(affordable)),
            (entries, affordable) => entries.or(affordable),
        }
    }

    /// Key of the first limit, where there is one.
    pub fn limits(&self) -> Option<&'static str> {
        let keys =
            [("entries", self.entries.is_some()), ("money", self.money.is_some()), ("seconds", self.seconds.is_some())];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }

    /// Price of so many evaluations, where that of one is known.
    pub fn price(&self, evaluations: u64) -> Option<f64> {
        self.cost_per_entry.map(|cost| cost * evaluations as f64)
    }
}

/// `store:` — its address, or a section that says more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreConfig {
    /// Folder or URL.
    pub at: Option<String>,
    /// Moment from which calls are safe from a power cut; what suits the oracle where absent.
    pub sync: Option<SyncPolicy>,
}

impl StoreConfig {
    /// Reads the key of a configuration.
    pub fn read(config: &Section<'_>) -> Self {
        let Some(Node { value: Value::Map(_), .. }) = config.node("store") else {
            return Self { at: config.optional("store"), sync: None };
        };
        let section = config.node("store").and_then(|node| Section::new(node, "store", config.problems()));
        section.map_or_else(Self::default, |section| {
            let store = Self { at: section.optional("at"), sync: section.optional("sync") };
            section.finish(&[]);
            store
        })
    }
}

/// Output of `experiment: own_data` beside its tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// In which forms the factors are written.
    pub formats: Vec<FactorFormat>,
}

/// A form of the factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Reads the section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let output: Self = problems.read(node, "output")?;
        if !output.formats.contains(&FactorFormat::Npy) {
            let message = "`output.formats` lacks `npy`, from which `project`, `topk` and the others read";
            problems.add(Problem::new(message).at(node.place));
        }
        Some(output)
    }
}

/// Training input of a classifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainedOn {
    /// A linear machine on the rows of the embedding, n × r.
    #[default]
    Embedding,
    /// A kernel machine on all of K̃, 8n² bytes: nothing of a proxy is lost to the rank of an embedding.
    Matrix,
}

/// The classifier: the machine of `landmark-tasks`, its cost C perhaps searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmConfig {
    /// Training input of the classifier.
    pub on: TrainedOn,
    /// Cost C of an error.
    pub c: Tuned,
    /// Everything else; its own `c` holds a fixed C, and 1 where C is searched for.
    pub params: LinearSvmParams,
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
    /// Reads the section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "svm", problems)?;
        let c = section.node("c").map_or(Some(Tuned::Search), |node| Tuned::read(node, "svm.c", problems));
        let on = section.or("on", TrainedOn::default());
        let mut params: LinearSvmParams = problems.read(&section.rest(), "svm")?;
        if let Some(Tuned::Fixed(c)) = c {
            params.c = c;
        }
        if let Err(error) = params.clone().check() {
            problems.add(Problem::new(format!("`svm`: {error}")).at(section.place()));
        }
        Some(Self { on, c: c?, params })
    }
}

/// The error learned from entries evaluated for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ErrorEstimateConfig {
    /// Entries bought beyond the fit.
    pub samples: usize,
    /// Level of the confidence interval.
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

    /// Reads the section; `true` is the default, a number the samples.
    pub fn read(node: &Node, problems: &Problems) -> Option<Option<Self>> {
        let default = Self::default();
        match node.value {
            Value::Bool(wanted) => return Some(wanted.then_some(default)),
            Value::Integer(_) => {
                let samples: usize = problems.read(node, "error_estimate")?;
                return Some(Some(Self { samples, ..default }));
            }
            Value::Map(_) => {}
            _ => {
                let wanted = "`true`, `false`, a number of samples, or a section of keys";
                let message = format!("`error_estimate` is {}, but must be {wanted}", node.describe());
                problems.add(Problem::new(message).at(node.place));
                return None;
            }
        }
        let section = Section::new(node, "error_estimate", problems)?;
        let estimate = Self {
            samples: section.checked("samples", |&m: &usize| m >= 2, "at least 2").unwrap_or(default.samples),
            confidence: section
                .checked("confidence", |&level: &f64| level > 0.5 && level < 1.0, "between 0.5 and 1")
                .unwrap_or(default.confidence),
        };
        section.finish(&[]);
        Some(Some(estimate))
    }
}

/// Eigenvalues and histogram that `experiment: spectrum` shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpectrumConfig {
    /// First eigenvalue shown, ranked by size from 1.
    pub from: usize,
    /// Last eigenvalue shown.
    pub to: usize,
    /// Principal submatrices sampled for the histogram.
    pub samples: usize,
    pub sample_size: usize,
    /// Bars of the histogram.
    pub bins: usize,
}

impl Default for SpectrumConfig {
    fn default() -> Self {
        Self { from: 2, to: 201, samples: 50, sample_size: 200, bins: 60 }
    }
}

impl SpectrumConfig {
    /// Reads the section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let default = Self::default();
        let section = Section::new(node, "spectrum", problems)?;
        let number = |key, default| section.checked(key, |&k: &usize| k >= 1, "at least 1").unwrap_or(default);
        let spectrum = Self {
            from: number("from", default.from),
            to: number("to", default.to),
            samples: section.or("samples", default.samples),
            sample_size: number("sample_size", default.sample_size),
            bins: number("bins", default.bins),
        };
        if spectrum.to < spectrum.from {
            section.refuse(
                "to",
                format!("`spectrum.to` is {}, but must be at least `from`, {}", spectrum.to, spectrum.from),
            );
        }
        section.finish(&[]);
        Some(spectrum)
    }
}
