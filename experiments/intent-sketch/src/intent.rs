//! `experiment: intent` — intent classification by domain with sentence representations learned from unlabeled text: tables 1 and 2 of the
//! matrix-sketching paper.
//!
//! A sentence is x/‖x‖ ⊕ v/‖v‖: x its hashed n-gram counts, v nothing (`none`), the mean of its word vectors (the name of a set of them), or xΠ with
//! Π from a sketch of unlabeled text (`sent`); `sent_plus` adds features of the first two words to x, and the intents that the machine without an
//! embedding predicts; `sent_idf` (not of the paper) weighs the columns of x by inverse document frequency before Π and divides each direction
//! by its singular value. A sketch is of rows of length 1, so that long texts do not outweigh short ones. A linear machine (Crammer & Singer) is trained in each domain.
//!
//! A part is one domain at one number of labels in one replicate, with all representations, so that they are compared on the same items; further parts average over domains and measure
//! what is gained. Sketches are made once and shared by all parts.
//! Cost: a pass over the unlabeled text for each order of it, and one machine a representation, share and part.

use std::sync::Arc;

use landmark_data::catalog::{self, Holds};
use landmark_data::feature_hashing::NgramHashParams;
use landmark_features::sketch::{Form, FrequentDirectionsParams};
use landmark_harness::config::{Reading, RunSettings};
use landmark_harness::facts::Facts;
use landmark_harness::layout::Layout;
use landmark_harness::study::{Study, StudyContext, StudyEntry, StudyError, StudyWork};
use landmark_report::ResultRow;
use landmark_tasks::classification::ClassificationParams;
use landmark_tasks::linear_svm::{LinearSvmParams, MultiClass};
use landmark_tasks::svm::Tolerance;
use landmark_yaml::{Entry, Keys, Node, Section, list};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod gain;
mod layout;
mod sentences;
mod unlabeled;
mod work;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "intent",
        summary: "intent classification by domain with representations sketched from unlabeled text",
        keys: Keys::of::<Intent>().under("intent"),
        source: "matrix-sketching paper, tables 1 and 2",
    },
    read,
};

/// Representation of a sentence as a vector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub(super) enum Representation {
    /// The counts alone.
    None,
    /// With the mean of its word vectors.
    Vectors(String),
    /// With the projection of its counts.
    Sent,
    /// The same with more features in the counts.
    SentPlus,
    /// With the whitened projection of counts weighted by inverse document frequency.
    SentIdf,
}

impl From<String> for Representation {
    fn from(id: String) -> Self {
        match id.as_str() {
            "none" => Self::None,
            "sent" => Self::Sent,
            "sent_plus" => Self::SentPlus,
            "sent_idf" => Self::SentIdf,
            _ => Self::Vectors(id),
        }
    }
}

impl From<Representation> for String {
    fn from(representation: Representation) -> Self {
        representation.id().to_owned()
    }
}

impl Representation {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Sent => "sent",
            Self::SentPlus => "sent_plus",
            Self::SentIdf => "sent_idf",
            Self::Vectors(name) => name,
        }
    }

    /// True where it is learned from the unlabeled text.
    pub(super) fn is_sketched(&self) -> bool {
        matches!(self, Self::Sent | Self::SentPlus | Self::SentIdf)
    }
}

/// Labelled utterances an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Labels {
    /// At most this number.
    Few(usize),
    All(All),
}

/// The word `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum All {
    All,
}

