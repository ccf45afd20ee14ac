//! The bounds against SciPy (tests/golden/recall.json, made by recall.py next to it), and what they refuse.

use landmark_core::stats::{beta_quantile, regularized_beta};
use serde_json::Value;

use super::*;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/recall.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap()
}

fn size(value: &Value, key: &str) -> usize {
    usize::try_from(value[key].as_u64().unwrap()).unwrap()
}

fn target(case: &Value) -> Target {
    Target::new(number(case, "recall"), number(case, "delta")).unwrap()
}

/// Iterative solutions of both sides end within 1e-13 of theirs; lgamma of large arguments costs three digits.
#[track_caller]
fn assert_near(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-10 * theirs.abs().max(1e-3), "{what}: {ours} against {theirs}");
}

#[test]
fn the_beta_function_and_its_inverse_are_those_of_scipy() {
    let golden = golden();
    for case in golden["quantiles"].as_array().unwrap() {
        let ours = beta_quantile(number(case, "p"), number(case, "a"), number(case, "b"));
        assert_near(ours, number(case, "quantile"), &case.to_string());
    }
    for case in golden["incomplete"].as_array().unwrap() {
        let ours = regularized_beta(number(case, "x"), number(case, "a"), number(case, "b"));
        assert_near(ours, number(case, "value"), &case.to_string());
    }
}

#[test]
fn audit_paths_are_those_of_scipy_and_stop_where_they_do() {
    for case in golden()["audits"].as_array().unwrap() {
        let bound = match case["bound"].as_str().unwrap() {
            "clopper_pearson" => Bound::ClopperPearson,
            "kl" => Bound::KullbackLeibler,
            _ => Bound::Betting,
        };
        let shares: Vec<Vec<f64>> = serde_json::from_value(case["shares"].clone()).unwrap();
        let (items, landmarks) = (size(case, "items"), size(case, "landmarks"));
        let path = AuditPath::new(items, landmarks, shares[0].len(), target(case), bound).unwrap();
        let mut stop = None;
        for (effort, (shares, expected)) in shares.iter().zip(case["steps"].as_array().unwrap()).enumerate() {
            let ours = path.step(shares);
            assert_near(ours.estimate, number(expected, "estimate"), "estimate");
            assert_near(ours.lower, number(expected, "lower"), &format!("{bound} at effort {effort}"));
            if ours.is_reached {
                stop.get_or_insert(effort as u64);
            }
        }
        assert_eq!(stop, case["stop"].as_u64(), "{bound}");
    }
}

#[test]
fn too_few_rows_are_refused_with_the_number_that_would_do() {
    let target = Target::new(0.9, 0.1).unwrap();
    let error = AuditPath::new(1000, 0, 21, target, Bound::ClopperPearson).unwrap_err();
    assert_eq!(
        error.to_string(),
        "21 audited rows cannot show a recall of 0.9 at δ = 0.1 even if they find everything; 22 are the least that can (bound: \
         Clopper-Pearson)"
    );
    let strict = Target::new(0.95, 0.05).unwrap();
    for bound in [Bound::ClopperPearson, Bound::KullbackLeibler] {
        let error = AuditPath::new(1000, 0, 10, strict, bound).unwrap_err();
        assert_eq!(error.needed, 59, "{bound}");
    }
    // the number that is named is enough, one less is not
    for bound in [Bound::ClopperPearson, Bound::KullbackLeibler, Bound::Betting] {
        let needed = AuditPath::new(1000, 0, 5, strict, bound).unwrap_err().needed;
        let path = AuditPath::new(1000, 0, needed, strict, bound).unwrap();
        assert!(path.step(&vec![1.0; needed]).is_reached, "{bound}");
        assert!(AuditPath::new(1000, 0, needed - 1, strict, bound).is_err(), "{bound}");
    }
}

#[test]
fn the_default_number_of_rows_can_reach_the_target() {
    for (recall, delta) in [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05), (0.99, 0.01)] {
        let target = Target::new(recall, delta).unwrap();
        for (k, strict) in [(1, false), (1, true), (10, false), (10, true)] {
            let bound = Bound::of(k, strict);
            let rows = bound.rows(target);
            assert!(AuditPath::new(100_000, 0, rows, target, bound).is_ok(), "{bound} {target:?} {rows}");
        }
    }
    let usual = Target::new(0.9, 0.1).unwrap();
    assert_eq!((Bound::of(10, false).rows(usual), Bound::of(1, false).rows(usual)), (44, 44));
}

