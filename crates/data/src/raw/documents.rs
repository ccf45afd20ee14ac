//! Documents with a label: tweets, recipes, abstracts, newsgroup posts, reviews, and the SMART collections.

use std::borrow::Cow;

use rand_mt::Mt;
use serde::{Deserialize, Serialize};

use super::{RawFiles, Table, json_lines, latin1, lines, squeezed, unexpected, utf8};
use crate::error::{DataError, excerpt};

/// Rows of `label …` under a split that the source does not have: ours.
fn split_rows(header: &[&str], rows: &[Vec<Cow<'_, str>>]) -> Vec<u8> {
    let mut table = Table::new(header);
    for (cells, trains) in rows.iter().zip(trains(rows.len())) {
        let split = if trains { "train" } else { "test" };
        let cells: Vec<&str> = std::iter::once(split).chain(cells.iter().map(AsRef::as_ref)).collect();
        table.row(&cells);
    }
    table.finish()
}

/// For each of n items whether it is to be trained on: ⌊0.7 n⌋ of them, the first after Python's `random.Random(2019).shuffle`, by which the splits of
/// corpora that have none of their own were drawn: MT19937 (Matsumoto & Nishimura 1998) seeded by `init_by_array`, and Fisher–Yates from the
/// end with draws below k of ⌈log₂(k + 1)⌉ bits that are repeated until they fit.
fn trains(n: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut twister = Mt::new_with_key([2019]);
    for k in (1..n).rev() {
        let bits = usize::BITS - (k + 1).leading_zeros();
        let drawn = std::iter::repeat_with(|| (twister.next_u32() >> (32 - bits)) as usize).find(|&drawn| drawn <= k);
        order.swap(k, drawn.unwrap_or(k));
    }
    let mut trains = vec![false; n];
    order[..n * 7 / 10].iter().for_each(|&item| trains[item] = true);
    trains
}

/// `"positive"`, a tab, the words; further tabs are blanks.
pub(super) fn tweets(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut rows = Vec::new();
    for line in lines(text) {
        let cells = line.split_once('\t');
        let cells = cells.and_then(|(label, words)| Some((label.strip_prefix('"')?.strip_suffix('"')?, words)));
        let (label, words) = cells.ok_or_else(|| unexpected(name, format!("`{}`", excerpt(line))))?;
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
    let recipes: Vec<Recipe> = serde_json::from_slice(bytes).map_err(|error| unexpected(name, error.to_string()))?;
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
            _ => Err(unexpected(name, format!("a path that is none of `{before}<split>/<label>/<document>`"))),
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
pub(super) fn reviews(raw: &RawFiles, names: &[String]) -> Result<Vec<u8>, DataError> {
    let mut rows = Vec::new();
    for name in names {
        let text = String::from_utf8_lossy(raw.get(name)?).into_owned();
        let (domain, sentiment) =
            name.strip_suffix(".review").and_then(|path| path.split_once('/')).unwrap_or((name, "unknown"));
        for piece in text.split("<review_text>").skip(1) {
            let review = piece.split_once("</review_text>").map_or(piece, |(review, _)| review);
            // the one entity that occurs
            let review = squeezed(&review.replace("&amp;", "&"));
            rows.push(vec![Cow::from(domain), Cow::from(sentiment), Cow::from(review)]);
        }
    }
    Ok(split_rows(&["split", "label", "sentiment", "text"], &rows))
}

/// SMART: `.I n` opens a document, `.T` its title, `.W` its abstract, other letters other fields. Documents without words are left out.
pub(super) fn smart(raw: &RawFiles, collections: &[(String, String)]) -> Result<Vec<u8>, DataError> {
    let mut rows = Vec::new();
    for (label, name) in collections {
        let mut documents: Vec<SmartDocument> = Vec::new();
        let mut field = None;
        for line in utf8(name, raw.get(name)?)?.lines() {
            if let Some(id) = line.strip_prefix(".I").map(str::trim).filter(|id| id.parse::<u32>().is_ok()) {
                documents.push(SmartDocument { id, title: String::new(), text: String::new() });
                field = None;
                continue;
            }
            match (line.trim_end().as_bytes(), documents.last_mut()) {
                // one collection opens with an empty field of no document
                ([b'.', letter @ b'A'..=b'Z'], _) => field = Some(*letter),
                (_, Some(document)) => document.append(field, line),
                (_, None) => return Err(unexpected(name, format!("`{}` in front of `.I`", excerpt(line)))),
            }
        }
        for document in documents {
            let text = squeezed(&format!("{} {}", document.title, document.text));
            if !text.is_empty() {
                rows.push(vec![Cow::from(label.as_str()), Cow::from(document.id), Cow::from(text)]);
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
    fn the_split_is_that_of_python() {
        // order = list(range(20)); random.Random(2019).shuffle(order); sorted(order[:14])
        let chosen: Vec<usize> = trains(20).iter().enumerate().filter(|(_, trains)| **trains).map(|(k, _)| k).collect();
        assert_eq!(chosen, [0, 1, 2, 3, 6, 8, 9, 11, 12, 13, 14, 16, 17, 19]);
        assert_eq!(trains(3115).iter().filter(|&&trains| trains).count(), 2180);
        assert!(trains(0).is_empty());
    }

    #[test]
    fn tweets_get_our_split_and_single_blanks() {
        let raw = "\"positive\"\t a  good day \t \n\"neutral\"\tday\n";
        assert_eq!(text(tweets("t", raw)), "split\tlabel\ttext\ntest\tpositive\ta good day\ntrain\tneutral\tday\n");
        for bad in ["positive\tx", "\"positive\" x"] {
            assert!(tweets("t", bad).unwrap_err().to_string().contains(bad));
        }
    }

    #[test]
    fn recipes_join_their_ingredients() {
        let raw = br#"[{"id": 7, "cuisine": "greek", "ingredients": ["black  olives", "feta"]}]"#;
        assert_eq!(text(recipes("r", raw)), "split\tlabel\tid\tingredients\ntest\tgreek\t7\tblack olives | feta\n");
        let error = recipes("r", br#"[{"id": 7, "cuisine": "greek"}]"#).unwrap_err().to_string();
        assert!(error.contains("missing field `ingredients`"), "{error}");
    }

    #[test]
    fn folders_become_columns_and_json_lines() {
        let mut raw = RawFiles::one("o/training/C01/2", b"A \xe9tude.\n B\n".to_vec());
        raw.insert("o/test/C02/1", b"C".to_vec());
        let wanted = "split\tlabel\tid\ttext\ntest\tC02\t1\tC\ntrain\tC01\t2\tA étude. B\n";
        assert_eq!(text(abstracts(&raw, "o/")), wanted);
        raw.insert("o/dev/C02/1", b"C".to_vec());
        assert!(abstracts(&raw, "o/").unwrap_err().to_string().contains("`o/<split>/<label>/<document>`"));
        let raw = RawFiles::one("20news-bydate-test/alt.x/12", b"From: \"a\"\r\n\xe9\rz\n".to_vec());
        let wanted = r#"{"split": "test", "label": "alt.x", "id": "12", "text": "From: \"a\"\né\rz\n"}"#;
        assert_eq!(text(posts(&raw)), format!("{wanted}\n"));
    }

    #[test]
    fn reviews_are_cut_out_of_what_is_no_xml() {
        let file = b"<review>\n<review_text>\nGood &amp; \xff cheap\n</review_text>\n</review>\n";
        let raw = RawFiles::one("books/positive.review", file.to_vec());
        let wanted = "split\tlabel\tsentiment\ttext\ntest\tbooks\tpositive\tGood & \u{fffd} cheap\n";
        assert_eq!(text(reviews(&raw, &["books/positive.review".to_owned()])), wanted);
    }

    #[test]
    fn smart_documents_are_title_and_abstract() {
        let file = b".X\n.I 1\n.T\nA title\n.A\nAn author\n.W\nsome\nwords\n.I 2\n.T\n.W\n\n".to_vec();
        let raw = RawFiles::one("med.all", file);
        let wanted = "split\tlabel\tid\ttext\ntest\tmed\t1\tA title some words\n";
        let collections = [("med".to_owned(), "med.all".to_owned())];
        assert_eq!(text(smart(&raw, &collections)), wanted);
        let raw = RawFiles::one("med.all", b".T\nA title\n".to_vec());
        assert!(smart(&raw, &collections).unwrap_err().to_string().contains("`A title` in front of `.I`"));
    }
}
