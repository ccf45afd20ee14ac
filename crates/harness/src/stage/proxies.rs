//! The cheap relatives that a configuration names, each built once.

use std::sync::{Arc, OnceLock};

use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, Pair, Symmetry};
use landmark_data::matrices;
use landmark_oracles::combined::{Normalised, SparseVectors};
use landmark_oracles::wmd::{Rwmd, Wcd, WordClouds};
use ndarray::{Array2, ArrayViewMut2};

use super::StageError;
use crate::config::{ConfigPath, MatrixSubject, ProxyKind};

/// Up to so many items a proxy's matrix is computed once and kept (8n² bytes: 288 MB at most); above, entries are computed as they are read.
const KEPT_UP_TO: usize = 6_000;

/// Proxies by kind.
#[derive(Default)]
pub struct Proxies(Vec<(ProxyKind, Arc<dyn Oracle>)>);

/// Makes a proxy of the name of a model.
pub(super) type BiEncoder<'a> = dyn Fn(&str) -> Result<Arc<dyn Oracle>, StageError> + 'a;
/// Rows of a file, one an item.
pub(super) type Embeddings<'a> = dyn Fn(&ConfigPath) -> Result<Array2<f64>, StageError> + 'a;

/// Embeddings of n items, as their file has them.
pub(super) fn embeddings_of(n: usize) -> impl Fn(&ConfigPath) -> Result<Array2<f64>, StageError> {
    move |path| {
        let rows = matrices::read_rows(&path.resolved)?;
        if rows.nrows() != n {
            return Err(StageError::Count { what: path.written.clone(), seen: rows.nrows(), wanted: n });
        }
        Ok(rows)
    }
}

impl Proxies {
    /// The proxy of this kind, as a raw score.
    pub fn get(&self, kind: &ProxyKind) -> Option<Arc<dyn Oracle>> {
        self.0.iter().find(|(known, _)| known == kind).map(|(_, proxy)| Arc::clone(proxy))
    }

    pub(super) fn for_documents(matrix: &MatrixSubject, clouds: &Arc<WordClouds>) -> Result<Self, StageError> {
        Self::build(matrix, clouds.len(), |kind| {
            Ok(match kind {
                ProxyKind::Rwmd => Arc::new(Rwmd::new(Arc::clone(clouds))),
                ProxyKind::Wcd => Arc::new(Wcd::new(Arc::clone(clouds))),
                ProxyKind::EmbeddingCosine { path } => embedding(path, clouds.len())?,
                other => unreachable!("`{}` is refused when a configuration is checked", other.id()),
            })
        })
    }

    /// `fragments` writes out those of at most so many nodes.
    pub(super) fn for_questions(
        matrix: &MatrixSubject,
        n: usize,
        bags: impl Fn() -> Result<SparseVectors, StageError>,
        fragments: impl Fn(usize) -> Result<SparseVectors, StageError>,
    ) -> Result<Self, StageError> {
        let cosine = |vectors: SparseVectors| -> Result<Arc<dyn Oracle>, StageError> {
            Ok(Arc::new(Normalised::new(Box::new(vectors))?))
        };
        Self::build(matrix, n, |kind| match kind {
            ProxyKind::BagOfWords => cosine(bags()?),
            ProxyKind::Fragments { size } => cosine(fragments(*size)?),
            ProxyKind::EmbeddingCosine { path } => embedding(path, n),
            other => unreachable!("`{}` is refused when a configuration is checked", other.id()),
        })
    }

    pub(super) fn for_matrix(matrix: &MatrixSubject, n: usize) -> Result<Self, StageError> {
        Self::build(matrix, n, |kind| match kind {
            ProxyKind::EmbeddingCosine { path } => embedding(path, n),
            other => unreachable!("`{}` is refused when a configuration is checked", other.id()),
        })
    }

    /// Texts, which have `clouds` where word vectors were named.
    pub(super) fn for_texts(
        matrix: &MatrixSubject,
        n: usize,
        clouds: Option<&Arc<WordClouds>>,
        embeddings: &Embeddings<'_>,
        bi_encoder: &BiEncoder<'_>,
    ) -> Result<Self, StageError> {
        Self::build(matrix, n, |kind| match (kind, clouds) {
            (ProxyKind::Rwmd, Some(clouds)) => Ok(Arc::new(Rwmd::new(Arc::clone(clouds)))),
            (ProxyKind::Wcd, Some(clouds)) => Ok(Arc::new(Wcd::new(Arc::clone(clouds)))),
            (ProxyKind::BiEncoder { model }, _) => bi_encoder(model),
            (ProxyKind::EmbeddingCosine { path }, _) => Ok(Arc::new(EmbeddingProxy::cosine(embeddings(path)?)?)),
            (other, _) => unreachable!("`{}` is refused when a configuration is checked", other.id()),
        })
    }

    fn build(
        matrix: &MatrixSubject,
        n: usize,
        new: impl Fn(&ProxyKind) -> Result<Arc<dyn Oracle>, StageError>,
    ) -> Result<Self, StageError> {
        let mut proxies = Self::default();
        for kind in matrix.methods.iter().filter_map(|method| method.proxy.as_ref()).map(|proxy| &proxy.kind) {
            if proxies.get(kind).is_none() {
                let proxy = new(kind)?;
                let proxy = if n <= KEPT_UP_TO { Arc::new(Kept::new(proxy)) } else { proxy };
                proxies.0.push((kind.clone(), proxy));
            }
        }
        Ok(proxies)
    }
}

fn embedding(path: &ConfigPath, n: usize) -> Result<Arc<dyn Oracle>, StageError> {
    Ok(Arc::new(EmbeddingProxy::cosine(embeddings_of(n)(path)?)?))
}

/// A free oracle whose whole matrix is computed when it is first read.
struct Kept {
    inner: Arc<dyn Oracle>,
    matrix: OnceLock<Array2<f64>>,
}

impl Kept {
    fn new(inner: Arc<dyn Oracle>) -> Self {
        Self { inner, matrix: OnceLock::new() }
    }

    fn matrix(&self) -> Result<&Array2<f64>, OracleError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        let all: Vec<usize> = (0..self.inner.len()).collect();
        let mut matrix = Array2::zeros((all.len(), all.len()));
        self.inner.block(&all, &all, matrix.view_mut())?;
        Ok(self.matrix.get_or_init(|| matrix))
    }
}

impl Oracle for Kept {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.inner.symmetry()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.inner.known_diagonal()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let matrix = self.matrix()?;
        pairs.iter().zip(out).for_each(|(&(i, j), score)| *score = matrix[[i, j]]);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        let matrix = self.matrix()?;
        for (&i, mut line) in rows.iter().zip(out.rows_mut()) {
            let row = matrix.row(i);
            line.iter_mut().zip(cols).for_each(|(score, &j)| *score = row[j]);
        }
        Ok(())
    }
}
