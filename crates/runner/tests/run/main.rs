//! Whole runs of the real binary in scratch folders: what they evaluate, what they keep, and what they report when something is wrong.

#![allow(clippy::unwrap_used, reason = "the scratch folder may unwrap as the tests do")]

mod audit;
mod collection;
mod coreference;
mod crash;
mod exit_codes;
mod fetch;
mod given;
mod glue;
mod growing;
mod http;
mod identities;
mod input;
mod json;
mod measures;
mod neighbors;
mod neural;
mod one_order;
mod own_answers;
mod own_data;
mod own_files;
mod own_page;
mod own_samples;
mod prefix_recall;
mod recall;
mod resume;
mod retrieval;
mod scale;
mod scattered;
mod scratch;
mod search;
mod sketches;
mod store;
mod structured;
mod tree_kernels;
mod two_lists;
