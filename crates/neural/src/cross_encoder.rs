//! A cross-encoder: both texts of a pair are read together, and a head on [CLS] returns how alike they are.
//!
//! ```text
//! K[i, j] = σ(head(encoder([CLS] text_i [SEP] text_j [SEP])))
//! ```
//!
//! The score depends on the order of the pair; `Symmetrized` above it makes a symmetric one at twice the price. One pair of
//! L tokens costs layers·(24·L·hidden² + 4·L²·hidden) flops: 0.6 GFlop for MiniLM and 30 tokens, which is why columns are
//! evaluated and not whole matrices. Source: Devlin et al. 2019, §4.1; SMS-Nyström paper, §4.2.
//!
//! Texts are cut into tokens once. Pairs are scored in order of length, some hundred tokens at a time without padding (`Batcher`), by
//! one thread a GPU or one a core, which share the weights.

mod fine_tune;
mod oracle;
mod workers;

pub use fine_tune::{fine_tune, time_training};
pub use oracle::CrossEncoder;
