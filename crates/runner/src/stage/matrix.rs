//! A matrix that is already there, or drawn at random.

use std::sync::Arc;

use landmark_core::oracle::{AsymmetryPolicy, Oracle, OracleError, Precomputed, Symmetrized};
use landmark_core::stream::stream;
use landmark_data::matrices;
use ndarray::Array2;
use serde_json::json;

use super::{Labels, Proxies, Stage, StageError, facts};
use crate::config::dataset::MatrixConfig;
use crate::config::{ConfigPath, Distribution, MatrixSubject, OracleConfig, RandomMatrix, RunSettings};

/// A matrix of the user's.
pub(super) fn set_given(subject: &MatrixSubject, items: &MatrixConfig) -> Result<Stage, StageError> {
    let matrix = matrices::read_square(&items.path.resolved)?;
    let labels = items.labels.as_ref().map(|path| read_labels(path, matrix.nrows())).transpose()?;
    let description = format!("matrix `{}`, {} × {}", items.path.written, matrix.nrows(), matrix.nrows());
    let stage = set(subject, matrix, description)?;
    Ok(Stage { labels, ..stage })
}

/// A random one, whose spectrum is known.
pub(super) fn set_random(
    run: &RunSettings,
    subject: &MatrixSubject,
    items: &RandomMatrix,
) -> Result<Stage, StageError> {
    let mut rng = stream(run.seed, subject.dataset.name, "matrix", 0);
    let matrix = match items.distribution {
        Distribution::Normal => matrices::psd_gaussian(items.n, &mut rng),
        Distribution::Uniform => matrices::psd_uniform(items.n, &mut rng),
    };
    set(subject, matrix, format!("random positive semidefinite matrix, {} × {}", items.n, items.n))
}

fn set(subject: &MatrixSubject, matrix: Array2<f64>, description: String) -> Result<Stage, StageError> {
    let raw = oracle(subject, matrix)?;
    Ok(Stage {
        dataset: subject.dataset.name.to_owned(),
        description,
        is_priced: false,
        proxies: Proxies::for_matrix(subject, raw.len())?,
        clouds: None,
        negligible: None,
        own: None,
        program: None,
        sentences: None,
        labels: None,
        stamps: Vec::new(),
        notes: Vec::new(),
        facts: facts(subject.dataset.name, raw.len(), raw.as_ref(), json!({})),
        raw,
    })
}

fn oracle(subject: &MatrixSubject, matrix: Array2<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
    Ok(match subject.oracle {
        OracleConfig::Precomputed { symmetrize: Some(mode), .. } => {
            Arc::new(Symmetrized::new(Precomputed::new(matrix, AsymmetryPolicy::Keep)?, mode))
        }
        _ => Arc::new(Precomputed::new(matrix, AsymmetryPolicy::Reject)?),
    })
}

/// One label a line.
fn read_labels(path: &ConfigPath, n: usize) -> Result<Labels, StageError> {
    let text = std::fs::read_to_string(&path.resolved).map_err(landmark_data::DataError::io(&path.resolved))?;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() != n {
        return Err(StageError::Count { what: path.written.clone(), seen: lines.len(), wanted: n });
    }
    let mut names: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let of = lines.iter().map(|&line| names.partition_point(|name| name.as_str() < line)).collect();
    Ok(Labels { of, names, given_split: None })
}
