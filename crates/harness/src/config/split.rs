//! `split:` — which items are learned from.

use schemars::JsonSchema;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

/// Train/test split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SplitConfig {
    /// The dataset's own split.
    Given,
    /// In each replicate a random share to train on.
    Train(#[serde(deserialize_with = "share")] f64),
}

impl Default for SplitConfig {
    fn default() -> Self {
        Self::Train(0.7)
    }
}

/// A share between 0 and 1.
pub(super) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let is_good = share > 0.0 && share < 1.0;
    is_good.then_some(share).ok_or_else(|| Error::invalid_value(Unexpected::Float(share), &"a share between 0 and 1"))
}
