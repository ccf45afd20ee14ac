//! A method as a configuration names it: its line of the registry, and how its keys become a checked approximator.

use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError};
use landmark_core::approximation::Known;
use landmark_yaml::{Entry, Keys, Problem, Section};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::entries::EntriesConfig;
use super::proxy::ProxyConfig;

/// A method: how it is named, what it costs, how it is built from the keys of a configuration.
pub struct MethodEntry {
    pub id: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    pub formula: &'static str,
    /// Entries it evaluates, as the papers count them.
    pub entries: &'static str,
    pub source: &'static str,
    pub keys: Keys,
    /// True where its result depends on the landmarks.
    pub draws: bool,
    /// True where its result depends on the rank.
    pub sized: bool,
    pub read: fn(&Section<'_>) -> Option<Built>,
}

/// A method with its parameters as they are after defaults.
pub struct Built {
    /// Every parameter, written or not.
    pub params: Map<String, Json>,
    pub approximator: Arc<dyn Approximate>,
}

impl MethodEntry {
    /// With the keys that every method takes in addition to its own.
    pub fn in_a_list(&self) -> Entry {
        Entry { keys: self.keys.and::<MethodKeys>(), ..self.entry() }
    }

    /// As the other lists have it.
    pub fn entry(&self) -> Entry {
        Entry { id: self.id, summary: self.summary, keys: self.keys, source: self.source }
    }
}

/// The keys that every method takes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MethodKeys {
    /// label in tables and figures; its id and what distinguishes it unless given
    pub(super) name: Option<String>,
    /// entries that the approximation returns exactly: `landmarks`, `diagonal`
    pub(super) known: Known,
    /// `random`: one order a pair instead of the mean of both, at half the calls
    pub(super) order: Option<MethodOrder>,
    /// approximate the residual of this instead of the matrix
    pub(super) proxy: Option<ProxyConfig>,
    /// what its calls go to: `columns`, or also single pairs
    pub(super) entries: EntriesConfig,
}

/// Order of a pair that a method reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodOrder {
    /// One random order per pair.
    Random,
}

/// The keys of a method that takes none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// Reads the keys that are fields of `P` and checks them; whatever is wrong points at its key.
pub fn read_method<P, M>(section: &Section<'_>, check: fn(P) -> Result<M, ApproximateError>) -> Option<Built>
where
    P: DeserializeOwned + Serialize + JsonSchema,
    M: Approximate + 'static,
{
    let params: P = section.part()?;
    let Ok(Json::Object(map)) = serde_json::to_value(&params) else {
        section.problems().add(Problem::new("the parameters of a method can't be written down").at(section.place()));
        return None;
    };
    match check(params) {
        Ok(method) => Some(Built { params: map, approximator: Arc::new(method) }),
        Err(error) => {
            let key = match &error {
                ApproximateError::Parameter(bad) => bad.parameter,
                _ => "",
            };
            section.refuse(key, error.to_string());
            None
        }
    }
}
