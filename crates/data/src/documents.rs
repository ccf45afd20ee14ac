//! Documents with one label each: the items of every classification experiment.
//!
//! Texts are kept as they were read; [`Corpus`](crate::corpus::Corpus) turns them into words. Memory: the texts
//! themselves and about 60 bytes a document.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use landmark_core::oracle::Identity;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::rows::{RowFormat, Rows};
use crate::splits::{Part, Split, stratified_sample};

mod headers;
mod joined;

pub use headers::Headers;

/// The names of the columns; by default `label` and `text`, without ids and without a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    pub label: Cow<'static, str>,
    pub text: Cow<'static, str>,
    /// The column with the id; without one the documents are numbered from 1.
    pub id: Option<Cow<'static, str>>,
    /// True where ids are distinct only within a label; they become `label/id`.
    pub id_within_label: bool,
    /// The column that holds `train` or `test`.
    pub split: Option<Cow<'static, str>>,
}

impl Columns {
    /// The columns that are read: label and text, then id and split where there are such.
    fn wanted(&self) -> Vec<&str> {
        let more = [&self.id, &self.split].into_iter().flatten();
        [&self.label, &self.text].into_iter().chain(more).map(AsRef::as_ref).collect()
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self { label: "label".into(), text: "text".into(), id: None, id_within_label: false, split: None }
    }
}

/// n documents, each with an id, a text and a label; perhaps with a split of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledDocuments {
    name: String,
    ids: Vec<String>,
    texts: Vec<String>,
    labels: Vec<usize>,
    label_names: Vec<String>,
    parts: Option<Vec<Part>>,
}

impl LabelledDocuments {
    /// Reads a user's documents, under the name `name`.
    ///
    /// # Errors
    /// [`DataError`] naming file and line: a missing column, a row of another width, a label or text that is empty,
    /// a split other than `train` or `test`, an id that was seen before, bytes that are not UTF-8, no document at all.
    pub fn read(name: &str, path: &Path, format: RowFormat, columns: &Columns) -> Result<Self, DataError> {
        Self::of_rows(name, path, Rows::open(path, format, &columns.wanted())?, columns)
    }

    /// The same from memory, as tab-separated values; errors name `name` in place of a file.
    pub fn from_tsv(name: &str, bytes: &[u8], columns: &Columns) -> Result<Self, DataError> {
        let path = Path::new(name);
        Self::of_rows(name, path, Rows::new(path, bytes, RowFormat::Tsv, &columns.wanted())?, columns)
    }

    fn of_rows(name: &str, path: &Path, mut rows: Rows<impl BufRead>, columns: &Columns) -> Result<Self, DataError> {
        let mut builder = Builder::new(name, path, columns);
        while let Some((line, cells)) = rows.next_full_row()? {
            // in the order of the asking
            let mut cells = cells.into_iter();
            let (label, text) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            let id = columns.id.as_ref().and_then(|_| cells.next());
            let part = columns.split.as_ref().and_then(|_| cells.next());
            builder.push(line, Record { id, label, text, part })?;
        }
        builder.finish()
    }

    /// Documents that a reader of this crate has read: (id, label, text, part), ids distinct, parts all or none.
    pub(crate) fn from_records(
        name: &str,
        records: Vec<(String, String, String, Option<Part>)>,
    ) -> Result<Self, DataError> {
        let columns = Columns::default();
        let mut builder = Builder::new(name, Path::new(name), &columns);
        for (number, (id, label, text, part)) in records.into_iter().enumerate() {
            let part = part.map(|part| part.name().to_owned());
            builder.push(number + 1, Record { id: Some(id), label, text, part })?;
        }
        builder.finish()
    }

    /// Name of the dataset; random streams are named after it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of documents n.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The labels as indices into [`label_names`](Self::label_names).
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The names of the labels in lexicographic order.
    pub fn label_names(&self) -> &[String] {
        &self.label_names
    }

    /// The split of the data's own column, where there is one.
    pub fn given_split(&self) -> Option<Split> {
        self.parts.as_deref().map(Split::of)
    }

    /// The documents at these indices, in this order; label names are kept, even one that no document has any more.
    pub fn subset(&self, indices: &[usize]) -> Self {
        Self {
            name: self.name.clone(),
            ids: indices.iter().map(|&i| self.ids[i].clone()).collect(),
            texts: indices.iter().map(|&i| self.texts[i].clone()).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
            label_names: self.label_names.clone(),
            parts: self.parts.as_ref().map(|parts| indices.iter().map(|&i| parts[i]).collect()),
        }
    }

