//! A look at a user's file: its columns, what they hold, and what each is likely to be.

use std::collections::HashSet;
use std::path::Path;

use landmark_harness::config::TextsFormat;
use landmark_harness::table_file::{TableError, TableFile};

/// Names that columns of texts go by, the likeliest first.
const TEXTS: [&str; 12] = [
    "text",
    "sentence",
    "document",
    "body",
    "content",
    "abstract",
    "description",
    "question",
    "query",
    "message",
    "ingredients",
    "title",
];
/// Names that columns of ids go by.
const IDS: [&str; 7] = ["id", "key", "ids", "uid", "uuid", "doc_id", "name"];
/// Names that columns of labels go by.
const LABELS: [&str; 9] = ["label", "class", "category", "topic", "intent", "tag", "labels", "y", "target"];
/// Names that columns of splits go by.
const SPLITS: [&str; 4] = ["split", "part", "fold", "set"];
/// Names that columns of grades go by.
const SCORES: [&str; 6] = ["score", "similarity", "rating", "grade", "sim", "value"];
/// Endings by which the two texts of a pair are distinguished.
const SIDES: [(&str, &str); 5] = [("1", "2"), ("_1", "_2"), ("_a", "_b"), ("A", "B"), ("a", "b")];
/// Names of two texts of a pair that are none of these.
const COUPLES: [(&str, &str); 4] =
    [("first", "second"), ("premise", "hypothesis"), ("query", "document"), ("question", "answer")];
/// Labels that nobody calls so are recognized by how few they are.
const FEW_LABELS: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnFacts {
    pub(super) name: String,
    /// Cells that hold something.
    pub(super) filled: usize,
    /// Distinct ones among them.
    pub(super) distinct: usize,
    /// Characters of the shortest, the middle and the longest of them.
    pub(super) lengths: [usize; 3],
    /// True where all of them are numbers.
    pub(super) is_number: bool,
    /// The first three.
    pub(super) first: Vec<String>,
    /// True where they are `train` and `test`.
    pub(super) is_split: bool,
}

