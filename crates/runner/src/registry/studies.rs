//! Experiments that are no sweep over a matrix, each with the reader of its section.

use std::path::Path;
use std::sync::Arc;

use landmark_yaml::{Entry, Node, Problems};

use crate::studies;
use crate::study::Study;

/// A study that a configuration can name.
#[derive(Debug, Clone, Copy)]
pub struct StudyEntry {
    /// How it is listed; its id is also the name of its section.
    pub entry: Entry,
    /// Reads the section; paths in it are relative to the folder.
    pub read: fn(&Node, &Path, &Problems) -> Option<Arc<dyn Study>>,
}

/// Every study.
pub static STUDIES: &[StudyEntry] = &[
    studies::corpora::ENTRY,
    studies::feature_time::ENTRY,
    studies::structured::ENTRY,
    studies::sketching::ENTRY,
    studies::intent::ENTRY,
    studies::text_sketch::ENTRY,
    studies::cqa::ENTRY,
    studies::coref::ENTRY,
];

/// The study of this id.
pub fn find(id: &str) -> Option<&'static StudyEntry> {
    STUDIES.iter().find(|study| study.entry.id == id)
}
