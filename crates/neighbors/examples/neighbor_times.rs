//! Own time, memory and recall of a search of neighbors, without the score: `neighbor_times [items] [numbers] [calls an item]
//! [1: with the process over pairs] [items from which on an index of the proxy finds the candidates: 200,000, as in `landmark topk`]`.
//!
//! The score is a cosine of 24 numbers with hubness, the proxy one of its noisy copy among others, as long as an encoder's vectors.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::sync::Arc;
use std::time::Instant;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{EmbeddingProxy, Oracle, OracleShape, Pair};
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{Candidates, RoundsParams, Search};
use landmark_tasks::neighbors::{ApproximateParams, SignedVectors, approximate_lists};
use ndarray::{Array1, Array2, s};
use rand::Rng;

use time::cpu_seconds;

#[path = "common/time.rs"]
mod time;

/// Items whose recall is measured.
const CHECKED: usize = 200;

/// Numbers that the score sees.
const SEEN: usize = 24;

fn indexed(proxy: &dyn Oracle, width: usize) -> Result<Candidates, Box<dyn std::error::Error>> {
    let vectors = proxy.vectors().ok_or("the proxy has no vectors")?;
    let signature = Array1::ones(vectors.ncols());
    let (start, before) = (Instant::now(), cpu_seconds());
    let n = vectors.nrows();
    let max_share = f64::min(1.0, (200_000.0 / n as f64).sqrt()) / 16.0;
    let params = ApproximateParams { recall: 0.95, max_share, checked: 200, ..ApproximateParams::default() };
    let mut lists = vec![0; n * width];
    let signed = SignedVectors { vectors, signature: &signature, scattered: None };
    let recall = approximate_lists(
        signed,
        width,
        params,
        |_| {},
        |item, list| {
            lists[item * width..][..width].iter_mut().zip(list).for_each(|(own, near)| *own = near.item as u32)
        },
    )?;
    println!(
        "index: {:.3?} of the {width} nearest by the proxy, {:.1} s, {:.1} s of CPU",
        recall.map(|recall| recall.mean),
        start.elapsed().as_secs_f64(),
        cpu_seconds() - before
    );
    let lists = lists.chunks(width).map(|list| list.iter().map(|&item: &u32| item as usize).collect());
    Ok(Candidates::of_lists(n, lists)?)
}

fn argument(place: usize, default: usize) -> usize {
    std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A line of /proc/self/status, in MB; nothing elsewhere than on Linux.
fn megabytes(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, d, calls_per_item) = (argument(1, 10_000), argument(2, 768), argument(3, 20));
    let mut rng = stream(1, "neighbour times", "vectors", 0);
    let mut vectors = Array2::from_shape_fn((n, d), |_| rng.gen_range(-1.0..1.0));
    let hubness: Vec<f64> = (0..n).map(|_| rng.gen_range(-0.3..0.3)).collect();
    let score = EmbeddingProxy::cosine(vectors.slice(s![.., ..SEEN]).to_owned())?;
    vectors.slice_mut(s![.., ..SEEN]).mapv_inplace(|x| 4.0 * x);
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors)?);
    let evaluate = |pairs: &[Pair]| -> Vec<f64> {
        let mut scores = vec![0.0; pairs.len()];
        score.evaluate(pairs, &mut scores).expect("pairs of the items");
        scores.iter_mut().zip(pairs).for_each(|(score, &(i, j))| *score += hubness[i] + hubness[j]);
        scores
    };

    let shape = OracleShape::symmetric(n);
    let rounds = RoundsParams { calls_per_item, pairwise: argument(4, 0) == 1, ..RoundsParams::default() }.check()?;
    let landmarks = Landmarks::uniform(n, &mut stream(1, "neighbour times", "landmarks", 0));
    let (start, before) = (Instant::now(), cpu_seconds());
    let mut search = Search::new(rounds.clone(), shape, vec![Arc::clone(&proxy)], &landmarks)?;
    if n >= argument(5, 200_000) {
        search = search.within(indexed(&*proxy, rounds.width(n))?)?;
    }
    let (mut own, mut cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    loop {
        let (start, before) = (Instant::now(), cpu_seconds());
        let batch = search.next_batch()?;
        (own, cpu) = (own + start.elapsed().as_secs_f64(), cpu + cpu_seconds() - before);
        let Some(batch) = batch else { break };
        println!("{:?}: {} pairs, {own:.1} s, {cpu:.1} s of CPU so far", batch.step, batch.pairs.len());
        let scores = evaluate(&batch.pairs);
        search.record(&batch.pairs, &scores)?;
    }
    let (start, before) = (Instant::now(), cpu_seconds());
    let found = search.finish()?;
    (own, cpu) = (own + start.elapsed().as_secs_f64(), cpu + cpu_seconds() - before);
    let listed: usize = found.lists.iter().map(Vec::len).sum();
    let exact = found.lists.iter().flatten().filter(|one| one.exact).count();
    println!("{n} items, {d} numbers, {calls_per_item} calls an item: {own:.1} s, {cpu:.1} s of CPU");
    println!(
        "{:.0} % of {listed} entries exact, λ {:?}",
        100.0 * exact as f64 / listed as f64,
        found.rounds.last().and_then(|round| round.lambda)
    );
    if let Some(peak) = megabytes("VmHWM") {
        println!("{peak:.0} MB at most");
    }
    // the true neighbors of some items, by all of their scores
    let checked: Vec<usize> = landmarks.independent().iter().copied().take(CHECKED).collect();
    let (mut hits, mut all) = (0, 0);
    for &i in &checked {
        let pairs: Vec<Pair> = (0..n).filter(|&j| j != i).map(|j| (i.min(j), i.max(j))).collect();
        let mut ranked: Vec<(f64, Pair)> = evaluate(&pairs).into_iter().zip(pairs).collect();
        ranked.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
        let is_near = |item: usize| ranked[..found.lists[i].len()].iter().any(|&(_, (a, b))| a == item || b == item);
        hits += found.lists[i].iter().filter(|one| is_near(one.item)).count();
        all += found.lists[i].len();
    }
    println!("recall {:.3}, of {} items", hits as f64 / all as f64, checked.len());
    Ok(())
}
