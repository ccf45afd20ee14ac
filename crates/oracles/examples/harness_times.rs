//! Cost of the harness: word mover's distances evaluated through meters and store as a run does, against the bare solver on one
//! thread times the number of threads, and on all threads, on the same pairs.
//!
//! ```text
//! cargo run --release -p landmark-oracles --no-default-features --example harness_times -- FOLDER SHAPE [N]
//! ```
//!
//! FOLDER is an empty one for the store. SHAPE is `tweets` or `news`, which are drawn, or a corpus in LANDMARK_DATA such as `20news`; N of
//! its documents (300) are compared with each other.

#![allow(clippy::print_stdout)] // a measurement

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::oracle::{Kernel, Kernelized, Metered, Oracle, Pair};
use landmark_oracles::wmd::{EmptyDocuments, Wmd, WordClouds};
use landmark_store::{OracleLabel, TileStore};
use ndarray::Array2;
use rayon::ThreadPoolBuilder;

#[path = "../benches/emd/shapes.rs"]
mod shapes;

/// Rows of a block that a run asks for.
const ROWS: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("name an empty folder for the store")?;
    let name = arguments.get(1).map_or("news", String::as_str);
    let n = arguments.get(2).map_or(Ok(300), |text| text.parse::<usize>())?;
    let shape = match name {
        "tweets" => shapes::synthetic_tweets(),
        "news" => shapes::synthetic_news(),
        corpus => shapes::real(corpus)?.ok_or("set LANDMARK_DATA to the folder of the corpora")?,
    };
    let n = n.min(shape.bags.len());
    let kept: Vec<usize> = (0..n).collect();
    let bags = shape.bags.subset(&kept);
    let clouds = Arc::new(WordClouds::new(&bags, shape.vectors.view(), EmptyDocuments::Error)?);
    let wmd = Wmd::new(Arc::clone(&clouds));

    let pairs: Vec<Pair> = (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))).collect();
    let mut distances = vec![0.0; pairs.len()];
    let one = ThreadPoolBuilder::new().num_threads(1).build()?;
    let bare = seconds(|| Ok(one.install(|| wmd.evaluate(&pairs, &mut distances))?))?;
    let on_all = seconds(|| Ok(wmd.evaluate(&pairs, &mut distances)?))?;

    let store = TileStore::open(folder)?;
    let stored = store.attach(Metered::new(wmd), OracleLabel::new("wmd", name))?;
    let through = Metered::new(Kernelized::new(&stored, Kernel::Exponential { gamma: 0.5 })?);
    let all: Vec<usize> = (0..n).collect();
    let bought = seconds(|| {
        for rows in all.chunks(ROWS) {
            through.block(rows, &all, Array2::zeros((rows.len(), n)).view_mut())?;
        }
        Ok(stored.flush()?)
    })?;
    let threads = rayon::current_num_threads() as f64;
    let (rate, free) = (pairs.len() as f64 / bought, pairs.len() as f64 / bare * threads);
    let each = 1e6 * bare / pairs.len() as f64;
    println!(
        "{} pairs of `{name}`, {:.0} words each: {each:.0} µs a pair on one thread",
        pairs.len(),
        clouds.mean_words()
    );
    println!("the bare solver on {threads} threads: {:.3} of one thread times {threads}", bare / on_all / threads);
    println!(
        "harness on {threads} threads {rate:.0} pairs/s; bare solver times threads {free:.0}; ratio {:.3}",
        rate / free
    );
    Ok(())
}

fn seconds(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64())
}
