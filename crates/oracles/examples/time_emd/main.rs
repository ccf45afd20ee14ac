//! Times the word mover's distance on pairs of documents and leaves pairs and distances for `scripts/peers/emd.py`.
//!
//! `cargo run --release -p landmark-oracles --example time_emd -- SHAPE FOLDER [COLUMNS ROWS ROUNDS]`
//!
//! SHAPE is synthetic_tweets, synthetic_news, twitter or 20news (the last two need `LANDMARK_DATA`). Files are raw and
//! little-endian: `vectors` f32, `offsets` and `words` and `pairs` u64, `weights` and `distances` f64. The last line printed is
//! a JSON object of microseconds a pair, word distances included: median over rounds of the time that the only thread was on
//! a processor.

#![allow(clippy::print_stdout)] // an example's report

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_core::stream::stream;
use landmark_oracles::wmd::{EmptyDocuments, Rwmd, Wcd, Wmd, WordClouds};
use rand::Rng;
use rayon::ThreadPoolBuilder;

mod shapes;
use shapes::{Shape, real, synthetic_news, synthetic_tweets};

const SHORTEST_ROUND: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder, sizes @ ..] = &arguments[..] else {
        return Err("usage: time_emd SHAPE FOLDER [COLUMNS ROWS ROUNDS]".into());
    };
    let size = |k: usize, default: usize| sizes.get(k).map_or(Ok(default), |text| text.parse::<usize>());
    let (columns, rows, rounds) = (size(0, 10)?, size(1, 400)?, size(2, 5)?);
    let shape = match name.as_str() {
        "synthetic_tweets" => synthetic_tweets(),
        "synthetic_news" => synthetic_news(),
        other => real(other)?.ok_or("set LANDMARK_DATA to the folder of the corpora")?,
    };
    let n = shape.bags.len();
    if columns + rows > n {
        return Err(format!("{columns} columns and {rows} rows of {n} documents; want no more than there are").into());
    }
    let clouds = Arc::new(WordClouds::new(&shape.bags, shape.vectors.view(), EmptyDocuments::Error)?);
    let pairs: Vec<Pair> = (0..columns).flat_map(|j| (columns..columns + rows).map(move |i| (i, j))).collect();
    let mut rng = stream(2022, name, "scattered pairs", 0);
    let scattered: Vec<Pair> = (0..pairs.len()).map(|_| (rng.gen_range(0..n), rng.gen_range(0..n))).collect();

    let wmd = Wmd::new(clouds.clone());
    let (distances, by_columns) = time(&wmd, &pairs, rounds)?;
    let (_, one_by_one) = time(&wmd, &scattered, rounds)?;
    let (_, relaxed) = time(&Rwmd::new(clouds.clone()), &pairs, rounds)?;
    let (_, centroids) = time(&Wcd::new(clouds.clone()), &pairs, rounds)?;
    let speedup = speedup_on_2_threads(&wmd, &pairs, rounds)?;
    write(Path::new(folder), &shape, &pairs, &distances)?;
    println!("{n} documents of {:.1} words on average; {} pairs", clouds.mean_words(), pairs.len());
    println!(
        "{{\"pairs\": {}, \"words\": {:.2}, \"wmd\": {by_columns:.3}, \"wmd_scattered\": {one_by_one:.3}, \
         \"rwmd\": {relaxed:.3}, \"wcd\": {centroids:.3}, \"speedup_on_2_threads\": {speedup:.2}}}",
        pairs.len(),
        clouds.mean_words(),
    );
    Ok(())
}

/// Scores, and median microseconds a pair on one thread: of processor time where the system reports it (Linux), of the clock
/// elsewhere.
fn time(oracle: &dyn Oracle, pairs: &[Pair], rounds: usize) -> Result<(Vec<f64>, f64), Box<dyn Error>> {
    let mut scores = vec![0.0; pairs.len()];
    let mut times = Vec::new();
    let start = Instant::now();
    let seconds = || on_processor().unwrap_or_else(|| start.elapsed().as_secs_f64());
    let mut run = || {
        for _ in 0..rounds {
            let (begin, before, mut repeats) = (Instant::now(), seconds(), 0);
            while begin.elapsed() < SHORTEST_ROUND {
                oracle.evaluate(pairs, &mut scores)?;
                repeats += 1;
            }
            times.push((seconds() - before) / f64::from(repeats));
        }
        Ok::<(), OracleError>(())
    };
    ThreadPoolBuilder::new().num_threads(1).build()?.install(&mut run)?;
    times.sort_by(f64::total_cmp);
    Ok((scores, times[times.len() / 2] * 1e6 / pairs.len() as f64))
}

/// The shortest time by the clock on one thread over the shortest on two, taken in turns: on a machine with other work to
/// do the shortest is the nearest to what both processors can do.
fn speedup_on_2_threads(oracle: &dyn Oracle, pairs: &[Pair], rounds: usize) -> Result<f64, Box<dyn Error>> {
    let mut scores = vec![0.0; pairs.len()];
    let pools = [ThreadPoolBuilder::new().num_threads(1).build()?, ThreadPoolBuilder::new().num_threads(2).build()?];
    let mut shortest = [f64::INFINITY; 2];
    let begin = Instant::now();
    while begin.elapsed() < 4 * SHORTEST_ROUND * u32::try_from(rounds)? {
        for (pool, shortest) in pools.iter().zip(&mut shortest) {
            let start = Instant::now();
            pool.install(|| oracle.evaluate(pairs, &mut scores))?;
            *shortest = shortest.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(shortest[0] / shortest[1])
}

fn on_processor() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn write(folder: &Path, shape: &Shape, pairs: &[Pair], distances: &[f64]) -> Result<(), Box<dyn Error>> {
    let (mut offsets, mut words, mut weights) = (vec![0_u64], Vec::new(), Vec::new());
    for i in 0..shape.bags.len() {
        let (of_document, their_weights) = shape.bags.document(i);
        words.extend(of_document.iter().map(|&word| u64::from(word)));
        weights.extend_from_slice(their_weights);
        offsets.push(words.len() as u64);
    }
    let whole = |numbers: &[u64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let real = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    fs::create_dir_all(folder)?;
    fs::write(folder.join("vectors"), shape.vectors.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
    fs::write(folder.join("offsets"), whole(&offsets))?;
    fs::write(folder.join("words"), whole(&words))?;
    fs::write(folder.join("weights"), real(&weights))?;
    fs::write(folder.join("distances"), real(distances))?;
    let pairs: Vec<u64> = pairs.iter().flat_map(|&(i, j)| [i as u64, j as u64]).collect();
    fs::write(folder.join("pairs"), whole(&pairs))?;
    Ok(())
}
