//! The ranking figures against values of an independent implementation (`tests/golden/ranking.json`).

use landmark_tasks::ranking::{Answer, DEPTH, score_ranking};
use serde_json::Value;

#[test]
fn map_mrr_and_average_recall_agree_with_the_reference() {
    let golden = crate::golden("ranking.json");
    assert_eq!(golden["th"].as_u64().unwrap(), DEPTH as u64);
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let answer = |pair: &Value| {
            let score = pair[0].as_f64().unwrap();
            Answer { score, predicted: score > 0.5, relevant: pair[1].as_u64() == Some(1) }
        };
        let questions: Vec<Vec<Answer>> = case["queries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|query| query.as_array().unwrap().iter().map(answer).collect())
            .collect();
        let seen = score_ranking(&questions).unwrap();
        for (name, seen) in [("MAP", seen.map), ("MRR", seen.mrr), ("AvgRec", seen.avg_rec)] {
            let wanted = case[name].as_f64().unwrap();
            assert!((seen - wanted).abs() <= tolerance, "{name}: {seen}, expected {wanted}");
        }
    }
}
