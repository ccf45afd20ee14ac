//! The error of Λ̂ against the number m of projections or the budget t of randomness, for each kernel and family.
//!
//! Pairs of unit vectors at angles spread evenly over (0, π); a replicate is one draw of the matrix (and of D₁HD₀), its
//! value the root mean squared error over the pairs. The exact Λ is the closed form.

use landmark_core::normal::normals;
use landmark_core::stream::{Rng, stream};
use landmark_features::structured::{Family, SphericalKernel, StructuredFeaturesParams};
use landmark_harness::config::RunSettings;
use landmark_harness::layout::{About, Layout};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, Subject, TableKind, TableSpec, distinct};
use landmark_yaml::Section;
use ndarray::{Array1, Array2, s};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{family_name, kernel_name, require_at_least, require_families, require_kernels, require_some};

/// Quantity on the axis of the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Against {
    /// m.
    Features,
    /// t; ranks of one displacement family are one line.
    Budget,
}

impl Against {
    fn axis(self) -> &'static str {
        match self {
            Self::Features => "m",
            Self::Budget => "t",
        }
    }
}

/// Position of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Items {
    /// Directions drawn uniformly.
    Spread,
    /// The first of each pair is the same number everywhere: without D₁HD₀ the rows of a circulant matrix all agree on it.
    Flat,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ErrorSettings {
    /// of `error`: which kernels
    kernels: Vec<SphericalKernel>,
    /// `dense`, `circulant`, `{ id: low_displacement, rank: 4, nonzeros: 1 }` …
    families: Vec<Family>,
    /// of `error` and `classification`: numbers m of projections
    features: Vec<usize>,
    /// of `error`: n
    dimension: usize,
    /// of `error`: pairs of items
    pairs: usize,
    /// of `error`: `spread` over all coordinates, or `flat`
    items: Vec<Items>,
    /// of `error`: whether items go through D₁HD₀
    preprocess: Vec<bool>,
    /// of `error`: the axis, `features` or `budget`
    against: Against,
}

impl Default for ErrorSettings {
    fn default() -> Self {
        Self {
            kernels: vec![SphericalKernel::Step, SphericalKernel::Relu, SphericalKernel::Gaussian { sigma: 1.0 }],
            families: vec![
                Family::Dense,
                Family::Circulant,
                Family::Toeplitz,
                Family::Hankel,
                Family::LowDisplacement { rank: 4, nonzeros: 1 },
                Family::Fastfood { independent_norms: false },
                Family::Hd3,
            ],
            features: vec![16, 64, 256, 1024],
            dimension: 256,
            pairs: 100,
            items: vec![Items::Spread],
            preprocess: vec![true],
            against: Against::Features,
        }
    }
}

impl ErrorSettings {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let settings: Self = section.part()?;
        require_at_least(section, "dimension", &[settings.dimension], 2)?;
        require_at_least(section, "pairs", &[settings.pairs], 1)?;
        require_at_least(section, "features", &settings.features, 1)?;
        require_kernels(section, &settings.kernels)?;
        require_families(section, &settings.families, settings.dimension)?;
        require_some(section, "items", &settings.items)?;
        require_some(section, "preprocess", &settings.preprocess)?;
        Some(settings)
    }

    pub(super) fn layout(&self, replicates: usize, rows: &[ResultRow]) -> Layout {
        let axis = match self.against {
            Against::Features => "the number m of projections",
            Against::Budget => "the budget t of randomness",
        };
        let across = self.against.axis();
        let metric = Metric::RootMeanSquaredError;
        let caption = format!(
            "Root mean squared error of the kernel estimate over {} pairs of unit vectors of {} numbers at angles from 0 to π against {axis}: mean over \
             {} draws of the matrix with its 95 % interval.",
            self.pairs, self.dimension, replicates
        );
        let kind = FigureKind::log_curve(across);
        let mut tables = Vec::new();
        let datasets = distinct(rows.iter().map(|row| &row.subject.dataset));
        for (number, dataset) in datasets.into_iter().enumerate() {
            let select = Selection { datasets: vec![dataset.clone()], ..Selection::of(metric) };
            let title = format!("Error of the estimate: {dataset}");
            tables.push(TableSpec::new(
                format!("table-error-{}", number + 1),
                title,
                "Mean over draws ± half the 95 % interval.",
                TableKind::Grid { select, across },
            ));
        }
        let dense = family_name(Family::Dense);
        if self.against == Against::Features && self.families.contains(&Family::Dense) {
            let ours = self.families.iter().map(|&family| family_name(family)).filter(|name| *name != dense);
            let kind = TableKind::Paired {
                select: Selection::of(metric),
                across: "columns",
                ours: ours.collect(),
                baselines: vec![dense],
            };
            let caption = "Mean difference of the error to that of the unstructured matrix at the same m, with its bootstrap interval: \
                           an interval around 0 means that the structure costs nothing.";
            tables.push(TableSpec::new("table-paired", "Structured against unstructured", caption, kind));
        }
        let figures =
            vec![FigureSpec::new("figure-error", "Error of the estimate", caption, Selection::of(metric), kind)];
        Layout { tables, figures, ..Layout::default() }
    }

    pub(super) fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let mut cases = Vec::new();
        for &kernel in &self.kernels {
            for &items in &self.items {
                for &preprocess in &self.preprocess {
                    cases.extend(self.families.iter().map(|&family| Case { kernel, items, preprocess, family }));
                }
            }
        }
        let description = format!("{} pairs of unit vectors of {} numbers", self.pairs, self.dimension);
        Ok(Box::new(Estimates {
            settings: self.clone(),
            run: context.run.clone(),
            facts: json!({ "dimension": self.dimension, "pairs": self.pairs }),
            cases,
            description,
        }))
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Case {
    kernel: SphericalKernel,
    items: Items,
    preprocess: bool,
    family: Family,
}

