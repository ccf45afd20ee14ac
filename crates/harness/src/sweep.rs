//! A sweep: methods × sizes × replicates, enumerated before the first call.
//!
//! Every method of a replicate sees the same landmarks, whatever else the sweep holds, because they are drawn from the stream
//! (seed, dataset, "landmarks", replicate). Sizes are nested, so the largest pays for the smaller ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::approximate::{Approximate, ApproximateError, ByOneOrder};
use landmark_core::entries::{Certainty, EntryPlan};
use landmark_core::landmarks::{Landmarks, SelectionPlan};
use landmark_core::oracle::{Coin, Oracle, OracleShape};
use landmark_core::stream::stream;
use serde::Serialize;

use crate::config::{
    Compare, GivenLandmarks, LandmarkConfig, MatrixSubject, MethodConfig, Regimes, RunSettings, SplitConfig,
};
use crate::oracles::Orders;
use crate::problem::Problem;

pub mod context;
pub mod kept;
pub mod wme;

/// Basis on which methods are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The same size of the first landmark set.
    Rank,
    /// No more cells than the same number of full columns.
    Entries,
    /// The best rank among those the paper calls small.
    SmallRank,
    /// The best rank among those it calls large.
    LargeRank,
}

impl Comparison {
    pub fn id(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Entries => "entries",
            Self::SmallRank => "small_rank",
            Self::LargeRank => "large_rank",
        }
    }
}

/// Hyper-parameters that cross-validation chose for a fit besides its rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Setting {
    /// γ of exp(−γd), where the score is a distance.
    pub gamma: Option<f64>,
    /// |S2| / |S1|, where it is not the method's own.
    pub s2: Option<f64>,
    /// The most words of a random document (WME), where it is not the method's own.
    pub max_words: Option<usize>,
}

impl Setting {
    /// A γ, and the method as it is.
    pub fn at(gamma: Option<f64>) -> Self {
        Self { gamma, ..Self::default() }
    }
}

/// One cell of the sweep: what is computed, resumed and written as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Index of the method in the configuration.
    pub method: usize,
    /// Basis on which its rank was chosen.
    pub comparison: Comparison,
    /// The s of the axis: the rank itself, or the number of columns whose cells it may not exceed.
    pub columns: usize,
    /// s1, handed to the method.
    pub rank: usize,
    /// Replicate number, from 0.
    pub replicate: u64,
}

/// The comparison that a configuration asks for.
pub struct Sweep<'a> {
    run: &'a RunSettings,
    matrix: &'a MatrixSubject,
    problem: &'a Problem,
    given: Option<Vec<usize>>,
    /// Those chosen by what was seen, by replicate.
    seen: Mutex<HashMap<u64, Landmarks>>,
}

impl<'a> Sweep<'a> {
    /// A sweep over the methods of a configuration; `given` are its landmarks, where they are listed.
    pub fn new(
        run: &'a RunSettings,
        matrix: &'a MatrixSubject,
        problem: &'a Problem,
        given: Option<Vec<usize>>,
    ) -> Self {
        Self { run, matrix, problem, given, seen: Mutex::default() }
    }

