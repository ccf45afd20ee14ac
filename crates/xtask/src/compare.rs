//! `cargo xtask compare`: two runs of a configuration as data.

use std::path::Path;

use landmark_report::differences::differences;
use landmark_report::rows_from_parquet;
use miette::{IntoDiagnostic as _, Result};
use runner::exit::Exit;
use runner::output::Answer;
use serde_json::json;

/// Prints by how much they differ; they fail if they do.
pub(crate) fn compare(one: &Path, other: &Path) -> Result<(Answer, Exit)> {
    let rows = |folder: &Path| rows_from_parquet(&folder.join("results.parquet")).into_diagnostic();
    let (text, is_equal) = differences(&rows(one)?, &rows(other)?).into_diagnostic()?;
    let exit = if is_equal { Exit::Done } else { Exit::Failed };
    Ok((Answer::new(text, json!({ "equal": is_equal })), exit))
}
