//! Promises of every approximator, as tests that a method's file inherits with one line.
//!
//! ```
//! use landmark_core::approximate::Nystrom;
//!
//! landmark_core::conformance!(nystrom, Nystrom);
//! # fn main() {}
//! ```
//! makes a module `nystrom` with one test a promise: exact at s = n on a positive semi-definite matrix, symmetric
//! where it reports so, equivariant under renumbering, evaluating exactly what it planned and nothing twice, naming the pair of a
//! score that is not finite, deterministic whatever the thread count, refusing s = 0 and s > n, surviving duplicate items,
//! reading the same value through every door, embedding and projecting what it approximates.
//!
//! Each promise is a function that panics with the reason, so a method outside this crate can call it too. Where an
//! [`AdditiveTerm`](crate::approximation::AdditiveTerm) takes part, what it adds is not projected, and its embedding may itself be an
//! approximation: those comparisons are left to its own tests. Cost: matrices of 24 items; milliseconds.

use std::collections::HashMap;
use std::sync::Mutex;

use ndarray::{Array2, Axis, s};
use rand::Rng as _;
use rand::seq::SliceRandom;

use crate::approximate::{Approximate, ApproximateError};
use crate::approximation::{Approximation, Known};
use crate::entries::{EntryPlan, Rows};
use crate::landmarks::Landmarks;
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use crate::stream::{Rng, stream};

/// Writes one test for each promise; see the [module](crate::conformance).
#[macro_export]
macro_rules! conformance {
    ($name:ident, $method:expr) => {
        $crate::conformance!(@tests $name, $method;
            exact_at_full_rank_on_psd
            symmetric_where_promised
            equivariant_under_renumbering
            evaluates_what_it_planned_and_nothing_twice
            names_the_pair_that_is_not_finite
            deterministic_whatever_the_thread_count
            refuses_impossible_ranks
            needs_the_landmarks_it_states
            duplicate_items_survive
            every_reader_gives_the_same_value
            returns_known_entries
            embedding_reproduces_the_symmetric_part
            projects_items_as_if_they_had_been_there
            takes_a_symmetric_matrix_or_is_an_error
            rank_for_columns_is_within_the_budget
        );
    };
    (@tests $name:ident, $method:expr; $($promise:ident)*) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $promise() {
                    $crate::conformance::$promise(&$method);
                }
            )*
        }
    };
}

const N: usize = 24;

/// A symmetric matrix that writes down who was asked for.
struct Tally {
    matrix: Array2<f64>,
    symmetry: Symmetry,
    known_diagonal: Option<f64>,
    asked: Mutex<HashMap<Pair, u64>>,
}

impl Tally {
    fn new(matrix: Array2<f64>) -> Self {
        Self { matrix, symmetry: Symmetry::Symmetric, known_diagonal: None, asked: Mutex::default() }
    }

    fn with_known_diagonal(mut matrix: Array2<f64>) -> Self {
        matrix.diag_mut().fill(1.0);
        Self { known_diagonal: Some(1.0), ..Self::new(matrix) }
    }

    fn asked(&self) -> HashMap<Pair, u64> {
        self.asked.lock().expect("no test thread panicked").clone()
    }
}

impl Oracle for Tally {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: self.known_diagonal, ..OracleShape::new(self.matrix.nrows(), self.symmetry) }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"conformance")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut asked = self.asked.lock().expect("no test thread panicked");
        for (&(i, j), score) in pairs.iter().zip(out) {
            let key = if self.symmetry == Symmetry::Symmetric { (i.max(j), i.min(j)) } else { (i, j) };
            *asked.entry(key).or_default() += 1;
            *score = self.matrix[[i, j]];
        }
        Ok(())
    }
}

fn rng() -> Rng {
    stream(1, "conformance", "fit", 0)
}

fn landmarks() -> Landmarks {
    Landmarks::uniform(N, &mut stream(1, "conformance", "landmarks", 0))
}

fn gaussian_like(rows: usize, cols: usize) -> Array2<f64> {
    let mut rng = stream(1, "conformance", "matrix", (rows * 100 + cols) as u64);
    Array2::from_shape_fn((rows, cols), |_| (0..4).map(|_| rng.gen_range(-1.0..1.0)).sum::<f64>() / 2.0)
}

