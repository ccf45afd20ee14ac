//! Examples in KeLP's own format (`.klp`): one a line, some labels and then named representations of the same item.
//!
//! ```text
//! NUM |BS:quest| How far is it ? |ES| |BV:bow| _far__r:1.0 _it__p:1.0 |EV| |BT:grct| (SYNT##root(…)) |ET|
//! ```
//!
//! `BS … ES` holds a text, `BV … EV` a sparse vector as `name:value`, `BT … ET` a tree in brackets. A line is kept as it
//! is; a representation is read when it is asked for. Source: Filice et al. 2015, "KeLP: a kernel-based learning
//! platform"; the format is described in its documentation. Memory: the lines.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::documents::LabelledDocuments;
use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::splits::Part;
use crate::tree::Tree;

/// Sparse vectors over one list of names: (column, value) of each item, columns ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedVectors {
    names: Vec<String>,
    rows: Vec<Vec<(usize, f64)>>,
}

impl NamedVectors {
    /// The names of the columns, in the order they were first seen.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One sparse row an item.
    pub fn rows(&self) -> &[Vec<(usize, f64)>] {
        &self.rows
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeExample {
    pub id: String,
    pub label: String,
    pub part: Option<Part>,
    pub text: String,
    pub trees: Vec<(String, Tree)>,
}

/// The examples of one or more `.klp` files.
#[derive(Debug, Clone)]
pub struct KelpExamples {
    name: String,
    files: Vec<(PathBuf, Option<Part>)>,
    lines: Vec<Example>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Example {
    file: usize,
    number: usize,
    id: String,
    line: String,
    trees: Vec<(String, Tree)>,
}

impl KelpExamples {
    /// Reads files, plain or gzip, each perhaps one side of a split. Ids are `part/line`, or `line` without a split.
    ///
    /// # Errors
    /// [`DataError`] with file and line for a line without a label or with a representation that is not closed; a file
    /// without examples.
    pub fn read(name: &str, files: &[(&Path, Option<Part>)]) -> Result<Self, DataError> {
        let mut examples = Self {
            name: name.to_owned(),
            files: files.iter().map(|&(path, part)| (path.to_owned(), part)).collect(),
            lines: Vec::new(),
            by_id: HashMap::new(),
        };
        for (file, &(path, part)) in files.iter().enumerate() {
            let before = examples.lines.len();
            let mut lines = Lines::open(path)?;
            while let Some((number, line)) = lines.next_line()? {
                if !line.trim().is_empty() {
                    examples.push(file, number, line, part)?;
                }
            }
            if examples.lines.len() == before {
                return Err(DataError::Empty { path: path.to_owned(), what: "examples" });
            }
        }
        Ok(examples)
    }

    /// Examples in memory: an id, a label, perhaps a side, a text, and trees in brackets by name. Bags of the words of the texts are called
    /// `bow`. Errors name `name` in place of a file, and the number of the example.
    ///
    /// # Errors
    /// An example without trees, brackets that do not match, an id that was seen before.
    pub fn of(name: &str, examples: Vec<TreeExample>) -> Result<Self, DataError> {
        let mut all = Self {
            name: name.to_owned(),
            files: [None, Some(Part::Train), Some(Part::Test)].map(|part| (PathBuf::from(name), part)).to_vec(),
            lines: Vec::with_capacity(examples.len()),
            by_id: HashMap::new(),
        };
        // a mark would end a representation, a blank a label
        let plain = |text: &str| text.replace('|', " ").replace(['\n', '\r', '\t'], " ");
        for (at, TreeExample { id, label, part, text, trees }) in examples.into_iter().enumerate() {
            let mut words: BTreeMap<String, usize> = BTreeMap::new();
            let lower = text.to_lowercase();
            let found = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            found.for_each(|word| *words.entry(word.to_owned()).or_default() += 1);
            let bag: Vec<String> = words.iter().map(|(word, count)| format!("{word}:{count}")).collect();
            let label = plain(&label).split_whitespace().collect::<Vec<_>>().join("_");
            let line = format!("{label} |BS:quest| {} |ES| |BV:bow| {} |EV|", plain(&text), bag.join(" "));
            let file = match part {
                None => 0,
                Some(Part::Train) => 1,
                Some(Part::Test) => 2,
            };
            let example = Example { file, number: at + 1, id: id.clone(), line, trees };
            if label.is_empty() || example.trees.is_empty() {
                return Err(all.malformed(&example, format!("`{id}`"), "a label and a tree"));
            }
            if all.by_id.insert(id.clone(), at).is_some() {
                return Err(all.malformed(&example, format!("the id `{id}` again"), "distinct ids"));
            }
            all.lines.push(example);
        }
        if all.lines.is_empty() {
            return Err(DataError::Empty { path: PathBuf::from(name), what: "trees" });
        }
        Ok(all)
    }

    fn push(&mut self, file: usize, number: usize, line: &str, part: Option<Part>) -> Result<(), DataError> {
        let id = match part {
            Some(part) => format!("{}/{number}", part.name()),
            None if self.files.len() > 1 => format!("{}/{number}", file + 1),
            None => number.to_string(),
        };
        self.by_id.insert(id.clone(), self.lines.len());
        let example = Example { file, number, id, line: line.to_owned(), trees: Vec::new() };
        if example.label().is_none() {
            return Err(self.malformed(
                &example,
                format!("`{}`", excerpt(line)),
                "a label, then `|BS:name| … |ES|` and others",
            ));
        }
        if let Some(open) = example.unclosed() {
            return Err(self.malformed(
                &example,
                format!("`{open}` is never closed"),
                "`|ES|`, `|EV|` or `|ET|` after it",
            ));
        }
        self.lines.push(example);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The names of the representations of the first example, in their order.
    pub fn representations(&self) -> Vec<&str> {
        self.lines.first().map(|example| example.names().collect()).unwrap_or_default()
    }

    /// The examples as documents: id, label and split as read, the text of representation `text`.
    pub fn documents(&self, text: &str) -> Result<LabelledDocuments, DataError> {
        let records = self.lines.iter().map(|example| {
            let text = self.field(example, text, "S")?.trim().to_owned();
            let label = example.label().unwrap_or_default().to_owned();
            Ok((example.id.clone(), label, text, self.files[example.file].1))
        });
        LabelledDocuments::from_records(&self.name, records.collect::<Result<_, DataError>>()?)
    }

    /// The trees called `name` of the examples with these ids.
    ///
    /// # Errors
    /// [`DataError::Malformed`] with file and line: no representation of this name (those there are, are named), one of
    /// another kind, a tree whose brackets do not match; [`DataError::Parameter`] for an id that is not there.
    pub fn trees(&self, name: &str, ids: &[String]) -> Result<Vec<Tree>, DataError> {
        let read = |id: &String| {
            let example = self.example(id)?;
            if let Some((_, tree)) = example.trees.iter().find(|(own, _)| own == name) {
                return Ok(tree.clone());
            }
            let text = self.field(example, name, "T")?;
            text.parse().map_err(|error: crate::tree::BracketError| {
                self.malformed(example, format!("the tree `{name}`: {error}"), "balanced brackets")
            })
        };
        ids.iter().map(read).collect()
    }

    /// The vectors called `name` of the examples with these ids.
    ///
    /// # Errors
    /// As [`trees`](Self::trees); an entry that is not `name:value` with a finite value.
    pub fn vectors(&self, name: &str, ids: &[String]) -> Result<NamedVectors, DataError> {
        let mut columns: HashMap<String, usize> = HashMap::new();
        let mut vectors = NamedVectors { names: Vec::new(), rows: Vec::with_capacity(ids.len()) };
        for id in ids {
            let example = self.example(id)?;
            let mut row = Vec::new();
            for entry in self.field(example, name, "V")?.split_whitespace() {
                let (feature, value) = entry
                    .rsplit_once(':')
                    .and_then(|(feature, value)| Some((feature, value.parse::<f64>().ok().filter(|v| v.is_finite())?)))
                    .ok_or_else(|| self.malformed(example, format!("`{}`", excerpt(entry)), "`feature:number`"))?;
                let next = vectors.names.len();
                let column = *columns.entry(feature.to_owned()).or_insert(next);
                if column == next {
                    vectors.names.push(feature.to_owned());
                }
                row.push((column, value));
            }
            row.sort_by_key(|&(column, _)| column);
            vectors.rows.push(row);
        }
        Ok(vectors)
    }

    fn example(&self, id: &str) -> Result<&Example, DataError> {
        self.by_id.get(id).map(|&place| &self.lines[place]).ok_or_else(|| DataError::Parameter {
            parameter: "ids",
            seen: format!("`{id}`"),
            wanted: format!("an id of `{}`, such as `{}`", self.name, self.lines[0].id),
        })
    }

    fn field<'a>(&self, example: &'a Example, name: &str, kind: &str) -> Result<&'a str, DataError> {
        let found = example.fields().find(|field| field.name == name);
        match found {
            Some(field) if field.kind == kind => Ok(field.content),
            Some(field) => Err(self.malformed(
                example,
                format!("the representation `{name}` is a {}", kind_name(field.kind)),
                &format!("a {}", kind_name(kind)),
            )),
            None => {
                let names: Vec<String> = example.names().map(|name| format!("`{name}`")).collect();
                Err(self.malformed(
                    example,
                    format!("no representation `{name}`"),
                    &format!("one of this line's: {}", names.join(", ")),
                ))
            }
        }
    }

    fn malformed(&self, example: &Example, seen: String, wanted: &str) -> DataError {
        let path = self.files[example.file].0.clone();
        DataError::malformed(&path, example.number, seen, wanted)
    }
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "S" => "text",
        "V" => "vector",
        "T" => "tree",
        _ => "representation of an unknown kind",
    }
}

/// `|BT:grct| (…) |ET|` taken apart.
struct Field<'a> {
    kind: &'a str,
    name: &'a str,
    content: &'a str,
}

