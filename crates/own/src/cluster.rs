//! `runner cluster`: k-means on the vectors of the items, or correlation clustering around pivots.

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::OracleError;
use landmark_core::stream::stream;
use landmark_harness::config::{Budget, MatrixSubject};
use landmark_harness::experiments::own_data;
use landmark_harness::invocation::Invocation;
use landmark_harness::job::JobError;
use landmark_harness::run::{self, RunError};
use landmark_report::amounts::count;
use landmark_report::columns::Column;
use landmark_tasks::groups::{PivotGroups, around_pivots};
use landmark_tasks::k_means::{KMeansParams, k_means};
use miette::{IntoDiagnostic, Result};
use ndarray::Axis;

use crate::own::Own;

/// Clusters the items. Euclidean distances need a Euclidean space: columns that count negatively are left out, and said.
///
/// # Errors
/// Factors that are not there or of another configuration, and whatever stops a run.
pub fn cluster(invocation: &Invocation, clusters: usize) -> Result<String> {
    let own = Own::open(invocation)?;
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

/// Clusters the items around pivots: the landmarks first, whose columns are known, then others in a uniform order. Each takes the items still free
/// that are at least `at_least` similar to it; where the budget ends, the others stay alone.
///
/// # Errors
/// Factors that are not there or of another configuration, and whatever stops a run.
pub fn cluster_by_pivots(invocation: &Invocation, at_least: f64, budget: Option<u64>) -> Result<String> {
    let own = Own::open(invocation)?;
    let items = own.factors.info.items;
    let mut rng = stream(own.config.run.seed, own.matrix.dataset.name, "pivots", 0);
    let mut order = own.factors.info.landmarks.clone();
    let is_landmark: std::collections::HashSet<usize> = order.iter().copied().collect();
    order.extend(Landmarks::uniform(items, &mut rng).order().iter().filter(|item| !is_landmark.contains(item)));
    let matrix = MatrixSubject { budget: Budget { entries: budget, ..Budget::default() }, ..own.matrix.clone() };
    let (progress, mut done) = own.progress("items in clusters");
    let found = run::with_sweep(&own.config, &matrix, &own.options, |context| {
        if let Err(report) = own.check_oracle(&context) {
            return Ok(Err(report));
        }
        let failed = |error: OracleError| RunError::Plan(Box::new(JobError::from(error)));
        let oracle = context.metered.similarities(own.factors.info.gamma).map_err(failed)?;
        let found = around_pivots(&order, at_least, |pivot, free| {
            done(1.0 - free.len() as f64 / items as f64);
            let pairs: Vec<_> = free.iter().map(|&item| (item.min(pivot), item.max(pivot))).collect();
            let mut scores = vec![0.0; pairs.len()];
            match oracle.evaluate(&pairs, &mut scores) {
                Ok(()) => Ok(Some(scores)),
                Err(error) if error.is_exhausted() => Ok(None),
                Err(error) => Err(failed(error)),
            }
        })?;
        context.metered.flush()?;
        Ok(Ok((found, context.metered.spent().evaluations)))
    });
    drop(progress);
    let (PivotGroups { groups, pivots, queries, left }, bought) = found.into_diagnostic()??;
    let ids = Column::text("id", own.ids().into_iter().map(Some));
    let labels = Column::count("cluster", groups.labels.iter().map(|&label| Some(label as u64)));
    let path = own.write(own_data::CLUSTERS, vec![ids, labels])?;
    let mut text = format!(
        "{} items in {} clusters, {} of two and more, around {} pivots; {} similarities read, {} bought now\n",
        count(items as u64),
        count(groups.sizes.len() as u64),
        count(groups.shared() as u64),
        count(pivots.len() as u64),
        count(queries),
        count(bought)
    );
    if left > 0 {
        text += &format!("the budget ended before {} items had met a pivot: each is alone\n", count(left as u64));
    }
    text += &format!("written to `{}`\n", path.display());
    Ok(text)
}
