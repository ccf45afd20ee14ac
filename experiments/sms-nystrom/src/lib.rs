//! The studies that only the SMS-Nyström paper needs: coreference (figures 4 and 6), its corpora (table 1), the time of features (table 6).

#![allow(missing_docs, reason = "nobody outside of the workspace imports this crate")]

pub mod coref;
pub mod corpora;
pub mod feature_time;
