//! A sweep of approximators over one similarity matrix: items, oracle, methods, ranks, and how the outcome is measured.

use std::any::Any;
use std::sync::Arc;

use landmark_store::SyncPolicy;
use landmark_yaml::{Entry, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

use super::dataset::DatasetConfig;
use super::landmarks::LandmarkConfig;
use super::method::MethodConfig;
use super::own_section::OwnSection;
use super::proxy::{ProxyConfig, ProxyKind};
use super::queries::QueriesConfig;
use super::reading::Reading;
use super::search::SearchConfig;
use super::settings::{Budget, ErrorEstimateConfig, ErrorEstimateKey, SvmConfig};
use super::values::{Compare, Rank, Ranks, Tuned};
use crate::oracles::{OracleConfig, Orders};

#[derive(Debug, Clone, Serialize)]
pub struct MatrixSubject {
    /// Experiment, which defines what is measured.
    pub experiment: &'static ExperimentEntry,
    pub dataset: DatasetConfig,
    /// Similarity function that scores a pair.
    pub oracle: OracleConfig,
    /// The methods, in the order of the tables.
    pub methods: Vec<MethodConfig>,
    /// Selection policy of the landmark columns.
    pub landmarks: LandmarkConfig,
    /// The ranks, as written: counts or shares of n.
    pub ranks: Vec<Rank>,
    /// Basis on which methods are compared.
    pub compare: Compare,
    pub budget: Budget,
    /// Moment from which calls are safe from a power cut.
    #[serde(skip)]
    pub sync: SyncPolicy,
    #[serde(rename = "tuning")]
    pub search: SearchConfig,
    pub svm: SvmConfig,
    pub error_estimate: Option<ErrorEstimateConfig>,
    /// Grow the rank, up to the largest of `ranks`, until the estimate of the relative error is below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_error: Option<f64>,
    /// The section that the experiment reads for itself.
    #[serde(skip)]
    pub own: Option<Arc<dyn OwnSection>>,
}

/// The keys of a sweep, in addition to its dataset, oracle and methods.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SweepKeys {
    /// which columns are evaluated
    landmarks: LandmarkConfig,
    /// at equal `rank`, as the papers do, at equal numbers of evaluated `entries`, or `both`
    compare: Option<Compare>,
    /// grow the rank, up to the largest of `ranks`, until the estimate of the relative error is below this
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    target_error: Option<f64>,
    /// hard limits of one run
    budget: Budget,
    /// the relative error, learned from random entries: `true`, a number of them, or a section
    error_estimate: Option<ErrorEstimateKey>,
}

/// What an experiment is for, as far as reading its configuration needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Compares approximations with all of K unless an estimate is asked for.
    Errors,
    /// Searches for γ, C and ranks on labeled items, of which it holds some back.
    Accuracy,
    /// Leaves one set of factors: one method at one rank.
    Factors,
    /// Measures something without a method.
    Matrix,
}

/// Reads what an experiment has of its own.
pub type ReadOwn = fn(&Section<'_>) -> Option<Arc<dyn OwnSection>>;

/// An experiment over one matrix, as far as reading its configuration needs to know it.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentEntry {
    /// Its line of the list; its keys stand in the section that they name.
    pub entry: Entry,
    pub purpose: Purpose,
    pub own: Option<ReadOwn>,
    /// Refuses what it cannot use.
    pub check: fn(&MatrixSubject, &Section<'_>),
}

impl ExperimentEntry {
    /// An experiment without a section of its own.
    pub const fn new(entry: Entry, purpose: Purpose) -> Self {
        Self { entry, purpose, own: None, check: |_, _| {} }
    }

    /// True if it compares approximations with all of K unless an estimate is asked for.
    pub fn is_about_errors(&self) -> bool {
        self.purpose == Purpose::Errors
    }

    /// True if it leaves one set of factors.
    pub fn makes_factors(&self) -> bool {
        self.purpose == Purpose::Factors
    }

    /// True if it searches for hyper-parameters on labeled items.
    pub fn searches(&self) -> bool {
        self.purpose == Purpose::Accuracy
    }
}

impl Serialize for ExperimentEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.entry.id)
    }
}

impl MatrixSubject {
    /// True where the method is fitted to one order a pair: its own wish, or that of the oracle.
    pub fn is_by_one_order(&self, method: &MethodConfig) -> bool {
        method.order.is_some() || self.oracle.orders() == Some(Orders::Random)
    }

    /// True where a call costs money, as far as the configuration states.
    pub(super) fn costs_money(&self) -> bool {
        self.budget.cost_per_entry.is_some() || self.oracle.settings().is_remote()
    }

    /// True where some method is.
    pub fn reads_one_order(&self) -> bool {
        self.oracle.orders() == Some(Orders::Random) || self.methods.iter().any(|method| method.order.is_some())
    }

