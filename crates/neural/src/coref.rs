//! The pairwise coreference scorer (Cattan et al. 2021; Lee et al. 2017): do two mentions name the same thing?
//!
//! ```text
//! m(i)    = [x_start, x_end, Σ a_t x_t, width]     x: frozen states of an encoder, a = softmax(MLP(x)) over the span
//! s(i, j) = σ(MLP([m(i), m(j), m(i) ∘ m(j)]))       asymmetric; learned on pairs in the order of the text
//! ```
//!
//! Roads from a corpus to a similarity matrix:
//!
//! 1. [`TokenStates`]: every document runs through the encoder once, in segments, and the states of validated sentences are kept on disk.
//! 2. [`Training`]: Adam on binary cross-entropy with sampled negatives; each epoch is written down, so that a training resumes where
//!    it stopped. A [`Goal::Mentions`](landmark_oracles::neural::Goal) learns which spans are mentions, a [`Goal::Pairs`](landmark_oracles::neural::Goal) which mentions corefer.
//! 3. [`PairScorer`](landmark_oracles::neural::PairScorer): the trained scorer without torch, an [`Oracle`](landmark_core::oracle::Oracle) over the mentions it was given.
//!
//! Source: SMS-Nyström paper, §4.3, whose program is Cattan's.

use std::path::PathBuf;

use landmark_oracles::neural::ModelFileError;

use crate::encoder::ModelError;

mod dropout;
mod network;
#[cfg(test)]
mod tests;
mod token_states;
mod training;

pub use network::Network;
pub use token_states::TokenStates;
pub use training::{Judge, Trained, Training};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorefError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("libtorch failed: {0}")]
    Torch(#[from] tch::TchError),
    #[error("there is no {what} to learn from; {next}")]
    NothingToLearn { what: &'static str, next: &'static str },
    #[error("the loss of epoch {epoch} is {loss}; lower `learning_rate`")]
    Diverged { epoch: usize, loss: f64 },
    #[error("`{}` holds {seen} rows of states (expected {wanted}); remove it and run again", path.display())]
    States { path: PathBuf, seen: usize, wanted: usize },
    #[error("epoch {epoch} cannot be judged: {source}")]
    Judge { epoch: usize, source: Box<dyn std::error::Error + Send + Sync> },
}

impl From<ModelFileError> for CorefError {
    fn from(error: ModelFileError) -> Self {
        Self::Model(error.into())
    }
}
