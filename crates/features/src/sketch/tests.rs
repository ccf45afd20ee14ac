//! The bounds in every run, merging, threads, sparse and dense alike, saving, and what is refused.

use linfa::traits::Transformer;
use ndarray::{Array2, array, s};
use proptest::prelude::*;
use rand::Rng;

use super::parallel::merge_tree;
use super::*;
use landmark_core::linalg::{eigvalsh, frobenius_norm, product, spectral_norm, svd};
use landmark_core::oracle::Identity;
use landmark_core::stream::stream;

fn features() -> Identity {
    Identity::of(&[("columns", b"test")])
}

fn empty(rows: usize, form: Form, buffer: Option<usize>, columns: usize) -> FrequentDirections {
    FrequentDirectionsParams { rows, form, buffer }.check(columns, features()).unwrap()
}

/// Rows of a few strong directions and noise, named by shape and seed.
fn random(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = stream(seed, "sketch", "test matrix", (n * 1000 + d) as u64);
    let strong = Array2::from_shape_fn((n, 3), |_| rng.gen_range(-2.0..2.0));
    let directions = Array2::from_shape_fn((3, d), |_| rng.gen_range(-1.0..1.0));
    strong.dot(&directions) + Array2::from_shape_fn((n, d), |_| rng.gen_range(-0.5..0.5))
}

/// A tenth of the entries, others 0.
fn random_sparse(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = stream(seed, "sketch", "sparse test matrix", (n * 1000 + d) as u64);
    Array2::from_shape_fn((n, d), |_| if rng.gen_bool(0.1) { f64::from(rng.gen_range(-3..4)) } else { 0.0 })
}

fn append_sparse(sketch: &mut FrequentDirections, x: &Array2<f64>) {
    for row in x.rows() {
        let (columns, values): (Vec<u32>, Vec<f64>) =
            (0u32..).zip(row.iter().copied()).filter(|&(_, value)| value != 0.0).unzip();
        sketch.append_sparse(&columns, &values).unwrap();
    }
}

/// min over k < l of ‖X − X_k‖²_F / (l − k).
fn tail_bound(x: &Array2<f64>, l: usize) -> f64 {
    let squares: Vec<f64> = svd(x.view()).unwrap().values.iter().map(|value| value * value).collect();
    let tail = |k: usize| squares.iter().skip(k).sum::<f64>();
    (0..l).map(|k| tail(k) / (l - k) as f64).fold(f64::INFINITY, f64::min)
}

