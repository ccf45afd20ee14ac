//! The recall that is stated against the truth, and what a search asks for.

use ndarray::Array2;
use rand::Rng as _;

use super::*;
use crate::recall::share_found;
use landmark_core::oracle::{AsymmetryPolicy, Budget, DistinctItems, EmbeddingProxy, Metered, Precomputed, Remembered};
use landmark_core::stream::stream;

/// Cosines of hidden vectors with the hubness of both items, and a proxy that sees half of their numbers.
fn problem(n: usize, seed: u64) -> (Array2<f64>, Arc<dyn Oracle>) {
    let mut rng = stream(seed, "recall", "problem", n as u64);
    let vectors = Array2::from_shape_fn((n, 8), |_| rng.gen_range(-1.0..1.0));
    let hubness: Vec<f64> = (0..n).map(|_| rng.gen_range(-0.4..0.4)).collect();
    let cosine = EmbeddingProxy::cosine(vectors.clone()).unwrap();
    let mut scores = Array2::zeros((n, n));
    let all: Vec<usize> = (0..n).collect();
    cosine.block(&all, &all, scores.view_mut()).unwrap();
    for ((i, j), score) in scores.indexed_iter_mut() {
        *score += hubness[i] + hubness[j];
    }
    let seen = vectors.slice(ndarray::s![.., ..6]).to_owned();
    (scores, Arc::new(EmbeddingProxy::cosine(seen).unwrap()))
}

fn oracle(scores: &Array2<f64>) -> Precomputed {
    Precomputed::new(scores.clone(), AsymmetryPolicy::Reject).unwrap()
}

fn audit(recall: f64, delta: f64) -> Audit {
    Audit { target: Target::new(recall, delta).unwrap(), is_strict: false, rows: None, calls: None }
}

fn params(k: usize, calls_per_item: usize) -> RoundsParams {
    RoundsParams { k, calls_per_item, ..RoundsParams::default() }
}

/// The same for many draws: a statement holds whatever predicts, and the process over pairs would take most of the time.
fn params_of_draws(k: usize, calls_per_item: usize) -> RoundsParams {
    RoundsParams { pairwise: false, ..params(k, calls_per_item) }
}

fn search(
    oracle: &dyn Oracle,
    proxy: &Arc<dyn Oracle>,
    params: RoundsParams,
    audit: Audit,
    seed: u64,
) -> Result<Audited, AuditError> {
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(seed, "recall", "landmarks", 0));
    let mut rng = stream(seed, "recall", "audit", 0);
    let wanted = plain(std::slice::from_ref(proxy), params, &landmarks);
    nearest_to(oracle, wanted, audit, &mut rng)
}

fn plain<'a>(proxies: &'a [Arc<dyn Oracle>], params: RoundsParams, landmarks: &'a Landmarks) -> AuditedSearch<'a> {
    AuditedSearch { proxies, params, landmarks, known: Known::default(), contents: None }
}

/// Share of the k best of an item that its list holds.
fn share(scores: &Array2<f64>, item: usize, list: &[Neighbor], k: usize) -> f64 {
    let items: HashSet<usize> = list.iter().map(|near| near.item).collect();
    share_found(scores.row(item).as_slice().unwrap(), item, k, |other| items.contains(&other))
}

/// The same, of every item on average.
fn recall(scores: &Array2<f64>, lists: &[Vec<Neighbor>], k: usize) -> f64 {
    lists.iter().enumerate().map(|(item, list)| share(scores, item, list, k)).sum::<f64>() / lists.len() as f64
}

#[test]
fn the_recall_that_is_stated_is_had_in_all_draws_but_the_share_that_is_allowed() {
    let (scores, proxy) = problem(160, 1);
    let audit = audit(0.8, 0.2);
    let (mut right, mut fewest) = (0, u64::MAX);
    let draws = 25;
    for seed in 0..draws {
        let metered = Metered::new(oracle(&scores));
        let found = search(&metered, &proxy, params_of_draws(10, 120), audit, seed).unwrap();
        assert_eq!(found.refused, None);
        let last = found.steps.last().unwrap();
        assert!(last.lower >= 0.8 && last.recall >= last.lower, "{last:?}");
        right += u32::from(recall(&scores, &found.lists, 10) >= 0.8);
        fewest = fewest.min(metered.spent().evaluations);
        for &item in &found.rows {
            assert_eq!(share(&scores, item, &found.lists[item], 10), 1.0);
        }
    }
    // 1 − δ less two binomial standard errors of 25 draws
    assert!(f64::from(right) >= 0.64 * draws as f64, "{right}");
    assert!(fewest < 160 * 159 / 2, "it is no full search");
}

