//! The Walsh–Hadamard transform in place: y = Hx with H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ), unnormalised, natural order.
//!
//! log₂ n levels of sums and differences at distances 1, 2, 4 …. Levels inside a vector register come first, then three at
//! once across eight registers, then up to four at once; lengths beyond the first-level cache are cut into sixteenths, top
//! levels first, so that each pass over slow memory does four levels. Additions only, in one order for every register
//! width: a result has the same bits on every processor.
//!
//! Cost: n log₂ n additions, no memory.

use std::array::from_fn;
use std::ops::{Add, Mul, Sub};

use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::structured::StructuredError;
use crate::structured::registers::widest_registers;

/// A number that can be transformed: f32 or f64.
pub trait HadamardScalar:
    Copy + Send + Sync + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + 'static
{
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    fn transform(data: &mut [Self]);
}

impl HadamardScalar for f64 {
    const ONE: Self = 1.0;

    fn transform(data: &mut [Self]) {
        transform_f64(data);
    }
}

impl HadamardScalar for f32 {
    const ONE: Self = 1.0;

    fn transform(data: &mut [Self]) {
        transform_f32(data);
    }
}

widest_registers! {
    fn transform_f64(data: &mut [f64]) = by_cache::<f64, 8>
}
widest_registers! {
    fn transform_f32(data: &mut [f32]) = by_cache::<f32, 16>
}

/// Transforms in place.
///
/// ```
/// use landmark_core::structured::transforms::walsh_hadamard;
/// let mut x = [1.0, 0.0, 2.0, 0.0];
/// walsh_hadamard(&mut x)?;
/// assert_eq!(x, [3.0, 3.0, -1.0, -1.0]);
/// # Ok::<(), landmark_core::structured::StructuredError>(())
/// ```
///
/// # Errors
/// A length that is not a power of two.
pub fn walsh_hadamard<T: HadamardScalar>(data: &mut [T]) -> Result<(), StructuredError> {
    require_power_of_two(data.len())?;
    T::transform(data);
    Ok(())
}

/// Transforms each row in place, rows in parallel.
///
/// # Errors
/// A row length that is not a power of two.
pub fn walsh_hadamard_rows<T: HadamardScalar>(mut batch: ArrayViewMut2<'_, T>) -> Result<(), StructuredError> {
    let length = batch.ncols();
    require_power_of_two(length)?;
    let rows = rows_per_task(length);
    batch.axis_chunks_iter_mut(Axis(0), rows).into_par_iter().for_each(|mut chunk| {
        let mut copy = Vec::new();
        for mut row in chunk.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                T::transform(row);
            } else {
                copy.clear();
                copy.extend(row.iter().copied());
                T::transform(&mut copy);
                row.iter_mut().zip(&copy).for_each(|(out, &value)| *out = value);
            }
        }
    });
    Ok(())
}

/// The transform of `x`, padded with zeros to [`padded_length`].
pub fn walsh_hadamard_padded<T: HadamardScalar>(x: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); padded_length(x.len())];
    out[..x.len()].copy_from_slice(x);
    T::transform(&mut out);
    out
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

/// About 64 Ki numbers a task.
fn rows_per_task(length: usize) -> usize {
    (1_usize << 16).div_euclid(length).max(1)
}

/// Bytes that stay in the first-level cache: 32 KiB.
const CACHED_BYTES: usize = 32 << 10;

#[inline(always)]
fn by_cache<T: HadamardScalar, const W: usize>(data: &mut [T]) {
    let cached = CACHED_BYTES / size_of::<T>();
    // lengths whose blocks are next in turn; at most four cuts to sixteenths reach 2⁶⁴
    let mut length = data.len();
    if length <= cached {
        return in_cache::<T, W>(data);
    }
    let mut cuts = [0_usize; 16];
    let mut depth = 0;
    while length > cached {
        cuts[depth] = length;
        length = length.div_euclid(16).max(cached);
        depth += 1;
    }
    cut::<T, W>(data, &cuts[..depth], length);
}