/// 1e-10 of ‖X‖²_F: some thousand roundings of that size, with room.
fn check_bounds(sketch: &FrequentDirections, x: &Array2<f64>) {
    let bound = sketch.bound();
    let norm = frobenius_norm(x.view()).powi(2);
    let slack = 1e-10 * norm;
    let lost = product(x.t(), x.view()) - sketch.gram();
    let error = spectral_norm(lost.view()).unwrap();
    assert!((bound.squared_norm - norm).abs() <= slack);
    assert!(error <= bound.subtracted + slack, "{error} > {bound:?}");
    assert!(bound.subtracted <= bound.proven + slack, "{bound:?}");
    assert!(eigvalsh(lost.view()).unwrap()[0] >= -slack, "XᵀX − YᵀY is not positive semi-definite");
    let (l, share) = (sketch.sketch_rows(), bound.squared_norm - bound.sketch_squared_norm);
    let least = if sketch.form() == Form::Figure1 { l.div_ceil(2) } else { l + 1 };
    assert!(bound.subtracted * least as f64 <= share + slack, "{bound:?}");
    if sketch.form() == Form::Buffered {
        assert!(bound.subtracted <= tail_bound(x, l) + slack, "{bound:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_bounds_hold_for_any_shape_form_and_buffer(
        n in 1usize..90, d in 1usize..30, l in 1usize..12, extra in 1usize..40, figure in any::<bool>(), seed in 0u64..1000,
    ) {
        let (form, buffer) = if figure { (Form::Figure1, None) } else { (Form::Buffered, Some(l + extra)) };
        let x = random(n, d, seed);
        let mut sketch = empty(l, form, buffer, d);
        sketch.append_block(x.view()).unwrap();
        check_bounds(&sketch, &x);
        sketch.finish().unwrap();
        check_bounds(&sketch, &x);
        prop_assert!(sketch.sketch().nrows() <= l);
        prop_assert_eq!(sketch.rows_seen(), n as u64);
    }

    #[test]
    fn the_bounds_survive_any_merge_of_dense_and_sparse_parts(
        cut in 1usize..79, second in 1usize..79, l in 1usize..10, figure in any::<bool>(), sparse in any::<[bool; 3]>(),
    ) {
        let (form, buffer) = if figure { (Form::Figure1, None) } else { (Form::Buffered, Some(2 * l)) };
        let x = random_sparse(80, 16, 5);
        let (first, last) = (cut.min(second), cut.max(second));
        let part = |from: usize, to: usize, sparse: bool| {
            let mut sketch = empty(l, form, buffer, 16);
            let rows = x.slice(s![from..to, ..]).to_owned();
            if sparse { append_sparse(&mut sketch, &rows) } else { sketch.append_block(rows.view()).unwrap() }
            sketch
        };
        let (a, b, c) = (part(0, first, sparse[0]), part(first, last, sparse[1]), part(last, 80, sparse[2]));
        let mut left = a.clone();
        left.merge(&b).unwrap();
        left.merge(&c).unwrap();
        let (mut right, mut tail) = (a, b);
        tail.merge(&c).unwrap();
        right.merge(&tail).unwrap();
        for sketch in [&mut left, &mut right] {
            prop_assert_eq!(sketch.rows_seen(), 80);
            check_bounds(sketch, &x);
            sketch.finish().unwrap();
            check_bounds(sketch, &x);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, flipped in 0usize..400, to in any::<u8>()) {
        let _ = FrequentDirections::from_bytes(&bytes);
        let mut sketch = empty(2, Form::Buffered, None, 3);
        sketch.append(&[1.0, 2.0, 3.0]).unwrap();
        let mut saved = sketch.to_bytes();
        let place = flipped % saved.len();
        if saved[place] != to {
            saved[place] = to;
            prop_assert!(FrequentDirections::from_bytes(&saved).is_err());
        }
    }
}

/// Rows that wait are shrunk when a sketch is finished, which the bound of the rows before that knows nothing of.
#[test]
fn the_bound_of_a_finished_copy_is_that_of_its_rows_and_the_stream_stays_as_it_is() {
    let mut short = 0;
    for (n, d, l, buffer) in [(90, 20, 8, Some(80)), (60, 30, 5, Some(50)), (35, 12, 4, None), (200, 16, 8, Some(11))] {
        for (form, buffer) in [(Form::Buffered, buffer), (Form::Figure1, None)] {
            for seed in 0..3 {
                let x = random(n, d, seed);
                let mut sketch = empty(l, form, buffer, d);
                sketch.append_block(x.view()).unwrap();
                let before = sketch.to_bytes();
                let finished = sketch.finished().unwrap();
                check_bounds(&finished, &x);
                assert!(finished.sketch().nrows() <= l);
                let lost = product(x.t(), x.view()) - finished.gram();
                short += usize::from(spectral_norm(lost.view()).unwrap() > sketch.bound().subtracted * 1.01);
                assert_eq!(sketch.to_bytes(), before);
            }
        }
    }
    assert!(short > 5, "the bound of the unfinished sketch is too small in {short} cases");
}

#[test]
fn sparse_rows_give_the_sketch_of_the_same_dense_rows() {
    // tall (d below the rows held) and wide; zero rows among them
    for (d, l, buffer) in [(6, 4, 12), (60, 4, 12), (60, 10, 200)] {
        for (form, buffer) in [(Form::Buffered, Some(buffer)), (Form::Figure1, None)] {
            let mut x = random_sparse(70, d, 9);
            x.row_mut(5).fill(0.0);
            let (mut dense, mut sparse, mut block) =
                (empty(l, form, buffer, d), empty(l, form, buffer, d), empty(l, form, buffer, d));
            x.rows().into_iter().for_each(|row| dense.append(&row.to_vec()).unwrap());
            block.append_block(x.view()).unwrap();
            append_sparse(&mut sparse, &x);
            for other in [&sparse, &block] {
                // sums of other orders: 1e-12 of the squared norm is some thousand roundings
                let slack = 1e-12 * dense.bound().squared_norm;
                assert!((dense.gram() - other.gram()).iter().all(|v| v.abs() <= slack));
                assert_eq!(dense.bound().shrinks, other.bound().shrinks);
                assert_eq!(dense.rows_seen(), 70);
            }
            check_bounds(&sparse, &x);
        }
    }
}

#[test]
fn shrinking_by_the_gram_matrix_loses_no_more_than_rounding_against_the_svd() {
    // condition 1e6: the Gram matrix has 1e12, where its small eigenvalues are still real
    let (n, d, l) = (40, 60, 10);
    let scales = Array2::from_shape_fn((1, d), |(_, j)| 10f64.powf(-6.0 * j as f64 / d as f64));
    let x = random(n, d, 4) * &scales;
    let mut sketch = empty(l, Form::Buffered, Some(n), d);
    sketch.append_block(x.view()).unwrap();
    let factors = svd(x.view()).unwrap();
    let delta = factors.values[l].powi(2);
    let kept = &factors.right.slice(s![.., ..l])
        * &factors.values.slice(s![..l]).mapv(|value| (value * value - delta).max(0.0).sqrt());
    let difference = product(kept.view(), kept.t()) - sketch.gram();
    // rounding of BBᵀ: n products of at most λ₁, each rounded once
    let slack = n as f64 * f64::EPSILON * factors.values[0].powi(2);
    assert!(spectral_norm(difference.view()).unwrap() <= 8.0 * slack);
    assert!((sketch.bound().subtracted - delta).abs() <= 8.0 * slack);
}

#[test]
fn with_at_least_as_many_rows_as_columns_the_buffered_form_loses_nothing() {
    let x = random(500, 7, 2);
    for l in [7, 9] {
        let mut sketch = empty(l, Form::Buffered, Some(20), 7);
        sketch.append_block(x.view()).unwrap();
        sketch.finish().unwrap();
        assert_eq!(sketch.bound().subtracted, 0.0);
        assert!((sketch.gram() - x.t().dot(&x)).iter().all(|v| v.abs() <= 1e-10 * sketch.bound().squared_norm));
    }
}

#[test]
fn batches_keep_the_bound_and_do_not_depend_on_the_number_of_threads() {
    let x = random(400, 30, 8);
    for (form, buffer) in [(Form::Buffered, None), (Form::Figure1, None)] {
        let params = FrequentDirectionsParams { rows: 8, form, buffer };
        for batches in [1, 2, 5, 16] {
            let sketch_with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sketch_batches(&params, features(), x.view(), batches).unwrap())
            };
            let sketch = sketch_with(1);
            check_bounds(&sketch, &x);
            assert_eq!(sketch.rows_seen(), 400);
            assert_eq!(sketch.to_bytes(), sketch_with(3).to_bytes());
        }
    }
}

