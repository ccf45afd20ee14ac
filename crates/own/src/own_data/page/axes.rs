//! Eigenvalues and principal axes of K̃ = Z diag(±1) Zᵀ from its factors.
//!
//! ```text
//! Z = QR            the eigenvalues of K̃ that are not zero are those of R S Rᵀ, r × r
//! Zc = Z − mean     its rows' principal coordinates are Zc S Rᵀ u / √λ for the largest λ > 0 of R S Rᵀ, u its vector
//! ```
//! Classical scaling (Torgerson 1952); where all signs are + it is PCA. Cost: 2mr² + 9r³ flops.

use landmark_core::linalg::{self, Eigh};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use landmark_harness::job::JobError;

/// Eigenvalues below this share of the largest are rounding.
const NOTHING: f64 = 1e-12;

/// Items in the plane of the principal axes.
pub(super) struct Principal {
    /// m × axes; axes that there are not are zeros.
    pub(super) points: Array2<f64>,
    /// Share of the variation that the axes hold: their λ over Σ|λ|.
    pub(super) share: f64,
}

/// R S Rᵀ of the rows, decomposed.
fn core(rows: ArrayView2<'_, f64>, signature: &Array1<f64>) -> Result<(Array2<f64>, Eigh), JobError> {
    let triangle = linalg::qr_triangle(rows).map_err(failed)?;
    let core = linalg::product((&triangle * signature).view(), triangle.t());
    Ok((triangle, linalg::eigh(core.view()).map_err(failed)?))
}

fn failed(error: linalg::LinalgError) -> JobError {
    JobError::Failed(error.into())
}

/// Eigenvalues of the factors that are not zero, by size, largest first.
pub(super) fn spectrum(rows: ArrayView2<'_, f64>, signature: &Array1<f64>) -> Result<Vec<f64>, JobError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (_, Eigh { values, .. }) = core(rows, signature)?;
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.abs() > NOTHING * largest).collect();
    values.sort_by(|one, other| other.abs().total_cmp(&one.abs()));
    Ok(values)
}

/// Coordinates along the `axes` principal axes; the sign of an axis is such that its largest coordinate is positive.
pub(super) fn principal(
    rows: ArrayView2<'_, f64>,
    signature: &Array1<f64>,
    axes: usize,
) -> Result<Principal, JobError> {
    let mut points = Array2::zeros((rows.nrows(), axes));
    let Some(mean) = rows.mean_axis(Axis(0)).filter(|_| rows.ncols() > 0) else {
        return Ok(Principal { points, share: 0.0 });
    };
    let centered = &rows - &mean;
    let (triangle, Eigh { values, vectors }) = core(centered.view(), signature)?;
    let variation: f64 = values.iter().map(|value| value.abs()).sum();
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let mut held = 0.0;
    for axis in 0..axes.min(values.len()) {
        // ascending: the largest positive ones are the last
        let place = values.len() - 1 - axis;
        let value = values[place];
        if value <= NOTHING * largest {
            break;
        }
        held += value;
        let direction = &triangle.t().dot(&vectors.column(place)) * signature;
        let mut coordinates = centered.dot(&direction) / value.sqrt();
        let farthest =
            coordinates.iter().copied().fold(0.0, |most: f64, one| if one.abs() > most.abs() { one } else { most });
        if farthest < 0.0 {
            coordinates.mapv_inplace(|coordinate| -coordinate);
        }
        points.column_mut(axis).assign(&coordinates);
    }
    Ok(Principal { points, share: if variation > 0.0 { held / variation } else { 0.0 } })
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::array;
    use rand::Rng as _;

    use super::*;

    fn random(rows: usize, columns: usize) -> Array2<f64> {
        let mut rng = stream(3, "axes", "test", rows as u64);
        Array2::from_shape_fn((rows, columns), |_| rng.gen_range(-1.0..1.0))
    }

    /// K̃ itself.
    fn dense(rows: &Array2<f64>, signature: &Array1<f64>) -> Array2<f64> {
        (rows * signature).dot(&rows.t())
    }

    #[test]
    fn the_spectrum_is_that_of_the_whole_matrix() {
        let (rows, signature) = (random(30, 5), array![1.0, 1.0, 1.0, -1.0, -1.0]);
        let mut wanted = linalg::eigvalsh(dense(&rows, &signature).view()).unwrap().to_vec();
        wanted.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
        let found = spectrum(rows.view(), &signature).unwrap();
        assert_eq!(found.len(), 5);
        assert_eq!(found.iter().filter(|value| **value < 0.0).count(), 2);
        // two ways to the same eigenvalues, of size 10 at most
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-12 * 30.0, "{found} and {wanted}");
        }
    }

    #[test]
    fn coordinates_are_those_of_the_doubly_centered_matrix() {
        let (rows, signature) = (random(25, 6), array![1.0, 1.0, 1.0, 1.0, -1.0, -1.0]);
        let n = 25;
        let centering = Array2::<f64>::eye(n) - 1.0 / n as f64;
        let centered = centering.dot(&dense(&rows, &signature)).dot(&centering);
        let Eigh { values, vectors } = linalg::eigh(centered.view()).unwrap();
        let found = principal(rows.view(), &signature, 2).unwrap();
        for axis in 0..2 {
            let place = n - 1 - axis;
            let wanted = &vectors.column(place) * values[place].sqrt();
            // up to its sign
            let sign = if wanted.dot(&found.points.column(axis)) > 0.0 { 1.0 } else { -1.0 };
            let apart = (&wanted * sign - found.points.column(axis)).mapv(f64::abs).sum();
            assert!(apart < 1e-10, "axis {axis}: {apart}");
            let most =
                found.points.column(axis).iter().copied().fold(0.0, |m: f64, v| if v.abs() > m.abs() { v } else { m });
            assert!(most > 0.0);
        }
        let all: f64 = values.iter().map(|value| value.abs()).sum();
        assert!((found.share - (values[n - 1] + values[n - 2]) / all).abs() < 1e-12);
    }

    #[test]
    fn points_in_a_plane_keep_their_distances() {
        let plane = random(12, 2);
        let found = principal(plane.view(), &array![1.0, 1.0], 2).unwrap();
        let distance =
            |points: &Array2<f64>, i: usize, j: usize| (&points.row(i) - &points.row(j)).mapv(|d| d * d).sum().sqrt();
        for i in 0..12 {
            assert!((distance(&plane, 0, i) - distance(&found.points, 0, i)).abs() < 1e-12);
        }
        assert!((found.share - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_item_duplicates_zeros_and_no_columns_give_finite_points_and_no_eigenvalues() {
        for rows in [array![[1.0, 2.0]], array![[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], Array2::zeros((4, 2))] {
            let found = principal(rows.view(), &array![1.0, -1.0], 2).unwrap();
            assert!(found.points.iter().all(|&value| value.abs() < 1e-6), "{rows}: {}", found.points);
        }
        assert!(spectrum(Array2::<f64>::zeros((4, 2)).view(), &array![1.0, 1.0]).unwrap().is_empty());
        let none = Array2::<f64>::zeros((4, 0));
        assert!(spectrum(none.view(), &array![]).unwrap().is_empty());
        assert_eq!(principal(none.view(), &array![], 2).unwrap().points, Array2::<f64>::zeros((4, 2)));
    }
}
