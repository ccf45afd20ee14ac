//! Clusters and their figures against values of independent implementations (`tests/golden/{coref,average_linkage}.json`), the
//! published values of the reference scorer's own test cases, and counting by brute force.

use std::collections::HashMap;

use landmark_core::stream::stream;
use landmark_tasks::coreference::{CondensedDistances, CorefScores, Linkage, Singletons, score_coreference};
use rand::Rng;

use crate::golden;

fn score(key: &[Vec<String>], response: &[Vec<String>]) -> CorefScores {
    score_coreference(&[(key, response)], Singletons::Keep).unwrap()
}

/// `a bc def`: a cluster a word, a mention a letter.
fn clusters(text: &str) -> Vec<Vec<String>> {
    text.split_whitespace().map(|word| word.chars().map(String::from).collect()).collect()
}

#[test]
fn muc_b_cubed_ceaf_and_conll_agree_with_the_reference() {
    let golden = golden("coref.json");
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let of = |side: &str| -> Vec<Vec<String>> { serde_json::from_value(case[side].clone()).unwrap() };
        let seen = score(&of("key"), &of("response"));
        for (name, seen) in [("muc", seen.muc), ("b3", seen.b_cubed), ("ceafe", seen.ceaf_e)] {
            for (part, seen) in [("p", seen.precision), ("r", seen.recall), ("f1", seen.f1)] {
                let wanted = case[name][part].as_f64().unwrap();
                assert!((seen - wanted).abs() <= tolerance, "{}: {name} {part} {seen}, wanted {wanted}", case["id"]);
            }
        }
        assert!((seen.conll - case["conll"].as_f64().unwrap()).abs() <= tolerance, "{}", case["id"]);
    }
}

#[test]
fn average_linkage_agrees_with_the_reference_in_heights_and_labels() {
    let golden = golden("average_linkage.json");
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let rows: Vec<Vec<f64>> = serde_json::from_value(case["D"].clone()).unwrap();
        let n = rows.len();
        let values = (0..n).flat_map(|i| rows[i][i + 1..].to_vec()).collect();
        let dendrogram = CondensedDistances::new(n, values).unwrap().link(Linkage::Average);
        let heights: Vec<f64> = serde_json::from_value(case["heights"].clone()).unwrap();
        assert_eq!(heights.len(), dendrogram.merges().len());
        for (merge, wanted) in dendrogram.merges().iter().zip(&heights) {
            assert!((merge.height - wanted).abs() <= tolerance, "{merge:?}, wanted {wanted}");
        }
        let labels: Vec<usize> = serde_json::from_value(case["labels"].clone()).unwrap();
        let mut renamed = HashMap::new();
        let wanted: Vec<usize> = labels
            .iter()
            .map(|label| {
                let next = renamed.len();
                *renamed.entry(label).or_insert(next)
            })
            .collect();
        assert_eq!(dendrogram.cut_below(case["threshold"].as_f64().unwrap()), wanted);
    }
}

