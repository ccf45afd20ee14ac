//! landmark-oracles: similarity functions over items, and the store that keeps what was bought from them.

pub mod tile_store;
#[cfg(feature = "torch")]
pub mod torch;
