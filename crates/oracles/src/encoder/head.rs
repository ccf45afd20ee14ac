//! A head on the first token's hidden state: pooler and classifier, as the files of fine-tuned models name them.
//!
//! BERT: `classifier(tanh(pooler(h)))`; RoBERTa: `out_proj(tanh(dense(h)))`. Both are two matrices with a tanh between.

use landmark_core::oracle::Identity;
use tch::{Device, Kind, Tensor};

use super::network::{Linear, identity, read_config};
use super::{Architecture, Dropout, Encoder, EncoderConfig, ModelError, ModelFiles, Precision, TokenBatch, Weights};

/// An encoder with a classification head.
#[derive(Debug)]
pub struct Classifier {
    encoder: Encoder,
    pooler: Linear,
    output: Linear,
    identity: Identity,
}

/// Where the two matrices of a head are named.
fn names(architecture: Architecture) -> (&'static str, &'static str) {
    match architecture {
        Architecture::Bert => ("pooler.dense", "classifier"),
        Architecture::Roberta => ("classifier.dense", "classifier.out_proj"),
    }
}

impl Classifier {
    /// Reads a model that was fine-tuned, for use as it is.
    ///
    /// # Errors
    /// As [`Encoder::open`]; [`ModelError::NoHead`].
    pub fn open(files: &ModelFiles, device: Device, precision: Precision) -> Result<Self, ModelError> {
        let config = read_config(files)?;
        let weights = Weights::of(files, device)?;
        let (_, output) = names(config.architecture);
        let outputs =
            weights.rows(&format!("{output}.weight")).ok_or_else(|| ModelError::NoHead { path: files.weights() })?;
        let mut classifier = Self::read(config, &weights, device, precision, outputs)?;
        classifier.identity = identity(files, precision)?;
        classifier.encoder.freeze()?;
        Ok(classifier)
    }

    fn read(
        config: EncoderConfig,
        weights: &Weights,
        device: Device,
        precision: Precision,
        outputs: i64,
    ) -> Result<Self, ModelError> {
        let (pooler, output) = names(config.architecture);
        let hidden = config.hidden;
        Ok(Self {
            pooler: Linear::read(weights, pooler, [hidden, hidden])?,
            output: Linear::read(weights, output, [outputs, hidden])?,
            encoder: Encoder::new(config, weights, device, precision)?,
            identity: Identity::of(&[]),
        })
    }

    /// The encoder below.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// A digest of weights, configuration, tokenizer and precision.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Number of outputs: 1 for a regression, else one a class.
    pub fn outputs(&self) -> i64 {
        self.output.bias.size()[0]
    }

    /// Outputs before any sigmoid or softmax: batch × outputs, f32.
    ///
    /// # Errors
    /// As [`Encoder::hidden_states`].
    pub fn logits(&self, batch: &TokenBatch, dropout: Dropout) -> Result<Tensor, ModelError> {
        let training = dropout != Dropout::default();
        let states = self.encoder.hidden_states(batch, dropout)?;
        // the head is small: it is computed in f32 always
        let first = states.f_select(1, 0)?.f_to_kind(Kind::Float)?;
        let first = match self.encoder.config().architecture {
            Architecture::Bert => first,
            Architecture::Roberta => first.f_dropout(dropout.hidden, training)?,
        };
        let pooled = self.pooler.apply(&first)?.f_tanh()?.f_dropout(dropout.hidden, training)?;
        self.output.apply(&pooled)
    }
}
