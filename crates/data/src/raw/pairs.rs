//! Pairs of sentences: the STS benchmark, GLUE's RTE and the Microsoft paraphrase corpus.

use std::collections::HashMap;

use super::{RawFiles, Table, lines, malformed};
use crate::error::{DataError, excerpt};

/// `genre file year id score sentence1 sentence2`, and columns of licence and address in some lines, which are left out.
pub(super) fn sts(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["genre", "file", "year", "id", "score", "sentence1", "sentence2"]);
    for (number, line) in lines(text) {
        let cells: Vec<&str> = line.split('\t').collect();
        let is_whole = cells.len() >= 7 && cells[4].parse::<f64>().is_ok_and(|score| (0.0..=5.0).contains(&score));
        if !is_whole {
            let wanted = "`genre file year id score sentence1 sentence2` by tabs, a score from 0 to 5";
            return Err(malformed(name, number, format!("`{}`", excerpt(line)), wanted));
        }
        table.row(&cells[..7]);
    }
    Ok(table.finish())
}

/// `sentence1 sentence2 label idx` with cells in quotation marks where one holds any; label 0 is entailment, −1 hidden.
pub(super) fn rte(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let mut table = Table::new(&["label", "idx", "premise", "hypothesis"]);
    let mut rows = Quoted { name, rest: text, line: 1 };
    let header = rows.next_row()?.map(|(_, cells)| cells).unwrap_or_default();
    if header != ["sentence1", "sentence2", "label", "idx"] {
        return Err(malformed(name, 1, format!("`{}`", header.join(" ")), "`sentence1 sentence2 label idx`"));
    }
    while let Some((number, cells)) = rows.next_row()? {
        let label = |cell: &str| match cell.trim() {
            "0" => Some("entailment"),
            "1" => Some("not_entailment"),
            "-1" => Some("?"),
            _ => None,
        };
        let [premise, hypothesis, given, index] = &cells[..] else {
            return Err(malformed(name, number, format!("{} cells", cells.len()), "4"));
        };
        let Some(label) = label(given) else {
            return Err(malformed(name, number, format!("the label `{given}`"), "0, 1 or -1"));
        };
        table.row(&[label, index.trim(), &in_one_line(premise), &in_one_line(hypothesis)]);
    }
    Ok(table.finish())
}

/// Tabs and line ends as one blank a run.
fn in_one_line(cell: &str) -> String {
    let is_break = |c: char| matches!(c, '\t' | '\r' | '\n');
    let mut text = String::with_capacity(cell.len());
    for c in cell.chars() {
        match (is_break(c), text.ends_with('\n')) {
            (true, false) => text.push('\n'),
            (true, true) => {}
            (false, _) => text.push(c),
        }
    }
    text.replace('\n', " ")
}

/// Tab-separated rows in which a cell may stand in quotation marks, doubled inside: RFC 4180 with tabs.
struct Quoted<'a> {
    name: &'a str,
    rest: &'a str,
    line: usize,
}

impl Quoted<'_> {
    /// The next row that is not blank, with the number of its first line.
    fn next_row(&mut self) -> Result<Option<(usize, Vec<String>)>, DataError> {
        loop {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let number = self.line;
            let mut cells = Vec::new();
            while self.cell(number, &mut cells)? {}
            if cells.iter().any(|cell| !cell.is_empty()) {
                return Ok(Some((number, cells)));
            }
        }
    }

    /// Takes a cell; true where another follows in the row.
    fn cell(&mut self, number: usize, cells: &mut Vec<String>) -> Result<bool, DataError> {
        let mut text = String::new();
        if let Some(mut inside) = self.rest.strip_prefix('"') {
            loop {
                let Some((before, after)) = inside.split_once('"') else {
                    return Err(malformed(self.name, number, "a quotation mark without its fellow".into(), "both"));
                };
                text.push_str(before);
                match after.strip_prefix('"') {
                    Some(more) => {
                        text.push('"');
                        inside = more;
                    }
                    None => {
                        self.rest = after;
                        break;
                    }
                }
            }
            self.line += text.matches('\n').count();
        }
        let end = self.rest.find(['\t', '\n']).unwrap_or(self.rest.len());
        let (plain, after) = self.rest.split_at(end);
        let is_last = !after.starts_with('\t');
        text.push_str(if is_last { plain.strip_suffix('\r').unwrap_or(plain) } else { plain });
        self.rest = after.get(1..).unwrap_or_default();
        self.line += usize::from(is_last);
        cells.push(text);
        Ok(!is_last)
    }
}

/// `quality id1 id2 sentence1 sentence2` under a header, no quoting; `order` names the pairs by their two ids.
pub(super) fn paraphrases(raw: &RawFiles, tables: &[&str], order: Option<&str>) -> Result<Vec<u8>, DataError> {
    let Some(order) = order else { return chosen_paraphrases(raw, tables, |_, _| true) };
    let rows = paraphrase_rows(raw, tables)?;
    let mut table = paraphrase_table();
    let by_ids: HashMap<(&str, &str), &Vec<&str>> = rows.iter().map(|row| ((row[1], row[2]), row)).collect();
    for (number, line) in lines(raw.text(order)?).filter(|(number, _)| *number > 1) {
        let mut cells = line.split('\t').skip(1);
        let ids = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let Some(row) = by_ids.get(&ids) else {
            let seen = format!("the pair `{}` and `{}`", ids.0, ids.1);
            return Err(malformed(order, number, seen, "two ids of a pair of the corpus in columns 2 and 3"));
        };
        table.row(row);
    }
    Ok(table.finish())
}

