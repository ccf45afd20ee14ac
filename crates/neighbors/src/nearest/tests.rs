//! Against the NumPy twin, against brute force, and under bad input.

use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng as _;
use serde_json::Value;

use super::*;
use landmark_core::oracle::{
    AsymmetryPolicy, EmbeddingProxy, Metered, Pair, Precomputed, Remembered, Symmetrization, Symmetrized, block_of,
};
use landmark_core::stream::stream;

mod bounds;
mod given;
mod known;
mod looks;
mod orders;
mod trial;
mod two_lists;

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

fn indices(value: &Value) -> Vec<usize> {
    serde_json::from_value(value.clone()).unwrap()
}

/// The twin's cases: scripts/peers/rounds.py.
fn golden() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/rounds.json");
    let mut file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    serde_json::from_value(file["cases"].take()).unwrap()
}

fn symmetric(upper: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(upper.clone()).unwrap();
    let n = rows.len();
    Array2::from_shape_fn((n, n), |(i, j)| if i == j { 1.0 } else { rows[i.min(j)][i.max(j) - i.min(j) - 1] })
}

#[test]
fn every_batch_lambda_and_list_is_that_of_the_numpy_twin() {
    for (number, case) in golden().iter().enumerate() {
        let oracle = Precomputed::new(symmetric(&case["K"]), AsymmetryPolicy::Reject).unwrap();
        let vectors = case["vectors"].as_array().unwrap();
        let proxies: Vec<Arc<dyn Oracle>> = vectors
            .iter()
            .map(|rows| {
                let rows: Vec<Vec<f64>> = serde_json::from_value(rows.clone()).unwrap();
                let rows = Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap();
                Arc::new(EmbeddingProxy::cosine(rows).unwrap()) as Arc<dyn Oracle>
            })
            .collect();
        // one that hides its vectors takes the other way through kriging
        let hidden = |proxy: &Arc<dyn Oracle>| Arc::new(Remembered::new(Arc::clone(proxy))) as Arc<dyn Oracle>;
        let ways = [proxies.clone(), proxies.iter().map(hidden).collect()];
        let landmarks = Landmarks::new(oracle.len(), indices(&case["columns"]), indices(&case["judges"])).unwrap();
        let count = |name: &str| usize::try_from(case[name].as_u64().unwrap()).unwrap();
        let (k, calls_per_item) = (count("k"), count("calls_per_item"));
        // the twin has one way to learn, and no process over pairs
        let params = RoundsParams { k, calls_per_item, pairwise: false, looks: false, ..RoundsParams::default() };
        for proxies in ways {
            let rounds = params.clone().check().unwrap();
            let mut search = Search::new(rounds, OracleShape::of(&oracle), proxies, &landmarks).unwrap();
            let mut batches = answer_all(&mut search, &oracle);
            batches.retain(|batch| !matches!(batch.step, Step::Trial | Step::Columns));
            let batches: Vec<Vec<Pair>> = batches.into_iter().map(|batch| batch.pairs).collect();
            let wanted: Vec<Vec<Pair>> = serde_json::from_value(case["batches"].clone()).unwrap();
            assert_eq!(batches, wanted, "case {number}");
            let found = search.finish().unwrap();
            assert_eq!(found.proxies, indices(&case["proxy_order"]), "case {number}");
            let lambdas: Vec<Option<f64>> = serde_json::from_value(case["lambdas"].clone()).unwrap();
            let ranks: Vec<bool> = serde_json::from_value(case["ranked"].clone()).unwrap();
            assert_eq!(found.rounds.iter().map(|report| report.ranks).collect::<Vec<_>>(), ranks, "case {number}");
            for (report, lambda) in found.rounds.iter().zip(&lambdas) {
                // a mean of ones
                assert!(report.lambda.zip(*lambda).is_none_or(|(a, b)| (a - b).abs() < 1e-12), "case {number}");
                assert_eq!(report.lambda.is_some(), lambda.is_some());
            }
            assert_eq!(found.rounds.len(), lambdas.len());
            for (i, list) in found.lists.iter().enumerate() {
                let items: Vec<usize> = list.iter().map(|one| one.item).collect();
                assert_eq!(items, indices(&case["lists"][i]), "case {number}, item {i}");
                let exact: Vec<bool> = serde_json::from_value(case["exact"][i].clone()).unwrap();
                for ((one, score), exact) in list.iter().zip(numbers(&case["scores"][i])).zip(exact) {
                    // normal equations of condition 1e4 at most, and the twelve digits of the file
                    assert!((one.score - score).abs() < 1e-9 && one.exact == exact, "case {number}, item {i}");
                }
            }
        }
    }
}