    /// Only the documents of the first k labels (Ohsumed's C01 … C10 of C01 … C23); the other labels are forgotten.
    ///
    /// # Errors
    /// [`DataError::Parameter`] where k is below 2 or above the number of labels.
    pub fn first_classes(&self, k: usize) -> Result<Self, DataError> {
        if !(2..=self.label_names.len()).contains(&k) {
            return Err(DataError::Parameter {
                parameter: "first_classes",
                seen: k.to_string(),
                wanted: format!("2 to {}, the number of labels of `{}`", self.label_names.len(), self.name),
            });
        }
        let kept: Vec<usize> = (0..self.len()).filter(|&i| self.labels[i] < k).collect();
        let mut documents = self.subset(&kept);
        documents.label_names.truncate(k);
        Ok(documents)
    }

    /// At most `limit` documents, every label (and side of a given split) with its share; see [`stratified_sample`].
    pub fn sample(&self, limit: usize, seed: u64) -> Self {
        let groups: Vec<usize> = (0..self.len())
            .map(|i| 2 * self.labels[i] + usize::from(self.parts.as_ref().is_some_and(|parts| parts[i] == Part::Test)))
            .collect();
        self.subset(&stratified_sample(&groups, limit, seed, &self.name))
    }

    /// A digest of ids, labels, parts and texts, in order: what a result states it was computed on.
    pub fn identity(&self) -> Identity {
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"labelled documents v1"), ("name", self.name.as_bytes())];
        for i in 0..self.len() {
            parts.push(("id", self.ids[i].as_bytes()));
            parts.push(("label", self.label_names[self.labels[i]].as_bytes()));
            parts.push(("text", self.texts[i].as_bytes()));
            if let Some(sides) = &self.parts {
                parts.push(("part", if sides[i] == Part::Train { b"train" } else { b"test" }));
            }
        }
        Identity::of(&parts)
    }

    fn map_texts(mut self, map: impl Fn(String) -> String) -> Self {
        self.texts = self.texts.into_iter().map(map).collect();
        self
    }

    /// The posts with their header block as `headers` sets it (20 Newsgroups).
    #[must_use]
    pub fn with_headers(self, headers: Headers) -> Self {
        self.map_texts(|post| headers.apply(&post))
    }
}

/// Gathers checked records; labels get their numbers at the end, when all names are known.
pub(crate) struct Builder<'a> {
    name: &'a str,
    path: &'a Path,
    columns: &'a Columns,
    ids: Vec<String>,
    line_of_id: HashMap<String, usize>,
    texts: Vec<String>,
    labels: Vec<String>,
    parts: Vec<Part>,
}

