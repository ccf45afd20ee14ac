//! `oracle: { kind: cross_encoder }` — a model that reads both texts of a pair, over sentences of labelled pairs or texts of the user's.

use std::path::PathBuf;
use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_data::SentencePairs;
use landmark_oracles::neural::{
    CrossEncoderParams, DeviceChoice, Epoch, FineTune, FineTuneParams, ModelFileError, ModelFiles, NeuralError,
    Precision, Score, Target,
};
use landmark_report::Caveat;
use landmark_yaml::{Entry, Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Items, Opened, Opening, OracleSettings, OracleSpec, Orders, Training, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::config::run_settings::RunSettings;
use crate::loaded::{LoadError, Loaded, LoadedItems, Pairs, TextPairs, Texts};
use crate::models::{ModelOverTexts, Models, or_tiny};

mod training;

use training::{CHECKPOINT_EVERY, curve_note, labeled, train, training_plan};

pub static CROSS_ENCODER: OracleSpec = OracleSpec {
    entry: Entry {
        id: "cross_encoder",
        summary: "BERT or RoBERTa that reads both texts of a pair at once: fine-tuned on labeled pairs, or a model of yours over texts of yours",
        keys: Keys::of::<CrossEncoderConfig>(),
        source: "Devlin et al. 2019; SMS-Nyström paper, §4.2",
    },
    reads: &[ItemKind::Pairs, ItemKind::Texts],
    read,
};

/// Tokens of a pair at most in fine-tuning that is configured without.
const TAUGHT_LENGTH: usize = 128;

/// A cross-encoder over sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CrossEncoderConfig {
    /// a folder, a name among the models, or `tiny` (random, inside)
    pub model: String,
    /// The folder of the configuration, where a path may start.
    #[serde(skip)]
    folder: PathBuf,
    /// of both orders `mean`, `max` or `min`, at twice the calls; `random`: one order a pair, for the mean; `as_given`: asymmetric
    pub order: Order,
    /// `probability`, `regression` (the output itself) or `label`
    pub score: Score,
    /// tokens of a pair at most; what is longer is cut, and counted. None: the model's own limit, and 128 for `fine_tune`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8))]
    pub max_length: Option<usize>,
    /// of products: `f32`, `bf16`, or `int8` (no GPU; how far its scores are from those of f32 is reported)
    pub precision: Precision,
    /// `auto`, `cpu`, `cuda` or `cuda:1`; `auto` takes every GPU there is
    #[serde(skip_serializing)]
    pub device: String,
    /// fine-tuning on the training pairs: `{ epochs: 4, batch: 32, learning_rate: 1e-4, loss: bce, … }`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fine_tune: Option<FineTuneParams>,
}

impl Default for CrossEncoderConfig {
    fn default() -> Self {
        let CrossEncoderParams { score, max_length, precision } = CrossEncoderParams::default();
        Self {
            model: "all-MiniLM-L6-v2".to_owned(),
            folder: PathBuf::new(),
            order: Order::Mean,
            score,
            max_length,
            precision,
            device: "auto".to_owned(),
            fine_tune: None,
        }
    }
}

/// Rule by which both orders of a pair become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The mean of both orders, at twice the calls.
    #[default]
    Mean,
    /// The larger of the two, at twice the calls.
    Max,
    /// The smaller of the two, at twice the calls.
    Min,
    /// One random order per pair, an estimate of the mean of both, at the calls of one.
    Random,
    /// The pair as it is asked for: an asymmetric matrix.
    AsGiven,
}

impl Order {
    /// Symmetrization of the score, if there is any.
    pub fn symmetrization(self) -> Option<Orders> {
        match self {
            Self::Mean => Some(Orders::Mean),
            Self::Max => Some(Orders::Max),
            Self::Min => Some(Orders::Min),
            Self::Random => Some(Orders::Random),
            Self::AsGiven => None,
        }
    }

    fn of(orders: Option<Orders>) -> Self {
        match orders {
            Some(Orders::Mean) => Self::Mean,
            Some(Orders::Max) => Self::Max,
            Some(Orders::Min) => Self::Min,
            Some(Orders::Random) => Self::Random,
            None => Self::AsGiven,
        }
    }
}

