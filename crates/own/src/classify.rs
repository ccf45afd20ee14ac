//! `landmark classify`: labels for all items from the labels of some.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::own_data::{self, labels::Judgment};
use landmark_harness::config::{TextsFormat, Tuned};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::progress::Progress;
use landmark_harness::table_file::{TableError, TableFile};
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_tasks::classification::{self, ClassificationParams};
use landmark_tasks::linear_svm::LinearSvmParams;
use miette::{IntoDiagnostic, Result};

use crate::own::{Own, refused};

/// Columns of the file of labels.
#[derive(Debug, Clone, Copy)]
pub struct LabelColumns<'a> {
    /// Ids of items; the column of the configuration where absent.
    pub id: Option<&'a str>,
    /// Their labels; an empty one is to be found.
    pub label: &'a str,
    /// `train` or `test`.
    pub split: Option<&'a str>,
}

/// Trains on the labeled items, or those of them that are to be learned from, with C by cross-validation among them, and labels the others.
pub fn classify(invocation: &Invocation, file: &Path, columns: LabelColumns<'_>) -> Result<String> {
    let own = Own::open_for_table(invocation)?;
    let given = GivenLabels::read(&own, file, columns)?;
    let names: Vec<&str> =
        given.rows.iter().map(|row| row.label.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    let label_of: HashMap<usize, usize> =
        given.rows.iter().map(|row| (row.item, names.partition_point(|name| *name < row.label.as_str()))).collect();
    let tested: HashSet<usize> = given.rows.iter().filter(|row| row.is_test).map(|row| row.item).collect();
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
    refuse_too_few(&names, &train, &labels)?;
    let folds = own.matrix.search.folds.min(smallest.unwrap_or(2)).max(2);
    let params =
        ClassificationParams { svm: own.matrix.svm.params.clone(), costs, folds, ..ClassificationParams::default() };
    let checked = params.clone().check().into_diagnostic()?;
    let (vectors, seed) = (own.factors.vectors.view(), own.config.run.seed);
    let busy = Progress::busy(format!("training SVMs on {} items", count(train.len() as u64)), own.options.quiet);
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
        format!("; test accuracy {share:.1}% of {}", count(tested.len() as u64))
    };
    let tested: Vec<usize> = rest.iter().copied().filter(|item| tested.contains(item)).collect();
    let judgment = Judgment {
        vectors,
        labels: &labels,
        names: &names,
        train: &train,
        tested: &tested,
        predicted: &rest,
        ids: &own.ids(),
        machine: &LinearSvmParams { c: best.c, ..own.matrix.svm.params.clone() },
        folds,
        seed,
    };
    own.write_facts(&path, own_data::LABELS_REPORT, &judgment.report().into_diagnostic()?)?;
    drop(busy);
    let record = &own.options.record;
    record.fact("classes", &names);
    record.fact("labelled", train.len());
    record.fact("predicted", rest.len());
    record.fact("folds", folds);
    record.fact("c", best.c);
    record.fact("accuracy", best.accuracy.mean);
    let drawn = own.draw_again();
    let unlabeled = match given.unlabeled {
        0 => String::new(),
        rows => format!("{} rows have no label and get one\n", count(rows as u64)),
    };
    Ok(format!(
        "{unlabeled}{} labeled items in {} classes, {} labeled now; accuracy {:.1}% by {folds}-fold cross-validation at C = {}{test}\nwritten: `{}`\n{drawn}",
        count(train.len() as u64),
        names.len(),
        count(rest.len() as u64),
        100.0 * best.accuracy.mean,
        short(best.c),
        path.display()
    ))
}

/// A file of labels that can't be read, and the flag that names the column it lacks.
fn lacking(error: TableError, columns: LabelColumns<'_>) -> UsageError {
    let TableError::Column { column, .. } = &error else { return UsageError::of(error) };
    let flag = match column.as_str() {
        label if label == columns.label => "use `--label COLUMN`",
        split if Some(split) == columns.split => "use `--split COLUMN`, or leave it out",
        _ => "name the column of ids by `--id COLUMN`",
    };
    UsageError::new(error.to_string(), Some(flag.to_owned()))
}

/// A number of a grid as a person would write it: `10` for 9.999999999999993.
fn short(number: f64) -> String {
    // six digits; what Rust prints of the number that these denote is the shortest text that denotes it
    format!("{number:.5e}").parse::<f64>().unwrap_or(number).to_string()
}

/// The id of an item as it stands in a cell: as written, for an id may begin with a blank, else without the blanks around it.
fn item_name<'a>(item_of: &HashMap<&str, usize>, cell: &'a str) -> &'a str {
    if item_of.contains_key(cell) { cell } else { cell.trim() }
}

struct GivenLabel {
    item: usize,
    label: String,
    is_test: bool,
}

struct GivenLabels {
    rows: Vec<GivenLabel>,
    /// Rows whose label is to be found.
    unlabeled: usize,
}