    /// Reads its sections, which stand at the top of the file, each for itself.
    pub(super) fn read(
        experiment: &'static ExperimentEntry,
        section: &Section<'_>,
        reading: &Reading<'_>,
    ) -> Option<Self> {
        let Reading { known, problems } = *reading;
        let dataset: Option<DatasetConfig> = section.required("dataset");
        let oracle = section.required_node("oracle").and_then(|node| OracleConfig::read(node, known.oracles, problems));
        // two lists have no factors: a method names which proxy is searched by, and no more
        let is_across = dataset.as_ref().is_some_and(DatasetConfig::has_two_lists);
        let has_methods = section.has("methods") || (experiment.purpose != Purpose::Matrix && !is_across);
        let methods = if has_methods { section.required_node("methods") } else { None };
        let methods = methods.map(|node| MethodConfig::read_all(node, reading)).unwrap_or_default();
        let search = section.node("tuning").and_then(|node| SearchConfig::read(node, problems)).unwrap_or_default();
        let svm = section.node("svm").and_then(|node| SvmConfig::read(node, problems)).unwrap_or_default();
        // ranks that are searched for need no list
        let has_ranks = has_methods && search.rank.is_empty() && !is_across;
        let ranks: Option<Ranks> = if has_ranks { section.required("ranks") } else { section.optional("ranks") };
        let keys: Option<SweepKeys> = section.part();
        let own = match (experiment.own, experiment.entry.keys.section()) {
            (Some(read), Some(name)) => {
                let empty = landmark_yaml::Node::empty(section.place());
                let node = section.node(name).unwrap_or(&empty);
                Some(read(&Section::new(node, name, problems)?)?)
            }
            _ => None,
        };
        let keys = keys?;
        let is_own = experiment.makes_factors();
        Some(Self {
            experiment,
            landmarks: keys.landmarks,
            methods,
            ranks: ranks.unwrap_or_default().0,
            compare: if is_own { Compare::Rank } else { keys.compare.unwrap_or(Compare::Both) },
            budget: keys.budget,
            sync: SyncPolicy::default(),
            search,
            svm,
            target_error: keys.target_error,
            // factors of a user's own data come with their error, unless `false` is written
            error_estimate: match keys.error_estimate {
                Some(ErrorEstimateKey(estimate)) => estimate,
                None => is_own.then(ErrorEstimateConfig::default),
            },
            own,
            dataset: dataset?,
            oracle: oracle?,
        })
    }

    /// The section that the experiment reads for itself, if it is of this type.
    pub fn own_section<S: OwnSection>(&self) -> Option<&S> {
        let own: &dyn Any = self.own.as_deref()?;
        own.downcast_ref()
    }

    /// Past queries, whose texts stand behind the items.
    pub fn queries(&self) -> Option<&QueriesConfig> {
        self.own.as_ref()?.queries()
    }

    /// The cheap relatives that anything in it names.
    pub fn proxies(&self) -> impl Iterator<Item = &ProxyKind> {
        let of_methods = self.methods.iter().filter_map(|method| method.proxy.as_ref()).flat_map(ProxyConfig::kinds);
        of_methods.chain(self.own.iter().flat_map(|own| own.proxies()))
    }

    pub fn smallest_gamma(&self) -> Option<f64> {
        Some(match self.oracle.gamma()? {
            Tuned::Fixed(gamma) => gamma,
            Tuned::Search => self.search.gamma.bounds().0,
        })
    }

    /// The sizes s of the axis for n items, ascending.
    pub fn sizes(&self, items: usize) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.ranks.iter().map(|rank| rank.of(items)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// True if scores are distances seen through exp(−γd).
    pub fn has_gamma(&self) -> bool {
        self.oracle.gamma().is_some()
    }

    pub fn fixed_gamma(&self) -> Option<f64> {
        match self.oracle.gamma() {
            Some(Tuned::Fixed(gamma)) => Some(gamma),
            Some(Tuned::Search) | None => None,
        }
    }

    /// The γ that all methods share: the fixed one, or the geometric middle of those searched.
    pub fn common_gamma(&self) -> Option<f64> {
        let searched = || {
            let (from, to) = self.search.gamma.bounds();
            (from * to).sqrt()
        };
        self.has_gamma().then(|| self.fixed_gamma().unwrap_or_else(searched))
    }

    /// With the section of the experiment, and without what it does not read.
    pub(super) fn to_json(&self) -> Result<Json, serde_json::Error> {
        let mut json = serde_json::to_value(self)?;
        if let Json::Object(map) = &mut json {
            if !self.experiment.searches() {
                map.retain(|key, _| key != "tuning" && key != "svm");
            }
            if let (Some(own), Some(name)) = (&self.own, self.experiment.entry.keys.section()) {
                map.insert(name.to_owned(), own.to_json()?);
            }
        }
        Ok(json)
    }
}
