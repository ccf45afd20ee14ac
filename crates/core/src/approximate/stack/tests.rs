//! Stack: its promises, what it gains over its candidates, and its parts against an independent program.

use rand::Rng as _;

use super::super::scattered::ridge::Moments;
use super::super::scattered::table::Table;
use super::*;
use crate::approximate::fixtures::{golden, list, matrix};
use crate::linalg::relative_error;
use crate::oracle::tests::Ledger;
use crate::oracle::{
    AsymmetryPolicy, EmbeddingProxy, Metered, Precomputed, Symmetrization, Symmetrized, Symmetry, block_of,
};
use crate::stream::stream;

crate::conformance!(stack, StackParams::default().check().unwrap());
crate::conformance!(
    stack_of_columns_alone,
    StackParams { columns: Some(1.0), ..StackParams::default() }.check().unwrap()
);

const N: usize = 220;

/// A function of two cheap scores, an item effect, low rank and noise that some items have more of.
fn problem() -> (Precomputed, Vec<Arc<dyn Oracle>>) {
    let mut rng = stream(6, "stack", "problem", 0);
    let mut draw = |d: usize| Array2::from_shape_fn((N, d), |_| rng.gen_range(-1.0..1.0));
    let (first, second, effect, noise) = (draw(6), draw(4), draw(1), draw(N));
    let cosine = |vectors: &Array2<f64>| EmbeddingProxy::cosine(vectors.clone()).unwrap();
    let all: Vec<usize> = (0..N).collect();
    let [p, r] = [&first, &second].map(|vectors| block_of(&cosine(vectors), &all, &all).unwrap());
    let low = first.dot(&first.t()).mapv(f64::sin) * 0.2;
    let mut matrix = p.mapv(|p| 0.2 + 0.4 * p + 0.3 * p * p) + &(r * 0.3) + &low;
    for i in 0..N {
        for j in 0..N {
            let size = 0.02 * if i % 5 == 0 && j % 5 == 0 { 10.0 } else { 1.0 };
            matrix[[i, j]] += 0.3 * (effect[[i, 0]] + effect[[j, 0]]) + size * (noise[[i, j]] + noise[[j, i]]);
        }
    }
    let oracle = Precomputed::new(matrix, AsymmetryPolicy::Mean).unwrap();
    (oracle, vec![Arc::new(cosine(&first)), Arc::new(cosine(&second))])
}

fn landmarks() -> Landmarks {
    Landmarks::uniform(N, &mut stream(6, "stack", "landmarks", 0))
}

fn fit(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize) -> Approximation {
    method.fit(oracle, &landmarks(), rank, Known::NOTHING, &mut stream(6, "stack", "fit", 0)).unwrap()
}

fn base(stack: &Stack, oracle: &dyn Oracle, rank: usize) -> Approximation {
    let method = stack.base().unwrap();
    method.fit(oracle, &landmarks(), rank, Known::LANDMARKS, &mut stream(6, "stack", "fit", 0)).unwrap()
}

fn error(oracle: &Precomputed, approximation: &Approximation) -> f64 {
    relative_error(oracle.matrix().view(), approximation.to_dense().unwrap().view())
}

fn stack(columns: Option<f64>, proxies: &[Arc<dyn Oracle>]) -> Stack {
    StackParams { columns, ..StackParams::default() }.check().unwrap().with_proxies(proxies.to_vec())
}

#[test]
fn the_stack_beats_shift_ridge_around_the_proxy_at_equal_calls() {
    let (oracle, proxies) = problem();
    for (rank, part) in [(12, 0.9), (40, 0.8)] {
        let base = error(&oracle, &base(&stack(None, &proxies), &oracle, rank));
        for columns in [None, Some(0.75), Some(1.0)] {
            let ours = error(&oracle, &fit(&stack(columns, &proxies), &oracle, rank));
            // without scattered entries the noisy pairs stay as they are
            let part = if columns == Some(1.0) { 0.95 } else { part };
            assert!(ours < part * base, "{ours} against {base} at {rank}, {columns:?} in columns");
        }
    }
}

