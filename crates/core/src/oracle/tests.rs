//! The wrappers against brute force: values, and what the innermost oracle was really asked.

use std::collections::HashSet;
use std::sync::Mutex;

use ndarray::array;
use proptest::prelude::*;
use rand::Rng as _;

use super::*;
use crate::entries::{EntryBlock, EntryPlan, EntrySet, Rows};
use crate::stream::stream;

pub(crate) struct Ledger {
    pub(crate) matrix: Array2<f64>,
    pub(crate) symmetry: Symmetry,
    pub(crate) known_diagonal: Option<f64>,
    pub(crate) asked: Mutex<Vec<Pair>>,
}

impl Ledger {
    /// A random matrix; the known diagonal is 1.
    pub(crate) fn random(len: usize, symmetry: Symmetry, diagonal_known: bool, seed: u64) -> Self {
        let mut rng = stream(seed, "ledger", "values", 0);
        let mut matrix = Array2::from_shape_fn((len, len), |_| rng.gen_range(-1.0..1.0));
        if symmetry == Symmetry::Symmetric {
            matrix = (&matrix + &matrix.t()) * 0.5;
        }
        if diagonal_known {
            matrix.diag_mut().fill(1.0);
        }
        Self { matrix, symmetry, known_diagonal: diagonal_known.then_some(1.0), asked: Mutex::default() }
    }

    /// A symmetric matrix whose diagonal is known to be this.
    pub(crate) fn pinned(matrix: Array2<f64>, diagonal: f64) -> Self {
        Self { matrix, symmetry: Symmetry::Symmetric, known_diagonal: Some(diagonal), asked: Mutex::default() }
    }

    pub(crate) fn asked(&self) -> Vec<Pair> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|&(i, j)| if self.is_symmetric() && i < j { (j, i) } else { (i, j) }).collect()
    }

    fn is_symmetric(&self) -> bool {
        self.symmetry == Symmetry::Symmetric
    }

    fn expect_each_pair_once(&self) {
        let asked = self.asked();
        let distinct: HashSet<Pair> = asked.iter().copied().collect();
        assert_eq!(distinct.len(), asked.len(), "a pair was asked twice");
        assert!(self.known_diagonal.is_none() || asked.iter().all(|(i, j)| i != j), "a known diagonal was asked");
    }
}

impl Oracle for Ledger {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: self.known_diagonal, ..OracleShape::new(self.matrix.nrows(), self.symmetry) }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"ledger"), ("values", Identity::of_values(self.matrix.view()).as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        self.asked.lock().unwrap().extend_from_slice(pairs);
        pairs.iter().zip(out).for_each(|(&pair, score)| *score = self.matrix[pair]);
        Ok(())
    }
}

const N: usize = 40;

fn symmetry() -> impl Strategy<Value = Symmetry> {
    prop_oneof![Just(Symmetry::Symmetric), Just(Symmetry::Asymmetric)]
}

fn items() -> impl Strategy<Value = Vec<usize>> {
    let all: Vec<usize> = (0..N).collect();
    prop_oneof![
        3 => proptest::sample::subsequence(all.clone(), 0..=N).prop_shuffle(),
        1 => Just(all).prop_shuffle(),
    ]
}

fn expected(matrix: &Array2<f64>, rows: &[usize], cols: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), cols.len()), |(a, b)| matrix[[rows[a], cols[b]]])
}

