//! A downstream check without Nyström: a linear machine on structured Gaussian features of documents against the kernel machine on
//! the exact Gaussian kernel and the linear machine on the documents' vectors themselves.
//!
//! A document is the mean of its word vectors. σ is `width` times the median distance of training documents; C is chosen by
//! cross-validation on the training side. A replicate is a split (where the dataset has none) and a draw of the matrix.

use landmark_core::stream::stream;
use landmark_data::Split;
use landmark_features::structured::{Family, SphericalKernel, StructuredFeaturesParams};
use landmark_harness::config::RunSettings;
use landmark_harness::config::dataset::{DatasetConfig, SplitConfig};
use landmark_harness::layout::{About, Layout};
use landmark_harness::loaded::{EmptyDocuments, PlacedDocuments};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, Subject, TableKind, TableSpec};
use landmark_tasks::classification::{
    ClassificationParams, KernelClassificationParams, Outcome, classify, classify_kernel,
};
use landmark_yaml::{Problem, Section};
use ndarray::{Array2, ArrayView2};
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{family_name, require_at_least, require_families, require_some};

/// Pairs of training documents behind the median distance.
const DISTANCES: usize = 2000;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Choices {
    /// `dense`, `circulant`, `{ id: low_displacement, rank: 4, nonzeros: 1 }` …
    families: Vec<Family>,
    /// of `error` and `classification`: numbers m of projections
    features: Vec<usize>,
    /// of `classification`: width of the Gaussian kernel, in median distances
    width: f64,
    /// of `classification`: candidates for C
    costs: Vec<f64>,
    /// of `classification`: folds of the cross-validation
    folds: usize,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            families: super::distinct_families(),
            features: vec![64, 256, 1024],
            width: 1.0,
            costs: vec![0.1, 1.0, 10.0, 100.0],
            folds: 5,
        }
    }
}

/// The key of the documents.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DatasetKey {
    /// of `classification`: documents, as under `dataset`
    dataset: DatasetConfig,
}

/// The keys of this measure; those of others do not need its dataset.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the list and the schema")]
pub(super) struct ClassificationKeys {
    /// of `classification`: documents, as under `dataset`
    dataset: Option<DatasetConfig>,
    #[schemars(flatten)]
    choices: Choices,
}

#[derive(Debug, Serialize)]
pub(super) struct ClassificationSettings {
    dataset: DatasetConfig,
    #[serde(flatten)]
    choices: Choices,
}

impl ClassificationSettings {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let dataset = section.part();
        let choices: Choices = section.part()?;
        let DatasetKey { dataset } = dataset?;
        if dataset.documents().is_none() {
            let message = format!("`structured.dataset` is `{}`, which has no documents", dataset.name);
            section.problems().add(Problem::new(message).at(dataset.place));
            return None;
        }
        require_at_least(section, "features", &choices.features, 1)?;
        // documents have at least one number; vectors of a few hundred are the rule
        require_families(section, &choices.families, usize::MAX)?;
        require_some(section, "costs", &choices.costs)?;
        if !(choices.width > 0.0 && choices.width.is_finite()) {
            section
                .refuse("width", format!("`structured.width` is {}, but must be positive and finite", choices.width));
            return None;
        }
        Some(Self { dataset, choices })
    }

    pub(super) fn layout(&self, replicates: usize) -> Layout {
        let caption = format!(
            "Test accuracy of a linear machine on m projections (2m cosines and sines) of documents, mean word vectors, for the \
             Gaussian kernel of σ = {} × the median distance; the exact kernel machine and the linear machine without features are \
             levels. Mean over {} splits and draws with the 95 % interval.",
            self.choices.width, replicates
        );
        let select = Selection::of(Metric::Accuracy);
        let kind = FigureKind::curve("m");
        let grid = TableKind::Grid { select: select.clone(), across: "m" };
        let title = "Accuracy on structured Gaussian features";
        Layout {
            tables: vec![TableSpec::new(
                "table-accuracy",
                title,
                "Columns without m are machines that use no features.",
                grid,
            )],
            figures: vec![FigureSpec::new("figure-accuracy", title, caption, select, kind)],
            ..Layout::default()
        }
    }

    pub(super) fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let items = self.dataset.documents().ok_or("the dataset has no documents")?;
        let placed = PlacedDocuments::load(context.run, &self.dataset, items, EmptyDocuments::Drop, context.data)?;
        let machines = ClassificationParams {
            costs: self.choices.costs.clone(),
            folds: self.choices.folds,
            ..ClassificationParams::default()
        };
        // both machines are made once here, so that a bad cost is reported before anything runs
        machines.clone().check()?;
        let mut cases = vec![Case::Kernel, Case::Linear];
        cases.extend(self.choices.families.iter().map(|&family| Case::Features(family)));
        Ok(Box::new(Classification {
            vectors: placed.clouds.centroids(),
            description: format!(
                "{} `{}` documents with vectors {}",
                placed.clouds.len(),
                placed.dataset,
                placed.vectors
            ),
            placed,
            key: json!(self),
            split: items.split,
            choices: self.choices.clone(),
            machines,
            run: context.run.clone(),
            cases,
        }))
    }
}

/// Machine, and its features.
#[derive(Debug, Clone, Copy)]
enum Case {
    Kernel,
    Linear,
    Features(Family),
}