#[test]
fn every_pair_is_asked_for_once_and_scores_are_the_oracles() {
    let (scores, proxy) = problem(150, 2);
    let seen = Metered::new(oracle(&scores));
    let found = search(&seen, &proxy, params(5, 100), audit(0.9, 0.1), 3).unwrap();
    let landmarks = Landmarks::uniform(150, &mut stream(3, "recall", "landmarks", 0));
    let mut rng = stream(3, "recall", "audit", 0);
    let (shape, proxies) = (OracleShape::of(&seen), [Arc::clone(&proxy)]);
    let wanted = plain(&proxies, params(5, 100), &landmarks);
    let told = audited_items(shape, wanted, audit(0.9, 0.1), &mut rng).unwrap();
    assert_eq!(told, found.rows);
    // hidden rows and what was asked for in addition to them
    let rows = found.rows.len() as u64;
    let hidden = rows * 149 - rows * (rows - 1) / 2;
    let asked = found.steps.last().unwrap().asked;
    assert!(seen.spent().evaluations <= hidden + asked);
    assert!(seen.spent().evaluations >= asked.max(hidden));
    assert_eq!(seen.spent().evaluations, seen.spent().cells);
    for (item, list) in found.lists.iter().enumerate() {
        assert_eq!(list.len(), 5);
        for near in list.iter().filter(|near| near.exact) {
            assert_eq!(near.score, scores[[item, near.item]]);
        }
        let distinct: HashSet<usize> = list.iter().map(|near| near.item).collect();
        assert!(distinct.len() == 5 && !distinct.contains(&item));
    }
    assert_eq!(search(&oracle(&scores), &proxy, params(5, 100), audit(0.9, 0.1), 3).unwrap(), found);
}

#[test]
fn a_search_that_may_not_go_on_says_what_would_be_enough() {
    let (scores, proxy) = problem(200, 4);
    let found = search(&oracle(&scores), &proxy, params(10, 8), audit(0.9, 0.1), 1).unwrap();
    let Some(Enough::Pairs(pairs)) = found.refused else { panic!("{:?}", found.refused) };
    let asked = found.steps.last().unwrap().asked;
    assert!(found.steps.last().unwrap().lower < 0.9);
    // with as many pairs more the next search states it
    let calls = (asked + pairs).div_ceil(200) as usize;
    let more = search(&oracle(&scores), &proxy, params(10, calls + 1), audit(0.9, 0.1), 1).unwrap();
    assert_eq!(more.refused, None, "{pairs} of {asked}: {:?}", more.steps.last());
    // a budget of the oracle does the same
    // rows of the audit, and the first rounds
    let rows = 44 * 199;
    let metered = Metered::with_budget(oracle(&scores), Budget { entries: Some(rows + 1500), seconds: None });
    let cut = search(&metered, &proxy, params(10, 100), audit(0.9, 0.1), 1).unwrap();
    assert!(cut.refused.is_some() && cut.is_cut_short);
    // to the last call, and what was scored is counted: pairs of two audited rows stand in both
    assert_eq!(metered.spent().evaluations, rows + 1500);
    let beyond_rows = rows + 1500 - (rows - 44 * 43 / 2);
    assert!(cut.steps.last().unwrap().asked >= beyond_rows, "{:?}", cut.steps.last());
}

#[test]
fn few_items_and_many_neighbors_are_all_of_them() {
    for (n, k) in [(2, 1), (3, 10), (12, 50)] {
        let (scores, proxy) = problem(n, 5);
        let found = search(&oracle(&scores), &proxy, params(k, 100), audit(0.9, 0.1), 1).unwrap();
        assert_eq!(found.refused, None, "{n}");
        assert_eq!(recall(&scores, &found.lists, k), 1.0, "{n} {k}");
    }
}

#[test]
fn rounds_of_the_proxys_pairs_alone_state_their_recall_too() {
    let (scores, proxy) = problem(120, 8);
    let all = RoundsParams { share: 1.0, ..params(3, 119) };
    let found = search(&oracle(&scores), &proxy, all, audit(0.8, 0.2), 1).unwrap();
    assert_eq!(found.refused, None);
    assert!(found.steps.last().unwrap().asked < 120 * 119 / 2, "it stops where the recall is stated");
    assert!(recall(&scores, &found.lists, 3) >= 0.8);
    let few = RoundsParams { share: 1.0, ..params(3, 8) };
    let found = search(&oracle(&scores), &proxy, few, audit(0.95, 0.05), 1).unwrap();
    assert!(found.steps.len() > 1, "every round is a step");
}

