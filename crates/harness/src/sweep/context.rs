//! Everything that an experiment reaches while it sweeps methods over one matrix: configuration, items, meters, and the fit of a cell.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, ScatteredParams};
use landmark_core::approximation::{Approximation, Known};
use landmark_core::entries::{Certainty, EntryBlock, EntryPlan, EntrySet, Rows};
use landmark_core::error_estimate::{Stop, TargetError};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Coin, Metered, Oracle, OracleError, OracleShape, Spent};
use landmark_core::stream::{Rng, stream};
use landmark_data::Split;
use landmark_report::{CellKey, Metric, ResultRow, ResultsError, Subject, Variant, cell_key};
use serde_json::json;

use super::wme::{self, RandomStores};
use super::{Cell, Comparison, Setting, Sweep};
use crate::config::{EntriesConfig, MatrixSubject, MethodConfig, ProxyLink, RunSettings, SplitConfig};
use crate::job::{JobError, Request};
use crate::loaded::LoadError;
use crate::metered_store::{MeteredStore, OneOrderScores};
use crate::problem::{Problem, similarity};

/// The first step of a rank that grows where none is named, as a share of the largest.
const FIRST_SHARE: usize = 8;

/// Number of the matrix of the other order, where orders are kept apart.
pub const OTHER_ORDER: usize = 1;

/// Everything a job of a sweep can reach.
pub struct SweepContext<'a> {
    /// Name, seed, replicates, profile.
    pub run: &'a RunSettings,
    pub config_hash: String,
    /// Its part about the matrix.
    pub matrix: &'a MatrixSubject,
    /// Items, labels, proxies.
    pub problem: &'a Problem,
    /// Evaluation and storage of the entries of K.
    pub metered: &'a MeteredStore,
    /// Methods × sizes × replicates.
    pub sweep: &'a Sweep<'a>,
    /// Evaluation and storage of the distances to random documents (WME).
    pub random: RandomStores,
    pub folder: &'a Path,
    /// True where a budget ended the growth of a rank: its best so far is a result.
    pub is_cut_short: std::cell::Cell<bool>,
}

