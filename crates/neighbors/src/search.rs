//! Search among items for new queries at a budget of calls: queries × items, a rectangle instead of a square.
//!
//! ```text
//! offline   C = scores of all items with the anchors, past queries drawn uniformly; one column an anchor
//! a query   b calls in 4 rounds, each where the estimate is highest; then the list: exact where known, estimated elsewhere
//! ```
//! An [`Index`] is what is kept of the offline part. Next to it stand the baselines it is measured against ([`baselines`]): reranking
//! the proxy's candidates, ANNCUR (Yadav et al. 2022) and an AXN-like search (Yadav et al. 2024).
//!
//! A query is known by its scores with items alone, which a closure answers in batches: who counts, stores or limits calls does it there.

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;
use landmark_core::rank::RankCmp;

mod answer;
pub mod baselines;
mod hubness;
mod index;
mod items;

pub use answer::{Answer, Hit};
pub use hubness::HubnessLink;
pub use index::{Anchors, Index, IndexParams, IndexParts};
pub use items::{ItemProxy, ItemProxyParts};

/// Reason why items could not be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// The score's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A factorization failed.
    #[error(transparent)]
    Linalg(#[from] landmark_core::linalg::LinalgError),
    /// A fit or an index without a solution.
    #[error("cannot fit {what}; look for extreme scores")]
    NoSolution {
        what: &'static str,
        /// Where it failed.
        #[source]
        source: landmark_core::linalg::NotPositiveDefinite,
    },
    /// A matrix that must be symmetric and is not.
    #[error("{what} is not symmetric: {} at row {row}, column {column} and {} in the mirrored cell; hand over (A + Aᵀ)/2", values.0, values.1)]
    Asymmetric { what: &'static str, row: usize, column: usize, values: (f64, f64) },
    /// Vectors that must be of length 1 (or 0) and are not.
    #[error("row {row} of {what} has length {length} (expected 1, or 0 for an empty item); use `ItemProxy::cosine`")]
    Length { what: &'static str, row: usize, length: f64 },
    /// Two inputs that do not fit.
    #[error("{what} is {} × {}, but must be {} × {}", seen.0, seen.1, wanted.0, wanted.1)]
    Shape { what: &'static str, seen: (usize, usize), wanted: (usize, usize) },
    /// NaN or an infinity in an input.
    #[error("{what} holds {value} at row {row}, column {column}; every number must be finite")]
    NotFinite { what: &'static str, row: usize, column: usize, value: f64 },
    /// An index that was built with a proxy is asked without one, or the other way round.
    #[error("the index was built {}, so a query must come {}", with(*.index), with(*.index))]
    Proxy { index: bool },
}

fn with(proxy: bool) -> &'static str {
    if proxy { "with a proxy" } else { "without a proxy" }
}

/// Refuses a matrix of another shape, or one that holds a number that is not finite.
fn check_matrix(
    what: &'static str,
    matrix: ndarray::ArrayView2<'_, f64>,
    wanted: (usize, usize),
) -> Result<(), SearchError> {
    if matrix.dim() != wanted {
        return Err(SearchError::Shape { what, seen: matrix.dim(), wanted });
    }
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(SearchError::NotFinite { what, row, column, value }),
        None => Ok(()),
    }
}

/// The same of a line.
fn check_line(what: &'static str, line: &[f64], wanted: usize) -> Result<(), SearchError> {
    check_matrix(what, ndarray::aview1(line).insert_axis(ndarray::Axis(0)), (1, wanted))
}

/// Items of the highest values among those that are not known yet, ties by number; fewer where fewer are left. O(n) and a sort of what is taken.
fn best_unknown(values: &[f64], is_known: &[bool], count: usize) -> Vec<usize> {
    let mut items: Vec<usize> = (0..values.len()).filter(|&item| !is_known[item]).collect();
    let order = |a: &usize, b: &usize| values[*b].rank_cmp(&values[*a]).then(a.cmp(b));
    if count == 0 {
        return Vec::new();
    }
    if count < items.len() {
        items.select_nth_unstable_by(count - 1, order);
        items.truncate(count);
    }
    items.sort_unstable_by(order);
    items
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_negative_zero_ties_with_zero_and_the_number_decides() {
        let none = [false; 4];
        assert_eq!(super::best_unknown(&[-0.0, 0.0, -1.0, -0.0], &none, 3), [0, 1, 3]);
        assert_eq!(super::best_unknown(&[0.0, -0.0, 0.5, 0.0], &none, 4), [2, 0, 1, 3]);
    }
}
