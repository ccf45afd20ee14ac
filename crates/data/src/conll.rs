//! Coreference in the CoNLL-2012 format: what the reference scorers read.
//!
//! ```text
//! #begin document (name); part 000
//! name 0 0 Fire (12)
//! name 0 1 at -
//! name 0 2 the (3|(7
//! name 0 3 mill 3)|7)
//!
//! #end document
//! ```
//!
//! The last column opens and closes mentions by the number of their cluster, with `|` or nothing between the marks; every other
//! column is free. `# begin document` with a blank is the same. A line within a document that begins with `#` is a word where its
//! last column is `-`, `_` or marks, and a comment elsewhere. Cluster numbers hold within a document. Mentions may nest and cross. A mention of the same
//! words as an earlier one is dropped, in the same cluster or in another, as the reference scorer does with a response: clusters count in the
//! order in which their numbers first appear. [`ConllFile::repeated`] lists what was dropped, because figures would count it twice.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{DataError, excerpt};
use crate::lines::Lines;

/// A mention: its first and last word, counted from 0 in its document, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start == self.end {
            write!(f, "word {}", self.start)
        } else {
            write!(f, "words {}–{}", self.start, self.end)
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConllDocument {
    /// Text between the parentheses of `#begin document`.
    pub name: String,
    /// Text after them, such as `part 000`; may be empty.
    pub part: String,
    pub sentences: Vec<Vec<String>>,
    /// Clusters with their numbers, ascending; mentions in the order of the text.
    pub clusters: Vec<(u64, Vec<Span>)>,
}

impl ConllDocument {
    pub fn words(&self) -> usize {
        self.sentences.iter().map(Vec::len).sum()
    }

    pub fn title(&self) -> String {
        if self.part.is_empty() { self.name.clone() } else { format!("{}; {}", self.name, self.part) }
    }
}

/// A mention that was dropped because an earlier one has the same words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedMention {
    /// Name and part of the document.
    pub document: String,
    /// The words of both mentions.
    pub span: Span,
    pub kept: u64,
    pub dropped: u64,
    /// Line in which the dropped mention ends.
    pub line: usize,
}

