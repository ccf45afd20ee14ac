//! The study that only the community question answering paper needs: comments ranked by tree kernels (table 1).

#![allow(missing_docs, reason = "nobody outside of the workspace imports this crate")]

pub mod cqa;
