//! `experiment: cqa` — ranking the comments of a question: table 1 of Croce, Filice & Basili (2016).
//!
//! Examples are (question, comment) pairs; a machine learns good against not good and its score ranks the comments of a
//! question. The kernel is that of Filice et al. 2016: partial trees of question and comment, similarities of the two
//! texts, features of the thread, each normalized, all added up (`kernel.rs`). The exact machine is a kernel SVM on the
//! training pairs; the others are linear machines on embeddings from landmarks, and a test pair costs its similarities to
//! the landmarks alone. "Saving" = 1 − landmarks / support vectors of the exact machine.
//!
//! Cost: n l + m l kernel operations for l landmarks, n training and m test pairs; n² / 2 + m · support for the exact one.

use std::path::PathBuf;
use std::sync::Arc;

use landmark_data::catalog::{self, Holds};
use landmark_harness::config::{Reading, RunSettings};
use landmark_harness::facts::Facts;
use landmark_harness::layout::Layout;
use landmark_harness::study::{Study, StudyContext, StudyEntry, StudyError, StudyWork};
use landmark_report::ResultRow;
use landmark_yaml::{Entry, Keys, Node, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod kernel;
mod layout;
mod learn;
mod work;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "cqa",
        summary: "ranks the comments of forum questions with tree kernels, exactly and from landmarks",
        keys: Keys::of::<Settings>().under("cqa"),
        source: "Croce, Filice & Basili 2016, table 1",
    },
    read,
};

/// Kernel on the features of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FeatureKernel {
    /// Inner product, normalized.
    Linear,
    /// exp(−‖x − y‖² / d) of d standardized features.
    Rbf,
    /// Left out.
    None,
}

/// The kernel of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct KernelSettings {
    /// Decay of gaps.
    lambda: f64,
    /// Decay of depth.
    mu: f64,
    /// True where trees take part.
    trees: bool,
    /// Text similarities of question and comment.
    similarities: FeatureKernel,
    /// Features of the comment in its thread.
    thread_features: FeatureKernel,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            lambda: 0.4,
            mu: 0.4,
            trees: true,
            similarities: FeatureKernel::Linear,
            thread_features: FeatureKernel::Linear,
        }
    }
}

/// Method that makes an embedding of landmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Method {
    /// Nyström on uniform landmarks: the paper's.
    Nystrom,
    /// Nyström on landmarks with the training pairs' share of good and bad.
    Stratified,
    /// Four Nyström experts on a quarter of the landmarks each, side by side (Kumar et al. 2009; Croce & Basili 2016).
    Ensemble,
    /// SMS-Nyström.
    SmsNystrom,
    /// SiCUR with that many rows and half as many columns.
    Sicur,
    ShiftRidge,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// question threads: `qatar_living`, `qatar_living_full`, `embedded_threads`, or a name for `files`
    #[schemars(example = &"qatar_living")]
    dataset: String,
    /// threads of yours, JSON lines: files to learn from, and, last, one to judge by
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// The folder of the configuration, where their paths start.
    #[serde(skip)]
    folder: PathBuf,
    /// training sets; default: all whose name begins with `train`, or of `files` all but the ranked one
    #[serde(default)]
    train: Vec<String>,
    /// which set is ranked
    #[serde(default = "test_set")]
    test: String,
    /// most threads of each training set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    train_threads: Option<usize>,
    /// most threads of the test set
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test_threads: Option<usize>,
    /// word vectors of the text similarities, such as `self300`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vectors: Option<String>,
    /// the kernel: see `configs/cqa.yaml`
    #[serde(default)]
    kernel: KernelSettings,
    /// how many landmarks
    #[schemars(example = [100, 500, 1000])]
    landmarks: Vec<usize>,
    /// `nystrom`, `stratified`, `ensemble`, `sms_nystrom`, `sicur`, `shift_ridge`
    #[serde(default = "paper_methods")]
    methods: Vec<Method>,
    /// candidates for C, chosen by cross-validation on the training pairs
    #[serde(default = "default_costs")]
    costs: Vec<f64>,
    /// folds of the cross-validation
    #[serde(default = "default_folds")]
    folds: usize,
    /// epochs of the linear machine
    #[serde(default = "paper_epochs")]
    epochs: usize,
    /// whether the exact machine is trained too
    #[serde(default = "yes")]
    exact: bool,
}

