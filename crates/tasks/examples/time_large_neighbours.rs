//! Top-k of very many items from factors: a part of the exact walk, or the approximate search with its recall, and the memory of either.
//!
//! ```text
//! cargo run --release -p landmark-tasks --example time_large_neighbours -- N R K exact PART
//! cargo run --release -p landmark-tasks --example time_large_neighbours -- N R K approximate EF
//! ```
//! Vectors z_a ~ N(0, 1) / (1 + a/20), of length 1, around one of n/20 centres of the same law; the last tenth of the columns is negative. `exact` walks
//! the first PART (0 to 1) of the blocks of K̃, and says how long all of them would take at that rate: an extrapolation, and printed as one.

use std::time::Instant;

use landmark_core::normal::standard_normal;
use landmark_core::stream::stream;
use landmark_tasks::neighbours::{ApproximateParams, SignedVectors, approximate_top_k, top_k};
use ndarray::{Array1, Array2, Axis};
use rand::Rng;
use rayon::prelude::*;

const OF_A_CENTRE: usize = 20;

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [n, r, k, form, number] = arguments.as_slice() else {
        return Err("wanted: N R K exact PART, or N R K approximate EF".into());
    };
    let (n, r, k): (usize, usize, usize) = (n.parse()?, r.parse()?, k.parse()?);
    let (z, signature) = (vectors(n, r), Array1::from_shape_fn(r, |a| if a < r - r / 10 { 1.0 } else { -1.0 }));
    let vectors = SignedVectors { vectors: z.view(), signature: &signature, scattered: None };
    println!("{n} items, r = {r}, k = {k}, {} threads", rayon::current_num_threads());
    let start = Instant::now();
    match form.as_str() {
        "exact" => {
            let part: f64 = number.parse()?;
            top_k(vectors, k, |share| {
                if share >= part {
                    let seconds = start.elapsed().as_secs_f64();
                    println!(
                        "{:.3} % of the blocks in {seconds:.1} s; all at that rate: {:.0} s",
                        100.0 * share,
                        seconds / share
                    );
                    println!("{}", most_memory());
                    std::process::exit(0);
                }
            });
        }
        "approximate" => {
            let params = ApproximateParams { ef: number.parse()?, ..ApproximateParams::default() };
            let mut built = None;
            let found = approximate_top_k(vectors, k, params, |_| {
                built.get_or_insert_with(|| start.elapsed().as_secs_f64());
            })?;
            println!(
                "first lists after {:.1} s, all in {:.1} s: {:?}",
                built.unwrap_or(0.0),
                start.elapsed().as_secs_f64(),
                found.recall
            );
            println!("{}", most_memory());
        }
        other => return Err(format!("`{other}` is neither exact nor approximate").into()),
    }
    Ok(())
}

fn vectors(n: usize, r: usize) -> Array2<f64> {
    let draw = |name: &str, item: usize, out: &mut dyn FnMut(usize, f64)| {
        let mut rng = stream(2022, "large neighbours", name, item as u64);
        (0..r).for_each(|a| out(a, standard_normal(&mut rng) / (1.0 + a as f64 / 20.0)));
    };
    let centres = (n / OF_A_CENTRE).max(1);
    let mut z = Array2::zeros((n, r));
    z.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(item, mut row)| {
        let centre = stream(2022, "large neighbours", "centre", item as u64).gen_range(0..centres);
        draw("centres", centre, &mut |a, z| row[a] = z);
        draw("items", item, &mut |a, z| row[a] += z);
        let norm = row.dot(&row).sqrt();
        row /= norm;
    });
    z
}

fn most_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).map_or_else(String::new, |line| line.replace('\t', " "))
}
