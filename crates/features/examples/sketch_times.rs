//! Times both forms of Frequent Directions on a matrix of the caller's: the Rust half of `scripts/peers/sketch.py`.
//!
//! `sketch_times MATRIX N D L REPEATS [BUFFER…]`: MATRIX holds n·d little-endian f64, row by row. Prints a line `name seconds error bound shrinks`
//! for each form (and for each buffer, where some are given): median wall seconds, ‖XᵀX − YᵀY‖₂, Σδ, and how often it shrank.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::time::Instant;

use landmark_core::linalg;
use landmark_core::oracle::Identity;
use landmark_features::sketch::{Form, FrequentDirections, FrequentDirectionsParams};
use ndarray::Array2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [matrix, n, d, l, repeats, buffers @ ..] = arguments.as_slice() else {
        return Err("usage: sketch_times MATRIX N D L REPEATS [BUFFER…]".into());
    };
    let (n, d, rows, repeats): (usize, usize, usize, usize) = (n.parse()?, d.parse()?, l.parse()?, repeats.parse()?);
    let values: Vec<f64> = std::fs::read(matrix)?
        .chunks_exact(8)
        .map(|bytes| bytes.try_into().map(f64::from_le_bytes))
        .collect::<Result<_, _>>()?;
    let x = Array2::from_shape_vec((n, d), values)?;
    let covariance = linalg::product(x.t(), x.view());
    let default = FrequentDirectionsParams { rows, form: Form::Buffered, buffer: None };
    let mut forms = vec![
        ("buffered".to_owned(), default.clone()),
        ("buffered_2l".to_owned(), FrequentDirectionsParams { buffer: Some(2 * rows), ..default.clone() }),
        ("figure_1".to_owned(), FrequentDirectionsParams { form: Form::Figure1, ..default.clone() }),
    ];
    for buffer in buffers {
        let params = FrequentDirectionsParams { buffer: Some(buffer.parse()?), ..default.clone() };
        forms.push((format!("buffered_{buffer}"), params));
    }
    for (name, params) in forms {
        let mut times = Vec::new();
        let mut sketch: Option<FrequentDirections> = None;
        for _ in 0..repeats {
            let start = Instant::now();
            let mut run = params.check(d, Identity::of(&[]))?;
            run.append_block(x.view())?;
            run.finish()?;
            times.push(start.elapsed().as_secs_f64());
            sketch = Some(run);
        }
        let sketch = sketch.ok_or("REPEATS must be at least 1")?;
        times.sort_by(f64::total_cmp);
        let error = linalg::spectral_norm((&covariance - &sketch.gram()).view())?;
        let bound = sketch.bound();
        println!("{name} {:.4} {error:.2} {:.2} {}", times[repeats / 2], bound.subtracted, bound.shrinks);
    }
    Ok(())
}
