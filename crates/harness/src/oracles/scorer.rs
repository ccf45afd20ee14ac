//! Scorers of texts from outside: a program of the user's, an endpoint.

use std::sync::Arc;

use landmark_core::oracle::{Itemless, Oracle as _, Symmetry};
use landmark_http::{Http, PriceEstimate, Repeated};
use landmark_oracles::subprocess::{PairForm, Subprocess};
use landmark_report::amounts::counted;
use landmark_store::ItemList;

/// A scorer that is no code of ours.
#[derive(Clone)]
pub enum Scorer {
    Program(Arc<Subprocess>),
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

    /// True if it is taken as symmetric, by its own word or by yours.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Self::Program(program) => program.greeting().symmetric,
            Self::Endpoint(endpoint) => endpoint.symmetry() == Symmetry::Symmetric,
        }
    }

    pub fn ids(&self) -> &[String] {
        match self {
            Self::Program(program) => program.items().ids(),
            Self::Endpoint(endpoint) => endpoint.items().ids(),
        }
    }

    /// Pairs that got the score of `failed_pairs` so far.
    pub fn failed(&self) -> u64 {
        match self {
            Self::Program(program) => program.failed(),
            Self::Endpoint(endpoint) => endpoint.failed(),
        }
    }

    /// Price of this number of calls by what those so far have cost, where it has one.
    pub fn price_of(&self, calls: u64) -> Option<PriceEstimate> {
        match self {
            Self::Program(_) => None,
            Self::Endpoint(endpoint) => endpoint.price_of(calls),
        }
    }

    /// Money paid so far, where it has a price.
    pub fn paid(&self) -> Option<f64> {
        match self {
            Self::Program(_) => None,
            Self::Endpoint(endpoint) => endpoint.has_price().then(|| endpoint.paid().money),
        }
    }

    /// True where it can score an item that it does not know yet.
    pub fn takes_new_items(&self) -> bool {
        match self {
            Self::Program(program) => program.greeting().pairs != PairForm::Index,
            Self::Endpoint(_) => true,
        }
    }

    /// The scorer apart from its items, and these; `None` where they are compared by their numbers, which do not identify them in another list.
    pub fn item_list(&self) -> Option<ItemList> {
        let (identity, symmetry, items, form) = match self {
            Self::Program(program) => {
                let form = program.greeting().pairs;
                (program.identity_apart_from_items(), program.symmetry(), program.items(), form)
            }
            Self::Endpoint(endpoint) => {
                (endpoint.identity_apart_from_items(), endpoint.symmetry(), endpoint.items(), PairForm::Text)
            }
        };
        let seen = form.seen(items)?;
        Some(ItemList::new(Itemless { identity, symmetry }, seen.iter().map(|seen| seen.as_bytes())))
    }

    /// Faults on the way that were repaired, in sentences.
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
                notes.extend(endpoint.repeated().map(in_repeats));
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

/// Variation of repeated answers.
fn in_repeats(repeated: Repeated) -> String {
    let Repeated { pairs, repeats, noise, reliability } = repeated;
    let signal = reliability.map_or_else(String::new, |share| {
        format!("; {:.0}% of the variance of the means is signal (reliability {share:.3})", 100.0 * share)
    });
    format!(
        "{} were asked {repeats} times: one answer varies around the mean of its pair by {noise:.3} (standard deviation){signal}",
        counted(pairs, "pair")
    )
}
