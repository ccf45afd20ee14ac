//! The studies that only the SMS-Nyström paper needs: coreference (figures 4 and 6), its corpora (table 1), the time of features (table 6).

pub mod coref;
pub mod corpora;
pub mod feature_time;
