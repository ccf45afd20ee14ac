//! The error over all n² cells.
//!
//! Row blocks I = lo..hi are held against the columns from lo on, so that a symmetric K is read as a triangle and an
//! asymmetric one once. Memory: a few blocks of 8 MB. Sums are cut alike whatever the number of threads.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use crate::approximation::{Approximation, Evaluated};
use crate::balance::{balancing, largest};
use crate::oracle::{Oracle, OracleError, Symmetry, block_of};

/// Cells of one block of rows: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Relative errors against a matrix as it is, and against its symmetric part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactErrors {
    /// Against K. For an asymmetric K no symmetric K̃ can be below the error of symmetrizing it.
    pub raw: f64,
    /// Against (K + Kᵀ)/2.
    pub symmetrized: f64,
    /// Against K off the diagonal, which neighbors, pairs and clusters leave out.
    pub off_diagonal: f64,
    /// The same over the entries that the fit did not evaluate; none where it evaluated all, or where all that are left are 0 and K̃ is not.
    pub unevaluated: Option<f64>,
}

/// ‖K − K̃‖_F / ‖K‖_F; 0 where K̃ = K = 0, infinite where only K is 0. Reads all of the reference, each pair once.
pub fn relative_error(reference: &dyn Oracle, approximation: &Approximation) -> Result<f64, OracleError> {
    relative_errors(reference, approximation).map(|errors| errors.raw)
}

/// The same against K and its symmetric part, off the diagonal and over what was not evaluated, in one reading.
pub fn relative_errors(reference: &dyn Oracle, approximation: &Approximation) -> Result<ExactErrors, OracleError> {
    let n = reference.len();
    let all: Vec<usize> = (0..n).collect();
    let evaluated = approximation.evaluated();
    let mut sums = Sums::new(1.0);
    let mut low = 0;
    while low < n {
        let high = n.min(low + (CELLS_PER_BLOCK / (n - low)).max(1));
        let (rows, right, below) = (&all[low..high], &all[low..], &all[high..]);
        let forward = block_of(reference, rows, right)?;
        let ours = read(approximation, rows, right)?;
        let backward = match reference.symmetry() {
            Symmetry::Symmetric => None,
            Symmetry::Asymmetric => Some(block_of(reference, below, rows)?),
        };
        let ours_below = if approximation.is_symmetric() { None } else { Some(read(approximation, below, rows)?) };
        let stripe = Stripe {
            low,
            evaluated: &evaluated,
            forward: forward.view(),
            backward: backward.as_ref().map(Array2::view),
            ours: ours.view(),
            ours_below: ours_below.as_ref().map(Array2::view),
        };
        let by_row: Vec<Sums> = (0..rows.len()).into_par_iter().map(|a| stripe.row(a)).collect();
        by_row.iter().for_each(|row| sums.add(row));
        low = high;
    }
    let error = |part: usize| ratio(sums.squares[part][0], sums.squares[part][1]).sqrt();
    let [missed, total] = sums.squares[UNEVALUATED];
    // nothing is relative to 0
    let is_defined = sums.unevaluated > 0 && (missed == 0.0 || total > 0.0);
    Ok(ExactErrors {
        raw: error(ALL),
        symmetrized: error(SYMMETRIC),
        off_diagonal: error(OFF_DIAGONAL),
        unevaluated: is_defined.then(|| error(UNEVALUATED)),
    })
}

pub(super) fn read(approximation: &Approximation, rows: &[usize], cols: &[usize]) -> Result<Array2<f64>, OracleError> {
    let mut out = Array2::zeros((rows.len(), cols.len()));
    approximation.block(rows, cols, out.view_mut())?;
    Ok(out)
}

/// A / B, where nothing missed of nothing is no error.
pub(super) fn ratio(missed: f64, total: f64) -> f64 {
    if missed == 0.0 { 0.0 } else { missed / total }
}

/// Parts of the matrix, by which squares are summed.
const ALL: usize = 0;
const SYMMETRIC: usize = 1;
const OFF_DIAGONAL: usize = 2;
const UNEVALUATED: usize = 3;