/// The same, those whose two ids are wanted, in the order of the tables.
pub(super) fn chosen_paraphrases(
    raw: &RawFiles,
    tables: &[&str],
    is_wanted: impl Fn(&str, &str) -> bool,
) -> Result<Vec<u8>, DataError> {
    let mut table = paraphrase_table();
    paraphrase_rows(raw, tables)?.iter().filter(|row| is_wanted(row[1], row[2])).for_each(|row| table.row(row));
    Ok(table.finish())
}

fn paraphrase_table() -> Table {
    Table::new(&["label", "id1", "id2", "sentence1", "sentence2"])
}

fn paraphrase_rows<'a>(raw: &'a RawFiles, tables: &[&str]) -> Result<Vec<Vec<&'a str>>, DataError> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for name in tables {
        for (number, line) in lines(raw.text(name)?).filter(|(number, _)| *number > 1) {
            let cells: Vec<&str> = line.split('\t').collect();
            if cells.len() != 5 || !matches!(cells[0], "0" | "1") {
                let wanted = "`quality id1 id2 sentence1 sentence2` by tabs, a quality of 0 or 1";
                return Err(malformed(name, number, format!("`{}`", excerpt(line)), wanted));
            }
            rows.push(cells);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Result<Vec<u8>, DataError>) -> String {
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn the_sts_benchmark_keeps_seven_columns_and_every_blank() {
        let raw = "main\tA\t2012\t1\t5.000\tA  plane \"flies\".\tIt does. \r\nmain\tA\t2012\t2\t0\ta\tb\tlicence\tsite\r\n\r\n";
        let wanted = "genre\tfile\tyear\tid\tscore\tsentence1\tsentence2\n\
                      main\tA\t2012\t1\t5.000\tA  plane \"flies\".\tIt does. \nmain\tA\t2012\t2\t0\ta\tb\n";
        assert_eq!(text(sts("sts.csv", raw)), wanted);
        for bad in ["a\tb\tc\td\t5\tone\n", "a\tb\tc\td\t6\tone\ttwo\n", "a\tb\tc\td\tNaN\tone\ttwo\n"] {
            let error = sts("sts.csv", &format!("{}{bad}", raw.trim_end_matches("\r\n\r\n").to_owned() + "\n"));
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("sts.csv:3: `a\tb"), "{error}");
        }
    }

    #[test]
    fn cells_of_rte_lose_their_quotation_marks_and_line_ends() {
        let raw = "sentence1\tsentence2\tlabel\tidx\n\"He said \"\"no\"\".\nThen\tleft.\"\tHe left.\t0\t0\nx\ty\t1\t1\r\nx\ty\t-1\t2\n";
        let wanted = "label\tidx\tpremise\thypothesis\nentailment\t0\tHe said \"no\". Then left.\tHe left.\n\
                      not_entailment\t1\tx\ty\n?\t2\tx\ty\n";
        assert_eq!(text(rte("dev.tsv", raw)), wanted);
        for (bad, seen) in [
            ("a\tb\t0\n", "dev.tsv:6: 3 cells"),
            ("a\tb\t2\t7\n", "dev.tsv:6: the label `2`"),
            ("\"a\tb\t0\t7\n", "dev.tsv:6: a quotation mark without its fellow"),
        ] {
            let error = rte("dev.tsv", &format!("{raw}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(seen), "{error}");
        }
        let error = rte("dev.tsv", "index\tsentence1\n").unwrap_err().to_string();
        assert!(error.starts_with("dev.tsv:1: `index sentence1`"), "{error}");
    }

    #[test]
    fn paraphrases_follow_the_order_that_is_given() {
        let mut raw = RawFiles::one(
            "a",
            b"\xef\xbb\xbfQuality\t#1\t#2\tS\tS\r\n1\t10\t11\t\"One\tuno\r\n0\t20\t21\tTwo\tdos\r\n".to_vec(),
        );
        raw.insert("order", b"q\tid\tid\n0\t20\t21\tdois\n".to_vec());
        let header = "label\tid1\tid2\tsentence1\tsentence2\n";
        let all = format!("{header}1\t10\t11\t\"One\tuno\n0\t20\t21\tTwo\tdos\n");
        assert_eq!(text(paraphrases(&raw, &["a"], None)), all);
        assert_eq!(text(paraphrases(&raw, &["a"], Some("order"))), format!("{header}0\t20\t21\tTwo\tdos\n"));
        raw.insert("order", b"q\tid\tid\n0\t20\t99\n".to_vec());
        let error = paraphrases(&raw, &["a"], Some("order")).unwrap_err().to_string();
        assert!(error.starts_with("order:2: the pair `20` and `99`"), "{error}");
        raw.insert("a", b"Quality\n2\t10\t11\tOne\tuno\n".to_vec());
        let error = paraphrases(&raw, &["a"], None).unwrap_err().to_string();
        assert!(error.starts_with("a:2: `2\t10"), "{error}");
    }
}
