//! The error of columns alone, of scattered entries and of the stack at equal calls, on a matrix of the caller's.
//!
//! `scattered_table FOLDER DEGREE DRAWS SHARES [METHOD]`: FOLDER holds `K.f64` and, where there are any, `proxy0.f64`, `proxy1.f64`, …, each n·n
//! little-endian f64, symmetric, and `vectors.f64`, n·d; `scripts/peers/scattered.py --export` writes them. SHARES is a list of s/n.
//! Prints a line a method and share: the mean relative error over all entries with the half width of its 95 % interval, the geometric
//! mean of its ratio to `shift_ridge` around the proxy with known entries, draw by draw, with an interval, and mean seconds of a fit.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::approximate::{Approximate, Link, Proxied, ScatteredParams, ShiftRidgeParams, StackParams};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::relative_error;
use landmark_core::oracle::{AsymmetryPolicy, Identity, Oracle, OracleError, OracleShape, Pair, Precomputed};
use landmark_core::stream::stream;
use ndarray::Array2;

struct Known1(Precomputed);

impl Oracle for Known1 {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(self.0.matrix()[[0, 0]]), ..self.0.shape() }
    }

    fn identity(&self) -> Identity {
        self.0.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.0.evaluate(pairs, out)
    }
}

fn numbers(path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.chunks_exact(8).map(|bytes| bytes.try_into().map(f64::from_le_bytes)).collect::<Result<_, _>>()?)
}

fn read(path: &Path) -> Result<Precomputed, Box<dyn Error>> {
    let values = numbers(path)?;
    let n = values.len().isqrt();
    Ok(Precomputed::new(Array2::from_shape_vec((n, n), values)?, AsymmetryPolicy::Reject)?)
}

fn rows(path: &Path, n: usize) -> Result<Array2<f64>, Box<dyn Error>> {
    let values = numbers(path)?;
    Ok(Array2::from_shape_vec((n, values.len() / n.max(1)), values)?)
}

type Methods = Vec<(&'static str, Arc<dyn Approximate>)>;

fn methods(all: Vec<Arc<dyn Oracle>>, vectors: Option<Array2<f64>>, degree: usize) -> Result<Methods, Box<dyn Error>> {
    let stack = |columns| -> Result<Arc<dyn Approximate>, Box<dyn Error>> {
        let params = StackParams { columns, degree, ..StackParams::default() };
        let stack = params.check()?.with_proxies(all.clone());
        Ok(match &vectors {
            Some(vectors) => Arc::new(stack.with_vectors(vectors)),
            None => Arc::new(stack),
        })
    };
    let proxy = all.first().map(Arc::clone);
    let bare: Arc<dyn Approximate> = Arc::new(ShiftRidgeParams::default().check()?);
    let (base, proxies): (Arc<dyn Approximate>, Vec<_>) = match proxy {
        Some(proxy) => (Arc::new(Proxied::new(bare, Arc::clone(&proxy), Link { degree })), vec![proxy]),
        None => (bare, Vec::new()),
    };
    let scattered = |nearest| -> Result<Arc<dyn Approximate>, Box<dyn Error>> {
        let params = ScatteredParams { nearest, ..ScatteredParams::default() };
        Ok(Arc::new(params.around(Arc::clone(&base), proxies.clone())?))
    };
    let mut methods = vec![
        ("base", Arc::clone(&base)),
        ("scattered .75", scattered(None)?),
        ("stack of columns", stack(Some(1.0))?),
        ("stack .75", stack(Some(0.75))?),
        ("stack, share chosen", stack(None)?),
    ];
    if !proxies.is_empty() {
        methods.push(("scattered .75 among the 50 nearest", scattered(Some(50))?));
    }
    Ok(methods)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, degree, draws, shares, only) = match arguments.as_slice() {
        [folder, degree, draws, shares] => (folder, degree, draws, shares, None),
        [folder, degree, draws, shares, only] => (folder, degree, draws, shares, Some(only)),
        _ => return Err("usage: scattered_table FOLDER DEGREE DRAWS SHARES [METHOD]".into()),
    };
    let folder = Path::new(folder);
    let matrix = read(&folder.join("K.f64"))?;
    let (n, truth) = (matrix.len(), matrix.matrix().clone());
    let first = truth[[0, 0]];
    let is_known = truth.diag().iter().all(|&value| value == first);
    let oracle: Box<dyn Oracle> = if is_known { Box::new(Known1(matrix)) } else { Box::new(matrix) };
    let known = if is_known { Known::ALL } else { Known::LANDMARKS };
    let mut proxies: Vec<Arc<dyn Oracle>> = Vec::new();
    loop {
        let path = folder.join(format!("proxy{}.f64", proxies.len()));
        if !path.exists() {
            break;
        }
        proxies.push(Arc::new(read(&path)?));
    }
    let vectors = folder.join("vectors.f64");
    let vectors = if vectors.exists() { Some(rows(&vectors, n)?) } else { None };
    let mut methods = methods(proxies, vectors, degree.parse()?)?;
    if let Some(only) = only {
        methods.retain(|(name, _)| name == only);
        if methods.is_empty() {
            return Err(format!("there is no method `{only}` here").into());
        }
    }
    for share in shares.split(',') {
        let share: f64 = share.parse()?;
        // between 1 and n
        let s = ((share * n as f64).round() as usize).clamp(1, n);
        let (mut errors, mut seconds) = (vec![Vec::new(); methods.len()], vec![0.0; methods.len()]);
        for draw in 0..draws.parse::<u64>()? {
            let landmarks = Landmarks::uniform(n, &mut stream(2022, "table", "landmarks", draw));
            for (((_, method), errors), seconds) in methods.iter().zip(&mut errors).zip(&mut seconds) {
                let mut rng = stream(2022, "table", "fit", draw);
                let start = Instant::now();
                let fit = method.fit(&*oracle, &landmarks, s, known, &mut rng)?;
                *seconds += start.elapsed().as_secs_f64();
                errors.push(relative_error(truth.view(), fit.to_dense()?.view()));
            }
        }
        for (((name, _), own), seconds) in methods.iter().zip(&errors).zip(&seconds) {
            let (mean, half) = mean(own);
            let logs: Vec<f64> = own.iter().zip(&errors[0]).map(|(own, base)| (own / base).ln()).collect();
            let (ratio, spread) = self::mean(&logs);
            let (low, high) = ((ratio - spread).exp(), (ratio + spread).exp());
            let (ratio, each) = (ratio.exp(), seconds / own.len().max(1) as f64);
            println!(
                "{share} {name}: {mean:.4} ± {half:.4}, ratio {ratio:.3} ({low:.3} to {high:.3}), {each:.3} seconds"
            );
        }
    }
    Ok(())
}

/// Mean and half width of its 95 % interval, by the normal approximation.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, 1.96 * (squares / (count - 1.0).max(1.0) / count).sqrt())
}
