//! Models in libtorch: a cross-encoder as the oracle over texts, a bi-encoder as its proxy.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{EmbeddingProxy, Identity, Itemless, Oracle, Pair};
use landmark_core::stream::stream;
use landmark_data::{matrices, npy};
use landmark_oracles::neural::{
    CrossEncoderParams, DeviceChoice, FineTune, FineTuned, ModelFileError, ModelFiles, Neural, NeuralError, Precision,
    TextScorer, TorchReport, TuningProgress, open,
};
use landmark_report::Caveat;
use landmark_store::ItemList;
use landmark_tasks::metrics::pearson;
use ndarray::Array2;
use rand::Rng as _;

use crate::config::run_settings::RunSettings;
use crate::loaded::LoadError;

/// libtorch on a device; loaded when the first model is asked for.
pub fn libtorch(device: DeviceChoice, threads: Option<usize>) -> Result<Arc<dyn Neural>, NeuralError> {
    open(device, threads)
}

/// The files of a model, and a warning where those of the tiny one inside stand in for it: the model is missing, and so is the dataset
/// (`fell_back`), in whose place the sample inside is.
pub(crate) fn or_tiny(
    found: Result<ModelFiles, ModelFileError>,
    fell_back: bool,
) -> Result<(ModelFiles, Option<Caveat>), NeuralError> {
    match found {
        Ok(files) => Ok((files, None)),
        Err(error @ ModelFileError::NotFound { .. }) if fell_back => {
            let text = format!("FELL BACK to the model `tiny` inside, which knows nothing, because {error}");
            Ok((ModelFiles::tiny(), Some(Caveat { dataset: None, text, breaks_comparison: true })))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) struct ModelOverTexts {
    /// Scores of pairs, each in the order in which it is asked for.
    pub(crate) scores: Arc<dyn Oracle>,
    /// The scores apart from the texts, and these, where the model is there.
    pub(crate) item_list: Option<ItemList>,
    /// What is to be reported about the texts, in sentences.
    pub(crate) notes: Vec<String>,
}

/// libtorch, and where it computes.
pub(crate) struct Models(Arc<dyn Neural>);

impl Models {
    /// Every GPU for `auto` where there is one; else the device that is named.
    pub(crate) fn start(run: &RunSettings, device: &str) -> Result<Self, LoadError> {
        let threads = run.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
        let device = device.parse().map_err(NeuralError::from)?;
        Ok(Self(libtorch(device, Some(threads.unwrap_or(1)))?))
    }

    pub(crate) fn report(&self) -> TorchReport {
        self.0.report()
    }

    pub(crate) fn fine_tune(
        &self,
        recipe: &FineTune<'_>,
        models: &Path,
        on_progress: &mut dyn FnMut(TuningProgress<'_>),
    ) -> Result<FineTuned, NeuralError> {
        self.0.fine_tune(recipe, models, on_progress)
    }

    /// Returns the seconds per training step; nothing of these steps is kept.
    pub(crate) fn time_training(&self, recipe: &FineTune<'_>, steps: usize) -> Result<f64, NeuralError> {
        self.0.time_training(recipe, steps)
    }

    /// A model with a head over these texts.
    pub(crate) fn cross_encoder(
        &self,
        files: &ModelFiles,
        params: CrossEncoderParams,
        texts: &[String],
    ) -> Result<ModelOverTexts, LoadError> {
        let precision = params.precision;
        if !precision.is_native() && self.0.report().gpus == 0 {
            let name = precision.id();
            tracing::warn!(
                "this processor has no instructions for `{name}`, which is slower than `f32` here: `--set oracle.precision=f32`"
            );
        }
        let oracle = self.0.cross_encoder(files, texts, params)?;
        let mut notes = Vec::new();
        notes.extend(of_cut_pairs(&oracle));
        if oracle.empty > 0 {
            notes.push(format!("{} texts are empty and are scored as such", oracle.empty));
        }
        if precision == Precision::Int8 && texts.len() > 1 {
            let exact = CrossEncoderParams { precision: Precision::F32, ..params };
            notes.push(rounding(&oracle, &self.0.cross_encoder(files, texts, exact)?)?);
        }
        let apart = Itemless { identity: oracle.identity_apart_from_texts, symmetry: oracle.symmetry() };
        Ok(ModelOverTexts { scores: Arc::new(oracle), item_list: Some(ItemList::new(apart, texts)), notes })
    }

    /// Cosine of mean hidden states: computed once, and kept next to the models.
    pub(crate) fn bi_encoder(&self, files: &ModelFiles, texts: &[String]) -> Result<Arc<dyn Oracle>, LoadError> {
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"mean hidden states v1")];
        let identity = files.identity().map_err(NeuralError::from)?;
        parts.push(("model", identity.as_bytes()));
        parts.extend(texts.iter().map(|text| ("sentence", text.as_bytes())));
        let folder = ModelFiles::models_folder(None).join("embeddings");
        let path = folder.join(format!("{}.npy", Identity::of(&parts).short()));
        if let Ok(vectors) = matrices::read_rows(&path)
            && vectors.nrows() == texts.len()
        {
            return Ok(Arc::new(EmbeddingProxy::cosine(vectors)?));
        }
        let values = self.0.embeddings(files, texts)?;
        let vectors = Array2::from_shape_vec((texts.len(), values.len() / texts.len().max(1)), values);
        let vectors = vectors.map_err(|error| NeuralError::Failed(error.into()))?;
        let unfinished = path.with_extension("unfinished");
        let kept = std::fs::create_dir_all(&folder)
            .map_err(|error| error.to_string())
            .and_then(|()| npy::write(&unfinished, &vectors).map_err(|error| error.to_string()))
            .and_then(|()| std::fs::rename(&unfinished, &path).map_err(|error| error.to_string()));
        if let Err(error) = kept {
            tracing::warn!(
                "the embeddings can't be kept in `{}`: {error}; they are computed again next time",
                path.display()
            );
        }
        Ok(Arc::new(EmbeddingProxy::cosine(vectors)?))
    }
}

/// Pairs on which scores of rounded products are held against those of f32.
const PAIRS_OF_BOTH: usize = 100;

/// What rounding does to the scores of some pairs, drawn alike in every run.
fn rounding(rounded: &dyn Oracle, exact: &dyn Oracle) -> Result<String, LoadError> {
    let (n, mut rng) = (exact.len(), stream(0, "rounding", "pairs", 0));
    let mut pair = || (rng.gen_range(0..n), rng.gen_range(0..n));
    let pairs: Vec<Pair> = (0..PAIRS_OF_BOTH).map(|_| pair()).collect();
    let scores = |oracle: &dyn Oracle| {
        let mut scores = vec![0.0; pairs.len()];
        oracle.evaluate(&pairs, &mut scores).map(|()| scores)
    };
    let (seen, wanted) = (scores(rounded)?, scores(exact)?);
    let off: Vec<f64> = seen.iter().zip(&wanted).map(|(x, y)| (x - y).abs()).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let largest = off.iter().copied().fold(0.0, f64::max);
    // a correlation needs scores that differ
    let correlation = pearson(&seen, &wanted).map_or_else(|_| String::new(), |r| format!(", Pearson {r:.4}"));
    Ok(format!(
        "`int8` against f32 on {PAIRS_OF_BOTH} pairs: scores differ by {mean:.4} on average, {largest:.4} at most{correlation}"
    ))
}

/// How many pairs a model does not read whole.
fn of_cut_pairs(oracle: &TextScorer) -> Option<String> {
    let (cut, longest, (alone, tokens)) = (oracle.cut_pairs, oracle.longest, oracle.cut);
    let all = oracle.len as u64 * (oracle.len as u64).saturating_sub(1) / 2;
    let texts = match alone {
        0 => String::new(),
        _ => format!("; {alone} texts are longer than that alone and lose {tokens} tokens"),
    };
    (cut > 0 || alone > 0).then(|| {
        format!(
            "{cut} of {all} pairs have more than the {longest} tokens that the model reads at most, and are cut{texts}"
        )
    })
}
