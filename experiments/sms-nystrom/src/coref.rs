//! `experiment: coref` — cross-document coreference on factored similarities: figures 4 and 6 of the SMS-Nyström paper.
//!
//! A scorer of mention pairs is trained on the training topics (`landmark-neural`); on each test topic its n × n scores are
//! symmetrized, approximated from a share of landmark mentions, clustered by average linkage on 1 − K̃ below a threshold that
//! was tuned on the development topics with the exact scores, and scored by CoNLL F1. The relative error is pooled over topics,
//! √(Σ‖K − K̃‖² / Σ‖K‖²).
//!
//! Cost: the encoder once over the corpus; epochs · pairs · width of the scorer; n² scores of each test topic, since the exact
//! rows need them (an approximation alone would need n·s); O(n s²) a fit and O(n²) a clustering.

use std::path::PathBuf;
use std::sync::Arc;

use landmark_data::MentionKinds;
use landmark_data::catalog::{self, Holds};
use landmark_harness::config::{ItemKind, MethodConfig, ProxyConfig, ProxyKind, Reading, RunSettings, SearchPart};
use landmark_harness::facts::Facts;
use landmark_harness::layout::Layout;
use landmark_harness::study::{Study, StudyContext, StudyEntry, StudyError, StudyWork};
use landmark_oracles::neural::{Precision, ScorerParams};
use landmark_report::ResultRow;
use landmark_tasks::coreference::Linkage;
use landmark_yaml::{Entry, Keys, Node, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod bench;
mod draw;
mod layout;
mod neighbors;
mod work;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "coref",
        summary: "clusters mentions of events and entities across news documents on approximated pair scores",
        keys: Keys::of::<Settings>().and::<MethodsKey>().under("coref"),
        source: "SMS-Nyström paper, figures 4 and 6",
    },
    read,
};

/// Source of the mentions that are clustered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Source {
    /// Those of the annotation.
    Gold,
    /// Spans that the span scorer takes for mentions.
    Predicted,
}

impl Source {
    fn words(self) -> &'static str {
        match self {
            Self::Gold => "gold mentions",
            Self::Predicted => "predicted mentions",
        }
    }
}

/// Files of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OwnFiles {
    /// One document a line, with its tokens.
    documents: String,
    /// One mention a line, with its cluster.
    mentions: String,
}

/// The checked section, but for its methods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// documents with mentions: `ecbplus`, `news` (inside), or a name for `files`
    #[schemars(example = &"ecbplus")]
    dataset: String,
    /// documents and mentions of yours, JSON lines: `{ documents: …, mentions: … }`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<OwnFiles>,
    /// The folder of the configuration, where their paths start.
    #[serde(skip)]
    folder: PathBuf,
    /// mentions of `events`, of `entities`, or of `both` together
    #[serde(default)]
    kinds: MentionKinds,
    /// whose mentions are clustered: `gold`, `predicted`
    #[serde(default = "both_sources")]
    mentions: Vec<Source>,
    /// frozen encoder: a model by name or folder, `tiny` is inside
    #[serde(default = "mini_lm")]
    encoder: String,
    /// tokens of a segment
    #[serde(default = "whole_window")]
    window: usize,
    /// what the encoder computes in: `f32` or `bf16`
    #[serde(default)]
    precision: Precision,
    /// training of the pair scorer: see `configs/ecb.yaml`
    #[serde(default)]
    pairs: ScorerParams,
    /// training of the span scorer that predicts mentions; none: as `pairs`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spans: Option<ScorerParams>,
    /// predicted mentions kept, as a share of the words
    #[serde(default = "authors_top")]
    top: f64,
    /// most words of a predicted mention
    #[serde(default = "authors_longest")]
    longest: usize,
    /// `average`, `single` or `complete`
    #[serde(default)]
    linkage: Linkage,
    /// candidates for the threshold, chosen on the development topics
    #[serde(default = "sixteen_thresholds")]
    thresholds: Vec<f64>,
    /// landmark mentions, as a share of a topic's
    #[serde(default = "nine_fractions")]
    fractions: Vec<f64>,
    /// most topics of each part of the split
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topics: Option<usize>,
    /// calls a mention at which its nearest in its topic are looked for: recall as in `experiment: retrieval`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<usize>,
    /// parts of the search, which also runs without each of them, as in `experiment: retrieval`
    #[serde(default = "SearchPart::all")]
    #[schemars(example = SearchPart::all())]
    ablations: Vec<SearchPart>,
}

/// The key of the methods, for the list and the schema.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct MethodsKey {
    /// as in a sweep; the proxy is `mention_cosine`; may be left out if there are `calls`
    #[serde(default)]
    #[schemars(extend("examples" = [[{ "id": "shift_ridge" }]]))]
    #[expect(dead_code, reason = "methods are read by their own list")]
    methods: Vec<String>,
}

impl Settings {
    /// The dataset as tables and figures call it.
    fn title(&self, source: Source) -> String {
        format!("{}, {}", self.dataset, source.words())
    }

