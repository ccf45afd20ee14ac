//! The word distances that a list of pairs needs, each computed once a column.
//!
//! Pairs are taken column by column. For a column document of m words, the distances from its words to the distinct words
//! of all its row documents are computed once (a table of words × m, `points.rs`); the cost matrix of a pair is
//! then a choice of rows of that table. Where the rows of a column share no words the table is simply their cost matrices
//! one below the other, so a scattered list of pairs costs nothing extra. Tables are built in parallel and then read in
//! parallel, so one column is enough to keep all threads busy.
//!
//! Memory: tables are filled and used in batches of at most [`TABLE_ENTRIES`] distances (16 MiB) and as many row words
//! (8 MiB), whatever the number of pairs or threads; only a pair whose own cost matrix is larger exceeds that.

use landmark_core::oracle::Pair;
use rayon::prelude::*;

use super::points::{Selection, distances};
use super::word_clouds::{Cloud, WordClouds};
use crate::scratch_pool::ScratchPool;

/// Distances held at a time, 8 bytes each. Allocators hand 16 MiB out again; a larger table would be mapped and zeroed again for each call,
/// which cost a caller that evaluates half a second's pairs at a time a tenth of its rate.
const TABLE_ENTRIES: usize = 1 << 21;

/// Words whose distances one thread computes at a time; their vectors fit in the second cache.
const WORDS_A_TASK: usize = 64;

const NO_TWIN: u32 = u32::MAX;

pub(super) struct PairTable<'a> {
    /// The document whose words choose rows of the table.
    pub(super) row: Cloud<'a>,
    pub(super) column: Cloud<'a>,
    /// True where (row, column) is the pair as asked for in the order (smaller, larger) index.
    pub(super) row_comes_first: bool,
    places: &'a [u32],
    table: &'a [f64],
    nearest: &'a [f64],
    twins: &'a [u32],
}

impl<'a> PairTable<'a> {
    /// Distances of word k of the row document to each word of the column document.
    pub(super) fn distances(&self, k: usize) -> &'a [f64] {
        let m = self.column.words.len();
        &self.table[self.places[k] as usize * m..][..m]
    }

    pub(super) fn nearest(&self, k: usize) -> f64 {
        self.nearest[self.places[k] as usize]
    }

    /// Place of the same word in the column document, if it is there.
    pub(super) fn twin(&self, k: usize) -> Option<usize> {
        let twin = self.twins[self.places[k] as usize];
        (twin != NO_TWIN).then_some(twin as usize)
    }
}

#[derive(Clone, Copy)]
struct Job {
    row: usize,
    column: usize,
    index: usize,
}

struct Group {
    column: usize,
    m: usize,
    /// Its first place among the batch's words, and its first entry in the table.
    first_place: usize,
    first_entry: usize,
}

struct BatchedJob {
    job: Job,
    group: usize,
    first_word: usize,
}

/// Scores every pair that words decide with `score`, in parallel, and the others without.
///
/// `S` is the scratch memory of a thread. The score of a pair depends on that pair alone.
pub(super) fn score_pairs<S: Default + Send>(
    clouds: &WordClouds,
    pairs: &[Pair],
    out: &mut [f64],
    score: impl Fn(&mut S, &PairTable<'_>) -> f64 + Sync,
) {
    let pool = ScratchPool::new();
    let mut jobs = Vec::with_capacity(pairs.len());
    for (index, (&(i, j), out)) in pairs.iter().zip(out.iter_mut()).enumerate() {
        match clouds.distance_without_words((i, j)) {
            Some(distance) => *out = distance,
            None => jobs.push(Job { row: i, column: j, index }),
        }
    }
    share_columns(&mut jobs, clouds.len());
    let mut batch = Batch::new(clouds);
    for job in jobs {
        if !batch.add(job) {
            batch.run(out, &pool, &score);
            batch.clear();
            batch.add(job);
        }
    }
    batch.run(out, &pool, &score);
}

/// Turns pairs over where fewer documents then serve as columns, and sorts them by column.
fn share_columns(jobs: &mut [Job], documents: usize) {
    let distinct = |of: &dyn Fn(&Job) -> usize| {
        let mut seen = vec![false; documents];
        jobs.iter().filter(|job| !std::mem::replace(&mut seen[of(job)], true)).count()
    };
    if distinct(&|job| job.row) < distinct(&|job| job.column) {
        jobs.iter_mut().for_each(|job| std::mem::swap(&mut job.row, &mut job.column));
    }
    jobs.sort_by_key(|job| job.column);
}

struct Batch<'c> {
    clouds: &'c WordClouds,
    jobs: Vec<BatchedJob>,
    groups: Vec<Group>,
    /// For the words of each job's row document in turn, their place within the group.
    places: Vec<u32>,
    /// For each place its word, its nearest word of the column, its twin there, and its distances.
    words: Vec<u32>,
    nearest: Vec<f64>,
    twins: Vec<u32>,
    table: Vec<f64>,
    entries: usize,
    /// For each word the group that gave it a place last (counted over all batches), and that place.
    seen: Vec<(usize, u32)>,
    groups_so_far: usize,
    scores: Vec<f64>,
    /// Scratch of the threads: the column document that each unpacked, with its index.
    selections: ScratchPool<(Option<usize>, Selection)>,
}

