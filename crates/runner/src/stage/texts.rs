//! Texts of the user's own: under a program of theirs, under word mover's distance, or under a cross-encoder.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Oracle, Symmetrized};
use landmark_data::{Corpus, TokenRules};
use landmark_oracles::subprocess::{ScoredItems, Subprocess};
use landmark_oracles::wmd::{EmptyDocuments as Empty, WordClouds};
use ndarray::{ArrayView2, Axis, concatenate};
use serde_json::{Value as Json, json};

use super::models::Models;
use super::proxies::{Embeddings, embeddings_of};
use super::{Negligible, Proxies, Stage, StageError, documents, facts, negligible};
use crate::config::dataset::Learned;
use crate::config::{
    ConfigPath, CrossEncoderConfig, EmptyDocuments, MatrixSubject, OracleConfig, RunSettings, SubprocessConfig,
    TextsConfig, VectorsConfig,
};
use crate::items::OwnItems;

pub(super) fn set(
    run: &RunSettings,
    matrix: &MatrixSubject,
    texts: &TextsConfig,
    data: Option<&Path>,
) -> Result<Stage, StageError> {
    let items = OwnItems::of(texts)?;
    let blank = items.blank;
    let items = ScoredItems::new(items.ids, items.texts)?;
    let embeddings = embeddings_of(items.len());
    let scene = Scene { run, matrix, texts, data, all: &items, embeddings: &embeddings };
    let mut stage = scene.set(Arc::new(items.clone()))?;
    if blank > 0 {
        stage.notes.insert(0, format!("{blank} blank lines of `{}` were left out", texts.path.written));
    }
    Ok(stage)
}

/// New texts beside some of those that there were.
pub struct Joined<'a> {
    /// All texts that there were.
    pub old: &'a ScoredItems,
    /// Those of them that the new ones are compared with.
    pub kept: &'a [usize],
    /// The new ones.
    pub new: &'a ScoredItems,
    /// Their embeddings, one row a text, where a proxy reads those of the old ones from a file.
    pub embeddings: Option<ArrayView2<'a, f64>>,
}

impl Joined<'_> {
    /// The same score and proxies over the texts that are kept, followed by the new ones.
    ///
    /// # Errors
    /// As [`Stage::set`]; embeddings of another number or length than wanted.
    pub fn set(&self, run: &RunSettings, matrix: &MatrixSubject, data: Option<&Path>) -> Result<Stage, StageError> {
        let Some(texts) = matrix.dataset.texts() else {
            return Err(StageError::Pair { dataset: matrix.dataset.name.to_owned(), oracle: matrix.oracle.kind() });
        };
        let joined = |old: &[String], new: &[String]| -> Vec<String> {
            self.kept.iter().map(|&item| old[item].clone()).chain(new.iter().cloned()).collect()
        };
        let items =
            ScoredItems::new(joined(self.old.ids(), self.new.ids()), joined(self.old.texts(), self.new.texts()))?;
        let of_old = embeddings_of(self.old.len());
        let embeddings = |path: &ConfigPath| {
            let (old, new) = (of_old(path)?, self.embeddings.ok_or(StageError::NoNewEmbeddings)?);
            if new.dim() != (self.new.len(), old.ncols()) {
                return Err(StageError::NewEmbeddings { seen: new.dim(), wanted: (self.new.len(), old.ncols()) });
            }
            // both have rows of the same length
            Ok(concatenate![Axis(0), old.select(Axis(0), self.kept), new])
        };
        let scene = Scene { run, matrix, texts, data, all: self.old, embeddings: &embeddings };
        scene.set(Arc::new(items))
    }
}

/// What texts are scored by.
struct Scene<'a> {
    run: &'a RunSettings,
    matrix: &'a MatrixSubject,
    texts: &'a TextsConfig,
    data: Option<&'a Path>,
    /// All texts of the configuration, which word vectors are learned from.
    all: &'a ScoredItems,
    embeddings: &'a Embeddings<'a>,
}

