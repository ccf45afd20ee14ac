//! The cheap relatives that a configuration names, each built once.

use std::sync::{Arc, OnceLock};

use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair, select_block};
use landmark_data::{Corpus, TokenRules, character_ngrams, matrices};
use landmark_oracles::combined::{Normalized, SparseVectors};
use landmark_oracles::neural::ModelFiles;
use landmark_oracles::wmd::{Rwmd, Wcd};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2};

use super::served::Served;
use crate::config::proxy::CharacterNgrams;
use crate::config::{ConfigPath, MatrixSubject, ProxyKind, RunSettings};
use crate::loaded::{Chosen, LoadError, Loaded, LoadedItems, Questions};
use crate::models::{Models, or_tiny};
use crate::oracles::OracleConfig;
use crate::oracles::tree_kernel::TreeKernelConfig;

/// Up to this number of items a proxy's matrix is computed once and kept (8n² bytes: 288 MB at most); above, entries are computed as they are read.
const KEPT_UP_TO: usize = 6_000;

#[derive(Default)]
pub struct Proxies {
    by_kind: Vec<(ProxyKind, Arc<dyn Oracle>)>,
    /// Calls that they make themselves, in sentences.
    pub(super) notes: Vec<String>,
}

/// Rows of a file, one an item.
pub(super) type Embeddings<'a> = dyn Fn(&ConfigPath) -> Result<Array2<f64>, LoadError> + 'a;

/// Embeddings of the items: their file has a row for each, or for each item of the file that they were chosen from.
pub(super) fn embeddings_of(chosen: Chosen) -> impl Fn(&ConfigPath) -> Result<Array2<f64>, LoadError> {
    move |path| {
        let rows = matrices::read_rows(&path.resolved)?;
        let (seen, wanted) = (rows.nrows(), chosen.places.len());
        if seen == wanted {
            Ok(rows)
        } else if chosen.of.map_or(seen > wanted, |of| seen == of) {
            Ok(rows.select(Axis(0), &chosen.places))
        } else {
            Err(LoadError::Count { what: path.written.clone(), unit: "rows", seen, wanted })
        }
    }
}

impl Proxies {
    /// The proxy of this kind, as a raw score.
    pub fn get(&self, kind: &ProxyKind) -> Option<Arc<dyn Oracle>> {
        self.by_kind.iter().find(|(known, _)| known == kind).map(|(_, proxy)| Arc::clone(proxy))
    }

    /// The proxies that a configuration names, over items that were loaded.
    pub(super) fn build(
        run: &RunSettings,
        matrix: &MatrixSubject,
        loaded: &Loaded,
        embeddings: &Embeddings<'_>,
    ) -> Result<Self, LoadError> {
        let mut proxies = Self::default();
        for kind in matrix.proxies() {
            if proxies.get(kind).is_none() {
                let proxy = proxy(kind, run, &matrix.oracle, loaded, embeddings, &mut proxies.notes)?;
                proxies.by_kind.push((kind.clone(), kept(proxy)));
            }
        }
        Ok(proxies)
    }
}

