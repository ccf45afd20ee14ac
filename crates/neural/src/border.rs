//! Border of the shared object: [`Neural`] on libtorch, behind two symbols.
//!
//! No panic crosses it: each side has a standard library of its own, which takes the other's panics for foreign exceptions.

use std::borrow::Borrow;
use std::error::Error;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_data::MentionCorpus;
use landmark_oracles::neural::{
    CrossEncoderParams, DeviceChoice, EncoderChoice, FineTune, FineTuned, MentionScorer, ModelFiles, ModelShape,
    Neural, NeuralError, PairLayers, Precision, STAMP, ScorerEpoch, ScorerJudge, ScorerRecipe, SpanRows, TextScorer,
    TorchReport, TuningProgress, Warn,
};
use tch::{Device, Tensor};

use crate::coref::{Network, TokenStates, Training};
use crate::cross_encoder::{CrossEncoder, fine_tune, time_training};
use crate::encoder::{Encoder, EncoderConfig, ModelError, Tokenizer};
use crate::torch::Torch;
use crate::warning;

#[unsafe(no_mangle)]
pub extern "C" fn landmark_neural_stamp() -> *const c_char {
    STAMP.as_ptr()
}

/// libtorch made ready.
#[unsafe(no_mangle)]
pub fn landmark_neural_open(
    device: DeviceChoice,
    threads: Option<usize>,
    warn: Warn,
) -> Result<Arc<dyn Neural>, NeuralError> {
    guarded(|| {
        warning::listen(warn);
        Ok::<_, Box<dyn Error + Send + Sync>>(Arc::new(OnTorch::start(device, threads)?) as Arc<dyn Neural>)
    })
}

/// Result of some work; its panics are errors.
fn guarded<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<T, NeuralError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer.map_err(|error| NeuralError::Failed(error.into())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(NeuralError::Panicked(text.unwrap_or_else(|| "no message".to_owned())))
        }
    }
}

struct OnTorch {
    torch: Torch,
    /// Every GPU for `auto` where there are several; else the one device that is named.
    devices: Vec<Device>,
    threads: Option<usize>,
}

impl OnTorch {
    fn start(choice: DeviceChoice, threads: Option<usize>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let torch = Torch::start()?;
        let devices = if choice == DeviceChoice::Auto && torch.gpus() > 1 {
            (0..torch.gpus()).map(Device::Cuda).collect()
        } else {
            vec![torch.device(choice)?]
        };
        let started = Self { torch, devices, threads };
        started.share_cores();
        Ok(started)
    }

    /// Every operation may use all threads; a cross-encoder's lanes leave it at one.
    fn share_cores(&self) {
        if let Some(threads) = self.threads {
            tch::set_num_threads(i32::try_from(threads).unwrap_or(1));
        }
    }

    fn device(&self) -> Device {
        self.devices.first().copied().unwrap_or(Device::Cpu)
    }
}

impl Neural for OnTorch {
    fn report(&self) -> TorchReport {
        self.torch.report()
    }

    fn shape(&self, files: &ModelFiles) -> Result<ModelShape, NeuralError> {
        guarded(|| {
            let config = EncoderConfig::parse(&files.config_bytes()?, &files.config())?;
            Tokenizer::open(files)?;
            let EncoderConfig { layers, hidden, heads, positions, vocabulary, .. } = config;
            Ok::<_, ModelError>(ModelShape { layers, hidden, heads, positions, vocabulary })
        })
    }

