//! A sweep of approximators over one similarity matrix: items, oracle, methods, ranks, and how the outcome is measured.

use landmark_store::SyncPolicy;
use landmark_yaml::{Entry, Node, Problem, Problems, Section, Value};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::coverage::CoverageConfig;
use super::dataset::DatasetConfig;
use super::landmarks::LandmarkConfig;
use super::method::{MethodConfig, ProxyConfig, ProxyKind};
use super::queries::QueriesConfig;
use super::reading::Reading;
use super::retrieval::RetrievalConfig;
use super::search::SearchConfig;
use super::settings::{Budget, ErrorEstimateConfig, OutputConfig, SpectrumConfig, SvmConfig};
use super::values::{Compare, Rank, Tuned};
use crate::oracles::{OracleConfig, Orders};

/// Sweep of methods over one matrix.
#[derive(Debug, Clone, Serialize)]
pub struct MatrixSubject {
    /// Experiment, which says what is measured.
    pub experiment: &'static ExperimentEntry,
    /// The items.
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
    /// Hard limits.
    pub budget: Budget,
    /// Moment from which calls are safe from a power cut.
    #[serde(skip)]
    pub sync: SyncPolicy,
    /// Hyper-parameter search.
    pub search: SearchConfig,
    /// The classifier.
    pub svm: SvmConfig,
    /// Error estimate from extra entries; none where absent.
    pub error_estimate: Option<ErrorEstimateConfig>,
    /// Grow the rank, up to the largest of `ranks`, until the estimate of the relative error is below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_error: Option<f64>,
    /// Eigenvalues and histogram that `experiment: spectrum` shows.
    pub spectrum: SpectrumConfig,
    /// Output of `experiment: own_data`.
    pub output: OutputConfig,
    /// The recalls that `experiment: coverage` has stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageConfig>,
    /// Settings of `experiment: retrieval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<RetrievalConfig>,
    /// Past queries of `experiment: search`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<QueriesConfig>,
}

/// An experiment over one matrix, as far as reading its configuration needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExperimentEntry {
    /// Its line of the catalogue.
    pub entry: Entry,
    /// Sections of a sweep that it does not read.
    pub unread: &'static [&'static str],
    /// True where it measures something without a method.
    pub methods_optional: bool,
    /// True where it compares approximations with all of K unless an estimate is asked for.
    pub is_about_errors: bool,
    /// True where it searches for γ, C and ranks on labelled items, of which it holds some back.
    pub searches: bool,
    /// True where it needs labelled pairs of sentences.
    pub needs_pairs: bool,
    /// True where it leaves one set of factors: one method at one rank.
    pub makes_factors: bool,
    /// True where it reads the section `coverage`.
    pub reads_coverage: bool,
    /// True where it reads the section `retrieval`.
    pub reads_retrieval: bool,
    /// True where it reads the section `queries`, whose texts stand behind the items.
    pub reads_queries: bool,
}

