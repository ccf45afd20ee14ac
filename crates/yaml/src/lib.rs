//! YAML with places: a file becomes a [`Node`] tree, a profile and `--set` are laid over it, and [`Section`] and serde read
//! typed values from it. All that is wrong is collected as [`Problems`], each under its line and with the nearest known name.
//!
//! [`Entry`] and [`Keys`] are the vocabulary of whatever a file can name. Nothing here knows what that is.

mod fault;
mod keys;
pub mod overlay;
mod problem;
mod profile;
mod read;
mod section;
mod suggest;
mod tree;
mod write;

pub use keys::{Entry, Keys, Parameter, choice, find, ids, schema_of};
pub use problem::{ConfigError, Problem, Sources, Span, list};
pub use profile::{Change, DEFAULT_PROFILE, PROFILES, Profile, lay_profile, profile_names};
pub use read::{ConfigPath, FromNode, Problems, from_node};
pub use section::Section;
pub use suggest::did_you_mean;
pub use tree::{Key, Node, Value, parse};
