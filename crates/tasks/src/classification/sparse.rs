//! Classification of sparse rows: hashed words and what is conjoined with them.

use landmark_core::parameter::BadParameter;

use super::{ClassificationValidParams, Outcome, Scaling, classify_with, linear_path};
use crate::cross_validation::{Answer, Learner};
use crate::error::TaskError;
use crate::linear_svm::LinearSvmValidParams;
use crate::svm::{SparseRows, SvmError};

/// As [`classify`](super::classify), on sparse rows. Columns that no training row uses carry no weight and are left out, so that a hash of
/// 2²⁰ columns costs no more than the words that occur.
///
/// # Errors
/// As [`classify`](super::classify); a scaling, which would have to fill rows or move their zeros.
pub fn classify_sparse(
    features: &SparseRows,
    labels: &[usize],
    train: &[usize],
    test: &[usize],
    params: &ClassificationValidParams,
    seed: u64,
) -> Result<Outcome, TaskError> {
    if params.scaling != Scaling::None {
        let value = format!("{:?}", params.scaling).to_lowercase();
        return Err(SvmError::from(BadParameter::new("scaling", value, "`none` for sparse rows")).into());
    }
    let learner = SparseLearner { features, labels, svm: &params.svm };
    classify_with(&learner, features.rows(), train, test, &params.choice, seed)
}

struct SparseLearner<'a> {
    features: &'a SparseRows,
    labels: &'a [usize],
    svm: &'a LinearSvmValidParams,
}

impl Learner for SparseLearner<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn path(&self, train: &[usize], test: &[usize], costs: &[f64], seed: u64) -> Result<Vec<Answer>, TaskError> {
        let used = self.features.used_columns(train);
        let (known, asked) = (self.features.cut(train, &used), self.features.cut(test, &used));
        linear_path(self.svm, self.labels, (&known, train), (&asked, test), costs, seed)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand::Rng;

    use super::super::{ClassificationParams, classify};
    use super::*;
    use crate::linear_svm::{LinearSvmParams, MultiClass, Solver};
    use landmark_core::stream::stream;

    fn rows() -> (Array2<f64>, Vec<usize>) {
        let mut rng = stream(4, "test", "sparse classification", 0);
        let labels: Vec<usize> = (0..90).map(|i| 10 * (i % 3)).collect();
        let x = Array2::from_shape_fn((90, 40), |(i, j)| {
            let signal = if j / 10 == labels[i] / 10 { 0.4 } else { 0.1 };
            if rng.gen_bool(signal) { rng.gen_range(0.5..1.5) } else { 0.0 }
        });
        (x, labels)
    }

    #[test]
    fn sparse_rows_are_classified_as_the_same_dense_rows_are() {
        let (x, labels) = rows();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..90).partition(|i| i % 5 != 0);
        for multi_class in [MultiClass::OneVsRest, MultiClass::CrammerSinger] {
            let svm = LinearSvmParams { multi_class, solver: Solver::DualDescent, ..LinearSvmParams::default() };
            let params =
                ClassificationParams { svm, costs: vec![0.1, 1.0], folds: 3, ..ClassificationParams::default() };
            let params = params.check().unwrap();
            let sparse = SparseRows::from_dense(x.view()).unwrap();
            let dense = classify(x.view(), &labels, &train, &test, &params, 7).unwrap();
            let sparse = classify_sparse(&sparse, &labels, &train, &test, &params, 7).unwrap();
            assert_eq!((dense.predictions, dense.c), (sparse.predictions, sparse.c));
            assert!(sparse.accuracy > 0.6, "{}", sparse.accuracy); // a third by chance
        }
    }

    #[test]
    fn scaling_and_nan_are_refused_by_name() {
        let (mut x, labels) = rows();
        let params =
            ClassificationParams { scaling: Scaling::Rows, ..ClassificationParams::default() }.check().unwrap();
        let sparse = SparseRows::from_dense(x.view()).unwrap();
        let message = classify_sparse(&sparse, &labels, &[0, 1, 2], &[3], &params, 1).unwrap_err().to_string();
        assert_eq!(message, "`scaling` is rows, but must be `none` for sparse rows");
        x[[2, 5]] = f64::NAN;
        let params = ClassificationParams::default().check().unwrap();
        let sparse = SparseRows::from_dense(x.view()).unwrap();
        let message = classify_sparse(&sparse, &labels, &[0, 1, 2], &[3], &params, 1).unwrap_err().to_string();
        assert!(message.contains("row 2"), "{message}");
    }
}
