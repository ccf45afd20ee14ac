//! BERT and RoBERTa through libtorch: from the files of a model folder to the hidden state of every token.
//!
//! ```text
//! e_t  = LayerNorm(word(id_t) + position(t) + type(t))
//! A    = softmax(Q Kᵀ / √d_head) V,  [Q K V] = x W_qkv
//! x'   = LayerNorm(x + A W_o),  x'' = LayerNorm(x' + gelu(x' W_1) W_2)        (post-norm, as published)
//! head = W_c tanh(W_p x''[CLS])
//! ```
//!
//! Devlin et al. 2019; Liu et al. 2019. A sequence of L tokens costs 24·L·hidden² + 4·L²·hidden flops a layer.
//!
//! A model is a folder of `config.json`, `tokenizer.json` and `model.safetensors` ([`ModelFiles`]); pickles are never read.
//! The tokens of a batch are the rows of one matrix, so nothing is padded and a score does not depend on its company ([`Batcher`]).
//!
//! # Speed
//!
//! On a core of an AMD EPYC (Zen 4), 8 sequences of 64 tokens, a layer of MiniLM takes 39.6 µs a token in f32, 99 % of what the
//! largest product reaches there, and 19.8 µs in bf16, 88 % (attention 2.5 µs, gelu .6, norms and sums .5): `time_layers`. What
//! transformers takes longer is the last layer, of which the head needs one token, and what is not a product; 1.3 times as fast on
//! pairs of STS-B, MRPC and RTE in f32 and in bf16 (`scripts/bench-peers bert`), and little is left. In int8 the products take half
//! of bf16's time, and all of it five sixths, since rounding and scaling pass over every number again; 2.2 times as fast as f32.
//!
//! # Hidden states of tokens, for representations of spans
//!
//! [`Encoder::token_states`] gives the last layer, one row a token, [CLS] and [SEP] included; [`Tokens::words`] says which
//! tokens each word became. The encoder is not `Sync` (a `tch::Tensor` is not): let one thread own it.
//!
//! ```no_run
//! use landmark_neural::encoder::{Encoder, Tokenizer};
//! use landmark_neural::torch::Torch;
//! use landmark_oracles::neural::{DeviceChoice, ModelFiles, Precision};
//!
//! let device = Torch::start()?.device(DeviceChoice::Auto)?;
//! let files = ModelFiles::find("all-MiniLM-L6-v2", None)?;
//! let tokenizer = Tokenizer::open(&files)?;
//! let encoder = Encoder::open(&files, device, Precision::F32)?;
//!
//! let sentence = tokenizer.words(&["The", "harbour", "reopened", "on", "Tuesday"])?;
//! let sequence = tokenizer.single(&sentence.ids, encoder.config().longest());
//! let states = encoder.token_states(&[sequence])?.remove(0); // (tokens + 2) × hidden
//! // the tokens of word k; row 0 is [CLS], so they stand one further down
//! let span = states.slice(ndarray::s![1 + sentence.words[1].start..1 + sentence.words[2].end, ..]);
//! # let _ = span; Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod config;
mod error;
mod head;
mod linear;
mod network;
mod pooled;
mod tokens;
mod weights;

pub use batches::{Batcher, TokenBatch};
pub(crate) use batches::{fitting, tokens_at_once};
pub use config::{Activation, Architecture, EncoderConfig};
pub use error::ModelError;
pub use head::Classifier;
pub use network::{DropoutRates, Encoder};
pub use tokens::{Sequence, Tokenizer, Tokens};
pub use weights::Weights;
