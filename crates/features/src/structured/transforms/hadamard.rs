//! The Walsh–Hadamard transform in place: y = Hx with H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ), unnormalized, natural order.
//!
//! Each half is transformed before the sums and differences of the two, down to parts that fit the first-level cache, so that long data are
//! read log₂(n / part) times from memory. The order of additions depends on n alone: a result has the same bits on every processor and on any
//! number of threads. Cost: n log₂ n additions.

use multiversion::multiversion;
use rayon::prelude::*;

use crate::structured::StructuredError;

/// Transforms in place; long data on all threads of the pool, with the same bits.
pub fn walsh_hadamard(data: &mut [f64]) -> Result<(), StructuredError> {
    require_power_of_two(data.len())?;
    transform(data);
    Ok(())
}

/// The power of two that `n` numbers are padded to.
pub fn padded_length(n: usize) -> usize {
    n.next_power_of_two()
}

fn require_power_of_two(length: usize) -> Result<(), StructuredError> {
    if length.is_power_of_two() {
        Ok(())
    } else {
        Err(StructuredError::NotPowerOfTwo { length, next: padded_length(length) })
    }
}

/// Numbers from which the two halves are transformed on two threads.
const PARALLEL: usize = 1 << 16;

pub(in crate::structured) fn transform(data: &mut [f64]) {
    let half = data.len() / 2;
    if data.len() <= PART {
        return within_part(data);
    }
    let (low, high) = data.split_at_mut(half);
    if half < PARALLEL {
        transform(low);
        transform(high);
        butterflies(low, high);
    } else {
        rayon::join(|| transform(low), || transform(high));
        low.par_chunks_mut(PARALLEL).zip(high.par_chunks_mut(PARALLEL)).for_each(|(low, high)| butterflies(low, high));
    }
}

/// Numbers of a part: 32 KiB of f64.
const PART: usize = 1 << 12;

/// All levels, the shortest distance first.
#[multiversion(targets("x86_64+avx2"))]
fn within_part(data: &mut [f64]) {
    // three levels in registers
    let (eights, rest) = data.as_chunks_mut::<8>();
    for x in eights {
        for distance in [1, 2, 4] {
            for i in (0..8).filter(|i| i & distance == 0) {
                (x[i], x[i + distance]) = (x[i] + x[i + distance], x[i] - x[i + distance]);
            }
        }
    }
    let mut distance = if rest.is_empty() { 8 } else { 1 };
    while distance < data.len() {
        for block in data.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        distance *= 2;
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn butterflies(low: &mut [f64], high: &mut [f64]) {
    for (low, high) in low.iter_mut().zip(high) {
        (*low, *high) = (*low + *high, *low - *high);
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use landmark_core::stream::stream;

    /// Σⱼ (−1)^popcount(i & j) xⱼ.
    fn by_definition(x: &[f64]) -> Vec<f64> {
        let term = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { x[j] } else { -x[j] };
        (0..x.len()).map(|i| (0..x.len()).map(|j| term(i, j)).sum()).collect()
    }

    #[test]
    fn every_length_up_to_4096_agrees_with_the_definition() {
        let mut rng = stream(1, "test", "hadamard", 0);
        for exponent in 0..13 {
            // whole numbers are exact, so that nothing may differ
            let x: Vec<f64> = (0..1 << exponent).map(|_| f64::from(rng.gen_range(-100..100))).collect();
            let expected = by_definition(&x);
            let mut ours = x.clone();
            walsh_hadamard(&mut ours).unwrap();
            assert_eq!(ours, expected, "length {}", x.len());
        }
    }

    #[test]
    fn twice_the_transform_is_n_times_the_vector_at_lengths_beyond_every_cache() {
        for exponent in [13, 16, 17, 20] {
            let n = 1_usize << exponent;
            let mut rng = stream(1, "test", "hadamard", exponent);
            let x: Vec<f64> = (0..n).map(|_| f64::from(rng.gen_range(-8..8))).collect();
            let mut twice = x.clone();
            walsh_hadamard(&mut twice).unwrap();
            // one entry by the definition, so that an error may not cancel itself
            let i = rng.gen_range(0..n);
            let entry: f64 = (0..n).map(|j| if (i & j).count_ones() & 1 == 0 { x[j] } else { -x[j] }).sum();
            assert_eq!(twice[i], entry, "length {n}");
            walsh_hadamard(&mut twice).unwrap();
            assert!(twice.iter().zip(&x).all(|(a, b)| *a == n as f64 * b), "length {n}");
        }
    }

    #[test]
    fn a_length_that_is_no_power_of_two_is_refused() {
        for length in [0, 3, 12] {
            let error = walsh_hadamard(&mut vec![0.0; length]).unwrap_err();
            assert_eq!(error, StructuredError::NotPowerOfTwo { length, next: length.next_power_of_two() });
        }
        assert_eq!(
            walsh_hadamard(&mut [0.0; 3]).unwrap_err().to_string(),
            "a Walsh–Hadamard transform needs a power of two, but the length is 3; pad with zeros to 4"
        );
    }

    #[test]
    fn all_threads_and_one_give_the_same_bits() {
        let mut rng = stream(1, "test", "hadamard threads", 0);
        for exponent in [16, 17, 20] {
            let x: Vec<f64> = (0..1 << exponent).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let by = |threads: usize| {
                let mut x = x.clone();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| walsh_hadamard(&mut x)).unwrap();
                x
            };
            assert!(by(1) == by(3), "2^{exponent}");
        }
    }
}
