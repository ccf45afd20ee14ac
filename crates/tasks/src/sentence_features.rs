//! Sentence representations that put dense vectors next to sparse word counts (paper 2, equation 2 and §3.1).
//!
//! SENT: x/‖x‖ ⊕ xΠ/‖xΠ‖, x the n-gram counts of a sentence and Π the [projection](landmark_features::sketch::Projection) of a sketch of
//! unlabeled text. Any other dense vector takes the place of xΠ in the same way: averaged word vectors do for the paper's baselines.
//! SENT+ adds to x features of the first two words, and what a supervised machine predicts: [`predicted_labels`].
//!
//! Cost: xΠ takes m multiplications a non-zero number of x; a row of the result stores the numbers of x and m more.

use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use landmark_core::stream::stream;
use landmark_features::sketch::Projection;

use crate::classification::{ClassificationValidParams, classify_sparse};
use crate::cross_validation::stratified_folds;
use crate::error::TaskError;
use crate::svm::{SparseRows, SvmError};

/// xΠ of every row: n × m.
///
/// # Panics
/// Panics if the rows have more columns than Π has.
pub fn project(rows: &SparseRows, projection: &Projection) -> Array2<f64> {
    let mut out = Array2::zeros((rows.rows(), projection.dimension()));
    out.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut out)| {
        let (columns, values) = rows.row_parts(i);
        out.iter_mut().zip(projection.project_sparse(columns, values)).for_each(|(out, value)| *out = value);
    });
    out
}

/// x/‖x‖ ⊕ v₁/‖v₁‖ ⊕ v₂/‖v₂‖ … for each row; a part of length 0 stays 0.
pub fn hstack(sparse: &SparseRows, dense: &[ArrayView2<'_, f64>]) -> Result<SparseRows, SvmError> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    if let Some(part) = dense.iter().find(|part| part.nrows() != sparse.rows()) {
        return Err(SvmError::Lengths { list: "dense rows", rows: sparse.rows(), found: part.nrows() });
    }
    for i in 0..sparse.rows() {
        let (columns, counts) = sparse.row_parts(i);
        let length = counts.iter().map(|value| value * value).sum::<f64>().sqrt();
        indices.extend_from_slice(columns);
        values.extend(counts.iter().map(|value| if length > 0.0 { value / length } else { 0.0 }));
        let mut first = sparse.columns();
        for part in dense {
            let row = part.row(i);
            let length = row.dot(&row).sqrt();
            for (column, &value) in (first..).zip(row).filter(|(_, value)| **value != 0.0) {
                let Ok(column) = u32::try_from(column) else {
                    return Err(SvmError::Sparse { problem: "more than 2³² columns", place: column });
                };
                indices.push(column);
                values.push(value / length);
            }
            first += part.ncols();
        }
        starts.push(values.len());
    }
    SparseRows::new(sparse.columns() + dense.iter().map(ArrayView2::ncols).sum::<usize>(), starts, indices, values)
}

/// The label that a supervised machine gives each row, as a vector with a 1 at it: n × (largest label + 1), 0 for rows on neither side.
///
/// Training rows are predicted by machines that did not see them (`folds` parts), the others by one that saw all training rows: a machine
/// trained on these vectors meets predictions of the same quality on both sides.
pub fn predicted_labels(
    rows: &SparseRows,
    labels: &[usize],
    train: &[usize],
    others: &[usize],
    folds: usize,
    params: &ClassificationValidParams,
    seed: u64,
) -> Result<Array2<f64>, TaskError> {
    let width = labels.iter().max().map_or(0, |&last| last + 1);
    let mut vectors = Array2::zeros((rows.rows(), width));
    let of_train: Vec<usize> = train.iter().map(|&item| labels[item]).collect();
    for fold in stratified_folds(&of_train, folds, seed)? {
        let items = |places: &[usize]| -> Vec<usize> { places.iter().map(|&place| train[place]).collect() };
        let (seen, unseen) = (items(&fold.train), items(&fold.test));
        let outcome = classify_sparse(rows, labels, &seen, &unseen, params, seed)?;
        unseen.iter().zip(outcome.predictions).for_each(|(&item, label)| vectors[[item, label]] = 1.0);
    }
    let outcome = classify_sparse(rows, labels, train, others, params, seed)?;
    others.iter().zip(outcome.predictions).for_each(|(&item, label)| vectors[[item, label]] = 1.0);
    Ok(vectors)
}

