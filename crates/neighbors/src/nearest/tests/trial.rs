//! The trial of the columns, scores that nobody asked for, and candidates on the way.

use super::*;

#[test]
fn columns_are_evaluated_where_items_differ_in_hubness_and_only_tried_where_they_do_not() {
    let n = 120;
    let (popular, proxy) = problem_of(n, 3, 0.8);
    let plain = predicted_by(&proxy);
    let proxy: Arc<dyn Oracle> = Arc::new(proxy);
    for (oracle, is_popular) in [(popular, true), (plain, false)] {
        let oracle = Metered::new(oracle);
        let rounds = rounds(RoundsParams { k: 5, calls_per_item: 10, ..RoundsParams::default() });
        let call_plan = rounds.call_plan(OracleShape::of(&oracle), true);
        assert_eq!((call_plan.columns, call_plan.trial), (2, 96));
        let mut search =
            Search::new(rounds, OracleShape::of(&oracle), vec![Arc::clone(&proxy)], &landmarks(n)).unwrap();
        let mut batches = answer_all(&mut search, &oracle);
        batches.retain(|batch| matches!(batch.step, Step::Trial | Step::Columns));
        let of_columns = pairs_of(batches).len() as u64;
        assert_eq!(of_columns, if is_popular { call_plan.column_pairs } else { call_plan.trial });
        assert_eq!(search.columns().len(), if is_popular { 2 } else { 0 });
        assert_eq!(search.call_plan().column_pairs, of_columns);
        // whatever it decides, the calls are those planned
        assert_eq!(oracle.spent().evaluations, call_plan.calls);
    }
}

#[test]
fn scores_of_a_column_that_its_trial_did_not_ask_for_stay_known_when_it_says_no() {
    let n = 120;
    let (_, proxy) = problem(n, 3);
    let oracle = predicted_by(&proxy);
    let score = |pairs: &[Pair]| pairs.iter().map(|&pair| oracle.matrix()[pair]).collect::<Vec<_>>();
    let rounds = rounds(RoundsParams { k: n - 1, calls_per_item: 10, ..RoundsParams::default() });
    let mut search = Search::new(rounds, OracleShape::of(&oracle), vec![Arc::new(proxy)], &landmarks(n)).unwrap();
    let column = search.columns()[0];
    let trial = search.next_batch().unwrap().unwrap();
    assert_eq!(trial.step, Step::Trial);
    // the column is revealed, then the trial is answered
    let shown: Vec<Pair> = (0..n).filter(|&j| j != column).map(|j| (j, column)).collect();
    search.record(&shown, &score(&shown)).unwrap();
    search.record(&trial.pairs, &score(&trial.pairs)).unwrap();
    while let Some(batch) = search.next_batch().unwrap() {
        assert_ne!(batch.step, Step::Columns, "the trial says no");
        assert!(batch.pairs.iter().all(|&(i, j)| i != column && j != column), "{:?}", batch.step);
        search.record(&batch.pairs, &score(&batch.pairs)).unwrap();
    }
    let found = search.finish().unwrap();
    assert_eq!(found.lists[column].len(), n - 1);
    assert!(found.lists[column].iter().all(|one| one.exact));
}

#[test]
fn a_search_goes_on_as_if_nobody_had_asked_for_its_candidates() {
    let n = 130;
    let (popular, proxy) = problem_of(n, 3, 0.8);
    let plain = predicted_by(&proxy);
    let (other, _) = problem(n, 4);
    let other: Arc<dyn Oracle> = Arc::new(other);
    let proxy: Arc<dyn Oracle> = Arc::new(proxy);
    // `looks`: candidates are read when a batch is handed out, in the middle of it, and when it is answered
    let run = |oracle: &Precomputed, proxies: &[Arc<dyn Oracle>], looks: bool| {
        let rounds = rounds(RoundsParams { k: 5, calls_per_item: 6, ..RoundsParams::default() });
        let mut search = Search::new(rounds, OracleShape::of(oracle), proxies.to_vec(), &landmarks(n)).unwrap();
        let look = |search: &mut Search| if looks { search.candidates(5).unwrap() } else { Vec::new() };
        let mut batches = Vec::new();
        look(&mut search);
        while let Some(batch) = search.next_batch().unwrap() {
            let scores: Vec<f64> = batch.pairs.iter().map(|&pair| oracle.matrix()[pair]).collect();
            let half = scores.len() / 2;
            look(&mut search);
            search.record(&batch.pairs[..half], &scores[..half]).unwrap();
            look(&mut search);
            search.record(&batch.pairs[half..], &scores[half..]).unwrap();
            look(&mut search);
            batches.push(batch);
        }
        let last = look(&mut search);
        let found = search.finish().unwrap();
        assert!(!looks || last == found.lists);
        (batches, found)
    };
    for oracle in [&popular, &plain] {
        for proxies in [&[][..], &[Arc::clone(&proxy)], &[Arc::clone(&other), Arc::clone(&proxy)]] {
            assert!(run(oracle, proxies, true) == run(oracle, proxies, false), "{} proxies", proxies.len());
        }
    }
}

#[test]
fn a_trial_whose_scores_all_fail_keeps_the_columns() {
    let (_, proxy) = problem(110, 3);
    let rounds = rounds(RoundsParams { k: 5, calls_per_item: 6, ..RoundsParams::default() });
    let shape = OracleShape::of(&proxy);
    let mut search = Search::new(rounds, shape, vec![Arc::new(proxy)], &landmarks(110)).unwrap();
    let trial = search.next_batch().unwrap().unwrap();
    search.record(&trial.pairs, &vec![f64::NAN; trial.pairs.len()]).unwrap();
    let columns = search.next_batch().unwrap().unwrap();
    assert_eq!((trial.step, columns.step), (Step::Trial, Step::Columns));
    assert!(columns.pairs.iter().all(|pair| !trial.pairs.contains(pair)));
}

#[test]
fn a_pair_that_failed_before_the_first_batch_is_not_asked_for_again() {
    let (oracle, proxy) = problem(80, 6);
    let landmarks = Landmarks::uniform(80, &mut stream(5, "failed", "landmarks", 0));
    let proxies: [&[Arc<dyn Oracle>]; 2] = [&[], &[Arc::new(proxy)]];
    for proxies in proxies {
        let rounds = rounds(RoundsParams { k: 3, calls_per_item: 12, ..RoundsParams::default() });
        let mut search = Search::new(rounds, OracleShape::of(&oracle), proxies.to_vec(), &landmarks).unwrap();
        // all pairs of some items, columns among them
        let bad: Vec<Pair> =
            (0..80).filter(|&i| i != landmarks.order()[0]).map(|i| (i, landmarks.order()[0])).collect();
        search.record(&bad, &vec![f64::NAN; bad.len()]).unwrap();
        let asked = pairs_of(answer_all(&mut search, &oracle));
        assert!(asked.iter().all(|&(i, j)| !bad.contains(&(i, j)) && !bad.contains(&(j, i))));
        let found = search.finish().unwrap();
        assert_eq!(found.failed, bad.len() as u64);
        assert!(found.lists[landmarks.order()[0]].is_empty());
        assert!(found.lists.iter().flatten().all(|near| near.score.is_finite()));
    }
}
