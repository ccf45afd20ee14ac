//! landmark-neural: encoders, cross-encoders, fine-tuning and the coreference scorer on libtorch.
//!
//! The only crate that knows libtorch. Programs use it through [`landmark_oracles::neural`], which opens it as a shared object
//! ([`border`]).

mod adamw;
pub mod border;
pub mod coref;
pub mod cross_encoder;
pub mod encoder;
pub mod torch;
mod warning;
