//! The Walsh–Hadamard transform in place: y = Hx with H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ), unnormalised, natural order.
//!
//! log₂ n levels of sums and differences at distances 1, 2, 4 …, in an order that depends on n alone, so that a result has the same bits on every
//! processor and on any number of threads: above a part of 128 or 512 KiB the highest level first, columns of eight rows at a time; within a part the
//! levels of its leaves of 16 KiB first. Cost: n log₂ n additions.

use std::ops::{Add, Sub};

use multiversion::multiversion;
use ndarray::{ArrayViewMut2, Axis, aview1};
use rayon::prelude::*;

use crate::structured::StructuredError;

/// A number that can be transformed: f32 or f64.
pub trait HadamardScalar: Copy + Send + Sync + Default + Add<Output = Self> + Sub<Output = Self> + 'static {}
impl HadamardScalar for f32 {}
impl HadamardScalar for f64 {}

/// Transforms in place; long data on all threads of the pool, with the same bits.
///
/// ```
/// use landmark_features::structured::transforms::walsh_hadamard;
/// let mut x = [1.0, 0.0, 2.0, 0.0];
/// walsh_hadamard(&mut x)?;
/// assert_eq!(x, [3.0, 3.0, -1.0, -1.0]);
/// # Ok::<(), landmark_features::structured::StructuredError>(())
/// ```
///
/// # Errors
/// A length that is not a power of two.
pub fn walsh_hadamard<T: HadamardScalar>(data: &mut [T]) -> Result<(), StructuredError> {
    require_power_of_two(data.len())?;
    transform(data);
    Ok(())
}

/// Transforms each row in place, rows in parallel.
///
/// # Errors
/// A row length that is not a power of two.
pub fn walsh_hadamard_rows<T: HadamardScalar>(mut batch: ArrayViewMut2<'_, T>) -> Result<(), StructuredError> {
    let length = batch.ncols();
    require_power_of_two(length)?;
    let rows_per_task = (1_usize << 16).div_euclid(length).max(1);
    batch.axis_chunks_iter_mut(Axis(0), rows_per_task).into_par_iter().for_each(|mut chunk| {
        for mut row in chunk.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                transform(row);
            } else {
                let mut copy = row.to_vec();
                transform(&mut copy);
                row.assign(&aview1(&copy));
            }
        }
    });
    Ok(())
}

/// The transform of `x`, padded with zeros to [`padded_length`].
pub fn walsh_hadamard_padded<T: HadamardScalar>(x: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); padded_length(x.len())];
    out[..x.len()].copy_from_slice(x);
    transform(&mut out);
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

/// Columns that a thread takes at a time: eight rows of them stay in the first-level cache.
const COLUMNS: usize = 1 << 8;

/// The transform of a power of two of numbers.
pub(in crate::structured) fn transform<T: HadamardScalar>(data: &mut [T]) {
    let above = (size_of_val(data) >> 17).max(1).ilog2();
    let bytes = if matches!(above % 6, 1 | 2) { 1 << 19 } else { 1 << 17 };
    in_parts(data, bytes / size_of::<T>());
}

/// Up to three levels between rows, then each row.
fn in_parts<T: HadamardScalar>(data: &mut [T], part: usize) {
    if data.len() <= part {
        return within_part(data);
    }
    let row = (data.len() / 8).max(part);
    let mut rows: Vec<_> = data.chunks_exact_mut(row).map(|row| row.chunks_exact_mut(COLUMNS)).collect();
    let columns: Vec<Vec<&mut [T]>> =
        (0..row / COLUMNS).map(|_| rows.iter_mut().filter_map(Iterator::next).collect()).collect();
    columns.into_par_iter().for_each(|mut rows| between_rows(&mut rows));
    data.par_chunks_exact_mut(row).for_each(|row| in_parts(row, part));
}

/// All levels between some rows, the highest first.
#[multiversion(targets("x86_64+avx2"))]
fn between_rows<T: HadamardScalar>(rows: &mut [&mut [T]]) {
    let mut distance = rows.len() / 2;
    while distance > 0 {
        for block in rows.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            low.iter_mut().zip(high).for_each(|(low, high)| butterflies(low, high));
        }
        distance /= 2;
    }
}

/// The levels of each leaf, then those above.
#[multiversion(targets("x86_64+avx2"))]
fn within_part<T: HadamardScalar>(data: &mut [T]) {
    // numbers in 32 bytes
    let (length, cell) = (data.len(), 32 / size_of::<T>());
    for leaf in data.chunks_exact_mut(length.min(512 * cell)) {
        let mut done = 1;
        while done < cell || (length < 8 * cell && done < length) {
            levels(leaf, done, length.min(2 * done));
            done *= 2;
        }
        while done < leaf.len() {
            levels(leaf, done, leaf.len().min(8 * done));
            done *= 8;
        }
    }
    let middle = (length / 8).max(512 * cell);
    levels(data, 512 * cell, middle);
    levels(data, middle, length);
}

