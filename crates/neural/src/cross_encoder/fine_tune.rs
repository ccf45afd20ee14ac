//! Fine-tuning: a head is added to a pre-trained encoder, and both learn from labeled pairs.
//!
//! AdamW (Loshchilov & Hutter 2019) on f32 weights, products in bfloat16 where the processor has instructions for it;
//! learning rate up for the first share of the steps, then down to 0, both linearly; the gradient's norm clipped; batches of
//! similar length, their order random; the two texts of a pair in random order, so that the score is nearly symmetric.
//!
//! Only the embeddings of words that occur are trained: those of the others would get no gradient. That is the same result
//! for a third of the optimizer's memory and time.
//!
//! After each epoch, and every few minutes inside one, everything that the next steps depend on is written to one file, atomically:
//! a run that is killed resumes from there and ends with the same weights. Same seed, same machine, same weights; another processor
//! rounds differently, so what identifies the result is the digest of its weights, not its recipe.
//!
//! libtorch draws dropout from a generator whose state cannot be read. It is seeded at the start of an epoch, so a training that
//! resumes inside one repeats the forward passes before that step, which draw the same numbers: about a third of the lost time.

use std::path::Path;
use std::time::Instant;

use landmark_core::stats::pearson;
use landmark_core::stream::{Rng, stream};
use landmark_oracles::neural::{
    CURVE, Epoch, FineTune, FineTuned, LabelledPairs, Loss, ModelFiles, Precision, Target, TuningProgress, sigmoid,
};
use rand::Rng as _;
use rand::seq::SliceRandom;
use tch::{Device, Kind, Reduction, Tensor};

use crate::adamw::{AdamW, AdamWParams};
use crate::encoder::{Batcher, Classifier, DropoutRates, ModelError, Sequence, TokenBatch, Tokenizer};
use crate::warning::warn;

mod average;
mod checkpoint;
mod trainable;

use average::Average;
use checkpoint::{Checkpoint, PartOfEpoch};
use trainable::Trainable;

/// Trains, or resumes a training that was interrupted, or finds the result of one that was not. `on_progress` hears of
/// each step and each epoch as it ends.
pub fn fine_tune(
    recipe: &FineTune<'_>,
    models: &Path,
    device: Device,
    on_progress: &mut dyn FnMut(TuningProgress<'_>),
) -> Result<FineTuned, ModelError> {
    if let Some(finished) = recipe.finished(models)? {
        return Ok(finished);
    }
    let folder = recipe.folder(models)?;
    std::fs::create_dir_all(&folder).map_err(ModelError::io(&folder))?;
    let mut training = Training::fresh(recipe, &folder, device)?;
    training.resume(device)?;
    while !training.is_over() {
        let epoch = training.epoch(on_progress)?;
        on_progress(TuningProgress::Epoch(&epoch));
    }
    let curve = training.curve;
    checkpoint::finish(recipe.base, &folder, &serde_json::to_vec_pretty(&curve).unwrap_or_default(), CURVE)?;
    Ok(FineTuned { files: ModelFiles::at(folder)?, curve })
}

/// Returns the seconds per step, measured on `steps` steps of the first epoch after one that warms up. Nothing is written, and
/// every epoch seeds its own generators, so a later training is not affected.
pub fn time_training(recipe: &FineTune<'_>, device: Device, steps: usize) -> Result<f64, ModelError> {
    let mut training = Training::fresh(recipe, Path::new(""), device)?;
    let batches = training.batches(&mut training.draws_of_epoch(1));
    let mut start = Instant::now();
    for (k, batch) in batches.iter().cycle().take(steps + 1).enumerate() {
        training.step(batch, recipe.params.learning_rate)?;
        if k == 0 {
            start = Instant::now();
        }
    }
    Ok(start.elapsed().as_secs_f64() / steps.max(1) as f64)
}

fn sequences(
    recipe: &FineTune<'_>,
    tokenizer: &Tokenizer,
    part: &LabelledPairs<'_>,
) -> Result<Vec<PairTokens>, ModelError> {
    let tokens = part.texts.iter().map(|text| tokenizer.text(text)).collect::<Result<Vec<_>, _>>()?;
    let pair = |(&(i, j), &target): (&(usize, usize), &f64)| PairTokens {
        forward: tokenizer.pair(&tokens[i], &tokens[j], recipe.max_length),
        backward: tokenizer.pair(&tokens[j], &tokens[i], recipe.max_length),
        target,
    };
    Ok(part.pairs.iter().zip(part.targets).map(pair).collect())
}

struct PairTokens {
    forward: Sequence,
    backward: Sequence,
    target: f64,
}

/// Precision where none is set: bf16 where there are instructions for it.
fn quick_precision(device: Device) -> Precision {
    if device.is_cuda() || Precision::Bf16.is_native() { Precision::Bf16 } else { Precision::F32 }
}

struct Training<'a> {
    recipe: &'a FineTune<'a>,
    folder: &'a Path,
    model: Trainable,
    optimizer: AdamW,
    average: Option<Average>,
    dropout: DropoutRates,
    train: Vec<PairTokens>,
    dev: Vec<PairTokens>,
    curve: Vec<Epoch>,
    /// The part of the current epoch that a checkpoint holds.
    done: PartOfEpoch,
}

