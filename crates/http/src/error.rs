//! Faults of an endpoint, each with what it answered and the next step.

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;

/// Why an endpoint could not score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// The environment has no key.
    #[error("the environment has no `{name}`, which `oracle.key` names; export it with the key of {url}")]
    NoKey {
        /// Name of the variable.
        name: String,
        /// The address.
        url: String,
    },
    /// The certificate, a header or the client itself.
    #[error("no requests can be made to {url}: {what}")]
    Client {
        /// The address.
        url: String,
        /// The complaint.
        what: String,
    },
    /// An answer that no repetition betters.
    #[error("{url} answered {status}: {said}; {next_step}")]
    Refused {
        /// The address.
        url: String,
        /// Number and name of the status.
        status: String,
        /// The first line of its body.
        said: String,
        /// Advice.
        next_step: &'static str,
    },
    /// It failed again and again.
    #[error(
        "{url} failed {attempts} times in {seconds:.0} s, last with: {last}. Is it up? What was scored is kept; run again, or raise `oracle.patience_seconds`"
    )]
    GaveUp {
        /// The address.
        url: String,
        /// Attempts at this request.
        attempts: u32,
        /// Seconds since the first.
        seconds: f64,
        /// The last fault.
        last: String,
    },
    /// An answer that is none.
    #[error("{url} gave no score for the pair {pair}: {reason}; {next_step}")]
    Malformed {
        /// The address.
        url: String,
        /// The ids of the items.
        pair: String,
        /// The fault, in words.
        reason: String,
        /// Advice.
        next_step: &'static str,
    },
    /// Another model answers than before.
    #[error(
        "{url} answered as `{second}` after `{first}`; scores of two models must not be mixed. Name the one you want by `oracle.model`, or allow it by `oracle.changed_model: warn`"
    )]
    ChangedModel {
        /// The address.
        url: String,
        /// Model and fingerprint of the first answer.
        first: String,
        /// Model and fingerprint of this one.
        second: String,
    },
    /// Pairs that may fail do, and nothing else.
    #[error(
        "{url} has failed on {failed} pairs and scored none: that is the endpoint, not the items. The last complaint was: {last}"
    )]
    Hopeless {
        /// The address.
        url: String,
        /// Pairs so far.
        failed: u64,
        /// Error of the pair that failed last.
        last: Box<HttpError>,
    },
    /// Vectors that are none.
    #[error("{url} gave no vectors: {reason}; compare `proxy.endpoint` with the server's documentation")]
    Embeddings {
        /// The address.
        url: String,
        /// What is wrong with them.
        reason: String,
    },
    /// A folder that is to keep what was answered, or what is under way.
    #[error("`{folder}` cannot be used: {what}")]
    Kept {
        folder: String,
        /// The complaint.
        what: String,
    },
    /// A job of many requests that came to nothing.
    #[error("{url}: the job `{job}` {what}; {next_step}")]
    Job {
        /// The address.
        url: String,
        /// The server's name of it.
        job: String,
        /// How it ended.
        what: String,
        /// Advice.
        next_step: &'static str,
    },
    /// The next request could pass the limit.
    #[error("{0}")]
    Money(OracleError),
}

impl From<HttpError> for OracleError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Money(error) => error,
            error => Self::Failed { what: "an endpoint".to_owned(), source: Box::new(error) },
        }
    }
}