proptest! {
    #[test]
    fn a_block_asks_each_distinct_pair_once_and_its_calls_are_known_before(
        rows in items(), cols in items(), symmetry in symmetry(), known in any::<bool>(), seed in 0_u64..50,
    ) {
        let oracle = Metered::new(Ledger::random(N, symmetry, known, seed));
        let shape = OracleShape::of(&oracle);
        let (off_diagonal, diagonal) = DistinctPairs::new(shape, &rows, &cols).count();
        let block = block_of(&oracle, &rows, &cols).unwrap();
        prop_assert_eq!(block, expected(&oracle.inner().matrix, &rows, &cols));
        let asked = oracle.inner().asked();
        oracle.inner().expect_each_pair_once();
        prop_assert_eq!(asked.len() as u64, off_diagonal + diagonal);
        // the brute-force twin: the set of keys of all cells
        let cells = rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j)));
        let keys: HashSet<Pair> = cells
            .filter(|(i, j)| !(known && i == j))
            .map(|(i, j)| if symmetry == Symmetry::Symmetric { (i.max(j), i.min(j)) } else { (i, j) })
            .collect();
        prop_assert_eq!(&asked.iter().copied().collect::<HashSet<_>>(), &keys);
        prop_assert_eq!(oracle.spent().evaluations, keys.len() as u64);
        prop_assert_eq!(oracle.spent().cells, (rows.len() * cols.len()) as u64);
    }

    #[test]
    fn symmetrizing_asks_both_orders_once_and_the_diagonal_once(
        rows in items(), cols in items(), known in any::<bool>(), seed in 0_u64..50,
        mode in prop_oneof![Just(Symmetrization::Mean), Just(Symmetrization::Max), Just(Symmetrization::Min)],
    ) {
        let oracle = Metered::new(Symmetrized::new(Ledger::random(N, Symmetry::Asymmetric, known, seed), mode));
        let block = block_of(&oracle, &rows, &cols).unwrap();
        let matrix = &oracle.inner().inner().matrix;
        let truth = Array2::from_shape_fn(matrix.dim(), |(i, j)| {
            let (forward, backward) = (matrix[[i, j]], matrix[[j, i]]);
            match mode {
                Symmetrization::Mean => (forward + backward) / 2.0,
                Symmetrization::Max => forward.max(backward),
                Symmetrization::Min => forward.min(backward),
            }
        });
        prop_assert_eq!(&block, &expected(&truth, &rows, &cols));
        let ledger = oracle.inner().inner();
        ledger.expect_each_pair_once();
        prop_assert_eq!(oracle.spent().evaluations, ledger.asked().len() as u64);

        let pairs: Vec<Pair> = rows.iter().copied().zip(cols.iter().copied()).collect();
        let mut scores = vec![0.0; pairs.len()];
        oracle.evaluate(&pairs, &mut scores).unwrap();
        for (&pair, score) in pairs.iter().zip(scores) {
            prop_assert_eq!(score, truth[pair]);
        }
        // a known diagonal may be listed among pairs; it costs nothing
        let calls = ledger.asked().iter().filter(|(i, j)| !(known && i == j)).count();
        prop_assert_eq!(oracle.spent().evaluations, calls as u64);
    }

    #[test]
    fn a_memory_answers_truly_and_never_asks_twice(
        requests in prop::collection::vec((items(), items(), any::<bool>()), 1..8),
        symmetry in symmetry(), known in any::<bool>(), seed in 0_u64..50,
    ) {
        let oracle = Remembered::new(Ledger::random(N, symmetry, known, seed));
        let matrix = oracle.inner().matrix.clone();
        for (rows, cols, as_pairs) in requests {
            if as_pairs {
                let pairs: Vec<Pair> = rows.into_iter().zip(cols).collect();
                let mut scores = vec![0.0; pairs.len()];
                oracle.evaluate(&pairs, &mut scores).unwrap();
                for (&pair, score) in pairs.iter().zip(scores) {
                    prop_assert_eq!(score, matrix[pair]);
                }
            } else {
                prop_assert_eq!(block_of(&oracle, &rows, &cols).unwrap(), expected(&matrix, &rows, &cols));
            }
            oracle.inner().expect_each_pair_once();
        }
    }

    #[test]
    fn a_memory_knows_what_a_set_would_still_cost(
        before in (items(), items()), columns in items(), single in (items(), items()), symmetry in symmetry(),
        known in any::<bool>(), seed in 0_u64..50,
    ) {
        let oracle = Remembered::new(Metered::new(Ledger::random(N, symmetry, known, seed)));
        let spent = || oracle.inner().spent().evaluations;
        let all: Vec<usize> = (0..N).collect();
        let pairs: Vec<Pair> = single.0.into_iter().zip(single.1).collect();
        let mut set = EntrySet::new(OracleShape::of(&oracle));
        columns.iter().for_each(|&j| set.add_column(j));
        pairs.iter().for_each(|&(i, j)| set.add_entry(i, j));
        prop_assert_eq!(oracle.missing(&set), set.evaluations());
        block_of(&oracle, &before.0, &before.1).unwrap();
        let (told, paid) = (oracle.missing(&set), spent());
        block_of(&oracle, &all, &columns).unwrap();
        oracle.evaluate(&pairs, &mut vec![0.0; pairs.len()]).unwrap();
        prop_assert_eq!(spent() - paid, told);
        prop_assert_eq!(oracle.missing(&set), 0);
    }

    #[test]
    fn vectors_score_a_block_as_they_score_its_pairs(rows in items(), cols in items(), cosine in any::<bool>()) {
        let vectors = Ledger::random(N, Symmetry::Asymmetric, false, 3).matrix;
        let proxy = if cosine { EmbeddingProxy::cosine(vectors) } else { EmbeddingProxy::dot(vectors) }.unwrap();
        let block = block_of(&proxy, &rows, &cols).unwrap();
        for ((a, b), &score) in block.indexed_iter() {
            let mut pair = [0.0];
            proxy.evaluate(&[(rows[a], cols[b])], &mut pair).unwrap();
            // sums of 40 products of numbers below 1 (unit vectors for the cosine), added in another order
            prop_assert!((score - pair[0]).abs() < 1e-14);
        }
        prop_assert_eq!(block_of(&proxy, &cols, &rows).unwrap().reversed_axes(), block);
    }
}

