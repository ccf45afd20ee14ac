//! Seconds an item and memory of the map against the dimension n, with m = n features: one thread, the shortest of some runs.
//!
//! A replicate is another matrix and another measurement. The dense matrix stops at `largest_dense`.

use std::time::Instant;

use landmark_core::stream::stream;
use landmark_features::structured::{Family, SphericalKernel, StructuredFeaturesParams};
use landmark_harness::config::RunSettings;
use landmark_harness::layout::{About, Layout};
use landmark_harness::progress::Progress;
use landmark_harness::study::{Finished, Part, StudyContext, StudyError, StudyWork, row};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};
use landmark_yaml::Section;
use ndarray::Array2;
use rand::Rng as _;
use rayon::ThreadPoolBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{family_name, require_at_least, require_families, subject};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SpeedSettings {
    /// `dense`, `circulant`, `{ id: low_displacement, rank: 4, nonzeros: 1 }` …
    families: Vec<Family>,
    /// of `speed` and `p_model`: every n (and m = n)
    dimensions: Vec<usize>,
    /// of `speed`: the largest n of a dense matrix
    largest_dense: usize,
    /// of `speed`: repetitions, of which the fastest counts
    runs: usize,
}

impl Default for SpeedSettings {
    fn default() -> Self {
        Self {
            families: super::distinct_families(),
            dimensions: vec![64, 256, 1024, 4096, 16384, 65536, 262_144, 1_048_576],
            largest_dense: 8192,
            runs: 5,
        }
    }
}

impl SpeedSettings {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let settings: Self = section.part()?;
        require_at_least(section, "dimensions", &settings.dimensions, 1)?;
        require_at_least(section, "runs", &[settings.runs], 1)?;
        let smallest = settings.dimensions.iter().copied().min().unwrap_or(1);
        require_families(section, &settings.families, smallest)?;
        Some(settings)
    }

    pub(super) fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let fits = |family: Family, n: usize| family != Family::Dense || n <= self.largest_dense;
        let cases = self.dimensions.iter().flat_map(|&n| {
            let families = self.families.iter().copied().filter(move |&family| fits(family, n));
            families.map(move |family| (family, n))
        });
        Ok(Box::new(Timing {
            cases: cases.collect(),
            runs: self.runs,
            run: context.run.clone(),
            description: format!("{} families, one thread", self.families.len()),
            facts: json!({ "largest_dense": self.largest_dense }),
        }))
    }

    pub(super) fn layout(rows: &[ResultRow]) -> Layout {
        // four decades and more: all of them
        let curve = |metric: Metric| {
            let of_metric = rows.iter().filter(|row| row.metric == metric);
            let (least, most) =
                of_metric.fold((f64::INFINITY, 0.0), |(least, most), row| (row.value.min(least), row.value.max(most)));
            let y_limits = (least < most).then_some((least / 1.5, most * 1.5));
            FigureKind::Curve { across: "n", log_y: true, y_limits }
        };
        let time = "Microseconds an item on one thread, D₁HD₀ and ReLU included, against n with m = n features.";
        let memory = "Megabytes of the map (D₁HD₀, matrix, spectra) against n with m = n features.";
        let table = |id, title, caption, metric| {
            TableSpec::new(id, title, caption, TableKind::Grid { select: Selection::of(metric), across: "n" })
        };
        let figure =
            |id, title, caption, metric| FigureSpec::new(id, title, caption, Selection::of(metric), curve(metric));
        Layout {
            tables: vec![
                table("table-time", "Time of an item in microseconds", time, Metric::ItemMicroseconds),
                table("table-memory", "Memory of the map in megabytes", memory, Metric::Megabytes),
            ],
            figures: vec![
                figure("figure-time", "Time of an item", time, Metric::ItemMicroseconds),
                figure("figure-memory", "Memory of the map", memory, Metric::Megabytes),
            ],
            ..Layout::default()
        }
    }
}

struct Timing {
    cases: Vec<(Family, usize)>,
    runs: usize,
    run: RunSettings,
    description: String,
    facts: Json,
}

/// Name of the one panel, as rows have it.
const PANEL: &str = "m = n ReLU features";

impl Timing {
    /// Seconds an item and bytes of the map.
    fn time(&self, family: Family, n: usize, replicate: u64) -> Result<(f64, f64), StudyError> {
        let params = StructuredFeaturesParams {
            kernel: SphericalKernel::Relu,
            family,
            features: n,
            preprocess: true,
            seed: self.run.seed,
            replicate,
        };
        let map = params.check()?.draw(n)?;
        let mut rng = stream(self.run.seed, "structured", "timed items", replicate);
        // enough items that a run is longer than the clock is coarse
        let items = ((1_usize << 18) / n).clamp(1, 256);
        let batch = Array2::from_shape_simple_fn((items, n), || rng.gen_range(-1.0..1.0));
        let mut out = Array2::zeros((items, map.feature_count()));
        let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
        let mut best = f64::INFINITY;
        for _ in 0..=self.runs {
            let start = Instant::now();
            pool.install(|| map.features_into(batch.view(), out.view_mut()))?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok((best / items as f64, map.bytes() as f64))
    }
}

impl StudyWork for Timing {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &[], notes: &[], facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let part = |&(family, n): &(Family, usize)| Part {
            title: format!("{} at n = {n}", family_name(family)),
            group: family_name(family),
            key: json!({
                "measure": "speed", "family": family, "n": n, "runs": self.runs, "replicates": self.run.replicates,
            }),
        };
        self.cases.iter().map(part).collect()
    }

    fn measure(&self, part: usize, _: &Finished<'_>, _: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let (family, n) = self.cases[part];
        let mut rows = Vec::new();
        for replicate in 0..self.run.replicates as u64 {
            let (seconds, bytes) = self.time(family, n, replicate)?;
            // every draw of a family takes the same memory
            let memory = (replicate == 0).then_some((Metric::Megabytes, bytes / 1e6));
            for (metric, value) in [Some((Metric::ItemMicroseconds, 1e6 * seconds)), memory].into_iter().flatten() {
                let row = row(&self.run, subject(PANEL, family, n), metric, value);
                rows.push(row.at("n", n).replicate(replicate));
            }
        }
        Ok(rows)
    }
}
