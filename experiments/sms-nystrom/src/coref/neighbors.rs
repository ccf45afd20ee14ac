//! The nearest of every mention in its topic at a few calls a mention, pooled over the topics.

use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::OracleShape;
use landmark_core::stream::Rng;
use landmark_harness::config::{ProxyKind, SearchPart};
use landmark_harness::study::StudyError;
use landmark_neighbors_experiment::retrieval::{Finding, METRICS, SearchMethod, Setup, findings};
use landmark_report::{Metric, Subject, Variant};
use landmark_tasks::retrieval::MeanWithInterval;

use super::bench::Topic;

/// Rounds of the methods that work in rounds.
const ROUNDS: usize = 4;

/// Worth of a method's lists over the topics where a number of calls leaves something to be found.
pub(super) struct Pooled {
    pub(super) method: SearchMethod,
    pub(super) calls: usize,
    pub(super) metric: Metric,
    pub(super) judged: MeanWithInterval,
    pub(super) spent: u64,
    /// Mentions whose lists were judged.
    pub(super) mentions: usize,
}

/// Findings of all methods in every topic, pooled by its mentions.
pub(super) fn pooled(
    topics: &[Topic],
    calls: &[usize],
    ablations: &[SearchPart],
    (seed, replicate): (u64, u64),
    draw: &dyn Fn(&Topic) -> Rng,
) -> Result<Vec<Pooled>, StudyError> {
    let mut found: Vec<(usize, Finding)> = Vec::new();
    for topic in topics {
        let n = topic.mentions.len();
        let landmarks = Landmarks::uniform(n, &mut draw(topic));
        let setup = Setup {
            matrix: topic.symmetric.matrix(),
            shape: OracleShape::of(&topic.scores),
            proxy: Arc::new(topic.proxy.clone()),
            landmarks: &landmarks,
            rounds: ROUNDS,
            seed: (seed, replicate),
        };
        found.extend(findings(setup, calls, ablations)?.into_iter().map(|finding| (n, finding)));
    }
    let mut all = Vec::new();
    for &calls in calls {
        for &(method, ..) in SearchMethod::ALL {
            for (metric, _) in METRICS {
                let here = found.iter().filter(|(_, f)| f.calls == calls && f.method == method && f.metric == metric);
                let sets: Vec<(MeanWithInterval, usize)> =
                    here.clone().map(|(n, finding)| (finding.judged, *n)).collect();
                let Some(judged) = MeanWithInterval::pooled(&sets) else { continue };
                let mentions = sets.iter().map(|(_, n)| n).sum();
                let spent = here.map(|(_, finding)| finding.spent).sum();
                all.push(Pooled { method, calls, metric, judged, spent, mentions });
            }
        }
    }
    Ok(all)
}

/// Dataset and name of a method's rows.
pub(super) fn subject(title: String, method: SearchMethod) -> Subject {
    let mut variant = Variant::default();
    variant.set("proxy", ProxyKind::MentionCosine.id());
    Subject {
        variant,
        is_cap: method == SearchMethod::Perfect,
        ..Subject::new(title, method.id()).called(method.name())
    }
}
