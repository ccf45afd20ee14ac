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

/// A gzip file of a text.
fn gzipped(path: &Path, text: &[u8]) {
    let mut encoder = flate2::write::GzEncoder::new(std::fs::File::create(path).unwrap(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, text).unwrap();
    encoder.finish().unwrap();
}

#[test]
fn a_packed_table_that_unpacks_beyond_its_bound_is_refused_with_file_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.tsv.gz");
    let row = b"k\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
    gzipped(&path, &[&b"id\ttext\n"[..], &row.repeat(1_000_000)].concat());
    assert!(std::fs::metadata(&path).unwrap().len() < 400_000);
    let table = TableFile { path: &path, layout: TextsFormat::Tsv, delimiter: None };
    let message = table.read(&["id", "text"]).unwrap_err().to_string();
    for part in ["cannot unpack", "bomb.tsv.gz", "64.0 MiB", "max_unpacked_gib"] {
        assert!(message.contains(part), "{message}");
    }
    // what is needed of it is read
    let first = table.read_first(&["id", "text"], 60).unwrap();
    assert!(first.is_cut && first.rows.len() >= 60);
    assert_eq!(first.columns[0][59].as_deref(), Some("k"));
}

#[test]
fn rows_that_take_more_room_than_their_text_count_by_what_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.txt.gz");
    gzipped(&path, &b"a\n".repeat(2_000_000));
    let message = TableFile { path: &path, layout: TextsFormat::Txt, delimiter: None }.read(&["text"]).unwrap_err();
    assert!(message.to_string().contains("64.0 MiB"), "{message}");
}

#[test]
fn the_first_rows_of_a_large_file_are_those_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let filler = "x".repeat(200);
    let rows = 40_000;
    for (name, layout, head, row) in [
        (
            "t.csv",
            TextsFormat::Csv,
            "id,text\n",
            (|k, filler| format!("{k},\"two\nlines, {filler}\"\n")) as fn(usize, &str) -> String,
        ),
        ("t.tsv", TextsFormat::Tsv, "id\ttext\n", |k, filler| format!("{k}\t{filler}\n")),
        ("t.jsonl", TextsFormat::Jsonl, "", |k, filler| format!("{{\"id\":\"{k}\",\"text\":\"{filler}\"}}\n")),
    ] {
        let path = folder.path().join(name);
        let text: String = std::iter::once(head.to_owned()).chain((0..rows).map(|k| row(k, &filler))).collect();
        std::fs::write(&path, text).unwrap();
        let table = TableFile { path: &path, layout, delimiter: None };
        let first = table.read_first(&["id", "text"], 5).unwrap();
        let all = table.read(&["id", "text"]).unwrap();
        assert!(first.is_cut && !all.is_cut && all.rows.len() == rows, "{name}");
        let count = first.rows.len();
        assert!((5..rows).contains(&count) && first.rows == all.rows[..count], "{name}");
        for (some, whole) in first.columns.iter().zip(&all.columns) {
            assert!(some[..] == whole[..count], "{name}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn tables_packed_with_bzip2_and_zip_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"id\ttext\nk\tone\n";
    let zip = folder.path().join("x.tsv.zip");
    // a zip archive of one stored member, by hand: local header, directory, end
    let (size, name) = (u32::try_from(text.len()).unwrap().to_le_bytes(), b"x.tsv");
    let mut crc = flate2::Crc::new();
    crc.update(text);
    let facts =
        [&[10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &crc.sum().to_le_bytes(), &size, &size, &[5, 0, 0, 0]].concat();
    let local = [b"PK\x03\x04", &facts[..], name, text].concat();
    let directory = [b"PK\x01\x02\x0a\x00", &facts[..], &[0; 14], name].concat();
    let sizes = [directory.len(), local.len()].map(|length| u32::try_from(length).unwrap().to_le_bytes()).concat();
    let end = [b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &sizes[..], &[0, 0]].concat();
    std::fs::write(&zip, [local, directory, end].concat()).unwrap();
    assert_eq!(TextsFormat::of(&zip), Some(TextsFormat::Tsv));
    let table = TableFile { path: &zip, layout: TextsFormat::Tsv, delimiter: None }.read(&["text"]).unwrap();
    assert_eq!(table.columns, [[Some("one".to_owned())]]);
    assert_eq!(TextsFormat::of(Path::new("x.csv.bz2")), Some(TextsFormat::Csv));
}
