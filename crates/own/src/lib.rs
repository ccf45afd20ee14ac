//! A user's own matrix: `experiment: own_data` and its page, what the factors of a finished run are good for, and neighbors that the score itself
//! finds.
//!
//! Factors are read and streamed over: nothing here forms an n × n matrix, and only [`project()`], a rescoring, a stated recall, a search and
//! [`cluster_by_pivots`] ask the oracle for anything. [`top_k_by_calls`] and [`top_k_with_recall`] need no factors, and stand on them if there are any.
//! Every command takes an [`Invocation`](landmark_harness::invocation::Invocation) and answers in the words that a person reads.

mod audit;
mod audited;
mod calls;
mod candidates;
mod classify;
mod cluster;
mod equal_items;
mod estimates;
mod export;
pub mod factors;
mod from_factors;
mod init;
mod known;
mod mine;
mod named;
mod neighbors;
mod own;
pub mod own_data;
mod pairs;
mod project;
mod search;

pub use audit::{Candidates, Truth, audit};
pub use audited::top_k_with_recall;
pub use calls::{Calls, top_k_by_calls};
pub use classify::{LabelColumns, classify};
pub use cluster::{cluster, cluster_by_pivots};
pub use export::export;
pub use from_factors::Recalled;
pub use init::{Ask, ScoreKind, Wanted as InitWanted, init, write_example};
pub use mine::{Wanted, groups, mine};
pub use neighbors::{Lists, top_k};
pub use own::target;
pub use pairs::{ListedPairs, pairs};
pub use project::project;
pub use search::{Queries, search};
