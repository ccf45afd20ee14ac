//! Servers that don't do as they should.

use super::*;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use landmark_http::ChangedModel;

#[test]
fn a_storm_of_refusals_loses_nothing() {
    // two of three are turned away, each with another form of a wait
    let server = Server::start(|request| match request.number % 6 {
        0 => Answer::text(429, "slow down").with("retry-after-ms", "5"),
        1 => Answer::text(503, "busy").with("retry-after", "0.01"),
        3 => {
            Answer::text(429, "").with("x-ratelimit-remaining-requests", "0").with("x-ratelimit-reset-requests", "7ms")
        }
        4 => Answer::text(500, "oops").with("retry-after", "0"),
        _ => right(&request.body),
    });
    let oracle = http(params(&server), 20);
    assert_eq!(scored(&oracle, &some_pairs()).unwrap(), similarities(&some_pairs()));
    assert_eq!(server.seen().len() as u64, 9 + oracle.retries());
    assert!(oracle.retries() >= 9);
}

#[test]
fn an_answer_may_break_off_at_any_byte() {
    let length = right(&json!({ "query": "text 199", "documents": ["text 100"] })).bytes().len();
    // each pair's first answer breaks off at a byte of its own
    let asked = Mutex::new(HashSet::new());
    let server = Server::start(move |request| {
        let is_first = asked.lock().unwrap().insert(request.body.to_string());
        let answer = right(&request.body);
        let cut = number(&request.body["query"]) as usize % answer.bytes().len();
        if is_first { answer.cut_after(cut) } else { answer }
    });
    let one_by_one = HttpParams { pairs_per_request: Some(1), in_flight: 64, ..params(&server) };
    let oracle = http(one_by_one, length);
    let pairs: Vec<Pair> = (0..length).map(|j| (0, j)).collect();
    assert_eq!(scored(&oracle, &pairs).unwrap(), similarities(&pairs));
    assert_eq!(oracle.retries(), length as u64);
}

#[test]
fn a_score_that_is_no_number_missing_or_there_twice_is_found_and_named() {
    for (spoilt, wanted) in [
        ("NaN", "which is not JSON"),
        ("1e999", "which is not JSON"),
        ("null", "no number at `relevance_score`"),
        ("missing", "0 scores for 1 pairs"),
        ("twice", "two scores of index 0"),
        ("beyond", "no `index` below 1"),
    ] {
        let server = Server::start(move |request| {
            let documents = request.body["documents"].as_array().unwrap();
            let Some(place) = documents.iter().position(|document| document == "text 11") else {
                return right(&request.body);
            };
            let mut answer = reranked(&request.body);
            let results = answer["results"].as_array_mut().unwrap();
            let at = results.iter().position(|result| result["index"] == place).unwrap();
            match spoilt {
                "missing" => drop(results.remove(at)),
                "twice" => results.push(results[at].clone()),
                "beyond" => results[at]["index"] = json!(documents.len()),
                other => results[at]["relevance_score"] = json!(format!("bare {other}")),
            }
            Answer::text(200, &answer.to_string().replace(&format!("\"bare {spoilt}\""), spoilt))
        });
        let column = column(20, 3);
        let error = failure(params(&server), 20, &column);
        assert!(error.contains("(`id11`, `id3`)") && error.contains(wanted), "{spoilt}: {error}");
        let oracle = http(HttpParams { in_flight: 16, ..lenient(&server) }, 20);
        let mut wanted = similarities(&column);
        wanted[11] = -1.0;
        assert_eq!((scored(&oracle, &column).unwrap(), oracle.failed()), (wanted, 1), "{spoilt}");
    }
}

#[test]
fn a_server_that_never_makes_sense_is_given_up() {
    let server = Server::start(|_| Answer::json(200, &json!({ "scores": [] })));
    let error = failure(HttpParams { in_flight: 16, ..lenient(&server) }, 40, &column(40, 3));
    assert!(error.contains("that is the endpoint, not the items") && error.contains("no list at `results`"), "{error}");
}

