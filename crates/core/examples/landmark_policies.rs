//! Landmarks chosen by a free proxy against uniform ones: error of proxy + shift_ridge + known off the diagonal.
//!
//! `landmark_policies K P G N DRAWS`: K, the proxy P and the matrix G that landmarks are chosen by (P again, or the cosines of embeddings)
//! hold n·n little-endian f64, symmetric. Prints a line for each share s/n: the mean error of uniform landmarks, and for each policy
//! the geometric mean of its error over that of uniform ones draw by draw, with half its 95 % interval.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, Link, Proxied, ShiftRidgeParams};
use landmark_core::approximation::Known;
use landmark_core::error_estimate::relative_errors;
use landmark_core::landmarks::{LandmarkPolicy, Landmarks};
use landmark_core::oracle::{AsymmetryPolicy, Precomputed};
use landmark_core::stream::stream;
use ndarray::Array2;

const SHARES: [f64; 4] = [0.02, 0.05, 0.1, 0.2];

/// Steps of k-medoids at most.
const STEPS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [k, p, g, n, draws] = arguments.as_slice() else {
        return Err("usage: landmark_policies K P G N DRAWS".into());
    };
    let (n, draws): (usize, u64) = (n.parse()?, draws.parse()?);
    let (oracle, proxy, geometry) = (read(k, n)?, read(p, n)?, read(g, n)?);
    let method = Proxied::new(Arc::new(ShiftRidgeParams::default().check()?), Arc::new(proxy), Link::default());
    for share in SHARES {
        // a count of items
        let size = ((share * n as f64) as usize).max(4);
        let mut errors: Vec<(&str, Vec<f64>)> = Vec::new();
        for draw in 0..draws {
            for (name, order) in orders(&geometry, size, draw)? {
                let landmarks = Landmarks::new(n, order, Vec::new())?;
                let mut rng = stream(1, "landmark policies", "fit", draw);
                let fitted = method.fit(&oracle, &landmarks, size, Known::LANDMARKS, &mut rng)?;
                let error = relative_errors(&oracle, &fitted)?.off_diagonal;
                match errors.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, errors)) => errors.push(error),
                    None => errors.push((name, vec![error])),
                }
            }
        }
        let Some(((_, uniform), others)) = errors.split_first() else { continue };
        print!("s/n {share}: uniform {:.4}", uniform.iter().sum::<f64>() / draws as f64);
        for (name, errors) in others {
            let logs: Vec<f64> = errors.iter().zip(uniform).map(|(ours, theirs)| (ours / theirs).ln()).collect();
            let mean = logs.iter().sum::<f64>() / draws as f64;
            let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (draws as f64 - 1.0);
            print!(" | {name} {:.3} ± {:.3}", mean.exp(), 1.96 * (variance / draws as f64).sqrt());
        }
        println!();
    }
    Ok(())
}

fn read(path: &str, n: usize) -> Result<Precomputed, Box<dyn Error>> {
    let chunks = std::fs::read(path)?;
    let values: Vec<f64> =
        chunks.chunks_exact(8).map(|bytes| bytes.try_into().map(f64::from_le_bytes)).collect::<Result<_, _>>()?;
    Ok(Precomputed::new(Array2::from_shape_vec((n, n), values)?, AsymmetryPolicy::Mean)?)
}

/// Landmarks in their order, by the name of their policy.
type Orders = Vec<(&'static str, Vec<usize>)>;

/// The landmarks of a draw under every policy, uniform ones first.
fn orders(geometry: &Precomputed, size: usize, draw: u64) -> Result<Orders, Box<dyn Error>> {
    let policies =
        [LandmarkPolicy::Uniform, LandmarkPolicy::KMeansPlusPlus, LandmarkPolicy::Farthest, LandmarkPolicy::RpCholesky];
    let mut orders = Vec::new();
    for policy in policies {
        let mut rng = stream(1, "landmark policies", policy.id(), draw);
        let order = policy.select(geometry, size, &mut rng)?.order()[..size].to_vec();
        if policy == LandmarkPolicy::KMeansPlusPlus {
            orders.push(("k-medoids", medoids(geometry.matrix(), order.clone())));
        }
        orders.push((policy.id(), order));
    }
    orders.sort_by_key(|(name, _)| *name != "uniform");
    Ok(orders)
}

/// k-medoids from a start: each item to the nearest medoid, each medoid to the item of the least sum of squared distances. Not nested.
fn medoids(similarities: &Array2<f64>, mut medoids: Vec<usize>) -> Vec<usize> {
    let n = similarities.nrows();
    let distance = |i: usize, j: usize| similarities[[i, i]] + similarities[[j, j]] - 2.0 * similarities[[i, j]];
    for _ in 0..STEPS {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); medoids.len()];
        for i in 0..n {
            // a medoid stays with itself, so that none is lost
            let nearest = medoids.iter().position(|&medoid| medoid == i).or_else(|| {
                (0..medoids.len()).min_by(|&a, &b| distance(i, medoids[a]).total_cmp(&distance(i, medoids[b])))
            });
            members[nearest.unwrap_or_default()].push(i);
        }
        let sum = |i: usize, members: &[usize]| members.iter().map(|&j| distance(i, j)).sum::<f64>();
        let centre = |members: &Vec<usize>| {
            members.iter().copied().min_by(|&a, &b| sum(a, members).total_cmp(&sum(b, members))).unwrap_or_default()
        };
        let moved: Vec<usize> = members.iter().map(centre).collect();
        if moved == medoids {
            break;
        }
        medoids = moved;
    }
    medoids
}