#[test]
fn the_projection_is_orthonormal_and_finds_the_strong_directions() {
    let x = random(300, 40, 6);
    let mut sketch = empty(12, Form::Buffered, None, 40);
    append_sparse(&mut sketch, &x);
    let projection = sketch.projection(3).unwrap();
    let directions = projection.directions();
    // 40 products a number, each rounded once
    assert!((directions.t().dot(&directions) - Array2::<f64>::eye(3)).iter().all(|v| v.abs() <= 1e-12));
    // the three strong directions hold nearly all of ‖X‖²: at least what the bound leaves of the exact best three
    let caught = frobenius_norm(projection.transform(x.view()).view()).powi(2);
    let best: f64 = svd(x.view()).unwrap().values.iter().take(3).map(|value| value * value).sum();
    assert!(caught >= best - 3.0 * sketch.bound().subtracted - 1e-9 * best);
    let row = x.row(17);
    let sparse = projection.project_sparse(&(0..40).collect::<Vec<u32>>(), &row.to_vec());
    assert!(projection.transform(x.view()).row(17).iter().zip(&sparse).all(|(a, b)| (a - b).abs() <= 1e-12 * best));
    assert!(directions.columns().into_iter().all(|v| v.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() {
        b
    } else {
        a
    }) > 0.0));
    assert_eq!(sketch.projection(12).unwrap().dimension(), 12);
    let message = sketch.projection(13).unwrap_err().to_string();
    assert_eq!(message, "`dimension` is 13, but must be between 1 and the 12 rows of the sketch");
}