/// At most `per_label` of the items for each label, ascending: what is left when labels are scarce. Sets of one replicate are nested: those of
/// 5 a label lie within those of 10.
pub fn subsample_per_label(
    labels: &[usize],
    items: &[usize],
    per_label: usize,
    seed: u64,
    dataset: &str,
    replicate: u64,
) -> Vec<usize> {
    let mut order = items.to_vec();
    order.shuffle(&mut stream(seed, dataset, "few labels", replicate));
    let mut taken = vec![0; labels.iter().max().map_or(0, |&last| last + 1)];
    order.retain(|&item| {
        taken[labels[item]] += 1;
        taken[labels[item]] <= per_label
    });
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {

    use ndarray::array;

    use super::*;
    use crate::classification::ClassificationParams;

    #[test]
    fn each_part_has_length_one_and_nothing_stays_nothing() {
        let counts = SparseRows::from_dense(array![[1.0, -2.0, 2.0], [0.0, 0.0, 0.0]].view()).unwrap();
        let (a, b) = (array![[0.0, 0.0], [3.0, 4.0]], array![[5.0], [-2.0]]);
        let rows = hstack(&counts, &[a.view(), b.view()]).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(rows.row(0).collect::<Vec<_>>(), [(0, third), (1, -2.0 * third), (2, 2.0 * third), (5, 1.0)]);
        assert_eq!(rows.row(1).collect::<Vec<_>>(), [(3, 0.6), (4, 0.8), (5, -1.0)]);
        let message = hstack(&counts, &[array![[1.0]].view()]).unwrap_err().to_string();
        assert_eq!(message, "2 rows have 1 `dense rows`: give one a row");
    }

    #[test]
    fn few_labels_are_nested_and_at_most_the_limit() {
        let labels: Vec<usize> = (0..60).map(|i| i % 4).collect();
        let items: Vec<usize> = (0..50).collect();
        let five = subsample_per_label(&labels, &items, 5, 1, "sample", 0);
        let ten = subsample_per_label(&labels, &items, 10, 1, "sample", 0);
        assert_eq!((five.len(), ten.len()), (20, 40));
        assert!(five.iter().all(|item| ten.contains(item)) && ten.iter().all(|&item| item < 50));
        assert_ne!(five, subsample_per_label(&labels, &items, 5, 1, "sample", 1));
        assert_eq!(subsample_per_label(&labels, &items, 99, 1, "sample", 0), items);
    }

    #[test]
    fn predictions_of_training_rows_come_from_machines_that_did_not_see_them() {
        // the label of a row is its only column, but row 0 carries the mark of the other label: a machine that saw it would still follow
        // its label, one that did not must follow the mark
        let mut x = Array2::zeros((12, 2));
        let labels: Vec<usize> = (0..12).map(|i| i % 2).collect();
        (0..12).for_each(|i| x[[i, labels[i]]] = 1.0);
        x.row_mut(0).assign(&array![0.0, 1.0]);
        let rows = SparseRows::from_dense(x.view()).unwrap();
        let (train, others): (Vec<usize>, Vec<usize>) = (0..12).partition(|&i| i < 10);
        let params = ClassificationParams::default().check().unwrap();
        let vectors = predicted_labels(&rows, &labels, &train, &others, 5, &params, 3).unwrap();
        assert_eq!(vectors.row(0), array![0.0, 1.0]);
        for i in 1..12 {
            assert_eq!(vectors[[i, labels[i]]], 1.0);
            assert_eq!(vectors.row(i).sum(), 1.0);
        }
    }
}