/// An oracle whose `block` is fast and whose `evaluate` must not be needed.
struct BlockOnly(Precomputed);

impl Oracle for BlockOnly {
    fn shape(&self) -> OracleShape {
        self.0.shape()
    }

    fn identity(&self) -> Identity {
        self.0.identity()
    }

    fn evaluate(&self, _: &[Pair], _: &mut [f64]) -> Result<(), OracleError> {
        panic!("a block was degraded to pairs")
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.0.block(rows, cols, out)
    }
}

#[test]
fn every_wrapper_forwards_a_block_as_blocks() {
    let matrix = Ledger::random(N, Symmetry::Symmetric, false, 1).matrix;
    let fast = BlockOnly(Precomputed::new(matrix, AsymmetryPolicy::Keep).unwrap());
    let kernel = Kernelized::new(&fast, Kernel::Exponential { gamma: 0.5 }).unwrap();
    let stack: Box<dyn Oracle> = Box::new(Metered::new(Remembered::new(Arc::new(kernel))));
    let all: Vec<usize> = (0..N).collect();
    block_of(&stack, &all, &[3, 1, 4]).unwrap();
    block_of(&stack, &[5, 9, 2, 6], &[3, 5, 8, 9]).unwrap();
}

/// Scores i + j, or i + j/2, and writes down the cells of every request.
pub(crate) struct Sizes(pub(crate) usize, pub(crate) Symmetry, pub(crate) Mutex<Vec<usize>>);

impl Oracle for Sizes {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.0, self.1)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"sizes")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.2.lock().unwrap().push(pairs.len());
        let share = if self.1 == Symmetry::Symmetric { 1.0 } else { 0.5 };
        pairs.iter().zip(out).for_each(|(&(i, j), score)| *score = i as f64 + share * j as f64);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.2.lock().unwrap().push(rows.len() * cols.len());
        let share = if self.1 == Symmetry::Symmetric { 1.0 } else { 0.5 };
        out.indexed_iter_mut().for_each(|((a, b), score)| *score = rows[a] as f64 + share * cols[b] as f64);
        Ok(())
    }
}

#[test]
fn no_request_of_a_plan_is_larger_than_stated_and_none_asks_for_a_pair_again() {
    let n = 2500;
    let all: Vec<usize> = (0..n).collect();
    for symmetry in [Symmetry::Symmetric, Symmetry::Asymmetric] {
        let listed = EntryPlan::exact(vec![EntryBlock { rows: Rows::These(all.clone()), cols: all.clone() }]);
        for plan in [EntryPlan::all(n), listed] {
            let memory = Remembered::new(Sizes(n, symmetry, Mutex::default()));
            memory.evaluate_plan(&plan).unwrap();
            let sizes = std::mem::take(&mut *memory.inner().2.lock().unwrap());
            assert!(sizes.iter().all(|&size| size <= 1 << 22), "{sizes:?}");
            // a request holds both orders of the pairs among its own rows
            let (asked, most) = (sizes.iter().sum::<usize>(), if symmetry == Symmetry::Symmetric { 3 } else { 4 });
            assert!(asked <= most * (n * n / 4) + n * 1700, "{asked} cells");
            let mut scores = [0.0; 2];
            memory.evaluate(&[(2499, 3), (4, 2000)], &mut scores).unwrap();
            let share = if symmetry == Symmetry::Symmetric { 1.0 } else { 0.5 };
            assert_eq!(scores, [2499.0 + share * 3.0, 4.0 + share * 2000.0]);
            assert!(memory.inner().2.lock().unwrap().is_empty(), "all is here");
        }
    }
}

