//! Documents as JSON lines: one object a line, fields named as the columns.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Builder, Columns, Record};
use crate::error::{DataError, excerpt};
use crate::lines::Lines;

/// Reads a plain or gzip file into `builder`; blank lines are passed over.
pub(super) fn read(path: &Path, columns: &Columns, builder: &mut Builder<'_>) -> Result<(), DataError> {
    let mut lines = Lines::open(path)?;
    while let Some((number, line)) = lines.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let malformed =
            |seen: String, wanted: String| DataError::Malformed { path: path.to_owned(), line: number, seen, wanted };
        let object: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
            malformed(format!("`{}` ({error})", excerpt(line)), "one JSON object a line".to_owned())
        })?;
        let field = |name: &str| match object.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(other) => Err(malformed(
                format!("the field `{name}` is {}", excerpt(&other.to_string())),
                "a string or a number".to_owned(),
            )),
            None => Err(malformed(
                format!("an object with the fields `{}`", object.keys().cloned().collect::<Vec<_>>().join(" ")),
                format!("a field `{name}`"),
            )),
        };
        let record = Record {
            id: columns.id.as_deref().map(field).transpose()?,
            label: field(&columns.label)?,
            text: field(&columns.text)?,
            part: columns.split.as_deref().map(field).transpose()?,
        };
        builder.push(number, record)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{DocumentFormat, LabelledDocuments};
    use super::*;

    fn load(text: &str) -> Result<LabelledDocuments, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.jsonl");
        std::fs::write(&path, text).unwrap();
        let columns = Columns { id: Some("id".into()), ..Columns::default() };
        LabelledDocuments::read("mine", &path, DocumentFormat::Jsonl, &columns)
    }

    #[test]
    fn strings_and_numbers_are_read_and_line_breaks_in_texts_survive() {
        let documents = load(
            "{\"id\": 7, \"label\": \"x\", \"text\": \"a\\nb\"}\n\n{\"id\": \"8\", \"label\": 1, \"text\": \"\"}\n",
        )
        .unwrap();
        assert_eq!(documents.ids(), ["7", "8"]);
        assert_eq!(documents.texts(), ["a\nb", ""]);
        assert_eq!(documents.label_names(), ["1", "x"]);
        assert_eq!(documents.given_split(), None);
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        for (line, wanted) in [
            ("[1, 2]", "one JSON object a line"),
            ("{\"id\": 1", "one JSON object a line"),
            ("{\"id\": 1, \"label\": \"x\"}", "an object with the fields `id label`; wanted is a field `text`"),
            (
                "{\"id\": 1, \"label\": null, \"text\": \"\"}",
                "the field `label` is null; wanted is a string or a number",
            ),
        ] {
            let message =
                load(&format!("{{\"id\": 0, \"label\": 0, \"text\": \"\"}}\n{line}\n")).unwrap_err().to_string();
            assert!(message.contains("mine.jsonl:2: ") && message.contains(wanted), "{message}");
        }
        assert!(load("").unwrap_err().to_string().ends_with("holds no documents"));
    }
}
