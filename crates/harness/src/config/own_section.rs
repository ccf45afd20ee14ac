//! A section that an experiment reads for itself, and what the rest of a sweep asks it.

use std::any::Any;
use std::fmt;

use serde::Serialize;
use serde_json::Value as Json;

use super::proxy::ProxyKind;
use super::queries::QueriesConfig;

/// Settings as `run.json` has them: keys after defaults.
pub trait ToJson {
    fn to_json(&self) -> serde_json::Result<Json>;
}

impl<T: Serialize> ToJson for T {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }
}

/// A section that an experiment reads for itself.
pub trait OwnSection: ToJson + Any + fmt::Debug + Send + Sync {
    /// The cheap relatives that it names.
    fn proxies(&self) -> Vec<&ProxyKind> {
        Vec::new()
    }

    /// Past queries, whose texts stand behind the items.
    fn queries(&self) -> Option<&QueriesConfig> {
        None
    }
}

impl OwnSection for QueriesConfig {
    fn proxies(&self) -> Vec<&ProxyKind> {
        self.proxy.iter().collect()
    }

    fn queries(&self) -> Option<&Self> {
        Some(self)
    }
}
