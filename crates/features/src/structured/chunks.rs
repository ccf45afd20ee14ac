//! A batch in parallel: rows in chunks of a fixed size, every number checked, extreme rows brought to a safe scale.
//!
//! The first bad value in row order is the one that is reported, and results do not depend on the number of threads.
//! A row whose largest number is beyond 2^±500 is multiplied by a power of two, which is exact, and its image by the inverse:
//! products inside then neither overflow nor lose the digits of subnormal numbers.

use multiversion::multiversion;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2};
use rayon::prelude::*;

use super::StructuredError;
use super::transforms::Room;

/// Rows that keep a chunk of `width` numbers a row near the second-level cache: 64 Ki numbers, at most 64 rows.
pub(super) fn rows_per_chunk(width: usize) -> usize {
    (1_usize << 16).div_euclid(width.max(1)).clamp(1, 64)
}

pub(super) struct Chunk<'a> {
    items: CowArray<'a, f64, Ix2>,
    scaled: Vec<(usize, f64)>,
}

impl<'a> Chunk<'a> {
    /// Checks and scales; the error is (row in the chunk, column, value).
    fn new(batch: ArrayView2<'a, f64>) -> Result<Self, (usize, usize, f64)> {
        let mut items = if batch.is_standard_layout() {
            CowArray::from(batch)
        } else {
            CowArray::from(batch.as_standard_layout().into_owned())
        };
        let mut scaled = Vec::new();
        for (k, row) in items.rows().into_iter().enumerate() {
            let scale = row_scale(row.as_slice().unwrap_or(&[])).map_err(|(column, value)| (k, column, value))?;
            if scale != 1.0 {
                scaled.push((k, scale));
            }
        }
        for &(k, scale) in &scaled {
            items.row_mut(k).mapv_inplace(|value| value * scale);
        }
        Ok(Self { items, scaled })
    }

    pub(super) fn rows(&self) -> ArrayView2<'_, f64> {
        self.items.view()
    }

    /// Takes the scales out of a linear image of the items, row by row.
    pub(super) fn unscale(&self, mut image: ArrayViewMut2<'_, f64>) {
        for &(k, scale) in &self.scaled {
            image.row_mut(k).mapv_inplace(|value| value / scale);
        }
    }
}

/// Calls `work` with chunks of the checked batch and the rows of `out` that belong to them.
pub(super) fn for_each_chunk(
    batch: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    rows: usize,
    work: impl Fn(&Chunk<'_>, ArrayViewMut2<'_, f64>, &mut Room) + Sync,
) -> Result<(), StructuredError> {
    let problem = batch
        .axis_chunks_iter(Axis(0), rows)
        .into_par_iter()
        .zip(out.axis_chunks_iter_mut(Axis(0), rows))
        .enumerate()
        .map_init(Room::default, |room, (number, (batch, out))| match Chunk::new(batch) {
            Ok(chunk) => {
                work(&chunk, out, room);
                None
            }
            Err((row, column, value)) => Some(StructuredError::NotFinite { row: number * rows + row, column, value }),
        })
        .find_map_first(|problem| problem);
    problem.map_or(Ok(()), Err)
}

/// The power of two that brings a row to ordinary size (1 for nearly every row), or the first value that is not finite.
pub(super) fn row_scale(row: &[f64]) -> Result<f64, (usize, f64)> {
    const INFINITE: u64 = 0x7ff << 52;
    let largest = largest_magnitude(row);
    if largest >= INFINITE {
        let column = row.iter().position(|value| !value.is_finite()).unwrap_or(0);
        return Err((column, row[column]));
    }
    let magnitude = f64::from_bits(largest);
    let far = 500.0_f64.exp2();
    Ok(if magnitude > far {
        1.0 / far
    } else if magnitude < 1.0 / far && magnitude > 0.0 {
        // two steps reach the smallest subnormal number, 2^-1074
        if magnitude < 1.0 / far / far { far * far } else { far }
    } else {
        1.0
    })
}

/// The bits of the largest |x|: as whole numbers they are in order, infinities and NaN above all others.
#[multiversion(targets("x86_64+avx2"))]
fn largest_magnitude(row: &[f64]) -> u64 {
    let mut largest = [0_u64; 8];
    let (eights, rest) = row.as_chunks::<8>();
    for eight in eights {
        for lane in 0..8 {
            largest[lane] = largest[lane].max(eight[lane].to_bits() & (u64::MAX >> 1));
        }
    }
    rest.iter().map(|value| value.to_bits() & (u64::MAX >> 1)).chain(largest).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_extreme_size_gets_a_power_of_two_and_an_ordinary_one_gets_1() {
        for ordinary in [&[][..], &[0.0, -0.0], &[1.0, -3.0], &[1e-100, 0.0, 1e100]] {
            assert_eq!(row_scale(ordinary), Ok(1.0));
        }
        for extreme in [5e-324, 1e-310, 1e-200, f64::MIN_POSITIVE, 1e200, f64::MAX] {
            let scale = row_scale(&[0.0, -extreme]).unwrap();
            // far from 10^±308, with room for sums of products
            assert!((1e-160..1e160).contains(&(extreme * scale)), "{extreme}");
            assert_eq!(extreme * scale / scale, extreme, "a power of two is exact");
        }
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let mut row = vec![1.0; 20];
        row[17] = f64::NEG_INFINITY;
        assert_eq!(row_scale(&row), Err((17, f64::NEG_INFINITY)));
        row[3] = f64::NAN;
        assert!(matches!(row_scale(&row), Err((3, value)) if value.is_nan()));
    }
}
