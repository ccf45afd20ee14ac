//! One order first, of an asymmetric score.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use landmark_core::oracle::{Identity, OracleError};

use super::*;

/// An asymmetric matrix that notes every ordered pair it is asked for.
struct Noted {
    scores: Precomputed,
    asked: Mutex<Vec<Pair>>,
    /// Calls that it answers.
    most: AtomicUsize,
}

impl Oracle for Noted {
    fn shape(&self) -> OracleShape {
        self.scores.shape()
    }

    fn identity(&self) -> Identity {
        self.scores.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut asked = self.asked.lock().unwrap();
        if asked.len() + pairs.len() > self.most.load(Ordering::Relaxed) {
            return Err(OracleError::Failed { what: "a scorer".to_owned(), source: "stopped".into() });
        }
        asked.extend(pairs);
        self.scores.evaluate(pairs, out)
    }
}

/// The problem of the other tests, with items that are worth more on one side than on the other, and noise between the orders.
fn asymmetric(n: usize, seed: u64) -> (Array2<f64>, Array2<f64>, Arc<dyn Oracle>) {
    let (mean, proxy) = problem(n, seed);
    let mean = whole(&mean);
    let mut rng = stream(seed, "orders", "test", n as u64);
    let sides: Vec<f64> = (0..n).map(|_| rng.gen_range(-0.15..0.15)).collect();
    let noise = Array2::from_shape_fn((n, n), |_| rng.gen_range(-0.1..0.1));
    let given = Array2::from_shape_fn((n, n), |(i, j)| {
        mean[[i, j]] + (sides[i] - sides[j]) + (noise[[i, j]] - noise[[j, i]]) / 2.0
    });
    (given, mean, Arc::new(proxy))
}

fn searched(given: &Array2<f64>, proxies: &[Arc<dyn Oracle>], params: &RoundsParams) -> (Found, Vec<Pair>) {
    let n = given.nrows();
    let scores = Precomputed::new(given.clone(), AsymmetryPolicy::Keep).unwrap();
    let noted = Noted { scores, asked: Mutex::default(), most: AtomicUsize::new(usize::MAX) };
    let landmarks = Landmarks::uniform(n, &mut stream(3, "orders", "landmarks", 0));
    let found = nearest(&noted, proxies, &params.clone().check().unwrap(), &landmarks).unwrap();
    (found, noted.asked.into_inner().unwrap())
}

#[test]
fn a_search_in_one_order_makes_the_calls_of_its_plan_asks_no_order_twice_and_lists_the_mean_of_both_as_exact() {
    for (n, calls_per_item, k, pairs, with_proxy) in [
        (60, 8, 5, false, true),
        (60, 8, 5, true, true),
        (60, 9, 5, false, false),
        (40, 5, 1, false, true),
        (40, 1, 3, false, true),
        (30, 40, 4, false, true),
        (30, 200, 4, false, true),
        (2, 1, 1, false, false),
    ] {
        let (given, mean, proxy) = asymmetric(n, 5);
        let proxies = if with_proxy { vec![proxy] } else { Vec::new() };
        let params = RoundsParams { k, calls_per_item, pairs, ..RoundsParams::default() };
        let (found, asked) = searched(&given, &proxies, &params);
        let case = format!("{n} items, {calls_per_item} calls, {pairs}, {with_proxy}");
        let shape = OracleShape { evaluations_per_pair: 2, ..OracleShape::symmetric(n) };
        let rounds = RoundsParams { one_order: Some(0), ..params }.check().unwrap();
        let call_plan = rounds.call_plan(shape, with_proxy);
        assert_eq!(call_plan.calls, (n * calls_per_item).min(n * (n - 1)) as u64, "{case}");
        assert_eq!((asked.len() as u64, found.calls), (call_plan.calls, call_plan.calls), "{case}");
        assert_eq!(found.pairs, call_plan.pairs, "{case}");
        let distinct: HashSet<Pair> = asked.iter().copied().collect();
        assert_eq!(distinct.len(), asked.len(), "{case}");
        assert!(asked.iter().all(|&(i, j)| i != j), "{case}");
        let mut exact = HashSet::new();
        for (i, list) in found.lists.iter().enumerate() {
            for one in list.iter().filter(|one| one.exact) {
                let wanted = 0.5 * given[[i, one.item]] + 0.5 * given[[one.item, i]];
                assert!((one.score - wanted).abs() < 1e-12 && (wanted - mean[[i, one.item]]).abs() < 1e-12, "{case}");
                assert!(distinct.contains(&(i, one.item)) && distinct.contains(&(one.item, i)), "{case}");
                exact.insert((i.min(one.item), i.max(one.item)));
            }
            let both = |one: &&Neighbor| distinct.contains(&(i, one.item)) && distinct.contains(&(one.item, i));
            assert_eq!(list.iter().filter(both).count(), list.iter().filter(|one| one.exact).count(), "{case}");
        }
        assert!(exact.len() as u64 <= call_plan.second_orders, "{case}");
    }
}

#[test]
fn a_search_that_was_cut_off_repeats_its_orders_from_what_is_kept_and_makes_the_planned_calls_in_all() {
    let (given, _, proxy) = asymmetric(60, 8);
    let params = RoundsParams { k: 5, calls_per_item: 10, ..RoundsParams::default() };
    let (whole, _) = searched(&given, &[Arc::clone(&proxy)], &params);
    let landmarks = Landmarks::uniform(60, &mut stream(3, "orders", "landmarks", 0));
    let scores = Precomputed::new(given, AsymmetryPolicy::Keep).unwrap();
    let kept = Remembered::new(Noted { scores, asked: Mutex::default(), most: AtomicUsize::new(570) });
    let rounds = params.check().unwrap();
    // 450 calls in one order, and the others within those of the second orders
    assert!(nearest(&kept, &[Arc::clone(&proxy)], &rounds, &landmarks).is_err());
    assert_eq!(kept.inner().asked.lock().unwrap().len(), 450);
    kept.inner().most.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(nearest(&kept, &[proxy], &rounds, &landmarks).unwrap(), whole);
    assert_eq!(kept.inner().asked.lock().unwrap().len(), 600);
}

#[test]
fn at_equal_calls_one_order_first_finds_more_neighbors_than_both_orders_of_each_pair() {
    let n = 200;
    let (mut one_order, mut both) = (0.0, 0.0);
    for seed in 0..3 {
        let (given, mean, proxy) = asymmetric(n, seed);
        let params = RoundsParams { calls_per_item: 20, ..RoundsParams::default() };
        let (found, _) = searched(&given, &[Arc::clone(&proxy)], &params);
        one_order += recall(&mean, &found, 10) / 3.0;
        let symmetric = Symmetrized::new(Precomputed::new(given, AsymmetryPolicy::Keep).unwrap(), Symmetrization::Mean);
        let metered = Metered::new(symmetric);
        let landmarks = Landmarks::uniform(n, &mut stream(3, "orders", "landmarks", 0));
        let found = nearest(&metered, &[proxy], &params.check().unwrap(), &landmarks).unwrap();
        assert_eq!(metered.spent().evaluations, 20 * n as u64);
        both += recall(&mean, &found, 10) / 3.0;
    }
    assert!(one_order > both + 0.03, "{one_order} against {both}");
}
