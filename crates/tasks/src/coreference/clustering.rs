//! Agglomerative clustering on a condensed distance matrix (kodama: nearest-neighbor chains, Müllner 2011), cut strictly below a
//! threshold: two clusters merge while their distance < threshold, as `AgglomerativeClustering(distance_threshold)` does.
//!
//! Memory: 4n(n − 1) bytes for the distances, which the linkage consumes; time O(n²).

use std::fmt;

use kodama::Method;
use landmark_core::approximation::Approximation;
use ndarray::{Array2, ArrayView2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CorefError;
use crate::groups::root;

/// The distance of two clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Linkage {
    /// Mean over all pairs (UPGMA).
    #[default]
    Average,
    /// Of the nearest pair.
    Single,
    /// Of the farthest pair.
    Complete,
}

impl fmt::Display for Linkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Average => "average",
            Self::Single => "single",
            Self::Complete => "complete",
        })
    }
}

/// Distances of all pairs i < j, row by row: n(n − 1)/2 numbers, all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct CondensedDistances {
    items: usize,
    values: Vec<f64>,
}

impl CondensedDistances {
    /// Distances as they are.
    ///
    /// # Errors
    /// [`CorefError::Shape`] for another number of values, [`CorefError::NotFinite`] with the pair.
    pub fn new(items: usize, values: Vec<f64>) -> Result<Self, CorefError> {
        let wanted = items * items.saturating_sub(1) / 2;
        if values.len() != wanted {
            return Err(CorefError::Shape {
                what: "the list of distances",
                seen: values.len(),
                unit: "values",
                wanted,
            });
        }
        let distances = Self { items, values };
        match distances.values.iter().position(|value| !value.is_finite()) {
            None => Ok(distances),
            Some(place) => {
                let (i, j) = distances.pair(place);
                Err(CorefError::NotFinite { what: "distance", i, j, value: distances.values[place] })
            }
        }
    }

    /// 1 − K for a similarity matrix K, n × n. Only what stands above the diagonal is read: symmetrize before, unless the order of a
    /// pair is meant to decide.
    ///
    /// # Errors
    /// [`CorefError::Shape`] for a matrix that is not square, [`CorefError::NotFinite`] with the pair.
    pub fn of_similarities(similarities: ArrayView2<'_, f64>) -> Result<Self, CorefError> {
        let (items, columns) = similarities.dim();
        if items != columns {
            let what = "the similarity matrix";
            return Err(CorefError::Shape { what, seen: columns, unit: "columns", wanted: items });
        }
        let mut values = Vec::with_capacity(items * items.saturating_sub(1) / 2);
        for i in 0..items {
            push_row(&mut values, i, i, similarities.row(i).iter().copied())?;
        }
        Ok(Self { items, values })
    }

    /// 1 − ½(K̃ + K̃ᵀ) for an approximation, read by blocks of rows: the n × n matrix itself is never there.
    ///
    /// # Errors
    /// [`CorefError::NotFinite`] with the pair, [`CorefError::Unreadable`].
    pub fn of_approximation(approximation: &Approximation) -> Result<Self, CorefError> {
        const ROWS: usize = 64;
        let items = approximation.len();
        let all: Vec<usize> = (0..items).collect();
        let mut values = Vec::with_capacity(items * items.saturating_sub(1) / 2);
        for rows in all.chunks(ROWS) {
            let first = rows[0];
            let columns = &all[first..];
            let mut block = Array2::zeros((rows.len(), columns.len()));
            approximation.block(rows, columns, block.view_mut()).map_err(CorefError::unreadable)?;
            if !approximation.is_symmetric() {
                let mut mirrored = Array2::zeros((columns.len(), rows.len()));
                approximation.block(columns, rows, mirrored.view_mut()).map_err(CorefError::unreadable)?;
                block.zip_mut_with(&mirrored.t(), |value, &other| *value = 0.5 * (*value + other));
            }
            for (row, &i) in block.outer_iter().zip(rows) {
                push_row(&mut values, i, i - first, row.iter().copied())?;
            }
        }
        Ok(Self { items, values })
    }

    pub fn items(&self) -> usize {
        self.items
    }

    /// Merges everything, nearest first. Without mentions, or with one, there is nothing to merge.
    pub fn link(mut self, linkage: Linkage) -> Dendrogram {
        if self.items < 2 {
            return Dendrogram::new(self.items, Vec::new());
        }
        let method = match linkage {
            Linkage::Average => Method::Average,
            Linkage::Single => Method::Single,
            Linkage::Complete => Method::Complete,
        };
        let linked = kodama::linkage(&mut self.values, self.items, method);
        // kodama names a cluster by the step that made it; any of its mentions serves as well
        let mut member: Vec<usize> = (0..self.items).collect();
        let mut merges = Vec::with_capacity(linked.steps().len());
        for step in linked.steps() {
            let (a, b) = (member[step.cluster1], member[step.cluster2]);
            merges.push(Merge { a, b, height: step.dissimilarity });
            member.push(a);
        }
        Dendrogram::new(self.items, merges)
    }

    fn pair(&self, mut place: usize) -> (usize, usize) {
        let mut i = 0;
        while place >= self.items - 1 - i {
            place -= self.items - 1 - i;
            i += 1;
        }
        (i, i + 1 + place)
    }
}