    pub fn method(&self, cell: &Cell) -> &'a MethodConfig {
        &self.matrix.methods[cell.method]
    }

    /// The landmarks that the configuration lists, where it does.
    pub fn given(&self) -> Option<&[usize]> {
        self.given.as_deref()
    }

    /// The s of the axis, ascending.
    pub fn sizes(&self) -> Vec<usize> {
        self.matrix.sizes(self.problem.items())
    }

    /// Every cell in the order it is run: replicate by replicate, size by size, so that a run that ends early leaves complete comparisons
    /// behind. What needs all of K comes last.
    pub fn cells(&self) -> Vec<Cell> {
        let axis = self.axis();
        let (mut drawn, mut fixed) = (Vec::new(), Vec::new());
        for replicate in 0..self.run.replicates as u64 {
            for &(comparison, columns) in &axis {
                for (method, entry) in self.matrix.methods.iter().enumerate() {
                    let (draws, sized) = (entry.entry.draws, entry.entry.sized);
                    if draws {
                        let rank = self.rank(entry, comparison, columns);
                        drawn.push(Cell { method, comparison, columns, rank, replicate });
                        continue;
                    }
                    // what needs all of K is the same whatever the comparison, and what has no rank the same at all
                    let is_first =
                        axis.iter().find(|(_, other)| !sized || *other == columns) == Some(&(comparison, columns));
                    if (replicate == 0 || self.splits_again()) && is_first {
                        let rank = if sized { columns } else { self.problem.items() };
                        fixed.push(Cell { method, comparison, columns: rank, rank, replicate });
                    }
                }
            }
        }
        drawn.append(&mut fixed);
        drawn
    }

    /// Comparisons with their s, in the order they run.
    fn axis(&self) -> Vec<(Comparison, usize)> {
        let n = self.problem.items();
        let Regimes { small, large } = self.matrix.search.rank;
        let regimes = [(Comparison::SmallRank, small), (Comparison::LargeRank, large)];
        let searched: Vec<_> =
            regimes.into_iter().filter_map(|(regime, range)| Some((regime, range?.1.min(n)))).collect();
        if !searched.is_empty() {
            return searched;
        }
        // with a target, the largest rank is how far a method may grow
        if self.matrix.target_error.is_some() {
            return self.sizes().last().map(|&largest| (Comparison::Rank, largest)).into_iter().collect();
        }
        let comparisons: &[Comparison] = match self.matrix.compare {
            Compare::Rank => &[Comparison::Rank],
            Compare::Entries => &[Comparison::Entries],
            Compare::Both => &[Comparison::Rank, Comparison::Entries],
        };
        self.sizes()
            .into_iter()
            .flat_map(|size| comparisons.iter().map(move |&comparison| (comparison, size)))
            .collect()
    }

    /// True where each replicate trains on other items, so that even what does not depend on landmarks differs.
    fn splits_again(&self) -> bool {
        self.matrix.experiment.searches() && matches!(self.matrix.dataset.split(), Some(SplitConfig::Train(_)))
    }

    fn rank(&self, method: &MethodConfig, comparison: Comparison, columns: usize) -> usize {
        match comparison {
            Comparison::Rank | Comparison::SmallRank | Comparison::LargeRank => columns,
            Comparison::Entries => {
                let n = self.problem.items();
                // one order a pair next to methods that read both: twice the columns for the calls
                let is_cheaper = method.order.is_some() && self.matrix.oracle.orders() == Some(Orders::Mean);
                let columns = if is_cheaper { (2 * columns).min(n) } else { columns };
                method.approximator.rank_for_columns(n, columns)
            }
        }
    }

    /// The cell at equal rank that computes the very same thing, where both comparisons are made: it is computed once.
    pub fn duplicate_of(&self, cell: &Cell) -> Option<Cell> {
        let is_same =
            self.matrix.compare == Compare::Both && cell.comparison == Comparison::Entries && cell.rank == cell.columns;
        is_same.then(|| Cell { comparison: Comparison::Rank, ..cell.clone() })
    }

    /// The coin of a cell whose method is fitted to one order a pair.
    pub fn coin(&self, cell: &Cell) -> Option<Coin> {
        let (orders, method) = (self.problem.orders.as_ref()?, self.method(cell));
        (method.entry.draws && self.matrix.is_by_one_order(method)).then_some(orders.coin)
    }

    /// The landmarks of a cell: those of its replicate, shared by all methods. Where a policy must see scores to choose, they are evaluated
    /// from `oracle` the first time; every fit uses some of those columns.
    pub fn landmarks(&self, cell: &Cell, oracle: &dyn Oracle) -> Result<Landmarks, ApproximateError> {
        let LandmarkConfig::Seen(policy) = &self.matrix.landmarks else { return self.drawn_landmarks(cell) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(landmarks) = seen.get(&cell.replicate) {
            return Ok(landmarks.clone());
        }
        let mut rng = stream(self.run.seed, &self.problem.dataset, "landmarks", cell.replicate);
        let landmarks = policy.select_up_to(oracle, self.common_order(), self.longest_order()?, &mut rng)?;
        seen.insert(cell.replicate, landmarks.clone());
        Ok(landmarks)
    }

    /// Entries that choosing these landmarks read; `None` where no score was looked at.
    pub fn choice(&self, landmarks: &Landmarks, shape: OracleShape) -> Result<Option<EntryPlan>, ApproximateError> {
        let LandmarkConfig::Seen(policy) = &self.matrix.landmarks else { return Ok(None) };
        Ok(Some(policy.plan_up_to(shape, self.common_order(), self.longest_order()?)?.entries(landmarks)))
    }

    /// Landmarks that are chosen by what is seen whatever the methods are, so that another method moves none of them: twice the largest
    /// rank, for a second set as large as the papers take it. Factors of a user's own data are of one method, which shares its landmarks with no
    /// other.
    fn common_order(&self) -> usize {
        let largest = self.axis().iter().map(|&(_, size)| size).max().unwrap_or(1);
        let sets = if self.matrix.experiment.makes_factors() { 1 } else { 2 };
        (sets * largest).min(self.problem.items())
    }

    /// Landmarks that the largest fit of any method reads, those of the common order included.
    fn longest_order(&self) -> Result<usize, ApproximateError> {
        let (n, axis) = (self.problem.items(), self.axis());
        let mut longest = self.common_order();
        for method in &self.matrix.methods {
            let widest = self.widest(method)?;
            let ranks = axis.iter().map(|&(comparison, columns)| self.rank(method, comparison, columns));
            longest = ranks.map(|rank| widest.landmarks_needed(n, rank)).fold(longest, usize::max);
        }
        Ok(longest)
    }

    /// A method with the largest second set that a search tries.
    pub fn widest(&self, method: &MethodConfig) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let tried = self.matrix.search.s2.as_ref();
        tried.map_or_else(|| Ok(Arc::clone(&method.approximator)), |axis| method.with_second_set(axis.bounds().1))
    }

    /// Landmarks that need no score: uniform or given. For a plan they stand in for those that do, which are as many.
    pub fn drawn_landmarks(&self, cell: &Cell) -> Result<Landmarks, ApproximateError> {
        let Some(indices) = &self.given else {
            return Ok(self.problem.uniform_landmarks(self.run.seed, cell.replicate));
        };
        if self.matrix.landmarks == LandmarkConfig::Kept {
            let drawn = self.problem.uniform_landmarks(self.run.seed, cell.replicate);
            return Ok(Landmarks::new(self.problem.items(), indices.clone(), drawn.independent().to_vec())?);
        }
        let mut rng = stream(self.run.seed, &self.problem.dataset, "landmarks", cell.replicate);
        Ok(Landmarks::given(self.problem.items(), indices, &mut rng)?)
    }

    /// Entries that a cell's fit will request.
    pub fn plan(&self, cell: &Cell, shape: OracleShape) -> Result<EntryPlan, ApproximateError> {
        self.plan_of(cell, &self.method(cell).approximator, shape)
    }

    /// The same of a method that is not quite the one of the configuration.
    pub fn plan_of(
        &self,
        cell: &Cell,
        approximator: &Arc<dyn Approximate>,
        shape: OracleShape,
    ) -> Result<EntryPlan, ApproximateError> {
        let drawn = self.drawn_landmarks(cell)?;
        let fit = approximator.plan(shape, &drawn, cell.rank)?;
        let LandmarkConfig::Seen(policy) = &self.matrix.landmarks else { return Ok(fit) };
        // the choice reads columns of its landmarks, the fit those and perhaps independent ones: no more than this
        let longest = self.longest_order()?;
        let columns = (longest + approximator.independent_needed(cell.rank)).min(shape.len);
        let most = SelectionPlan { columns, ..policy.plan(shape, longest)? }.entries(&drawn);
        Ok(EntryPlan { chosen: fit.chosen, certainty: Certainty::UpperBound, ..most })
    }

    /// The method of a cell, wrapped in its proxy as seen through γ and, where it reads one order a pair, in what corrects that.
    pub fn approximator(&self, cell: &Cell, setting: Setting) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let method = self.proxied(cell, setting)?;
        Ok(match self.coin(cell) {
            Some(coin) => Arc::new(ByOneOrder::new(method, coin)),
            None => method,
        })
    }

    fn proxied(&self, cell: &Cell, setting: Setting) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let method = self.method(cell);
        let proxies = self.problem.proxies(method.proxy.as_ref(), setting.gamma)?;
        method.around(proxies, setting.s2)
    }

    /// A name for progress lines and the dry run.
    pub fn title(&self, cell: &Cell) -> String {
        let method = self.method(cell);
        format!("{} at {} {}, replicate {}", method.name, cell.comparison.id(), cell.columns, cell.replicate + 1)
    }
}

/// The landmarks that a configuration lists, if it does.
pub fn given_landmarks(matrix: &MatrixSubject) -> Result<Option<Vec<usize>>, String> {
    let LandmarkConfig::Given(GivenLandmarks { indices, path }) = &matrix.landmarks else { return Ok(None) };
    if let Some(indices) = indices {
        return Ok(Some(indices.clone()));
    }
    let Some(path) = path else { return Ok(None) };
    let text = std::fs::read_to_string(&path.resolved)
        .map_err(|error| format!("the landmarks `{}` can't be read: {error}", path.written))?;
    let parse = |(number, line): (usize, &str)| {
        line.trim().parse().map_err(|_| {
            format!(
                "`{}` line {}: `{line}` is no item number; write one number from 0 a line",
                path.written,
                number + 1
            )
        })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect::<Result<_, _>>().map(Some)
}
