//! The encoder itself: embeddings and layers.
//!
//! Weights are held in f32. With [`Precision::Bf16`] matrix products, attention and gelu run in bfloat16, layer norms and sums
//! accumulate in f32 inside libtorch; a frozen encoder rounds its matrices once, one that is being trained at each use, so
//! that gradients reach the f32 weights. With [`Precision::Int8`] the products of the layers alone are in int8, and the
//! encoder is frozen always.

use std::collections::BTreeMap;

use landmark_core::oracle::Identity;
use landmark_oracles::neural::{ModelFiles, Precision};
use ndarray::Array2;
use tch::{Device, Kind, Tensor};

use super::batches::{Run, whole};
use super::linear::{Linear, kind};
use super::weights::to_vec;
use super::{Activation, Batcher, EncoderConfig, ModelError, Sequence, TokenBatch, Weights};

/// Shares of values that are set to 0 while training; none otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DropoutRates {
    pub hidden: f64,
    pub attention: f64,
}

#[derive(Debug)]
struct Norm {
    scale: Tensor,
    shift: Tensor,
    eps: f64,
}

impl Norm {
    fn read(weights: &Weights, name: &str, config: &EncoderConfig) -> Result<Self, ModelError> {
        Ok(Self {
            scale: weights.get(&format!("{name}.weight"), &[config.hidden])?,
            shift: weights.get(&format!("{name}.bias"), &[config.hidden])?,
            eps: config.layer_norm_eps,
        })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor, ModelError> {
        let kind = x.kind();
        let (scale, shift) = (self.scale.f_to_kind(kind)?, self.shift.f_to_kind(kind)?);
        Ok(x.f_layer_norm(self.scale.size(), Some(&scale), Some(&shift), self.eps, true)?)
    }

    fn shared(&self) -> Self {
        Self { scale: self.scale.shallow_clone(), shift: self.shift.shallow_clone(), eps: self.eps }
    }

    fn round(&mut self, kind: Kind) -> Result<(), ModelError> {
        self.scale = self.scale.f_to_kind(kind)?;
        self.shift = self.shift.f_to_kind(kind)?;
        Ok(())
    }

    fn visit<'a>(&'a mut self, name: &str, visit: &mut dyn FnMut(String, &'a mut Tensor)) {
        visit(format!("{name}.weight"), &mut self.scale);
        visit(format!("{name}.bias"), &mut self.shift);
    }
}

#[derive(Debug)]
struct Layer {
    /// Query, key and value one under the other: one product instead of three.
    qkv: Linear,
    output: Linear,
    output_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tokens {
    All,
    /// That of the first, which looks at all others: all that a head on it needs of the last layer, for a sixth of the flops.
    First,
}

const QKV: [&str; 3] = ["query", "key", "value"];

impl Layer {
    fn read(weights: &Weights, number: usize, config: &EncoderConfig) -> Result<Self, ModelError> {
        let (hidden, intermediate) = (config.hidden, config.intermediate);
        let at = |part: &str| format!("encoder.layer.{number}.{part}");
        let parts = QKV
            .iter()
            .map(|part| Linear::read(weights, &at(&format!("attention.self.{part}")), [hidden, hidden]))
            .collect::<Result<Vec<_>, _>>()?;
        let stack = |part: fn(&Linear) -> &Tensor| Tensor::f_cat(&parts.iter().map(part).collect::<Vec<_>>(), 0);
        Ok(Self {
            qkv: Linear::new(stack(|part| &part.weight)?, stack(|part| &part.bias)?),
            output: Linear::read(weights, &at("attention.output.dense"), [hidden, hidden])?,
            output_norm: Norm::read(weights, &at("attention.output.LayerNorm"), config)?,
            up: Linear::read(weights, &at("intermediate.dense"), [intermediate, hidden])?,
            down: Linear::read(weights, &at("output.dense"), [hidden, intermediate])?,
            down_norm: Norm::read(weights, &at("output.LayerNorm"), config)?,
        })
    }