/// The opening mark `|B` of the next representation: its place, its kind and name, and what follows it.
fn opening(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("|B")?;
    let (mark, rest) = text[start + 2..].split_once('|')?;
    let (kind, name) = mark.split_once(':')?;
    Some((kind, name, rest))
}

impl Example {
    fn label(&self) -> Option<&str> {
        let head = self.line.find("|B").map_or(self.line.as_str(), |start| &self.line[..start]);
        head.split_whitespace().next()
    }

    fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        let mut rest = self.line.as_str();
        std::iter::from_fn(move || {
            let (kind, name, after) = opening(rest)?;
            let (content, following) = after.split_once(format!("|E{kind}|").as_str())?;
            rest = following;
            Some(Field { kind, name, content })
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.fields().map(|field| field.name).chain(self.trees.iter().map(|(name, _)| name.as_str()))
    }

    /// The opening mark that no closing one follows.
    fn unclosed(&self) -> Option<String> {
        let mut rest = self.line.as_str();
        while let Some((kind, name, after)) = opening(rest) {
            match after.split_once(format!("|E{kind}|").as_str()) {
                Some((_, following)) => rest = following,
                None => return Some(format!("|B{kind}:{name}|")),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "NUM |BS:quest| How far ? |ES| |BV:bow| _far__r:1.0 a:b:2 |EV| |BT:grct| (S(A(x))(B y)) |ET| \n\
                         LOC |BS:quest| Where ? |ES| |BV:bow| where:0.5 _far__r:3 |EV| |BT:grct| (S z) |ET|\n";

    fn read(text: &str) -> Result<KelpExamples, DataError> {
        let (_folder, path) = crate::test_files::file("mine.klp", text);
        KelpExamples::read("mine", &[(&path, Some(Part::Test))])
    }

    fn ids() -> Vec<String> {
        vec!["test/2".into(), "test/1".into()]
    }

    #[test]
    fn texts_trees_and_vectors_are_read_by_their_names() {
        let examples = read(LINES).unwrap();
        assert_eq!(examples.representations(), ["quest", "bow", "grct"]);
        let documents = examples.documents("quest").unwrap();
        assert_eq!(
            (documents.ids(), documents.texts()),
            (&["test/1".into(), "test/2".into()][..], &["How far ?".into(), "Where ?".into()][..])
        );
        assert_eq!(documents.label_names(), ["LOC", "NUM"]);
        assert_eq!(documents.given_split().unwrap().test, [0, 1]);
        let trees = examples.trees("grct", &ids()).unwrap();
        assert_eq!(trees.iter().map(Tree::to_string).collect::<Vec<_>>(), ["(S z)", "(S (A x) (B y))"]);
        let vectors = examples.vectors("bow", &ids()).unwrap();
        assert_eq!(vectors.names(), ["where", "_far__r", "a:b"]);
        assert_eq!(vectors.rows(), [vec![(0, 0.5), (1, 3.0)], vec![(1, 1.0), (2, 2.0)]]);
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        let examples = read(&format!("{LINES}\nX |BT:grct| (S (a) |ET| |BV:bow| a:b |EV|\n")).unwrap();
        let broken = vec!["test/4".to_owned()];
        for (message, wanted) in [
            (
                examples.trees("lct", &ids()).unwrap_err(),
                "mine.klp:2: no representation `lct`; wanted is one of this line's: `quest`, `bow`, `grct`",
            ),
            (
                examples.trees("bow", &ids()).unwrap_err(),
                "mine.klp:2: the representation `bow` is a vector; wanted is a tree",
            ),
            (
                examples.trees("grct", &broken).unwrap_err(),
                "mine.klp:4: the tree `grct`: the `(` at character 2 is never closed",
            ),
            (examples.vectors("bow", &broken).unwrap_err(), "mine.klp:4: `a:b`; wanted is `feature:number`"),
            (
                examples.trees("grct", &["7".to_owned()]).unwrap_err(),
                "`7`; wanted is an id of `mine`, such as `test/1`",
            ),
            (read("A |BT:t| (S) |EV|").unwrap_err(), "mine.klp:1: `|BT:t|` is never closed"),
            (read("\n |BT:t| (S) |ET|").unwrap_err(), "mine.klp:2: ` |BT:t| (S) |ET|`; wanted is a label"),
            (read("\n\n").unwrap_err(), "holds no examples"),
        ] {
            assert!(message.to_string().contains(wanted), "{message}");
        }
    }
}
