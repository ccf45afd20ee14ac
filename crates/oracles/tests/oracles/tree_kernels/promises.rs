//! Properties of tree kernels on any trees: the twin agrees, nothing overflows, a self-similarity is the largest, identities move.

use std::sync::Arc;

use landmark_core::linalg;
use landmark_core::oracle::{Identity, Oracle, block_of};
use landmark_core::stream::stream;
use landmark_data::{Tree, TreeBuilder, WordVectors};
use landmark_oracles::combined::Normalized;
use landmark_oracles::tree_kernel::{
    Forest, LabelSimilarity, NumberedSimilarity, TreeKernel, TreeKernelParams, WordSimilarity, lexical,
};
use ndarray::array;
use proptest::prelude::*;
use rand::Rng;

use super::twin::{self, Plain};
use super::{Table, kernel, score, trees};

/// A random tree of `nodes` nodes over four labels.
fn random_tree(nodes: usize, rng: &mut impl Rng) -> Tree {
    let mut builder = TreeBuilder::new("a");
    for _ in 1..nodes {
        while builder.depth() > 1 && rng.gen_bool(0.4) {
            builder.close();
        }
        let label = ["a", "b", "c", "d"][rng.gen_range(0..4)];
        if rng.gen_bool(0.5) { builder.open(label) } else { builder.leaf(label) }
    }
    builder.finish()
}

fn random_trees(count: usize, largest: usize, seed: u64) -> Vec<Tree> {
    let mut rng = stream(seed, "trees", "tests", 0);
    (0..count).map(|_| random_tree(rng.gen_range(1..=largest), &mut rng)).collect()
}

fn assert_close(seen: f64, wanted: f64, what: &str) {
    // sums of the same non-negative terms in another order
    assert!((seen - wanted).abs() <= 1e-11 * wanted.abs(), "{what}: {seen} and {wanted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_naive_twin_agrees_on_any_trees(
        seed: u64, lambda in 0.1f64..1.0, mu in 0.1f64..1.0, terminal_factor in 0.0f64..3.0
    ) {
        let trees = random_trees(4, 25, seed);
        let plain: Vec<Plain<'_>> = trees.iter().map(Plain::new).collect();
        let equal = |a: &str, b: &str| if a == b { 1.0 } else { 0.0 };
        let table = [("a", "b", 0.5), ("c", "b", 0.25)];
        let similar = |a: &str, b: &str| match (a.min(b), a.max(b)) {
            ("a", "b") => 0.5,
            ("b", "c") => 0.25,
            _ => equal(a, b),
        };
        let params = [lambda, mu, terminal_factor];
        let ptk = kernel(&trees, TreeKernelParams::Ptk { lambda, mu, terminal_factor });
        let smoothed = TreeKernelParams::Sptk { lambda, mu, terminal_factor }.check().unwrap();
        let forest = Arc::new(Forest::new(&trees).unwrap());
        let sptk = TreeKernel::smoothed(forest, smoothed, &Table::new(table)).unwrap();
        let sst = kernel(&trees, TreeKernelParams::Sst { lambda, leaves: false });
        let st = kernel(&trees, TreeKernelParams::St { lambda, leaves: false });
        for i in 0..4 {
            for j in 0..4 {
                let both = (&plain[i], &plain[j]);
                let what = format!("{} and {}", trees[i], trees[j]);
                assert_close(score(&ptk, i, j), twin::ptk(both, params, &equal), &what);
                assert_close(score(&sptk, i, j), twin::ptk(both, params, &similar), &what);
                assert_close(score(&sst, i, j), twin::subset(both, lambda, false), &what);
                assert_close(score(&st, i, j), twin::subset(both, lambda, true), &what);
            }
        }
    }
}

#[test]
fn all_four_are_positive_semi_definite_and_bounded_when_normalized() {
    let trees = random_trees(30, 20, 5);
    let all: Vec<usize> = (0..trees.len()).collect();
    for params in [
        TreeKernelParams::St { lambda: 0.4, leaves: true },
        TreeKernelParams::Sst { lambda: 0.4, leaves: true },
        // another terminal factor would weigh a label that is a leaf here and has children there in two ways
        TreeKernelParams::Ptk { lambda: 0.4, mu: 0.4, terminal_factor: 1.0 },
        TreeKernelParams::Sptk { lambda: 0.4, mu: 0.4, terminal_factor: 1.0 },
    ] {
        let normalized = Normalized::new(Box::new(kernel(&trees, params))).unwrap();
        let matrix = block_of(&normalized, &all, &all).unwrap();
        assert!(matrix.iter().all(|&value| (0.0..=1.0 + 1e-12).contains(&value)));
        assert!(matrix.diag().iter().all(|&value| value == 1.0));
        let lowest = linalg::eigh(matrix.view()).unwrap().values[0];
        assert!(lowest > -1e-12, "{}: {lowest}", params.id()); // rounding of a matrix of order 1
    }
}

