//! Lower bounds of the word mover's distance (Kusner et al. 2015, section 4), as functions and as oracles that serve as
//! proxies.
//!
//! * [`Wcd`], word centroid distance: `|Σ a_i x_i − Σ b_j y_j|`. d operations a pair; memory 8·n·d bytes.
//! * [`Rwmd`], relaxed WMD: `max(Σ a_i min_j |x_i − y_j|, Σ b_j min_i |x_i − y_j|)`: of the two constraints on the flow one
//!   is dropped at a time, so every word goes to its nearest. m·n operations a pair after the distance table of the column
//!   (`distance_tables.rs`).
//!
//! A block of [`Wcd`] has every cell computed, also those that mirror another: looking for mirrors would cost more than it saves.

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use multiversion::multiversion;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2};
use rayon::prelude::*;

use super::distance_tables::{PairTable, score_pairs};
use super::points::{Points, Selection, distances};
use super::word_clouds::WordClouds;

/// Documents on one side of a piece of a block: two pieces of centroids fit in the second cache.
const PIECE: usize = 64;

/// Relaxed word mover's distance of the masses `a` and `b` (each of sum 1) under `costs` (a.len() × b.len(), row by row): at
/// most the earth mover's distance, for any costs. A point without mass is no point.
///
/// ```
/// use landmark_oracles::wmd::rwmd;
/// assert_eq!(rwmd(&[0.0, 3.0, 4.0, 1.0], &[0.5, 0.5], &[1.0, 0.0]), 2.0);
/// ```
///
/// # Panics
/// Panics if there are fewer than a.len() × b.len() costs.
pub fn rwmd(costs: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let cost = |i: usize, j: usize| costs[i * b.len() + j];
    let present = |masses: &[f64]| (0..masses.len()).filter(|&k| masses[k] > 0.0).collect::<Vec<_>>();
    let (rows, columns) = (present(a), present(b));
    let smallest = |costs: &mut dyn Iterator<Item = f64>| costs.fold(f64::INFINITY, f64::min);
    let from_rows: f64 = rows.iter().map(|&i| a[i] * smallest(&mut columns.iter().map(|&j| cost(i, j)))).sum();
    let from_columns: f64 = columns.iter().map(|&j| b[j] * smallest(&mut rows.iter().map(|&i| cost(i, j)))).sum();
    from_rows.max(from_columns)
}

/// Word centroid distance of the points `x` (m × d) with masses `a` and `y` (n × d) with `b` (each of sum 1): at most the
/// earth mover's distance under the Euclidean distance.
///
/// # Panics
/// Panics if masses and points differ in number, or points in dimension.
pub fn wcd(x: ArrayView2<'_, f64>, a: &[f64], y: ArrayView2<'_, f64>, b: &[f64]) -> f64 {
    let centroid = |points: ArrayView2<'_, f64>, masses: &[f64]| points.t().dot(&ndarray::aview1(masses));
    (centroid(x, a) - centroid(y, b)).mapv(|difference| difference * difference).sum().sqrt()
}

/// Word centroid distance between documents.
#[derive(Debug, Clone)]
pub struct Wcd {
    clouds: Arc<WordClouds>,
    centroids: Arc<Points<f64>>,
}

impl Wcd {
    /// Computes the n centroids.
    pub fn new(clouds: Arc<WordClouds>) -> Self {
        let centroids = clouds.centroids();
        let centroids = Arc::new(Points::new(clouds.dimension(), centroids.rows().into_iter()));
        Self { clouds, centroids }
    }

    /// Fills a block by pieces, of the documents `rows` × `cols`, whatever words they have.
    fn fill(&self, rows: &[u32], cols: &[u32], mut out: ArrayViewMut2<'_, f64>) {
        let room = || (Selection::default(), Vec::new());
        out.axis_chunks_iter_mut(Axis(0), PIECE).into_par_iter().zip(rows.par_chunks(PIECE)).for_each_init(
            room,
            |(selected, piece), (mut out, rows)| {
                for (mut out, cols) in out.axis_chunks_iter_mut(Axis(1), PIECE).zip(cols.chunks(PIECE)) {
                    selected.load(&self.centroids, cols);
                    piece.resize(rows.len() * cols.len(), 0.0);
                    distances(&self.centroids, rows, selected, piece);
                    out.iter_mut().zip(&*piece).for_each(|(to, &distance)| *to = distance);
                }
            },
        );
    }
}

impl Oracle for Wcd {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(0.0), ..OracleShape::symmetric(self.clouds.len()) }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"wcd"), ("version", b"1"), ("clouds", self.clouds.identity().as_bytes())])
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        Some(self.clouds.centroids().into())
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.clouds.check(pairs, out.len(), "wcd")?;
        let room = Selection::default;
        pairs.par_iter().zip(out).for_each_init(room, |selected, (&(i, j), out)| {
            *out = self.clouds.distance_without_words((i, j)).unwrap_or_else(|| {
                let mut distance = [0.0];
                selected.load(&self.centroids, &[j as u32]);
                distances(&self.centroids, &[i as u32], selected, &mut distance);
                distance[0]
            });
        });
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        let rows_u32 = self.clouds.check_documents(rows)?;
        let cols_u32 = self.clouds.check_documents(cols)?;
        self.fill(&rows_u32, &cols_u32, out.view_mut());
        if !self.clouds.empty_documents().is_empty() {
            for ((a, b), out) in out.indexed_iter_mut() {
                if let Some(distance) = self.clouds.distance_without_words((rows[a], cols[b])) {
                    *out = distance;
                }
            }
        }
        Ok(())
    }
}

/// Relaxed word mover's distance between documents.
#[derive(Debug, Clone)]
pub struct Rwmd {
    clouds: Arc<WordClouds>,
}

impl Rwmd {
    /// The bound over these documents.
    pub fn new(clouds: Arc<WordClouds>) -> Self {
        Self { clouds }
    }
}

impl Oracle for Rwmd {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(0.0), ..OracleShape::symmetric(self.clouds.len()) }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"rwmd"), ("version", b"1"), ("clouds", self.clouds.identity().as_bytes())])
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        Some(self.clouds.centroids().into())
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.clouds.check(pairs, out.len(), "rwmd")?;
        score_pairs(&self.clouds, pairs, out, relaxed);
        Ok(())
    }
}

/// The bound of one pair; `nearest` is room for one number a word of the column document.
pub(super) fn relaxed(nearest: &mut Vec<f64>, pair: &PairTable<'_>) -> f64 {
    let from_row: f64 = pair.row.weights.iter().enumerate().map(|(k, weight)| weight * pair.nearest(k)).sum();
    nearest.clear();
    nearest.resize(pair.column.words.len(), f64::INFINITY);
    nearest_of_columns(pair, nearest);
    let from_column: f64 = pair.column.weights.iter().zip(nearest).map(|(weight, nearest)| weight * *nearest).sum();
    from_row.max(from_column)
}

/// For each word of the column document the distance to its nearest word of the row document.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn nearest_of_columns(pair: &PairTable<'_>, nearest: &mut [f64]) {
    for k in 0..pair.row.words.len() {
        for (nearest, &distance) in nearest.iter_mut().zip(pair.distances(k)) {
            *nearest = if distance < *nearest { distance } else { *nearest };
        }
    }
}
