//! The dry run: what a configuration will evaluate, job by job and in total, before the first call.
//!
//! Every job's plan is a pure function of the configuration, so the forecast is arithmetic on sets of entries: what a job would cost if it
//! ran alone, what it adds to the jobs before it, and what the store holds already.

use landmark_core::entries::{Certainty, EntryPlan, EntrySet};
use landmark_report::amounts::share;

use crate::job::{ExtraCalls, Job, Request};

#[derive(Debug, Clone)]
pub struct JobForecast {
    /// Its group in the printed table: the title without the replicate.
    pub group: String,
    /// Cells of K it requests: the papers' accounting.
    pub cells: u64,
    /// Evaluations if it ran alone.
    pub alone: u64,
    /// Evaluations it adds to the jobs before it.
    pub added: u64,
    /// Certainty of these counts: exact, or upper bounds.
    pub certainty: Certainty,
}

/// Forecast of the cost of a whole run.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Job by job, in the order they run; finished jobs request nothing.
    pub jobs: Vec<JobForecast>,
    /// The union of all requests, matrix by matrix.
    pub entries: Vec<EntrySet>,
    /// Evaluations at most of pairs outside the matrix.
    pub extra: ExtraCalls,
    /// Jobs whose results are there already.
    pub finished: usize,
    /// The union of the requests whose plan is exact, where others are bounds.
    named: Option<Vec<EntrySet>>,
    /// Nothing of each matrix.
    empty: Vec<EntrySet>,
    /// Evaluations of each matrix, if every job ran alone.
    alone: Vec<u64>,
}

impl Forecast {
    /// Forecasts `jobs` over matrices by their empty sets of entries; `is_finished` is true for those whose results are kept.
    pub fn of(jobs: &[Job<'_>], empty: Vec<EntrySet>, is_finished: impl Fn(&Job<'_>) -> bool) -> Self {
        let mut entries = empty.clone();
        let is_bound = |job: &&Job<'_>| job.requests.iter().any(|r| r.plan.certainty == Certainty::UpperBound);
        // a second union of millions of pairs is kept only where it is another
        let mut named = jobs.iter().filter(|job| !is_finished(job)).any(|job| is_bound(&job)).then(|| entries.clone());
        let (mut alone, mut so_far) = (vec![0; empty.len()], vec![0; empty.len()]);
        let (mut forecasts, mut extra) = (Vec::new(), ExtraCalls::NONE);
        for job in jobs.iter().filter(|job| !is_finished(job)) {
            if job.extra.calls > 0 {
                extra = ExtraCalls { calls: extra.calls + job.extra.calls, ..job.extra };
            }
            let group = job.group.clone();
            let mut forecast = JobForecast { group, cells: 0, alone: 0, added: 0, certainty: Certainty::Exact };
            for &Request { matrix, ref plan } in &job.requests {
                entries[matrix].add(plan);
                let (here, total) = (evaluations(&empty[matrix], plan), entries[matrix].evaluations());
                forecast.cells += plan.cells(empty[matrix].shape().len);
                forecast.alone += here;
                forecast.added += total - so_far[matrix];
                alone[matrix] += here;
                so_far[matrix] = total;
                match (plan.certainty, &mut named) {
                    (Certainty::UpperBound, _) => forecast.certainty = Certainty::UpperBound,
                    (Certainty::Exact, Some(named)) => named[matrix].add(plan),
                    (Certainty::Exact, None) => {}
                }
            }
            forecasts.push(forecast);
        }
        let finished = jobs.len() - forecasts.len();
        Self { jobs: forecasts, entries, named, extra, finished, empty, alone }
    }

    /// Entries that the run will ask for whatever it sees, matrix by matrix.
    pub fn certain(&self) -> &[EntrySet] {
        self.named.as_ref().unwrap_or(&self.entries)
    }

    /// Evaluations of the whole run on an empty store; where a plan is no more than a bound, its columns are stand-ins that may
    /// overlap with nothing, so all are added up, and all of K is the most there is. Pairs that several jobs choose count for each.
    pub fn evaluations(&self) -> u64 {
        if self.are_named() {
            return self.jobs.iter().map(|job| job.added).sum();
        }
        self.empty.iter().zip(&self.alone).map(|(empty, &alone)| alone.min(all(empty))).sum()
    }

    /// Evaluations that all of its matrices take.
    pub fn all(&self) -> u64 {
        self.empty.iter().map(all).sum()
    }

    /// The evaluations of the whole run next to those that all of its matrices take: `45,900 of 124,750 pairs (37 %)`. Nothing where no entry
    /// is evaluated, and where more is asked for than there is.
    pub fn share(&self) -> Option<String> {
        let (part, whole) = (self.evaluations(), self.all());
        let are_pairs = self
            .empty
            .iter()
            .map(EntrySet::shape)
            .all(|shape| shape.evaluations_per_pair == 1 && shape.diagonal_known());
        let noun = if are_pairs { "pairs" } else { "evaluations" };
        (part > 0 && part <= whole).then(|| share(part, whole, noun))
    }

    /// True where every count is exact. What one job alone chooses on the way is counted; what two choose may be the same, and may be among
    /// single pairs that are named, such as those of an error estimate.
    pub fn is_exact(&self) -> bool {
        let is_apart = || self.jobs.len() == 1 && self.entries.iter().all(|set| set.scattered().is_empty());
        self.are_named() && (self.chosen() == 0 || is_apart())
    }

    /// True where no plan is a bound.
    pub fn are_named(&self) -> bool {
        self.jobs.iter().all(|job| job.certainty == Certainty::Exact)
    }

    /// Evaluations of pairs that jobs choose by what they see: their number, though not which.
    pub fn chosen(&self) -> u64 {
        self.entries.iter().map(EntrySet::chosen_evaluations).sum()
    }

    /// One line per group, in the order of first appearance: (group, jobs, entries each, alone each, added together).
    pub fn groups(&self) -> Vec<GroupForecast> {
        let mut groups: Vec<GroupForecast> = Vec::new();
        for job in &self.jobs {
            match groups.iter_mut().find(|group| group.name == job.group) {
                Some(group) => {
                    group.jobs += 1;
                    group.cells = group.cells.max(job.cells);
                    group.alone = group.alone.max(job.alone);
                    group.added += job.added;
                }
                None => groups.push(GroupForecast {
                    name: job.group.clone(),
                    jobs: 1,
                    cells: job.cells,
                    alone: job.alone,
                    added: job.added,
                }),
            }
        }
        groups
    }
}

/// Evaluations of a plan alone.
fn evaluations(empty: &EntrySet, plan: &EntryPlan) -> u64 {
    let mut set = empty.clone();
    set.add(plan);
    set.evaluations()
}

fn all(empty: &EntrySet) -> u64 {
    evaluations(empty, &EntryPlan::all(empty.shape().len))
}

/// The replicates of one method at one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupForecast {
    pub name: String,
    pub jobs: u64,
    /// Cells of K of each of them.
    pub cells: u64,
    /// Evaluations of each, if it ran alone.
    pub alone: u64,
    /// Evaluations all of them add to what comes before.
    pub added: u64,
}