impl SweepContext<'_> {
    pub fn split(&self, replicate: u64) -> Result<Split, LoadError> {
        self.problem.split(self.matrix.dataset.split(), self.run.seed, replicate)
    }

    /// The first replicate with the same split: all of them where the split is given, itself where each draws its own.
    pub fn first_of_split(&self, cell: &Cell) -> u64 {
        match self.matrix.dataset.split() {
            Some(SplitConfig::Train(_)) => cell.replicate,
            Some(SplitConfig::Given) | None => 0,
        }
    }

    pub fn fixed_gamma(&self) -> Option<f64> {
        self.matrix.fixed_gamma()
    }

    /// The γ that all methods share: the one that is fixed, or the (geometric) middle of those searched.
    pub fn common_gamma(&self) -> Option<f64> {
        self.matrix.common_gamma()
    }

    /// Similarities exp(−γ·score) for a command that chooses its pairs on the way: a program is checked when the first is to be evaluated.
    pub fn similarities(&self, gamma: Option<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
        self.metered.checked_similarities(gamma, self.checks())
    }

    /// One order of each pair, drawn by the seed of the run, for a search that asks for both orders of the best alone.
    pub fn one_order(&self, gamma: Option<f64>) -> Result<Option<OneOrderScores>, OracleError> {
        self.metered.one_order(gamma, Coin::new(self.run.seed), self.checks())
    }

    /// Asks a program again for some pairs that the store holds.
    pub fn check_program(&self) -> Result<(), OracleError> {
        self.metered.checked(self.checks()).map_or(Ok(()), |checked| checked.check_identity(&[]))
    }

    /// Evaluations by which a program is checked, at most: some pairs in the other order, and some of the store again.
    pub fn most_checks(&self) -> u64 {
        self.metered.checked(self.checks()).map_or(0, |_| 2 * self.checks() as u64)
    }

    fn checks(&self) -> usize {
        self.matrix.oracle.settings().checks()
    }

    /// Raw scores that a cell is fitted to: one order a pair, or what is wanted.
    pub fn scores(&self, cell: &Cell) -> Arc<dyn Oracle> {
        if self.sweep.coin(cell).is_some() { self.metered.scores() } else { self.metered.wanted() }
    }

    /// Requests of entries that are wanted: of both orders where they are kept apart.
    pub fn requests(&self, plan: EntryPlan) -> Vec<Request> {
        let other = self.metered.other_order().map(|_| Request { matrix: OTHER_ORDER, plan: plan.clone() });
        Request::of_sweep(plan).into_iter().chain(other).collect()
    }

    /// Price of requests that are made of an empty store.
    pub fn evaluations(&self, requests: &[Request]) -> u64 {
        self.sets(requests).iter().map(|(_, entries)| entries.evaluations()).sum()
    }

    /// Evaluations of requests that are not in the store yet.
    pub fn missing(&self, requests: &[Request]) -> u64 {
        self.sets(requests).iter().map(|(metered, entries)| metered.missing(entries)).sum()
    }

    fn sets(&self, requests: &[Request]) -> Vec<(&MeteredStore, EntrySet)> {
        let stores = [Some(self.metered), self.metered.other_order()].into_iter().flatten();
        let set = |(number, metered): (usize, &'_ MeteredStore)| {
            let mut entries = metered.entries();
            requests.iter().filter(|request| request.matrix == number).for_each(|request| entries.add(&request.plan));
            entries
        };
        stores.enumerate().map(|(number, metered)| (metered, set((number, metered)))).collect()
    }

    /// Fits the method of a cell through a meter of its own: the approximation, and what it would have cost alone.
    pub fn fit(&self, cell: &Cell, setting: Setting) -> Result<(Approximation, Spent), JobError> {
        self.fit_to(self.target(cell), cell, self.landmarks(cell)?, setting)
    }

    /// The same at the rank of the cell, whatever the configuration states of growing.
    pub fn fit_at(&self, cell: &Cell, setting: Setting) -> Result<(Approximation, Spent), JobError> {
        self.fit_to(None, cell, self.landmarks(cell)?, setting)
    }

    /// The same from the landmarks of this rank alone: those that a larger rank would add are treated like any other item, so that they
    /// can judge the fit. The vectors of a proxy are exact at the first items of the order, whether or not their columns are evaluated.
    pub fn fit_without_later(&self, cell: &Cell, setting: Setting) -> Result<(Approximation, Spent), JobError> {
        let (all, n) = (self.landmarks(cell)?, self.problem.items());
        let method = self.sweep.approximator(cell, setting)?;
        let order = all.order()[..method.landmarks_needed(n, cell.rank).min(all.order().len())].to_vec();
        let landmarks = Landmarks::new(n, order, all.independent().to_vec()).map_err(ApproximateError::from)?;
        self.fit_to(None, cell, landmarks, setting)
    }

    fn fit_to(
        &self,
        target: Option<TargetError>,
        cell: &Cell,
        landmarks: Landmarks,
        setting: Setting,
    ) -> Result<(Approximation, Spent), JobError> {
        let oracle = Metered::new(similarity(self.scores(cell), setting.gamma)?);
        let mut rng = stream(self.run.seed, &self.problem.dataset, "fit", cell.replicate);
        let is_wme = self.sweep.method(cell).id == wme::ID;
        let method = if is_wme { self.wme(cell, setting)? } else { self.sweep.approximator(cell, setting)? };
        let known = self.sweep.method(cell).known;
        let grows = target.is_some();
        let approximation = match target {
            Some(target) => self.grow(&target, method.as_ref(), &oracle, &landmarks, known, &mut rng)?,
            None => method.fit(&oracle, &landmarks, cell.rank, known, &mut rng)?,
        };
        let mut spent = oracle.spent();
        if is_wme {
            // no cell of K, but this number of distances to random documents
            spent.evaluations = (self.problem.items() * cell.rank) as u64;
        } else if let Some(choice) = self.sweep.choice(&landmarks, self.metered.shape())? {
            let rank = if grows { approximation.report().rank.clamp(1, cell.rank) } else { cell.rank };
            let fit = method.plan(OracleShape::of(&oracle), &landmarks, rank)?;
            add_choice(&mut spent, (&choice, self.metered.shape()), (&fit, OracleShape::of(&oracle)));
        }
        Ok((approximation, spent))
    }

    /// Word mover's embeddings over the random documents of the cell's replicate, which draws its own.
    fn wme(&self, cell: &Cell, setting: Setting) -> Result<Arc<dyn Approximate>, JobError> {
        let seed = self.run.seed.wrapping_add(cell.replicate);
        self.random.method(self.problem, self.metered, self.sweep.method(cell), seed, setting)
    }

    /// Stopping target of the growth of a cell's rank, where `target_error` asks for one and the method draws landmarks.
    pub fn target(&self, cell: &Cell) -> Option<TargetError> {
        if let Some(target) = self.matrix.target_error {
            let first = match self.sweep.sizes().as_slice() {
                [first, _, ..] => *first,
                _ => (cell.rank / FIRST_SHARE).max(1),
            };
            return self.grown(cell, target, first);
        }
        // factors within a limit of time: the best of steps of about twice the rank each
        self.matrix.budget.seconds.filter(|_| self.matrix.experiment.makes_factors())?;
        let steps = self.grown(cell, f64::MIN_POSITIVE, (cell.rank / FIRST_SHARE).max(1))?;
        Some(TargetError { growth: 2.0, ..steps })
    }

    /// A rank that grows from `first_rank` to that of the cell until the estimate is below `target`.
    pub fn grown(&self, cell: &Cell, target: f64, first_rank: usize) -> Option<TargetError> {
        let estimate = self.matrix.error_estimate?;
        let draws = self.sweep.method(cell).entry.draws;
        draws.then(|| TargetError {
            target,
            first_rank,
            largest_rank: Some(cell.rank),
            samples: estimate.samples,
            confidence: estimate.confidence,
            ..TargetError::default()
        })
    }

    fn grow(
        &self,
        target: &TargetError,
        method: &dyn Approximate,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, JobError> {
        let outcome = target.run(method, oracle, landmarks, known, rng)?;
        if matches!(outcome.stop, Stop::BudgetExhausted(_)) {
            self.is_cut_short.set(true);
        }
        Ok(outcome.approximation)
    }

    /// Entries that the fit of a cell will request: exactly, or all that a growing rank may come to.
    pub fn plan(&self, cell: &Cell) -> Result<EntryPlan, JobError> {
        let shape = self.metered.shape();
        let Some(target) = self.target(cell) else { return Ok(self.sweep.plan(cell, shape)?) };
        let method = self.sweep.method(cell).approximator.as_ref();
        let mut rng = stream(self.run.seed, &self.problem.dataset, "fit", cell.replicate);
        let most = target.most(method, shape, &self.sweep.drawn_landmarks(cell)?, &mut rng)?;
        let mut blocks = vec![EntryBlock { rows: Rows::All, cols: most.columns() }];
        blocks.extend(
            most.scattered().into_iter().map(|(i, j)| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] }),
        );
        Ok(EntryPlan { blocks, chosen: most.chosen(), certainty: Certainty::UpperBound })
    }

    /// The landmarks of a cell, chosen on the similarities at the γ that is fixed, or at the middle of those searched.
    pub fn landmarks(&self, cell: &Cell) -> Result<Landmarks, JobError> {
        Ok(self.sweep.landmarks(cell, self.metered.similarities(self.common_gamma())?.as_ref())?)
    }

    /// A row of a cell, to be filled with metric and value.
    pub fn row(&self, cell: &Cell, spent: &Spent, metric: Metric, value: f64) -> ResultRow {
        let method = self.sweep.method(cell);
        let subject = Subject {
            variant: variant(method),
            // what no landmark moves reads all of K
            is_cap: !method.entry.draws,
            ..self.subject(method.id).called(&method.name)
        };
        self.row_of(subject, metric, value)
            .compared_at(cell.comparison.id())
            .at("columns", cell.columns)
            .at("rank", cell.rank)
            .cost(spent.cells, spent.evaluations)
            .replicate(cell.replicate)
    }

    /// Something on the items of the run, under its id.
    pub fn subject(&self, id: &str) -> Subject {
        Subject::new(&self.problem.dataset, id).items(self.problem.items())
    }

    /// A row of no cell.
    pub fn row_of(&self, subject: Subject, metric: Metric, value: f64) -> ResultRow {
        ResultRow { profile: self.run.profile.name.clone(), ..ResultRow::new(subject, metric, value) }
    }

    /// A method that reads one order by its own wish has another key than one that reads both, whose keys are as they were before there was one.
    fn with_order(&self, cell: Option<&Cell>, more: &serde_json::Value) -> serde_json::Value {
        let order = cell.and_then(|cell| self.sweep.method(cell).order);
        order.map_or_else(|| more.clone(), |order| json!([more, order]))
    }

    /// The key of a job: everything that moves its rows.
    pub fn key(&self, what: &str, cell: Option<&Cell>, more: &serde_json::Value) -> Result<CellKey, ResultsError> {
        let (run, matrix) = (self.run, self.matrix);
        let method = cell.map(|cell| {
            let method = self.sweep.method(cell);
            let proxy = method.proxy.as_ref().map(|proxy| {
                let identity = |kind| self.problem.proxies.get(kind).map(|oracle| oracle.identity().to_hex());
                let more: Vec<_> = proxy.more.iter().map(identity).collect();
                // one proxy has the key that it always had
                let identities = match more.is_empty() {
                    true => json!(identity(&proxy.kind)),
                    false => json!((identity(&proxy.kind), more)),
                };
                (proxy, identities)
            });
            (method.id, &method.name, &method.params, method.known, proxy, cell.comparison, cell.columns, cell.rank)
        });
        let mut key = json!({
            "version": 1,
            "what": what,
            "dataset": self.problem.dataset,
            "oracle": self.problem.raw.identity().to_hex(),
            "gamma": matrix.oracle.gamma(),
            // a file may change under its name: what counts is what it holds
            "landmarks": self.sweep.given().map_or_else(|| json!(matrix.landmarks), |indices| json!(indices)),
            "labels": self.problem.labels().map(|labels| (&labels.of, &labels.names)),
            "seed": run.seed,
            "target_error": matrix.target_error.map(|target| (target, matrix.error_estimate, self.sweep.sizes(), matrix.budget)),
            "replicate": cell.map(|cell| cell.replicate),
            "method": method,
            "profile": run.profile.name,
            "more": self.with_order(cell, more),
        });
        // keys of before there were other entries than columns stay as they are
        let entries = cell.map(|cell| self.sweep.method(cell).entries).filter(|entries| !entries.is_columns());
        if let (Some(entries), Some(parts)) = (entries, key.as_object_mut()) {
            parts.insert("entries".to_owned(), json!(entries));
        }
        cell_key(&key)
    }
}