/// (response, [MUC, B³, CEAFm, CEAFe, BLANC] as (recall, precision, F1)): test cases A of the reference scorer, key {a} {bc} {def}.
#[test]
fn the_test_cases_of_the_reference_scorer_come_out_as_published() {
    let key = clusters("a bc def");
    let same = (1.0, 1.0, 1.0);
    let f = |r: f64, p: f64| (r, p, 2.0 * r * p / (r + p));
    let cases = [
        ("a bc def", [same, same, same, same, same]),
        (
            "a de",
            [
                (1. / 3., 1., 0.5),
                (7. / 18., 1., 14. / 25.),
                (0.5, 1., 2. / 3.),
                (0.6, 0.9, 0.72),
                ((0.25 + 2. / 11.) / 2., 1., 0.2 + 2. / 13.),
            ],
        ),
        (
            "a bcx defy z",
            [
                (1., 0.6, 0.75),
                f(1., (4. + 7. / 12.) / 9.),
                (1., 2. / 3., 0.8),
                f(0.8857142857142857, 0.6642857142857143),
                (1., (4. / 9. + 11. / 27.) / 2., 4. / 13. + 11. / 38.),
            ],
        ),
        (
            "a bcx dy z",
            [
                f(1. / 3., 1. / 3.),
                f(5. / 9., 17. / 42.),
                f(4. / 6., 4. / 7.),
                f(2.2 / 3., 2.2 / 4.),
                (
                    0.5 * (0.25 + 5. / 11.),
                    0.5 * (0.25 + 5. / 17.),
                    0.125 + (5. / 11. * 5. / 17.) / (5. / 11. + 5. / 17.),
                ),
            ],
        ),
        (
            "a bcxB dy z",
            [
                f(1. / 3., 0.25),
                f(5. / 9., 5. / 16.),
                f(2. / 3., 0.5),
                f((1.4 + 2. / 3.) / 3., (1.4 + 2. / 3.) / 4.),
                (
                    0.5 * (0.25 + 5. / 11.),
                    0.5 * (1. / 7. + 5. / 21.),
                    0.5 * (f(0.25, 1. / 7.).2 + f(5. / 11., 5. / 21.).2),
                ),
            ],
        ),
        (
            "a bcx dy Bz",
            [
                f(1. / 3., 0.25),
                f(5. / 9., 17. / 48.),
                f(4. / 6., 0.5),
                f(2.2 / 3., 2.2 / 4.),
                (0.5 * (0.25 + 5. / 11.), 0.5 * (0.2 + 5. / 23.), 0.5 * (f(0.25, 0.2).2 + f(5. / 11., 5. / 23.).2)),
            ],
        ),
    ];
    for (response, wanted) in cases {
        let seen = score(&key, &clusters(response));
        for (name, seen, (recall, precision, f1)) in [
            ("MUC", seen.muc, wanted[0]),
            ("B³", seen.b_cubed, wanted[1]),
            ("CEAFm", seen.ceaf_m, wanted[2]),
            ("CEAFe", seen.ceaf_e, wanted[3]),
            ("BLANC", seen.blanc, wanted[4]),
        ] {
            // quotients of small whole numbers: rounding alone
            for (part, seen, wanted) in
                [("R", seen.recall, recall), ("P", seen.precision, precision), ("F1", seen.f1, f1)]
            {
                assert!((seen - wanted).abs() < 1e-12, "{response}: {name} {part} {seen}, wanted {wanted}");
            }
        }
    }
}

#[test]
fn blanc_has_the_published_values_where_one_side_has_links_of_one_kind_alone() {
    for (key, response, (recall, precision, f1)) in [
        ("a bc def", "a b c d e f", (0.5, 11. / 30., 11. / 26.)), // A10
        ("a bc def", "abcdef", (0.5, 4. / 30., 4. / 19.)),        // A11
        ("a bc def", "a b d e x y z", (5. / 22., 5. / 42., 2. * (5. / 22.) * (5. / 42.) / (5. / 22. + 5. / 42.))), // A12
        ("a bc def", "abdexyz", (1. / 8., 1. / 42., 0.04)),      // A13
        ("abcdef", "abcdef", (1., 1., 1.)),                      // M1
        ("abcdef", "a b c d e f", (0., 0., 0.)),                 // M2
        ("abcdef", "abc de f", (4. / 15., 1., 8. / 19.)),        // M3
        ("a b c d e f", "a b c d e f", (1., 1., 1.)),            // N1
        ("a b c d e f", "abcdef", (0., 0., 0.)),                 // N2
        ("a b c d e f", "abc de f", (11. / 15., 1., 11. / 13.)), // N3
        ("a", "a", (1., 1., 1.)),
        ("a", "b", (0., 0., 0.)),
    ] {
        let seen = score(&clusters(key), &clusters(response)).blanc;
        for (seen, wanted) in [(seen.recall, recall), (seen.precision, precision), (seen.f1, f1)] {
            assert!((seen - wanted).abs() < 1e-12, "{key} / {response}: {seen}, wanted {wanted}");
        }
    }
}

mod twin {
    type Links = Vec<(String, String)>;

    fn links(clusters: &[Vec<String>]) -> (Links, Links) {
        let (mut same, mut other) = (Vec::new(), Vec::new());
        let all: Vec<(usize, &String)> =
            clusters.iter().enumerate().flat_map(|(k, cluster)| cluster.iter().map(move |m| (k, m))).collect();
        for (k, a) in &all {
            for (l, b) in all.iter().filter(|(_, b)| *a < *b) {
                if k == l { &mut same } else { &mut other }.push(((*a).clone(), (*b).clone()));
            }
        }
        (same, other)
    }

    pub(super) fn blanc_f1(key: &[Vec<String>], response: &[Vec<String>]) -> f64 {
        let ((key_same, key_other), (same, other)) = (links(key), links(response));
        let f1 = |key: &Links, response: &Links| {
            let common = key.iter().filter(|link| response.contains(link)).count() as f64;
            if key.is_empty() || response.is_empty() || common == 0.0 {
                return 0.0;
            }
            2.0 * common / (key.len() + response.len()) as f64
        };
        0.5 * (f1(&key_same, &same) + f1(&key_other, &other))
    }

