//! Models in libtorch: a cross-encoder as the oracle over texts, a bi-encoder as its proxy.

#[cfg(feature = "torch")]
pub(super) use with_torch::Models;
#[cfg(not(feature = "torch"))]
pub(super) use without_torch::Models;

#[cfg(feature = "torch")]
mod with_torch {
    use std::sync::Arc;

    use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle};
    use landmark_data::matrices;
    use landmark_oracles::cross_encoder::CrossEncoder;
    use landmark_oracles::encoder::{Encoder, ModelError, ModelFiles, Precision, Tokenizer};
    use landmark_oracles::torch::{DeviceChoice, Torch, TorchReport};
    use ndarray::Array2;
    use ndarray_npy::write_npy;
    use tch::Device;

    use crate::config::{CrossEncoderConfig, RunSettings};
    use crate::stage::{ModelFailure, StageError};

    /// libtorch, and where it computes.
    pub(in crate::stage) struct Models {
        torch: Torch,
        devices: Vec<Device>,
        /// Cores to compute with.
        threads: usize,
    }

    impl Models {
        /// Every GPU for `auto` where there is one; else the device that is named.
        pub(in crate::stage) fn start(run: &RunSettings, device: &str) -> Result<Self, StageError> {
            let torch = Torch::start().map_err(ModelFailure::from)?;
            let choice: DeviceChoice = device.parse().map_err(ModelFailure::from)?;
            let devices = if choice == DeviceChoice::Auto && torch.gpus() > 1 {
                (0..torch.gpus()).map(Device::Cuda).collect()
            } else {
                vec![torch.device(choice).map_err(ModelFailure::from)?]
            };
            let threads = run.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
            let models = Self { torch, devices, threads: threads.unwrap_or(1) };
            models.share_cores();
            Ok(models)
        }

        /// Every operation may use all cores.
        fn share_cores(&self) {
            tch::set_num_threads(i32::try_from(self.threads).unwrap_or(1));
        }

        pub(in crate::stage) fn report(&self) -> TorchReport {
            self.torch.report()
        }

        /// The device of what runs on one.
        pub(in crate::stage) fn device(&self) -> Device {
            self.devices.first().copied().unwrap_or(Device::Cpu)
        }

        /// A model with a head over these texts, each pair in the order in which it is asked for, and what is to be said of the texts.
        pub(in crate::stage) fn cross_encoder(
            &self,
            files: &ModelFiles,
            wanted: &CrossEncoderConfig,
            texts: &[String],
        ) -> Result<(Arc<dyn Oracle>, Vec<String>), StageError> {
            // a lane a core
            let cores = vec![Device::Cpu; self.threads];
            let lanes = if self.device() == Device::Cpu { &cores } else { &self.devices };
            let oracle = CrossEncoder::open(files, texts, wanted.params(), lanes).map_err(ModelFailure::from)?;
            let mut notes = Vec::new();
            let (cut, tokens) = oracle.cut();
            if cut > 0 {
                notes.push(format!("{cut} texts are longer than the model reads and lose {tokens} tokens"));
            }
            if oracle.empty() > 0 {
                notes.push(format!("{} texts are empty and are scored as such", oracle.empty()));
            }
            Ok((Arc::new(oracle), notes))
        }

        /// The same with a model that is named.
        pub(in crate::stage) fn named_cross_encoder(
            &self,
            wanted: &CrossEncoderConfig,
            texts: &[String],
        ) -> Result<(Arc<dyn Oracle>, Vec<String>), StageError> {
            let files = ModelFiles::find(&wanted.model, None).map_err(ModelFailure::from)?;
            self.cross_encoder(&files, wanted, texts)
        }

        /// Cosine of mean hidden states: computed once, and kept beside the models.
        pub(in crate::stage) fn bi_encoder(
            &self,
            model: &str,
            texts: &[String],
        ) -> Result<Arc<dyn Oracle>, StageError> {
            let files = ModelFiles::find(model, None).map_err(ModelFailure::from)?;
            let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"mean hidden states v1")];
            let identity = files.identity().map_err(ModelFailure::from)?;
            parts.push(("model", identity.as_bytes()));
            parts.extend(texts.iter().map(|text| ("sentence", text.as_bytes())));
            let folder = ModelFiles::models_folder(None).join("embeddings");
            let path = folder.join(format!("{}.npy", Identity::of(&parts).short()));
            if let Ok(vectors) = matrices::read_rows(&path)
                && vectors.nrows() == texts.len()
            {
                return Ok(Arc::new(EmbeddingProxy::cosine(vectors)?));
            }
            let vectors = self.mean_hidden_states(&files, texts).map_err(ModelFailure::from)?;
            let unfinished = path.with_extension("unfinished");
            let kept = std::fs::create_dir_all(&folder)
                .map_err(|error| error.to_string())
                .and_then(|()| write_npy(&unfinished, &vectors).map_err(|error| error.to_string()))
                .and_then(|()| std::fs::rename(&unfinished, &path).map_err(|error| error.to_string()));
            if let Err(error) = kept {
                tracing::warn!(
                    "the embeddings can't be kept in `{}`: {error}; they are computed again next time",
                    path.display()
                );
            }
            Ok(Arc::new(EmbeddingProxy::cosine(vectors)?))
        }

        fn mean_hidden_states(&self, files: &ModelFiles, texts: &[String]) -> Result<Array2<f64>, ModelError> {
            self.share_cores();
            let tokenizer = Tokenizer::open(files)?;
            let encoder = Encoder::open(files, self.device(), Precision::F32)?;
            let longest = encoder.config().longest();
            let sequence = |text: &String| Ok(tokenizer.single(&tokenizer.text(text)?, longest));
            let sequences = texts.iter().map(sequence).collect::<Result<Vec<_>, ModelError>>()?;
            encoder.embeddings(&sequences)
        }
    }
}

#[cfg(not(feature = "torch"))]
mod without_torch {
    use std::sync::Arc;

    use landmark_core::oracle::Oracle;

    use crate::config::{CrossEncoderConfig, RunSettings};
    use crate::stage::StageError;

    /// There is no libtorch, and so there are no models.
    pub(in crate::stage) enum Models {}

    impl Models {
        pub(in crate::stage) fn start(_: &RunSettings, _: &str) -> Result<Self, StageError> {
            Err(StageError::NoTorch)
        }

        pub(in crate::stage) fn named_cross_encoder(
            &self,
            _: &CrossEncoderConfig,
            _: &[String],
        ) -> Result<(Arc<dyn Oracle>, Vec<String>), StageError> {
            match *self {}
        }

        pub(in crate::stage) fn bi_encoder(&self, _: &str, _: &[String]) -> Result<Arc<dyn Oracle>, StageError> {
            match *self {}
        }
    }
}