/// A score of hubness and of vectors, and a proxy that sees the vectors badly.
fn problem(n: usize, seed: u64) -> (Precomputed, EmbeddingProxy) {
    problem_of(n, seed, 0.4)
}

/// The same with another weight of hubness.
fn problem_of(n: usize, seed: u64, weight: f64) -> (Precomputed, EmbeddingProxy) {
    let mut rng = stream(seed, "neighbours", "test", n as u64);
    let mut normal = |n: usize, d: usize| Array2::from_shape_fn((n, d), |_| rng.gen_range(-1.0..1.0));
    let (vectors, popular, noise) = (normal(n, 6), normal(n, 1), normal(n, 6));
    let mut scores = whole(&EmbeddingProxy::cosine(vectors.clone()).unwrap());
    scores.indexed_iter_mut().for_each(|((i, j), score)| *score += weight * (popular[[i, 0]] + popular[[j, 0]]));
    let proxy = EmbeddingProxy::cosine(vectors + 0.8 * noise).unwrap();
    (Precomputed::new(scores, AsymmetryPolicy::Reject).unwrap(), proxy)
}

/// A score that the proxy predicts but for noise: no item has a higher hubness than its proxy shows.
fn predicted_by(proxy: &EmbeddingProxy) -> Precomputed {
    let mut rng = stream(3, "neighbours", "test", 0);
    let mut scores = whole(proxy);
    for i in 0..proxy.len() {
        for j in 0..i {
            scores[[i, j]] += 0.1 * rng.gen_range(-1.0..1.0);
            scores[[j, i]] = scores[[i, j]];
        }
    }
    Precomputed::new(scores, AsymmetryPolicy::Reject).unwrap()
}

fn rounds(params: RoundsParams) -> Rounds {
    params.check().unwrap()
}

fn landmarks(n: usize) -> Landmarks {
    Landmarks::uniform(n, &mut stream(5, "neighbours", "landmarks", 0))
}

/// Evaluates every batch of a search, and answers them.
fn answer_all(search: &mut Search, oracle: &dyn Oracle) -> Vec<Batch> {
    let mut batches = Vec::new();
    while let Some(batch) = search.next_batch().unwrap() {
        let mut scores = vec![0.0; batch.pairs.len()];
        oracle.evaluate(&batch.pairs, &mut scores).unwrap();
        search.record(&batch.pairs, &scores).unwrap();
        batches.push(batch);
    }
    batches
}

fn pairs_of(batches: Vec<Batch>) -> Vec<Pair> {
    batches.into_iter().flat_map(|batch| batch.pairs).collect()
}

/// All of K.
fn whole(oracle: &dyn Oracle) -> Array2<f64> {
    let all: Vec<usize> = (0..oracle.len()).collect();
    block_of(oracle, &all, &all).unwrap()
}

fn best_of(scores: &Array2<f64>, i: usize, k: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..scores.nrows()).filter(|&j| j != i).collect();
    others.sort_by(|&a, &b| scores[[i, b]].total_cmp(&scores[[i, a]]).then(a.cmp(&b)));
    others.truncate(k);
    others
}

fn recall(scores: &Array2<f64>, found: &Found, k: usize) -> f64 {
    let hits = |(i, list): (usize, &Vec<Neighbor>)| {
        let best = best_of(scores, i, k);
        list.iter().filter(|one| best.contains(&one.item)).count()
    };
    found.lists.iter().enumerate().map(hits).sum::<usize>() as f64 / (k * found.lists.len()) as f64
}

#[test]
fn skewed_scores_are_learnt_from_by_rank() {
    let n = 200;
    let (oracle, proxy) = problem(n, 4);
    let scores = whole(&oracle);
    let proxy: Arc<dyn Oracle> = Arc::new(proxy);
    let recalls = [1.0, 12.0].map(|skew| {
        let skewed = scores.mapv(|score| (skew * score).exp());
        let oracle = Precomputed::new(skewed.clone(), AsymmetryPolicy::Reject).unwrap();
        [true, false].map(|rank_transform| {
            let params = RoundsParams { k: 5, calls_per_item: 10, rank_transform, ..RoundsParams::default() };
            let found = nearest(&oracle, std::slice::from_ref(&proxy), &rounds(params), &landmarks(n)).unwrap();
            assert!(rank_transform || found.rounds.iter().all(|round| !round.ranks));
            recall(&skewed, &found, 5)
        })
    });
    // .743 and .713, .697 and .234
    let [[even, plain_even], [skewed, plain_skewed]] = recalls;
    assert!((even - plain_even).abs() < 0.05 && skewed > plain_skewed + 0.2, "{recalls:?}");
}

