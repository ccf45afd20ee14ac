//! Faults of models' files, and of the library that runs models.

use std::path::{Path, PathBuf};

use super::{LIBRARY_VARIABLE, UnknownDevice};

/// A fault of a model's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// No folder of this name.
    #[error("the model `{name}` is neither a folder nor among the models in `{}`; {help}", folder.display())]
    NotFound {
        /// As asked for.
        name: String,
        /// Folder of the models.
        folder: PathBuf,
        /// How to come by it.
        help: String,
    },
    /// A folder without one of the three files.
    #[error("`{}` is missing; a model is a folder that holds config.json, tokenizer.json and model.safetensors{hint}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Note on what lies there instead; empty where nothing does.
        hint: &'static str,
    },
    /// The disk.
    #[error("`{}` can't be read or written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A record of a training that is none.
    #[error("`{}` is not the record of a training: {why}; remove its folder and run again", path.display())]
    Curve {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl ModelFileError {
    /// A fault of the disk, at this file.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// A failure of a model, of libtorch, or of the library that holds both.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeuralError {
    /// A program that was built without models.
    #[error("models need libtorch, which this program was built without; build it with `--features torch`")]
    NotBuilt,
    /// A library that is nowhere.
    #[error(
        "the library that runs models lies at none of {}; put it beside the program, where `cargo build -p runner` leaves it in `deps/`, or name the file in {LIBRARY_VARIABLE}",
        listed(places)
    )]
    NotFound {
        /// Paths that were tried.
        places: Vec<PathBuf>,
    },
    /// A library that the system does not load.
    #[error("cannot load `{}`, which runs models: {source}; {next_step}", file.display())]
    DoesNotLoad {
        /// The library.
        file: PathBuf,
        /// How to get the libtorch that it needs.
        next_step: String,
        /// Error of the system's loader.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A library of another build.
    #[error("`{}` belongs to another build of this program: it is of {seen}, the program of {wanted}. Build both again with `cargo build -p runner`, and copy both", file.display())]
    OtherBuild {
        /// The library.
        file: PathBuf,
        /// Its stamp.
        seen: String,
        /// The program's.
        wanted: String,
    },
    /// A defect of the library.
    #[error("the library that runs models panicked: {0}")]
    Panicked(String),
    /// A model's files.
    #[error(transparent)]
    Files(#[from] ModelFileError),
    /// A device that has no such name.
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    /// Whatever else the library says.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

fn listed(places: &[PathBuf]) -> String {
    places.iter().map(|place| format!("`{}`", place.display())).collect::<Vec<_>>().join(", ")
}
