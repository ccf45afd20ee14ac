//! Trains a linear machine on synthetic rows, times it, and leaves data and solution for `scripts/peers/svm.py`.
//!
//! `cargo run --release -p landmark-tasks --example time_svm -- FOLDER [ROWS COLUMNS CLASSES C GAP SOLVER]`
//!
//! Rows are unit-variance Gaussian noise around one center a class, one label in ten is wrong: classes overlap, so that
//! the machine has many bounded errors and the solvers have work to do. Files are raw little-endian f64 (labels: u64).

#![allow(clippy::print_stdout)] // an example's report

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use landmark_core::stream::stream;
use landmark_tasks::linear_svm::{LinearSvmParams, Solver};
use landmark_tasks::svm::{Tolerance, TrainingSet};
use ndarray::{Array1, Array2};
use rand::Rng;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or("usage: time_svm FOLDER [ROWS COLUMNS CLASSES C GAP SOLVER]")?);
    let number = |place: usize, default: f64| arguments.get(place).map_or(Ok(default), |a| a.parse::<f64>());
    let size = |place: usize, default: usize| arguments.get(place).map_or(Ok(default), |a| a.parse::<usize>());
    let (rows, columns, classes) = (size(1, 10_000)?, size(2, 500)?, size(3, 20)?);
    let (c, gap) = (number(4, 1.0)?, number(5, 1e-4)?);

    let solver = match arguments.get(6).map(String::as_str) {
        None | Some("auto") => Solver::Auto,
        Some("newton") => Solver::Newton,
        Some("dual_descent") => Solver::DualDescent,
        Some(other) => return Err(format!("unknown solver `{other}`: auto, newton or dual_descent").into()),
    };

    let (x, labels) = overlapping_classes(rows, columns, classes);
    let params = LinearSvmParams { c, solver, tolerance: Tolerance::DualityGap(gap), ..Default::default() }.check()?;
    let start = Instant::now();
    let machine = params.train_on(&TrainingSet::new(&x, &labels, classes)?, 2022)?;
    let seconds = start.elapsed().as_secs_f64();

    std::fs::create_dir_all(folder)?;
    let floats = |values: &mut dyn Iterator<Item = f64>| values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
    std::fs::write(folder.join("x.f64"), floats(&mut x.iter().copied()))?;
    std::fs::write(folder.join("weights.f64"), floats(&mut machine.weights().iter().copied()))?;
    std::fs::write(folder.join("bias.f64"), floats(&mut machine.bias().iter().copied()))?;
    std::fs::write(
        folder.join("labels.u64"),
        labels.iter().flat_map(|&l| (l as u64).to_le_bytes()).collect::<Vec<u8>>(),
    )?;
    let report = machine.report();
    println!(
        "{{\"rows\": {rows}, \"columns\": {columns}, \"classes\": {classes}, \"c\": {c}, \"seconds\": {seconds:.4}, \
         \"threads\": {}, \"epochs\": {}, \"relative_gap\": {:.3e}, \"converged\": {}}}",
        rayon::current_num_threads(),
        report.epochs(),
        report.relative_gap(),
        report.converged(),
    );
    Ok(())
}

/// Noise around one center a class; one label in ten drawn again.
fn overlapping_classes(rows: usize, columns: usize, classes: usize) -> (Array2<f64>, Vec<usize>) {
    let rng = &mut stream(2022, "synthetic", "time_svm", 0);
    // a sum of four uniforms has variance 1/3: near enough to a normal for a benchmark, and needs no further crate
    let mut noise = |scale: f64| scale * 3f64.sqrt() * (0..4).map(|_| rng.gen_range(-0.5..0.5)).sum::<f64>();
    let centers = Array2::from_shape_simple_fn((classes, columns), || noise(0.15));
    let mut x = Array2::from_shape_simple_fn((rows, columns), || noise(1.0));
    let mut labels: Array1<usize> = (0..rows).map(|i| i % classes).collect();
    for (mut row, &label) in x.outer_iter_mut().zip(&labels) {
        row += &centers.row(label);
    }
    for label in labels.iter_mut() {
        if rng.gen_bool(0.1) {
            *label = rng.gen_range(0..classes);
        }
    }
    (x, labels.to_vec())
}
