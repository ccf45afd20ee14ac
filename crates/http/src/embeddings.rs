//! Vectors of texts from an endpoint, for a proxy: one request a few texts, each text once for good.
//!
//! ```text
//! {"model", "input": [a, …]}  → {"data": [{"index": 0, "embedding": [0.1, …]}, …]}      OpenAI, vLLM, TEI's /v1/embeddings
//! {"inputs": [a, …]}          → [[0.1, …], …]      TEI's /embed: fields: { input: inputs, results: "" }
//! ```
//! Cost: ⌈distinct texts / `texts_per_request`⌉ requests, and n·d·8 bytes.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::stream::{self, StreamExt};
use landmark_core::oracle::Identity;
use landmark_core::parameter::BadParameter;
use ndarray::Array2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::client::{self, Client};
use crate::connection::{Reply, public};
use crate::error::HttpError;
use crate::params::{HttpParams, at_least_one, written_redacted, written_without_secrets};
use crate::rating::shortened;
use crate::shape::list_at;
use crate::vector_file::{VectorFile, digest};

/// An endpoint that embeds texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct EmbeddingParams {
    /// Address that requests are posted to.
    #[serde(serialize_with = "written_redacted")]
    #[schemars(example = &"http://localhost:8000/embeddings")]
    pub url: String,
    /// Model, as the server calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Revision of the model; part of the name that vectors are kept under, and of nothing that is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// NAME of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Further headers; values of those that hold secrets, such as `Authorization`, are written nowhere.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "written_without_secrets")]
    pub headers: BTreeMap<String, String>,
    /// Further keys of every request, such as `dimensions`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub request: Map<String, Json>,
    /// Names of JSON fields where they differ.
    pub fields: EmbeddingFields,
    /// Texts of a request, at most.
    pub texts_per_request: usize,
    /// Requests in flight at a time, at most.
    pub in_flight: usize,
    /// Seconds that a request may take.
    pub timeout_seconds: f64,
    /// Seconds after which a request that keeps failing is given up, waiting included.
    pub patience_seconds: f64,
    /// PEM file of a certificate authority of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// Folder that keeps the vectors; moves none of them.
    #[serde(skip_serializing)]
    pub cache: PathBuf,
}

/// Names of JSON fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingFields {
    /// The texts of a request.
    pub input: String,
    /// The list of results in an answer; empty for a bare list.
    pub results: String,
    /// The vector in a result; a result that is a list is the vector.
    pub embedding: String,
}

impl Default for EmbeddingFields {
    fn default() -> Self {
        Self { input: "input".to_owned(), results: "data".to_owned(), embedding: "embedding".to_owned() }
    }
}

impl EmbeddingFields {
    pub(crate) fn read(&self, answer: &Json, count: usize) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
        for (place, result) in list_at(answer, &self.results)?.iter().enumerate() {
            let place =
                result.get("index").and_then(Json::as_u64).map_or(Some(place), |index| usize::try_from(index).ok());
            let components = result.as_array().or_else(|| result.get(&self.embedding).and_then(Json::as_array));
            let components = components.ok_or_else(|| format!("no list at `{}` of a result", self.embedding))?;
            // the precision that servers compute in
            #[expect(clippy::cast_possible_truncation, reason = "f32 is what is kept")]
            let number = |x: &Json| x.as_f64().map(|x| x as f32).filter(|x| x.is_finite());
            let vector: Option<Vec<f32>> = components.iter().map(number).collect();
            let vector =
                vector.filter(|vector| !vector.is_empty()).ok_or("a vector that is empty or not all finite numbers")?;
            let slot = place.and_then(|place| vectors.get_mut(place));
            if slot.ok_or_else(|| format!("no `index` below {count}"))?.replace(vector).is_some() {
                return Err("two vectors of one index".to_owned());
            }
        }
        let given = vectors.iter().flatten().count();
        vectors.into_iter().collect::<Option<_>>().ok_or_else(|| format!("{given} vectors for {count} texts"))
    }
}

impl Default for EmbeddingParams {
    fn default() -> Self {
        let HttpParams { in_flight, timeout_seconds, patience_seconds, .. } = HttpParams::default();
        Self {
            url: String::new(),
            model: None,
            revision: None,
            key: None,
            headers: BTreeMap::new(),
            request: Map::new(),
            fields: EmbeddingFields::default(),
            texts_per_request: 64,
            in_flight,
            timeout_seconds,
            patience_seconds,
            certificate: None,
            cache: PathBuf::from("embeddings"),
        }
    }
}

impl EmbeddingParams {
    /// The address, if requests can be made with these.
    pub fn check(&self) -> Result<Url, BadParameter> {
        at_least_one(&[("texts_per_request", self.texts_per_request)])?;
        self.as_http().check()
    }

    fn as_http(&self) -> HttpParams {
        HttpParams {
            url: self.url.clone(),
            key: self.key.clone(),
            headers: self.headers.clone(),
            in_flight: self.in_flight,
            timeout_seconds: self.timeout_seconds,
            patience_seconds: self.patience_seconds,
            certificate: self.certificate.clone(),
            ..HttpParams::default()
        }
    }

    fn identity(&self, url: &Url) -> Identity {
        // numbers, texts and lists of them always have a form in JSON
        let json = |value: &Json| value.to_string().into_bytes();
        let request = BTreeMap::from_iter(&self.request);
        Identity::of(&[
            ("kind", b"http embeddings v1"),
            ("url", public(url).as_str().as_bytes()),
            ("model", &json(&json!([self.model, self.revision]))),
            ("fields", &json(&json!(self.fields))),
            ("request", &json(&json!(request))),
        ])
    }
}

