//! What only the SMS-Nyström paper needs: spectra (figures 1 and 2), classification (tables 2 and 7), labeled pairs of sentences (tables 3 to 5),
//! coreference (figures 4 and 6), its corpora (table 1), the time of features (table 6).

pub mod classification;
pub mod coref;
pub mod corpora;
pub mod feature_time;
pub mod glue;
mod ranked_search;
pub mod spectrum;
