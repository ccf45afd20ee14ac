//! Frequent Directions on 20,000 rows: dense ones of 100 numbers at l = 100 (table 3 of the paper, a fiftieth of it), and sparse ones of
//! 2¹⁴ columns with 20 entries at l = 50, for several buffers.
//!
//! Rows are built once, outside the timed closures. `scripts/peers/sketch.py` compares the dense case with NumPy on one input.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use landmark_core::oracle::Identity;
use landmark_core::stream::stream;
use landmark_features::sketch::{Form, FrequentDirectionsParams};
use ndarray::Array2;
use rand::Rng;

const ROWS: usize = 20_000;

fn dense(criterion: &mut Criterion) {
    let mut rng = stream(2022, "bench", "sketch dense", 0);
    let x = Array2::from_shape_fn((ROWS, 100), |_| rng.gen_range(-1.0..1.0));
    let mut group = criterion.benchmark_group("sketch/n=20000,d=100,l=100");
    group.sample_size(10);
    for (form, buffer) in
        [(Form::Figure1, None), (Form::Buffered, Some(200)), (Form::Buffered, Some(1000)), (Form::Buffered, Some(4000))]
    {
        let params = FrequentDirectionsParams { rows: 100, form, buffer };
        group.bench_function(format!("{},buffer={}", form.id(), buffer.unwrap_or(100)), |bencher| {
            bencher.iter(|| {
                let mut sketch = params.check(100, Identity::of(&[])).expect("good parameters");
                sketch.append_block(x.view()).expect("finite rows");
                black_box(sketch.bound())
            });
        });
    }
    group.finish();
}

fn sparse(criterion: &mut Criterion) {
    const COLUMNS: u32 = 1 << 14;
    let mut rng = stream(2022, "bench", "sketch sparse", 0);
    let rows: Vec<(Vec<u32>, Vec<f64>)> = (0..ROWS / 10)
        .map(|_| {
            // the square makes small columns frequent, as words are
            let mut columns: Vec<u32> =
                (0..20).map(|_| rng.gen_range(0..128u32) * rng.gen_range(0..128u32) % COLUMNS).collect();
            columns.sort_unstable();
            columns.dedup();
            let values = columns.iter().map(|_| if rng.gen_bool(0.5) { 1.0 } else { -1.0 }).collect();
            (columns, values)
        })
        .collect();
    let mut group = criterion.benchmark_group("sketch/sparse,n=2000,d=16384,l=50");
    group.sample_size(10);
    for buffer in [100, 200, 400, 800] {
        let params = FrequentDirectionsParams { rows: 50, form: Form::Buffered, buffer: Some(buffer) };
        group.bench_function(format!("buffer={buffer}"), |bencher| {
            bencher.iter(|| {
                let mut sketch = params.check(COLUMNS as usize, Identity::of(&[])).expect("good parameters");
                for (columns, values) in &rows {
                    sketch.append_sparse(columns, values).expect("good rows");
                }
                black_box(sketch.bound())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, dense, sparse);
criterion_main!(benches);