#[test]
fn a_failed_request_leaves_nothing_half_remembered() {
    let mut ledger = Ledger::random(N, Symmetry::Symmetric, false, 2);
    ledger.matrix[[30, 4]] = f64::NAN;
    let oracle = Remembered::new(ledger);
    let all: Vec<usize> = (0..N).collect();
    let error = block_of(&oracle, &all, &[4]).unwrap_err();
    assert!(matches!(error, OracleError::NotFinite { i: 30, j: 4, .. }), "{error}");
    let few: Vec<usize> = (0..20).collect();
    assert_eq!(block_of(&oracle, &few, &[4]).unwrap(), expected(&oracle.inner().matrix, &few, &[4]));
}

#[test]
fn an_infinite_distance_is_refused_before_the_kernel_makes_it_zero() {
    let mut ledger = Ledger::random(6, Symmetry::Symmetric, false, 2);
    ledger.matrix[[2, 5]] = f64::INFINITY;
    let oracle = Kernelized::new(ledger, Kernel::Exponential { gamma: 1.0 }).unwrap();
    let error = oracle.evaluate(&[(0, 1), (2, 5)], &mut [0.0; 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the oracle returned inf for the pair (i = 2, j = 5); a similarity must be finite. Look at these two items, or \
         fix the scorer"
    );
}

#[test]
fn kernels_map_scores_and_the_known_diagonal() {
    let ledger = || Ledger::random(5, Symmetry::Symmetric, true, 4);
    let x = ledger().matrix[[3, 1]];
    let cases = [(Kernel::Identity, x, 1.0), (Kernel::Exponential { gamma: 2.0 }, (-2.0 * x).exp(), (-2.0_f64).exp())];
    for (kernel, score, diagonal) in cases {
        let oracle = Metered::new(Kernelized::new(ledger(), kernel).unwrap());
        let block = block_of(&oracle, &[1, 3], &[1]).unwrap();
        assert_eq!((block[[1, 0]], block[[0, 0]]), (score, diagonal));
        assert_eq!(oracle.spent().evaluations, 1, "the diagonal is free and γ costs nothing");
    }
}

#[test]
fn an_identity_covers_every_parameter_above_the_scores() {
    let ledger = || Ledger::random(5, Symmetry::Asymmetric, false, 4);
    let gamma = |gamma| Kernelized::new(ledger(), Kernel::Exponential { gamma }).unwrap().identity();
    let mean = Symmetrized::new(ledger(), Symmetrization::Mean).identity();
    let max = Symmetrized::new(ledger(), Symmetrization::Max).identity();
    let distinct: HashSet<Identity> = [ledger().identity(), gamma(0.5), gamma(0.25), mean, max].into_iter().collect();
    assert_eq!(distinct.len(), 5);
    assert_eq!(Metered::new(Remembered::new(ledger())).identity(), ledger().identity());
}

#[test]
fn a_kernel_refuses_a_gamma_that_makes_no_similarity() {
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Kernelized::new(Ledger::random(2, Symmetry::Symmetric, true, 0), Kernel::Exponential { gamma });
        assert!(matches!(error, Err(OracleError::Parameter(bad)) if bad.parameter == "gamma"));
    }
}

