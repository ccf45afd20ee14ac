//! The tile store from outside: what it promises to a run, to several runs at once, and to one that is killed.

#![allow(clippy::unwrap_used, reason = "the tests' own oracle and folders may unwrap as the tests do")]

mod counting;
mod crash;
mod failures;
mod faults;
mod faulty;
mod housekeeping;
mod lanes;
mod lists;
mod model;
mod promises;
mod proof;
