//! The rule against SciPy, and a population that refutes it.

use landmark_core::stream::stream;
use rand::Rng;
use rand::seq::index::sample;
use serde_json::Value;

use super::*;

fn target(recall: f64, delta: f64) -> Target {
    Target::new(recall, delta).unwrap()
}

#[test]
fn thresholds_for_pairs_are_those_of_scipy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/neighbors/tests/golden/recall.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut refused = 0;
    for case in golden["pairs"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let size = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        let estimates: Vec<Vec<f64>> = serde_json::from_value(case["estimates"].clone()).unwrap();
        let audit = PairAudit::new(size("items"), estimates, size("between"));
        let found = audit.threshold(target(number("recall"), number("delta")));
        let Some(threshold) = case["threshold"].as_f64() else {
            assert_eq!(found, None);
            refused += 1;
            continue;
        };
        let found = found.unwrap();
        assert_eq!(found.threshold, threshold);
        // solutions of both sides end within 1e-13 of theirs; lgamma of large arguments costs three digits
        assert!(
            (found.recall - number("estimated_recall")).abs() < 1e-10 && (found.lower - number("lower")).abs() < 1e-10
        );
    }
    assert_eq!(refused, 1);
}

#[test]
fn a_believed_recall_is_the_share_of_the_positives_seen() {
    // 10 positives of 10 columns of 1,000 items: 4,950 are expected outside, so what is seen counts for nothing, and .9 of all are .9 of these
    let estimates: Vec<Vec<f64>> = (0..10).map(|column| vec![f64::from(column)]).collect();
    let audit = PairAudit::new(1000, estimates, 0);
    assert_eq!((audit.believed(0.9), audit.believed(0.05)), (Some(1.0), Some(9.0)));
    assert_eq!(audit.threshold(target(0.9, 0.1)), None, "its bound is far below");
    assert_eq!(PairAudit::new(1000, vec![Vec::new(); 10], 0).believed(0.9), None);
    assert_eq!(PairAudit::new(10, vec![vec![0.5]; 9], 30).believed(0.5), Some(f64::INFINITY));
}

/// Draws of columns.
const DRAWS: u32 = 1000;

/// Items, columns, and the size and the estimate of each group: its members share the error of their estimates.
struct Grouped {
    items: usize,
    columns: usize,
    groups: Vec<(usize, f64)>,
}

impl Grouped {
    /// Share of the draws of the columns in which the rule states a recall that is not there.
    fn wrong(&self, target: Target) -> f64 {
        let (mut first, mut positives) = (0, Vec::new());
        for &(size, estimate) in &self.groups {
            let end = (first + size).min(self.items);
            positives.extend((first..end).flat_map(|i| (i + 1..end).map(move |j| (i, j, estimate))));
            first = end;
        }
        let mut wrong = 0;
        for draw in 0..DRAWS {
            let columns =
                sample(&mut stream(3, "coverage", "columns", u64::from(draw)), self.items, self.columns).into_vec();
            let place = |item: usize| columns.iter().position(|&column| column == item);
            let (mut seen, mut between) = (vec![Vec::new(); self.columns], 0);
            for &(i, j, estimate) in &positives {
                match (place(i), place(j)) {
                    (Some(_), Some(_)) => between += 1,
                    (Some(at), None) | (None, Some(at)) => seen[at].push(estimate),
                    (None, None) => {}
                }
            }
            let Some(bound) = PairAudit::new(self.items, seen, between).threshold(target) else { continue };
            let is_found = |&&(i, j, estimate): &&(usize, usize, f64)| {
                place(i).is_some() || place(j).is_some() || estimate >= bound.threshold
            };
            let share = positives.iter().filter(is_found).count() as f64 / positives.len() as f64;
            wrong += u32::from(share < target.recall());
        }
        f64::from(wrong) / f64::from(DRAWS)
    }
}

#[test]
fn held_out_columns_are_wrong_in_more_draws_than_stated_if_pairs_come_in_groups() {
    // a group that no column meets leaves no trace in the columns
    for seed in 0..3 {
        let rng = &mut stream(3, "coverage", "groups", seed);
        let groups = (0..16).map(|_| (3, rng.r#gen::<f64>())).collect();
        let grouped = Grouped { items: 50, columns: 25, groups };
        for (recall, delta) in [(0.8, 0.2), (0.9, 0.1)] {
            let wrong = grouped.wrong(target(recall, delta));
            // δ and three standard errors of its estimate
            let most = delta + 3.0 * (delta * (1.0 - delta) / f64::from(DRAWS)).sqrt();
            assert!(wrong > most, "{wrong} of the draws at ({recall}, {delta}), {most} are allowed");
        }
    }
}
