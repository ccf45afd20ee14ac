use std::sync::Arc;

use ndarray::{Array1, Array2};
use rand::Rng as _;

use super::*;
use crate::approximate::fixtures::{golden, list};
use crate::approximate::{ShiftRidgeParams, StackParams};
use crate::error_estimate::relative_errors;
use crate::linalg;
use crate::oracle::{AsymmetryPolicy, Metered, OneOrder, Precomputed};
use crate::stream::stream;

fn shift_ridge() -> ByOneOrder {
    ByOneOrder::new(Arc::new(ShiftRidgeParams::default().check().unwrap()), Coin::new(1))
}

// a coin that follows the numbers of the items is not equivariant, and what is shrunk is neither exact nor known
crate::conformance!(@tests promises, shift_ridge();
    symmetric_where_promised
    evaluates_what_it_planned_and_nothing_twice
    names_the_pair_that_is_not_finite
    deterministic_whatever_the_thread_count
    refuses_impossible_ranks
    needs_the_landmarks_it_states
    duplicate_items_survive
    every_reader_gives_the_same_value
    embedding_reproduces_the_symmetric_part
    takes_a_symmetric_matrix_or_is_an_error
    rank_for_columns_is_within_the_budget
);

#[test]
fn a_method_that_chooses_pairs_is_refused() {
    let stack = Arc::new(StackParams { columns: Some(0.5), ..StackParams::default() }.check().unwrap());
    let landmarks = Landmarks::uniform(60, &mut stream(3, "by one order", "landmarks", 0));
    let shape = OracleShape::symmetric(60);
    let refused = ByOneOrder::new(stack, Coin::new(1)).plan(shape, &landmarks, 20);
    assert!(matches!(refused, Err(ApproximateError::ChoosesPairs { method: "stack" })), "{refused:?}");
}

fn evaluated(n: usize, columns: &[usize], pairs: &[(usize, usize)]) -> EntrySet {
    let shape = OracleShape::symmetric(n);
    let mut evaluated = EntrySet::new(shape);
    columns.iter().for_each(|&j| evaluated.add_column(j));
    pairs.iter().for_each(|&(i, j)| evaluated.add_entry(i, j));
    evaluated
}

#[test]
fn the_effects_are_those_of_the_numpy_twin() {
    for case in golden("one_order")["effects"].as_array().unwrap() {
        let columns: Vec<usize> = list(&case["columns"]);
        let pairs: Vec<(usize, usize)> = list(&case["pairs"]);
        let b: Vec<f64> = list(&case["b"]);
        let wanted: Vec<f64> = list(&case["a"]);
        let ours = item_effects(b.len(), &evaluated(b.len(), &columns, &pairs), &b);
        for (ours, wanted) in ours.iter().zip(&wanted) {
            // a dense solve of a well-conditioned system
            assert!((ours - wanted).abs() < 1e-10, "{ours} against {wanted}");
        }
    }
}

/// A score of rank 6 with item effects in its antisymmetric half, and its mean of both orders.
fn biased(n: usize, noise: f64) -> (Precomputed, Precomputed) {
    let mut rng = stream(2, "by one order", "score", 0);
    let mut normal =
        |rows, cols| Array2::from_shape_fn((rows, cols), |_| (0..6).map(|_| rng.gen_range(-0.7..0.7)).sum::<f64>());
    let z = normal(n, 6);
    let effects: Array1<f64> = normal(n, 1).column(0).to_owned();
    let rest = normal(n, n) * noise;
    let mut scores = z.dot(&z.t());
    for ((i, j), score) in scores.indexed_iter_mut().filter(|((i, j), _)| i != j) {
        *score += effects[i] - effects[j] + (rest[[i, j]] - rest[[j, i]]);
    }
    let keep = Precomputed::new(scores.clone(), AsymmetryPolicy::Keep).unwrap();
    (keep, Precomputed::new(scores, AsymmetryPolicy::Mean).unwrap())
}

