//! Similarities by the factors, of all items or of those that are no landmarks.
//!
//! Two equal items have the score of an item with itself, if the score function states it: no estimate is listed for such a pair.
//! Cost: that of the factors, and one write per pair of equal items.

use landmark_core::approximation::ScatteredEntries;
use landmark_tasks::neighbors::{SignedVectors, Similarities};
use ndarray::{Array1, Array2, Axis};

use crate::equal_items::EqualItems;
use crate::own::Own;

/// Estimates, with the exact score of equal items.
pub(crate) struct Estimates<'a> {
    pub(crate) vectors: SignedVectors<'a>,
    pub(crate) equal: Option<&'a EqualItems>,
}

impl Similarities for Estimates<'_> {
    fn items(&self) -> usize {
        self.vectors.len()
    }

    fn block(&self, rows: (usize, usize), cols: (usize, usize)) -> Array2<f64> {
        let mut block = self.vectors.block(rows, cols);
        let Some(equal) = self.equal else { return block };
        for row in rows.0..rows.1 {
            let members = equal.of_item(row);
            let inside = members.iter().filter(|&&col| (cols.0..cols.1).contains(&col));
            inside.for_each(|col| block[[row - rows.0, col - cols.0]] = equal.score);
        }
        block
    }
}

/// Items that are no landmarks, and what the factors hold of them.
pub(crate) struct Others<'a> {
    pub(crate) items: Vec<usize>,
    vectors: Array2<f64>,
    signature: &'a Array1<f64>,
    scattered: Option<ScatteredEntries>,
    equal: Option<EqualItems>,
}

impl Own {
    /// Similarities of all items by the factors.
    pub(crate) fn estimates(&self) -> Estimates<'_> {
        Estimates { vectors: self.vectors(), equal: self.equal.as_ref() }
    }

    pub(crate) fn others(&self) -> Others<'_> {
        let is_landmark = self.places();
        let items: Vec<usize> = (0..is_landmark.len()).filter(|&item| is_landmark[item].is_none()).collect();
        Others {
            vectors: self.factors.vectors.select(Axis(0), &items),
            signature: &self.factors.signature,
            scattered: self.factors.scattered.as_ref().map(|scattered| scattered.select(&items)),
            equal: self.equal.as_ref().map(|equal| equal.select(&items)),
            items,
        }
    }
}

impl Others<'_> {
    /// Vectors, numbered by the places of the items.
    pub(crate) fn vectors(&self) -> SignedVectors<'_> {
        let Self { vectors, signature, scattered, .. } = self;
        SignedVectors { vectors: vectors.view(), signature, scattered: scattered.as_ref() }
    }

    /// Similarities, numbered in the same way.
    pub(crate) fn estimates(&self) -> Estimates<'_> {
        Estimates { vectors: self.vectors(), equal: self.equal.as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use landmark_tasks::neighbors::{best_pairs, top_k};
    use ndarray::array;

    use super::*;

    #[test]
    fn equal_items_have_their_exact_score_and_all_others_their_estimate() {
        let (z, signature) = (array![[0.5], [0.3], [0.5], [0.9], [0.5]], array![1.0]);
        let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
        let equal = EqualItems::of(["a", "b", "a", "c", "a"].into_iter(), 1.0);
        let estimates = || Estimates { vectors, equal: Some(&equal) };
        let found: Vec<_> =
            best_pairs(estimates(), 4, 0.0, |_| {}).iter().map(|pair| (pair.first, pair.second, pair.score)).collect();
        assert_eq!(found, [(0, 2, 1.0), (0, 4, 1.0), (2, 4, 1.0), (0, 3, 0.45)]);
        assert_eq!(top_k(estimates(), 1, |_| {}).iter().map(|list| list[0].item).collect::<Vec<_>>(), [2, 3, 0, 0, 0]);
        // blocks that hold only some of the equal ones
        let whole = estimates().block((0, 5), (0, 5));
        for (rows, cols) in [((0, 3), (3, 5)), ((1, 3), (0, 2)), ((4, 5), (0, 5))] {
            assert_eq!(estimates().block(rows, cols), whole.slice(ndarray::s![rows.0..rows.1, cols.0..cols.1]));
        }
        let some = equal.select(&[1, 2, 4]);
        assert_eq!((some.score(1, 2), some.score(0, 1)), (Some(1.0), None));
    }
}