    /// The name of a topic's random streams: methods and neighbors draw the same landmarks.
    fn streams(&self, source: Source, topic: &str) -> String {
        format!("{}, {topic}", self.title(source))
    }
}

fn both_sources() -> Vec<Source> {
    vec![Source::Gold, Source::Predicted]
}

fn mini_lm() -> String {
    "all-MiniLM-L6-v2".to_owned()
}

fn whole_window() -> usize {
    512
}

fn authors_top() -> f64 {
    0.4
}

fn authors_longest() -> usize {
    20
}

fn sixteen_thresholds() -> Vec<f64> {
    (1..=16).map(|step| f64::from(step) / 20.0).collect()
}

fn nine_fractions() -> Vec<f64> {
    (1..=9).map(|tenth| f64::from(tenth) / 10.0).collect()
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let methods = section.node("methods").map(|node| MethodConfig::read_all(node, reading));
    let settings: Settings = section.whole()?;
    let settings = Settings { folder: problems.folder().to_owned(), ..settings };
    let methods = match methods {
        None if settings.calls.is_empty() => MethodConfig::read_all(section.required_node("methods")?, reading),
        methods => methods.unwrap_or_default(),
    };
    let known: Vec<&str> = catalog::all()
        .filter(|dataset| matches!(dataset.holds, Holds::Mentions | Holds::EmbeddedMentions))
        .map(|dataset| dataset.name)
        .collect();
    if settings.files.is_none() && !known.contains(&settings.dataset.as_str()) {
        let place = section.node("dataset").map_or(section.place(), |node| node.place);
        problems.add(Problem::unknown("set of documents with mentions", &settings.dataset, known).at(place));
    }
    check(&settings, &section);
    // a configuration that is written out names all
    if settings.ablations != SearchPart::all() && settings.calls.is_empty() {
        section.refuse("ablations", "`coref.ablations` is for a search for neighbors, which needs `coref.calls`");
    }
    for method in methods.iter().filter(|method| matches!(method.id, "wme" | "exact")) {
        let message = match method.id {
            "wme" => "`wme` makes features of documents, not of mentions",
            _ => "the exact scores are always among the rows: leave `exact` out",
        };
        problems.add(Problem::new(message).at(method.place));
    }
    for method in &methods {
        let is_foreign = |kind: &&ProxyKind| !kind.reads().contains(&ItemKind::Mentions);
        if let Some(kind) = method.proxy.iter().flat_map(ProxyConfig::kinds).find(is_foreign) {
            let message = format!("the proxy `{}` does not compare mentions: use `mention_cosine`", kind.id());
            problems.add(Problem::new(message).at(method.place));
        }
    }
    Some(Arc::new(Coref { settings, methods }))
}

/// Values out of their range, each at its key.
fn check(settings: &Settings, section: &Section<'_>) {
    let refuse = |key, seen: String, wanted: &str| {
        section.refuse(key, format!("`coref.{key}` is {seen}, but must be {wanted}"));
    };
    if settings.mentions.is_empty() {
        refuse("mentions", "[]".to_owned(), "a list of `gold`, `predicted` or both");
    }
    let share = |value: &f64| *value > 0.0 && *value <= 1.0;
    if !share(&settings.top) {
        refuse("top", settings.top.to_string(), "a share above 0 and at most 1");
    }
    if settings.fractions.is_empty() || !settings.fractions.iter().all(share) {
        refuse("fractions", format!("{:?}", settings.fractions), "a list of shares above 0 and at most 1");
    }
    if settings.thresholds.is_empty() || settings.thresholds.iter().any(|value| !value.is_finite()) {
        refuse("thresholds", format!("{:?}", settings.thresholds), "a list of at least one number");
    }
    for (key, value, least) in [("window", settings.window, 16), ("longest", settings.longest, 1)] {
        if value < least {
            refuse(key, value.to_string(), &format!("at least {least}"));
        }
    }
    if settings.calls.contains(&0) {
        refuse("calls", format!("{:?}", settings.calls), "a list of numbers above 0");
    }
    if settings.topics == Some(0) {
        refuse("topics", "0".to_owned(), "at least 1");
    }
    for (key, scorer) in [("pairs", Some(&settings.pairs)), ("spans", settings.spans.as_ref())] {
        let Some((name, seen, wanted)) = scorer.and_then(ScorerParams::wrong) else { continue };
        section.refuse(key, format!("`coref.{key}.{name}` is {seen}, but must be {wanted}"));
    }
}

#[derive(Debug)]
struct Coref {
    settings: Settings,
    methods: Vec<MethodConfig>,
}

impl Study for Coref {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        let mut settings = json!(self.settings);
        settings["methods"] = json!(self.methods);
        settings
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        Ok(Box::new(work::Clustering::open(&self.settings, &self.methods, context)?))
    }

    fn layout(&self, _: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        if self.methods.is_empty() {
            return layout::without_methods(rows);
        }
        layout::layout(&self.settings.dataset, &self.settings.fractions, rows)
    }
}
