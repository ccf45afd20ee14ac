//! `experiment: corpora` — what the corpora are made of: table 1 of the SMS-Nyström paper, counted, next to what was published.
//!
//! Cost: reading and tokenizing each corpus, no similarity.

use std::path::Path;
use std::sync::Arc;

use landmark_data::catalog::{self, PublishedStatistics};
use landmark_data::{Corpus, LabelledDocuments, Split};
use landmark_harness::config::Reading;
use landmark_harness::config::RunSettings;
use landmark_harness::config::dataset::{DatasetConfig, DocumentsConfig, SplitConfig};
use landmark_harness::facts::Facts;
use landmark_harness::layout::{About, Layout};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, Study, StudyContext, StudyEntry, StudyError, StudyWork, row};
use landmark_report::{Caveat, Metric, ResultRow, Subject, TableKind, TableSpec};
use landmark_yaml::{Entry, Keys, Node, Problem, Value};
use schemars::JsonSchema;
use serde_json::{Value as Json, json};

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "corpora",
        summary: "classes, documents, vocabulary and length of corpora, next to the published ones",
        keys: Keys::of::<CorporaKey>(),
        source: "SMS-Nyström paper, table 1",
    },
    read,
};

/// The statistics of a corpus, in the order of the table: id, what the table calls it, metric.
const STATISTICS: [(&str, &str, Metric); 5] = [
    ("classes", "classes", Metric::Count),
    ("train", "train", Metric::Count),
    ("test", "test", Metric::Count),
    ("vocabulary", "vocabulary", Metric::Count),
    ("length", "length", Metric::Length),
];

/// The corpora, as listed.
#[derive(Debug)]
struct Corpora(Vec<DatasetConfig>);

/// The key at the top of the file.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct CorporaKey {
    /// the datasets, each as under `dataset`
    #[schemars(extend("examples" = [[{ "name": "twitter", "vectors": "self300" }]]))]
    #[expect(dead_code, reason = "the list is the whole section")]
    corpora: Vec<DatasetConfig>,
}

impl Corpora {
    fn documents(&self) -> impl Iterator<Item = (&DatasetConfig, &DocumentsConfig)> {
        self.0.iter().filter_map(|dataset| Some((dataset, dataset.documents()?)))
    }
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    if !matches!(node.value, Value::List(_)) {
        let message = format!("`corpora` is {}, but must be a list of datasets", node.describe());
        problems.add(Problem::new(message).at(node.place).help("for example `[{ name: twitter, vectors: self300 }]`"));
        return None;
    }
    let corpora: Vec<DatasetConfig> = problems.read(node, ENTRY.entry.id)?;
    for dataset in corpora.iter().filter(|dataset| dataset.documents().is_none()) {
        let message = format!("`corpora` lists `{}`, which has no documents", dataset.name);
        problems.add(Problem::new(message).at(dataset.place));
    }
    Some(Arc::new(Corpora(corpora)))
}

