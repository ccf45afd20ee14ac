//! Parameters of an endpoint, as a configuration gives them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use landmark_core::parameter::BadParameter;
use landmark_core::untrusted::{REDACTED, names_a_secret, redacted};
use landmark_oracles::subprocess::FailedPairs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use url::Url;

use crate::rating::Rating;
use crate::spend_limit::Price;

/// An address without its query and password, as it may be written down.
pub(crate) fn written_redacted<S: Serializer>(url: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&redacted(url))
}

/// Headers without the values of those that hold secrets.
pub(crate) fn written_without_secrets<S: Serializer>(
    headers: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.iter().map(|(name, value)| match names_a_secret(name) {
        true => (name, REDACTED.to_owned()),
        false => (name, redacted(value)),
    }))
}

pub(crate) fn at_least_one(parameters: &[(&'static str, usize)]) -> Result<(), BadParameter> {
    match parameters.iter().find(|(_, number)| *number == 0) {
        Some((parameter, _)) => Err(BadParameter::new(parameter, "0", "at least 1")),
        None => Ok(()),
    }
}

/// An endpoint, what is asked of it, and how it is treated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct HttpParams {
    /// Address that requests are posted to. Its query may hold a key, and is written nowhere.
    #[serde(serialize_with = "written_redacted")]
    #[schemars(example = &"http://localhost:8000/rerank")]
    pub url: String,
    /// Form of a request.
    pub shape: Shape,
    /// Model, as the server calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Revision of the model; part of the identity of the scores, and of nothing that is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Address that stands for `url` in the identity of the scores: where they were stored before the endpoint moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// NAME of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Further headers. They are written to `run.json`, but for the values of those that are known to hold secrets, such as `Authorization`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "written_without_secrets")]
    pub headers: BTreeMap<String, String>,
    /// Names of JSON fields where they differ from the shape's own.
    pub fields: Fields,
    /// Further keys of every request, such as `temperature`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub request: Map<String, Json>,
    /// System message of a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Prompt of a chat, over `{{a}}` and `{{b}}`, or over `{{pairs}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Reading of a chat's answer.
    pub rating: Rating,
    /// Pairs of a request, at most; 256, and 1 for a chat, where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs_per_request: Option<usize>,
    /// True where `f(a, b) = f(b, a)`.
    pub symmetric: bool,
    /// Similarity of every item to itself, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagonal: Option<f64>,
    /// Calls whose mean is the score, for a judge that varies.
    pub repeats: usize,
    /// Requests in flight at a time, at most.
    pub in_flight: usize,
    /// Limit of the server, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Limit of the server, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u32>,
    /// Seconds that a request may take.
    pub timeout_seconds: f64,
    /// Seconds after which a request that keeps failing is given up, waiting included.
    pub patience_seconds: f64,
    /// Treatment of a pair that cannot be scored.
    pub failed_pairs: FailedPairs,
    /// Treatment of a model that changes while it is asked.
    pub changed_model: ChangedModel,
    /// Prices of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// PEM file of a certificate authority of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// Bytes above which an answer is refused.
    pub answer_bytes: usize,
    /// Jobs of many requests instead of one request after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchParams>,
}

/// Jobs of many requests, handed over as a file and collected later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchParams {
    /// Address under which `files` and `batches` are; where absent, that of the endpoint up to its `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Folder that remembers the jobs in flight; moves no score.
    #[serde(skip_serializing)]
    pub folder: PathBuf,
    /// Requests of a job, at most.
    pub requests: usize,
    /// Time within which the server promises to be done.
    pub window: String,
    /// Seconds between two looks at a job.
    pub poll_seconds: f64,
    /// Hours after which a job is waited for no longer.
    pub patience_hours: f64,
    /// Times that a line is handed over which does not come back.
    pub rounds: u32,
}

impl Default for BatchParams {
    fn default() -> Self {
        Self {
            url: None,
            folder: PathBuf::from("batches"),
            requests: 10_000,
            window: "24h".to_owned(),
            poll_seconds: 30.0,
            patience_hours: 48.0,
            rounds: 3,
        }
    }
}

impl BatchParams {
    fn check(&self, url: &Url) -> Result<(), BadParameter> {
        at_least_one(&[("batch.requests", self.requests), ("batch.rounds", self.rounds as usize)])?;
        for (parameter, number) in
            [("batch.poll_seconds", self.poll_seconds), ("batch.patience_hours", self.patience_hours)]
        {
            if !(number > 0.0 && number <= 1e6) {
                return Err(BadParameter::new(parameter, number, "a number above 0"));
            }
        }
        match &self.url {
            Some(base) => {
                let is_same = Url::parse(base).is_ok_and(|base| base.origin() == url.origin());
                let wanted = "an address on the server of `url`: the key is for no other";
                if is_same { Ok(()) } else { Err(BadParameter::new("batch.url", redacted(base), wanted)) }
            }
            None if url.path().contains("/v1/") => Ok(()),
            None => {
                let wanted = "the address under which `files` and `batches` are, for `url` has no `/v1/` in it";
                Err(BadParameter::new("batch.url", "absent", wanted))
            }
        }
    }

