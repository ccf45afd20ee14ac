//! Vectors for items: what a linear classifier, k-means or a nearest-neighbour index takes.
//!
//! The real square root of an indefinite matrix does not exist. An [`Embedding`] therefore carries a signature: the core
//! is Z diag(±1) Zᵀ, and a plain Euclidean embedding ([`Approximation::psd_embedding`]) says that it was clipped.
//!
//! For L Rᵀ the symmetric part ½(LRᵀ + RLᵀ) = F M Fᵀ, F = [L R], M = ½[[0, I], [I, 0]], is decomposed in the small
//! space: F = Q T, T M Tᵀ = V diag(w) Vᵀ, and Z = Q V |w|^½ = F M Tᵀ V w⁻¹ |w|^½, so that Q is never formed and new items
//! take the same map. Cost O(nr²).

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};

use super::{Addend, Approximation, Factors, General, Signed};
use crate::fit::ApproximateError;
use crate::linalg::{self, Eigh, LinalgError, PINV_TOLERANCE};

/// Items as vectors: core ≈ `vectors` · diag(`signature`) · `vectors`ᵀ.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// n × r.
    pub vectors: Array2<f64>,
    /// +1 or −1 for each column.
    pub signature: Array1<f64>,
    /// t × r: similarities of new items to the landmarks → their vectors, where that is defined.
    pub projector: Option<Array2<f64>>,
    /// Whether negative directions were cut off, so that K̃ is reproduced only as far as it is positive semi-definite.
    pub clipped: bool,
    /// How new items are embedded where an addend takes part.
    pub with_addend: Option<AddendProjector>,
}

/// Vectors of new items from their similarities and their cheap scores.
#[derive(Debug, Clone)]
pub struct AddendProjector {
    addend: Arc<dyn Addend>,
    /// Residual similarities to the landmarks → vectors, t × r; zero in the columns of the addend.
    core: Array2<f64>,
    /// Values of the addend at its anchors → vectors, a × r; zero in the columns of the core.
    added: Array2<f64>,
}

impl Embedding {
    /// Vectors of new items from their similarities to the landmarks: m × t → m × r.
    ///
    /// `None` where the embedding does not come from bought columns alone (a proxy takes part).
    pub fn project(&self, similarities: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.projector.as_ref().map(|projector| linalg::product(similarities, projector.view()))
    }

    /// The same where a proxy takes part. Beside the similarities to the landmarks (m × t) it takes the proxy's scores
    /// of the new items with the landmarks (m × t) and with the [`anchors`](Self::anchors) (m × a); free, as a rule.
    ///
    /// `None` where no proxy takes part, or the core does not come from bought columns.
    pub fn project_with_proxy(
        &self,
        similarities: ArrayView2<'_, f64>,
        proxy_to_landmarks: ArrayView2<'_, f64>,
        proxy_to_anchors: ArrayView2<'_, f64>,
    ) -> Option<Array2<f64>> {
        let AddendProjector { addend, core, added } = self.with_addend.as_ref()?;
        let linked = |scores: ArrayView2<'_, f64>| {
            let mut values = scores.to_owned();
            addend.link(values.view_mut());
            values
        };
        let residual = &similarities - &linked(proxy_to_landmarks);
        let mut vectors = linalg::product(residual.view(), core.view());
        linalg::add_product(linked(proxy_to_anchors).view(), added.view(), 1.0, vectors.view_mut());
        Some(vectors)
    }

    /// Items whose proxy scores embed a new one; none without a proxy.
    pub fn anchors(&self) -> &[usize] {
        self.with_addend.as_ref().map_or(&[], |part| part.addend.anchors())
    }

    /// The columns of both; new items need the projectors of both.
    fn beside(self, other: Self, addend: &Arc<dyn Addend>) -> Result<Self, ndarray::ShapeError> {
        let with_addend = match (self.projector, other.projector) {
            (Some(core), Some(added)) => {
                let beside = Array2::zeros((core.nrows(), added.ncols()));
                let before = Array2::zeros((added.nrows(), core.ncols()));
                Some(AddendProjector {
                    addend: Arc::clone(addend),
                    core: concatenate(Axis(1), &[core.view(), beside.view()])?,
                    added: concatenate(Axis(1), &[before.view(), added.view()])?,
                })
            }
            _ => None,
        };
        Ok(Self {
            vectors: concatenate(Axis(1), &[self.vectors.view(), other.vectors.view()])?,
            signature: concatenate(Axis(0), &[self.signature.view(), other.signature.view()])?,
            projector: None,
            clipped: self.clipped || other.clipped,
            with_addend,
        })
    }

    /// Without the columns that count negatively.
    #[must_use]
    pub fn clip(self) -> Self {
        let positive: Vec<usize> = (0..self.signature.len()).filter(|&k| self.signature[k] > 0.0).collect();
        Self {
            vectors: self.vectors.select(Axis(1), &positive),
            signature: Array1::ones(positive.len()),
            projector: self.projector.map(|projector| projector.select(Axis(1), &positive)),
            clipped: true,
            with_addend: self.with_addend.map(|AddendProjector { addend, core, added }| AddendProjector {
                addend,
                core: core.select(Axis(1), &positive),
                added: added.select(Axis(1), &positive),
            }),
        }
    }
}

