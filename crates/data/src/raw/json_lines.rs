//! JSON lines as Python's `json.dumps(value, ensure_ascii=False)` writes them: a blank after every comma and colon.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::error::DataError;

struct WithBlanks;

impl Formatter for WithBlanks {
    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

pub(super) fn json_lines<T: Serialize>(
    values: impl Iterator<Item = Result<T, DataError>>,
) -> Result<Vec<u8>, DataError> {
    let mut text = Vec::new();
    for value in values {
        let written = value?.serialize(&mut Serializer::with_formatter(&mut text, WithBlanks));
        written.map_err(|error| DataError::Archive { path: "JSON lines".into(), what: error.to_string() })?;
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_python() {
        let value = serde_json::json!({"a": [1, "é\"\n\u{1}"], "b": {}, "c": null});
        let text = json_lines([Ok(value)].into_iter()).unwrap();
        // json.dumps({"a": [1, "é\"\n\x01"], "b": {}, "c": None}, ensure_ascii=False)
        assert_eq!(String::from_utf8(text).unwrap(), "{\"a\": [1, \"é\\\"\\n\\u0001\"], \"b\": {}, \"c\": null}\n");
    }
}
