//! Texts of the user's own, under a program of theirs or under word mover's distance.

use std::sync::Arc;

use landmark_core::oracle::{Oracle, Symmetrized};
use landmark_data::{Corpus, TokenRules};
use landmark_oracles::subprocess::{ScoredItems, Subprocess};
use landmark_oracles::wmd::{EmptyDocuments as Empty, Wmd, WordClouds};
use serde_json::json;

use super::{Proxies, Stage, StageError, documents, facts};
use crate::config::{Config, EmptyDocuments, MatrixSubject, OracleConfig, SubprocessConfig, TextsConfig};
use crate::items::OwnItems;

pub(super) fn set(
    config: &Config,
    matrix: &MatrixSubject,
    texts: &TextsConfig,
    data: Option<&std::path::Path>,
) -> Result<Stage, StageError> {
    let items = OwnItems::of(texts)?;
    let mut notes = Vec::new();
    if items.blank > 0 {
        notes.push(format!("{} blank lines of `{}` were left out", items.blank, texts.path.written));
    }
    let items = Arc::new(ScoredItems::new(items.ids, items.texts)?);
    let stage = match &matrix.oracle {
        OracleConfig::Subprocess(program) => under_program(matrix, program, Arc::clone(&items), texts)?,
        _ => under_wmd(config, matrix, texts, &items, data)?,
    };
    let mut all = stage.notes.clone();
    all.splice(0..0, notes);
    Ok(Stage { own: Some(items), notes: all, ..stage })
}

fn under_program(
    matrix: &MatrixSubject,
    wanted: &SubprocessConfig,
    items: Arc<ScoredItems>,
    texts: &TextsConfig,
) -> Result<Stage, StageError> {
    let program = Arc::new(Subprocess::start(wanted.params.clone(), Arc::clone(&items))?);
    let raw = symmetrized(Arc::clone(&program) as Arc<dyn Oracle>, wanted);
    let description = format!(
        "{} texts of `{}` scored by `{}` ({})",
        items.len(),
        texts.path.written,
        wanted.params.command.join(" "),
        program.greeting().identity
    );
    let more = json!({ "items": items.identity().to_hex(), "greeting": program.greeting() });
    Ok(Stage {
        proxies: Proxies::for_matrix(matrix, items.len())?,
        facts: facts(matrix.dataset.name, items.len(), raw.as_ref(), more),
        program: Some(program),
        ..bare(matrix, description, raw)
    })
}

/// The score as the methods see it: of both orders, where the configuration says how.
pub(crate) fn symmetrized(raw: Arc<dyn Oracle>, wanted: &SubprocessConfig) -> Arc<dyn Oracle> {
    match wanted.symmetrize {
        Some(mode) => Arc::new(Symmetrized::new(raw, mode)),
        None => raw,
    }
}

fn under_wmd(
    config: &Config,
    matrix: &MatrixSubject,
    texts: &TextsConfig,
    items: &ScoredItems,
    data: Option<&std::path::Path>,
) -> Result<Stage, StageError> {
    let corpus = Corpus::from_texts(items.ids(), items.texts(), &TokenRules::default());
    let Some(wanted) = &texts.vectors else {
        return Err(StageError::Pair { dataset: matrix.dataset.name.to_owned(), oracle: matrix.oracle.kind() });
    };
    let vectors =
        documents::load_vectors(matrix.dataset.name, wanted, config.seed, data, matrix.dataset.name, &corpus)?;
    let empty = match matrix.oracle {
        OracleConfig::Wmd { empty_documents: EmptyDocuments::Distance(distance), .. } => Empty::Fill(distance),
        // an item of the user's own is never dropped: its row would be missing from the factors
        _ => Empty::Error,
    };
    let clouds = Arc::new(WordClouds::new(&corpus.bags(&vectors), vectors.vectors(), empty)?);
    let wmd: Arc<dyn Oracle> = Arc::new(Wmd::new(Arc::clone(&clouds)));
    let description =
        format!("WMD of {} texts of `{}` with vectors {}", items.len(), texts.path.written, vectors.source());
    let more = json!({ "items": items.identity().to_hex(), "vectors": vectors.identity().to_hex() });
    Ok(Stage {
        proxies: Proxies::for_documents(matrix, &clouds)?,
        notes: documents::coverage_note(&corpus.coverage(&vectors), vectors.source()).into_iter().collect(),
        facts: facts(matrix.dataset.name, items.len(), wmd.as_ref(), more),
        clouds: Some(clouds),
        ..bare(matrix, description, wmd)
    })
}

fn bare(matrix: &MatrixSubject, description: String, raw: Arc<dyn Oracle>) -> Stage {
    Stage {
        dataset: matrix.dataset.name.to_owned(),
        raw,
        description,
        is_priced: true,
        proxies: Proxies::default(),
        clouds: None,
        sentences: None,
        labels: None,
        own: None,
        program: None,
        stamps: Vec::new(),
        notes: Vec::new(),
        facts: json!(null),
    }
}