struct Classification {
    placed: PlacedDocuments,
    vectors: Array2<f64>,
    split: SplitConfig,
    choices: Choices,
    machines: ClassificationParams,
    run: RunSettings,
    cases: Vec<Case>,
    key: Json,
    description: String,
}

impl Classification {
    fn name(case: Case) -> String {
        match case {
            Case::Kernel => "exact kernel".to_owned(),
            Case::Linear => "no features (linear)".to_owned(),
            Case::Features(family) => family_name(family),
        }
    }

    fn split(&self, replicate: u64) -> Result<Split, StudyError> {
        let documents = &self.placed.documents;
        match (self.split, documents.given_split()) {
            (SplitConfig::Given, Some(split)) => Ok(split),
            (SplitConfig::Given, None) => {
                let dataset = &self.placed.dataset;
                Err(format!("the dataset `{dataset}` has no split of its own; write `split: {{ train: 0.7 }}`").into())
            }
            (SplitConfig::Train(share), _) => {
                Ok(Split::random(documents.len(), share, self.run.seed, &self.placed.dataset, replicate)?)
            }
        }
    }

    /// `width` times the median distance of training documents.
    fn sigma(&self, split: &Split, replicate: u64) -> Result<f64, StudyError> {
        let mut rng = stream(self.run.seed, &self.placed.dataset, "kernel width", replicate);
        let mut distances: Vec<f64> = (0..DISTANCES)
            .filter_map(|_| {
                let (a, b) = (split.train.choose(&mut rng)?, split.train.choose(&mut rng)?);
                let difference = &self.vectors.row(*a) - &self.vectors.row(*b);
                Some(difference.dot(&difference).sqrt()).filter(|distance| *distance > 0.0)
            })
            .collect();
        distances.sort_by(f64::total_cmp);
        let median = distances.get(distances.len() / 2).ok_or("all training documents have the same vector")?;
        Ok(self.choices.width * median)
    }

    fn linear(&self, features: ArrayView2<'_, f64>, split: &Split) -> Result<Outcome, StudyError> {
        let machines = self.machines.clone().check()?;
        let labels = self.placed.documents.labels();
        Ok(classify(features, labels, &split.train, &split.test, &machines, self.run.seed)?)
    }

    fn kernel(&self, sigma: f64, split: &Split) -> Result<Outcome, StudyError> {
        let params = KernelClassificationParams {
            costs: self.choices.costs.clone(),
            folds: self.choices.folds,
            ..KernelClassificationParams::default()
        };
        let squares: Vec<f64> = self.vectors.rows().into_iter().map(|row| row.dot(&row)).collect();
        let mut gram = self.vectors.dot(&self.vectors.t());
        for ((i, j), value) in gram.indexed_iter_mut() {
            *value = (-0.5 * (squares[i] + squares[j] - 2.0 * *value).max(0.0) / (sigma * sigma)).exp();
        }
        let labels = self.placed.documents.labels();
        Ok(classify_kernel(gram.view(), labels, &split.train, &split.test, &params.check()?, self.run.seed)?)
    }

    /// Accuracy of one replicate: (m, accuracy) of each number of features; m = 0 where there is none.
    fn accuracies(&self, case: Case, replicate: u64) -> Result<Vec<(usize, f64)>, StudyError> {
        let split = self.split(replicate)?;
        let sigma = self.sigma(&split, replicate)?;
        match case {
            Case::Kernel => Ok(vec![(0, self.kernel(sigma, &split)?.accuracy)]),
            Case::Linear => Ok(vec![(0, self.linear(self.vectors.view(), &split)?.accuracy)]),
            Case::Features(family) => self
                .choices
                .features
                .iter()
                .map(|&m| {
                    let params = StructuredFeaturesParams {
                        kernel: SphericalKernel::Gaussian { sigma },
                        family,
                        features: m,
                        preprocess: true,
                        seed: self.run.seed,
                        replicate,
                    };
                    let features = params.check()?.draw(self.vectors.ncols())?.features(self.vectors.view())?;
                    Ok((m, self.linear(features.view(), &split)?.accuracy))
                })
                .collect(),
        }
    }
}

impl StudyWork for Classification {
    fn about(&self) -> About<'_> {
        let PlacedDocuments { stamps, notes, facts, .. } = &self.placed;
        About { description: &self.description, stamps, notes, facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |&case: &Case| Part {
            title: Self::name(case),
            group: Self::name(case),
            key: json!({
                "measure": "classification",
                "case": Self::name(case),
                "of": self.key,
                "facts": self.placed.facts,
                "replicates": self.run.replicates,
            }),
        };
        self.cases.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let case = self.cases[part];
        let mut rows = Vec::new();
        for replicate in 0..self.run.replicates as u64 {
            progress.now(format!("{}, replicate {}", Self::name(case), replicate + 1));
            for (m, accuracy) in self.accuracies(case, replicate)? {
                let of = |id: &str| Subject::new(&self.placed.dataset, id);
                let subject = match case {
                    Case::Kernel => of("exact").cap(),
                    Case::Linear => of("linear"),
                    Case::Features(family) => of(family.id()),
                };
                let subject = subject.called(Self::name(case)).items(self.placed.documents.len());
                let row = row(&self.run, subject, Metric::Accuracy, accuracy).replicate(replicate);
                rows.push(if m == 0 { row } else { row.at("m", m) });
            }
        }
        Ok(rows)
    }
}
