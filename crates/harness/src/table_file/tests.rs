//! Tables as other programs write them, and what is refused.

use super::*;

fn read(layout: TextsFormat, bytes: &[u8]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items");
    std::fs::write(&path, bytes).unwrap();
    let table = TableFile { path: &path, layout, delimiter: None }.read(&["text"]);
    let mut columns = table.map_err(|error| error.to_string())?.columns;
    Ok(columns.remove(0).into_iter().map(Option::unwrap_or_default).collect())
}

#[test]
fn quotes_of_a_tsv_are_read_where_a_program_wrote_them() {
    for (text, wanted) in [
        ("id\ttext\nk0\t\"she said \"\"no\"\"\"\n", vec!["she said \"no\""]),
        ("id\ttext\nk0\t\"\"\"quoted\"\" from the start\"\n", vec!["\"quoted\" from the start"]),
        // as in the files of GLUE
        ("id\ttext\nk0\t\"Hello\"\nk1\t\"open\nk2\ta \"b\" c\n", vec!["\"Hello\"", "\"open", "a \"b\" c"]),
        ("id\ttext\nk0\t\"two\nlines\"\nk1\t\"a\ttab\"\n", vec!["two\nlines", "a\ttab"]),
        ("\"id\"\t\"text\"\n\"k0\"\t\"plain\"\n", vec!["plain"]),
    ] {
        assert_eq!(read(TextsFormat::Tsv, text.as_bytes()).unwrap(), wanted, "{text:?}");
    }
}

#[test]
fn a_line_that_names_the_separator_is_no_header() {
    for text in ["sep=;\r\nid;text\r\n1;a, b\r\n", "\u{feff}sep=|\nid|text\n1|a, b\n"] {
        assert_eq!(read(TextsFormat::Csv, text.as_bytes()).unwrap(), ["a, b"]);
    }
    assert_eq!(read(TextsFormat::Tsv, b"id\ttext\r1\ta\r2\tb\r").unwrap(), ["a", "b"]);
}

#[test]
fn a_byte_that_is_not_utf_8_is_named_by_its_row_and_its_line() {
    let text = b"id,text\nk1,\"one\ntwo\nthree\"\nk2,b\nk3,caf\xe9\n";
    let message = read(TextsFormat::Csv, text).unwrap_err();
    assert!(message.contains("row 3: bytes that are not UTF-8, in line 6 of the file"), "{message}");
}
