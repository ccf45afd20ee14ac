//! The items that a program compares: an id and a text each.

use landmark_core::oracle::Identity;

use super::SubprocessError;

/// Items of a user's own. Ids are for the person, who must be able to find an item again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoredItems {
    pub(super) ids: Vec<String>,
    pub(super) texts: Vec<String>,
    identity: Identity,
}

impl ScoredItems {
    /// In the place of the [`identity`](Self::identity) of items where a scorer is named apart from them.
    pub const NONE: Identity = Identity::from_bytes([0; 32]);

    /// An id and a text an item.
    ///
    /// # Errors
    /// [`SubprocessError::Items`] where they differ in number.
    pub fn new(ids: Vec<String>, texts: Vec<String>) -> Result<Self, SubprocessError> {
        if ids.len() != texts.len() {
            return Err(SubprocessError::Items { ids: ids.len(), texts: texts.len() });
        }
        let mut hasher = blake3::Hasher::new();
        for text in ids.iter().chain(&texts) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Ok(Self { ids, texts, identity: Identity::from_bytes(*hasher.finalize().as_bytes()) })
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Digest of all ids and texts.
    pub fn identity(&self) -> Identity {
        self.identity
    }
}
