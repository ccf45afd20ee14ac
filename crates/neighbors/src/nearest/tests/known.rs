//! Searches that stand on the columns and factors of a fit.

use std::collections::HashSet;

use super::*;
use landmark_core::approximate::{Approximate, ShiftRidgeParams};
use landmark_core::approximation::Known as Nothing;
use landmark_core::oracle::Oracle;

const N: usize = 120;
const K: usize = 10;
const COLUMNS: usize = 12;
const SEEDS: std::ops::Range<u64> = 0..3;
/// Half of the 95 % interval of a mean of shares of 10 over 120 items and 3 draws, each with a standard deviation of .3 at most.
const INTERVAL: f64 = 0.031;

/// A name, a score, and a proxy that sees it badly.
type Case = (&'static str, Array2<f64>, Arc<dyn Oracle>);

fn cases(seed: u64) -> Vec<Case> {
    let mut rng = stream(seed, "known", "cases", 0);
    let mut uniform = |n: usize, d: usize| Array2::from_shape_fn((n, d), |_| rng.gen_range(-1.0..1.0));
    let cosine = |vectors: Array2<f64>| Arc::new(EmbeddingProxy::cosine(vectors).unwrap()) as Arc<dyn Oracle>;
    let vectors = uniform(N, 8);
    let noise = uniform(N, N);
    let low_rank = vectors.dot(&vectors.t()) + 0.1 * (&noise + &noise.t());
    let low_proxy = cosine(&vectors + 0.8 * uniform(N, 8));

    let (centers, around) = (uniform(N / 4, 12), uniform(N, 12));
    let grouped = Array2::from_shape_fn((N, 12), |(i, d)| centers[[i / 4, d]] + 0.3 * around[[i, d]]);
    let distance = |i: usize, j: usize| -> f64 { (&grouped.row(i) - &grouped.row(j)).mapv(|x: f64| x * x).sum() };
    let groups = Array2::from_shape_fn((N, N), |(i, j)| (-0.5 * distance(i, j)).exp());
    let group_proxy = cosine(&grouped + 0.8 * uniform(N, 12));

    let bags: Vec<HashSet<&str>> = texts();
    let overlap = |(i, j): (usize, usize)| {
        let shared = bags[i].intersection(&bags[j]).count() as f64;
        shared / ((bags[i].len() * bags[j].len()) as f64).sqrt()
    };
    let words = Array2::from_shape_fn((N, N), overlap);
    let word_proxy = cosine(Array2::from_shape_fn((N, 2), |(i, d)| if d == 0 { 1.0 } else { bags[i].len() as f64 }));

    let skew = uniform(N, N);
    let asymmetric = Array2::from_shape_fn((N, N), |(i, j)| low_rank[[i, j]] + 0.3 * skew[[i, j]]);
    let skew_proxy = Arc::clone(&low_proxy);
    vec![
        ("low rank", low_rank, low_proxy),
        ("groups", groups, group_proxy),
        ("words", words, word_proxy),
        ("asymmetric", asymmetric, skew_proxy),
    ]
}

/// Sentences of a subject, a deed and a place.
fn texts() -> Vec<HashSet<&'static str>> {
    let subjects =
        ["the old dog", "a young cat", "my tall sister", "the tired baker", "her quiet neighbor", "a gray bird"];
    let deeds = ["runs across", "sleeps near", "looks at", "sings about", "walks slowly around"];
    let places = ["the green field", "a cold river", "our small house", "the busy market"];
    let text = |i: usize| [subjects[i % 6], deeds[i / 6 % 5], places[i / 30]];
    (0..N).map(|i| text(i).iter().flat_map(|part| part.split(' ')).collect()).collect()
}

struct Fit {
    landmarks: Landmarks,
    columns: Vec<usize>,
    pairs: Vec<(Pair, f64)>,
    seed: Arc<dyn Oracle>,
    truth: Array2<f64>,
    /// Zero calls: the factors, with what was evaluated in its place.
    estimate: Array2<f64>,
}