#[test]
fn what_no_repetition_betters_is_final_and_keeps_the_key() {
    // PATH is there wherever tests run; its value stands for a key
    let key = std::env::var("PATH").unwrap();
    for (status, advice) in [(400, "oracle.request"), (401, "oracle.key"), (403, "oracle.key"), (404, "oracle.url")] {
        let server = Server::start(move |_| Answer::text(status, "no such thing\nsecond line"));
        let params = HttpParams { key: Some("PATH".to_owned()), in_flight: 1, ..params(&server) };
        let error = failure(params, 3, &[(0, 1)]);
        assert!(error.contains("no such thing") && error.contains(advice), "{error}");
        assert!(!error.contains("second line") && !error.contains(&key), "{error}");
        assert_eq!(server.seen().len(), 1);
        assert_eq!(server.seen()[0].headers["authorization"], format!("Bearer {key}"));
    }
    let absent = HttpParams {
        key: Some("LANDMARK_NO_SUCH_KEY".to_owned()),
        url: "http://127.0.0.1:1/".to_owned(),
        ..HttpParams::default()
    };
    assert!(refusal(absent).contains("LANDMARK_NO_SUCH_KEY"));
}

#[test]
fn a_key_that_a_server_sends_back_is_in_no_message() {
    // the name of the package is there wherever tests run; it stands for a key
    let key = std::env::var("CARGO_PKG_NAME").unwrap();
    let query = "0123456789abcdef";
    let with = |server: &Server| HttpParams {
        url: server.url(&format!("/rerank?key={query}")),
        key: Some("CARGO_PKG_NAME".to_owned()),
        headers: [("X-Api-Key".to_owned(), "header secret".to_owned())].into(),
        in_flight: 1,
        patience_seconds: 0.3,
        ..params(server)
    };
    for status in [400, 401, 413, 503, 200] {
        let (echoed, served) = (key.clone(), format!("{key} header secret {query} sk-proj-0123456789abcdef \u{1b}[2J"));
        let server = Server::start(move |_| Answer::text(status, &served));
        let error = failure(with(&server), 3, &[(0, 1)]);
        for secret in [&echoed, "header secret", query, "sk-proj", "\u{1b}"] {
            assert!(!error.contains(secret), "{secret} in {status}: {error}");
        }
        assert!(error.contains("REDACTED"), "{error}");
    }
    // in an answer that is JSON, but of another form
    let wrong = json!({ "results": [{ "index": 0, "relevance_score": format!("no score for {key}") }] });
    let server = Server::start(move |_| Answer::json(200, &wrong));
    let error = failure(with(&server), 3, &[(0, 1)]);
    assert!(error.contains("REDACTED") && !error.contains(&key), "{error}");
}

#[test]
fn secrets_of_a_configuration_are_not_written_with_it_nor_printed_when_it_is_refused() {
    let secret = "topsecret1";
    let params = HttpParams {
        url: format!("http://localhost:1/rerank?key={secret}"),
        headers: [("Authorization".to_owned(), format!("Bearer {secret}")), ("X-Team".to_owned(), "a".to_owned())]
            .into(),
        ..HttpParams::default()
    };
    let written = serde_json::to_string(&params).unwrap();
    assert!(
        !written.contains(secret) && written.contains("X-Team") && written.contains("localhost:1/rerank"),
        "{written}"
    );
    let refused = [("Authorization".to_owned(), format!("{secret}\n"))].into();
    let error = refusal(HttpParams { headers: refused, ..params.clone() });
    assert!(!error.contains(secret) && error.contains("Authorization"), "{error}");
    let error = HttpParams { url: format!("ftp://a:{secret}@b/x?key={secret}"), ..params }.check().unwrap_err();
    assert!(!error.to_string().contains(secret), "{error}");
}

