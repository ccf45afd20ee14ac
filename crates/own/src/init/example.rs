//! Examples that the program carries: a folder of files to start from, without a download.

use std::path::{Path, PathBuf};

use landmark_report::write_file;
use miette::{IntoDiagnostic, Result};

use crate::own::refused;

/// Files of the example `quickstart`, by their paths in the folder that they are written to.
const QUICKSTART: [(&str, &str); 6] = [
    ("quickstart.yaml", include_str!("../../../../configs/quickstart.yaml")),
    ("quickstart/neighbors.yaml", include_str!("../../../../configs/quickstart/neighbors.yaml")),
    ("quickstart/errors.yaml", include_str!("../../../../configs/quickstart/errors.yaml")),
    ("quickstart/duplicates.yaml", include_str!("../../../../configs/quickstart/duplicates.yaml")),
    ("records.yaml", include_str!("../../../../configs/records.yaml")),
    ("records.tsv", include_str!("../../../../configs/records.tsv")),
];

/// Writes the example into `folder`, and returns the paths of its files.
pub fn write_example(folder: &Path, force: bool) -> Result<Vec<PathBuf>> {
    let files = QUICKSTART.map(|(name, text)| (folder.join(name), text));
    if let Some((existing, _)) = files.iter().find(|(path, _)| !force && path.exists()) {
        let message = format!("cannot write `{}`: it exists", existing.display());
        return Err(refused(message, "add `--force` to replace it, or start in an empty folder"));
    }
    for (path, text) in &files {
        // the schema is in the repository and not here
        let text = match text.split_once('\n') {
            Some((first, rest)) if first.starts_with("# yaml-language-server") => rest,
            _ => text,
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).into_diagnostic()?;
        }
        write_file(path, text.as_bytes()).into_diagnostic()?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
