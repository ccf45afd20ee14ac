//! Dependency parses in CoNLL-U, and the trees that tree kernels make of them.
//!
//! For each word with its lemma, its part of speech and its relation to the head (Croce, Moschitti & Basili 2011):
//!
//! - GRCT, centered on grammatical relations: `(SYNT##rel dependents-before (POS##tag LEX##lemma::p) dependents-after)`
//! - LCT, centered on words: `(LEX##lemma::p dependents POS##tag SYNT##rel)`
//! - LOCT, words only: `(LEX##lemma::p dependents)`
//!
//! with dependents in the order of the sentence and `p` the first letter of the tag, in lower case. These are the labels
//! of KeLP's files. Lemmas are lower-cased. Nothing recurses.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::tree::{Tree, TreeBuilder};

/// One word of a parsed sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub form: String,
    pub lemma: String,
    pub tag: String,
    /// The index of its head; `None` for the root.
    pub head: Option<usize>,
    pub relation: String,
}

/// A parsed sentence: at least one word, one root, no circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    words: Vec<Word>,
    root: usize,
}

/// The tree of a dependency parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyTree {
    /// Grammatical relations are the inner nodes.
    Grct,
    /// Words are the inner nodes, with part of speech and relation as their last leaves.
    Lct,
    Loct,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    #[error("the sentence has no words")]
    Empty,
    #[error("{roots} words have no head; want exactly one, the root")]
    Roots { roots: usize },
    #[error("word {word} has the head {head}, but the sentence has {words} words")]
    Head { word: usize, head: usize, words: usize },
    #[error("word {word} hangs in a circle of heads, not on the root")]
    Circle { word: usize },
}

impl Sentence {
    /// Checks a parse.
    pub fn new(words: Vec<Word>) -> Result<Self, ParseError> {
        if words.is_empty() {
            return Err(ParseError::Empty);
        }
        let count = words.len();
        for (number, word) in words.iter().enumerate() {
            if let Some(head) = word.head.filter(|&head| head >= count) {
                return Err(ParseError::Head { word: number + 1, head: head + 1, words: count });
            }
        }
        let roots: Vec<usize> = (0..count).filter(|&word| words[word].head.is_none()).collect();
        let [root] = roots[..] else { return Err(ParseError::Roots { roots: roots.len() }) };
        for start in 0..count {
            let mut word = start;
            for _ in 0..count {
                match words[word].head {
                    None => break,
                    Some(head) => word = head,
                }
            }
            if word != root {
                return Err(ParseError::Circle { word: start + 1 });
            }
        }
        Ok(Self { words, root })
    }

    pub fn words(&self) -> &[Word] {
        &self.words
    }

    pub fn tree(&self, kind: DependencyTree) -> Tree {
        let mut dependents = vec![Vec::new(); self.words.len()];
        for (number, word) in self.words.iter().enumerate() {
            if let Some(head) = word.head {
                dependents[head].push(number);
            }
        }
        let mut builder = TreeBuilder::new(&self.label(kind, self.root));
        // words that are open, each with its dependents still to come (the next one last)
        let mut open = vec![Waiting::new(self.root, &dependents)];
        while let Some(last) = open.last_mut() {
            let word = last.word;
            if kind == DependencyTree::Grct && !last.is_written && last.next().is_none_or(|dependent| dependent > word)
            {
                last.is_written = true;
                builder.open(&format!("POS##{}", self.words[word].tag));
                builder.leaf(&self.lexical(word));
                builder.close();
            }
            match last.waiting.pop() {
                Some(dependent) => {
                    builder.open(&self.label(kind, dependent));
                    open.push(Waiting::new(dependent, &dependents));
                }
                None => {
                    if kind == DependencyTree::Lct {
                        builder.leaf(&format!("POS##{}", self.words[word].tag));
                        builder.leaf(&format!("SYNT##{}", self.words[word].relation));
                    }
                    builder.close();
                    open.pop();
                }
            }
        }
        builder.finish()
    }

    fn label(&self, kind: DependencyTree, word: usize) -> String {
        match kind {
            DependencyTree::Grct => format!("SYNT##{}", self.words[word].relation),
            DependencyTree::Lct | DependencyTree::Loct => self.lexical(word),
        }
    }