impl<'a> Training<'a> {
    fn fresh(recipe: &'a FineTune<'a>, folder: &'a Path, device: Device) -> Result<Self, ModelError> {
        let params = &recipe.params;
        let tokenizer = Tokenizer::open(recipe.base)?;
        let mut train = sequences(recipe, &tokenizer, &recipe.train)?;
        let mut dev = sequences(recipe, &tokenizer, &recipe.dev)?;
        let mut rng = stream(recipe.seed, recipe.dataset, "fresh head", 0);
        let precision = params.precision.unwrap_or_else(|| quick_precision(device));
        let classifier = Classifier::fresh(recipe.base, device, precision, 1, &mut rng)?;
        let config = classifier.encoder().config();
        let dropout = DropoutRates {
            hidden: params.dropout.unwrap_or(config.hidden_dropout),
            attention: params.dropout.unwrap_or(config.attention_dropout),
        };
        let all = train.iter_mut().chain(&mut dev).flat_map(|pair| [&mut pair.forward, &mut pair.backward]);
        let model = Trainable::new(classifier, all)?;
        let optimizer = AdamWParams { weight_decay: params.weight_decay, clip: params.clip, ..AdamWParams::default() };
        let optimizer = AdamW::new(optimizer, model.parameters())?;
        let average = params.average.map(|share| Average::new(share, &model)).transpose()?;
        let (curve, done) = (Vec::new(), PartOfEpoch::default());
        Ok(Self { recipe, folder, model, optimizer, average, dropout, train, dev, curve, done })
    }

    /// Takes over the checkpoint in the folder, if there is one.
    fn resume(&mut self, device: Device) -> Result<(), ModelError> {
        if let Some(checkpoint) = Checkpoint::read(self.folder, device)? {
            self.model.load(&checkpoint.weights)?;
            self.average.as_mut().map_or(Ok(()), |average| average.load(&checkpoint.average))?;
            self.optimizer.load(&checkpoint.first, &checkpoint.second, checkpoint.steps)?;
            (self.curve, self.done) = (checkpoint.curve, checkpoint.done);
        }
        Ok(())
    }

    fn write_checkpoint(&self) -> Result<(), ModelError> {
        let average = self.average.as_ref().map_or(&[][..], Average::weights);
        Checkpoint::write(self.folder, &self.model, &self.optimizer, average, (&self.curve, &self.done))
    }

    fn is_over(&self) -> bool {
        let since_best = self.curve.len() - best(&self.curve).map_or(0, |epoch| epoch.number);
        self.curve.len() >= self.recipe.params.epochs
            || self.recipe.params.patience.is_some_and(|patience| since_best >= patience)
    }

