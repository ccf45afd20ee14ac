use std::sync::Arc;

use ndarray::{Array1, Array2, Axis};
use proptest::prelude::*;

use super::super::lists::Lists;
use super::kernel;
use super::solver::{self, Items, Residuals, apply, dense, solve};
use super::{Pairwise, Pool, Process, Weights};
use landmark_core::linalg;
use landmark_core::oracle::{EmbeddingProxy, Oracle, Pair};

const N: usize = 30;

/// Numbers in [−1, 1) that look drawn.
fn noise(seed: u64, place: usize) -> f64 {
    let bits = super::mixed_bits(seed ^ super::mixed_bits(place as u64));
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn vectors(n: usize, d: usize, seed: u64) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |(i, k)| noise(seed, i * d + k))
}

/// About a third of all pairs.
fn some_pairs(n: usize, seed: u64) -> Vec<(u32, u32)> {
    let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    all.filter(|&(i, j)| noise(seed, i * n + j) < -0.3).map(|(i, j)| (i as u32, j as u32)).collect()
}

fn residuals_of(items: &Items, pairs: Vec<(u32, u32)>, seed: u64) -> Residuals {
    let values = (0..pairs.len()).map(|number| noise(seed, number)).collect();
    Residuals::new(items.phi.nrows(), pairs, values)
}

/// Solves a small dense system.
fn direct(matrix: &Array2<f64>, right: &[f64]) -> Array1<f64> {
    let inverse = linalg::pinv(matrix.view(), 0.0).expect("finite");
    inverse.inverse.dot(&Array1::from_vec(right.to_vec()))
}

fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value * value, count + 1.0));
    (sum / f64::max(count, 1.0)).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn a_product_is_that_of_the_whole_matrix(seed in any::<u64>(), r in 1_usize..8) {
        let items = Items::new(vectors(N, r, seed).mapv(|value| value as f32));
        let known = residuals_of(&items, some_pairs(N, seed), seed);
        let product = apply(&items, &known, &known.values);
        let whole = dense(&items, &known.pairs).dot(&Array1::from_vec(known.values.clone()));
        let largest = whole.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
        for (one, other) in product.iter().zip(&whole) {
            prop_assert!((one - other).abs() <= 1e-5 * largest, "{one} {other}");
        }
    }

    #[test]
    fn a_solution_predicts_as_the_direct_one(seed in any::<u64>(), r in 1_usize..25) {
        let items = Items::new((vectors(N, r, seed) * 0.7).mapv(|value| value as f32));
        let known = residuals_of(&items, some_pairs(N, seed), seed);
        let scale = known.scale();
        let (solution, left) = solve(&items, &known, scale, 25).expect("small");
        prop_assert!(left <= 0.03, "{left} of the right side is left over");
        let exact = direct(&dense(&items, &known.pairs), &known.values) / scale;
        let phi = items.phi.mapv(f64::from);
        let covariance = phi.dot(&phi.t()) + Array2::from_diag(&Array1::from_iter(items.own.iter().copied().map(f64::from)));
        let mut x = Array2::<f64>::zeros((N, N));
        for (&(i, j), &value) in known.pairs.iter().zip(&exact) {
            x[[i as usize, j as usize]] = value;
            x[[j as usize, i as usize]] = value;
        }
        let whole = covariance.dot(&x).dot(&covariance);
        let unknown: Vec<(usize, usize)> =
            (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j))).filter(|&(i, j)| x[[i, j]] == 0.0).collect();
        let errors = unknown.iter().map(|&(i, j)| solution.at(&items, i, j) - whole[[i, j]]);
        // a residual of one part in a hundred, and a covariance of some size
        prop_assert!(root_mean_square(errors) <= 0.05 * root_mean_square(whole.iter().copied()).max(1.0));
        prop_assert!(unknown.iter().all(|&(i, j)| solution.at(&items, i, j) == solution.at(&items, j, i)));
    }

    #[test]
    fn weights_are_the_best_of_all_that_are_not_negative(seed in any::<u64>(), size in 1_usize..40) {
        let draw = |salt: u64| -> Vec<f64> { (0..size).map(|place| noise(seed ^ salt, place)).collect() };
        let (left, kriged, process) = (draw(1), draw(2), draw(3));
        let Weights { kriging, process: weight } = Weights::of(&left, &kriged, &process);
        let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        let draw = 1e-6 * (dot(&kriged, &kriged) + dot(&process, &process)) / 2.0;
        let loss = |a: f64, b: f64| {
            let error = left.iter().zip(&kriged).zip(&process).map(|((d, k), g)| (d - a * k - b * g).powi(2)).sum::<f64>();
            error + draw * (a * a + (b - 1.0).powi(2))
        };
        prop_assert!((0.0..=1.2).contains(&kriging) && (0.0..=1.2).contains(&weight));
        if kriging < 1.2 && weight < 1.2 {
            let here = loss(kriging, weight);
            for (a, b) in (0..=60).flat_map(|a| (0..=60).map(move |b| (f64::from(a) / 50.0, f64::from(b) / 50.0))) {
                prop_assert!(here <= loss(a, b) + 1e-9 * here.abs() + 1e-12, "{kriging} {weight}, but {a} {b}");
            }
        }
    }
}

