//! The limit on money holds whatever the server does.

use super::*;

use std::sync::Mutex;

use landmark_http::Price;
use proptest::prelude::*;

const PRICE: Price = Price { input: 1000.0, output: 0.0, request: 0.01, output_tokens: 0 };

fn charging(script: Vec<u8>) -> (Server, Arc<Mutex<f64>>) {
    let charged = Arc::new(Mutex::new(0.0));
    let ledger = Arc::clone(&charged);
    let server = Server::start(move |request| {
        // a server that charges per token never counts more of them than bytes
        let tokens = request.bytes / 3;
        let charge = || *ledger.lock().unwrap() += PRICE.request + PRICE.input * tokens as f64 / 1e6;
        let mut answer = reranked(&request.body);
        answer["usage"] = json!({ "prompt_tokens": tokens });
        match script[request.number % script.len()] {
            0 => Answer::text(429, "").with("retry-after-ms", "1"),
            // some charge for what they fail to deliver
            1 => {
                charge();
                Answer::text(500, "").with("retry-after-ms", "1")
            }
            2 => {
                charge();
                Answer::json(200, &answer).cut_after(90)
            }
            _ => {
                charge();
                Answer::json(200, &answer)
            }
        }
    });
    (server, charged)
}

#[test]
fn what_was_paid_is_what_the_server_charged() {
    let (server, charged) = charging(vec![3]);
    let oracle = Http::new(HttpParams { price: Some(PRICE), ..params(&server) }, items(20), Some(100.0)).unwrap();
    scored(&oracle, &some_pairs()).unwrap();
    let paid = oracle.paid();
    assert!((paid.money - *charged.lock().unwrap()).abs() < 1e-12, "{paid:?}");
    assert_eq!((paid.requests, paid.in_doubt), (9, 0.0));
}

#[test]
fn a_run_ends_at_the_limit_on_money() {
    let (server, charged) = charging(vec![3]);
    let oracle = Http::new(HttpParams { price: Some(PRICE), ..params(&server) }, items(20), Some(0.3)).unwrap();
    let error = scored(&oracle, &some_pairs()).unwrap_err();
    assert!(matches!(error, OracleError::MoneyExhausted { limit: 0.3, .. }), "{error}");
    assert!(*charged.lock().unwrap() <= 0.3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_script_makes_a_run_pass_its_limit(
        script in prop::collection::vec(0_u8..6, 1..12).prop_filter("some succeed", |script| script.iter().any(|&step| step > 2)),
        limit in 0.1..2.0_f64,
        in_flight in 1..9_usize,
    ) {
        let (server, charged) = charging(script);
        let params = HttpParams { price: Some(PRICE), in_flight, patience_seconds: 2.0, ..params(&server) };
        let oracle = Http::new(params, items(20), Some(limit)).unwrap();
        // a script in step with a request may fail it until it is given up; what it charged counts all the same
        let outcome = scored(&oracle, &some_pairs());
        let is_expected = matches!(outcome, Err(OracleError::MoneyExhausted { .. } | OracleError::Failed { .. }));
        prop_assert!(outcome.is_ok() || is_expected, "{outcome:?}");
        drop(oracle);
        prop_assert!(*charged.lock().unwrap() <= limit + 1e-12);
    }
}
