//! The oracle of a cross-encoder: texts cut into tokens once, pairs handed to the workers in order of length.

use landmark_core::oracle::{Identity, Oracle, OracleError, Pair, Symmetry, check_pairs};
use landmark_oracles::neural::{CrossEncoderParams, ModelFiles, Score};
use tch::Device;

use super::workers::Workers;
use crate::encoder::{ModelError, Sequence, Tokenizer};

/// A cross-encoder over n texts. Asymmetric; nothing is known of its diagonal.
pub struct CrossEncoder {
    texts: Vec<Vec<i64>>,
    tokenizer: Tokenizer,
    params: CrossEncoderParams,
    longest: usize,
    identity: Identity,
    workers: Workers,
}

impl CrossEncoder {
    /// Reads a model with a head, once per device, and cuts the texts into tokens. Name the CPU once for every core that is to score.
    ///
    /// ```
    /// use landmark_core::oracle::Oracle;
    /// use landmark_neural::cross_encoder::CrossEncoder;
    /// use landmark_neural::torch::Torch;
    /// use landmark_oracles::neural::{CrossEncoderParams, DeviceChoice, ModelFiles};
    ///
    /// let devices = [Torch::start()?.device(DeviceChoice::Cpu)?];
    /// let texts = ["A dog runs.", "The cat sleeps."].map(String::from);
    /// let oracle = CrossEncoder::open(&ModelFiles::tiny(), &texts, CrossEncoderParams::default(), &devices)?;
    /// let mut scores = [0.0; 2];
    /// oracle.evaluate(&[(0, 1), (1, 0)], &mut scores)?;
    /// assert_ne!(scores[0], scores[1]); // the order matters
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError`]: files, tokenizer, [`ModelError::NoHead`], [`ModelError::Outputs`] for a regression of several outputs.
    pub fn open(
        files: &ModelFiles,
        texts: &[String],
        params: CrossEncoderParams,
        devices: &[Device],
    ) -> Result<Self, ModelError> {
        let tokenizer = Tokenizer::open(files)?;
        let workers = Workers::start(files, params.precision, devices)?;
        if params.score == Score::Regression && workers.outputs() != 1 {
            return Err(ModelError::Outputs { seen: workers.outputs(), wanted: 1 });
        }
        let longest = params.max_length.min(workers.longest());
        let tokens = texts.iter().map(|text| tokenizer.text(text)).collect::<Result<Vec<_>, _>>()?;
        let identity = identity(workers.identity(), digest(texts), &params, longest);
        Ok(Self { texts: tokens, tokenizer, params, longest, identity, workers })
    }

    /// Digest of all that moves a score but the texts.
    pub fn identity_apart_from_texts(&self) -> Identity {
        identity(self.workers.identity(), Identity::from_bytes([0; 32]), &self.params, self.longest)
    }

    /// Number of texts that would be cut even if they were alone, and number of tokens that those lose.
    pub fn cut(&self) -> (usize, usize) {
        let room = self.longest.saturating_sub(2);
        let over = self.texts.iter().filter(|text| text.len() > room).map(|text| text.len() - room);
        over.fold((0, 0), |(texts, tokens), more| (texts + 1, tokens + more))
    }

    /// Texts without a token: an empty sentence is scored as such.
    pub fn empty(&self) -> usize {
        self.texts.iter().filter(|text| text.is_empty()).count()
    }

    fn sequence(&self, (i, j): Pair) -> Sequence {
        self.tokenizer.pair(&self.texts[i], &self.texts[j], self.longest)
    }

    fn length(&self, (i, j): Pair) -> usize {
        self.tokenizer.length_of_pair(self.texts[i].len(), self.texts[j].len(), self.longest)
    }
}

/// Digest of texts and their order.
fn digest(texts: &[String]) -> Identity {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    Identity::from_bytes(*hasher.finalize().as_bytes())
}

/// Weights, configuration, tokenizer and precision are in the model's own; order policies are above this oracle.
fn identity(model: Identity, texts: Identity, params: &CrossEncoderParams, longest: usize) -> Identity {
    Identity::of(&[
        ("kind", b"cross_encoder"),
        ("version", b"1"),
        ("model", model.as_bytes()),
        ("score", params.score.id().as_bytes()),
        ("max_length", &(longest as u64).to_le_bytes()),
        ("texts", texts.as_bytes()),
    ])
}

impl Oracle for CrossEncoder {
    fn len(&self) -> usize {
        self.texts.len()
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Asymmetric
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn calls_at_once(&self) -> usize {
        self.workers.at_once()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&k| self.length(pairs[k]));
        let lengths: Vec<usize> = order.iter().map(|&k| self.length(pairs[k])).collect();
        let outputs = usize::try_from(self.workers.outputs()).unwrap_or(1);
        let failed = |error: ModelError| OracleError::Failed {
            what: format!("{} pairs of a cross-encoder", pairs.len()),
            source: error.into(),
        };
        let sequence = |k: usize| self.sequence(pairs[k]);
        self.workers
            .run(&order, &lengths, &sequence, &mut |k, values| out[k] = self.params.score.of(values), outputs)
            .map_err(failed)?;
        landmark_core::oracle::check_finite(pairs, out)
    }
}