#[test]
fn trees_of_two_thousand_nodes_flat_deep_or_mixed_are_scored() {
    let flat: Tree = format!("(S {})", "a ".repeat(1999)).parse().unwrap();
    let deep: Tree = format!("{}a{}", "(S ".repeat(1999), ")".repeat(1999)).parse().unwrap();
    let mixed = random_tree(2000, &mut stream(3, "trees", "tests", 0));
    let trees = [flat, deep, mixed];
    assert!(trees.iter().all(|tree| tree.len() == 2000));
    for params in [
        TreeKernelParams::St { lambda: 0.4, leaves: true },
        TreeKernelParams::Sst { lambda: 0.4, leaves: true },
        TreeKernelParams::Ptk { lambda: 0.4, mu: 0.4, terminal_factor: 1.0 },
    ] {
        let kernel = kernel(&trees, params);
        for i in 0..3 {
            for j in 0..3 {
                let value = score(&kernel, i, j);
                assert!(value.is_finite() && value >= 0.0, "{} of {i} and {j}: {value}", params.id());
            }
        }
    }
}

#[test]
fn words_are_as_similar_as_their_vectors_and_only_within_a_part_of_speech() {
    let similarity = |threshold: f64| {
        let words = vec!["dog".into(), "cat".into(), "stone".into()];
        let vectors = WordVectors::new(words, array![[1.0_f32, 0.0], [0.6, 0.8], [-1.0, 0.0]], "test").unwrap();
        WordSimilarity::new(vectors, threshold).unwrap()
    };
    let of = similarity(0.7);
    assert_eq!(lexical("LEX##a::b::n"), Some(("a::b", "n")));
    assert_eq!((of.group("LEX##dog::n"), of.group("LEX##emu::n"), of.group("POS##NN")), (Some("n"), None, None));
    assert_ne!(of.identity(), Identity::of(&[]));
    let forest = |threshold: f64| {
        let trees =
            trees(&["(S LEX##dog::n)", "(S LEX##cat::n)", "(S LEX##stone::n)", "(S LEX##cat::v)", "(S LEX##emu::n)"]);
        let params = TreeKernelParams::Sptk { lambda: 1.0, mu: 1.0, terminal_factor: 1.0 }.check().unwrap();
        TreeKernel::smoothed(Arc::new(Forest::new(&trees).unwrap()), params, &similarity(threshold)).unwrap()
    };
    let kernel = forest(0.5);
    // S alone counts 1 (µλ²), the leaf σ, and S with the leaf σ; vectors have 32 bits
    for (j, sigma) in [(0, 1.0), (1, 0.6), (2, 0.0), (3, 0.0), (4, 0.0)] {
        assert!((score(&kernel, 0, j) - (1.0 + 2.0 * sigma)).abs() < 1e-6, "{j}");
    }
    assert_eq!(score(&forest(0.7), 0, 1), 1.0);
    assert_eq!(score(&kernel, 4, 4), 3.0);
}

struct FirstLetter;

impl LabelSimilarity for FirstLetter {
    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"first_letter")])
    }

    fn group<'a>(&self, label: &'a str) -> Option<&'a str> {
        label.get(..1)
    }

    fn bind(&self, _labels: &[String]) -> Box<NumberedSimilarity> {
        Box::new(|_, _| 0.5)
    }
}

#[test]
fn a_similarity_of_your_own_is_asked_within_its_groups() {
    let trees = trees(&["(S dog)", "(S duck)", "(S cat)"]);
    let params = TreeKernelParams::Sptk { lambda: 1.0, mu: 1.0, terminal_factor: 1.0 }.check().unwrap();
    let forest = Arc::new(Forest::new(&trees).unwrap());
    let kernel = TreeKernel::smoothed(forest, params, &FirstLetter).unwrap();
    assert_eq!((score(&kernel, 0, 1), score(&kernel, 0, 2)), (2.0, 1.0));
}

#[test]
fn a_similarity_beyond_1_is_refused_by_name() {
    let forest = Arc::new(Forest::new(&trees(&["(a b)"])).unwrap());
    let params = TreeKernelParams::Sptk { lambda: 1.0, mu: 1.0, terminal_factor: 1.0 }.check().unwrap();
    let message = TreeKernel::smoothed(forest, params, &Table::new([("a", "b", 1.5)])).unwrap_err().to_string();
    assert_eq!(message, "the similarity of `a` and `b` is 1.5; want a number between 0 and 1");
}

#[test]
fn the_identity_moves_with_kernel_parameters_similarity_and_trees() {
    let one = trees(&["(a b)", "(a c)"]);
    let other = trees(&["(a b)", "(a d)"]);
    let ptk = |lambda| TreeKernelParams::Ptk { lambda, mu: 0.4, terminal_factor: 1.0 };
    let sptk = TreeKernelParams::Sptk { lambda: 0.4, mu: 0.4, terminal_factor: 1.0 };
    let smoothed = |value| {
        let (forest, table) = (Arc::new(Forest::new(&one).unwrap()), Table::new([("b", "c", value)]));
        TreeKernel::smoothed(forest, sptk.check().unwrap(), &table).unwrap().identity()
    };
    let mut seen = vec![
        kernel(&one, ptk(0.4)).identity(),
        kernel(&one, ptk(0.5)).identity(),
        kernel(&other, ptk(0.4)).identity(),
        kernel(&one, sptk).identity(),
        smoothed(0.5),
        smoothed(0.25),
        kernel(&one, TreeKernelParams::Sst { lambda: 0.4, leaves: true }).identity(),
        kernel(&one, TreeKernelParams::Sst { lambda: 0.4, leaves: false }).identity(),
        kernel(&one, TreeKernelParams::St { lambda: 0.4, leaves: true }).identity(),
    ];
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 9);
    assert_eq!(smoothed(0.5), smoothed(0.5));
}
