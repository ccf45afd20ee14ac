//! landmark-oracles: similarity functions over items (word mover's distance and its bounds, tree kernels, cross-encoders, any program), and the
//! store that keeps what was bought from them.

pub mod combined;
#[cfg(feature = "torch")]
pub mod coref;
pub mod cross_encoder;
#[cfg(feature = "torch")]
pub mod encoder;
mod scratch_pool;
pub mod subprocess;
pub mod tile_store;
#[cfg(feature = "torch")]
pub mod torch;
pub mod tree_kernel;
pub mod wmd;
