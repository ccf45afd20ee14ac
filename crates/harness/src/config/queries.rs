//! `queries:` — past queries, from which `experiment: search` draws its anchors.

use landmark_neighbors::search::IndexParams;
use landmark_yaml::{ConfigPath, Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dataset::TextsConfig;
use super::proxy::ProxyKind;

/// Past queries and how items are searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueriesConfig {
    /// The file of past queries.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub texts: TextsConfig,
    /// past queries, drawn uniformly, to score with every item
    #[schemars(range(min = 1))]
    pub anchors: usize,
    /// a cheap relative of the score, as under `proxy`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyKind>,
    /// embeddings of the past queries, for a proxy with a `path`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<ConfigPath>,
    /// calls a query at which the index is tried on its anchors
    #[schemars(inner(range(min = 1)), length(min = 1))]
    pub calls: Vec<usize>,
    /// Parameters of a search.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub params: IndexParams,
}

impl Default for QueriesConfig {
    fn default() -> Self {
        let (texts, params) = (TextsConfig::default(), IndexParams::default());
        Self { texts, anchors: 40, proxy: None, embeddings: None, calls: vec![5, 10, 20, 50], params }
    }
}

impl QueriesConfig {
    pub const KEYS: Keys = Keys::of::<TextsConfig>().and::<Self>().and::<IndexParams>().under("queries");

    pub fn read(section: &Section<'_>) -> Option<Self> {
        let (texts, queries, params) = (TextsConfig::read(section), section.part::<Self>(), section.part());
        section.finish(&[]);
        let queries = Self { texts: texts?, params: params?, ..queries? };
        if matches!(queries.proxy, Some(ProxyKind::EmbeddingCosine { .. })) && queries.embeddings.is_none() {
            section.refuse(
                "proxy",
                "`queries.proxy` reads embeddings of the items from a file; name those of the past queries: `embeddings: past.npy`",
            );
        }
        Some(queries)
    }
}