#[test]
fn an_endpoint_that_moved_has_the_scores_of_its_earlier_address_and_no_others() {
    let at = |url: &str, identity: Option<&str>| {
        let params = HttpParams { url: url.to_owned(), identity: identity.map(str::to_owned), ..HttpParams::default() };
        let http = http(params, 3);
        (Oracle::identity(&http), http.identity_apart_from_items())
    };
    let old = at("http://localhost:8000/rerank", None);
    assert_eq!(at("http://gpu1:8000/v2/rerank", Some("http://localhost:8000/rerank?key=1")), old);
    assert_eq!(at("http://localhost:8000/rerank", Some("http://localhost:8000/rerank")), old);
    assert_ne!(at("http://gpu1:8000/v2/rerank", None), old);
    let error = HttpParams { identity: Some("here".to_owned()), url: "http://a/".to_owned(), ..HttpParams::default() };
    assert!(error.check().unwrap_err().to_string().contains("identity"));
}

#[test]
fn a_redirect_is_followed_on_the_host_itself_alone() {
    let stranger = Server::start(|request| right(&request.body));
    let elsewhere = stranger.url("/rerank");
    let server = Server::start(move |request| match request.path.as_str() {
        "/rerank" => Answer::text(307, "").with("location", &elsewhere),
        "/moved" => Answer::text(307, "").with("location", "/there"),
        _ => right(&request.body),
    });
    let error = failure(params(&server), 3, &[(0, 1)]);
    assert!(error.contains("307") && error.contains("points elsewhere"), "{error}");
    assert!(stranger.seen().is_empty());
    let moved = HttpParams { url: server.url("/moved"), ..params(&server) };
    assert_eq!(scored(&http(moved, 3), &[(0, 1)]).unwrap(), similarities(&[(0, 1)]));
}

#[test]
fn an_answer_without_end_is_refused() {
    let server = Server::start(|_| Answer::text(200, &" ".repeat(4096)));
    let error = failure(HttpParams { answer_bytes: 1024, ..params(&server) }, 3, &[(0, 1)]);
    assert!(error.contains("more than 1024 bytes") && error.contains("oracle.answer_bytes"), "{error}");
}

#[test]
fn silence_is_asked_again_until_patience_ends() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(400));
        Answer::text(200, "late")
    });
    let hasty = HttpParams { timeout_seconds: 0.05, patience_seconds: 0.5, ..params(&server) };
    let error = failure(hasty, 3, &[(0, 1)]);
    assert!(error.contains("did not answer in time") && error.contains("oracle.patience_seconds"), "{error}");
    let nobody = HttpParams { url: "http://127.0.0.1:1/".to_owned(), patience_seconds: 0.1, ..HttpParams::default() };
    let error = failure(nobody, 3, &[(0, 1)]);
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn another_model_in_the_middle_is_noticed() {
    let changing = || {
        Server::start(|request| {
            let mut answer = reranked(&request.body);
            answer["system_fingerprint"] = json!(format!("fp{}", request.number));
            Answer::json(200, &answer)
        })
    };
    let server = changing();
    let oracle = http(params(&server), 20);
    scored(&oracle, &some_pairs()).unwrap();
    assert_eq!(oracle.changed_models(), 8);
    let server = changing();
    let strict = HttpParams { changed_model: ChangedModel::Error, in_flight: 1, ..params(&server) };
    let error = failure(strict, 20, &some_pairs());
    assert!(error.contains("`m (fp1)` after `m (fp0)`"), "{error}");
}

#[test]
fn a_column_of_100_000_documents_is_cut_by_the_limits_of_the_server() {
    // 1,000 documents, and 64 KiB
    let server = Server::start(|request| match request.body["documents"].as_array().unwrap().len() {
        ..=1000 if request.bytes <= 1 << 16 => right(&request.body),
        ..=1000 => Answer::text(413, "too large"),
        _ => Answer::json(422, &json!({ "error": "too many documents" })),
    });
    let wide = HttpParams { pairs_per_request: Some(100_000), in_flight: 4, ..params(&server) };
    let oracle = http(wide, 100_000);
    let column = column(100_000, 3);
    assert_eq!(scored(&oracle, &column).unwrap(), similarities(&column));
    // seven were too many, 100,000 to 1,562; of the 128 halves that then fit, 32 have a pair more than half of the last, and are halved unasked
    assert_eq!(server.seen().len(), 7 + 96 + 64);
    // and the next column is cut that small from the beginning
    let before = server.seen().len();
    scored(&oracle, &column).unwrap();
    assert_eq!(server.seen().len() - before, 100_000_usize.div_ceil(781));
}