    fn lexical(&self, word: usize) -> String {
        let Word { lemma, tag, .. } = &self.words[word];
        let letter: String = tag.chars().take(1).flat_map(char::to_lowercase).collect();
        format!("LEX##{}::{letter}", lemma.to_lowercase())
    }
}

struct Waiting {
    word: usize,
    /// Dependents still to come, the next one last.
    waiting: Vec<usize>,
    /// True where the word itself has had its turn among them.
    is_written: bool,
}

impl Waiting {
    fn new(word: usize, dependents: &[Vec<usize>]) -> Self {
        Self { word, waiting: dependents[word].iter().rev().copied().collect(), is_written: false }
    }

    fn next(&self) -> Option<usize> {
        self.waiting.last().copied()
    }
}

/// Reads the sentences of a CoNLL-U file, plain or gzip: ten columns with tabs, a blank line after a sentence. Comments,
/// ranges of words (`3-4`) and empty nodes (`5.1`) are passed over. The part of speech is the language's own (column 5),
/// or the universal one where that is `_`; a lemma `_` is the form.
pub fn read_conllu(path: &Path) -> Result<Vec<Sentence>, DataError> {
    let mut lines = Lines::open(path)?;
    let (mut sentences, mut words, mut first) = (Vec::new(), Vec::new(), 1);
    let finish = |words: &mut Vec<Word>, first: usize| {
        Sentence::new(std::mem::take(words)).map_err(|error| {
            DataError::malformed(path, first, format!("in the sentence that starts here, {error}"), "a tree of heads")
        })
    };
    while let Some((number, line)) = lines.next_line()? {
        if line.trim().is_empty() {
            if !words.is_empty() {
                sentences.push(finish(&mut words, first)?);
            }
            continue;
        }
        let id = line.split('\t').next().unwrap_or_default();
        if line.starts_with('#') || id.contains(['-', '.']) {
            continue;
        }
        if words.is_empty() {
            first = number;
        }
        words.push(word(path, number, line, words.len() + 1)?);
    }
    if !words.is_empty() {
        sentences.push(finish(&mut words, first)?);
    }
    if sentences.is_empty() {
        return Err(DataError::Empty { path: path.to_owned(), what: "sentences" });
    }
    Ok(sentences)
}

