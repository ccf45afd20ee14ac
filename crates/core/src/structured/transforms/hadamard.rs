//! The Walsh–Hadamard transform in place: y = Hx with H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ), unnormalised, natural order.
//!
//! log₂ n levels of sums and differences at distances 1, 2, 4 …, the lowest first. In the first-level cache two levels at once,
//! then two, then three, in loops of fixed length that the compiler turns into vector instructions. Above, up to four levels in
//! one pass: panels of contiguous pieces of 2 to 16 rows go to a small buffer and back. Beyond the second-level cache the top
//! levels come first, so that a part stays in the cache until it is done. Additions only, in one order on every processor.
//!
//! Cost: n log₂ n additions, no memory.

use std::array::from_fn;
use std::ops::{Add, Sub};

use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::registers::widest_registers;
use crate::structured::StructuredError;

/// A number that can be transformed: f32 or f64.
pub trait HadamardScalar: Copy + Send + Sync + Default + Add<Output = Self> + Sub<Output = Self> + 'static {
    #[doc(hidden)]
    fn transform(data: &mut [Self]);
}

impl HadamardScalar for f64 {
    fn transform(data: &mut [Self]) {
        transform_f64(data);
    }
}

impl HadamardScalar for f32 {
    fn transform(data: &mut [Self]) {
        transform_f32(data);
    }
}

widest_registers! {
    fn transform_f64(data: &mut [f64]) = by_cache::<f64>
}
widest_registers! {
    fn transform_f32(data: &mut [f32]) = by_cache::<f32>
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

/// Numbers that are transformed in the first-level cache.
const LEAF: usize = 1 << 12;
/// Numbers that stay in the second-level cache.
const PART: usize = 1 << 16;
/// Numbers of the buffer that panels go through.
const BUFFER: usize = 1 << 11;
/// Rows of a panel of slow memory: four levels at once, in pieces that are long enough to be fetched ahead.
const SLOW_ROWS: usize = 16;

#[inline(always)]
fn by_cache<T: HadamardScalar>(data: &mut [T]) {
    let n = data.len();
    let mut buffer = [T::default(); BUFFER];
    // lengths that are cut, longest first; sixteen cuts by 16 would reach 2⁸⁰
    let mut cuts = [(0_usize, 0_usize); 16];
    let (mut depth, mut length) = (0, n);
    while length > PART {
        let rows = (length / PART).min(SLOW_ROWS);
        cuts[depth] = (length, rows);
        length /= rows;
        depth += 1;
    }
    // part by part, each cut where it begins: depth first, so that what was just read is read again soon
    for part in (0..n).step_by(length) {
        for &(length, rows) in &cuts[..depth] {
            if part.is_multiple_of(length) {
                across_rows(&mut data[part..part + length], rows, &mut buffer);
            }
        }
        // leaves in a row, as memory is fetched fastest; then the levels above them, which are in the cache by now
        let part = &mut data[part..part + length];
        part.chunks_mut(LEAF).for_each(in_cache);
        if length > LEAF {
            across_rows(part, length / LEAF, &mut buffer);
        }
    }
}

/// The top log₂ `rows` levels of `data`, read as `rows` rows.
#[inline(always)]
fn across_rows<T: HadamardScalar>(data: &mut [T], rows: usize, buffer: &mut [T; BUFFER]) {
    let (stride, width) = (data.len() / rows, BUFFER / rows);
    for column in (0..stride).step_by(width) {
        for (panel, row) in buffer.chunks_exact_mut(width).zip(data.chunks_exact(stride)) {
            panel.copy_from_slice(&row[column..column + width]);
        }
        from_distance(buffer, width);
        for (panel, row) in buffer.chunks_exact(width).zip(data.chunks_exact_mut(stride)) {
            row[column..column + width].copy_from_slice(panel);
        }
    }
}

/// All levels of at most `LEAF` numbers.
#[inline(always)]
fn in_cache<T: HadamardScalar>(data: &mut [T]) {
    let n = data.len();
    if n >= 16 {
        for four in data.as_chunks_mut::<4>().0 {
            *four = hadamard_4(*four);
        }
        levels::<T, 4, 4, 16>(data, hadamard_4);
        return from_distance(data, 16);
    }
    let mut distance = 1;
    while distance < n {
        for block in data.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            low.iter_mut().zip(high).for_each(|(low, high)| (*low, *high) = (*low + *high, *low - *high));
        }
        distance *= 2;
    }
}

/// The levels at `distance` (at least 16), 2·`distance` … of at most `LEAF` numbers: three at once, what is over first.
#[inline(always)]
fn from_distance<T: HadamardScalar>(data: &mut [T], mut distance: usize) {
    // distances and radices as constants: with them the compiler knows that no two numbers of a loop are one
    macro_rules! at {
        ($($distance:literal)*) => {
            match ((data.len() / distance).ilog2() % 3, distance) {
                $((1, $distance) => { levels::<T, 2, $distance, { 2 * $distance }>(data, hadamard_2); 2 })*
                $((2, $distance) => { levels::<T, 4, $distance, { 4 * $distance }>(data, hadamard_4); 4 })*
                $((0, $distance) => { levels::<T, 8, $distance, { 8 * $distance }>(data, hadamard_8); 8 })*
                _ => unreachable!("distances are powers of two from 16 to half of {LEAF}"),
            }
        };
    }
    while distance < data.len() {
        distance *= at!(16 32 64 128 256 512 1024 2048);
    }
}

/// log₂ R levels from `DISTANCE` on, in blocks of `BLOCK` = R · `DISTANCE` numbers.
#[inline(always)]
fn levels<T: HadamardScalar, const R: usize, const DISTANCE: usize, const BLOCK: usize>(
    data: &mut [T],
    transform: impl Fn([T; R]) -> [T; R],
) {
    for block in data.as_chunks_mut::<BLOCK>().0 {
        for column in 0..DISTANCE {
            let transformed = transform(from_fn(|row| block[row * DISTANCE + column]));
            for row in 0..R {
                block[row * DISTANCE + column] = transformed[row];
            }
        }
    }
}

#[inline(always)]
fn hadamard_2<T: HadamardScalar>([a, b]: [T; 2]) -> [T; 2] {
    [a + b, a - b]
}

#[inline(always)]
fn hadamard_4<T: HadamardScalar>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let (a, c, b, d) = (a + c, a - c, b + d, b - d);
    [a + b, a - b, c + d, c - d]
}

#[inline(always)]
fn hadamard_8<T: HadamardScalar>([a, b, c, d, e, f, g, h]: [T; 8]) -> [T; 8] {
    let [p, q, r, s] = hadamard_4([a + e, b + f, c + g, d + h]);
    let [t, u, v, w] = hadamard_4([a - e, b - f, c - g, d - h]);
    [p, q, r, s, t, u, v, w]
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
