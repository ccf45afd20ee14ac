//! Two lists: pairs within one of them are never asked for, and the lists are those of the first across.

use super::*;

/// Lists of a search across, the pairs that it asked for, and its plan.
fn across(
    left: usize,
    (oracle, proxies): (&dyn Oracle, &[Arc<dyn Oracle>]),
    params: RoundsParams,
) -> (Vec<Vec<Neighbor>>, Vec<Pair>, CallPlan) {
    let rounds = rounds(RoundsParams { left: Some(left), ..params });
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(3, "two lists", "landmarks", 0));
    let mut search = Search::new(rounds, OracleShape::of(oracle), proxies.to_vec(), &landmarks).unwrap();
    let call_plan = search.call_plan().clone();
    let asked = pairs_of(answer_all(&mut search, oracle)).into_iter().map(|(i, j)| (i.min(j), i.max(j))).collect();
    (search.finish().unwrap().lists, asked, call_plan)
}

#[test]
fn pairs_within_a_list_are_never_asked_for_and_the_calls_are_those_of_the_plan() {
    let (oracle, proxy) = problem(150, 1);
    let proxy: Arc<dyn Oracle> = Arc::new(proxy);
    for (left, calls_per_item, pairs) in [(60, 12, false), (60, 12, true), (20, 30, false), (130, 8, false)] {
        for proxies in [&[][..], &[Arc::clone(&proxy)]] {
            let params = RoundsParams { k: 3, calls_per_item, pairs, ..RoundsParams::default() };
            let (lists, asked, call_plan) = across(left, (&oracle, proxies), params);
            assert!(asked.iter().all(|&(i, j)| i < left && left <= j), "{left}");
            let all = (left * calls_per_item).min(left * (150 - left)) as u64;
            assert_eq!((asked.len() as u64, call_plan.calls), (all, all), "{left} {calls_per_item}");
            let distinct: std::collections::HashSet<&Pair> = asked.iter().collect();
            assert_eq!((distinct.len(), lists.len()), (asked.len(), left));
            assert!(lists.iter().flatten().all(|near| near.item >= left));
        }
    }
}

#[test]
fn lists_across_are_those_of_brute_force_where_the_calls_reach_all_pairs_and_better_than_reranking_at_a_fifth() {
    let (oracle, proxy) = problem(150, 2);
    let proxies: [Arc<dyn Oracle>; 1] = [Arc::new(proxy)];
    let (left, k) = (50, 5);
    let scores = whole(&oracle);
    let nearest = |i: usize| {
        let mut others: Vec<usize> = (left..150).collect();
        others.sort_by(|&a, &b| scores[[i, b]].total_cmp(&scores[[i, a]]));
        others.truncate(k);
        others
    };
    let recall_of = |params: RoundsParams, proxies: &[Arc<dyn Oracle>]| {
        let (lists, ..) = across(left, (&oracle, proxies), params);
        let hits = |(i, list): (usize, &Vec<Neighbor>)| {
            let wanted = nearest(i);
            list.iter().filter(|near| wanted.contains(&near.item)).count()
        };
        lists.iter().enumerate().map(hits).sum::<usize>() as f64 / (left * k) as f64
    };
    let recall = |calls_per_item: usize, proxies: &[Arc<dyn Oracle>]| {
        recall_of(RoundsParams { k, calls_per_item, ..RoundsParams::default() }, proxies)
    };
    assert_eq!((recall(100, &proxies), recall(100, &[])), (1.0, 1.0));
    let reranking = RoundsParams { k, calls_per_item: 20, columns: Some(0), first: 20, ..RoundsParams::default() };
    let (by_proxy, alone, reranked) = (recall(20, &proxies), recall(20, &[]), recall_of(reranking, &proxies));
    // a fifth of all pairs at random finds a fifth
    assert!(by_proxy > reranked && alone > 0.4, "{by_proxy} {alone} {reranked}");
}

#[test]
fn a_score_within_a_list_is_refused() {
    let (oracle, _) = problem(20, 3);
    let landmarks = Landmarks::uniform(20, &mut stream(3, "two lists", "landmarks", 0));
    let rounds = rounds(RoundsParams { left: Some(8), ..RoundsParams::default() });
    let mut search = Search::new(rounds, OracleShape::of(&oracle), Vec::new(), &landmarks).unwrap();
    search.record(&[(9, 2)], &[0.5]).unwrap();
    assert!(matches!(search.record(&[(9, 12)], &[0.5]), Err(NeighborError::NoPair { i: 9, j: 12, len: 20 })));
}

#[test]
fn candidates_within_a_list_are_left_out_and_columns_are_as_many_of_either() {
    let (oracle, proxy) = problem(60, 4);
    let shape = OracleShape::of(&oracle);
    let landmarks = Landmarks::uniform(60, &mut stream(3, "two lists", "landmarks", 0));
    for columns in [Some(3), None] {
        let rounds = rounds(RoundsParams { left: Some(30), columns, k: 3, ..RoundsParams::default() });
        let search = Search::new(rounds, shape, vec![Arc::new(proxy.clone())], &landmarks).unwrap();
        let near = |i: usize| vec![(i + 1) % 60, (i + 30) % 60, (i + 31) % 60];
        let candidates = Candidates::of_lists(60, (0..60).map(near)).unwrap();
        let mut search = search.with_candidates(candidates.clone(), shape).unwrap().within(candidates).unwrap();
        let call_plan = search.call_plan().clone();
        let asked = pairs_of(answer_all(&mut search, &oracle));
        assert!(asked.iter().all(|&(i, j)| i.min(j) < 30 && 30 <= i.max(j)));
        assert_eq!((call_plan.columns % 2, asked.len() as u64 <= call_plan.calls), (0, true), "{columns:?}");
    }
}
