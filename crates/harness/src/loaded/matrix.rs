//! A matrix that is already there, or drawn at random.

use std::path::Path;

use landmark_core::stream::stream;
use landmark_data::matrices;
use ndarray::Array2;

use super::{Labels, LoadError};
use crate::config::dataset::{Distribution, MatrixConfig, RandomMatrix};
use crate::config::run_settings::RunSettings;
use crate::config::values::ConfigPath;
use crate::items::ItemsError;

pub struct GivenMatrix {
    pub matrix: Array2<f64>,
    pub description: String,
    /// Labels of the rows, where a file names them.
    pub labels: Option<Labels>,
}

impl GivenMatrix {
    pub(super) fn read(items: &MatrixConfig, data: Option<&Path>) -> Result<Self, LoadError> {
        let place = items.path.at(data).ok_or_else(|| ItemsError::NoDataFolder(items.path.written.clone()))?;
        let matrix = matrices::read_square(&place)?;
        let n = matrix.nrows();
        let labels = items.labels.as_ref().map(|path| read_labels(path, n)).transpose()?;
        Ok(Self { matrix, description: format!("matrix `{}`, {n} × {n}", items.path.written), labels })
    }

    /// A random one, whose spectrum is known.
    pub(super) fn draw(run: &RunSettings, dataset: &str, items: &RandomMatrix) -> Self {
        let mut rng = stream(run.seed, dataset, "matrix", 0);
        let n = items.n;
        let matrix = match items.distribution {
            Distribution::Normal => matrices::psd_gaussian(n, &mut rng),
            Distribution::Uniform => matrices::psd_uniform(n, &mut rng),
        };
        Self { matrix, description: format!("random positive semidefinite matrix, {n} × {n}"), labels: None }
    }
}

fn read_labels(path: &ConfigPath, n: usize) -> Result<Labels, LoadError> {
    let text = std::fs::read_to_string(&path.resolved).map_err(landmark_data::DataError::io(&path.resolved))?;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() != n {
        return Err(LoadError::Count { what: path.written.clone(), unit: "lines", seen: lines.len(), wanted: n });
    }
    let mut names: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    let of = lines.iter().map(|&line| names.partition_point(|name| name.as_str() < line)).collect();
    Ok(Labels { of, names, given_split: None })
}
