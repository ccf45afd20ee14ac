//! K̃ in factored form: what every method returns and every task consumes.
//!
//! ```text
//! K̃ = core                        Z diag(±1) Zᵀ, or L Rᵀ, or K itself
//!   + diagonal shift              a number on some diagonal cells (`correct_diagonal` of SMS-Nyström)
//!   with the known entries        K[:,T], K[T,:] as they were evaluated
//!   + addend                      q(P), a cheap matrix evaluated lazily (the `proxy` wrapper)
//!   within a range                that of the evaluated scores (`stack`)
//!   with the scattered entries    evaluated pairs outside those columns, as a sparse matrix (`scattered`)
//!   with the known diagonal       where self-similarity costs nothing
//! ```
//!
//! Nothing here forms an n × n matrix except [`Approximation::to_dense`]. With r columns in the factors an entry costs
//! O(r), a row and a mat-vec O(nr); within a range a mat-vec reads all entries, O(n²r). Memory: 8nr bytes for a symmetric
//! core, 16nr for L and R, 8nt more when the t evaluated columns are kept, 40 bytes a scattered pair.

use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2, aview_mut1};

use crate::fit_report::FitReport;
use crate::linalg;
use crate::oracle::{OracleError, Pair};

mod embedding;
mod factors;
mod known;
mod projection;
mod scattered;
mod square_root;
mod transformer;
mod unit;

pub use embedding::{AdditiveTerm, AdditiveTermProjector, Embedding, NewScores};
pub use factors::{Factors, General, Signed};
pub use known::{Diagonal, Evaluated, Known};
pub use scattered::ScatteredEntries;
pub use transformer::LandmarkTransformer;

use known::KnownColumns;

/// Cells that a mat-vec within a range reads at a time: 8 MB, and as much for the addend.
const CELLS_PER_BLOCK: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// An approximation K̃ of an n × n similarity matrix.
///
/// Indices beyond n and room of another shape panic, as they do for a slice. Reading fails only where an [`AdditiveTerm`] does.
#[derive(Debug, Clone)]
pub struct Approximation {
    factors: Factors,
    landmarks: Vec<usize>,
    diagonal_shift: Option<Vec<f64>>,
    known: Option<KnownColumns>,
    addend: Option<Arc<dyn AdditiveTerm>>,
    range: Option<(f64, f64)>,
    scattered: Option<scattered::Placed>,
    diagonal: Option<Diagonal>,
    report: FitReport,
}

impl Approximation {
    /// K̃ = its factors, on columns evaluated at `landmarks` (the order in which [`project`](Self::project) wants the
    /// similarities of new items). Factors that are not row-major are copied: an entry reads two rows.
    pub fn new(factors: Factors, landmarks: Vec<usize>, report: FitReport) -> Self {
        let (diagonal_shift, known, addend, range, scattered, diagonal) = Default::default();
        let factors = factors.row_major();
        Self { factors, landmarks, diagonal_shift, known, addend, range, scattered, diagonal, report }
    }

    /// Adds `shift[i]` at (i, i); length n.
    #[must_use]
    pub fn with_diagonal_shift(mut self, shift: Vec<f64>) -> Self {
        assert_eq!(shift.len(), self.len(), "a diagonal shift of another length");
        self.diagonal_shift = Some(shift);
        self
    }

    /// Returns the evaluated columns K[:,T] (n × t, in the order of the landmarks) and, by symmetry, the rows K[T,:].
    #[must_use]
    pub fn with_known_columns(mut self, columns: Array2<f64>) -> Self {
        self.known = Some(KnownColumns::new(&self.landmarks, columns));
        self
    }

    /// Returns `share` of what was evaluated and the rest of what the core predicts instead of the known columns: for scores whose noise
    /// the core averages out. The diagonal stays as it was evaluated. O(ntr).
    #[must_use]
    pub fn with_known_shrunk(mut self, share: f64) -> Self {
        if let Some(known) = &mut self.known {
            known.shrink(&self.factors, &self.landmarks, share);
        }
        self
    }

    /// Adds a cheap symmetric matrix, evaluated where it is read.
    ///
    /// # Panics
    /// When it is over other items, or comes after the range or the scattered entries, which stand above it.
    #[must_use]
    pub fn with_addend(mut self, addend: Arc<dyn AdditiveTerm>) -> Self {
        assert!(self.scattered.is_none() && self.range.is_none(), "an addend below a range or scattered entries");
        assert_eq!(addend.len(), self.len(), "an addend over another number of items");
        self.addend = Some(addend);
        self
    }

