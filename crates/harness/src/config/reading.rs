//! The surroundings in which the sections of a configuration are read.

use std::path::Path;

use landmark_yaml::{Entry, Problems};

use super::method_entry::MethodEntry;
use crate::oracles::OracleSpec;

/// The lists of what a sweep is made of.
#[derive(Clone, Copy)]
pub struct Ingredients {
    /// Approximators, in the order of the papers.
    pub methods: &'static [MethodEntry],
    /// Similarity functions.
    pub oracles: &'static [&'static OracleSpec],
    /// Cheap relatives of an oracle.
    pub proxies: &'static [Entry],
    /// Entries that the calls of a method go to.
    pub entries: &'static [Entry],
    /// Policies that choose landmarks.
    pub landmarks: &'static [Entry],
    /// Items.
    pub datasets: &'static [Entry],
}

impl Ingredients {
    /// The method of this id.
    pub fn method(&self, id: &str) -> Option<&'static MethodEntry> {
        self.methods.iter().find(|entry| entry.id == id)
    }
}

/// The surroundings of a section: its file's folder, the lists it may name, and where problems are collected.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The folder of the configuration, where relative paths start.
    pub folder: &'a Path,
    /// Ingredients that may be named.
    pub known: &'a Ingredients,
    /// Everything that is wrong so far.
    pub problems: &'a Problems,
}
