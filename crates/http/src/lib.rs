//! Scores behind an HTTP endpoint as an oracle: rerankers, pair scorers, chat models as judges.
//!
//! Cost of a column of n items: ⌈n / `pairs_per_request`⌉ requests, `in_flight` at a time. Retried are 408, 425, 429, 5xx,
//! connections that break and requests that take too long, with a wait that the server names or one that doubles, for
//! `patience_seconds` at most. 400, 413 and 422 of several pairs halve the request: down to the pair that is refused alone, or, where none is, now and for good, since the
//! server's limit is met. An
//! answer that makes no sense halves it until the pair stands alone and is named. All other answers are final.
//!
//! A limit on money is never passed, not by requests in flight either: what a request can cost at most is set aside before
//! it leaves ([`Paid`]). The key comes from the environment, and goes nowhere but into the header.

mod client;
mod connection;
mod embeddings;
mod endpoint;
mod error;
mod flow;
#[cfg(fuzzing)]
pub mod fuzzing;
mod moments;
mod params;
mod rating;
mod shape;
mod spend_limit;
mod vector_file;
mod wait;

pub use embeddings::{Embedder, EmbeddingFields, EmbeddingParams};
pub use endpoint::{Http, Repeated};
pub use error::HttpError;
pub use params::{BatchParams, ChangedModel, Fields, HttpParams, Shape};
pub use rating::{Rating, RatingSource};
pub use spend_limit::{Paid, Price, PriceEstimate};