impl ColumnFacts {
    fn of(name: &str, cells: &[Option<String>]) -> Self {
        let filled: Vec<&str> =
            cells.iter().flatten().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
        let distinct: HashSet<&str> = filled.iter().copied().collect();
        let mut lengths: Vec<usize> = filled.iter().map(|cell| cell.chars().count()).collect();
        lengths.sort_unstable();
        let length = |place: usize| lengths.get(place).copied().unwrap_or(0);
        Self {
            name: name.to_owned(),
            filled: filled.len(),
            distinct: distinct.len(),
            lengths: [length(0), length(lengths.len() / 2), length(lengths.len().saturating_sub(1))],
            is_number: !filled.is_empty() && filled.iter().all(|cell| cell.parse::<f64>().is_ok()),
            first: filled.iter().take(3).map(|cell| (*cell).to_owned()).collect(),
            is_split: distinct.len() == 2 && distinct.contains("train") && distinct.contains("test"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inspected {
    pub(super) rows: usize,
    pub(super) columns: Vec<ColumnFacts>,
}

/// The two texts of a pair, and the judgment of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Couple<'a> {
    pub(super) first: &'a ColumnFacts,
    pub(super) second: &'a ColumnFacts,
    pub(super) target: &'a ColumnFacts,
    pub(super) is_graded: bool,
}

impl Inspected {
    pub(super) fn of(path: &Path, layout: TextsFormat) -> Result<Self, TableError> {
        let file = TableFile { path, layout, delimiter: None };
        let head = file.head()?;
        let names: Vec<&str> = head.iter().map(String::as_str).collect();
        let table = file.read(&names)?;
        let columns = names.iter().zip(&table.columns).map(|(name, cells)| ColumnFacts::of(name, cells)).collect();
        Ok(Self { rows: table.rows.len(), columns })
    }

    pub(super) fn column(&self, name: &str) -> Option<&ColumnFacts> {
        self.columns.iter().find(|column| column.name == name)
    }

    fn called(&self, names: &[&str], suits: impl Fn(&ColumnFacts) -> bool) -> Option<&ColumnFacts> {
        let called = |name: &&str| self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        names.iter().filter_map(called).find(|column| suits(column))
    }

    /// The column of texts: the one that is called so, else the longest.
    pub(super) fn text(&self) -> Option<&ColumnFacts> {
        let is_text = |column: &ColumnFacts| !column.is_number && column.filled > 0;
        let longest = self.columns.iter().filter(|column| is_text(column)).max_by_key(|column| column.lengths[1]);
        self.called(&TEXTS, is_text).or(longest)
    }

    /// The column of ids: distinct and never empty, called so or short.
    pub(super) fn id(&self, text: &str) -> Option<&ColumnFacts> {
        let is_id = |column: &ColumnFacts| column.name != text && column.distinct == self.rows && self.rows > 0;
        let short = || self.columns.iter().find(|column| is_id(column) && column.lengths[2] <= 40);
        self.called(&IDS, is_id).or_else(short)
    }

    /// Why a column that is called like ids holds none: `; `id` has duplicates or empty cells`.
    pub(super) fn why_no_id(&self, text: &str) -> String {
        let called = self.called(&IDS, |column| column.name != text);
        called.map_or_else(String::new, |column| {
            let cells = self.rows - column.distinct;
            format!("; `{}` is no id: {cells} of its {} cells are empty or repeated", column.name, self.rows)
        })
    }

    /// Why a column that is called like a split is none, as a line.
    pub(super) fn why_no_split(&self) -> Option<String> {
        let called = self.called(&SPLITS, |_| true)?;
        Some(format!(
            "ignored the column `{}`: a split has `train` or `test` in every row (got {}, …)\n",
            called.name,
            called.first.join(", ")
        ))
    }

    /// The column of labels: called so, or the only one with few values.
    pub(super) fn label(&self, taken: &[&str]) -> Option<&ColumnFacts> {
        let is_free = |column: &ColumnFacts| !taken.contains(&column.name.as_str()) && !column.is_split;
        let is_label = |column: &ColumnFacts| is_free(column) && (2..=self.rows / 2).contains(&column.distinct);
        let most = FEW_LABELS.min(self.rows / 5);
        let mut few = self.columns.iter().filter(|column| is_label(column) && column.distinct <= most);
        self.called(&LABELS, is_label).or_else(|| few.next().filter(|_| few.next().is_none()))
    }

    /// The column that holds `train` or `test`.
    pub(super) fn split(&self) -> Option<&ColumnFacts> {
        let is_split = |column: &ColumnFacts| column.is_split && column.filled == self.rows;
        self.called(&SPLITS, is_split).or_else(|| self.columns.iter().find(|column| is_split(column)))
    }

    /// Two columns of texts and the judgment of them, where the rows are pairs.
    pub(super) fn couple(&self) -> Option<Couple<'_>> {
        let is_text = |column: &&ColumnFacts| !column.is_number;
        let by_sides = self.columns.iter().flat_map(|column| {
            SIDES.iter().filter_map(move |(one, other)| {
                let stem = column.name.strip_suffix(one)?;
                Some((column, self.column(&format!("{stem}{other}"))?))
            })
        });
        let by_names = COUPLES.iter().filter_map(|(one, other)| Some((self.column(one)?, self.column(other)?)));
        let (first, second) = by_sides.chain(by_names).find(|(one, other)| is_text(one) && is_text(other))?;
        let score = self.called(&SCORES, |column| column.is_number && column.distinct > 2);
        let label = || self.called(&LABELS, |column| column.distinct == 2);
        let of = |target, is_graded| Couple { first, second, target, is_graded };
        score.map(|column| of(column, true)).or_else(|| label().map(|column| of(column, false)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked_at(text: &str) -> Inspected {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tsv");
        std::fs::write(&path, text).unwrap();
        Inspected::of(&path, TextsFormat::Tsv).unwrap()
    }

    #[test]
    fn columns_are_recognized_by_what_they_hold() {
        let rows: String = (0..20)
            .map(|i| {
                format!("k{i}\t{}\tthe text number {i} of all\t{}\n", ["a", "b"][i % 2], ["train", "test"][i / 12])
            })
            .collect();
        let seen = looked_at(&format!("key\tkind\twords\tside\n{rows}"));
        let name = |column: Option<&ColumnFacts>| column.map(|column| column.name.clone());
        assert_eq!(name(seen.text()).as_deref(), Some("words"));
        assert_eq!(name(seen.id("words")).as_deref(), Some("key"));
        assert_eq!(name(seen.label(&["words", "key"])).as_deref(), Some("kind"));
        assert_eq!(name(seen.split()).as_deref(), Some("side"));
        assert_eq!(seen.couple(), None);
        assert_eq!(seen.column("words").unwrap().lengths, [24, 25, 25]);
    }

    #[test]
    fn what_is_called_so_and_is_none_is_said() {
        let rows = "a\tone text\tx\ttrain\na\tanother text\tx\tvalid\nb\tone text\ty\tvalid\n";
        let seen = looked_at(&format!("id\ttext\tlabel\tsplit\n{rows}"));
        assert_eq!(seen.id("text"), None);
        assert_eq!(seen.why_no_id("text"), "; `id` is no id: 1 of its 3 cells are empty or repeated");
        let why = seen.why_no_split().unwrap();
        assert!(why.starts_with("ignored the column `split`") && why.contains("train, valid"), "{why}");
    }

    #[test]
    fn pairs_are_recognized_by_the_names_of_their_sides() {
        let rows: String = (0..9).map(|i| format!("one {i}\tother {i}\t{i}.5\n")).collect();
        let seen = looked_at(&format!("sentence1\tsentence2\tscore\n{rows}"));
        let couple = seen.couple().unwrap();
        assert_eq!((couple.first.name.as_str(), couple.second.name.as_str()), ("sentence1", "sentence2"));
        assert!(couple.is_graded && couple.target.name == "score");
    }
}
