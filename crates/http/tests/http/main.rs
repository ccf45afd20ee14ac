//! An endpoint against a scripted server on the loopback address.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

mod embeddings;
mod faults;
mod jobs;
mod money;
mod scores;
mod tls;

use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_http::{Http, HttpParams};
use landmark_oracles::subprocess::{FailedPairs, ScoredItems};
use serde_json::{Value as Json, json};

use landmark_test_server::{Answer, Server};

/// Items of distinct texts: item i is `text i`.
fn items(count: usize) -> Arc<ScoredItems> {
    let ids = (0..count).map(|i| format!("id{i}")).collect();
    Arc::new(ScoredItems::new(ids, (0..count).map(|i| format!("text {i}")).collect()).unwrap())
}

fn number(text: &Json) -> f64 {
    text.as_str().unwrap().trim_start_matches("text ").parse().unwrap()
}

fn similarity(a: f64, b: f64) -> f64 {
    a + b / 1024.0
}

fn similarities(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().map(|&(i, j)| similarity(i as f64, j as f64)).collect()
}

/// The right answer to a `rerank`, worst document first as servers do.
fn reranked(body: &Json) -> Json {
    let query = number(&body["query"]);
    let documents = body["documents"].as_array().unwrap();
    let result = |(index, document)| json!({ "index": index, "relevance_score": similarity(number(document), query) });
    let mut results: Vec<Json> = documents.iter().enumerate().map(result).collect();
    results.reverse();
    json!({ "model": "m", "results": results })
}

fn params(server: &Server) -> HttpParams {
    HttpParams {
        url: server.url("/rerank"),
        pairs_per_request: Some(8),
        timeout_seconds: 5.0,
        patience_seconds: 10.0,
        ..HttpParams::default()
    }
}

/// One request after the other, and −1 for a pair that fails.
fn lenient(server: &Server) -> HttpParams {
    HttpParams { failed_pairs: FailedPairs::Score(-1.0), in_flight: 1, ..params(server) }
}

fn http(params: HttpParams, count: usize) -> Http {
    Http::new(params, items(count), None).unwrap()
}

fn column(count: usize, j: usize) -> Vec<Pair> {
    (0..count).map(|i| (i, j)).collect()
}

fn some_pairs() -> Vec<Pair> {
    (0..20).flat_map(|i| [(i, 3), (i, 5), (i, 19)]).collect()
}

fn scored(oracle: &Http, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
    let mut out = vec![f64::NAN; pairs.len()];
    oracle.evaluate(pairs, &mut out).map(|()| out)
}

/// The message of a run of these pairs that fails.
fn failure(params: HttpParams, count: usize, pairs: &[Pair]) -> String {
    in_words(&scored(&http(params, count), pairs).unwrap_err())
}

/// The message of parameters that are refused.
fn refusal(params: HttpParams) -> String {
    Http::new(params, items(3), None).err().unwrap().to_string()
}

/// All of an error's words, causes included.
fn in_words(error: &OracleError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

fn right(body: &Json) -> Answer {
    Answer::json(200, &reranked(body))
}
