//! Transforms, matrices and closed forms against the independent NumPy implementation (tests/golden).

use ndarray::Array2;
use serde_json::Value;

use super::family::{Circulant, Hankel, LowDisplacement};
use super::transforms::{FftPlans, walsh_hadamard};
use super::{Rotation, SphericalKernel, StructuredMatrix, angle};

const TOLERANCE: f64 = 1e-10;

fn golden(file: &str) -> Value {
    let path = format!("{}/tests/golden/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows = rows(value);
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

fn assert_near(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (k, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= TOLERANCE, "{what}, place {k}: {a} against {b}");
    }
}

fn assert_is(ours: &dyn StructuredMatrix, case: &Value, what: &str) {
    let dense = matrix(&case["A"]);
    assert_near(ours.to_dense().as_slice().unwrap(), dense.as_slice().unwrap(), what);
    let x = Array2::from_shape_vec((1, ours.cols()), numbers(&case["x"])).unwrap();
    assert_near(ours.apply(x.view()).unwrap().as_slice().unwrap(), &numbers(&case["Ax"]), what);
}

#[test]
fn the_walsh_hadamard_transform_and_the_rotation_reproduce_the_reference() {
    let file = golden("structured");
    for case in file["fwht"].as_array().unwrap() {
        let mut x = numbers(&case["x"]);
        walsh_hadamard(&mut x).unwrap();
        assert_near(&x, &numbers(&case["y"]), "fwht");
    }
    let case = &file["hd_pre"];
    let rotation = Rotation::from_signs(&numbers(&case["d0"]), &numbers(&case["d1"])).unwrap();
    let mut out = vec![0.0; rotation.rows()];
    rotation.apply_row(&numbers(&case["x"]), &mut out);
    assert_near(&out, &numbers(&case["y"]), "D1 H D0");
}

#[test]
fn the_families_reproduce_the_reference() {
    let file = golden("structured");
    let length = |case: &Value, key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
    for case in file["circulant"].as_array().unwrap() {
        let g = numbers(&case["g"]);
        let ours = Circulant::from_generators(length(case, "m"), g.len(), g, &mut FftPlans::new()).unwrap();
        assert_is(&ours, case, "circulant");
    }
    for (name, upside_down) in [("toeplitz", true), ("hankel", false)] {
        for case in file[name].as_array().unwrap() {
            let (m, n) = (length(case, "m"), length(case, "n"));
            let ours = Hankel::from_generator(m, n, upside_down, numbers(&case["g"]), &mut FftPlans::new()).unwrap();
            assert_is(&ours, case, name);
        }
    }
    for case in file["ldr"].as_array().unwrap() {
        let (gs, hs) = (rows(&case["G"]), rows(&case["H"]));
        let n = gs[0].len();
        let generators = gs.iter().cloned().zip(hs.iter().map(|h| h.iter().copied().enumerate().collect())).collect();
        let ours = LowDisplacement::from_generators(n, n, gs.len(), generators, &mut FftPlans::new());
        assert_is(&ours, case, "low displacement rank");
    }
    for case in file["skew_circulant"].as_array().unwrap() {
        let h = numbers(&case["h"]);
        let n = h.len();
        // Circ(1, 0, …, 0) is the identity
        let one = (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let generators = vec![(one, h.into_iter().enumerate().collect())];
        assert_is(&LowDisplacement::from_generators(n, n, 1, generators, &mut FftPlans::new()), case, "skew-circulant");
    }
}

#[test]
fn closed_forms_reproduce_the_reference() {
    let file = golden("kernels");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 7);
    for (number, case) in cases.iter().enumerate() {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let near = |name: &str, ours: f64| {
            let theirs = case[name].as_f64().unwrap();
            // relative where values are large: arccos2 reaches 36,300
            assert!((ours - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0), "{name}, case {number}: {ours}");
        };
        near("angle", angle(&x, &y).unwrap());
        let kernels = [
            ("inner", SphericalKernel::InnerProduct),
            ("step", SphericalKernel::Step),
            ("sign_angular", SphericalKernel::Sign),
            ("arccos0", SphericalKernel::ArcCosine { order: 0 }),
            ("arccos1", SphericalKernel::ArcCosine { order: 1 }),
            ("arccos2", SphericalKernel::ArcCosine { order: 2 }),
            ("relu", SphericalKernel::Relu),
            ("gauss_s1", SphericalKernel::Gaussian { sigma: 1.0 }),
            ("gauss_s2", SphericalKernel::Gaussian { sigma: 2.0 }),
        ];
        for (name, kernel) in kernels {
            near(name, kernel.closed_form(&x, &y).unwrap());
        }
    }
}