/// Sums of squares of numbers that were multiplied by `scale`, a power of two.
#[derive(Debug, Clone, Copy)]
struct Sums {
    scale: f64,
    /// Of K − K̃ and of K, by part.
    squares: [[f64; 2]; 4],
    /// Entries off the diagonal that were not evaluated.
    unevaluated: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Diagonal,
    Evaluated,
    Unevaluated,
}

impl Sums {
    /// Nothing yet, of numbers that are to be multiplied by `scale`.
    fn new(scale: f64) -> Self {
        Self { scale, squares: [[0.0; 2]; 4], unevaluated: 0 }
    }

    /// The same sums of numbers that were multiplied by `scale`.
    fn in_scale(mut self, scale: f64) -> Self {
        let ratio = scale / self.scale;
        if ratio != 1.0 {
            // one factor after the other: its square may be out of range
            self.squares.as_flattened_mut().iter_mut().for_each(|sum| *sum = *sum * ratio * ratio);
            self.scale = scale;
        }
        self
    }

    /// Adds sums of other cells, in the units of whichever numbers are larger.
    fn add(&mut self, other: &Self) {
        self.unevaluated += other.unevaluated;
        let is_nothing = |sums: &Self| sums.squares[ALL] == [0.0; 2] && sums.squares[SYMMETRIC][1] == 0.0;
        let scale = match (is_nothing(self), is_nothing(other)) {
            (_, true) => return,
            (true, false) => other.scale,
            (false, false) => self.scale.min(other.scale),
        };
        let (mut sum, other) = (self.in_scale(scale), other.in_scale(scale));
        let squares = sum.squares.as_flattened_mut().iter_mut().zip(other.squares.as_flattened());
        squares.for_each(|(sum, other)| *sum += other);
        *self = sum;
    }

    /// One cell: K, its mirror, K̃.
    fn cell(&mut self, place: Place, value: f64, mirrored: f64, ours: f64) {
        let [value, mirrored, ours] = [value, mirrored, ours].map(|number| self.scale * number);
        let mut add = |part: usize, value: f64| {
            self.squares[part][0] += (value - ours).powi(2);
            self.squares[part][1] += value * value;
        };
        add(ALL, value);
        add(SYMMETRIC, 0.5 * (value + mirrored));
        if place != Place::Diagonal {
            add(OFF_DIAGONAL, value);
        }
        if place == Place::Unevaluated {
            add(UNEVALUATED, value);
            self.unevaluated += 1;
        }
    }
}

/// Rows I against columns from lo on, and where it differs the mirror of what is right of the square I × I.
struct Stripe<'a> {
    low: usize,
    evaluated: &'a Evaluated<'a>,
    forward: ArrayView2<'a, f64>,
    backward: Option<ArrayView2<'a, f64>>,
    ours: ArrayView2<'a, f64>,
    ours_below: Option<ArrayView2<'a, f64>>,
}

impl Stripe<'_> {
    fn row(&self, a: usize) -> Sums {
        let square = self.forward.nrows();
        let mut sums = Sums::new(self.scale_of(a));
        for b in 0..self.forward.ncols() {
            let (value, ours) = (self.forward[[a, b]], self.ours[[a, b]]);
            let place = self.place(a, b);
            let Some(below) = b.checked_sub(square) else {
                sums.cell(place, value, self.forward[[b, a]], ours);
                continue;
            };
            let mirrored = self.backward.map_or(value, |backward| backward[[below, a]]);
            sums.cell(place, value, mirrored, ours);
            sums.cell(place, mirrored, value, self.ours_below.map_or(ours, |ours_below| ours_below[[below, a]]));
        }
        sums
    }

    /// The power of two by which all numbers of a row are multiplied before they are squared.
    fn scale_of(&self, a: usize) -> f64 {
        let square = self.forward.nrows();
        let mut size = largest(self.forward.row(a)).max(largest(self.ours.row(a)));
        size = size.max(largest(self.forward.column(a).slice(s![..square])));
        for below in [self.backward, self.ours_below].into_iter().flatten() {
            size = size.max(largest(below.column(a)));
        }
        balancing(size)
    }

    fn place(&self, a: usize, b: usize) -> Place {
        match (a == b, self.evaluated.contains(self.low + a, self.low + b)) {
            (true, _) => Place::Diagonal,
            (false, true) => Place::Evaluated,
            (false, false) => Place::Unevaluated,
        }
    }
}