fn psd(rank: usize) -> Array2<f64> {
    let factor = gaussian_like(N, rank);
    factor.dot(&factor.t())
}

/// Symmetric with eigenvalues of both signs, none of them near zero for long.
fn indefinite() -> Array2<f64> {
    let noise = gaussian_like(N, N);
    psd(6) + (&noise + &noise.t()) * 0.5
}

fn fit(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize, known: Known) -> Approximation {
    method.fit(oracle, &landmarks(), rank, known, &mut rng()).expect("the fit succeeds")
}

fn dense(approximation: &Approximation) -> Array2<f64> {
    approximation.to_dense().expect("no addend fails here")
}

#[track_caller]
fn assert_close(ours: &Array2<f64>, theirs: &Array2<f64>, tolerance: f64, what: &str) {
    let scale = theirs.iter().fold(1.0_f64, |scale, value| scale.max(value.abs()));
    for ((cell, a), b) in ours.indexed_iter().zip(theirs) {
        assert!((a - b).abs() <= tolerance * scale, "{what} at {cell:?}: {a} against {b}");
    }
}

/// K̃ = K at s = n where K is positive semi-definite, of full or of low rank.
pub fn exact_at_full_rank_on_psd(method: &dyn Approximate) {
    for rank in [5, N + 6] {
        let matrix = psd(rank);
        let approximation = fit(method, &Tally::new(matrix.clone()), N, Known::NOTHING);
        // the condition number, squared by StaCUR, times rounding
        assert_close(&dense(&approximation), &matrix, 1e-7, "K̃ at s = n");
    }
}

/// `is_symmetric` returns the truth.
pub fn symmetric_where_promised(method: &dyn Approximate) {
    let approximation = fit(method, &Tally::new(indefinite()), 8, Known::NOTHING);
    let dense = dense(&approximation);
    if approximation.is_symmetric() {
        // one product is not the transpose of another to the last bit
        assert_close(&dense, &dense.t().to_owned(), 1e-12, "K̃ and its transpose");
    } else {
        assert!((&dense - &dense.t()).iter().any(|difference| difference.abs() > 1e-6), "promised too little");
    }
    let symmetrized = self::dense(&approximation.symmetrized().expect("a factorization of a finite matrix"));
    // conditioning of a core that inverts small eigenvalues
    assert_close(&symmetrized, &((&dense + &dense.t()) * 0.5), 1e-8, "the symmetrized K̃");
}

/// Renumbering the items renumbers K̃.
pub fn equivariant_under_renumbering(method: &dyn Approximate) {
    let matrix = indefinite();
    let mut new_to_old: Vec<usize> = (0..N).collect();
    new_to_old.shuffle(&mut stream(1, "conformance", "renumbering", 0));
    let mut old_to_new = [0; N];
    new_to_old.iter().enumerate().for_each(|(new, &old)| old_to_new[old] = new);
    let renumber = |order: &[usize]| order.iter().map(|&old| old_to_new[old]).collect();
    let landmarks = landmarks();
    let renumbered = Landmarks::from_orders(N, renumber(landmarks.order()), renumber(landmarks.independent()));

    let permuted = Tally::new(matrix.select(Axis(0), &new_to_old).select(Axis(1), &new_to_old));
    let first = dense(&fit(method, &Tally::new(matrix), 8, Known::NOTHING));
    let second = method.fit(&permuted, &renumbered, 8, Known::NOTHING, &mut rng()).expect("the fit succeeds");
    let expected = first.select(Axis(0), &new_to_old).select(Axis(1), &new_to_old);
    // sums run in another order, and inverted small eigenvalues magnify that
    assert_close(&dense(&second), &expected, 1e-8, "K̃ of renumbered items");
}

