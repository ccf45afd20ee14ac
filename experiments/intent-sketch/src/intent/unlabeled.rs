//! The unlabeled texts, and the projections that sketches of growing shares of them give.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::stream::stream;
use landmark_data::catalog;
use landmark_data::feature_hashing::{HashedRow, NgramHash};
use landmark_data::synthetic::SyntheticUtterances;
use landmark_features::sketch::{FrequentDirections, Projection};
use landmark_harness::progress::Progress;
use landmark_harness::study::StudyError;
use landmark_tasks::sentence_features::project;
use landmark_tasks::svm::SparseRows;
use ndarray::Array2;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Intent;

/// The stream from templates.
pub(super) const SYNTHETIC: &str = "synthetic";
/// Texts of that stream where the configuration sets no number.
const SYNTHETIC_TEXTS: usize = 4000;
/// Blocks sketched side by side end at each of these per cents, and at those asked for.
const BLOCK: usize = 10;

/// Texts, and what was learned from them in the order of the last replicate asked for.
pub(super) struct Unlabeled {
    texts: Vec<String>,
    made: Mutex<HashMap<(u64, &'static str), Arc<Shares>>>,
}

/// One projection a share, and how counts are weighted before it.
pub(super) struct Shares {
    by_share: Vec<(u64, Projection)>,
    /// A factor a column; none weighs all alike.
    weights: Option<Vec<f64>>,
}

impl Shares {
    /// Projected rows for this share; `None` for a share of nothing. Weighted rows are whitened too.
    pub(super) fn project(&self, share: u64, rows: &SparseRows) -> Result<Option<Array2<f64>>, StudyError> {
        let Some((_, projection)) = self.by_share.iter().find(|(of, _)| *of == share) else { return Ok(None) };
        let Some(weights) = &self.weights else { return Ok(Some(project(rows, projection))) };
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..rows.rows() {
            let (of_row, counts) = rows.row_parts(i);
            columns.extend_from_slice(of_row);
            values.extend(of_row.iter().zip(counts).map(|(&column, count)| weights[column as usize] * count));
            starts.push(values.len());
        }
        let mut projected = project(&SparseRows::new(rows.columns(), starts, columns, values)?, projection);
        for (mut column, square) in projected.columns_mut().into_iter().zip(projection.squares()) {
            column /= square.sqrt();
        }
        Ok(Some(projected))
    }
}

impl Unlabeled {
    /// Reads the texts, or makes them.
    pub(super) fn read(settings: &Intent, data: Option<&Path>, seed: u64) -> Result<Self, StudyError> {
        let mut texts = Vec::new();
        if settings.unlabelled == SYNTHETIC {
            let synthetic = SyntheticUtterances::embedded()?;
            let mut block = synthetic.block(seed, 0);
            texts.extend((0..settings.texts.unwrap_or(SYNTHETIC_TEXTS)).map(|_| block.next_text().to_owned()));
        } else {
            catalog::load_texts(&settings.unlabelled, data, &mut |text| texts.push(text.to_owned()))?;
        }
        Ok(Self { texts, made: Mutex::default() })
    }

    /// Number of texts available.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Projections of every share of the texts, in the order of this replicate; made at the first call. `kind` names the sketch: its
    /// hash, and whether counts are `weighted`.
    pub(super) fn shares(
        &self,
        settings: &Intent,
        kind: &'static str,
        hash: &NgramHash,
        weighted: bool,
        seed: u64,
        replicate: u64,
        progress: &Progress,
    ) -> Result<Arc<Shares>, StudyError> {
        // a poisoned lock holds finished projections all the same
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shares) = made.get(&(replicate, kind)) {
            return Ok(Arc::clone(shares));
        }
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.shuffle(&mut stream(seed, &settings.unlabelled, "unlabelled order", replicate));
        order.truncate(settings.texts.unwrap_or(usize::MAX));
        progress.now(format!("sketching {} texts without labels", order.len()));
        made.retain(|(of, _), _| *of == replicate);
        let shares = Arc::new(self.sketch(settings, hash, weighted, &order)?);
        made.insert((replicate, kind), Arc::clone(&shares));
        Ok(shares)
    }

