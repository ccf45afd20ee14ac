//! Scores all ordered pairs of mentions, ours against the same MLP in libtorch (PyTorch's own kernels), in one run.
//!
//! `cargo run --release -p landmark-neural --example time_coref_pairs -- [MENTIONS STATE HIDDEN THREADS]`
//!
//! Weights and mentions are random; libtorch scores 4,096 pairs at a time as
//! the published program does, [m₁, m₂, m₁ ∘ m₂] through three layers. Both answers are compared.

#![allow(clippy::print_stdout)] // an example's report

use std::error::Error;
use std::time::Instant;

use landmark_core::stream::stream;
use landmark_neural::coref::Network;
use landmark_oracles::neural::{Goal, PairScorer, ScorerParams};
use ndarray::Array2;
use rand::Rng;

const REPEATS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let size = |place: usize, default: usize| arguments.get(place).copied().unwrap_or(default);
    let (mentions, state, hidden, threads) = (size(0, 400), size(1, 384), size(2, 1024), size(3, 1));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    tch::set_num_threads(i32::try_from(threads)?);
    let params = ScorerParams { hidden, ..ScorerParams::default() };
    let network = Network::random(params, state, Goal::Pairs, 2022)?;
    let rng = &mut stream(2022, "synthetic", "time_coref_pairs", 0);
    let m = Array2::from_shape_simple_fn((mentions, 3 * state + params.width), || rng.gen_range(-1.0_f32..1.0));

    let scorer = PairScorer::new(network.pair_layers()?, mentions, m.iter().copied().collect())?;
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    let mut largest = 0.0_f64;
    for _ in 0..REPEATS {
        let start = Instant::now();
        let matrix = scorer.matrix();
        ours = ours.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let peer = network.scores_by_torch(m.view())?;
        theirs = theirs.min(start.elapsed().as_secs_f64());
        largest = largest.max((&matrix - &peer).iter().fold(0.0, |most: f64, value| most.max(value.abs())));
    }
    let pairs = (mentions * mentions) as f64;
    println!("{mentions} mentions of {} numbers, hidden layers of {hidden}, {threads} thread(s)", m.ncols());
    println!("{:<34}{:>10.3} s{:>12.0} pairs/s", "landmark", ours, pairs / ours);
    println!(
        "{:<34}{:>10.3} s{:>12.0} pairs/s{:>8.2}x",
        "libtorch, the same MLP",
        theirs,
        pairs / theirs,
        theirs / ours
    );
    println!("largest difference {largest:.1e}");
    Ok(())
}
