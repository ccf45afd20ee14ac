//! Ways to spend b calls an item, each within the same budget.
//!
//! ```text
//! proxy               no call: the proxy's own lists
//! rerank              the proxy's best pairs, scored
//! GAR                 a pair of every item in turn: now its proxy's best, now a proxy neighbor of the best item scored so far (MacAvaney et al. 2022)
//! ANNCUR              all in columns, K̃ = C W⁺ Cᵀ; with rescoring half in columns, half in the best pairs of K̃ (Yadav et al. 2022)
//! AXN-like            half in columns, whose rows are the items' vectors; rounds of regression on an item's known scores (Yadav et al. 2024)
//! shift_ridge, sum    .4 b in columns, K̃ of this project without and with the proxy below it, the rest in its best pairs
//! rounds              ALGORITHMS §11, and the same without one of its parts
//! perfect             the best pairs of K itself, by their place in the lists of both items; the proxy fills what is not scored
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, Link, Nystrom, Proxied, ShiftRidgeParams};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::{self, Cholesky};
use landmark_core::oracle::{AsymmetryPolicy, Metered, Oracle, OracleShape, Precomputed, block_of};
use landmark_core::rank::RankCmp;
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{RoundsParams, nearest as nearest_in_rounds};
use landmark_report::{Subject, Variant};
use ndarray::{Array1, Array2, ArrayView2, Axis, aview1};
use rayon::prelude::*;

use super::call_budget::CallBudget;
use super::places::{best_of, nearest};
use landmark_harness::config::{ProxyKind, RetrievalConfig, SearchPart};
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::SweepContext;

/// Neighbors of an item in GAR's graph, as its authors have it.
const GRAPH_DEGREE: usize = 16;

/// Share of the calls that a sum spends on columns.
const COLUMN_SHARE: f64 = 0.4;

/// Ridge of AXN's regression, a share of the mean squared length of an item's vector.
const RIDGE: f64 = 0.01;

/// A way to spend calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchMethod {
    Proxy,
    Rerank,
    /// Graph-based adaptive reranking.
    Gar,
    Anncur,
    /// Half columns, half candidates.
    AnncurRescored,
    Axn,
    /// Shift and ridge without a proxy.
    ShiftRidge,
    /// Proxy and residual.
    Sum,
    /// Rounds, or rounds without a part.
    Rounds(Option<SearchPart>),
    /// The best pairs of K.
    Perfect,
}

/// State that the methods of one replicate share.
pub struct Setup<'a> {
    pub matrix: &'a Array2<f64>,
    /// Calls that an evaluation of it takes.
    pub shape: OracleShape,
    /// The proxy, as a similarity.
    pub proxy: Arc<dyn Oracle>,
    /// Order in which columns are taken.
    pub landmarks: &'a Landmarks,
    /// Rounds of those that work in rounds.
    pub rounds: usize,
    pub seed: (u64, u64),
}

/// The same with the proxy written out, and K as an oracle.
pub(super) struct Ready<'a> {
    setup: Setup<'a>,
    proxy: Array2<f64>,
    oracle: Precomputed,
}

impl<'a> Setup<'a> {
    /// Evaluates the proxy everywhere, which costs no call.
    pub(super) fn ready(self) -> Result<Ready<'a>, JobError> {
        let all: Vec<usize> = (0..self.matrix.nrows()).collect();
        let proxy = block_of(self.proxy.as_ref(), &all, &all)?;
        // a symmetric oracle may differ in the last bits of its two triangles
        let oracle = Precomputed::new(self.matrix.clone(), AsymmetryPolicy::Mean)?;
        Ok(Ready { setup: self, proxy, oracle })
    }
}

/// A list an item, and what they took.
pub(super) struct Lists {
    /// The nearest of every item, best first.
    pub(super) lists: Vec<Vec<usize>>,
    pub(super) spent: u64,
}

/// Scores of all pairs as a method knows them, and what it paid.
struct Found {
    scores: Array2<f64>,
    /// Known pairs stand before all others, whose scores are on another scale.
    known_first: Option<Vec<bool>>,
    spent: u64,
}

impl Found {
    /// The nearest of every item, best first.
    fn lists(&self, longest: usize) -> Vec<Vec<usize>> {
        let n = self.scores.nrows();
        let list = |i: usize| match &self.known_first {
            None => nearest(self.scores.view(), i, longest),
            Some(is_known) => {
                let row = self.scores.row(i);
                let known = &is_known[i * n..(i + 1) * n];
                let order = |a: usize, b: usize| known[b].cmp(&known[a]).then(row[b].rank_cmp(&row[a]));
                best_of(n, i, longest, order)
            }
        };
        (0..n).into_par_iter().map(list).collect()
    }
}

