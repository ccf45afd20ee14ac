//! `runner project`: vectors for items that were not there when the factors were made, without fitting anew.
//!
//! ```text
//! z_new = K[new, T] · projector
//! ```
//! so m new items cost m·t evaluations, kept in the store like all others. With a proxy its scores are needed as well, from
//! embeddings of the new items; its part of the factors is computed again from what the store holds, which buys nothing.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Budget, Oracle, block_of};
use landmark_data::matrices;
use landmark_oracles::subprocess::{PairForm, ScoredItems, Subprocess};
use landmark_oracles::tile_store::{OracleLabel, TileStore};
use landmark_tasks::neighbours::nearest;
use miette::{IntoDiagnostic, Result};
use ndarray::{Array2, ArrayView2, Axis};
use polars::prelude::Column;

use super::{Own, write_table};
use crate::cli::{LogArgs, OwnArgs};
use crate::config::{OracleConfig, ProxyKind, SubprocessConfig, TextsFormat};
use crate::exit::UsageError;
use crate::experiments::own_data;
use crate::factors::write_parquet;
use crate::items::{ItemFile, OwnItems};
use crate::run::{self, RunError, count};
use crate::stage::{similarity, symmetrized};
use crate::till::Till;

/// Embeds new items and lists their nearest.
pub(in crate::commands) fn project(
    arguments: &OwnArgs,
    file: &Path,
    embeddings: Option<&Path>,
    k: usize,
    log: LogArgs,
) -> Result<String> {
    let own = Own::open(arguments, log)?;
    let (Some(texts), Some(items), OracleConfig::Subprocess(program)) =
        (own.matrix.dataset.texts(), &own.items, &own.matrix.oracle)
    else {
        let message = "only items that are texts under a `subprocess` can be joined by new ones";
        return Err(UsageError::new(
            message,
            Some("add them to the dataset and run the configuration again".to_owned()),
        )
        .into());
    };
    let layout = TextsFormat::of(file).unwrap_or(texts.layout());
    let new = ItemFile { path: file, layout, id: texts.id.as_deref(), text: &texts.text }.read(1).into_diagnostic()?;
    let (similarities, bought) = own.score(program, items, &new)?;
    let vectors = match (own.factors.info.proxy, &own.factors.projector) {
        (false, Some(projector)) => similarities.dot(projector),
        (false, None) => return Err(UsageError::new("these factors cannot embed new items", None).into()),
        (true, _) => own.project_with_proxy(similarities.view(), embeddings, new.ids.len())?,
    };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = own.folder.join("projected").join(stem);
    std::fs::create_dir_all(&folder).into_diagnostic()?;
    ndarray_npy::write_npy(folder.join("vectors.npy"), &vectors).into_diagnostic()?;
    write_parquet(&folder.join("vectors.parquet"), vectors.view(), Some(&new.ids)).into_diagnostic()?;
    let found = nearest(vectors.view(), own.vectors(), k);
    let all = || found.iter().enumerate().flat_map(|(item, list)| list.iter().map(move |one| (item, one)));
    let columns = vec![
        Column::new("id".into(), all().map(|(item, _)| new.ids[item].clone()).collect::<Vec<_>>()),
        Column::new("rank".into(), found.iter().flat_map(|list| 1..=list.len() as u64).collect::<Vec<_>>()),
        Column::new("neighbour".into(), all().map(|(_, one)| own.id(one.item)).collect::<Vec<_>>()),
        Column::new("score".into(), all().map(|(_, one)| one.score).collect::<Vec<_>>()),
    ];
    write_table(&folder.join("neighbours.tsv"), columns)?;
    Ok(format!(
        "{} new items embedded from {} scores, {} of them bought now: `{}` has vectors and neighbours\n",
        count(new.ids.len() as u64),
        count(similarities.len() as u64),
        count(bought),
        folder.display()
    ))
}