#[test]
fn landmarks_alone_can_be_enough_and_rows_of_all_items_leave_no_doubt() {
    let target = Target::new(0.9, 0.1).unwrap();
    let path = AuditPath::new(10, 9, 1, target, Bound::Spacings).unwrap();
    assert!(path.needed() <= 1e-12);
    assert!(path.step(&[0.0]).is_reached);
    let path = AuditPath::new(4, 0, 4, target, Bound::Spacings).unwrap();
    let recall = path.step(&[1.0, 1.0, 0.8, 0.8]);
    assert!(recall.is_reached, "{recall:?}");
    assert_eq!(recall.estimate, recall.lower);
}

#[test]
fn a_target_outside_its_range_is_refused_with_the_reason() {
    for (recall, delta) in [(1.0, 0.1), (0.0, 0.1), (f64::NAN, 0.1), (0.9, 0.0), (0.9, 1.0), (0.9, f64::NAN)] {
        assert!(Target::new(recall, delta).is_err(), "{recall} {delta}");
    }
    let error = Target::new(0.9, 0.0).unwrap_err();
    assert_eq!(error.to_string(), "`delta` is 0, but must be above 0 and below 1: a sample leaves some doubt");
}

#[test]
fn ties_are_as_good_as_each_other_and_an_item_is_no_neighbor_of_itself() {
    let row = [9.0, 0.5, 0.7, 0.5, 0.5, 0.1];
    // the two best of item 0 are 2 and any of 1, 3, 4
    let share = |found: &[usize]| share_found(&row, 0, 2, |item| found.contains(&item));
    assert_eq!(share(&[]), 0.0);
    assert_eq!(share(&[4]), 0.5);
    assert_eq!(share(&[2, 3]), 1.0);
    assert_eq!(share(&[1, 3, 4]), 1.0);
    assert_eq!(share(&[5, 0]), 0.0);
    // more neighbors than there are items: all of them
    assert_eq!(share_found(&row, 0, 10, |item| item < 4), 0.6);
    assert_eq!(share_found(&[1.0], 0, 3, |_| false), 1.0);
    // a pair that has no score is nobody's neighbor
    assert_eq!(share_found(&[1.0, f64::NAN, 0.5], 0, 1, |item| item == 2), 1.0);
}

#[test]
fn shares_by_depth_are_those_of_each_depth_alone() {
    let row = [0.0, 0.9, 0.8, 0.7, 0.6, 0.5];
    let known = std::collections::HashSet::from([3]);
    let ranked = [5, 2, 1, 4];
    let shares = depth_shares(&row, 0, 3, &known, &ranked, &[0, 1, 2, 3, 9]);
    for (depth, share) in [0, 1, 2, 3, 4].into_iter().zip(shares) {
        assert_eq!(share, share_found(&row, 0, 3, |item| known.contains(&item) || ranked[..depth].contains(&item)));
    }
    assert_eq!(folds(7), [vec![0, 5], vec![1, 6], vec![2], vec![3], vec![4]]);
    assert_eq!(folds(2), [vec![0], vec![1]]);
}

fn pair_golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/pair_audit.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn whole(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap()
}

#[test]
fn the_hypergeometric_test_is_that_of_exact_fractions() {
    let golden = pair_golden();
    for case in golden["least_wrong"].as_array().unwrap() {
        assert_eq!(least_wrong(whole(case, "found"), number(case, "recall")), whole(case, "u"), "{case}");
    }
    for case in golden["p_value"].as_array().unwrap() {
        let ours = p_value(whole(case, "pairs"), whole(case, "sample"), whole(case, "u"), whole(case, "missed"));
        let theirs = number(case, "p");
        // the golden values of large populations are themselves good to six digits
        let tolerance = if whole(case, "pairs") > 100_000 || whole(case, "sample") > 200 { 1e-6 } else { 1e-12 };
        assert!((ours - theirs).abs() <= tolerance * theirs.max(1e-12), "{case}: {ours}");
    }
    for case in golden["sample_size"].as_array().unwrap() {
        let ours = sample_size(whole(case, "pairs"), whole(case, "u"), whole(case, "tolerated"), number(case, "delta"));
        assert_eq!(ours, whole(case, "sample"), "{case}");
    }
    for case in golden["unseen"].as_array().unwrap() {
        let ours =
            most_unseen(whole(case, "pairs"), whole(case, "sample"), whole(case, "missed"), number(case, "delta"));
        assert_eq!(ours, whole(case, "most"), "{case}");
    }
    for case in golden["paths"].as_array().unwrap() {
        for step in case["steps"].as_array().unwrap() {
            let unseen = least_wrong(whole(step, "found"), number(case, "recall"));
            let ours = p_value(whole(case, "pairs"), whole(case, "sample"), unseen, whole(step, "missed"));
            assert!((ours - number(step, "p")).abs() < 1e-9, "{step}: {ours}");
        }
    }
}