/// The levels of distances `from` to `to`/2, the highest first, two in one pass where there are two.
#[inline(always)]
fn levels<T: HadamardScalar>(data: &mut [T], from: usize, to: usize) {
    let mut distance = to / 2;
    while distance >= from {
        if distance > from && distance > 8 {
            distance /= 2;
            two_levels(data, distance);
        } else {
            level(data, distance);
        }
        distance /= 2;
    }
}

#[inline(always)]
fn level<T: HadamardScalar>(data: &mut [T], distance: usize) {
    match distance {
        1 if data.len() >= 32 => within_eights::<T, 1>(data),
        2 if data.len() >= 32 => within_eights::<T, 2>(data),
        4 if data.len() >= 32 => within_eights::<T, 4>(data),
        _ => {
            for block in data.chunks_exact_mut(2 * distance) {
                let (low, high) = block.split_at_mut(distance);
                butterflies(low, high);
            }
        }
    }
}

/// The level of a short distance, four times eight numbers at a time: fewer, and the compiler would shuffle numbers between them.
#[inline(always)]
fn within_eights<T: HadamardScalar, const DISTANCE: usize>(data: &mut [T]) {
    for four in data.as_chunks_mut::<8>().0.as_chunks_mut::<4>().0 {
        for eight in four {
            let x = *eight;
            for i in 0..8 {
                let other = x[i ^ DISTANCE];
                eight[i] = if i & DISTANCE == 0 { x[i] + other } else { other - x[i] };
            }
        }
    }
}

#[inline(always)]
fn butterflies<T: HadamardScalar>(low: &mut [T], high: &mut [T]) {
    for (low, high) in low.iter_mut().zip(high) {
        (*low, *high) = (*low + *high, *low - *high);
    }
}

/// The levels of twice the distance and of the distance.
#[inline(always)]
fn two_levels<T: HadamardScalar>(data: &mut [T], distance: usize) {
    for block in data.chunks_exact_mut(4 * distance) {
        let (low, high) = block.split_at_mut(2 * distance);
        let ((a, b), (c, d)) = (low.split_at_mut(distance), high.split_at_mut(distance));
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let (p, q, r, s) = (*a + *c, *b + *d, *a - *c, *b - *d);
            (*a, *b, *c, *d) = (p + q, p - q, r + s, r - s);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand::Rng;

    use super::*;
    use landmark_core::stream::stream;

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
    fn the_order_of_levels_is_that_of_the_results_on_record() {
        let (mut double, mut single) = (blake3::Hasher::new(), blake3::Hasher::new());
        for exponent in 0..22 {
            let mut rng = stream(1, "test", "hadamard bits", exponent);
            let mut x: Vec<f64> = (0..1 << exponent).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let mut y: Vec<f32> = x.iter().map(|&value| value as f32).collect();
            walsh_hadamard(&mut x).and_then(|()| walsh_hadamard(&mut y)).unwrap();
            x.iter().for_each(|value| _ = double.update(&value.to_le_bytes()));
            y.iter().for_each(|value| _ = single.update(&value.to_le_bytes()));
        }
        assert_eq!(&double.finalize().to_hex()[..32], "b27601959687b76d03cccf8e37989b88");
        assert_eq!(&single.finalize().to_hex()[..32], "c9c957844b6422e283e3b639695d1a4b");
    }

    #[test]
    fn where_data_lies_moves_no_bit() {
        let mut rng = stream(1, "test", "hadamard places", 0);
        for n in (5..21).map(|exponent| 1_usize << exponent) {
            let x: Vec<f64> = (0..n).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let single: Vec<f32> = x.iter().map(|&value| value as f32).collect();
            let (mut first, mut first_single) = (x.clone(), single.clone());
            walsh_hadamard(&mut first).unwrap();
            walsh_hadamard(&mut first_single).unwrap();
            // every place within a cache line, however the vector itself lies
            for offset in 0..16 {
                let (mut room, mut single_room) = (vec![0.0; n + 16], vec![0.0; n + 16]);
                let (place, single_place) = (&mut room[offset..offset + n], &mut single_room[offset..offset + n]);
                place.copy_from_slice(&x);
                single_place.copy_from_slice(&single);
                walsh_hadamard(place).unwrap();
                walsh_hadamard(single_place).unwrap();
                assert!(place == first && single_place == first_single, "{n} numbers, {offset} past the beginning");
            }
        }
    }

    #[test]
    fn all_threads_and_one_give_the_same_bits() {
        let mut rng = stream(1, "test", "hadamard threads", 0);
        for exponent in [18, 19, 20, 21, 22, 23] {
            let x: Vec<f64> = (0..1 << exponent).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let single: Vec<f32> = x.iter().map(|&value| value as f32).collect();
            let by = |threads: usize| {
                let (mut x, mut single) = (x.clone(), single.clone());
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| walsh_hadamard(&mut x).and_then(|()| walsh_hadamard(&mut single))).unwrap();
                (x, single)
            };
            assert!(by(1) == by(3), "2^{exponent}");
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
