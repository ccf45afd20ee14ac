//! Files of a model, and the folder of models.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use landmark_core::oracle::Identity;
use serde::Deserialize;

use super::ModelFileError;

/// The environment variable that names the folder of models.
pub const MODELS_VARIABLE: &str = "LANDMARK_MODELS";
/// The folder of models where no other is set.
const MODELS: &str = "models";

const NAMES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct KnownModel {
    pub name: &'static str,
    /// The repository on the HuggingFace hub.
    pub hub: &'static str,
    /// Its revision there: a commit, or the branch whose files have these digests.
    pub revision: &'static str,
    /// A package of the Python index that holds the same files in its folder `model/`, where there is one.
    pub package: Option<&'static str>,
    pub license: &'static str,
    pub files: [KnownFile; 3],
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct KnownFile {
    pub name: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

/// The models that `landmark model fetch` can get and check: what `known_models.json` lists.
pub static KNOWN_MODELS: LazyLock<Vec<KnownModel>> =
    LazyLock::new(|| serde_json::from_str(include_str!("known_models.json")).expect("known_models.json lists models"));

impl KnownModel {
    pub fn find(name: &str) -> Option<&'static Self> {
        KNOWN_MODELS.iter().find(|model| model.name == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    folder: Option<PathBuf>,
}

/// The name of the model inside: two layers of random numbers that know nothing, for tests and first runs.
const TINY: &str = "tiny";
const TINY_FILES: [&[u8]; 3] = [
    include_bytes!("../../embedded/tiny-bert/config.json"),
    include_bytes!("../../embedded/tiny-bert/tokenizer.json"),
    include_bytes!("../../embedded/tiny-bert/model.safetensors"),
];

fn where_from(name: &str) -> String {
    let folder = "name a folder that holds config.json, tokenizer.json and model.safetensors";
    match KnownModel::find(name) {
        Some(_) => format!("fetch it with `landmark model fetch {name}`, or {folder}"),
        None => format!("{folder}; its path starts where you are, or at the folder of the configuration"),
    }
}

impl ModelFiles {
    /// The folder of models: `models_dir` where given, else [`MODELS_VARIABLE`], else `models/`.
    pub fn models_folder(models_dir: Option<&Path>) -> PathBuf {
        match (models_dir, std::env::var_os(MODELS_VARIABLE)) {
            (Some(folder), _) => folder.to_owned(),
            (None, Some(folder)) => PathBuf::from(folder),
            (None, None) => PathBuf::from(MODELS),
        }
    }

    /// A model by the path of its folder, or by its name among the models; `tiny` is inside and needs no file.
    ///
    /// # Errors
    /// [`ModelFileError::NotFound`], [`ModelFileError::Missing`].
    pub fn find(name: &str, models_dir: Option<&Path>) -> Result<Self, ModelFileError> {
        if name == TINY {
            return Ok(Self::tiny());
        }
        let models = Self::models_folder(models_dir);
        // a hub name `owner/model` may lie under its last part
        let short = name.rsplit('/').next().unwrap_or(name);
        let candidates = [PathBuf::from(name), models.join(name), models.join(short)];
        match candidates.into_iter().find(|folder| folder.is_dir()) {
            Some(folder) => Self::at(folder),
            None => Err(ModelFileError::NotFound { name: name.to_owned(), folder: models, help: where_from(name) }),
        }
    }

    /// The model of a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Result<Self, ModelFileError> {
        let folder = folder.into();
        for name in NAMES {
            let path = folder.join(name);
            if !path.is_file() {
                let has_pickle = name == NAMES[2] && folder.join("pytorch_model.bin").is_file();
                let hint = if has_pickle {
                    ". There is a `pytorch_model.bin`, but pickles can run any code and are never read: convert it to safetensors"
                } else {
                    ""
                };
                return Err(ModelFileError::Missing { path, hint });
            }
        }
        Ok(Self { folder: Some(folder) })
    }

    /// The model inside: a BERT of two layers of 16 with a regression head, all random. It knows nothing.
    pub fn tiny() -> Self {
        Self { folder: None }
    }

    /// True for the model inside.
    pub fn is_tiny(&self) -> bool {
        self.folder.is_none()
    }

    /// Path of `config.json`, for error messages.
    pub fn config(&self) -> PathBuf {
        self.path(0)
    }

    /// Path of `tokenizer.json`, for error messages.
    pub fn tokenizer(&self) -> PathBuf {
        self.path(1)
    }

    /// Path of `model.safetensors`, for error messages.
    pub fn weights(&self) -> PathBuf {
        self.path(2)
    }

    pub fn config_bytes(&self) -> Result<Cow<'static, [u8]>, ModelFileError> {
        self.bytes(0)
    }

    pub fn tokenizer_bytes(&self) -> Result<Cow<'static, [u8]>, ModelFileError> {
        self.bytes(1)
    }

    pub fn weights_bytes(&self) -> Result<Cow<'static, [u8]>, ModelFileError> {
        self.bytes(2)
    }

    fn path(&self, file: usize) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| PathBuf::from(TINY)).join(NAMES[file])
    }

    fn bytes(&self, file: usize) -> Result<Cow<'static, [u8]>, ModelFileError> {
        if self.is_tiny() {
            return Ok(Cow::Borrowed(TINY_FILES[file]));
        }
        let path = self.path(file);
        std::fs::read(&path).map(Cow::Owned).map_err(ModelFileError::io(&path))
    }

    /// The limit that `tokenizer_config.json` next to these files sets on a sequence, special tokens included; libraries write a number
    /// of thirty digits if there is none.
    pub fn tokenizer_limit(&self) -> Option<usize> {
        let path = self.folder.as_ref()?.join("tokenizer_config.json");
        let settings: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let limit = settings.get("model_max_length")?.as_u64()?;
        usize::try_from(limit).ok().filter(|limit| (8..1_000_000).contains(limit))
    }

    /// A digest of the bytes of the three files.
    pub fn identity(&self) -> Result<Identity, ModelFileError> {
        let digest = |file| Ok::<_, ModelFileError>(*blake3::hash(&self.bytes(file)?).as_bytes());
        let (config, tokenizer, weights) = (digest(0)?, digest(1)?, digest(2)?);
        Ok(Identity::of(&[("config", &config), ("tokenizer", &tokenizer), ("weights", &weights)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_there_names_the_command_that_fetches_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = ModelFiles::find("all-MiniLM-L6-v2", Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("landmark model fetch all-MiniLM-L6-v2"), "{error}");
    }

    #[test]
    fn the_limit_of_a_tokenizer_is_read_where_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in NAMES {
            std::fs::write(folder.path().join(name), "{}").unwrap();
        }
        let files = ModelFiles::at(folder.path()).unwrap();
        assert_eq!((files.tokenizer_limit(), ModelFiles::tiny().tokenizer_limit()), (None, None));
        for (written, wanted) in
            [("512", Some(512)), ("1000000000000000019884624838656", None), ("null", None), ("\"512\"", None)]
        {
            let text = format!("{{\"model_max_length\": {written}}}");
            std::fs::write(folder.path().join("tokenizer_config.json"), text).unwrap();
            assert_eq!(files.tokenizer_limit(), wanted, "{written}");
        }
    }

    #[test]
    fn a_pickle_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["config.json", "tokenizer.json", "pytorch_model.bin"] {
            std::fs::write(folder.path().join(name), "{}").unwrap();
        }
        let error = ModelFiles::at(folder.path()).unwrap_err().to_string();
        assert!(error.contains("model.safetensors` is missing") && error.contains("never read"), "{error}");
    }
}
