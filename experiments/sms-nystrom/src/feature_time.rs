//! `experiment: feature_time` — seconds to make the features of WME and of SMS-Nyström: table 6 of the SMS-Nyström paper.
//!
//! Both from the word vectors in memory to an n × rank matrix, one after the other on the same threads, without a store:
//! WME draws R random documents and evaluates n·R distances; SMS-Nyström evaluates n·s1 + (s2 − s1)² of them and factors. Every
//! repetition does the same work again.
//!
//! Cost: replicates × (the calls of both methods) for each corpus and size.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::approximate::{Approximate, SmsNystrom, SmsNystromParams};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Kernel, Kernelized, Metered, OracleShape, Spent};
use landmark_core::stream::stream;
use landmark_harness::config::{DatasetConfig, Rank, Reading, RunSettings};
use landmark_harness::facts::Facts;
use landmark_harness::layout::{About, Layout};
use landmark_harness::loaded::{EmptyDocuments, PlacedDocuments};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, Study, StudyContext, StudyEntry, StudyError, StudyWork, row};
use landmark_oracles::wmd::wme::{RandomDocuments, WmeParams, features};
use landmark_oracles::wmd::{Wmd, WordClouds};
use landmark_report::amounts::thousands;
use landmark_report::{Caveat, Metric, ResultRow, Subject};
use landmark_yaml::{Entry, Keys, Node, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod tables;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "feature_time",
        summary: "seconds to make the features of WME and of SMS-Nyström, in turn on the same threads",
        keys: Keys::of::<Settings>().under("feature_time"),
        source: "SMS-Nyström paper, table 6",
    },
    read,
};

/// The settings of the paper that a corpus can have ranks for.
const SIZES: [&str; 2] = ["small_rank", "large_rank"];

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Dmax, the most words of a random document
    #[serde(default = "most_words")]
    max_words: usize,
    /// γ of exp(−γ·WMD)
    #[serde(default = "gamma")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    gamma: f64,
    /// documents, each with its ranks: `small_rank`, `large_rank` or both
    #[schemars(extend("examples" = [[{ "dataset": { "name": "twitter", "vectors": "self300" }, "small_rank": { "wme": 128, "sms_nystrom": 421 } }]]))]
    corpora: Vec<Corpus>,
}

fn most_words() -> usize {
    WmeParams::default().max_words
}

fn gamma() -> f64 {
    0.1
}

/// Documents and the ranks to time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Corpus {
    /// documents, as under `dataset`
    dataset: DatasetConfig,
    /// the ranks of the paper's small setting
    #[serde(skip_serializing_if = "Option::is_none")]
    small_rank: Option<Size>,
    /// the ranks of its large one
    #[serde(skip_serializing_if = "Option::is_none")]
    large_rank: Option<Size>,
}

/// A setting of the paper with the rank of each method.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Size {
    wme: Rank,
    sms_nystrom: Rank,
}

impl Corpus {
    /// Its sizes by their keys.
    fn sizes(&self) -> impl Iterator<Item = (&'static str, &Size)> {
        let [small, large] = SIZES;
        [(small, &self.small_rank), (large, &self.large_rank)]
            .into_iter()
            .filter_map(|(comparison, size)| size.as_ref().map(|size| (comparison, size)))
    }
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let settings: Settings = section.whole()?;
    if let Err(error) = (WmeParams { max_words: settings.max_words, ..WmeParams::default() }).check() {
        section.refuse("max_words", error.to_string());
    }
    for corpus in &settings.corpora {
        let dataset = &corpus.dataset;
        if dataset.documents().is_none() {
            let message = format!("`feature_time.corpora` lists `{}`, which has no documents", dataset.name);
            problems.add(Problem::new(message).at(dataset.place));
        }
        if corpus.sizes().next().is_none() {
            let problem = Problem::new(format!("`{}` has no rank to time", dataset.name)).at(dataset.place);
            problems.add(problem.help("write `small_rank: { wme: 128, sms_nystrom: 421 }`, or `large_rank`"));
        }
    }
    Some(Arc::new(settings))
}

impl Study for Settings {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        json!(self)
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let mut timing = Timing {
            settings: self.clone(),
            sms: SmsNystromParams::default().check()?,
            run: context.run.clone(),
            threads: rayon::current_num_threads(),
            trials: Vec::new(),
            description: format!("{} corpora, features by WME and SMS-Nyström", self.corpora.len()),
            stamps: Vec::new(),
            notes: Vec::new(),
            facts: json!({}),
        };
        for corpus in &self.corpora {
            timing.place(corpus, context.data)?;
        }
        Ok(Box::new(timing))
    }

    fn layout(&self, run: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        tables::layout(rows, run.reference().as_ref(), self.max_words)
    }
}

struct Timing {
    settings: Settings,
    sms: SmsNystrom,
    run: RunSettings,
    threads: usize,
    trials: Vec<Trial>,
    description: String,
    stamps: Vec<Caveat>,
    notes: Vec<String>,
    facts: Json,
}

/// Both methods once.
#[derive(Clone)]
struct Trial {
    dataset: String,
    clouds: Arc<WordClouds>,
    comparison: &'static str,
    wme: usize,
    sms_nystrom: usize,
    /// Number of distances that either will ask for.
    distances: [u64; 2],
    replicate: usize,
}

/// The methods: id, and what tables call them.
const METHODS: [(&str, &str); 2] = [("wme", "WME"), ("sms_nystrom", "SMS-Nyström")];

