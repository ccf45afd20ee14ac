//! Tables: pairs of sentences (STS benchmark, RTE, the Microsoft paraphrase corpus) and utterances with an intent each (CLINC150, SNIPS, ATIS).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::{RawFiles, Table, latin1, lines, squeezed, unexpected};
use crate::error::{DataError, excerpt};

const STS: [&str; 7] = ["genre", "file", "year", "id", "score", "sentence1", "sentence2"];
const RTE: [&str; 4] = ["label", "idx", "premise", "hypothesis"];

/// The cells of a line by tabs, without quoting.
fn cells<'a>(name: &str, line: &'a str, fewest: usize) -> Result<Vec<&'a str>, DataError> {
    let cells: Vec<&str> = line.split('\t').collect();
    if cells.len() < fewest {
        return Err(unexpected(name, format!("`{}` has {} cells of {fewest}", excerpt(line), cells.len())));
    }
    Ok(cells)
}

/// `genre file year id score sentence1 sentence2`, and columns of license and address in some lines, which are left out.
pub(super) fn sts(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&STS);
    for line in lines(text) {
        table.row(&cells(name, line, STS.len())?[..STS.len()]);
    }
    Ok(table.finish())
}

/// The same columns out of the ten of GLUE.
pub(super) fn glue_sts(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&STS);
    for line in lines(text).skip(1) {
        let cells = cells(name, line, 10)?;
        table.row(&[cells[1], cells[2], cells[3], cells[4], cells[9], cells[7], cells[8]]);
    }
    Ok(table.finish())
}

/// `sentence1 sentence2 label idx` with cells in quotation marks where one holds any; label 0 is entailment, −1 hidden.
pub(super) fn rte(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&RTE);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(b'\t').terminator(csv::Terminator::Any(b'\n')).from_reader(text.as_bytes());
    for row in reader.deserialize() {
        let (premise, hypothesis, label, index): (String, String, String, String) =
            row.map_err(|error| unexpected(name, error.to_string()))?;
        let label = match label.trim() {
            "0" => "entailment",
            "1" => "not_entailment",
            "-1" => "?",
            other => return Err(unexpected(name, format!("the label `{other}`"))),
        };
        table.row(&[label, index.trim(), &in_one_line(&premise), &in_one_line(&hypothesis)]);
    }
    Ok(table.finish())
}

/// Tabs and line ends as one blank a run.
fn in_one_line(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut was_break = false;
    for c in cell.chars() {
        let is_break = matches!(c, '\t' | '\r' | '\n');
        if !(is_break && was_break) {
            text.push(if is_break { ' ' } else { c });
        }
        was_break = is_break;
    }
    text
}

/// `index sentence1 sentence2 label` without quoting; a table without labels is the test set, whose labels are hidden.
pub(super) fn glue_rte(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&RTE);
    for line in lines(text).skip(1) {
        let cells = cells(name, line, 3)?;
        table.row(&[cells.get(3).copied().unwrap_or("?"), cells[0], cells[1], cells[2]]);
    }
    Ok(table.finish())
}

/// `quality id1 id2 sentence1 sentence2` under a header, no quoting; `order` names the pairs by their two ids.
pub(super) fn paraphrases(raw: &RawFiles, tables: &[String], order: Option<&str>) -> Result<Vec<u8>, DataError> {
    let rows = paraphrase_rows(raw, tables)?;
    let mut table = paraphrase_table();
    let Some(order) = order else {
        rows.iter().for_each(|row| table.row(row));
        return Ok(table.finish());
    };
    let by_ids: HashMap<(&str, &str), &Vec<&str>> = rows.iter().map(|row| ((row[1], row[2]), row)).collect();
    for line in lines(raw.text(order)?).skip(1) {
        let ids = cells(order, line, 3)?;
        let row = by_ids.get(&(ids[1], ids[2]));
        table.row(row.ok_or_else(|| unexpected(order, format!("no pair `{}` and `{}`", ids[1], ids[2])))?);
    }
    Ok(table.finish())
}

