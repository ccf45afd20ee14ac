//! Documents put together from several files, and cut by label.

use std::collections::BTreeSet;

use super::LabelledDocuments;
use crate::splits::Part;

impl LabelledDocuments {
    /// One set of documents from a part to train on and a part to test on; ids become `train/1`, `test/1`. A label that only one of
    /// them has is kept.
    pub fn joined(name: &str, train: &Self, test: &Self) -> Self {
        let names: BTreeSet<&String> = train.label_names.iter().chain(&test.label_names).collect();
        let label_names: Vec<String> = names.into_iter().cloned().collect();
        let mut joined = Self {
            name: name.to_owned(),
            ids: Vec::new(),
            texts: Vec::new(),
            labels: Vec::new(),
            label_names: Vec::new(),
            parts: None,
        };
        let mut parts = Vec::new();
        for (documents, part, prefix) in [(train, Part::Train, "train"), (test, Part::Test, "test")] {
            joined.ids.extend(documents.ids.iter().map(|id| format!("{prefix}/{id}")));
            joined.texts.extend_from_slice(&documents.texts);
            let number = |&label: &usize| label_names.partition_point(|name| *name < documents.label_names[label]);
            joined.labels.extend(documents.labels.iter().map(number));
            parts.extend(std::iter::repeat_n(part, documents.len()));
        }
        Self { label_names, parts: Some(parts), ..joined }
    }

    /// Only the documents whose label `keep` wants; the other labels are forgotten.
    pub fn with_labels(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|&i| keep(&self.label_names[self.labels[i]])).collect();
        self.subset(&kept).with_used_labels()
    }

    #[must_use]
    pub fn with_used_labels(mut self) -> Self {
        let used: BTreeSet<usize> = self.labels.iter().copied().collect();
        let used: Vec<usize> = used.into_iter().collect();
        self.label_names = used.iter().map(|&label| self.label_names[label].clone()).collect();
        self.labels.iter_mut().for_each(|label| *label = used.partition_point(|&other| other < *label));
        self
    }

    /// The same documents under another name.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::Columns;
    use super::*;

    fn documents(rows: &str) -> LabelledDocuments {
        LabelledDocuments::from_tsv("sample", format!("label\ttext\n{rows}").as_bytes(), &Columns::default()).unwrap()
    }

    #[test]
    fn joined_documents_keep_their_labels_by_name_and_their_sides() {
        let joined = LabelledDocuments::joined("both", &documents("b\tx\nd\ty\n"), &documents("a\tz\nd\tw\n"));
        assert_eq!(joined.label_names(), ["a", "b", "d"]);
        assert_eq!(joined.labels(), [1, 2, 0, 2]);
        assert_eq!(joined.ids(), ["train/1", "train/2", "test/1", "test/2"]);
        assert_eq!(joined.given_split().unwrap().test, [2, 3]);
    }
}
