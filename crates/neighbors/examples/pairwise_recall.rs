//! Recall@1 and recall@10 of a search without the Gaussian process over pairs and without looks, and with both, over paired draws of landmarks, and its
//! own time; then the share of the n best pairs of n items that is evaluated by reranking with the proxy, by a search for lists, and by one for pairs.
//!
//! ```text
//! cargo run --release -p landmark-neighbors --example pairwise_recall -- [--lengths] K.f64 n [VECTORS.f64 | PROXY.f64 [VECTORS.f64]] ...
//! ```
//! With `--lengths`, only recall@k of searches for lists of k = 1, 10 and 50, without both and with both.
//! Reads the score (n·n) and of every proxy its vectors (n·d, of which it is the cosine), or the proxy itself (n·n) and vectors of the items (n·d), as
//! little-endian f64 in rows.

use std::sync::Arc;
use std::time::Instant;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{
    AsymmetryPolicy, EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair, Precomputed, block_of,
};
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{Found, RoundsParams, Search};
use ndarray::{Array2, CowArray, Ix2};

use matrix::read;

#[path = "common/matrix.rs"]
mod matrix;

type Failure = Box<dyn std::error::Error>;

const DRAWS: u64 = 5;
const CALLS_PER_ITEM: [usize; 4] = [5, 10, 20, 50];

/// A proxy that is known pair by pair, with vectors of its items.
struct Described {
    scores: Precomputed,
    features: Array2<f64>,
}

impl Oracle for Described {
    fn shape(&self) -> OracleShape {
        self.scores.shape()
    }

    fn identity(&self) -> Identity {
        self.scores.identity()
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        Some(self.features.view().into())
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.scores.evaluate(pairs, out)
    }
}

/// A file of n columns is a proxy, one of another number the vectors of the proxy before it, or a proxy as their cosine.
fn proxies(files: &[String], n: usize) -> Result<Vec<Arc<dyn Oracle>>, Failure> {
    let mut proxies: Vec<Arc<dyn Oracle>> = Vec::new();
    let mut bare: Option<Precomputed> = None;
    for file in files {
        let matrix = read(file, n)?;
        let is_proxy = matrix.ncols() == n;
        match bare.take() {
            Some(scores) if !is_proxy => proxies.push(Arc::new(Described { scores, features: matrix })),
            before => {
                proxies.extend(before.map(|scores| Arc::new(scores) as Arc<dyn Oracle>));
                if is_proxy {
                    bare = Some(Precomputed::new(matrix, AsymmetryPolicy::Mean)?);
                } else {
                    proxies.push(Arc::new(EmbeddingProxy::cosine(matrix)?));
                }
            }
        }
    }
    proxies.extend(bare.map(|scores| Arc::new(scores) as Arc<dyn Oracle>));
    Ok(proxies)
}

fn best(scores: &Array2<f64>, i: usize, k: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..scores.nrows()).filter(|&j| j != i).collect();
    others.sort_by(|&a, &b| scores[[i, b]].total_cmp(&scores[[i, a]]).then(a.cmp(&b)));
    others.truncate(k);
    others
}

fn recall(truth: &[Vec<usize>], found: &Found, k: usize) -> f64 {
    let hits = |(truth, found): (&Vec<usize>, &Vec<landmark_neighbors::nearest::Neighbor>)| {
        truth[..k].iter().filter(|item| found[..k].iter().any(|one| one.item == **item)).count()
    };
    truth.iter().zip(&found.lists).map(hits).sum::<usize>() as f64 / (k * truth.len()) as f64
}

/// Share of the n best pairs of n items that are among these; pairs as good as the last of them count, too.
fn share(scores: &Array2<f64>, evaluated: &[Pair]) -> f64 {
    let n = scores.nrows();
    let mut all: Vec<f64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|pair| scores[pair]).collect();
    all.sort_by(|one, other| other.total_cmp(one));
    let least = all[n - 1];
    evaluated.iter().filter(|&&pair| scores[pair] >= least).count().min(n) as f64 / n as f64
}

/// The pairs of highest proxy, of all pairs.
fn reranked(proxy: &Array2<f64>, count: usize) -> Vec<Pair> {
    let n = proxy.nrows();
    let mut all: Vec<Pair> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    all.sort_by(|&one, &other| proxy[other].total_cmp(&proxy[one]).then(one.cmp(&other)));
    all.truncate(count);
    all
}

fn evaluated(mut search: Search, scores: &Array2<f64>) -> Result<Vec<Pair>, Failure> {
    let mut all = Vec::new();
    while let Some(batch) = search.next_batch()? {
        let scores: Vec<f64> = batch.pairs.iter().map(|&pair| scores[pair]).collect();
        search.record(&batch.pairs, &scores)?;
        all.extend(batch.pairs);
    }
    Ok(all)
}

fn run(mut search: Search, scores: &Array2<f64>) -> Result<Found, Failure> {
    while let Some(batch) = search.next_batch()? {
        let scores: Vec<f64> = batch.pairs.iter().map(|&pair| scores[pair]).collect();
        search.record(&batch.pairs, &scores)?;
    }
    Ok(search.finish()?)
}

