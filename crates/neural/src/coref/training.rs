//! Training a scorer: Adam on binary cross-entropy, batches within a topic, every epoch written down.
//!
//! - [`Goal::Mentions`]: every candidate span of a topic, is it a gold mention?
//! - [`Goal::Pairs`]: all coreferent pairs of a topic in the order of the text, and `negatives` times as many of the others, drawn
//!   again in every epoch.
//!
//! Every draw follows from (seed, dataset, purpose, epoch). The checkpoint holds weights and moments, so a training that was
//! stopped continues after its last whole epoch and ends in the same weights. Settings: Cattan et al. 2021 (Adam 10⁻⁴, dropout 0.3,
//! batch 32, 10 epochs, hidden layers of 1024, width embedding of 20).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

use landmark_core::oracle::Identity;
use landmark_core::stream::{Rng, stream};
use landmark_oracles::neural::{Goal, Group, ModelFileError, ScorerEpoch, ScorerParams, SpanRows};
use rand::Rng as _;
use rand::seq::SliceRandom;
use tch::{Device, Reduction, Tensor};

use super::dropout::Dropout;
use super::network::{Network, Sizes};
use super::{CorefError, TokenStates};
use crate::adamw::{AdamW, AdamWParams, Rounding};
use crate::encoder::{ModelError, Weights};

#[derive(Debug)]
pub struct Trained {
    pub network: Network,
    pub curve: Vec<ScorerEpoch>,
}

#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    pub goal: Goal,
    pub params: ScorerParams,
    pub states: &'a TokenStates,
    pub groups: &'a [Group],
    pub dataset: &'a str,
    pub seed: u64,
}

/// A step's worth of examples of one topic.
struct Batch {
    group: usize,
    examples: Examples,
}

enum Examples {
    Spans(Vec<usize>),
    Pairs(Vec<(usize, usize)>),
}

impl Examples {
    fn len(&self) -> usize {
        match self {
            Self::Spans(spans) => spans.len(),
            Self::Pairs(pairs) => pairs.len(),
        }
    }
}

const ADAM: AdamWParams = AdamWParams {
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.0,
    clip: f64::INFINITY,
    rounding: Rounding::Plain,
};

const BEST: &str = "best.safetensors";
const CURVE: &str = "curve.json";

fn checkpoint(folder: &Path, epoch: usize) -> PathBuf {
    folder.join(format!("epoch-{epoch}.safetensors"))
}

/// Criterion of an epoch: a figure of the development part, higher is better.
pub type Judge<'a> = &'a mut dyn FnMut(&Network) -> Result<f64, Box<dyn std::error::Error + Send + Sync>>;

