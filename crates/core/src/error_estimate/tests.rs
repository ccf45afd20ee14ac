//! Unbiasedness and coverage by simulation, accounts by a meter.

use ndarray::Array2;
use rand::Rng as _;

use super::*;
use crate::approximate::{Approximate, ApproximateError, Nystrom, ShiftRidgeParams, SiCurParams};
use crate::approximation::{Approximation, Factors, Known};
use crate::fit_report::FitReport;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::tests::Ledger;
use crate::oracle::{
    AsymmetryPolicy, Budget, Kernel, Kernelized, Metered, Oracle, OracleError, OracleShape, Precomputed, Remembered,
};
use crate::stream::stream;

fn random(rows: usize, cols: usize, name: &str) -> Array2<f64> {
    let mut rng = stream(1, "error estimate", name, 0);
    Array2::from_shape_fn((rows, cols), |_| rng.gen_range(-1.0..1.0))
}

/// Rank 8 under noise; asymmetric unless symmetrized.
fn noisy(n: usize) -> Array2<f64> {
    let z = random(n, 8, "signal");
    z.dot(&z.t()) + random(n, n, "noise") * 0.3
}

fn indefinite(n: usize) -> Precomputed {
    Precomputed::new(noisy(n), AsymmetryPolicy::Mean).unwrap()
}

fn landmarks(n: usize) -> Landmarks {
    Landmarks::uniform(n, &mut stream(2, "error estimate", "landmarks", 0))
}

fn fitted(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize) -> Approximation {
    let mut rng = stream(2, "error estimate", "fit", 0);
    method.fit(oracle, &landmarks(oracle.len()), rank, Known::LANDMARKS, &mut rng).unwrap()
}

fn nystrom() -> impl Approximate {
    Nystrom
}

fn sicur() -> impl Approximate {
    SiCurParams::default().check().unwrap()
}

fn shift_ridge() -> impl Approximate {
    ShiftRidgeParams::default().check().unwrap()
}