#[test]
fn a_stream_goes_on_from_its_bytes_as_if_it_had_not_stopped() {
    let x = random_sparse(90, 25, 1);
    for (form, sparse) in [(Form::Buffered, true), (Form::Buffered, false), (Form::Figure1, true)] {
        let append = |sketch: &mut FrequentDirections, rows: &Array2<f64>| {
            if sparse { append_sparse(sketch, rows) } else { sketch.append_block(rows.view()).unwrap() }
        };
        for stop in [0, 3, 41, 90] {
            let mut whole = empty(5, form, None, 25);
            append(&mut whole, &x);
            let mut first = empty(5, form, None, 25);
            append(&mut first, &x.slice(s![..stop, ..]).to_owned());
            let mut again = FrequentDirections::from_bytes(&first.to_bytes()).unwrap();
            assert_eq!((again.bound(), again.features()), (first.bound(), features()));
            append(&mut again, &x.slice(s![stop.., ..]).to_owned());
            assert_eq!(again.to_bytes(), whole.to_bytes());
        }
    }
}

#[test]
fn truncated_damaged_and_foreign_bytes_are_refused_by_what_is_wrong() {
    let mut sketch = empty(3, Form::Buffered, None, 4);
    sketch.append_block(random(30, 4, 1).view()).unwrap();
    let bytes = sketch.to_bytes();
    for length in [0, 7, 100, bytes.len() - 1] {
        let message = FrequentDirections::from_bytes(&bytes[..length]).unwrap_err().to_string();
        assert!(message.starts_with(&format!("the saved sketch is truncated: it has {length} bytes")), "{message}");
    }
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(FrequentDirections::from_bytes(&damaged).unwrap_err(), SketchError::Damaged);
    let message = FrequentDirections::from_bytes(b"PK\x03\x04 a zip file").unwrap_err().to_string();
    assert_eq!(
        message,
        "a file of another kind is not a saved sketch (expected the bytes `LMSKETCH` at the beginning)"
    );
    let mut newer = bytes;
    newer[8] = 2;
    let message = FrequentDirections::from_bytes(&newer).unwrap_err().to_string();
    assert_eq!(message, "a sketch of format 2 is not a saved sketch (expected format 1)");
}

#[test]
fn silly_parameters_are_refused_with_value_and_range() {
    let refused = |rows, form, buffer, columns| {
        let params = FrequentDirectionsParams { rows, form, buffer };
        params.check(columns, features()).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refused(0, Form::Buffered, None, 5), "`rows` is 0, but must be at least 1");
    assert_eq!(refused(3, Form::Buffered, Some(3), 5), "`buffer` is 3, but must be more than the 3 rows kept");
    assert_eq!(refused(3, Form::Buffered, None, 0), "`columns` is 0, but must be between 1 and 2³² − 1");
    assert!(refused(3, Form::Figure1, Some(6), 5).contains("`figure_1` has no buffer"));
    assert!(refused(usize::MAX, Form::Figure1, None, 5).contains("small enough for 5 columns"));
    for batches in [0, 11] {
        let params = FrequentDirectionsParams::default();
        let error = sketch_batches(&params, features(), random(10, 2, 1).view(), batches).unwrap_err();
        assert_eq!(error.to_string(), format!("`batches` is {batches}, but must be between 1 and the 10 rows"));
    }
    assert!(merge_tree(Vec::new()).is_err());
}

#[test]
fn sizes_are_checked_without_room_for_them() {
    // 2 EiB
    let params = FrequentDirectionsParams { rows: 1 << 30, ..Default::default() };
    assert_eq!(params.check_sizes(1 << 28), Ok(40 << 30));
}

