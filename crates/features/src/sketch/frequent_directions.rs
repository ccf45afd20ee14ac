//! Frequent Directions in two forms: that of the paper, and the buffered one.
//!
//! Form of the paper (Liberty 2013, figure 1): a row goes into the first zero row of Y (l × d); when none is left,
//! δ = σ²_⌈l/2⌉ and σ'ᵢ² = max(σᵢ² − δ, 0), which frees at least half of the rows. Bound 2‖X‖²_F / l.
//! Buffered form: up to `buffer` > l rows are held; when they are there, δ = σ²_{l+1} and l rows stay. Bound
//! min over k < l of ‖X − X_k‖²_F / (l − k). A larger buffer shrinks less often and loses less, the bound holds for any.
//!
//! A zero row leaves a zero row behind, so it is counted and nothing else. Memory: 8·l·d bytes for Y and the waiting rows, which
//! stay sparse where they came so. Cost: see [`shrink`](super::shrink); the form of the paper shrinks about 2n/l times, the buffered one
//! n / (buffer − l) times.

use ndarray::{Array2, ArrayView2, Axis, s};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pending::Pending;
use super::shrink::{Kept, NewRows};
use super::{ErrorBound, SketchError};
use landmark_core::linalg;
use landmark_core::oracle::Identity;
use landmark_core::parameter::BadParameter;

/// Form of the algorithm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Form {
    /// Figure 1 of the paper: l rows, shrunk by the median.
    #[serde(rename = "figure_1")]
    Figure1,
    /// l rows and a buffer, shrunk by the first value that is not kept.
    #[default]
    #[serde(rename = "buffered")]
    Buffered,
}

impl Form {
    /// t of δ = σ²_t, from 1.
    fn threshold(self, l: usize) -> usize {
        match self {
            Self::Figure1 => l.div_ceil(2),
            Self::Buffered => l + 1,
        }
    }

    /// c of the bound c‖X‖²_F / l.
    fn numerator(self) -> f64 {
        match self {
            Self::Figure1 => 2.0,
            Self::Buffered => 1.0,
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Figure1 => "figure_1",
            Self::Buffered => "buffered",
        }
    }
}

/// Parameters as a configuration gives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrequentDirectionsParams {
    /// l, the rows of the sketch. With l > d nothing is ever lost in the buffered form.
    pub rows: usize,
    pub form: Form,
    /// Rows held before a shrink, sketch included: more than `rows`; only for the buffered form. `None`: see
    /// [`default_buffer`](Self::default_buffer).
    pub buffer: Option<usize>,
}

impl Default for FrequentDirectionsParams {
    fn default() -> Self {
        Self { rows: 100, form: Form::default(), buffer: None }
    }
}

impl FrequentDirectionsParams {
    /// An empty sketch of rows with `columns` numbers (d), what they stand for being `features`.
    ///
    /// # Errors
    /// [`SketchError::Parameter`]: l = 0, d = 0 or beyond 2³², a buffer of at most l rows, a buffer for the form of the paper, l·d too
    /// large for a machine's addresses.
    pub fn check(&self, columns: usize, features: Identity) -> Result<FrequentDirections, SketchError> {
        let buffer = self.check_sizes(columns)?;
        Ok(FrequentDirections {
            form: self.form,
            l: self.rows,
            buffer,
            features,
            kept: Kept::new(columns, self.rows),
            pending: Pending::none(),
            rows: 0,
            squared_norm: 0.0,
            subtracted: 0.0,
            shrinks: 0,
        })
    }