/// Positives of a population in the order of their estimates, each sampled or not: every sample of every size is tried.
#[test]
fn no_order_of_few_pairs_is_wrong_more_often_than_stated() {
    const PAIRS: usize = 9;
    let target = Target::new(0.7, 0.25).unwrap();
    let mut worst = 0.0_f64;
    for known in 1..=2_u64 {
        let unseen = least_wrong(known, target.recall());
        let sample = sample_size(PAIRS as u64, unseen, 1, target.delta());
        for positives in 0..1_u32 << PAIRS {
            let total = known + u64::from(positives.count_ones());
            let (mut wrong, mut all) = (0_u32, 0_u32);
            for drawn in (0..1_u32 << PAIRS).filter(|drawn| u64::from(drawn.count_ones()) == sample) {
                all += 1;
                let mut found = known + u64::from((positives & drawn).count_ones());
                let mut missed = u64::from((positives & drawn).count_ones());
                for cut in 0..=PAIRS {
                    let u = least_wrong(found, target.recall());
                    if p_value(PAIRS as u64, sample, u, missed) <= target.delta() * (1.0 + 1e-9) {
                        wrong += u32::from((found as f64) < target.recall() * total as f64 - 1e-9);
                        break;
                    }
                    if cut < PAIRS && positives >> cut & 1 == 1 {
                        if drawn >> cut & 1 == 1 { missed -= 1 } else { found += 1 }
                    }
                }
            }
            worst = worst.max(f64::from(wrong) / f64::from(all));
        }
    }
    assert!(worst <= target.delta() + 1e-12, "{worst}");
    assert!(worst > 0.05, "the cases are too easy to refute anything: {worst}");
}

#[test]
fn the_bound_by_spacings_is_gaffkes_and_that_of_clopper_and_pearson_for_shares_of_zero_and_one() {
    let golden = pair_golden();
    for case in golden["gaffke"].as_array().unwrap() {
        let shares: Vec<f64> = serde_json::from_value(case["shares"].clone()).unwrap();
        let ours = shares::spacings(&shares, number(case, "needed"));
        assert!((ours - number(case, "p")).abs() <= number(case, "tol"), "{ours} {}", case["p"]);
    }
    let target = Target::new(0.8, 0.1).unwrap();
    let shares: Vec<f64> = (0..40).map(|row| f64::from(u8::from(row % 9 != 0))).collect();
    let of = |bound| AuditPath::new(1000, 0, 40, target, bound).unwrap().step(&shares).lower;
    assert!((of(Bound::Spacings) - of(Bound::ClopperPearson)).abs() < 1e-6);
}

#[test]
fn an_extreme_target_is_refused_at_once_with_the_rows_that_it_takes() {
    let target = Target::new(0.999_999, 1e-6).unwrap();
    for bound in [Bound::Spacings, Bound::ClopperPearson, Bound::KullbackLeibler, Bound::Betting] {
        let error = AuditPath::new(1_000_000_000, 0, 1000, target, bound).unwrap_err();
        assert!(error.needed > 13_000_000 && error.needed < 30_000_000, "{bound}: {}", error.needed);
    }
}

#[test]
fn the_recall_that_an_audit_can_show_is_refuted_by_one_pair_more() {
    for (found, pairs, sample) in [(40, 4000, 300), (9, 500, 120), (1000, 100_000, 5000)] {
        let reach = reachable_recall(found, pairs, sample, 0.1);
        assert!(p_value(pairs, sample, least_wrong(found, reach), 0) <= 0.1);
        assert!(p_value(pairs, sample, least_wrong(found, reach + 1e-3) - 1, 0) > 0.1);
    }
    assert_eq!((reachable_recall(0, 100, 50, 0.1), reachable_recall(5, 100, 200, 0.1)), (0.0, 1.0));
}

#[test]
fn a_sample_that_holds_many_positives_has_a_probability() {
    // SciPy: hypergeom.cdf(X, N, u + X, m)
    for (pairs, sample, unseen, missed, wanted) in [
        (2780, 500, 2072, 455, 0.562_622_205_0),
        (2780, 500, 2100, 455, 0.230_363_787_9),
        (2780, 500, 1900, 455, 0.999_998_076_9),
        (100_000, 20_000, 67_900, 17_000, 0.674_153_110_5),
    ] {
        let found = p_value(pairs, sample, unseen, missed);
        assert!((found - wanted).abs() < 1e-6, "{pairs} {sample} {unseen} {missed}: {found}");
    }
}