impl CrossEncoderConfig {
    /// The files of the model: by its path from here, from the folder of the configuration, or by its name among the models.
    fn found(&self) -> Result<ModelFiles, ModelFileError> {
        let relative = self.folder.join(&self.model);
        match ModelFiles::find(&self.model, None) {
            Err(ModelFileError::NotFound { .. }) if relative.is_dir() => ModelFiles::at(relative),
            other => other,
        }
    }

    fn read_keys(section: &Section<'_>) -> Option<Self> {
        let mut config: Self = section.part()?;
        if let Some((name, seen, wanted)) = config.fine_tune.as_ref().and_then(FineTuneParams::wrong) {
            section.refuse("fine_tune", format!("`oracle.fine_tune.{name}` is {seen}, but must be {wanted}"));
        }
        // a model is asked as it was taught
        config.max_length = config.max_length.or(config.fine_tune.is_some().then_some(TAUGHT_LENGTH));
        section.problems().folder().clone_into(&mut config.folder);
        Some(config)
    }

    pub fn params(&self) -> CrossEncoderParams {
        CrossEncoderParams { score: self.score, max_length: self.max_length, precision: self.precision }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    Some(Arc::new(CrossEncoderConfig::read_keys(section)?))
}

impl OracleSettings for CrossEncoderConfig {
    fn device(&self) -> &str {
        &self.device
    }

    fn orders(&self) -> Option<Orders> {
        self.order.symmetrization()
    }

    fn refusal(&self, kinds: &[ItemKind]) -> Option<&'static str> {
        (self.fine_tune.is_some() && !kinds.contains(&ItemKind::Pairs)).then_some(
            "`fine_tune` learns from labeled pairs, and texts have none: fine-tune with `configs/stsb.yaml`, then name the folder it left as `model`",
        )
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let opened = match items {
            LoadedItems::Pairs(pairs) => over_pairs(self, &dataset, &pairs, opening),
            LoadedItems::Texts(texts) => over_texts(self, &texts, opening),
            LoadedItems::Documents(_) | LoadedItems::Questions(_) | LoadedItems::Matrix(_) => {
                Err(LoadError::pair(dataset, CROSS_ENCODER.entry.id))
            }
        }?;
        Ok(Opened {
            stamps: stamps.into_iter().chain(opened.stamps).collect(),
            notes: notes.into_iter().chain(opened.notes).collect(),
            ..opened
        })
    }
}

fn over_texts(wanted: &CrossEncoderConfig, texts: &Texts, opening: &Opening<'_>) -> Result<Opened, LoadError> {
    let models = Models::start(opening.run, &wanted.device)?;
    let files = wanted.found().map_err(NeuralError::from)?;
    let ModelOverTexts { scores: as_given, item_list, notes } =
        models.cross_encoder(&files, wanted.params(), texts.scored.texts())?;
    Ok(Opened {
        item_list,
        raw: symmetrized(&as_given, wanted.order.symmetrization(), opening.run.seed),
        items: Items::of_texts(texts, None, &as_given, wanted.order.symmetrization()),
        as_given,
        description: texts.description(&format!("under the cross-encoder `{}`", wanted.model)),
        is_priced: true,
        stamps: Vec::new(),
        notes,
        facts: json!({ "items": texts.scored.identity().to_hex(), "model": wanted.model }),
    })
}

