//! Forms of a request and of its answer.
//!
//! ```text
//! rerank  {"model", "query": b, "documents": [a, …]}      → {"results": [{"index": 0, "relevance_score": 0.93}, …]}
//! score   {"model", "text_1": [a, …], "text_2": [b, …]}   → {"data": [{"index": 0, "score": 0.93}, …]}
//! chat    {"model", "messages": [system, prompt], …}      → {"choices": [{"message": {"content": "8"}}]}
//! ```
//!
//! `rerank` is that of Jina, Cohere and vLLM (TEI: `fields: { documents: texts, results: "", score: score }`), `score` that of vLLM, `chat` that of
//! OpenAI and of servers compatible with it. The item of the column is the query, so that a column of K is a few requests.

use std::fmt::Write;

use landmark_core::oracle::Pair;
use serde_json::{Map, Value as Json, json};

use crate::params::{HttpParams, Shape};
use crate::rating::shortened;

pub(crate) type Texts<'a> = (&'a str, &'a str);

/// A few pairs in one request: places in the list that was asked for, and the pair as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) places: Vec<usize>,
    pub(crate) pairs: Vec<Pair>,
}

/// Cuts pairs into requests. Those of a `rerank` share their query, the item of the column; of a symmetric pair, the item that
/// occurs more often. A pair of two items that are as frequent is asked for as it is, so that both orders can be compared.
pub(crate) fn cut(params: &HttpParams, pairs: &[Pair], largest: usize) -> Vec<Batch> {
    let mut order: Vec<(usize, Pair)> = pairs.iter().copied().enumerate().collect();
    if params.shape == Shape::Rerank {
        if params.symmetric {
            let mut count = std::collections::HashMap::<usize, usize>::new();
            for item in pairs.iter().flat_map(|&(i, j)| [i, j]) {
                *count.entry(item).or_default() += 1;
            }
            for (_, (i, j)) in &mut order {
                if count[i] > count[j] {
                    std::mem::swap(i, j);
                }
            }
        }
        order.sort_by_key(|&(_, (_, query))| query);
    }
    let same_query = |a: &(usize, Pair), b: &(usize, Pair)| params.shape != Shape::Rerank || a.1.1 == b.1.1;
    let batch = |chunk: &[(usize, Pair)]| Batch {
        places: chunk.iter().map(|&(place, _)| place).collect(),
        pairs: chunk.iter().map(|&(_, pair)| pair).collect(),
    };
    order.chunk_by(same_query).flat_map(|queries| queries.chunks(largest)).map(batch).collect()
}

pub(crate) fn request(params: &HttpParams, pairs: &[Texts<'_>]) -> Json {
    let mut body = Map::new();
    if let Some(model) = &params.model {
        body.insert("model".to_owned(), model.as_str().into());
    }
    let rows: Vec<&str> = pairs.iter().map(|&(a, _)| a).collect();
    let columns: Vec<&str> = pairs.iter().map(|&(_, b)| b).collect();
    let fields = &params.fields;
    let mut put = |name: &Option<String>, usual: &str, value: Json| {
        body.insert(name.as_deref().unwrap_or(usual).to_owned(), value);
    };
    match params.shape {
        Shape::Rerank => {
            put(&fields.query, "query", columns.first().copied().into());
            put(&fields.documents, "documents", json!(rows));
        }
        Shape::Score => {
            put(&fields.text_1, "text_1", json!(rows));
            put(&fields.text_2, "text_2", json!(columns));
        }
        Shape::Chat => put(&None, "messages", messages(params, pairs)),
    }
    body.extend(params.request.clone());
    Json::Object(body)
}

fn messages(params: &HttpParams, pairs: &[Texts<'_>]) -> Json {
    let template = params.prompt.as_deref().unwrap_or_default();
    let prompt = if params.pairs_per_request() == 1 {
        pairs.first().map_or_else(String::new, |&(a, b)| filled(template, &[("{{a}}", a), ("{{b}}", b)]))
    } else {
        let mut listed = String::new();
        for (number, (a, b)) in (1..).zip(pairs) {
            // a String takes all that is written
            let _ = writeln!(listed, "Pair {number}\nA: {a}\nB: {b}\n");
        }
        filled(template, &[("{{pairs}}", listed.trim_end())])
    };
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let system = params.system.as_deref().map(|system| message("system", system));
    system.into_iter().chain([message("user", &prompt)]).collect()
}

/// The template with every name replaced at once: a text that holds `{{b}}` itself stays as it is.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    loop {
        let next = values.iter().filter_map(|&(name, value)| Some((rest.find(name)?, name, value))).min();
        let Some((start, name, value)) = next else { return text + rest };
        text.push_str(&rest[..start]);
        text.push_str(value);
        rest = &rest[start + name.len()..];
    }
}

