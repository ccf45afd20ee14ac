//! `oracle: precomputed` — a matrix that is already there, or was drawn at random.

use std::sync::Arc;

use landmark_core::oracle::{AsymmetryPolicy, Oracle, Precomputed};
use landmark_report::Caveat;
use landmark_yaml::{Entry, Keys, Section};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::{GivenScore, Items, Opened, Opening, OracleSettings, OracleSpec, Orders, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems};
use crate::program_check::below_the_rest;

pub static PRECOMPUTED: OracleSpec = OracleSpec {
    entry: Entry {
        id: "precomputed",
        summary: "a matrix that is already there, read from the dataset",
        keys: Keys::of::<GivenScore>(),
        source: "any `.npy`",
    },
    reads: &[ItemKind::Matrix],
    read,
};

#[derive(Debug)]
struct PrecomputedConfig {
    score: GivenScore,
}

/// Keys that are not written are null, on which hashes of configurations depend.
impl Serialize for PrecomputedConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "gamma": self.score.gamma, "symmetrize": self.score.symmetrize }).serialize(serializer)
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    Some(Arc::new(PrecomputedConfig { score: section.part()? }))
}

impl OracleSettings for PrecomputedConfig {
    /// Not where each pair is read in one order alone.
    fn is_given(&self) -> bool {
        self.score.symmetrize != Some(Orders::Random)
    }

    fn given(&self) -> Option<GivenScore> {
        Some(self.score)
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Matrix(given) = items else { return Err(LoadError::pair(dataset, PRECOMPUTED.entry.id)) };
        let policy = if self.score.symmetrize.is_some() { AsymmetryPolicy::Keep } else { AsymmetryPolicy::Reject };
        let off_diagonal: Vec<f64> =
            given.matrix.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, &value)| value).collect();
        let warning = below_the_rest(given.matrix.diag().to_vec().as_slice(), &off_diagonal);
        let warning = warning.filter(|_| self.score.gamma.is_none() && given.matrix.nrows() > 2);
        let caveat = |text| Caveat { dataset: Some(dataset.clone()), text, breaks_comparison: false };
        let stamps = stamps.into_iter().chain(warning.map(caveat)).collect();
        let raw: Arc<dyn Oracle> = Arc::new(Precomputed::new(given.matrix, policy)?);
        Ok(Opened {
            item_list: None,
            raw: symmetrized(&raw, self.score.symmetrize, opening.run.seed),
            as_given: raw,
            description: given.description,
            is_priced: false,
            items: Items::Matrix { labels: given.labels },
            stamps,
            notes,
            facts: json!({}),
        })
    }
}