    /// Trains on every pair once, looks at the development pairs, and writes the checkpoint.
    fn epoch(&mut self, on_progress: &mut dyn FnMut(TuningProgress<'_>)) -> Result<Epoch, ModelError> {
        let params = self.recipe.params;
        let number = self.curve.len() + 1;
        let batches = self.batches(&mut self.draws_of_epoch(number));
        let (all, steps) = (batches.len(), batches.len() * params.epochs);
        let (before, rest) = batches.split_at(self.done.steps.min(all));
        self.repeat_dropout(before)?;
        let (start, seconds_before) = (Instant::now(), self.done.seconds);
        let mut written = start;
        for batch in rest {
            let rate = params.learning_rate * params.schedule((number - 1) * all + self.done.steps, steps);
            self.done.loss += self.step(batch, rate)? * batch.len() as f64;
            self.done.steps += 1;
            self.done.seconds = seconds_before + start.elapsed().as_secs_f64();
            if self.done.steps < all && written.elapsed() >= self.recipe.checkpoint_every {
                self.write_checkpoint()?;
                written = Instant::now();
            }
            let PartOfEpoch { steps: done, seconds, .. } = self.done;
            on_progress(TuningProgress::Steps { epoch: number, done, all, seconds });
        }
        let PartOfEpoch { loss, seconds, .. } = std::mem::take(&mut self.done);
        let loss = loss / self.train.len().max(1) as f64;
        if !loss.is_finite() {
            let message = format!("the loss of epoch {number} is {loss}; lower `fine_tune.learning_rate`");
            return Err(ModelError::Torch(tch::TchError::Torch(message)));
        }
        self.take_turns()?;
        let (score, both_orders) = self.scores()?;
        let epoch = Epoch { number, loss, score, both_orders: Some(both_orders), seconds };
        if best(&self.curve).is_none_or(|best| epoch.score > best.score) {
            checkpoint::keep_best(&self.model, self.folder)?;
        }
        self.take_turns()?;
        self.curve.push(epoch);
        self.write_checkpoint()?;
        Ok(epoch)
    }

    /// The stream of an epoch. It seeds libtorch, which draws dropout, so an epoch does not depend on those before it.
    fn draws_of_epoch(&self, number: usize) -> Rng {
        let mut rng = stream(self.recipe.seed, self.recipe.dataset, "fine-tuning", number as u64);
        tch::manual_seed(rng.r#gen::<i64>() & i64::MAX);
        rng
    }

    /// Draws the dropout of steps that a checkpoint holds already.
    fn repeat_dropout(&self, batches: &[Vec<(usize, bool)>]) -> Result<(), ModelError> {
        if self.dropout == DropoutRates::default() {
            return Ok(());
        }
        let _no_gradients = tch::no_grad_guard();
        batches.iter().try_for_each(|batch| self.logits(batch).map(drop))
    }

    /// The mean of the weights, where one is kept, stands in for them, until it is called again.
    fn take_turns(&mut self) -> Result<(), ModelError> {
        self.average.as_mut().map_or(Ok(()), |average| average.exchange(&mut self.model))
    }

    /// Batches of similar length in random order: (pair, whether its texts change places).
    fn batches(&self, rng: &mut Rng) -> Vec<Vec<(usize, bool)>> {
        let params = &self.recipe.params;
        let mut order: Vec<(usize, bool)> =
            (0..self.train.len()).map(|k| (k, params.random_order && rng.r#gen::<bool>())).collect();
        order.shuffle(rng);
        let mut batches = Vec::with_capacity(order.len().div_ceil(params.batch));
        for pool in order.chunks_mut(BATCHES_OF_A_POOL * params.batch) {
            pool.sort_by_key(|&(k, _)| self.train[k].forward.ids.len());
            batches.extend(pool.chunks(params.batch).map(<[_]>::to_vec));
        }
        batches.shuffle(rng);
        batches
    }

    /// One step of the optimizer; the loss before it. A batch that the device has no room for is halved, its gradients added.
    fn step(&mut self, batch: &[(usize, bool)], rate: f64) -> Result<f64, ModelError> {
        let (loss, gradients) = self.gradients(batch)?;
        self.optimizer.step(&gradients, rate)?;
        let steps = self.optimizer.state().2;
        self.average.as_mut().map_or(Ok(()), |average| average.step(&self.model, steps))?;
        Ok(loss)
    }

    fn gradients(&self, batch: &[(usize, bool)]) -> Result<(f64, Vec<Tensor>), ModelError> {
        match self.gradients_at_once(batch) {
            Err(error) if error.is_out_of_memory() && batch.len() > 1 => {
                warn(&format!("no memory to train on {} pairs at once; continues in halves", batch.len()));
                let (left, right) = batch.split_at(batch.len() / 2);
                let share = |part: &[(usize, bool)]| part.len() as f64 / batch.len() as f64;
                let (a, b) = (self.gradients(left)?, self.gradients(right)?);
                let mean = |(x, y): (&Tensor, &Tensor)| Ok((x * share(left)).f_add(&(y * share(right)))?);
                let gradients = a.1.iter().zip(&b.1).map(mean).collect::<Result<_, ModelError>>()?;
                Ok((a.0 * share(left) + b.0 * share(right), gradients))
            }
            other => other,
        }
    }

    fn logits(&self, batch: &[(usize, bool)]) -> Result<Tensor, ModelError> {
        let sequence = |&(k, swapped): &(usize, bool)| {
            if swapped { &self.train[k].backward } else { &self.train[k].forward }
        };
        let tokens = TokenBatch::new(batch.iter().map(sequence));
        self.model.classifier().logits(&tokens, self.dropout)
    }

    fn gradients_at_once(&self, batch: &[(usize, bool)]) -> Result<(f64, Vec<Tensor>), ModelError> {
        let outputs = self.logits(batch)?.f_squeeze_dim(1)?;
        let targets: Vec<f64> = batch.iter().map(|&(k, _)| self.train[k].target).collect();
        let targets = Tensor::f_from_slice(&targets)?.f_to_kind(Kind::Float)?.f_to_device(outputs.device())?;
        let loss = match self.recipe.params.loss {
            Loss::Bce => outputs.f_binary_cross_entropy_with_logits::<Tensor>(&targets, None, None, Reduction::Mean)?,
            Loss::Mse => outputs.f_mse_loss(&targets, Reduction::Mean)?,
        };
        let gradients = Tensor::f_run_backward(&[&loss], &self.model.parameters(), false, false)?;
        Ok((loss.f_double_value(&[])?, gradients))
    }

    /// Pearson's correlation or accuracy on the development pairs: as given, and of the mean of both orders.
    fn scores(&self) -> Result<(f64, f64), ModelError> {
        let forward = self.outputs(|pair| &pair.forward)?;
        let backward = self.outputs(|pair| &pair.backward)?;
        let mean: Vec<f64> = forward.iter().zip(&backward).map(|(x, y)| f64::midpoint(*x, *y)).collect();
        Ok((self.judge(&forward), self.judge(&mean)))
    }

    fn outputs(&self, order: impl Fn(&PairTokens) -> &Sequence) -> Result<Vec<f64>, ModelError> {
        let classifier = self.model.classifier();
        let _no_gradients = tch::no_grad_guard();
        let sequences: Vec<Sequence> = self.dev.iter().map(|pair| order(pair).clone()).collect();
        let outputs = Batcher::new(classifier.encoder().device()).run(&sequences, |batch| {
            let outputs = classifier.logits(batch, DropoutRates::default())?.f_squeeze_dim(1)?;
            Ok(Vec::<f32>::try_from(outputs.f_to_device(Device::Cpu)?)?)
        })?;
        Ok(match self.recipe.params.loss {
            Loss::Bce => outputs.iter().map(|&x| sigmoid(f64::from(x))).collect(),
            Loss::Mse => outputs.iter().map(|&x| f64::from(x)).collect(),
        })
    }

    fn judge(&self, scores: &[f64]) -> f64 {
        let targets: Vec<f64> = self.dev.iter().map(|pair| pair.target).collect();
        match self.recipe.target {
            Target::Grade => pearson(scores, &targets).unwrap_or(0.0),
            Target::Label => {
                let right = scores.iter().zip(&targets).filter(|(score, target)| (**score > 0.5) == (**target > 0.5));
                right.count() as f64 / targets.len().max(1) as f64
            }
        }
    }
}

/// Batches that are sorted by length together: enough that many are of one length, few enough that a batch is a random one.
const BATCHES_OF_A_POOL: usize = 50;

fn best(curve: &[Epoch]) -> Option<&Epoch> {
    curve.iter().reduce(|best, epoch| if epoch.score > best.score { epoch } else { best })
}