impl Fit {
    fn of(oracle: &dyn Oracle, seed: u64) -> Self {
        let truth = whole(oracle);
        let landmarks = Landmarks::uniform(N, &mut stream(seed, "known", "landmarks", 0));
        let method = ShiftRidgeParams::default().check().unwrap();
        let mut rng = stream(seed, "known", "fit", 0);
        let fit = method.fit(oracle, &landmarks, COLUMNS, Nothing::NOTHING, &mut rng).unwrap();
        let columns = fit.landmarks().to_vec();
        let embedding = fit.into_embedding().unwrap();
        let seed = factors(embedding.vectors, &embedding.signature.to_vec()).unwrap();
        let mut estimate = whole(seed.as_ref());
        let mut pairs = Vec::new();
        for &l in &columns {
            for i in (0..N).filter(|&i| i != l) {
                pairs.push(((i, l), truth[[i, l]]));
                estimate[[i, l]] = truth[[i, l]];
                estimate[[l, i]] = truth[[i, l]];
            }
        }
        Self { landmarks, columns, pairs, seed, truth, estimate }
    }

    fn known(&self) -> Known {
        Known { columns: self.columns.clone(), pairs: self.pairs.clone(), seed: Some(Arc::clone(&self.seed)) }
    }

    /// The answer, and all pairs that were asked for.
    fn search(&self, oracle: &dyn Oracle, proxies: &[Arc<dyn Oracle>], calls: usize) -> (Found, Vec<Pair>) {
        let rounds = RoundsParams { k: K, calls_per_item: calls, ..RoundsParams::default() }.check().unwrap();
        let shape = OracleShape::of(oracle);
        let mut search = Search::knowing(rounds, shape, proxies.to_vec(), &self.landmarks, self.known()).unwrap();
        let asked = pairs_of(answer_all(&mut search, oracle));
        (search.finish().unwrap(), asked)
    }

    /// Scores of all evaluated pairs in both orders; others are below all.
    fn evaluated(&self, asked: &[Pair]) -> Array2<f64> {
        let mut known = Array2::from_elem((N, N), f64::NEG_INFINITY);
        let all = self.pairs.iter().map(|&(pair, _)| pair).chain(asked.iter().copied());
        all.for_each(|(i, j)| {
            known[[i, j]] = self.truth[[i, j]];
            known[[j, i]] = self.truth[[i, j]];
        });
        known
    }

    /// The best by the factors, place by place, until `left` pairs are scored.
    fn rescored(&self, mut left: usize) -> Array2<f64> {
        let lists: Vec<Vec<usize>> = (0..N).map(|i| best_of(&self.estimate, i, N - 1)).collect();
        let mut asked: HashSet<Pair> = HashSet::new();
        let old: HashSet<Pair> = self.pairs.iter().map(|&((i, j), _)| (i.min(j), i.max(j))).collect();
        for place in 0..N - 1 {
            for (i, list) in lists.iter().enumerate() {
                let pair = (i.min(list[place]), i.max(list[place]));
                if left > 0 && !old.contains(&pair) && asked.insert(pair) {
                    left -= 1;
                }
            }
        }
        self.evaluated(&asked.into_iter().collect::<Vec<_>>())
    }

    fn recall(&self, list: impl Fn(usize) -> Vec<usize>) -> f64 {
        let hits = |i: usize| {
            let found = list(i);
            best_of(&self.truth, i, K).iter().filter(|item| found.contains(item)).count()
        };
        (0..N).map(hits).sum::<usize>() as f64 / (K * N) as f64
    }
}

fn items(list: &[Neighbor]) -> Vec<usize> {
    list.iter().map(|one| one.item).collect()
}

/// Each case of each seed, its fit, and both ways of proxies.
fn each(mut check: impl FnMut(&str, &dyn Oracle, &Fit, &[Arc<dyn Oracle>])) {
    for seed in SEEDS {
        for (name, scores, proxy) in cases(seed) {
            let is_asymmetric = name == "asymmetric";
            let policy = if is_asymmetric { AsymmetryPolicy::Keep } else { AsymmetryPolicy::Reject };
            let given = Precomputed::new(scores, policy).unwrap();
            let oracle: Arc<dyn Oracle> =
                if is_asymmetric { Arc::new(Symmetrized::new(given, Symmetrization::Mean)) } else { Arc::new(given) };
            let fit = Fit::of(oracle.as_ref(), seed);
            check(name, oracle.as_ref(), &fit, &[]);
            check(name, oracle.as_ref(), &fit, &[proxy]);
        }
    }
}

