//! Square roots of the core: Z with core ≈ Z diag(±1) Zᵀ.
//!
//! The real square root of an indefinite matrix does not exist, so that an [`Embedding`] carries a signature.
//!
//! For L Rᵀ the symmetric part ½(LRᵀ + RLᵀ) = F M Fᵀ, F = [L R], M = ½[[0, I], [I, 0]], is decomposed in the small
//! space: F = Q T, T M Tᵀ = V diag(w) Vᵀ, and Z = Q V |w|^½ = F M Tᵀ V w⁻¹ |w|^½, so that Q is never formed and new items
//! take the same map. Cost O(nr²).

use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use super::{Approximation, Embedding, Factors, General, Signed};
use crate::error::ApproximateError;
use crate::linalg::{self, Eigh, LinalgError, PINV_TOLERANCE};

impl Approximation {
    /// Z and its signature, reproducing the symmetric part of the core, and next to them the addend's own embedding.
    /// Known and scattered entries and a shift of the diagonal have no low rank and are not part of it.
    pub fn embedding(&self) -> Result<Embedding, ApproximateError> {
        self.join_addend(embed(&self.factors)?)
    }

    /// The same without keeping the approximation: a symmetric core is handed over rather than copied.
    pub fn into_embedding(self) -> Result<Embedding, ApproximateError> {
        match self {
            Self { factors: Factors::Signed(signed), addend: None, .. } => Ok(from_signed(signed)),
            other => other.embedding(),
        }
    }

    /// (K̃ + K̃ᵀ)/2 with a symmetric core; what was known stays known.
    pub fn symmetrized(self) -> Result<Self, ApproximateError> {
        if self.is_symmetric() {
            return Ok(self);
        }
        let factors = match &self.factors {
            Factors::Dense(matrix) => Factors::Dense((matrix + &matrix.t()) * 0.5),
            Factors::General(general) => Factors::Signed(symmetric_part(general)?),
            Factors::Signed(_) => return Ok(self),
        };
        let scattered = self.scattered.as_ref().map(|placed| placed.entries.clone());
        let symmetric = Self { factors, scattered: None, ..self };
        match scattered {
            // what they add to the rest is another number now
            Some(entries) => Ok(symmetric.with_scattered(entries)?),
            None => Ok(symmetric),
        }
    }

    fn join_addend(&self, core: Embedding) -> Result<Embedding, ApproximateError> {
        let Some(addend) = &self.addend else { return Ok(core) };
        let added = addend.embedding()?;
        if added.vectors.nrows() != core.vectors.nrows() {
            let (rows, cols) = added.vectors.dim();
            return Err(LinalgError { op: "joining the addend's embedding", rows, cols }.into());
        }
        Ok(core.next_to(added, addend))
    }
}

fn embed(factors: &Factors) -> Result<Embedding, LinalgError> {
    Ok(match factors {
        Factors::Signed(signed) => from_signed(signed.clone()),
        Factors::General(general) => from_signed(symmetric_part(general)?),
        Factors::Dense(matrix) => from_signed(decompose(((matrix + &matrix.t()) * 0.5).view())?),
    })
}

fn from_signed(signed: Signed) -> Embedding {
    let signature = (0..signed.rank()).map(|k| if k < signed.positive { 1.0 } else { -1.0 }).collect();
    Embedding { vectors: signed.vectors, signature, projector: signed.projector, with_addend: None }
}

fn symmetric_part(general: &General) -> Result<Signed, LinalgError> {
    let r = general.left.ncols();
    let triangle = triangle_next_to(general.left.view(), general.right.view())?;
    // T M Tᵀ, where M swaps the halves of T and halves them
    let (first, second) = (triangle.slice(s![.., ..r]), triangle.slice(s![.., r..]));
    let mut small = linalg::product(first, second.t());
    small = (&small + &small.t()) * 0.5;
    let Split { values, vectors, positive } = split(linalg::eigh(small.view())?);
    let weights = values.mapv(|w| 0.5 * w.abs().sqrt() / w);
    let map_left = linalg::product(second.t(), vectors.view()) * &weights;
    let map_right = linalg::product(first.t(), vectors.view()) * &weights;
    let map = |left: &Array2<f64>, right: &Array2<f64>| {
        let mut mapped = linalg::product(left.view(), map_left.view());
        linalg::add_product(right.view(), map_right.view(), 1.0, mapped.view_mut());
        mapped
    };
    Ok(Signed {
        vectors: map(&general.left, &general.right),
        positive,
        negative: values.len() - positive,
        projector: Some(map(&general.left_projector, &general.right_projector)),
    })
}

/// The triangle of a QR decomposition of [L R], by blocks of rows: the triangle so far takes part in the next block's, so
/// that no second n × 2r matrix is held.
fn triangle_next_to(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Result<Array2<f64>, LinalgError> {
    let width = 2 * left.ncols();
    let rows_at_a_time = (4 * width).max(256);
    let mut triangle = Array2::zeros((0, width));
    for (left, right) in
        left.axis_chunks_iter(Axis(0), rows_at_a_time).zip(right.axis_chunks_iter(Axis(0), rows_at_a_time))
    {
        let mut stacked = Array2::zeros((triangle.nrows() + left.nrows(), width));
        let (mut above, mut below) = stacked.view_mut().split_at(Axis(0), triangle.nrows());
        above.assign(&triangle);
        below.slice_mut(s![.., ..left.ncols()]).assign(&left);
        below.slice_mut(s![.., left.ncols()..]).assign(&right);
        triangle = linalg::qr_triangle(stacked.view())?;
    }
    Ok(triangle)
}

/// Z = V |w|^½ of a symmetric matrix, and V w⁻¹ |w|^½ for new items.
fn decompose(matrix: ArrayView2<'_, f64>) -> Result<Signed, LinalgError> {
    let Split { values, vectors, positive } = split(linalg::eigh(matrix)?);
    let roots = values.mapv(|w| w.abs().sqrt());
    Ok(Signed {
        vectors: (&vectors * &roots).as_standard_layout().into_owned(),
        positive,
        negative: values.len() - positive,
        projector: Some(&vectors * &(&roots / &values)),
    })
}

/// Eigenpairs that are not negligible, positive ones first, each part by falling |w|.
struct Split {
    values: Array1<f64>,
    vectors: Array2<f64>,
    positive: usize,
}

/// Drops |w| ≤ 1e-10 · max|w| and orders the rest.
fn split(Eigh { values, vectors }: Eigh) -> Split {
    let largest = values.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
    let kept = |k: &usize| values[*k].abs() > PINV_TOLERANCE * largest;
    // values ascend: the positive ones fall when read backwards, the negative ones as they stand
    let mut order: Vec<usize> = (0..values.len()).rev().filter(|&k| values[k] > 0.0).filter(kept).collect();
    let positive = order.len();
    order.extend((0..values.len()).filter(|&k| values[k] < 0.0).filter(kept));
    Split { values: values.select(Axis(0), &order), vectors: vectors.select(Axis(1), &order), positive }
}