/// The rows of a cell whose twin was computed.
pub fn rows_of_duplicate(rows: &[ResultRow], cell: &Cell) -> Vec<ResultRow> {
    let comparison = cell.comparison.id();
    rows.iter().map(|row| ResultRow { comparison: comparison.to_owned(), ..row.clone() }).collect()
}

/// Adds to what a fit took the entries that only the choice of its landmarks read. Its own may be of one order a pair, those of the choice are of
/// what is wanted.
fn add_choice(spent: &mut Spent, (choice, wanted): (&EntryPlan, OracleShape), (fit, read): (&EntryPlan, OracleShape)) {
    let evaluations = |plans: &[&EntryPlan], shape| {
        let mut entries = EntrySet::new(shape);
        plans.iter().for_each(|plan| entries.add(plan));
        entries.evaluations()
    };
    let added = |shape| evaluations(&[fit, choice], shape) - evaluations(&[fit], shape);
    // pairs that both read are asked for in one order by the fit and in both by the choice
    let both = evaluations(&[choice], wanted) - evaluations(&[choice], read);
    spent.evaluations += added(read) + both;
    let columns: HashSet<usize> = fit.full_columns().into_iter().collect();
    let others = choice.full_columns().iter().filter(|column| !columns.contains(column)).count();
    spent.cells += (others * wanted.len) as u64;
}

