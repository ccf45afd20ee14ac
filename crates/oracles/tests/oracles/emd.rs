//! The earth mover's distance against reference values, against enumeration, and against its own dual.

use landmark_oracles::wmd::{EmdScratch, Transport, emd, emd_with_flow, ground_distances, rwmd, wcd};
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    tol: f64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    note: String,
    #[serde(rename = "X")]
    x: Vec<Vec<f64>>,
    #[serde(rename = "Y")]
    y: Vec<Vec<f64>>,
    a: Vec<f64>,
    b: Vec<f64>,
    emd: f64,
}

fn golden() -> Golden {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/emd.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

#[test]
fn agrees_with_independent_solvers_on_the_golden_cases() {
    let Golden { tol, cases } = golden();
    assert_eq!(cases.len(), 15);
    let mut scratch = EmdScratch::default();
    for case in &cases {
        let (x, y) = (matrix(&case.x), matrix(&case.y));
        let costs = ground_distances(x.view(), y.view());
        let distance = emd(costs.as_slice().unwrap(), &case.a, &case.b, &mut scratch).unwrap();
        assert!((distance - case.emd).abs() <= tol, "{}: {distance} for {}", case.note, case.emd);
        let transport = emd_with_flow(costs.as_slice().unwrap(), &case.a, &case.b, &mut scratch).unwrap();
        assert_optimal(&transport, costs.view(), &case.a, &case.b);
        assert!(rwmd(costs.as_slice().unwrap(), &case.a, &case.b) <= case.emd + tol, "{}", case.note);
        assert!(wcd(x.view(), &case.a, y.view(), &case.b) <= case.emd + tol, "{}", case.note);
    }
}

/// The flow is feasible, the potentials are, and both have one value: together a proof of optimality.
fn assert_optimal(transport: &Transport, costs: ArrayView2<'_, f64>, a: &[f64], b: &[f64]) {
    let mass: f64 = a.iter().sum();
    let scale = costs.iter().fold(1.0_f64, |largest, cost| largest.max(cost.abs()));
    // masses are rounded to 2⁻⁵² of the sum, and a sum of them adds as much again at each step
    let mass_tolerance = 1e-14 * mass;
    for (row, &mass) in transport.flow.rows().into_iter().zip(a) {
        assert!((row.sum() - mass).abs() <= mass_tolerance, "row sum {} for {mass}", row.sum());
    }
    for (column, &mass) in transport.flow.columns().into_iter().zip(b) {
        assert!((column.sum() - mass).abs() <= mass_tolerance, "column sum {} for {mass}", column.sum());
    }
    assert!(transport.flow.iter().all(|&flow| flow >= 0.0));
    // arcs enter below −1e-12 of the largest cost; potentials add their own rounding
    for ((i, j), cost) in costs.indexed_iter() {
        let slack = cost - transport.row_potentials[i] - transport.column_potentials[j];
        assert!(slack >= -2e-12 * scale, "({i}, {j}) has slack {slack}");
    }
    let dual: f64 = a.iter().zip(&transport.row_potentials).map(|(a, u)| a * u).sum::<f64>()
        + b.iter().zip(&transport.column_potentials).map(|(b, v)| b * v).sum::<f64>();
    let primal: f64 = (&transport.flow * &costs).sum();
    // the gap is at most the slack, and both sums round at 1e-16 a term of at most (m + n) · scale
    assert!((primal - dual).abs() <= 1e-11 * scale * mass, "primal {primal}, dual {dual}");
    assert!((primal - transport.distance).abs() <= 1e-12 * scale * mass);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn has_a_dual_of_the_same_value_whatever_the_masses_and_ties(
        m in 1_usize..=40, n in 1_usize..=40, seed in any::<u64>(),
        distinct_costs in prop_oneof![Just(1.0), Just(3.0), Just(1e6)],
        distinct_masses in prop_oneof![Just(1.0), Just(3.0), Just(1e6)],
    ) {
        let mut rng = landmark_core::stream::stream(seed, "emd", "dual", 0);
        let mut draw = |distinct: f64| (rand::Rng::gen_range(&mut rng, 0.0..distinct)).floor() / distinct;
        let costs = Array2::from_shape_fn((m, n), |_| draw(distinct_costs));
        // zeros and 1e-9 among them
        let mut masses = |k: usize| -> Vec<f64> {
            let mut masses: Vec<f64> = (0..k).map(|_| draw(distinct_masses)).map(|x| if x == 0.0 && distinct_masses > 2.0 { 0.0 } else { x + 1e-9 }).collect();
            masses[0] += 0.5;
            let sum: f64 = masses.iter().sum();
            masses.iter_mut().for_each(|mass| *mass /= sum);
            masses
        };
        let (a, b) = (masses(m), masses(n));
        let scratch = &mut EmdScratch::default();
        let transport = emd_with_flow(costs.as_slice().unwrap(), &a, &b, scratch).unwrap();
        assert_optimal(&transport, costs.view(), &a, &b);
        // the other way round, and through used scratch
        let turned = costs.t().as_standard_layout().to_owned();
        let distance = emd(turned.as_slice().unwrap(), &b, &a, scratch).unwrap();
        prop_assert!((distance - transport.distance).abs() <= 1e-11);
    }
}

#[test]
fn solves_large_fully_tied_problems() {
    // 300 × 300 with three distinct costs and equal masses: nearly every pivot is degenerate
    let n = 300;
    let costs = Array2::from_shape_fn((n, n), |(i, j)| ((i * 7 + j * 11) % 3) as f64);
    let masses = vec![1.0 / n as f64; n];
    let transport = emd_with_flow(costs.as_slice().unwrap(), &masses, &masses, &mut EmdScratch::default()).unwrap();
    assert_optimal(&transport, costs.view(), &masses, &masses);
    // 100 rows of each residue meet 100 columns of each residue: all move for nothing
    assert!(transport.distance.abs() <= 1e-12);
}

#[test]
fn scales_with_the_mass_and_takes_up_rounding_between_the_sums() {
    let scratch = &mut EmdScratch::default();
    let costs = [1.0, 2.0, 5.0, 3.0];
    let unit = emd(&costs, &[0.25, 0.75], &[0.5, 0.5], scratch).unwrap();
    let tenfold = emd(&costs, &[2.5, 7.5], &[5.0, 5.0], scratch).unwrap();
    assert!((tenfold - 10.0 * unit).abs() <= 1e-12);
    // off by 1e-9: both sides are taken as distributions, so the distance moves by about as much
    let rounded = emd(&costs, &[0.25, 0.75], &[0.5, 0.500_000_001], scratch).unwrap();
    assert!((rounded - unit).abs() <= 1e-8);
}
