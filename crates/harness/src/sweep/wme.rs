//! Word mover's embeddings in a sweep: the random documents of a replicate, scored through a metered store of their own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::approximate::{Approximate, ApproximateError};
use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;
use landmark_oracles::wmd::wme::{MOST_DOCUMENTS, RandomDocuments, WmeMethodParams, WmeParams};
use landmark_store::OracleLabel;
use serde_json::Value as Json;

use super::Setting;
use crate::config::MethodConfig;
use crate::job::{ExtraCalls, JobError};
use crate::metered_store::MeteredStore;
use crate::problem::{Problem, similarity};

pub const ID: &str = "wme";

/// Metered stores by seed and Dmax: the documents of one serve every γ and every R.
#[derive(Default)]
pub struct RandomStores(Mutex<HashMap<(u64, usize), Arc<MeteredStore>>>);

/// Dmax of a cell.
fn max_words(method: &MethodConfig, setting: Setting) -> usize {
    let own = method.params.get("max_words").and_then(Json::as_u64).and_then(|words| usize::try_from(words).ok());
    setting.max_words.or(own).unwrap_or(WmeMethodParams::default().max_words)
}

/// Distances to random documents that a search over the method's ranks may evaluate: its largest R for every Dmax it may try.
pub fn extra_calls(items: usize, columns: usize, candidates: usize) -> ExtraCalls {
    ExtraCalls { calls: (items * columns * candidates) as u64, pairs: "documents with the random ones of WME" }
}

impl RandomStores {
    /// The method of a sweep over the random documents of this seed.
    pub(super) fn method(
        &self,
        problem: &Problem,
        metered: &MeteredStore,
        method: &MethodConfig,
        seed: u64,
        setting: Setting,
    ) -> Result<Arc<dyn Approximate>, JobError> {
        let max_words = max_words(method, setting);
        let metered = self.open(problem, metered, seed, max_words)?;
        let method = WmeMethodParams { max_words }.check()?;
        Ok(Arc::new(method.over(similarity(metered.scores(), setting.gamma)?)))
    }

    fn open(
        &self,
        problem: &Problem,
        metered: &MeteredStore,
        seed: u64,
        max_words: usize,
    ) -> Result<Arc<MeteredStore>, JobError> {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(metered) = stores.get(&(seed, max_words)) {
            return Ok(Arc::clone(metered));
        }
        let failed = |what: &str, source| JobError::from(OracleError::Failed { what: what.to_owned(), source });
        let Some(words) = problem.words() else {
            let error = BadParameter::new("oracle", "over a matrix", "word mover's distance between documents").of(ID);
            return Err(ApproximateError::from(error).into());
        };
        let params = WmeParams { max_words, documents: MOST_DOCUMENTS };
        let random = RandomDocuments::draw(&words.clouds, params, seed)
            .map_err(|error| failed("drawing random documents", error.into()))?;
        let description = format!("{}, and random documents of at most {max_words} words", problem.description);
        let metered = metered
            .another(Arc::new(random), OracleLabel::new("wme", description))
            .map_err(|error| failed("the store of distances to random documents", error.into()))?;
        stores.insert((seed, max_words), Arc::clone(&metered));
        Ok(metered)
    }
}