/// Extras of a method, empty for the paper's own.
fn variant(method: &MethodConfig) -> Variant {
    let mut variant = Variant::default();
    let keys = method.entry.keys.schema();
    for (name, key) in keys["properties"].as_object().into_iter().flatten() {
        let Some(value) = method.params.get(name) else { continue };
        // rows have always named lists of candidates, the usual ones as well
        if value.is_array() || *value != key["default"] {
            variant.set(name, value.to_string());
        }
    }
    match (method.known.landmarks, method.known.diagonal) {
        (false, false) => {}
        (true, false) => variant.set("known", "landmarks"),
        (false, true) => variant.set("known", "diagonal"),
        (true, true) => variant.set("known", "landmarks, diagonal"),
    }
    if let Some(proxy) = &method.proxy {
        variant.set("proxy", proxy.label());
        if proxy.link == ProxyLink::Hub {
            variant.set("link", "hub");
        }
    }
    if method.order.is_some() {
        variant.set("order", "random");
    }
    if let EntriesConfig::Scattered(ScatteredParams { columns, rounds, nearest }) = method.entries {
        let among = nearest.map_or_else(String::new, |nearest| format!(", among the {nearest} nearest"));
        variant.set("entries", format!("scattered, {columns} in columns, {rounds} rounds{among}"));
    }
    variant
}

pub fn whole(n: usize) -> EntryPlan {
    EntryPlan::all(n)
}

/// A title without its replicate.
pub fn group(sweep: &Sweep<'_>, what: &str, cell: &Cell) -> String {
    let by = match cell.comparison {
        Comparison::Rank => "rank",
        Comparison::Entries => "entries of",
        Comparison::SmallRank => "small rank, at most",
        Comparison::LargeRank => "large rank, at most",
    };
    format!("{what}{} · {by} {}", sweep.method(cell).name, cell.columns)
}
