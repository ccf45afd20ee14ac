//! The study that only the community question answering paper needs: comments ranked by tree kernels (table 1).

pub mod cqa;