#[test]
fn landmarks_get_their_own_rows_back_whole_and_no_list_lacks_a_better_neighbor_that_was_evaluated() {
    each(|name, oracle, fit, proxies| {
        let (found, asked) = fit.search(oracle, proxies, 3);
        for &l in &fit.columns {
            assert_eq!(items(&found.lists[l]), best_of(&fit.truth, l, K), "{name}, landmark {l}");
        }
        let evaluated = fit.evaluated(&asked);
        for (i, list) in found.lists.iter().enumerate() {
            // there are more columns than places
            assert!(list.iter().all(|one| one.exact && one.score == fit.truth[[i, one.item]]), "{name}, item {i}");
            assert_eq!(items(list), best_of(&evaluated, i, K), "{name}, item {i}");
        }
    });
}

#[test]
fn known_pairs_are_never_asked_for_and_the_budget_is_of_new_calls() {
    each(|name, oracle, fit, proxies| {
        let (found, asked) = fit.search(oracle, proxies, 5);
        let mut seen: HashSet<Pair> = fit.pairs.iter().map(|&((i, j), _)| (i.min(j), i.max(j))).collect();
        assert!(asked.iter().all(|&(i, j)| seen.insert((i.min(j), i.max(j)))), "{name}: a pair was asked for twice");
        let shape = OracleShape::of(oracle);
        let budget = 5 * N as u64 / shape.evaluations_per_pair;
        assert!(asked.len() as u64 <= budget, "{name}: {} of {budget}", asked.len());
        assert_eq!((found.pairs, found.failed), (asked.len() as u64, 0));
    });
}

#[test]
fn a_search_on_known_pairs_that_is_stopped_at_once_answers_with_them() {
    each(|name, oracle, fit, proxies| {
        let rounds = RoundsParams { k: K, ..RoundsParams::default() }.check().unwrap();
        let shape = OracleShape::of(oracle);
        let search = Search::knowing(rounds, shape, proxies.to_vec(), &fit.landmarks, fit.known()).unwrap();
        let found = search.finish().unwrap();
        let evaluated = fit.evaluated(&[]);
        for (i, list) in found.lists.iter().enumerate() {
            assert_eq!(items(list), best_of(&evaluated, i, K), "{name}, item {i}");
        }
    });
}

#[test]
fn scattered_known_pairs_alone_are_listed_and_not_asked_for() {
    let (_, scores, proxy) = cases(1).swap_remove(0);
    let oracle = Precomputed::new(scores.clone(), AsymmetryPolicy::Reject).unwrap();
    let mut rng = stream(1, "known", "scattered", 0);
    let mut old: HashSet<Pair> = HashSet::new();
    while old.len() < 300 {
        let (i, j) = (rng.gen_range(0..N), rng.gen_range(0..N));
        if i < j {
            old.insert((i, j));
        }
    }
    for proxies in [vec![], vec![proxy]] {
        let rounds = RoundsParams { k: K, calls_per_item: 8, ..RoundsParams::default() }.check().unwrap();
        let mut pairs: Vec<(Pair, f64)> = old.iter().map(|&(i, j)| ((j, i), scores[[i, j]])).collect();
        pairs.sort_by_key(|one| one.0);
        let known = Known { pairs, ..Known::default() };
        let mut search = Search::knowing(rounds, OracleShape::of(&oracle), proxies, &landmarks(N), known).unwrap();
        let mut all = old.clone();
        let asked = pairs_of(answer_all(&mut search, &oracle));
        assert!(asked.iter().all(|&(i, j)| all.insert((i.min(j), i.max(j)))));
        assert!(asked.len() <= 8 * N);
        for (i, list) in search.finish().unwrap().lists.iter().enumerate() {
            let mut known: Vec<usize> = (0..N).filter(|&j| all.contains(&(i.min(j), i.max(j)))).collect();
            known.sort_by(|&a, &b| scores[[i, b]].total_cmp(&scores[[i, a]]).then(a.cmp(&b)));
            known.truncate(K);
            let exact: Vec<usize> = list.iter().filter(|one| one.exact).map(|one| one.item).collect();
            assert_eq!(exact, known, "item {i}");
        }
    }
}

