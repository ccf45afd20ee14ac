//! `landmark project`: vectors for items that were not there when the factors were made, without fitting again.
//!
//! ```text
//! z_new = K[new, T] · projector
//! ```
//! so m new items cost m·t evaluations, kept in the store like all others. With a proxy its scores with landmarks and anchors
//! are needed as well; its part of the factors is computed again from what the store holds, which takes no call.

use std::path::Path;

use crate::own_data;
use landmark_core::approximation::Embedding;
use landmark_core::oracle::block_of;
use landmark_data::{matrices, npy};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::items::OwnItems;
use landmark_harness::loaded::LoadError;
use landmark_harness::metered_store::MeteredStore;
use landmark_harness::oracles::scorer::Scorer;
use landmark_harness::problem::{Joined, similarity};
use landmark_harness::run::{self, RunError};
use landmark_oracles::subprocess::ScoredItems;
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_report::write_file;
use landmark_tasks::neighbors::nearest;
use miette::{IntoDiagnostic, Result};
use ndarray::Array2;

use crate::own::{Own, other_scorer, refused, write_table};

/// Embeds new items and lists their nearest.
pub fn project(invocation: &Invocation, file: &Path, embeddings: Option<&Path>, k: usize) -> Result<String> {
    let own = Own::open(invocation)?;
    let (Some(texts), Some(items)) = (own.matrix.dataset.texts(), &own.items) else {
        let message = "cannot embed new items: the items of the configuration are no texts";
        return Err(refused(message, "add the new items to the matrix, and run the configuration again"));
    };
    let new = texts.at_path(file).read(1).map_err(UsageError::of)?;
    let Projected { vectors, scores, evaluated } = own.project(items, &new, embeddings)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = own.folder.join(own_data::PROJECTED).join(stem);
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &vectors).into_diagnostic()?;
    write_file(&folder.join("vectors.npy"), &bytes).into_diagnostic()?;
    let rows = vec![Column::text("id", new.ids.iter().map(Some)), Column::vectors("vector", vectors.view())];
    write_table(&folder.join("vectors.parquet"), rows)?;
    let found = nearest(vectors.view(), own.vectors(), k);
    let all = || found.iter().enumerate().flat_map(|(item, list)| list.iter().map(move |one| (item, one)));
    let columns = vec![
        Column::text("id", all().map(|(item, _)| Some(new.ids[item].clone()))),
        Column::count("rank", found.iter().flat_map(|list| 1..=list.len() as u64).map(Some)),
        Column::text("neighbor", all().map(|(_, one)| Some(own.id(one.item)))),
        Column::number("score", all().map(|(_, one)| Some(one.score))),
    ];
    write_table(&folder.join("neighbors.tsv"), columns)?;
    let record = &own.options.record;
    for name in ["vectors.npy", "vectors.parquet", "neighbors.tsv"] {
        record.file(&folder.join(name));
    }
    record.fact("items", new.ids.len());
    record.fact("scores", scores);
    record.fact("calls", evaluated);
    Ok(format!(
        "{} new items embedded from {} scores, {} new calls; vectors and neighbors: `{}`\n",
        count(new.ids.len() as u64),
        count(scores),
        count(evaluated),
        folder.display()
    ))
}

/// A fault of the embeddings of new items is one of the command line, where they are named.
fn usage(error: LoadError) -> miette::Report {
    match error {
        LoadError::NoNewEmbeddings | LoadError::NewEmbeddings { .. } => UsageError::of(error).into(),
        other => RunError::from(other).into(),
    }
}

/// Factors around a proxy under a configuration without one.
fn no_proxy() -> miette::Report {
    let message = "cannot embed new items: the factors were built with a proxy, but the configuration has none";
    refused(message, "use the configuration of the run")
}

/// Vectors of new items, one a row, and what they took.
struct Projected {
    vectors: Array2<f64>,
    /// Similarities to the landmarks.
    scores: u64,
    /// Evaluations that all of it took now; a score of both orders takes two.
    evaluated: u64,
}

