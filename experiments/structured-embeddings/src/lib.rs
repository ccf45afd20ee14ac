//! The studies that only the structured embeddings paper needs: error, speed, P-models and classification of structured random features.

#![allow(missing_docs, reason = "nobody outside of the workspace imports this crate")]

pub mod structured;
