//! The surroundings in which the sections of a configuration are read.

use landmark_yaml::Problems;

use super::method_entry::MethodEntry;
use crate::oracles::OracleSpec;

/// The lists of what a sweep is made of.
#[derive(Clone, Copy)]
pub struct Ingredients {
    /// Approximators, in the order of the papers.
    pub methods: &'static [MethodEntry],
    pub oracles: &'static [&'static OracleSpec],
}

impl Ingredients {
    pub fn method(&self, id: &str) -> Option<&'static MethodEntry> {
        self.methods.iter().find(|entry| entry.id == id)
    }
}

/// The surroundings of a section: the lists it may name, and where problems are collected.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Ingredients that may be named.
    pub known: &'a Ingredients,
    /// Everything that is wrong so far.
    pub problems: &'a Problems,
}
