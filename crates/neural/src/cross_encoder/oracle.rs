//! The oracle of a cross-encoder: texts cut into tokens once, pairs handed to the workers in order of length.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_pairs};
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
    cutting: Cutting,
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
        let own = files.tokenizer_limit().map_or(workers.longest(), |limit| limit.min(workers.longest()));
        let longest = params.max_length.map_or(own, |most| most.min(workers.longest()));
        let tokens = texts.iter().map(|text| tokenizer.text(text)).collect::<Result<Vec<_>, _>>()?;
        let cutting = Cutting::of(&tokens, &tokenizer, params.max_length.is_some(), longest);
        let identity = identity(workers.identity(), digest(texts), &params, cutting);
        Ok(Self { texts: tokens, tokenizer, params, longest, cutting, identity, workers })
    }

    /// Digest of all that moves a score but the texts.
    pub fn identity_apart_from_texts(&self) -> Identity {
        identity(self.workers.identity(), Identity::from_bytes([0; 32]), &self.params, self.cutting)
    }

    /// Number of texts that would be cut even if they were alone, and number of tokens that those lose.
    pub fn cut(&self) -> (usize, usize) {
        let room = self.longest.saturating_sub(2);
        let over = self.texts.iter().filter(|text| text.len() > room).map(|text| text.len() - room);
        over.fold((0, 0), |(texts, tokens), more| (texts + 1, tokens + more))
    }

    /// Pairs of two different texts that are cut, whichever comes first.
    pub fn cut_pairs(&self) -> u64 {
        let lengths: Vec<usize> = self.texts.iter().map(Vec::len).collect();
        pairs_above(lengths, self.tokenizer.room_of_pair(self.longest))
    }

    /// Tokens of a pair at most, special tokens included.
    pub fn longest(&self) -> usize {
        self.longest
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

fn digest(texts: &[String]) -> Identity {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    Identity::from_bytes(*hasher.finalize().as_bytes())
}

/// Number of pairs whose lengths have a sum above `most`.
fn pairs_above(mut lengths: Vec<usize>, most: usize) -> u64 {
    lengths.sort_unstable();
    let (mut above, mut start) = (0, 0);
    let mut end = lengths.len();
    while start + 1 < end {
        if lengths[start] + lengths[end - 1] > most {
            // with the longest, so are all that are no shorter than this one
            above += (end - 1 - start) as u64;
            end -= 1;
        } else {
            start += 1;
        }
    }
    above
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cutting {
    limit: usize,
    /// Two texts can both be cut in an odd room, of which earlier versions left the odd token to the first.
    is_of_odd_room: bool,
}

impl Cutting {
    /// The limit that stood in identities before the model's own was the one that is not configured.
    const EARLIER: usize = 128;

    fn of(texts: &[Vec<i64>], tokenizer: &Tokenizer, is_configured: bool, longest: usize) -> Self {
        let most = texts.iter().map(Vec::len).max().unwrap_or(0);
        let room = tokenizer.room_of_pair(longest);
        // no pair was cut under the earlier limit: its scores are those of any higher one
        let is_same = !is_configured && longest > Self::EARLIER && 2 * most <= tokenizer.room_of_pair(Self::EARLIER);
        Self { limit: if is_same { Self::EARLIER } else { longest }, is_of_odd_room: room % 2 == 1 && most > room / 2 }
    }
}

/// Weights, configuration, tokenizer and precision are in the model's own; order policies are above this oracle.
fn identity(model: Identity, texts: Identity, params: &CrossEncoderParams, cutting: Cutting) -> Identity {
    let limit = (cutting.limit as u64).to_le_bytes();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("kind", b"cross_encoder"),
        ("version", b"1"),
        ("model", model.as_bytes()),
        ("score", params.score.id().as_bytes()),
        ("max_length", &limit),
        ("texts", texts.as_bytes()),
    ];
    if cutting.is_of_odd_room {
        parts.push(("cut", b"the longer text keeps the odd token"));
    }
    Identity::of(&parts)
}

impl Oracle for CrossEncoder {
    fn shape(&self) -> OracleShape {
        OracleShape {
            calls_at_once: self.workers.at_once(),
            ..OracleShape::new(self.texts.len(), Symmetry::Asymmetric)
        }
    }

    fn identity(&self) -> Identity {
        self.identity
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_above_a_length_are_counted_once() {
        let lengths = [5, 1, 9, 9, 3, 0, 7, 2];
        for most in 0..20 {
            let slow = (0..lengths.len()).flat_map(|i| (0..i).map(move |j| lengths[i] + lengths[j]));
            assert_eq!(pairs_above(lengths.to_vec(), most), slow.filter(|&sum| sum > most).count() as u64, "{most}");
        }
        assert_eq!(pairs_above(Vec::new(), 0), 0);
    }

    #[test]
    fn the_identity_moves_with_the_rule_only_where_a_pair_was_cut_by_it() {
        let tokenizer = Tokenizer::open(&ModelFiles::tiny()).unwrap();
        let texts = |most: usize| vec![vec![7; most], vec![7; 3]];
        let of = |most, is_configured, longest| Cutting::of(&texts(most), &tokenizer, is_configured, longest);
        // three special tokens: a limit of 128 leaves an odd room, 125
        let plain = Cutting { limit: 128, is_of_odd_room: false };
        assert_eq!(of(62, false, 128), plain);
        assert_eq!(of(62, false, 512), plain, "no pair was cut, so that scores of earlier versions are kept");
        assert_eq!(of(63, false, 128), Cutting { limit: 128, is_of_odd_room: true });
        assert_eq!(of(63, false, 512), Cutting { limit: 512, is_of_odd_room: false });
        assert_eq!(of(62, true, 512), Cutting { limit: 512, is_of_odd_room: false }, "as it was configured");
        assert_eq!(of(400, true, 513), Cutting { limit: 513, is_of_odd_room: false }, "an even room has one rule");
    }
}