#[test]
fn with_calls_for_all_pairs_the_lists_are_those_of_brute_force() {
    for (n, calls_per_item) in [(2, 1), (3, 1), (12, 6), (25, 40)] {
        let (oracle, proxy) = problem(n, 1);
        let oracle = Metered::new(oracle);
        let rounds = rounds(RoundsParams { k: 4, calls_per_item, ..RoundsParams::default() });
        let found = nearest(&oracle, &[Arc::new(proxy)], &rounds, &landmarks(n)).unwrap();
        assert_eq!(oracle.spent().evaluations, (n * (n - 1) / 2) as u64);
        for (i, list) in found.lists.iter().enumerate() {
            assert!(list.iter().all(|one| one.exact && one.score == oracle.inner().matrix()[[i, one.item]]));
            let items: Vec<usize> = list.iter().map(|one| one.item).collect();
            assert_eq!(items, best_of(oracle.inner().matrix(), i, 4), "{n} items, item {i}");
        }
    }
}

#[test]
fn rounds_find_more_than_reranking_at_equal_calls() {
    let (oracle, proxy) = problem(300, 2);
    let proxies: [Arc<dyn Oracle>; 1] = [Arc::new(proxy)];
    let run = |params: RoundsParams| {
        let found = nearest(&oracle, &proxies, &rounds(params), &landmarks(300)).unwrap();
        recall(oracle.matrix(), &found, 10)
    };
    let ours = run(RoundsParams { calls_per_item: 20, ..RoundsParams::default() });
    // all calls before the first round
    let plain = run(RoundsParams { calls_per_item: 20, columns: Some(0), first: 20, ..RoundsParams::default() });
    assert!(ours > plain + 0.1, "{ours} against {plain}");
}

#[test]
fn a_search_for_the_best_pairs_of_all_finds_more_of_them_than_reranking_and_than_a_search_for_lists() {
    let n = 200;
    let mut shares = [0.0; 3];
    for seed in 2..5 {
        let (oracle, proxy) = problem(n, seed);
        let pairs: Vec<Pair> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let mut best = pairs.clone();
        best.sort_by(|&one, &other| oracle.matrix()[other].total_cmp(&oracle.matrix()[one]));
        let best: std::collections::HashSet<Pair> = best.into_iter().take(n).collect();
        let mut by_proxy = vec![0.0; pairs.len()];
        proxy.evaluate(&pairs, &mut by_proxy).unwrap();
        let mut reranked: Vec<(f64, Pair)> = by_proxy.into_iter().zip(pairs).collect();
        reranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let proxies: [Arc<dyn Oracle>; 1] = [Arc::new(proxy)];
        let searched = |pairs: bool| {
            let params = RoundsParams { calls_per_item: 10, pairs, ..RoundsParams::default() };
            let mut search =
                Search::new(rounds(params), OracleShape::of(&oracle), proxies.to_vec(), &landmarks(n)).unwrap();
            pairs_of(answer_all(&mut search, &oracle))
        };
        let of_proxy = reranked.into_iter().take(10 * n).map(|(_, pair)| pair).collect();
        for (share, asked) in shares.iter_mut().zip([of_proxy, searched(false), searched(true)]) {
            let found = asked.into_iter().filter(|&(i, j)| best.contains(&(i.min(j), i.max(j)))).count();
            *share += found as f64 / (3 * n) as f64;
        }
    }
    let [reranked, lists, pairs] = shares;
    assert!(pairs > reranked + 0.1 && pairs > lists + 0.1, "{shares:?}");
}