#[test]
fn a_search_on_known_pairs_is_the_same_on_any_number_of_threads() {
    let (_, scores, proxy) = cases(2).swap_remove(1);
    let oracle = Precomputed::new(scores, AsymmetryPolicy::Reject).unwrap();
    let fit = Fit::of(&oracle, 2);
    let answer = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit.search(&oracle, &[Arc::clone(&proxy)], 6))
    };
    let one = answer(1);
    assert_eq!(one, answer(3));
}

/// Left out by `scripts/test --quick`.
mod many_draws {
    use super::*;

    #[test]
    fn a_paid_search_finds_no_less_than_the_free_lists_and_than_rescoring_the_best_of_the_factors() {
        for calls in [4, 10, 20] {
            let mut sums: Vec<((String, bool), [f64; 3])> = Vec::new();
            each(|name, oracle, fit, proxies| {
                let (found, asked) = fit.search(oracle, proxies, calls);
                let rescored = fit.rescored(asked.len());
                let key = (name.to_owned(), proxies.is_empty());
                let place = sums.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                    sums.push((key, [0.0; 3]));
                    sums.len() - 1
                });
                sums[place].1[0] += fit.recall(|i| items(&found.lists[i]));
                sums[place].1[1] += fit.recall(|i| best_of(&fit.estimate, i, K));
                sums[place].1[2] += fit.recall(|i| best_of(&rescored, i, K));
            });
            assert_eq!(sums.len(), 8);
            for (case, sums) in sums {
                let [paid, free, rescored] = sums.map(|sum| sum / (SEEDS.end - SEEDS.start) as f64);
                println!("{calls} {case:?}: {paid:.3}, free {free:.3}, rescored {rescored:.3}");
                // a list of k evaluated pairs can be a new one: at fewer, known columns fill it before the estimates do
                assert!(calls < K || paid >= free - INTERVAL, "{case:?} at {calls}: {paid} against {free} for nothing");
                assert!(paid >= rescored - INTERVAL, "{case:?} at {calls}: {paid} against {rescored} by rescoring");
            }
        }
    }

    #[test]
    fn a_proxy_makes_a_search_on_a_fit_no_worse_and_a_fit_a_search_with_a_proxy() {
        // a proxy that predicts nothing, one that predicts little, and one that predicts nearly all
        let mut sums = vec![[0.0; 3]; 3];
        for seed in SEEDS {
            for (_, scores, little) in cases(seed).into_iter().filter(|case| case.0 != "asymmetric") {
                let oracle = Precomputed::new(scores.clone(), AsymmetryPolicy::Reject).unwrap();
                let fit = Fit::of(&oracle, seed);
                let (without, _) = fit.search(&oracle, &[], 10);
                let mut rng = stream(seed, "known", "useless", 0);
                let vectors = Array2::from_shape_fn((N, 8), |_| rng.gen_range(-1.0..1.0));
                let nothing: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors).unwrap());
                let noise = Array2::from_shape_fn((N, N), |_| rng.gen_range(-1.0..1.0));
                let nearly = &scores + &(0.02 * (&noise + &noise.t()));
                let all: Arc<dyn Oracle> = Arc::new(Precomputed::new(nearly, AsymmetryPolicy::Reject).unwrap());
                for (sums, proxy) in sums.iter_mut().zip([nothing, little, all]) {
                    let (found, _) = fit.search(&oracle, &[Arc::clone(&proxy)], 10);
                    let rounds = RoundsParams { k: K, calls_per_item: 10, ..RoundsParams::default() }.check().unwrap();
                    let cold = nearest(&oracle, &[proxy], &rounds, &fit.landmarks).unwrap();
                    let of = |lists: &[Vec<Neighbor>]| fit.recall(|i| items(&lists[i])) / 9.0;
                    for (sum, lists) in sums.iter_mut().zip([&found.lists, &without.lists, &cold.lists]) {
                        *sum += of(lists);
                    }
                }
            }
        }
        for (proxy, [with, without, cold]) in ["nothing", "little", "nearly all"].into_iter().zip(sums) {
            println!("{proxy}: {with:.3}, without the proxy {without:.3}, without the fit {cold:.3}");
            assert!(with >= without - INTERVAL && with >= cold - INTERVAL, "{proxy}: {with} {without} {cold}");
        }
    }
}
