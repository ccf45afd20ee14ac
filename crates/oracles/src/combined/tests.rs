use std::sync::Arc;

use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Oracle, Precomputed, block_of};
use landmark_core::stream::stream;
use ndarray::{Array2, array};
use rand::Rng;

use super::*;

fn points(n: usize) -> Array2<f64> {
    let mut rng = stream(8, "combined", "tests", 0);
    Array2::from_shape_fn((n, 3), |_| rng.gen_range(-1.0..1.0))
}

fn linear(n: usize) -> BoxedOracle {
    Box::new(EmbeddingProxy::dot(points(n)).unwrap())
}

fn whole(oracle: &dyn Oracle) -> Array2<f64> {
    let all: Vec<usize> = (0..oracle.len()).collect();
    block_of(oracle, &all, &all).unwrap()
}

/// Largest difference; both sides are a few operations on numbers of order 1.
fn assert_near(left: &Array2<f64>, right: &Array2<f64>) {
    let largest = (left - right).iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    assert!(largest < 1e-13, "{largest}");
}

#[test]
fn every_combination_is_the_formula_it_states() {
    let k = whole(&linear(6));
    let root = |i: usize| k[[i, i]].sqrt();
    let of = |f: &dyn Fn(usize, usize) -> f64| Array2::from_shape_fn((6, 6), |(i, j)| f(i, j));
    let sum = WeightedSum::new(vec![(2.0, linear(6)), (0.5, linear(6))]).unwrap();
    assert_near(&whole(&sum), &(&k * 2.5));
    assert_near(&whole(&Normalized::new(linear(6)).unwrap()), &of(&|i, j| k[[i, j]] / (root(i) * root(j))));
    let x = points(6);
    let squared = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|d| d * d).sum();
    assert_near(&whole(&Rbf::new(linear(6), 0.7).unwrap()), &of(&|i, j| (-0.7 * squared(i, j)).exp()));
}

#[test]
fn a_kernel_over_items_is_one_over_examples_that_share_them() {
    let k = whole(&linear(5));
    let items = vec![0, 0, 3, 2];
    let on_items = OnItems::new(Arc::from(linear(5)), items.clone()).unwrap();
    assert_near(&whole(&on_items), &Array2::from_shape_fn((4, 4), |(x, y)| k[[items[x], items[y]]]));
}

#[test]
fn a_known_diagonal_passes_through_what_keeps_it_constant() {
    let cosine = || -> BoxedOracle { Box::new(EmbeddingProxy::cosine(points(4)).unwrap()) };
    assert_eq!(WeightedSum::new(vec![(2.0, cosine()), (1.0, cosine())]).unwrap().known_diagonal(), Some(3.0));
    assert_eq!(WeightedSum::new(vec![(2.0, cosine()), (1.0, linear(4))]).unwrap().known_diagonal(), None);
    assert_eq!(Normalized::new(linear(4)).unwrap().known_diagonal(), Some(1.0));
}

#[test]
fn an_item_without_self_similarity_is_like_nothing() {
    let zero: BoxedOracle = Box::new(EmbeddingProxy::dot(array![[0.0], [2.0]]).unwrap());
    let normalized = Normalized::new(zero).unwrap();
    assert_eq!(normalized.known_diagonal(), None);
    assert_eq!(whole(&normalized), array![[0.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn sparse_vectors_add_up_a_column_and_agree_with_dense_ones() {
    let rows = [vec![(7, 1.0), (2, 2.0), (7, 0.5)], vec![], vec![(2, -1.0), (7, 4.0), (9, 1.0)]];
    let sparse = SparseVectors::new(&rows).unwrap();
    assert_eq!(whole(&sparse), array![[6.25, 0.0, 4.0], [0.0, 0.0, 0.0], [4.0, 0.0, 18.0]]);
    let message = SparseVectors::new(&[vec![], vec![(3, f64::NAN)]]).unwrap_err().to_string();
    assert!(message.contains("(i = 1, j = 3)"), "{message}");
}

#[test]
fn what_cannot_be_combined_is_named() {
    let message = |error: CombineError| error.to_string();
    assert!(message(WeightedSum::new(vec![]).err().unwrap()).contains("at least one part"));
    let lengths = WeightedSum::new(vec![(1.0, linear(4)), (1.0, linear(5))]).err().unwrap();
    assert!(message(lengths).contains("part 1 of a combined kernel is over 5 items, the first over 4"));
    let items = OnItems::new(Arc::from(linear(3)), vec![0, 3]).err().unwrap();
    assert_eq!(message(items), "example 1 names item 3, but the kernel is over 3 items (0 to 2)");
    let indefinite: BoxedOracle =
        Box::new(Precomputed::new(array![[-1.0, 0.0], [0.0, 1.0]], AsymmetryPolicy::Reject).unwrap());
    assert!(message(Normalized::new(indefinite).err().unwrap()).contains("item 0 has the self-similarity -1"));
    assert!(Rbf::new(linear(2), 0.0).is_err());
}

#[test]
fn the_identity_moves_with_parts_weights_and_items() {
    let kernel: Arc<dyn Oracle> = Arc::from(linear(3));
    let mut seen = vec![
        WeightedSum::new(vec![(1.0, linear(3))]).unwrap().identity(),
        WeightedSum::new(vec![(2.0, linear(3))]).unwrap().identity(),
        Normalized::new(linear(3)).unwrap().identity(),
        OnItems::new(kernel.clone(), vec![0, 1]).unwrap().identity(),
        OnItems::new(kernel, vec![1, 0]).unwrap().identity(),
        Rbf::new(linear(3), 1.0).unwrap().identity(),
        Rbf::new(linear(3), 2.0).unwrap().identity(),
    ];
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7);
}
