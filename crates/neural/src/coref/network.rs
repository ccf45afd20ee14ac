//! The span representation and the two heads on it, as torch computes them.
//!
//! Weights by name: `attention.{0,1}` (hidden layer and score of a state), `width` (a row for each width), `span.{0,1}` (is it a
//! mention?), `pair.{0,1,2}` (do two corefer?); matrices are outputs × inputs. m has 3·hidden + width numbers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use landmark_core::stream::{Rng, stream};
use landmark_oracles::neural::{Goal, PairLayers, ScorerParams, SpanRows};
use ndarray::{Array2, ArrayView2};
use rand::Rng as _;
use tch::{Device, Kind, Tensor};

use super::CorefError;
use super::dropout::Dropout;
use crate::encoder::{ModelError, Weights, to_vec};

/// Spans represented at a time: bounds the padded copy of their states.
const SPANS_AT_A_TIME: usize = 1024;
pub(super) const WIDTHS: usize = 21;

#[derive(Debug)]
pub struct Network {
    pub(super) weights: BTreeMap<String, Tensor>,
    device: Device,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) state: usize,
    pub(super) hidden: usize,
    pub(super) width: usize,
}

impl Sizes {
    pub(super) fn shapes(self, goal: Goal) -> Vec<(String, Vec<usize>)> {
        let Self { state, hidden, width } = self;
        let mention = 3 * state + width;
        let mut layers = vec![("attention.0", hidden, state), ("attention.1", 1, hidden)];
        match goal {
            Goal::Mentions => layers.extend([("span.0", hidden, mention), ("span.1", 1, hidden)]),
            Goal::Pairs => {
                layers.extend([("pair.0", hidden, 3 * mention), ("pair.1", hidden, hidden), ("pair.2", 1, hidden)]);
            }
        }
        let mut shapes = vec![("width".to_owned(), vec![WIDTHS, width])];
        for (name, outputs, inputs) in layers {
            shapes.push((format!("{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("{name}.bias"), vec![outputs]));
        }
        shapes
    }
}

fn whole(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

impl Network {
    /// Fresh weights, uniform in ±1/√inputs.
    pub(super) fn fresh(sizes: Sizes, goal: Goal, device: Device, rng: &mut Rng) -> Result<Self, CorefError> {
        let mut weights = BTreeMap::new();
        let mut bound = 1.0;
        for (name, shape) in sizes.shapes(goal) {
            // a bias follows its matrix and shares its bound
            if shape.len() == 2 {
                bound = 1.0 / (shape[1] as f32).sqrt();
            }
            let values: Vec<f32> = (0..shape.iter().product()).map(|_| rng.gen_range(-bound..bound)).collect();
            let shape: Vec<i64> = shape.into_iter().map(whole).collect();
            let tensor = Tensor::f_from_slice(&values)?.f_view(&shape[..])?.f_to_device(device)?;
            weights.insert(name, tensor.f_set_requires_grad(true)?);
        }
        Ok(Self { weights, device })
    }

    /// A network of random weights over states of this length, for timing.
    pub fn random(params: ScorerParams, state: usize, goal: Goal, seed: u64) -> Result<Self, CorefError> {
        let sizes = Sizes { state, hidden: params.hidden, width: params.width };
        Self::fresh(sizes, goal, Device::Cpu, &mut stream(seed, "random", "fresh scorer", 0))
    }

    /// Scores of all ordered pairs as torch computes them, n × n, 4,096 pairs at a time: what [`PairScorer`](landmark_oracles::neural::PairScorer) is
    /// held against.
    pub fn scores_by_torch(&self, mentions: ArrayView2<'_, f32>) -> Result<Array2<f64>, CorefError> {
        const PAIRS_AT_A_TIME: usize = 4096;
        let (n, d) = mentions.dim();
        let values: Vec<f32> = mentions.iter().copied().collect();
        let m = Tensor::f_from_slice(&values)?.f_view([whole(n), whole(d)])?.f_to_device(self.device)?;
        let all: Vec<(i64, i64)> = (0..n).flat_map(|i| (0..n).map(move |j| (whole(i), whole(j)))).collect();
        let mut scores = Vec::with_capacity(n * n);
        for pairs in all.chunks(PAIRS_AT_A_TIME) {
            let (first, second): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            let pick = |places: &[i64]| -> Result<Tensor, CorefError> {
                Ok(m.f_index_select(0, &Tensor::f_from_slice(places)?.f_to_device(self.device)?)?)
            };
            let (first, second) = (pick(&first)?, pick(&second)?);
            let logits = tch::no_grad(|| self.pair_logits(&first, &second, &Dropout::none()))?;
            scores.extend(to_vec(&logits.f_sigmoid()?)?.into_iter().map(f64::from));
        }
        Array2::from_shape_vec((n, n), scores)
            .map_err(|error| CorefError::Torch(tch::TchError::Torch(error.to_string())))
    }

    /// Reads weights that were written, ready to be trained further.
    pub(super) fn read(path: &Path, sizes: Sizes, goal: Goal, device: Device) -> Result<Self, CorefError> {
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        let file = Weights::parse(&bytes, path, device)?;
        let mut weights = BTreeMap::new();
        for (name, shape) in sizes.shapes(goal) {
            let shape: Vec<i64> = shape.into_iter().map(whole).collect();
            weights.insert(name.clone(), file.get(&name, &shape)?.f_set_requires_grad(true)?);
        }
        Ok(Self { weights, device })
    }

    fn weight(&self, name: &str) -> Result<&Tensor, CorefError> {
        self.weights
            .get(name)
            .ok_or_else(|| CorefError::Torch(tch::TchError::Torch(format!("the network has no weight `{name}`"))))
    }

    fn linear(&self, x: &Tensor, name: &str) -> Result<Tensor, CorefError> {
        let (weight, bias) = (self.weight(&format!("{name}.weight"))?, self.weight(&format!("{name}.bias"))?);
        Ok(x.f_linear(weight, Some(bias))?)
    }

    /// m of each span, spans × (3·hidden + width).
    pub(super) fn mentions(
        &self,
        states: &Tensor,
        spans: &[SpanRows],
        dropout: &Dropout,
    ) -> Result<Tensor, CorefError> {
        let longest = spans.iter().map(SpanRows::rows).max().unwrap_or(1);
        let (count, length) = (whole(spans.len()), whole(longest));
        // spans overlap: the attention of a state is computed once, then laid out by span
        let mut places: HashMap<usize, i64> = HashMap::new();
        let (mut rows, mut layout) = (Vec::new(), Vec::with_capacity(spans.len() * longest));
        for span in spans {
            for at in 0..longest {
                let row = (span.first + at).min(span.last);
                layout.push(*places.entry(row).or_insert_with(|| {
                    rows.push(whole(row));
                    whole(rows.len() - 1)
                }));
            }
        }
        let mask: Vec<f32> = spans
            .iter()
            .flat_map(|span| (0..longest).map(|at| if at < span.rows() { 0.0 } else { f32::NEG_INFINITY }))
            .collect();
        let distinct = states.f_index_select(0, &Tensor::f_from_slice(&rows)?.f_to_device(self.device)?)?;
        let hidden = self.linear(&dropout.apply(&distinct)?, "attention.0")?.f_relu()?;
        let scores = self.linear(&dropout.apply(&hidden)?, "attention.1")?.f_squeeze_dim(1)?;
        let layout = Tensor::f_from_slice(&layout)?.f_to_device(self.device)?;
        let mask = Tensor::f_from_slice(&mask)?.f_view([count, length])?.f_to_device(self.device)?;
        let scores = scores.f_index_select(0, &layout)?.f_view([count, length])?;
        let attention = scores.f_add(&mask)?.f_softmax(1, Kind::Float)?;
        let x = distinct.f_index_select(0, &layout)?.f_view([count, length, -1])?;
        let weighted = attention.f_unsqueeze(1)?.f_bmm(&x)?.f_squeeze_dim(1)?;
        let ends: Vec<i64> = spans.iter().map(|span| whole(span.last)).collect();
        let end = states.f_index_select(0, &Tensor::f_from_slice(&ends)?.f_to_device(self.device)?)?;
        let widths: Vec<i64> = spans.iter().map(|span| whole(span.words.min(WIDTHS - 1))).collect();
        let widths = Tensor::f_from_slice(&widths)?.f_to_device(self.device)?;
        let width = self.weight("width")?.f_index_select(0, &widths)?;
        Ok(Tensor::f_cat(&[x.f_select(1, 0)?, end, weighted, width], 1)?)
    }

    pub(super) fn span_logits(&self, mentions: &Tensor, dropout: &Dropout) -> Result<Tensor, CorefError> {
        let hidden = self.linear(&dropout.apply(mentions)?, "span.0")?.f_relu()?;
        Ok(self.linear(&dropout.apply(&hidden)?, "span.1")?.f_squeeze_dim(1)?)
    }

    /// Scores of pairs before the sigmoid; row k of `first` and `second` is pair k.
    pub(super) fn pair_logits(&self, first: &Tensor, second: &Tensor, dropout: &Dropout) -> Result<Tensor, CorefError> {
        let x = Tensor::f_cat(&[first, second, &first.f_mul(second)?], 1)?;
        let hidden = self.linear(&dropout.apply(&x)?, "pair.0")?.f_relu()?;
        let hidden = self.linear(&dropout.apply(&hidden)?, "pair.1")?.f_relu()?;
        Ok(self.linear(&hidden, "pair.2")?.f_squeeze_dim(1)?)
    }

    /// m of each span for use: spans × (3·hidden + width), span after span.
    pub fn represent(&self, states: &Tensor, spans: &[SpanRows]) -> Result<Vec<f32>, CorefError> {
        let none = Dropout::none();
        let mut values = Vec::new();
        for chunk in spans.chunks(SPANS_AT_A_TIME) {
            values.extend(to_vec(&tch::no_grad(|| self.mentions(states, chunk, &none))?)?);
        }
        Ok(values)
    }

    /// Logit of each span being a mention: the score before the sigmoid.
    pub fn mention_scores(&self, states: &Tensor, spans: &[SpanRows]) -> Result<Vec<f32>, CorefError> {
        let none = Dropout::none();
        let mut scores = Vec::with_capacity(spans.len());
        for chunk in spans.chunks(SPANS_AT_A_TIME) {
            let logits = tch::no_grad(|| self.span_logits(&self.mentions(states, chunk, &none)?, &none))?;
            scores.extend(to_vec(&logits)?);
        }
        Ok(scores)
    }

    /// The layers of the pair scorer as numbers.
    pub fn pair_layers(&self) -> Result<PairLayers, CorefError> {
        let values = |name: &str, part: &str| Ok::<_, CorefError>(to_vec(self.weight(&format!("{name}.{part}"))?)?);
        let layer = |name: &str| Ok::<_, CorefError>((values(name, "weight")?, values(name, "bias")?));
        Ok(PairLayers { first: layer("pair.0")?, hidden: layer("pair.1")?, output: layer("pair.2")? })
    }

    pub(super) fn leaves(&self) -> Vec<Tensor> {
        self.weights.values().map(Tensor::shallow_clone).collect()
    }
}
