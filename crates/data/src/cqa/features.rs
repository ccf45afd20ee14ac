//! All (question, comment) pairs of some threads, ready for learning: texts, trees and two tables of features.

#[cfg(feature = "tagger")]
use ndarray::Array1;
use ndarray::{Array2, ArrayView2, Axis};

#[cfg(feature = "tagger")]
use super::{
    annotation::Annotated,
    annotator::Annotator,
    shallow_trees,
    similarities::{SIMILARITIES, TextSimilarities},
    thread_features::{THREAD_FEATURES, thread_features},
};
use crate::threads::Thread;
use crate::tree::Tree;
use crate::word_vectors::WordVectors;

/// Annotation without the feature `tagger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot annotate questions and comments: this program was built without the tagger; build it with `cargo build --release -p runner --no-default-features --features tagger`"
)]
pub struct NoTagger;

/// Whether this program can annotate, for those who have to load files before they do.
///
/// # Errors
/// [`NoTagger`] without the feature `tagger`.
pub fn require_tagger() -> Result<(), NoTagger> {
    if cfg!(feature = "tagger") { Ok(()) } else { Err(NoTagger) }
}

/// Pairs in the order of threads and comments.
#[derive(Debug, Clone)]
pub struct Pairs {
    pub thread: Vec<usize>,
    pub is_good: Vec<bool>,
    /// The linked shallow tree of the question.
    pub questions: Vec<Tree>,
    /// The linked shallow tree of the comment.
    pub comments: Vec<Tree>,
    /// pairs × [`SIMILARITIES`].
    pub similarities: Array2<f64>,
    /// pairs × [`THREAD_FEATURES`].
    pub thread_features: Array2<f64>,
}

impl Pairs {
    /// Annotates the threads and measures every pair. Document frequencies are those of the first `training` threads.
    #[cfg(feature = "tagger")]
    pub fn new(threads: &[&Thread], training: usize, vectors: Option<&WordVectors>) -> Result<Self, NoTagger> {
        let annotator = Annotator::new();
        let question = |thread: &&Thread| annotator.annotate(&format!("{}\n{}", thread.subject, thread.body));
        let questions: Vec<Annotated> = threads.iter().map(question).collect();
        let annotate_comments =
            |thread: &&Thread| thread.comments.iter().map(|comment| annotator.annotate(&comment.text)).collect();
        let comments: Vec<Vec<Annotated>> = threads.iter().map(annotate_comments).collect();
        let known = questions.iter().take(training).chain(comments.iter().take(training).flatten());
        let similar = TextSimilarities::new(known, vectors);
        let count = comments.iter().map(Vec::len).sum();
        let mut pairs = Self {
            thread: Vec::with_capacity(count),
            is_good: Vec::with_capacity(count),
            questions: Vec::with_capacity(count),
            comments: Vec::with_capacity(count),
            similarities: Array2::zeros((count, SIMILARITIES.len())),
            thread_features: Array2::zeros((count, THREAD_FEATURES.len())),
        };
        for (number, thread) in threads.iter().enumerate() {
            let features = thread_features(thread, &comments[number]);
            for ((comment, annotated), features) in thread.comments.iter().zip(&comments[number]).zip(features) {
                let row = pairs.thread.len();
                let (question_tree, comment_tree) = shallow_trees(&questions[number], annotated);
                let similarities = similar.of(&questions[number], annotated);
                pairs.similarities.row_mut(row).assign(&Array1::from_iter(similarities));
                pairs.thread_features.row_mut(row).assign(&Array1::from_iter(features));
                pairs.thread.push(number);
                pairs.is_good.push(comment.label.is_good());
                pairs.questions.push(question_tree);
                pairs.comments.push(comment_tree);
            }
        }
        Ok(pairs)
    }

    /// Needs the tagger.
    #[cfg(not(feature = "tagger"))]
    pub fn new(_: &[&Thread], _: usize, _: Option<&WordVectors>) -> Result<Self, NoTagger> {
        Err(NoTagger)
    }

    pub fn len(&self) -> usize {
        self.thread.len()
    }

    pub fn is_empty(&self) -> bool {
        self.thread.is_empty()
    }
}

/// Features brought to mean 0 and standard deviation 1 over some rows; what is constant there becomes 0.
#[derive(Debug, Clone)]
pub struct FeatureTable {
    /// rows × features.
    pub values: Array2<f64>,
}

impl FeatureTable {
    /// Scales all rows by the first `training`.
    pub fn standardized(features: ArrayView2<'_, f64>, training: usize) -> Self {
        let known = features.slice(ndarray::s![..training.min(features.nrows()), ..]);
        let count = known.nrows().max(1) as f64;
        let mean = known.sum_axis(Axis(0)) / count;
        let spread = (&known - &mean).mapv(|x| x * x).sum_axis(Axis(0)).mapv(|sum| (sum / count).sqrt());
        let scale = spread.mapv(|sd| if sd > 0.0 { 1.0 / sd } else { 0.0 });
        Self { values: (&features - &mean) * &scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "tagger")]
    use crate::embedded;
    use ndarray::array;

    #[test]
    fn features_are_scaled_by_the_training_rows_alone() {
        let table = FeatureTable::standardized(array![[1.0, 5.0], [3.0, 5.0], [7.0, 6.0]].view(), 2);
        assert_eq!(table.values, array![[-1.0, 0.0], [1.0, 0.0], [5.0, 0.0]]);
    }

    #[cfg(feature = "tagger")]
    #[test]
    fn every_comment_of_the_sample_becomes_a_pair() {
        let sample = embedded::threads().unwrap();
        let threads: Vec<&Thread> = sample.threads().iter().collect();
        let pairs = Pairs::new(&threads, 16, None).unwrap();
        assert_eq!(pairs.len(), sample.comments());
        assert_eq!((pairs.similarities.nrows(), pairs.thread_features.nrows()), (pairs.len(), pairs.len()));
        let finite = pairs.similarities.iter().chain(&pairs.thread_features).all(|value| value.is_finite());
        assert!(finite && pairs.comments.iter().all(|tree| tree.len() > 1));
        // in one thread, a comment that answers shares words with its question more often than one that does not
        let mean = |good: bool| {
            let rows: Vec<usize> = (0..pairs.len()).filter(|&row| pairs.is_good[row] == good).collect();
            rows.iter().map(|&row| pairs.similarities[[row, 8]]).sum::<f64>() / rows.len() as f64
        };
        assert!(mean(true) > mean(false), "{} {}", mean(true), mean(false));
    }
}
