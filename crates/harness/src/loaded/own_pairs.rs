//! Labeled pairs of the user's own, from a file with two texts and people's judgment of them a row.

use std::collections::BTreeSet;
use std::path::Path;

use landmark_data::catalog::PairParts;
use landmark_data::{SentencePairs, Split};

use super::LoadError;
use crate::config::run_settings::RunSettings;
use crate::config::{ConfigPath, OwnPairsConfig, PairTarget, RowSplit, TextsFormat};
use crate::items::ItemsError;
use crate::table_file::{Table, TableFile};

/// Words for yes where nobody names one.
const YES: [&str; 3] = ["1", "true", "yes"];

/// A pair as it stands in a file.
struct Row {
    first: String,
    second: String,
    target: String,
    /// True where its column states that it is learned from.
    is_train: bool,
    number: usize,
}

/// Pairs to learn from and to judge by.
pub(super) fn read(
    run: &RunSettings,
    dataset: &str,
    own: &OwnPairsConfig,
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<PairParts, LoadError> {
    let mut rows = rows(own, &own.path, data, notes)?;
    let judged = match &own.split {
        Some(RowSplit::File(path)) => {
            rows.iter_mut().for_each(|row| row.is_train = true);
            self::rows(own, path, data, notes)?
        }
        Some(RowSplit::Train(share)) => {
            let split = Split::random(rows.len(), *share, run.seed, dataset, 0)?;
            split.train.iter().for_each(|&row| rows[row].is_train = true);
            Vec::new()
        }
        Some(RowSplit::Column(_)) | None => Vec::new(),
    };
    rows.extend(judged);
    let (targets, are_graded) = targets(own, &rows)?;
    let (mut train, mut dev) = (Vec::new(), Vec::new());
    for (row, target) in rows.into_iter().zip(targets) {
        let pairs = if row.is_train { &mut train } else { &mut dev };
        pairs.push((row.first, row.second, target));
    }
    if dev.is_empty() {
        let (path, seen) = (own.path.resolved.clone(), dev.len());
        return Err(ItemsError::TooFew { path, seen, wanted: 1 }.into());
    }
    Ok(PairParts { train: SentencePairs::of(train), dev: SentencePairs::of(dev), are_graded })
}

fn table<'a>(own: &OwnPairsConfig, path: &'a Path) -> TableFile<'a> {
    let layout = own.format.or_else(|| TextsFormat::of(path)).unwrap_or(TextsFormat::Tsv);
    TableFile { path, layout, delimiter: own.delimiter }
}

fn rows(
    own: &OwnPairsConfig,
    path: &ConfigPath,
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<Vec<Row>, LoadError> {
    let place = path.at(data).ok_or_else(|| ItemsError::NoDataFolder(path.written.clone()))?;
    let file = table(own, &place);
    let target = match own.target() {
        PairTarget::Score(column) | PairTarget::Label { label: column, .. } => column,
    };
    let mut wanted = vec![own.first.as_str(), &own.second, target];
    if let Some(RowSplit::Column(column)) = &own.split {
        wanted.push(column);
    }
    let Table { rows: numbers, columns, .. } = file.read(&wanted)?;
    let (mut rows, mut left_out) = (Vec::with_capacity(numbers.len()), 0);
    for (at, number) in numbers.into_iter().enumerate() {
        let cell = |column: usize| columns[column][at].as_deref().map(str::trim).filter(|text| !text.is_empty());
        let text = |column: usize| {
            let seen = format!("`{}` is blank", wanted[column]);
            cell(column).map(str::to_owned).ok_or_else(|| file.row(number, seen, "give it a text, or remove the row"))
        };
        // a pair without people's judgment judges nothing
        let Some(target) = cell(2) else {
            left_out += 1;
            continue;
        };
        let is_train = match (wanted.len() > 3).then(|| cell(3)).flatten() {
            _ if wanted.len() == 3 => false,
            Some("train") => true,
            Some("test") => false,
            other => {
                let seen = format!("`{}` is `{}`", wanted[3], other.unwrap_or_default());
                return Err(file.row(number, seen, "write `train` or `test`").into());
            }
        };
        rows.push(Row { first: text(0)?, second: text(1)?, target: target.to_owned(), is_train, number });
    }
    if left_out > 0 {
        notes.push(format!("{left_out} pairs of `{}` have nothing in `{target}` and were left out", path.written));
    }
    Ok(rows)
}

/// Targets between 0 and 1, and whether they are grades.
fn targets(own: &OwnPairsConfig, rows: &[Row]) -> Result<(Vec<f64>, bool), LoadError> {
    let file = table(own, &own.path.resolved);
    match own.target() {
        PairTarget::Score(score) => {
            let grade = |row: &Row| {
                let grade: Option<f64> = row.target.parse().ok().filter(|grade: &f64| grade.is_finite());
                grade.ok_or_else(|| {
                    let seen = format!("`{score}` is `{}`", row.target);
                    file.row(row.number, seen, "write a number, or name the column of labels: `label: …`")
                })
            };
            let grades: Vec<f64> = rows.iter().map(grade).collect::<Result<_, _>>()?;
            let least = grades.iter().copied().fold(f64::INFINITY, f64::min);
            let most = grades.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if most <= least {
                let seen = format!("`{score}` is {least} in every row");
                return Err(file.row(1, seen, "grades that are all the same judge nothing").into());
            }
            Ok((grades.into_iter().map(|grade| (grade - least) / (most - least)).collect(), true))
        }
        PairTarget::Label { label, yes } => {
            let words: BTreeSet<&str> = rows.iter().map(|row| row.target.as_str()).collect();
            let shown = words.iter().take(5).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            if words.len() != 2 {
                let seen = format!("`{label}` has {} labels: {shown}", words.len());
                return Err(file.row(1, seen, "pairs have two, yes and no; grades are a `score`").into());
            }
            let is_yes = |word: &&&str| match yes {
                Some(yes) => **word == yes,
                None => YES.contains(&word.to_lowercase().as_str()),
            };
            let Some(yes) = words.iter().find(is_yes) else {
                let seen = format!("`{label}` is {shown}");
                return Err(file.row(1, seen, "name the one that means yes: `yes: …`").into());
            };
            Ok((rows.iter().map(|row| f64::from(u8::from(row.target == **yes))).collect(), false))
        }
    }
}
