//! Word mover's distance and its bounds over documents.

use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_core::stream::stream;
use landmark_data::BagsOfWords;
use landmark_oracles::wmd::{EmptyDocuments, Rwmd, Wcd, Wmd, WordCloudError, WordClouds};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::Rng;

const VOCABULARY: usize = 60;

/// Documents that share many words, word vectors among which some are equal or nearly so.
fn sample(seed: u64, documents: usize, longest: usize) -> (BagsOfWords, Array2<f32>) {
    let mut rng = stream(seed, "documents", "sample", 0);
    let mut vectors = Array2::from_shape_fn((VOCABULARY, 13), |_| rng.gen_range(-1.0_f32..1.0));
    let first = vectors.row(0).to_owned();
    vectors.row_mut(1).assign(&first);
    vectors.row_mut(2).assign(&(&first + 1e-4));
    let bags = (0..documents).map(|_| {
        let tokens = rng.gen_range(1..=longest);
        (0..tokens).map(|_| (rng.gen_range(0..VOCABULARY as u32), 1.0)).collect()
    });
    (BagsOfWords::from_counts(bags.collect::<Vec<_>>()), vectors)
}

fn clouds(bags: &BagsOfWords, vectors: &Array2<f32>) -> Arc<WordClouds> {
    Arc::new(WordClouds::new(bags, vectors.view(), EmptyDocuments::Error).unwrap())
}

fn all_three(clouds: &Arc<WordClouds>) -> [Box<dyn Oracle>; 3] {
    [Box::new(Wmd::new(clouds.clone())), Box::new(Rwmd::new(clouds.clone())), Box::new(Wcd::new(clouds.clone()))]
}

fn all_pairs(n: usize) -> Vec<Pair> {
    (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).collect()
}

fn evaluate(oracle: &dyn Oracle, pairs: &[Pair]) -> Vec<f64> {
    let mut out = vec![f64::NAN; pairs.len()];
    oracle.evaluate(pairs, &mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bounds_stay_below_and_the_distance_is_a_metric(seed in any::<u64>(), longest in 1_usize..=40) {
        let (bags, vectors) = sample(seed, 8, longest);
        let clouds = clouds(&bags, &vectors);
        let pairs = all_pairs(8);
        let distances = evaluate(&Wmd::new(clouds.clone()), &pairs);
        let bounds: [Box<dyn Oracle>; 2] = [Box::new(Wcd::new(clouds.clone())), Box::new(Rwmd::new(clouds))];
        for bound in bounds {
            for (bound, distance) in evaluate(&*bound, &pairs).into_iter().zip(&distances) {
                prop_assert!(bound <= distance + 1e-12, "{bound} > {distance}"); // rounding of sums up to 8
            }
        }
        let at = |i: usize, j: usize| distances[j * 8 + i];
        for (i, j) in pairs {
            prop_assert_eq!(at(i, j).to_bits(), at(j, i).to_bits());
            // word 1 has the vector of word 0, so documents may differ and still be at distance 0, but not the reverse
            let same = bags.document(i) == bags.document(j);
            prop_assert!(!same || at(i, j) == 0.0);
            let apart = bags.document(i).0.iter().chain(bags.document(j).0).all(|word| *word > 1);
            prop_assert!(same || !apart || at(i, j) > 0.0);
            for k in 0..8 {
                prop_assert!(at(i, k) <= at(i, j) + at(j, k) + 1e-11);
            }
        }
    }
}

#[test]
fn with_a_cutoff_bounds_stand_for_distances_and_move_no_similarity_by_more_than_epsilon() {
    let (bags, vectors) = sample(5, 90, 12);
    let clouds = clouds(&bags, &vectors);
    let pairs = all_pairs(90);
    let (exact, wcd, rwmd) = (
        evaluate(&Wmd::new(clouds.clone()), &pairs),
        evaluate(&Wcd::new(clouds.clone()), &pairs),
        evaluate(&Rwmd::new(clouds.clone()), &pairs),
    );
    for cutoff in [1.0, 1.9, 2.2] {
        let wmd = Wmd::with_cutoff(clouds.clone(), cutoff).unwrap();
        let mut skipped = 0;
        for (k, (&distance, seen)) in exact.iter().zip(evaluate(&wmd, &pairs)).enumerate() {
            let wanted = if wcd[k] >= cutoff { wcd[k] } else { rwmd[k] };
            if wanted < cutoff {
                assert_eq!(seen.to_bits(), distance.to_bits());
                continue;
            }
            skipped += 1;
            assert_eq!(seen.to_bits(), wanted.to_bits());
            for gamma in [1.0, 3.0] {
                let epsilon = f64::exp(-gamma * cutoff);
                let error = f64::exp(-gamma * seen) - f64::exp(-gamma * distance);
                // bounds exceed the distance by rounding at most: sums up to 8
                assert!(error.abs() <= epsilon && error > -1e-12);
            }
        }
        assert!(skipped > 100 && skipped < 90 * 89, "{skipped} at {cutoff}");
        assert_eq!(wmd.skipped(), skipped);
    }
}

#[test]
fn a_cutoff_is_part_of_the_identity_and_one_out_of_reach_changes_no_distance() {
    let (bags, vectors) = sample(6, 40, 12);
    let clouds = clouds(&bags, &vectors);
    let (wmd, pairs) = (Wmd::new(clouds.clone()), all_pairs(40));
    let with = |cutoff| Wmd::with_cutoff(clouds.clone(), cutoff).unwrap();
    let far = with(1e3);
    assert_eq!(evaluate(&far, &pairs), evaluate(&wmd, &pairs));
    assert_eq!((far.skipped(), wmd.skipped()), (0, 0));
    assert_ne!(far.identity(), wmd.identity());
    assert_ne!(far.identity(), with(2.0).identity());
    assert_eq!(with(2.0).identity(), with(2.0).identity());
    for cutoff in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Wmd::with_cutoff(clouds.clone(), cutoff).is_err());
    }
}