/// The plan lists the evaluations that are made, and none is made twice.
pub fn evaluates_what_it_planned_and_nothing_twice(method: &dyn Approximate) {
    for oracle in [Tally::new(indefinite()), Tally::with_known_diagonal(indefinite())] {
        for rank in [1, 5, 11, N] {
            oracle.asked.lock().expect("no test thread panicked").clear();
            let shape = OracleShape::of(&oracle);
            let plan = method.plan(shape, &landmarks(), rank).expect("a possible rank");
            assert!(oracle.asked().is_empty(), "a plan asks nothing");
            fit(method, &oracle, rank, Known::NOTHING);
            let asked = oracle.asked();
            assert!(asked.values().all(|&times| times == 1), "an entry was evaluated twice at rank {rank}");
            assert_eq!(asked.len() as u64, plan.evaluations(shape), "evaluations at rank {rank}");
            let planned = cells(&plan);
            let chosen =
                asked.keys().filter(|&&(i, j)| !planned.contains(&(i, j)) && !planned.contains(&(j, i))).count();
            assert_eq!(chosen as u64, plan.chosen, "pairs that the plan does not name at rank {rank}");
        }
    }
}

fn cells(plan: &EntryPlan) -> std::collections::HashSet<Pair> {
    let cells = plan.blocks.iter().flat_map(|block| {
        let rows = match &block.rows {
            Rows::All => (0..N).collect(),
            Rows::These(rows) => rows.clone(),
        };
        rows.into_iter().flat_map(|i| block.cols.iter().map(move |&j| (i, j)))
    });
    cells.collect()
}

/// NaN and infinities become an error that names where they were.
pub fn names_the_pair_that_is_not_finite(method: &dyn Approximate) {
    let landmarks = landmarks();
    let (first, second, last) = (landmarks.order()[0], landmarks.order()[1], landmarks.order()[N - 1]);
    for (i, j, bad) in [(last, first, f64::NAN), (first, second, f64::INFINITY), (first, first, f64::NEG_INFINITY)] {
        let mut matrix = indefinite();
        matrix[[i, j]] = bad;
        matrix[[j, i]] = bad;
        match method.fit(&Tally::new(matrix), &landmarks, 8, Known::NOTHING, &mut rng()) {
            Err(ApproximateError::Oracle(OracleError::NotFinite { i: a, j: b, .. })) => {
                assert_eq!((a.min(b), a.max(b)), (i.min(j), i.max(j)), "the wrong pair is named");
            }
            Err(other) => panic!("({i}, {j}) is {bad}, but the error is: {other}"),
            Ok(_) => panic!("({i}, {j}) is {bad}, and the fit went through"),
        }
    }
}

/// The same bits again, on one thread and on five.
pub fn deterministic_whatever_the_thread_count(method: &dyn Approximate) {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small thread pool");
        pool.install(|| dense(&fit(method, &Tally::new(indefinite()), 8, Known::NOTHING)))
    };
    let first = on(1);
    assert!(first == on(1), "two runs differ");
    assert!(first == on(5), "one and five threads differ");
}

/// s = 0 and s > n are refused before anything is evaluated.
pub fn refuses_impossible_ranks(method: &dyn Approximate) {
    let oracle = Tally::new(indefinite());
    for impossible in [0, N + 1] {
        let planned = method.plan(OracleShape::of(&oracle), &landmarks(), impossible).map(|_| ());
        let fitted = method.fit(&oracle, &landmarks(), impossible, Known::NOTHING, &mut rng()).map(|_| ());
        for answer in [planned, fitted] {
            let Err(ApproximateError::Rank { rank, len }) = answer else { panic!("rank {impossible} was accepted") };
            assert_eq!((rank, len), (impossible, N));
        }
    }
    assert!(oracle.asked().is_empty(), "entries were evaluated for an impossible rank");
}

/// A fit accepts as many landmarks as the method states it needs, and not one fewer.
pub fn needs_the_landmarks_it_states(method: &dyn Approximate) {
    let (oracle, all) = (Tally::new(indefinite()), landmarks());
    let with = |landmarks: usize, rank: usize| {
        let landmarks = Landmarks::from_orders(N, all.order()[..landmarks].to_vec(), all.independent().to_vec());
        method.fit(&oracle, &landmarks, rank, Known::NOTHING, &mut rng()).map(|_| ())
    };
    for rank in [1, 5, 11, N] {
        let enough = method.landmarks_needed(N, rank);
        assert!(enough <= N, "{enough} landmarks of {N} items");
        with(enough, rank).expect("as many landmarks as the method needs");
        let Some(fewer) = enough.checked_sub(1) else { continue };
        match with(fewer, rank) {
            Err(ApproximateError::TooFewLandmarks { needed, given, .. }) => {
                assert_eq!((needed, given), (enough, fewer))
            }
            _ => panic!("{fewer} landmarks are enough at rank {rank}, though the method states {enough}"),
        }
    }
}

