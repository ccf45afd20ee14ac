//! linfa's `Fit` and `Predict` for the linear machine, on labels `0..classes`.
//!
//! The order of visits is drawn from seed 0; the optimum does not depend on it.

use linfa::DatasetBase;
use linfa::dataset::AsSingleTargets;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, ArrayBase, Data, Ix2};

use super::{LinearSvm, LinearSvmValidParams, highest};
use crate::svm::{SvmError, TrainingSet};

impl<D, T> Fit<ArrayBase<D, Ix2>, T, SvmError> for LinearSvmValidParams
where
    D: Data<Elem = f64>,
    T: AsSingleTargets<Elem = usize>,
{
    type Object = LinearSvm;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<LinearSvm, SvmError> {
        let labels = dataset.targets().as_single_targets().to_vec();
        let classes = labels.iter().max().map_or(0, |largest| largest + 1);
        let set = TrainingSet::new(dataset.records().view(), &labels, classes)?;
        match dataset.weights() {
            Some(weights) => {
                let weights: Vec<f64> = weights.iter().copied().map(f64::from).collect();
                self.train_on(&set.with_weights(&weights)?, 0)
            }
            None => self.train_on(&set, 0),
        }
    }
}

impl<D: Data<Elem = f64>> PredictInplace<ArrayBase<D, Ix2>, Array1<usize>> for LinearSvm {
    /// # Panics
    /// Panics if x has another number of columns than the training rows, or `y` another length than x.
    fn predict_inplace<'a>(&'a self, x: &'a ArrayBase<D, Ix2>, y: &mut Array1<usize>) {
        y.assign(&Array1::from_vec(highest((x.dot(&self.weights.t()) + &self.bias).view())));
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array1<usize> {
        Array1::zeros(x.nrows())
    }
}
