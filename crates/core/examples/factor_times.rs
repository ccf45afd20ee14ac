//! Times each method on a matrix of the caller's: the Rust half of `scripts/peers/factor.py`.
//!
//! `factor_times MATRIX N S REPEATS`: MATRIX holds n·n little-endian f64, symmetric. Prints a line
//! `method wall_seconds cpu_seconds` for each method, and one for each step of Nyström by itself, the run of median wall time.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::time::Instant;

use landmark_core::approximate::{Approximate, Nystrom, ShiftRidgeParams, SiCurParams, SmsNystromParams, StaCur};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg;
use landmark_core::oracle::{AsymmetryPolicy, Precomputed, block_of};
use landmark_core::stream::stream;
use ndarray::Array2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [matrix, n, s, repeats] = arguments.as_slice() else {
        return Err("usage: factor_times MATRIX N S REPEATS".into());
    };
    let (n, s, repeats): (usize, usize, usize) = (n.parse()?, s.parse()?, repeats.parse()?);
    let mut file = BufReader::new(File::open(matrix)?);
    let mut row = vec![0; 8 * n];
    let mut values = Vec::with_capacity(n * n);
    for _ in 0..n {
        file.read_exact(&mut row)?;
        values.extend(row.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes"))));
    }
    let oracle = Precomputed::new(Array2::from_shape_vec((n, n), values)?, AsymmetryPolicy::Reject)?;
    let landmarks = Landmarks::uniform(n, &mut stream(2022, "peers", "landmarks", 0));
    let methods: [(Box<dyn Approximate>, usize); 5] = [
        (Box::new(Nystrom), s),
        (Box::new(SmsNystromParams::default().check()?), s),
        (Box::new(SiCurParams::default().check()?), s / 2),
        (Box::new(StaCur::default()), s),
        (Box::new(ShiftRidgeParams::default().check()?), s),
    ];
    for (method, rank) in &methods {
        time(method.id(), repeats, || {
            let mut rng = stream(2022, "peers", "fit", 0);
            Ok(method.fit(&oracle, &landmarks, *rank, Known::NOTHING, &mut rng)?)
        })?;
    }
    let all: Vec<usize> = (0..n).collect();
    let chosen = landmarks.prefix(s)?;
    let (columns, corner) = (block_of(&oracle, &all, chosen)?, block_of(&oracle, chosen, chosen)?);
    let vectors = linalg::eigh(corner.view())?.vectors;
    time("columns", repeats, || Ok(block_of(&oracle, &all, chosen)?))?;
    time("eigh", repeats, || Ok(linalg::eigh(corner.view())?))?;
    time("product", repeats, || Ok(linalg::product(columns.view(), vectors.view())))?;
    Ok(())
}

fn time<T>(
    name: &str,
    repeats: usize,
    mut run: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..repeats {
        let (wall, cpu) = (Instant::now(), cpu_seconds()?);
        let made = run()?;
        times.push((wall.elapsed().as_secs_f64(), cpu_seconds()? - cpu));
        drop(made);
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (wall, cpu) = times[repeats / 2];
    println!("{name} {wall:.4} {cpu:.4}");
    Ok(())
}

/// User and system time of this process, all threads (Linux, in ticks of 10 ms).
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(')').ok_or("`/proc/self/stat` without a process name")?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}