#[test]
fn what_came_before_the_end_is_handed_over_with_it() {
    let server = Server::start(|request| match request.body["query"].as_str().unwrap() {
        "text 19" => Answer::text(401, "the key has expired"),
        _ => right(&request.body),
    });
    let oracle = http(params(&server), 20);
    let mut out = vec![0.0; 60];
    let attempt = oracle.fallible().unwrap().attempt(&some_pairs(), &mut out);
    assert!(attempt.error.is_some_and(|error| in_words(&error).contains("expired")));
    let there: Vec<Pair> = some_pairs().into_iter().filter(|pair| pair.1 != 19).collect();
    let scores: Vec<f64> = out.iter().copied().filter(|score| score.is_finite()).collect();
    assert_eq!(scores, similarities(&there));
}

#[test]
fn failed_pairs_are_distinguished_from_scores_under_one_identity() {
    let server = Server::start(|request| match request.body["documents"].to_string().contains("\"text 11\"") {
        true => Answer::text(200, "no"),
        false => right(&request.body),
    });
    let (strict, lenient) = (http(params(&server), 20), http(lenient(&server), 20));
    let of = |oracle: &Http| oracle.fallible().unwrap().identity_of_scores();
    assert_eq!((of(&lenient), of(&strict)), (strict.identity(), strict.identity()));
    assert_ne!(lenient.identity(), strict.identity());
    let column = column(20, 3);
    for oracle in [&lenient, &strict] {
        let mut out = vec![0.0; 20];
        let attempt = oracle.fallible().unwrap().attempt(&column, &mut out);
        let failed = &attempt.failed[0];
        assert!(attempt.error.is_none() && attempt.failed.len() == 1 && failed.place == 11, "{attempt:?}");
        assert!(failed.error.contains("(`id11`, `id3`)") && out[11].is_nan() && out[4] == similarity(4.0, 3.0));
    }
}

#[test]
fn a_symmetric_pair_that_fails_is_reported_whichever_way_round_its_request_was() {
    let server = without_item_7(400);
    let oracle = http(HttpParams { symmetric: true, in_flight: 16, ..lenient(&server) }, 20);
    // item 7 is a query and a document, and first and second
    let mut pairs: Vec<Pair> = (0..20).filter(|&i| i != 7).map(|i| (i.min(7), i.max(7))).collect();
    pairs.extend((0..20).filter(|&i| i != 3 && i != 7).map(|i| (3, i)));
    let mut out = vec![0.0; pairs.len()];
    let attempt = oracle.fallible().unwrap().attempt(&pairs, &mut out);
    assert!(attempt.error.is_none(), "{attempt:?}");
    let failed: Vec<usize> = attempt.failed.iter().map(|failed| failed.place).collect();
    let wanted: Vec<usize> = (0..pairs.len()).filter(|&place| pairs[place].0 == 7 || pairs[place].1 == 7).collect();
    assert_eq!(failed, wanted);
    assert!((0..pairs.len()).all(|place| out[place].is_nan() == wanted.contains(&place)));
}

fn all_pairs(count: usize) -> Vec<Pair> {
    (0..count).flat_map(|j| column(count, j)).collect()
}

/// A server that refuses item 7, on either side.
fn without_item_7(status: u16) -> Server {
    Server::start(move |request| {
        let is_bad = request.body["documents"].to_string().contains("\"text 7\"") || request.body["query"] == "text 7";
        if is_bad { Answer::json(status, &json!({ "error": "too long" })) } else { right(&request.body) }
    })
}