/// Two items that are one, both of them landmarks: W is singular, K̃ is finite and treats them alike.
pub fn duplicate_items_survive(method: &dyn Approximate) {
    let landmarks = landmarks();
    let (one, other) = (landmarks.order()[0], landmarks.order()[1]);
    let mut factor = gaussian_like(N, 5);
    let copy = factor.row(one).to_owned();
    factor.row_mut(other).assign(&copy);
    let dense = dense(&fit(method, &Tally::new(factor.dot(&factor.t())), 12, Known::NOTHING));
    assert!(dense.iter().all(|value| value.is_finite()));
    let row = |i: usize| dense.slice(s![i..=i, ..]).to_owned();
    // a pseudo-inverse treats equal columns alike up to its cut, 1e-10 of the largest
    assert_close(&row(one), &row(other), 1e-6, "rows of two equal items");
}

/// `entry`, `pairs`, `row`, `block`, `apply` and `to_dense` agree.
pub fn every_reader_gives_the_same_value(method: &dyn Approximate) {
    let oracle = Tally::with_known_diagonal(indefinite());
    for known in [Known::NOTHING, Known::LANDMARKS, Known::ALL] {
        let approximation = fit(method, &oracle, 7, known);
        let dense = dense(&approximation);
        // sums of a few dozen terms in another order
        let tolerance = 1e-10 * dense.iter().fold(1.0_f64, |scale, value| scale.max(value.abs()));
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance;
        let ok = "no addend fails here";
        for i in 0..N {
            let mut row = vec![0.0; N];
            approximation.row(i, &mut row).expect(ok);
            assert!((0..N).all(|j| near(row[j], dense[[i, j]])), "row {i}");
            assert!((0..N).all(|j| near(approximation.entry(i, j).expect(ok), dense[[i, j]])), "entries of row {i}");
        }
        let (rows, cols) = ([5, 3, 3, 20], [20, 0, 3, 7, 5]);
        let mut block = Array2::zeros((4, 5));
        approximation.block(&rows, &cols, block.view_mut()).expect(ok);
        assert!(block.indexed_iter().all(|((a, b), &value)| near(value, dense[[rows[a], cols[b]]])), "a block");
        let x: Vec<f64> = (0..N).map(|i| (i as f64).sin()).collect();
        let mut out = vec![0.0; N];
        approximation.apply(&x, &mut out).expect(ok);
        let expected = dense.dot(&ndarray::aview1(&x));
        assert!((0..N).all(|i| (out[i] - expected[i]).abs() <= N as f64 * tolerance), "a mat-vec");
    }
}

/// With `known`, what was evaluated or costs nothing comes back to the bit.
pub fn returns_known_entries(method: &dyn Approximate) {
    let oracle = Tally::with_known_diagonal(indefinite());
    let approximation = fit(method, &oracle, 7, Known::ALL);
    let dense = dense(&approximation);
    assert!(dense.diag().iter().all(|&value| value == 1.0), "the diagonal");
    // a method that evaluates all of K to show what rank k can is the exception
    if approximation.landmarks().len() < N {
        // an addend was subtracted from what was evaluated, and comes back with a rounding
        let tolerance = if approximation.addend().is_some() { 1e-12 } else { 0.0 };
        for &t in approximation.landmarks() {
            for i in 0..N {
                let (evaluated, above, left) = (oracle.matrix[[i, t]], dense[[i, t]], dense[[t, i]]);
                assert!((above - evaluated).abs() <= tolerance, "({i}, {t}) is {above}, but {evaluated} was evaluated");
                assert!((left - evaluated).abs() <= tolerance, "({t}, {i}) is {left}, but {evaluated} was evaluated");
            }
        }
    }
    let unknown = Tally::new(indefinite());
    let answer = method.fit(&unknown, &landmarks(), 7, Known::ALL, &mut rng());
    assert!(matches!(answer, Err(ApproximateError::NoKnownDiagonal)), "a diagonal that nobody knows");
}

