//! Vectors of texts from an endpoint.

use super::*;

use std::path::Path;

use landmark_http::{Embedder, EmbeddingParams};

use landmark_test_server::Request;

fn vector(text: &Json) -> Json {
    json!([number(text), 1.0, -number(text) / 4.0])
}

fn embedding_server() -> Server {
    Server::start(|request| match request.path.as_str() {
        "/embed" => Answer::json(200, &request.body["inputs"].as_array().unwrap().iter().map(vector).collect()),
        _ if request.number % 5 == 1 => Answer::text(429, "slow down").with("retry-after-ms", "2"),
        _ => embedded(request),
    })
}

/// The right answer, in another order.
fn embedded(request: &Request) -> Answer {
    let texts = request.body["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Json> = texts.map(|(k, text)| json!({ "index": k, "embedding": vector(text) })).rev().collect();
    Answer::json(200, &json!({ "data": data }))
}

fn embeddings(server: &Server, cache: &Path) -> EmbeddingParams {
    EmbeddingParams {
        url: server.url("/v1/embeddings"),
        model: Some("m".to_owned()),
        texts_per_request: 7,
        cache: cache.to_owned(),
        ..EmbeddingParams::default()
    }
}

fn texts(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("text {i}")).collect()
}

#[test]
fn every_text_is_asked_for_once() {
    let (server, folder) = (embedding_server(), tempfile::tempdir().unwrap());
    let embedder = Embedder::new(embeddings(&server, folder.path())).unwrap();
    // 40 distinct texts of 80
    let twice: Vec<String> = texts(0..40).into_iter().chain(texts(0..40)).collect();
    assert_eq!(embedder.requests_for(&twice).unwrap(), 6);
    assert!(server.seen().is_empty(), "counting asks for nothing");
    let rows = embedder.vectors(&twice).unwrap();
    assert_eq!((rows.dim(), rows[[73, 0]], rows[[33, 2]]), ((80, 3), 33.0, -8.25));
    let asked = server.seen().len();
    assert!((6..=9).contains(&asked), "{asked}");
    // another run, with more texts
    let again = Embedder::new(embeddings(&server, folder.path())).unwrap();
    assert_eq!(again.vectors(&texts(20..44)).unwrap()[[23, 0]], 43.0);
    let asked_again: Vec<Json> = server.seen()[asked..].iter().map(|request| request.body["input"].clone()).collect();
    assert!(asked_again.iter().all(|texts| texts.as_array().unwrap().len() == 4), "{asked_again:?}");
    // another model is another file
    let other = EmbeddingParams { model: Some("n".to_owned()), ..embeddings(&server, folder.path()) };
    assert_eq!(Embedder::new(other).unwrap().requests_for(&texts(0..40)).unwrap(), 6);
}

#[test]
fn bare_lists_are_understood_and_nonsense_is_refused() {
    let (server, folder) = (embedding_server(), tempfile::tempdir().unwrap());
    let mut bare = embeddings(&server, folder.path());
    bare.url = server.url("/embed");
    bare.fields.input = "inputs".to_owned();
    bare.fields.results = String::new();
    assert_eq!(Embedder::new(bare).unwrap().vectors(&texts(0..9)).unwrap()[[8, 0]], 8.0);
    for (answer, wanted) in [
        (json!({ "data": [] }), "0 vectors for 2 texts"),
        (json!({ "data": [{ "embedding": [1.0] }, { "embedding": [] }] }), "empty"),
        (json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1e300] }] }), "finite"),
        (json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1.0, 2.0] }] }), "components"),
        (json!({ "vectors": [] }), "no list at `data`"),
    ] {
        let server = Server::start(move |_| Answer::json(200, &answer));
        let embedder = Embedder::new(embeddings(&server, &folder.path().join(wanted))).unwrap();
        let error = embedder.vectors(&texts(0..2)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn a_text_without_a_vector_is_found_among_others_and_shown() {
    for status in [400, 413, 422] {
        let server = Server::start(move |request| {
            let has_it = request.body["input"].as_array().unwrap().iter().any(|text| text == "text 5");
            if has_it { Answer::json(status, &json!({ "error": "too long" })) } else { embedded(request) }
        });
        let folder = tempfile::tempdir().unwrap();
        let embedder = Embedder::new(embeddings(&server, folder.path())).unwrap();
        let error = embedder.vectors(&texts(0..30)).unwrap_err().to_string();
        assert!(error.contains("`text 5`") && error.contains("too long"), "{status}: {error}");
    }
}

#[test]
fn a_server_that_takes_fewer_texts_is_sent_fewer() {
    let server = Server::start(|request| match request.body["input"].as_array().unwrap().len() {
        ..=3 => embedded(request),
        _ => Answer::json(413, &json!({ "error": "batch size 7 > 3" })),
    });
    let folder = tempfile::tempdir().unwrap();
    let rows = Embedder::new(embeddings(&server, folder.path())).unwrap().vectors(&texts(0..30)).unwrap();
    assert_eq!((rows.dim(), rows[[29, 0]]), ((30, 3), 29.0));
}
