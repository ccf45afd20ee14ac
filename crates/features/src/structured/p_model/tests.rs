//! The constants that the paper states for its families, and the Pᵢ against the matrices themselves.

use super::*;
use crate::structured::transforms::FftPlans;
use crate::structured::{Family, StructuredMatrix};
use landmark_core::stream::stream;

fn draw(family: Family, rows: usize, cols: usize) -> Box<dyn StructuredMatrix> {
    family.draw(rows, cols, &mut stream(3, "test", "p model", 0), &mut FftPlans::new()).unwrap()
}

fn report(family: Family, rows: usize, cols: usize) -> PModelReport {
    PModelReport::of(draw(family, rows, cols).p_model().unwrap(), 1_000_000)
}

const MODELS: [Family; 7] = [
    Family::Dense,
    Family::Circulant,
    Family::Toeplitz,
    Family::Hankel,
    Family::LowDisplacement { rank: 2, nonzeros: 1 },
    Family::LowDisplacement { rank: 3, nonzeros: 2 },
    Family::Fastfood { independent_norms: false },
];

#[test]
fn row_i_of_every_family_is_the_budget_times_p_i() {
    for family in MODELS {
        for (rows, cols) in [(1, 1), (3, 5), (8, 8), (9, 4), (13, 6)] {
            if matches!(family, Family::LowDisplacement { nonzeros, .. } if nonzeros > cols) {
                continue;
            }
            let matrix = draw(family, rows, cols);
            let model = matrix.p_model().unwrap();
            let (g, dense) = (model.randomness(), matrix.to_dense());
            assert_eq!(model.shape(), (rows, cols, g.len()));
            assert_eq!(g.len(), matrix.budget());
            for ((i, j), entry) in dense.indexed_iter() {
                let sum: f64 = model.column(i, j).iter().map(|&(place, value)| value * g[place]).sum();
                // a sum of at most 16 products of size ≈ 1
                assert!((sum - entry).abs() < 1e-13, "{family:?} ({i}, {j})");
            }
        }
    }
}

#[test]
fn representative_pairs_stand_for_all_pairs() {
    for family in MODELS {
        for (rows, cols) in [(6, 6), (7, 4), (3, 5)] {
            let matrix = draw(family, rows, cols);
            let model = matrix.p_model().unwrap();
            let shape = |i, j| {
                let mut values: Vec<f64> = correlations(model, i, j).iter().map(|(_, _, value)| value.abs()).collect();
                values.sort_by(f64::total_cmp);
                let graph = CoherenceGraph::new(cols, &correlations(model, i, j));
                (graph.vertices().len(), graph.edges().len(), values)
            };
            let kinds: Vec<_> = model.row_pairs().into_iter().map(|(i, j)| shape(i, j)).collect();
            for i in 0..rows {
                for j in i + 1..rows {
                    let of_pair = shape(i, j);
                    let near = |kind: &(usize, usize, Vec<f64>)| {
                        (kind.0, kind.1, kind.2.len()) == (of_pair.0, of_pair.1, of_pair.2.len())
                            && kind.2.iter().zip(&of_pair.2).all(|(a, b)| (a - b).abs() < 1e-12)
                    };
                    assert!(of_pair.2.is_empty() || kinds.iter().any(near), "{family:?}, rows {i} and {j} of {rows}");
                }
            }
        }
    }
}

#[test]
fn correlations_are_those_of_the_dense_p_matrices() {
    let matrix = draw(Family::LowDisplacement { rank: 2, nonzeros: 3 }, 5, 6);
    let model = matrix.p_model().unwrap();
    let dense = |i: usize| {
        let mut p = ndarray::Array2::<f64>::zeros((model.shape().2, 6));
        for column in 0..6 {
            for (place, value) in model.column(i, column) {
                p[[place, column]] += value;
            }
        }
        p
    };
    let mut expected = dense(1).t().dot(&dense(4));
    for (a, b, value) in correlations(model, 1, 4) {
        expected[[a, b]] -= value;
    }
    assert!(expected.iter().all(|rest| rest.abs() < 1e-12));
}

#[test]
fn circulant_coherence_graphs_are_cycles_with_the_constants_of_the_paper() {
    for n in [3, 4, 5, 8, 9, 12, 15] {
        let found = report(Family::Circulant, n, n);
        // a cycle of length n/gcd(n, d): three colors as soon as some n/gcd(n, d) > 1 is odd
        let odd = (1..n).any(|d| (n / gcd(n, d)) % 2 == 1);
        assert_eq!(found.chromatic.exact(), Some(if odd { 3 } else { 2 }), "n = {n}");
        assert_eq!((found.budget, found.unicoherence), (n, 0.0));
        assert!((found.coherence - 1.0).abs() < 1e-15);
        assert_eq!((found.normalization_error, found.orthogonality_error), (0.0, 0.0));
        assert_eq!(found.largest_graph, n);
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn the_graph_of_figure_1_is_an_odd_cycle_in_three_colors() {
    let matrix = draw(Family::Circulant, 5, 5);
    let graph = CoherenceGraph::new(5, &correlations(matrix.p_model().unwrap(), 0, 1));
    assert_eq!(graph.vertices(), [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]);
    assert_eq!(graph.edges().len(), 5, "every vertex of a cycle has two neighbors");
    let (number, colors) = graph.chromatic_number(1000);
    let colors = colors.unwrap();
    assert_eq!(number.exact(), Some(3));
    assert!(graph.edges().iter().all(|&(v, w)| colors[v] != colors[w]));
}

#[test]
fn toeplitz_and_hankel_graphs_are_paths_in_two_colors_with_a_smaller_coherence() {
    for n in [3, 5, 8, 13] {
        for family in [Family::Toeplitz, Family::Hankel] {
            let found = report(family, n, n);
            assert_eq!((found.chromatic.exact(), found.budget), (Some(2), 2 * n - 1));
            assert_eq!((found.unicoherence, found.largest_graph), (0.0, n - 1));
            // rows at distance 1 share n − 1 numbers
            assert!((found.coherence - ((n - 1) as f64 / n as f64).sqrt()).abs() < 1e-15);
            assert_eq!((found.normalization_error, found.orthogonality_error), (0.0, 0.0));
        }
    }
}

#[test]
fn low_displacement_rank_is_normalized_and_with_one_nonzero_orthogonal() {
    for (rank, nonzeros) in [(1, 1), (4, 1), (1, 3), (4, 3)] {
        let found = report(Family::LowDisplacement { rank, nonzeros }, 9, 9);
        assert!(found.normalization_error < 1e-12, "sums of at most 12 squares");
        assert_eq!(found.budget, 9 * rank);
        if nonzeros == 1 {
            assert_eq!(found.orthogonality_error, 0.0);
        }
    }
    assert!(report(Family::LowDisplacement { rank: 1, nonzeros: 3 }, 9, 9).orthogonality_error > 0.1);
}