fn proxy(
    kind: &ProxyKind,
    run: &RunSettings,
    oracle: &OracleConfig,
    loaded: &Loaded,
    embeddings: &Embeddings<'_>,
    notes: &mut Vec<String>,
) -> Result<Arc<dyn Oracle>, LoadError> {
    let items = &loaded.items;
    let clouds = match items {
        LoadedItems::Documents(placed) => Some(&placed.clouds),
        LoadedItems::Texts(texts) => texts.words.as_ref().map(|placed| &placed.clouds),
        LoadedItems::Questions(_) | LoadedItems::Pairs(_) | LoadedItems::Matrix(_) => None,
    };
    let texts = match items {
        LoadedItems::Pairs(pairs) => Some(pairs.dev.sentences()),
        LoadedItems::Texts(texts) => Some(texts.scored.texts()),
        LoadedItems::Documents(placed) => Some(placed.documents.texts()),
        LoadedItems::Questions(_) | LoadedItems::Matrix(_) => None,
    };
    let trees = if let LoadedItems::Questions(questions) = items { Some(questions) } else { None };
    let built: Option<Arc<dyn Oracle>> = match kind {
        ProxyKind::Rwmd => clouds.map(|clouds| Arc::new(Rwmd::new(Arc::clone(clouds))) as _),
        ProxyKind::Wcd => clouds.map(|clouds| Arc::new(Wcd::new(Arc::clone(clouds))) as _),
        ProxyKind::BagOfWords => {
            let counted = trees.map(Questions::bags_of_words).or_else(|| texts.map(bags_of_words)).transpose()?;
            counted.map(cosine).transpose()?
        }
        ProxyKind::CharacterNgrams(CharacterNgrams { n, dimension }) => {
            let cosine = |texts| EmbeddingProxy::cosine(character_ngrams::vectors(texts, *n, *dimension));
            texts.map(cosine).transpose()?.map(|proxy| Arc::new(proxy) as _)
        }
        ProxyKind::Fragments { size } => {
            let kernel = trees.zip(oracle.settings_of::<TreeKernelConfig>());
            kernel.map(|(questions, kernel)| cosine(kernel.fragments(questions, *size)?)).transpose()?
        }
        ProxyKind::BiEncoder { model } => {
            let fell_back = matches!(items, LoadedItems::Pairs(pairs) if pairs.fell_back);
            let encode = |texts: &[String]| {
                let (files, _) = or_tiny(ModelFiles::find(model, None), fell_back)?;
                Models::start(run, oracle.settings().device())?.bi_encoder(&files, texts)
            };
            texts.map(encode).transpose()?
        }
        ProxyKind::Endpoint { endpoint } => {
            let mut serve = |texts: &[String]| -> Result<Arc<dyn Oracle>, LoadError> {
                let served = Served::new(endpoint, texts)?;
                notes.extend(served.note()?);
                Ok(Arc::new(served))
            };
            texts.map(&mut serve).transpose()?
        }
        ProxyKind::EmbeddingCosine { path } => Some(Arc::new(EmbeddingProxy::cosine(embeddings(path)?)?)),
        ProxyKind::MentionCosine => None,
    };
    built.ok_or_else(|| LoadError::Proxy { dataset: loaded.dataset.clone(), proxy: kind.id() })
}

/// Words of each text and how often they occur, stop words left out.
fn bags_of_words(texts: &[String]) -> Result<SparseVectors, LoadError> {
    let corpus = Corpus::from_texts(texts, texts, &TokenRules::default());
    let counts = |i| corpus.document(i).iter().map(|&word| (word as usize, 1.0)).collect();
    Ok(SparseVectors::new(&(0..texts.len()).map(counts).collect::<Vec<_>>())?)
}

fn cosine(vectors: SparseVectors) -> Result<Arc<dyn Oracle>, LoadError> {
    Ok(Arc::new(Normalized::new(Box::new(vectors))?))
}

/// A free oracle of up to 6,000 items with its whole matrix, 8n² bytes, in memory from the first score that is read; a larger one as it is.
pub fn kept(proxy: Arc<dyn Oracle>) -> Arc<dyn Oracle> {
    if proxy.len() <= KEPT_UP_TO { Arc::new(Kept::new(proxy)) } else { proxy }
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
    fn shape(&self) -> OracleShape {
        OracleShape { is_checked: false, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        self.inner.vectors()
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.inner.features()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let matrix = self.matrix()?;
        pairs.iter().zip(out).for_each(|(&(i, j), score)| *score = matrix[[i, j]]);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        select_block(self.matrix()?.view(), rows, cols, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_of_words_are_compared_by_the_cosine_of_their_counts_without_stop_words() {
        let texts = ["red red fox", "the Fox, and the hound", "red", "hound fox", "the and", ""];
        let texts: Vec<String> = texts.map(str::to_owned).to_vec();
        let proxy = cosine(bags_of_words(&texts).unwrap()).unwrap();
        let score = |i, j| {
            let mut score = [f64::NAN];
            proxy.evaluate(&[(i, j)], &mut score).unwrap();
            score[0]
        };
        // counts of red, fox, hound: (2, 1, 0) (0, 1, 1) (1, 0, 0) (0, 1, 1) and two texts of no word
        let wanted = [
            ((0, 1), 1.0 / 10_f64.sqrt()),
            ((0, 2), 2.0 / 5_f64.sqrt()),
            ((1, 2), 0.0),
            ((1, 3), 1.0),
            ((0, 4), 0.0),
            ((4, 5), 0.0),
        ];
        for ((i, j), cosine) in wanted {
            assert!((score(i, j) - cosine).abs() < 1e-12, "{i}, {j}: {}", score(i, j));
        }
    }
}