#[test]
fn a_score_depends_on_its_pair_alone() {
    let (bags, vectors) = sample(3, 70, 25);
    let clouds = clouds(&bags, &vectors);
    let mut rng = stream(3, "documents", "scattered", 0);
    let scattered: Vec<Pair> = (0..500).map(|_| (rng.gen_range(0..70), rng.gen_range(0..70))).collect();
    let oracles: [Box<dyn Oracle>; 4] = [
        Box::new(Wmd::new(clouds.clone())),
        Box::new(Wmd::with_cutoff(clouds.clone(), 1.9).unwrap()),
        Box::new(Rwmd::new(clouds.clone())),
        Box::new(Wcd::new(clouds)),
    ];
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..70).rev().collect(), (0..70).step_by(3).collect());
    for oracle in oracles {
        let together = evaluate(&*oracle, &scattered);
        let mut block = Array2::zeros((70, cols.len()));
        oracle.block(&rows, &cols, block.view_mut()).unwrap();
        let mut turned = Array2::zeros((cols.len(), 70));
        oracle.block(&cols, &rows, turned.view_mut()).unwrap();
        for (&(i, j), score) in scattered.iter().zip(together) {
            assert_eq!(score.to_bits(), evaluate(&*oracle, &[(j, i)])[0].to_bits());
            if j % 3 == 0 {
                assert_eq!(score.to_bits(), block[[69 - i, j / 3]].to_bits());
                assert_eq!(score.to_bits(), turned[[j / 3, 69 - i]].to_bits());
            }
        }
    }
}

