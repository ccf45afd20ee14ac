//! What ships inside: small samples written for this project, so that a first run, the examples and the tests need no
//! download. They are no benchmark; a run that used them says so.

use std::borrow::Cow;

use crate::documents::{Columns, LabelledDocuments};
use crate::error::DataError;

/// Short documents about cooking, astronomy, gardening and cycling, with a split of their own.
///
/// # Errors
/// None in a build that passed its tests; the file goes through the same reader as a user's.
pub fn documents() -> Result<LabelledDocuments, DataError> {
    let columns = Columns { id: Some(Cow::Borrowed("id")), split: Some(Cow::Borrowed("split")), ..Columns::default() };
    LabelledDocuments::from_tsv("embedded", include_bytes!("../embedded/documents.tsv"), &columns)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_documents_are_two_hundred_distinct_short_texts_in_four_labels() {
        let documents = documents().unwrap();
        assert_eq!(documents.len(), 200);
        assert_eq!(documents.label_names(), ["astronomy", "cooking", "cycling", "gardening"]);
        let distinct: HashSet<&String> = documents.texts().iter().collect();
        assert_eq!(distinct.len(), documents.len());
        for (id, text) in documents.ids().iter().zip(documents.texts()) {
            assert!((12..=40).contains(&text.split_whitespace().count()), "{id}: {text}");
        }
        let split = documents.given_split().unwrap();
        assert_eq!((split.train.len(), split.test.len()), (140, 60));
        for label in 0..4 {
            assert_eq!(split.test.iter().filter(|&&i| documents.labels()[i] == label).count(), 15);
        }
    }
}