fn fit(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize, known: Known) -> Approximation {
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(3, "by one order", "landmarks", 0));
    method.fit(oracle, &landmarks, rank, known, &mut stream(3, "by one order", "fit", 0)).unwrap()
}

#[test]
fn what_the_items_add_to_one_order_is_removed() {
    let (given, wanted) = biased(200, 0.0);
    let coin = Coin::new(1);
    let oracle = OneOrder::new(&given, coin);
    let method: Arc<dyn Approximate> = Arc::new(ShiftRidgeParams::default().check().unwrap());
    let error = |method: &dyn Approximate| {
        relative_errors(&wanted, &fit(method, &oracle, 40, Known::LANDMARKS)).unwrap().off_diagonal
    };
    let (plain, corrected) = (error(method.as_ref()), error(&ByOneOrder::new(Arc::clone(&method), coin)));
    // one order differs from the mean of both by item effects only: a ridge of 5, against degrees of 40 and 199, leaves a ninth at most
    assert!(corrected < 0.35 * plain, "{corrected} against {plain}");
    // effects of another coin are noise to it
    let wrong = error(&ByOneOrder::new(method, Coin::new(2)));
    assert!(wrong > 0.8 * plain, "{wrong} against {plain}");
}

#[test]
fn it_asks_for_half_of_what_both_orders_cost() {
    let (given, _) = biased(60, 0.1);
    let meter = Metered::new(OneOrder::new(&given, Coin::new(1)));
    let method = shift_ridge();
    let landmarks = Landmarks::uniform(60, &mut stream(3, "by one order", "landmarks", 0));
    let planned = method.plan(OracleShape::of(&meter), &landmarks, 12).unwrap().evaluations(OracleShape::of(&meter));
    fit(&method, &meter, 12, Known::LANDMARKS);
    assert_eq!((meter.spent().evaluations, planned), (60 * 12 - 12 * 11 / 2, 60 * 12 - 12 * 11 / 2));
}

#[test]
fn an_evaluated_cell_keeps_most_of_its_score_and_the_diagonal_all() {
    let (given, _) = biased(60, 0.3);
    let coin = Coin::new(1);
    let oracle = OneOrder::new(&given, coin);
    let method: Arc<dyn Approximate> = Arc::new(ShiftRidgeParams::default().check().unwrap());
    let known = fit(&ByOneOrder::new(Arc::clone(&method), coin), &oracle, 10, Known::LANDMARKS);
    let bare = fit(&ByOneOrder::new(method, coin), &oracle, 10, Known::NOTHING);
    let t = known.landmarks()[0];
    let score = |i, j| given.matrix()[coin.order(i, j)];
    assert!((known.entry(t, t).unwrap() - score(t, t)).abs() < 1e-12);
    let others: Vec<usize> = (0..60).filter(|&i| i != t).collect();
    // (K̃ − .15 m) / .85 is the score less its effects, which are differences of one number an item
    let left: Vec<f64> = others
        .iter()
        .map(|&i| {
            let exact = (known.entry(i, t).unwrap() - 0.15 * bare.entry(i, t).unwrap()) / 0.85;
            coin.sign(i, t) * (score(i, t) - exact)
        })
        .collect();
    let landmark = known.landmarks()[1];
    let place = others.iter().position(|&i| i == landmark).unwrap();
    for (k, &i) in others.iter().enumerate().filter(|&(_, &i)| i != landmark) {
        let exact = (known.entry(i, landmark).unwrap() - 0.15 * bare.entry(i, landmark).unwrap()) / 0.85;
        let other = coin.sign(i, landmark) * (score(i, landmark) - exact);
        assert!((other - (left[k] - left[place])).abs() < 1e-9, "item {i}");
    }
    assert!(linalg::frobenius_norm(known.to_dense().unwrap().view()).is_finite());
}
