//! Pairs of sentences in the form in which GLUE publishes them: tab-separated under a header, no quoting.

use std::collections::HashSet;

use super::{RawFiles, Table, lines, malformed, pairs};
use crate::error::{DataError, excerpt};

struct Rows<'a> {
    name: &'a str,
    columns: &'static [&'static str],
}

impl Rows<'_> {
    fn read<'t>(&self, text: &'t str) -> Result<Vec<(usize, Vec<&'t str>)>, DataError> {
        let mut all = lines(text);
        let header = all.next().map_or("", |(_, line)| line);
        if !header.split('\t').eq(self.columns.iter().copied()) {
            return Err(malformed(self.name, 1, format!("`{}`", excerpt(header)), &self.wanted()));
        }
        let whole = |(number, line): (usize, &'t str)| {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells.len() == self.columns.len() {
                true => Ok((number, cells)),
                false => Err(malformed(self.name, number, format!("`{}`", excerpt(line)), &self.wanted())),
            }
        };
        all.map(whole).collect()
    }

    fn wanted(&self) -> String {
        format!("`{}` by tabs", self.columns.join(" "))
    }
}

/// `genre file year id score sentence1 sentence2` of the ten columns of GLUE.
pub(super) fn sts(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let columns =
        &["index", "genre", "filename", "year", "old_index", "source1", "source2", "sentence1", "sentence2", "score"];
    let mut table = Table::new(&["genre", "file", "year", "id", "score", "sentence1", "sentence2"]);
    for (number, cells) in (Rows { name, columns }).read(text)? {
        if !cells[9].parse::<f64>().is_ok_and(|score| (0.0..=5.0).contains(&score)) {
            return Err(malformed(name, number, format!("the score `{}`", cells[9]), "a number from 0 to 5"));
        }
        table.row(&[cells[1], cells[2], cells[3], cells[4], cells[9], cells[7], cells[8]]);
    }
    Ok(table.finish())
}

/// `label idx premise hypothesis`; a table without labels is the test set, whose labels are hidden.
pub(super) fn rte(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let is_test = !text.lines().next().unwrap_or_default().contains("label");
    let columns: &[&str] = match is_test {
        true => &["index", "sentence1", "sentence2"],
        false => &["index", "sentence1", "sentence2", "label"],
    };
    let mut table = Table::new(&["label", "idx", "premise", "hypothesis"]);
    for (number, cells) in (Rows { name, columns }).read(text)? {
        let label = cells.get(3).copied().unwrap_or("?");
        if !is_test && !matches!(label, "entailment" | "not_entailment") {
            return Err(malformed(name, number, format!("the label `{label}`"), "entailment or not_entailment"));
        }
        table.row(&[label, cells[0], cells[1], cells[2]]);
    }
    Ok(table.finish())
}

/// Pairs of the corpus that the list of ids names, or all others, in the order of the corpus.
pub(super) fn paraphrases(raw: &RawFiles, table: &str, ids: &str, is_named: bool) -> Result<Vec<u8>, DataError> {
    let mut named = HashSet::new();
    for (number, line) in lines(raw.text(ids)?) {
        let pair = line.split_once('\t').filter(|(first, second)| [first, second].iter().all(|id| is_id(id)));
        named.insert(pair.ok_or_else(|| malformed(ids, number, format!("`{}`", excerpt(line)), "two ids by a tab"))?);
    }
    pairs::chosen_paraphrases(raw, &[table], |first, second| named.contains(&(first, second)) == is_named)
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Result<Vec<u8>, DataError>) -> String {
        String::from_utf8(bytes.unwrap()).unwrap()
    }

    #[test]
    fn the_sts_benchmark_of_glue_is_that_of_its_home() {
        let header = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n";
        let glue = format!("{header}0\tmain\tA\t2012\t0001\tnone\tnone\tA  plane \"flies\".\tIt does. \t5.000\n");
        let home = "main\tA\t2012\t0001\t5.000\tA  plane \"flies\".\tIt does. \n";
        assert_eq!(sts("dev.tsv", &glue).unwrap(), pairs::sts("dev.csv", home).unwrap());
        let beyond = glue[header.len()..].replace("5.000", "6");
        for (bad, seen) in [("1\tmain\n", "dev.tsv:3: `1\tmain`"), (beyond.as_str(), "dev.tsv:3: the score `6`")] {
            let error = sts("dev.tsv", &format!("{glue}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(seen), "{error}");
        }
        let error = sts("test.tsv", &glue.replace("\tscore", "")).unwrap_err().to_string();
        assert!(error.starts_with("test.tsv:1: `index\tgenre"), "{error}");
    }

    #[test]
    fn rte_of_glue_is_that_of_its_copies() {
        let glue =
            "index\tsentence1\tsentence2\tlabel\n0\tHe said \"no\".\tHe left.\tentailment\n1\tx\ty\tnot_entailment\n";
        let copy = "sentence1\tsentence2\tlabel\tidx\n\"He said \"\"no\"\".\"\tHe left.\t0\t0\nx\ty\t1\t1\n";
        assert_eq!(rte("dev.tsv", glue).unwrap(), pairs::rte("dev.tsv", copy).unwrap());
        let hidden = text(rte("test.tsv", "index\tsentence1\tsentence2\n7\ta\tb\n"));
        assert_eq!(hidden, "label\tidx\tpremise\thypothesis\n?\t7\ta\tb\n");
        for (bad, seen) in [("2\ta\tb\n", "dev.tsv:4: `2\ta"), ("2\ta\tb\tmaybe\n", "dev.tsv:4: the label `maybe`")] {
            let error = rte("dev.tsv", &format!("{glue}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(seen), "{error}");
        }
    }

    #[test]
    fn a_list_of_ids_splits_the_paraphrases() {
        let corpus = "\u{feff}Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t10\t11\tOne\tuno\r\n0\t20\t21\tTwo\tdos\r\n1\t30\t31\tThree\ttres\r\n";
        let mut raw = RawFiles::one("corpus", corpus.as_bytes().to_vec());
        raw.insert("ids", b"20\t21\n".to_vec());
        let header = "label\tid1\tid2\tsentence1\tsentence2\n";
        assert_eq!(text(paraphrases(&raw, "corpus", "ids", true)), format!("{header}0\t20\t21\tTwo\tdos\n"));
        let others = format!("{header}1\t10\t11\tOne\tuno\n1\t30\t31\tThree\ttres\n");
        assert_eq!(text(paraphrases(&raw, "corpus", "ids", false)), others);
        raw.insert("ids", b"20 21\n".to_vec());
        let error = paraphrases(&raw, "corpus", "ids", true).unwrap_err().to_string();
        assert!(error.starts_with("ids:1: `20 21`"), "{error}");
    }
}