/// Recall@k of searches for lists of several lengths, and the gain by the process and looks with its standard error over paired draws.
#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn by_length(oracle: &Precomputed, scores: &Array2<f64>, proxies: &[Arc<dyn Oracle>]) -> Result<(), Failure> {
    let n = scores.nrows();
    println!("  k     b   without   with    gain (standard error)   draws that gain");
    for k in [1, 10, 50].into_iter().filter(|&k| k < n) {
        let truth: Vec<Vec<usize>> = (0..n).map(|i| best(scores, i, k)).collect();
        for calls_per_item in [5, 10, 20, 50, 100] {
            let (mut sums, mut gains) = ([0.0; 2], Vec::new());
            for draw in 0..DRAWS {
                let landmarks = Landmarks::uniform(n, &mut stream(draw, "pairwise recall", "landmarks", 0));
                let mut recalls = [0.0; 2];
                for (recalled, both) in recalls.iter_mut().zip([false, true]) {
                    let wanted =
                        RoundsParams { k, calls_per_item, pairwise: both, looks: both, ..RoundsParams::default() };
                    let search = Search::new(wanted.check()?, OracleShape::of(oracle), proxies.to_vec(), &landmarks)?;
                    *recalled = recall(&truth, &run(search, scores)?, k);
                }
                sums = [sums[0] + recalls[0], sums[1] + recalls[1]];
                gains.push(recalls[1] - recalls[0]);
            }
            let [without, with] = sums.map(|sum| sum / DRAWS as f64);
            let squares: f64 = gains.iter().map(|gain| (gain - (with - without)).powi(2)).sum();
            let error = (squares / (DRAWS * (DRAWS - 1)) as f64).sqrt();
            let wins = gains.iter().filter(|&&gain| gain > 0.0).count();
            println!(
                "{k:>3}   {calls_per_item:>3}   {without:.3}     {with:.3}   {:+.3} ({error:.3})          {wins}/{DRAWS}",
                with - without
            );
        }
    }
    Ok(())
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let (flags, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    if let Some(flag) = flags.iter().find(|flag| *flag != "--lengths") {
        return Err(format!("unknown flag `{flag}`: expected `--lengths`").into());
    }
    let n: usize = arguments.get(1).ok_or("expected: [--lengths] K.f64 n [PROXY.f64] ...")?.parse()?;
    let oracle = Precomputed::new(read(&arguments[0], n)?, AsymmetryPolicy::Mean)?;
    let all: Vec<usize> = (0..n).collect();
    let scores = block_of(&oracle, &all, &all)?;
    let truth: Vec<Vec<usize>> = all.iter().map(|&i| best(&scores, i, 10)).collect();
    let proxies = proxies(&arguments[2..], n)?;
    if !flags.is_empty() {
        return by_length(&oracle, &scores, &proxies);
    }
    println!(
        "  b      without @1 @10         with @1 @10 (deviation)   gain @10   draws   seconds (without, with)   weights (kriging, process) at each round"
    );
    for calls_per_item in CALLS_PER_ITEM {
        let (mut sums, mut wins, mut seconds, mut squares) = ([0.0; 4], 0, [0.0; 2], 0.0);
        let mut weights = String::new();
        for draw in 0..DRAWS {
            let landmarks = Landmarks::uniform(n, &mut stream(draw, "pairwise recall", "landmarks", 0));
            let mut at_ten = [0.0; 2];
            for (place, pairwise) in [false, true].into_iter().enumerate() {
                // neither, or both
                let looks = pairwise;
                let rounds = RoundsParams { calls_per_item, pairwise, looks, ..RoundsParams::default() }.check()?;
                let start = Instant::now();
                let found = run(Search::new(rounds, OracleShape::of(&oracle), proxies.clone(), &landmarks)?, &scores)?;
                seconds[place] += start.elapsed().as_secs_f64();
                sums[2 * place] += recall(&truth, &found, 1);
                at_ten[place] = recall(&truth, &found, 10);
                sums[2 * place + 1] += at_ten[place];
                if pairwise && draw == 0 {
                    let of = |report: &landmark_neighbors::nearest::RoundReport| {
                        format!(" {:.2}/{:.2}", report.kriging_weight, report.process_weight)
                    };
                    weights = found.rounds.iter().map(of).collect();
                }
            }
            squares += at_ten[1] * at_ten[1];
            wins += u32::from(at_ten[1] > at_ten[0]);
        }
        let [one, ten, process_one, process_ten] = sums.map(|sum| sum / DRAWS as f64);
        let deviation = (f64::max(squares - DRAWS as f64 * process_ten * process_ten, 0.0) / (DRAWS - 1) as f64).sqrt();
        let [without, with] = seconds.map(|sum| sum / DRAWS as f64);
        println!(
            "{calls_per_item:>3}   {one:.3} {ten:.3}   {process_one:.3} {process_ten:.3} ({deviation:.3})   {:+.3}   {wins}/{DRAWS}   {without:.2} {with:.2}  {weights}",
            process_ten - ten
        );
    }
    println!("  b   rerank   rounds for lists   rounds for pairs   (share of the {n} best pairs)");
    let proxy = match proxies.first() {
        Some(proxy) => block_of(&**proxy, &all, &all)?,
        None => Array2::zeros((n, n)),
    };
    for calls_per_item in CALLS_PER_ITEM {
        let mut sums = [0.0; 2];
        for draw in 0..DRAWS {
            let landmarks = Landmarks::uniform(n, &mut stream(draw, "pairwise recall", "landmarks", 0));
            for (sum, pairs) in sums.iter_mut().zip([false, true]) {
                let rounds = RoundsParams { calls_per_item, pairs, ..RoundsParams::default() }.check()?;
                let search = Search::new(rounds, OracleShape::of(&oracle), proxies.clone(), &landmarks)?;
                *sum += share(&scores, &evaluated(search, &scores)?);
            }
        }
        let [lists, pairs] = sums.map(|sum| sum / DRAWS as f64);
        let rerank = share(&scores, &reranked(&proxy, n * calls_per_item));
        println!("{calls_per_item:>3}   {rerank:.3}    {lists:.3}              {pairs:.3}");
    }
    Ok(())
}
