//! `runner classify`: labels for all items from the labels of some.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use landmark_report::amounts::count;
use landmark_tasks::classification::{self, ClassificationParams};
use miette::{IntoDiagnostic, Result};
use polars::prelude::Column;

use super::Own;
use crate::cli::{LogArgs, OwnArgs};
use crate::config::{TextsFormat, Tuned};
use crate::exit::UsageError;
use crate::items::ItemFile;

/// Trains on the labelled items, with C by cross-validation among them, and labels the others.
pub(in crate::commands) fn classify(
    arguments: &OwnArgs,
    file: &Path,
    id: &str,
    label: &str,
    log: LogArgs,
) -> Result<String> {
    let own = Own::open(arguments, log)?;
    let layout = TextsFormat::of(file).ok_or_else(|| {
        let message = format!("the ending of `{}` says nothing of its layout", file.display());
        UsageError::new(message, Some("end it in `.tsv`, `.csv`, `.jsonl` or `.parquet`".to_owned()))
    })?;
    let given = ItemFile { path: file, layout, id: Some(id), text: label }.read(2).into_diagnostic()?;
    let names: Vec<&str> = given.texts.iter().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    let label_of = label_by_item(&own, &given.ids, &given.texts, &names, file)?;
    let (train, rest): (Vec<usize>, Vec<usize>) =
        (0..own.factors.info.items).partition(|item| label_of.contains_key(item));
    // a label for everyone, of which those of the others are never looked at
    let labels: Vec<usize> =
        (0..own.factors.info.items).map(|item| label_of.get(&item).copied().unwrap_or(0)).collect();
    let costs = match own.matrix.svm.c {
        Tuned::Fixed(c) => vec![c],
        Tuned::Search => own.matrix.search.c.points(),
    };
    let smallest = names.iter().enumerate().map(|(k, _)| train.iter().filter(|&&item| labels[item] == k).count()).min();
    let folds = own.matrix.search.folds.min(smallest.unwrap_or(2)).max(2);
    let params =
        ClassificationParams { svm: own.matrix.svm.params.clone(), costs, folds, ..ClassificationParams::default() };
    let params = params.check().into_diagnostic()?;
    let vectors = own.factors.vectors.view();
    let seed = own.config.run.seed;
    let table = classification::cross_validate(vectors, &labels, &train, &params, seed).into_diagnostic()?;
    let mut all: Vec<usize> = labels.clone();
    if !rest.is_empty() {
        let outcome = classification::classify(vectors, &labels, &train, &rest, &params, seed).into_diagnostic()?;
        rest.iter().zip(outcome.predictions).for_each(|(&item, predicted)| all[item] = predicted);
    }
    let source: Vec<&str> =
        (0..all.len()).map(|item| if label_of.contains_key(&item) { "given" } else { "predicted" }).collect();
    let columns = vec![
        Column::new("id".into(), own.ids()),
        Column::new("label".into(), all.iter().map(|&label| names[label]).collect::<Vec<_>>()),
        Column::new("source".into(), source),
    ];
    let path = own.write("labels.tsv", columns)?;
    let best = table.best();
    Ok(format!(
        "{} labelled items in {} classes, {} labelled now; accuracy {:.1} % by {folds}-fold cross-validation at C = {}\nwritten to `{}`\n",
        count(train.len() as u64),
        names.len(),
        count(rest.len() as u64),
        100.0 * best.accuracy.mean,
        best.c,
        path.display()
    ))
}

fn label_by_item(
    own: &Own,
    ids: &[String],
    labels: &[String],
    names: &[&str],
    file: &Path,
) -> Result<HashMap<usize, usize>> {
    let items = own.ids();
    let item_of: HashMap<&str, usize> = items.iter().enumerate().map(|(item, id)| (id.as_str(), item)).collect();
    let find = |(id, label): (&String, &String)| -> Result<(usize, usize)> {
        let item = item_of.get(id.as_str()).copied().ok_or_else(|| {
            let message = format!("`{}` labels `{id}`, which is no item of `{}`", file.display(), own.config.run.name);
            UsageError::new(message, Some("remove the row, or correct the id".to_owned()))
        })?;
        Ok((item, names.partition_point(|name| *name < label.as_str())))
    };
    ids.iter().zip(labels).map(find).collect()
}