impl Own {
    fn project(&self, items: &OwnItems, new: &OwnItems, embeddings: Option<&Path>) -> Result<Projected> {
        let info = &self.factors.info;
        let (t, m) = (info.landmarks.len(), new.ids.len());
        let (again, fitted) = self.projection()?;
        // the landmarks come first; an anchor may be one of them
        let mut kept = info.landmarks.clone();
        kept.extend(again.iter().flat_map(Embedding::anchors).filter(|anchor| !info.landmarks.contains(anchor)));
        let embeddings = embeddings.map(matrices::read_rows).transpose().map_err(UsageError::of)?;
        let scored = |items: &OwnItems| ScoredItems::new(items.ids.clone(), items.texts.clone());
        let (old, new) = (scored(items).into_diagnostic()?, scored(new).into_diagnostic()?);
        let joined = Joined { old: &old, kept: &kept, new: &new, embeddings: embeddings.as_ref().map(Array2::view) };
        let problem = joined.load(&self.config.run, &self.matrix, self.options.data.as_deref()).map_err(usage)?;
        if problem.scorer().is_some_and(|scorer| !scorer.takes_new_items()) {
            let message =
                "cannot embed new items: the program compares items by their numbers, and a new item has none";
            return Err(refused(message, "let the program answer the greeting with `\"pairs\": \"text\"` or `\"id\"`"));
        }
        let asked = problem.scorer().map(Scorer::name);
        if let (Some(then), Some(now)) = (&info.scorer, asked)
            && then != now
        {
            return Err(other_scorer(then, now));
        }

        let proxy = self.matrix.methods.first().and_then(|method| method.proxy.as_ref());
        let proxies = problem.proxies(proxy, info.gamma).into_diagnostic()?;
        if again.is_some() && proxies.is_empty() {
            return Err(no_proxy());
        }
        let address = run::store_address(&self.config, &self.options);
        let metered = MeteredStore::open(&problem, &self.matrix, &address, self.config.run.seed).into_diagnostic()?;
        metered.carry_over(self.matrix.oracle.orders(), true).into_diagnostic()?;
        let oracle = similarity(metered.scores(), info.gamma).into_diagnostic()?;
        let (rows, landmarks): (Vec<usize>, Vec<usize>) = ((kept.len()..kept.len() + m).collect(), (0..t).collect());
        let wanted = landmarks.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j)));
        let missing = metered.stored().map_or_else(Vec::new, |stored| stored.missing_pairs(wanted));
        if !missing.is_empty() {
            // the landmarks' own scores are where a program that has changed shows
            run::with_sweep(&self.config, &self.matrix, &self.options, |context| Ok(context.check_program()?))?;
        }
        let similarities = block_of(oracle.as_ref(), &rows, &landmarks).into_diagnostic()?;
        metered.flush().into_diagnostic()?;
        let vectors = match (&again, &self.factors.projector) {
            (None, Some(projector)) => Some(similarities.dot(projector)),
            (None, None) => None,
            (Some(embedding), _) => {
                let place = |item: &usize| kept.iter().position(|kept| kept == item).unwrap_or_default();
                let anchors: Vec<usize> = embedding.anchors().iter().map(place).collect();
                let to = |items: &[usize]| -> Result<Vec<Array2<f64>>> {
                    proxies.iter().map(|proxy| block_of(proxy.as_ref(), &rows, items).into_diagnostic()).collect()
                };
                embedding.project_with_proxy(similarities.view(), &info.landmarks, &to(&landmarks)?, &to(&anchors)?)
            }
        };
        let vectors = vectors.ok_or_else(|| self.no_projection())?;
        Ok(Projected { vectors, scores: similarities.len() as u64, evaluated: fitted + metered.spent().evaluations })
    }

    /// The embedding that places new items where a proxy takes part, and the evaluations that it took; `None` where the projector alone does.
    fn projection(&self) -> Result<(Option<Embedding>, u64)> {
        if !self.factors.info.proxy {
            return if self.factors.projector.is_some() { Ok((None, 0)) } else { Err(self.no_projection()) };
        }
        let (again, evaluations) = self.embedding_again()?;
        match (&again.with_addend, &again.projector) {
            (Some(_), _) => Ok((Some(again), evaluations)),
            // the same method without its proxy
            (None, Some(_)) => Err(no_proxy()),
            (None, None) => Err(self.no_projection()),
        }
    }

    /// Refusal of factors that embed no items but their own.
    fn no_projection(&self) -> miette::Report {
        let message = format!("cannot embed new items with factors of the method `{}`", self.factors.info.method);
        refused(message, "run the configuration again with `methods: [shift_ridge]`")
    }

    /// The factors' own embedding, fitted again, and the evaluations that took: of columns that the store does not hold any more.
    fn embedding_again(&self) -> Result<(Embedding, u64)> {
        let rank = self.factors.info.rank;
        Ok(run::with_sweep(&self.config, &self.matrix, &self.options, |context| {
            let embedding = own_data::embedding_again(&context, rank);
            let embedding = embedding.map_err(|error| RunError::Asked(Box::new(error)))?;
            Ok((embedding, context.metered.spent().evaluations))
        })?)
    }
}
