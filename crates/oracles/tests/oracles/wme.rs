//! Random documents and the features they make.

use std::collections::HashSet;
use std::sync::Arc;

use landmark_core::oracle::{Kernel, Kernelized, Oracle, block_of};
use landmark_core::stream::stream;
use landmark_data::BagsOfWords;
use landmark_oracles::wmd::wme::{RandomDocuments, WmeError, WmeParams, features};
use landmark_oracles::wmd::{EmdScratch, EmptyDocuments, Wmd, WordClouds, emd, ground_distances};
use landmark_store::{OracleLabel, TileStore};
use ndarray::{Array1, Array2, array};
use rand::Rng;

fn sample(seed: u64, documents: usize, dimension: usize) -> (BagsOfWords, Array2<f32>) {
    let mut rng = stream(seed, "wme", "sample", 0);
    let vectors = Array2::from_shape_fn((40, dimension), |_| rng.gen_range(-1.5_f32..1.0));
    let bags = (0..documents).map(|_| {
        let tokens = rng.gen_range(1..=12);
        (0..tokens).map(|_| (rng.gen_range(0..40_u32), 1.0)).collect()
    });
    (BagsOfWords::from_counts(bags.collect::<Vec<_>>()), vectors)
}

fn clouds(bags: &BagsOfWords, vectors: &Array2<f32>) -> Arc<WordClouds> {
    Arc::new(WordClouds::new(bags, vectors.view(), EmptyDocuments::Error).unwrap())
}

fn draw(clouds: &Arc<WordClouds>, max_words: usize, documents: usize, seed: u64) -> RandomDocuments {
    RandomDocuments::draw(clouds, WmeParams { max_words, documents }, seed).unwrap()
}

fn words_of(bags: &BagsOfWords, vectors: &Array2<f32>, i: usize) -> Array2<f64> {
    let (words, _) = bags.document(i);
    Array2::from_shape_fn((words.len(), vectors.ncols()), |(k, c)| f64::from(vectors[[words[k] as usize, c]]))
}

/// Word mover's distance from `words` with their weights to words of one weight each, from its definition.
fn distance(words: &Array2<f64>, weights: &[f64], others: &Array2<f64>) -> f64 {
    let costs = ground_distances(words.view(), others.view());
    let equal = vec![1.0 / others.nrows() as f64; others.nrows()];
    emd(costs.as_slice().unwrap(), weights, &equal, &mut EmdScratch::default()).unwrap()
}

#[test]
fn distances_are_those_of_the_definition_between_true_and_random_documents() {
    let (bags, vectors) = sample(1, 14, 7);
    let clouds = clouds(&bags, &vectors);
    let random = draw(&clouds, 6, 25, 3);
    let all: Vec<usize> = (0..14 + 25).collect();
    let evaluated = block_of(&random, &all, &all).unwrap();
    for r in 0..25 {
        let words = random.random_document(r);
        for i in 0..14 {
            let expected = distance(&words_of(&bags, &vectors, i), bags.document(i).1, &words);
            // distances up to 8; a pivot is taken below −1e-12 of the largest
            assert!((evaluated[[i, 14 + r]] - expected).abs() <= 1e-11, "({i}, ω{r})");
        }
        for q in 0..25 {
            let equal = vec![1.0 / words.nrows() as f64; words.nrows()];
            let expected = distance(&words, &equal, &random.random_document(q));
            assert!((evaluated[[14 + r, 14 + q]] - expected).abs() <= 1e-11, "(ω{r}, ω{q})");
        }
    }
    assert_eq!(evaluated, evaluated.t());
    let truly: Vec<usize> = (0..14).collect();
    assert_eq!(block_of(&random, &truly, &truly).unwrap(), block_of(&Wmd::new(clouds), &truly, &truly).unwrap());
}

#[test]
fn random_documents_have_every_length_up_to_the_longest_and_words_of_length_one() {
    let (bags, vectors) = sample(2, 5, 9);
    let random = draw(&clouds(&bags, &vectors), 4, 200, 0);
    let mut lengths = [0; 5];
    let mut mean = Array1::<f64>::zeros(9);
    let mut words = 0.0;
    for r in 0..200 {
        let document = random.random_document(r);
        lengths[document.nrows()] += 1;
        for word in document.rows() {
            // nine coordinates in f32
            assert!((word.dot(&word).sqrt() - 1.0).abs() < 1e-6);
            mean += &word;
            words += 1.0;
        }
    }
    assert_eq!(lengths[0], 0);
    // 50 of each expected, standard deviation 6.1
    assert!(lengths[1..].iter().all(|&documents| (20..80).contains(&documents)), "{lengths:?}");
    // the cube reaches from −1.5 to 1, so its words lean to the negative side in every coordinate: by −0.11 of a length of 1,
    // where the mean of 500 words has a standard deviation of 0.015
    assert!(mean.iter().all(|sum| (-0.25..-0.03).contains(&(sum / words))), "{}", mean / words);
}

#[test]
fn fewer_random_documents_are_the_first_of_more() {
    let (bags, vectors) = sample(3, 10, 6);
    let clouds = clouds(&bags, &vectors);
    let (few, many) = (draw(&clouds, 5, 8, 11), draw(&clouds, 5, 30, 11));
    assert_eq!((few.identity(), few.len()), (many.identity(), many.len()));
    assert!((0..8).all(|r| few.random_document(r) == many.random_document(r)));
    let rows: Vec<usize> = (0..10).collect();
    let first: Vec<usize> = (10..18).collect();
    assert_eq!(block_of(&few, &rows, &first).unwrap(), block_of(&many, &rows, &first).unwrap());
}

