//! Judges whose scores depend on the pairs that share their prompt.

use super::*;

use landmark_http::Shape;

/// A judge that adds to each rating as much as the first pair of its prompt has, times `pull`.
fn judge(pull: f64) -> Server {
    Server::start(move |request| {
        let prompt = request.body["messages"][0]["content"].as_str().unwrap().to_owned();
        let rows: Vec<f64> = prompt.lines().filter_map(|line| line.strip_prefix("A: text ")?.parse().ok()).collect();
        let lines = rows.iter().enumerate().map(|(k, row)| format!("{}: {}\n", k + 1, row / 4.0 + pull * rows[0]));
        Answer::json(200, &json!({ "choices": [{ "message": { "content": lines.collect::<String>() } }] }))
    })
}

fn several(server: &Server) -> HttpParams {
    HttpParams {
        shape: Shape::Chat,
        model: Some("judge".to_owned()),
        prompt: Some("Rate each pair.\n{{pairs}}".to_owned()),
        url: server.url("/v1/chat/completions"),
        ..params(server)
    }
}

#[test]
fn a_sample_tells_whether_scores_depend_on_company() {
    let pairs: Vec<Pair> = (0..20).flat_map(|j| [(j, 0), (19 - j, 1)]).collect();
    for (pull, matters) in [(0.0, false), (0.1, true)] {
        let server = judge(pull);
        let oracle = Http::new(several(&server), items(20), None).unwrap();
        scored(&oracle, &pairs).unwrap();
        let company = oracle.company().unwrap();
        assert_eq!((company.pairs, company.noise, company.matters()), (32, 0.0, matters), "{company:?}");
        assert_eq!(company.moved > 0.0, matters, "{company:?}");
        // five prompts of 8, and four of them twice again, once for good
        assert_eq!(server.seen().len(), 5 + 8);
        scored(&oracle, &pairs).unwrap();
        assert_eq!(server.seen().len(), 5 + 8 + 5);
    }
    let server = judge(0.1);
    let unasked = Http::new(HttpParams { company: 0, ..several(&server) }, items(20), None).unwrap();
    scored(&unasked, &pairs).unwrap();
    assert_eq!((unasked.company(), server.seen().len()), (None, 5));
}