    /// Returns nothing below `least` nor above `greatest` but scattered entries and the known diagonal; the known columns must lie within. The
    /// factors, the vectors that come of them and the projected rows of new items stay as they are.
    ///
    /// # Panics
    /// When the range is empty, or comes after the scattered entries, which stand above it.
    #[must_use]
    pub fn with_range(mut self, least: f64, greatest: f64) -> Self {
        assert!(least <= greatest, "a range from {least} to {greatest}");
        assert!(self.scattered.is_none(), "a range below scattered entries");
        self.range = Some((least, greatest));
        self
    }

    /// Returns evaluated pairs outside the landmarks' columns exactly, in both orders. O(r) a pair, once.
    pub fn with_scattered(mut self, entries: ScatteredEntries) -> Result<Self, OracleError> {
        self.scattered = None;
        self.scattered = Some(scattered::Placed::new(entries, |pairs, out| self.pairs(pairs, out))?);
        Ok(self)
    }

    /// The same with what it predicts in the place of its scattered entries.
    #[must_use]
    pub fn without_scattered(self) -> Self {
        Self { scattered: None, ..self }
    }

    /// Returns the exact self-similarity on the diagonal, whatever stands there otherwise.
    #[must_use]
    pub fn with_diagonal(mut self, diagonal: Diagonal) -> Self {
        if let Diagonal::Each(values) = &diagonal {
            assert_eq!(values.len(), self.len(), "a diagonal of another length");
        }
        self.diagonal = Some(diagonal);
        self
    }

    /// The same with another report.
    #[must_use]
    pub fn with_report(mut self, report: FitReport) -> Self {
        self.report = report;
        self
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rank of the core: columns of its factors.
    pub fn rank(&self) -> usize {
        self.factors.rank()
    }

    /// T, the items whose full columns were evaluated.
    pub fn landmarks(&self) -> &[usize] {
        &self.landmarks
    }

    /// The entries of the landmarks' columns, and the scattered ones. What a method evaluates besides, such as the second block of SMS-Nyström, is
    /// not among them.
    pub fn evaluated(&self) -> Evaluated<'_> {
        Evaluated::new(self.len(), &self.landmarks, self.scattered())
    }

    pub fn factors(&self) -> &Factors {
        &self.factors
    }

    /// Matrix that is added to the core, where a proxy is used.
    pub fn addend(&self) -> Option<&dyn AdditiveTerm> {
        self.addend.as_deref()
    }

    /// Evaluated pairs outside the landmarks' columns, where there are any.
    pub fn scattered(&self) -> Option<&ScatteredEntries> {
        self.scattered.as_ref().map(|placed| &placed.entries)
    }

    /// True where K̃ = K̃ᵀ by construction.
    pub fn is_symmetric(&self) -> bool {
        self.factors.is_symmetric()
    }

    pub fn report(&self) -> &FitReport {
        &self.report
    }

    /// K̃[i, j]. O(r).
    pub fn entry(&self, i: usize, j: usize) -> Result<f64, OracleError> {
        let mut value = [0.0];
        self.pairs(&[(i, j)], &mut value)?;
        Ok(value[0])
    }

    /// `out[k]` = K̃[pairs[k]], in parallel: for labeled pairs. O(r) each.
    pub fn pairs(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        assert_eq!(pairs.len(), out.len(), "pairs and room for their scores");
        self.pairs_before_diagonal(pairs, out)?;
        if let Some(diagonal) = &self.diagonal {
            let cells = pairs.iter().zip(out).filter(|((i, j), _)| i == j);
            cells.for_each(|(&(i, _), out)| *out = diagonal.at(i));
        }
        Ok(())
    }

    fn pairs_before_diagonal(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.factors.pairs(pairs, out);
        for (&(i, j), out) in pairs.iter().zip(&mut *out) {
            if let (true, Some(shift)) = (i == j, &self.diagonal_shift) {
                *out += shift[i];
            }
            if let Some(value) = self.known.as_ref().and_then(|known| known.entry(i, j)) {
                *out = value;
            }
        }
        if let Some(addend) = &self.addend {
            let mut added = vec![0.0; pairs.len()];
            addend.evaluate(pairs, &mut added)?;
            out.iter_mut().zip(added).for_each(|(out, value)| *out += value);
        }
        if let Some((least, greatest)) = self.range {
            out.iter_mut().for_each(|out| *out = out.clamp(least, greatest));
        }
        if let Some(scattered) = &self.scattered {
            for (&(i, j), out) in pairs.iter().zip(out) {
                *out = scattered.entries.get(i, j).unwrap_or(*out);
            }
        }
        Ok(())
    }

