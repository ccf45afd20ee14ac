//! A study: an experiment that is no sweep of approximators over one matrix. It reads a section of its own, named as the experiment,
//! and splits its work into parts that are run, kept and resumed one by one.
//!
//! ```text
//! YAML section → Study (checked settings) → open → StudyWork (data in memory) → parts → rows → tables and figures
//! ```
//!
//! Adding one: a file in `studies/`, a line in `registry/studies.rs`.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use landmark_core::entries::{Certainty, EntryPlan};
use landmark_core::oracle::Identity;
use serde_json::{Value as Json, json};

use crate::config::Config;
use crate::experiments::{About, Job, JobError, Layout, Task, Workplace};
use crate::plan::Beside;
use crate::progress::Progress;
use crate::results::{Metric, ResultRow, ResultStore, cell_key};

/// The checked settings of a study.
pub trait Study: fmt::Debug + Send + Sync {
    /// The id of the experiment, and the name of its section.
    fn id(&self) -> &'static str;

    /// The resolved section, defaults included: shown by `runner show`, hashed, kept with the results.
    fn settings(&self) -> Json;

    /// Loads what the parts work on.
    ///
    /// # Errors
    /// What is missing or malformed, named with the next step.
    fn open(&self, desk: &Desk<'_>) -> Result<Box<dyn StudyWork>, StudyError>;

    /// The same for many machines, where the work can be cut.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn divisible(&self, _: &Desk<'_>) -> Result<Option<Box<dyn Divisible>>, StudyError> {
        Ok(None)
    }
}

/// A study of one file that many machines can do in pieces, each a run of its bytes (`runner plan`).
pub trait Divisible {
    /// Names the file and every setting that moves a piece.
    ///
    /// # Errors
    /// A file that cannot be read.
    fn identity(&self) -> Result<Identity, StudyError>;

    /// Works on the beginning of the file to learn what a byte takes.
    ///
    /// # Errors
    /// As [`work`](Self::work).
    fn seconds_per_byte(&self) -> Result<f64, StudyError>;

    /// Cuts the file into pieces of about so many bytes.
    ///
    /// # Errors
    /// A file that cannot be read, or not from its middle.
    fn cut(&self, bytes: u64) -> Result<Vec<Range<u64>>, StudyError>;

    /// Does a piece; what it makes of it goes to [`gather`](Self::gather).
    ///
    /// # Errors
    /// Whatever it meets, named.
    fn work(&self, piece: Range<u64>) -> Result<Vec<u8>, StudyError>;

    /// Puts the pieces together, in their order, where a run finds the work done.
    ///
    /// # Errors
    /// Those of the pieces, a damaged one by name; a folder that cannot be written.
    fn gather(&self, pieces: &mut dyn Iterator<Item = Result<DonePiece, StudyError>>) -> Result<(), StudyError>;
}

/// What was made of a piece.
pub struct DonePiece {
    /// Where it lies, for messages.
    pub place: PathBuf,
    /// What [`Divisible::work`] answered.
    pub content: Vec<u8>,
}

/// What a study can reach besides its own settings.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    /// Name, seed, replicates, profile.
    pub config: &'a Config,
    /// The folder of corpora, where one is named.
    pub data: Option<&'a Path>,
    /// Its folder of results, where a part may also keep what it resumes from. It may not exist yet.
    pub folder: &'a Path,
}

/// A study with its data in memory.
pub trait StudyWork {
    /// What it works on.
    fn about(&self) -> About<'_>;

    /// The parts, in the order they run. A part is run, kept and resumed as a whole.
    fn parts(&self) -> Vec<Part>;

    /// Measures the part of this number. Rows of the parts before it are in `finished`.
    ///
    /// # Errors
    /// Whatever it meets, named.
    fn measure(&self, part: usize, finished: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError>;

    /// The tables and figures that the rows become.
    fn layout(&self, rows: &[ResultRow]) -> Layout;
}

/// A unit of work of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is, for the progress line.
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
    jobs: &'a [Job],
    results: &'a ResultStore,
}

impl Finished<'_> {
    /// The rows of a part, or `None` where it did not finish.
    pub fn rows(&self, part: usize) -> Option<&[ResultRow]> {
        self.results.get(&self.jobs.get(part)?.key)
    }
}

/// A study at work on its data, as a run sees it.
pub(crate) struct StudyBench {
    work: Box<dyn StudyWork>,
    jobs: Vec<Job>,
}

impl StudyBench {
    /// Opens a study: loads its data and names its parts.
    ///
    /// # Errors
    /// As [`Study::open`].
    pub(crate) fn open(study: &dyn Study, desk: &Desk<'_>) -> Result<Self, JobError> {
        let work = study.open(desk)?;
        let config = desk.config;
        let job = |(number, part): (usize, Part)| {
            let key = cell_key(&json!({
                "version": 1,
                "study": study.id(),
                "seed": config.seed,
                "profile": config.profile.name,
                "part": part.key,
            }))?;
            let plan = EntryPlan { blocks: Vec::new(), certainty: Certainty::Exact };
            Ok(Job { key, title: part.title, group: part.group, plan, beside: Beside::NONE, task: Task::Part(number) })
        };
        let jobs = work.parts().into_iter().enumerate().map(job).collect::<Result<_, JobError>>()?;
        Ok(Self { work, jobs })
    }
}

impl Workplace for StudyBench {
    fn about(&self) -> About<'_> {
        self.work.about()
    }

    fn jobs(&self) -> Result<Vec<Job>, JobError> {
        Ok(self.jobs.clone())
    }

    fn run(&self, job: &Job, results: &ResultStore, progress: &Progress) -> Result<Vec<ResultRow>, JobError> {
        let Task::Part(part) = job.task else { return Ok(Vec::new()) };
        let finished = Finished { jobs: &self.jobs, results };
        Ok(self.work.measure(part, &finished, progress)?)
    }

    fn layout(&self, rows: &[ResultRow]) -> Layout {
        self.work.layout(rows)
    }
}

/// A row of a study: no matrix, no entries; fill in what applies.
pub fn row(config: &Config, dataset: &str, method: &str, metric: Metric, value: f64) -> ResultRow {
    ResultRow {
        dataset: dataset.to_owned(),
        method: method.to_owned(),
        method_id: method.to_owned(),
        variant: String::new(),
        comparison: String::new(),
        items: 0,
        columns: 0,
        rank: 0,
        cells: 0,
        evaluations: 0,
        replicate: 0,
        metric,
        position: None,
        value,
        lower: None,
        upper: None,
        seconds: None,
        note: None,
        profile: config.profile.name.clone(),
    }
}
