//! `tokenizer.json`: from texts to token ids, and from ids to sequences with their special tokens.

use std::ops::Range;
use std::path::Path;

use landmark_data::contained;
use landmark_oracles::neural::ModelFiles;
use tokenizers::Tokenizer as Inner;

use super::{Architecture, EncoderConfig, ModelError};

#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: Inner,
    architecture: Architecture,
    first: i64,
    separator: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub ids: Vec<i64>,
    pub words: Vec<Range<usize>>,
}

/// Input of the encoder: ids with special tokens, and which of the two texts each belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    pub ids: Vec<i64>,
    /// Token types; all 0 for RoBERTa.
    pub types: Vec<i64>,
    pub cut: usize,
}

impl Tokenizer {
    /// Reads the tokenizer of a model.
    pub fn open(files: &ModelFiles) -> Result<Self, ModelError> {
        let config = EncoderConfig::parse(&files.config_bytes()?, &files.config())?;
        Self::parse(&files.tokenizer_bytes()?, &files.tokenizer(), &config)
    }

    /// Reads the bytes of a `tokenizer.json` for a model of this shape; `path` is for error messages. Truncation and padding
    /// written in the file are ignored: both are ours to do.
    pub fn parse(bytes: &[u8], path: &Path, config: &EncoderConfig) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Tokenizer { path: path.to_owned(), why };
        let inner = contained(|| Inner::from_bytes(bytes)).map_err(wrong)?;
        let mut inner = inner.map_err(|error| wrong(error.to_string()))?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| wrong(error.to_string()))?;
        let (first, separator) = match config.architecture {
            Architecture::Bert => ("[CLS]", "[SEP]"),
            Architecture::Roberta => ("<s>", "</s>"),
        };
        let special = |token: &str| {
            let id = inner.token_to_id(token).map(i64::from);
            id.ok_or_else(|| wrong(format!("it has no token `{token}`")))
        };
        let (first, separator) = (special(first)?, special(separator)?);
        let largest = inner.get_vocab(true).into_values().max().map_or(0, i64::from);
        if largest >= config.vocabulary {
            return Err(wrong(format!(
                "it gives ids up to {largest}, but the model has word embeddings for {}",
                config.vocabulary
            )));
        }
        Ok(Self { inner, architecture: config.architecture, first, separator })
    }

    /// The ids of a text, without special tokens; none for an empty text.
    pub fn text(&self, text: &str) -> Result<Vec<i64>, ModelError> {
        let encoding = self
            .inner
            .encode_fast(text, false)
            .map_err(|error| ModelError::Text { text: text.chars().take(60).collect(), why: error.to_string() })?;
        Ok(encoding.get_ids().iter().copied().map(i64::from).collect())
    }

    /// The ids of a sentence given word by word, and which of them each word became.
    pub fn words<W: AsRef<str>>(&self, words: &[W]) -> Result<Tokens, ModelError> {
        let mut tokens = Tokens { ids: Vec::new(), words: Vec::with_capacity(words.len()) };
        for word in words {
            let start = tokens.ids.len();
            let ids = match self.architecture {
                Architecture::Bert => self.text(word.as_ref())?,
                // its byte pairs carry the blank before a word
                Architecture::Roberta => self.text(&format!(" {}", word.as_ref()))?,
            };
            tokens.ids.extend(ids);
            tokens.words.push(start..tokens.ids.len());
        }
        Ok(tokens)
    }

    fn specials_of_pair(&self) -> usize {
        match self.architecture {
            Architecture::Bert => 3,
            Architecture::Roberta => 4,
        }
    }

    /// `[CLS] a [SEP]`, at most `longest` tokens.
    pub fn single(&self, ids: &[i64], longest: usize) -> Sequence {
        let room = longest.saturating_sub(2);
        let kept = &ids[..ids.len().min(room)];
        let mut all = Vec::with_capacity(kept.len() + 2);
        all.push(self.first);
        all.extend_from_slice(kept);
        all.push(self.separator);
        Sequence { types: vec![0; all.len()], ids: all, cut: ids.len() - kept.len() }
    }

    /// `[CLS] a [SEP] b [SEP]` (RoBERTa: `<s> a </s></s> b </s>`), at most `longest` tokens: what is too much is taken off
    /// the end of the longer text. Where both are cut, both keep half of the room, and of an odd room the longer keeps one
    /// more, the second in a tie: `longest_first` of the library `tokenizers`.
    pub fn pair(&self, first: &[i64], second: &[i64], longest: usize) -> Sequence {
        let (a, b) = cut_longest_first(first.len(), second.len(), self.room_of_pair(longest));
        let mut ids = Vec::with_capacity(a + b + self.specials_of_pair());
        ids.push(self.first);
        ids.extend_from_slice(&first[..a]);
        ids.push(self.separator);
        let second_type = match self.architecture {
            Architecture::Bert => 1,
            Architecture::Roberta => {
                ids.push(self.separator);
                0
            }
        };
        let mut types = vec![0; ids.len()];
        ids.extend_from_slice(&second[..b]);
        ids.push(self.separator);
        types.resize(ids.len(), second_type);
        Sequence { ids, types, cut: first.len() + second.len() - a - b }
    }

    /// Tokens that two texts may have together in a sequence of `longest`.
    pub fn room_of_pair(&self, longest: usize) -> usize {
        longest.saturating_sub(self.specials_of_pair())
    }

    /// Tokens of the pair of two texts of these lengths, if it is cut at `longest`.
    pub fn length_of_pair(&self, first: usize, second: usize, longest: usize) -> usize {
        (first + second + self.specials_of_pair()).min(longest)
    }
}

/// Number of tokens of each of two texts that stay when together they may have `room`, the longer cut first.
fn cut_longest_first(first: usize, second: usize, room: usize) -> (usize, usize) {
    if first + second <= room {
        return (first, second);
    }
    // the shorter stays whole while the longer alone can give what is too much
    let (shorter, half) = (first.min(second), room / 2);
    if shorter <= half {
        let longer = room - shorter;
        return if first <= second { (shorter, longer) } else { (longer, shorter) };
    }
    if first > second { (room - half, half) } else { (half, room - half) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TruncationStrategy::LongestFirst` of `tokenizers`, as it is written there.
    fn of_the_library(first: usize, second: usize, room: usize) -> (usize, usize) {
        if first + second <= room {
            return (first, second);
        }
        let (shorter, longer) = (first.min(second), first.max(second));
        let mut kept = (shorter, if shorter > room { shorter } else { shorter.max(room - shorter) });
        if kept.0 + kept.1 > room {
            kept = (room / 2, room / 2 + room % 2);
        }
        let (a, b) = (kept.0, kept.1.min(longer));
        if first > second { (b, a) } else { (a, b) }
    }

    #[test]
    fn pairs_are_cut_as_the_library_cuts_them() {
        for first in 0..24 {
            for second in 0..24 {
                for room in 0..40 {
                    let seen = cut_longest_first(first, second, room);
                    assert_eq!(seen, of_the_library(first, second, room), "{first} {second} {room}");
                }
            }
        }
        // 16 tokens less three special ones, texts of 13, 13 and 12
        assert_eq!(cut_longest_first(13, 13, 13), (6, 7));
        assert_eq!(cut_longest_first(13, 12, 13), (7, 6));
        assert_eq!(cut_longest_first(12, 13, 13), (6, 7));
    }
}
