//! A method at a share of landmark mentions in one replicate: the merges that it makes of each topic.

use std::sync::Arc;

use landmark_core::approximation::Approximation;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape};
use landmark_core::stream::stream;
use landmark_harness::config::MethodConfig;
use landmark_harness::study::StudyError;
use landmark_tasks::coreference::{CondensedDistances, Dendrogram};
use rayon::prelude::*;

use super::bench::Topic;
use super::{Settings, Source};

/// A method, its share of landmark mentions and its random numbers.
pub(super) struct Draw<'a> {
    pub(super) settings: &'a Settings,
    pub(super) entry: &'a MethodConfig,
    pub(super) source: Source,
    /// Landmark mentions as a share of a topic's.
    pub(super) fraction: f64,
    pub(super) seed: u64,
    pub(super) replicate: u64,
}

/// A topic clustered on one minus what a method makes of its scores.
pub(super) struct Clustered {
    pub(super) dendrogram: Dendrogram,
    /// None of a topic without a pair.
    pub(super) fit: Option<Fit>,
}

/// An approximation and what it asked for.
pub(super) struct Fit {
    pub(super) approximation: Approximation,
    pub(super) columns: usize,
    /// Entries of K that it reads.
    pub(super) cells: u64,
    /// Calls that they take.
    pub(super) evaluations: u64,
}

impl Draw<'_> {
    /// The topics in their order, computed side by side: their matrices are too small for cores to share one.
    pub(super) fn clustered(&self, topics: &[Topic]) -> Result<Vec<Clustered>, StudyError> {
        topics.par_iter().map(|topic| self.topic(topic)).collect()
    }

    fn topic(&self, topic: &Topic) -> Result<Clustered, StudyError> {
        let fit = self.fit(topic)?;
        let distances = match &fit {
            Some(fit) => CondensedDistances::of_approximation(&fit.approximation)?,
            None => CondensedDistances::of_similarities(topic.symmetric.matrix().view())?,
        };
        Ok(Clustered { dendrogram: distances.link(self.settings.linkage), fit })
    }

    fn fit(&self, topic: &Topic) -> Result<Option<Fit>, StudyError> {
        let n = topic.mentions.len();
        if n < 2 {
            return Ok(None);
        }
        let dataset = self.settings.streams(self.source, &topic.name);
        let of = |purpose: &str| stream(self.seed, &dataset, purpose, self.replicate);
        let landmarks = Landmarks::uniform(n, &mut of("landmarks"));
        let proxy = self.entry.proxy.as_ref().map(|_| Arc::new(topic.proxy.clone()) as Arc<dyn Oracle>);
        let approximator = self.entry.around(proxy.into_iter().collect(), None)?;
        // between 1 and n
        let columns = ((self.fraction * n as f64).round() as usize).clamp(1, n);
        // SiCUR's share is that of its rows, as the authors count it
        let rank = match self.entry.id {
            "sicur" => (columns / 2).max(1),
            _ => columns,
        };
        let shape = OracleShape::of(&topic.scores);
        let plan = approximator.plan(shape, &landmarks, rank)?;
        let approximation = approximator.fit(&topic.scores, &landmarks, rank, self.entry.known, &mut of("fit"))?;
        Ok(Some(Fit { approximation, columns, cells: plan.cells(n), evaluations: plan.evaluations(shape) }))
    }
}

/// The merges of each topic.
pub(super) fn dendrograms(clustered: Vec<Clustered>) -> Vec<Dendrogram> {
    clustered.into_iter().map(|clustered| clustered.dendrogram).collect()
}
