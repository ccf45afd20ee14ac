//! Subject of a configuration: what is measured, by the experiment that it names.

use std::path::Path;
use std::sync::Arc;

use landmark_yaml::{Node, Problem, Profile, Section, Value};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::check;
use super::collection::{Collection, read_members};
use super::gathering::{COLLECTION, CollectionKeys};
use super::matrix::MatrixSubject;
use super::reading::Reading;
use crate::experiment::Experiment;
use crate::registry::Registry;
use crate::study::Study;

/// The three families of experiment.
#[derive(Clone)]
pub enum Subject {
    /// Approximators swept over one similarity matrix.
    Matrix(Box<MatrixSubject>, &'static dyn Experiment),
    /// Something else, which reads a section of its own.
    Study(Arc<dyn Study>),
    /// Other configurations, shown on one page.
    Collection(Collection),
}

impl Subject {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Matrix(matrix, _) => matrix.experiment.entry.id,
            Self::Study(study) => study.id(),
            Self::Collection(_) => COLLECTION,
        }
    }

    /// The sweep over a matrix, if it is one.
    pub fn matrix(&self) -> Option<&MatrixSubject> {
        match self {
            Self::Matrix(matrix, _) => Some(matrix),
            Self::Study(_) | Self::Collection(_) => None,
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Matrix(matrix, _) => matrix.to_json().map_err(serde::ser::Error::custom)?.serialize(serializer),
            Self::Study(study) => {
                json!({ "experiment": study.id(), study.id(): study.settings() }).serialize(serializer)
            }
            Self::Collection(Collection { members: _, files, shown, only }) => {
                json!({ "experiment": COLLECTION, "members": files, "shown": shown, "only": only })
                    .serialize(serializer)
            }
        }
    }
}

/// The sections of an experiment, by its id.
pub(super) fn read_subject(
    id: &str,
    node: &Node,
    section: &Section<'_>,
    reading: &Reading<'_>,
    profile: &Profile,
    file: &Path,
    registry: &Registry,
) -> Option<Subject> {
    if let Some(experiment) = registry.experiment(id) {
        let matrix = read_matrix(experiment, section, reading)?;
        return Some(Subject::Matrix(Box::new(matrix), experiment));
    }
    if let Some(study) = registry.study(id) {
        let empty = Node { value: Value::Map(Vec::new()), place: node.place };
        let settings = section.node(study.entry.id).unwrap_or(&empty);
        return (study.read)(settings, reading).map(Subject::Study);
    }
    if id == COLLECTION {
        let CollectionKeys { members: files, shown, only } = section.part()?;
        let members = read_members(&files, section, profile, file, registry)?;
        return Some(Subject::Collection(Collection { members, files, shown, only }));
    }
    let known = registry.experiment_entries();
    reading.problems.add(Problem::unknown("experiment", id, known.iter().map(|entry| entry.id)).at(node.place));
    read_unnamed(section, reading, registry);
    None
}

/// Reads the sections of a file that names no experiment we know: most are about a matrix, and what else is wrong with this one is reported as well.
pub(super) fn read_unnamed(section: &Section<'_>, reading: &Reading<'_>, registry: &Registry) {
    // any experiment may be meant, so the sections of none are unknown
    let of_some = registry.experiment_entries().into_iter().filter_map(|entry| entry.keys.section());
    for key in of_some.chain(["members", "shown", "only"]) {
        section.node(key);
    }
    if let Some(experiment) = registry.experiments.first().filter(|_| section.has("dataset")) {
        MatrixSubject::read(experiment.entry(), section, reading);
    }
}

/// The sections of a sweep, each for itself and then all of them together.
fn read_matrix(experiment: &dyn Experiment, section: &Section<'_>, reading: &Reading<'_>) -> Option<MatrixSubject> {
    let matrix = MatrixSubject::read(experiment.entry(), section, reading)?;
    check::together(&matrix, section, reading.known.oracles);
    Some(matrix)
}