impl fmt::Display for RepeatedMention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, span, kept, dropped, line } = self;
        write!(
            f,
            "line {line}: cluster {dropped} repeats the mention of {span} of cluster {kept} in `{document}`; the repetition is dropped"
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConllFile {
    path: PathBuf,
    documents: Vec<ConllDocument>,
    repeated: Vec<RepeatedMention>,
}

impl ConllFile {
    /// Reads a plain or gzip file.
    ///
    /// # Errors
    /// [`DataError`] with file and line: words outside of a document, a document inside of another or without an end, one that was
    /// seen before, a last column of another form, a mention that closes without having opened or never closes; a file without
    /// documents.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let mut lines = Lines::open(path)?;
        let (mut documents, mut repeated): (Vec<ConllDocument>, Vec<RepeatedMention>) = (Vec::new(), Vec::new());
        let mut titles: HashMap<String, usize> = HashMap::new();
        let mut current: Option<OpenDocument> = None;
        while let Some((number, line)) = lines.next_line()? {
            let place = Place { path, line: number };
            let directive = line.strip_prefix('#').map_or("", str::trim_start);
            if let Some(header) = directive.strip_prefix("begin document") {
                if let Some(open) = &current {
                    return Err(place
                        .refuse(format!("a document inside of `{}`", open.document.title()), "`#end document` first"));
                }
                let open = OpenDocument::new(&place, header)?;
                if let Some(first) = titles.insert(open.document.title(), number) {
                    let seen = format!("the document `{}` was seen before, in line {first}", open.document.title());
                    return Err(place.refuse(seen, "a name or part of its own"));
                }
                current = Some(open);
            } else if directive.starts_with("end document") {
                let open = current
                    .take()
                    .ok_or_else(|| place.refuse("`#end document` outside of one".into(), "`#begin document` first"))?;
                documents.push(open.finish(path, &mut repeated)?);
            } else if line.trim().is_empty() {
                if let Some(open) = &mut current {
                    open.end_sentence();
                }
            } else if !line.starts_with('#') || (current.is_some() && is_word(line)) {
                let open = current.as_mut().ok_or_else(|| {
                    place.refuse(
                        format!("`{}` outside of a document", excerpt(line)),
                        "`#begin document (name); part 000` first",
                    )
                })?;
                open.word(&place, line)?;
            }
        }
        if let Some(open) = current {
            let seen = format!("the document `{}` has no end", open.document.title());
            return Err(Place { path, line: open.line }.refuse(seen, "a line `#end document`"));
        }
        if documents.is_empty() {
            return Err(DataError::Empty { path: path.to_owned(), what: "documents" });
        }
        Ok(Self { path: path.to_owned(), documents, repeated })
    }

    pub fn documents(&self) -> &[ConllDocument] {
        &self.documents
    }

    /// Mentions that were dropped because an earlier one has the same words, in the order of the file's documents.
    pub fn repeated(&self) -> &[RepeatedMention] {
        &self.repeated
    }

    /// Each document of this key with the document of the same name and part of a response.
    ///
    /// # Errors
    /// [`DataError::CoreferenceFiles`] for a document that only one of the files has, and for one with another number of words.
    pub fn paired_with<'a>(
        &'a self,
        response: &'a Self,
    ) -> Result<Vec<(&'a ConllDocument, &'a ConllDocument)>, DataError> {
        let disagree = |what: String| DataError::CoreferenceFiles {
            key: self.path.clone(),
            response: response.path.clone(),
            what,
        };
        let mut answers: BTreeMap<String, &ConllDocument> =
            response.documents.iter().map(|document| (document.title(), document)).collect();
        let mut pairs = Vec::with_capacity(self.documents.len());
        for key in &self.documents {
            let title = key.title();
            let answer =
                answers.remove(&title).ok_or_else(|| disagree(format!("the response has no document `{title}`")))?;
            if answer.words() != key.words() {
                let counts = (key.words(), answer.words());
                return Err(disagree(format!(
                    "`{title}` has {} words in the key and {} in the response",
                    counts.0, counts.1
                )));
            }
            pairs.push((key, answer));
        }
        match answers.keys().next() {
            None => Ok(pairs),
            Some(title) => Err(disagree(format!("the key has no document `{title}`"))),
        }
    }
}

/// True where a line that begins with `#` is a word, such as a hashtag, and no comment: its last column is a mark.
fn is_word(line: &str) -> bool {
    line.split_whitespace().skip(1).last().is_some_and(|label| matches!(label, "-" | "_") || marks(label).is_ok())
}

struct Place<'a> {
    path: &'a Path,
    line: usize,
}

impl Place<'_> {
    fn refuse(&self, seen: String, wanted: &str) -> DataError {
        DataError::malformed(self.path, self.line, seen, wanted)
    }
}

/// A mark of the last column: `(7)`, `(7` or `7)`.
struct Mark {
    number: u64,
    kind: MarkKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    Word,
    Open,
    Close,
}

