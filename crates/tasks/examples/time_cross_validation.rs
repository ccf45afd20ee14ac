//! Times the choice of C by cross-validation on factors of the size of a real corpus, and prints what every C came to.
//!
//! `cargo run --release -p landmark-tasks --example time_cross_validation -- [ROWS COLUMNS FOLDS C…]`
//!
//! By default 7,674 rows in the eight classes of Reuters R8, from 3,923 rows to 51, with 1,324 columns: rank 300 and a proxy. Rows are noise
//! around one centre a class; column k has variance ∝ 1/k, as factors have, and rows are of unit length in the mean. Two labels in a hundred are drawn anew, so that no
//! machine is free of errors.

#![allow(clippy::print_stdout)] // an example's report

use std::error::Error;
use std::time::Instant;

use landmark_core::stream::stream;
use landmark_tasks::classification::{ClassificationParams, cross_validate};
use ndarray::Array2;
use rand::Rng;

/// Shares of the classes of R8.
const SIZES: [usize; 8] = [3923, 2292, 374, 326, 293, 271, 144, 51];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let size = |place: usize, default: usize| arguments.get(place).map_or(Ok(default), |a| a.parse::<usize>());
    let (rows, columns, folds) = (size(0, SIZES.iter().sum())?, size(1, 1324)?, size(2, 10)?);
    let (x, labels) = classes(rows, columns);
    let items: Vec<usize> = (0..rows).collect();
    let given: Vec<f64> = arguments.iter().skip(3).map(|c| c.parse()).collect::<Result<_, _>>()?;
    let costs = if given.is_empty() { (0..6).map(|step| 10f64.powi(step - 2)).collect() } else { given };
    let params = ClassificationParams { costs, folds, ..ClassificationParams::default() }.check()?;
    let start = Instant::now();
    let table = cross_validate(x.view(), &labels, &items, &params, 2022)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{rows} rows × {columns} columns, {folds} folds, {} threads", rayon::current_num_threads());
    for cost in &table.costs {
        println!("C = {:<7} accuracy {:.6}  converged {}", cost.c, cost.accuracy.mean, cost.converged);
    }
    println!("C = {} in {seconds:.1} s", table.best().c);
    Ok(())
}

fn classes(rows: usize, columns: usize) -> (Array2<f64>, Vec<usize>) {
    let rng = &mut stream(2022, "synthetic", "time_cross_validation", 0);
    // a sum of four uniforms has variance 1/3: near enough to a normal for a benchmark, and needs no further crate
    let mut noise = |scale: f64| scale * 3f64.sqrt() * (0..4).map(|_| rng.gen_range(-0.5..0.5)).sum::<f64>();
    let centres = Array2::from_shape_simple_fn((SIZES.len(), columns), || noise(0.25));
    let mut x = Array2::from_shape_simple_fn((rows, columns), || noise(1.0));
    let all: usize = SIZES.iter().sum();
    let bounds: Vec<usize> = SIZES
        .iter()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        })
        .collect();
    let mut labels: Vec<usize> = (0..rows).map(|i| bounds.partition_point(|&bound| bound * rows <= i * all)).collect();
    let length: f64 = (1..=columns).map(|k| 1.0 / k as f64).sum::<f64>().sqrt();
    for (mut row, &label) in x.outer_iter_mut().zip(&labels) {
        row += &centres.row(label);
        row.iter_mut().enumerate().for_each(|(k, value)| *value /= ((k + 1) as f64).sqrt() * length);
    }
    for label in labels.iter_mut() {
        if rng.gen_bool(0.02) {
            *label = rng.gen_range(0..SIZES.len());
        }
    }
    (x, labels)
}
