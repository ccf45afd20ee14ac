//! Oracles as a configuration names them, one a file.
//!
//! Adding one: a file with an [`OracleSpec`] and its [`OracleSettings`], and its line in the registry of the program.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Coin, OneOrder, Oracle, Symmetrization, Symmetrized};
use landmark_oracles::subprocess::ScoredItems;
use landmark_oracles::wmd::WordClouds;
use landmark_report::Caveat;
use landmark_store::ItemList;
use landmark_yaml::{Entry, Node, Problem, Problems, Section};
use schemars::JsonSchema;
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use crate::config::item_kind::ItemKind;
use crate::config::own_section::ToJson;
use crate::config::run_settings::RunSettings;
use crate::config::values::Tuned;
use crate::loaded::{EmptyDocuments, Labels, LoadError, Loaded, Texts};

pub mod cross_encoder;
pub mod http;
pub mod precomputed;
pub mod scorer;
pub mod string;
pub mod subprocess;
pub mod tree_kernel;
pub mod wmd;

use cross_encoder::Sentences;
use scorer::Scorer;
use wmd::Negligible;

/// An oracle: how it is named, which items it reads, how its section is read.
pub struct OracleSpec {
    pub entry: Entry,
    /// The kinds of items that it scores.
    pub reads: &'static [ItemKind],
    /// Reads and checks the keys other than `kind`.
    pub read: fn(&Section<'_>) -> Option<Arc<dyn OracleSettings>>,
}

/// The settings of an oracle, read and checked.
pub trait OracleSettings: ToJson + Any + Debug + Send + Sync {
    /// The keys of a score that is asked for as given.
    fn given(&self) -> Option<GivenScore> {
        None
    }

    /// γ, where the score is exp(−γ·d).
    fn gamma(&self) -> Option<Tuned> {
        self.given()?.gamma
    }

    /// Rule by which both orders of a pair become one score, where there is one.
    fn orders(&self) -> Option<Orders> {
        self.given()?.symmetrize
    }

    /// Treatment of documents without a known word.
    fn empty_documents(&self) -> EmptyDocuments {
        EmptyDocuments::Error
    }

    /// True where it knows itself what it has paid, so that `budget.money` needs no `cost_per_entry`.
    fn is_priced(&self) -> bool {
        false
    }

    /// True where its scores come from somebody else's machine, who may want money for them.
    fn is_remote(&self) -> bool {
        false
    }

    /// True where every score is in a file already, so that asking for all of them costs nothing.
    fn is_given(&self) -> bool {
        false
    }

    /// Pairs by which a program or an endpoint is checked before its scores are evaluated.
    fn checks(&self) -> usize {
        0
    }

    /// The device that models compute on.
    fn device(&self) -> &str {
        "auto"
    }

    /// Why these settings do not suit items that the oracle reads otherwise.
    fn refusal(&self, _kinds: &[ItemKind]) -> Option<&'static str> {
        None
    }

    /// Builds the oracle over items; makes no call.
    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError>;
}

/// Inputs of an oracle's opening in addition to its items.
pub struct Opening<'a> {
    /// Name, seed, paper, threads.
    pub run: &'a RunSettings,
    pub data: Option<&'a Path>,
    pub smallest_gamma: Option<f64>,
    /// The most that may be paid.
    pub money: Option<f64>,
    /// Cost allowed to the opening.
    pub preparation: Preparation,
}

/// Cost allowed to the opening of an oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// Rule for a model that is not fine-tuned yet.
    pub training: Training,
    /// True where nothing is to be printed about it.
    pub quiet: bool,
}

/// Rule for a model that is not fine-tuned yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Training {
    Now,
    /// A note states that this comes first and how many steps it takes; if `sample` is given, also the time, measured on steps with
    /// about that many pairs.
    Later {
        sample: Option<u64>,
    },
}

pub struct Opened {
    /// Scores a pair, unmetered and unstored.
    pub raw: Arc<dyn Oracle>,
    /// The score of a pair as it is asked for; `raw` may be symmetrized.
    pub as_given: Arc<dyn Oracle>,
    /// The score as given apart from its items, and these, where lists of them share what is kept.
    pub item_list: Option<ItemList>,
    /// Description of the oracle in words, for the store's listing.
    pub description: String,
    /// True where an evaluation costs enough to be worth keeping: a matrix that is already there does not.
    pub is_priced: bool,
    pub items: Items,
    /// Warnings to the reader.
    pub stamps: Vec<Caveat>,
    /// Notes on what was dropped, filled or replaced, in sentences.
    pub notes: Vec<String>,
    /// Hashes and counts for `run.json`.
    pub facts: Json,
}

/// The items of an experiment, with what only items of their kind have.
pub enum Items {
    Documents {
        words: Words,
        labels: Labels,
    },
    Questions {
        labels: Labels,
    },
    Pairs(Box<Sentences>),
    Matrix {
        labels: Option<Labels>,
    },
    Texts {
        scored: Arc<ScoredItems>,
        /// Their words, where the oracle or a proxy compares them.
        words: Option<Words>,
        /// The program or endpoint that scores them, where there is one.
        scorer: Option<Scorer>,
        labels: Option<Labels>,
        /// The labeled pairs that they are the texts of.
        pairs: Option<Box<Sentences>>,
    },
}

