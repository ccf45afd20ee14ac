//! Word vectors as text: word2vec with its `V d` line, GloVe without one; a file of either format may have the line or not.
//!
//! A line is a word and d numbers between blanks or tabs, as many as there are. The word itself may hold blanks (GloVe's
//! larger files have `. . .`) as long as none of its later pieces is a number: a number there means a vector that is too
//! long, or a word such as `1 800`. Blank lines are passed over. A line without a word, one whose word is not UTF-8 and one
//! with too many numbers are left out and counted; if half of the lines have too many, the file is refused.

use std::path::Path;

use super::{Gathered, VectorFiles, Wanted, word2vec_header};
use crate::error::{DataError, excerpt};
use crate::lines::Lines;

/// `has_header` where the format has the `V d` line.
pub(super) fn read(files: &VectorFiles, wanted: &Wanted<'_>, has_header: bool) -> Result<Gathered, DataError> {
    let path = &files.path;
    let mut lines = Lines::new(path, files.open()?);
    let first = loop {
        match lines.next_lossy()? {
            None => {
                let what = if has_header { "header line" } else { "word vectors" };
                return Err(DataError::Empty { path: path.to_owned(), what });
            }
            Some((_, line)) if is_blank(&line) => {}
            Some((number, line)) => break (number, line.trim_start_matches('\u{feff}').to_owned()),
        }
    };
    let second = loop {
        match lines.next_lossy()? {
            Some((_, line)) if is_blank(&line) => {}
            other => break other.map(|(number, line)| (number, line.into_owned())),
        }
    };
    let is_pair = fields(&first.1).len() == 2 && fields(&first.1).iter().all(|field| field.parse::<f64>().is_ok());
    let is_header = match word2vec_header(path, &first.1) {
        // a word that is a number has a vector of one number: then so has the next line
        Ok((_, dimension)) => has_header || second.as_ref().is_some_and(|(_, line)| numbers_at_end(line) >= dimension),
        Err(error) if has_header && (is_pair || numbers_at_end(&first.1) == 0) => return Err(error),
        Err(_) => false,
    };
    let mut gathered;
    let mut promised = None;
    let mut too_long = None;
    if is_header {
        let (words, dimension) = word2vec_header(path, &first.1)?;
        gathered = Gathered::new(dimension);
        promised = Some(words);
    } else {
        let dimension = numbers_at_end(&first.1);
        if dimension == 0 {
            return Err(DataError::BadHeader {
                path: path.to_owned(),
                seen: format!("the line `{}`", excerpt(&first.1)),
                wanted: "a word and its vector, or the number of words and the dimension".into(),
            });
        }
        gathered = Gathered::new(dimension);
        read_line(path, first.0, &first.1, wanted, &mut gathered, &mut too_long)?;
    }
    let mut seen = 0;
    if let Some((number, line)) = &second {
        read_line(path, *number, line, wanted, &mut gathered, &mut too_long)?;
        seen += 1;
    }
    while let Some((number, line)) = lines.next_lossy()? {
        if !is_blank(&line) {
            read_line(path, number, &line, wanted, &mut gathered, &mut too_long)?;
            seen += 1;
        }
    }
    if let Some(words) = promised.filter(|&words| words != seen) {
        let reference = "in the header".to_owned();
        return Err(DataError::CountMismatch { path: path.to_owned(), what: "words", seen, wanted: words, reference });
    }
    let lines_read = seen + usize::from(!is_header);
    match too_long {
        Some(error) if 2 * gathered.too_long.len() >= lines_read => Err(error),
        _ => Ok(gathered),
    }
}

fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t', '\u{feff}']).is_empty()
}

fn fields(line: &str) -> Vec<&str> {
    line.split([' ', '\t']).filter(|field| !field.is_empty()).collect()
}

