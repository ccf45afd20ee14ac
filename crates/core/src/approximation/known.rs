//! Entries that are returned exactly, because they were evaluated or cost nothing: an option of the
//! approximation, not of each method.

use std::collections::HashMap;

use ndarray::{Array2, ArrayViewMut2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScatteredEntries;
use super::factors::Factors;
use crate::linalg;

/// Cells of the core read at a time: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Entries that K̃ returns exactly. Written as a list of `landmarks` and `diagonal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<KnownPart>", into = "Vec<KnownPart>")]
pub struct Known {
    /// The columns evaluated in full and, by symmetry, their rows. Keeps 8nt bytes.
    pub landmarks: bool,
    /// The self-similarity, where the oracle knows it without a call.
    pub diagonal: bool,
}

impl Known {
    /// Nothing: K̃ is its factors.
    pub const NOTHING: Self = Self { landmarks: false, diagonal: false };
    pub const LANDMARKS: Self = Self { landmarks: true, diagonal: false };
    /// The evaluated columns and the diagonal.
    pub const ALL: Self = Self { landmarks: true, diagonal: true };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum KnownPart {
    Landmarks,
    Diagonal,
}

impl TryFrom<Vec<KnownPart>> for Known {
    type Error = String;

    fn try_from(parts: Vec<KnownPart>) -> Result<Self, String> {
        let count = |part| parts.iter().filter(|&&other| other == part).count();
        if count(KnownPart::Landmarks) > 1 || count(KnownPart::Diagonal) > 1 {
            return Err("`known` names a part twice; wanted a list of `landmarks` and `diagonal`".to_owned());
        }
        Ok(Self { landmarks: count(KnownPart::Landmarks) == 1, diagonal: count(KnownPart::Diagonal) == 1 })
    }
}

impl From<Known> for Vec<KnownPart> {
    fn from(known: Known) -> Self {
        let landmarks = known.landmarks.then_some(KnownPart::Landmarks);
        landmarks.into_iter().chain(known.diagonal.then_some(KnownPart::Diagonal)).collect()
    }
}

/// Exact self-similarities.
#[derive(Debug, Clone, PartialEq)]
pub enum Diagonal {
    Constant(f64),
    /// One each, length n.
    Each(Vec<f64>),
}

impl Diagonal {
    /// Self-similarity of item i.
    pub fn at(&self, i: usize) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Each(values) => values[i],
        }
    }
}

/// K[:,T], and where in T an item stands.
#[derive(Debug, Clone)]
pub(super) struct KnownColumns {
    columns: Array2<f64>,
    position: Vec<Option<usize>>,
}

impl KnownColumns {
    pub(super) fn new(landmarks: &[usize], columns: Array2<f64>) -> Self {
        assert_eq!(columns.ncols(), landmarks.len(), "one known column a landmark");
        let mut position = vec![None; columns.nrows()];
        landmarks.iter().enumerate().for_each(|(b, &t)| position[t] = Some(b));
        Self { columns, position }
    }

    /// `share` of each entry off the diagonal, and the rest of what the core predicts for it.
    pub(super) fn shrink(&mut self, core: &Factors, landmarks: &[usize], share: f64) {
        let all: Vec<usize> = (0..self.columns.nrows()).collect();
        let height = (CELLS_PER_BLOCK / landmarks.len().max(1)).max(1);
        for rows in all.chunks(height) {
            let mut block = Array2::zeros((rows.len(), landmarks.len()));
            core.block(rows, landmarks, block.view_mut());
            for ((a, b), &value) in block.indexed_iter().filter(|&((a, b), _)| rows[a] != landmarks[b]) {
                let exact = &mut self.columns[[rows[a], b]];
                *exact = share * *exact + (1.0 - share) * value;
            }
        }
    }

    pub(super) fn in_unit(self, unit: f64) -> Self {
        Self { columns: self.columns * unit, ..self }
    }

    pub(super) fn entry(&self, i: usize, j: usize) -> Option<f64> {
        match (self.position[j], self.position[i]) {
            (Some(b), _) => Some(self.columns[[i, b]]),
            (None, Some(a)) => Some(self.columns[[j, a]]),
            (None, None) => None,
        }
    }

    pub(super) fn overwrite(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
        for (a, &i) in rows.iter().enumerate() {
            if let Some(t) = self.position[i] {
                cols.iter().enumerate().for_each(|(b, &j)| out[[a, b]] = self.columns[[j, t]]);
            }
        }
        let known: Vec<(usize, usize)> =
            cols.iter().enumerate().filter_map(|(b, &j)| self.position[j].map(|t| (b, t))).collect();
        for (a, &i) in rows.iter().enumerate() {
            known.iter().for_each(|&(b, t)| out[[a, b]] = self.columns[[i, t]]);
        }
    }

    /// Turns core · x₀ (x₀: x with zeros at T) into the product with the known entries in place.
    pub(super) fn apply(&self, landmarks: &[usize], x: &[f64], out: &mut [f64]) {
        let on_landmarks: Vec<f64> = landmarks.iter().map(|&t| x[t]).collect();
        let mut added = vec![0.0; out.len()];
        linalg::apply(self.columns.view(), &on_landmarks, &mut added);
        out.iter_mut().zip(added).for_each(|(out, value)| *out += value);
        let rows = linalg::apply_transposed(self.columns.view(), x);
        landmarks.iter().zip(rows).for_each(|(&t, value)| out[t] = value);
    }

    /// Approximations of new items' similarities are exact where the similarity was handed over.
    pub(super) fn position(&self, item: usize) -> Option<usize> {
        self.position[item]
    }
}

/// Evaluated entries of a symmetric matrix: full columns, by symmetry their rows, and scattered pairs. n bytes.
#[derive(Debug, Clone)]
pub struct Evaluated<'a> {
    is_column: Vec<bool>,
    scattered: Option<&'a ScatteredEntries>,
}

impl<'a> Evaluated<'a> {
    /// These columns of n, and scattered pairs.
    pub(super) fn new(n: usize, columns: &[usize], scattered: Option<&'a ScatteredEntries>) -> Self {
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&t| is_column[t] = true);
        Self { is_column, scattered }
    }

    /// True where (i, j) was evaluated.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.is_column[i] || self.is_column[j] || self.scattered.is_some_and(|scattered| scattered.contains(i, j))
    }
}

/// Calls `visit(a, b, i)` for the cells of a block that lie on the diagonal: rows[a] = cols[b] = i.
pub(super) fn for_each_diagonal(rows: &[usize], cols: &[usize], mut visit: impl FnMut(usize, usize, usize)) {
    let mut rows_of: HashMap<usize, Vec<usize>> = HashMap::new();
    rows.iter().enumerate().for_each(|(a, &i)| rows_of.entry(i).or_default().push(a));
    for (b, j) in cols.iter().enumerate() {
        rows_of.get(j).into_iter().flatten().for_each(|&a| visit(a, b, *j));
    }
}