impl Approximation {
    /// Z and its signature, reproducing the symmetric part of the core, and beside them the addend's own embedding.
    /// Known entries and a shift of the diagonal have no low rank and are not part of it.
    ///
    /// # Errors
    /// A factorisation that did not converge, or an addend that failed.
    pub fn embedding(&self) -> Result<Embedding, ApproximateError> {
        self.join_addend(embed(&self.factors)?, false)
    }

    /// The same without keeping the approximation: a symmetric core is handed over rather than copied.
    ///
    /// # Errors
    /// As [`embedding`](Self::embedding).
    pub fn into_embedding(self) -> Result<Embedding, ApproximateError> {
        match self {
            Self { factors: Factors::Signed(signed), addend: None, .. } if signed.psd_scale.is_none() => {
                Ok(from_signed(signed))
            }
            other => other.embedding(),
        }
    }

    /// Plain vectors without a signature: inner products reproduce the core as far as it is positive semi-definite.
    /// `shift_ridge` brings the (shift, ridge) chosen for this; other cores lose their negative directions.
    ///
    /// # Errors
    /// As [`embedding`](Self::embedding).
    pub fn psd_embedding(&self) -> Result<Embedding, ApproximateError> {
        let core = match &self.factors {
            Factors::Signed(Signed { vectors, projector, psd_scale: Some(scale), .. }) => {
                let kept: Vec<usize> = (0..scale.len()).filter(|&k| scale[k] > 0.0).collect();
                let scale = scale.select(Axis(0), &kept);
                let rescaled = |matrix: &Array2<f64>| matrix.select(Axis(1), &kept) * &scale;
                Embedding {
                    vectors: rescaled(vectors),
                    signature: Array1::ones(kept.len()),
                    projector: projector.as_ref().map(rescaled),
                    clipped: true,
                    with_addend: None,
                }
            }
            factors => embed(factors)?.clip(),
        };
        self.join_addend(core, true)
    }

    /// (K̃ + K̃ᵀ)/2 with a symmetric core; what was known stays known.
    ///
    /// # Errors
    /// As [`embedding`](Self::embedding).
    pub fn symmetrized(self) -> Result<Self, ApproximateError> {
        if self.is_symmetric() {
            return Ok(self);
        }
        let factors = match &self.factors {
            Factors::Dense(matrix) => Factors::Dense((matrix + &matrix.t()) * 0.5),
            Factors::General(general) => Factors::Signed(symmetric_part(general)?),
            Factors::Signed(_) => return Ok(self),
        };
        Ok(Self { factors, ..self })
    }

    fn join_addend(&self, core: Embedding, clip: bool) -> Result<Embedding, ApproximateError> {
        let Some(addend) = &self.addend else { return Ok(core) };
        let added = addend.embedding()?;
        let added = if clip { added.clip() } else { added };
        if added.vectors.nrows() != core.vectors.nrows() {
            let (rows, cols) = added.vectors.dim();
            return Err(LinalgError { op: "joining the addend's embedding", rows, cols }.into());
        }
        Ok(core.beside(added, addend).expect("both have a row an item"))
    }
}

fn embed(factors: &Factors) -> Result<Embedding, LinalgError> {
    Ok(match factors {
        Factors::Signed(signed) => from_signed(Signed {
            vectors: signed.used().to_owned(),
            projector: signed.projector.as_ref().map(|projector| projector.slice(s![.., ..signed.rank()]).to_owned()),
            psd_scale: None,
            ..*signed
        }),
        Factors::General(general) => from_signed(symmetric_part(general)?),
        Factors::Dense(matrix) => from_signed(decompose(((matrix + &matrix.t()) * 0.5).view())?),
    })
}

fn from_signed(signed: Signed) -> Embedding {
    let signature = (0..signed.rank()).map(|k| if k < signed.positive { 1.0 } else { -1.0 }).collect();
    Embedding { vectors: signed.vectors, signature, projector: signed.projector, clipped: false, with_addend: None }
}

fn symmetric_part(general: &General) -> Result<Signed, LinalgError> {
    let r = general.left.ncols();
    let triangle = triangle_beside(general.left.view(), general.right.view())?;
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
        psd_scale: None,
    })
}

/// The triangle of a QR decomposition of [L R], by blocks of rows: the triangle so far takes part in the next block's, so
/// that no second n × 2r matrix is held.
fn triangle_beside(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Result<Array2<f64>, LinalgError> {
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
        psd_scale: None,
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