#[test]
fn nothing_is_predicted_beyond_what_was_seen() {
    let (oracle, proxies) = problem();
    let mut matrix = oracle.matrix().mapv(|k| f64::from(k > 0.9));
    matrix.diag_mut().fill(5.0);
    let yes = Precomputed::new(matrix, AsymmetryPolicy::Mean).unwrap();
    for columns in [Some(0.75), Some(1.0)] {
        let dense = fit(&stack(columns, &proxies), &yes, 30).to_dense().unwrap();
        let beyond = |((i, j), k): ((usize, usize), &f64)| i != j && !(0.0..=1.0).contains(k);
        assert_eq!(dense.indexed_iter().filter(|&(cell, k)| beyond((cell, k))).count(), 0, "{columns:?}");
        assert!(dense.diag().iter().all(|&k| k == 5.0));
    }
}

#[test]
fn the_call_estimate_is_exact_whatever_is_chosen() {
    let (oracle, proxies) = problem();
    for rank in [3, 12, 30, 60] {
        for columns in [None, Some(0.6)] {
            let oracle = Metered::new(&oracle);
            let method = stack(columns, &proxies);
            let shape = OracleShape::of(&oracle);
            let plan = method.plan(shape, &landmarks(), rank).unwrap();
            fit(&method, &oracle, rank);
            assert_eq!(oracle.spent().evaluations, plan.evaluations(shape), "{rank}, {columns:?}");
            assert_eq!(plan.evaluations(shape), EntryPlan::columns(&landmarks().order()[..rank]).evaluations(shape));
        }
    }
}

/// Two calls a pair and one a self-similarity: calls need not divide into pairs.
#[test]
fn the_call_estimate_is_enough_for_scores_of_both_orders() {
    let (given, proxies) = problem();
    let both = Ledger { matrix: given.matrix().clone(), ..Ledger::random(N, Symmetry::Asymmetric, false, 0) };
    let twice = Symmetrized::new(both, Symmetrization::Mean);
    let mut short = 0;
    for rank in 24..34 {
        for proxies in [&proxies[..], &[]] {
            let (oracle, method) = (Metered::new(&twice), stack(None, proxies));
            let shape = OracleShape::of(&oracle);
            let plan = method.plan(shape, &landmarks(), rank).unwrap().evaluations(shape);
            fit(&method, &oracle, rank);
            let spent = oracle.spent().evaluations;
            assert!(spent <= plan && plan <= spent + 2, "{rank}: {spent} of {plan}");
            short += u64::from(spent < plan);
        }
    }
    assert!(short > 0, "some calls are left over");
}

#[test]
fn entries_products_and_vectors_know_what_is_exact() {
    let (oracle, proxies) = problem();
    let params = StackParams { columns: Some(0.75), ..StackParams::default() };
    let fitted = fit(&params.check().unwrap().with_proxies(proxies), &oracle, 30);
    assert!(fitted.is_symmetric());
    for (i, j, score) in fitted.scattered().unwrap().pairs().take(50) {
        assert_eq!((fitted.entry(j, i).unwrap(), score), (score, oracle.matrix()[[i, j]]));
    }
    let t = fitted.landmarks()[3];
    // subtracted and added again
    assert!((fitted.entry(7, t).unwrap() - oracle.matrix()[[7, t]]).abs() < 1e-12);
    let (dense, x) = (fitted.to_dense().unwrap(), (0..N).map(|i| (i as f64).cos()).collect::<Vec<_>>());
    let mut out = vec![0.0; N];
    fitted.apply(&x, &mut out).unwrap();
    assert!(dense.dot(&ndarray::aview1(&x)).iter().zip(&out).all(|(a, b)| (a - b).abs() < 1e-9));
    let embedding = fitted.embedding().unwrap();
    let gram = (&embedding.vectors * &embedding.signature).dot(&embedding.vectors.t());
    // without the known entries, which no vectors hold
    assert!(relative_error(oracle.matrix().view(), gram.view()) < 0.3);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |params: StackParams| params.check().map(|_| ()).unwrap_err().to_string();
    let usual = StackParams::default();
    assert_eq!(
        refused(StackParams { columns: Some(1.5), ..usual }),
        "`stack`: `columns` is 1.5, but must be above 0 and at most 1"
    );
    assert_eq!(refused(StackParams { rounds: 0, ..usual }), "`stack`: `rounds` is 0, but must be at least 1");
    assert_eq!(refused(StackParams { degree: 4, ..usual }), "`stack`: `degree` is 4, but must be 1, 2 or 3");
    let (oracle, proxies) = problem();
    let fewer = OracleShape { len: 30, ..OracleShape::of(&oracle) };
    let landmarks = Landmarks::uniform(30, &mut stream(6, "stack", "landmarks", 0));
    assert_eq!(
        stack(None, &proxies).plan(fewer, &landmarks, 10).unwrap_err().to_string(),
        "`stack`: `proxy` is over 220 items, the oracle over 30, but must be over the items of the oracle"
    );
    let asymmetric = OracleShape { symmetry: crate::oracle::Symmetry::Asymmetric, ..OracleShape::of(&oracle) };
    let error = stack(None, &proxies).plan(asymmetric, &self::landmarks(), 10).unwrap_err().to_string();
    assert!(error.contains("symmetric"), "{error}");
}

