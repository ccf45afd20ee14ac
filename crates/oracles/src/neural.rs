//! Models that need libtorch, as the rest of the workspace sees them: what may be asked of them ([`Neural`]), with which settings, and
//! the library that answers ([`open`]).
//!
//! Nothing here knows libtorch. What does is `landmark-neural`, a shared object that is loaded at the first need.

use std::error::Error;
use std::path::Path;

use landmark_data::MentionCorpus;

mod coreference;
mod device;
mod error;
mod files;
mod fine_tune;
mod library;
mod pair_scorer;
mod params;
mod text_scorer;

pub use coreference::{Goal, Group, ScorerEpoch, ScorerParams, SpanRows, candidate_spans};
pub use device::{DeviceChoice, TorchReport, UnknownDevice};
pub use error::{ModelFileError, NeuralError};
pub use files::{KNOWN_MODELS, KnownFile, KnownModel, MODELS_VARIABLE, ModelFiles};
pub use fine_tune::{CURVE, FineTune, FineTuned, LabelledPairs};
pub use library::{OpenFunction, STAMP, StampFunction, Warn, open};
pub use pair_scorer::{PairLayers, PairScorer};
pub use params::{CrossEncoderParams, Epoch, FineTuneParams, Loss, Precision, Score, Target, TuningProgress, sigmoid};
pub use text_scorer::TextScorer;

/// The environment variable that names the library's file.
pub const LIBRARY_VARIABLE: &str = "LANDMARK_NEURAL";

/// The environment variable with which the Python package states how to get the libtorch that is missing.
pub(crate) const NEXT_STEP_VARIABLE: &str = "LANDMARK_NEURAL_NEXT_STEP";

/// libtorch on the device and with the threads that it was opened for.
///
/// Every method fails with [`NeuralError`]: a model's files, the device's memory, libtorch. No panic leaves it. A panic of a callback
/// may not enter it either: that ends the program.
pub trait Neural: Send + Sync {
    /// libtorch's version and build, for the provenance of a result.
    fn report(&self) -> TorchReport;

    /// The shape of a model whose configuration and tokenizer fit each other.
    fn shape(&self, files: &ModelFiles) -> Result<ModelShape, NeuralError>;

    /// A model with a head over n texts, each pair in the order in which it is asked for, by every GPU or every thread.
    fn cross_encoder(
        &self,
        files: &ModelFiles,
        texts: &[String],
        params: CrossEncoderParams,
    ) -> Result<TextScorer, NeuralError>;

    /// Mean hidden states of n texts at length 1: n × hidden, text after text.
    fn embeddings(&self, files: &ModelFiles, texts: &[String]) -> Result<Vec<f64>, NeuralError>;

    /// Trains below the folder of models, resumes a training that was interrupted, or finds its result.
    fn fine_tune(
        &self,
        recipe: &FineTune<'_>,
        models: &Path,
        on_progress: &mut dyn FnMut(TuningProgress<'_>),
    ) -> Result<FineTuned, NeuralError>;

    /// Returns the seconds per training step, measured on `steps` steps whose result is discarded.
    fn time_training(&self, recipe: &FineTune<'_>, steps: usize) -> Result<f64, NeuralError>;

    /// States of a corpus's words, computed once and kept in `folder`; `progress` hears (documents done, all).
    fn token_states(
        &self,
        corpus: &MentionCorpus,
        encoder: &EncoderChoice,
        folder: &Path,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Box<dyn TokenStates>, NeuralError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelShape {
    pub layers: usize,
    /// Length of a hidden state.
    pub hidden: i64,
    pub heads: i64,
    pub positions: i64,
    pub vocabulary: i64,
}

/// The encoder of a corpus, and how much of a document it sees at once.
#[derive(Debug, Clone)]
pub struct EncoderChoice {
    pub files: ModelFiles,
    /// Tokens of a segment, special ones included; the model's own limit if that is lower.
    pub window: usize,
    /// Numbers that products are computed in.
    pub precision: Precision,
}

/// Frozen states of the words of a corpus, and what is learned on them.
pub trait TokenStates {
    /// The rows of the words `start..=end` of a document; none where they are not in a validated sentence.
    fn span(&self, document: usize, start: usize, end: usize) -> Option<SpanRows>;

    /// Trains below `folder`, resumes a training that was interrupted, or finds its result. The epoch that `judge` likes best is
    /// the result.
    ///
    /// # Errors
    /// [`NeuralError`]: nothing to learn from, a loss that is no number, the disk, libtorch, the judge.
    fn train(
        &self,
        recipe: &ScorerRecipe<'_>,
        folder: &Path,
        judge: &mut ScorerJudge<'_>,
        on_epoch: &mut dyn FnMut(&ScorerEpoch),
    ) -> Result<(Box<dyn MentionScorer>, Vec<ScorerEpoch>), NeuralError>;
}

/// A figure of the development part, higher is better.
pub type ScorerJudge<'a> = dyn FnMut(&dyn MentionScorer) -> Result<f64, Box<dyn Error + Send + Sync>> + 'a;

#[derive(Debug, Clone, Copy)]
pub struct ScorerRecipe<'a> {
    /// The question it learns to answer.
    pub goal: Goal,
    pub params: ScorerParams,
    /// The spans it learns from, topic by topic.
    pub groups: &'a [Group],
    /// A name for the random streams and the folder.
    pub dataset: &'a str,
    pub seed: u64,
}

/// A scorer of spans or of pairs of them, trained or being trained.
pub trait MentionScorer {
    /// Scores before the sigmoid: how sure it is that each span is a mention.
    fn mention_scores(&self, spans: &[SpanRows]) -> Result<Vec<f32>, NeuralError>;

    /// Representations of spans, n × d, span after span.
    fn represent(&self, spans: &[SpanRows]) -> Result<Vec<f32>, NeuralError>;

    /// The layers of a [`PairScorer`], which needs libtorch no more.
    fn pair_layers(&self) -> Result<PairLayers, NeuralError>;
}