/// Pairs of the corpus that the list of ids names, or all others, in the order of the corpus.
pub(super) fn glue_paraphrases(raw: &RawFiles, table: &str, ids: &str, is_named: bool) -> Result<Vec<u8>, DataError> {
    let named: HashSet<&str> = lines(raw.text(ids)?).collect();
    let rows = paraphrase_rows(raw, &[table.to_owned()])?;
    let mut table = paraphrase_table();
    let is_wanted = |row: &&Vec<&str>| named.contains(format!("{}\t{}", row[1], row[2]).as_str()) == is_named;
    rows.iter().filter(is_wanted).for_each(|row| table.row(row));
    Ok(table.finish())
}

fn paraphrase_table() -> Table {
    Table::new(&["label", "id1", "id2", "sentence1", "sentence2"])
}

fn paraphrase_rows<'a>(raw: &'a RawFiles, tables: &[String]) -> Result<Vec<Vec<&'a str>>, DataError> {
    let mut rows = Vec::new();
    for name in tables {
        for line in lines(raw.text(name)?).skip(1) {
            rows.push(cells(name, line, 5)?);
        }
    }
    Ok(rows)
}

/// An object of lists `[utterance, intent]`: those of `part`, then those of `oos_part`.
pub(super) fn clinc(name: &str, bytes: &[u8], part: &str) -> Result<Vec<u8>, DataError> {
    let lists: BTreeMap<String, Vec<(String, String)>> =
        serde_json::from_slice(bytes).map_err(|error| unexpected(name, error.to_string()))?;
    let mut table = Table::new(&["intent", "text"]);
    for key in [part.to_owned(), format!("oos_{part}")] {
        let list = lists.get(&key).ok_or_else(|| unexpected(name, format!("no list `{key}`")))?;
        list.iter().for_each(|(utterance, intent)| table.row(&[intent, &squeezed(utterance)]));
    }
    Ok(table.finish())
}

#[derive(Deserialize)]
struct Utterance {
    data: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    text: String,
}

/// Files `<before><intent><after>` in the order of the intents, each an object `intent: [{data: [{text}]}]`. One of them is in Latin-1.
pub(super) fn snips(raw: &RawFiles, before: &str, after: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["intent", "text"]);
    for (name, bytes) in raw.iter() {
        let Some(intent) = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else { continue };
        let text = std::str::from_utf8(bytes).map_or_else(|_| Cow::from(latin1(bytes)), Cow::from);
        let lists: BTreeMap<String, Vec<Utterance>> =
            serde_json::from_str(&text).map_err(|error| unexpected(name, error.to_string()))?;
        for utterance in lists.get(intent).into_iter().flatten() {
            let text: String = utterance.data.iter().map(|piece| piece.text.as_str()).collect();
            table.row(&[intent, &squeezed(&text)]);
        }
    }
    Ok(table.finish())
}

