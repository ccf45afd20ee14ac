//! The commands, and how the program starts and ends.

use std::process::ExitCode;

use clap::Parser;
use landmark_harness::interrupt;
use landmark_harness::run::RunError;
use landmark_yaml::ConfigError;
use miette::{IntoDiagnostic, Result};
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command, LogArgs, OwnArgs};
use crate::exit::{Exit, UsageError};
use crate::output;

mod claims;
mod completions;
mod data;
mod docs;
mod list;
mod model;
mod own;
mod run;
mod scale;
mod score;
mod show;
mod store;
mod validate;
mod verify;

/// The program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log(cli.log);
    interrupt::listen();
    match dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(report) => {
            output::print_error(&report);
            let is_usage = report.downcast_ref::<ConfigError>().is_some()
                || report.downcast_ref::<UsageError>().is_some()
                || report.downcast_ref::<RunError>().is_some_and(RunError::is_before_start);
            if is_usage { Exit::Usage } else { Exit::Failed }.into()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    let text = match cli.command {
        None => return run::run(&cli.run, cli.log),
        Some(Command::Report { config, overlay, places }) => return run::report(&config, &overlay, &places, cli.log),
        Some(Command::Plan { executor, tile_seconds, tile_size, sample, force, scale }) => {
            let size = scale::TileSize { seconds: tile_seconds, size: tile_size, sample };
            scale::plan(&scale, executor.into(), size, force, cli.log)?
        }
        Some(Command::Worker { tiles, share, lease, scale }) => {
            scale::worker(&scale, tiles.as_deref(), share.as_deref(), lease, cli.log)?
        }
        Some(Command::Status { scale }) => scale::status(&scale, cli.log)?,
        Some(Command::Merge { scale }) => return scale::merge(&scale, cli.log),
        Some(Command::Model(command)) => return model::model(&command, cli.log.quiet),
        Some(Command::Store(command)) => return store::store(&command),
        Some(Command::Docs { files, write, check: _ }) => return docs::docs(&files, write),
        Some(Command::Claims { results, check, write }) => return claims::claims(&results, check, write),
        Some(Command::Verify { published, against, skip_smoke, places }) => {
            return verify::verify(&published, against.as_deref(), skip_smoke, &places, cli.log);
        }
        Some(Command::Validate { files, overlay, places }) => {
            return validate::validate(&files, &overlay, &places, cli.log.quiet);
        }
        Some(Command::List { what, format }) => list::list(what.as_deref(), format.into())?,
        Some(Command::Show { what, overlay }) => show::show(&what, &overlay)?,
        Some(Command::Data { name, data, command: None }) => data::data(name.as_deref(), data)?,
        Some(Command::Data { data, command: Some(command), .. }) => {
            return data::command(&command, data.as_deref(), cli.log.quiet);
        }
        Some(Command::Score(command)) => score::score(&command)?,
        Some(Command::Project { config, items, embeddings, k, overlay, places }) => {
            let own = OwnArgs { config, out: None, overlay, places };
            own::project(&own, &items, embeddings.as_deref(), k, cli.log)?
        }
        Some(Command::Topk {
            k,
            budget,
            target_recall: Some(target),
            recall,
            calls_per_item,
            share,
            dry_run,
            own,
            ..
        }) => {
            let wanted = own::Recalled { k, target, recall: &recall, calls_per_item, share, budget, dry_run };
            let (text, exit) = own::top_k_with_recall(&own, &wanted, cli.log)?;
            output::print(&text).into_diagnostic()?;
            return Ok(exit);
        }
        Some(Command::Topk { k, rescore, budget, calls_per_item, rounds, share, exact, dry_run, own, .. }) => {
            match own::Calls::of(k, calls_per_item, (rounds, share), exact)? {
                Some(calls) => own::top_k_by_calls(&own, &calls, dry_run, cli.log)?,
                None if dry_run => return Err(own::no_dry_run()),
                None => own::top_k(&own, k, rescore, budget, cli.log)?,
            }
        }
        Some(Command::Search { queries, embeddings, calls, k, dry_run, own }) => {
            let asked = own::Queries { file: &queries, embeddings: embeddings.as_deref(), calls, k, dry_run };
            own::search(&own, asked, cli.log)?
        }
        Some(Command::Mine { pairs, at_least, scoring, own }) => {
            own::mine(&own, own::Wanted::of(pairs, at_least, scoring)?, cli.log)?
        }
        Some(Command::Dedupe { at_least, scoring, own }) => {
            own::dedupe(&own, own::Wanted::of(Some(usize::MAX), Some(at_least), scoring)?, cli.log)?
        }
        Some(Command::Cluster { pivots: true, at_least: Some(at_least), budget, own, .. }) => {
            own::cluster_by_pivots(&own, at_least, budget, cli.log)?
        }
        Some(Command::Cluster { clusters, own, .. }) => own::cluster(&own, clusters, cli.log)?,
        Some(Command::Classify { labels, id, label, split, own }) => {
            let columns = own::LabelColumns { id: &id, label: &label, split: split.as_deref() };
            own::classify(&own, &labels, columns, cli.log)?
        }
        Some(Command::Completions { shell }) => completions::script(shell),
    };
    output::print(&text).into_diagnostic()?;
    Ok(Exit::Done)
}

/// Log lines go to standard error; RUST_LOG wins over `-v`.
fn start_log(arguments: LogArgs) {
    let level = match (arguments.quiet, arguments.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let subscriber = subscriber.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).without_time();
    if let Err(error) = subscriber.try_init() {
        tracing::debug!("the log was started before: {error}");
    }
}
