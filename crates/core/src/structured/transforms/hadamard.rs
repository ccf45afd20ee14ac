//! The Walsh–Hadamard transform in place: y = Hx with H₁ = (1), H₂ₙ = (Hₙ Hₙ; Hₙ −Hₙ), unnormalised, natural order.
//!
//! log₂ n levels of sums and differences at distances 1, 2, 4 …; [`blocks`] and [`rows`] say in which order memory is swept. Additions only, in
//! one order on every processor and on any number of threads. Cost: n log₂ n additions; one sweep over slow memory up to 512 KiB, one more for
//! each six levels above. A single vector of 4 MiB or more is shared among the threads of the pool.

use std::ops::{Add, Sub};

use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::structured::StructuredError;

mod ahead;
mod blocks;
mod lanes;
mod rows;

/// A number that can be transformed: f32 or f64.
pub trait HadamardScalar: Copy + Send + Sync + Default + Add<Output = Self> + Sub<Output = Self> + 'static {
    /// The transforms of vectors of `length` numbers, one after the other, none longer than stays in a cache.
    #[doc(hidden)]
    fn short(data: &mut [Self], length: usize);

    /// The levels above 2, 4 … 64 rows of one length.
    #[doc(hidden)]
    fn top(rows: &mut [&mut [Self]]);
}

macro_rules! hadamard_scalar {
    ($scalar:ty, $lanes:literal, $register:ident) => {
        impl HadamardScalar for $scalar {
            fn short(data: &mut [Self], length: usize) {
                if length < 8 * $lanes {
                    return data.chunks_exact_mut(length).for_each(level_by_level);
                }
                let (cells, _) = data.as_chunks_mut::<$lanes>();
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2,fma")]
                    fn avx2(cells: &mut [[$scalar; $lanes]], length: usize) {
                        blocks::by_cache::<$lanes, std::arch::x86_64::$register>(cells, length);
                    }
                    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        // SAFETY: both features were just detected
                        return unsafe { avx2(cells, length / $lanes) };
                    }
                }
                blocks::by_cache::<$lanes, [$scalar; $lanes]>(cells, length / $lanes);
            }

            fn top(rows: &mut [&mut [Self]]) {
                let mut rows: Vec<_> = rows.iter_mut().map(|row| row.as_chunks_mut::<$lanes>().0).collect();
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2,fma")]
                    fn avx2(rows: &mut [&mut [[$scalar; $lanes]]]) {
                        rows::top::<$lanes, std::arch::x86_64::$register>(rows);
                    }
                    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        // SAFETY: both features were just detected
                        return unsafe { avx2(&mut rows) };
                    }
                }
                rows::top::<$lanes, [$scalar; $lanes]>(&mut rows);
            }
        }
    };
}

hadamard_scalar!(f64, 4, __m256d);
hadamard_scalar!(f32, 8, __m256);

/// Transforms in place; long data on all threads of the pool, with the same bits.
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
    on_all_threads(data);
    Ok(())
}

/// Long data by all threads: the levels above its rows some columns each, then each row.
fn on_all_threads<T: HadamardScalar>(data: &mut [T]) {
    if size_of_val(data) < SHARED || rayon::current_num_threads() == 1 {
        return on_one_thread(data);
    }
    let row = data.len() / blocks::top_rows(size_of_val(data));
    let mut runs: Vec<_> = data.chunks_exact_mut(row).map(|row| row.chunks_exact_mut(RUN)).collect();
    let tops: Vec<Vec<&mut [T]>> =
        (0..row / RUN).map(|_| runs.iter_mut().filter_map(Iterator::next).collect()).collect();
    tops.into_par_iter().for_each(|mut rows| T::top(&mut rows));
    data.par_chunks_exact_mut(row).for_each(on_all_threads);
}

/// The transform by this thread alone, with the same bits.
pub(in crate::structured) fn on_one_thread<T: HadamardScalar>(data: &mut [T]) {
    each_on_one_thread(data, data.len());
}

/// Those of vectors of `length` numbers, one after the other.
fn each_on_one_thread<T: HadamardScalar>(data: &mut [T], length: usize) {
    let row = length / blocks::top_rows(length * size_of::<T>());
    if row == length {
        return T::short(data, length);
    }
    for vector in data.chunks_exact_mut(length) {
        T::top(&mut vector.chunks_exact_mut(row).collect::<Vec<_>>());
        each_on_one_thread(vector, row);
    }
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
        if let Some(rows) = chunk.as_slice_mut() {
            return each_on_one_thread(rows, length);
        }
        let mut copy = Vec::new();
        for mut row in chunk.rows_mut() {
            if let Some(row) = row.as_slice_mut() {
                on_one_thread(row);
            } else {
                copy.clear();
                copy.extend(row.iter().copied());
                on_one_thread(&mut copy);
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
    on_one_thread(&mut out);
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

/// Bytes from which a vector is shared among threads.
const SHARED: usize = 1 << 22;

/// Columns that a thread takes at a time.
const RUN: usize = 1 << 11;

/// About 64 Ki numbers a task.
fn rows_per_task(length: usize) -> usize {
    (1_usize << 16).div_euclid(length).max(1)
}

/// Short data, and the plain text of what the others do.
fn level_by_level<T: HadamardScalar>(data: &mut [T]) {
    let mut distance = 1;
    while distance < data.len() {
        for block in data.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            low.iter_mut().zip(high).for_each(|(low, high)| (*low, *high) = (*low + *high, *low - *high));
        }
        distance *= 2;
    }
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

    /// [`on_one_thread`] for a processor without registers that we know.
    fn plain<const L: usize, V: lanes::Lanes<L>>(data: &mut [[V::Scalar; L]]) {
        let row = data.len() / blocks::top_rows(size_of_val(data));
        if row == data.len() {
            return blocks::by_cache::<L, V>(data, row);
        }
        rows::top::<L, V>(&mut data.chunks_exact_mut(row).collect::<Vec<_>>());
        data.chunks_exact_mut(row).for_each(plain::<L, V>);
    }

    #[test]
    fn registers_and_plain_arrays_give_the_same_bits_at_every_length() {
        let mut rng = stream(1, "test", "hadamard bits", 0);
        for exponent in 5..24 {
            let x: Vec<f64> = (0..1 << exponent).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let (mut ours, mut theirs) = (x.clone(), x.clone());
            walsh_hadamard(&mut ours).unwrap();
            plain::<4, [f64; 4]>(theirs.as_chunks_mut().0);
            assert_eq!(ours, theirs, "2^{exponent}");
            // 8 registers of f32 are 64 numbers
            let mut ours: Vec<f32> = [&x[..], &x[..]].concat().iter().map(|&value| value as f32).collect();
            let mut theirs = ours.clone();
            walsh_hadamard(&mut ours).unwrap();
            plain::<8, [f32; 8]>(theirs.as_chunks_mut().0);
            assert_eq!(ours, theirs, "2^({exponent} + 1)");
        }
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
