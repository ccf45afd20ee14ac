//! A stated recall is true in at least 1 − δ of the draws, and believing the estimate is not as good.

mod simulation;

use landmark_core::stream::stream;
use landmark_neighbors::recall::Bound;

use simulation::{Coverage, Search, targets};

const DRAWS: u64 = 300;
/// Draws of bounds that are solved for by bisection over all rows.
const DRAWS_OF_STRICT: u64 = 60;

fn search(k: usize, spread: f64) -> Search {
    Search::new(2000, k, spread, &mut stream(1, "coverage", "search", k as u64))
}

#[test]
fn audited_rows_state_a_recall_that_is_true() {
    for (k, spread) in [(10, 0.5), (10, 1.5), (1, 1.0)] {
        let search = search(k, spread);
        for target in targets() {
            let bound = Bound::of(k, false);
            let rows = bound.rows(target);
            let seen = Coverage::of(DRAWS, target, |rng| search.stop(rows, target, bound, rng));
            // rows that differ much are too few for .95 now and then, which is reported
            assert!(f64::from(seen.stated) > 0.6 * DRAWS as f64, "k {k} {target:?}: {seen:?}");
            assert!(seen.share() >= seen.least(target), "k {k} spread {spread} {target:?}: {}", seen.share());
        }
    }
}

/// Counted over all draws, not over those that state something.
#[test]
fn items_out_of_reach_make_no_more_statements_wrong_than_stated() {
    const ALL: u64 = 1000;
    // the audited rows of the rule before
    const ROWS: usize = 30;
    let most = |delta: f64| delta + 3.0 * (delta * (1.0 - delta) / ALL as f64).sqrt();
    let mut is_refuted = false;
    for share in [0.055, 0.105, 0.21] {
        let search = search(10, 0.5).out_of_reach(share);
        for target in targets() {
            let bound = Bound::of(10, false);
            let seen = Coverage::of(ALL, target, |rng| search.stop(bound.rows(target), target, bound, rng));
            let before = Coverage::of(ALL, target, |rng| search.stop_by_design_effect(ROWS, target, rng));
            let [wrong, wrong_before] = [seen, before].map(|seen| f64::from(seen.stated - seen.right) / ALL as f64);
            println!(
                "{share} out of reach, {target:?}: wrong {wrong} of {} stated; with a design effect {wrong_before} of {}",
                seen.stated, before.stated
            );
            assert!(wrong <= most(target.delta()), "{share} {target:?}: {wrong}");
            is_refuted |= wrong_before > most(target.delta());
        }
    }
    assert!(is_refuted, "the populations cannot refute a rule that is known to be wrong");
}

#[test]
fn strict_bounds_hold_and_stop_later_than_the_default() {
    for (k, spread) in [(10, 1.5), (1, 1.0)] {
        let search = search(k, spread);
        let target = targets()[1];
        let (default, strict) = (Bound::of(k, false), Bound::of(k, true));
        let rows = strict.rows(target);
        let of = |bound| Coverage::of(DRAWS_OF_STRICT, target, |rng| search.stop(rows, target, bound, rng));
        let (default, strict) = (of(default), of(strict));
        assert!(strict.share() >= strict.least(target), "k {k}: {}", strict.share());
        assert!(strict.mean_recall() > default.mean_recall(), "k {k}: {strict:?} {default:?}");
    }
}

#[test]
fn an_estimate_that_is_believed_is_wrong_more_often_than_allowed() {
    let search = search(10, 1.5);
    let target = targets()[1];
    let seen = Coverage::of(DRAWS, target, |rng| search.plug_in(30, target, rng));
    assert!(seen.share() < seen.least(target), "{}", seen.share());
}
