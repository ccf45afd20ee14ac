//! Documents with a label: tweets, recipes, abstracts, newsgroup posts, reviews, and the SMART collections.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::json_lines::json_lines;
use super::{RawFiles, Table, latin1, lines, malformed, shuffle, squeezed, utf8};
use crate::error::{DataError, excerpt};

/// Rows of `label …` under a split that the source does not have: ours.
fn split_rows(header: &[&str], rows: &[Vec<Cow<'_, str>>]) -> Vec<u8> {
    let mut table = Table::new(header);
    for (cells, trains) in rows.iter().zip(shuffle::trains(rows.len())) {
        let split = if trains { "train" } else { "test" };
        let cells: Vec<&str> = std::iter::once(split).chain(cells.iter().map(AsRef::as_ref)).collect();
        table.row(&cells);
    }
    table.finish()
}

/// `"positive"`, a tab, the words; further tabs are blanks.
pub(super) fn tweets(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut rows = Vec::new();
    for (number, line) in lines(text) {
        let cells = line.split_once('\t');
        let cells = cells.and_then(|(label, words)| Some((label.strip_prefix('"')?.strip_suffix('"')?, words)));
        let (label, words) = cells.filter(|(label, _)| !label.is_empty()).ok_or_else(|| {
            malformed(name, number, format!("`{}`", excerpt(line)), "a label in quotation marks, a tab, the words")
        })?;
        rows.push(vec![Cow::from(label), Cow::from(squeezed(words))]);
    }
    Ok(split_rows(&["split", "label", "text"], &rows))
}

#[derive(Deserialize)]
struct Recipe {
    id: u64,
    cuisine: String,
    ingredients: Vec<String>,
}

pub(super) fn recipes(name: &str, bytes: &[u8]) -> Result<Vec<u8>, DataError> {
    let recipes: Vec<Recipe> = serde_json::from_slice(bytes).map_err(|error| {
        malformed(name, error.line(), format!("{error}"), "a list of objects with `id`, `cuisine` and `ingredients`")
    })?;
    let row = |recipe: &Recipe| {
        let ingredients: Vec<String> = recipe.ingredients.iter().map(|ingredient| squeezed(ingredient)).collect();
        vec![Cow::from(recipe.cuisine.clone()), recipe.id.to_string().into(), ingredients.join(" | ").into()]
    };
    let rows: Vec<_> = recipes.iter().map(row).collect();
    Ok(split_rows(&["split", "label", "id", "ingredients"], &rows))
}

/// A document `<split>/<label>/<id>` of a folder.
struct InFolders<'a> {
    split: &'a str,
    label: &'a str,
    id: &'a str,
    bytes: &'a [u8],
}

/// The documents below a folder whose name ends where the split begins, test before training by their names.
fn in_folders<'a>(raw: &'a RawFiles, before: &'a str) -> impl Iterator<Item = Result<InFolders<'a>, DataError>> {
    let inside = raw.iter().filter_map(move |(name, bytes)| Some((name, name.strip_prefix(before)?, bytes)));
    inside.map(move |(name, path, bytes)| {
        let split = |word: &str| match word {
            "test" => Some("test"),
            "train" | "training" => Some("train"),
            _ => None,
        };
        let parts: Vec<&str> = path.split('/').collect();
        match parts[..] {
            [folder, label, id] if split(folder).is_some() => {
                Ok(InFolders { split: split(folder).unwrap_or_default(), label, id, bytes })
            }
            _ => Err(DataError::Archive {
                path: name.into(),
                what: format!("this path is none of `{before}<split>/<label>/<document>`"),
            }),
        }
    })
}

pub(super) fn abstracts(raw: &RawFiles, below: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["split", "label", "id", "text"]);
    for document in in_folders(raw, below) {
        let InFolders { split, label, id, bytes } = document?;
        table.row(&[split, label, id, &squeezed(&latin1(bytes))]);
    }
    Ok(table.finish())
}

/// Posts as JSON lines, headers and all, CR LF as LF; a CR alone stays.
pub(super) fn posts(raw: &RawFiles) -> Result<Vec<u8>, DataError> {
    #[derive(Serialize)]
    struct Post<'a> {
        split: &'a str,
        label: &'a str,
        id: &'a str,
        text: String,
    }
    let posts = in_folders(raw, "20news-bydate-").map(|document| {
        let InFolders { split, label, id, bytes } = document?;
        let text = latin1(bytes).replace("\r\n", "\n");
        Ok(Post { split, label, id, text })
    });
    json_lines(posts)
}

/// Reviews between `<review_text>` and `</review_text>`; bytes that are no UTF-8 become the replacement character.
pub(super) fn reviews(raw: &RawFiles, names: &[&str]) -> Result<Vec<u8>, DataError> {
    const BEGIN: &str = "<review_text>";
    const END: &str = "</review_text>";
    let mut rows = Vec::new();
    for name in names {
        let text = String::from_utf8_lossy(raw.get(name)?).into_owned();
        let (domain, sentiment) =
            name.strip_suffix(".review").and_then(|path| path.split_once('/')).unwrap_or((name, "unknown"));
        let before = rows.len();
        for (k, piece) in text.split(BEGIN).enumerate().skip(1) {
            let Some((review, _)) = piece.split_once(END) else {
                return Err(malformed(name, k, format!("a `{BEGIN}` without its end"), END));
            };
            // the one entity that occurs
            let review = squeezed(&review.replace("&amp;", "&"));
            rows.push(vec![Cow::from(domain.to_owned()), Cow::from(sentiment.to_owned()), Cow::from(review)]);
        }
        if rows.len() == before {
            return Err(DataError::Empty { path: (*name).into(), what: "`<review_text>`" });
        }
    }
    Ok(split_rows(&["split", "label", "sentiment", "text"], &rows))
}