/// Top levels of `data`, then each part on its own, down to blocks of `leaf`: depth first, so that a part stays cached.
#[inline(always)]
fn cut<T: HadamardScalar, const W: usize>(data: &mut [T], cuts: &[usize], leaf: usize) {
    // counts leaves and does at each the cuts that begin there: a recursion without calls, which registers need
    for start in (0..data.len()).step_by(leaf) {
        for (depth, &length) in cuts.iter().enumerate() {
            if start.is_multiple_of(length) {
                let next = cuts.get(depth + 1).copied().unwrap_or(leaf);
                columns::<T, W>(&mut data[start..start + length], length / next, next);
            }
        }
        in_cache::<T, W>(&mut data[start..start + leaf]);
    }
}

/// All levels of a block that stays in the first-level cache.
#[inline(always)]
fn in_cache<T: HadamardScalar, const W: usize>(data: &mut [T]) {
    let n = data.len();
    let mut stride = if n < W {
        let mut distance = 1;
        while distance < n {
            for block in data.chunks_exact_mut(2 * distance) {
                let (low, high) = block.split_at_mut(distance);
                low.iter_mut().zip(high).for_each(|(low, high)| (*low, *high) = (*low + *high, *low - *high));
            }
            distance *= 2;
        }
        n
    } else if n < 8 * W {
        data.as_chunks_mut::<W>().0.iter_mut().for_each(|vector| *vector = in_register(*vector));
        W
    } else {
        for eight in data.as_chunks_mut::<W>().0.as_chunks_mut::<8>().0 {
            *eight = hadamard_8(from_fn(|k| in_register(eight[k])));
        }
        8 * W
    };
    while stride < n {
        let radix = (n / stride).min(16);
        for block in data.chunks_exact_mut(radix * stride) {
            columns::<T, W>(block, radix, stride);
        }
        stride *= radix;
    }
}

/// log₂ `radix` levels at distances `stride`, 2·`stride` …, of a block of `radix`·`stride` numbers.
#[inline(always)]
fn columns<T: HadamardScalar, const W: usize>(block: &mut [T], radix: usize, stride: usize) {
    match radix {
        2 => each_column::<T, W, 2>(block, stride, hadamard_2),
        4 => each_column::<T, W, 4>(block, stride, hadamard_4),
        8 => each_column::<T, W, 8>(block, stride, hadamard_8),
        _ => each_column::<T, W, 16>(block, stride, hadamard_16),
    }
}

#[inline(always)]
fn each_column<T: HadamardScalar, const W: usize, const R: usize>(
    block: &mut [T],
    stride: usize,
    levels: impl Fn([[T; W]; R]) -> [[T; W]; R],
) {
    let vectors = block.as_chunks_mut::<W>().0;
    let step = stride / W;
    assert_eq!(vectors.len(), R * step, "a block of R strides");
    for j in 0..step {
        let transformed = levels(from_fn(|k| vectors[k * step + j]));
        for (k, vector) in transformed.into_iter().enumerate() {
            vectors[k * step + j] = vector;
        }
    }
}

#[inline(always)]
fn sum_and_difference<T: HadamardScalar, const W: usize>(a: [T; W], b: [T; W]) -> [[T; W]; 2] {
    [from_fn(|lane| a[lane] + b[lane]), from_fn(|lane| a[lane] - b[lane])]
}

#[inline(always)]
fn hadamard_2<T: HadamardScalar, const W: usize>([a, b]: [[T; W]; 2]) -> [[T; W]; 2] {
    sum_and_difference(a, b)
}

#[inline(always)]
fn hadamard_4<T: HadamardScalar, const W: usize>([a, b, c, d]: [[T; W]; 4]) -> [[T; W]; 4] {
    let ([a, c], [b, d]) = (sum_and_difference(a, c), sum_and_difference(b, d));
    let ([a, b], [c, d]) = (sum_and_difference(a, b), sum_and_difference(c, d));
    [a, b, c, d]
}