/// The marks of a label, with `|` or nothing between them as the reference scorer takes them: `(3|7)`, `(1(1`, `1)1)`, `(3(3(3`. Where
/// something else stands, the part between `|` that holds it is the error.
fn marks(label: &str) -> Result<Vec<Mark>, &str> {
    let mut marks = Vec::new();
    for part in label.split('|') {
        let mut rest = part;
        loop {
            let opened = rest.strip_prefix('(');
            let text = opened.unwrap_or(rest);
            let (digits, after) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
            let closed = after.strip_prefix(')');
            let kind = match (opened, closed) {
                (Some(_), Some(_)) => MarkKind::Word,
                (Some(_), None) => MarkKind::Open,
                (None, Some(_)) => MarkKind::Close,
                (None, None) => return Err(part),
            };
            marks.push(Mark { number: digits.parse().map_err(|_| part)?, kind });
            rest = closed.unwrap_or(after);
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(marks)
}

struct OpenDocument {
    document: ConllDocument,
    line: usize,
    words: usize,
    sentence: Vec<String>,
    /// By cluster: where mentions opened that have not closed yet, with their lines.
    open: BTreeMap<u64, Vec<(usize, usize)>>,
    clusters: BTreeMap<u64, Vec<(Span, usize)>>,
    /// Numbers of the clusters in the order in which they first appear.
    appeared: Vec<u64>,
}

impl OpenDocument {
    fn new(place: &Place, header: &str) -> Result<Self, DataError> {
        let named = header.trim().strip_prefix('(').and_then(|rest| {
            let (name, part) = rest.rsplit_once(')')?;
            Some((name.trim(), part.trim().trim_start_matches(';').trim()))
        });
        let (name, part) = named
            .ok_or_else(|| place.refuse(format!("`#begin document{header}`"), "`#begin document (name); part 000`"))?;
        let (name, part) = (name.to_owned(), part.to_owned());
        Ok(Self {
            document: ConllDocument { name, part, sentences: Vec::new(), clusters: Vec::new() },
            line: place.line,
            words: 0,
            sentence: Vec::new(),
            open: BTreeMap::new(),
            clusters: BTreeMap::new(),
            appeared: Vec::new(),
        })
    }

    fn word(&mut self, place: &Place, line: &str) -> Result<(), DataError> {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let label = columns[columns.len() - 1];
        // the fourth column is the word in CoNLL-2012; files for scoring alone may have fewer
        let word = if columns.len() > 4 { columns[3] } else { "-" };
        if label != "-" && label != "_" {
            let marks = marks(label).map_err(|mark| {
                let seen = format!("`{mark}` in the last column `{label}`");
                place.refuse(
                    seen,
                    "`-`, or marks `(7`, `7)`, `(7)` with `|` or nothing between, 7 the number of a cluster",
                )
            })?;
            // the reference scorer's order: mentions of one word, then all that open here, then all that close
            let of = |kind: MarkKind| marks.iter().filter(move |mark| mark.kind == kind).map(|mark| mark.number);
            for number in of(MarkKind::Word) {
                self.mention(place, number, self.words);
            }
            for number in of(MarkKind::Open) {
                self.appear(number);
                self.open.entry(number).or_default().push((self.words, place.line));
            }
            for number in of(MarkKind::Close) {
                let opened = self.open.get_mut(&number).and_then(Vec::pop);
                let (start, _) = opened.ok_or_else(|| {
                    let seen = format!("`{number})` closes a mention of cluster {number} that did not open");
                    place.refuse(seen, "`(` before")
                })?;
                self.mention(place, number, start);
            }
        }
        self.sentence.push(word.to_owned());
        self.words += 1;
        Ok(())
    }

    /// A mention from the word `start` to the present one.
    fn mention(&mut self, place: &Place, number: u64, start: usize) {
        self.appear(number);
        self.clusters.entry(number).or_default().push((Span { start, end: self.words }, place.line));
    }

    /// Notes a cluster at the first mark that names it.
    fn appear(&mut self, number: u64) {
        self.clusters.entry(number).or_insert_with(|| {
            self.appeared.push(number);
            Vec::new()
        });
    }

    /// Drops mentions whose words an earlier one has, clusters in the order of their appearance.
    fn drop_repeated(&mut self, repeated: &mut Vec<RepeatedMention>) {
        let document = self.document.title();
        let mut kept_in: HashMap<Span, u64> = HashMap::new();
        for &number in &self.appeared {
            let Some(mentions) = self.clusters.get_mut(&number) else { continue };
            mentions.retain(|&(span, line)| match kept_in.get(&span) {
                None => {
                    kept_in.insert(span, number);
                    true
                }
                Some(&kept) => {
                    repeated.push(RepeatedMention { document: document.clone(), span, kept, dropped: number, line });
                    false
                }
            });
        }
        self.clusters.retain(|_, mentions| !mentions.is_empty());
    }

    fn end_sentence(&mut self) {
        if !self.sentence.is_empty() {
            self.document.sentences.push(std::mem::take(&mut self.sentence));
        }
    }

    fn finish(mut self, path: &Path, repeated: &mut Vec<RepeatedMention>) -> Result<ConllDocument, DataError> {
        self.end_sentence();
        if let Some((number, &(_, line))) = self.open.iter().find_map(|(number, open)| Some((number, open.last()?))) {
            let seen = format!("a mention of cluster {number} opens and does not close in `{}`", self.document.title());
            return Err(Place { path, line }.refuse(seen, &format!("`{number})` before the end of the document")));
        }
        self.drop_repeated(repeated);
        let sorted = |(number, mentions): (u64, Vec<(Span, usize)>)| {
            let mut mentions: Vec<Span> = mentions.into_iter().map(|(span, _)| span).collect();
            mentions.sort_unstable();
            (number, mentions)
        };
        self.document.clusters = self.clusters.into_iter().map(sorted).collect();
        Ok(self.document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConllFile, String> {
        let (_folder, path) = crate::test_files::file("key.conll", text);
        ConllFile::read(&path).map_err(|error| error.to_string())
    }

    fn span(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    const TEXT: &str = include_str!("../tests/readers/example.conll");

    #[test]
    fn nested_and_crossing_mentions_are_read() {
        let file = read(TEXT).unwrap();
        let first = &file.documents()[0];
        assert_eq!((first.title().as_str(), first.words(), first.sentences.len()), ("news/a; part 000", 6, 2));
        let wanted = [(3, vec![span(2, 4), span(3, 4)]), (7, vec![span(2, 3)]), (12, vec![span(0, 0), span(2, 5)])];
        assert_eq!(first.clusters, wanted);
        assert_eq!(file.documents()[1].title(), "b");
        assert_eq!(file.documents()[1].clusters, []);
    }

    #[test]
    fn adjacent_marks_need_no_bar_as_in_the_reference_scorer() {
        let rows = |last: [&str; 5]| {
            let rows: String = last.iter().map(|label| format!("a 0 0 x {label}\n")).collect();
            let file = read(&format!("#begin document (a);\n{rows}#end document\n")).unwrap();
            file.documents()[0].clusters.clone()
        };
        let nested = vec![(1, vec![span(0, 1), span(0, 2)])];
        assert_eq!(rows(["(1(1", "1)", "1)", "-", "-"]), nested);
        assert_eq!(rows(["(1|(1", "1)", "1)", "-", "-"]), nested);
        assert_eq!(rows(["(1", "(1", "1)1)", "-", "-"]), [(1, vec![span(0, 2), span(1, 2)])]);
        assert_eq!(rows(["(3(3(3", "3)", "3)", "3)", "-"]), [(3, vec![span(0, 1), span(0, 2), span(0, 3)])]);
        let mixed = [(1, vec![span(0, 2)]), (2, vec![span(0, 0)]), (3, vec![span(0, 1), span(2, 2)])];
        assert_eq!(rows(["(1(2)(3", "3)", "1)(3)", "-", "-"]), mixed);
        // what opens comes before what closes, wherever it stands
        assert_eq!(rows(["(4", "4)(4", "4)", "-", "-"]), [(4, vec![span(0, 2), span(1, 1)])]);
    }

    #[test]
    fn a_document_may_begin_with_a_blank_and_words_with_a_hash() {
        let text = "# begin document (d1); part 000\n# sent_id = one\n#Anna\t(1)\n#\t-\nher\t(1)\n# end document\n";
        let file = read(text).unwrap();
        let document = &file.documents()[0];
        assert_eq!((document.title().as_str(), document.words()), ("d1; part 000", 3));
        assert_eq!(document.clusters, [(1, vec![span(0, 0), span(2, 2)])]);
    }

    #[test]
    fn a_repeated_mention_is_dropped_from_the_cluster_that_appears_later() {
        let rows = |last: &[&str]| {
            let rows: String = last.iter().map(|label| format!("a 0 0 x {label}\n")).collect();
            read(&format!("#begin document (a);\n{rows}#end document\n")).unwrap()
        };
        let dropped = |file: &ConllFile| -> Vec<(Span, u64, u64, usize)> {
            file.repeated().iter().map(|one| (one.span, one.kept, one.dropped, one.line)).collect()
        };
        // cluster 5 appears before cluster 2, whatever their numbers; of cluster 2 its other mention is left
        let file = rows(&["(5", "5)", "(2)|(5)", "(2)"]);
        assert_eq!(file.documents()[0].clusters, [(2, vec![span(3, 3)]), (5, vec![span(0, 1), span(2, 2)])]);
        assert_eq!(dropped(&file), [(span(2, 2), 5, 2, 4)]);
        // twice in one cluster; a cluster without a mention of its own is gone
        let file = rows(&["(1)(1)|(3)", "(1)", "(1|(4", "1)|4)"]);
        assert_eq!(file.documents()[0].clusters, [(1, vec![span(0, 0), span(1, 1), span(2, 3)])]);
        assert_eq!(dropped(&file), [(span(0, 0), 1, 1, 2), (span(0, 0), 1, 3, 2), (span(2, 3), 1, 4, 5)]);
        let words = file.repeated()[1].to_string();
        assert_eq!(
            words,
            "line 2: cluster 3 repeats the mention of word 0 of cluster 1 in `a`; the repetition is dropped"
        );
        assert_eq!(dropped(&rows(&["(1)", "(1)"])), []);
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        let rows = |rows: &str| format!("#begin document (a); part 0\n{rows}\n#end document\n");
        for (text, wanted) in [
            (rows("a 0 0 x (1"), "key.conll:2: a mention of cluster 1 opens and does not close in `a; part 0`"),
            (rows("a 0 0 x 1)"), "key.conll:2: `1)` closes a mention of cluster 1 that did not open"),
            (rows("a 0 0 x (one)"), "key.conll:2: `(one)` in the last column `(one)`"),
            (rows("a 0 0 x 5"), "`5` in the last column"),
            (rows("a 0 0 x (1)5"), "`(1)5` in the last column"),
            (rows("a 0 0 x (1)()"), "`(1)()` in the last column"),
            (rows("a 0 0 x (1)|"), "`` in the last column `(1)|`"),
            ("a 0 0 x -\n".to_owned(), "key.conll:1: `a 0 0 x -` outside of a document"),
            ("#end document\n".to_owned(), "key.conll:1: `#end document` outside of one"),
            ("#begin document a\n".to_owned(), "key.conll:1: `#begin document a`"),
            ("#begin document (a);\nx -\n".to_owned(), "key.conll:1: the document `a` has no end"),
            (
                format!("{}{}", rows("x -"), rows("x -")),
                "key.conll:4: the document `a; part 0` was seen before, in line 1",
            ),
            (String::new(), "holds no documents"),
        ] {
            let message = read(&text).unwrap_err();
            assert!(message.contains(wanted), "{wanted}: {message}");
        }
    }

    #[test]
    fn files_of_other_documents_are_not_compared() {
        let (key, other) = (read(TEXT).unwrap(), read(&TEXT.replace("(b)", "(c)")).unwrap());
        let message = key.paired_with(&other).unwrap_err().to_string();
        assert!(message.contains("the response has no document `b`"), "{message}");
        let longer = read(&TEXT.replace("x -", "x -\ny -")).unwrap();
        let message = key.paired_with(&longer).unwrap_err().to_string();
        assert!(message.contains("`b` has 1 words in the key and 2 in the response"), "{message}");
        assert_eq!(key.paired_with(&key).unwrap().len(), 2);
    }
}
