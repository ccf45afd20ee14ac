//! `oracle: { kind: http }` — a score behind an endpoint: a reranker, a pair scorer, a chat model as judge.

use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_http::{BatchParams, Http, HttpParams};
use landmark_yaml::{Entry, Keys, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scorer::Scorer;
use super::{GivenScore, Items, Opened, Opening, OracleSettings, OracleSpec, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems};

pub static HTTP: OracleSpec = OracleSpec {
    entry: Entry {
        id: "http",
        summary: "a score behind an endpoint: a reranker, a pair scorer, a chat model as judge",
        keys: Keys::of::<HttpParams>().and::<CheckKeys>().and::<GivenScore>(),
        source: "yours; docs/how-to/endpoint.md",
    },
    reads: &[ItemKind::Texts],
    read,
};

#[derive(Debug, Serialize)]
struct HttpConfig {
    /// The endpoint, and how it is treated.
    #[serde(flatten)]
    params: HttpParams,
    #[serde(flatten)]
    score: GivenScore,
    /// Pairs that are asked in both orders; they move no score.
    #[serde(skip)]
    checks: usize,
}

/// The key by which an endpoint is checked.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct CheckKeys {
    /// `symmetric: true`: pairs that are scored in both orders before the first score
    checks: usize,
}

impl Default for CheckKeys {
    fn default() -> Self {
        Self { checks: 8 }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    let CheckKeys { checks } = section.part()?;
    let score = section.part()?;
    let mut params: HttpParams = section.part()?;
    let folder = section.problems().folder();
    params.certificate = params.certificate.map(|file| folder.join(file));
    params.batch = params.batch.map(|batch| BatchParams { folder: folder.join(&batch.folder), ..batch });
    if let Err(error) = params.check() {
        section.problems().add(Problem::new(format!("`oracle`: {error}")).at(section.place()));
    }
    Some(Arc::new(HttpConfig { params, score, checks }))
}

impl OracleSettings for HttpConfig {
    fn given(&self) -> Option<GivenScore> {
        Some(self.score)
    }

    fn checks(&self) -> usize {
        // a job of many requests takes hours
        if self.params.symmetric && self.params.batch.is_none() { self.checks } else { 0 }
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_priced(&self) -> bool {
        self.params.price.is_some()
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Texts(texts) = items else { return Err(LoadError::pair(dataset, HTTP.entry.id)) };
        let endpoint = Arc::new(Http::new(self.params.clone(), Arc::clone(&texts.scored), opening.money)?);
        let given: Arc<dyn Oracle> = Arc::clone(&endpoint) as _;
        let (url, model) = (endpoint.url().clone(), self.params.model.as_deref().unwrap_or("its model"));
        let scorer = Scorer::Endpoint(Arc::clone(&endpoint));
        let item_list = scorer.item_list();
        let items = Items::of_texts(&texts, Some(scorer), &given, self.score.symmetrize);
        Ok(Opened {
            item_list,
            items,
            raw: symmetrized(&given, self.score.symmetrize, opening.run.seed),
            as_given: given,
            description: texts.description(&format!("scored by {model} at {url}")),
            is_priced: true,
            stamps,
            notes,
            facts: json!({ "items": texts.scored.identity().to_hex(), "url": url.as_str() }),
        })
    }
}
