//! Overlaps of the clusters of a key and a response: all that the figures need, in O(mentions).

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::CorefError;

/// Treatment of clusters of one mention, on both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Singletons {
    Keep,
    /// They are taken out before scoring, as the figures of ECB+ are published.
    #[default]
    Drop,
}

impl Singletons {
    pub(super) fn dropped(self) -> usize {
        match self {
            Self::Keep => 0,
            Self::Drop => 1,
        }
    }
}

pub(super) struct Contingency {
    pub(super) key_sizes: Vec<usize>,
    pub(super) response_sizes: Vec<usize>,
    /// For each key cluster: (response cluster, mentions in both), by rising response cluster.
    pub(super) overlaps: Vec<Vec<(usize, usize)>>,
}

impl Contingency {
    /// Looks every mention up; empty clusters fall out, and those of one mention if the policy drops them.
    pub(super) fn new<M: Hash + Eq + Display>(
        key: &[Vec<M>],
        response: &[Vec<M>],
        singletons: Singletons,
        document: usize,
    ) -> Result<Self, CorefError> {
        places(key, "key", document)?; // for its check alone
        let cluster_of = places(response, "response", document)?;
        let counts = |cluster: &&Vec<M>| cluster.len() > singletons.dropped();
        // response clusters that count, renumbered
        let mut numbers = vec![None; response.len()];
        let mut response_sizes = Vec::new();
        for (place, cluster) in response.iter().enumerate().filter(|(_, cluster)| counts(cluster)) {
            numbers[place] = Some(response_sizes.len());
            response_sizes.push(cluster.len());
        }
        let (mut key_sizes, mut overlaps) = (Vec::new(), Vec::new());
        for cluster in key.iter().filter(counts) {
            let found = |mention: &M| cluster_of.get(mention).and_then(|&place| numbers[place]);
            let mut found: Vec<usize> = cluster.iter().filter_map(found).collect();
            found.sort_unstable();
            overlaps.push(found.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect());
            key_sizes.push(cluster.len());
        }
        Ok(Self { key_sizes, response_sizes, overlaps })
    }

    /// The same with key and response exchanged: recall becomes precision.
    pub(super) fn transposed(&self) -> Self {
        let mut overlaps = vec![Vec::new(); self.response_sizes.len()];
        for (key, cells) in self.overlaps.iter().enumerate() {
            cells.iter().for_each(|&(response, count)| overlaps[response].push((key, count)));
        }
        Self { key_sizes: self.response_sizes.clone(), response_sizes: self.key_sizes.clone(), overlaps }
    }

    pub(super) fn common(&self) -> usize {
        self.overlaps.iter().flatten().map(|cell| cell.1).sum()
    }

    pub(super) fn key_mentions(&self) -> usize {
        self.key_sizes.iter().sum()
    }

    pub(super) fn response_mentions(&self) -> usize {
        self.response_sizes.iter().sum()
    }
}

fn places<'a, M: Hash + Eq + Display>(
    clusters: &'a [Vec<M>],
    side: &'static str,
    document: usize,
) -> Result<HashMap<&'a M, usize>, CorefError> {
    let mut places = HashMap::with_capacity(clusters.iter().map(Vec::len).sum());
    for (place, cluster) in clusters.iter().enumerate() {
        for mention in cluster {
            if places.insert(mention, place).is_some() {
                return Err(CorefError::Duplicate { mention: mention.to_string(), side, document });
            }
        }
    }
    Ok(places)
}
