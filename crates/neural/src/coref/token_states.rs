//! Hidden states of the words of a corpus, computed once and kept.
//!
//! A document goes through the encoder in segments of whole sentences that fit the window (512 tokens with the two special
//! ones); the states of validated sentences are kept, which is all that mentions need: 4 · tokens · hidden bytes, 82 MB for ECB+
//! with a hidden size of 384. The file is named by a digest of corpus, encoder and window, so that states of two models never mix.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;
use landmark_data::{MentionCorpus, NewsDocument};
use landmark_oracles::neural::{EncoderChoice, SpanRows};
use tch::{Device, Tensor};

use super::CorefError;
use crate::encoder::{Encoder, EncoderConfig, ModelError, Sequence, Tokenizer, Weights};

/// Documents that go through the encoder between two reports of progress.
const DOCUMENTS_AT_A_TIME: usize = 16;
const STATES: &str = "states";

#[derive(Debug)]
pub struct TokenStates {
    states: Tensor,
    hidden: usize,
    /// For each document and word, its rows; none for words that are not kept.
    rows: Vec<Vec<Option<(usize, usize)>>>,
    identity: Identity,
}

impl TokenStates {
    /// Reads the states from `folder`, or computes them and writes them there. `progress` hears (documents done, all).
    pub fn find_or_compute(
        corpus: &MentionCorpus,
        choice: &EncoderChoice,
        device: Device,
        folder: &Path,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, CorefError> {
        let tokenizer = Tokenizer::open(&choice.files)?;
        let config = EncoderConfig::parse(&choice.files.config_bytes()?, &choice.files.config())?;
        let window = choice.window.min(config.longest()).max(3);
        let identity = Identity::of(&[
            ("kind", b"token states v1"),
            ("corpus", corpus.identity().as_bytes()),
            ("model", choice.files.identity()?.as_bytes()),
            ("window", &window.to_le_bytes()),
            ("precision", choice.precision.id().as_bytes()),
        ]);
        let layouts = corpus
            .documents()
            .iter()
            .map(|document| Layout::new(document, &tokenizer, window))
            .collect::<Result<Vec<_>, _>>()?;
        let (rows, kept) = number_rows(corpus.documents(), &layouts);
        let hidden = config.hidden;
        let path = folder.join(format!("states-{}-{}.safetensors", corpus.name(), identity.short()));
        let states = if path.exists() {
            let bytes = std::fs::read(&path).map_err(ModelError::io(&path))?;
            read_states(&bytes, &path, kept, hidden)?
        } else {
            let encoder = Encoder::open(&choice.files, device, choice.precision)?;
            let states = encode(&encoder, corpus.documents(), &layouts, kept, progress)?;
            std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
            Weights::write(&BTreeMap::from([(STATES.to_owned(), states.shallow_clone())]), &path)?;
            states
        };
        let hidden = usize::try_from(hidden).unwrap_or(0);
        Ok(Self { states: states.f_to_device(device)?, hidden, rows, identity })
    }

    /// rows × hidden, f32.
    pub fn tensor(&self) -> &Tensor {
        &self.states
    }

    pub fn hidden(&self) -> usize {
        self.hidden
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The rows of the words `start..=end` of a document; none where they are not in a validated sentence.
    pub fn span(&self, document: usize, start: usize, end: usize) -> Option<SpanRows> {
        let words = self.rows.get(document)?;
        let (first, _) = (*words.get(start)?)?;
        let (_, last) = (*words.get(end)?)?;
        (first <= last).then_some(SpanRows { first, last, words: end - start + 1 })
    }
}

struct Layout {
    segments: Vec<Segment>,
}

struct Segment {
    sequence: Sequence,
    first_word: usize,
    /// Tokens of each word, counted without the special ones; never empty.
    words: Vec<Range<usize>>,
}

impl Layout {
    /// Fills segments sentence by sentence; a sentence that is longer than the window is cut between words.
    fn new(document: &NewsDocument, tokenizer: &Tokenizer, window: usize) -> Result<Self, ModelError> {
        let room = window - 2;
        let texts: Vec<&str> = document.tokens.iter().map(|token| token.text.as_str()).collect();
        let tokens = tokenizer.words(&texts)?;
        let mut segments = Vec::new();
        let mut start = 0;
        while start < texts.len() {
            let begin = tokens.words[start].start;
            let fits = |word: usize| tokens.words[word].end - begin <= room;
            let most = (start..texts.len()).take_while(|&word| fits(word)).count().max(1);
            let limit = start + most;
            // the last place where a sentence ends, or wherever the window ends
            let ends_sentence = |word: usize| {
                word == texts.len() || document.tokens[word].sentence != document.tokens[word - 1].sentence
            };
            let end = (start + 1..=limit).rev().find(|&word| ends_sentence(word)).unwrap_or(limit);
            let ids = &tokens.ids[begin..tokens.words[end - 1].end];
            let words = tokens.words[start..end].iter().map(|word| word.start - begin..word.end - begin).collect();
            let words = never_empty(words, ids.len().min(room));
            segments.push(Segment { sequence: tokenizer.single(ids, window), first_word: start, words });
            start = end;
        }
        Ok(Self { segments })
    }
}

/// A word that became no token shares that of its neighbor; one beyond the window, that of the last inside.
fn never_empty(words: Vec<Range<usize>>, tokens: usize) -> Vec<Range<usize>> {
    let last = tokens.saturating_sub(1);
    words
        .into_iter()
        .map(|word| {
            let start = word.start.min(last);
            start..word.end.clamp(start + 1, last.max(start) + 1)
        })
        .collect()
}

type WordRows = Vec<Option<(usize, usize)>>;

fn number_rows(documents: &[NewsDocument], layouts: &[Layout]) -> (Vec<WordRows>, usize) {
    let mut next = 0;
    let mut all = Vec::with_capacity(documents.len());
    for (document, layout) in documents.iter().zip(layouts) {
        let mut rows = vec![None; document.tokens.len()];
        for segment in &layout.segments {
            for (word, tokens) in kept_words(document, segment) {
                rows[word] = Some((next, next + tokens.len() - 1));
                next += tokens.len();
            }
        }
        all.push(rows);
    }
    (all, next)
}

fn kept_words<'a>(
    document: &'a NewsDocument,
    segment: &'a Segment,
) -> impl Iterator<Item = (usize, &'a Range<usize>)> + 'a {
    let numbered = segment.words.iter().enumerate().map(|(k, tokens)| (segment.first_word + k, tokens));
    numbered.filter(|&(word, _)| document.validated.binary_search(&document.tokens[word].sentence).is_ok())
}

fn encode(
    encoder: &Encoder,
    documents: &[NewsDocument],
    layouts: &[Layout],
    rows: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Tensor, CorefError> {
    let hidden = usize::try_from(encoder.config().hidden).unwrap_or(0);
    let mut values: Vec<f32> = Vec::with_capacity(rows * hidden);
    let mut done = 0;
    for (documents_now, layouts_now) in documents.chunks(DOCUMENTS_AT_A_TIME).zip(layouts.chunks(DOCUMENTS_AT_A_TIME)) {
        let parts: Vec<(&NewsDocument, &Segment)> = documents_now
            .iter()
            .zip(layouts_now)
            .flat_map(|(document, layout)| layout.segments.iter().map(move |segment| (document, segment)))
            .filter(|(document, segment)| kept_words(document, segment).next().is_some())
            .collect();
        let sequences: Vec<Sequence> = parts.iter().map(|(_, segment)| segment.sequence.clone()).collect();
        for ((document, segment), states) in parts.into_iter().zip(encoder.token_states(&sequences)?) {
            for (_, tokens) in kept_words(document, segment) {
                // row 0 is the first special token
                let own = states.slice(ndarray::s![1 + tokens.start..1 + tokens.end, ..]);
                values.extend(own.iter());
            }
        }
        done += documents_now.len();
        progress(done, documents.len());
    }
    let shape = [i64::try_from(rows).unwrap_or(i64::MAX), encoder.config().hidden];
    Ok(Tensor::f_from_slice(&values)?.f_view(shape)?)
}

fn read_states(bytes: &[u8], path: &Path, rows: usize, hidden: i64) -> Result<Tensor, CorefError> {
    let weights = Weights::parse(bytes, path, Device::Cpu)?;
    let seen = weights.rows(STATES).and_then(|rows| usize::try_from(rows).ok()).unwrap_or(0);
    if seen != rows {
        return Err(CorefError::States { path: PathBuf::from(path), seen, wanted: rows });
    }
    Ok(weights.get(STATES, &[i64::try_from(rows).unwrap_or(i64::MAX), hidden])?)
}
