//! The study at work: the exact machine first, then each method at each number of landmarks and in each replicate.

use std::time::Instant;

use landmark_core::entries::{Certainty, EntryPlan};
use landmark_core::oracle::Oracle;
use landmark_data::cqa::{Pairs, require_tagger};
use landmark_data::{Thread, Threads, WordVectors, catalog};
use landmark_harness::config::{ConfigPath, RunSettings};
use landmark_harness::items::ItemsError;
use landmark_harness::job::Request;
use landmark_harness::layout::About;
use landmark_harness::matrices::Matrix;
use landmark_harness::metered_store::MeteredStore;
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{Caveat, Metric, ResultRow, Subject};
use landmark_tasks::ranking::{Answer, score_ranking};
use ndarray::Array1;
use serde_json::{Value as Json, json};

use super::kernel::{First, kernel};
use super::learn::{Answered, Task, block};
use super::{Method, Settings};

/// Computation of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    Exact,
    Landmarks { method: Method, size: usize, replicate: u64 },
}

/// Pairs, their kernel and what is to be learned from them.
pub(super) struct Ranking {
    settings: Settings,
    run: RunSettings,
    pieces: Vec<Piece>,
    /// 1 for good; training pairs first.
    labels: Vec<usize>,
    training: usize,
    /// The thread of each pair.
    threads: Vec<usize>,
    /// The kernel over all pairs; an entry that one part evaluates serves the next.
    metered: MeteredStore,
    description: String,
    stamps: Vec<Caveat>,
    notes: Vec<String>,
    facts: Json,
}

/// Sets of the user's own, called as their files are.
fn own_sets(settings: &Settings, context: &StudyContext<'_>) -> Result<Vec<Threads>, StudyError> {
    let read = |written: &String| -> Result<Threads, StudyError> {
        let path = ConfigPath { written: written.clone(), resolved: settings.folder.join(written) };
        let place = path.at(context.data).ok_or_else(|| ItemsError::NoDataFolder(written.clone()))?;
        Ok(Threads::read(&set_name(written), &place)?)
    };
    settings.files.iter().map(read).collect()
}

/// Name of the set of a file: the file's, without what follows the first dot.
pub(super) fn set_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The first two files whose sets have the same name.
pub(super) fn of_one_name(files: &[String]) -> Option<(&String, &String)> {
    files.iter().enumerate().find_map(|(place, second)| {
        let first = files[..place].iter().find(|first| set_name(first) == set_name(second))?;
        Some((first, second))
    })
}

impl Ranking {
    pub(super) fn open(settings: &Settings, context: &StudyContext<'_>) -> Result<Self, StudyError> {
        require_tagger()?;
        let sets = match settings.files.is_empty() {
            true => catalog::load_threads(&settings.dataset, context.data)?,
            false => own_sets(settings, context)?,
        };
        let (train, test) = chosen_sets(settings, &sets)?;
        let mut notes: Vec<String> = Vec::new();
        for set in train.iter().chain([&test]).filter(|set| !set.without_comments().is_empty()) {
            notes.push(format!(
                "{}: threads without comments were left out: {}",
                set.name(),
                set.without_comments().join(", ")
            ));
        }
        let threads: Vec<&Thread> = train.iter().chain([&test]).flat_map(|set| set.threads()).collect();
        let training_threads = train.iter().map(|set| set.threads().len()).sum();
        let training: usize = train.iter().map(Threads::comments).sum();
        let vectors = load_vectors(settings, &threads, context)?;
        let pairs = Pairs::new(&threads, training_threads, vectors.as_ref())?;
        let kernel = kernel(&pairs, training, &settings.kernel)?;
        let labels: Vec<usize> = pairs.is_good.iter().map(|&good| usize::from(good)).collect();
        let sets: Json = train
            .iter()
            .chain([&test])
            .map(|set| json!({ "name": set.name(), "comments": set.comments(), "sha": set.identity().to_hex() }))
            .collect();
        let description = format!("{training} training and {} test comments", pairs.len() - training);
        let stamps = match settings.files.is_empty() {
            true => stamps(&settings.dataset, training, pairs.len() - training)?,
            false => Vec::new(),
        };
        Ok(Self {
            pieces: pieces(settings, context.run, training, &mut notes),
            settings: settings.clone(),
            run: context.run.clone(),
            labels,
            training,
            threads: pairs.thread.clone(),
            facts: json!({ "sets": sets, "kernel": kernel.identity().to_hex() }),
            metered: MeteredStore::at(
                context.store,
                kernel,
                super::ENTRY.entry.id,
                format!("{}, {description}", settings.dataset),
            )?,
            description,
            stamps,
            notes,
        })
    }

