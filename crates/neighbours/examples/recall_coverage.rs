//! Coverage of stated recalls over many draws: `cargo run --release -p landmark-neighbours --example recall_coverage [DRAWS]`.
//!
//! A table of the bounds by list length, spread between items and target: the share of draws whose statement is true, the mean recall
//! at which they stop, and the share that was refused.

#![allow(clippy::print_stdout)] // it is a command-line tool

#[path = "../tests/recall_coverage/simulation.rs"]
mod simulation;

use landmark_core::stream::stream;
use landmark_neighbours::recall::{Bound, Target};

use simulation::{Coverage, Pairs, Search, targets};

fn main() {
    let draws = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000_u64);
    let head = ["rho/delta", "coverage", "at least", "mean recall", "refused"];
    println!("{:<50} {:>10} {:>9} {:>9} {:>12} {:>8}", "search", head[0], head[1], head[2], head[3], head[4]);
    // bounds that are solved for over all rows, at every effort, take a hundred times as long
    let few = (draws / 20).max(20);
    let line = |what: &str, target: Target, draws: u64, seen: Coverage| {
        let refused = 1.0 - f64::from(seen.stated) / draws as f64;
        let wanted = format!("{}/{}", target.recall(), target.delta());
        let (share, least, recall) = (seen.share(), seen.least(target), seen.mean_recall());
        println!("{what:<50} {wanted:>10} {share:>9.3} {least:>9.3} {recall:>12.3} {refused:>8.3}");
    };
    for (k, spread) in [(10, 0.5), (10, 1.5), (100, 1.0), (1, 1.0)] {
        let search = Search::new(5000, k, spread, &mut stream(1, "coverage", "search", k as u64));
        for target in targets() {
            for bound in [Bound::of(k, false), Bound::KullbackLeibler, Bound::Betting] {
                let rows = bound.rows(target);
                let draws = if bound == Bound::of(k, false) { draws } else { few };
                let seen = Coverage::of(draws, target, |rng| search.stop(rows, target, bound, rng));
                line(&format!("k {k}, spread {spread}, {rows} rows, {bound}"), target, draws, seen);
            }
            let seen = Coverage::of(draws, target, |rng| search.plug_in(30, target, rng));
            line(&format!("k {k}, spread {spread}, 30 rows, no bound"), target, draws, seen);
        }
    }
    for (largest, landmarks) in [(3, 150), (6, 150), (12, 60)] {
        let pairs = Pairs::new(1500, largest, &mut stream(1, "coverage", "pairs", largest as u64));
        for target in targets() {
            let seen = Coverage::of(draws, target, |rng| pairs.mine(landmarks, target, rng));
            line(&format!("pairs in groups of up to {largest}, {landmarks} landmarks"), target, draws, seen);
        }
    }
}