fn over_pairs(
    wanted: &CrossEncoderConfig,
    dataset: &str,
    loaded: &Pairs,
    opening: &Opening<'_>,
) -> Result<Opened, LoadError> {
    let run = opening.run;
    let models = Models::start(run, &wanted.device)?;
    let (base, fell_back) = or_tiny(wanted.found(), loaded.fell_back)?;
    let stamps = fell_back.or_else(|| model_stamp(run, wanted, &base)).into_iter().collect();
    let (files, curve) = prepare(wanted, dataset, loaded, &base, &models, opening)?;
    let sentences = loaded.dev.sentences();
    let ModelOverTexts { scores: as_given, item_list, mut notes } = files.over(sentences, wanted, &models)?;
    let order = wanted.order.symmetrization();
    let raw = symmetrized(&as_given, order, run.seed);
    // pairs that only a threshold is chosen on
    let of_calibration = if order == Some(Orders::Random) { Some(Orders::Mean) } else { order };
    let score =
        |texts: &[String]| Ok(symmetrized(&files.over(texts, wanted, &models)?.scores, of_calibration, run.seed));
    let calibration = loaded.calibration.as_ref().map(|sample| calibration(sample, dataset, score)).transpose()?;
    if let Prepared::ToBeTrained { plan, .. } = &files {
        notes.push(plan.clone());
    }
    notes.extend(curve_note(&curve, loaded.are_graded, loaded.all.len()));
    Ok(Opened {
        raw,
        item_list,
        as_given: Arc::clone(&as_given),
        description: format!(
            "cross-encoder `{}` over {} sentences of {} `{dataset}` pairs",
            wanted.model,
            sentences.len(),
            loaded.dev.len(),
        ),
        is_priced: true,
        stamps,
        notes,
        facts: json!({
            "model": wanted.model,
            "fine_tuned": curve,
            "torch": models.report(),
            "device": String::from(wanted.device.parse::<DeviceChoice>().unwrap_or_default()),
        }),
        items: Items::Pairs(Box::new(Sentences {
            as_given,
            order: wanted.order,
            pairs: loaded.dev.pairs().to_vec(),
            targets: loaded.dev.targets().to_vec(),
            are_graded: loaded.are_graded,
            calibration,
            are_labels: wanted.score == Score::Label,
            is_trained: matches!(files, Prepared::Ready(_)),
            train: loaded.train.len(),
            curve,
        })),
    })
}

/// Labeled pairs among the items.
pub struct Sentences {
    /// The score of a pair as it is asked for; the problem's own may be symmetrized.
    pub as_given: Arc<dyn Oracle>,
    /// Rule by which both orders become one score.
    pub order: Order,
    pub pairs: Vec<(usize, usize)>,
    /// Target of each pair: people's judgment of it, between 0 and 1.
    pub targets: Vec<f64>,
    /// True where targets are grades rather than yes or no.
    pub are_graded: bool,
    /// Pairs that were learned from, to choose the threshold of a yes on.
    pub calibration: Option<Calibration>,
    /// True where a score is a label too.
    pub are_labels: bool,
    /// True where the model is there; a dry run fine-tunes none.
    pub is_trained: bool,
    pub train: usize,
    /// Learning curve of the fine-tuning, epoch by epoch.
    pub curve: Vec<Epoch>,
}

impl Sentences {
    /// Labeled pairs among texts, under any score.
    pub(super) fn of_texts(texts: &TextPairs, as_given: &Arc<dyn Oracle>, orders: Option<Orders>) -> Self {
        let calibration = texts.calibration.clone().map(|(pairs, labels)| Calibration {
            oracle: None,
            description: String::new(),
            pairs,
            labels,
        });
        Self {
            as_given: Arc::clone(as_given),
            order: Order::of(orders),
            pairs: texts.pairs.clone(),
            targets: texts.targets.clone(),
            are_graded: texts.are_graded,
            calibration,
            are_labels: false,
            is_trained: true,
            train: texts.train,
            curve: Vec::new(),
        }
    }
}

/// Labeled pairs that only a threshold is chosen on.
pub struct Calibration {
    /// The score of other items, of both orders as the problem's own; that one itself where the pairs are among its items.
    pub oracle: Option<Arc<dyn Oracle>>,
    /// Description in words, for the store's listing.
    pub description: String,
    pub pairs: Vec<(usize, usize)>,
    /// Yes or no.
    pub labels: Vec<bool>,
}