impl ExperimentEntry {
    /// An experiment that reads every section and demands nothing.
    pub const fn new(entry: Entry) -> Self {
        Self {
            entry,
            unread: &[],
            methods_optional: false,
            is_about_errors: false,
            searches: false,
            needs_pairs: false,
            makes_factors: false,
            reads_coverage: false,
            reads_retrieval: false,
            reads_queries: false,
        }
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

    /// True where a call costs money, as far as the configuration says.
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
        let Reading { folder, known, problems } = *reading;
        let dataset = section
            .required_node("dataset")
            .and_then(|node| DatasetConfig::read(node, known.datasets, folder, problems));
        let oracle =
            section.required_node("oracle").and_then(|node| OracleConfig::read(node, known.oracles, folder, problems));
        let has_methods = section.has("methods") || !experiment.methods_optional;
        let methods = if has_methods { section.required_node("methods") } else { None };
        let methods = methods.map(|node| MethodConfig::read_all(node, reading)).unwrap_or_default();
        let search = section.node("search").and_then(|node| SearchConfig::read(node, problems)).unwrap_or_default();
        // ranks that are searched for need no list
        let has_ranks = has_methods && search.rank.is_empty();
        let ranks = if has_ranks { section.required_node("ranks") } else { section.node("ranks") };
        let ranks = ranks.map(|node| read_ranks(node, problems)).unwrap_or_default();
        let landmarks = section.node("landmarks");
        let landmarks = landmarks.map(|node| LandmarkConfig::read(node, "landmarks", reading));
        let part = |key| section.node(key);
        let is_own = experiment.makes_factors;
        let output = if is_own { part("output") } else { None };
        let estimate = part("error_estimate").and_then(|node| ErrorEstimateConfig::read(node, problems));
        let retrieval = if experiment.reads_retrieval { Some(RetrievalConfig::read(section, reading)?) } else { None };
        let queries = if experiment.reads_queries { Some(QueriesConfig::read(section, reading)?) } else { None };
        let coverage = if experiment.reads_coverage { Some(CoverageConfig::read(section, reading)?) } else { None };
        Some(Self {
            experiment,
            coverage,
            retrieval,
            queries,
            landmarks: landmarks.unwrap_or(Some(LandmarkConfig::Uniform)).unwrap_or(LandmarkConfig::Uniform),
            methods,
            ranks,
            compare: if is_own { Compare::Rank } else { section.or("compare", Compare::Both) },
            budget: part("budget").and_then(|node| Budget::read(node, problems)).unwrap_or_default(),
            sync: SyncPolicy::default(),
            search,
            svm: part("svm").and_then(|node| SvmConfig::read(node, problems)).unwrap_or_default(),
            target_error: section.checked("target_error", |&e: &f64| e > 0.0 && e < 1.0, "between 0 and 1"),
            // whoever approximates a matrix of their own wants to know how well, unless they say `false`
            error_estimate: estimate.unwrap_or_else(|| is_own.then(ErrorEstimateConfig::default)),
            output: output.and_then(|node| OutputConfig::read(node, problems)).unwrap_or_default(),
            spectrum: part("spectrum").and_then(|node| SpectrumConfig::read(node, problems)).unwrap_or_default(),
            dataset: dataset?,
            oracle: oracle?,
        })
    }

    /// The cheap relatives that anything in it names.
    pub fn proxies(&self) -> impl Iterator<Item = &ProxyKind> {
        let of_methods = self.methods.iter().filter_map(|method| method.proxy.as_ref()).flat_map(ProxyConfig::kinds);
        let alone = self.retrieval.iter().flat_map(|retrieval| &retrieval.proxies);
        let covered = self.coverage.iter().map(|coverage| &coverage.proxy);
        of_methods.chain(alone).chain(covered).chain(self.queries.iter().filter_map(|queries| queries.proxy.as_ref()))
    }

    /// The smallest γ of the configuration.
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

    /// γ if the configuration fixes it.
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

    /// Without the sections that this experiment does not read.
    pub(super) fn to_json(&self) -> Result<Json, serde_json::Error> {
        let mut json = serde_json::to_value(self)?;
        if let Json::Object(map) = &mut json {
            map.retain(|key, _| !self.experiment.unread.contains(&key.as_str()));
        }
        Ok(json)
    }
}

fn read_ranks(node: &Node, problems: &Problems) -> Vec<Rank> {
    match &node.value {
        Value::List(items) if !items.is_empty() => {
            let read = |(index, item)| Rank::read(item, &format!("ranks[{index}]"), problems);
            items.iter().enumerate().filter_map(read).collect()
        }
        Value::Integer(_) | Value::Number(_) => Rank::read(node, "ranks", problems).into_iter().collect(),
        _ => {
            let message = format!("`ranks` is {}, but must be a number, or a list of at least one", node.describe());
            problems.add(Problem::new(message).at(node.place).help("for example `[50, 100, 200]` or `[0.1, 0.2]`"));
            Vec::new()
        }
    }
}