#[test]
fn scores_are_the_same_on_one_thread_and_on_three() {
    let (bags, vectors) = sample(4, 40, 25);
    let wmd = Wmd::new(clouds(&bags, &vectors));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| evaluate(&wmd, &all_pairs(40)))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn empty_documents_are_named_or_filled_and_counted() {
    let vectors = array![[0.0_f32, 0.0], [3.0, 4.0]];
    let ids = ["a", "b", "c", "d"].map(String::from).to_vec();
    let bags = BagsOfWords::from_counts([vec![(0, 1.0)], vec![], vec![(1, 2.0)], vec![]]).with_ids(ids);
    let error = WordClouds::new(&bags, vectors.view(), EmptyDocuments::Error).unwrap_err();
    assert_eq!(error, WordCloudError::EmptyDocuments { ids: vec!["b".into(), "d".into()], total: 4 });
    assert_eq!(
        error.to_string(),
        "2 of 4 documents have no word with a vector: `b`, `d`; drop them (`oracle.empty_documents: drop`), set \
         their distance from all others (`{ distance: 1.0 }`), or load vectors that cover them"
    );
    let clouds = Arc::new(WordClouds::new(&bags, vectors.view(), EmptyDocuments::Fill(7.0)).unwrap());
    assert_eq!(clouds.empty_documents(), [1, 3]);
    let pairs = [(0, 1), (1, 2), (1, 3), (0, 2), (1, 1)];
    for oracle in all_three(&clouds) {
        // what two documents without a word share is not known: they are no duplicates
        assert_eq!(evaluate(&*oracle, &pairs), [7.0, 7.0, 7.0, 5.0, 0.0]);
        let mut block = Array2::zeros((4, 2));
        oracle.block(&[0, 1, 2, 3], &[1, 2], block.view_mut()).unwrap();
        assert_eq!(block, array![[7.0, 5.0], [0.0, 7.0], [7.0, 0.0], [7.0, 7.0]]);
    }
    let refused = WordClouds::new(&bags, vectors.view(), EmptyDocuments::Fill(-1.0)).unwrap_err();
    assert_eq!(refused.to_string(), "the fill distance for empty documents is -1; want a finite number ≥ 0");
}

#[test]
fn words_without_vectors_and_broken_vectors_are_refused() {
    let bags = BagsOfWords::from_counts([vec![(0, 1.0), (5, 1.0)]]);
    let error = WordClouds::new(&bags, Array2::zeros((2, 3)).view(), EmptyDocuments::Error).unwrap_err();
    assert_eq!(
        error.to_string(),
        "document `0` has the word 5, but there are vectors for 2 words; build both from one vocabulary"
    );
    let broken = array![[0.0_f32], [1.0], [1.0], [1.0], [1.0], [f32::NAN]];
    let error = WordClouds::new(&bags, broken.view(), EmptyDocuments::Error).unwrap_err();
    assert_eq!(error.to_string(), "the vector of word 5 holds NaN; want finite numbers");
}

#[test]
fn pairs_out_of_range_and_short_buffers_are_refused() {
    let (bags, vectors) = sample(5, 4, 5);
    for oracle in all_three(&clouds(&bags, &vectors)) {
        let error = oracle.evaluate(&[(0, 4)], &mut [0.0]).unwrap_err();
        assert!(matches!(error, OracleError::OutOfRange { index: 4, len: 4 }), "{error}");
        let error = oracle.evaluate(&[(0, 1)], &mut []).unwrap_err();
        assert!(matches!(error, OracleError::ShapeMismatch { pairs: 1, room: 0, .. }), "{error}");
        let error = oracle.block(&[0, 9], &[1], Array2::zeros((2, 1)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::OutOfRange { index: 9, len: 4 }), "{error}");
        assert_eq!(evaluate(&*oracle, &[]), Vec::<f64>::new());
    }
}

#[test]
fn identity_moves_with_whatever_moves_a_score_and_with_nothing_else() {
    let (bags, vectors) = sample(6, 5, 10);
    let identity = |bags: &BagsOfWords, vectors: &Array2<f32>| Wmd::new(clouds(bags, vectors)).identity();
    let own = identity(&bags, &vectors);
    assert_eq!(own, identity(&bags, &vectors));
    let mut moved = vectors.clone();
    moved[[bags.document(0).0[0] as usize, 0]] += 1e-3;
    assert_ne!(own, identity(&bags, &moved));
    assert_ne!(own, identity(&bags.subset(&[0, 1, 2, 4, 3]), &vectors));
    // a word that no document has
    let larger = ndarray::concatenate![ndarray::Axis(0), vectors, Array2::ones((1, 13))];
    assert_eq!(own, identity(&bags, &larger));
    let clouds = clouds(&bags, &vectors);
    assert_ne!(own, Rwmd::new(clouds.clone()).identity());
    assert_ne!(own, Wcd::new(clouds).identity());
}
