//! Machines for ranking: a kernel SVM on the Gram matrix, a linear SVM on an embedding, C by cross-validation.

use landmark_core::approximate::{Approximate, Nystrom, ShiftRidgeParams, SiCurParams, SmsNystromParams};
use landmark_core::approximation::Known;
use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::hstack;
use landmark_core::oracle::{Oracle, OracleShape, block_of};
use landmark_core::stream::stream;
use landmark_harness::study::StudyError;
use landmark_tasks::classification::{self, ClassificationParams, KernelClassificationParams};
use landmark_tasks::kernel_svm::KernelSvmParams;
use landmark_tasks::linear_svm::{LinearSvmParams, Solver};
use ndarray::{Array1, Array2, ArrayView2};
use rand::seq::SliceRandom;

use super::{Method, Settings};

/// Experts of the ensemble.
pub(super) const EXPERTS: usize = 4;

/// Training pairs as a machine sees them.
pub(super) struct Task<'a> {
    pub(super) settings: &'a Settings,
    /// 1 for good.
    pub(super) labels: &'a [usize],
    pub(super) seed: u64,
}

/// Answer of a machine to the test pairs.
pub(super) struct Answered {
    /// Scores; good above 0.
    pub(super) scores: Array1<f64>,
    pub(super) c: f64,
    pub(super) converged: bool,
    /// Training pairs that a test pair is compared with.
    pub(super) compared: usize,
}

impl Task<'_> {
    /// The exact kernel machine: scores of the test pairs, whose similarities to the support are asked of `similarities`.
    pub(super) fn exact(
        &self,
        gram: ArrayView2<'_, f64>,
        similarities: impl Fn(&[usize]) -> Result<Array2<f64>, StudyError>,
    ) -> Result<Answered, StudyError> {
        let all: Vec<usize> = (0..gram.nrows()).collect();
        let c = match self.settings.costs[..] {
            [only] => only,
            _ => {
                let params = KernelClassificationParams {
                    costs: self.settings.costs.clone(),
                    folds: self.settings.folds,
                    ..KernelClassificationParams::default()
                };
                classification::cross_validate_kernel(gram, self.labels, &all, &params.check()?, self.seed)?.best().c
            }
        };
        let params = KernelSvmParams { c, ..KernelSvmParams::default() }.check()?;
        let machine = params.train(gram, self.labels, 2, self.seed)?;
        let scores = machine.decision_on_support(similarities(machine.support())?.view())?;
        Ok(Answered {
            scores: scores.column(1).to_owned(),
            c,
            converged: machine.report().converged(),
            compared: machine.support().len(),
        })
    }

    /// A linear machine on embedded training pairs, and its scores of embedded test pairs.
    pub(super) fn linear(
        &self,
        train: &Array2<f64>,
        test: &Array2<f64>,
        landmarks: usize,
    ) -> Result<Answered, StudyError> {
        let svm = LinearSvmParams {
            solver: Solver::DualDescent,
            max_epochs: self.settings.epochs,
            ..LinearSvmParams::default()
        };
        let all: Vec<usize> = (0..train.nrows()).collect();
        let c = match self.settings.costs[..] {
            [only] => only,
            _ => {
                let params = ClassificationParams {
                    svm: svm.clone(),
                    costs: self.settings.costs.clone(),
                    folds: self.settings.folds,
                    ..ClassificationParams::default()
                };
                classification::cross_validate(train.view(), self.labels, &all, &params.check()?, self.seed)?.best().c
            }
        };
        let machine = LinearSvmParams { c, ..svm }.check()?.train(train.view(), self.labels, 2, self.seed)?;
        let scores = machine.decision(test.view())?.column(1).to_owned();
        // 30 epochs are the paper's; whether they met the tolerance is not reported
        Ok(Answered { scores, c, converged: true, compared: landmarks })
    }

    /// The order in which training pairs become landmarks.
    pub(super) fn order(&self, method: Method, dataset: &str, replicate: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.shuffle(&mut stream(self.seed, dataset, "landmarks", replicate));
        if method == Method::Stratified { stratified(&order, self.labels) } else { order }
    }

    /// Embeds training and test pairs by `size` landmarks of `order`.
    pub(super) fn embed(
        &self,
        method: Method,
        train: &dyn Oracle,
        order: &[usize],
        size: usize,
        similarities: impl Fn(&[usize]) -> Result<Array2<f64>, StudyError>,
    ) -> Result<(Array2<f64>, Array2<f64>), StudyError> {
        if method == Method::Ensemble {
            let (mut known, mut asked) = (Vec::new(), Vec::new());
            let experts = experts(&order[..size]);
            for own in &experts {
                let (train, test) = self.fit(&Nystrom, train, own, own.len(), &similarities)?;
                // uniform weights 1/m on the kernels, so 1/√m on the features
                let weight = 1.0 / (experts.len() as f64).sqrt();
                known.push(train * weight);
                asked.push(test * weight);
            }
            let side_by_side = |parts: &[Array2<f64>]| hstack(&parts.iter().map(Array2::view).collect::<Vec<_>>());
            return Ok((side_by_side(&known), side_by_side(&asked)));
        }
        let (approximator, rank) = approximator(method, size)?;
        self.fit(approximator.as_ref(), train, order, rank, &similarities)
    }

    /// Entries that [`embed`](Self::embed) requests: what the fit requests of the training pairs, and the similarities of every other
    /// pair to the columns that it reads in full.
    pub(super) fn entries(
        &self,
        method: Method,
        shape: OracleShape,
        order: &[usize],
        size: usize,
    ) -> Result<EntryPlan, StudyError> {
        if method == Method::Ensemble {
            return Ok(EntryPlan::columns(&order[..size]));
        }
        let training = self.labels.len();
        let (approximator, rank) = approximator(method, size)?;
        let train = OracleShape { len: training, ..shape };
        let mut plan = approximator.plan(train, &self.landmarks(order)?, rank)?;
        let full = plan.full_columns();
        let partly = plan.blocks.drain(..).filter(|block| block.rows != Rows::All);
        let blocks = std::iter::once(EntryBlock { rows: Rows::All, cols: full }).chain(partly).collect();
        Ok(EntryPlan { blocks, ..plan })
    }

    /// Landmarks in this order, and an independent draw.
    fn landmarks(&self, order: &[usize]) -> Result<Landmarks, StudyError> {
        let independent = &mut stream(self.seed, "", "landmarks.independent", 0);
        Ok(Landmarks::given(self.labels.len(), order, independent)?)
    }

    fn fit(
        &self,
        method: &dyn Approximate,
        train: &dyn Oracle,
        order: &[usize],
        rank: usize,
        similarities: &impl Fn(&[usize]) -> Result<Array2<f64>, StudyError>,
    ) -> Result<(Array2<f64>, Array2<f64>), StudyError> {
        let landmarks = self.landmarks(order)?;
        let rng = &mut stream(self.seed, "", "fit", 0);
        let approximation = method.fit(train, &landmarks, rank, Known::NOTHING, rng)?;
        let landmarks = approximation.landmarks().to_vec();
        let embedding = approximation.into_embedding()?;
        let projected = embedding.project(similarities(&landmarks)?.view());
        let projected = projected.ok_or("a method whose vectors cannot be had for new items")?;
        Ok((embedding.vectors, projected))
    }
}