/// A score that depends on products of hidden numbers, a proxy that sees some of them, and a pool in which a third of all pairs is known.
fn setting(n: usize) -> (Arc<dyn Oracle>, Pool, Array2<f64>) {
    let hidden = vectors(n, 4, 7);
    let scores = hidden.dot(&hidden.t());
    let proxy: Arc<dyn Oracle> = Arc::new(
        EmbeddingProxy::cosine(ndarray::concatenate![Axis(1), hidden.clone(), vectors(n, 2, 8)]).expect("finite"),
    );
    let known: Vec<(Pair, f64)> =
        some_pairs(n, 3).into_iter().map(|(i, j)| (i as usize, j as usize)).map(|pair| (pair, scores[pair])).collect();
    let all = Lists::by_rows(n, |i, row| row.extend((0..n as u32).filter(|&j| j as usize != i)));
    let pool = Pool::new(n, vec![all], &known, &[Arc::clone(&proxy)]).expect("small");
    (proxy, pool, scores)
}

fn fitted(proxies: &[Arc<dyn Oracle>], pool: &Pool, is_trial: bool) -> (Pairwise, Option<Process>) {
    let order: Vec<usize> = (0..pool.len()).map(|i| (i * 7 + 3) % pool.len()).collect();
    let mut pairwise = Pairwise::new(pool.len(), &order, proxies, None, false).expect("finite");
    let process = pairwise.fit(pool, &vec![0.0; pool.pair_count()], &|_, _, _| 0.0, is_trial).expect("small");
    (pairwise, process)
}

