//! Faults of an endpoint, each with what it answered and the next step.

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("the environment has no `{name}`, which `oracle.key` names; export it with the key of {url}")]
    NoKey { name: String, url: String },
    #[error("no requests can be made to {url}: {what}")]
    Client { url: String, what: String },
    #[error("{url} answered {status}: {excerpt}; {next_step}")]
    Refused { url: String, status: String, excerpt: String, next_step: &'static str },
    #[error(
        "{url} failed {attempts} times in {seconds:.0} s, last with: {last}. Is it up? What was scored is kept; run again, or raise `oracle.patience_seconds`"
    )]
    GaveUp { url: String, attempts: u32, seconds: f64, last: String },
    #[error("{url} gave no score for the pair {pair}: {reason}; {next_step}")]
    Malformed { url: String, pair: String, reason: String, next_step: &'static str },
    #[error(
        "{url} answered as `{second}` after `{first}`; scores of two models must not be mixed. Name the one you want by `oracle.model`, or allow it by `oracle.changed_model: warn`"
    )]
    ChangedModel { url: String, first: String, second: String },
    #[error(
        "{url} has failed on {failed} pairs and scored none: that is the endpoint, not the items. The last error was: {last}"
    )]
    AllFailed { url: String, failed: u64, last: Box<HttpError> },
    #[error("{url} gave no vectors: {reason}; compare `proxy.endpoint` with the server's documentation")]
    Embeddings { url: String, reason: String },
    #[error("`{folder}` cannot be used: {what}")]
    Kept { folder: String, what: String },
    #[error("{url}: the job `{job}` {what}; {next_step}")]
    Job { url: String, job: String, what: String, next_step: &'static str },
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