/// Refuses labels of which a cross-validation can learn nothing, by their names.
fn refuse_too_few(names: &[&str], train: &[usize], labels: &[usize]) -> Result<()> {
    let rows = |class: usize| train.iter().filter(|&&item| labels[item] == class).count();
    let classes: Vec<(&str, usize)> =
        names.iter().enumerate().map(|(class, name)| (*name, rows(class))).filter(|(_, rows)| *rows > 0).collect();
    match classes[..] {
        [(name, rows)] => Err(refused(
            format!("cannot classify: all {rows} labeled items are `{name}` (expected at least two labels)"),
            "label items of another class as well",
        )),
        // a fold that holds the only item of a class out leaves one class to learn from
        [(name, 1), _] | [_, (name, 1)] => Err(refused(
            format!("cannot cross-validate: `{name}` is the label of a single item (expected at least two per label)"),
            format!("label another item as `{name}`, or leave that row out"),
        )),
        _ => Ok(()),
    }
}

impl GivenLabels {
    fn read(own: &Own, file: &Path, columns: LabelColumns<'_>) -> Result<Self> {
        let layout = TextsFormat::of(file).filter(|layout| !matches!(layout, TextsFormat::Txt | TextsFormat::Folder));
        let layout = layout.ok_or_else(|| {
            let message = format!("cannot tell the format of `{}` from its extension", file.display());
            refused(message, "use .tsv, .csv, .jsonl or .parquet")
        })?;
        let texts = own.matrix.dataset.texts();
        let of_items = texts.and_then(|texts| texts.id.as_deref());
        let table = TableFile { path: file, layout, delimiter: texts.and_then(|texts| texts.delimiter) };
        let head = table.head().map_err(UsageError::of)?;
        let is_there = |name: &&str| head.iter().any(|column| column == name);
        // items without a column of ids are called by their numbers, and so may be the rows here
        let id = columns.id.or_else(|| of_items.filter(is_there)).or_else(|| Some("id").filter(is_there)).or(of_items);
        let mut wanted = vec![columns.label];
        wanted.extend(columns.split);
        wanted.extend(id);
        let read = table.read(&wanted).map_err(|error| lacking(error, columns))?;
        let ids = own.ids();
        let item_of: HashMap<&str, usize> = ids.iter().enumerate().map(|(item, id)| (id.as_str(), item)).collect();
        let mut given = Self { rows: Vec::new(), unlabeled: 0 };
        let (mut seen, mut any_test) = (HashMap::new(), false);
        for (at, row) in read.rows.into_iter().enumerate() {
            let cell =
                |column: usize| read.columns[column][at].as_deref().map(str::trim).filter(|text| !text.is_empty());
            let name = match id {
                Some(_) => {
                    item_name(&item_of, read.columns[wanted.len() - 1][at].as_deref().unwrap_or_default()).to_owned()
                }
                None => row.to_string(),
            };
            let Some(&item) = item_of.get(name.as_str()) else {
                let message = format!(
                    "`{}` row {row} labels `{name}`, which is not an item of `{}`",
                    file.display(),
                    own.config.run.name
                );
                return Err(refused(message, "remove the row, correct the id, or name the column of ids by `--id`"));
            };
            if let Some(first) = seen.insert(item, row) {
                let message = format!("`{}` has the id `{name}` in row {first} and again in row {row}", file.display());
                return Err(refused(message, "remove one of them"));
            }
            let is_test = match columns.split.and_then(|_| cell(1)) {
                _ if columns.split.is_none() => false,
                Some("train") => false,
                Some("test") => true,
                other => {
                    let (column, seen) = (columns.split.unwrap_or_default(), other.unwrap_or_default());
                    let message = format!("`{column}` of `{name}` in `{}` is `{seen}`", file.display());
                    return Err(refused(message, "write `train` or `test`"));
                }
            };
            any_test |= is_test;
            match cell(0) {
                Some(label) => given.rows.push(GivenLabel { item, label: label.to_owned(), is_test }),
                None => given.unlabeled += 1,
            }
        }
        if let Some(column) = columns.split.filter(|_| !any_test) {
            let message = format!("cannot test: no row of `{}` is `test` in its column `{column}`", file.display());
            return Err(refused(message, "mark some, or leave out `--split`"));
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{item_name, short};

    #[test]
    fn an_id_that_begins_with_a_blank_is_found_as_it_was_written_and_blanks_around_another_are_dropped() {
        let items = HashMap::from([(" a", 0), ("a", 1), ("b", 2)]);
        assert_eq!([" a", "a", " b ", "\ta"].map(|cell| items[item_name(&items, cell)]), [0, 1, 2, 1]);
    }

    #[test]
    fn a_cost_is_printed_as_it_would_be_written() {
        let printed = [9.999999999999993, 0.010000000000000002, 1000.0, 0.5, 31.622776601683793].map(short);
        assert_eq!(printed, ["10", "0.01", "1000", "0.5", "31.6228"]);
    }
}
