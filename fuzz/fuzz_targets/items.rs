//! A user's items in TXT, TSV, CSV and JSON lines, plain or gzip; the first byte selects the format.

#![no_main]

use landmark_fuzz::{files, seed, with_file};
use landmark_harness::config::TextsFormat;
use landmark_harness::table_file::TableFile;
use libfuzzer_sys::fuzz_target;

const LAYOUTS: [TextsFormat; 4] = [TextsFormat::Txt, TextsFormat::Tsv, TextsFormat::Csv, TextsFormat::Jsonl];
const EXAMPLES: [&str; 6] = [
    "\u{0}one text\n\nanother\n",
    "\u{1}id\ttext\n1\tone\n2\ttwo\n",
    "\u{2}\u{feff}id;text\n1;\"a; b\"\n2;\"\"\"quoted\"\"\"\n",
    "\u{1}id\ttext\n1\t\"a \"\"quoted\"\"\ttab\"\n2\ttwo \"inches\"\n",
    "\u{2}sep=;\rid;text\r1;one\r2;\"two\rlines\"\r",
    "\u{3}{\"id\": 7, \"text\": \"one\"}\n\n{\"text\": null}\n",
];
/// `id`, `text` and a row, compressed, as TSV.
const GZIP: &[u8] =
    b"\x01\x1f\x8b\x08\0\0\0\0\0\x02\xff\xcbL\xe1,I\xad(\xe12\xe4\xcc\xcfK\xe5\x02\0\xa1\x0d\x92\x05\x0e\0\0\0";

fuzz_target!(
    init: seed([EXAMPLES.map(|text| text.into()).to_vec(), vec![GZIP.to_vec()], files("configs", ".tsv")].concat()),
    |bytes: &[u8]| {
        let [layout, bytes @ ..] = bytes else { return };
        let layout = LAYOUTS[usize::from(*layout) % LAYOUTS.len()];
        with_file("items", bytes, |path| {
            let file = TableFile { path, layout, delimiter: None };
            let head = file.head().map_err(|error| error.to_string())?;
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let table = file.read(&head).map_err(|error| error.to_string())?;
            assert!(table.columns.iter().all(|column| column.len() == table.rows.len()));
            file.read(&["text"]).map(drop).map_err(|error| error.to_string())
        });
    }
);