    fn task(&self) -> Task<'_> {
        Task { settings: &self.settings, labels: &self.labels[..self.training], seed: self.run.seed }
    }

    /// K[test, these training pairs].
    fn to_test(&self, columns: &[usize]) -> Result<ndarray::Array2<f64>, StudyError> {
        let test: Vec<usize> = (self.training..self.labels.len()).collect();
        block(&self.metered.scores(), &test, columns)
    }

    fn answered(&self, piece: Piece) -> Result<Answered, StudyError> {
        let train = First { inner: self.metered.scores(), len: self.training };
        match piece {
            Piece::Exact => {
                let all: Vec<usize> = (0..self.training).collect();
                let gram = block(&train, &all, &all)?;
                self.task().exact(gram.view(), |support| self.to_test(support))
            }
            Piece::Landmarks { method, size, replicate } => {
                let task = self.task();
                let order = task.order(method, &self.settings.dataset, replicate);
                let (known, asked) = task.embed(method, &train, &order, size, |columns| self.to_test(columns))?;
                task.linear(&known, &asked, size)
            }
        }
    }

    fn rows(
        &self,
        piece: Piece,
        answered: &Answered,
        support: Option<f64>,
        seconds: f64,
    ) -> Result<Vec<ResultRow>, StudyError> {
        let (id, name, size, replicate) = match piece {
            Piece::Exact => ("exact", "kernel SVM", 0, 0),
            Piece::Landmarks { method, size, replicate } => (method.id(), method.name(), size, replicate),
        };
        let (n, m) = (self.training as u64, (self.labels.len() - self.training) as u64);
        let compared = answered.compared as u64;
        let subject = Subject::new(&self.settings.dataset, id).called(name).items(self.labels.len());
        let subject = Subject { is_cap: piece == Piece::Exact, ..subject };
        let cells = if size == 0 { n * n } else { n * size as u64 } + m * compared;
        let evaluations = if size == 0 { n * (n - 1) / 2 } else { n * size as u64 } + m * compared;
        let blank = |metric, value| {
            let row = row(&self.run, subject.clone(), metric, value).cost(cells, evaluations).replicate(replicate);
            if size == 0 { row } else { row.at("landmarks", size) }
        };
        let scores = score_ranking(&self.answers(&answered.scores))?;
        let note = format!(
            "C = {}{}",
            answered.c,
            if answered.converged { "" } else { "; the SVM stopped at its limit of epochs" }
        );
        let map = blank(Metric::MeanAveragePrecision, scores.map);
        let mut rows = vec![map.note(note).seconds(seconds)];
        rows.extend([
            blank(Metric::AverageRecall, scores.avg_rec),
            blank(Metric::ReciprocalRank, scores.mrr),
            blank(Metric::Precision, scores.precision),
            blank(Metric::Recall, scores.recall),
            blank(Metric::F1, scores.f1),
            blank(Metric::Accuracy, scores.accuracy),
            blank(Metric::Cost, answered.c),
        ]);
        match (piece, support) {
            (Piece::Exact, _) => rows.push(blank(Metric::SupportVectors, compared as f64)),
            (_, Some(support)) => rows.push(blank(Metric::Saving, 1.0 - compared as f64 / support)),
            (_, None) => {}
        }
        Ok(rows)
    }

    /// The test comments by thread, with their scores.
    fn answers(&self, scores: &Array1<f64>) -> Vec<Vec<Answer>> {
        let mut threads: Vec<Vec<Answer>> = Vec::new();
        let mut last = None;
        for (&score, place) in scores.iter().zip(self.training..) {
            if last != Some(self.threads[place]) {
                threads.push(Vec::new());
                last = Some(self.threads[place]);
            }
            let answer = Answer { score, predicted: score > 0.0, relevant: self.labels[place] == 1 };
            if let Some(thread) = threads.last_mut() {
                thread.push(answer);
            }
        }
        threads
    }
}