#[test]
fn what_a_store_evaluated_for_few_random_documents_serves_for_more() {
    let (bags, vectors) = sample(4, 10, 6);
    let clouds = clouds(&bags, &vectors);
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap();
    let attach = |documents| store.attach(draw(&clouds, 5, documents, 11), OracleLabel::new("wme", "random")).unwrap();
    let few = attach(8);
    features(&few, 10, 8).unwrap();
    assert_eq!(few.evaluated(), 80);
    drop(few);
    let many = attach(30);
    let evaluated = features(&many, 10, 30).unwrap();
    assert_eq!(many.evaluated(), 220);
    assert_eq!(evaluated, features(many.inner(), 10, 30).unwrap());
}

#[test]
fn the_identity_changes_with_the_longest_document_the_seed_and_the_true_documents() {
    let (bags, vectors) = sample(6, 10, 6);
    let (all, fewer) = (clouds(&bags, &vectors), clouds(&bags.subset(&[0, 1, 2]), &vectors));
    let identities = [
        draw(&all, 5, 8, 1).identity(),
        draw(&all, 6, 8, 1).identity(),
        draw(&all, 5, 8, 2).identity(),
        draw(&fewer, 5, 8, 1).identity(),
        Wmd::new(all).identity(),
    ];
    assert_eq!(HashSet::from(identities).len(), identities.len());
}

/// In one dimension every random word is −1 or 1, so that there are few random documents and the kernel is a sum.
#[test]
fn inner_products_of_the_features_converge_to_the_kernel() {
    let gamma = 0.7;
    let vectors = array![[-3.0_f32], [-0.5], [0.25], [1.0]];
    let bags = BagsOfWords::from_counts([
        vec![(0, 1.0)],
        vec![(3, 1.0)],
        vec![(1, 2.0), (3, 1.0)],
        vec![(0, 1.0), (1, 1.0), (2, 3.0)],
    ]);
    let clouds = clouds(&bags, &vectors);
    // a coordinate in −3..1 is positive once in four times
    let (up, down) = (0.25, 0.75);
    let outcomes = [
        (0.5 * up, array![[1.0]]),
        (0.5 * down, array![[-1.0]]),
        (0.5 * up * up, array![[1.0], [1.0]]),
        (up * down, array![[1.0], [-1.0]]),
        (0.5 * down * down, array![[-1.0], [-1.0]]),
    ];
    let similarity = |i, words| (-gamma * distance(&words_of(&bags, &vectors, i), bags.document(i).1, words)).exp();
    let kernel = Array2::from_shape_fn((4, 4), |(i, j)| {
        outcomes.iter().map(|(p, words)| p * similarity(i, words) * similarity(j, words)).sum::<f64>()
    });
    let error = |documents| {
        let random = Kernelized::new(draw(&clouds, 2, documents, 9), Kernel::Exponential { gamma }).unwrap();
        let features = features(&random, 4, documents).unwrap();
        (features.dot(&features.t()) - &kernel).mapv(f64::abs).fold(0.0, |a: f64, &b| a.max(b))
    };
    // the mean of R products in 0..1, whose standard deviation is at most 1/2: four of them
    for documents in [64, 1024, 4096] {
        assert!(error(documents) < 2.0 / (documents as f64).sqrt(), "{documents}: {}", error(documents));
    }
    assert!(error(4096) < error(64));
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let (bags, vectors) = sample(7, 3, 6);
    let clouds = clouds(&bags, &vectors);
    let refusal = |max_words, documents| {
        RandomDocuments::draw(&clouds, WmeParams { max_words, documents }, 0).unwrap_err().to_string()
    };
    assert_eq!(refusal(0, 8), "`max_words` is 0, but must be from 1 to 500");
    assert_eq!(refusal(9, 0), "`documents` is 0, but must be from 1 to 4096");
    assert_eq!(refusal(9, 4097), "`documents` is 4097, but must be from 1 to 4096");
    WmeParams::default().check().unwrap();
}

#[test]
fn documents_without_any_word_leave_nothing_to_draw_around() {
    let bags = BagsOfWords::from_counts([vec![], vec![]]);
    let vectors = Array2::zeros((0, 3));
    let clouds = Arc::new(WordClouds::new(&bags, vectors.view(), EmptyDocuments::Fill(2.0)).unwrap());
    let error = RandomDocuments::draw(&clouds, WmeParams::default(), 0).unwrap_err();
    assert_eq!(error, WmeError::NoWords { documents: 2 });
}

#[test]
fn an_empty_document_is_at_the_fill_distance_from_every_random_one() {
    let bags = BagsOfWords::from_counts([vec![(0, 1.0)], vec![]]);
    let vectors = array![[0.5_f32, 2.0]];
    let clouds = Arc::new(WordClouds::new(&bags, vectors.view(), EmptyDocuments::Fill(7.0)).unwrap());
    let evaluated = block_of(&draw(&clouds, 3, 5, 0), &[1], &[2, 3, 4, 5, 6]).unwrap();
    assert_eq!(evaluated, Array2::from_elem((1, 5), 7.0));
}
