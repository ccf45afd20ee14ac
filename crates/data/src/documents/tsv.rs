//! Documents as tab-separated values: one header line, no quoting, one document a line.

use std::io::BufRead;
use std::path::Path;

use super::{Builder, Columns, Record};
use crate::error::DataError;
use crate::lines;
use crate::tab_separated::TabSeparated;

/// Reads a plain or gzip file into `builder`.
pub(super) fn read(path: &Path, columns: &Columns, builder: &mut Builder<'_>) -> Result<(), DataError> {
    read_from(path, lines::open(path)?, columns, builder)
}

/// Reads from any source; `path` is what errors name.
pub(super) fn read_from(
    path: &Path,
    reader: impl BufRead,
    columns: &Columns,
    builder: &mut Builder<'_>,
) -> Result<(), DataError> {
    let mut rows = TabSeparated::new(path, reader)?;
    let label = rows.place(&columns.label)?;
    let text = rows.place(&columns.text)?;
    let id = columns.id.as_deref().map(|column| rows.place(column)).transpose()?;
    let part = columns.split.as_deref().map(|column| rows.place(column)).transpose()?;
    while let Some((number, cells)) = rows.next_row()? {
        let owned = |place: usize| cells[place].to_owned();
        let record = Record { id: id.map(owned), label: owned(label), text: owned(text), part: part.map(owned) };
        builder.push(number, record)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::LabelledDocuments;
    use super::*;

    fn columns() -> Columns {
        Columns { id: Some("id".into()), split: Some("split".into()), ..Columns::default() }
    }

    fn message(tsv: &[u8]) -> String {
        LabelledDocuments::from_tsv("mine.tsv", tsv, &columns()).unwrap_err().to_string()
    }

    #[test]
    fn columns_may_come_in_any_order_beside_others_and_quotes_are_plain() {
        let tsv = b"id\tother\ttext\tlabel\tsplit\na\t-\tsays \"hi\tx\ttrain\r\nb\t-\t\ty\ttest\n";
        let documents = LabelledDocuments::from_tsv("mine", tsv, &columns()).unwrap();
        assert_eq!(documents.ids(), ["a", "b"]);
        assert_eq!(documents.texts(), ["says \"hi", ""]);
        let split = documents.given_split().unwrap();
        assert_eq!((split.train, split.test), (vec![0], vec![1]));
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        let head = "id\tsplit\tlabel\ttext\n1\ttrain\tx\thello\n";
        for (line, wanted) in [
            (
                "2\ttrain\tx\n",
                "mine.tsv:3: 3 columns in `2\ttrain\tx`; wanted is 4 columns between tabs, as in the header",
            ),
            ("2\tdev\tx\thi\n", "mine.tsv:3: the split `dev`; wanted is `train` or `test`"),
            ("2\ttrain\t \thi\n", "mine.tsv:3: the column `label` is empty; wanted is a label"),
            ("1\ttrain\tx\thi\n", "mine.tsv:3: the id `1` was seen before, in line 2; wanted is an id of its own"),
        ] {
            assert_eq!(message(format!("{head}{line}").as_bytes()), wanted);
        }
        assert_eq!(message(b""), "`mine.tsv` holds no header line");
        assert_eq!(message(b"id\tsplit\tlabel\ttext\n"), "`mine.tsv` holds no documents");
        assert_eq!(
            message(b"id\tsplit\tlabel\n"),
            "`mine.tsv` begins with the columns `id split label`; wanted is a header line with a column `text`"
        );
        assert!(message(b"id\tsplit\tlabel\ttext\n1\ttrain\tx\t\xff\n").starts_with("mine.tsv:2: byte 10"));
    }

    #[test]
    fn ids_that_repeat_between_labels_can_be_told_apart() {
        let columns = Columns { id_within_label: true, ..columns() };
        let tsv = b"id\tsplit\tlabel\ttext\n1\ttrain\tx\thello\n1\ttrain\ty\thello\n";
        assert_eq!(LabelledDocuments::from_tsv("mine", tsv, &columns).unwrap().ids(), ["x/1", "y/1"]);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let tsv = [b"id\tsplit\tlabel\ttext\n".as_slice(), &bytes].concat();
            let _ = LabelledDocuments::from_tsv("noise", &tsv, &columns());
        }
    }
}
