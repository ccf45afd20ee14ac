//! A method as a configuration names it: its line of the catalogue, and how its keys become a checked approximator.

use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError};
use landmark_yaml::{Entry, Node, Parameter, Problem, Problems};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// A method: how it is named, what it costs, how it is built from the keys of a configuration.
pub struct MethodEntry {
    /// The stable name.
    pub id: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// The formula of K̃.
    pub formula: &'static str,
    /// Entries it buys, as the papers count them.
    pub entries: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// The keys it takes.
    pub parameters: &'static [Parameter],
    /// True where its result depends on the landmarks.
    pub draws: bool,
    /// True where its result depends on the rank.
    pub sized: bool,
    /// Reads and checks its keys.
    pub read: fn(&Node, &str, &Problems) -> Option<Built>,
}

/// A method with its parameters as they are after defaults.
pub struct Built {
    /// Every parameter, written or not.
    pub params: Map<String, Json>,
    /// The method itself.
    pub approximator: Arc<dyn Approximate>,
}

impl MethodEntry {
    /// As the other lists have it.
    pub fn entry(&self) -> Entry {
        Entry { id: self.id, summary: self.summary, parameters: self.parameters, source: self.source }
    }
}

/// The keys of a method that takes none.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// Reads raw parameters through serde and checks them; whatever is wrong points at its key.
pub fn read_method<P, M>(
    node: &Node,
    path: &str,
    problems: &Problems,
    check: fn(P) -> Result<M, ApproximateError>,
) -> Option<Built>
where
    P: DeserializeOwned + Serialize,
    M: Approximate + 'static,
{
    let params: P = problems.read(node, path)?;
    let Ok(Json::Object(map)) = serde_json::to_value(&params) else {
        problems.add(Problem::new(format!("the parameters of `{path}` can't be written down")).at(node.place));
        return None;
    };
    match check(params) {
        Ok(method) => Some(Built { params: map, approximator: Arc::new(method) }),
        Err(error) => {
            let place = match &error {
                ApproximateError::Parameter(bad) => node.get(bad.parameter).map_or(node.place, |key| key.place),
                _ => node.place,
            };
            problems.add(Problem::new(error.to_string()).at(place));
            None
        }
    }
}