    /// x: tokens × hidden. As many hidden states come back as are asked for, in the order of the tokens or of the sequences, with
    /// filling after them.
    fn apply(
        &self,
        x: &Tensor,
        batch: &TokenBatch,
        config: &EncoderConfig,
        dropout: DropoutRates,
        tokens: Tokens,
    ) -> Result<Tensor, ModelError> {
        let training = dropout != DropoutRates::default();
        let hidden = config.hidden;
        let (x, attended) = match tokens {
            Tokens::All => {
                let qkv = self.qkv.apply(x)?;
                let attend = |run: &Run| {
                    let parts = heads(&run.rows(&qkv)?, run.count, 3, config)?;
                    attention(&parts[0], &parts[1], &parts[2], dropout)
                };
                (x.shallow_clone(), batch.runs().iter().map(attend).collect::<Result<Vec<_>, _>>()?)
            }
            Tokens::First => {
                let first = x.f_index_select(0, &batch.first_rows(x.device())?)?;
                let q = self.qkv.part(0..hidden)?.apply(&first)?;
                let kv = self.qkv.part(hidden..3 * hidden)?.apply(x)?;
                let attend = |run: &Run| {
                    let q = heads(&run.sequences(&q)?, run.count, 1, config)?;
                    let kv = heads(&run.rows(&kv)?, run.count, 2, config)?;
                    attention(&q[0], &kv[0], &kv[1], dropout)
                };
                (first, batch.runs().iter().map(attend).collect::<Result<Vec<_>, _>>()?)
            }
        };
        let attended = filled(attended, &x)?;
        let attended = self.output.apply(&attended)?.f_dropout(dropout.hidden, training)?;
        let x = self.output_norm.apply(&attended.f_add(&x)?)?;
        let wide = self.up.apply(&x)?;
        let wide = match config.activation {
            Activation::Gelu => wide.f_gelu("none")?,
            Activation::GeluTanh => wide.f_gelu("tanh")?,
            Activation::Relu => wide.f_relu()?,
        };
        let narrow = self.down.apply(&wide)?.f_dropout(dropout.hidden, training)?;
        self.down_norm.apply(&narrow.f_add(&x)?)
    }

    fn shared(&self) -> Self {
        Self {
            qkv: self.qkv.shared(),
            output: self.output.shared(),
            output_norm: self.output_norm.shared(),
            up: self.up.shared(),
            down: self.down.shared(),
            down_norm: self.down_norm.shared(),
        }
    }

    fn round(&mut self, precision: Precision) -> Result<(), ModelError> {
        for linear in [&mut self.qkv, &mut self.output, &mut self.up, &mut self.down] {
            linear.round(precision)?;
        }
        self.output_norm.round(kind(precision))?;
        self.down_norm.round(kind(precision))
    }

