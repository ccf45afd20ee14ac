//! `experiment: structured` — structured nonlinear embeddings: how well they estimate kernels, what they cost, and the P-models
//! behind them (Choromanski & Fagan 2016).
//!
//! Its section names with `measure` what is measured: `error`, `speed`, `p_model` or `classification`, each with keys of its own.

use std::sync::Arc;

use landmark_features::structured::{Family, SphericalKernel};
use landmark_harness::config::{Reading, RunSettings};
use landmark_harness::facts::Facts;
use landmark_harness::layout::Layout;
use landmark_harness::study::{Study, StudyContext, StudyEntry, StudyError, StudyWork};
use landmark_report::{ResultRow, Subject};
use landmark_yaml::{Entry, Keys, Node, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod classification;
mod error;
mod graphs;
mod p_model;
mod speed;

use classification::{ClassificationKeys, ClassificationSettings};
use error::ErrorSettings;
use p_model::PModelSettings;
use speed::SpeedSettings;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "structured",
        summary: "structured random features: error of kernel estimates, time and memory, P-models, classification",
        keys: Keys::of::<MeasureKey>()
            .and::<ErrorSettings>()
            .and::<SpeedSettings>()
            .and::<PModelSettings>()
            .and::<ClassificationKeys>()
            .under("structured"),
        source: "structured embeddings paper (Choromanski & Fagan 2016)",
    },
    read,
};

/// The key that determines which of the others are read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MeasureKey {
    /// `error`, `speed`, `p_model` or `classification`
    #[schemars(example = &"error")]
    measure: Measure,
}

/// Quantity that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Measure {
    Error,
    Speed,
    PModel,
    Classification,
}

/// The checked settings of each measure.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Settings {
    Error(ErrorSettings),
    Speed(SpeedSettings),
    PModel(PModelSettings),
    Classification(ClassificationSettings),
}

#[derive(Debug)]
struct Structured {
    measure: Measure,
    settings: Settings,
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let MeasureKey { measure } = section.part()?;
    let settings = match measure {
        Measure::Error => Settings::Error(ErrorSettings::read(&section)?),
        Measure::Speed => Settings::Speed(SpeedSettings::read(&section)?),
        Measure::PModel => Settings::PModel(PModelSettings::read(&section)?),
        Measure::Classification => Settings::Classification(ClassificationSettings::read(&section)?),
    };
    section.finish(&[]);
    Some(Arc::new(Structured { measure, settings }))
}

impl Study for Structured {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        let mut settings = json!(self.settings);
        if let Json::Object(keys) = &mut settings {
            keys.insert("measure".to_owned(), json!(self.measure));
        }
        settings
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        match &self.settings {
            Settings::Error(settings) => settings.open(context),
            Settings::Speed(settings) => settings.open(context),
            Settings::PModel(settings) => settings.open(context),
            Settings::Classification(settings) => settings.open(context),
        }
    }

    fn layout(&self, run: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        match &self.settings {
            Settings::Error(settings) => settings.layout(run.replicates, rows),
            Settings::Speed(_) => SpeedSettings::layout(rows),
            Settings::PModel(settings) => settings.layout(run.seed, rows),
            Settings::Classification(settings) => settings.layout(run.replicates),
        }
    }
}

/// A list that must have an entry.
fn require_some<T>(section: &Section<'_>, key: &str, list: &[T]) -> Option<()> {
    if list.is_empty() {
        section.refuse(key, format!("`{}` is an empty list, but must name at least one", section.path_of(key)));
        return None;
    }
    Some(())
}

/// Numbers of at least `least`.
fn require_at_least(section: &Section<'_>, key: &str, numbers: &[usize], least: usize) -> Option<()> {
    require_some(section, key, numbers)?;
    if let Some(number) = numbers.iter().find(|number| **number < least) {
        section.refuse(key, format!("`{}` has {number}, but must be at least {least}", section.path_of(key)));
        return None;
    }
    Some(())
}

/// Families whose parameters suit n columns.
fn require_families(section: &Section<'_>, families: &[Family], smallest: usize) -> Option<()> {
    require_some(section, "families", families)?;
    for family in families {
        if let Err(error) = family.check() {
            section.refuse("families", error.to_string());
            return None;
        }
        if let Family::LowDisplacement { nonzeros, .. } = family
            && *nonzeros > smallest
        {
            let message = format!(
                "`low_displacement`: `nonzeros` is {nonzeros}, but must be at most the smallest dimension, {smallest}"
            );
            section.problems().add(Problem::new(message).at(section.place()));
            return None;
        }
    }
    Some(())
}

fn require_kernels(section: &Section<'_>, kernels: &[SphericalKernel]) -> Option<()> {
    require_some(section, "kernels", kernels)?;
    for kernel in kernels {
        if let Err(error) = kernel.check() {
            section.refuse("kernels", error.to_string());
            return None;
        }
    }
    Some(())
}

/// The families whose estimates differ, at their usual parameters: Hankel gives those of Toeplitz.
fn distinct_families() -> Vec<Family> {
    vec![
        Family::Dense,
        Family::Circulant,
        Family::Toeplitz,
        Family::LowDisplacement { rank: 4, nonzeros: 1 },
        Family::Fastfood { independent_norms: false },
        Family::Hd3,
    ]
}

/// Name of a family in tables and legends.
fn family_name(family: Family) -> String {
    match family {
        Family::Dense => "dense (unstructured)".to_owned(),
        Family::Circulant => "circulant".to_owned(),
        Family::Toeplitz => "Toeplitz".to_owned(),
        Family::Hankel => "Hankel".to_owned(),
        Family::LowDisplacement { rank, nonzeros } => format!("low displacement r = {rank}, a = {nonzeros}"),
        Family::Fastfood { independent_norms: false } => "Fastfood".to_owned(),
        Family::Fastfood { independent_norms: true } => "Fastfood with S".to_owned(),
        Family::Hd3 => "HD₃HD₂HD₁".to_owned(),
    }
}

fn subject(panel: &str, family: Family, n: usize) -> Subject {
    Subject::new(panel, family.id()).called(family_name(family)).items(n)
}

/// Name of a kernel in panels.
fn kernel_name(kernel: SphericalKernel) -> String {
    match kernel {
        SphericalKernel::InnerProduct => "inner product".to_owned(),
        SphericalKernel::Step => "step".to_owned(),
        SphericalKernel::Sign => "sign".to_owned(),
        SphericalKernel::Relu => "ReLU".to_owned(),
        SphericalKernel::ArcCosine { order } => format!("arc-cosine {order}"),
        SphericalKernel::Gaussian { sigma } => format!("Gaussian, σ = {sigma}"),
    }
}
