//! Labeled pairs of sentences.

use std::path::Path;

use landmark_data::catalog::{self, PairParts};
use landmark_data::{DataError, SentencePairs};
use landmark_report::Caveat;

use super::{LoadError, Loaded, LoadedItems, own_pairs};
use crate::config::dataset::PairsConfig;
use crate::config::run_settings::RunSettings;

const SAMPLE: &str = "embedded_pairs";

/// Pairs to learn from and to judge by.
pub struct Pairs {
    pub train: SentencePairs,
    /// Pairs to judge by, whose sentences are the items.
    pub dev: SentencePairs,
    /// All pairs to judge by; `dev` may be a sample of them.
    pub all: SentencePairs,
    /// True where a target is a grade rather than yes or no.
    pub are_graded: bool,
    /// True where these are the sample inside, because the files of the dataset are missing.
    pub fell_back: bool,
    /// A sample of the pairs to learn from, where they have labels and a threshold is to be chosen on them.
    pub calibration: Option<SentencePairs>,
}

pub(super) fn load(
    run: &RunSettings,
    wanted: &'static str,
    items: &PairsConfig,
    data: Option<&Path>,
) -> Result<Loaded, LoadError> {
    let mut stamps = Vec::new();
    let mut notes = Vec::new();
    let read = match &items.own {
        Some(own) => own_pairs::read(run, wanted, own, data, &mut notes),
        None => catalog::load_pairs(wanted, data).map_err(LoadError::from),
    };
    let (name, parts) = match read {
        Ok(parts) => (wanted, parts),
        Err(LoadError::Data(error @ (DataError::MissingFile { .. } | DataError::NoDataFolder { .. })))
            if items.fallback.is_some() =>
        {
            stamps.push(Caveat {
                dataset: None,
                text: format!("FELL BACK to the embedded sample, because {error}"),
                breaks_comparison: true,
            });
            (SAMPLE, catalog::load_pairs(SAMPLE, None)?)
        }
        Err(error) => return Err(error),
    };
    let PairParts { train, dev: all, are_graded } = parts;
    let dev = items.limit.map_or_else(|| all.clone(), |limit| all.sample(name, limit, run.seed));
    if dev.len() < all.len() {
        stamps.push(Caveat {
            dataset: Some(name.to_owned()),
            text: format!("{} of {} pairs, {} sentences: `dataset.limit`", dev.len(), all.len(), dev.sentences().len()),
            breaks_comparison: true,
        });
    }
    let calibration = (!are_graded && items.threshold_pairs > 0 && !train.is_empty())
        .then(|| train.sample(name, items.threshold_pairs, run.seed));
    let pairs = Pairs { train, dev, all, are_graded, fell_back: name != wanted, calibration };
    Ok(Loaded { dataset: name.to_owned(), items: LoadedItems::Pairs(Box::new(pairs)), stamps, notes })
}