#[test]
fn the_budget_refuses_a_request_before_any_of_it_is_evaluated() {
    let oracle = Metered::with_budget(
        Ledger::random(N, Symmetry::Symmetric, false, 6),
        Budget { entries: Some(79), seconds: None },
    );
    let all: Vec<usize> = (0..N).collect();
    block_of(&oracle, &all, &[0]).unwrap();
    block_of(&oracle, &all, &[1]).unwrap_err();
    assert_eq!((oracle.spent().evaluations, oracle.inner().asked().len()), (40, 40));
    block_of(&oracle, &all[1..], &[1]).unwrap();
    let error = block_of(&oracle, &[0], &[0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget of 79 evaluations is exhausted: 79 spent and 1 more were asked for. Raise the budget, or ask for less: a lower rank, a smaller error estimate"
    );
}

#[test]
fn what_is_charged_counts_as_if_it_had_been_asked_for() {
    let budget = Budget { entries: Some(79), seconds: None };
    let oracle = Metered::with_budget(Ledger::random(N, Symmetry::Symmetric, false, 6), budget);
    oracle.charge(39);
    let all: Vec<usize> = (0..N).collect();
    block_of(&oracle, &all, &[0]).unwrap();
    assert_eq!((oracle.spent().evaluations, oracle.inner().asked().len()), (79, 40));
    assert!(block_of(&oracle, &[0], &[0]).unwrap_err().is_exhausted());
    // more than the budget is counted, too
    oracle.charge(5);
    assert_eq!(oracle.spent().evaluations, 84);
}

#[test]
fn the_time_budget_refuses_what_starts_too_late_and_lets_free_requests_pass() {
    let oracle = Metered::with_budget(
        Ledger::random(N, Symmetry::Symmetric, true, 6),
        Budget { entries: None, seconds: Some(0.0) },
    );
    assert!(matches!(block_of(&oracle, &[0], &[1]), Err(OracleError::TimeExhausted { spent: 0, .. })));
    assert_eq!(block_of(&oracle, &[2], &[2]).unwrap(), array![[1.0]]);
    assert!(oracle.inner().asked().is_empty());
}

#[test]
fn concurrent_requests_never_pass_the_budget_together() {
    let oracle = Metered::with_budget(
        Ledger::random(N, Symmetry::Symmetric, false, 6),
        Budget { entries: Some(100), seconds: None },
    );
    let granted: usize = std::thread::scope(|scope| {
        let ask = |k: usize| (0..30).filter(|i| oracle.evaluate(&[(i + k, k)], &mut [0.0]).is_ok()).count();
        let threads: Vec<_> = (0..8).map(|k| scope.spawn(move || ask(k))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((granted, oracle.spent().evaluations, oracle.inner().asked().len()), (100, 100, 100));
}

#[test]
fn an_index_beyond_the_items_is_refused_by_number() {
    let oracle = Ledger::random(5, Symmetry::Symmetric, false, 0);
    for stack in
        [Box::new(&oracle) as Box<dyn Oracle>, Box::new(Metered::new(&oracle)), Box::new(Remembered::new(&oracle))]
    {
        let error = block_of(&stack, &[0, 5], &[1]).unwrap_err();
        assert_eq!(error.to_string(), "index 5 is out of range for an oracle over 5 items");
        assert!(matches!(stack.evaluate(&[(1, 7)], &mut [0.0]), Err(OracleError::OutOfRange { index: 7, len: 5 })));
    }
    assert!(oracle.asked().is_empty());
}

#[test]
fn a_precomputed_matrix_is_checked_once_when_it_is_made() {
    let error = Precomputed::new(Array2::zeros((2, 3)), AsymmetryPolicy::Reject).unwrap_err();
    assert!(error.to_string().starts_with("a similarity matrix must be square, but this one is 2 × 3"));
    let error = Precomputed::new(array![[1.0, f64::NAN], [0.0, 1.0]], AsymmetryPolicy::Mean).unwrap_err();
    assert!(matches!(error, OracleError::NotFinite { i: 0, j: 1, .. }));
    let skewed = array![[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.1, 1.0]];
    let error = Precomputed::new(skewed.clone(), AsymmetryPolicy::Reject).unwrap_err();
    assert!(matches!(error, OracleError::NotSymmetric { i: 1, j: 2, .. }), "{error}");
    let kept = Precomputed::new(skewed, AsymmetryPolicy::Keep).unwrap();
    assert_eq!(kept.symmetry(), Symmetry::Asymmetric);
}

#[test]
fn a_zero_vector_is_similar_to_nothing_and_unsettles_the_known_diagonal() {
    let proxy = EmbeddingProxy::cosine(array![[0.0, 0.0], [1.0, 2.0]]).unwrap();
    assert_eq!(proxy.known_diagonal(), None);
    assert_eq!(block_of(&proxy, &[0], &[0, 1]).unwrap(), array![[0.0, 0.0]]);
    let proxy = EmbeddingProxy::cosine(array![[3.0, 4.0], [1e200, 0.0]]).unwrap();
    assert_eq!(proxy.known_diagonal(), Some(1.0));
    assert_eq!(block_of(&proxy, &[0, 1], &[1]).unwrap(), array![[0.6], [1.0]]);
}