impl Items {
    /// Texts under a score that is asked for as given, and the program or endpoint that scores them where there is one.
    fn of_texts(texts: &Texts, scorer: Option<Scorer>, as_given: &Arc<dyn Oracle>, orders: Option<Orders>) -> Self {
        let words = texts.words.as_ref().map(|placed| Words { clouds: Arc::clone(&placed.clouds), negligible: None });
        let pairs = texts.pairs.as_ref().map(|pairs| Box::new(Sentences::of_texts(pairs, as_given, orders)));
        Self::Texts { scored: Arc::clone(&texts.scored), words, scorer, labels: texts.labels.clone(), pairs }
    }
}

pub struct Words {
    pub clouds: Arc<WordClouds>,
    /// Distances that are not solved; `None` where all are solved.
    pub negligible: Option<Negligible>,
}

/// Scores by the words of `landmark init`, where their oracle goes by another id.
const CALLED: [(&str, &str); 4] =
    [("program", "subprocess"), ("rerank", "http"), ("chat", "http"), ("matrix", "precomputed")];

/// Similarity function that scores a pair, with its settings.
#[derive(Clone)]
pub struct OracleConfig {
    spec: &'static OracleSpec,
    settings: Arc<dyn OracleSettings>,
}

impl Debug for OracleConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.kind(), self.settings)
    }
}

impl Serialize for OracleConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = Map::from_iter([("kind".to_owned(), self.kind().into())]);
        if let Json::Object(keys) = self.settings.to_json().map_err(S::Error::custom)? {
            map.extend(keys);
        }
        map.serialize(serializer)
    }
}

impl OracleConfig {
    /// Reads the section; a bare id is the whole section. Programs run in the folder of the configuration.
    pub fn read(node: &Node, known: &[&'static OracleSpec], problems: &Problems) -> Option<Self> {
        let (kind, place, section) = Section::tagged(node, "oracle", "kind", problems)?;
        let Some(&spec) = known.iter().find(|spec| spec.entry.id == kind) else {
            let problem = Problem::unknown("oracle", &kind, known.iter().map(|spec| spec.entry.id)).at(place);
            let called = CALLED.iter().find(|(word, _)| *word == kind);
            problems.add(match called {
                Some((_, id)) => problem.help(format!("did you mean `{id}`?")),
                None => problem,
            });
            return None;
        };
        let settings = (spec.read)(&section);
        section.finish(&[]);
        Some(Self { spec, settings: settings? })
    }

    pub fn kind(&self) -> &'static str {
        self.spec.entry.id
    }

    pub fn reads(&self) -> &'static [ItemKind] {
        self.spec.reads
    }

    pub fn settings(&self) -> &dyn OracleSettings {
        self.settings.as_ref()
    }

    /// Its settings, where they are those of one oracle.
    pub fn settings_of<S: OracleSettings>(&self) -> Option<&S> {
        let settings: &dyn Any = self.settings.as_ref();
        settings.downcast_ref()
    }

    /// γ, where the score is exp(−γ·d).
    pub fn gamma(&self) -> Option<Tuned> {
        self.settings.gamma()
    }

    /// Rule by which both orders of a pair become one score, where there is one.
    pub fn orders(&self) -> Option<Orders> {
        self.settings.orders()
    }
}

/// Rule by which both orders of a pair become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    /// The mean of both, at twice the calls.
    Mean,
    /// The larger of the two, at twice the calls.
    Max,
    /// The smaller of the two, at twice the calls.
    Min,
    /// One random order per pair, an estimate of the mean of both, at the calls of one.
    Random,
}

impl Orders {
    /// Rule by which both become one score; `None` where one of them is asked for.
    pub fn of_both(self) -> Option<Symmetrization> {
        match self {
            Self::Mean => Some(Symmetrization::Mean),
            Self::Max => Some(Symmetrization::Max),
            Self::Min => Some(Symmetrization::Min),
            Self::Random => None,
        }
    }

    /// An asymmetric score under this rule; coins are keyed on `seed`.
    pub fn over(self, as_given: &Arc<dyn Oracle>, seed: u64) -> Arc<dyn Oracle> {
        let as_given = Arc::clone(as_given);
        match self.of_both() {
            Some(mode) => Arc::new(Symmetrized::new(as_given, mode)),
            None => Arc::new(OneOrder::new(as_given, Coin::new(seed))),
        }
    }
}

/// The keys of a score that is asked for as given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenScore {
    /// turns distances into exp(−γ·d); none: the scores are similarities
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<Tuned>,
    /// an asymmetric score becomes the `mean`, `max` or `min` of both orders; `random`: one order a pair, for the mean
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetrize: Option<Orders>,
}

/// Both orders of a pair as one score, where that is wanted.
fn symmetrized(as_given: &Arc<dyn Oracle>, orders: Option<Orders>, seed: u64) -> Arc<dyn Oracle> {
    orders.map_or_else(|| Arc::clone(as_given), |orders| orders.over(as_given, seed))
}
