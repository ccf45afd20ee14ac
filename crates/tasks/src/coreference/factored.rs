//! Average linkage straight from factors: K̃ = Z diag(±1) Zᵀ of rank r, without an n × n matrix.
//!
//! The average similarity of two clusters is that of their mean vectors, mean_A z · diag(±1) · mean_B z, so a cluster is one vector of
//! length r, and a merge is a weighted mean. Nearest-neighbor chains (Müllner 2011) find the same merges as on the matrix,
//! since average linkage is reducible.
//!
//! Memory: 8nr + O(n) bytes, a copy of Z that shrinks as clusters merge. Time: at most 3n rows of at most n products of length
//! r, O(n² r), all cores.

use ndarray::linalg::general_mat_vec_mul;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, s};
use rayon::prelude::*;

use super::CorefError;
use super::clustering::{Dendrogram, Merge};

const ROWS_PER_TASK: usize = 512;

/// The dendrogram of average linkage on 1 − Z diag(±1) Zᵀ. `vectors` is n × r, `signature` r numbers of ±1: what
/// [`Approximation::embedding`](landmark_core::approximation::Approximation::embedding) returns.
///
/// # Errors
/// [`CorefError::Shape`] for a signature of another length, [`CorefError::Sign`] for a number in it that is not ±1, [`CorefError::NotFinite`] for a similarity that is not finite.
pub fn average_linkage_of_factors(
    vectors: ArrayView2<'_, f64>,
    signature: ArrayView1<'_, f64>,
) -> Result<Dendrogram, CorefError> {
    let (items, rank) = vectors.dim();
    if signature.len() != rank {
        return Err(CorefError::Shape { what: "the signature", seen: signature.len(), unit: "signs", wanted: rank });
    }
    if let Some(place) = signature.iter().position(|sign| sign.abs() != 1.0) {
        return Err(CorefError::Sign { place, value: signature[place] });
    }
    let mut clusters = Clusters::new(vectors, signature);
    let mut merges = Vec::with_capacity(items.saturating_sub(1));
    let mut chain: Vec<usize> = Vec::new();
    while merges.len() + 1 < items {
        if chain.is_empty() {
            chain.push(clusters.any());
        }
        let tip = chain[chain.len() - 1];
        let before = chain.len().checked_sub(2).map(|place| chain[place]);
        let (nearest, distance) = clusters.nearest(tip, before)?;
        if before == Some(nearest) {
            chain.truncate(chain.len() - 2);
            merges.push(Merge { a: clusters.members[nearest], b: clusters.members[tip], height: distance });
            clusters.merge(nearest, tip);
            if clusters.is_sparse() {
                let moved = clusters.compact();
                chain.iter_mut().for_each(|slot| *slot = moved[*slot]);
            }
        } else {
            chain.push(nearest);
        }
    }
    Ok(Dendrogram::new(items, merges))
}

/// Clusters in slots; a slot of size 0 is empty.
struct Clusters<'a> {
    means: Array2<f64>,
    signature: ArrayView1<'a, f64>,
    sizes: Vec<usize>,
    members: Vec<usize>,
    live: usize,
    row: Vec<f64>,
}

impl<'a> Clusters<'a> {
    fn new(vectors: ArrayView2<'_, f64>, signature: ArrayView1<'a, f64>) -> Self {
        let items = vectors.nrows();
        Self {
            means: vectors.to_owned(),
            signature,
            sizes: vec![1; items],
            members: (0..items).collect(),
            live: items,
            row: vec![0.0; items],
        }
    }

    fn any(&self) -> usize {
        self.sizes.iter().position(|&size| size > 0).unwrap_or(0)
    }