    fn visit<'a>(&'a mut self, number: usize, visit: &mut dyn FnMut(String, &'a mut Tensor)) {
        let at = |part: &str| format!("encoder.layer.{number}.{part}");
        self.qkv.visit(&at("attention.self.qkv"), visit);
        self.output.visit(&at("attention.output.dense"), visit);
        self.output_norm.visit(&at("attention.output.LayerNorm"), visit);
        self.up.visit(&at("intermediate.dense"), visit);
        self.down.visit(&at("output.dense"), visit);
        self.down_norm.visit(&at("output.LayerNorm"), visit);
    }
}

/// `count` projections that stand side by side in the rows of sequences of one length, each sequences × heads × tokens × head.
fn heads(rows: &Tensor, sequences: i64, count: i64, config: &EncoderConfig) -> Result<Vec<Tensor>, ModelError> {
    let shape = [sequences, -1, count, config.heads, config.hidden / config.heads];
    Ok(rows.f_view(shape)?.f_permute([2, 0, 3, 1, 4])?.f_unbind(0)?)
}

/// softmax(Q Kᵀ / √d) V of each sequence and head, as rows again: tokens of Q × hidden.
fn attention(q: &Tensor, k: &Tensor, v: &Tensor, dropout: DropoutRates) -> Result<Tensor, ModelError> {
    let mask = None::<&Tensor>;
    let attended = Tensor::f_scaled_dot_product_attention(q, k, v, mask, dropout.attention, false, None, false)?;
    let (sequences, heads, tokens, head) = attended.size4()?;
    Ok(attended.f_transpose(1, 2)?.f_reshape([sequences * tokens, heads * head])?)
}

/// Parts one under the other, with zeros below to the height of `like`.
fn filled(mut parts: Vec<Tensor>, like: &Tensor) -> Result<Tensor, ModelError> {
    let (rows, columns) = like.size2()?;
    let missing = rows - parts.iter().map(|part| part.size()[0]).sum::<i64>();
    parts.push(like.f_new_zeros([missing, columns], (like.kind(), like.device()))?);
    Ok(Tensor::f_cat(&parts, 0)?)
}

/// BERT or RoBERTa without a head, on one device.
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    precision: Precision,
    device: Device,
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    identity: Identity,
}

impl Encoder {
    /// Reads the weights of a model, for use as they are.
    pub fn open(files: &ModelFiles, device: Device, precision: Precision) -> Result<Self, ModelError> {
        let config = read_config(files)?;
        let weights = Weights::of(files, device)?;
        let mut encoder = Self::new(config, &weights, device, precision)?;
        encoder.identity = identity(files, precision)?;
        encoder.freeze()?;
        Ok(encoder)
    }

    /// From weights that were read, still in f32.
    pub(super) fn new(
        config: EncoderConfig,
        weights: &Weights,
        device: Device,
        precision: Precision,
    ) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let table = |name: &str, rows: i64| weights.get(&format!("embeddings.{name}.weight"), &[rows, hidden]);
        Ok(Self {
            words: table("word_embeddings", config.vocabulary)?,
            positions: table("position_embeddings", config.positions)?,
            types: table("token_type_embeddings", config.token_types)?,
            norm: Norm::read(weights, "embeddings.LayerNorm", &config)?,
            layers: (0..config.layers).map(|number| Layer::read(weights, number, &config)).collect::<Result<_, _>>()?,
            identity: Identity::of(&[]),
            precision,
            device,
            config,
        })
    }

    /// The same weights under another owner, for another thread.
    pub(super) fn shared(&self) -> Self {
        Self {
            config: self.config.clone(),
            precision: self.precision,
            device: self.device,
            words: self.words.shallow_clone(),
            positions: self.positions.shallow_clone(),
            types: self.types.shallow_clone(),
            norm: self.norm.shared(),
            layers: self.layers.iter().map(Layer::shared).collect(),
            identity: self.identity,
        }
    }

    /// Rounds the matrices once, where products are not in f32.
    pub(super) fn freeze(&mut self) -> Result<(), ModelError> {
        let precision = self.precision;
        if precision == Precision::Int8 && self.device != Device::Cpu {
            return Err(ModelError::Int8 { asked: "this is a GPU" });
        }
        self.layers.iter_mut().try_for_each(|layer| layer.round(precision))
    }

    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    pub fn device(&self) -> Device {
        self.device
    }

    /// A digest of weights, configuration, tokenizer and precision.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The last layer's hidden states of a batch, sequence after sequence: tokens × hidden, in the encoder's precision, on its device,
    /// with gradients if they are asked of its weights.
    pub fn hidden_states(&self, batch: &TokenBatch, dropout: DropoutRates) -> Result<Tensor, ModelError> {
        Ok(self.last_states(batch, dropout, Tokens::All)?.f_narrow(0, 0, whole(batch.tokens()))?)
    }

    /// The last layer's hidden states of the first tokens alone: sequences × hidden, otherwise as
    /// [`hidden_states`](Self::hidden_states), without most of the last layer's work.
    pub fn first_states(&self, batch: &TokenBatch, dropout: DropoutRates) -> Result<Tensor, ModelError> {
        Ok(self.last_states(batch, dropout, Tokens::First)?.f_narrow(0, 0, whole(batch.len()))?)
    }

