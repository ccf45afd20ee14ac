//! A cross-encoder as the oracle over n texts, asymmetric.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};

type Scores = dyn Fn(&[Pair], &mut [f64]) -> Result<(), OracleError> + Send + Sync;

/// A cross-encoder over texts.
pub struct TextScorer {
    /// n.
    pub len: usize,
    /// A digest of model, settings and texts.
    pub identity: Identity,
    /// A digest of model and settings.
    pub identity_apart_from_texts: Identity,
    pub scores: Box<Scores>,
    /// Texts that are cut even if they are alone, and the tokens those lose.
    pub cut: (usize, usize),
    /// Pairs of two different texts that are cut, whichever comes first.
    pub cut_pairs: u64,
    pub longest: usize,
    /// Texts without a token.
    pub empty: usize,
}

impl Oracle for TextScorer {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.len, Symmetry::Asymmetric)
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        (self.scores)(pairs, out)
    }
}
