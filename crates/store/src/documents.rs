//! Documents beside the scores: what several machines leave for one another that is no score, such as sketches of shares of a stream.

use super::{StoreError, TileStore};

impl TileStore {
    /// A document, if it is there.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn document(&self, folder: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.backend.get(&format!("{folder}/{name}"))
    }

    pub fn document_address(&self, folder: &str, name: &str) -> String {
        self.backend.describe(&format!("{folder}/{name}"))
    }

    /// Writes a document as a whole, in place of one that is there.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn write_document(&self, folder: &str, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.backend.replace(&format!("{folder}/{name}"), bytes)
    }

    /// Names of the documents in a folder.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn documents(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.backend.list(folder)?.objects.into_iter().map(|object| object.name).collect())
    }
}
