//! A study: an experiment that is no sweep of approximators over one matrix. It reads a section of its own, named as the experiment,
//! and splits its work into parts that are run, kept and resumed one by one.
//!
//! ```text
//! YAML section → Study (checked settings) → open → StudyWork (data in memory) → parts → rows → tables and figures
//! ```
//!
//! Adding one: a file that has a [`StudyEntry`], and its line in the registry of the program.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use landmark_report::{CellKey, Metric, ResultRow, ResultStore, Subject, cell_key};
use landmark_yaml::{Entry, Node};
use serde_json::{Value as Json, json};

use crate::config::reading::Reading;
use crate::config::run_settings::RunSettings;
use crate::facts::Facts;
use crate::job::{ExtraCalls, Job, JobError, Request};
use crate::layout::{About, Layout};
use crate::matrices::{Matrices, Matrix};
use crate::progress::Progress;
use crate::run_source::RunSource;
use crate::share::Share;

#[derive(Debug, Clone, Copy)]
pub struct StudyEntry {
    /// Entry in the registry; its id is also the name of its section.
    pub entry: Entry,
    pub read: fn(&Node, &Reading<'_>) -> Option<Arc<dyn Study>>,
}

pub trait Study: fmt::Debug + Send + Sync {
    /// The id of the experiment, and the name of its section.
    fn id(&self) -> &'static str;

    /// The resolved section, defaults included: shown by `landmark check --print`, hashed, kept with the results.
    fn settings(&self) -> Json;

    /// Loads what the parts work on.
    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError>;

    /// The tables and figures that the rows of a finished run become.
    fn layout(&self, run: &RunSettings, facts: &Facts, rows: &[ResultRow]) -> Layout;

    /// Does one share of the work, so that a run finds it in the store once all shares are there; answers what was done, or `None` for work
    /// that is done by one process.
    fn share(&self, _: &StudyContext<'_>, _: Share) -> Result<Option<String>, StudyError> {
        Ok(None)
    }
}

/// Everything that a study reaches besides its own settings.
#[derive(Debug, Clone, Copy)]
pub struct StudyContext<'a> {
    /// Name, seed, replicates, profile.
    pub run: &'a RunSettings,
    /// The folder of corpora, where one is named.
    pub data: Option<&'a Path>,
    /// Its folder of results, where a part may also keep what it resumes from. It may not exist yet.
    pub folder: &'a Path,
    /// The address of the store, for the entries of its matrices.
    pub store: &'a str,
}

pub trait StudyWork {
    fn about(&self) -> About<'_>;

    /// The matrices whose entries it evaluates, in the order that the requests of its parts number them; most studies have none.
    fn matrices(&self) -> Vec<Matrix<'_>> {
        Vec::new()
    }

    /// The parts, in the order they run. A part is run, kept and resumed as a whole.
    fn parts(&self) -> Vec<Part>;

    /// Entries that the part of this number will request of each matrix.
    fn requests(&self, _part: usize) -> Result<Vec<Request>, StudyError> {
        Ok(Vec::new())
    }

    /// Measures the part of this number. Rows of the parts before it are in `finished`.
    fn measure(&self, part: usize, finished: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError>;
}

#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Title of the part, for the progress line.
    pub title: String,
    /// The line of the dry run it belongs to: the title without the replicate.
    pub group: String,
    /// Everything that moves its rows, besides the version of the study, the seed and the profile.
    pub key: Json,
}

/// Whatever stops a study: an error of the crate that it uses, or a sentence.
pub type StudyError = Box<dyn std::error::Error + Send + Sync>;

/// The rows of the parts that are finished.
pub struct Finished<'a> {
    parts: &'a [(CellKey, Part)],
    results: &'a ResultStore,
}

impl Finished<'_> {
    /// The rows of a part, or `None` where it did not finish.
    pub fn rows(&self, part: usize) -> Option<&[ResultRow]> {
        self.results.get(&self.parts.get(part)?.0)
    }
}

/// A study with its data in memory, as the engine walks it.
pub struct StudyRun {
    work: Box<dyn StudyWork>,
    parts: Vec<(CellKey, Part)>,
}

impl StudyRun {
    /// Opens a study: loads its data and names its parts.
    pub fn open(study: &dyn Study, context: &StudyContext<'_>) -> Result<Self, JobError> {
        let work = study.open(context)?;
        let key = |part: Part| {
            let key = cell_key(&json!({
                "version": 1,
                "study": study.id(),
                "seed": context.run.seed,
                "profile": context.run.profile.name,
                "part": part.key,
            }))?;
            Ok((key, part))
        };
        let parts = work.parts().into_iter().map(key).collect::<Result<_, JobError>>()?;
        Ok(Self { work, parts })
    }
}

impl RunSource for StudyRun {
    fn about(&self) -> About<'_> {
        self.work.about()
    }

    fn matrices(&self) -> Matrices<'_> {
        Matrices(self.work.matrices())
    }

    fn jobs(&self) -> Result<Vec<Job<'_>>, JobError> {
        let job = |(number, (key, part)): (usize, &(CellKey, Part))| {
            Ok(Job {
                key: key.clone(),
                title: part.title.clone(),
                group: part.group.clone(),
                requests: self.work.requests(number)?,
                extra: ExtraCalls::NONE,
                work: Box::new(move |results, progress| {
                    Ok(self.work.measure(number, &Finished { parts: &self.parts, results }, progress)?)
                }),
            })
        };
        self.parts.iter().enumerate().map(job).collect()
    }

    fn facts(&self, _: &[ResultRow]) -> Result<Facts, JobError> {
        let About { stamps, notes, .. } = self.work.about();
        Ok(Facts { caveats: stamps.to_vec(), notes: notes.to_vec(), ..Facts::default() })
    }
}

/// A row of a study; add its axes, and what else applies.
pub fn row(run: &RunSettings, subject: Subject, metric: Metric, value: f64) -> ResultRow {
    ResultRow { profile: run.profile.name.clone(), ..ResultRow::new(subject, metric, value) }
}