    /// Blocks side by side, then merged one after the other; a projection at each share asked for.
    fn sketch(
        &self,
        settings: &Intent,
        hash: &NgramHash,
        weighted: bool,
        order: &[usize],
    ) -> Result<Shares, StudyError> {
        let mut ends: Vec<u64> =
            (1..=100).filter(|share| share % BLOCK as u64 == 0).chain(settings.shares.clone()).collect();
        ends.sort_unstable();
        ends.dedup();
        ends.retain(|&share| share > 0 && share <= settings.shares.iter().copied().max().unwrap_or(100));
        let place = |share: u64| usize::try_from(order.len() as u64 * share / 100).unwrap_or(order.len());
        let starts: Vec<usize> = [0].into_iter().chain(ends.iter().map(|&share| place(share))).collect();
        let weights = weighted.then(|| self.inverse_frequencies(hash, &order[..starts.last().copied().unwrap_or(0)]));
        let of_block = |range: &[usize]| -> Result<FrequentDirections, StudyError> {
            let mut sketch = settings.sketch().check(hash.columns(), hash.identity())?;
            let mut row = HashedRow::default();
            for &text in &order[range[0]..range[1]] {
                hash.hash(&self.texts[text], &mut row);
                sketch.append_sparse(row.columns(), &of_length_one(&row, weights.as_deref()))?;
            }
            sketch.finish()?;
            Ok(sketch)
        };
        let blocks: Vec<Result<FrequentDirections, StudyError>> =
            starts.windows(2).collect::<Vec<_>>().into_par_iter().map(of_block).collect();
        let mut whole = settings.sketch().check(hash.columns(), hash.identity())?;
        let mut by_share = Vec::new();
        for (share, block) in ends.into_iter().zip(blocks) {
            whole.merge(&block?)?;
            if settings.shares.contains(&share) {
                by_share.push((share, whole.projection(settings.dimension)?));
            }
        }
        Ok(Shares { by_share, weights })
    }

    /// ln((n + 1) / (texts with the column + 1)) of every column: a pass over the texts before the one that sketches them.
    fn inverse_frequencies(&self, hash: &NgramHash, order: &[usize]) -> Vec<f64> {
        let mut texts_with = vec![0_u32; hash.columns()];
        let mut row = HashedRow::default();
        for &text in order {
            hash.hash(&self.texts[text], &mut row);
            row.columns().iter().for_each(|&column| texts_with[column as usize] += 1);
        }
        let n = order.len() as f64 + 1.0;
        texts_with.into_iter().map(|count| (n / (f64::from(count) + 1.0)).ln()).collect()
    }
}

/// The values of a row, weighted and scaled to length 1; a row of length 0 stays.
fn of_length_one(row: &HashedRow, weights: Option<&[f64]>) -> Vec<f64> {
    let weight = |column: u32| weights.map_or(1.0, |weights| weights[column as usize]);
    let values: Vec<f64> =
        row.columns().iter().zip(row.values()).map(|(&column, value)| weight(column) * value).collect();
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.into_iter().map(|value| if length > 0.0 { value / length } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_are_kept_for_the_last_replicate_alone() {
        let settings = Intent { texts: Some(50), sketch_rows: 6, dimension: 3, ..Intent::default() };
        let texts = Unlabeled::read(&settings, None, 2022).unwrap();
        let hash = settings.hash(0).check().unwrap();
        let progress = Progress::start(1, "parts", true, || 0_u64);
        let of =
            |kind, replicate| texts.shares(&settings, kind, &hash, kind == "idf", 2022, replicate, &progress).unwrap();
        let first = of("plain", 0);
        of("idf", 0);
        assert!(Arc::ptr_eq(&first, &of("plain", 0)));
        assert_eq!(texts.made.lock().unwrap().len(), 2);
        of("plain", 1);
        assert_eq!(texts.made.lock().unwrap().len(), 1);
    }
}
