//! `runner cluster`: k-means on the vectors of the items.

use landmark_core::stream::stream;
use landmark_harness::experiments::own_data;
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_tasks::k_means::{KMeansParams, k_means};
use miette::{IntoDiagnostic, Result};
use ndarray::Axis;

use super::Own;
use crate::cli::{LogArgs, OwnArgs};

/// Clusters the items. Euclidean distances need a Euclidean space: columns that count negatively are left out, and said.
pub(crate) fn cluster(arguments: &OwnArgs, clusters: usize, log: LogArgs) -> Result<String> {
    let own = Own::open(arguments, log)?;
    let signature = &own.factors.signature;
    let positive: Vec<usize> = (0..signature.len()).filter(|&k| signature[k] > 0.0).collect();
    let points = own.factors.vectors.select(Axis(1), &positive);
    let all: f64 = own.factors.vectors.iter().map(|value| value * value).sum();
    let kept: f64 = points.iter().map(|value| value * value).sum();
    let mut rng = stream(own.config.run.seed, own.matrix.dataset.name, "clusters", 0);
    let params = KMeansParams { clusters, ..KMeansParams::default() };
    let found = k_means(points.view(), params, &mut rng).into_diagnostic()?;
    let mut sizes = vec![0_u64; clusters];
    found.labels.iter().for_each(|&label| sizes[label] += 1);
    let ids = Column::text("id", own.ids().into_iter().map(Some));
    let labels = Column::count("cluster", found.labels.iter().map(|&label| Some(label as u64)));
    let path = own.write(own_data::CLUSTERS, vec![ids, labels])?;
    let mut text = format!(
        "{} items in {clusters} clusters after {} iterations, inertia {:.4}; sizes {}\n",
        count(found.labels.len() as u64),
        found.iterations,
        found.inertia,
        sizes.iter().map(|&size| count(size)).collect::<Vec<_>>().join(", ")
    );
    if positive.len() < signature.len() {
        let (left_out, share) = (signature.len() - positive.len(), 100.0 * (1.0 - kept / all));
        text += &format!(
            "{left_out} negative directions with {share:.1} % of the squared length were left out: k-means needs distances\n"
        );
    }
    if found.restarted > 0 {
        text += &format!("{} clusters lost all items on the way and began anew\n", found.restarted);
    }
    text += &format!("written to `{}`\n", path.display());
    Ok(text)
}