#[test]
fn sketches_that_come_one_by_one_are_merged_in_the_same_tree() {
    for blocks in 1..=9 {
        let x = random(40 * blocks, 7, 3);
        let sketches: Vec<_> = (0..blocks)
            .map(|block| {
                let mut sketch = empty(3, Form::Buffered, None, 7);
                sketch.append_block(x.slice(ndarray::s![40 * block..40 * (block + 1), ..])).unwrap();
                sketch
            })
            .collect();
        let mut tree = MergeTree::default();
        for sketch in &sketches {
            tree.push(sketch.clone()).unwrap();
        }
        let mut merged = tree.into_merged().unwrap().unwrap();
        merged.finish().unwrap();
        assert_eq!(merged.to_bytes(), merge_tree(sketches).unwrap().to_bytes(), "{blocks} blocks");
    }
    assert!(MergeTree::default().into_merged().unwrap().is_none());
}

#[test]
fn rows_that_are_wrong_are_named_and_not_taken_in() {
    let mut sketch = empty(2, Form::Buffered, None, 3);
    sketch.append(&[1.0, 0.0, 2.0]).unwrap();
    let before = sketch.to_bytes();
    let messages = [
        sketch.append(&[1.0]).unwrap_err().to_string(),
        sketch.append(&[0.0, f64::NAN, 1.0]).unwrap_err().to_string(),
        sketch.append_block(array![[0.0, 1.0, f64::NEG_INFINITY]].view()).unwrap_err().to_string(),
        sketch.append_sparse(&[2], &[1e200]).unwrap_err().to_string(),
        sketch.append_sparse(&[1, 1], &[1.0, 1.0]).unwrap_err().to_string(),
        sketch.append_sparse(&[0, 3], &[1.0, 1.0]).unwrap_err().to_string(),
        sketch.append_sparse(&[0], &[]).unwrap_err().to_string(),
    ];
    let wanted = [
        "row 1 has 1 columns, but the sketch has 3",
        "row 1, column 1 is NaN, but must be finite (and below 1e150 in size)",
        "row 1, column 2 is -inf, but must be finite (and below 1e150 in size)",
        "row 1, column 2 is 1e200, but must be finite (and below 1e150 in size)",
        "row 1 of the stream: its columns do not ascend",
        "row 1 of the stream: a column is out of range",
        "row 1 of the stream: columns and values differ in number",
    ];
    assert_eq!(messages, wanted);
    assert_eq!(sketch.to_bytes(), before);
}

#[test]
fn sketches_of_other_shape_form_or_columns_do_not_merge() {
    let mut sketch = empty(3, Form::Buffered, None, 4);
    let other =
        FrequentDirectionsParams { rows: 3, ..Default::default() }.check(4, Identity::of(&[("hash", b"other")]));
    let messages: Vec<String> = [
        empty(3, Form::Buffered, None, 5),
        empty(2, Form::Buffered, None, 4),
        empty(3, Form::Figure1, None, 4),
        other.unwrap(),
    ]
    .iter()
    .map(|other| sketch.merge(other).unwrap_err().to_string())
    .collect();
    assert_eq!(messages[0], "sketches with different numbers of columns do not merge: 4 and 5");
    assert_eq!(messages[1], "sketches with different numbers of rows do not merge: 3 and 2");
    assert_eq!(messages[2], "sketches with different forms do not merge: buffered and figure_1");
    assert!(messages[3].starts_with("sketches with different columns (another hash or vocabulary) do not merge: "));
    // another buffer is no obstacle
    sketch.merge(&empty(3, Form::Buffered, Some(4), 4)).unwrap();
}

#[test]
fn a_stream_of_nothing_and_of_zeros_has_an_empty_sketch() {
    let mut sketch = empty(3, Form::Buffered, None, 4);
    sketch.append_block(Array2::zeros((500, 4)).view()).unwrap();
    sketch.append_sparse(&[], &[]).unwrap();
    sketch.finish().unwrap();
    assert_eq!((sketch.sketch().dim(), sketch.rows_seen()), ((0, 4), 501));
    assert_eq!((sketch.bound().relative(), sketch.projection(2).unwrap().dimension()), (0.0, 0));
}