#[test]
fn a_single_item_misses_nothing() {
    let scores = Array2::ones((1, 1));
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(Array2::ones((1, 2))).unwrap());
    let found = search(&oracle(&scores), &proxy, params(3, 10), audit(0.9, 0.1), 1).unwrap();
    assert_eq!((found.refused, found.lists), (None, vec![Vec::new()]));
}

#[test]
fn duplicates_are_as_good_as_each_other() {
    // every item five times
    let (few, _) = problem(30, 6);
    let scores = Array2::from_shape_fn((150, 150), |(i, j)| few[[i / 5, j / 5]]);
    let vectors = Array2::from_shape_fn((150, 2), |(i, a)| ((i / 5 + 31 * a) as f64).sin());
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors).unwrap());
    let found = search(&oracle(&scores), &proxy, params(4, 149), audit(0.8, 0.2), 1).unwrap();
    assert_eq!(found.refused, None);
    assert!(recall(&scores, &found.lists, 4) >= 0.8);
}

#[test]
fn too_few_rows_are_refused_before_a_call() {
    let (scores, proxy) = problem(100, 7);
    let metered = Metered::new(oracle(&scores));
    let few = Audit { rows: Some(10), ..audit(0.95, 0.05) };
    let error = search(&metered, &proxy, params(1, 50), few, 1).unwrap_err();
    assert!(error.to_string().contains("the least that can"), "{error}");
    assert_eq!(metered.spent().cells, 0);
}

#[test]
fn the_calls_of_the_audit_count_against_those_that_are_allowed() {
    let (scores, proxy) = problem(160, 1);
    // 44 rows: 44 · 159 − 44 · 43 / 2 = 6,050 pairs
    for per_item in [38, 40, 48, 60] {
        let metered = Metered::new(oracle(&scores));
        let allowed = Audit { calls: Some(160 * per_item), ..audit(0.9, 0.1) };
        let found = search(&metered, &proxy, params(10, per_item as usize), allowed, 1).unwrap();
        let spent = metered.spent().evaluations;
        assert!(spent <= 160 * per_item, "{spent} calls of {per_item} per item");
        // what is left would be a twentieth of a call per item
        let is_spent = spent + 160 / 20 > 160 * per_item;
        assert!(found.refused.is_none() || is_spent, "{spent} calls of {per_item} per item");
    }
}

#[test]
fn fewer_calls_than_the_audit_takes_are_refused_before_a_call() {
    let (scores, proxy) = problem(160, 1);
    let metered = Metered::new(oracle(&scores));
    let few = Audit { calls: Some(160 * 20), ..audit(0.9, 0.1) };
    let error = search(&metered, &proxy, params(10, 20), few, 1).unwrap_err();
    assert!(matches!(error, AuditError::TooFewCalls { rows: 44, needed: 6050, given: 3200 }), "{error}");
    assert_eq!(metered.spent().cells, 0);
}

#[test]
fn copies_of_items_are_no_calls_of_the_audit() {
    // 80 items, each twice: 44 audited rows are of at least 22 items
    let (scores, proxy) = problem(80, 1);
    let twice = Array2::from_shape_fn((160, 160), |(i, j)| scores[[i % 80, j % 80]]);
    let [twice_proxy] = [proxy].map(|proxy| {
        let all: Vec<usize> = (0..160).map(|item| item % 80).collect();
        let matrix = landmark_core::oracle::block_of(proxy.as_ref(), &all, &all).unwrap();
        Arc::new(Precomputed::new(matrix, AsymmetryPolicy::Mean).unwrap()) as Arc<dyn Oracle>
    });
    let digest = |item: usize| std::array::from_fn(|byte| if byte == 0 { (item % 80) as u8 } else { 0 });
    let contents = Arc::new(Contents::new((0..160).map(digest).collect()));
    let metered = Arc::new(Metered::new(oracle(&twice)));
    // what was called for is remembered, as a store does
    let distinct = DistinctItems::new(Remembered::new(Arc::clone(&metered)), Arc::clone(&contents));
    let landmarks = Landmarks::drawn(160, Some(&contents), &mut stream(1, "recall", "landmarks", 0));
    let run = |calls: u64| {
        let proxies = std::slice::from_ref(&twice_proxy);
        let wanted = AuditedSearch { contents: Some(&contents), ..plain(proxies, params(10, 60), &landmarks) };
        let audit = Audit { calls: Some(calls), ..audit(0.8, 0.2) };
        nearest_to(&distinct, wanted, audit, &mut stream(1, "recall", "audit", 0))
    };
    let refused = run(1).unwrap_err();
    let AuditError::TooFewCalls { rows, needed, .. } = refused else { panic!("{refused}") };
    assert!(needed < pairs_of(160, rows) / 2, "{needed} calls of {rows} rows");
    assert!(matches!(run(needed - 1), Err(AuditError::TooFewCalls { .. })));
    assert_eq!(metered.spent().evaluations, 0);
    run(needed).unwrap();
    assert_eq!(metered.spent().evaluations, needed);
}

