//! Questions under tree kernels: TREC with its dependency trees.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::{KelpExamples, Tree};
use landmark_oracles::combined::{BoxedOracle, Normalised, SparseVectors};
use landmark_oracles::tree_kernel::{self, Forest, TreeKernel, TreeKernelParams, WordSimilarity, lexical};
use landmark_report::Caveat;
use serde_json::json;

use super::{Labels, Proxies, Stage, StageError, facts};
use crate::config::dataset::QuestionsConfig;
use crate::config::{KernelConfig, MatrixSubject, OracleConfig, RunSettings, TreeKernelConfig};

/// The representation that is a bag of words.
const BAG_OF_WORDS: &str = "bow";

pub(super) fn set(
    run: &RunSettings,
    matrix: &MatrixSubject,
    items: &QuestionsConfig,
    data: Option<&Path>,
) -> Result<Stage, StageError> {
    let name = matrix.dataset.name;
    let examples = catalog::load_kelp(name, data)?;
    let options = DocumentOptions { limit: items.limit, ..DocumentOptions::default() };
    let documents = catalog::load_documents(name, data, &options, run.seed)?;
    let mut stamps = Vec::new();
    if documents.len() < examples.len() {
        let text = format!("{} of {} questions: `dataset.limit`", documents.len(), examples.len());
        stamps.push(Caveat { dataset: Some(name.to_owned()), text, breaks_comparison: true });
    }
    let OracleConfig::TreeKernel(wanted) = &matrix.oracle else {
        return Err(StageError::Pair { dataset: name.to_owned(), oracle: matrix.oracle.kind() });
    };
    let mut notes = Vec::new();
    let kernel = kernel(wanted, &examples, documents.ids(), data, &mut notes)?;
    let raw: Arc<dyn Oracle> = Arc::new(Normalised::new(kernel)?);
    let bags = || Ok(SparseVectors::new(examples.vectors(BAG_OF_WORDS, documents.ids())?.rows())?);
    let fragments = |size| match wanted.kernel {
        // a bag of words has fragments of one word
        KernelConfig::Bow(_) => bags(),
        KernelConfig::Tree(params) => {
            let trees: Vec<Tree> = examples.trees(&wanted.trees, documents.ids())?;
            Ok(tree_kernel::fragments(&Forest::new(&trees)?, params.check()?, size)?)
        }
    };
    let more = json!({ "documents": documents.identity().to_hex(), "kernel": wanted });
    let facts = facts(name, raw.len(), raw.as_ref(), more);
    Ok(Stage {
        dataset: name.to_owned(),
        description: format!("{} of {} `{name}` questions over `{}`", wanted.id(), raw.len(), wanted.trees),
        is_priced: true,
        clouds: None,
        negligible: None,
        own: None,
        program: None,
        proxies: Proxies::for_questions(matrix, raw.len(), bags, fragments)?,
        sentences: None,
        labels: Some(Labels {
            of: documents.labels().to_vec(),
            names: documents.label_names().to_vec(),
            given_split: documents.given_split(),
        }),
        stamps,
        notes,
        facts,
        raw,
    })
}

fn kernel(
    wanted: &TreeKernelConfig,
    examples: &KelpExamples,
    ids: &[String],
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<BoxedOracle, StageError> {
    let params = match wanted.kernel {
        KernelConfig::Bow(_) => return Ok(Box::new(SparseVectors::new(examples.vectors(&wanted.trees, ids)?.rows())?)),
        KernelConfig::Tree(params) => params,
    };
    let trees: Vec<Tree> = examples.trees(&wanted.trees, ids)?;
    let forest = Arc::new(Forest::new(&trees)?);
    let mean = forest.nodes() as f64 / forest.len() as f64;
    notes.push(format!("trees of {mean:.1} nodes on average, {} distinct labels", forest.labels().len()));
    match (params, wanted.vectors) {
        (TreeKernelParams::Sptk { .. }, Some(vectors)) => {
            let words: std::collections::HashSet<&str> =
                forest.labels().iter().filter_map(|label| lexical(label)).map(|(word, _)| word).collect();
            let vectors = catalog::load_word_vectors(vectors, data, &|word| words.contains(word))?;
            notes.push(format!(
                "word vectors `{}` know {} of {} lemmas; the others are like themselves alone",
                vectors.source(),
                vectors.len(),
                words.len()
            ));
            let similarity = WordSimilarity::new(vectors, wanted.threshold.unwrap_or(0.0))?;
            Ok(Box::new(TreeKernel::smoothed(forest, params.check()?, Arc::new(similarity))?))
        }
        _ => Ok(Box::new(TreeKernel::new(forest, params.check()?))),
    }
}