impl<'c> Batch<'c> {
    fn new(clouds: &'c WordClouds) -> Self {
        Self {
            clouds,
            jobs: Vec::new(),
            groups: Vec::new(),
            places: Vec::new(),
            words: Vec::new(),
            nearest: Vec::new(),
            twins: Vec::new(),
            table: Vec::new(),
            entries: 0,
            seen: vec![(0, 0); clouds.vocabulary_len()],
            groups_so_far: 0,
            scores: Vec::new(),
            selections: ScratchPool::new(),
        }
    }

    fn clear(&mut self) {
        self.jobs.clear();
        self.groups.clear();
        self.places.clear();
        self.words.clear();
        self.entries = 0;
    }

    /// Takes the job in and gives places to its words, or answers `false` where the batch is full.
    fn add(&mut self, job: Job) -> bool {
        let row = self.clouds.cloud(job.row);
        let m = self.clouds.cloud(job.column).words.len();
        let continues = self.groups.last().is_some_and(|group| group.column == job.column);
        let stamp = self.groups_so_far + usize::from(!continues);
        let new_words = if continues {
            row.words.iter().filter(|&&w| self.seen[w as usize].0 != stamp).count()
        } else {
            row.words.len()
        };
        let full = self.entries + new_words * m > TABLE_ENTRIES || self.places.len() + row.words.len() > TABLE_ENTRIES;
        if full && !self.jobs.is_empty() {
            return false;
        }
        if !continues {
            self.groups_so_far = stamp;
            let (first_place, first_entry) = (self.words.len(), self.entries);
            self.groups.push(Group { column: job.column, m, first_place, first_entry });
        }
        let group = self.groups.len() - 1;
        let first_place = self.groups[group].first_place;
        self.jobs.push(BatchedJob { job, group, first_word: self.places.len() });
        for &word in row.words {
            let (by, place) = &mut self.seen[word as usize];
            if *by != stamp {
                (*by, *place) = (stamp, (self.words.len() - first_place) as u32);
                self.words.push(word);
            }
            self.places.push(*place);
        }
        self.entries += new_words * m;
        true
    }

    fn run<S: Default + Send>(
        &mut self,
        out: &mut [f64],
        pool: &ScratchPool<S>,
        score: &(impl Fn(&mut S, &PairTable<'_>) -> f64 + Sync),
    ) {
        self.fill_tables();
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.resize(self.jobs.len(), 0.0);
        self.jobs
            .par_iter()
            .zip(&mut scores)
            .for_each_init(|| pool.lend(), |scratch, (job, to)| *to = score(scratch, &self.pair_table(job)));
        self.jobs.iter().zip(&scores).for_each(|(job, &score)| out[job.job.index] = score);
        self.scores = scores;
    }

    fn pair_table(&self, job: &BatchedJob) -> PairTable<'_> {
        let (row, group) = (self.clouds.cloud(job.job.row), &self.groups[job.group]);
        PairTable {
            row,
            column: self.clouds.cloud(job.job.column),
            row_comes_first: job.job.row < job.job.column,
            places: &self.places[job.first_word..][..row.words.len()],
            table: &self.table[group.first_entry..],
            nearest: &self.nearest[group.first_place..],
            twins: &self.twins[group.first_place..],
        }
    }

    /// Computes the distances of every group, a few words a task.
    fn fill_tables(&mut self) {
        let mut table = std::mem::take(&mut self.table);
        let mut nearest = std::mem::take(&mut self.nearest);
        let mut twins = std::mem::take(&mut self.twins);
        table.resize(self.entries, 0.0);
        nearest.resize(self.words.len(), 0.0);
        twins.resize(self.words.len(), NO_TWIN);
        let mut tasks = Vec::new();
        let (mut table_left, mut nearest_left, mut twins_left) = (&mut table[..], &mut nearest[..], &mut twins[..]);
        for (k, group) in self.groups.iter().enumerate() {
            let end = self.groups.get(k + 1).map_or(self.words.len(), |next| next.first_place);
            for words in self.words[group.first_place..end].chunks(WORDS_A_TASK) {
                tasks.push(Task {
                    group,
                    words,
                    table: table_left.split_off_mut(..words.len() * group.m).unwrap_or_default(),
                    nearest: nearest_left.split_off_mut(..words.len()).unwrap_or_default(),
                    twins: twins_left.split_off_mut(..words.len()).unwrap_or_default(),
                });
            }
        }
        let pool = &self.selections;
        tasks.into_par_iter().for_each_init(
            || pool.lend(),
            |scratch, task| {
                let (loaded, document) = &mut **scratch;
                let column = self.clouds.cloud(task.group.column);
                if *loaded != Some(task.group.column) {
                    document.load(self.clouds.vectors(), column.words);
                    *loaded = Some(task.group.column);
                }
                task.run(self.clouds, column, document);
            },
        );
        (self.table, self.nearest, self.twins) = (table, nearest, twins);
    }
}

/// Some words of a group, and where their distances go.
struct Task<'a> {
    group: &'a Group,
    words: &'a [u32],
    table: &'a mut [f64],
    nearest: &'a mut [f64],
    twins: &'a mut [u32],
}

impl Task<'_> {
    fn run(self, clouds: &WordClouds, column: Cloud<'_>, document: &Selection) {
        distances(clouds.vectors(), self.words, document, self.table);
        for (row, nearest) in self.table.chunks_exact(self.group.m).zip(self.nearest) {
            *nearest = row.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a });
        }
        for (word, twin) in self.words.iter().zip(self.twins) {
            *twin = column.words.binary_search(word).map_or(NO_TWIN, |at| at as u32);
        }
    }
}