fn test_set() -> String {
    "test".to_owned()
}

fn paper_methods() -> Vec<Method> {
    vec![Method::Nystrom]
}

fn default_costs() -> Vec<f64> {
    vec![0.1, 1.0, 10.0]
}

fn default_folds() -> usize {
    5
}

fn paper_epochs() -> usize {
    30
}

fn yes() -> bool {
    true
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let settings: Settings = section.whole()?;
    let mut settings = Settings { folder: problems.folder().to_owned(), ..settings };
    // of a user's own files the last is judged by, whatever it is called
    if let Some(last) = settings.files.last().filter(|_| !section.has("test")) {
        settings.test = work::set_name(last);
    }
    let threads: Vec<&str> = catalog::all()
        .filter(|dataset| matches!(dataset.holds, Holds::Threads | Holds::EmbeddedThreads))
        .map(|dataset| dataset.name)
        .collect();
    let place = |key| section.node(key).map_or(section.place(), |node| node.place);
    if settings.files.len() == 1 {
        section
            .refuse("files", "`cqa.files` names one file, but must be some to learn from and, last, one to judge by");
    }
    if let Some((first, second)) = work::of_one_name(&settings.files) {
        let name = work::set_name(first);
        let message =
            format!("`cqa.files` names `{first}` and `{second}`, both of the set `{name}`: rename one of them");
        section.refuse("files", message);
    }
    if settings.files.is_empty() && !threads.contains(&settings.dataset.as_str()) {
        problems.add(Problem::unknown("set of threads", &settings.dataset, threads).at(place("dataset")));
    }
    if let Some(vectors) = &settings.vectors
        && !catalog::word_vectors().any(|known| known == vectors)
    {
        let known = catalog::word_vectors();
        problems.add(Problem::unknown("word vectors", vectors, known).at(place("vectors")));
    }
    let refuse = |key, seen: String, wanted: &str| {
        section.refuse(key, format!("`cqa.{key}` is {seen}, but must be {wanted}"));
    };
    if settings.landmarks.is_empty() || settings.landmarks.contains(&0) {
        refuse("landmarks", format!("{:?}", settings.landmarks), "a list of at least one number above 0");
    }
    if settings.costs.is_empty() || settings.costs.iter().any(|&c| !(c > 0.0 && c.is_finite())) {
        refuse("costs", format!("{:?}", settings.costs), "a list of at least one number above 0");
    }
    for (key, value, least) in [("folds", settings.folds, 2), ("epochs", settings.epochs, 1)] {
        if value < least {
            refuse(key, value.to_string(), &format!("at least {least}"));
        }
    }
    for (key, value) in [("train_threads", settings.train_threads), ("test_threads", settings.test_threads)] {
        if value == Some(0) {
            refuse(key, "0".to_owned(), "at least 1");
        }
    }
    let KernelSettings { lambda, mu, trees, similarities, thread_features } = settings.kernel;
    for (name, value) in [("lambda", lambda), ("mu", mu)] {
        if !(value > 0.0 && value.is_finite()) {
            section.refuse("kernel", format!("`cqa.kernel.{name}` is {value}, but must be a number above 0"));
        }
    }
    if !trees && similarities == FeatureKernel::None && thread_features == FeatureKernel::None {
        section.refuse("kernel", "`cqa.kernel` leaves every part out: keep at least one");
    }
    Some(Arc::new(Cqa(settings)))
}

#[derive(Debug)]
struct Cqa(Settings);

impl Study for Cqa {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        json!(self.0)
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        Ok(Box::new(work::Ranking::open(&self.0, context)?))
    }

    fn layout(&self, _: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        layout::layout(rows)
    }
}