#[inline(always)]
fn hadamard_8<T: HadamardScalar, const W: usize>([a, b, c, d, e, f, g, h]: [[T; W]; 8]) -> [[T; W]; 8] {
    let ([a, e], [b, f]) = (sum_and_difference(a, e), sum_and_difference(b, f));
    let ([c, g], [d, h]) = (sum_and_difference(c, g), sum_and_difference(d, h));
    let ([a, b, c, d], [e, f, g, h]) = (hadamard_4([a, b, c, d]), hadamard_4([e, f, g, h]));
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn hadamard_16<T: HadamardScalar, const W: usize>(v: [[T; W]; 16]) -> [[T; W]; 16] {
    let low = hadamard_8(from_fn(|k| from_fn(|lane| v[k][lane] + v[k + 8][lane])));
    let high = hadamard_8(from_fn(|k| from_fn(|lane| v[k][lane] - v[k + 8][lane])));
    from_fn(|k| if k < 8 { low[k] } else { high[k - 8] })
}

/// All levels inside one register: at distance d, lane l becomes x[l xor d] ± x[l].
#[inline(always)]
fn in_register<T: HadamardScalar, const W: usize>(mut vector: [T; W]) -> [T; W] {
    let minus = T::default() - T::ONE;
    let mut distance = 1;
    while distance < W {
        let before = vector;
        vector = from_fn(|lane| {
            let sign = if lane & distance == 0 { T::ONE } else { minus };
            before[lane ^ distance] + sign * before[lane]
        });
        distance *= 2;
    }
    vector
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand::Rng;

    use super::*;
    use crate::stream::stream;

    /// Σⱼ (−1)^popcount(i & j) xⱼ.
    fn by_definition(x: &[f64]) -> Vec<f64> {
        let term = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { x[j] } else { -x[j] };
        (0..x.len()).map(|i| (0..x.len()).map(|j| term(i, j)).sum()).collect()
    }

    #[test]
    fn every_length_up_to_4096_agrees_with_the_definition_in_both_precisions() {
        let mut rng = stream(1, "test", "hadamard", 0);
        for exponent in 0..13 {
            // whole numbers below 2²⁴ are exact in either precision, so that nothing may differ
            let x: Vec<f64> = (0..1 << exponent).map(|_| f64::from(rng.gen_range(-100..100))).collect();
            let expected = by_definition(&x);
            let (mut ours, mut single) = (x.clone(), x.iter().map(|&value| value as f32).collect::<Vec<_>>());
            walsh_hadamard(&mut ours).unwrap();
            walsh_hadamard(&mut single).unwrap();
            assert_eq!(ours, expected, "length {}", x.len());
            assert!(single.iter().zip(&expected).all(|(&a, &b)| f64::from(a) == b), "length {}", x.len());
        }
    }

    #[test]
    fn twice_the_transform_is_n_times_the_vector_at_lengths_beyond_every_cache() {
        for exponent in [13, 14, 15, 16, 17, 18, 19, 20, 21] {
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
    fn a_batch_is_transformed_row_by_row_whatever_its_layout() {
        let batch = Array2::from_shape_fn((70, 32), |(i, j)| ((7 * i + 3 * j) % 11) as f64);
        let mut rows = batch.clone();
        walsh_hadamard_rows(rows.view_mut()).unwrap();
        let mut columns = batch.t().as_standard_layout().into_owned();
        walsh_hadamard_rows(columns.view_mut().reversed_axes()).unwrap();
        assert_eq!(rows, columns.t());
        for (row, original) in rows.rows().into_iter().zip(batch.rows()) {
            assert_eq!(row.to_vec(), by_definition(&original.to_vec()));
        }
    }

    #[test]
    fn a_length_that_is_no_power_of_two_is_refused_or_padded() {
        for length in [0, 3, 12] {
            let error = walsh_hadamard(&mut vec![0.0; length]).unwrap_err();
            assert_eq!(error, StructuredError::NotPowerOfTwo { length, next: length.next_power_of_two() });
        }
        assert_eq!(
            walsh_hadamard(&mut [0.0; 3]).unwrap_err().to_string(),
            "a Walsh–Hadamard transform needs a power of two, but the length is 3; pad with zeros to 4"
        );
        assert_eq!(walsh_hadamard_padded(&[1.0, 2.0, 4.0]), by_definition(&[1.0, 2.0, 4.0, 0.0]));
    }
}