#[test]
fn few_calls_for_the_single_nearest_are_plain_reranking() {
    let (oracle, proxy) = problem(80, 3);
    let shape = OracleShape::of(&oracle);
    let one = rounds(RoundsParams { k: 1, calls_per_item: 5, ..RoundsParams::default() });
    assert!(one.call_plan(shape, true).is_plain && one.call_plan(shape, true).columns == 0);
    assert!(
        !rounds(RoundsParams { k: 1, calls_per_item: 6, ..RoundsParams::default() }).call_plan(shape, true).is_plain
    );
    let found = nearest(&oracle, &[Arc::new(proxy)], &one, &landmarks(80)).unwrap();
    assert!(found.lists.iter().all(|list| list[0].exact));
    // columns would take more than half of what there is
    let few = rounds(RoundsParams { k: 10, calls_per_item: 3, ..RoundsParams::default() });
    assert!(few.call_plan(shape, true).is_plain);
    // without a proxy there is nothing to rerank
    let call_plan = rounds(RoundsParams { k: 1, calls_per_item: 3, ..RoundsParams::default() }).call_plan(shape, false);
    assert_eq!((call_plan.columns, call_plan.first, call_plan.is_plain), (2, 0, false));
}

#[test]
fn a_useless_proxy_is_survived_and_kriging_is_switched_off_where_it_is_no_kernel() {
    let n = 60;
    let (oracle, _) = problem(n, 4);
    let mut rng = stream(9, "neighbours", "noise", 0);
    let mut noise = Array2::from_shape_fn((n, n), |_| rng.gen_range(-1.0..1.0));
    noise = (&noise + &noise.t()) / 2.0;
    let not_psd = Precomputed::new(noise, AsymmetryPolicy::Reject).unwrap();
    let constant = Precomputed::new(Array2::from_elem((n, n), 0.5), AsymmetryPolicy::Reject).unwrap();
    let zero = EmbeddingProxy::dot(Array2::zeros((n, 3))).unwrap();
    let useless: [Arc<dyn Oracle>; 3] = [Arc::new(not_psd), Arc::new(constant), Arc::new(zero)];
    for (number, proxy) in useless.into_iter().enumerate() {
        let oracle = Metered::new(&oracle);
        let rounds = rounds(RoundsParams { k: 5, calls_per_item: 10, ..RoundsParams::default() });
        let found = nearest(&oracle, &[proxy], &rounds, &landmarks(n)).unwrap();
        assert_eq!(oracle.spent().evaluations, 600);
        assert!(found.lists.iter().flatten().all(|one| one.score.is_finite()));
        // a constant kernel predicts a mean, which may help; the others are no kernels
        assert!(number == 1 || found.rounds.iter().all(|round| round.lambda.is_none()), "{:?}", found.rounds);
    }
}

#[test]
fn without_a_proxy_hubness_alone_beats_chance() {
    let (oracle, _) = problem(100, 5);
    let oracle = Metered::new(oracle);
    let rounds = rounds(RoundsParams { k: 10, calls_per_item: 10, ..RoundsParams::default() });
    let found = nearest(&oracle, &[], &rounds, &landmarks(100)).unwrap();
    assert_eq!(oracle.spent().evaluations, 1000);
    // 2000 of 9900 ordered pairs are known
    let recall = recall(oracle.inner().matrix(), &found, 10);
    assert!(recall > 0.24, "{recall}");
}

#[test]
fn errors_name_the_proxy_and_the_next_step() {
    let (oracle, proxy) = problem(30, 6);
    let rounds = rounds(RoundsParams { k: 3, calls_per_item: 8, ..RoundsParams::default() });
    let mut broken = oracle.matrix().clone();
    broken[[4, 7]] = f64::NAN;
    broken[[7, 4]] = f64::NAN;
    struct Unchecked(Array2<f64>);
    impl Oracle for Unchecked {
        fn shape(&self) -> OracleShape {
            OracleShape::symmetric(self.0.nrows())
        }

        fn identity(&self) -> landmark_core::oracle::Identity {
            landmark_core::oracle::Identity::of(&[])
        }
        fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
            pairs.iter().zip(out).for_each(|(&pair, out)| *out = self.0[pair]);
            Ok(())
        }
    }
    let proxies: [Arc<dyn Oracle>; 2] = [Arc::new(proxy), Arc::new(Unchecked(broken))];
    let error = nearest(&oracle, &proxies, &rounds, &landmarks(30)).unwrap_err();
    assert_eq!(error.to_string(), "proxy 2 can't be used");
    let NeighborError::Proxy { source, .. } = error else { panic!("another error") };
    let of_bound = nearest_within_bounds(&oracle, &proxies, 3, |_| {}).unwrap_err();
    assert_eq!(of_bound.to_string(), "bound 2 can't be used");
    assert!(source.to_string().starts_with("the oracle returned NaN for the pair (i = 7, j = 4)"), "{source}");

    let (other, _) = problem(31, 6);
    let error = nearest(&oracle, &[Arc::new(other)], &rounds, &landmarks(30)).unwrap_err();
    assert_eq!(error.to_string(), "proxy 1 is over 31 items, the score over 30; hand over one over the same items");
    let asymmetric = OracleShape { symmetry: Symmetry::Asymmetric, ..OracleShape::symmetric(9) };
    let error = Search::new(rounds.clone(), asymmetric, Vec::new(), &landmarks(9)).unwrap_err();
    assert!(error.to_string().contains("symmetrize"), "{error}");
    for (params, message) in [
        (RoundsParams { k: 0, ..RoundsParams::default() }, "`k` is 0, but must be at least 1"),
        (RoundsParams { share: 1.5, ..RoundsParams::default() }, "`share` is 1.5, but must be between 0 and 1"),
        (
            RoundsParams { growth: Some(0.0), ..RoundsParams::default() },
            "`growth` is 0, but must be a finite number of at least 0.01",
        ),
    ] {
        assert_eq!(params.check().unwrap_err().to_string(), message);
    }
}

