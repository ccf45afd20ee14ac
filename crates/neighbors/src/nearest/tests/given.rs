//! Candidates that the caller brings.

use super::*;

fn truth(scores: &Array2<f64>, k: usize) -> Vec<Vec<usize>> {
    (0..scores.nrows()).map(|i| best_of(scores, i, k)).collect()
}

fn found(
    oracle: &dyn Oracle,
    proxies: Vec<Arc<dyn Oracle>>,
    given: Option<Candidates>,
    params: RoundsParams,
) -> (Found, CallPlan, Vec<Batch>) {
    let (rounds, shape) = (params.check().unwrap(), OracleShape::of(oracle));
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(4, "given", "landmarks", 0));
    let mut search = Search::new(rounds, shape, proxies, &landmarks).unwrap();
    if let Some(given) = given {
        search = search.with_candidates(given, shape).unwrap();
    }
    let batches = answer_all(&mut search, oracle);
    let call_plan = search.call_plan().clone();
    (search.finish().unwrap(), call_plan, batches)
}

#[test]
fn given_candidates_are_evaluated_first_in_the_place_of_the_proxys_best_at_the_same_call_plan() {
    let (oracle, proxy) = problem(60, 3);
    let best = truth(&whole(&oracle), 1);
    let params = || RoundsParams { k: 5, calls_per_item: 8, ..RoundsParams::default() };
    let proxies: [Vec<Arc<dyn Oracle>>; 2] = [vec![Arc::new(proxy)], Vec::new()];
    for proxies in proxies {
        let given = Candidates::of_lists(60, best.clone()).unwrap();
        let (lists, call_plan, batches) = found(&oracle, proxies, Some(given), params());
        assert_eq!((lists.pairs, call_plan.pairs, call_plan.calls), (480, 480, 480));
        let first = batches.iter().find(|batch| batch.step == Step::Given).unwrap();
        let in_columns = batches.iter().take_while(|batch| batch.step != Step::Given).flat_map(|batch| &batch.pairs);
        let known: std::collections::HashSet<Pair> = in_columns.map(|&(i, j)| (i.min(j), i.max(j))).collect();
        let wanted: std::collections::BTreeSet<Pair> =
            best.iter().enumerate().map(|(i, list)| (i.min(list[0]), i.max(list[0]))).collect();
        let asked: std::collections::BTreeSet<Pair> = first.pairs.iter().copied().collect();
        assert!(asked.is_subset(&wanted) && wanted.iter().all(|pair| asked.contains(pair) || known.contains(pair)));
        // the best of an item was given, so that every list begins with it
        assert!(lists.lists.iter().zip(&best).all(|(list, best)| list[0].item == best[0] && list[0].exact));
    }
}

#[test]
fn without_a_proxy_good_candidates_find_what_hubness_alone_does_not() {
    let (oracle, _) = problem(150, 9);
    let scores = whole(&oracle);
    let best = truth(&scores, 10);
    // every second of the true neighbors, and others
    let given =
        best.iter().enumerate().map(|(i, list)| list.iter().step_by(2).copied().chain([(i + 40) % 150]).collect());
    let given = Candidates::of_lists(150, given).unwrap();
    let params = || RoundsParams { calls_per_item: 12, ..RoundsParams::default() };
    let recall = |found: &Found| super::recall(&scores, found, 10);
    let (without, with) =
        (found(&oracle, Vec::new(), None, params()).0, found(&oracle, Vec::new(), Some(given), params()).0);
    assert_eq!(without.pairs, with.pairs);
    assert!(recall(&with) > recall(&without) + 0.1, "{} {}", recall(&with), recall(&without));
}

#[test]
fn candidates_of_other_items_are_refused_by_what_is_wrong_with_them() {
    let refused = |n, lists: &[&[usize]]| {
        Candidates::of_lists(n, lists.iter().map(|list| list.to_vec())).unwrap_err().to_string()
    };
    assert!(refused(4, &[&[1], &[0]]).contains("there are 2 rows (expected 4"));
    assert!(refused(2, &[&[1], &[5]]).contains("row 1 names item 5 (expected 0 to 1)"));
    assert!(refused(2, &[&[0], &[1, 1]]).contains("no item has another item as its candidate"));
    assert!(Candidates::of_pairs(3, &[(0, 3)]).unwrap_err().to_string().contains("names item 3"));
    let tidy = Candidates::of_lists(3, [vec![0, 2, 2, 1], vec![], vec![2]]).unwrap();
    assert_eq!(tidy, Candidates::of_lists(3, [vec![2, 1], vec![1], vec![]]).unwrap());
    let (oracle, _) = problem(30, 1);
    let landmarks = Landmarks::uniform(30, &mut stream(4, "given", "landmarks", 0));
    let shape = OracleShape::of(&oracle);
    let search = Search::new(RoundsParams::default().check().unwrap(), shape, Vec::new(), &landmarks).unwrap();
    assert!(search.with_candidates(tidy, shape).unwrap_err().to_string().contains("there are 3 rows (expected 30"));
}

#[test]
fn a_search_among_the_candidates_of_an_index_finds_nearly_what_one_among_all_pairs_does_at_the_same_calls() {
    let (oracle, proxy) = problem(300, 21);
    let (scores, near) = (whole(&oracle), whole(&proxy));
    let recall = |found: &Found| super::recall(&scores, found, 10);
    let proxies: Vec<Arc<dyn Oracle>> = vec![Arc::new(proxy)];
    let params = RoundsParams { calls_per_item: 16, ..RoundsParams::default() }.check().unwrap();
    let landmarks = Landmarks::uniform(300, &mut stream(4, "given", "landmarks", 0));
    let run = |mut search: Search| {
        answer_all(&mut search, &oracle);
        search.finish().unwrap()
    };
    let search = || Search::new(params.clone(), OracleShape::of(&oracle), proxies.clone(), &landmarks).unwrap();
    // an index finds nine of ten of what a pass over all pairs would
    let lists = truth(&near, 64).into_iter().enumerate().map(|(i, list)| {
        list.into_iter().enumerate().filter(|(place, _)| (place + i) % 10 > 0).map(|(_, item)| item).collect()
    });
    let (all, among) = (run(search()), run(search().within(Candidates::of_lists(300, lists).unwrap()).unwrap()));
    assert_eq!((all.pairs, among.pairs), (4800, 4800));
    assert!(recall(&among) > recall(&all) - 0.06, "{} {}", recall(&among), recall(&all));
}

#[test]
fn a_search_of_many_items_looks_at_all_pairs_in_single_precision_and_finds_what_one_of_few_does() {
    let (oracle, proxy) = problem(300, 22);
    let scores = whole(&oracle);
    let proxies: Vec<Arc<dyn Oracle>> = vec![Arc::new(proxy)];
    let params = RoundsParams { calls_per_item: 16, ..RoundsParams::default() }.check().unwrap();
    let landmarks = Landmarks::uniform(300, &mut stream(4, "given", "landmarks", 0));
    let recall = |is_large: bool| {
        let mut search = Search::new(params.clone(), OracleShape::of(&oracle), proxies.clone(), &landmarks).unwrap();
        search.is_large = is_large;
        answer_all(&mut search, &oracle);
        assert_eq!(search.asked(), 4800);
        super::recall(&scores, &search.finish().unwrap(), 10)
    };
    let (few, many) = (recall(false), recall(true));
    assert!(few > 0.5 && (few - many).abs() < 0.05, "{few} {many}");
}
