//! Vectors from an endpoint as a proxy, asked for when the first entry is read: a dry run asks for none.

use std::sync::{Mutex, OnceLock, PoisonError};

use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_http::{Embedder, EmbeddingParams, HttpError};
use landmark_report::amounts::counted;
use ndarray::{ArrayView2, ArrayViewMut2};

/// Cosine of the vectors that an endpoint gives to texts.
pub(super) struct Served {
    embedder: Embedder,
    texts: Vec<String>,
    identity: Identity,
    cosine: OnceLock<EmbeddingProxy>,
    /// Held by the one who asks.
    asking: Mutex<()>,
}

impl Served {
    pub(super) fn new(endpoint: &EmbeddingParams, texts: &[String]) -> Result<Self, HttpError> {
        let embedder = Embedder::new(endpoint.clone())?;
        let mut digest: Vec<(&str, &[u8])> = texts.iter().map(|text| ("text", text.as_bytes())).collect();
        let vectors = embedder.identity();
        digest.push(("vectors", vectors.as_bytes()));
        let identity = Identity::of(&digest);
        Ok(Self { embedder, texts: texts.to_vec(), identity, cosine: OnceLock::new(), asking: Mutex::default() })
    }

    /// Requests that it still takes, in a sentence.
    pub(super) fn note(&self) -> Result<Option<String>, HttpError> {
        let requests = self.embedder.requests_for(&self.texts)?;
        let say = || {
            let (requests, url) = (counted(requests as u64, "request"), self.embedder.url());
            format!("the proxy asks {url} for vectors when it is first read: {requests}, in addition to the plan")
        };
        Ok((requests > 0).then(say))
    }

    fn cosine(&self) -> Result<&EmbeddingProxy, OracleError> {
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cosine) = self.cosine.get() {
            return Ok(cosine);
        }
        let vectors = self.embedder.vectors(&self.texts)?;
        let cosine = EmbeddingProxy::cosine(vectors)?;
        Ok(self.cosine.get_or_init(|| cosine))
    }
}

impl Oracle for Served {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.texts.len())
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        match self.cosine() {
            Ok(cosine) => Oracle::vectors(cosine),
            Err(error) => {
                // whoever reads an entry gets the error
                tracing::debug!("{error}");
                None
            }
        }
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.cosine()?.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.cosine()?.block(rows, cols, out)
    }
}