/// The oracle over all pairs of `count` items, scored: −1 for item 7.
fn scored_without_item_7(server: &Server, in_flight: usize, count: usize) -> Http {
    let oracle = http(HttpParams { pairs_per_request: Some(16), in_flight, ..lenient(server) }, count);
    let pairs = all_pairs(count);
    let wanted = pairs.iter().map(|&(i, j)| if i == 7 || j == 7 { -1.0 } else { similarity(i as f64, j as f64) });
    assert_eq!(scored(&oracle, &pairs).unwrap(), wanted.collect::<Vec<f64>>());
    oracle
}

#[test]
fn a_bad_item_costs_its_halvings_once_and_other_requests_stay_large() {
    for status in [400, 413, 422] {
        let server = without_item_7(status);
        assert_eq!(scored_without_item_7(&server, 1, 64).failed(), 127);
        let asked = server.seen().len();
        // 63 columns of four requests, and those that find the item
        assert!(asked <= 63 * 4 + 32, "{status}: {asked} requests");
        let small =
            server.seen().iter().filter(|request| request.body["documents"].as_array().unwrap().len() < 15).count();
        assert!(small <= 32, "{status}: {small} requests of few documents");
    }
}

#[test]
fn a_bad_item_that_is_asked_for_first_is_not_taken_for_the_endpoint() {
    let server = Server::start(|request| {
        if request.body["query"] == "text 3" {
            Answer::json(413, &json!({ "error": "too long" }))
        } else {
            right(&request.body)
        }
    });
    let oracle = http(lenient(&server), 60);
    let column: Vec<Pair> = (0..60).filter(|&i| i != 3).map(|i| (i, 3)).collect();
    assert_eq!(scored(&oracle, &column).unwrap(), vec![-1.0; 59]);
    assert_eq!(scored(&oracle, &[(3, 4)]).unwrap(), [similarity(3.0, 4.0)], "an answer is believed");
}

#[test]
fn a_text_that_fits_with_short_ones_is_scored_with_them() {
    // texts of 1, 2, 3, … words; 20 fit into a request
    let texts: Vec<String> = (1..=18).map(|words| vec!["w"; words].join(" ")).collect();
    let items = Arc::new(ScoredItems::new((0..18).map(|i| format!("id{i}")).collect(), texts).unwrap());
    let words = |text: &Json| text.as_str().unwrap().split(' ').count();
    let server = Server::start(move |request| {
        let documents: Vec<usize> = request.body["documents"].as_array().unwrap().iter().map(words).collect();
        if words(&request.body["query"]) + documents.iter().max().unwrap() > 20 {
            return Answer::json(413, &json!({ "error": "must have less than 21 tokens" }));
        }
        let results = documents.iter().enumerate();
        let results: Vec<Json> =
            results.map(|(index, words)| json!({ "index": index, "relevance_score": words })).collect();
        Answer::json(200, &json!({ "results": results }))
    });
    let pairs = all_pairs(18);
    let scores = scored(&Http::new(lenient(&server), items, None).unwrap(), &pairs).unwrap();
    for (&(i, j), score) in pairs.iter().zip(scores) {
        assert_eq!(score, if i + j + 2 > 20 { -1.0 } else { (i + 1) as f64 }, "({i}, {j})");
    }
}

#[test]
fn an_error_with_the_status_of_a_success_is_what_its_code_says() {
    let asked = Mutex::new(0);
    let server = Server::start(move |request| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        match *asked {
            1 => Answer::json(200, &json!({ "error": { "code": 429, "details": [{ "retryDelay": "0.01s" }] } })),
            2 => Answer::json(200, &json!({ "error": { "type": "overloaded_error" } })).with("retry-after-ms", "5"),
            _ if request.body["documents"].to_string().contains("\"text 5\"") => {
                Answer::json(200, &json!({ "error": { "code": "context_length_exceeded" } }))
            }
            _ => right(&request.body),
        }
    });
    let oracle = http(lenient(&server), 8);
    let column = column(8, 3);
    let mut wanted = similarities(&column);
    wanted[5] = -1.0;
    assert_eq!((scored(&oracle, &column).unwrap(), oracle.failed(), oracle.retries()), (wanted, 1, 2));
    let server = Server::start(|_| Answer::json(200, &json!({ "error": { "code": 401, "message": "no such key" } })));
    let error = failure(params(&server), 3, &[(0, 1)]);
    assert!(error.contains("no such key") && error.contains("oracle.key") && server.seen().len() == 1, "{error}");
    let server = Server::start(|_| Answer::json(200, &json!({ "error": "the moon is full" })));
    let error = failure(params(&server), 3, &[(0, 1)]);
    assert!(error.contains("the moon is full"), "{error}");
}

