//! landmark-fetch: corpora and models from their public sources into the user's folders.
//!
//! ```text
//! LANDMARK_MIRROR/data/<file>                                     a file that is ready
//! LANDMARK_MIRROR/<host>/<path>  →  <host>/<path>, next address   its raw sources, in turn
//!    └ download (resumed, retried) → unpack → digest → conversion → digest → our file, written at once
//! ```
//!
//! What arrives counts only if its digest is known, so it does not matter which of the places it came from. One folder is
//! fetched into by one process at a time. A download that a kill cut off is resumed, not fetched again.
//!
//! - [`Places`]: folder of the corpora and mirrors, from flags, variables and the platform's convention.
//! - [`Downloader`]: one address to one file.
//! - [`corpora`]: files of the catalog by [`landmark_data::raw::recipes`]; [`models`]: models of the hub.
//! - [`Watch`]: what a user sees of it; [`Console`] is the terminal.

mod console;
pub mod corpora;
mod download;
mod error;
mod lock;
pub mod models;
mod on_need;
mod places;
pub mod table;

pub use console::{Console, Silent, Watch, megabytes};
pub use download::{DownloadSettings, Downloader};
pub use error::FetchError;
pub use on_need::{Wish, on_need};
pub use places::{ACCEPT_VARIABLE, FETCH_VARIABLE, MIRROR_ONLY_VARIABLE, MIRROR_VARIABLE, Mirror, Places};