fn model_stamp(run: &RunSettings, wanted: &CrossEncoderConfig, base: &ModelFiles) -> Option<Caveat> {
    let text = if base.is_tiny() {
        "the model `tiny`: random numbers in two small layers, fine-tuned on what it is given; it knows no language"
            .to_owned()
    } else if run.paper.is_some() {
        format!("the cross-encoder is `{}`, fine-tuned here; the paper names only BERT", wanted.model)
    } else {
        return None;
    };
    Some(Caveat { dataset: None, text, breaks_comparison: true })
}

/// A model with a head, or the recipe of one.
enum Prepared {
    Ready(ModelFiles),
    ToBeTrained {
        recipe: Identity,
        /// The steps of the training in words.
        plan: String,
    },
}

impl Prepared {
    /// The score of these texts, each pair as it is asked for, and what is to be reported about it.
    fn over(
        &self,
        texts: &[String],
        wanted: &CrossEncoderConfig,
        models: &Models,
    ) -> Result<ModelOverTexts, LoadError> {
        match self {
            Self::Ready(files) => models.cross_encoder(files, wanted.params(), texts),
            Self::ToBeTrained { recipe, .. } => {
                let scores = Arc::new(Untrained { len: texts.len(), recipe: *recipe });
                Ok(ModelOverTexts { scores, item_list: None, notes: Vec::new() })
            }
        }
    }
}

/// The pairs to choose a threshold on, under the same score.
fn calibration(
    sample: &SentencePairs,
    dataset: &str,
    score: impl FnOnce(&[String]) -> Result<Arc<dyn Oracle>, LoadError>,
) -> Result<Calibration, LoadError> {
    Ok(Calibration {
        oracle: Some(score(sample.sentences())?),
        description: format!("cross-encoder over {} `{dataset}` pairs to learn from", sample.len()),
        pairs: sample.pairs().to_vec(),
        labels: sample.targets().iter().map(|&target| target > 0.5).collect(),
    })
}

fn prepare(
    wanted: &CrossEncoderConfig,
    dataset: &str,
    loaded: &Pairs,
    base: &ModelFiles,
    libtorch: &Models,
    opening: &Opening<'_>,
) -> Result<(Prepared, Vec<Epoch>), LoadError> {
    let Some(params) = wanted.fine_tune else { return Ok((Prepared::Ready(base.clone()), Vec::new())) };
    if loaded.train.is_empty() {
        return Err(LoadError::NothingToLearnFrom(dataset.to_owned()));
    }
    let recipe = FineTune {
        base,
        dataset,
        train: labeled(&loaded.train),
        // a sample of the pairs to judge by reduces no training: epochs are judged by all of them
        dev: labeled(&loaded.all),
        target: if loaded.are_graded { Target::Grade } else { Target::Label },
        params,
        max_length: wanted.max_length.unwrap_or(TAUGHT_LENGTH),
        seed: opening.run.seed,
        checkpoint_every: CHECKPOINT_EVERY,
    };
    let models = ModelFiles::models_folder(None);
    let tuned = match (recipe.finished(&models).map_err(NeuralError::from)?, opening.preparation.training) {
        (Some(tuned), _) => tuned,
        (None, Training::Now) => train(&recipe, &models, libtorch, &wanted.model, loaded, opening.preparation.quiet)?,
        (None, Training::Later { sample }) => {
            let plan = training_plan(&recipe, libtorch, sample)?;
            let recipe = recipe.recipe().map_err(NeuralError::from)?;
            return Ok((Prepared::ToBeTrained { recipe, plan }, Vec::new()));
        }
    };
    Ok((Prepared::Ready(tuned.files), tuned.curve))
}

/// Stand-in for a model that a dry run may not train: its shape is known, its scores are not.
struct Untrained {
    len: usize,
    recipe: Identity,
}

impl Oracle for Untrained {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.len, Symmetry::Asymmetric)
    }

    fn identity(&self) -> Identity {
        self.recipe
    }

    fn evaluate(&self, pairs: &[Pair], _: &mut [f64]) -> Result<(), OracleError> {
        let what = format!("{} pairs of a model that is not fine-tuned yet", pairs.len());
        Err(OracleError::Failed { what, source: "run the configuration to fine-tune it".into() })
    }
}
