//! Trees of the user's own: a file with one in brackets a row, or CoNLL-U, whose parses become the trees of tree kernels.

use std::path::Path;

use landmark_data::dependencies::{DependencyTree, read_conllu};
use landmark_data::{KelpExamples, Part, Tree, TreeExample};

use super::LoadError;
use crate::config::{ConfigPath, OwnTreesConfig, RowSplit, TextsFormat};
use crate::items::ItemsError;
use crate::table_file::{Table, TableFile};

/// Names that a tree kernel may ask for; a tree that has no name of its own goes by each.
const NAMES: [(&str, DependencyTree); 3] =
    [("grct", DependencyTree::Grct), ("lct", DependencyTree::Lct), ("loct", DependencyTree::Loct)];
/// The label where none is named.
const UNLABELED: &str = "unlabelled";

/// The examples of a file, and of a second one that is judged.
pub(super) fn read(dataset: &str, own: &OwnTreesConfig, data: Option<&Path>) -> Result<KelpExamples, LoadError> {
    let of = |path: &ConfigPath, side| {
        let place = path.at(data).ok_or_else(|| ItemsError::NoDataFolder(path.written.clone()))?;
        if own.is_conllu() { parses(own, &place, side) } else { rows(own, &place, side) }
    };
    let mut examples = of(&own.path, matches!(own.rows, RowSplit::File(_)).then_some(Part::Train))?;
    if let RowSplit::File(path) = &own.rows {
        examples.extend(of(path, Some(Part::Test))?);
    }
    Ok(KelpExamples::of(dataset, examples)?)
}

/// The side that a column or a comment names.
fn side(own: &OwnTreesConfig, path: &Path, id: &str, stated: Option<&str>) -> Result<Option<Part>, LoadError> {
    let RowSplit::Column(column) = &own.rows else { return Ok(None) };
    match stated {
        Some("train") => Ok(Some(Part::Train)),
        Some("test") => Ok(Some(Part::Test)),
        other => Err(LoadError::Part {
            file: path.display().to_string(),
            id: id.to_owned(),
            column: column.clone(),
            seen: other.unwrap_or_default().to_owned(),
        }),
    }
}

/// Two files that have no ids have the same numbers.
fn called(name: String, has_ids: bool, file: Option<Part>) -> String {
    match file.filter(|_| !has_ids) {
        Some(part) => format!("{}/{name}", part.name()),
        None => name,
    }
}

fn rows(own: &OwnTreesConfig, path: &Path, file: Option<Part>) -> Result<Vec<TreeExample>, LoadError> {
    let layout = own.format.or_else(|| TextsFormat::of(path)).unwrap_or(TextsFormat::Tsv);
    let table = TableFile { path, layout, delimiter: own.delimiter };
    let mut wanted = vec![own.tree.as_str()];
    let id = own.id.as_deref().map(|column| {
        wanted.push(column);
        wanted.len() - 1
    });
    let label = own.label.as_deref().map(|column| {
        wanted.push(column);
        wanted.len() - 1
    });
    let split = match &own.rows {
        RowSplit::Column(column) => {
            wanted.push(column);
            Some(wanted.len() - 1)
        }
        RowSplit::Train(_) | RowSplit::File(_) => None,
    };
    let Table { rows, columns, .. } = table.read(&wanted)?;
    let example = |(at, row): (usize, usize)| -> Result<TreeExample, LoadError> {
        let cell = |column: usize| columns[column][at].as_deref().map(str::trim).filter(|cell| !cell.is_empty());
        let needed = |column: usize| {
            let seen = format!("`{}` is empty", wanted[column]);
            cell(column).map(str::to_owned).ok_or_else(|| table.row(row, seen, "give it a value, or remove the row"))
        };
        let text = needed(0)?;
        let tree: Tree = text.parse().map_err(|error: landmark_data::BracketError| {
            table.row(row, format!("`{}`: {error}", own.tree), "write a tree in brackets, as in `(S (NP a) (VP b))`")
        })?;
        let name = id.map(needed).transpose()?.unwrap_or_else(|| row.to_string());
        let part = side(own, path, &name, split.and_then(cell))?.or(file);
        // its leaves are its words
        let leaves = (0..tree.len()).filter(|&node| tree.degree(node) == 0).map(|node| tree.label(node));
        Ok(TreeExample {
            id: called(name, id.is_some(), file),
            label: label.map(needed).transpose()?.unwrap_or_else(|| UNLABELED.to_owned()),
            part,
            text: leaves.collect::<Vec<_>>().join(" "),
            trees: NAMES.iter().map(|(name, _)| ((*name).to_owned(), tree.clone())).collect(),
        })
    };
    rows.into_iter().enumerate().map(example).collect()
}

/// Sentences of CoNLL-U; labels, ids and sides stand in comments: `# label = NUM`.
fn parses(own: &OwnTreesConfig, path: &Path, file: Option<Part>) -> Result<Vec<TreeExample>, LoadError> {
    let sentences = read_conllu(path)?;
    let comments = comments(path)?;
    let table = TableFile { path, layout: TextsFormat::Txt, delimiter: None };
    let example = |(at, sentence): (usize, &landmark_data::dependencies::Sentence)| -> Result<TreeExample, LoadError> {
        let stated = |key: Option<&String>| {
            let key = key?;
            comments.get(at)?.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let name = stated(own.id.as_ref()).unwrap_or_else(|| (at + 1).to_string());
        let has_id = stated(own.id.as_ref()).is_some();
        let column = if let RowSplit::Column(column) = &own.rows { Some(column) } else { None };
        let part = side(own, path, &name, stated(column).as_deref())?.or(file);
        let label = match &own.label {
            None => UNLABELED.to_owned(),
            Some(key) => stated(Some(key)).ok_or_else(|| {
                let seen = format!("the sentence has no comment `# {key} = …`");
                table.row(at + 1, seen, "add it, or leave the key out")
            })?,
        };
        let words: Vec<&str> = sentence.words().iter().map(|word| word.form.as_str()).collect();
        Ok(TreeExample {
            id: called(name, has_id, file),
            label,
            part,
            text: words.join(" "),
            trees: NAMES.iter().map(|&(name, kind)| (name.to_owned(), sentence.tree(kind))).collect(),
        })
    };
    sentences.iter().enumerate().map(example).collect()
}

/// Comments of each sentence, `# key = value`.
fn comments(path: &Path) -> Result<Vec<Vec<(String, String)>>, LoadError> {
    let lines = TableFile { path, layout: TextsFormat::Txt, delimiter: None }.lines()?;
    let (mut all, mut waiting, mut is_open) = (Vec::new(), Vec::new(), false);
    for line in lines.lines().chain([""]) {
        if line.trim().is_empty() {
            if std::mem::take(&mut is_open) {
                all.push(std::mem::take(&mut waiting));
            }
        } else if let Some(comment) = line.strip_prefix('#') {
            let pair = comment.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
            waiting.extend(pair);
        } else {
            is_open = true;
        }
    }
    Ok(all)
}
