//! Word vectors as text: word2vec with its `V d` line, GloVe without one.
//!
//! A line is a word and d numbers between blanks. The word itself may hold blanks (GloVe's larger files have `. . .`) as
//! long as none of its later pieces is a number: a number there means a vector that is too long.

use std::path::Path;

use super::{Gathered, VectorFiles, Wanted, word2vec_header};
use crate::error::{DataError, excerpt};
use crate::lines::Lines;

pub(super) fn read_word2vec(files: &VectorFiles, wanted: &Wanted<'_>) -> Result<Gathered, DataError> {
    let path = &files.path;
    let mut lines = Lines::new(path, files.open()?);
    let (words, dimension) = match lines.next_line()? {
        None => return Err(DataError::Empty { path: path.to_owned(), what: "header line" }),
        Some((_, line)) => word2vec_header(path, line)?,
    };
    let mut gathered = Gathered::new(dimension);
    let mut seen = 0;
    while let Some((number, line)) = lines.next_line()? {
        read_line(path, number, line, wanted, &mut gathered)?;
        seen += 1;
    }
    if seen != words {
        let reference = "in the header".to_owned();
        return Err(DataError::CountMismatch { path: path.to_owned(), what: "words", seen, wanted: words, reference });
    }
    Ok(gathered)
}

pub(super) fn read_glove(files: &VectorFiles, wanted: &Wanted<'_>) -> Result<Gathered, DataError> {
    let path = &files.path;
    let mut lines = Lines::new(path, files.open()?);
    let Some((number, first)) = lines.next_line()? else {
        return Err(DataError::Empty { path: path.to_owned(), what: "word vectors" });
    };
    let dimension = first.split_whitespace().count().saturating_sub(1);
    let is_word2vec_header = dimension == 1 && first.split_whitespace().all(|field| field.parse::<u64>().is_ok());
    if dimension == 0 || is_word2vec_header {
        return Err(DataError::BadHeader {
            path: path.to_owned(),
            seen: format!("the line `{}`", excerpt(first)),
            wanted: "a word and its vector (a first line of two numbers is the format `word2vec_text`)".into(),
        });
    }
    let mut gathered = Gathered::new(dimension);
    read_line(path, number, first, wanted, &mut gathered)?;
    while let Some((number, line)) = lines.next_line()? {
        read_line(path, number, line, wanted, &mut gathered)?;
    }
    Ok(gathered)
}

fn read_line(
    path: &Path,
    number: usize,
    line: &str,
    wanted: &Wanted<'_>,
    gathered: &mut Gathered,
) -> Result<(), DataError> {
    let fields: Vec<&str> = line.trim_end().split([' ', '\t']).collect();
    let dimension = gathered.dimension;
    let pieces = fields.len().saturating_sub(dimension); // of the word
    if pieces == 0 || fields[1..pieces].iter().any(|piece| piece.parse::<f32>().is_ok()) {
        return Err(DataError::WrongDimension {
            path: path.to_owned(),
            line: number,
            word: excerpt(fields[0]),
            seen: fields.len() - 1,
            wanted: dimension,
        });
    }
    let word = fields[..pieces].join(" ");
    let Some(slot) = gathered.slot(&word, wanted) else { return Ok(()) };
    let mut values = Vec::with_capacity(dimension);
    for field in &fields[pieces..] {
        values.push(field.parse::<f32>().map_err(|_| DataError::Malformed {
            path: path.to_owned(),
            line: number,
            seen: format!("`{}` in the vector of `{}`", excerpt(field), excerpt(&word)),
            wanted: "a number".into(),
        })?);
    }
    gathered.fill(slot, values);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::{VectorFiles, VectorFormat, WordVectors};
    use super::*;

    fn read(format: VectorFormat, text: &str) -> Result<WordVectors, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.txt");
        std::fs::write(&path, text).unwrap();
        WordVectors::read(&VectorFiles::new(format, path), &|word| word != "skipped")
    }

    #[test]
    fn both_formats_read_the_same_words() {
        let body = "moon 1 -0.5 2e-1\nskipped 0 0 0\n. . . 0 1 0\nmoon 9 9 9\nnaïve 0 0 1 \n";
        let glove = read(VectorFormat::GloveText, body).unwrap();
        let word2vec = read(VectorFormat::Word2vecText, &format!("5 3\n{body}")).unwrap();
        assert_eq!(glove, word2vec);
        assert_eq!(glove.words(), ["moon", ". . .", "naïve"]);
        assert_eq!(glove.vectors(), array![[1.0, -0.5, 0.2], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(glove.source(), "mine.txt");
    }

    #[test]
    fn what_is_wrong_is_named_with_line_and_word() {
        use VectorFormat::{GloveText, Word2vecText};
        for (format, text, wanted) in [
            (GloveText, "moon 1 2\nsoup 1\n", "mine.txt:2: the vector of `soup` has 1 numbers; wanted are 2"),
            (GloveText, "moon 1 2\nskipped 1 2 3\n", "mine.txt:2: the vector of `skipped` has 3 numbers; wanted are 2"),
            (GloveText, "moon 1 2\nsoup 1 x\n", "mine.txt:2: `x` in the vector of `soup`; wanted is a number"),
            (GloveText, "moon 1 2\nsoup 1 nan\n", "component 1 of the vector of `soup` is NaN"),
            (GloveText, "2 3\nmoon 1 2 3\n", "a first line of two numbers is the format `word2vec_text`"),
            (GloveText, "", "holds no word vectors"),
            (Word2vecText, "moon 1 2\n", "begins with the line `moon 1 2`; wanted is the number of words"),
            (Word2vecText, "2 0\n", "wanted is the number of words"),
            (Word2vecText, "2 1\nmoon 1\n", "has 1 words; wanted are 2, the number in the header"),
            (Word2vecText, "1 1\nmoon 1\nsoup 1\n", "has 2 words; wanted are 1, the number in the header"),
        ] {
            let message = read(format, text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn a_capital_serves_only_where_asked_for_and_nothing_better_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.txt");
        std::fs::write(&path, "Apple 1\nAPPLE 2\nMoon 3\nmoon 4\nMOON 5\n").unwrap();
        let lower = |word: &str| ["apple", "moon"].contains(&word);
        let folded = VectorFiles { fold_case: true, ..VectorFiles::new(VectorFormat::GloveText, &path) };
        let vectors = WordVectors::read(&folded, &lower).unwrap();
        assert_eq!((vectors.words().join(" "), vectors.vectors()), ("apple moon".into(), array![[1.0], [4.0]].view()));
        let plain = WordVectors::read(&VectorFiles { fold_case: false, ..folded }, &lower).unwrap();
        assert_eq!((plain.words().join(" "), plain.vectors()), ("moon".into(), array![[4.0]].view()));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text: String) {
            let _ = read(VectorFormat::GloveText, &format!("moon 1 2\n{text}"));
            let _ = read(VectorFormat::Word2vecText, &format!("2 2\n{text}"));
        }
    }
}