    fn cross_encoder(
        &self,
        files: &ModelFiles,
        texts: &[String],
        params: CrossEncoderParams,
    ) -> Result<TextScorer, NeuralError> {
        guarded(|| {
            // a lane a core
            let cores = vec![Device::Cpu; self.threads.unwrap_or(1)];
            let lanes = if self.device() == Device::Cpu { &cores } else { &self.devices };
            let oracle = CrossEncoder::open(files, texts, params, lanes)?;
            let (len, identity, cut, empty) = (oracle.len(), oracle.identity(), oracle.cut(), oracle.empty());
            let identity_apart_from_texts = oracle.identity_apart_from_texts();
            let (cut_pairs, longest) = (oracle.cut_pairs(), oracle.longest());
            let scores = move |pairs: &[Pair], out: &mut [f64]| {
                let what = || format!("{} pairs of a cross-encoder", pairs.len());
                let scored = guarded(|| Ok::<_, NeuralError>(oracle.evaluate(pairs, out)));
                scored.map_err(|panic| OracleError::Failed { what: what(), source: panic.into() })?
            };
            Ok::<_, ModelError>(TextScorer {
                len,
                identity,
                identity_apart_from_texts,
                scores: Box::new(scores),
                cut,
                cut_pairs,
                longest,
                empty,
            })
        })
    }

    fn embeddings(&self, files: &ModelFiles, texts: &[String]) -> Result<Vec<f64>, NeuralError> {
        guarded(|| {
            self.share_cores();
            let tokenizer = Tokenizer::open(files)?;
            let encoder = Encoder::open(files, self.device(), Precision::F32)?;
            let longest = encoder.config().longest();
            let sequence = |text: &String| Ok(tokenizer.single(&tokenizer.text(text)?, longest));
            let sequences = texts.iter().map(sequence).collect::<Result<Vec<_>, ModelError>>()?;
            Ok::<_, ModelError>(encoder.embeddings(&sequences)?.into_iter().collect())
        })
    }

    fn fine_tune(
        &self,
        recipe: &FineTune<'_>,
        models: &Path,
        on_progress: &mut dyn FnMut(TuningProgress<'_>),
    ) -> Result<FineTuned, NeuralError> {
        guarded(|| fine_tune(recipe, models, self.device(), on_progress))
    }

    fn time_training(&self, recipe: &FineTune<'_>, steps: usize) -> Result<f64, NeuralError> {
        guarded(|| time_training(recipe, self.device(), steps))
    }

    fn token_states(
        &self,
        corpus: &MentionCorpus,
        encoder: &EncoderChoice,
        folder: &Path,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Box<dyn landmark_oracles::neural::TokenStates>, NeuralError> {
        let states = guarded(|| TokenStates::find_or_compute(corpus, encoder, self.device(), folder, progress))?;
        Ok(Box::new(States { states, device: self.device() }))
    }
}

struct States {
    states: TokenStates,
    device: Device,
}

impl landmark_oracles::neural::TokenStates for States {
    fn span(&self, document: usize, start: usize, end: usize) -> Option<SpanRows> {
        self.states.span(document, start, end)
    }

    fn train(
        &self,
        recipe: &ScorerRecipe<'_>,
        folder: &Path,
        judge: &mut ScorerJudge<'_>,
        on_epoch: &mut dyn FnMut(&ScorerEpoch),
    ) -> Result<(Box<dyn MentionScorer>, Vec<ScorerEpoch>), NeuralError> {
        let &ScorerRecipe { goal, params, groups, dataset, seed } = recipe;
        let training = Training { goal, params, states: &self.states, groups, dataset, seed };
        let scorer = |network| Scorer { network, states: self.states.tensor().shallow_clone() };
        let mut judge = |network: &Network| judge(&Scorer { network, states: self.states.tensor().shallow_clone() });
        let trained = guarded(|| training.run(folder, self.device, &mut judge, on_epoch))?;
        Ok((Box::new(scorer(trained.network)), trained.curve))
    }
}

struct Scorer<N> {
    network: N,
    states: Tensor,
}

impl<N: Borrow<Network>> MentionScorer for Scorer<N> {
    fn mention_scores(&self, spans: &[SpanRows]) -> Result<Vec<f32>, NeuralError> {
        guarded(|| self.network.borrow().mention_scores(&self.states, spans))
    }

    fn represent(&self, spans: &[SpanRows]) -> Result<Vec<f32>, NeuralError> {
        guarded(|| self.network.borrow().represent(&self.states, spans))
    }

    fn pair_layers(&self) -> Result<PairLayers, NeuralError> {
        guarded(|| self.network.borrow().pair_layers())
    }
}