impl Study for Corpora {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        json!(self.0)
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let corpora: Vec<_> =
            self.documents().map(|(dataset, documents)| (dataset.clone(), documents.clone())).collect();
        let mut stamps = Vec::new();
        let mut notes = Vec::new();
        for (dataset, documents) in &corpora {
            let entry = catalog::find(dataset.name)?;
            if !entry.caveat.is_empty() {
                notes.push(format!("{}: {}", label(dataset, documents), entry.caveat));
            }
            if let Some(limit) = documents.limit {
                let text = format!("at most {limit} documents");
                stamps.push(Caveat { dataset: Some(dataset.name.to_owned()), text, breaks_comparison: true });
            }
        }
        let run = context.run.clone();
        let data = context.data.map(Path::to_owned);
        let description = format!("{} corpora", corpora.len());
        Ok(Box::new(Counting { corpora, run, data, description, stamps, notes, facts: json!({}) }))
    }

    fn layout(&self, _: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        let mut head = vec!["corpus".to_owned(), "source".to_owned()];
        head.extend(STATISTICS.iter().map(|(_, name, metric)| match metric {
            Metric::Length => "distinct words a document".to_owned(),
            _ => (*name).to_owned(),
        }));
        let mut lines = Vec::new();
        for (dataset, documents) in self.documents() {
            let label = label(dataset, documents);
            let of = |id: &str| rows.iter().find(|row| row.subject.dataset == label && row.subject.id == id);
            let Some(classes) = of("classes").map(|row| row.value) else { continue };
            let ours =
                STATISTICS.iter().map(|(id, _, metric)| of(id).map_or("–".to_owned(), |row| metric.show(row.value)));
            lines.push([label.clone(), "counted".to_owned()].into_iter().chain(ours).collect());
            let published = catalog::find(dataset.name).ok().and_then(|entry| entry.published.as_ref());
            // what a paper counts of ten classes does not hold for all of them
            if let Some(published) = published.filter(|published| published.classes as f64 == classes) {
                lines.push(published_line(published));
            }
        }
        let caption = "Distinct words and mean number of distinct words of a document, after stop words are dropped; before word \
                       vectors are looked up. The papers count words that have a vector in word2vec of Google News.";
        let table =
            TableSpec::new("table1", "Table 1 of the paper. The corpora", caption, TableKind::plain(&head, 2.., lines));
        Layout { tables: vec![table], ..Layout::default() }
    }
}

/// `ohsumed`, or `ohsumed (10 classes)`.
fn label(dataset: &DatasetConfig, documents: &DocumentsConfig) -> String {
    match documents.classes {
        Some(classes) => format!("{} ({classes} classes)", dataset.name),
        None => dataset.name.to_owned(),
    }
}

struct Counting {
    corpora: Vec<(DatasetConfig, DocumentsConfig)>,
    run: RunSettings,
    data: Option<std::path::PathBuf>,
    description: String,
    stamps: Vec<Caveat>,
    notes: Vec<String>,
    facts: Json,
}

impl Counting {
    fn split(
        &self,
        dataset: &DatasetConfig,
        wanted: SplitConfig,
        documents: &LabelledDocuments,
    ) -> Result<Split, StudyError> {
        match (wanted, documents.given_split()) {
            (SplitConfig::Given, Some(split)) => Ok(split),
            (SplitConfig::Given, None) => {
                Err(format!("the dataset `{}` has no split of its own; write `split: {{ train: 0.7 }}`", dataset.name)
                    .into())
            }
            (SplitConfig::Train(share), _) => {
                Ok(Split::random(documents.len(), share, self.run.seed, dataset.name, 0)?)
            }
        }
    }
}

impl StudyWork for Counting {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &self.stamps, notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |(dataset, documents): &(DatasetConfig, DocumentsConfig)| {
            let title = label(dataset, documents);
            Part { group: title.clone(), title, key: json!(dataset) }
        };
        self.corpora.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let (dataset, wanted) = &self.corpora[part];
        let documents = catalog::load_documents(dataset.name, self.data.as_deref(), &wanted.options(), self.run.seed)?;
        let corpus = Corpus::tokenize(&documents, &wanted.token_rules());
        let split = self.split(dataset, wanted.split, &documents)?;
        let counts = [
            documents.label_names().len() as f64,
            split.train.len() as f64,
            split.test.len() as f64,
            corpus.words().len() as f64,
            corpus.mean_distinct_words(),
        ];
        let label = label(dataset, wanted);
        let count = |((id, _, metric), value): (&(&str, &str, Metric), f64)| {
            row(&self.run, Subject::new(&label, *id).items(documents.len()), *metric, value)
        };
        Ok(STATISTICS.iter().zip(counts).map(count).collect())
    }
}

fn published_line(published: &PublishedStatistics) -> Vec<String> {
    let count = |number: usize| Metric::Count.show(number as f64);
    vec![
        String::new(),
        published.source.to_owned(),
        count(published.classes),
        count(published.train),
        count(published.test),
        count(published.bow_dimension),
        Metric::Length.show(published.length),
    ]
}