#[test]
fn both_orders_of_an_asymmetric_score_are_counted() {
    let scores = Array2::from_shape_fn((40, 40), |(i, j)| ((3 * i + 5 * j) as f64).sin() + i as f64 / 40.0);
    let asymmetric = Metered::new(Precomputed::new(scores, AsymmetryPolicy::Keep).unwrap());
    let oracle = Symmetrized::new(&asymmetric, Symmetrization::Mean);
    let rounds = rounds(RoundsParams { k: 3, calls_per_item: 10, ..RoundsParams::default() });
    let call_plan = rounds.call_plan(OracleShape::of(&oracle), false);
    assert_eq!((call_plan.calls, call_plan.pairs, call_plan.columns), (400, 200, 2));
    nearest(&oracle, &[], &rounds, &landmarks(40)).unwrap();
    assert_eq!(asymmetric.spent().evaluations, 400);
}

#[test]
fn pairs_that_fail_are_not_asked_for_again_and_listed_nowhere() {
    let (oracle, proxy) = problem(50, 7);
    let fails = |&(i, j): &Pair| (i + j) % 7 == 0;
    let rounds = rounds(RoundsParams { k: 5, calls_per_item: 9, ..RoundsParams::default() });
    let shape = OracleShape::of(&oracle);
    let mut search = Search::new(rounds, shape, vec![Arc::new(proxy)], &landmarks(50)).unwrap();
    let mut seen = std::collections::HashSet::new();
    let mut failed = 0;
    while let Some(batch) = search.next_batch().unwrap() {
        let score = |pair: &Pair| if fails(pair) { f64::NAN } else { oracle.matrix()[*pair] };
        assert!(batch.pairs.iter().all(|&(i, j)| seen.insert((i.min(j), i.max(j)))));
        failed += batch.pairs.iter().filter(|pair| fails(pair)).count() as u64;
        search.record(&batch.pairs, &batch.pairs.iter().map(score).collect::<Vec<_>>()).unwrap();
    }
    let found = search.finish().unwrap();
    assert_eq!((seen.len(), found.failed, failed > 20), (450, failed, true));
    for (i, list) in found.lists.iter().enumerate() {
        assert!(list.iter().all(|one| one.score.is_finite() && !(one.exact && fails(&(i, one.item)))));
    }
}

#[test]
fn a_search_that_ends_early_or_is_shown_more_answers_from_what_it_knows() {
    let (oracle, proxy) = problem(70, 8);
    let rounds = rounds(RoundsParams { k: 4, calls_per_item: 12, ..RoundsParams::default() });
    let shape = OracleShape::of(&oracle);
    for batches in 0..4 {
        let mut search = Search::new(rounds.clone(), shape, vec![Arc::new(proxy.clone())], &landmarks(70)).unwrap();
        for _ in 0..batches {
            let pairs = search.next_batch().unwrap().unwrap().pairs;
            let scores: Vec<f64> = pairs.iter().map(|&pair| oracle.matrix()[pair]).collect();
            // a budget ends in the middle of a batch
            let half = pairs.len() / 2;
            search.record(&pairs[..half], &scores[..half]).unwrap();
        }
        // all of one row is revealed
        let row: Vec<Pair> = (0..70).filter(|&j| j != 9).map(|j| (9, j)).collect();
        let scores: Vec<f64> = row.iter().map(|&pair| oracle.matrix()[pair]).collect();
        search.record(&row, &scores).unwrap();
        let found = search.finish().unwrap();
        let items: Vec<usize> = found.lists[9].iter().map(|one| one.item).collect();
        assert_eq!(items, best_of(oracle.matrix(), 9, 4), "after {batches} batches");
        assert!(found.lists.iter().all(|list| list.len() == 4));
    }
}