impl Training<'_> {
    fn sizes(&self) -> Sizes {
        Sizes { state: self.states.hidden(), hidden: self.params.hidden, width: self.params.width }
    }

    /// A digest of everything that moves the result but the rounding of the processor: it names the folder.
    pub fn recipe(&self) -> Identity {
        let mut hasher = blake3::Hasher::new();
        for group in self.groups {
            hasher.update(&(group.spans.len() as u64).to_le_bytes());
            for (span, cluster) in group.spans.iter().zip(&group.clusters) {
                let cluster = cluster.map_or(u64::MAX, |cluster| cluster as u64);
                for number in [span.first as u64, span.last as u64, span.words as u64, cluster] {
                    hasher.update(&number.to_le_bytes());
                }
            }
        }
        let params = serde_json::to_vec(&(self.params, self.goal)).unwrap_or_default();
        Identity::of(&[
            ("kind", b"coreference training v1"),
            ("states", self.states.identity().as_bytes()),
            ("params", &params),
            ("groups", hasher.finalize().as_bytes()),
            ("dataset", self.dataset.as_bytes()),
            ("seed", &self.seed.to_le_bytes()),
        ])
    }

    /// Trains below `folder`, resumes a training that was interrupted, or finds the result of one that was not. `judge` returns
    /// how good an epoch is (the best one is the result), `on_epoch` hears of each as it ends.
    pub fn run(
        &self,
        folder: &Path,
        device: Device,
        judge: Judge<'_>,
        on_epoch: &mut dyn FnMut(&ScorerEpoch),
    ) -> Result<Trained, CorefError> {
        self.check()?;
        let goal = match self.goal {
            Goal::Mentions => "mentions",
            Goal::Pairs => "pairs",
        };
        let folder = folder.join(format!("{goal}-{}-{}", self.dataset, self.recipe().short()));
        std::fs::create_dir_all(&folder).map_err(ModelError::io(&folder))?;
        let (mut network, mut adam, mut curve) = self.start(&folder, device)?;
        while curve.len() < self.params.epochs {
            let epoch = self.epoch(curve.len() + 1, &mut network, &mut adam, judge)?;
            if curve.iter().all(|before: &ScorerEpoch| before.score < epoch.score) {
                Weights::write(&network.weights, &folder.join(BEST))?;
            }
            curve.push(epoch);
            write_down(&folder, &network, &adam, &curve)?;
            on_epoch(&epoch);
        }
        let network = Network::read(&folder.join(BEST), self.sizes(), self.goal, device)?;
        Ok(Trained { network, curve })
    }

    fn check(&self) -> Result<(), CorefError> {
        let positive = self.groups.iter().any(|group| match self.goal {
            Goal::Mentions => group.clusters.iter().any(Option::is_some),
            Goal::Pairs => !coreferent_pairs(group).is_empty(),
        });
        let what = match self.goal {
            Goal::Mentions => "mention",
            Goal::Pairs => "pair of mentions of one cluster",
        };
        let next = "train on topics that have some";
        if positive { Ok(()) } else { Err(CorefError::NothingToLearn { what, next }) }
    }

    /// Fresh weights, or those of the last epoch that was written down.
    fn start(&self, folder: &Path, device: Device) -> Result<(Network, AdamW, Vec<ScorerEpoch>), CorefError> {
        let path = folder.join(CURVE);
        let fresh = |training: &Self| -> Result<(Network, AdamW, Vec<ScorerEpoch>), CorefError> {
            let rng = &mut stream(training.seed, training.dataset, "fresh scorer", 0);
            let network = Network::fresh(training.sizes(), training.goal, device, rng)?;
            let adam = AdamW::new(ADAM, network.leaves())?;
            Ok((network, adam, Vec::new()))
        };
        if !path.exists() {
            return fresh(self);
        }
        let bytes = std::fs::read(&path).map_err(ModelError::io(&path))?;
        let (steps, curve): (u64, Vec<ScorerEpoch>) = serde_json::from_slice(&bytes)
            .map_err(|error| ModelError::from(ModelFileError::Curve { path: path.clone(), why: error.to_string() }))?;
        let path = checkpoint(folder, curve.len());
        let file = Weights::parse(&std::fs::read(&path).map_err(ModelError::io(&path))?, &path, device)?;
        let mut network = fresh(self)?.0;
        let read = |part: &str, network: &Network| -> Result<Vec<Tensor>, CorefError> {
            let of = |(name, weight): (&String, &Tensor)| Ok(file.get(&format!("{part}/{name}"), &weight.size())?);
            network.weights.iter().map(of).collect()
        };
        let weights = read("weights", &network)?;
        for (weight, written) in network.weights.values_mut().zip(weights) {
            *weight = written.f_set_requires_grad(true)?;
        }
        let mut adam = AdamW::new(ADAM, network.leaves())?;
        adam.load(&read("first", &network)?, &read("second", &network)?, steps)?;
        Ok((network, adam, curve))
    }

    fn epoch(
        &self,
        number: usize,
        network: &mut Network,
        adam: &mut AdamW,
        judge: Judge<'_>,
    ) -> Result<ScorerEpoch, CorefError> {
        let start = Instant::now();
        let rng = &mut stream(self.seed, self.dataset, "coreference epoch", number as u64);
        let dropout =
            Dropout::new(self.params.dropout, stream(self.seed, self.dataset, "coreference dropout", number as u64));
        let (mut sum, mut examples) = (0.0, 0);
        for batch in self.batches(rng) {
            let loss = self.loss(network, &batch, &dropout)?;
            sum += loss.f_double_value(&[])? * batch.examples.len() as f64;
            examples += batch.examples.len();
            let gradients = Tensor::f_run_backward(&[&loss], &network.leaves(), false, false)?;
            adam.step(&gradients, self.params.learning_rate)?;
        }
        let loss = sum / examples.max(1) as f64;
        if !loss.is_finite() {
            return Err(CorefError::Diverged { epoch: number, loss });
        }
        let score = judge(network).map_err(|source| CorefError::Judge { epoch: number, source })?;
        Ok(ScorerEpoch { number, loss, score, seconds: start.elapsed().as_secs_f64() })
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Batch> {
        let size = self.params.batch;
        let mut batches = Vec::new();
        for (group, of_group) in self.groups.iter().enumerate() {
            match self.goal {
                Goal::Mentions => {
                    let mut spans: Vec<usize> = (0..of_group.spans.len()).collect();
                    spans.shuffle(rng);
                    let chunks = spans.chunks(size).map(|chunk| Examples::Spans(chunk.to_vec()));
                    batches.extend(chunks.map(|examples| Batch { group, examples }));
                }
                Goal::Pairs => {
                    let mut pairs = coreferent_pairs(of_group);
                    let wanted = (self.params.negatives * pairs.len() as f64).ceil();
                    pairs.extend(other_pairs(of_group, wanted, rng));
                    pairs.shuffle(rng);
                    let chunks = pairs.chunks(size).map(|chunk| Examples::Pairs(chunk.to_vec()));
                    batches.extend(chunks.map(|examples| Batch { group, examples }));
                }
            }
        }
        batches.shuffle(rng);
        batches
    }

    fn loss(&self, network: &Network, batch: &Batch, dropout: &Dropout) -> Result<Tensor, CorefError> {
        let group = &self.groups[batch.group];
        let states = self.states.tensor();
        let (logits, targets): (Tensor, Vec<f32>) = match &batch.examples {
            Examples::Spans(spans) => {
                let rows: Vec<SpanRows> = spans.iter().map(|&k| group.spans[k]).collect();
                let logits = network.span_logits(&network.mentions(states, &rows, dropout)?, dropout)?;
                (logits, spans.iter().map(|&k| f32::from(u8::from(group.clusters[k].is_some()))).collect())
            }
            Examples::Pairs(pairs) => {
                // a mention of several pairs is represented once
                let mut places: HashMap<usize, i64> = HashMap::new();
                let mut rows = Vec::new();
                let mut place = |k: usize| {
                    *places.entry(k).or_insert_with(|| {
                        rows.push(group.spans[k]);
                        i64::try_from(rows.len() - 1).unwrap_or(i64::MAX)
                    })
                };
                let (first, second): (Vec<i64>, Vec<i64>) = pairs.iter().map(|&(i, j)| (place(i), place(j))).unzip();
                let mentions = network.mentions(states, &rows, dropout)?;
                let pick = |places: &[i64]| -> Result<Tensor, CorefError> {
                    let index = Tensor::f_from_slice(places)?.f_to_device(states.device())?;
                    Ok(mentions.f_index_select(0, &index)?)
                };
                let logits = network.pair_logits(&pick(&first)?, &pick(&second)?, dropout)?;
                (logits, pairs.iter().map(|&(i, j)| f32::from(u8::from(corefer(group, i, j)))).collect())
            }
        };
        let targets = Tensor::f_from_slice(&targets)?.f_to_device(states.device())?;
        Ok(logits.f_binary_cross_entropy_with_logits::<Tensor>(&targets, None, None, Reduction::Mean)?)
    }
}

