//! The studies that only the structured embeddings paper needs: error, speed, P-models and classification of structured random features.

pub mod structured;
