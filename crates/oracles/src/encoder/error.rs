//! What can be wrong with a model.

use std::path::PathBuf;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No folder of this name.
    #[error("the model `{name}` is neither a folder nor among the models in `{}`; fetch it with `runner model fetch {name}`, or name a folder that holds config.json, tokenizer.json and model.safetensors", folder.display())]
    NotFound {
        /// As asked for.
        name: String,
        /// Where models lie.
        folder: PathBuf,
    },
    /// A folder without one of the three files.
    #[error("`{}` is missing; a model is a folder that holds config.json, tokenizer.json and model.safetensors{hint}", path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
        /// What lies there instead.
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
    /// A file that is known, with other contents.
    #[error("`{}` has the sha256 {seen}, but {wanted} is expected: it was truncated or changed. Remove it and fetch the model again", path.display())]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// Its digest.
        seen: String,
        /// The one it should have.
        wanted: String,
    },
    /// A configuration that is no JSON or lacks a key.
    #[error("`{}` is not the configuration of an encoder: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another family of models.
    #[error("`{}` describes the architecture `{seen}`; want `bert` or `roberta`", path.display())]
    Architecture {
        /// The file.
        path: PathBuf,
        /// Its `model_type`.
        seen: String,
    },
    /// Weights that are no safetensors, or cut off.
    #[error("`{}` is no whole safetensors file: {why}. Fetch it again", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A tensor that is not there.
    #[error("`{}` has no tensor `{name}`, which the configuration calls for", path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor of another shape.
    #[error("the tensor `{name}` of `{}` is {seen:?}, but the configuration calls for {wanted:?}: these two files belong to different models", path.display())]
    WrongShape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its shape.
        seen: Vec<i64>,
        /// The shape wanted.
        wanted: Vec<i64>,
    },
    /// A tokenizer that is no tokenizer, or another model's.
    #[error("`{}` is not the tokenizer of this model: {why}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A text that could not be cut into tokens.
    #[error("the text `{text}` can't be cut into tokens: {why}")]
    Text {
        /// Its beginning.
        text: String,
        /// Why.
        why: String,
    },
    /// More tokens than the model has positions.
    #[error("a sequence has {seen} tokens, but the model takes at most {wanted}; cut it when it is built")]
    TooLong {
        /// Its tokens.
        seen: usize,
        /// Positions of the model.
        wanted: usize,
    },
    /// A model without a head where one is needed.
    #[error("`{}` has no classification head; write `fine_tune`, or name a model that was fine-tuned", path.display())]
    NoHead {
        /// The weights.
        path: PathBuf,
    },
    /// A head of another number of outputs.
    #[error("the classification head has {seen} outputs, but {wanted} are needed here")]
    Outputs {
        /// Its outputs.
        seen: i64,
        /// Those wanted.
        wanted: i64,
    },
    /// Memory of the device, even for a single sequence.
    #[error(
        "the device has no memory for a single sequence of {tokens} tokens; lower `max_length`, or use `device: cpu`"
    )]
    OutOfMemory {
        /// Its tokens.
        tokens: usize,
    },
    /// libtorch.
    #[error("libtorch failed: {0}")]
    Torch(#[from] tch::TchError),
}

impl ModelError {
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// Whether the device ran out of memory, so that a smaller batch may do.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Torch(tch::TchError::Torch(message)) => {
                let message = message.to_ascii_lowercase();
                message.contains("out of memory") || message.contains("can't allocate memory")
            }
            _ => false,
        }
    }
}