#[test]
fn a_round_is_that_of_the_formulas_with_whole_matrices() {
    let (proxy, pool, _) = setting(N);
    let (_, process) = fitted(std::slice::from_ref(&proxy), &pool, false);
    let process = process.expect("something is left over");

    // every node is an item: Φ Φᵀ is the kernel itself, but for the jitter
    let e = proxy.vectors().expect("vectors").to_owned();
    let mut e = &e - &e.mean_axis(Axis(0)).expect("rows");
    e.rows_mut().into_iter().for_each(|mut row| row /= row.dot(&row).sqrt());
    let of_proxy = e.dot(&e.t()) + 0.1;
    let mut known = Array2::from_elem((N, N), f64::NAN);
    for i in 0..N {
        pool.row(i).filter(|&slot| pool.score(slot).is_finite()).for_each(|slot| {
            known[[i, pool.other(slot)]] = pool.score(slot);
        });
    }
    let pairs: Vec<(usize, usize)> =
        (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j))).filter(|&pair| known[pair].is_finite()).collect();
    let scale = root_mean_square(pairs.iter().map(|&pair| known[pair]));
    let predicted = |kernel: &Array2<f64>| -> Array2<f64> {
        let own = kernel.diag().mapv(|square| 0.2 + f64::max(0.0, 1.0 - square));
        let covariance = kernel + &Array2::from_diag(&own);
        let cell = |(i, j): (usize, usize), (k, l): (usize, usize)| {
            covariance[[i, k]] * covariance[[j, l]] + covariance[[i, l]] * covariance[[j, k]]
        };
        let mut matrix = Array2::from_shape_fn((pairs.len(), pairs.len()), |(a, b)| cell(pairs[a], pairs[b]));
        matrix.diag_mut().map_inplace(|value| *value += solver::NOISE);
        let right: Vec<f64> = pairs.iter().map(|&pair| known[pair] / scale).collect();
        let x = direct(&matrix, &right);
        Array2::from_shape_fn((N, N), |pair| {
            scale * pairs.iter().zip(&x).map(|(&other, x)| x * cell(pair, other)).sum::<f64>()
        })
    };
    let first = predicted(&of_proxy);
    let references: Vec<usize> = (0..N).rev().map(|i| (i * 7 + 3) % N).take(N / 2).collect();
    let mut rows = Array2::from_shape_fn((N, references.len()), |(i, t)| {
        let score = known[[i, references[t]]];
        if score.is_finite() { score } else { first[[i, references[t]]] }
    });
    for (t, &own) in references.iter().enumerate() {
        let mean = (0..N).filter(|&i| i != own).map(|i| rows[[i, t]]).sum::<f64>() / (N - 1) as f64;
        (0..N).for_each(|i| rows[[i, t]] = if i == own { 0.0 } else { rows[[i, t]] - mean });
    }
    rows.rows_mut().into_iter().for_each(|mut row| row /= row.dot(&row).sqrt());
    let of_rows = rows.dot(&rows.t()).mapv(|cosine| (3.0 * (cosine - 1.0)).exp());
    let second = predicted(&((of_proxy + of_rows) / 2.0));

    let unknown: Vec<(usize, usize)> =
        (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j))).filter(|&pair| known[pair].is_nan()).collect();
    let error = root_mean_square(unknown.iter().map(|&(i, j)| process.at(i, j) - second[[i, j]]));
    let size = root_mean_square(unknown.iter().map(|&pair| second[pair]));
    assert!(error < 0.03 * size, "{error} of {size}");
}

#[test]
fn the_process_learns_what_the_link_left_over() {
    let (proxy, pool, scores) = setting(60);
    for proxies in [vec![proxy], Vec::new()] {
        let (_, process) = fitted(&proxies, &pool, false);
        let process = process.expect("something is left over");
        let unknown: Vec<(usize, usize)> = (0..60)
            .flat_map(|i| (i + 1..60).map(move |j| (i, j)))
            .filter(|&(i, j)| pool.slot(i, j).is_some_and(|slot| !pool.is_asked(slot)))
            .collect();
        let error = root_mean_square(unknown.iter().map(|&(i, j)| scores[[i, j]] - process.at(i, j)));
        let without = root_mean_square(unknown.iter().map(|&pair| scores[pair]));
        let part = if proxies.is_empty() { 0.85 } else { 0.4 };
        assert!(error < part * without, "{error} of {without} with {} proxies", proxies.len());
    }
}

/// What is known, pair by pair.
fn scores(pool: &Pool) -> Vec<f64> {
    (0..pool.len()).flat_map(|i| pool.upper(i)).map(|slot| pool.score(slot)).collect()
}