impl StudyWork for Ranking {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &self.stamps, notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |piece: &Piece| {
            let settings = &self.settings;
            let data = json!({ "facts": self.facts, "costs": settings.costs, "folds": settings.folds });
            let (title, group, piece) = match *piece {
                Piece::Exact => ("kernel SVM".to_owned(), "kernel SVM".to_owned(), json!("exact")),
                Piece::Landmarks { method, size, replicate } => {
                    let group = format!("{} at {size} landmarks", method.name());
                    let key = json!({ "method": method, "size": size, "replicate": replicate,
                        "epochs": settings.epochs, "exact": settings.exact });
                    (format!("{group}, replicate {}", replicate + 1), group, key)
                }
            };
            Part { title, group, key: json!({ "data": data, "piece": piece }) }
        };
        self.pieces.iter().map(part).collect()
    }

    fn matrices(&self) -> Vec<Matrix<'_>> {
        vec![Matrix::of(&self.metered)]
    }

    fn requests(&self, part: usize) -> Result<Vec<Request>, StudyError> {
        let plan = match self.pieces[part] {
            // a test pair is compared with the support, which shows when the machine is trained
            Piece::Exact => {
                let all: Vec<usize> = (0..self.training).collect();
                EntryPlan { certainty: Certainty::UpperBound, ..EntryPlan::columns(&all) }
            }
            Piece::Landmarks { method, size, replicate } => {
                let task = self.task();
                let order = task.order(method, &self.settings.dataset, replicate);
                task.entries(method, self.metered.shape(), &order, size)?
            }
        };
        Ok(vec![Request { matrix: 0, plan }])
    }

    fn measure(&self, part: usize, finished: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let piece = self.pieces[part];
        let started = Instant::now();
        let answered = self.answered(piece)?;
        let support = finished
            .rows(0)
            .and_then(|rows| rows.iter().find(|row| row.metric == Metric::SupportVectors))
            .map(|row| row.value);
        self.rows(piece, &answered, support, started.elapsed().as_secs_f64())
    }
}

/// The exact machine, then methods by size and replicate; sizes beyond the training pairs are left out and named.
fn pieces(settings: &Settings, run: &RunSettings, training: usize, notes: &mut Vec<String>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if settings.exact {
        pieces.push(Piece::Exact);
    }
    for &size in &settings.landmarks {
        if size > training {
            notes.push(format!("{size} landmarks are more than the {training} training comments and were left out"));
            continue;
        }
        for &method in &settings.methods {
            for replicate in 0..run.replicates as u64 {
                pieces.push(Piece::Landmarks { method, size, replicate });
            }
        }
    }
    pieces
}

/// Comments that the paper learned from, and those that it ranked.
const PAPERS: (usize, usize) = (20_340, 3_270);

/// What sets a run on a dataset apart from the paper's; nothing where it has all of its comments.
fn stamps(dataset: &str, training: usize, test: usize) -> Result<Vec<Caveat>, StudyError> {
    if (training, test) == PAPERS {
        return Ok(Vec::new());
    }
    let counts = format!("{training} training comments (the paper has 20,340) and {test} test comments (3,270)");
    let caveat = catalog::find(dataset)?.caveat;
    let texts = [counts, caveat.to_owned()].into_iter().filter(|text| !text.is_empty());
    Ok(texts.map(|text| Caveat { dataset: Some(dataset.to_owned()), text, breaks_comparison: true }).collect())
}

