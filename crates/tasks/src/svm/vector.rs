//! The two inner loops of a linear machine: the dot product and the scaled addition of contiguous rows.
//!
//! Sums run in [`LANES`] independent accumulators, so that neither depends on the latency of an addition. On x86-64 the same
//! code is compiled a second time for AVX2 with fused multiply-add and chosen when the processor has both; results are
//! then the same from run to run on one kind of processor, and differ between kinds by rounding only.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

/// Independent accumulators: four AVX2 registers.
const LANES: usize = 16;

/// x·w over the shorter length.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(crate) fn dot(x: &[f64], w: &[f64]) -> f64 {
    let fused =
        |a: f64, b: f64, sum: f64| if target_cfg_f!(target_feature = "fma") { a.mul_add(b, sum) } else { a * b + sum };
    let len = x.len().min(w.len());
    let (x, w) = (x[..len].as_chunks::<LANES>(), w[..len].as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in x.0.iter().zip(w.0) {
        for lane in 0..LANES {
            sums[lane] = fused(a[lane], b[lane], sums[lane]);
        }
    }
    let mut rest = 0.0;
    for (a, b) in x.1.iter().zip(w.1) {
        rest = fused(*a, *b, rest);
    }
    // pairwise, so that the order is fixed and the error small
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0] + rest
}

/// w ← w + factor·x over the shorter length.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(crate) fn add_scaled(factor: f64, x: &[f64], w: &mut [f64]) {
    let fused =
        |a: f64, b: f64, sum: f64| if target_cfg_f!(target_feature = "fma") { a.mul_add(b, sum) } else { a * b + sum };
    let len = x.len().min(w.len());
    let (x, w) = (x[..len].as_chunks::<LANES>(), w[..len].as_chunks_mut::<LANES>());
    for (a, b) in x.0.iter().zip(w.0) {
        for lane in 0..LANES {
            b[lane] = fused(factor, a[lane], b[lane]);
        }
    }
    for (a, b) in x.1.iter().zip(w.1) {
        *b = fused(factor, *a, *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_agrees_with_the_naive_loop() {
        for len in 0..70u32 {
            let x: Vec<f64> = (0..len).map(|i| f64::from(i).sin()).collect();
            let w: Vec<f64> = (0..len).map(|i| f64::from(3 * i).cos()).collect();
            let naive: f64 = x.iter().zip(&w).map(|(a, b)| a * b).sum();
            // at most 70 products of size ≤ 1: a few hundred ulp of 1
            assert!((dot(&x, &w) - naive).abs() < 1e-13, "length {len}");
            let mut sum = w.clone();
            add_scaled(-0.5, &x, &mut sum);
            for ((s, a), b) in sum.iter().zip(&x).zip(&w) {
                assert!((s - (b - 0.5 * a)).abs() < 1e-15, "length {len}");
            }
        }
    }
}