/// One document as a format found it, nothing checked.
pub(crate) struct Record {
    pub(crate) id: Option<String>,
    pub(crate) label: String,
    pub(crate) text: String,
    pub(crate) part: Option<String>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(name: &'a str, path: &'a Path, columns: &'a Columns) -> Self {
        Self {
            name,
            path,
            columns,
            ids: Vec::new(),
            line_of_id: HashMap::new(),
            texts: Vec::new(),
            labels: Vec::new(),
            parts: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, line: usize, record: Record) -> Result<(), DataError> {
        let malformed = |seen: String, wanted: &str| DataError::malformed(self.path, line, seen, wanted);
        if record.label.trim().is_empty() {
            return Err(malformed(format!("the column `{}` is empty", self.columns.label), "a label"));
        }
        if let Some(part) = &record.part {
            self.parts.push(match part.as_str() {
                "train" => Part::Train,
                "test" => Part::Test,
                other => return Err(malformed(format!("the split `{other}`"), "`train` or `test`")),
            });
        }
        let id = match record.id {
            None => (self.ids.len() + 1).to_string(),
            Some(id) if self.columns.id_within_label => format!("{}/{id}", record.label),
            Some(id) => id,
        };
        if let Some(first) = self.line_of_id.insert(id.clone(), line) {
            return Err(malformed(format!("the id `{id}` was seen before, in line {first}"), "an id of its own"));
        }
        self.ids.push(id);
        self.labels.push(record.label);
        self.texts.push(record.text);
        Ok(())
    }

    fn finish(self) -> Result<LabelledDocuments, DataError> {
        if self.ids.is_empty() {
            return Err(DataError::Empty { path: self.path.to_owned(), what: "documents" });
        }
        let mut label_names = self.labels.clone();
        label_names.sort_unstable();
        label_names.dedup();
        let number: HashMap<&str, usize> = label_names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let labels = self.labels.iter().map(|label| number[label.as_str()]).collect();
        let parts = (!self.parts.is_empty()).then_some(self.parts);
        Ok(LabelledDocuments {
            name: self.name.to_owned(),
            ids: self.ids,
            texts: self.texts,
            labels,
            label_names,
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> LabelledDocuments {
        let rows: String =
            (0..40).map(|i| format!("{}\tlabel{}\ttext {i}\n", ["train", "test"][i % 2], i % 4)).collect();
        let columns = Columns { split: Some("split".into()), ..Columns::default() };
        LabelledDocuments::from_tsv("sample", format!("split\tlabel\ttext\n{rows}").as_bytes(), &columns).unwrap()
    }

    fn columns() -> Columns {
        Columns { id: Some("id".into()), split: Some("split".into()), ..Columns::default() }
    }

    #[test]
    fn columns_may_come_in_any_order_with_others_and_quotes_are_plain() {
        let tsv = b"id\tother\ttext\tlabel\tsplit\na\t-\tsays \"hi\tx\ttrain\r\nb\t-\t\ty\ttest\n";
        let documents = LabelledDocuments::from_tsv("mine", tsv, &columns()).unwrap();
        assert_eq!(documents.ids(), ["a", "b"]);
        assert_eq!(documents.texts(), ["says \"hi", ""]);
        let split = documents.given_split().unwrap();
        assert_eq!((split.train, split.test), (vec![0], vec![1]));
    }

    #[test]
    fn objects_are_documents_too_and_line_breaks_in_their_texts_survive() {
        let lines =
            "{\"id\": 7, \"label\": \"x\", \"text\": \"a\\nb\"}\n\n{\"id\": \"8\", \"label\": 1, \"text\": \"\"}\n";
        let (_folder, path) = crate::test_files::file("mine.jsonl", lines);
        let columns = Columns { id: Some("id".into()), ..Columns::default() };
        let documents = LabelledDocuments::read("mine", &path, RowFormat::Jsonl, &columns).unwrap();
        assert_eq!(
            (documents.ids(), documents.label_names()),
            (&["7".into(), "8".into()][..], &["1".into(), "x".into()][..])
        );
        assert_eq!(documents.texts(), ["a\nb", ""]);
        std::fs::write(&path, lines.replace("\"label\": 1, ", "")).unwrap();
        let error = LabelledDocuments::read("mine", &path, RowFormat::Jsonl, &columns).unwrap_err().to_string();
        assert!(error.ends_with("mine.jsonl:3: no `label`; wanted is a text or a number there"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        let message = |tsv: &[u8]| LabelledDocuments::from_tsv("mine.tsv", tsv, &columns()).unwrap_err().to_string();
        let head = "id\tsplit\tlabel\ttext\n1\ttrain\tx\thello\n";
        for (line, wanted) in [
            ("2\ttrain\tx\n", "mine.tsv:3: 3 columns where the header has 4; wanted is one tab between two columns"),
            ("2\tdev\tx\thi\n", "mine.tsv:3: the split `dev`; wanted is `train` or `test`"),
            ("2\ttrain\t \thi\n", "mine.tsv:3: the column `label` is empty; wanted is a label"),
            ("1\ttrain\tx\thi\n", "mine.tsv:3: the id `1` was seen before, in line 2; wanted is an id of its own"),
        ] {
            assert_eq!(message(format!("{head}{line}").as_bytes()), wanted);
        }
        assert_eq!(message(b"id\tsplit\tlabel\ttext\n"), "`mine.tsv` holds no documents");
        assert!(message(b"id\tsplit\tlabel\ttext\n1\ttrain\tx\t\xff\n").starts_with("mine.tsv:2: byte 10"));
    }

    #[test]
    fn ids_that_repeat_between_labels_can_be_distinguished() {
        let columns = Columns { id_within_label: true, ..columns() };
        let tsv = b"id\tsplit\tlabel\ttext\n1\ttrain\tx\thello\n1\ttrain\ty\thello\n";
        assert_eq!(LabelledDocuments::from_tsv("mine", tsv, &columns).unwrap().ids(), ["x/1", "y/1"]);
    }

    #[test]
    fn labels_are_numbered_in_the_order_of_their_names() {
        let documents = documents();
        assert_eq!(documents.label_names(), ["label0", "label1", "label2", "label3"]);
        assert_eq!(documents.labels()[..5], [0, 1, 2, 3, 0]);
        assert_eq!(documents.ids()[..2], ["1", "2"]);
    }

    #[test]
    fn a_sample_keeps_labels_and_the_given_split_in_proportion() {
        let sample = documents().sample(20, 3);
        assert_eq!(sample.len(), 20);
        assert_eq!(sample.given_split().unwrap().train.len(), 10);
        for label in 0..4 {
            assert_eq!(sample.labels().iter().filter(|&&seen| seen == label).count(), 5);
        }
        assert_eq!(sample, documents().sample(20, 3));
    }

    #[test]
    fn the_identity_moves_with_text_label_id_part_and_order() {
        let documents = documents();
        let mut seen =
            vec![documents.identity(), documents.subset(&[1, 0]).identity(), documents.subset(&[0, 1]).identity()];
        let mut changed = documents.clone();
        changed.texts[3].push('!');
        seen.push(changed.identity());
        changed.labels[3] = 0;
        seen.push(changed.identity());
        changed.parts = None;
        seen.push(changed.identity());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 6);
        assert_eq!(documents.identity(), documents.clone().identity());
    }
}