/// SMART: `.I n` opens a document, `.T` its title, `.W` its abstract, other letters other fields. Documents without words are left out.
pub(super) fn smart(raw: &RawFiles, collections: &[(&str, &str)]) -> Result<Vec<u8>, DataError> {
    let mut rows = Vec::new();
    for &(label, name) in collections {
        let mut documents: Vec<SmartDocument> = Vec::new();
        let mut field = None;
        for (k, line) in utf8(name, raw.get(name)?)?.lines().enumerate() {
            if let Some(id) = line.strip_prefix(".I").map(str::trim).filter(|id| id.parse::<u32>().is_ok()) {
                documents.push(SmartDocument { id, title: String::new(), text: String::new() });
                field = None;
                continue;
            }
            match (line.trim_end().as_bytes(), documents.last_mut()) {
                // one collection opens with an empty field of no document
                ([b'.', letter @ b'A'..=b'Z'], _) => field = Some(*letter),
                (_, Some(document)) => document.append(field, line),
                (_, None) => {
                    return Err(malformed(name, k + 1, format!("`{}`", excerpt(line)), "`.I` and a number first"));
                }
            }
        }
        for document in documents {
            let text = squeezed(&format!("{} {}", document.title, document.text));
            if !text.is_empty() {
                rows.push(vec![Cow::from(label), Cow::from(document.id), Cow::from(text)]);
            }
        }
    }
    Ok(split_rows(&["split", "label", "id", "text"], &rows))
}

struct SmartDocument<'a> {
    id: &'a str,
    title: String,
    text: String,
}

impl SmartDocument<'_> {
    fn append(&mut self, field: Option<u8>, line: &str) {
        let text = match field {
            Some(b'T') => &mut self.title,
            Some(b'W') => &mut self.text,
            _ => return,
        };
        text.push_str(line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Result<Vec<u8>, DataError>) -> String {
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn tweets_get_our_split_and_single_blanks() {
        let raw = "\"positive\"\t a  good day \t \n\"neutral\"\tday\n";
        assert_eq!(text(tweets("t", raw)), "split\tlabel\ttext\ntest\tpositive\ta good day\ntrain\tneutral\tday\n");
        for bad in ["positive\tx", "\"positive\" x", "\"\"\tx"] {
            let error = tweets("t", &format!("{raw}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t:3: `{bad}`")), "{error}");
        }
    }

    #[test]
    fn recipes_join_their_ingredients() {
        let raw = br#"[{"id": 7, "cuisine": "greek", "ingredients": ["black  olives", "feta"]}]"#;
        assert_eq!(text(recipes("r", raw)), "split\tlabel\tid\tingredients\ntest\tgreek\t7\tblack olives | feta\n");
        let error = recipes("r", br#"[{"id": 7, "cuisine": "greek"}]"#).unwrap_err().to_string();
        assert!(error.starts_with("r:1: missing field `ingredients`"), "{error}");
    }

    #[test]
    fn folders_become_columns_and_json_lines() {
        let mut raw = RawFiles::one("o/training/C01/2", b"A \xe9tude.\n B\n".to_vec());
        raw.insert("o/test/C02/1", b"C".to_vec());
        let wanted = "split\tlabel\tid\ttext\ntest\tC02\t1\tC\ntrain\tC01\t2\tA étude. B\n";
        assert_eq!(text(abstracts(&raw, "o/")), wanted);
        raw.insert("o/dev/C02/1", b"C".to_vec());
        let error = abstracts(&raw, "o/").unwrap_err().to_string();
        assert_eq!(error, "`o/dev/C02/1`: this path is none of `o/<split>/<label>/<document>`");
        let raw = RawFiles::one("20news-bydate-test/alt.x/12", b"From: \"a\"\r\n\xe9\rz\n".to_vec());
        let wanted = r#"{"split": "test", "label": "alt.x", "id": "12", "text": "From: \"a\"\né\rz\n"}"#;
        assert_eq!(text(posts(&raw)), format!("{wanted}\n"));
    }

    #[test]
    fn reviews_are_cut_out_of_what_is_no_xml() {
        let file = b"<review>\n<review_text>\nGood &amp; \xff cheap\n</review_text>\n</review>\n";
        let raw = RawFiles::one("books/positive.review", file.to_vec());
        let names = ["books/positive.review"];
        assert_eq!(
            text(reviews(&raw, &names)),
            "split\tlabel\tsentiment\ttext\ntest\tbooks\tpositive\tGood & \u{fffd} cheap\n"
        );
        let raw = RawFiles::one("books/positive.review", file[..30].to_vec());
        let error = reviews(&raw, &names).unwrap_err().to_string();
        assert!(error.contains("a `<review_text>` without its end"), "{error}");
        let raw = RawFiles::one("books/positive.review", b"<review>".to_vec());
        assert!(reviews(&raw, &names).unwrap_err().to_string().contains("holds no `<review_text>`"));
    }

    #[test]
    fn smart_documents_are_title_and_abstract() {
        let file = b".X\n.I 1\n.T\nA title\n.A\nAn author\n.W\nsome\nwords\n.I 2\n.T\n.W\n\n".to_vec();
        let raw = RawFiles::one("med.all", file);
        let wanted = "split\tlabel\tid\ttext\ntest\tmed\t1\tA title some words\n";
        assert_eq!(text(smart(&raw, &[("med", "med.all")])), wanted);
        let raw = RawFiles::one("med.all", b".T\nA title\n".to_vec());
        let error = smart(&raw, &[("med", "med.all")]).unwrap_err().to_string();
        assert!(error.starts_with("med.all:2: `A title`; wanted is `.I` and a number first"), "{error}");
    }
}
