//! Known entries, addends and diagonals together, against a dense computation.

use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::Rng as _;

use super::*;
use crate::error::ApproximateError;
use crate::oracle::{Identity, Oracle, OracleShape};
use crate::stream::stream;

const N: usize = 9;

fn random(rows: usize, cols: usize, name: u64) -> Array2<f64> {
    let mut rng = stream(11, "approximation", "matrix", name);
    Array2::from_shape_fn((rows, cols), |_| rng.gen_range(-1.0..1.0))
}

fn symmetric(name: u64) -> Array2<f64> {
    let square = random(N, N, name);
    &square + &square.t()
}

#[derive(Debug)]
struct Matrix(Array2<f64>);

impl Oracle for Matrix {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.0.nrows())
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"test matrix")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        pairs.iter().zip(out).for_each(|(&pair, out)| *out = self.0[pair]);
        Ok(())
    }
}

impl AdditiveTerm for Matrix {
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        Approximation::new(Factors::Dense(self.0.clone()), (0..N).collect(), FitReport::default()).embedding()
    }

    fn anchors(&self) -> &[usize] {
        &[]
    }

    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64> {
        new.proxies[0].clone()
    }
}

fn signed() -> Signed {
    Signed { vectors: random(N, 4, 1), positive: 3, negative: 1, projector: None }
}

fn plain(factors: Factors) -> Approximation {
    Approximation::new(factors, vec![4, 0, 7], FitReport::default())
}

#[test]
fn the_parts_are_laid_over_each_other_in_the_order_of_the_formula() {
    let (core, added, columns) = (plain(Factors::Signed(signed())), symmetric(6), random(N, 3, 7));
    let everything = core
        .clone()
        .with_diagonal_shift((0..N).map(|i| i as f64).collect())
        .with_known_columns(columns.clone())
        .with_addend(Arc::new(Matrix(added.clone())))
        .with_diagonal(Diagonal::Each((0..N).map(|i| 10.0 + i as f64).collect()));
    let mut expected = core.to_dense().unwrap();
    for i in 0..N {
        expected[[i, i]] += i as f64;
    }
    for (t, &landmark) in [4, 0, 7].iter().enumerate() {
        expected.row_mut(landmark).assign(&columns.column(t));
    }
    for (t, &landmark) in [4, 0, 7].iter().enumerate() {
        expected.column_mut(landmark).assign(&columns.column(t));
    }
    expected += &added;
    for i in 0..N {
        expected[[i, i]] = 10.0 + i as f64;
    }
    let dense = everything.to_dense().unwrap();
    // known columns of a made-up K are not symmetric on the landmarks: there the column rules, as in `entry`
    for ((i, j), &value) in expected.indexed_iter() {
        assert!((dense[[i, j]] - value).abs() < 1e-12, "({i}, {j})");
        assert!((everything.entry(i, j).unwrap() - value).abs() < 1e-12, "({i}, {j})");
    }
}

#[test]
fn a_range_bounds_what_is_not_evaluated() {
    let added = symmetric(6);
    let bare = plain(Factors::Signed(signed())).with_addend(Arc::new(Matrix(added)));
    let unbounded = bare.to_dense().unwrap();
    let scattered = ScatteredEntries::new(N, &[(1, 2)], &[9.0]);
    let bounded = bare.with_range(-0.2, 0.4).with_scattered(scattered).unwrap().with_diagonal(Diagonal::Constant(7.0));
    let dense = bounded.to_dense().unwrap();
    for ((i, j), &value) in dense.indexed_iter() {
        let expected = match (i, j) {
            (1, 2) | (2, 1) => 9.0,
            _ if i == j => 7.0,
            _ => unbounded[[i, j]].clamp(-0.2, 0.4),
        };
        assert!((value - expected).abs() < 1e-12 && (bounded.entry(i, j).unwrap() - expected).abs() < 1e-12);
    }
    assert!(dense.iter().filter(|&&value| value == -0.2).count() > 4 && dense.iter().any(|&value| value == 0.4));
    let x: Vec<f64> = (0..N).map(|i| (i as f64 + 0.5).cos()).collect();
    let mut out = vec![0.0; N];
    bounded.apply(&x, &mut out).unwrap();
    assert!(dense.dot(&ndarray::aview1(&x)).iter().zip(&out).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn the_embedding_of_a_cur_product_keeps_negative_directions() {
    // U indefinite: L Rᵀ = [[0, 1], [1, 0]] has eigenvalues ±1 and no real square root
    let general = General {
        left: array![[1.0, 0.0], [0.0, 1.0]],
        right: array![[0.0, 1.0], [1.0, 0.0]],
        left_projector: Array2::eye(2),
        right_projector: array![[0.0, 1.0], [1.0, 0.0]],
    };
    let approximation = Approximation::new(Factors::General(general), vec![0, 1], FitReport::default());
    let embedding = approximation.embedding().unwrap();
    assert_eq!(embedding.signature.to_vec(), vec![1.0, -1.0]);
    let gram = (&embedding.vectors * &embedding.signature).dot(&embedding.vectors.t());
    assert!((&gram - &array![[0.0, 1.0], [1.0, 0.0]]).iter().all(|difference| difference.abs() < 1e-14));
}

#[test]
fn known_is_a_list_in_a_configuration() {
    let read = |text| serde_json::from_str::<Known>(text);
    assert_eq!(read("[]").unwrap(), Known::NOTHING);
    assert_eq!(read(r#"["diagonal", "landmarks"]"#).unwrap(), Known::ALL);
    assert_eq!(serde_json::to_string(&Known::LANDMARKS).unwrap(), r#"["landmarks"]"#);
    assert!(read(r#"["landmark"]"#).unwrap_err().to_string().contains("landmark"));
    assert!(read(r#"["landmarks", "landmarks"]"#).unwrap_err().to_string().contains("twice"));
}

proptest! {
    #[test]
    fn symmetrizing_averages_a_matrix_with_its_transpose(left in prop::collection::vec(-1.0..1.0_f64, 12), right in prop::collection::vec(-1.0..1.0_f64, 12)) {
        let shape = |values| Array2::from_shape_vec((6, 2), values).unwrap();
        let projector = Array2::zeros((1, 2));
        let general = General { left: shape(left), right: shape(right), left_projector: projector.clone(), right_projector: projector };
        let approximation = Approximation::new(Factors::General(general), vec![0], FitReport::default());
        let dense = approximation.to_dense().unwrap();
        let symmetric = approximation.symmetrized().unwrap();
        prop_assert!(symmetric.is_symmetric());
        // eigenvalues below 1e-10 of the largest are dropped
        prop_assert!((&symmetric.to_dense().unwrap() - &((&dense + &dense.t()) * 0.5)).iter().all(|difference| difference.abs() < 1e-8));
    }
}