impl Scene<'_> {
    fn set(&self, items: Arc<ScoredItems>) -> Result<Stage, StageError> {
        let stage = match &self.matrix.oracle {
            OracleConfig::Subprocess(program) => self.under_program(program, &items),
            OracleConfig::CrossEncoder(wanted) => self.under_cross_encoder(wanted, &items),
            _ => self.under_wmd(&items),
        }?;
        Ok(Stage { own: Some(items), ..stage })
    }

    fn under_program(&self, wanted: &SubprocessConfig, items: &Arc<ScoredItems>) -> Result<Stage, StageError> {
        let program = Arc::new(Subprocess::start(wanted.params.clone(), Arc::clone(items))?);
        let given: Arc<dyn Oracle> = Arc::clone(&program) as _;
        let raw = match wanted.symmetrize {
            Some(mode) => Arc::new(Symmetrized::new(given, mode)),
            None => given,
        };
        let (command, identity) = (wanted.params.command.join(" "), &program.greeting().identity);
        let more = json!({ "items": items.identity().to_hex(), "greeting": program.greeting() });
        let stage = self.bare(items, &format!("scored by `{command}` ({identity})"), raw, None, more)?;
        Ok(Stage { program: Some(program), ..stage })
    }

    fn under_cross_encoder(&self, wanted: &CrossEncoderConfig, items: &ScoredItems) -> Result<Stage, StageError> {
        let models = Models::start(self.run, &wanted.device)?;
        let (as_given, notes) = models.named_cross_encoder(wanted, items.texts())?;
        let raw = match wanted.order.symmetrization() {
            Some(mode) => Arc::new(Symmetrized::new(as_given, mode)),
            None => as_given,
        };
        let more = json!({ "items": items.identity().to_hex(), "model": wanted.model });
        let stage = self.bare(items, &format!("under the cross-encoder `{}`", wanted.model), raw, None, more)?;
        Ok(Stage { notes, ..stage })
    }

    fn under_wmd(&self, items: &ScoredItems) -> Result<Stage, StageError> {
        let name = self.matrix.dataset.name;
        let corpus = |items: &ScoredItems| Corpus::from_texts(items.ids(), items.texts(), &TokenRules::default());
        let Some(wanted) = &self.texts.vectors else {
            return Err(StageError::Pair { dataset: name.to_owned(), oracle: self.matrix.oracle.kind() });
        };
        let placed = corpus(items);
        // vectors that are learned must not change with new texts
        let words = match wanted {
            VectorsConfig::Learned(Learned::PpmiSvd(_)) => &corpus(self.all),
            VectorsConfig::Named(_) | VectorsConfig::File { .. } => &placed,
        };
        let vectors = documents::load_vectors(name, wanted, self.run.seed, self.data, name, words)?;
        let empty = match self.matrix.oracle {
            OracleConfig::Wmd { empty_documents: EmptyDocuments::Distance(distance), .. } => Empty::Fill(distance),
            // an item of the user's own is never dropped: its row would be missing from the factors
            _ => Empty::Error,
        };
        let clouds = Arc::new(WordClouds::new(&placed.bags(&vectors), vectors.vectors(), empty)?);
        let more = json!({ "items": items.identity().to_hex(), "vectors": vectors.identity().to_hex() });
        let words = format!("under WMD with vectors {}", vectors.source());
        let (wmd, negligible) = negligible::wmd(self.matrix, &clouds)?;
        let stage = self.bare(items, &words, Arc::new(wmd), Some(&clouds), more)?;
        Ok(Stage {
            notes: documents::coverage_note(&placed.coverage(&vectors), vectors.source())
                .into_iter()
                .chain(negligible.as_ref().map(Negligible::note))
                .collect(),
            negligible,
            clouds: Some(clouds),
            ..stage
        })
    }

    fn bare(
        &self,
        items: &ScoredItems,
        scored: &str,
        raw: Arc<dyn Oracle>,
        clouds: Option<&Arc<WordClouds>>,
        more: Json,
    ) -> Result<Stage, StageError> {
        let name = self.matrix.dataset.name;
        let bi_encoder = |model: &str| Models::start(self.run, "auto")?.bi_encoder(model, items.texts());
        Ok(Stage {
            dataset: name.to_owned(),
            description: format!("{} texts of `{}` {scored}", items.len(), self.texts.path.written),
            is_priced: true,
            proxies: Proxies::for_texts(self.matrix, items.len(), clouds, self.embeddings, &bi_encoder)?,
            facts: facts(name, items.len(), raw.as_ref(), more),
            raw,
            clouds: None,
            negligible: None,
            sentences: None,
            labels: None,
            own: None,
            program: None,
            stamps: Vec::new(),
            notes: Vec::new(),
        })
    }
}