/// 1 − similarity for what stands behind place `diagonal` of row i.
fn push_row(
    values: &mut Vec<f64>,
    i: usize,
    diagonal: usize,
    row: impl Iterator<Item = f64>,
) -> Result<(), CorefError> {
    for (ahead, similarity) in row.skip(diagonal + 1).enumerate() {
        if !similarity.is_finite() {
            return Err(CorefError::NotFinite { what: "similarity", i, j: i + 1 + ahead, value: similarity });
        }
        values.push(1.0 - similarity);
    }
    Ok(())
}

/// Two clusters that became one, each named by one of its mentions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    pub a: usize,
    pub b: usize,
    pub height: f64,
}

/// All merges of n mentions, by rising height.
#[derive(Debug, Clone, PartialEq)]
pub struct Dendrogram {
    items: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    pub(super) fn new(items: usize, mut merges: Vec<Merge>) -> Self {
        merges.sort_by(|first, second| first.height.total_cmp(&second.height));
        Self { items, merges }
    }

    /// The merges, n − 1 of them.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The clusters after all merges of a height strictly below `threshold`: one number a mention, counted from 0 in the order in
    /// which clusters first appear.
    ///
    /// ```
    /// use landmark_tasks::coreference::{CondensedDistances, Linkage};
    /// // d(0, 1) = 0.2, d(0, 2) = 0.9, d(1, 2) = 0.7: 0 and 1 merge at 0.2, all at (0.9 + 0.7)/2
    /// let dendrogram = CondensedDistances::new(3, vec![0.2, 0.9, 0.7])?.link(Linkage::Average);
    /// assert_eq!(dendrogram.cut_below(0.5), [0, 0, 1]);
    /// assert_eq!(dendrogram.cut_below(0.2), [0, 1, 2]); // strictly below
    /// # Ok::<(), landmark_tasks::coreference::CorefError>(())
    /// ```
    pub fn cut_below(&self, threshold: f64) -> Vec<usize> {
        let mut parents: Vec<usize> = (0..self.items).collect();
        for merge in self.merges.iter().take_while(|merge| merge.height < threshold) {
            let (a, b) = (root(&mut parents, merge.a), root(&mut parents, merge.b));
            parents[a.max(b)] = a.min(b);
        }
        let mut numbers = vec![usize::MAX; self.items];
        let mut next = 0;
        (0..self.items)
            .map(|item| {
                let root = root(&mut parents, item);
                if numbers[root] == usize::MAX {
                    numbers[root] = next;
                    next += 1;
                }
                numbers[root]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_chain_shows_what_each_linkage_means() {
        // points 0, 1, 3, 6 on a line
        let values = vec![1.0, 3.0, 6.0, 2.0, 5.0, 3.0];
        let heights = |linkage| -> Vec<f64> {
            let dendrogram = CondensedDistances::new(4, values.clone()).unwrap().link(linkage);
            dendrogram.merges().iter().map(|merge| merge.height).collect()
        };
        assert_eq!(heights(Linkage::Single), [1.0, 2.0, 3.0]);
        // {0, 1} with {3}: mean of 3 and 2; with {6}: mean of 6, 5, 3
        assert_eq!(heights(Linkage::Average), [1.0, 2.5, 14.0 / 3.0]);
        assert_eq!(heights(Linkage::Complete), [1.0, 3.0, 6.0]);
    }

    #[test]
    fn no_mention_and_one_mention_are_clusters_already() {
        for linkage in [Linkage::Average, Linkage::Single, Linkage::Complete] {
            assert!(CondensedDistances::new(0, vec![]).unwrap().link(linkage).cut_below(1.0).is_empty());
            assert_eq!(CondensedDistances::new(1, vec![]).unwrap().link(linkage).cut_below(1.0), [0]);
        }
    }

    #[test]
    fn what_is_not_finite_is_named_by_its_pair() {
        let message = CondensedDistances::new(3, vec![0.0, 1.0, f64::NAN]).unwrap_err().to_string();
        assert_eq!(message, "the distance of mentions 1 and 2 is NaN; it must be finite");
        let similarities = array![[1.0, 0.5, f64::INFINITY], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]];
        let message = CondensedDistances::of_similarities(similarities.view()).unwrap_err().to_string();
        assert_eq!(message, "the similarity of mentions 0 and 2 is inf; it must be finite");
        assert!(CondensedDistances::new(3, vec![0.0]).unwrap_err().to_string().contains("1 values, but must have 3"));
        let wide = Array2::<f64>::zeros((2, 3));
        assert!(CondensedDistances::of_similarities(wide.view()).is_err());
    }

    #[test]
    fn similarities_above_one_are_distances_below_zero_and_merge_first() {
        let similarities = array![[1.0, 0.2, 1.3], [0.2, 1.0, 0.1], [1.3, 0.1, 1.0]];
        let dendrogram = CondensedDistances::of_similarities(similarities.view()).unwrap().link(Linkage::Average);
        assert!((dendrogram.merges()[0].height + 0.3).abs() < 1e-15);
        assert_eq!(dendrogram.cut_below(0.0), [0, 1, 0]);
    }
}
