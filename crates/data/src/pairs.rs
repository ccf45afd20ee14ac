//! Labelled pairs of sentences: graded similarity (STS-B), paraphrase or not (MRPC), entailed or not (RTE).
//!
//! Files are tab-separated with a header line and no quoting: a `"` is a plain character. Sentences that occur more than once
//! are one item.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use rand::seq::index;
use serde::Deserialize;

use landmark_core::stream::stream;

use crate::error::DataError;
use crate::rows::{RowFormat, Rows};

/// Pairs of distinct sentences, each with the judgment of people.
#[derive(Debug, Clone, PartialEq)]
pub struct SentencePairs {
    sentences: Vec<String>,
    pairs: Vec<(usize, usize)>,
    targets: Vec<f64>,
}

/// Columns of a file of pairs, and the scale of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PairColumns {
    pub first: &'static str,
    pub second: &'static str,
    /// The column of the judgments of people.
    pub target: &'static str,
    pub scale: PairScale,
}

/// Scale in which a target is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairScale {
    /// A number from 0 to 5.
    Grade,
    /// One of two words: the one for yes, the one for no.
    Label { yes: &'static str, no: &'static str },
}

const MOST: f64 = 5.0;

impl PairScale {
    /// Between 0 and 1; nothing for what is no target.
    fn read(self, text: &str) -> Option<f64> {
        match self {
            Self::Grade => {
                text.parse().ok().filter(|grade| (0.0..=MOST).contains(grade)).map(|grade: f64| grade / MOST)
            }
            Self::Label { yes, .. } if text == yes => Some(1.0),
            Self::Label { no, .. } if text == no => Some(0.0),
            Self::Label { .. } => None,
        }
    }

    fn wanted(self) -> Cow<'static, str> {
        match self {
            Self::Grade => Cow::Borrowed("a grade from 0 to 5"),
            Self::Label { yes, no } => {
                Cow::Owned(format!("`{yes}` or `{no}`; a test set whose labels are hidden can't be used"))
            }
        }
    }
}

impl SentencePairs {
    /// Reads a plain or gzip file.
    ///
    /// # Errors
    /// [`DataError`] naming file and line: a missing column, another number of cells, a target that is none.
    pub fn read(path: &Path, columns: &PairColumns) -> Result<Self, DataError> {
        Self::read_from(path, crate::unpack::open(path)?, columns)
    }

    /// The same from bytes; `name` is the name in errors.
    pub fn from_tsv(name: &str, bytes: &[u8], columns: &PairColumns) -> Result<Self, DataError> {
        Self::read_from(Path::new(name), bytes, columns)
    }

    fn read_from(path: &Path, reader: impl BufRead, columns: &PairColumns) -> Result<Self, DataError> {
        let mut rows = Rows::new(path, reader, RowFormat::Tsv, &[columns.first, columns.second, columns.target])?;
        let mut pairs = Vec::new();
        while let Some((line, cells)) = rows.next_full_row()? {
            // as many as were asked for
            let [first, second, target] = <[String; 3]>::try_from(cells).unwrap_or_default();
            let value = columns.scale.read(&target).ok_or_else(|| {
                DataError::malformed(
                    path,
                    line,
                    format!("`{target}` in `{}`", columns.target),
                    columns.scale.wanted().into_owned(),
                )
            })?;
            pairs.push((first, second, value));
        }
        if pairs.is_empty() {
            return Err(DataError::Empty { path: path.to_owned(), what: "pairs" });
        }
        Ok(Self::of(pairs))
    }

    /// From sentences and targets between 0 and 1.
    pub fn of(rows: impl IntoIterator<Item = (String, String, f64)>) -> Self {
        let mut pairs = Self { sentences: Vec::new(), pairs: Vec::new(), targets: Vec::new() };
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (first, second, target) in rows {
            let mut number = |sentence: String| {
                *numbers.entry(sentence).or_insert_with_key(|sentence| {
                    pairs.sentences.push(sentence.clone());
                    pairs.sentences.len() - 1
                })
            };
            let pair = (number(first), number(second));
            pairs.pairs.push(pair);
            pairs.targets.push(target);
        }
        pairs
    }

    /// A sample of `limit` pairs in their order, drawn from a named stream; all where there are no more.
    #[must_use]
    pub fn sample(&self, dataset: &str, limit: usize, seed: u64) -> Self {
        if limit >= self.pairs.len() {
            return self.clone();
        }
        let mut kept = index::sample(&mut stream(seed, dataset, "pairs", 0), self.pairs.len(), limit).into_vec();
        kept.sort_unstable();
        let sentence = |k: usize| self.sentences[k].clone();
        Self::of(kept.into_iter().map(|k| {
            let (i, j) = self.pairs[k];
            (sentence(i), sentence(j), self.targets[k])
        }))
    }

    /// The distinct sentences, in the order they occur.
    pub fn sentences(&self) -> &[String] {
        &self.sentences
    }

    /// Pairs of their numbers, in the order of the file.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// One a pair, between 0 and 1.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRADES: PairColumns = PairColumns { first: "a", second: "b", target: "score", scale: PairScale::Grade };

    #[test]
    fn sentences_that_repeat_are_one_item_and_quotes_are_plain() {
        let tsv = b"score\ta\tb\n5\tOne.\t\"Two.\n2.5\t\"Two.\tOne.\n0\tOne.\tOne.\n";
        let pairs = SentencePairs::from_tsv("p", tsv, &GRADES).unwrap();
        assert_eq!(pairs.sentences(), ["One.", "\"Two."]);
        assert_eq!(pairs.pairs(), [(0, 1), (1, 0), (0, 0)]);
        assert_eq!(pairs.targets(), [1.0, 0.5, 0.0]);
    }

    #[test]
    fn what_is_no_target_is_named_with_its_line() {
        let error = |scale, cell: &str| {
            let tsv = format!("score\ta\tb\n{cell}\tOne.\tTwo.\n");
            SentencePairs::from_tsv("p.tsv", tsv.as_bytes(), &PairColumns { scale, ..GRADES }).unwrap_err().to_string()
        };
        assert_eq!(error(PairScale::Grade, "6"), "p.tsv:2: `6` in `score`; wanted is a grade from 0 to 5");
        let hidden = error(PairScale::Label { yes: "1", no: "0" }, "?");
        assert!(hidden.starts_with("p.tsv:2: `?` in `score`; wanted is `1` or `0`"), "{hidden}");
    }

    #[test]
    fn a_sample_keeps_the_order_and_does_not_depend_on_anything_but_its_names() {
        let pairs = SentencePairs::of((0..50).map(|k| (format!("a{k}"), format!("b{k}"), f64::from(k) / 50.0)));
        let sample = pairs.sample("mine", 10, 1);
        assert_eq!((sample.len(), sample.sentences().len()), (10, 20));
        assert!(sample.targets().windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sample, pairs.sample("mine", 10, 1));
        assert_ne!(sample, pairs.sample("mine", 10, 2));
        assert_eq!(pairs.sample("mine", 50, 1), pairs);
    }
}
