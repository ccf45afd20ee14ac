//! The constants χ[P], μ[P], μ̃[P] and t of each family at each n (m = n), with the conditions of the paper's theory checked, and
//! the coherence graphs drawn as in its figures 1 and 2.

use landmark_core::stream::stream;
use landmark_features::structured::p_model::PModelReport;
use landmark_features::structured::transforms::FftPlans;
use landmark_features::structured::{Family, StructuredMatrix};
use landmark_harness::config::RunSettings;
use landmark_harness::layout::{About, Layout};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{Metric, ResultRow, TableKind, TableSpec};
use landmark_yaml::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::graphs::{GraphSettings, draw_graphs};
use super::{family_name, require_at_least, require_families, subject};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PModelSettings {
    /// `dense`, `circulant`, `{ id: low_displacement, rank: 4, nonzeros: 1 }` …
    families: Vec<Family>,
    /// of `speed` and `p_model`: every n (and m = n)
    dimensions: Vec<usize>,
    /// of `p_model`: the largest n of Fastfood
    largest_fastfood: usize,
    /// of `p_model`: steps of the search for a coloring
    effort: u64,
    /// of `p_model`: coherence graphs to draw, `{ family: circulant, dimension: 5, rows: [0, 1] }`
    graphs: Vec<GraphSettings>,
}

impl Default for PModelSettings {
    fn default() -> Self {
        Self {
            families: vec![
                Family::Dense,
                Family::Circulant,
                Family::Toeplitz,
                Family::Hankel,
                Family::LowDisplacement { rank: 1, nonzeros: 1 },
                Family::LowDisplacement { rank: 4, nonzeros: 1 },
                Family::LowDisplacement { rank: 4, nonzeros: 3 },
                Family::Fastfood { independent_norms: false },
            ],
            dimensions: vec![5, 8, 16, 64],
            largest_fastfood: 32,
            effort: 2000,
            graphs: Vec::new(),
        }
    }
}

impl PModelSettings {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let settings: Self = section.part()?;
        require_at_least(section, "dimensions", &settings.dimensions, 2)?;
        let smallest = settings.dimensions.iter().copied().min().unwrap_or(2);
        require_families(section, &settings.families, smallest)?;
        let without = |family: &&Family| matches!(family, Family::Hd3 | Family::Fastfood { independent_norms: true });
        if let Some(family) = settings.families.iter().find(without) {
            let message =
                format!("`{}` is no P-model: its rows are not linear in a Gaussian budget; leave it out", family.id());
            section.refuse("families", message);
            return None;
        }
        for graph in &settings.graphs {
            if let Err(message) = graph.check() {
                section.refuse("graphs", message);
                return None;
            }
        }
        Some(settings)
    }

    /// Families and dimensions.
    fn cases(&self) -> impl Iterator<Item = (Family, usize)> {
        // all pairs of rows differ, and all columns are full: n⁵ multiplications
        let fits =
            move |family: Family, n: usize| !matches!(family, Family::Fastfood { .. }) || n <= self.largest_fastfood;
        self.dimensions.iter().flat_map(move |&n| {
            let families = self.families.iter().copied().filter(move |&family| fits(family, n));
            families.map(move |family| (family, n))
        })
    }

    pub(super) fn layout(&self, seed: u64, rows: &[ResultRow]) -> Layout {
        let head = ["n", "family", "t", "χ[P]", "μ[P]", "μ̃[P]", "normalized", "orthogonal", "largest graph"];
        let lines = self.cases().filter_map(|(family, n)| line(rows, family, n)).collect();
        let caption = "m = n. χ[P] is the largest chromatic number of a coherence graph (a range where the search for a coloring ended \
                       early: by Vizing's theorem it is one of two), μ[P] coherence, μ̃[P] unicoherence. The theory asks for \
                       normalized columns and, for unbiased estimates, orthogonal ones; where a condition fails, by how much.";
        let kind = TableKind::plain(&head, [0, 2, 3, 4, 5, 8], lines);
        let (figures, notes) = draw_graphs(&self.graphs, seed);
        Layout {
            tables: vec![TableSpec::new("table-p-model", "P-models", caption, kind)],
            figures,
            notes,
            ..Layout::default()
        }
    }

    pub(super) fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        Ok(Box::new(Constants {
            cases: self.cases().collect(),
            effort: self.effort,
            run: context.run.clone(),
            description: format!("P-models of {} families", self.families.len()),
            facts: json!({ "largest_fastfood": self.largest_fastfood }),
        }))
    }
}

/// A matrix of m = n.
pub(super) fn draw(family: Family, n: usize, seed: u64) -> Result<Box<dyn StructuredMatrix>, StudyError> {
    Ok(family.draw(n, n, &mut stream(seed, "structured", "p-model", 0), &mut FftPlans::new())?)
}

struct Constants {
    cases: Vec<(Family, usize)>,
    effort: u64,
    run: RunSettings,
    description: String,
    facts: Json,
}

impl StudyWork for Constants {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &[], notes: &[], facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |&(family, n): &(Family, usize)| Part {
            title: format!("{} at n = {n}", family_name(family)),
            group: family_name(family),
            key: json!({ "measure": "p_model", "family": family, "n": n, "effort": self.effort }),
        };
        self.cases.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let (family, n) = self.cases[part];
        let matrix = draw(family, n, self.run.seed)?;
        let model = matrix.p_model().ok_or_else(|| format!("`{}` is no P-model", family.id()))?;
        let report = PModelReport::of(model, self.effort);
        let values = [
            (Metric::Budget, report.budget as f64),
            (Metric::ChromaticLower, report.chromatic.lower as f64),
            (Metric::ChromaticUpper, report.chromatic.upper as f64),
            (Metric::Coherence, report.coherence),
            (Metric::Unicoherence, report.unicoherence),
            (Metric::NormalisationError, report.normalization_error),
            (Metric::OrthogonalityError, report.orthogonality_error),
            (Metric::Count, report.largest_graph as f64),
        ];
        let of = |(metric, value): (Metric, f64)| {
            row(&self.run, subject(&format!("n = {n}"), family, n), metric, value).at("n", n)
        };
        Ok(values.into_iter().map(of).collect())
    }
}

/// The line of one family and n, where it was measured.
fn line(rows: &[ResultRow], family: Family, n: usize) -> Option<Vec<String>> {
    let name = family_name(family);
    let value = |metric: Metric| {
        let is_it = |row: &&ResultRow| row.metric == metric && row.subject.method == name && row.count("n") == n as u64;
        let found = rows.iter().find(is_it);
        found.map(|row| row.value)
    };
    let (lower, upper) = (value(Metric::ChromaticLower)?, value(Metric::ChromaticUpper)?);
    let chromatic = if lower < upper { format!("{lower:.0}–{upper:.0}") } else { format!("{upper:.0}") };
    // rounding of sums of squares
    let holds = |error: f64| if error < 1e-12 { "yes".to_owned() } else { format!("off by {error:.2}") };
    Some(vec![
        n.to_string(),
        name.clone(),
        Metric::Budget.show(value(Metric::Budget)?),
        chromatic,
        Metric::Coherence.show(value(Metric::Coherence)?),
        Metric::Unicoherence.show(value(Metric::Unicoherence)?),
        holds(value(Metric::NormalisationError)?),
        holds(value(Metric::OrthogonalityError)?),
        Metric::Count.show(value(Metric::Count)?),
    ])
}
