//! Requests and answers of servers that do as they should.

use super::*;

use std::sync::Barrier;

use landmark_core::oracle::block_of;
use landmark_http::{Fields, Rating, Shape};

#[test]
fn a_reranker_gives_every_pair_its_score() {
    // it answers three at a time, or none
    let three = Barrier::new(3);
    let server = Server::start(move |request| {
        three.wait();
        right(&request.body)
    });
    let oracle = http(params(&server), 20);
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), similarities(&some_pairs()));
    // three columns of 20 in requests of 8
    assert_eq!(server.seen().len(), 9);
    assert_eq!(oracle.model().as_deref(), Some("m"));
    assert!(server.most_at_once() <= 16, "{}", server.most_at_once());
}

#[test]
fn a_column_of_a_symmetric_score_is_asked_for_once() {
    let server = Server::start(|request| {
        let query = number(&request.body["query"]);
        let documents = request.body["documents"].as_array().unwrap();
        let result = |(index, document)| json!({ "index": index, "score": number(document) * query });
        Answer::json(200, &documents.iter().enumerate().map(result).collect())
    });
    let fields = Fields { results: Some(String::new()), score: Some("score".to_owned()), ..Fields::default() };
    let symmetric = HttpParams { symmetric: true, diagonal: Some(1.0), fields, ..params(&server) };
    let oracle = http(symmetric, 20);
    let rows: Vec<usize> = (0..20).collect();
    let block = block_of(&oracle, &rows, &[7, 9]).unwrap();
    assert_eq!((block[[3, 0]], block[[9, 1]], block[[9, 0]]), (21.0, 1.0, 63.0));
    let asked: usize = server.seen().iter().map(|request| request.body["documents"].as_array().unwrap().len()).sum();
    assert_eq!(asked, 19 + 18);
    assert!(server.seen().len() <= 8, "{} requests for two columns", server.seen().len());
}

#[test]
fn a_pair_scorer_and_a_judge_are_understood() {
    let server = Server::start(|request| match request.path.as_str() {
        "/score" => {
            let list = |name: &str| request.body[name].as_array().unwrap().clone();
            let score = |(a, b)| json!({ "score": similarity(number(&a), number(&b)) });
            Answer::json(
                200,
                &json!({ "data": list("text_1").into_iter().zip(list("text_2")).map(score).collect::<Vec<_>>() }),
            )
        }
        _ => {
            let prompt = request.body["messages"][1]["content"].as_str().unwrap();
            let rating = prompt.len() % 11;
            Answer::json(200, &json!({ "choices": [{ "message": { "content": format!("Rating: {rating}") } }] }))
        }
    });
    let score = HttpParams { shape: Shape::Score, url: server.url("/score"), ..params(&server) };
    let oracle = http(score, 20);
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), similarities(&some_pairs()));
    let chat = HttpParams {
        shape: Shape::Chat,
        model: Some("judge".to_owned()),
        system: Some("You rate.".to_owned()),
        prompt: Some("{{a}}|{{b}}".to_owned()),
        url: server.url("/v1/chat/completions"),
        pairs_per_request: None,
        ..params(&server)
    };
    let oracle = http(chat, 20);
    let wanted: Vec<f64> = some_pairs().iter().map(|(i, j)| (format!("text {i}|text {j}").len() % 11) as f64).collect();
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), wanted);
}

#[test]
fn several_pairs_share_a_prompt_and_a_wrong_count_halves_it() {
    // this judge loses count of more than two pairs
    let server = Server::start(|request| {
        let prompt = request.body["messages"][0]["content"].as_str().unwrap().to_owned();
        let rows: Vec<&str> = prompt.lines().filter_map(|line| line.strip_prefix("A: text ")).collect();
        let lines = rows.iter().enumerate().take(2).map(|(k, row)| format!("{}: {row}\n", k + 1)).collect::<String>();
        Answer::json(200, &json!({ "choices": [{ "message": { "content": lines } }] }))
    });
    let chat = HttpParams {
        shape: Shape::Chat,
        model: Some("judge".to_owned()),
        prompt: Some("Rate each pair.\n{{pairs}}".to_owned()),
        rating: Rating { high: 20.0, ..Rating::default() },
        ..params(&server)
    };
    let oracle = http(chat, 20);
    let pairs: Vec<Pair> = (0..16).map(|i| (i, 17)).collect();
    assert_eq!(scored(&oracle, &pairs).unwrap(), (0..16).map(f64::from).collect::<Vec<_>>());
    // eight of 2, after two of 8 and at most four of 4: three wrong counts make later requests smaller, and several are in flight
    let requests = server.seen().len();
    assert!((11..=14).contains(&requests), "{requests}");
}

#[test]
fn repeated_calls_are_averaged_and_counted() {
    let server = Server::start(|request| {
        let score = if request.number % 2 == 0 { 4.0 } else { 6.0 };
        Answer::json(200, &json!({ "results": [{ "index": 0, "relevance_score": score }] }))
    });
    let oracle = http(HttpParams { repeats: 2, in_flight: 1, ..params(&server) }, 3);
    assert_eq!(scored(&oracle, &[(0, 1), (0, 2)]).unwrap(), [5.0, 5.0]);
    assert_eq!((server.seen().len(), oracle.evaluations_per_pair()), (4, 2));
}

#[test]
fn the_identity_moves_with_what_moves_a_score_and_with_nothing_else() {
    let server = Server::start(|request| right(&request.body));
    let identity = |params: HttpParams| http(params, 3).identity();
    let base = params(&server);
    let same = [
        HttpParams { in_flight: 3, ..base.clone() },
        HttpParams { pairs_per_request: Some(1), ..base.clone() },
        HttpParams { url: server.url("/rerank?token=secret"), ..base.clone() },
        HttpParams { timeout_seconds: 9.0, requests_per_minute: Some(7), ..base.clone() },
    ];
    for other in same {
        assert_eq!(identity(other.clone()), identity(base.clone()), "{other:?}");
    }
    let different = [
        HttpParams { model: Some("m".to_owned()), ..base.clone() },
        HttpParams { revision: Some("2".to_owned()), ..base.clone() },
        HttpParams { url: server.url("/v2/rerank"), ..base.clone() },
        HttpParams { symmetric: true, ..base.clone() },
        HttpParams { repeats: 2, ..base.clone() },
        HttpParams { request: serde_json::Map::from_iter([("x".to_owned(), json!(1))]), ..base.clone() },
    ];
    for other in different {
        assert_ne!(identity(other.clone()), identity(base.clone()), "{other:?}");
    }
}

/// Scores are kept under these for good: a change here is a store that nobody finds again.
#[test]
fn identities_stay() {
    let identity = |params: HttpParams| http(params, 3).identity().to_hex();
    let url = "http://localhost:8000/rerank".to_owned();
    let model = Some("m".to_owned());
    let rerank = HttpParams { url: url.clone(), model: model.clone(), symmetric: true, ..HttpParams::default() };
    assert_eq!(identity(rerank), "a41ecc37b5c725aac232002211df0084519411375df561d88ea9d3fd285a5ace");
    let prompt = Some("{{a}} or {{b}}?".to_owned());
    let chat = HttpParams { shape: Shape::Chat, url, model, prompt, ..HttpParams::default() };
    assert_eq!(identity(chat), "5510c576c24a97b5898a39b7d44945d55e53012e8e922ea6c0f939b2045b8863");
}