impl SearchMethod {
    /// All, in the order of the tables: the stable id in results, and the name in tables.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Proxy, "proxy", "proxy alone"),
        (Self::Rerank, "rerank", RetrievalConfig::RERANKING),
        (Self::Gar, "gar", "GAR"),
        (Self::Anncur, "anncur", "ANNCUR"),
        (Self::AnncurRescored, "anncur_rescored", "ANNCUR + rescore"),
        (Self::Axn, "axn", "AXN-like"),
        (Self::ShiftRidge, "shift_ridge_rescored", "shift_ridge + rescore"),
        (Self::Sum, "sum_rescored", "proxy + shift_ridge + rescore"),
        (Self::Rounds(None), "rounds", RetrievalConfig::SEARCH),
        (Self::Rounds(Some(SearchPart::Process)), "rounds_without_process", "rounds without the process over pairs"),
        (Self::Rounds(Some(SearchPart::Kriging)), "rounds_without_kriging", "rounds without kriging"),
        (Self::Rounds(Some(SearchPart::Hubness)), "rounds_without_popularity", "rounds without popularity"),
        (
            Self::Rounds(Some(SearchPart::RankTransform)),
            "rounds_without_rank_transform",
            "rounds without the rank transform",
        ),
        (Self::Rounds(Some(SearchPart::Rounds)), "one_round", "one round"),
        (Self::Rounds(Some(SearchPart::Share)), "rounds_without_share", "rounds without a share for the proxy"),
        (Self::Rounds(Some(SearchPart::Proxy)), "rounds_without_proxy", "rounds without a proxy"),
        (Self::Perfect, "perfect", "perfect candidates"),
    ];

    /// Those that a reader chooses among, ours first.
    pub const CHOICES: &'static [Self] = &[
        Self::Rounds(None),
        Self::Rerank,
        Self::Gar,
        Self::AnncurRescored,
        Self::Axn,
        Self::Sum,
        Self::Proxy,
        Self::Perfect,
    ];

    /// Ours, ours without each of its parts, and perfect candidates.
    pub fn parts() -> Vec<Self> {
        let is_part = |method: &Self| matches!(method, Self::Rounds(_) | Self::Perfect);
        Self::ALL.iter().map(|&(method, ..)| method).filter(is_part).collect()
    }

    /// True of every method but rounds without a part that is not among `ablations`.
    pub(super) fn is_among(self, ablations: &[SearchPart]) -> bool {
        !matches!(self, Self::Rounds(Some(part)) if !ablations.contains(&part))
    }

    fn row(self) -> (&'static str, &'static str) {
        Self::ALL.iter().find(|row| row.0 == self).map_or(("", ""), |&(_, id, name)| (id, name))
    }

    pub fn id(self) -> &'static str {
        self.row().0
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// False where the lists are the same with any proxy.
    pub(super) fn reads_proxy(self) -> bool {
        let reads_none = matches!(
            self,
            Self::Anncur | Self::AnncurRescored | Self::Axn | Self::ShiftRidge | Self::Rounds(Some(SearchPart::Proxy))
        );
        !reads_none
    }

    /// Dataset and name of its rows.
    pub(super) fn subject(self, context: &SweepContext<'_>, proxy: &ProxyKind) -> Subject {
        let mut variant = Variant::default();
        variant.set("proxy", proxy.id());
        let subject = context.subject(self.id()).called(self.name());
        Subject { variant, is_cap: self == Self::Perfect, ..subject }
    }

    /// Lists of the nearest that it finds with `calls` calls an item, and the pairs it paid for; `None` where half of them are no column and it begins
    /// with columns.
    pub(super) fn lists(self, ready: &Ready<'_>, calls: usize, longest: usize) -> Result<Option<Lists>, JobError> {
        if let Self::Rounds(without) = self {
            return ready.rounds(without, calls, longest).map(Some);
        }
        let budget = CallBudget::new(ready.setup.matrix, ready.setup.shape, calls);
        if budget.columns_of_half() == 0 && matches!(self, Self::AnncurRescored | Self::Axn) {
            return Ok(None);
        }
        let found = self.search(ready, budget, calls)?;
        Ok(Some(Lists { lists: found.lists(longest), spent: found.spent }))
    }

    /// Spends `calls` calls an item.
    fn search(self, ready: &Ready<'_>, mut budget: CallBudget<'_>, calls: usize) -> Result<Found, JobError> {
        let (Ready { setup, proxy, .. }, half) = (ready, budget.columns_of_half());
        match self {
            // rounds make lists, not a matrix of estimates
            Self::Proxy | Self::Rounds(_) => {}
            Self::Rerank => budget.evaluate_highest(proxy.view(), budget.left()),
            Self::Gar => adaptive(&mut budget, proxy.view()),
            Self::Anncur => {
                let columns = budget.affordable_columns(budget.left() as u64);
                let estimate = ready.approximated(&Nystrom, &mut budget, columns)?;
                return Ok(comparable(&budget, estimate));
            }
            Self::AnncurRescored => {
                let estimate = ready.approximated(&Nystrom, &mut budget, half)?;
                return Ok(rescored(budget, estimate));
            }
            Self::Axn => return Ok(ready.regressed(budget, half)),
            Self::ShiftRidge => {
                let (method, columns) = (ShiftRidgeParams::default().check()?, ready.column_share(&budget, calls));
                let estimate = ready.approximated(&method, &mut budget, columns)?;
                return Ok(rescored(budget, estimate));
            }
            Self::Sum => {
                let method = Arc::new(ShiftRidgeParams { allow_zero: true, ..ShiftRidgeParams::default() }.check()?);
                let method = Proxied::new(method, Arc::clone(&setup.proxy), Link::default());
                let columns = ready.column_share(&budget, calls);
                let estimate = ready.approximated(&method, &mut budget, columns)?;
                return Ok(rescored(budget, estimate));
            }
            Self::Perfect => {
                budget.evaluate_highest(setup.matrix.view(), budget.left());
            }
        }
        let n = setup.matrix.nrows();
        let is_known = (0..n * n).map(|place| place / n != place % n && budget.knows(place / n, place % n)).collect();
        Ok(Found { spent: budget.spent(), known_first: Some(is_known), scores: budget.reveal(proxy.clone()) })
    }
}

