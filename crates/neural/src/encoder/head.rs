//! A head on the first token's hidden state: pooler and classifier, as the files of fine-tuned models name them.
//!
//! BERT: `classifier(tanh(pooler(h)))`; RoBERTa: `out_proj(tanh(dense(h)))`. Both are two matrices with a tanh between.

use std::collections::BTreeMap;

use landmark_core::oracle::Identity;
use landmark_core::stream::Rng;
use landmark_oracles::neural::{ModelFiles, Precision};
use rand::Rng as _;
use tch::{Device, Kind, Tensor};

use super::linear::Linear;
use super::network::{identity, read_config, unstacked};
use super::{Architecture, DropoutRates, Encoder, EncoderConfig, ModelError, TokenBatch, Weights};

#[derive(Debug)]
pub struct Classifier {
    encoder: Encoder,
    pooler: Linear,
    output: Linear,
    identity: Identity,
}

fn names(architecture: Architecture) -> (&'static str, &'static str) {
    match architecture {
        Architecture::Bert => ("pooler.dense", "classifier"),
        Architecture::Roberta => ("classifier.dense", "classifier.out_proj"),
    }
}

const FRESH: f64 = 0.02;

impl Classifier {
    /// Reads a model that was fine-tuned, for use as it is.
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

    /// Reads a model to be fine-tuned; a head that the file lacks is drawn from `rng`.
    pub(crate) fn fresh(
        files: &ModelFiles,
        device: Device,
        precision: Precision,
        outputs: i64,
        rng: &mut Rng,
    ) -> Result<Self, ModelError> {
        if precision == Precision::Int8 {
            return Err(ModelError::Int8 { asked: "this is fine-tuning" });
        }
        let config = read_config(files)?;
        let weights = Weights::of(files, device)?;
        let (pooler, output) = names(config.architecture);
        let hidden = config.hidden;
        let mut linear = |name: &str, rows: i64| {
            if weights.rows(&format!("{name}.weight")) == Some(rows) {
                return Linear::read(&weights, name, [rows, hidden]);
            }
            let weight = normal(rows * hidden, rng)?.f_view([rows, hidden])?.f_to_device(device)?;
            Ok::<_, ModelError>(Linear::new(weight, Tensor::f_zeros([rows], (Kind::Float, device))?))
        };
        let (pooler, output) = (linear(pooler, hidden)?, linear(output, outputs)?);
        let encoder = Encoder::new(config, &weights, device, precision)?;
        Ok(Self { encoder, pooler, output, identity: Identity::of(&[]) })
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

    /// The same weights under another owner, for another thread: a tensor may be handed over, but not looked at by two.
    pub(crate) fn shared(&self) -> Self {
        Self {
            encoder: self.encoder.shared(),
            pooler: self.pooler.shared(),
            output: self.output.shared(),
            identity: self.identity,
        }
    }

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
    pub fn logits(&self, batch: &TokenBatch, dropout: DropoutRates) -> Result<Tensor, ModelError> {
        let training = dropout != DropoutRates::default();
        // the head is small: it is computed in f32 always
        let first = self.encoder.first_states(batch, dropout)?.f_to_kind(Kind::Float)?;
        let first = match self.encoder.config().architecture {
            Architecture::Bert => first,
            Architecture::Roberta => first.f_dropout(dropout.hidden, training)?,
        };
        let pooled = self.pooler.apply(&first)?.f_tanh()?.f_dropout(dropout.hidden, training)?;
        self.output.apply(&pooled)
    }

    /// All tensors by name, for training; query, key and value are one.
    pub(crate) fn visit<'a>(&'a mut self, visit: &mut dyn FnMut(String, &'a mut Tensor)) {
        let (pooler, output) = names(self.encoder.config().architecture);
        self.encoder.visit(visit);
        self.pooler.visit(pooler, visit);
        self.output.visit(output, visit);
    }

    /// Writes weights that [`open`](Self::open) reads.
    pub(crate) fn write(tensors: BTreeMap<String, Tensor>, path: &std::path::Path) -> Result<(), ModelError> {
        Weights::write(&unstacked(tensors)?, path)
    }
}

/// Normal numbers by the method of Box and Muller.
fn normal(count: i64, rng: &mut Rng) -> Result<Tensor, ModelError> {
    let mut draw = |_: i64| {
        let (u, v): (f64, f64) = (1.0 - rng.r#gen::<f64>(), rng.r#gen());
        FRESH * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let values: Vec<f64> = (0..count).map(&mut draw).collect();
    Ok(Tensor::f_from_slice(&values)?.f_to_kind(Kind::Float)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Sequence;

    /// Gradients of the sum of a batch's logits.
    fn gradients(classifier: &mut Classifier, sequences: &[&Sequence]) -> Vec<Tensor> {
        let mut leaves = Vec::new();
        classifier.visit(&mut |_, tensor| {
            *tensor = tensor.detach().set_requires_grad(true);
            leaves.push(tensor.shallow_clone());
        });
        let batch = TokenBatch::new(sequences.iter().copied());
        let sum = classifier.logits(&batch, DropoutRates::default()).unwrap().sum(Kind::Float);
        Tensor::f_run_backward(&[&sum], &leaves, false, false).unwrap()
    }

    #[test]
    fn the_gradient_of_a_batch_of_several_lengths_is_the_sum_of_its_sequences() {
        let mut classifier = Classifier::open(&ModelFiles::tiny(), Device::Cpu, Precision::F32).unwrap();
        let sequence = |length: i64, step: i64| {
            let ids: Vec<i64> = (0..length).map(|t| (7 + step * t) % 120).collect();
            Sequence { types: vec![0; ids.len()], ids, cut: 0 }
        };
        let sequences = [sequence(5, 3), sequence(5, 11), sequence(2, 1), sequence(17, 5), sequence(5, 7)];
        let together = gradients(&mut classifier, &sequences.each_ref());
        let alone: Vec<Vec<Tensor>> = sequences.iter().map(|one| gradients(&mut classifier, &[one])).collect();
        for (k, wanted) in together.iter().enumerate() {
            let sum = alone.iter().fold(wanted.zeros_like(), |sum, of_one| sum + &of_one[k]);
            let off = f64::try_from((wanted - sum).abs().max()).unwrap();
            let size = f64::try_from(wanted.abs().max()).unwrap();
            assert!(off <= 1e-5 * (1.0 + size), "tensor {k}: {off} of {size}");
        }
    }
}