#[test]
fn the_exact_errors_are_those_of_the_dense_matrices() {
    // more cells than one block, so that stripes of several heights meet
    let n = 1100;
    let raw = Precomputed::new(noisy(n), AsymmetryPolicy::Keep).unwrap();
    let symmetric = indefinite(n);
    for approximation in [fitted(&nystrom(), &symmetric, 12), fitted(&sicur(), &symmetric, 12)] {
        let dense = approximation.to_dense().unwrap();
        let against = |oracle: &Precomputed| linalg::relative_error(oracle.matrix().view(), dense.view());
        let errors = relative_errors(&raw, &approximation).unwrap();
        // the same sums in another order
        assert!((errors.raw - against(&raw)).abs() < 1e-11);
        assert!((errors.symmetrized - against(&symmetric)).abs() < 1e-11);
        assert!((relative_error(&symmetric, &approximation).unwrap() - errors.symmetrized).abs() < 1e-11);
        if approximation.is_symmetric() {
            // Pythagoras: the antisymmetric part is out of reach of any symmetric K̃
            let squared = |matrix: &Array2<f64>| linalg::frobenius_norm(matrix.view()).powi(2);
            let beyond =
                errors.raw.powi(2) * squared(raw.matrix()) - errors.symmetrized.powi(2) * squared(symmetric.matrix());
            let antisymmetric = squared(&(raw.matrix() - symmetric.matrix()));
            // a difference of sums over 1.2 million cells
            assert!((beyond / antisymmetric - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn an_exact_error_reads_each_pair_once() {
    for policy in [AsymmetryPolicy::Mean, AsymmetryPolicy::Keep] {
        let oracle = Metered::new(Precomputed::new(noisy(1100), policy).unwrap());
        let approximation = fitted(&nystrom(), &indefinite(1100), 3);
        relative_error(&oracle, &approximation).unwrap();
        let all: Vec<usize> = (0..1100).collect();
        let whole = crate::entries::EntryPlan::columns(&all).evaluations(OracleShape::of(&oracle));
        assert_eq!(oracle.spent().evaluations, whole);
    }
}

#[test]
fn the_error_off_the_diagonal_and_of_unevaluated_entries_are_those_of_the_dense_matrices() {
    let n = 1100;
    let oracle = indefinite(n);
    for approximation in [fitted(&shift_ridge(), &oracle, 12), fitted(&sicur(), &oracle, 12)] {
        let dense = approximation.to_dense().unwrap();
        let is_landmark: Vec<bool> = (0..n).map(|i| approximation.landmarks().contains(&i)).collect();
        let over = |counts: &dyn Fn(usize, usize) -> bool| {
            let cells = oracle.matrix().indexed_iter().filter(|&((i, j), _)| counts(i, j));
            let (missed, total) = cells.fold((0.0, 0.0), |(missed, total), ((i, j), value)| {
                (missed + (value - dense[[i, j]]).powi(2), total + value * value)
            });
            f64::sqrt(missed / total)
        };
        let errors = relative_errors(&oracle, &approximation).unwrap();
        // the same sums in another order
        assert!((errors.off_diagonal - over(&|i, j| i != j)).abs() < 1e-11);
        let unevaluated = over(&|i, j| i != j && !is_landmark[i] && !is_landmark[j]);
        assert!((errors.unevaluated.unwrap() - unevaluated).abs() < 1e-11);
    }
    assert_eq!(relative_errors(&oracle, &fitted(&nystrom(), &oracle, n)).unwrap().unevaluated, None);
}

/// Duplicates are 1 and everything else 0: a sample that met none of them cannot show that none was missed.
#[test]
fn an_interval_of_nothing_but_zeros_holds_what_may_have_been_missed() {
    let n = 400;
    let is_pair = |i: usize, j: usize| i == j || i / 2 == j / 2;
    let matrix = Array2::from_shape_fn((n, n), |(i, j)| f64::from(u8::from(is_pair(i, j))));
    let oracle = Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap();
    let approximation = fitted(&nystrom(), &oracle, 20);
    let truth = relative_errors(&oracle, &approximation).unwrap().off_diagonal;
    let (mut met_none, draws) = (0, 20);
    for replicate in 0..draws {
        let mut rng = stream(9, "error estimate", "sample", replicate);
        let sample = Sample::draw(n, approximation.landmarks(), 300, &mut rng);
        let estimate = sample.estimate(&oracle, &approximation, 0.95).unwrap();
        let Estimate { value, upper, .. } = estimate.off_diagonal;
        if value == 0.0 {
            met_none += 1;
            assert!(upper >= truth && upper <= 1.0, "{upper} below {truth}");
            assert_eq!(estimate.agreement.large_scores, None);
        }
    }
    assert!(met_none > draws / 3, "{met_none}");
    let mut rng = stream(9, "error estimate", "census", 0);
    let all = Sample::draw(n, approximation.landmarks(), n * n, &mut rng);
    let known = all.estimate(&oracle, &approximation, 0.95).unwrap().off_diagonal;
    assert!((known.upper - truth).abs() < 1e-12);
}

#[test]
fn a_census_estimates_every_error_exactly() {
    let oracle = indefinite(60);
    for approximation in [fitted(&shift_ridge(), &oracle, 8), fitted(&sicur(), &oracle, 4)] {
        let exact = relative_errors(&oracle, &approximation).unwrap();
        let mut rng = stream(5, "error estimate", "sample", 0);
        let sample = Sample::draw(60, approximation.landmarks(), 100_000, &mut rng);
        let estimate = sample.estimate(&oracle, &approximation, 0.95).unwrap();
        // every off-diagonal cell, and the diagonal of a twentieth of the draws: all of it
        assert!((estimate.off_diagonal.value - exact.off_diagonal).abs() < 1e-12);
        assert!((estimate.unevaluated.unwrap().value - exact.unevaluated.unwrap()).abs() < 1e-12);
        assert!(estimate.agreement.large_scores.is_some());
        // and with the landmarks' pairs sampled, all of them
        let all = sample.with_evaluated(100_000, &mut rng).estimate(&oracle, &approximation, 0.95).unwrap();
        if approximation.is_symmetric() {
            assert!((all.off_diagonal.value - exact.off_diagonal).abs() < 1e-12);
            assert!((all.relative_error - exact.raw).abs() < 1e-12);
        }
    }
}

#[test]
fn columns_that_are_not_exact_are_sampled_without_bias_and_read_no_further() {
    let n = 120;
    let (wanted, approximation) = (indefinite(n), fitted(&shift_ridge(), &indefinite(n), 12));
    let truth = relative_errors(&wanted, &approximation).unwrap();
    let (mut squares, mut covered) = (0.0, 0);
    for run in 0..200 {
        let mut rng = stream(3, "error estimate", "evaluated", run);
        let sample = Sample::draw(n, &approximation.landmarks()[..12], 200, &mut rng).with_evaluated(100, &mut rng);
        let metered = Metered::new(&wanted);
        let estimate = sample.estimate(&metered, &approximation, 0.95).unwrap();
        // 190 pairs and 10 on the diagonal, 100 pairs with a landmark, 12 self-similarities of landmarks
        assert_eq!(metered.spent().cells, 312);
        squares += estimate.relative_error.powi(2) / 200.0;
        covered += u32::from(estimate.lower <= truth.raw && truth.raw <= estimate.upper);
    }
    // 200 means of 300 squares of deviation 1.5: .6 %, and a ratio's bias of a hundredth; 95 % ± 1.5 %, three of them
    assert!((squares / truth.raw.powi(2) - 1.0).abs() < 0.04, "{}", squares / truth.raw.powi(2));
    assert!(covered > 180, "{covered}");
}

#[test]
fn large_scores_and_correlation_are_those_of_the_sample() {
    let n = 300;
    let oracle = indefinite(n);
    let approximation = fitted(&shift_ridge(), &oracle, 20);
    let sample = Sample::draw(n, approximation.landmarks(), 100_000, &mut stream(4, "error estimate", "s", 0));
    let agreement = sample.agreement(&oracle, &approximation).unwrap();
    let open = |i: &usize| !approximation.landmarks().contains(i);
    let items: Vec<usize> = (0..n).filter(open).collect();
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for (a, &i) in items.iter().enumerate() {
        pairs.extend(items[..a].iter().map(|&j| (oracle.matrix()[[i, j]], approximation.entry(i, j).unwrap())));
    }
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let covariance: f64 = pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)).sum();
    let spread =
        |of: fn(&(f64, f64)) -> f64, mean: f64| pairs.iter().map(|pair| (of(pair) - mean).powi(2)).sum::<f64>();
    let correlation = covariance / (spread(|pair| pair.0, x) * spread(|pair| pair.1, y)).sqrt();
    assert!((agreement.correlation.unwrap() - correlation).abs() < 1e-10);
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let large = &pairs[..pairs.len() / 100];
    let missed: f64 = large.iter().map(|pair| (pair.0 - pair.1).powi(2)).sum();
    let total: f64 = large.iter().map(|pair| pair.0.powi(2)).sum();
    assert!((agreement.large_scores.unwrap() - (missed / total).sqrt()).abs() < 1e-10);
    // a constant has none, whatever rounding makes of its mean
    let constant = Precomputed::new(Array2::from_elem((n, n), 0.3), AsymmetryPolicy::Reject).unwrap();
    let agreement = sample.agreement(&constant, &fitted(&shift_ridge(), &constant, 20)).unwrap();
    assert!(agreement.large_scores.unwrap() < 1e-6 && agreement.correlation.is_none(), "{agreement:?}");
    // scores off the diagonal that are far from those on it, as of exp(−γd): what they are multiplied by moves nothing
    let plain = Array2::from_shape_fn((n, n), |(i, j)| if i == j { 0.0 } else { oracle.matrix()[[i, j]] });
    let of = |scale: f64| {
        let mut matrix = &plain * scale;
        matrix.diag_mut().fill(1.0);
        let zero = Factors::Dense(Array2::from_elem((n, n), 0.5 * scale) + &matrix * 0.1);
        let approximation = Approximation::new(zero, Vec::new(), FitReport::default());
        sample.agreement(&Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap(), &approximation).unwrap()
    };
    assert_eq!(of(2.0_f64.powi(-560)), of(2.0_f64.powi(-600)));
    assert!(of(2.0_f64.powi(-560)).correlation.is_some_and(|correlation| correlation > 0.99));
    // too few to separate the large ones
    let few = Sample::draw(n, approximation.landmarks(), 15, &mut stream(4, "error estimate", "s", 0));
    assert_eq!(few.agreement(&oracle, &approximation).unwrap(), Agreement::default());
}

/// Share of intervals that hold the truth, and mean estimates of both squares over their truths.
fn simulate(
    oracle: &dyn Oracle,
    approximation: &Approximation,
    known: &[usize],
    samples: usize,
    runs: u32,
) -> (f64, f64, f64) {
    let truth = relative_error(oracle, approximation).unwrap();
    let n = oracle.len();
    let all: Vec<usize> = (0..n).collect();
    let norm = linalg::frobenius_norm(crate::oracle::block_of(oracle, &all, &all).unwrap().view()).powi(2);
    let (mut covered, mut missed, mut total) = (0_u32, 0.0, 0.0);
    for run in 0..runs {
        let mut rng = stream(3, "error estimate", "sample", u64::from(run));
        let sample = Sample::draw(n, known, samples, &mut rng);
        let estimate = sample.estimate(oracle, approximation, 0.95).unwrap();
        assert_eq!(estimate.samples, samples);
        covered += u32::from(estimate.lower <= truth && truth <= estimate.upper);
        missed += estimate.squared_error / f64::from(runs);
        total += estimate.squared_norm / f64::from(runs);
    }
    (f64::from(covered) / f64::from(runs), missed / (truth * truth * norm), total / norm)
}

#[test]
fn the_estimate_is_unbiased_and_its_interval_covers_as_often_as_its_confidence() {
    let oracle = indefinite(150);
    let order = landmarks(150);
    // SiCUR is not symmetric, and its error has heavier tails than that of shift_ridge
    let cases: [(Approximation, &[usize]); 2] = [
        (fitted(&shift_ridge(), &oracle, 15), &order.order()[..15]),
        (fitted(&sicur(), &oracle, 8), &order.order()[..16]),
    ];
    for (approximation, known) in cases {
        let (coverage, missed, total) = simulate(&oracle, &approximation, known, 400, 400);
        // 400 runs at 95%: a standard deviation is 1.1%, and four of them; these populations have no rare errors
        assert!((0.905..=0.995).contains(&coverage), "{coverage}");
        // 160,000 draws of squares whose deviation is about 1.5 means: 0.4 %, four times that
        assert!((missed - 1.0).abs() < 0.016, "{missed}");
        assert!((total - 1.0).abs() < 0.016, "{total}");
    }
}

#[test]
fn an_error_that_sits_on_the_diagonal_is_not_overlooked() {
    // a tenth of ‖K‖² is on the diagonal, and nothing of it is reproduced
    let n = 200;
    let z = random(n, 3, "smooth");
    let mut matrix = z.dot(&z.t());
    matrix.diag_mut().iter_mut().for_each(|d| *d += 5.0);
    let oracle = Precomputed::new(matrix, AsymmetryPolicy::Mean).unwrap();
    let approximation = fitted(&shift_ridge(), &oracle, 20);
    let (coverage, missed, _) = simulate(&oracle, &approximation, &landmarks(n).order()[..20], 400, 200);
    // 200 runs at 95 %: a standard deviation is 1.5 %; three of them
    assert!(coverage > 0.90, "{coverage}");
    assert!((missed - 1.0).abs() < 0.01, "{missed}");
}

#[test]
fn a_known_diagonal_is_counted_exactly_and_costs_nothing() {
    let distances = random(80, 80, "distances").mapv(f64::abs);
    let distances = Ledger::pinned((&distances + &distances.t()) * 0.5, 0.0);
    let oracle = Metered::new(Kernelized::new(distances, Kernel::Exponential { gamma: 1.0 }).unwrap());
    let approximation = fitted(&nystrom(), &oracle, 10);
    let known = landmarks(80).order()[..10].to_vec();
    let memory = Remembered::new(&oracle);
    memory.evaluate_plan(&crate::entries::EntryPlan::columns(&known)).unwrap();
    let before = oracle.spent().evaluations;
    let sample = Sample::draw(80, &known, 100, &mut stream(4, "error estimate", "sample", 0));
    sample.estimate(&memory, &approximation, 0.95).unwrap();
    // five of the hundred lie on the diagonal
    assert_eq!(oracle.spent().evaluations - before, 95);
    assert_eq!(sample.plan().evaluations(OracleShape::of(&oracle)), 95);
}

#[test]
fn it_asks_for_the_columns_and_for_the_cells_it_planned() {
    let oracle = indefinite(60);
    let approximation = fitted(&nystrom(), &oracle, 6);
    let sample = Sample::draw(60, &landmarks(60).order()[..6], 300, &mut stream(4, "error estimate", "sample", 0));
    let (plan, metered) = (sample.plan(), Metered::new(&oracle));
    sample.estimate(&metered, &approximation, 0.95).unwrap();
    assert_eq!((sample.len(), plan.cells(60)), (300, 300));
    assert_eq!(metered.spent().cells, 300 + 60 * 6);
    assert_eq!(plan.evaluations(OracleShape::of(&oracle)), 300, "no pair is drawn twice");
}

fn target(target: f64) -> TargetError {
    TargetError { target, first_rank: 10, samples: 300, ..TargetError::default() }
}

fn run(target: &TargetError, method: &dyn Approximate, oracle: &dyn Oracle) -> Result<TargetOutcome, ApproximateError> {
    target.run(method, oracle, &landmarks(oracle.len()), Known::LANDMARKS, &mut stream(7, "error estimate", "t", 0))
}

#[test]
fn the_rank_grows_until_the_target_is_met_and_nothing_is_evaluated_twice() {
    let matrix = indefinite(300);
    let oracle = Metered::new(&matrix);
    let outcome = run(&target(0.15), &shift_ridge(), &oracle).unwrap();
    assert!(matches!(outcome.stop, Stop::Reached));
    let (estimate, last) = (outcome.estimate.unwrap(), outcome.steps.last().unwrap());
    assert!(estimate.upper <= 0.15 && outcome.steps.len() > 1);
    assert!(outcome.steps[..outcome.steps.len() - 1].iter().all(|step| step.estimate.upper > 0.15));
    let truth = relative_error(&matrix, &outcome.approximation).unwrap();
    assert!(truth < 0.15, "{truth}");

    // really evaluated: the columns of the last rank and the union of the samples
    let order = landmarks(300);
    let shape = OracleShape::of(&oracle);
    let tried = TargetError { largest_rank: Some(last.rank), ..target(0.15) };
    let most = tried.most(&shift_ridge(), shape, &order, &mut stream(7, "error estimate", "t", 0)).unwrap();
    assert_eq!(oracle.spent().evaluations, most.evaluations());
    let direct = fitted(&shift_ridge(), &matrix, last.rank);
    assert_eq!(direct.landmarks(), outcome.approximation.landmarks());
}

/// Few samples and small steps: the lowest estimate is not always the one whose bound meets the target.
#[test]
fn what_comes_back_meets_the_target_that_was_reached() {
    let matrix = indefinite(120);
    let target = TargetError { growth: 1.02, samples: 20, ..target(0.3) };
    let mut lower_before = 0;
    for draw in 0..25 {
        let mut rng = stream(7, "error estimate", "t", draw);
        let outcome = target.run(&shift_ridge(), &matrix, &landmarks(120), Known::LANDMARKS, &mut rng).unwrap();
        assert!(matches!(outcome.stop, Stop::Reached));
        let (last, earlier) = outcome.steps.split_last().unwrap();
        let error = last.estimate.relative_error;
        lower_before += usize::from(earlier.iter().any(|step| step.estimate.relative_error < error));
        assert!(outcome.estimate.unwrap().upper <= 0.3, "{draw}");
        assert_eq!(outcome.approximation.report().rank, last.rank, "{draw}");
    }
    assert!(lower_before > 0, "no earlier estimate was lower");
}

#[test]
fn an_exhausted_budget_returns_the_best_so_far() {
    let matrix = indefinite(300);
    let capped = |entries| Metered::with_budget(&matrix, Budget { entries: Some(entries), seconds: None });
    let outcome = run(&target(0.01), &shift_ridge(), &capped(8000)).unwrap();
    assert!(matches!(outcome.stop, Stop::BudgetExhausted(OracleError::BudgetExhausted { .. })));
    assert!(outcome.estimate.is_some() && !outcome.steps.is_empty());

    // enough for the first rank, not for its estimate
    let outcome = run(&target(0.01), &shift_ridge(), &capped(3000)).unwrap();
    assert!(outcome.estimate.is_none() && outcome.steps.is_empty());
    assert_eq!(outcome.approximation.report().rank, 10);

    let error = run(&target(0.01), &shift_ridge(), &capped(100)).unwrap_err();
    assert!(matches!(error, ApproximateError::Oracle(OracleError::BudgetExhausted { .. })));
}

#[test]
fn a_target_out_of_range_is_refused_by_name() {
    let oracle = indefinite(30);
    let cases = [
        (TargetError { growth: 1.0, ..target(0.1) }, "`target_error`: `growth` is 1, but must be a number above 1"),
        (target(0.0), "`target_error`: `target` is 0, but must be a number above 0"),
        (TargetError { samples: 3, ..target(0.1) }, "`target_error`: `samples` is 3, but must be at least 20"),
    ];
    for (target, message) in cases {
        assert_eq!(run(&target, &nystrom(), &oracle).unwrap_err().to_string(), message);
    }
}
