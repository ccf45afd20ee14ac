//! What the wrapper promises, on matrices whose answer is known.

use std::sync::Arc;

use ndarray::Array2;
use rand::Rng as _;

use super::*;
use crate::approximate::{NystromParams, SiCurParams, SmsNystromParams};
use crate::linalg::relative_error;
use crate::oracle::{AsymmetryPolicy, Metered, Precomputed};
use crate::stream::stream;

fn normal(rows: usize, cols: usize, purpose: &str) -> Array2<f64> {
    let mut rng = stream(1, "proxy tests", purpose, 0);
    // Irwin–Hall: near enough to normal for a test matrix
    Array2::from_shape_fn((rows, cols), |_| (0..12).map(|_| rng.r#gen::<f64>()).sum::<f64>() - 6.0)
}

/// Cosines of random vectors.
fn cosines(n: usize, d: usize) -> Array2<f64> {
    let mut x = normal(n, d, "vectors");
    for mut row in x.rows_mut() {
        let length = row.dot(&row).sqrt();
        row /= length;
    }
    x.dot(&x.t())
}

/// An indefinite matrix: a square of the cosine, a low-rank part that the proxy misses, and noise.
fn expensive(p: &Array2<f64>, residual: f64, noise: f64) -> Array2<f64> {
    let n = p.nrows();
    let z = normal(n, 6, "residual");
    let signs = Array2::from_diag(&ndarray::arr1(&[1.0, 1.0, 1.0, -1.0, -1.0, 1.0]));
    let e = normal(n, n, "noise");
    let k = p.mapv(|p| 0.2 + 0.5 * p + 0.3 * p * p) + z.dot(&signs).dot(&z.t()) * residual + (&e + &e.t()) * noise;
    (&k + &k.t()) * 0.5
}

fn oracle(matrix: &Array2<f64>) -> Precomputed {
    Precomputed::new(matrix.clone(), AsymmetryPolicy::Mean).unwrap()
}

fn proxied(method: Arc<dyn Approximate>, p: &Array2<f64>) -> Proxied {
    Proxied::new(method, Arc::new(oracle(p)), Link::Polynomial { degree: 2 })
}

fn error_of(method: &dyn Approximate, k: &Array2<f64>, rank: usize, known: Known) -> (f64, FitReport) {
    let landmarks = Landmarks::uniform(k.nrows(), &mut stream(2, "proxy tests", "landmarks", 0));
    let fitted = method.fit(&oracle(k), &landmarks, rank, known, &mut stream(2, "proxy tests", "fit", 0)).unwrap();
    (relative_error(k.view(), fitted.to_dense().unwrap().view()), fitted.report().clone())
}

#[test]
fn the_sum_beats_the_proxy_alone_and_the_method_alone() {
    let p = cosines(300, 60);
    let k = expensive(&p, 0.02, 0.002);
    let methods: [Arc<dyn Approximate>; 3] = [
        Arc::new(ShiftRidgeParams::default().check().unwrap()),
        Arc::new(SiCurParams::default().check().unwrap()),
        Arc::new(SmsNystromParams::default().check().unwrap()),
    ];
    for method in methods {
        let (alone, _) = error_of(method.as_ref(), &k, 40, Known::LANDMARKS);
        let (sum, report) = error_of(&proxied(Arc::clone(&method), &p), &k, 40, Known::LANDMARKS);
        let proxy = report.proxy_error.unwrap();
        assert!(sum < 0.7 * alone && sum < proxy, "{}: sum {sum}, alone {alone}, proxy {proxy}", method.id());
    }
}

#[test]
fn a_residual_of_noise_is_left_alone() {
    let p = cosines(200, 40);
    let k = expensive(&p, 0.0, 0.02);
    let method = proxied(Arc::new(NystromParams::default().check().unwrap()), &p);
    let (error, report) = error_of(&method, &k, 30, Known::NOTHING);
    assert_eq!(report.method, "zero");
    assert!(error < 1.1 * report.proxy_error.unwrap(), "{error} {report:?}");
}

#[test]
fn it_buys_what_the_method_buys_and_nothing_twice() {
    let p = cosines(60, 10);
    let k = oracle(&expensive(&p, 0.1, 0.001));
    let landmarks = Landmarks::uniform(60, &mut stream(3, "proxy tests", "landmarks", 0));
    let methods: [Arc<dyn Approximate>; 3] = [
        Arc::new(ShiftRidgeParams::default().check().unwrap()),
        Arc::new(SiCurParams::default().check().unwrap()),
        Arc::new(SmsNystromParams::default().check().unwrap()),
    ];
    for inner in methods {
        let method = proxied(inner, &p);
        let metered = Metered::new(&k);
        method.fit(&metered, &landmarks, 12, Known::LANDMARKS, &mut stream(3, "t", "fit", 0)).unwrap();
        let plan = method.plan(OracleShape::of(&k), &landmarks, 12).unwrap();
        assert_eq!(metered.spent().cells, plan.cells(60));
        assert_eq!(metered.spent().evaluations, plan.evaluations(OracleShape::of(&k)));
    }
}

#[test]
fn known_columns_come_back_exactly_and_every_door_agrees() {
    let p = cosines(80, 12);
    let k = expensive(&p, 0.1, 0.01);
    let landmarks = Landmarks::uniform(80, &mut stream(4, "proxy tests", "landmarks", 0));
    let method = proxied(Arc::new(ShiftRidgeParams::default().check().unwrap()), &p);
    let fitted = method.fit(&oracle(&k), &landmarks, 16, Known::LANDMARKS, &mut stream(4, "t", "fit", 0)).unwrap();
    for &j in &landmarks.order()[..16] {
        for i in 0..80 {
            // (K − q) + q loses at most the last digits
            assert!((fitted.entry(i, j).unwrap() - k[[i, j]]).abs() < 1e-12);
        }
    }
    let dense = fitted.to_dense().unwrap();
    let x: Vec<f64> = (0..80).map(|i| (i as f64).sin()).collect();
    let mut y = vec![0.0; 80];
    fitted.apply(&x, &mut y).unwrap();
    let expected = dense.dot(&ndarray::arr1(&x));
    y.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
}

#[test]
fn the_embedding_holds_proxy_and_residual() {
    let p = cosines(150, 20);
    let k = expensive(&p, 0.1, 0.0);
    let landmarks = Landmarks::uniform(150, &mut stream(5, "proxy tests", "landmarks", 0));
    let method = proxied(Arc::new(ShiftRidgeParams::default().check().unwrap()), &p);
    let fitted = method.fit(&oracle(&k), &landmarks, 30, Known::NOTHING, &mut stream(5, "t", "fit", 0)).unwrap();
    let Embedding { vectors, signature, .. } = fitted.embedding().unwrap();
    let product = (&vectors * &signature).dot(&vectors.t());
    // all items are landmarks of q(P) here, so only its small ridge is lost
    let difference = relative_error(fitted.to_dense().unwrap().view(), product.view());
    assert!(difference < 0.05, "{difference}");
}

#[test]
fn a_proxy_over_other_items_is_refused() {
    let k = oracle(&cosines(20, 5));
    let method = proxied(Arc::new(NystromParams::default().check().unwrap()), &cosines(19, 5));
    let landmarks = Landmarks::uniform(20, &mut stream(6, "proxy tests", "landmarks", 0));
    let error = method.plan(OracleShape::of(&k), &landmarks, 4).unwrap_err().to_string();
    assert_eq!(error, "`proxy`: `proxy` is over 19 items, but must be over the items of the oracle");
}