fn word(path: &Path, number: usize, line: &str, wanted_id: usize) -> Result<Word, DataError> {
    let malformed = |seen: String, wanted: String| DataError::malformed(path, number, seen, wanted);
    let columns: Vec<&str> = line.split('\t').collect();
    let [id, form, lemma, universal, own, _, head, relation, _, _] = columns[..] else {
        return Err(malformed(
            format!("{} columns in `{}`", columns.len(), excerpt(line)),
            "ten with tabs between".to_owned(),
        ));
    };
    if id.parse() != Ok(wanted_id) {
        return Err(malformed(format!("the id `{id}`"), format!("{wanted_id}, the next word of the sentence")));
    }
    let head: usize = head
        .parse()
        .map_err(|_| malformed(format!("the head `{head}`"), "the number of a word, 0 for the root".to_owned()))?;
    let known = |value: &str, other: &str| if value == "_" { other.to_owned() } else { value.to_owned() };
    Ok(Word {
        form: form.to_owned(),
        lemma: known(lemma, form),
        tag: known(own, universal),
        head: head.checked_sub(1),
        relation: relation.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOGS: &str = "# text = The dogs don't bark\n\
        1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n\
        2\tdogs\tdog\tNOUN\tNNS\t_\t5\tnsubj\t_\t_\n\
        3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n\
        3\tdo\tdo\tAUX\tVBP\t_\t5\taux\t_\t_\n\
        4\tn't\t_\tPART\t_\t_\t5\tneg\t_\t_\n\
        5\tBark\tBark\tVERB\tVB\t_\t0\troot\t_\t_\n\
        6\tloudly\tloudly\tADV\tRB\t_\t5\tadvmod\t_\t_\n";

    fn read(text: &str) -> Result<Vec<Sentence>, DataError> {
        let (_folder, path) = crate::test_files::file("mine.conllu", text);
        read_conllu(&path)
    }

    #[test]
    fn a_parse_becomes_the_three_trees_of_its_definition() {
        let sentences = read(&format!("{DOGS}\n\n1\tStop\tstop\tVERB\tVB\t_\t0\troot\t_\t_")).unwrap();
        assert_eq!(sentences.len(), 2);
        let tree = |kind| sentences[0].tree(kind).to_string();
        assert_eq!(
            tree(DependencyTree::Grct),
            "(SYNT##root (SYNT##nsubj (SYNT##det (POS##DT LEX##the::d)) (POS##NNS LEX##dog::n)) (SYNT##aux (POS##VBP LEX##do::v)) \
             (SYNT##neg (POS##PART LEX##n't::p)) (POS##VB LEX##bark::v) (SYNT##advmod (POS##RB LEX##loudly::r)))"
        );
        assert_eq!(
            tree(DependencyTree::Lct),
            "(LEX##bark::v (LEX##dog::n (LEX##the::d POS##DT SYNT##det) POS##NNS SYNT##nsubj) (LEX##do::v POS##VBP SYNT##aux) \
             (LEX##n't::p POS##PART SYNT##neg) (LEX##loudly::r POS##RB SYNT##advmod) POS##VB SYNT##root)"
        );
        assert_eq!(
            tree(DependencyTree::Loct),
            "(LEX##bark::v (LEX##dog::n LEX##the::d) LEX##do::v LEX##n't::p LEX##loudly::r)"
        );
        assert_eq!(sentences[1].tree(DependencyTree::Grct).to_string(), "(SYNT##root (POS##VB LEX##stop::v))");
    }

    #[test]
    fn words_with_brackets_blanks_and_hashes_are_one_leaf_each() {
        let text = "\u{feff}1\t(:\t_\tSYM\tSYM\t_\t0\troot\t_\t_\r\n2\t10 000\t#\tNUM\tCD\t_\t1\tdep\t_\t_\r\n";
        let sentences = read(text).unwrap();
        let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
        let lemmas: Vec<&str> = sentence.words().iter().map(|word| word.lemma.as_str()).collect();
        assert_eq!((lemmas, sentence.words()[1].form.as_str()), (vec!["(:", "#"], "10 000"));
        let tree = sentence.tree(DependencyTree::Loct);
        let labels: Vec<&str> = (0..tree.len()).map(|node| tree.label(node)).collect();
        assert_eq!(labels, ["LEX##(:::s", "LEX###::c"]);
    }

    #[test]
    fn what_is_no_parse_is_named_with_file_and_line() {
        let line = |id: usize, head: &str| format!("{id}\tw\tw\tX\tX\t_\t{head}\tr\t_\t_\n");
        for (text, wanted) in [
            ("1\ta\tb\n".to_owned(), "mine.conllu:1: 3 columns"),
            (line(1, "x"), "mine.conllu:1: the head `x`"),
            (line(1, "0") + &line(3, "1"), "mine.conllu:2: the id `3`; wanted is 2"),
            (line(1, "0") + &line(2, "0"), "mine.conllu:1: in the sentence that starts here, 2 words have no head"),
            (
                line(1, "0") + "\n" + &line(1, "7"),
                "mine.conllu:3: in the sentence that starts here, word 1 has the head 7",
            ),
            (line(1, "0") + &line(2, "3") + &line(3, "2"), "word 2 hangs in a circle"),
            ("# nothing\n".to_owned(), "holds no sentences"),
        ] {
            let message = read(&text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn a_sentence_of_three_thousand_words_in_a_chain_is_converted() {
        let word = |number: usize| Word {
            form: "w".into(),
            lemma: "w".into(),
            tag: "X".into(),
            head: number.checked_sub(1),
            relation: "r".into(),
        };
        let sentence = Sentence::new((0..3000).map(word).collect()).unwrap();
        assert_eq!(sentence.tree(DependencyTree::Grct).len(), 9000);
        assert_eq!(sentence.tree(DependencyTree::Loct).height(), 3000);
    }
}