    /// `out` (rows.len() × cols.len()) = K̃[rows, cols], by matrix products. O(r) a cell; copies the rows of the factors
    /// unless the indices are a range.
    pub fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        assert_eq!(out.dim(), (rows.len(), cols.len()), "a block and room for it");
        self.factors.block(rows, cols, out.view_mut());
        if let Some(shift) = &self.diagonal_shift {
            known::for_each_diagonal(rows, cols, |a, b, i| out[[a, b]] += shift[i]);
        }
        if let Some(known) = &self.known {
            known.overwrite(rows, cols, out.view_mut());
        }
        if let Some(addend) = &self.addend {
            let mut added = Array2::zeros(out.dim());
            addend.block(rows, cols, added.view_mut())?;
            out += &added;
        }
        if let Some((least, greatest)) = self.range {
            out.mapv_inplace(|value| value.clamp(least, greatest));
        }
        if let Some(scattered) = &self.scattered {
            scattered.entries.overwrite(rows, cols, out.view_mut());
        }
        if let Some(diagonal) = &self.diagonal {
            known::for_each_diagonal(rows, cols, |a, b, i| out[[a, b]] = diagonal.at(i));
        }
        Ok(())
    }

    /// `out` = K̃[i, :], length n. O(nr).
    pub fn row(&self, i: usize, out: &mut [f64]) -> Result<(), OracleError> {
        assert_eq!(out.len(), self.len(), "a row and room for it");
        let all: Vec<usize> = (0..self.len()).collect();
        let row = aview_mut1(out).insert_axis(ndarray::Axis(0));
        self.block(&[i], &all, row)
    }

    /// `out` = K̃ x without forming K̃. O(nr), plus O(nt) for known columns and O(p) for p scattered pairs; O(n²r) within a range.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) -> Result<(), OracleError> {
        assert_eq!((x.len(), out.len()), (self.len(), self.len()), "mat-vec of another length");
        if self.range.is_some() {
            return self.apply_by_blocks(x, out);
        }
        match &self.known {
            None => self.apply_core(x, out),
            Some(known) => {
                // K̃ x = core x₀ + K[:,T] x_T off the landmarks (x₀: x with zeros at T), K[T,:] x on them
                let mut unknown = x.to_vec();
                self.landmarks.iter().for_each(|&t| unknown[t] = 0.0);
                self.apply_core(&unknown, out);
                known.apply(&self.landmarks, x, out);
            }
        }
        if let Some(addend) = &self.addend {
            let mut added = vec![0.0; self.len()];
            addend.apply(x, &mut added)?;
            out.iter_mut().zip(added).for_each(|(out, value)| *out += value);
        }
        if let Some(scattered) = &self.scattered {
            scattered.apply(x, out);
        }
        if let Some(diagonal) = &self.diagonal {
            let cells: Vec<Pair> = (0..self.len()).map(|i| (i, i)).collect();
            let mut current = vec![0.0; self.len()];
            self.pairs_before_diagonal(&cells, &mut current)?;
            for (i, out) in out.iter_mut().enumerate() {
                *out += (diagonal.at(i) - current[i]) * x[i];
            }
        }
        Ok(())
    }

    fn apply_by_blocks(&self, x: &[f64], out: &mut [f64]) -> Result<(), OracleError> {
        let all: Vec<usize> = (0..self.len()).collect();
        let height = (CELLS_PER_BLOCK / self.len().max(1)).max(1);
        for (rows, out) in all.chunks(height).zip(out.chunks_mut(height)) {
            let mut block = Array2::zeros((rows.len(), all.len()));
            self.block(rows, &all, block.view_mut())?;
            linalg::apply(block.view(), x, out);
        }
        Ok(())
    }

    fn apply_core(&self, x: &[f64], out: &mut [f64]) {
        self.factors.apply(x, out);
        if let Some(shift) = &self.diagonal_shift {
            out.iter_mut().zip(shift).zip(x).for_each(|((out, shift), x)| *out += shift * x);
        }
    }

    /// K̃ itself, n × n: for small n and tests. 8n² bytes.
    pub fn to_dense(&self) -> Result<Array2<f64>, OracleError> {
        let all: Vec<usize> = (0..self.len()).collect();
        let mut out = Array2::zeros((self.len(), self.len()));
        self.block(&all, &all, out.view_mut())?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests;
