//! Files that a training writes after and inside each epoch, and those that it leaves when it is over.
//!
//! `checkpoint.safetensors` holds weights, both moments of the optimizer, the mean of the weights where there is one and, in its
//! header, the epochs so far and the part of the current one: one file, so that it is there as a whole or not at all. `best.safetensors` is the model of the best epoch, written before it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use landmark_oracles::neural::{Epoch, ModelFiles};
use safetensors::SafeTensors;
use tch::{Device, Tensor};

use super::trainable::Trainable;
use crate::adamw::AdamW;
use crate::encoder::{Classifier, ModelError, Weights};

const CHECKPOINT: &str = "checkpoint.safetensors";
const BEST: &str = "best.safetensors";
/// The header's key for the epochs.
const EPOCHS: &str = "epochs";
/// The header's key for the steps of the optimizer.
const STEPS: &str = "steps";
/// The header's keys for the part of the current epoch; checkpoints of earlier versions lack them.
const PART: [&str; 3] = ["steps of the epoch", "loss of the epoch", "seconds of the epoch"];
const PARTS: [&str; 4] = ["weights", "first", "second", "average"];

/// The steps of an unfinished epoch that a training has made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PartOfEpoch {
    pub(super) steps: usize,
    /// Sum over the pairs of these steps.
    pub(super) loss: f64,
    pub(super) seconds: f64,
}

/// A training after some steps; tensors in the order of the leaves.
pub(super) struct Checkpoint {
    pub(super) weights: Vec<Tensor>,
    pub(super) first: Vec<Tensor>,
    pub(super) second: Vec<Tensor>,
    pub(super) average: Vec<Tensor>,
    pub(super) steps: u64,
    pub(super) curve: Vec<Epoch>,
    pub(super) done: PartOfEpoch,
}

impl Checkpoint {
    pub(super) fn read(folder: &Path, device: Device) -> Result<Option<Self>, ModelError> {
        let path = folder.join(CHECKPOINT);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).map_err(ModelError::io(&path))?;
        let wrong = |why: String| ModelError::Weights { path: path.clone(), why };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| wrong(error.to_string()))?;
        let known = |key: &str| header.metadata().as_ref().and_then(|facts| facts.get(key));
        let entry = |key: &str| known(key).ok_or_else(|| wrong(format!("its header has no `{key}`")));
        let number = |key: &str| {
            let number = known(key).map_or(Ok(0.0), |value| value.parse::<f64>());
            number.map_err(|_| wrong(format!("`{key}` in its header is not a number")))
        };
        let [steps_of_epoch, loss, seconds] = PART;
        let done =
            PartOfEpoch { steps: number(steps_of_epoch)? as usize, loss: number(loss)?, seconds: number(seconds)? };
        let curve = serde_json::from_str(entry(EPOCHS)?).map_err(|error| wrong(error.to_string()))?;
        let steps = entry(STEPS)?.parse().map_err(|_| wrong("its steps are no number".to_owned()))?;
        let tensors = Weights::parse(&bytes, &path, device)?;
        let [weights, first, second, average] = PARTS.map(|part| tensors.under(part));
        Ok(Some(Self { weights, first, second, average, steps, curve, done }))
    }

    pub(super) fn write(
        folder: &Path,
        model: &Trainable,
        optimizer: &AdamW,
        average: &[Tensor],
        (curve, done): (&[Epoch], &PartOfEpoch),
    ) -> Result<(), ModelError> {
        let path = folder.join(CHECKPOINT);
        let weights = model.parameters();
        let (first, second, steps) = optimizer.state();
        let mut tensors = BTreeMap::new();
        for (part, values) in PARTS.iter().zip([&weights[..], first, second, average]) {
            for (number, tensor) in values.iter().enumerate() {
                // numbered, so that they come back in the order of the leaves
                tensors.insert(format!("{part}/{number:05}"), tensor.f_detach()?);
            }
        }
        let mut facts = HashMap::from([
            (EPOCHS.to_owned(), serde_json::to_string(curve).unwrap_or_default()),
            (STEPS.to_owned(), steps.to_string()),
        ]);
        let part = [done.steps.to_string(), done.loss.to_string(), done.seconds.to_string()];
        facts.extend(PART.map(str::to_owned).into_iter().zip(part));
        Weights::write_with(&tensors, Some(facts), &path)
    }
}

/// Writes the model as it is now as the best so far.
pub(super) fn keep_best(model: &Trainable, folder: &Path) -> Result<(), ModelError> {
    Classifier::write(model.whole()?, &folder.join(BEST))
}

/// Makes a model of the folder of a training that is over: the best weights, the files of the base model, and last the
/// curve, whose presence shows that all is there.
pub(super) fn finish(base: &ModelFiles, folder: &Path, curve: &[u8], curve_name: &str) -> Result<(), ModelError> {
    let put = |name: &str, bytes: &[u8]| {
        let (path, unfinished) = (folder.join(name), folder.join(format!("{name}.unfinished")));
        std::fs::write(&unfinished, bytes).map_err(ModelError::io(&unfinished))?;
        std::fs::rename(&unfinished, &path).map_err(ModelError::io(&path))
    };
    let (best, weights) = (folder.join(BEST), folder.join("model.safetensors"));
    put("config.json", &base.config_bytes()?)?;
    put("tokenizer.json", &base.tokenizer_bytes()?)?;
    // killed between these lines, the last epoch's checkpoint is there and the weights are where they belong
    if best.exists() {
        std::fs::rename(&best, &weights).map_err(ModelError::io(&weights))?;
    }
    put(curve_name, curve)?;
    let checkpoint = folder.join(CHECKPOINT);
    std::fs::remove_file(&checkpoint).map_err(ModelError::io(&checkpoint))
}