    /// The nearest cluster and its distance; at equal distance `preferred` wins, or a chain could run in circles.
    fn nearest(&mut self, tip: usize, preferred: Option<usize>) -> Result<(usize, f64), CorefError> {
        let signed = &self.means.row(tip) * &self.signature;
        let (means, signed) = (&self.means, &signed);
        self.row.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(chunk, out)| {
            let first = chunk * ROWS_PER_TASK;
            let rows = means.slice(s![first..first + out.len(), ..]);
            general_mat_vec_mul(1.0, &rows, signed, 0.0, &mut ArrayViewMut1::from(out));
        });
        let mut best: Option<(usize, f64)> = None;
        for (slot, &similarity) in self.row.iter().enumerate() {
            if slot == tip || self.sizes[slot] == 0 {
                continue;
            }
            if !similarity.is_finite() {
                let (i, j) = (self.members[tip], self.members[slot]);
                return Err(CorefError::NotFinite { what: "similarity from the factors", i, j, value: similarity });
            }
            let distance = 1.0 - similarity;
            let wins = match best {
                None => true,
                Some((_, least)) => distance < least || (distance == least && preferred == Some(slot)),
            };
            if wins {
                best = Some((slot, distance));
            }
        }
        // rounding may make the way back longer by a last digit than the way there; the pair is each other's nearest all the same
        if let (Some(preferred), Some((_, least))) = (preferred, best) {
            let back = 1.0 - self.row[preferred];
            if back <= least + 1e-14 * (1.0 + least.abs()) {
                best = Some((preferred, back));
            }
        }
        best.ok_or(CorefError::Shape { what: "the chain", seen: 1, unit: "clusters", wanted: 2 })
    }

    /// `from` becomes part of `into`.
    fn merge(&mut self, into: usize, from: usize) {
        let (a, b) = (self.sizes[into] as f64, self.sizes[from] as f64);
        let (mut mean, other) = self.means.multi_slice_mut((s![into, ..], s![from, ..]));
        mean.zip_mut_with(&other, |x, &y| *x = (a * *x + b * y) / (a + b));
        self.sizes[into] += self.sizes[from];
        self.sizes[from] = 0;
        self.live -= 1;
    }

    fn is_sparse(&self) -> bool {
        self.live >= 16 && 2 * self.live <= self.sizes.len()
    }

    /// Moves the clusters together; for each old slot its new one.
    fn compact(&mut self) -> Vec<usize> {
        let kept: Vec<usize> = (0..self.sizes.len()).filter(|&slot| self.sizes[slot] > 0).collect();
        let mut moved = vec![usize::MAX; self.sizes.len()];
        kept.iter().enumerate().for_each(|(new, &old)| moved[old] = new);
        self.means = self.means.select(Axis(0), &kept);
        self.sizes = kept.iter().map(|&slot| self.sizes[slot]).collect();
        self.members = kept.iter().map(|&slot| self.members[slot]).collect();
        self.row = vec![0.0; kept.len()];
        moved
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::{Array1, array};
    use rand::Rng;

    use super::super::{CondensedDistances, Linkage};
    use super::*;

    #[test]
    fn a_sign_that_is_none_is_refused() {
        for (sign, shown) in [(2.0, "2"), (0.0, "0"), (f64::NAN, "NaN")] {
            let refused = average_linkage_of_factors(Array2::ones((3, 2)).view(), ndarray::array![1.0, sign].view());
            let message = format!("cannot read sign 1 of the signature: it is {shown} (expected 1 or -1)");
            assert_eq!(refused.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn merges_are_those_of_the_matrix_also_when_it_is_indefinite() {
        for (items, rank, negative) in [(2, 1, 0), (40, 5, 0), (200, 12, 4)] {
            let rng = &mut stream(2022, "test", "factored linkage", items as u64);
            let vectors = Array2::from_shape_simple_fn((items, rank), || rng.gen_range(-0.5..0.5));
            let signature = Array1::from_shape_fn(rank, |k| if k < rank - negative { 1.0 } else { -1.0 });
            let matrix = (&vectors * &signature).dot(&vectors.t());
            let from_matrix = CondensedDistances::of_similarities(matrix.view()).unwrap().link(Linkage::Average);
            let from_factors = average_linkage_of_factors(vectors.view(), signature.view()).unwrap();
            for (a, b) in from_matrix.merges().iter().zip(from_factors.merges()) {
                // two orders of the same sums of up to 200 · 12 products below 1
                assert!((a.height - b.height).abs() < 1e-12, "{a:?} {b:?}");
            }
            for threshold in [0.5, 0.8, 1.0, 1.2] {
                assert_eq!(from_matrix.cut_below(threshold), from_factors.cut_below(threshold));
            }
        }
    }

    #[test]
    fn equal_vectors_merge_and_the_chain_ends() {
        let vectors = Array2::from_elem((50, 3), 0.5);
        let dendrogram = average_linkage_of_factors(vectors.view(), array![1.0, 1.0, -1.0].view()).unwrap();
        assert_eq!(dendrogram.merges().len(), 49);
        assert_eq!(dendrogram.cut_below(0.76), vec![0; 50]);
    }

    #[test]
    fn factors_that_do_not_fit_are_refused() {
        let mut vectors = Array2::from_elem((3, 2), 1.0);
        let message = average_linkage_of_factors(vectors.view(), array![1.0].view()).unwrap_err().to_string();
        assert_eq!(message, "the signature has 1 signs, but must have 2");
        vectors[[2, 0]] = f64::NAN;
        let message = average_linkage_of_factors(vectors.view(), array![1.0, 1.0].view()).unwrap_err().to_string();
        assert!(message.contains("of mentions 0 and 2 is NaN"), "{message}");
        for items in [0, 1] {
            let none = Array2::<f64>::zeros((items, 2));
            let dendrogram = average_linkage_of_factors(none.view(), array![1.0, 1.0].view()).unwrap();
            assert_eq!(dendrogram.cut_below(1.0).len(), items);
        }
    }
}