    pub(super) fn lea_recall(key: &[Vec<String>], response: &[Vec<String>]) -> f64 {
        let together =
            |a: &String, b: &String| response.iter().any(|cluster| cluster.contains(a) && cluster.contains(b));
        let resolved = |cluster: &Vec<String>| match cluster.len() {
            1 => f64::from(u8::from(response.contains(cluster))),
            size => {
                let pairs = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j)));
                let found = pairs.clone().filter(|&(i, j)| together(&cluster[i], &cluster[j])).count();
                found as f64 / pairs.count() as f64
            }
        };
        let mentions: usize = key.iter().map(Vec::len).sum();
        key.iter().map(|cluster| cluster.len() as f64 * resolved(cluster)).sum::<f64>() / mentions as f64
    }
}

fn random_clusters(rng: &mut impl Rng, mentions: usize, most: usize) -> Vec<Vec<String>> {
    let mut clusters = vec![Vec::new(); most];
    for mention in (0..mentions).filter(|_| rng.gen_bool(0.8)).collect::<Vec<_>>() {
        clusters[rng.gen_range(0..most)].push(format!("m{mention}"));
    }
    clusters.retain(|cluster| !cluster.is_empty());
    clusters
}

#[test]
fn lea_and_blanc_agree_with_counting_every_link() {
    for case in 0..100_u64 {
        let rng = &mut stream(2022, "test", "coreference scores", case);
        let (key, response) = (random_clusters(rng, 30, 9), random_clusters(rng, 30, 9));
        let seen = score(&key, &response);
        // sums of at most 435 quotients
        assert!((seen.lea.recall - twin::lea_recall(&key, &response)).abs() < 1e-12);
        assert!((seen.lea.precision - twin::lea_recall(&response, &key)).abs() < 1e-12);
        assert!((seen.blanc.f1 - twin::blanc_f1(&key, &response)).abs() < 1e-12);
    }
}

#[test]
fn singletons_are_dropped_on_both_sides_or_kept() {
    let (key, response) = (clusters("a b cd"), clusters("a cde b"));
    let kept = score(&key, &response);
    let dropped = score_coreference(&[(&key[..], &response[..])], Singletons::Drop).unwrap();
    assert_eq!(
        (kept.key_clusters, kept.response_clusters, dropped.key_clusters, dropped.response_clusters),
        (3, 3, 1, 1)
    );
    assert_eq!(dropped, score(&clusters("cd"), &clusters("cde")));
    assert!(kept.ceaf_e.f1 > dropped.ceaf_e.f1 && kept.muc == dropped.muc);
}

#[test]
fn documents_add_up_as_one_with_names_of_their_own() {
    let (key, response) = (clusters("ab c"), clusters("a bc"));
    let (key2, response2) = (clusters("xyz"), clusters("xy zw"));
    let apart = score_coreference(&[(&key[..], &response[..]), (&key2[..], &response2[..])], Singletons::Keep).unwrap();
    let together = score(&[key, key2].concat(), &[response, response2].concat());
    // all but BLANC, whose links across documents do not count
    assert_eq!(
        (apart.muc, apart.b_cubed, apart.ceaf_e, apart.lea),
        (together.muc, together.b_cubed, together.ceaf_e, together.lea)
    );
    assert!(apart.blanc != together.blanc);
}

#[test]
fn a_mention_twice_is_refused_by_name_side_and_document() {
    for (key, response, wanted) in [
        ("ab ca", "abc", "the mention `a` is in the key twice (document 1)"),
        ("ab c", "abb c", "the mention `b` is in the response twice (document 1)"),
    ] {
        let (good, key, response) = (clusters("a"), clusters(key), clusters(response));
        let error = score_coreference(&[(&good[..], &good[..]), (&key[..], &response[..])], Singletons::Drop);
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with(wanted), "{message}");
    }
}

#[test]
fn nothing_to_score_is_zero_everywhere() {
    let none: Vec<Vec<String>> = Vec::new();
    assert_eq!(score_coreference(&[(&none[..], &none[..])], Singletons::Keep).unwrap(), CorefScores::default());
    assert_eq!(score_coreference::<String>(&[], Singletons::Keep).unwrap(), CorefScores::default());
}
