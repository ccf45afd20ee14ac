//! `oracle: { kind: http }` — a score behind an endpoint: a reranker, a pair scorer, a chat model as judge.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_http::{BatchParams, Http, HttpParams, Shape};
use landmark_yaml::{Entry, Problem, Section, parameter, required};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::scorer::Scorer;
use super::{Items, Opened, Opening, OracleSettings, OracleSpec, Orders, gamma, symmetrized};
use crate::config::item_kind::ItemKind;
use crate::config::values::Tuned;
use crate::loaded::{LoadError, Loaded, LoadedItems};

/// A score behind an endpoint.
pub static HTTP: OracleSpec = OracleSpec {
    entry: Entry {
        id: "http",
        summary: "a score behind an endpoint: a reranker, a pair scorer, a chat model as judge",
        parameters: &[
            required("url", "http://localhost:8000/rerank", "address that requests are posted to"),
            parameter("shape", "rerank", "form of a request: `rerank`, `score` or `chat`"),
            parameter("model", "none", "model, as the server calls it"),
            parameter("revision", "none", "revision of the model: part of the identity of the scores, never sent"),
            parameter("identity", "none", "the earlier address of an endpoint that moved: its stored scores are used"),
            parameter("key", "none", "NAME of the environment variable that holds the key"),
            parameter("headers", "{}", "further headers; values of `Authorization` and the like are written nowhere"),
            parameter("fields", "{}", "names of JSON fields that differ from the shape's own"),
            parameter("request", "{}", "further keys of every request, such as `temperature: 0`"),
            parameter("system", "none", "`chat`: the system message"),
            parameter("prompt", "none", "`chat`: the prompt, over `{{a}}` and `{{b}}`, or `{{pairs}}`"),
            parameter(
                "rating",
                "{ read: number, field: score, low: 0, high: 10 }",
                "`chat`: the last `number` of the answer, a field of its `json`, or the expected rating by `logprobs`",
            ),
            parameter("pairs_per_request", "none", "pairs of a request, at most; absent: 256, and 1 for `chat`"),
            parameter("symmetric", "false", "true where the order of a pair does not matter"),
            parameter("diagonal", "none", "similarity of every item to itself, where it is known"),
            parameter("repeats", "1", "calls whose mean is the score, for a judge that varies"),
            parameter("in_flight", "16", "requests under way at a time, at most"),
            parameter("requests_per_minute", "none", "limit of the server, where it is known"),
            parameter("tokens_per_minute", "none", "limit of the server, where it is known"),
            parameter("timeout_seconds", "60", "how long a request may take"),
            parameter("patience_seconds", "600", "how long a request that keeps failing is made again"),
            parameter("failed_pairs", "error", "a pair that it cannot score: `error`, or `{ score: 0 }`, counted"),
            parameter("changed_model", "warn", "another model or fingerprint in an answer: `warn` or `error`"),
            parameter(
                "price",
                "none",
                "`{ input, output, request, output_tokens }`, a million tokens; `budget.money` then holds",
            ),
            parameter("certificate", "none", "PEM file of a certificate authority of one's own"),
            parameter("answer_bytes", "33554432", "bytes above which an answer is refused"),
            parameter(
                "batch",
                "none",
                "jobs of many requests, collected later: `{ folder, requests, window, poll_seconds, patience_hours, rounds, url }`",
            ),
            parameter(
                "company",
                "32",
                "pairs asked again, twice, where several share a prompt: do their scores depend on that?",
            ),
            parameter("checks", "8", "`symmetric: true`: pairs that are asked in both orders before the first score"),
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the scores are similarities"),
            parameter(
                "symmetrize",
                "none",
                "an asymmetric score becomes the `mean`, `max` or `min` of both orders; `random`: one order a pair, for the mean",
            ),
        ],
        source: "yours; docs/how-to/endpoint.md",
    },
    reads: &[ItemKind::Texts],
    read,
};

/// A score behind an endpoint.
#[derive(Debug, Serialize)]
struct HttpConfig {
    /// The endpoint, and how it is treated.
    #[serde(flatten)]
    params: HttpParams,
    /// γ: where given, its score is a distance and the similarity is exp(−γ·d).
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<Tuned>,
    /// Symmetrization of an asymmetric score, where given.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetrize: Option<Orders>,
    /// Pairs that are asked in both orders; they move no score.
    #[serde(skip)]
    checks: usize,
}

/// Pairs that are asked in both orders by default.
const CHECKS: usize = 8;

fn read(section: &Section<'_>, folder: &Path) -> Option<Arc<dyn OracleSettings>> {
    let gamma = gamma(section);
    let symmetrize = section.optional("symmetrize");
    let checks = section.or("checks", CHECKS);
    let problems = section.problems();
    let mut params: HttpParams = problems.read(&section.rest(), "oracle")?;
    params.certificate = params.certificate.map(|file| folder.join(file));
    params.batch = params.batch.map(|batch| BatchParams { folder: folder.join(&batch.folder), ..batch });
    if let Err(error) = params.check() {
        problems.add(Problem::new(format!("`oracle`: {error}")).at(section.place()));
    }
    let gamma = gamma.map_or(Some(None), |gamma| gamma.map(Some))?;
    Some(Arc::new(HttpConfig { params, gamma, symmetrize, checks }))
}

impl OracleSettings for HttpConfig {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }

    fn gamma(&self) -> Option<Tuned> {
        self.gamma
    }

    fn orders(&self) -> Option<Orders> {
        self.symmetrize
    }

    fn checks(&self) -> usize {
        // a job of many requests takes hours
        if self.params.symmetric && self.params.batch.is_none() { self.checks } else { 0 }
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_priced(&self) -> bool {
        self.params.price.is_some()
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, mut notes } = loaded;
        let LoadedItems::Texts(texts) = items else { return Err(LoadError::pair(dataset, HTTP.entry.id)) };
        if self.params.shape == Shape::Chat && self.params.pairs_per_request() > 1 && self.params.company > 0 {
            notes.push(format!(
                "{} pairs are asked again, twice and beside the plan, to see whether scores depend on the pairs that share their prompt; \
                 `oracle.company: 0` leaves that out",
                self.params.company
            ));
        }
        let endpoint = Arc::new(Http::new(self.params.clone(), Arc::clone(&texts.scored), opening.money)?);
        let given: Arc<dyn Oracle> = Arc::clone(&endpoint) as _;
        let (url, model) = (endpoint.url().clone(), self.params.model.as_deref().unwrap_or("its model"));
        let scorer = Scorer::Endpoint(Arc::clone(&endpoint));
        let item_list = scorer.item_list();
        let items = Items::of_texts(&texts, Some(scorer), &given, self.symmetrize);
        Ok(Opened {
            item_list,
            items,
            raw: symmetrized(&given, self.symmetrize, opening.run.seed),
            as_given: given,
            description: texts.description(&format!("scored by {model} at {url}")),
            is_priced: true,
            stamps,
            notes,
            facts: json!({ "items": texts.scored.identity().to_hex(), "url": url.as_str() }),
        })
    }
}
