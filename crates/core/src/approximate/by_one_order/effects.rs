//! Item effects of the antisymmetric part of a score: (L + 5I) a = b by conjugate gradients.
//!
//! Least squares of σ_ij (obs − m)_ij on a_i − a_j over the evaluated pairs, with a ridge as strong as five pairs an item. Full columns are
//! applied by their sums, so a step costs O(n + pairs outside them).

use crate::entries::EntrySet;

/// Ridge: acts as this number of pairs per item without an effect.
const RIDGE: f64 = 5.0;

/// Residual, as a share of b, at which the solution is good to the last digits that any score has.
const TOLERANCE: f64 = 1e-12;

/// Steps at most; a graph of full columns has four distinct eigenvalues, and needs as many.
const STEPS: usize = 1000;

/// a of n items, from the evaluated pairs and b_i = Σ_j σ_ij (obs − m)_ij.
pub fn item_effects(n: usize, evaluated: &EntrySet, b: &[f64]) -> Vec<f64> {
    let graph = Graph::new(n, evaluated);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut effects = vec![0.0; n];
    let mut left = b.to_vec();
    let mut scaled = graph.scaled(&left);
    let mut direction = scaled.clone();
    let mut size = dot(&left, &scaled);
    let wanted = TOLERANCE * TOLERANCE * size;
    for _ in 0..STEPS {
        if size <= wanted {
            break;
        }
        let image = graph.apply(&direction);
        let step = size / dot(&direction, &image);
        effects.iter_mut().zip(&direction).for_each(|(a, d)| *a += step * d);
        left.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
        scaled = graph.scaled(&left);
        let next = dot(&left, &scaled);
        direction.iter_mut().zip(&scaled).for_each(|(d, z)| *d = z + next / size * *d);
        size = next;
    }
    effects
}

struct Graph {
    is_column: Vec<bool>,
    pairs: Vec<(usize, usize)>,
    degree: Vec<f64>,
}

impl Graph {
    fn new(n: usize, evaluated: &EntrySet) -> Self {
        let columns = evaluated.columns();
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&j| is_column[j] = true);
        let pairs: Vec<_> = evaluated.scattered().into_iter().filter(|(i, j)| i != j).collect();
        let of = |&is_column: &bool| if is_column { n - 1 } else { columns.len() } as f64;
        let mut degree: Vec<f64> = is_column.iter().map(of).collect();
        pairs.iter().for_each(|&(i, j)| {
            degree[i] += 1.0;
            degree[j] += 1.0;
        });
        Self { is_column, pairs, degree }
    }

    /// (L + 5I) x.
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let all: f64 = x.iter().sum();
        let on_columns: f64 = x.iter().zip(&self.is_column).filter(|(_, is_column)| **is_column).map(|(x, _)| x).sum();
        let of = |((x, degree), is_column): ((&f64, &f64), &bool)| {
            let neighbors = if *is_column { all - x } else { on_columns };
            (degree + RIDGE) * x - neighbors
        };
        let mut out: Vec<f64> = x.iter().zip(&self.degree).zip(&self.is_column).map(of).collect();
        self.pairs.iter().for_each(|&(i, j)| {
            out[i] -= x[j];
            out[j] -= x[i];
        });
        out
    }

    /// Divided by the diagonal of L + 5I.
    fn scaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.degree).map(|(x, degree)| x / (degree + RIDGE)).collect()
    }
}