impl Own {
    /// Similarities of the new items to the landmarks, m × t, and how many evaluations that took.
    fn score(&self, program: &SubprocessConfig, items: &OwnItems, new: &OwnItems) -> Result<(Array2<f64>, u64)> {
        let landmarks = &self.factors.info.landmarks;
        let joined = |old: &[String], new: &[String]| -> Vec<String> {
            landmarks.iter().map(|&item| old[item].clone()).chain(new.iter().cloned()).collect()
        };
        let joined =
            ScoredItems::new(joined(&items.ids, &new.ids), joined(&items.texts, &new.texts)).into_diagnostic()?;
        let description =
            format!("{} new items and {} landmarks of `{}`", new.ids.len(), landmarks.len(), self.config.name);
        let scorer = Subprocess::start(program.params.clone(), Arc::new(joined)).into_diagnostic()?;
        if scorer.greeting().pairs == PairForm::Index {
            let message = "the program compares items by their numbers, and a new item has none";
            return Err(UsageError::new(
                message,
                Some("let it greet with `\"pairs\": \"text\"` or `\"id\"`".to_owned()),
            )
            .into());
        }
        let raw = symmetrized(Arc::new(scorer), program);
        let store = TileStore::open(&run::store_address(&self.config, &self.options)).into_diagnostic()?;
        let budget = Budget { entries: self.matrix.budget.limit(), seconds: self.matrix.budget.seconds };
        let till = Till::of(raw, OracleLabel::new("subprocess", description), Some(store), budget).into_diagnostic()?;
        let oracle = similarity(till.scores(), self.factors.info.gamma).into_diagnostic()?;
        let (t, n) = (landmarks.len(), oracle.len());
        let (rows, cols): (Vec<usize>, Vec<usize>) = ((t..n).collect(), (0..t).collect());
        let scores = block_of(oracle.as_ref(), &rows, &cols).into_diagnostic()?;
        till.flush().into_diagnostic()?;
        Ok((scores, till.spent().evaluations))
    }

    fn project_with_proxy(
        &self,
        similarities: ArrayView2<'_, f64>,
        embeddings: Option<&Path>,
        wanted: usize,
    ) -> Result<Array2<f64>> {
        let proxy = self.matrix.methods.first().and_then(|method| method.proxy.as_ref());
        let (Some(ProxyKind::EmbeddingCosine { path }), Some(embeddings)) =
            (proxy.map(|proxy| &proxy.kind), embeddings)
        else {
            let message = "the factors were made with a proxy, whose scores with the new items are needed as well";
            let help = "hand over embeddings of the new items by the same model: `--embeddings new.npy`".to_owned();
            return Err(UsageError::new(message, Some(help)).into());
        };
        let (old, new) = (
            matrices::read_rows(&path.resolved).into_diagnostic()?,
            matrices::read_rows(embeddings).into_diagnostic()?,
        );
        if new.dim() != (wanted, old.ncols()) {
            let (rows, cols) = new.dim();
            let message =
                format!("`{}` is {rows} × {cols}, but must be {wanted} × {}", embeddings.display(), old.ncols());
            return Err(
                UsageError::new(message, Some("one row a new item, of the model of the old ones".to_owned())).into()
            );
        }
        let (old, new) = (of_length_one(old), of_length_one(new));
        let cosines = |items: &[usize]| new.dot(&old.select(Axis(0), items).t());
        let rank = self.factors.info.rank;
        let embedding = run::with_bench(&self.config, &self.matrix, &self.options, |bench| {
            own_data::embedding_again(bench, rank).map_err(|error| RunError::Plan(Box::new(error)))
        })
        .into_diagnostic()?;
        let (to_landmarks, to_anchors) = (cosines(&self.factors.info.landmarks), cosines(embedding.anchors()));
        let vectors = embedding.project_with_proxy(similarities, to_landmarks.view(), to_anchors.view());
        vectors.ok_or_else(|| UsageError::new("these factors cannot embed new items", None).into())
    }
}

/// Rows of length 1; rows of zeros stay.
fn of_length_one(mut rows: Array2<f64>) -> Array2<f64> {
    for mut row in rows.rows_mut() {
        let length = row.dot(&row).sqrt();
        if length > 0.0 {
            row /= length;
        }
    }
    rows
}