    pub(crate) fn addresses(&self, url: &Url) -> (Url, String) {
        let mut base = url.clone();
        base.set_query(None);
        let path = url.path().to_owned();
        match self.url.as_deref().and_then(|given| Url::parse(given).ok()) {
            Some(given) => base = given,
            // `check` has seen it
            None => base.set_path(path.find("/v1/").map_or("", |at| &path[..at + 3])),
        }
        (base, path)
    }
}

/// Form of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One query against many documents: a piece of a column.
    #[default]
    Rerank,
    /// Two lists of texts, compared in step.
    Score,
    /// A conversation with a language model, which answers with a rating.
    Chat,
}

/// Treatment of a model that changes while it is asked: another name or fingerprint in an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangedModel {
    /// Warned of once, and counted.
    #[default]
    Warn,
    /// The run ends.
    Error,
}

/// Names of JSON fields; those of the shape where absent. `results` may be a path such as `output.results`, or empty for a bare list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fields {
    /// The query of `rerank`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The documents of `rerank`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<String>,
    /// The first texts of `score`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_1: Option<String>,
    /// The second texts of `score`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_2: Option<String>,
    /// The list of results in an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<String>,
    /// Number of its document or pair in a result, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The score in a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
}

impl Default for HttpParams {
    fn default() -> Self {
        Self {
            url: String::new(),
            shape: Shape::Rerank,
            model: None,
            revision: None,
            identity: None,
            key: None,
            headers: BTreeMap::new(),
            fields: Fields::default(),
            request: Map::new(),
            system: None,
            prompt: None,
            rating: Rating::default(),
            pairs_per_request: None,
            symmetric: false,
            diagonal: None,
            repeats: 1,
            in_flight: 16,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout_seconds: 60.0,
            patience_seconds: 600.0,
            failed_pairs: FailedPairs::Error,
            changed_model: ChangedModel::Warn,
            price: None,
            certificate: None,
            answer_bytes: 32 << 20,
            batch: None,
        }
    }
}

impl HttpParams {
    /// The parameters and the address, if requests can be made with them.
    pub fn check(&self) -> Result<Url, BadParameter> {
        let url = Url::parse(&self.url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
            BadParameter::new("url", redacted(&self.url), "an address like `http://localhost:8000/rerank`")
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            // the address itself is not repeated: it holds a secret
            return Err(BadParameter::new(
                "url",
                "an address with a password",
                "one without; name the variable that holds the key by `key`",
            ));
        }
        if let Some(identity) = &self.identity
            && Url::parse(identity).is_err()
        {
            let wanted = "the address of the endpoint under which the scores were stored";
            return Err(BadParameter::new("identity", redacted(identity), wanted));
        }
        let limit = |limit: Option<u32>| limit.map_or(1, |limit| limit as usize);
        at_least_one(&[
            ("in_flight", self.in_flight),
            ("repeats", self.repeats),
            ("answer_bytes", self.answer_bytes),
            ("requests_per_minute", limit(self.requests_per_minute)),
            ("tokens_per_minute", limit(self.tokens_per_minute)),
            ("pairs_per_request", self.pairs_per_request.unwrap_or(1)),
        ])?;
        for (parameter, seconds) in
            [("timeout_seconds", self.timeout_seconds), ("patience_seconds", self.patience_seconds)]
        {
            if !(seconds > 0.0 && seconds <= 1e9) {
                return Err(BadParameter::new(parameter, seconds, "a number of seconds above 0"));
            }
        }
        if let FailedPairs::Score(score) = self.failed_pairs
            && !score.is_finite()
        {
            return Err(BadParameter::new("failed_pairs", score, "`error`, or a finite score like `{ score: 0 }`"));
        }
        if let Some(diagonal) = self.diagonal
            && !diagonal.is_finite()
        {
            return Err(BadParameter::new("diagonal", diagonal, "a finite score"));
        }
        if let Some(price) = &self.price {
            price.check()?;
        }
        if let Some(batch) = &self.batch {
            batch.check(&url)?;
        }
        if self.shape == Shape::Chat {
            self.rating.check()?;
            self.check_prompt()?;
        } else if self.prompt.is_some() || self.system.is_some() {
            return Err(BadParameter::new("prompt", "given", "absent unless `shape: chat`"));
        }
        Ok(url)
    }

    fn check_prompt(&self) -> Result<(), BadParameter> {
        let prompt = self.prompt.as_deref().unwrap_or_default();
        let has = |name: &str| prompt.contains(name);
        let wanted = match self.pairs_per_request() {
            1 if has("{{a}}") && has("{{b}}") => return Ok(()),
            2.. if has("{{pairs}}") => return Ok(()),
            1 => "a text that has `{{a}}` and `{{b}}` in it",
            _ => "a text that has `{{pairs}}` in it, for several pairs a request",
        };
        if self.model.is_none() {
            return Err(BadParameter::new("model", "absent", "the name of a model, for `shape: chat`"));
        }
        Err(BadParameter::new("prompt", format!("{prompt:?}"), wanted))
    }

    pub fn pairs_per_request(&self) -> usize {
        self.pairs_per_request.unwrap_or(if self.shape == Shape::Chat { 1 } else { 256 })
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.patience_seconds)
    }
}