    /// The rows held before a shrink, as [`check`](Self::check) takes them. Makes no room for a sketch.
    pub fn check_sizes(&self, columns: usize) -> Result<usize, SketchError> {
        let refuse = |parameter, value: usize, wanted: &str| Err(BadParameter::new(parameter, value, wanted).into());
        let l = self.rows;
        if l == 0 {
            return refuse("rows", l, "at least 1");
        }
        if columns == 0 || u32::try_from(columns).is_err() {
            return refuse("columns", columns, "between 1 and 2³² − 1");
        }
        if l.checked_mul(columns).is_none_or(|numbers| numbers > isize::MAX as usize / 8) {
            return refuse("rows", l, &format!("small enough for {columns} columns: rows × columns numbers are held"));
        }
        match (self.form, self.buffer) {
            (Form::Figure1, None) => Ok(l),
            (Form::Figure1, Some(buffer)) => {
                refuse("buffer", buffer, "left out: `figure_1` has no buffer in addition to its rows")
            }
            (Form::Buffered, None) => Ok(Self::default_buffer(l, columns)),
            (Form::Buffered, Some(buffer)) if buffer > l => Ok(buffer),
            (Form::Buffered, Some(buffer)) => refuse("buffer", buffer, &format!("more than the {l} rows kept")),
        }
    }

    /// The buffer taken where none is given, from l and d.
    ///
    /// Measured with `sketch_times` (one core): for few columns (d ≤ 20l) a shrink costs an eigendecomposition of d × d whatever the
    /// buffer, and 40l rows make that cheap compared with the products; for many columns it costs one of buffer × buffer and a pass over Y,
    /// which balance near 4l.
    pub fn default_buffer(l: usize, columns: usize) -> usize {
        if columns <= 20 * l { 40 * l } else { 4 * l }
    }
}

/// A sketch that rows are appended to.
///
/// ```
/// use landmark_core::linalg;
/// use landmark_core::oracle::Identity;
/// use landmark_features::sketch::{Form, FrequentDirectionsParams};
/// use ndarray::Array2;
///
/// let x = Array2::from_shape_fn((300, 8), |(i, j)| ((i * 7 + j * j) % 13) as f64 - 6.0);
/// let params = FrequentDirectionsParams { rows: 4, form: Form::Figure1, buffer: None };
/// let mut sketch = params.check(8, Identity::of(&[("columns", b"of an example")]))?;
/// sketch.append_block(x.view())?;
/// let lost = x.t().dot(&x) - sketch.gram();
/// let bound = sketch.bound();
/// assert!(linalg::spectral_norm(lost.view())? <= bound.subtracted);
/// assert!(bound.subtracted <= bound.proven);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrequentDirections {
    pub(super) form: Form,
    pub(super) l: usize,
    pub(super) buffer: usize,
    pub(super) features: Identity,
    pub(super) kept: Kept,
    pub(super) pending: Pending,
    pub(super) rows: u64,
    pub(super) squared_norm: f64,
    pub(super) subtracted: f64,
    pub(super) shrinks: u64,
}

impl FrequentDirections {
    /// d, the numbers in a row.
    pub fn columns(&self) -> usize {
        self.kept.transposed.nrows()
    }

    /// l, the most rows that a finished sketch has.
    pub fn sketch_rows(&self) -> usize {
        self.l
    }

    /// Rows held before a shrink.
    pub fn buffer(&self) -> usize {
        self.buffer
    }

    pub fn form(&self) -> Form {
        self.form
    }

    pub fn features(&self) -> Identity {
        self.features
    }

    /// Rows of the stream so far, zero rows among them.
    pub fn rows_seen(&self) -> u64 {
        self.rows
    }

    /// Takes one dense row in (length d).
    ///
    /// # Errors
    /// [`SketchError::Width`], [`SketchError::NotFinite`], [`SketchError::Linalg`]. The row is then not taken in.
    pub fn append(&mut self, row: &[f64]) -> Result<(), SketchError> {
        if row.len() != self.columns() {
            return Err(SketchError::Width { row: self.rows, seen: row.len(), wanted: self.columns() });
        }
        let square: f64 = row.iter().map(|value| value * value).sum();
        self.check_finite(square, || (0..).zip(row.iter().copied()))?;
        if square > 0.0 {
            self.pending.push_dense(row, self.buffer.saturating_sub(self.kept.len()));
        }
        self.count(1, square);
        self.shrink_if_full()
    }