#[test]
fn audited_rows_drawn_by_content_stay_when_the_list_grows() {
    let (scores, proxy) = problem(160, 4);
    let shape = OracleShape::of(&oracle(&scores));
    let digest = |i: usize| {
        let mut digest = [0; 16];
        digest[..8].copy_from_slice(&(i as u64).to_le_bytes());
        digest
    };
    let items = |shift: usize| -> HashSet<usize> {
        let contents = Contents::new((0..160).map(|i| digest(i + shift)).collect());
        let landmarks = Landmarks::drawn(160, Some(&contents), &mut stream(1, "recall", "landmarks", 0));
        let proxies = std::slice::from_ref(&proxy);
        let wanted = AuditedSearch { contents: Some(&contents), ..plain(proxies, params(10, 120), &landmarks) };
        let drawn = audited_items(shape, wanted, audit(0.9, 0.1), &mut stream(1, "recall", "audit", 0)).unwrap();
        drawn.into_iter().map(|item| item + shift).collect()
    };
    // ten items are gone, and ten others came
    let stays = items(0).intersection(&items(10)).count();
    assert!(stays >= 34, "{stays} of 44");
}

/// Left out by `scripts/test --quick`.
mod many_draws {
    use super::*;

    #[test]
    fn a_search_with_a_recall_stands_on_known_columns_and_states_what_holds() {
        let (scores, proxy) = problem(160, 4);
        // draws that are compared with a search from nothing
        const COLD: u64 = 4;
        let (mut right, mut saved, draws) = (0, 0, 25);
        for seed in 0..draws {
            let landmarks = Landmarks::uniform(160, &mut stream(seed, "recall", "landmarks", 0));
            let columns = landmarks.order()[..20].to_vec();
            // one more column, of which a pair is missing, counts as pairs
            let (torn, other) = (landmarks.order()[20], landmarks.order()[21]);
            let pairs = |&l: &usize| (0..160).filter(move |&i| i != l).map(move |i| (i, l)).collect::<Vec<_>>();
            let mut known: Vec<Pair> = columns.iter().chain([&torn]).flat_map(pairs).collect();
            known.retain(|&(i, l)| (i, l) != (other, torn));
            let metered = Metered::new(oracle(&scores));
            let known = Known {
                columns: [&columns[..], &[torn]].concat(),
                pairs: known.into_iter().map(|pair| (pair, scores[pair])).collect(),
                seed: None,
            };
            let proxies = std::slice::from_ref(&proxy);
            let wanted = AuditedSearch { known, ..plain(proxies, params_of_draws(10, 120), &landmarks) };
            let mut rng = stream(seed, "recall", "audit", 0);
            let found = nearest_to(&metered, wanted, audit(0.8, 0.2), &mut rng).unwrap();
            assert_eq!((found.refused, found.landmarks), (None, 20));
            assert!(found.rows.iter().all(|row| !columns.contains(row)));
            right += u32::from(recall(&scores, &found.lists, 10) >= 0.8);
            for &column in &columns {
                assert_eq!(share(&scores, column, &found.lists[column], 10), 1.0);
            }
            // known pairs are not asked for
            let most = (160 - 20) * (160 - 20 - 1) / 2;
            assert!(metered.spent().evaluations < most, "{}", metered.spent().evaluations);
            if seed >= COLD {
                continue;
            }
            let cold = Metered::new(oracle(&scores));
            search(&cold, &proxy, params_of_draws(10, 120), audit(0.8, 0.2), seed).unwrap();
            saved +=
                i64::try_from(cold.spent().evaluations).unwrap() - i64::try_from(metered.spent().evaluations).unwrap();
        }
        // 1 − δ less two binomial standard errors of 25 draws
        assert!(f64::from(right) >= 0.64 * draws as f64, "{right}");
        // 20 columns are 2,990 pairs
        assert!(saved > 1000 * COLD as i64, "{saved}");
    }
}
