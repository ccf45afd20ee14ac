//! Vectors for items: what a linear classifier, k-means or a nearest-neighbor index takes.
//!
//! The core is Z diag(±1) Zᵀ. Where a cheap matrix ([`AdditiveTerm`]) is added to the core, its own vectors stand next to Z.

use std::fmt;
use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView2};

use super::{Approximation, Factors, General};
use crate::error::ApproximateError;
use crate::fit_report::FitReport;
use crate::linalg;
use crate::oracle::{Oracle, OracleError};

/// Items as vectors: core ≈ `vectors` · diag(`signature`) · `vectors`ᵀ.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// n × r.
    pub vectors: Array2<f64>,
    /// +1 or −1 for each column.
    pub signature: Array1<f64>,
    /// t × r: similarities of new items to the landmarks → their vectors, where that is defined.
    pub projector: Option<Array2<f64>>,
    /// Projector of new items where an addend takes part.
    pub with_addend: Option<AdditiveTermProjector>,
}

/// Vectors of new items from their similarities and their cheap scores.
#[derive(Debug, Clone)]
pub struct AdditiveTermProjector {
    addend: Arc<dyn AdditiveTerm>,
    /// Residual similarities to the landmarks → vectors, t × r; zero in the columns of the addend.
    core: Array2<f64>,
    /// Values of the addend at its anchors → vectors, a × r; zero in the columns of the core.
    added: Array2<f64>,
}

impl Embedding {
    /// Vectors of new items from their similarities to the landmarks: m × t → m × r.
    ///
    /// `None` where the embedding does not come from evaluated columns alone (a proxy takes part).
    pub fn project(&self, similarities: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.projector.as_ref().map(|projector| linalg::product(similarities, projector.view()))
    }

    /// The same where a proxy takes part. In addition to the similarities to the `landmarks` (m × t) it takes the scores of every
    /// proxy of the new items with the landmarks (m × t) and with the [`anchors`](Self::anchors) (m × a); free, as a rule.
    ///
    /// `None` where no proxy takes part, or the core does not come from evaluated columns.
    pub fn project_with_proxy(
        &self,
        similarities: ArrayView2<'_, f64>,
        landmarks: &[usize],
        proxies_to_landmarks: &[Array2<f64>],
        proxies_to_anchors: &[Array2<f64>],
    ) -> Option<Array2<f64>> {
        let AdditiveTermProjector { addend, core, added } = self.with_addend.as_ref()?;
        let to_landmarks = NewScores { similarities, proxies: proxies_to_landmarks, items: landmarks };
        let residual = &similarities - &addend.link(&to_landmarks);
        let mut vectors = linalg::product(residual.view(), core.view());
        let to_anchors = NewScores { similarities, proxies: proxies_to_anchors, items: addend.anchors() };
        linalg::add_product(addend.link(&to_anchors).view(), added.view(), 1.0, vectors.view_mut());
        Some(vectors)
    }

    /// Vectors alone: K̃ = `vectors` · diag(`signature`) · `vectors`ᵀ, without known entries, and without new items. Copies the vectors twice.
    pub fn product(&self, landmarks: Vec<usize>, report: FitReport) -> Approximation {
        let empty = || Array2::zeros((0, self.vectors.ncols()));
        let factors = General {
            left: &self.vectors * &self.signature,
            right: self.vectors.clone(),
            left_projector: empty(),
            right_projector: empty(),
        };
        Approximation::new(Factors::General(factors), landmarks, report)
    }

    /// Items whose proxy scores embed a new one; none without a proxy.
    pub fn anchors(&self) -> &[usize] {
        self.with_addend.as_ref().map_or(&[], |part| part.addend.anchors())
    }

    /// The columns of both; new items need the projectors of both.
    pub(super) fn next_to(self, other: Self, addend: &Arc<dyn AdditiveTerm>) -> Self {
        let with_addend = match (self.projector, other.projector) {
            (Some(core), Some(added)) => {
                let next_to = Array2::zeros((core.nrows(), added.ncols()));
                let before = Array2::zeros((added.nrows(), core.ncols()));
                Some(AdditiveTermProjector {
                    addend: Arc::clone(addend),
                    core: linalg::hstack(&[core.view(), next_to.view()]),
                    added: linalg::hstack(&[before.view(), added.view()]),
                })
            }
            _ => None,
        };
        Self {
            vectors: linalg::hstack(&[self.vectors.view(), other.vectors.view()]),
            signature: self.signature.iter().chain(&other.signature).copied().collect(),
            projector: None,
            with_addend,
        }
    }
}

/// Cells evaluated at a time by the default mat-vec: 32 MB.
const CELLS_PER_BLOCK: usize = 1 << 22;

/// A symmetric n × n matrix that is added to the core and takes no calls, only time.
pub trait AdditiveTerm: Oracle {
    /// `out` = matrix · x, by blocks of rows unless there is a faster way. O(n²) evaluations, 32 MB.
    fn apply(&self, x: &[f64], out: &mut [f64]) -> Result<(), OracleError> {
        let n = self.len();
        let all: Vec<usize> = (0..n).collect();
        let rows_at_a_time = (CELLS_PER_BLOCK / n.max(1)).max(1);
        for (rows, out) in all.chunks(rows_at_a_time).zip(out.chunks_mut(rows_at_a_time)) {
            let mut values = Array2::zeros((rows.len(), n));
            self.block(rows, &all, values.view_mut())?;
            linalg::apply(values.view(), x, out);
        }
        Ok(())
    }

    /// Vectors whose signed inner products approximate the matrix, e.g. by Nyström on many landmarks.
    fn embedding(&self) -> Result<Embedding, ApproximateError>;

    /// Items whose cheap scores with a new item decide its vector in [`embedding`](Self::embedding).
    fn anchors(&self) -> &[usize];

    /// Values of this matrix between new items and those that they were scored with, m × items.
    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64>;
}

impl fmt::Debug for dyn AdditiveTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AdditiveTerm({})", self.identity().short())
    }
}

/// New items, as an addend sees them.
#[derive(Debug, Clone, Copy)]
pub struct NewScores<'a, 's> {
    /// Similarities to the landmarks, m × t.
    pub similarities: ArrayView2<'s, f64>,
    /// Scores of every proxy with `items`, m × items.len() each, in the order in which the proxies were handed over.
    pub proxies: &'a [Array2<f64>],
    pub items: &'a [usize],
}
