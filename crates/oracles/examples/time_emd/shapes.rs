//! Documents of the shapes that the distances are made for: synthetic ones that anybody can draw, and the real corpora
//! where `LANDMARK_DATA` names them.

use std::error::Error;
use std::path::PathBuf;

use landmark_core::stream::{Rng, stream};
use landmark_data::BagsOfWords;
use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::corpus::{Corpus, TokenRules};
use ndarray::Array2;
use rand::Rng as _;

const DIMENSION: usize = 300;

const TOPICS: usize = 40;

pub(crate) struct Shape {
    pub(crate) bags: BagsOfWords,
    pub(crate) vectors: Array2<f32>,
}

/// Like tweets: 1,000 documents of 10 to 12 distinct words out of 6,000.
pub(crate) fn synthetic_tweets() -> Shape {
    synthetic("tweets", 1_000, 10..=12, 6_000)
}

/// Like posts to newsgroups: 600 documents of 56 to 160 distinct words (108 on average) out of 30,000.
pub(crate) fn synthetic_news() -> Shape {
    synthetic("news", 600, 56..=160, 30_000)
}

/// A corpus, such as `twitter` or `20news`, with the self-trained vectors of 300 numbers; `None` without a data folder.
pub(crate) fn real(name: &str) -> Result<Option<Shape>, Box<dyn Error>> {
    let Some(folder) = std::env::var_os(catalog::DATA_VARIABLE).map(PathBuf::from) else { return Ok(None) };
    let options = DocumentOptions { limit: Some(4_000), ..Default::default() };
    let documents = catalog::load_documents(name, Some(&folder), &options, 2022)?;
    let rules = TokenRules { most_frequent_words: Some(500), ..TokenRules::default() };
    let corpus = Corpus::tokenize(&documents, &rules);
    let vectors = catalog::load_word_vectors("self300", Some(&folder), &|word| corpus.contains(word))?;
    let (bags, _) = corpus.bags(&vectors).drop_empty();
    Ok(Some(Shape { bags, vectors: vectors.vectors().to_owned() }))
}

fn synthetic(name: &str, documents: usize, words: std::ops::RangeInclusive<usize>, vocabulary: usize) -> Shape {
    let mut rng = stream(2022, name, "shape", 0);
    let centers = Array2::from_shape_fn((TOPICS, DIMENSION), |_| normal(&mut rng));
    let mut vectors = Array2::from_shape_fn((vocabulary, DIMENSION), |_| normal(&mut rng));
    for mut vector in vectors.rows_mut() {
        let topic = rng.gen_range(0..TOPICS);
        vector += &centers.row(topic);
    }
    let bags = (0..documents).map(|_| {
        let (wanted, mut counts) = (rng.gen_range(words.clone()), std::collections::BTreeMap::<u32, f64>::new());
        while counts.len() < wanted {
            *counts.entry(word(vocabulary, &mut rng)).or_default() += 1.0;
        }
        counts.into_iter().collect()
    });
    Shape { bags: BagsOfWords::from_counts(bags.collect::<Vec<_>>()), vectors }
}

/// A word by Zipf's law without its 50 most frequent words, as if these were stop words.
fn word(vocabulary: usize, rng: &mut Rng) -> u32 {
    let (first, last) = (50.0_f64, vocabulary as f64 + 50.0);
    let rank = first * (last / first).powf(rng.gen_range(0.0..1.0)) - first;
    (rank as u32).min(vocabulary as u32 - 1)
}

fn normal(rng: &mut Rng) -> f32 {
    let (u, v) = (1.0 - rng.gen_range(0.0..1.0_f64), rng.gen_range(0.0..std::f64::consts::TAU));
    ((-2.0 * u.ln()).sqrt() * v.cos()) as f32
}
