//! Experiments over similarity matrices: a typed configuration becomes items and an oracle ([`problem`]), a sweep of methods ([`sweep`]), a
//! plan ([`plan`]), a run that resumes ([`run`]), and shares of it for several processes ([`share`]).
//!
//! Two traits are what an experiment implements: [`experiment::Experiment`] over one matrix, [`study::Study`] over anything else. The lists of
//! what there is are handed in from the top ([`registry::Registry`]).

/// Line on standard error, as the macro of the standard library prints it, but that a reader who has gone away (`2>&1 | head`) is no panic: a
/// run continues without them, and its results are in files.
macro_rules! eprintln {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr().lock(), $($text)*);
    }};
}

mod advice;
pub mod command_line;
pub mod config;
pub mod experiment;
pub mod experiments;
pub mod facts;
pub mod index_files;
pub mod interrupt;
pub mod invocation;
pub mod items;
pub mod job;
mod job_costs;
pub mod layout;
pub mod loaded;
pub mod matrices;
pub mod metered_store;
pub mod models;
pub mod needs;
pub mod oracles;
pub mod plan;
pub mod problem;
pub mod program_check;
pub mod progress;
pub mod provenance;
pub mod query_search;
pub mod recorded;
pub mod registry;
pub mod run;
pub mod run_source;
pub mod share;
pub mod study;
pub mod sweep;
pub mod sweep_run;
pub mod table_file;
pub mod whole_folder;