fn corefer(group: &Group, i: usize, j: usize) -> bool {
    group.clusters[i].is_some() && group.clusters[i] == group.clusters[j]
}

/// All pairs i < j of one cluster.
fn coreferent_pairs(group: &Group) -> Vec<(usize, usize)> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, cluster) in group.clusters.iter().enumerate() {
        if let Some(cluster) = cluster {
            members.entry(*cluster).or_default().push(k);
        }
    }
    let pairs = |members: Vec<usize>| {
        let mut pairs = Vec::with_capacity(members.len() * members.len().saturating_sub(1) / 2);
        for (at, &i) in members.iter().enumerate() {
            pairs.extend(members[at + 1..].iter().map(|&j| (i, j)));
        }
        pairs
    };
    members.into_values().flat_map(pairs).collect()
}

/// `wanted` distinct pairs i < j that do not corefer; all of them where there are fewer.
fn other_pairs(group: &Group, wanted: f64, rng: &mut Rng) -> Vec<(usize, usize)> {
    let n = group.spans.len();
    let all = n * n.saturating_sub(1) / 2;
    // half of all pairs or more: list them; fewer: draw and reject
    if 2.0 * wanted >= all as f64 {
        let mut pairs: Vec<(usize, usize)> =
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| !corefer(group, i, j)).collect();
        pairs.shuffle(rng);
        return pairs.into_iter().enumerate().take_while(|(k, _)| (*k as f64) < wanted).map(|(_, pair)| pair).collect();
    }
    let mut drawn = std::collections::BTreeSet::new();
    let mut tries = 0;
    // a topic of one cluster has no other pair
    while (drawn.len() as f64) < wanted && tries < 20 * all {
        tries += 1;
        let (i, j) = (rng.gen_range(0..n), rng.gen_range(0..n));
        let pair = (i.min(j), i.max(j));
        if i != j && !corefer(group, i, j) {
            drawn.insert(pair);
        }
    }
    drawn.into_iter().collect()
}

/// Writes the state of a training: the checkpoint under the number of its epoch, then the curve that refers to it. What is stopped
/// in between continues from the epoch before.
fn write_down(folder: &Path, network: &Network, adam: &AdamW, curve: &[ScorerEpoch]) -> Result<(), CorefError> {
    let (first, second, steps) = adam.state();
    let mut tensors = BTreeMap::new();
    for (part, of_part) in [("weights", &network.leaves()[..]), ("first", first), ("second", second)] {
        let named = network.weights.keys().zip(of_part);
        tensors.extend(named.map(|(name, tensor)| (format!("{part}/{name}"), tensor.shallow_clone())));
    }
    Weights::write(&tensors, &checkpoint(folder, curve.len()))?;
    let bytes = serde_json::to_vec(&(steps, curve)).unwrap_or_default();
    let (path, unfinished) = (folder.join(CURVE), folder.join("curve.unfinished"));
    std::fs::write(&unfinished, bytes).map_err(ModelError::io(&unfinished))?;
    std::fs::rename(&unfinished, &path).map_err(ModelError::io(&path))?;
    let before = checkpoint(folder, curve.len() - 1);
    if before.exists() {
        std::fs::remove_file(&before).map_err(ModelError::io(&before))?;
    }
    Ok(())
}