/// A method with the rank that it has at `size` landmarks.
fn approximator(method: Method, size: usize) -> Result<(Box<dyn Approximate>, usize), StudyError> {
    Ok(match method {
        Method::Nystrom | Method::Stratified | Method::Ensemble => (Box::new(Nystrom), size),
        Method::SmsNystrom => (Box::new(SmsNystromParams::default().check()?), size),
        // SiCUR evaluates twice as many columns as its rank
        Method::Sicur => (Box::new(SiCurParams::default().check()?), size.div_ceil(2)),
        Method::ShiftRidge => (Box::new(ShiftRidgeParams::default().check()?), size),
    })
}

/// Landmarks dealt out to the experts of the ensemble.
fn experts(landmarks: &[usize]) -> Vec<Vec<usize>> {
    let experts = EXPERTS.min(landmarks.len());
    (0..experts).map(|expert| landmarks.iter().copied().skip(expert).step_by(experts).collect()).collect()
}

/// Every prefix has the labels' shares as nearly as can be; within a label the order stays.
fn stratified(order: &[usize], labels: &[usize]) -> Vec<usize> {
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); 2];
    order.iter().rev().for_each(|&item| waiting[labels[item]].push(item));
    let sizes: Vec<f64> = waiting.iter().map(|items| items.len() as f64).collect();
    let mut taken = [0.0_f64; 2];
    let mut chosen = Vec::with_capacity(order.len());
    for _ in 0..order.len() {
        // the label that is furthest behind its share
        let behind =
            |label: usize| if waiting[label].is_empty() { f64::INFINITY } else { (taken[label] + 0.5) / sizes[label] };
        let label = usize::from(behind(1) < behind(0));
        chosen.extend(waiting[label].pop());
        taken[label] += 1.0;
    }
    chosen
}

/// K[rows, columns] of an oracle.
pub(super) fn block(oracle: &dyn Oracle, rows: &[usize], columns: &[usize]) -> Result<Array2<f64>, StudyError> {
    Ok(block_of(oracle, rows, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stratified_prefixes_have_the_shares_of_the_labels() {
        let labels: Vec<usize> = (0..100).map(|i| usize::from(i % 4 == 0)).collect();
        let order: Vec<usize> = (0..100).rev().collect();
        let chosen = stratified(&order, &labels);
        for size in [4, 20, 40, 100] {
            assert_eq!(chosen[..size].iter().filter(|&&item| labels[item] == 1).count(), size / 4);
        }
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert!(chosen.iter().filter(|&&item| labels[item] == 1).is_sorted_by(|a, b| a > b));
    }
}
