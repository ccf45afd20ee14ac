//! Every family against its dense matrix, its unbiasedness, and bad input.

use landmark_core::normal::normals;
use linfa::DatasetBase;
use linfa::traits::{Fit, Transformer};
use ndarray::{Array2, array, s};

use super::transforms::FftPlans;
use super::*;
use landmark_core::stream::stream;

const FAMILIES: [Family; 9] = [
    Family::Dense,
    Family::Circulant,
    Family::Toeplitz,
    Family::Hankel,
    Family::LowDisplacement { rank: 1, nonzeros: 1 },
    Family::LowDisplacement { rank: 3, nonzeros: 1 },
    Family::Fastfood { independent_norms: false },
    Family::Fastfood { independent_norms: true },
    Family::Hd3,
];

const KERNELS: [SphericalKernel; 8] = [
    SphericalKernel::InnerProduct,
    SphericalKernel::Step,
    SphericalKernel::Sign,
    SphericalKernel::Relu,
    SphericalKernel::ArcCosine { order: 0 },
    SphericalKernel::ArcCosine { order: 1 },
    SphericalKernel::ArcCosine { order: 2 },
    SphericalKernel::Gaussian { sigma: 1.5 },
];

fn draw(family: Family, rows: usize, cols: usize) -> Box<dyn StructuredMatrix> {
    family.draw(rows, cols, &mut stream(7, "test", "matrix", 0), &mut FftPlans::new()).unwrap()
}

fn items(rows: usize, cols: usize) -> Array2<f64> {
    let mut rng = stream(7, "test", "items", 0);
    Array2::from_shape_vec((rows, cols), normals(&mut rng, rows * cols)).unwrap()
}

#[test]
fn the_product_of_every_family_equals_its_dense_matrix() {
    // below, at and above powers of two, odd and prime lengths, one row, one column, many blocks
    let shapes =
        [(1, 1), (1, 7), (7, 1), (5, 8), (8, 8), (8, 5), (100, 3), (31, 37), (64, 97), (130, 60), (1500, 2), (90, 256)];
    for family in FAMILIES {
        for (rows, cols) in shapes {
            let matrix = draw(family, rows, cols);
            assert_eq!((matrix.rows(), matrix.cols(), matrix.id()), (rows, cols, family.id()));
            let items = items(3, cols);
            let (fast, slow) = (matrix.apply(items.view()).unwrap(), items.dot(&matrix.to_dense().t()));
            let largest = slow.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
            for ((place, a), b) in fast.indexed_iter().zip(&slow) {
                assert!((a - b).abs() <= 1e-12 * largest, "{family:?} {rows} × {cols} at {place:?}: {a} against {b}");
            }
        }
    }
}

#[test]
fn memory_grows_with_rows_and_columns_not_with_their_product() {
    for family in FAMILIES.into_iter().filter(|family| *family != Family::Dense) {
        let rank = if let Family::LowDisplacement { rank, .. } = family { rank } else { 1 };
        for (rows, cols) in [(512, 512), (4096, 512), (512, 4096)] {
            let bytes = draw(family, rows, cols).bytes();
            assert!(bytes <= 80 * rank * (rows + cols), "{family:?}: {bytes} bytes for {rows} × {cols}");
        }
    }
}

#[test]
fn a_seed_names_a_matrix_and_threads_do_not_matter() {
    let items = items(200, 33);
    for family in FAMILIES {
        let features = |seed, threads| {
            let params = StructuredFeaturesParams { family, features: 70, seed, ..Default::default() };
            let map = params.check().unwrap().draw(33).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| map.features(items.view()).unwrap())
        };
        assert_eq!(features(1, 1), features(1, 3), "{family:?}");
        assert_ne!(features(1, 1), features(2, 1), "{family:?}");
        // an item's features do not depend on its neighbors
        let params = StructuredFeaturesParams { family, features: 70, seed: 1, ..Default::default() };
        let alone = params.check().unwrap().draw(33).unwrap().features(items.slice(s![100..101, ..])).unwrap();
        let together = features(1, 1);
        let difference = (&alone.row(0) - &together.row(100)).mapv(f64::abs).sum();
        // a dense product sums in another order for one row than for sixty-four
        let allowed = if family == Family::Dense { 1e-11 } else { 0.0 };
        assert!(difference <= allowed, "{family:?}: {difference}");
    }
}