/// The best pairs of an estimate of K, paid for with what is left.
fn rescored(mut budget: CallBudget<'_>, estimate: Array2<f64>) -> Found {
    let estimate = budget.reveal(estimate);
    budget.evaluate_highest(estimate.view(), budget.left());
    comparable(&budget, estimate)
}

/// Estimates on the scale of K, exact where known.
fn comparable(budget: &CallBudget<'_>, estimate: Array2<f64>) -> Found {
    Found { spent: budget.spent(), known_first: None, scores: budget.reveal(estimate) }
}

impl Ready<'_> {
    /// .4 b columns, at least 2, and no more than the budget pays for.
    fn column_share(&self, budget: &CallBudget<'_>, calls: usize) -> usize {
        // a few hundred at most
        let wanted = ((COLUMN_SHARE * calls as f64).round() as usize).max(2);
        wanted.min(budget.affordable_columns(budget.left() as u64))
    }

    /// The search in rounds of `core`, with or without one of its parts; what it paid for is what a meter counts.
    fn rounds(&self, without: Option<SearchPart>, calls: usize, longest: usize) -> Result<Lists, JobError> {
        let default = RoundsParams {
            k: longest.min(self.proxy.nrows() - 1),
            calls_per_item: calls,
            rounds: self.setup.rounds,
            ..RoundsParams::default()
        };
        let params = match without {
            None | Some(SearchPart::Proxy) => default,
            Some(SearchPart::Process) => RoundsParams { pairwise: false, ..default },
            Some(SearchPart::Kriging) => RoundsParams { kriging: false, ..default },
            Some(SearchPart::Hubness) => RoundsParams { hubness: false, ..default },
            Some(SearchPart::RankTransform) => RoundsParams { rank_transform: false, ..default },
            Some(SearchPart::Rounds) => RoundsParams { rounds: 1, ..default },
            Some(SearchPart::Share) => RoundsParams { share: 0.0, ..default },
        };
        let rounds = params.check().map_err(|error| JobError::Failed(error.into()))?;
        let proxies = if without == Some(SearchPart::Proxy) { Vec::new() } else { vec![Arc::clone(&self.setup.proxy)] };
        let metered = Metered::new(&self.oracle);
        let found = nearest_in_rounds(&metered, &proxies, &rounds, self.setup.landmarks);
        let found = found.map_err(|error| JobError::Failed(error.into()))?;
        let lists = found.lists.iter().map(|list| list.iter().map(|near| near.item).collect()).collect();
        Ok(Lists { lists, spent: metered.spent().evaluations })
    }

    /// K̃ of a method from a given number of columns, which are paid for.
    fn approximated(
        &self,
        method: &dyn Approximate,
        budget: &mut CallBudget<'_>,
        columns: usize,
    ) -> Result<Array2<f64>, JobError> {
        let landmarks = self.setup.landmarks;
        budget.evaluate_columns(&landmarks.order()[..columns]);
        let (seed, replicate) = self.setup.seed;
        let mut rng = stream(seed, "retrieval", method.id(), replicate);
        let fitted = method.fit(&self.oracle, landmarks, columns, Known::NOTHING, &mut rng)?;
        let all: Vec<usize> = (0..self.proxy.nrows()).collect();
        let mut estimate = Array2::zeros(self.proxy.dim());
        fitted.block(&all, &all, estimate.view_mut())?;
        Ok(estimate)
    }

    /// Rounds of ridge regression of every item's known scores on the rows of the columns.
    fn regressed(&self, mut budget: CallBudget<'_>, columns: usize) -> Found {
        let order = &self.setup.landmarks.order()[..columns];
        budget.evaluate_columns(order);
        let vectors = self.setup.matrix.select(Axis(1), order);
        let squares: f64 = vectors.iter().map(|value| value * value).sum();
        let mean = squares / vectors.nrows().max(1) as f64;
        let ridge = RIDGE * if mean > 0.0 { mean } else { 1.0 };
        let mut estimate = regress(&budget, vectors.view(), ridge);
        for round in 0..self.setup.rounds {
            let count = budget.left() / (self.setup.rounds - round);
            budget.evaluate_highest(estimate.view(), count);
            estimate = regress(&budget, vectors.view(), ridge);
        }
        comparable(&budget, estimate)
    }
}

