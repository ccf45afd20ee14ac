//! `queries:` — past queries, from which `experiment: search` draws its anchors.

use std::path::Path;

use landmark_neighbours::search::IndexParams;
use landmark_yaml::Section;
use serde::Serialize;

use super::dataset::TextsConfig;
use super::method::ProxyKind;
use super::reading::Reading;
use super::retrieval::read_calls;
use super::values::ConfigPath;

/// Past queries and how items are searched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueriesConfig {
    /// The file of past queries.
    #[serde(flatten)]
    pub texts: TextsConfig,
    /// Past queries that become anchors, drawn uniformly: each is scored with every item.
    pub anchors: usize,
    /// Cheap relative of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyKind>,
    /// Embeddings of the past queries, for a proxy that reads those of the items from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<ConfigPath>,
    /// Calls a query at which the index is tried on its own anchors.
    pub calls: Vec<usize>,
    /// Parameters of a search.
    #[serde(flatten)]
    pub params: IndexParams,
}

impl QueriesConfig {
    /// Reads the section of a file.
    pub(super) fn read(file: &Section<'_>, reading: &Reading<'_>) -> Option<Self> {
        let Reading { folder, problems, .. } = *reading;
        let section = Section::new(file.required_node("queries")?, "queries", problems)?;
        let texts = TextsConfig::read(&section, folder);
        let anchors = section.checked("anchors", |&anchors: &usize| anchors >= 1, "at least 1");
        let proxy = section.node("proxy").map(|node| ProxyKind::read_alone(node, "queries.proxy", reading));
        let embeddings = Self::path(&section, "embeddings", folder);
        let calls = read_calls(&section);
        let default = IndexParams::default();
        let params = IndexParams {
            rounds: section.checked("rounds", |&rounds: &usize| rounds >= 1, "at least 1").unwrap_or(default.rounds),
            share: section
                .checked("share", |share: &f64| (0.0..=1.0).contains(share), "between 0 and 1")
                .unwrap_or(default.share),
            ridge: section
                .checked("ridge", |&ridge: &f64| ridge > 0.0 && ridge.is_finite(), "a number above 0")
                .unwrap_or(default.ridge),
        };
        section.finish(&[]);
        let proxy = match proxy {
            Some(proxy) => Some(proxy?),
            None => None,
        };
        if matches!(proxy, Some(ProxyKind::EmbeddingCosine { .. })) && embeddings.is_none() {
            section.refuse(
                "proxy",
                "`queries.proxy` reads embeddings of the items from a file; name those of the past queries: `embeddings: past.npy`",
            );
        }
        Some(Self {
            texts: texts?,
            anchors: anchors.unwrap_or(40),
            proxy,
            embeddings,
            calls: calls.unwrap_or_else(|| vec![5, 10, 20, 50]),
            params,
        })
    }

    fn path(section: &Section<'_>, key: &'static str, folder: &Path) -> Option<ConfigPath> {
        let node = section.node(key)?;
        ConfigPath::read(node, &section.path_of(key), folder, section.problems())
    }
}
