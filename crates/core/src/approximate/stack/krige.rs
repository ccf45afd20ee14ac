//! Row by row what the regression leaves, on Nyström features of how alike two items are.
//!
//! ```text
//! G' = (G_E + G_C) / mean diagonal,  G_C = exp(2(cos(C_i, C_j) − 1)) of the evaluated rows, centered;  Φ: 64 Nyström features of it
//! w_i = (Φ_Nᵀ D Φ_N + I)⁻¹ Φ_Nᵀ D res_iN,  N the evaluated others of i,  D_j = 1 / (1 + G'_jj − |φ_j|²)
//! ```

use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;

use super::columns::Columns;
use super::level0::{Similar, unit_rows};
use crate::approximate::ApproximateError;
use crate::approximate::scattered::table::Table;
use crate::linalg::{self, Cholesky};

const FEATURES: usize = 64;

const SHARPNESS: f64 = 2.0;

/// Eigenvalues of the landmarks' square below this part of the largest are left out.
const NEGLIGIBLE: f64 = 1e-8;

pub(super) struct Features {
    /// n × at most 64.
    pub(super) phi: Array2<f64>,
    /// D.
    worth: Array1<f64>,
}

impl Features {
    pub(super) fn of(columns: &Columns, similar: Option<&Similar>) -> Result<Self, ApproximateError> {
        let mut rows = columns.scores.clone();
        columns.items.iter().enumerate().for_each(|(b, &t)| rows[[t, b]] = 0.0);
        let mean = rows.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(rows.ncols()));
        let unit = unit_rows(rows - &mean);
        let items = &columns.items[..columns.items.len().min(FEATURES)];
        let alike = |cosine: f64| (SHARPNESS * (cosine - 1.0)).exp();
        let mut kernel = linalg::product(unit.view(), unit.select(Axis(0), items).t()).mapv(alike);
        let mut diagonal: Array1<f64> = unit.rows().into_iter().map(|row| alike(row.dot(&row))).collect();
        if let Some(similar) = similar {
            kernel += &similar.columns(items);
            diagonal += &similar.diagonal();
        }
        let scale = diagonal.mean().unwrap_or(1.0);
        kernel /= scale;
        diagonal /= scale;
        let eigen = linalg::eigh(kernel.select(Axis(0), items).view())?;
        let largest = eigen.values.iter().fold(0.0_f64, |largest, &w| largest.max(w));
        let kept: Vec<usize> = (0..eigen.values.len()).filter(|&k| eigen.values[k] > NEGLIGIBLE * largest).collect();
        let roots: Array1<f64> = kept.iter().map(|&k| eigen.values[k].sqrt()).collect();
        let phi = linalg::product(kernel.view(), (eigen.vectors.select(Axis(1), &kept) / &roots).view());
        let lengths: Array1<f64> = phi.rows().into_iter().map(|row| row.dot(&row)).collect();
        let worth = (diagonal - lengths).mapv(|unexplained| 1.0 / (1.0 + unexplained.max(0.0)));
        Ok(Self { phi, worth })
    }

    /// w of every item, n × features, from residuals that had not seen their pair.
    pub(super) fn krige(&self, table: &Table, columns: &[usize]) -> Result<Array2<f64>, ApproximateError> {
        let n = self.phi.nrows();
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&j| is_column[j] = true);
        let mut seen: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for chunk in table.chunks() {
            for ((i, j), residual) in chunk.pairs().into_iter().zip(chunk.residuals()) {
                seen[i].push((j, residual));
                // two landmarks of one fold have a row in both orders
                if !(is_column[i] && is_column[j]) {
                    seen[j].push((i, residual));
                }
            }
        }
        let width = self.phi.ncols();
        let rows: Vec<Vec<f64>> = seen.par_iter().map(|seen| self.weights(seen)).collect::<Result<_, _>>()?;
        Ok(Array2::from_shape_vec((n, width), rows.concat()).expect("as many weights as features"))
    }

    /// w of one item, whose residuals with some others are known; 2 · 64² flops each.
    fn weights(&self, seen: &[(usize, f64)]) -> Result<Vec<f64>, ApproximateError> {
        let width = self.phi.ncols();
        let mut rows = Array2::zeros((seen.len(), width));
        let mut right = vec![0.0; width];
        for (&(j, residual), mut row) in seen.iter().zip(rows.rows_mut()) {
            let (phi, worth) = (self.phi.row(j), self.worth[j]);
            row.assign(&phi);
            row *= worth.sqrt();
            right.iter_mut().zip(phi).for_each(|(right, phi)| *right += worth * residual * phi);
        }
        let mut normal = Array2::eye(width);
        linalg::add_gram(rows.view(), normal.view_mut());
        Ok(Cholesky::of(normal.view())?.solution(right)?)
    }
}
