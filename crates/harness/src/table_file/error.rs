//! What can be wrong with a table.

use std::borrow::Cow;
use std::path::PathBuf;

use landmark_data::unpack::TooLarge;

/// Why a file of rows could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    #[error("`{}` can't be read: {source}; a path in a configuration starts at its folder, one on the command line where you are", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// A packed file that unpacks to more than it may.
    #[error("cannot unpack `{}`: {bound}", path.display())]
    TooLarge { path: PathBuf, bound: TooLarge },
    /// A table without a line.
    #[error("`{}` is empty; expected a line with the names of the columns, then one row per item", .0.display())]
    Empty(PathBuf),
    #[error("`{}` has no column `{column}`; {help}", path.display())]
    Column {
        path: PathBuf,
        column: String,
        /// The columns there are, or the nearest.
        help: String,
    },
    #[error("`{}` row {row}: {seen}; {wanted}", path.display())]
    Row {
        path: PathBuf,
        /// Number of the row, from 1; a header line does not count.
        row: usize,
        seen: String,
        /// Remedy: what is wanted.
        wanted: Cow<'static, str>,
    },
    /// A file that is not of its layout.
    #[error("`{}` can't be read as {layout}: {reason}", path.display())]
    Layout { path: PathBuf, layout: &'static str, reason: String },
}