#[test]
fn hidden_pairs_teach_nothing_until_they_are_shown_again() {
    let (proxy, mut pool, _) = setting(60);
    let (pairwise, _) = fitted(std::slice::from_ref(&proxy), &pool, true);
    let hidden = pairwise.hidden(&pool);
    assert!(hidden.len() >= 50, "{} pairs are hidden", hidden.len());
    let before = scores(&pool);
    let slots = || hidden.iter().map(|&(_, slot)| slot);
    pool.hide(slots());
    let is_gone = |i: usize, slot: usize| !pool.teaches(i, slot) && !pool.is_asked(slot);
    assert!(
        hidden
            .iter()
            .all(|&(i, slot)| is_gone(i, slot) && is_gone(pool.other(slot), pool.slot(pool.other(slot), i).unwrap()))
    );
    let (_, one) = fitted(std::slice::from_ref(&proxy), &pool, true);
    // the hidden scores are no part of it: others in their place change nothing
    let (mut other, (i, slot)) = (pool.clone(), hidden[0]);
    other.set(i, pool.other(slot), 1e6);
    other.hide(slots());
    let (_, two) = fitted(&[proxy], &other, true);
    let (one, two) = (one.expect("known"), two.expect("known"));
    assert!((0..59).all(|i| one.at(i, i + 1) == two.at(i, i + 1)));
    pool.reveal(slots());
    let is_same = |(one, other): (&f64, &f64)| one == other || (one.is_nan() && other.is_nan());
    assert!(scores(&pool).iter().zip(&before).all(is_same));
}

#[test]
fn equal_vectors_useless_vectors_and_few_items_give_numbers() {
    let n = 12;
    let (_, pool, _) = setting(n);
    let equal = Array2::from_elem((n, 3), 1.0);
    for vectors in [equal, vectors(n, 1, 5), Array2::zeros((n, 2))] {
        let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::dot(vectors).expect("finite"));
        let (_, process) = fitted(&[proxy], &pool, false);
        let process = process.expect("something is left over");
        assert!((0..n - 1).all(|i| process.at(i, i + 1).is_finite()));
    }
}

#[test]
fn items_are_described_by_the_mean_of_the_kernels_of_all_proxies_or_by_one_of_them() {
    let proxies =
        [3, 5].map(|d| -> Arc<dyn Oracle> { Arc::new(EmbeddingProxy::cosine(vectors(N, d, 2)).expect("finite")) });
    let order: Vec<usize> = (0..N).collect();
    let kernels = proxies.each_ref().map(|proxy| kernel::of_proxy(&**proxy, &order).expect("finite"));
    let of =
        |only| Pairwise::new(N, &order, &proxies, only, false).expect("finite").of_proxy.expect("there are proxies");
    let mean = (&kernels[0] + &kernels[1]) / 2.0;
    assert_eq!(*of(None), mean);
    assert_eq!(*of(Some(1)), kernels[1]);
}

#[test]
fn weights_of_ranks_are_not_used_for_scores() {
    let (proxy, _, _) = setting(N);
    let order: Vec<usize> = (0..N).collect();
    let mut pairwise = Pairwise::new(N, &order, &[proxy], None, false).expect("finite");
    pairwise.weigh(&[1.0], &[0.0], &[1.0], true);
    pairwise.end_round();
    // the second round keeps the weights of the first, on the same scale
    assert!(!pairwise.is_to_be_weighed(false, true));
    assert!(pairwise.is_to_be_weighed(false, false) && pairwise.is_to_be_weighed(true, true));
}

#[test]
fn where_nothing_is_left_over_there_is_no_process() {
    let (proxy, pool, _) = setting(N);
    let order: Vec<usize> = (0..N).collect();
    let mut pairwise = Pairwise::new(N, &order, &[proxy], None, false).expect("finite");
    let exact = scores(&pool);
    assert!(pairwise.fit(&pool, &exact, &|_, _, _| 0.0, false).expect("small").is_none());
}

#[test]
fn a_kernel_of_a_similarity_without_vectors_is_one_on_its_diagonal_and_falls_with_it() {
    let proxy = landmark_core::oracle::Precomputed::new(
        Array2::from_shape_fn((4, 4), |(i, j)| if i == j { 2.0 } else { 1.0 - i.abs_diff(j) as f64 }),
        landmark_core::oracle::AsymmetryPolicy::Reject,
    )
    .expect("symmetric");
    let kernel = kernel::of_proxy(&proxy, &[0, 1, 2, 3]).expect("finite");
    assert!((0..4).all(|i| (kernel[[i, i]] - 1.0).abs() < 1e-6));
    assert!(kernel[[0, 1]] > kernel[[0, 2]] && kernel[[0, 2]] > kernel[[0, 3]] && kernel[[0, 3]] > 0.0);
}
