//! `retrieval:` — the proxies and the calls an item that `experiment: retrieval` tries.

use landmark_yaml::{FromNode, Keys, Node, Problems, Section, Value, from_node};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::own_section::OwnSection;
use super::proxy::{ProxyConfig, ProxyKind};

/// Neighbors at a number of calls an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrievalConfig {
    /// cheap relatives, each as under `proxy`: all baselines run with each of them
    #[serde(deserialize_with = "proxies")]
    #[schemars(with = "ProxyConfig", example = ["rwmd"])]
    pub proxies: Vec<ProxyKind>,
    /// calls per item
    #[serde(default = "calls")]
    #[schemars(inner(range(min = 1)), length(min = 1))]
    pub calls: Vec<usize>,
    /// rounds of the baselines that work in rounds
    #[serde(default = "rounds")]
    #[schemars(range(min = 1))]
    pub rounds: usize,
    /// parts of the search; it also runs without each of them
    #[serde(default = "SearchPart::all")]
    #[schemars(example = [SearchPart::Process])]
    pub ablations: Vec<SearchPart>,
}

/// A part of the search in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchPart {
    /// the Gaussian process over pairs
    Process,
    /// kriging on an item's known scores
    Kriging,
    /// hubness in the link
    Hubness,
    /// the transform of scores to ranks
    RankTransform,
    /// more rounds than one
    Rounds,
    /// pairs that the proxy alone chooses
    Share,
    /// the proxy, so that hubness and columns remain
    Proxy,
}

impl SearchPart {
    pub const ALL: [Self; 7] =
        [Self::Process, Self::Kriging, Self::Hubness, Self::RankTransform, Self::Rounds, Self::Share, Self::Proxy];

    pub fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    /// These parts, each once and in the order of [`Self::ALL`].
    pub fn in_order(parts: &[Self]) -> Vec<Self> {
        Self::ALL.into_iter().filter(|part| parts.contains(part)).collect()
    }
}

fn calls() -> Vec<usize> {
    vec![5, 10, 20, 50, 100]
}

fn rounds() -> usize {
    4
}

/// A proxy, or a list of them.
struct Proxies(Vec<ProxyKind>);

impl FromNode for Proxies {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let Value::List(items) = &node.value else {
            return ProxyKind::from_node(node, path, problems).map(|proxy| Self(vec![proxy]));
        };
        let read = |(index, item)| ProxyKind::from_node(item, &format!("{path}[{index}]"), problems);
        items.iter().enumerate().map(read).collect::<Option<_>>().map(Self)
    }
}

fn proxies<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ProxyKind>, D::Error> {
    from_node(deserializer).map(|Proxies(proxies)| proxies)
}

impl RetrievalConfig {
    /// What tables call the search.
    pub const SEARCH: &'static str = "rounds";
    /// What tables call reranking the candidates of a proxy.
    pub const RERANKING: &'static str = "proxy + rescore";

    pub const KEYS: Keys = Keys::of::<Self>().under("retrieval");

    pub fn read(section: &Section<'_>) -> Option<Self> {
        section.whole()
    }
}

impl OwnSection for RetrievalConfig {
    fn proxies(&self) -> Vec<&ProxyKind> {
        self.proxies.iter().collect()
    }
}