/// The training sets and the set that is ranked.
fn chosen_sets(settings: &Settings, sets: &[Threads]) -> Result<(Vec<Threads>, Threads), StudyError> {
    let known = || sets.iter().map(|set| format!("`{}`", set.name())).collect::<Vec<_>>().join(", ");
    let find = |key: &str, name: &str| {
        sets.iter()
            .find(|set| set.name() == name)
            .cloned()
            .ok_or_else(|| format!("`cqa.{key}` names `{name}`, but `{}` has the sets {}", settings.dataset, known()))
    };
    let cut = |set: Threads, limit: Option<usize>| match limit {
        Some(limit) => set.first(limit),
        None => set,
    };
    let test = cut(find("test", &settings.test)?, settings.test_threads);
    let names: Vec<String> = if settings.train.is_empty() {
        let trains = |name: &str| match settings.files.is_empty() {
            true => name.starts_with("train"),
            false => name != settings.test,
        };
        sets.iter().map(|set| set.name().to_owned()).filter(|name| trains(name)).collect()
    } else {
        settings.train.clone()
    };
    if names.contains(&settings.test) {
        return Err(format!("`cqa.train` and `cqa.test` both name `{}`; test on another set", settings.test).into());
    }
    let train = names.iter().map(|name| Ok(cut(find("train", name)?, settings.train_threads)));
    Ok((train.collect::<Result<_, StudyError>>()?, test))
}

fn load_vectors(
    settings: &Settings,
    threads: &[&Thread],
    context: &StudyContext<'_>,
) -> Result<Option<WordVectors>, StudyError> {
    let Some(name) = &settings.vectors else { return Ok(None) };
    let mut words = std::collections::HashSet::new();
    for thread in threads {
        let texts = thread.comments.iter().map(|comment| comment.text.as_str());
        for text in texts.chain([thread.subject.as_str(), thread.body.as_str()]) {
            words.extend(landmark_data::tokens::words(text));
        }
    }
    Ok(Some(catalog::load_word_vectors(name, context.data, &|word| words.contains(word))?))
}

impl Method {
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Nystrom => "nystrom",
            Self::Stratified => "stratified",
            Self::Ensemble => "ensemble",
            Self::SmsNystrom => "sms_nystrom",
            Self::Sicur => "sicur",
            Self::ShiftRidge => "shift_ridge",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nystrom => "Nyström",
            Self::Stratified => "Nyström, stratified",
            Self::Ensemble => "Nyström, ensemble of 4",
            Self::SmsNystrom => "SMS-Nyström",
            Self::Sicur => "SiCUR",
            Self::ShiftRidge => "shift-ridge",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the sets that these settings train on, and of the one that they rank.
    fn chosen(settings: Json, sets: &[&str]) -> Result<(Vec<String>, String), String> {
        let set = |name: &&str| {
            let line = r#"{"qid": "q", "subject": "Why?", "comments": [{"cid": "c", "label": "Good", "text": "So."}]}"#;
            Threads::from_jsonl(name, line.as_bytes()).unwrap()
        };
        let sets: Vec<Threads> = sets.iter().map(set).collect();
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let (train, test) = chosen_sets(&settings, &sets).map_err(|error| error.to_string())?;
        Ok((train.iter().map(|set| set.name().to_owned()).collect(), test.name().to_owned()))
    }

    #[test]
    fn of_files_all_but_the_ranked_one_train() {
        let files = json!(["spring.jsonl", "train.jsonl", "judged.jsonl"]);
        let sets = ["spring", "train", "judged"];
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let default = json!({ "dataset": "mine", "landmarks": [5], "files": files, "test": "judged" });
        assert_eq!(chosen(default, &sets), Ok((names(&["spring", "train"]), "judged".to_owned())));
        let given =
            json!({ "dataset": "mine", "landmarks": [5], "files": files, "test": "judged", "train": ["spring"] });
        assert_eq!(chosen(given, &sets), Ok((names(&["spring"]), "judged".to_owned())));
        let known = json!({ "dataset": "qatar_living", "landmarks": [5] });
        let sets = ["train_part1", "dev", "train_part2", "test"];
        assert_eq!(chosen(known, &sets), Ok((names(&["train_part1", "train_part2"]), "test".to_owned())));
    }

    #[test]
    fn all_of_the_papers_comments_are_held_against_it_and_a_part_is_not() {
        assert_eq!(stamps("qatar_living_full", 20_340, 3_270).unwrap().len(), 0);
        let apart = stamps("qatar_living", 12_470, 3_150).unwrap();
        assert!(apart.len() == 2 && apart.iter().all(|caveat| caveat.breaks_comparison));
        assert!(apart[0].text.starts_with("12470 training comments (the paper has 20,340)"), "{}", apart[0].text);
        // without its development set it is a part, too
        assert!(stamps("qatar_living_full", 17_900, 3_270).unwrap()[0].breaks_comparison);
    }
}