struct Estimates {
    settings: ErrorSettings,
    run: RunSettings,
    cases: Vec<Case>,
    description: String,
    facts: Json,
}

impl Estimates {
    /// The panel of a case: only what differs is named.
    fn panel(&self, case: Case) -> String {
        let mut name = kernel_name(case.kernel);
        if self.settings.items.len() > 1 {
            name += if case.items == Items::Flat { ", flat items" } else { ", spread items" };
        }
        if self.settings.preprocess.len() > 1 {
            name += if case.preprocess { ", D₁HD₀" } else { ", no D₁HD₀" };
        }
        name
    }

    fn line(&self, family: Family) -> String {
        match (self.settings.against, family) {
            (Against::Budget, Family::LowDisplacement { nonzeros, .. }) => format!("low displacement, a = {nonzeros}"),
            _ => family_name(family),
        }
    }

    /// x and y of every pair as neighboring rows (2·pairs × n), the same for every family and replicate.
    fn pairs(&self, items: Items) -> Array2<f64> {
        let (pairs, n) = (self.settings.pairs, self.settings.dimension);
        let mut rng = stream(self.run.seed, "structured", "pairs", 0);
        let mut all = Array2::zeros((2 * pairs, n));
        for pair in 0..pairs {
            let angle = std::f64::consts::PI * (pair as f64 + 0.5) / pairs as f64;
            let x = match items {
                Items::Spread => unit(gaussian(&mut rng, n)),
                Items::Flat => unit(Array1::ones(n)),
            };
            let other = gaussian(&mut rng, n);
            let across = unit(&other - &(&x * x.dot(&other)));
            all.row_mut(2 * pair).assign(&x);
            all.row_mut(2 * pair + 1).assign(&(&x * angle.cos() + across * angle.sin()));
        }
        all
    }

    /// Root mean squared error over the pairs, and the budget of the matrix.
    fn error(
        &self,
        case: Case,
        items: &Array2<f64>,
        exact: &[f64],
        m: usize,
        replicate: u64,
    ) -> Result<(f64, usize), StudyError> {
        let params = StructuredFeaturesParams {
            kernel: case.kernel,
            family: case.family,
            features: m,
            preprocess: case.preprocess,
            seed: self.run.seed,
            replicate,
        };
        let map = params.check()?.draw(items.ncols())?;
        let features = map.features(items.view())?;
        let square = |pair: usize| (features.row(2 * pair).dot(&features.row(2 * pair + 1)) - exact[pair]).powi(2);
        let mean = (0..exact.len()).map(square).sum::<f64>() / exact.len() as f64;
        Ok((mean.sqrt(), map.matrix().budget()))
    }
}

fn gaussian(rng: &mut Rng, n: usize) -> Array1<f64> {
    Array1::from_vec(normals(rng, n))
}

fn unit(x: Array1<f64>) -> Array1<f64> {
    let length = x.dot(&x).sqrt();
    x / length
}

impl StudyWork for Estimates {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &[], notes: &[], facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let shared = json!({
            "features": self.settings.features,
            "dimension": self.settings.dimension,
            "pairs": self.settings.pairs,
            "replicates": self.run.replicates,
            // the names of the rows
            "against": self.settings.against,
            "panels": [self.settings.items.len(), self.settings.preprocess.len()],
        });
        let part = |case: &Case| Part {
            title: format!("{} · {}", self.panel(*case), family_name(case.family)),
            group: self.panel(*case),
            key: json!({ "measure": "error", "case": case, "of": shared }),
        };
        self.cases.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let case = self.cases[part];
        let items = self.pairs(case.items);
        let exact = (0..self.settings.pairs)
            .map(|pair| {
                let (x, y) = (items.slice(s![2 * pair, ..]).to_vec(), items.slice(s![2 * pair + 1, ..]).to_vec());
                case.kernel.closed_form(&x, &y)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        for &m in &self.settings.features {
            let draws: Vec<(f64, usize)> = (0..self.run.replicates as u64)
                .into_par_iter()
                .map(|replicate| self.error(case, &items, &exact, m, replicate))
                .collect::<Result<_, _>>()?;
            for (replicate, (error, budget)) in draws.into_iter().enumerate() {
                // rows of one size are one point
                let size = match self.settings.against {
                    Against::Features => m,
                    Against::Budget => budget,
                };
                let subject = Subject::new(self.panel(case), case.family.id()).called(self.line(case.family));
                let subject = subject.items(self.settings.dimension);
                let row = row(&self.run, subject, Metric::RootMeanSquaredError, error);
                rows.push(row.at(self.settings.against.axis(), size).replicate(replicate as u64));
            }
        }
        Ok(rows)
    }
}