/// E_i = V u_i for every item, u_i the ridge solution of V[O] u = K_iO on its known scores; made symmetric, and exact where known.
fn regress(budget: &CallBudget<'_>, vectors: ArrayView2<'_, f64>, ridge: f64) -> Array2<f64> {
    let (n, width) = vectors.dim();
    let solve = |i: usize| {
        let (items, mut right): (Vec<usize>, Vec<f64>) = budget.row(i).unzip();
        let rows = vectors.select(Axis(0), &items);
        let is_dual = items.len() < width;
        let mut gram = if is_dual { rows.dot(&rows.t()) } else { rows.t().dot(&rows) };
        gram.diag_mut().iter_mut().for_each(|entry| *entry += ridge);
        if !is_dual {
            right = rows.t().dot(&aview1(&right)).to_vec();
        }
        // a Gram matrix and a ridge: without a solution something is not finite, and so is the estimate
        match Cholesky::of(gram.view()) {
            Ok(factor) => factor.solve(&mut right),
            Err(_) => right.fill(f64::NAN),
        }
        if is_dual { rows.t().dot(&aview1(&right)) } else { Array1::from(right) }
    };
    let weights: Vec<Array1<f64>> = (0..n).into_par_iter().map(solve).collect();
    let weights = Array2::from_shape_fn((width, n), |(k, i)| weights[i][k]);
    let estimate = linalg::product(vectors, weights.view());
    let symmetric = (&estimate + &estimate.t()) * 0.5;
    budget.reveal(symmetric)
}

/// Every item takes a pair in turn, until the budget is empty: at even turns the next of its proxy's list, at odd ones a graph neighbor of the
/// best item it has scored so far. Pairs that another item paid for are known.
fn adaptive(budget: &mut CallBudget<'_>, proxy: ArrayView2<'_, f64>) {
    let n = proxy.nrows();
    let lists: Vec<Vec<usize>> = (0..n).into_par_iter().map(|i| nearest(proxy, i, n)).collect();
    let graph: Vec<&[usize]> = lists.iter().map(|list| &list[..GRAPH_DEGREE.min(list.len())]).collect();
    let mut queues: Vec<VecDeque<usize>> = lists.iter().map(|list| list.iter().copied().collect()).collect();
    for turn in 0.. {
        let before = budget.left();
        for (i, queue) in queues.iter_mut().enumerate() {
            let from_graph = if turn % 2 == 1 { frontier(budget, &graph, i) } else { None };
            let next = from_graph.or_else(|| {
                while let Some(&j) = queue.front() {
                    if !budget.knows(i, j) {
                        return Some(j);
                    }
                    queue.pop_front();
                }
                None
            });
            if next.is_some_and(|j| !budget.evaluate(i, j)) {
                return;
            }
        }
        if budget.left() == before {
            return;
        }
    }
}