/// `BOS words EOS`, a tab, a slot a word and the intent last.
pub(super) fn atis(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["intent", "text", "slots"]);
    for line in lines(text) {
        let (words, slots) = line.split_once('\t').unwrap_or((line, ""));
        let (words, slots): (Vec<&str>, Vec<&str>) =
            (words.split_whitespace().collect(), slots.split_whitespace().collect());
        match (&words[..], &slots[..]) {
            (["BOS", words @ .., "EOS"], [_, slots @ .., intent]) if words.len() == slots.len() => {
                table.row(&[intent, &words.join(" "), &slots.join(" ")]);
            }
            _ => return Err(unexpected(name, format!("`{}`", excerpt(line)))),
        }
    }
    Ok(table.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Result<Vec<u8>, DataError>) -> String {
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn the_sts_benchmark_keeps_seven_columns_and_every_blank_and_is_that_of_glue() {
        let home = "main\tA\t2012\t1\t5.000\tA  plane \"flies\".\tIt does. \r\nmain\tA\t2012\t2\t0\ta\tb\tlicence\tsite\r\n\r\n";
        let wanted = "genre\tfile\tyear\tid\tscore\tsentence1\tsentence2\n\
                      main\tA\t2012\t1\t5.000\tA  plane \"flies\".\tIt does. \nmain\tA\t2012\t2\t0\ta\tb\n";
        assert_eq!(text(sts("sts.csv", home)), wanted);
        let glue = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n\
                    0\tmain\tA\t2012\t1\tnone\tnone\tA  plane \"flies\".\tIt does. \t5.000\n\
                    1\tmain\tA\t2012\t2\tnone\tnone\ta\tb\t0\n";
        assert_eq!(text(glue_sts("dev.tsv", glue)), wanted);
        assert!(sts("sts.csv", "a\tb\n").unwrap_err().to_string().contains("`a\tb` has 2 cells of 7"));
    }

    #[test]
    fn cells_of_rte_lose_their_quotation_marks_and_line_ends() {
        let raw = "sentence1\tsentence2\tlabel\tidx\n\"He said \"\"no\"\".\nThen\tleft.\"\tHe \"left\".\t0\t0\nx\ty\t1\t1\r\nx\ty\t-1\t2\n";
        let wanted = "label\tidx\tpremise\thypothesis\nentailment\t0\tHe said \"no\". Then left.\tHe \"left\".\n\
                      not_entailment\t1\tx\ty\n?\t2\tx\ty\n";
        assert_eq!(text(rte("dev.tsv", raw)), wanted);
        let glue = "index\tsentence1\tsentence2\tlabel\n1\tx\ty\tnot_entailment\n";
        assert_eq!(text(glue_rte("dev.tsv", glue)), "label\tidx\tpremise\thypothesis\nnot_entailment\t1\tx\ty\n");
        let hidden = text(glue_rte("test.tsv", "index\tsentence1\tsentence2\n7\ta\tb\n"));
        assert_eq!(hidden, "label\tidx\tpremise\thypothesis\n?\t7\ta\tb\n");
        assert!(rte("dev.tsv", &format!("{raw}a\tb\t2\t7\n")).unwrap_err().to_string().contains("the label `2`"));
    }

    #[test]
    fn paraphrases_follow_an_order_or_are_split_by_a_list_of_ids() {
        let corpus = "\u{feff}Quality\t#1\t#2\tS\tS\r\n1\t10\t11\t\"One\tuno\r\n0\t20\t21\tTwo\tdos\r\n";
        let mut raw = RawFiles::one("a", corpus.as_bytes().to_vec());
        raw.insert("order", b"q\tid\tid\n0\t20\t21\tdois\n".to_vec());
        raw.insert("ids", b"20\t21\n".to_vec());
        let tables = ["a".to_owned()];
        let header = "label\tid1\tid2\tsentence1\tsentence2\n";
        let (one, two) = ("1\t10\t11\t\"One\tuno\n", "0\t20\t21\tTwo\tdos\n");
        assert_eq!(text(paraphrases(&raw, &tables, None)), format!("{header}{one}{two}"));
        assert_eq!(text(paraphrases(&raw, &tables, Some("order"))), format!("{header}{two}"));
        assert_eq!(text(glue_paraphrases(&raw, "a", "ids", true)), format!("{header}{two}"));
        assert_eq!(text(glue_paraphrases(&raw, "a", "ids", false)), format!("{header}{one}"));
        raw.insert("order", b"q\tid\tid\n0\t20\t99\n".to_vec());
        let error = paraphrases(&raw, &tables, Some("order")).unwrap_err().to_string();
        assert!(error.contains("no pair `20` and `99`"), "{error}");
    }

    #[test]
    fn utterances_of_every_corpus_are_an_intent_and_single_blanks() {
        let raw = br#"{"oos_val": [["who  won", "oos"]], "val": [["pay it", "pay"]]}"#;
        assert_eq!(text(clinc("c", raw, "val")), "intent\ttext\npay\tpay it\noos\twho won\n");
        assert!(clinc("c", raw, "test").unwrap_err().to_string().contains("no list `test`"));
        let play = b"{\"Play\": [{\"data\": [{\"text\": \"play \"}, {\"text\": \"caf\xe9\", \"entity\": \"x\"}]}]}";
        let raw = RawFiles::one("train_Play_full.json", play.to_vec());
        assert_eq!(text(snips(&raw, "train_", "_full.json")), "intent\ttext\nPlay\tplay café\n");
        let raw = "BOS to boston EOS\tO O B-city atis_flight\n\n";
        assert_eq!(text(atis("a", raw)), "intent\ttext\tslots\natis_flight\tto boston\tO B-city\n");
        for bad in ["BOS to boston EOS\tO O atis_flight", "to boston EOS\tO O O atis_flight", "BOS to EOS"] {
            assert!(atis("a", &format!("{raw}{bad}\n")).unwrap_err().to_string().contains(bad));
        }
    }
}
