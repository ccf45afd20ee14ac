//! landmark-oracles: similarity functions over items (word mover's distance and its bounds, tree kernels, cross-encoders, any program).

pub mod combined;
#[cfg(feature = "torch")]
pub mod coref;
pub mod cross_encoder;
#[cfg(feature = "torch")]
pub mod encoder;
mod rooms;
pub mod subprocess;
#[cfg(feature = "torch")]
pub mod torch;
pub mod tree_kernel;
pub mod wmd;