pub(crate) fn scores(params: &HttpParams, answer: &Json, count: usize) -> Result<Vec<f64>, String> {
    let fields = &params.fields;
    let (results, score) = match params.shape {
        Shape::Rerank => ("results", "relevance_score"),
        Shape::Score => ("data", "score"),
        Shape::Chat => {
            let choice = answer.pointer("/choices/0").ok_or_else(|| format!("no choice in {}", excerpt(answer)))?;
            return match params.pairs_per_request() {
                1 => params.rating.of_choice(choice).map(|rating| vec![rating]),
                _ => params.rating.of_lines(choice, count),
            };
        }
    };
    let results = fields.results.as_deref().unwrap_or(results);
    let score = fields.score.as_deref().unwrap_or(score);
    let index = fields.index.as_deref().unwrap_or("index");
    let mut scores = vec![None; count];
    for (place, result) in list_at(answer, results)?.iter().enumerate() {
        // some servers answer `score` in its order and without an index
        let number = match (result.get(index), params.shape) {
            (Some(number), _) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
            (None, Shape::Score) => Some(place),
            (None, _) => None,
        };
        let slot = number.and_then(|number| scores.get_mut(number));
        let slot = slot.ok_or_else(|| format!("no `{index}` below {count} in {}", excerpt(result)))?;
        let value = result.get(score).and_then(Json::as_f64);
        let value = value.ok_or_else(|| format!("no number at `{score}` in {}", excerpt(result)))?;
        if slot.replace(value).is_some() {
            return Err(format!("two scores of index {}", number.unwrap_or_default()));
        }
    }
    let given = scores.iter().flatten().count();
    scores.into_iter().collect::<Option<Vec<f64>>>().ok_or_else(|| format!("{given} scores for {count} pairs"))
}

/// The list at a path like `output.results`.
pub(crate) fn list_at<'a>(answer: &'a Json, path: &str) -> Result<&'a Vec<Json>, String> {
    let list = path.split('.').filter(|key| !key.is_empty()).try_fold(answer, |json, key| json.get(key));
    list.and_then(Json::as_array).ok_or_else(|| format!("no list at `{path}` in {}", excerpt(answer)))
}

pub(crate) fn answered_by(answer: &Json) -> Option<String> {
    let named = |key: &str| answer.get(key).and_then(Json::as_str).filter(|name| !name.is_empty());
    match (named("model"), named("system_fingerprint")) {
        (Some(model), Some(fingerprint)) => Some(format!("{model} ({fingerprint})")),
        (model, fingerprint) => model.or(fingerprint).map(str::to_owned),
    }
}

fn excerpt(json: &Json) -> String {
    format!("`{}`", shortened(&json.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Fields;

    fn params(shape: Shape) -> HttpParams {
        HttpParams { shape, model: Some("m".to_owned()), ..HttpParams::default() }
    }

    #[test]
    fn requests_are_those_of_the_servers() {
        let pairs = [("a", "q"), ("b", "q")];
        assert_eq!(
            request(&params(Shape::Rerank), &pairs),
            json!({ "model": "m", "query": "q", "documents": ["a", "b"] })
        );
        assert_eq!(
            request(&params(Shape::Score), &pairs),
            json!({ "model": "m", "text_1": ["a", "b"], "text_2": ["q", "q"] })
        );
        let chat = HttpParams {
            prompt: Some("{{b}} or {{a}}?".to_owned()),
            system: Some("Judge.".to_owned()),
            request: Map::from_iter([("temperature".to_owned(), json!(0))]),
            ..params(Shape::Chat)
        };
        let asked = request(&chat, &[("x {{b}}", "y {{a}}")]);
        assert_eq!(asked["messages"][1]["content"], "y {{a}} or x {{b}}?");
        assert_eq!((&asked["messages"][0]["role"], &asked["temperature"]), (&json!("system"), &json!(0)));
        let several = HttpParams {
            prompt: Some("Rate:\n{{pairs}}".to_owned()),
            pairs_per_request: Some(4),
            ..params(Shape::Chat)
        };
        let asked = request(&several, &pairs);
        assert_eq!(asked["messages"][0]["content"], "Rate:\nPair 1\nA: a\nB: q\n\nPair 2\nA: b\nB: q");
    }

    #[test]
    fn answers_are_put_in_the_order_of_the_request() {
        let rerank = params(Shape::Rerank);
        let answer =
            json!({ "results": [{ "index": 1, "relevance_score": 0.5 }, { "index": 0, "relevance_score": 2 }] });
        assert_eq!(scores(&rerank, &answer, 2), Ok(vec![2.0, 0.5]));
        let fields = Fields { results: Some(String::new()), score: Some("score".to_owned()), ..Fields::default() };
        let tei = HttpParams { fields, ..rerank.clone() };
        assert_eq!(scores(&tei, &json!([{ "index": 0, "score": 1.5 }]), 1), Ok(vec![1.5]));
        assert_eq!(
            scores(&params(Shape::Score), &json!({ "data": [{ "score": 3 }, { "score": 4 }] }), 2),
            Ok(vec![3.0, 4.0])
        );
        let result = |index: Json, score: Json| json!({ "index": index, "relevance_score": score });
        for (results, wanted) in [
            (json!([result(json!(0), json!(1))]), "1 scores for 2 pairs"),
            (json!([result(json!(2), json!(1))]), "no `index` below 2"),
            (json!([result(json!(0), json!(null))]), "no number at `relevance_score`"),
            (json!([result(json!(0), json!(1)), result(json!(0), json!(1))]), "two scores of index 0"),
            (json!("x"), "no list at `results`"),
        ] {
            let error = scores(&rerank, &json!({ "results": results }), 2).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
