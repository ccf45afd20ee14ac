//! The kernel of a (question, comment) pair: K = PTK(q, q') + PTK(c, c') + k(similarities) + k(thread features), each
//! normalized (Filice et al. 2016, §3).

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_data::Tree;
use landmark_data::cqa::{FeatureTable, Pairs};
use landmark_harness::study::StudyError;
use landmark_oracles::combined::{BoxedOracle, Normalised, OnItems, Rbf, WeightedSum};
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
use ndarray::{Array2, ArrayViewMut2};

use super::{FeatureKernel, KernelSettings};

/// The kernel over all pairs; features are standardised by the first `training` of them.
pub(super) fn kernel(pairs: &Pairs, training: usize, settings: &KernelSettings) -> Result<Arc<dyn Oracle>, StudyError> {
    let mut parts: Vec<(f64, BoxedOracle)> = Vec::new();
    if settings.trees {
        for trees in [&pairs.questions, &pairs.comments] {
            parts.push((1.0, tree_part(trees, settings)?));
        }
    }
    for (features, kind) in
        [(&pairs.similarities, settings.similarities), (&pairs.thread_features, settings.thread_features)]
    {
        let table = FeatureTable::standardised(features.view(), training).values;
        parts.extend(feature_part(table, kind)?.map(|part| (1.0, part)));
    }
    Ok(Arc::new(WeightedSum::new(parts)?))
}

/// Equal trees are one item, so that a question without links to its ten comments is scored once.
fn tree_part(trees: &[Tree], settings: &KernelSettings) -> Result<BoxedOracle, StudyError> {
    let mut numbers: HashMap<&Tree, usize> = HashMap::new();
    let mut distinct: Vec<Tree> = Vec::new();
    let items = trees
        .iter()
        .map(|tree| {
            *numbers.entry(tree).or_insert_with(|| {
                distinct.push(tree.clone());
                distinct.len() - 1
            })
        })
        .collect();
    let params = TreeKernelParams::Ptk { lambda: settings.lambda, mu: settings.mu, terminal_factor: 1.0 }.check()?;
    let kernel = TreeKernel::new(Arc::new(Forest::new(&distinct)?), params);
    let normalized: Arc<dyn Oracle> = Arc::new(Normalised::new(Box::new(kernel))?);
    Ok(Box::new(OnItems::new(normalized, items)?))
}

fn feature_part(features: Array2<f64>, kind: FeatureKernel) -> Result<Option<BoxedOracle>, StudyError> {
    let dimension = features.ncols() as f64;
    Ok(match kind {
        FeatureKernel::None => None,
        FeatureKernel::Linear => Some(Box::new(EmbeddingProxy::cosine(features)?)),
        FeatureKernel::Rbf => Some(Box::new(Rbf::new(Box::new(EmbeddingProxy::dot(features)?), 1.0 / dimension)?)),
    })
}

/// The first items of an oracle: what approximators may see.
pub(super) struct First {
    pub(super) inner: Arc<dyn Oracle>,
    pub(super) len: usize,
}

impl Oracle for First {
    fn shape(&self) -> OracleShape {
        OracleShape { len: self.len, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        let len = (self.len as u64).to_le_bytes();
        Identity::of(&[("kind", b"first"), ("len", &len), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.inner.block(rows, cols, out)
    }
}