/// The first unknown neighbor of the best scored item that has one.
fn frontier(budget: &CallBudget<'_>, graph: &[&[usize]], i: usize) -> Option<usize> {
    let mut scored: Vec<(usize, f64)> = budget.row(i).collect();
    scored.sort_unstable_by(|a, b| b.1.rank_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.iter().find_map(|&(item, _)| graph[item].iter().copied().find(|&j| j != i && !budget.knows(i, j)))
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::EmbeddingProxy;
    use rand::Rng as _;

    use super::*;

    /// 60 items: a product of vectors and hubness, the proxy a cosine of half of the vectors.
    fn world() -> (Array2<f64>, Arc<dyn Oracle>) {
        let mut rng = stream(5, "rivals", "world", 0);
        let vectors = Array2::from_shape_fn((60, 6), |_| rng.gen_range(-1.0..1.0));
        let popular: Vec<f64> = (0..60).map(|_| rng.gen_range(-0.5..0.5)).collect();
        let products = vectors.dot(&vectors.t());
        let matrix = Array2::from_shape_fn((60, 60), |(i, j)| products[[i, j]] + popular[i] + popular[j]);
        let half = vectors.slice(ndarray::s![.., ..3]).to_owned();
        (matrix, Arc::new(EmbeddingProxy::cosine(half).unwrap()))
    }

    fn recall(matrix: &Array2<f64>, lists: &[Vec<usize>], k: usize) -> f64 {
        let hits = |i: usize| {
            let truth = nearest(matrix.view(), i, k);
            lists[i][..k].iter().filter(|item| truth.contains(item)).count()
        };
        (0..matrix.nrows()).map(hits).sum::<usize>() as f64 / (k * matrix.nrows()) as f64
    }

    #[test]
    fn methods_that_read_no_proxy_find_the_same_with_another() {
        let (matrix, proxy) = world();
        let mut rng = stream(6, "rivals", "noise", 0);
        let noise = Array2::from_shape_fn((60, 3), |_| rng.gen_range(-1.0..1.0));
        let noise: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(noise).unwrap());
        let landmarks = Landmarks::uniform(60, &mut stream(1, "rivals", "landmarks", 0));
        let ready = |proxy: &Arc<dyn Oracle>| {
            let shape = OracleShape::symmetric(60);
            let proxy = Arc::clone(proxy);
            let setup = Setup { matrix: &matrix, shape, proxy, landmarks: &landmarks, rounds: 4, seed: (1, 0) };
            setup.ready().unwrap()
        };
        let (one, other) = (ready(&proxy), ready(&noise));
        for &(method, ..) in SearchMethod::ALL {
            let lists = |ready| method.lists(ready, 10, 20).unwrap().unwrap().lists;
            let is_equal = lists(&one) == lists(&other);
            assert_eq!(is_equal, !method.reads_proxy(), "{method:?}");
        }
    }

    #[test]
    fn no_method_spends_more_than_its_calls_and_each_finds_at_least_what_chance_would() {
        let (matrix, proxy) = world();
        let landmarks = Landmarks::uniform(60, &mut stream(1, "rivals", "landmarks", 0));
        for diagonal_known in [false, true] {
            let shape = OracleShape { known_diagonal: diagonal_known.then_some(0.0), ..OracleShape::symmetric(60) };
            let setup = Setup {
                matrix: &matrix,
                shape,
                proxy: Arc::clone(&proxy),
                landmarks: &landmarks,
                rounds: 4,
                seed: (1, 0),
            };
            let ready = setup.ready().unwrap();
            for calls in [5, 10, 20] {
                let mut perfect = 0.0;
                for (method, id, name) in SearchMethod::ALL.iter().rev() {
                    assert_eq!((method.id(), method.name()), (*id, *name));
                    let found = method.lists(&ready, calls, 10).unwrap().unwrap();
                    let limit = (60 * calls) as u64;
                    assert!(found.spent <= limit, "{method:?} at {calls}: {}", found.spent);
                    // whole columns alone may leave a part of one
                    if *method != SearchMethod::Anncur {
                        assert_eq!(
                            found.spent == limit,
                            *method != SearchMethod::Proxy,
                            "{method:?} at {calls}: {}",
                            found.spent
                        );
                    }
                    let lists = found.lists;
                    assert!(lists.iter().enumerate().all(|(i, list)| list.len() == 10 && !list.contains(&i)));
                    let share = recall(&matrix, &lists, 10);
                    assert!(share > 10.0 / 59.0, "{method:?} at {calls}: {share}");
                    if *method == SearchMethod::Perfect {
                        perfect = share;
                    }
                    assert!(share <= perfect + 1e-12 || calls == 5, "{method:?} at {calls}: {share} above {perfect}");
                }
            }
        }
    }
}
