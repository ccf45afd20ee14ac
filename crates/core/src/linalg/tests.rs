//! Promises of `linalg`.

use ndarray::{Array2, array};
use rand::Rng;

use super::*;
use crate::stream::stream;

/// Uniform on [−1, 1), named by its shape.
fn random(rows: usize, cols: usize) -> Array2<f64> {
    let mut rng = stream(7, "linalg", "test matrix", (rows * 1000 + cols) as u64);
    Array2::from_shape_fn((rows, cols), |_| rng.gen_range(-1.0..1.0))
}

fn symmetric(n: usize) -> Array2<f64> {
    let square = random(n, n);
    &square + &square.t()
}

/// 64 ulp of a unit-sized sum, per row: rounding of an orthogonal factorization grows no faster.
fn tolerance(n: usize) -> f64 {
    64.0 * f64::EPSILON * n as f64
}

fn close(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
}

#[test]
fn eigh_reassembles_its_matrix_in_ascending_order() {
    for n in [1, 2, 17, 80] {
        let matrix = symmetric(n);
        let Eigh { values, vectors } = eigh(matrix.view()).unwrap();
        let back = product((&vectors * &values).view(), vectors.t());
        assert!(close(&back, &matrix, tolerance(n)));
        assert!(values.windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
        let alone = eigvalsh(matrix.view()).unwrap();
        assert!((&alone - &values).iter().all(|difference| difference.abs() <= tolerance(n)));
    }
}

#[test]
fn the_largest_eigenpairs_are_the_last_of_eigh() {
    let matrix = symmetric(17);
    let Eigh { values, vectors } = eigh(matrix.view()).unwrap();
    for count in [0, 1, 9, 17] {
        let largest = eigh_largest(matrix.view(), count).unwrap();
        assert_eq!(largest.values, values.slice(s![17 - count..]));
        assert_eq!(largest.vectors, vectors.slice(s![.., 17 - count..]));
    }
}

#[test]
fn svd_reassembles_tall_and_wide_matrices() {
    for (rows, cols) in [(1, 1), (30, 12), (12, 30)] {
        let matrix = random(rows, cols);
        let Svd { left, values, right } = svd(matrix.view()).unwrap();
        assert_eq!((left.dim(), right.dim()), ((rows, rows.min(cols)), (cols, rows.min(cols))));
        assert!(close(&product((&left * &values).view(), right.t()), &matrix, tolerance(rows + cols)));
        assert!((spectral_norm(matrix.view()).unwrap() - values[0]).abs() <= tolerance(rows + cols));
    }
}

#[test]
fn qr_is_orthonormal_and_reassembles() {
    for (rows, cols) in [(40, 9), (9, 40), (20, 20)] {
        let matrix = random(rows, cols);
        let (q, r) = qr(matrix.view()).unwrap();
        assert!(close(&product(q.view(), r.view()), &matrix, tolerance(rows + cols)));
        assert!(close(&product(q.t(), q.view()), &Array2::eye(rows.min(cols)), tolerance(rows + cols)));
        assert_eq!(qr_triangle(matrix.view()).unwrap(), r);
    }
}

#[test]
fn pinv_drops_what_a_singular_matrix_does_not_have() {
    let thin = random(20, 6);
    let singular = product(thin.view(), thin.t());
    let PseudoInverse { inverse, dropped, condition } = pinv(singular.view(), PINV_TOLERANCE).unwrap();
    assert_eq!(dropped, 14);
    assert!(condition > 1.0 && condition < 1e4);
    let back = product(product(singular.view(), inverse.view()).view(), singular.view());
    // A A⁺ A = A up to rounding times the condition number
    assert!(close(&back, &singular, tolerance(20) * condition));
    assert_eq!(pinv(Array2::zeros((3, 2)).view(), PINV_TOLERANCE).unwrap().inverse, Array2::<f64>::zeros((2, 3)));
}

#[test]
fn the_symmetric_pseudo_inverse_is_the_pseudo_inverse() {
    let thin = random(20, 6);
    let signs = Array2::from_diag(&array![1.0, -1.0, 1.0, -1.0, 1.0, 1.0]);
    let indefinite = product(product(thin.view(), signs.view()).view(), thin.t());
    let by_svd = pinv(indefinite.view(), PINV_TOLERANCE).unwrap();
    let by_eigen = symmetric_pinv(indefinite.view(), PINV_TOLERANCE).unwrap();
    assert_eq!(by_eigen.dropped, 14);
    // both condition numbers are of the same six values, each good to rounding times the condition
    assert!((by_eigen.condition / by_svd.condition - 1.0).abs() < tolerance(20) * by_svd.condition);
    assert!(close(&by_eigen.inverse, &by_svd.inverse, tolerance(20) * by_svd.condition.powi(2)));
    let nothing = Array2::zeros((3, 3));
    assert_eq!(symmetric_pinv(nothing.view(), PINV_TOLERANCE).unwrap().inverse, nothing);
}

#[test]
fn products_take_any_strides() {
    let (a, b) = (random(33, 21), random(21, 50));
    let expected = a.dot(&b);
    assert!(close(&product(a.view(), b.view()), &expected, tolerance(21)));
    assert!(close(&product(b.t(), a.t()).reversed_axes(), &expected, tolerance(21)));
    let every_other = product(a.slice(ndarray::s![..;2, ..]), b.view());
    assert!(close(&every_other, &expected.slice(ndarray::s![..;2, ..]).to_owned(), tolerance(21)));
    let mut twice = expected.clone();
    add_product(a.view(), b.view(), 1.0, twice.view_mut());
    assert!(close(&twice, &(2.0 * &expected), tolerance(42)));
}

#[test]
fn lanczos_finds_the_smallest_eigenvalue() {
    for n in [1, 5, 300] {
        let matrix = symmetric(n);
        let exact = eigvalsh(matrix.view()).unwrap()[0];
        let found = smallest_eigenvalue(n, 1e-3, |x, out| apply(matrix.view(), x, out)).unwrap();
        // the tolerance asked for
        assert!((found.value - exact).abs() <= 1e-3 * exact.abs(), "{n}: {found:?} {exact}");
        assert!(found.iterations <= n);
    }
}

#[test]
fn lanczos_stops_on_an_invariant_space() {
    let found = smallest_eigenvalue(50, 1e-3, |x, out| out.copy_from_slice(x)).unwrap();
    assert_eq!((found.iterations, (found.value - 1.0).abs() < 1e-12), (1, true));
    assert_eq!(smallest_eigenvalue(9, 1e-3, |_, out| out.fill(0.0)).unwrap().value, 0.0);
}

#[test]
fn a_matrix_with_nan_is_refused_by_name() {
    let matrix = array![[1.0, f64::NAN], [f64::NAN, 1.0]];
    let error = eigh(matrix.view()).unwrap_err().to_string();
    assert_eq!(error, "the eigendecomposition of a 2 × 2 matrix did not converge; look for extreme values in it");
    assert!(svd(matrix.view()).is_err());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (matrix, wide) = (symmetric(600), random(600, 150));
    let compute = || {
        let Eigh { values, vectors } = eigh(matrix.view()).unwrap();
        (values, product(vectors.view(), wide.view()), svd(wide.view()).unwrap().left, qr(wide.view()).unwrap().0)
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let alone = pool(1).install(compute);
    assert!(alone == pool(3).install(compute));
    assert!(alone == pool(16).install(compute));
}

#[cfg(feature = "lapack")]
#[test]
fn both_backends_agree() {
    let (matrix, wide) = (symmetric(60), random(60, 25));
    let (ours, theirs) = (faer_backend::eigh(matrix.view()).unwrap(), lapack_backend::eigh(matrix.view()).unwrap());
    let bound = tolerance(60);
    assert!((&ours.values - &theirs.values).iter().all(|difference| difference.abs() <= bound));
    // vectors are free up to sign: compare the projectors onto the ten smallest
    let projector = |eigen: &Eigh| {
        let few = eigen.vectors.slice(ndarray::s![.., ..10]).to_owned();
        product(few.view(), few.t())
    };
    // rounding over the gap between two eigenvalues, which is about 1/10 here
    assert!(close(&projector(&ours), &projector(&theirs), 100.0 * bound));
    for input in [wide.view(), wide.t()] {
        let (ours, theirs) = (faer_backend::svd(input).unwrap(), lapack_backend::svd(input).unwrap());
        assert!((&ours.values - &theirs.values).iter().all(|difference| difference.abs() <= bound));
        let back = product((&theirs.left * &theirs.values).view(), theirs.right.t());
        assert!(close(&back, &input.to_owned(), bound));
        let (ours, theirs) = (faer_backend::qr(input).unwrap(), lapack_backend::qr(input).unwrap());
        assert!(close(&ours.1.mapv(f64::abs), &theirs.1.mapv(f64::abs), bound));
        assert_eq!(faer_backend::qr_triangle(input).unwrap(), ours.1);
        let (ours, theirs) =
            (faer_backend::singular_values(input).unwrap(), lapack_backend::singular_values(input).unwrap());
        assert!((&ours - &theirs).iter().all(|difference| difference.abs() <= bound));
    }
    let (mut ours, mut theirs) = (Array2::ones((60, 25)), Array2::ones((60, 25)));
    faer_backend::product(matrix.view(), wide.view(), 0.5, true, ours.view_mut());
    lapack_backend::product(matrix.view(), wide.view(), 0.5, true, theirs.view_mut());
    assert!(close(&ours, &theirs, bound));
    let (ours, theirs) =
        (faer_backend::eigvalsh(matrix.view()).unwrap(), lapack_backend::eigvalsh(matrix.view()).unwrap());
    assert!((&ours - &theirs).iter().all(|difference| difference.abs() <= bound));
}