#[test]
fn a_wait_beyond_the_patience_ends_queued_requests_too() {
    let server = Server::start(|request| match request.number {
        0..3 => right(&request.body),
        _ => Answer::text(429, "the quota of the day is used up").with("retry-after", "54000"),
    });
    let impatient = HttpParams { in_flight: 4, patience_seconds: 5.0, ..params(&server) };
    let start = std::time::Instant::now();
    let error = failure(impatient, 20, &all_pairs(20));
    assert!(start.elapsed() < Duration::from_secs(5), "it waited {:?}", start.elapsed());
    assert!(error.contains("429") && error.contains("quota of the day") && error.contains("15 h"), "{error}");
}

#[test]
fn a_server_whose_answers_to_several_pairs_are_wrong_is_asked_for_fewer() {
    // one index twice in every list of several documents
    let server = Server::start(|request| {
        let mut answer = reranked(&request.body);
        let results = answer["results"].as_array_mut().unwrap();
        let first = results[0]["index"].clone();
        results.last_mut().unwrap()["index"] = first;
        Answer::json(200, &answer)
    });
    let oracle = http(HttpParams { in_flight: 1, ..params(&server) }, 40);
    let pairs = all_pairs(40);
    assert_eq!(scored(&oracle, &pairs[..800]).unwrap(), similarities(&pairs[..800]));
    let before = server.seen().len();
    assert_eq!(scored(&oracle, &pairs[800..]).unwrap(), similarities(&pairs[800..]));
    assert_eq!(server.seen().len() - before, 800, "one request each, and none that is known to fail");
}

#[test]
fn requests_in_flight_together_look_for_a_bad_item_once() {
    // eight columns at a time, all of which hold item 7
    let server = without_item_7(413);
    scored_without_item_7(&server, 8, 16);
    let asked = server.seen().len();
    // 15 columns, eight of them refused at first, and the halvings of one: 1 + 2 log 16, and 3 for item 7 as the query
    assert!(asked <= 15 + 8 + 9 + 4 + 4, "{asked} requests");
}

/// What six calls for a pair each come to, made at once.
fn asked_together(params: HttpParams) -> Vec<(Pair, Result<Vec<f64>, OracleError>)> {
    let oracle = &http(params, 8);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (1..7).map(|j| ((0, j), scope.spawn(move || scored(oracle, &[(0, j)])))).collect();
        asked.into_iter().map(|(pair, outcome)| (pair, outcome.join().unwrap())).collect()
    })
}

#[test]
fn a_queued_request_waits_no_longer_than_its_patience_for_a_server_that_refuses_all() {
    let server = Server::start(|_| Answer::text(503, "the model is being loaded").with("retry-after", "1"));
    // each call asks for one pair, so that none of them ends another
    let impatient = HttpParams { in_flight: 6, patience_seconds: 3.0, ..params(&server) };
    let start = std::time::Instant::now();
    for (_, outcome) in asked_together(impatient) {
        let error = in_words(&outcome.unwrap_err());
        assert!(error.contains("the model is being loaded"), "{error}");
    }
    assert!(start.elapsed() < Duration::from_millis(4500), "it waited {:?}", start.elapsed());
}

#[test]
fn a_queue_that_moves_slowly_is_no_silence() {
    // six requests of half a second each, one at a time, and a patience of one second
    let server = Server::start(|request| {
        std::thread::sleep(Duration::from_millis(500));
        right(&request.body)
    });
    let impatient = HttpParams { in_flight: 1, patience_seconds: 1.0, ..params(&server) };
    for (pair, outcome) in asked_together(impatient) {
        assert_eq!(outcome.unwrap(), similarities(&[pair]));
    }
}
