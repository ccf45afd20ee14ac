//! Items that were not there when the matrix was approximated.

use ndarray::{Array2, ArrayView2, s};

use super::factors::gather;
use super::{Approximation, Factors, NewScores};
use crate::linalg;

impl Approximation {
    /// Approximated similarities (m × items.len()) of m new items to `items`, from their similarities to the landmarks
    /// (m × t, columns in the order of [`landmarks`](Self::landmarks)). O(m·t·r + m·r·items).
    ///
    /// Columns of landmarks are exact where K̃ knows its evaluated columns. With an addend this is the residual's part; see
    /// [`project_with_proxy`](Self::project_with_proxy). `None` where the core does not come from evaluated columns.
    ///
    /// # Panics
    /// When `similarities` has not one column a landmark.
    pub fn project(&self, similarities: ArrayView2<'_, f64>, items: &[usize]) -> Option<Array2<f64>> {
        assert_eq!(similarities.ncols(), self.landmarks().len(), "similarities to each landmark");
        let mut out = Array2::zeros((similarities.nrows(), items.len()));
        match self.factors() {
            Factors::Signed(signed) => {
                let projector = signed.projector.as_ref()?;
                let new = linalg::product(similarities, projector.slice(s![.., ..signed.rank()]));
                signed.signed_product(new.view(), gather(signed.vectors.view(), items).view(), out.view_mut());
            }
            Factors::General(general) => {
                let new = linalg::product(similarities, general.left_projector.view());
                let there = gather(general.right.view(), items);
                linalg::product_into(new.view(), there.t(), 1.0, out.view_mut());
            }
            Factors::Dense(_) => {
                for (mut column, &item) in out.columns_mut().into_iter().zip(items) {
                    column.assign(&similarities.column(item));
                }
            }
        }
        if let Some(known) = &self.known {
            for (mut column, &item) in out.columns_mut().into_iter().zip(items) {
                if let Some(t) = known.position(item) {
                    column.assign(&similarities.column(t));
                }
            }
        }
        Some(out)
    }

    /// [`project`](Self::project) where a proxy takes part: K̃ = q(P) + project(similarities − q(P)). In addition to the
    /// similarities to the landmarks (m × t) it takes the scores of every proxy of the new items with the landmarks (m × t) and
    /// with `items` (m × items.len()). `None` where no proxy takes part, or the core does not come from evaluated columns.
    pub fn project_with_proxy(
        &self,
        similarities: ArrayView2<'_, f64>,
        proxies_to_landmarks: &[Array2<f64>],
        proxies_to_items: &[Array2<f64>],
        items: &[usize],
    ) -> Option<Array2<f64>> {
        let addend = self.addend()?;
        let mut sum = addend.link(&NewScores { similarities, proxies: proxies_to_items, items });
        let to_landmarks = NewScores { similarities, proxies: proxies_to_landmarks, items: self.landmarks() };
        let residual = &similarities - &addend.link(&to_landmarks);
        sum += &self.project(residual.view(), items)?;
        Some(sum)
    }
}
