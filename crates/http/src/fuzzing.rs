//! Readers of servers' answers as a function of bytes: what `fuzz/` feeds. No other build has this file.

use std::time::SystemTime;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value as Json;

use crate::connection;
use crate::wait;

use crate::embeddings::EmbeddingFields;
use crate::params::{Fields, HttpParams, Shape};
use crate::rating::{Rating, RatingSource};
use crate::shape;
use crate::spend_limit::Usage;

/// Reads an answer as that of every kind of server; the first byte is the number of pairs.
///
/// # Panics
/// Where a score or vector is no number, or there are more or fewer than pairs.
pub fn read_answer(bytes: &[u8]) {
    let Some((&count, text)) = bytes.split_first() else { return };
    if let Ok(value) = HeaderValue::from_bytes(text) {
        for (name, remaining) in [
            ("retry-after", "retry-before"),
            ("retry-after-ms", "retry-before-ms"),
            ("x-ratelimit-reset", "x-ratelimit-remaining"),
            ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
            ("x-ratelimit-reset-tokens-day", "x-ratelimit-remaining-tokens-day"),
        ] {
            let headers = [(name, value.clone()), (remaining, HeaderValue::from_static("0"))];
            let headers = HeaderMap::from_iter(headers.map(|(name, value)| (HeaderName::from_static(name), value)));
            let _ = wait::asked_for(&headers, true, SystemTime::now());
        }
    }
    let Ok(answer) = serde_json::from_slice::<Json>(text) else { return };
    let count = 1 + usize::from(count % 8);
    let plain = |shape| HttpParams { shape, ..HttpParams::default() };
    let bare = Fields { results: Some(String::new()), score: Some("score".to_owned()), ..Fields::default() };
    let chat = |read, pairs| HttpParams {
        rating: Rating { read, ..Rating::default() },
        pairs_per_request: Some(pairs),
        ..plain(Shape::Chat)
    };
    let one = [RatingSource::Number, RatingSource::Json, RatingSource::Logprobs].map(|read| chat(read, 1));
    let several = [
        plain(Shape::Rerank),
        plain(Shape::Score),
        HttpParams { fields: bare, ..plain(Shape::Rerank) },
        chat(RatingSource::Number, 8),
    ];
    for (params, count) in one.iter().map(|params| (params, 1)).chain(several.iter().map(|params| (params, count))) {
        let Ok(scores) = shape::scores(params, &answer, count) else { continue };
        assert!(scores.len() == count && scores.iter().all(|score| score.is_finite()), "{scores:?} of {count}");
    }
    let _ = (shape::answered_by(&answer), Usage::of(&answer));
    let now = SystemTime::now();
    let _ = (connection::error_in(&answer), connection::status_in(&answer), wait::asked_in(&answer, now));
    let tei = EmbeddingFields { results: String::new(), ..EmbeddingFields::default() };
    for fields in [EmbeddingFields::default(), tei] {
        let vectors = fields.read(&answer, count).unwrap_or_default();
        assert!(vectors.iter().flatten().all(|number| number.is_finite()));
    }
}
