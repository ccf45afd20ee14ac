//! Faults of models' files, and of the library that runs models.

use std::path::{Path, PathBuf};

use super::{LIBRARY_VARIABLE, UnknownDevice};

/// A fault of a model's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    #[error("the model `{name}` is neither a folder nor among the models in `{}`; {help}", folder.display())]
    NotFound { name: String, folder: PathBuf, help: String },
    #[error("`{}` is missing; a model is a folder that holds config.json, tokenizer.json and model.safetensors{hint}", path.display())]
    Missing { path: PathBuf, hint: &'static str },
    #[error("`{}` can't be read or written", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("`{}` is not the record of a training: {why}; remove its folder and run again", path.display())]
    Curve { path: PathBuf, why: String },
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
    #[error(
        "cannot find the library that runs models: it lies at none of {}; build it with `scripts/setup && cargo build --release -p runner --features torch`, or name the file in {LIBRARY_VARIABLE}",
        listed(places)
    )]
    NotFound { places: Vec<PathBuf> },
    #[error("cannot load `{}`, which runs models: {source}; {next_step}", file.display())]
    DoesNotLoad {
        file: PathBuf,
        next_step: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("`{}` belongs to another build of this program: it is of {seen}, the program of {wanted}. Build both again with `cargo build -p runner --features torch`, and copy both", file.display())]
    OtherBuild { file: PathBuf, seen: String, wanted: String },
    #[error("the library that runs models panicked: {0}")]
    Panicked(String),
    #[error(transparent)]
    Files(#[from] ModelFileError),
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

fn listed(places: &[PathBuf]) -> String {
    places.iter().map(|place| format!("`{}`", place.display())).collect::<Vec<_>>().join(", ")
}