/// Mean of Λ̂ over independent draws, its standard error, and Λ.
fn mean_estimate(family: Family, kernel: SphericalKernel, preprocess: bool, x: &[f64], y: &[f64]) -> (f64, f64, f64) {
    let draws = 1500_u32;
    let mut plans = FftPlans::new();
    let estimates: Vec<f64> = (0..u64::from(draws))
        .map(|replicate| {
            let params = StructuredFeaturesParams { kernel, family, features: 24, preprocess, seed: 11, replicate };
            params.check().unwrap().draw_with(x.len(), &mut plans).unwrap().estimate(x, y).unwrap()
        })
        .collect();
    let mean = estimates.iter().sum::<f64>() / f64::from(draws);
    let variance = estimates.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(draws - 1);
    (mean, (variance / f64::from(draws)).sqrt(), kernel.closed_form(x, y).unwrap())
}

#[test]
fn estimates_are_unbiased_wherever_rows_are_normal() {
    // 12 numbers (padded to 16), 24 rows (two blocks); not spread out, so that nothing averages structure away
    let (mut x, mut y) = ([0.0; 12], [0.0; 12]);
    (x[0], x[1], x[5]) = (1.0, 0.5, -0.3);
    (y[0], y[2], y[5]) = (0.4, 1.1, 0.6);
    for family in FAMILIES.into_iter().filter(|family| *family != Family::Hd3) {
        for preprocess in [false, true] {
            for kernel in KERNELS {
                let (mean, error, exact) = mean_estimate(family, kernel, preprocess, &x, &y);
                // two-sided 10⁻⁶ a case by the central limit theorem, so 10⁻⁴ for all 128
                assert!(
                    (mean - exact).abs() <= 4.9 * error,
                    "{family:?} {kernel:?} preprocess {preprocess}: {mean} ± {error} against {exact}"
                );
            }
        }
    }
}

#[test]
fn inner_products_are_unbiased_also_where_rows_are_normal_only_on_average_or_not_at_all() {
    // 24 rows are one and a half blocks: whole blocks of orthogonal rows would be exact
    let (x, y) = ([1.0, 0.5, 0.0, -0.3, 0.0, 0.1, 0.2, 0.0, 0.7], [0.4, 0.0, 1.1, 0.6, 0.2, 0.0, 0.0, 0.3, -0.2]);
    for family in [Family::LowDisplacement { rank: 2, nonzeros: 3 }, Family::Hd3] {
        for preprocess in [false, true] {
            let (mean, error, exact) = mean_estimate(family, SphericalKernel::InnerProduct, preprocess, &x, &y);
            assert!((mean - exact).abs() <= 4.9 * error, "{family:?}: {mean} ± {error} against {exact}");
        }
    }
}

#[test]
fn zero_vectors_get_the_value_of_the_definition() {
    let (zero, other) = ([0.0; 6], [1.0, -2.0, 0.5, 0.0, 3.0, 1.0]);
    for family in FAMILIES {
        for kernel in KERNELS {
            let params = StructuredFeaturesParams { kernel, family, features: 2048, ..Default::default() };
            let map = params.check().unwrap().draw(6).unwrap();
            let near = |y: &[f64], tolerance: f64| {
                let (ours, exact) = (map.estimate(&zero, y).unwrap(), kernel.closed_form(&zero, y).unwrap());
                assert!((ours - exact).abs() <= tolerance, "{family:?} {kernel:?}: {ours} against {exact}");
            };
            // nothing is random about a zero vector with itself; six standard errors of 2,048 coins otherwise, twice that for
            // structure: rows of blocks of 8 are not independent
            near(&zero, 1e-12);
            near(&other, 12.0 / 2048.0_f64.sqrt());
        }
    }
}

