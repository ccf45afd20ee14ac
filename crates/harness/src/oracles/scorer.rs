//! Scorers of texts from outside: a program of the user's, an endpoint.

use std::sync::Arc;

use landmark_http::Http;
use landmark_oracles::subprocess::{PairForm, Subprocess};
use landmark_report::amounts::counted;

/// A scorer that is no code of ours.
#[derive(Clone)]
pub enum Scorer {
    /// A program of the user's.
    Program(Arc<Subprocess>),
    /// An endpoint.
    Endpoint(Arc<Http>),
}

impl Scorer {
    /// Its name for itself: the identity that the program greeted with, the address of the endpoint.
    pub fn name(&self) -> &str {
        match self {
            Self::Program(program) => &program.greeting().identity,
            Self::Endpoint(endpoint) => endpoint.url().as_str(),
        }
    }

    /// Pairs that got the score of `failed_pairs` so far.
    pub fn failed(&self) -> u64 {
        match self {
            Self::Program(program) => program.failed(),
            Self::Endpoint(endpoint) => endpoint.failed(),
        }
    }

    /// True where it can score an item that it was not told of.
    pub fn takes_new_items(&self) -> bool {
        match self {
            Self::Program(program) => program.greeting().pairs != PairForm::Index,
            Self::Endpoint(_) => true,
        }
    }

    /// Faults on the way that were mended, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self {
            Self::Program(program) => {
                if program.restarts() > 0 {
                    notes.push(format!(
                        "the program ended, or was silent for too long, {} and was started again; nothing was lost, but \
                         `oracle.timeout_seconds` and its own log are worth a look",
                        counted(program.restarts(), "time")
                    ));
                }
            }
            Self::Endpoint(endpoint) => {
                let paid = endpoint.paid();
                if paid.money > 0.0 {
                    let requests = counted(paid.requests, "request");
                    let (input, output) = (counted(paid.input_tokens, "token"), counted(paid.output_tokens, "token"));
                    notes.push(format!("this run paid {:.4}: {requests}, {input} sent, {output} answered", paid.money));
                }
                if paid.in_doubt > 0.0 {
                    notes.push(format!(
                        "{:.4} of it are for requests whose answer never came, and may not be charged",
                        paid.in_doubt
                    ));
                }
                if endpoint.changed_models() > 0 {
                    let answers = counted(endpoint.changed_models(), "answer");
                    notes.push(format!(
                        "{answers} came from another model or fingerprint than the first: scores of both are mixed"
                    ));
                }
            }
        }
        notes
    }
}
