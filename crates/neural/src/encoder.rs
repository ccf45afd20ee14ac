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
//! # Hidden states of tokens, for representations of spans
//!
//! [`Encoder::token_states`] gives the last layer, one row a token, [CLS] and [SEP] included; [`Tokens::words`] gives which
//! tokens each word became. The encoder is not `Sync` (a `tch::Tensor` is not): let one thread own it.

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
pub(crate) use weights::to_vec;
