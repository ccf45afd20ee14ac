//! The core of an approximation, and how it is read.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, Zip, s};
use rayon::prelude::*;

use crate::linalg;
use crate::oracle::Pair;

const PAIRS_PER_TASK: usize = 1024;

/// The core of K̃.
#[derive(Debug, Clone)]
pub enum Factors {
    /// Z diag(±1) Zᵀ: symmetric by construction.
    Signed(Signed),
    /// L Rᵀ.
    General(General),
    /// The n × n matrix itself (`exact`); 8n² bytes.
    Dense(Array2<f64>),
}

/// Z diag(+1, …, +1, −1, …, −1) Zᵀ.
#[derive(Debug, Clone)]
pub struct Signed {
    /// Z, n × r, the columns that count positively first.
    pub vectors: Array2<f64>,
    /// Number of columns that count positively.
    pub positive: usize,
    /// Number of columns that count negatively.
    pub negative: usize,
    /// Z = K[:,T] · projector for an item that is no landmark: t × r. `None` where K̃ does not come from evaluated
    /// columns, so that new items cannot be embedded.
    pub projector: Option<Array2<f64>>,
}

/// L Rᵀ with L, R both n × r.
#[derive(Debug, Clone)]
pub struct General {
    /// L, n × r.
    pub left: Array2<f64>,
    /// R, n × r.
    pub right: Array2<f64>,
    /// L = K[:,T] · left_projector, t × r.
    pub left_projector: Array2<f64>,
    /// R = K[:,T] · right_projector, t × r.
    pub right_projector: Array2<f64>,
}

impl Signed {
    /// r, the columns of Z that K̃ is made of.
    pub fn rank(&self) -> usize {
        self.positive + self.negative
    }

    fn dot(&self, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
        let (p, r) = (self.positive, self.rank());
        a.slice(s![..p]).dot(&b.slice(s![..p])) - a.slice(s![p..r]).dot(&b.slice(s![p..r]))
    }

    /// `left` diag(±1) `right`ᵀ, both with r columns.
    pub(super) fn signed_product(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let (p, r) = (self.positive, self.rank());
        linalg::product_into(left.slice(s![.., ..p]), right.slice(s![.., ..p]).t(), 1.0, out.view_mut());
        linalg::add_product(left.slice(s![.., p..r]), right.slice(s![.., p..r]).t(), -1.0, out);
    }
}

impl Factors {
    /// Number of items n.
    pub fn len(&self) -> usize {
        match self {
            Self::Signed(signed) => signed.vectors.nrows(),
            Self::General(general) => general.left.nrows(),
            Self::Dense(matrix) => matrix.nrows(),
        }
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns of the factors; n for a dense core.
    pub fn rank(&self) -> usize {
        match self {
            Self::Signed(signed) => signed.rank(),
            Self::General(general) => general.left.ncols(),
            Self::Dense(matrix) => matrix.ncols(),
        }
    }

    /// The same with contiguous rows, of which an entry reads two. A dense core stays as it is.
    pub(super) fn row_major(self) -> Self {
        let rows = |matrix: Array2<f64>| match matrix.is_standard_layout() {
            true => matrix,
            false => matrix.as_standard_layout().into_owned(),
        };
        match self {
            Self::Signed(signed) => Self::Signed(Signed { vectors: rows(signed.vectors), ..signed }),
            Self::General(general) => {
                let (left, right) = (rows(general.left), rows(general.right));
                Self::General(General { left, right, ..general })
            }
            Self::Dense(matrix) => Self::Dense(matrix),
        }
    }

    /// True where the core equals its transpose by construction.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Signed(_) => true,
            Self::General(_) => false,
            Self::Dense(matrix) => matrix == matrix.t(),
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Signed(signed) => signed.dot(signed.vectors.row(i), signed.vectors.row(j)),
            Self::General(general) => general.left.row(i).dot(&general.right.row(j)),
            Self::Dense(matrix) => matrix[[i, j]],
        }
    }

    pub(super) fn pairs(&self, pairs: &[Pair], out: &mut [f64]) {
        pairs.par_chunks(PAIRS_PER_TASK).zip(out.par_chunks_mut(PAIRS_PER_TASK)).for_each(|(pairs, out)| {
            pairs.iter().zip(out).for_each(|(&(i, j), out)| *out = self.entry(i, j));
        });
    }

    pub(super) fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
        match self {
            Self::Signed(signed) => {
                let (left, right) = (gather(signed.vectors.view(), rows), gather(signed.vectors.view(), cols));
                signed.signed_product(left.view(), right.view(), out);
            }
            Self::General(general) => {
                let (left, right) = (gather(general.left.view(), rows), gather(general.right.view(), cols));
                linalg::product_into(left.view(), right.t(), 1.0, out);
            }
            Self::Dense(matrix) => {
                for (mut out, &i) in out.rows_mut().into_iter().zip(rows) {
                    Zip::from(&mut out).and(&ndarray::aview1(cols)).for_each(|out, &j| *out = matrix[[i, j]]);
                }
            }
        }
    }

    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) {
        match self {
            Self::Signed(signed) => {
                let mut inner = linalg::apply_transposed(signed.vectors.view(), x);
                inner.slice_mut(s![signed.positive..]).mapv_inplace(|value| -value);
                linalg::apply(signed.vectors.view(), &inner.to_vec(), out);
            }
            Self::General(general) => {
                let inner = linalg::apply_transposed(general.right.view(), x);
                linalg::apply(general.left.view(), &inner.to_vec(), out);
            }
            Self::Dense(matrix) => linalg::apply(matrix.view(), x, out),
        }
    }
}

pub(super) fn gather<'a>(matrix: ArrayView2<'a, f64>, rows: &[usize]) -> CowArray<'a, f64, Ix2> {
    let consecutive = rows.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match (rows.first(), consecutive) {
        (Some(&first), true) => matrix.slice_move(s![first..first + rows.len(), ..]).into(),
        _ => matrix.select(Axis(0), rows).into(),
    }
}