/// Number of the last fields of a line that are numbers, its first field not among them.
fn numbers_at_end(line: &str) -> usize {
    let fields = fields(line);
    let behind = fields.iter().skip(1).rev();
    behind.take_while(|field| field.parse::<f32>().is_ok()).count()
}

/// A number, and no word such as `nan` or `infinity`.
fn is_number_in_digits(piece: &str) -> bool {
    piece.contains(|c: char| c.is_ascii_digit()) && piece.parse::<f32>().is_ok()
}

/// The word of a line and its last `dimension` fields; no word where there are fewer.
fn split(line: &str, dimension: usize) -> (&str, Vec<&str>) {
    let mut rest = line.trim_end_matches([' ', '\t']);
    // a header may promise any number of them, and a line holds a value for every two bytes at most
    let mut values = Vec::with_capacity(dimension.min(line.len() / 2 + 1));
    while values.len() < dimension {
        let Some(at) = rest.rfind([' ', '\t']) else { break };
        values.push(&rest[at + 1..]);
        rest = rest[..at].trim_end_matches([' ', '\t']);
    }
    values.reverse();
    (rest, values)
}

fn read_line(
    path: &Path,
    number: usize,
    line: &str,
    wanted: &Wanted<'_>,
    gathered: &mut Gathered,
    too_long: &mut Option<DataError>,
) -> Result<(), DataError> {
    let dimension = gathered.dimension;
    let (word, values) = split(line, dimension);
    let has_number = word.split([' ', '\t']).skip(1).any(is_number_in_digits);
    if values.len() < dimension || has_number {
        let all = fields(line);
        let error = DataError::WrongDimension {
            path: path.to_owned(),
            line: number,
            word: excerpt(all.first().unwrap_or(&"")),
            seen: all.len().saturating_sub(1),
            wanted: dimension,
        };
        if values.len() < dimension {
            return Err(error);
        }
        too_long.get_or_insert(error);
        gathered.too_long.push(number);
        return Ok(());
    }
    if word.is_empty() || word.contains('\u{fffd}') {
        gathered.wordless.push(number);
        return Ok(());
    }
    let Some(slot) = gathered.slot(word, wanted) else { return Ok(()) };
    let mut parsed = Vec::with_capacity(dimension);
    for field in values {
        parsed.push(field.parse::<f32>().map_err(|_| {
            DataError::malformed(
                path,
                number,
                format!("`{}` in the vector of `{}`", excerpt(field), excerpt(word)),
                "a number",
            )
        })?);
    }
    gathered.fill(slot, parsed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::{VectorFiles, VectorFormat, WordVectors};
    use super::*;
    use crate::test_files::file;

    fn read(format: VectorFormat, text: &str) -> Result<WordVectors, DataError> {
        let (_folder, path) = file("mine.txt", text);
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
            (GloveText, "", "holds no word vectors"),
            (GloveText, "moon\nsoup 1\n", "begins with the line `moon`; wanted is a word and its vector"),
            (Word2vecText, "moon and soup\n", "begins with the line `moon and soup`; wanted is the number of words"),
            (Word2vecText, "2 0\n", "wanted is the number of words"),
            (Word2vecText, "2 1\nmoon 1\n", "has 1 words; wanted are 2, the number in the header"),
            (Word2vecText, "1 1\nmoon 1\nsoup 1\n", "has 2 words; wanted are 1, the number in the header"),
        ] {
            let message = read(format, text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn a_header_may_be_there_or_not_in_either_format() {
        let bare = "moon 1 2\n7 3 4\n";
        let wanted = array![[1.0, 2.0], [3.0, 4.0]];
        for format in [VectorFormat::GloveText, VectorFormat::Word2vecText] {
            for text in [bare.to_owned(), format!("2 2\n{bare}"), format!("\u{feff}2 2\n{bare}\n\n")] {
                let vectors = read(format, &text).unwrap();
                assert_eq!(
                    (vectors.words().join(" "), vectors.vectors()),
                    ("moon 7".into(), wanted.view()),
                    "{text:?}"
                );
            }
        }
        // a word that is a number, with a vector of one number, is no header
        assert_eq!(read(VectorFormat::GloveText, "2 3\nmoon 1\n").unwrap().words(), ["2", "moon"]);
    }

    #[test]
    fn blanks_pad_columns_and_other_white_space_is_of_the_word() {
        let text = "p.\u{a0}ex. 1 0\npurple 2 2\nred    0 1 \nnan \t 4  5\ninfinity 6 7\nand infinity 8 9\n";
        let vectors = read(VectorFormat::GloveText, text).unwrap();
        assert_eq!(vectors.words(), ["p.\u{a0}ex.", "purple", "red", "nan", "infinity", "and infinity"]);
        assert_eq!(vectors.vector("red").unwrap().to_vec(), [0.0, 1.0]);
        assert_eq!(vectors.vector("nan").unwrap().to_vec(), [4.0, 5.0]);
    }

    #[test]
    fn a_word_of_bad_bytes_costs_its_line_and_no_other() {
        let (_folder, path) = file("mine.txt", b"moon 1 2\ncaf\xe9 3 4\n 5 6\nsoup 7 8\n");
        let vectors = WordVectors::read(&VectorFiles::new(VectorFormat::GloveText, path), &|_| true).unwrap();
        assert_eq!(vectors.words(), ["moon", "soup"]);
    }

    #[test]
    fn a_word_with_blanks_and_numbers_costs_its_line_and_a_word_that_comes_twice_its_second_vector() {
        let text = "moon 1 2\n1 800 3 4\nmoon 5 6\nsoup 7 8\nskipped 0 0\nskipped 0 0\nmoon 9 9\n";
        let vectors = read(VectorFormat::GloveText, text).unwrap();
        assert_eq!(
            (vectors.words().join(" "), vectors.vectors()),
            ("moon soup".into(), array![[1.0, 2.0], [7.0, 8.0]].view())
        );
        let (_folder, path) = file("mine.txt", text);
        let wanted = Wanted { keep: &|word| word != "skipped", fold_case: false };
        let gathered = super::read(&VectorFiles::new(VectorFormat::GloveText, path), &wanted, false).unwrap();
        let left_out = "1 lines with more than 2 numbers are left out, the first is line 2; 2 vectors of words that have one already are left \
                    out, the first is of `moon`";
        assert_eq!(gathered.left_out().as_deref(), Some(left_out));
    }

    #[test]
    fn a_decomposed_word_of_the_file_serves_the_composed_word_of_the_text() {
        let (_folder, path) = file("mine.txt", "cafe\u{301} 1 2\n");
        let wanted = crate::tokens::words("Caf\u{e9}");
        let files = VectorFiles::new(VectorFormat::GloveText, path);
        let vectors = WordVectors::read(&files, &|word| wanted.iter().any(|one| one == word)).unwrap();
        assert_eq!(vectors.words(), ["caf\u{e9}"]);
    }

    #[test]
    fn a_capital_serves_only_where_asked_for_and_nothing_better_is_there() {
        let (_folder, path) = file("mine.txt", "Apple 1\nAPPLE 2\nMoon 3\nmoon 4\nMOON 5\n");
        let lower = |word: &str| ["apple", "moon"].contains(&word);
        let folded = VectorFiles { fold_case: true, ..VectorFiles::new(VectorFormat::GloveText, &path) };
        let vectors = WordVectors::read(&folded, &lower).unwrap();
        assert_eq!((vectors.words().join(" "), vectors.vectors()), ("apple moon".into(), array![[1.0], [4.0]].view()));
        let plain = WordVectors::read(&VectorFiles { fold_case: false, ..folded }, &lower).unwrap();
        assert_eq!((plain.words().join(" "), plain.vectors()), ("moon".into(), array![[4.0]].view()));
    }
}
