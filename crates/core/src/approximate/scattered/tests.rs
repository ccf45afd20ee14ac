//! Scattered entries: what they gain, what they cost, and that the largest are the largest.

use std::sync::Mutex;

use ndarray::Array2;
use rand::Rng as _;

use super::*;
use crate::approximate::fixtures::{golden, list, matrix};
use crate::approximate::{Link, Nystrom, Proxied, ShiftRidgeParams, SiCurParams, Skeleton, SmsNystromParams};
use crate::approximation::{Factors, Signed};
use crate::linalg::relative_error;
use crate::oracle::tests::Sizes;
use crate::oracle::{AsymmetryPolicy, Budget, EmbeddingProxy, Metered, Precomputed, Symmetry};
use crate::stream::stream;

fn shift_ridge() -> Arc<dyn Approximate> {
    Arc::new(ShiftRidgeParams::default().check().unwrap())
}

fn around(method: Arc<dyn Approximate>) -> Scattered {
    ScatteredParams::default().around(method, Vec::new()).unwrap()
}

fn with_proxy() -> Scattered {
    let mut rng = stream(9, "scattered", "proxy", 0);
    // the same vector for all: a proxy that does not change under renumbering
    let vector: Vec<f64> = (0..3).map(|_| rng.r#gen()).collect();
    let cosine: Arc<dyn Oracle> =
        Arc::new(EmbeddingProxy::cosine(Array2::from_shape_fn((24, 3), |(_, k)| vector[k])).unwrap());
    let proxied = Proxied::new(shift_ridge(), Arc::clone(&cosine), Link::default());
    ScatteredParams::default().around(Arc::new(proxied), vec![cosine]).unwrap()
}

crate::conformance!(around_shift_ridge, around(shift_ridge()));
crate::conformance!(around_nystrom, around(Arc::new(Nystrom)));
crate::conformance!(around_sicur, around(Arc::new(SiCurParams::default().check().unwrap())));
crate::conformance!(around_skeleton, around(Arc::new(Skeleton)));
crate::conformance!(
    around_sms,
    around(Arc::new(SmsNystromParams { correct_diagonal: true, ..SmsNystromParams::default() }.check().unwrap()))
);
crate::conformance!(around_a_proxy, with_proxy());

const N: usize = 200;

fn uneven() -> Precomputed {
    let mut rng = stream(3, "scattered", "uneven", 0);
    let factor = Array2::from_shape_fn((N, 5), |_| rng.gen_range(-1.0..1.0));
    let mut matrix = factor.dot(&factor.t());
    for i in 0..N {
        for j in 0..i {
            let size = if i % 8 == 0 && j % 8 == 0 { 1.0 } else { 0.02 };
            matrix[[i, j]] += size * rng.gen_range(-1.0..1.0);
            matrix[[j, i]] = matrix[[i, j]];
        }
    }
    Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap()
}

fn landmarks(n: usize) -> Landmarks {
    Landmarks::uniform(n, &mut stream(3, "scattered", "landmarks", 0))
}

fn fit(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize) -> Approximation {
    method.fit(oracle, &landmarks(oracle.len()), rank, Known::LANDMARKS, &mut stream(3, "scattered", "fit", 0)).unwrap()
}

#[test]
fn pairs_that_are_predicted_worst_are_evaluated_and_the_error_falls() {
    let oracle = uneven();
    let columns = fit(&*shift_ridge(), &oracle, 60);
    let scattered = fit(&around(shift_ridge()), &oracle, 60);
    let error = |approximation: &Approximation| {
        relative_error(oracle.matrix().view(), approximation.to_dense().unwrap().view())
    };
    assert!(error(&scattered) < 0.8 * error(&columns), "{} against {}", error(&scattered), error(&columns));
    let pairs = scattered.scattered().unwrap();
    assert_eq!(scattered.report().scattered, pairs.len());
    // one pair in 64 is noisy, and those are sought first
    let noisy = pairs.pairs().filter(|(i, j, _)| i % 8 == 0 && j % 8 == 0).count();
    let all_noisy = (0..N).step_by(8).count().pow(2) / 2;
    assert!(noisy * 2 > all_noisy.min(pairs.len()) / 2, "{noisy} noisy pairs of {}", pairs.len());
    for (i, j, score) in pairs.pairs() {
        assert_eq!((score, scattered.entry(i, j).unwrap()), (oracle.matrix()[[i, j]], score));
    }
}

#[test]
fn the_call_estimate_is_that_of_the_columns_within_a_pair() {
    for rank in [5, 12, 60, 150, 199, 200] {
        let method = around(shift_ridge());
        let oracle = Metered::new(uneven());
        let shape = OracleShape::of(&oracle);
        let plan = method.plan(shape, &landmarks(N), rank).unwrap();
        fit(&method, &oracle, rank);
        assert_eq!(
            (oracle.spent().evaluations, oracle.spent().cells),
            (plan.evaluations(shape), plan.cells(N)),
            "{rank}"
        );
        let columns = EntryPlan::columns(&landmarks(N).order()[..rank]).evaluations(shape);
        // near n, what is left of the budget is the diagonal
        assert!(plan.evaluations(shape) <= columns && plan.evaluations(shape) + N as u64 > columns, "{rank}");
        assert!(rank > 180 || plan.evaluations(shape) == columns, "{rank}");
    }
}

#[test]
fn few_landmarks_are_left_to_the_columns() {
    let method = around(shift_ridge());
    let shape = OracleShape::of(&uneven());
    let at = |rank| method.division(shape, &landmarks(N), rank).unwrap();
    assert_eq!(at(4), Division { rank: 4, pairs: 0 });
    assert_eq!(at(5).rank, 4);
    assert_eq!(at(N), Division { rank: N, pairs: 0 });
}

#[test]
fn a_budget_that_ends_among_the_pairs_is_an_error() {
    let method = around(shift_ridge());
    let shape = OracleShape::of(&uneven());
    let price = method.plan(shape, &landmarks(N), 60).unwrap().evaluations(shape);
    let oracle = Metered::with_budget(uneven(), Budget { entries: Some(price - 1), seconds: None });
    let mut rng = stream(3, "scattered", "fit", 0);
    let error = method.fit(&oracle, &landmarks(N), 60, Known::LANDMARKS, &mut rng).unwrap_err();
    assert!(matches!(error, ApproximateError::Oracle(OracleError::BudgetExhausted { .. })), "{error}");
    assert!(oracle.spent().evaluations < price);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let usual = ScatteredParams::default();
    for (params, message) in [
        (ScatteredParams { columns: 1.0, ..usual }, "`entries`: `columns` is 1, but must be above 0 and below 1"),
        (
            ScatteredParams { columns: f64::NAN, ..usual },
            "`entries`: `columns` is NaN, but must be above 0 and below 1",
        ),
        (ScatteredParams { rounds: 0, ..usual }, "`entries`: `rounds` is 0, but must be at least 1"),
        (ScatteredParams { nearest: Some(0), ..usual }, "`entries`: `nearest` is 0, but must be at least 1"),
        (
            ScatteredParams { nearest: Some(9), ..usual },
            "`entries`: `nearest` is 9, but must be left out where there is no proxy",
        ),
    ] {
        assert_eq!(params.around(shift_ridge(), Vec::new()).map(|_| ()).unwrap_err().to_string(), message);
    }
    let other: Arc<dyn Oracle> = Arc::new(uneven());
    let method = ScatteredParams::default().around(shift_ridge(), vec![other]).unwrap();
    let shape = OracleShape { len: 30, ..OracleShape::of(&uneven()) };
    let error = method.plan(shape, &landmarks(30), 10).unwrap_err().to_string();
    assert_eq!(
        error,
        "`entries`: `proxy` is over 200 items, the oracle over 30, but must be over the items of the oracle"
    );
    let shape = OracleShape { symmetry: Symmetry::Asymmetric, ..OracleShape::of(&uneven()) };
    let error = around(shift_ridge()).plan(shape, &landmarks(N), 10).unwrap_err().to_string();
    assert!(error.contains("symmetric") && error.contains("shift_ridge"), "{error}");
}

#[test]
fn requests_are_bounded_so_that_a_crash_loses_little() {
    let oracle = Sizes(N, Symmetry::Symmetric, Mutex::default());
    let pairs: Vec<Pair> = (0..2 * PAIRS_PER_REQUEST + 1).map(|k| (k % N, (k / N + k + 1) % N)).collect();
    assert_eq!(evaluate(&oracle, &pairs).unwrap().len(), pairs.len());
    assert_eq!(*oracle.2.lock().unwrap(), [PAIRS_PER_REQUEST, PAIRS_PER_REQUEST, 1]);
}

#[test]
fn sizes_and_selection_are_those_of_the_independent_program() {
    let file = golden("scattered");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 3);
    for case in cases {
        let columns: Vec<usize> = list(&case["columns"]);
        let (vectors, id) = (matrix(&case["factor"]), &case["id"]);
        let n = vectors.nrows();
        let factors = Factors::Signed(Signed { vectors, positive: 1, negative: 1, projector: None });
        let predicted = Approximation::new(factors, Vec::new(), FitReport::default());
        let proxies: Vec<Arc<dyn Oracle>> = case["proxies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|values| {
                let values = matrix(values);
                // products of a program in another order
                let values = (&values + &values.t()) * 0.5;
                Arc::new(Precomputed::new(values, AsymmetryPolicy::Reject).unwrap()) as Arc<dyn Oracle>
            })
            .collect();
        let mut table = Table::default();
        let (m, scores): (Vec<f64>, Vec<f64>) = (list(&case["predicted"]), list(&case["scores"]));
        list::<Pair>(&case["rows"]).into_iter().zip(m).zip(&scores).for_each(|((pair, m), &k)| table.push(pair, m, k));

        let size = ResidualSize::fit(n, &table, &proxies).unwrap();
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0);
        let expected = &case["expected"];
        let sizes = matrix(&expected["sizes"]);
        for (i, &sigma) in list::<f64>(&expected["sigma"]).iter().enumerate() {
            assert!(near(size.sigma(i), sigma), "{id}: σ of {i}");
        }
        let all: Vec<usize> = (0..n).collect();
        let mut ours = Array2::zeros((n, n));
        predicted.block(&all, &all, ours.view_mut()).unwrap();
        let blocks: Vec<Array2<f64>> = proxies.iter().map(|proxy| block_of(proxy, &all, &all).unwrap()).collect();
        let views: Vec<_> = blocks.iter().map(Array2::view).collect();
        let ours = size.block(&all, &all, &views, ours);
        assert!(ours.iter().zip(&sizes).all(|(&ours, &theirs)| near(ours, theirs)), "{id}: sizes");

        let shape = OracleShape { len: n, ..OracleShape::of(&uneven()) };
        let mut named = EntrySet::of(shape, &EntryPlan::columns(&columns));
        list::<Pair>(&case["extra"]).into_iter().for_each(|(i, j)| named.add_entry(i, j));
        let known = Chosen::new(named);
        let search = Search { predicted: &predicted, proxies: &proxies, size: &size, known: &known, nearest: None };
        let wanted: Vec<Pair> = list(&expected["pairs"]);
        assert_eq!(search.largest(wanted.len() as u64).unwrap(), wanted, "{id}");
    }
}
