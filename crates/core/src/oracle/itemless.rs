//! A score apart from its items.

use super::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};

/// A score over no items: an identity and a symmetry, for the identities that wrappers make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Itemless {
    /// Digest of everything that moves a score but the items.
    pub identity: Identity,
    pub symmetry: Symmetry,
}

impl Oracle for Itemless {
    fn shape(&self) -> OracleShape {
        OracleShape::new(0, self.symmetry)
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], _: &mut [f64]) -> Result<(), OracleError> {
        pairs.first().map_or(Ok(()), |&(index, _)| Err(OracleError::OutOfRange { index, len: 0 }))
    }
}