    /// Takes one sparse row in: ascending `columns` and their `values`.
    ///
    /// # Errors
    /// [`SketchError::SparseRow`], [`SketchError::NotFinite`], [`SketchError::Linalg`]. The row is then not taken in.
    pub fn append_sparse(&mut self, columns: &[u32], values: &[f64]) -> Result<(), SketchError> {
        let refuse = |problem| Err(SketchError::SparseRow { row: self.rows, problem });
        if columns.len() != values.len() {
            return refuse("columns and values differ in number");
        }
        if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
            return refuse("its columns do not ascend");
        }
        if columns.last().is_some_and(|&last| last as usize >= self.columns()) {
            return refuse("a column is out of range");
        }
        let square: f64 = values.iter().map(|value| value * value).sum();
        self.check_finite(square, || columns.iter().map(|&column| column as usize).zip(values.iter().copied()))?;
        if square > 0.0 {
            self.pending.push_sparse(columns, values);
        }
        self.count(1, square);
        self.shrink_if_full()
    }

    /// Takes a block of dense rows in (m × d), as [`append`](Self::append) would one after the other; full buffers are shrunk
    /// where they lie, without a copy.
    pub fn append_block(&mut self, block: ArrayView2<'_, f64>) -> Result<(), SketchError> {
        if block.ncols() != self.columns() {
            return Err(SketchError::Width { row: self.rows, seen: block.ncols(), wanted: self.columns() });
        }
        let mut rest = block;
        while rest.nrows() > 0 {
            let room = self.buffer - self.kept.len() - self.pending.len();
            let (head, tail) = rest.split_at(Axis(0), room.min(rest.nrows()));
            rest = tail;
            let squares: Vec<f64> = head.rows().into_iter().map(|row| row.dot(&row)).collect();
            let total: f64 = squares.iter().sum();
            let whole = head.nrows() == room && self.pending.len() == 0;
            if whole && total.is_finite() && squares.iter().all(|&square| square > 0.0) {
                self.count(head.nrows() as u64, total);
                self.shrink_with(Some(head))?;
            } else {
                for row in head.rows() {
                    match row.to_slice() {
                        Some(row) => self.append(row)?,
                        None => self.append(&row.to_vec())?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes another sketch in: its rows are appended, its counts and what it lost are added. Sketches form a monoid under this, as
    /// far as the bounds go.
    ///
    /// # Errors
    /// [`SketchError::Merge`] for another d, l, form or meaning of the columns.
    pub fn merge(&mut self, other: &Self) -> Result<(), SketchError> {
        let differ = |what, left: String, right: String| Err(SketchError::Merge { what, left, right });
        if self.columns() != other.columns() {
            return differ("numbers of columns", self.columns().to_string(), other.columns().to_string());
        }
        if self.l != other.l {
            return differ("numbers of rows", self.l.to_string(), other.l.to_string());
        }
        if self.form != other.form {
            return differ("forms", self.form.id().to_owned(), other.form.id().to_owned());
        }
        if self.features != other.features {
            return differ("columns (another hash or vocabulary)", self.features.short(), other.features.short());
        }
        let (rows, squared_norm) = (self.rows + other.rows, self.squared_norm + other.squared_norm);
        if self.pending.is_sparse() && self.pending.len() > 0 && other.kept.len() > 0 {
            self.shrink()?; // dense rows do not wait among sparse ones
        }
        let kept = other.kept.view();
        if kept.ncols() > 0 {
            self.append_block(kept.t().as_standard_layout().view())?;
        }
        match &other.pending {
            Pending::Sparse(waiting) => {
                for i in 0..waiting.len() {
                    let range = waiting.starts[i]..waiting.starts[i + 1];
                    self.append_sparse(&waiting.columns[range.clone()], &waiting.values[range])?;
                }
            }
            Pending::Dense { matrix, rows } => self.append_block(matrix.slice(s![..*rows, ..]))?,
        }
        (self.rows, self.squared_norm) = (rows, squared_norm);
        self.subtracted += other.subtracted;
        self.shrinks += other.shrinks;
        Ok(())
    }

    /// Shrinks now, whatever waits; δ as the form defines it.
    pub fn shrink(&mut self) -> Result<(), SketchError> {
        self.shrink_with(None)
    }

    /// The end of a stream: one more shrink where more than l rows are held (only the buffered form can).
    pub fn finish(&mut self) -> Result<(), SketchError> {
        if self.kept.len() + self.pending.len() > self.l { self.shrink() } else { Ok(()) }
    }

    /// A finished copy: the stream continues with more rows as if nothing had been read. Its [`bound`](Self::bound) is that of its
    /// [`sketch`](Self::sketch).
    pub fn finished(&self) -> Result<Self, SketchError> {
        let mut copy = self.clone();
        copy.finish()?;
        Ok(copy)
    }

    /// Y: the rows held, at most l × d after [`finish`](Self::finish). A copy.
    pub fn sketch(&self) -> Array2<f64> {
        let (k, p) = (self.kept.len(), self.pending.len());
        let mut rows = Array2::zeros((k + p, self.columns()));
        rows.slice_mut(s![..k, ..]).assign(&self.kept.view().t());
        for (i, mut out) in rows.slice_mut(s![k.., ..]).rows_mut().into_iter().enumerate() {
            if let Some(out) = out.as_slice_mut() {
                self.pending.row_into(i, out);
            }
        }
        rows
    }

    /// YᵀY, d × d: what stands for XᵀX. For d that allow it.
    pub fn gram(&self) -> Array2<f64> {
        let rows = self.sketch();
        linalg::product(rows.t(), rows.view())
    }

    /// Error bound of the rows as they are held now. [`finish`](Self::finish) shrinks once more, and the bound then grows with it.
    pub fn bound(&self) -> ErrorBound {
        let sketch = self.kept.squares.iter().sum::<f64>() + self.pending.squared_norm();
        ErrorBound {
            rows: self.rows,
            squared_norm: self.squared_norm,
            sketch_squared_norm: sketch,
            subtracted: self.subtracted,
            shrinks: self.shrinks,
            proven: self.form.numerator() * self.squared_norm / self.l as f64,
        }
    }

    fn count(&mut self, rows: u64, squared_norm: f64) {
        self.rows += rows;
        self.squared_norm += squared_norm;
    }

    fn shrink_if_full(&mut self) -> Result<(), SketchError> {
        if self.kept.len() + self.pending.len() >= self.buffer { self.shrink() } else { Ok(()) }
    }

    /// Shrinks with the rows of `block`, or with those that wait.
    fn shrink_with(&mut self, block: Option<ArrayView2<'_, f64>>) -> Result<(), SketchError> {
        let threshold = Some(self.form.threshold(self.l));
        self.subtracted += match block {
            Some(block) => self.kept.shrink(NewRows::Dense(block), threshold)?,
            None => self.kept.shrink(NewRows::of(&self.pending), threshold)?,
        };
        self.shrinks += 1;
        self.pending.clear();
        Ok(())
    }

    fn check_finite<I: Iterator<Item = (usize, f64)>>(
        &self,
        square: f64,
        entries: impl FnOnce() -> I,
    ) -> Result<(), SketchError> {
        if square.is_finite() {
            return Ok(());
        }
        let largest = |a: (usize, f64), b: (usize, f64)| if b.1.is_nan() || b.1.abs() > a.1.abs() { b } else { a };
        let (column, value) = entries().reduce(largest).unwrap_or((0, square));
        Err(SketchError::NotFinite { row: self.rows, column, value: format!("{value:e}") })
    }
}
