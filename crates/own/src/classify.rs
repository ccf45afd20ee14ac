//! `runner classify`: labels for all items from the labels of some.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use landmark_harness::config::{TextsFormat, Tuned};
use landmark_harness::experiments::own_data;
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::items::{ItemFile, OwnItems};
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_tasks::classification::{self, ClassificationParams};
use miette::{IntoDiagnostic, Result};

use crate::own::Own;

/// Columns of the file of labels.
#[derive(Debug, Clone, Copy)]
pub struct LabelColumns<'a> {
    /// Ids of items.
    pub id: &'a str,
    /// Their labels.
    pub label: &'a str,
    /// `train` or `test`.
    pub split: Option<&'a str>,
}

/// Trains on the labelled items, or those of them that are to be learned from, with C by cross-validation among them, and labels the others.
///
/// # Errors
/// Factors that are not there or of another configuration, and whatever stops a run.
pub fn classify(invocation: &Invocation, file: &Path, columns: LabelColumns<'_>) -> Result<String> {
    let own = Own::open(invocation)?;
    let LabelColumns { id, label, split } = columns;
    let layout = TextsFormat::of(file).ok_or_else(|| {
        let message = format!("the ending of `{}` says nothing of its layout", file.display());
        UsageError::new(message, Some("end it in `.tsv`, `.csv`, `.jsonl` or `.parquet`".to_owned()))
    })?;
    let read = |text: &str| ItemFile { path: file, layout, id: Some(id), text }.read(2).into_diagnostic();
    let given = read(label)?;
    let names: Vec<&str> = given.texts.iter().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    let label_of = label_by_item(&own, &given.ids, &given.texts, &names, file)?;
    let tested = match split {
        Some(column) => tested_items(&own, &read(column)?, column, file)?,
        None => HashSet::new(),
    };
    let items = own.factors.info.items;
    let (train, rest): (Vec<usize>, Vec<usize>) =
        (0..items).partition(|item| label_of.contains_key(item) && !tested.contains(item));
    // a label for everyone, of which those of the others are never looked at before the end
    let labels: Vec<usize> = (0..items).map(|item| label_of.get(&item).copied().unwrap_or(0)).collect();
    let costs = match own.matrix.svm.c {
        Tuned::Fixed(c) => vec![c],
        Tuned::Search => own.matrix.search.c.points(),
    };
    let smallest = names.iter().enumerate().map(|(k, _)| train.iter().filter(|&&item| labels[item] == k).count());
    let smallest = smallest.filter(|&count| count > 0).min();
    let folds = own.matrix.search.folds.min(smallest.unwrap_or(2)).max(2);
    let params =
        ClassificationParams { svm: own.matrix.svm.params.clone(), costs, folds, ..ClassificationParams::default() };
    let checked = params.clone().check().into_diagnostic()?;
    let (vectors, seed) = (own.factors.vectors.view(), own.config.run.seed);
    let table = classification::cross_validate(vectors, &labels, &train, &checked, seed).into_diagnostic()?;
    let best = table.best();
    let mut all: Vec<usize> = labels.clone();
    if !rest.is_empty() {
        // C is chosen: once more would choose the same
        let chosen = ClassificationParams { costs: vec![best.c], ..params }.check().into_diagnostic()?;
        let outcome = classification::classify(vectors, &labels, &train, &rest, &chosen, seed).into_diagnostic()?;
        rest.iter().zip(outcome.predictions).for_each(|(&item, predicted)| all[item] = predicted);
    }
    let is_given = |item: usize| label_of.contains_key(&item) && !tested.contains(&item);
    let source = (0..items).map(|item| Some(if is_given(item) { "given" } else { "predicted" }));
    let columns = vec![
        Column::text("id", own.ids().into_iter().map(Some)),
        Column::text("label", all.iter().map(|&label| Some(names[label]))),
        Column::text("source", source),
    ];
    let path = own.write(own_data::LABELS, columns)?;
    let test = if tested.is_empty() {
        String::new()
    } else {
        let right = tested.iter().filter(|&&item| all[item] == labels[item]).count();
        let share = 100.0 * right as f64 / tested.len() as f64;
        format!("; test accuracy {share:.1} % of {}", count(tested.len() as u64))
    };
    Ok(format!(
        "{} labelled items in {} classes, {} labelled now; accuracy {:.1} % by {folds}-fold cross-validation at C = {}{test}\nwritten to `{}`\n",
        count(train.len() as u64),
        names.len(),
        count(rest.len() as u64),
        100.0 * best.accuracy.mean,
        short(best.c),
        path.display()
    ))
}

/// A number of a grid as a person would write it: `10` for 9.999999999999993.
fn short(number: f64) -> String {
    // six digits; what Rust prints of the number that these say is the shortest text that says it
    format!("{number:.5e}").parse::<f64>().unwrap_or(number).to_string()
}

/// The labelled items that are to be tested on.
fn tested_items(own: &Own, split: &OwnItems, column: &str, file: &Path) -> Result<HashSet<usize>> {
    let item_of: HashMap<String, usize> = own.ids().into_iter().enumerate().map(|(item, id)| (id, item)).collect();
    let mut tested = HashSet::new();
    for (id, part) in split.ids.iter().zip(&split.texts) {
        match part.as_str() {
            "train" => {}
            "test" => tested.extend(item_of.get(id)),
            other => {
                let message = format!("`{column}` of `{id}` in `{}` is `{other}`", file.display());
                return Err(UsageError::new(message, Some("write `train` or `test`".to_owned())).into());
            }
        }
    }
    if tested.is_empty() {
        let message = format!("no row of `{}` is `test` in its column `{column}`", file.display());
        return Err(UsageError::new(message, Some("mark some, or leave out `--split`".to_owned())).into());
    }
    Ok(tested)
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

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_cost_is_printed_as_it_would_be_written() {
        let printed = [9.999999999999993, 0.010000000000000002, 1000.0, 0.5, 31.622776601683793].map(short);
        assert_eq!(printed, ["10", "0.01", "1000", "0.5", "31.6228"]);
    }
}
