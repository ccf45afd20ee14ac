//! `oracle: precomputed` — a matrix that is already there, or was drawn at random.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{AsymmetryPolicy, Oracle, Precomputed};
use landmark_report::Caveat;
use landmark_yaml::{Entry, Section, parameter};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Items, Opened, Opening, OracleSettings, OracleSpec, Orders, gamma, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::config::values::Tuned;
use crate::loaded::{LoadError, Loaded, LoadedItems};
use crate::program_check::below_the_rest;

/// The matrix of the dataset.
pub static PRECOMPUTED: OracleSpec = OracleSpec {
    entry: Entry {
        id: "precomputed",
        summary: "a matrix that is already there, read from the dataset",
        parameters: &[
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the matrix holds similarities"),
            parameter(
                "symmetrize",
                "none",
                "an asymmetric matrix becomes the `mean`, `max` or `min` of both orders; `random`: one order a pair, for the mean",
            ),
        ],
        source: "any `.npy`",
    },
    reads: &[ItemKind::Matrix],
    read,
};

/// The matrix of the dataset.
#[derive(Debug, Serialize)]
struct PrecomputedConfig {
    /// γ: where given, the matrix holds distances and the similarity is exp(−γ·d).
    gamma: Option<Tuned>,
    /// Symmetrization of an asymmetric matrix, where given.
    symmetrize: Option<Orders>,
}

fn read(section: &Section<'_>, _folder: &Path) -> Option<Arc<dyn OracleSettings>> {
    let gamma = gamma(section);
    let symmetrize = section.optional("symmetrize");
    section.finish(&[]);
    let gamma = gamma.map_or(Some(None), |gamma| gamma.map(Some))?;
    Some(Arc::new(PrecomputedConfig { gamma, symmetrize }))
}

impl OracleSettings for PrecomputedConfig {
    /// Not where each pair is read in one order alone.
    fn is_given(&self) -> bool {
        self.symmetrize != Some(Orders::Random)
    }

    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }

    fn gamma(&self) -> Option<Tuned> {
        self.gamma
    }

    fn orders(&self) -> Option<Orders> {
        self.symmetrize
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Matrix(given) = items else { return Err(LoadError::pair(dataset, PRECOMPUTED.entry.id)) };
        let policy = if self.symmetrize.is_some() { AsymmetryPolicy::Keep } else { AsymmetryPolicy::Reject };
        let off_diagonal: Vec<f64> =
            given.matrix.indexed_iter().filter(|((i, j), _)| i != j).map(|(_, &value)| value).collect();
        let warning = below_the_rest(given.matrix.diag().to_vec().as_slice(), &off_diagonal);
        let warning = warning.filter(|_| self.gamma.is_none() && given.matrix.nrows() > 2);
        let caveat = |text| Caveat { dataset: Some(dataset.clone()), text, breaks_comparison: false };
        let stamps = stamps.into_iter().chain(warning.map(caveat)).collect();
        let raw: Arc<dyn Oracle> = Arc::new(Precomputed::new(given.matrix, policy)?);
        Ok(Opened {
            item_list: None,
            raw: symmetrized(&raw, self.symmetrize, opening.run.seed),
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
