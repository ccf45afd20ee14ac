//! Times structured transforms: the Rust half of `scripts/peers/structured.py`.
//!
//! `structured_times FOLDER REPEATS`: prints lines `name n seconds`, each the shortest of REPEATS runs on one thread (the last
//! lines name how many threads), and leaves inputs and results of the circulant product and the Walsh–Hadamard transform in FOLDER as
//! little-endian f64, so that the peer can compare values too.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use landmark_core::stream::stream;
use landmark_features::structured::transforms::{CirculantProduct, FftPlans, HankelProduct, Room, walsh_hadamard};
use landmark_features::structured::{Family, SphericalKernel, StructuredFeaturesParams};
use ndarray::Array2;
use rand::Rng;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, repeats] = arguments.as_slice() else { return Err("usage: structured_times FOLDER REPEATS".into()) };
    let (folder, repeats) = (Path::new(folder), repeats.parse::<u32>()?);
    let one = ThreadPoolBuilder::new().num_threads(1).build()?;
    for n in [1024, 4096, 8192, 16384] {
        products(folder, n, repeats)?;
    }
    for exponent in [10, 12, 14, 16, 18, 20, 22, 24] {
        one.install(|| hadamard(folder, 1 << exponent, repeats).map_err(|error| error.to_string()))?;
    }
    batch(repeats)
}

/// Seconds of one call: the shortest mean of enough calls to fill a millisecond.
fn shortest(repeats: u32, mut call: impl FnMut()) -> f64 {
    call();
    let start = Instant::now();
    call();
    let calls = (1e-3 / start.elapsed().as_secs_f64()).clamp(1.0, 1e4).ceil();
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        let mut done = 0.0;
        while done < calls {
            call();
            done += 1.0;
        }
        best = best.min(start.elapsed().as_secs_f64() / calls);
    }
    best
}

fn numbers(purpose: &str, n: usize) -> Vec<f64> {
    let mut rng = stream(2022, "peers", purpose, n as u64);
    (0..n).map(|_| rng.gen_range(-1.0..1.0)).collect()
}

fn write(folder: &Path, name: &str, values: &[f64]) -> std::io::Result<()> {
    std::fs::write(folder.join(name), values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Circulant and Toeplitz products of n × n with one vector.
fn products(folder: &Path, n: usize, repeats: u32) -> Result<(), Box<dyn Error>> {
    let (g, x) = (numbers("generator", 2 * n - 1), numbers("vector", n));
    let (mut out, mut room, mut plans) = (vec![0.0; n], Room::default(), FftPlans::new());
    let toeplitz = HankelProduct::new(n, n, &g, &mut plans)?;
    println!("toeplitz {n} {:.4e}", shortest(repeats, || toeplitz.apply(black_box(&x), &mut out, &mut room)));
    let circulant = CirculantProduct::new(n, &g[..n], &mut plans)?;
    println!("circulant {n} {:.4e}", shortest(repeats, || circulant.apply(black_box(&x), &mut out, &mut room)));
    write(folder, &format!("circulant_g_{n}"), &g[..n])?;
    write(folder, &format!("circulant_x_{n}"), &x)?;
    write(folder, &format!("circulant_y_{n}"), &out)?;
    Ok(())
}

const SHARED: usize = 1 << 19;

/// One vector in place, and as many as fill 256 MiB, next to one pass of multiplications over the same memory.
fn hadamard(folder: &Path, n: usize, repeats: u32) -> Result<(), Box<dyn Error>> {
    let x = numbers("hadamard", n);
    let mut y = x.clone();
    walsh_hadamard(&mut y)?;
    if n <= 1 << 20 {
        write(folder, &format!("hadamard_x_{n}"), &x)?;
        write(folder, &format!("hadamard_y_{n}"), &y)?;
    }
    // transforms alternate between growth by √n and back, so that numbers stay in range
    let back = 1.0 / n as f64;
    let scale = |data: &mut [f64]| data.iter_mut().for_each(|value| *value *= back);
    let mut grown = 0_u32;
    let one = shortest(repeats, || {
        let done = walsh_hadamard(black_box(&mut y));
        debug_assert!(done.is_ok());
        grown += 1;
        if grown == 64 {
            y.copy_from_slice(&x);
            grown = 0;
        }
    });
    println!("hadamard {n} {one:.4e}");
    let rows = ((1_usize << 25) / n).max(1);
    let mut many = vec![1.0; rows * n];
    let batch = shortest(repeats.min(5), || {
        many.par_chunks_exact_mut(n).for_each(|row| {
            let done = walsh_hadamard(row);
            debug_assert!(done.is_ok());
        });
        scale(&mut many[..1]);
    });
    println!("hadamard_batch {n} {:.4e}", batch / rows as f64);
    many.fill(1.0);
    let factor = black_box(1.0);
    let pass = shortest(repeats.min(5), || many.iter_mut().for_each(|value| *value *= factor));
    println!("one_pass {n} {:.4e}", pass / rows as f64);
    // on two threads: a vector at a time where it is long enough to be shared, and a pass of both
    if n >= SHARED {
        let pool = ThreadPoolBuilder::new().num_threads(2).build()?;
        let batch = pool.install(|| {
            shortest(repeats.min(5), || {
                many.chunks_exact_mut(n).for_each(|row| {
                    let done = walsh_hadamard(row);
                    debug_assert!(done.is_ok());
                });
                scale(&mut many[..1]);
            })
        });
        println!("hadamard_batch_two {n} {:.4e}", batch / rows as f64);
        many.fill(1.0);
        let pass = pool.install(|| {
            shortest(repeats.min(5), || {
                many.par_chunks_mut(1 << 14).for_each(|part| part.iter_mut().for_each(|value| *value *= factor));
            })
        });
        println!("one_pass_two {n} {:.4e}", pass / rows as f64);
    }
    Ok(())
}

/// 10,000 × 1,024 to 1,024 features on one thread and on two, in turns; and the dense product.
fn batch(repeats: u32) -> Result<(), Box<dyn Error>> {
    let items = Array2::from_shape_vec((10_000, 1024), numbers("batch", 10_000 * 1024))?;
    let mut out = Array2::zeros((10_000, 1024));
    let pools = [ThreadPoolBuilder::new().num_threads(1).build()?, ThreadPoolBuilder::new().num_threads(2).build()?];
    for family in
        [Family::Dense, Family::Circulant, Family::Toeplitz, Family::Fastfood { independent_norms: false }, Family::Hd3]
    {
        let kernel = SphericalKernel::Relu;
        let params = StructuredFeaturesParams { kernel, family, features: 1024, ..Default::default() };
        let map = params.check()?.draw(1024)?;
        let mut best = [f64::INFINITY; 2];
        for _ in 0..repeats.min(7) {
            for (pool, best) in pools.iter().zip(&mut best) {
                let start = Instant::now();
                pool.install(|| map.features_into(items.view(), out.view_mut()))?;
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        println!("batch_{}_1 1024 {:.4e}\nbatch_{}_2 1024 {:.4e}", family.id(), best[0], family.id(), best[1]);
    }
    Ok(())
}