#[test]
fn duplicates_are_each_others_neighbors() {
    let (oracle, proxy) = problem(40, 10);
    let twice = |matrix: &Array2<f64>| Array2::from_shape_fn((80, 80), |(i, j)| matrix[[i % 40, j % 40]]);
    let mut scores = twice(oracle.matrix());
    // a score by which nothing is closer than a duplicate
    (0..80).for_each(|i| [i, (i + 40) % 80].into_iter().for_each(|j| scores[[i, j]] = 5.0));
    let vectors = Array2::from_shape_fn((80, 6), |(i, k)| proxy.vectors()[[i % 40, k]]);
    let rounds = rounds(RoundsParams { k: 1, calls_per_item: 10, ..RoundsParams::default() });
    let oracle = Precomputed::new(scores, AsymmetryPolicy::Reject).unwrap();
    let proxy = Arc::new(EmbeddingProxy::cosine(vectors).unwrap());
    let found = nearest(&oracle, &[proxy], &rounds, &landmarks(80)).unwrap();
    assert!(found.lists.iter().enumerate().all(|(i, list)| list[0].item == (i + 40) % 80 && list[0].exact));
}

#[test]
fn lists_do_not_depend_on_the_number_of_threads() {
    // more rows than one task takes
    let n = 300;
    let (oracle, proxy) = problem(n, 11);
    for (pairs, left) in [(false, None), (true, None), (false, Some(100))] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let rounds =
                rounds(RoundsParams { k: 5, calls_per_item: 6, rounds: 2, pairs, left, ..RoundsParams::default() });
            pool.install(|| nearest(&oracle, &[Arc::new(proxy.clone())], &rounds, &landmarks(n)).unwrap())
        };
        assert_eq!(run(1), run(3), "{pairs} {left:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_call_plan_is_exact_and_no_pair_is_asked_for_twice(
        n in 2_usize..130,
        k in 1_usize..12,
        calls_per_item in 1_usize..14,
        count in 1_usize..6,
        share in 0.0_f64..1.0,
        first in 0_usize..4,
        columns in prop::option::of(prop_oneof![Just(0_usize), 2_usize..8]),
        growth in prop::option::of(0.05_f64..1.5),
        has_proxy in any::<bool>(),
        orders in 1_u64..3,
    ) {
        let (oracle, proxy) = problem(n, 12);
        let params = RoundsParams { k, calls_per_item, rounds: count, share, first, columns, growth, ..RoundsParams::default() };
        let rounds = params.check().unwrap();
        let shape = OracleShape { evaluations_per_pair: orders, ..OracleShape::of(&oracle) };
        let proxies: Vec<Arc<dyn Oracle>> = if has_proxy { vec![Arc::new(proxy)] } else { Vec::new() };
        let call_plan = rounds.call_plan(shape, has_proxy);
        let all = (n * (n - 1) / 2) as u64;
        prop_assert_eq!(call_plan.pairs, ((n * calls_per_item) as u64 / orders).min(all));
        prop_assert_eq!(call_plan.column_pairs + call_plan.first + call_plan.rounds.iter().sum::<u64>(), call_plan.pairs);
        prop_assert!(growth.is_some() || call_plan.rounds.len() <= count);
        let mut search = Search::new(rounds, shape, proxies, &landmarks(n)).unwrap();
        let mut seen = std::collections::HashSet::new();
        for (i, j) in pairs_of(answer_all(&mut search, &oracle)) {
            prop_assert!(i != j && seen.insert((i.min(j), i.max(j))));
        }
        prop_assert_eq!(seen.len() as u64, call_plan.pairs);
        let found = search.finish().unwrap();
        prop_assert!(found.lists.iter().all(|list| list.len() == k.min(n - 1)));
    }
}