impl Timing {
    /// Loads a corpus and lists its trials.
    fn place(&mut self, corpus: &Corpus, data: Option<&Path>) -> Result<(), StudyError> {
        let Some(items) = corpus.dataset.documents() else { return Ok(()) };
        // as the papers do
        let empty = EmptyDocuments::Drop;
        let placed = PlacedDocuments::load(&self.run, &corpus.dataset, items, empty, data)?;
        let n = placed.clouds.len();
        for (comparison, size) in corpus.sizes() {
            let trial = Trial {
                dataset: placed.dataset.clone(),
                clouds: Arc::clone(&placed.clouds),
                comparison,
                wme: size.wme.of(n),
                sms_nystrom: size.sms_nystrom.of(n),
                distances: [0; 2],
                replicate: 0,
            };
            WmeParams { max_words: self.settings.max_words, documents: trial.wme }.check()?;
            let distances = self.distances_planned(&trial)?;
            let trial = Trial { distances, ..trial };
            self.trials.extend((0..self.run.replicates).map(|replicate| Trial { replicate, ..trial.clone() }));
        }
        self.facts[&placed.dataset] = json!({
            "documents": n,
            "mean_words": placed.clouds.mean_words(),
            "clouds": placed.clouds.identity().to_hex(),
            "more": placed.facts,
        });
        self.stamps.extend(placed.stamps);
        self.notes.extend(placed.notes.iter().map(|note| format!("{}: {note}", placed.dataset)));
        Ok(())
    }

    /// Distances that WME and SMS-Nyström will ask for.
    fn distances_planned(&self, trial: &Trial) -> Result<[u64; 2], StudyError> {
        let shape = OracleShape::of(&Wmd::new(Arc::clone(&trial.clouds)));
        let plan = self.sms.plan(shape, &self.landmarks(trial), trial.sms_nystrom)?;
        Ok([(shape.len * trial.wme) as u64, plan.evaluations(shape)])
    }

    fn landmarks(&self, trial: &Trial) -> Landmarks {
        Landmarks::uniform(trial.clouds.len(), &mut stream(self.run.seed, &trial.dataset, "landmarks", 0))
    }

    fn kernel(&self) -> Kernel {
        Kernel::Exponential { gamma: self.settings.gamma }
    }

    fn wme(&self, trial: &Trial) -> Result<Spent, StudyError> {
        let params = WmeParams { max_words: self.settings.max_words, documents: trial.wme };
        let meter = Metered::new(RandomDocuments::draw(&trial.clouds, params, self.run.seed)?);
        let similarity = Kernelized::new(&meter, self.kernel())?;
        black_box(features(&similarity, trial.clouds.len(), trial.wme)?);
        Ok(meter.spent())
    }

    fn sms_nystrom(&self, trial: &Trial) -> Result<Spent, StudyError> {
        let meter = Metered::new(Wmd::new(Arc::clone(&trial.clouds)));
        let similarity = Kernelized::new(&meter, self.kernel())?;
        let mut rng = stream(self.run.seed, &trial.dataset, "fit", 0);
        let landmarks = self.landmarks(trial);
        let fitted = self.sms.fit(&similarity, &landmarks, trial.sms_nystrom, Known::NOTHING, &mut rng)?;
        black_box(fitted.into_embedding()?.vectors);
        Ok(meter.spent())
    }

    /// Seconds to make the features, and of them the seconds that distances took.
    fn rows(&self, trial: &Trial, method: usize, seconds: f64, spent: &Spent) -> [ResultRow; 2] {
        let rank = if method == 0 { trial.wme } else { trial.sms_nystrom };
        let (id, name) = METHODS[method];
        [(Metric::FeatureSeconds, seconds), (Metric::Seconds, spent.seconds)].map(|(metric, value)| {
            let subject = Subject::new(&trial.dataset, id).called(name).items(trial.clouds.len());
            let row = row(&self.run, subject, metric, value).compared_at(trial.comparison);
            let row = row.at("columns", rank).at("rank", rank).cost(spent.cells, spent.evaluations);
            row.replicate(trial.replicate as u64)
        })
    }
}

impl StudyWork for Timing {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &self.stamps, notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |trial: &Trial| {
            let size = trial.comparison.replace('_', " ");
            let [wme, sms] = trial.distances.map(|distances| thousands(&distances.to_string()));
            let group = format!("{}, {size}: {wme} distances by WME, {sms} by SMS-Nyström", trial.dataset);
            let key = json!({
                "dataset": trial.dataset,
                "clouds": trial.clouds.identity().to_hex(),
                "comparison": trial.comparison,
                "wme": trial.wme,
                "sms_nystrom": trial.sms_nystrom,
                "max_words": self.settings.max_words,
                "gamma": self.settings.gamma,
                "threads": self.threads,
                "replicate": trial.replicate,
            });
            Part { title: format!("{group}, repetition {}", trial.replicate + 1), group, key }
        };
        self.trials.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let trial = &self.trials[part];
        let timed = |make: &dyn Fn() -> Result<Spent, StudyError>| {
            let start = Instant::now();
            make().map(|spent| (start.elapsed().as_secs_f64(), spent))
        };
        let (wme_seconds, wme) = timed(&|| self.wme(trial))?;
        let (sms_seconds, sms) = timed(&|| self.sms_nystrom(trial))?;
        Ok([self.rows(trial, 0, wme_seconds, &wme), self.rows(trial, 1, sms_seconds, &sms)].concat())
    }
}