impl Labels {
    pub(super) fn title(self) -> String {
        match self {
            Self::Few(count) => format!("{count} labels an intent"),
            Self::All(_) => "all labels".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Intent {
    /// utterances with intents: `utterances`, `clinc150`, `snips`, `atis`
    corpora: Vec<String>,
    /// most domains
    domains: Option<usize>,
    /// texts without labels: `sentences`, or `synthetic` from templates
    unlabelled: String,
    /// most texts, in an order drawn by replicate; none: all, or 4,000 synthetic ones
    texts: Option<usize>,
    /// these, `sent_idf`, and names of word vectors: `glove50_8k`, `self300`
    representations: Vec<Representation>,
    /// labeled utterances per intent: numbers, `all`
    labels: Vec<LabelsText>,
    /// percentages of the unlabeled texts to use
    shares: Vec<u64>,
    /// columns 2^bits, longest n-gram
    hash: HashSettings,
    /// l, rows of the sketch
    sketch_rows: usize,
    /// `buffered` or `figure_1`
    form: Form,
    /// m, directions of Π
    dimension: usize,
    /// C of the machine, chosen by cross-validation where there are several
    costs: Vec<f64>,
    /// of the cross-validation, and of the predictions in `sent_plus`
    folds: usize,
}

/// A number of labels as it is written: a number or a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct LabelsText(Json);

impl LabelsText {
    fn read(&self) -> Option<Labels> {
        match &self.0 {
            Json::String(word) if word == "all" => Some(Labels::All(All::All)),
            Json::Number(number) => number
                .as_u64()
                .filter(|&count| count > 0)
                .and_then(|count| usize::try_from(count).ok())
                .map(Labels::Few),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct HashSettings {
    /// 2^bits columns
    bits: u32,
    /// longest n-gram
    max_n: usize,
}

impl Default for HashSettings {
    fn default() -> Self {
        Self { bits: 16, max_n: 3 }
    }
}

impl Default for Intent {
    fn default() -> Self {
        Self {
            corpora: vec!["utterances".to_owned()],
            domains: None,
            unlabelled: unlabeled::SYNTHETIC.to_owned(),
            texts: None,
            representations: vec![Representation::None, Representation::Sent, Representation::SentPlus],
            labels: vec![LabelsText(json!(5)), LabelsText(json!("all"))],
            shares: vec![100],
            hash: HashSettings::default(),
            sketch_rows: 200,
            form: Form::Buffered,
            dimension: 100,
            costs: vec![1.0],
            folds: 3,
        }
    }
}

impl Intent {
    /// The hash of the counts; with the features of the first two words for SENT+.
    fn hash(&self, first_words: usize) -> NgramHashParams {
        NgramHashParams { bits: self.hash.bits, max_n: self.hash.max_n, first_words }
    }

    fn sketch(&self) -> FrequentDirectionsParams {
        FrequentDirectionsParams { rows: self.sketch_rows, form: self.form, buffer: None }
    }

    /// The machine; a violation of 0.01 is what LIBLINEAR stops at.
    fn machine(&self) -> ClassificationParams {
        let svm = LinearSvmParams {
            multi_class: MultiClass::CrammerSinger,
            tolerance: Tolerance::Violation(0.01),
            ..LinearSvmParams::default()
        };
        ClassificationParams { svm, costs: self.costs.clone(), folds: self.folds, ..ClassificationParams::default() }
    }

    fn labels(&self) -> Vec<Labels> {
        self.labels.iter().filter_map(LabelsText::read).collect()
    }
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let settings: Intent = problems.read(node, ENTRY.entry.id)?;
    check_names(&settings, &section);
    if settings.labels.is_empty() || settings.labels.iter().any(|labels| labels.read().is_none()) {
        section.refuse("labels", "`intent.labels` must list numbers of at least 1, or `all`");
    }
    if settings.shares.is_empty() || settings.shares.iter().any(|&share| share > 100) {
        section.refuse("shares", "`intent.shares` must list per cents between 0 and 100");
    }
    if settings.domains == Some(0) {
        section.refuse("domains", "`intent.domains` is 0, but must be at least 1");
    }
    if settings.texts == Some(0) {
        section.refuse("texts", "`intent.texts` is 0, but must be at least 1");
    }
    match settings.hash(2).check() {
        Err(error) => section.refuse("hash", format!("`intent.hash`: {error}")),
        Ok(hash) => {
            if settings.sketch_rows > hash.columns() {
                let (rows, columns) = (settings.sketch_rows, hash.columns());
                let message =
                    format!("`intent.sketch_rows` is {rows}, but must be at most the {columns} columns of the hash");
                section.refuse("sketch_rows", message);
            } else if let Err(error) = settings.sketch().check_sizes(hash.columns()) {
                section.refuse("sketch_rows", format!("`intent.sketch_rows`: {error}"));
            }
        }
    }
    if settings.dimension == 0 || settings.dimension > settings.sketch_rows {
        let Intent { dimension, sketch_rows, .. } = settings;
        let message = format!(
            "`intent.dimension` is {dimension}, but must be between 1 and the {sketch_rows} rows of the sketch"
        );
        section.refuse("dimension", message);
    }
    if let Err(error) = settings.machine().check() {
        section.refuse("costs", format!("`intent.costs`, `intent.folds`: {error}"));
    }
    Some(Arc::new(settings))
}

/// Corpora, texts and word vectors by their names in the catalog.
fn check_names(settings: &Intent, section: &Section<'_>) {
    let names = |wanted: fn(&Holds) -> bool| catalog::all().filter(move |d| wanted(&d.holds)).map(|d| d.name);
    let refuse = |key: &str, seen: &str, known: Vec<&str>| {
        let near = landmark_yaml::did_you_mean(seen, known.iter().copied());
        let help = near.map_or_else(|| format!("there are {}", list(&known)), |near| format!("did you mean `{near}`?"));
        section.refuse(key, format!("`intent.{key}`: there is no `{seen}`; {help}"));
    };
    let corpora: Vec<&str> = names(|holds| matches!(holds, Holds::Intents { .. } | Holds::EmbeddedIntents)).collect();
    if settings.corpora.is_empty() {
        section.refuse("corpora", "`intent.corpora` must list at least one");
    }
    for corpus in settings.corpora.iter().filter(|corpus| !corpora.contains(&corpus.as_str())) {
        refuse("corpora", corpus, corpora.clone());
    }
    let texts: Vec<&str> = names(|holds| matches!(holds, Holds::Texts { .. })).chain([unlabeled::SYNTHETIC]).collect();
    if !texts.contains(&settings.unlabelled.as_str()) {
        refuse("unlabelled", &settings.unlabelled, texts);
    }
    let vectors: Vec<&str> = names(|holds| matches!(holds, Holds::WordVectors { .. })).collect();
    for representation in &settings.representations {
        if let Representation::Vectors(name) = representation
            && !vectors.contains(&name.as_str())
        {
            refuse(
                "representations",
                name,
                ["none", "sent", "sent_plus", "sent_idf"].into_iter().chain(vectors.clone()).collect(),
            );
        }
    }
    if !settings.representations.contains(&Representation::None) {
        section.refuse("representations", "`intent.representations` must list `none`: the others are compared with it");
    }
}

impl Study for Intent {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        json!(self)
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        Ok(Box::new(work::Classifying::open(self.clone(), context)?))
    }

    fn layout(&self, run: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        layout::of(self, run.reference().as_ref(), rows)
    }
}