#[test]
fn extreme_items_keep_their_features_up_to_scale() {
    let ordinary = items(3, 20);
    for family in FAMILIES {
        let params =
            StructuredFeaturesParams { kernel: SphericalKernel::Sign, family, features: 50, ..Default::default() };
        let map = params.check().unwrap().draw(20).unwrap();
        let expected = map.features(ordinary.view()).unwrap();
        for exponent in [-900, -600, 600, 900] {
            let mut scaled = ordinary.clone();
            // the middle row alone, so that rows are not scaled together
            scaled.row_mut(1).mapv_inplace(|value| value * f64::from(exponent).exp2());
            assert_eq!(map.features(scaled.view()).unwrap(), expected, "{family:?} at 2^{exponent}");
        }
        // subnormal numbers have few digits, but they are numbers
        let subnormal = ordinary.mapv(|value| value * 1e-320);
        let signs = map.features(subnormal.view()).unwrap();
        let kept = signs.iter().zip(&expected).filter(|(a, b)| a == b).count();
        assert!(kept as f64 > 0.95 * expected.len() as f64, "{family:?}: {kept} of {}", expected.len());
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let valid = StructuredFeaturesParams { features: 8, ..Default::default() }.check().unwrap();
    let message = |error: StructuredError| error.to_string();
    assert_eq!(
        message(valid.draw(0).unwrap_err()),
        "the number of columns (input dimensions) is 0, but must be at least 1"
    );
    let none = StructuredFeaturesParams { features: 0, ..Default::default() }.check();
    assert_eq!(message(none.unwrap_err()), "`features` is 0, but must be at least 1");
    let map = valid.draw(3).unwrap();
    let mut batch = Array2::ones((200, 3));
    batch[[150, 2]] = f64::NAN;
    batch[[160, 0]] = f64::INFINITY;
    assert_eq!(
        message(map.features(batch.view()).unwrap_err()),
        "item 150 has NaN at position 2; values must be finite. Look at this item"
    );
    assert_eq!(message(map.projections(array![[1.0]].view()).unwrap_err()), "an item has length 1, but must have 3");
    assert_eq!(
        message(map.estimate(&[1.0], &[1.0, 2.0, 3.0]).unwrap_err()),
        "the first vector has length 1, but must have 3"
    );
    let refused =
        |family: Family| message(StructuredFeaturesParams { family, ..Default::default() }.check().unwrap_err());
    assert_eq!(
        refused(Family::LowDisplacement { rank: 0, nonzeros: 1 }),
        "`low_displacement`: `rank` is 0, but must be at least 1"
    );
    assert_eq!(
        refused(Family::LowDisplacement { rank: 1, nonzeros: 0 }),
        "`low_displacement`: `nonzeros` is 0, but must be at least 1"
    );
    let many =
        Family::LowDisplacement { rank: 1, nonzeros: 9 }.draw(4, 8, &mut stream(0, "", "", 0), &mut FftPlans::new());
    assert_eq!(
        message(many.unwrap_err()),
        "`low_displacement`: `nonzeros` is 9, but must be at most the number of columns"
    );
    let huge = Family::Dense.draw(usize::MAX, 2, &mut stream(0, "", "", 0), &mut FftPlans::new());
    assert!(message(huge.unwrap_err()).contains("choose a structured family"));
    for family in FAMILIES {
        assert!(family.draw(0, 4, &mut stream(0, "", "", 0), &mut FftPlans::new()).is_err());
        assert!(family.draw(4, 0, &mut stream(0, "", "", 0), &mut FftPlans::new()).is_err());
        let map =
            StructuredFeaturesParams { family, features: 5, ..Default::default() }.check().unwrap().draw(3).unwrap();
        assert_eq!(map.features(Array2::zeros((0, 3)).view()).unwrap().dim(), (0, 10), "no item, no features");
    }
}

#[test]
fn the_transformer_keeps_targets_and_weights_and_gives_the_features() {
    let params = StructuredFeaturesParams { features: 6, ..Default::default() };
    let records = items(2, 4);
    let dataset = DatasetBase::new(records.clone(), array![3_usize, 7]).with_weights(array![1.0_f32, 2.0]);
    let map = params.check().unwrap().fit(&dataset).unwrap();
    let transformed = map.transform(dataset);
    assert_eq!(transformed.records, map.features(records.view()).unwrap());
    assert_eq!((transformed.targets, transformed.weights), (array![3, 7], array![1.0, 2.0]));
}

#[test]
fn families_and_kernels_are_written_as_in_a_configuration() {
    for family in FAMILIES {
        let text = serde_json::to_string(&family).unwrap();
        assert_eq!(serde_json::from_str::<Family>(&text).unwrap(), family);
        assert!(Family::IDS.contains(&family.id()) && text.contains(family.id()));
    }
    for kernel in KERNELS {
        let text = serde_json::to_string(&kernel).unwrap();
        assert_eq!(serde_json::from_str::<SphericalKernel>(&text).unwrap(), kernel);
        assert!(SphericalKernel::IDS.contains(&kernel.id()) && text.contains(kernel.id()));
    }
    assert_eq!(serde_json::from_str::<Family>("\"hankel\"").unwrap(), Family::Hankel);
    assert_eq!(serde_json::from_str::<Family>("\"fastfood\"").unwrap(), Family::Fastfood { independent_norms: false });
    assert_eq!(serde_json::from_str::<SphericalKernel>("\"relu\"").unwrap(), SphericalKernel::Relu);
    for wrong in ["\"hankle\"", "3", "\"low_displacement\"", r#"{"id": "circulant", "rank": 2}"#] {
        assert!(serde_json::from_str::<Family>(wrong).is_err(), "{wrong}");
    }
    let params: StructuredFeaturesParams =
        serde_json::from_str(r#"{"family": {"id": "low_displacement", "rank": 2, "nonzeros": 1}, "features": 64}"#)
            .unwrap();
    assert_eq!(params.family, Family::LowDisplacement { rank: 2, nonzeros: 1 });
    assert!(serde_json::from_str::<StructuredFeaturesParams>(r#"{"familly": 1}"#).is_err());
}