    fn last_states(&self, batch: &TokenBatch, dropout: DropoutRates, wanted: Tokens) -> Result<Tensor, ModelError> {
        let longest = self.config.longest();
        if batch.longest() > longest {
            return Err(ModelError::TooLong { seen: batch.longest(), wanted: longest });
        }
        let [ids, types, places] = batch.to_device(self.device)?;
        let places = places.f_add_scalar(self.config.first_position())?;
        let look_up = |table: &Tensor, ids: &Tensor| Tensor::f_embedding(table, ids, -1, false, false);
        let words = look_up(&self.words, &ids)?.f_add(&look_up(&self.types, &types)?)?;
        let x = words.f_add(&look_up(&self.positions, &places)?)?;
        let x = self.norm.apply(&x)?.f_dropout(dropout.hidden, dropout != DropoutRates::default())?;
        let mut x = x.f_to_kind(kind(self.precision))?;
        let last = self.layers.len().saturating_sub(1);
        for (number, layer) in self.layers.iter().enumerate() {
            let tokens = if number == last { wanted } else { Tokens::All };
            x = layer.apply(&x, batch, &self.config, dropout, tokens)?;
        }
        Ok(x)
    }

    /// The last layer's hidden state of every token: for each sequence, in the order given, tokens × hidden. Without gradients;
    /// sequences of similar length are computed together.
    pub fn token_states(&self, sequences: &[Sequence]) -> Result<Vec<Array2<f32>>, ModelError> {
        let hidden = usize::try_from(self.config.hidden).unwrap_or(0);
        let _no_gradients = tch::no_grad_guard();
        Batcher::new(self.device).run(sequences, |batch| {
            let states = to_vec(&self.hidden_states(batch, DropoutRates::default())?)?;
            let mut values = &states[..];
            let rows = |&tokens: &usize| {
                let (these, others) = values.split_at(tokens * hidden);
                values = others;
                Array2::from_shape_vec((tokens, hidden), these.to_vec())
            };
            let shaped = batch.lengths().iter().map(rows).collect::<Result<Vec<_>, _>>();
            shaped.map_err(|error| ModelError::Torch(error.into()))
        })
    }

    /// Its tensors by name, for training; query, key and value are one.
    pub(super) fn visit<'a>(&'a mut self, visit: &mut dyn FnMut(String, &'a mut Tensor)) {
        visit("embeddings.word_embeddings.weight".to_owned(), &mut self.words);
        visit("embeddings.position_embeddings.weight".to_owned(), &mut self.positions);
        visit("embeddings.token_type_embeddings.weight".to_owned(), &mut self.types);
        self.norm.visit("embeddings.LayerNorm", visit);
        for (number, layer) in self.layers.iter_mut().enumerate() {
            layer.visit(number, visit);
        }
    }
}

pub(super) fn read_config(files: &ModelFiles) -> Result<EncoderConfig, ModelError> {
    EncoderConfig::parse(&files.config_bytes()?, &files.config())
}

pub(super) fn identity(files: &ModelFiles, precision: Precision) -> Result<Identity, ModelError> {
    Ok(Identity::of(&[
        ("kind", b"encoder"),
        ("version", b"1"),
        ("files", files.identity()?.as_bytes()),
        ("precision", precision.id().as_bytes()),
    ]))
}

/// Tensors as files name them: what [`Encoder::visit`] calls `qkv` is query, key and value again.
pub(super) fn unstacked(tensors: BTreeMap<String, Tensor>) -> Result<BTreeMap<String, Tensor>, ModelError> {
    let mut named = BTreeMap::new();
    for (name, tensor) in tensors {
        if !name.contains(".self.qkv.") {
            named.insert(name, tensor);
            continue;
        }
        for (part, piece) in QKV.iter().zip(tensor.f_chunk(3, 0)?) {
            named.insert(name.replace(".self.qkv.", &format!(".self.{part}.")), piece);
        }
    }
    Ok(named)
}