fn assert_near(ours: &Array2<f64>, theirs: &Array2<f64>, what: &str) {
    assert_eq!(ours.dim(), theirs.dim(), "{what}");
    let difference = (ours - theirs).iter().fold(0.0_f64, |worst, x| worst.max(x.abs()));
    // solves of well-conditioned systems of a few unknowns
    assert!(difference < 1e-8, "{what}: {difference}");
}

#[test]
fn its_parts_are_those_of_the_independent_program() {
    let file = golden("stack");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 2);
    for case in cases {
        let (expected, id) = (&case["expected"], case["id"].as_str().unwrap());
        let items: Vec<usize> = list(&case["columns"]);
        let degree = usize::try_from(case["degree"].as_u64().unwrap()).unwrap();
        let all: Vec<Array2<f64>> = case["proxies"].as_array().unwrap().iter().map(matrix).collect();
        let at = |matrix: &Array2<f64>| matrix.select(ndarray::Axis(1), &items);
        let columns = Columns {
            items: items.clone(),
            scores: at(&matrix(&case["scores"])),
            proxies: all.iter().map(&at).collect(),
        };
        let similar = Similar::of(&matrix(&case["vectors"]));

        let link = columns::Polynomials::fit(&columns, all.len(), degree).unwrap();
        assert_near(&link.block((columns.len(), columns.len()), &all), &matrix(&expected["link"]), &format!("{id}: q"));
        let mut residual = &columns.scores - &link.block(columns.scores.dim(), &columns.proxies);
        items.iter().enumerate().for_each(|(b, &t)| residual[[t, b]] = 0.0);
        let effects = level0::item_effects(&items, &residual).insert_axis(ndarray::Axis(0));
        let theirs = Array2::from_shape_vec(effects.dim(), list(&expected["effects"])).unwrap();
        assert_near(&effects, &theirs, &format!("{id}: item effects"));
        let (left, right) = level0::krige_columns(&items, residual, Some(&similar)).unwrap();
        assert_near(&left.dot(&right.t()), &matrix(&expected["kriged_columns"]), &format!("{id}: kriging of columns"));

        let (features, target) = (matrix(&case["features"]), list::<f64>(&case["target"]));
        let mut rows = Array2::zeros((features.nrows(), features.ncols() + 1));
        rows.slice_mut(ndarray::s![.., ..features.ncols()]).assign(&features);
        rows.column_mut(features.ncols()).assign(&ndarray::aview1(&target));
        let linear = Moments::of(rows.view()).regress().unwrap();
        for (row, value) in features.rows().into_iter().zip(list::<f64>(&expected["regression"])) {
            assert!((linear.at(&row.to_vec()) - value).abs() < 1e-9, "{id}: regression");
        }

        let mut table = Table::default();
        let pairs: Vec<Pair> = list(&case["rows"]);
        pairs
            .into_iter()
            .zip(list::<f64>(&case["residuals"]))
            .for_each(|(pair, residual)| table.push(pair, 0.0, residual));
        let features = Features::of(&columns, Some(&similar)).unwrap();
        let weights = features.krige(&table, &items).unwrap();
        let ours = weights.dot(&features.phi.t());
        assert_near(&ours, &matrix(&expected["kriged_rows"]), &format!("{id}: kriging of rows"));
    }
}