/// An endpoint that embeds texts, and the vectors that it gave.
pub struct Embedder {
    params: EmbeddingParams,
    identity: Identity,
    runtime: tokio::runtime::Runtime,
    client: Client,
    kept: Mutex<Option<VectorFile>>,
}

impl Embedder {
    /// Prepares requests, and makes none.
    ///
    /// # Errors
    /// A parameter out of range, a key that the environment lacks, a certificate that cannot be read.
    pub fn new(params: EmbeddingParams) -> Result<Self, HttpError> {
        let url = params.check()?;
        Ok(Self {
            identity: params.identity(&url),
            client: Client::new(&params.as_http(), &url, None)?,
            runtime: client::runtime(&url)?,
            kept: Mutex::default(),
            params,
        })
    }

    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub fn url(&self) -> &Url {
        &self.client.url
    }

    /// Requests that the vectors of these texts still take.
    pub fn requests_for(&self, texts: &[String]) -> Result<usize, HttpError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(missing(self.open(&mut kept)?, texts).len().div_ceil(self.params.texts_per_request))
    }

    /// One vector a text, as rows. Those that were had before are not asked for; those that come are kept as they come.
    ///
    /// # Errors
    /// Whatever the endpoint answers; vectors of two lengths, components that are not finite; a folder that cannot be written.
    pub fn vectors(&self, texts: &[String]) -> Result<Array2<f64>, HttpError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.open(&mut kept)?;
        let wanted = missing(file, texts);
        self.runtime.block_on(self.ask(file, &wanted))?;
        let length = texts.first().and_then(|text| file.get(&digest(text))).map_or(0, <[f32]>::len);
        let mut rows = Array2::zeros((texts.len(), length));
        for (text, mut row) in texts.iter().zip(rows.rows_mut()) {
            let vector = file.get(&digest(text)).unwrap_or_default();
            if vector.len() != length {
                return Err(self.malformed(&format!("vectors of {} and of {length} components", vector.len())));
            }
            row.iter_mut().zip(vector).for_each(|(x, &component)| *x = f64::from(component));
        }
        Ok(rows)
    }

    async fn ask(&self, file: &mut VectorFile, wanted: &[&str]) -> Result<(), HttpError> {
        let stop = &AtomicBool::new(false);
        let requests = stream::iter(wanted.chunks(self.params.texts_per_request));
        let largest = &AtomicUsize::new(self.params.texts_per_request);
        let answers = requests.map(async |texts| {
            let mut vectors = Vec::new();
            let mut waiting = vec![texts];
            while let Some(texts) = waiting.pop() {
                let most = largest.load(Ordering::Relaxed);
                if texts.len() > most {
                    waiting.extend(texts.chunks(most).rev());
                    continue;
                }
                let (status, excerpt) = match self.client.exchange(&self.body(texts), texts.len(), stop).await {
                    Ok(Reply::Json(answer)) => {
                        let read =
                            self.params.fields.read(&answer, texts.len()).map_err(|reason| self.malformed(&reason))?;
                        vectors.extend(texts.iter().map(|text| digest(text)).zip(read));
                        continue;
                    }
                    Ok(Reply::NoJson(excerpt)) => {
                        return Err(self.malformed(&format!("it answered `{excerpt}`, which is not JSON")));
                    }
                    Ok(Reply::TooLarge { status, excerpt }) => (status.to_string(), excerpt),
                    Err(HttpError::Refused { status, excerpt, .. }) if status.starts_with("400") => (status, excerpt),
                    Err(error) => return Err(error),
                };
                // too many texts, or one that is too long: found by halving, because every text needs its vector
                match texts {
                    [text] => {
                        let text = shortened(text);
                        let reason =
                            format!("it answered {status}: {excerpt}, to one text alone, which begins `{text}`");
                        return Err(self.malformed(&reason));
                    }
                    _ => {
                        largest.fetch_min(texts.len().div_ceil(2), Ordering::Relaxed);
                    }
                }
                waiting.push(texts);
            }
            Ok(vectors)
        });
        let mut answers = answers.buffer_unordered(self.params.in_flight);
        let mut outcome = Ok(());
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(vectors) => file.append(vectors).map_err(|source| self.unkept(&source))?,
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    outcome = outcome.and(Err(error));
                }
            }
        }
        outcome
    }

    fn body(&self, texts: &[&str]) -> String {
        let mut body = Map::new();
        if let Some(model) = &self.params.model {
            body.insert("model".to_owned(), model.as_str().into());
        }
        body.insert(self.params.fields.input.clone(), json!(texts));
        body.extend(self.params.request.clone());
        Json::Object(body).to_string()
    }

    fn open<'a>(&self, kept: &'a mut Option<VectorFile>) -> Result<&'a mut VectorFile, HttpError> {
        if kept.is_none() {
            let path = self.params.cache.join(format!("{}.vectors", self.identity.short()));
            *kept = Some(VectorFile::read(&path).map_err(|source| self.unkept(&source))?);
        }
        kept.as_mut().ok_or_else(|| self.malformed("no file of vectors"))
    }

    fn malformed(&self, reason: &str) -> HttpError {
        HttpError::Embeddings { url: self.url().to_string(), reason: reason.to_owned() }
    }

    fn unkept(&self, source: &std::io::Error) -> HttpError {
        HttpError::Kept { folder: self.params.cache.display().to_string(), what: source.to_string() }
    }
}

fn missing<'a>(file: &VectorFile, texts: &'a [String]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    texts.iter().map(String::as_str).filter(|text| file.get(&digest(text)).is_none() && seen.insert(*text)).collect()
}