/// Z diag(±1) Zᵀ is the symmetric part of K̃ off the diagonal (on it, a shift may stand).
pub fn embedding_reproduces_the_symmetric_part(method: &dyn Approximate) {
    let approximation = fit(method, &Tally::new(indefinite()), 8, Known::NOTHING).without_scattered();
    let embedding = approximation.embedding().expect("a factorization of a finite matrix");
    let gram = (&embedding.vectors * &embedding.signature).dot(&embedding.vectors.t());
    let dense = dense(&approximation);
    let mut expected = (&dense + &dense.t()) * 0.5;
    expected.diag_mut().assign(&gram.diag());
    if approximation.addend().is_none() {
        // conditioning of a core that inverts small eigenvalues
        assert_close(&gram, &expected, 1e-8, "Z diag(±1) Zᵀ");
    }
    assert!(embedding.signature.iter().all(|sign| sign.abs() == 1.0));
    let owned = approximation.into_embedding().expect("as before");
    assert_close(&(&owned.vectors * &owned.signature).dot(&owned.vectors.t()), &gram, 1e-12, "the owned embedding");
}

/// An item that was no landmark, shown again as a new one, gets its own row of K̃ and its own vector.
pub fn projects_items_as_if_they_had_been_there(method: &dyn Approximate) {
    let oracle = Tally::new(indefinite());
    for known in [Known::NOTHING, Known::LANDMARKS] {
        let approximation = fit(method, &oracle, 7, known).without_scattered();
        if approximation.addend().is_some() {
            return;
        }
        let evaluated = approximation.landmarks();
        let others: Vec<usize> = (0..N).filter(|i| evaluated.len() == N || !evaluated.contains(i)).collect();
        let similarities = oracle.matrix.select(Axis(0), &others).select(Axis(1), evaluated);
        let all: Vec<usize> = (0..N).collect();
        let rows = approximation.project(similarities.view(), &all).expect("the core comes from evaluated columns");
        assert_close(&rows, &dense(&approximation).select(Axis(0), &others), 1e-8, "projected rows");
        let embedding = approximation.embedding().expect("a factorization of a finite matrix");
        let new = embedding.project(similarities.view()).expect("no addend takes part");
        // conditioning of the small space
        assert_close(&new, &embedding.vectors.select(Axis(0), &others), 1e-6, "projected vectors");
    }
}

/// An asymmetric score is refused, or reproduced as it is.
pub fn takes_a_symmetric_matrix_or_is_an_error(method: &dyn Approximate) {
    let matrix = gaussian_like(N, N);
    let oracle = Tally { symmetry: Symmetry::Asymmetric, ..Tally::new(matrix.clone()) };
    match method.fit(&oracle, &landmarks(), 8, Known::NOTHING, &mut rng()) {
        Ok(approximation) => assert_close(&dense(&approximation), &matrix, 1e-12, "an asymmetric K"),
        Err(ApproximateError::Asymmetric { .. }) => {
            assert!(oracle.asked().is_empty(), "evaluated before it was refused")
        }
        Err(other) => panic!("the error does not state that the score is asymmetric: {other}"),
    }
}

/// At the rank for s columns a method evaluates no more than s columns cost, unless rank 1 already does or it needs all of K.
pub fn rank_for_columns_is_within_the_budget(method: &dyn Approximate) {
    let shape = OracleShape::symmetric(N);
    let price = |rank| method.plan(shape, &landmarks(), rank).expect("a possible rank").evaluations(shape);
    let all = price(N) == price(1);
    for columns in 1..=N {
        let rank = method.rank_for_columns(N, columns);
        assert!((1..=N).contains(&rank), "rank {rank}");
        let budget = EntryPlan::columns(&landmarks().order()[..columns]).evaluations(shape);
        assert!(all || rank == 1 || price(rank) <= budget, "rank {rank} for {columns} columns");
    }
}
