//! Recipe of a fine-tuning, and the folder of its result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use landmark_core::oracle::Identity;

use super::{Epoch, FineTuneParams, ModelFileError, ModelFiles, Target};

/// Pairs with the scores they should have.
#[derive(Debug, Clone, Copy)]
pub struct LabelledPairs<'a> {
    pub texts: &'a [String],
    pub pairs: &'a [(usize, usize)],
    /// One a pair, between 0 and 1.
    pub targets: &'a [f64],
}

#[derive(Debug, Clone)]
pub struct FineTuned {
    /// The weights of the best epoch.
    pub files: ModelFiles,
    pub curve: Vec<Epoch>,
}

#[derive(Debug, Clone, Copy)]
pub struct FineTune<'a> {
    pub base: &'a ModelFiles,
    /// Names the random streams.
    pub dataset: &'a str,
    pub train: LabelledPairs<'a>,
    /// Development pairs, by which the epochs are judged.
    pub dev: LabelledPairs<'a>,
    pub target: Target,
    pub params: FineTuneParams,
    pub max_length: usize,
    pub seed: u64,
    /// Time between two checkpoints inside an epoch. It does not change the weights.
    pub checkpoint_every: Duration,
}

/// The file that a finished folder holds besides the model: its epochs.
pub const CURVE: &str = "curve.json";

impl FineTune<'_> {
    /// Number of steps of the optimizer in each epoch.
    pub fn steps_per_epoch(&self) -> usize {
        self.train.pairs.len().div_ceil(self.params.batch.max(1))
    }

    /// A digest of everything that moves the result but the rounding of the processor: it names the folder.
    pub fn recipe(&self) -> Result<Identity, ModelFileError> {
        let base = self.base.identity()?;
        let params = serde_json::to_vec(&(self.params, self.target, self.max_length)).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for part in [&self.train, &self.dev] {
            hasher.update(&(part.pairs.len() as u64).to_le_bytes());
            for (&(i, j), target) in part.pairs.iter().zip(part.targets) {
                for text in [&part.texts[i], &part.texts[j]] {
                    hasher.update(&(text.len() as u64).to_le_bytes());
                    hasher.update(text.as_bytes());
                }
                hasher.update(&target.to_le_bytes());
            }
        }
        Ok(Identity::of(&[
            ("kind", b"fine_tune"),
            ("version", b"1"),
            ("base", base.as_bytes()),
            ("params", &params),
            ("pairs", hasher.finalize().as_bytes()),
            ("dataset", self.dataset.as_bytes()),
            ("seed", &self.seed.to_le_bytes()),
        ]))
    }

    /// The folder of the result below `models`.
    pub fn folder(&self, models: &Path) -> Result<PathBuf, ModelFileError> {
        Ok(models.join("fine-tuned").join(format!("{}-{}", self.dataset, self.recipe()?.short())))
    }

    /// The result, if it is there.
    ///
    /// # Errors
    /// [`ModelFileError`]: a folder that is marked as finished and is not.
    pub fn finished(&self, models: &Path) -> Result<Option<FineTuned>, ModelFileError> {
        let folder = self.folder(models)?;
        let path = folder.join(CURVE);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).map_err(ModelFileError::io(&path))?;
        let curve =
            serde_json::from_slice(&bytes).map_err(|error| ModelFileError::Curve { path, why: error.to_string() })?;
        Ok(Some(FineTuned { files: ModelFiles::at(folder)?, curve }))
    }
}
