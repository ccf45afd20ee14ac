//! Faults of a model.

use std::path::{Path, PathBuf};

use landmark_oracles::neural::ModelFileError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    #[error(transparent)]
    Files(#[from] ModelFileError),
    #[error("`{}` is not the configuration of an encoder: {why}", path.display())]
    Config { path: PathBuf, why: String },
    #[error("`{}` describes the architecture `{seen}` (expected `bert` or `roberta`)", path.display())]
    Architecture { path: PathBuf, seen: String },
    #[error("`{}` is no whole safetensors file: {why}. Fetch it again", path.display())]
    Weights { path: PathBuf, why: String },
    #[error("`{}` has no tensor `{name}`, which the configuration calls for", path.display())]
    MissingTensor { path: PathBuf, name: String },
    #[error("the tensor `{name}` of `{}` is {seen:?}, but the configuration calls for {wanted:?}: these two files belong to different models", path.display())]
    WrongShape { path: PathBuf, name: String, seen: Vec<i64>, wanted: Vec<i64> },
    #[error("`{}` is not the tokenizer of this model: {why}", path.display())]
    Tokenizer { path: PathBuf, why: String },
    #[error("the text `{text}` can't be cut into tokens: {why}")]
    Text { text: String, why: String },
    #[error("a sequence has {seen} tokens, but the model takes at most {wanted}; cut it when it is built")]
    TooLong { seen: usize, wanted: usize },
    #[error("`{}` has no classification head: it encodes one text, and scores no pair. Use it as a proxy of a score, `methods: [{{ id: shift_ridge, proxy: {{ kind: embedding_cosine, model: {} }} }}]`, or fine-tune it on labeled pairs as `configs/stsb.yaml` does (`fine_tune`), which leaves a folder to name as `model`", path.display(), path.parent().unwrap_or(path).display())]
    NoHead { path: PathBuf },
    #[error("the classification head has {seen} outputs, but {wanted} are needed here")]
    Outputs { seen: i64, wanted: i64 },
    #[error("precision `int8` scores on a processor, and {asked}; use `bf16` or `f32`")]
    Int8 { asked: &'static str },
    #[error(
        "the device has no memory for a single sequence of {tokens} tokens; lower `max_length`, or use `device: cpu`"
    )]
    OutOfMemory { tokens: usize },
    #[error("libtorch failed: {0}")]
    Torch(#[from] tch::TchError),
}

impl ModelError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Files(ModelFileError::io(path)(source))
    }

    /// True where the device ran out of memory, so that a smaller batch may do.
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
