//! landmark-oracles: similarity functions over items (word mover's distance and its bounds, tree kernels, any program; cross-encoders through
//! [`neural`]).

pub mod combined;
pub mod neural;
mod scratch_pool;
pub mod string;
pub mod subprocess;
pub mod tree_kernel;
pub mod wmd;
