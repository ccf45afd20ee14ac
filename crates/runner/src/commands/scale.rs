//! `runner plan | worker | status | merge`: one configuration on many machines.

use landmark_harness::scale::workers::{self, TileSize};
use miette::{IntoDiagnostic, Result};
use serde_json::json;

use crate::cli::{LogArgs, ScaleArgs, ScaleCommand};
use crate::exit::Exit;
use crate::output::Answer;

/// Does one of them.
pub(super) fn scale(command: ScaleCommand, log: LogArgs) -> Result<Exit> {
    let at = |ScaleArgs { config, overlay, places }: &ScaleArgs| super::run::invocation(config, overlay, places, log);
    let text = match command {
        ScaleCommand::Plan { executor, tile_seconds, tile_size, sample, force, scale } => {
            let size = TileSize { seconds: tile_seconds, size: tile_size, sample };
            workers::plan(&at(&scale), executor.into(), size, force)?
        }
        ScaleCommand::Worker { follow: true, lease, patience, scale, .. } => {
            workers::follow(&at(&scale), lease, patience)?
        }
        ScaleCommand::Worker { tiles, share, lease, scale, .. } => {
            workers::worker(&at(&scale), tiles.as_deref(), share.as_deref(), lease)?
        }
        ScaleCommand::Status { scale } => workers::status(&at(&scale))?,
        ScaleCommand::Merge { workers, scale } => {
            return Ok(workers::merge(&at(&scale).with_workers(workers))?.into());
        }
    };
    Answer::new(text, json!({})).print(log).into_diagnostic()?;
    Ok(Exit::Done)
}
