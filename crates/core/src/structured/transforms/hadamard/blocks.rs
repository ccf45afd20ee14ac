//! The order in which memory is swept: each number is read and written as seldom as the caches allow.
//!
//! A leaf of 16 KiB takes its lowest levels in registers, the others three at a time. A part of 512 KiB takes the levels above its
//! leaves three at a time too, in the second-level cache. Longer data take their top levels first, three in a sweep over eight rows
//! side by side: as many as a cache keeps lines whose addresses differ by a power of two. Panels of more rows, which go to a buffer and
//! back, were measured to be slower: half of their lines are gone when they are written. Parts are done depth first, so that all
//! sweeps but the first find what they need in the third-level cache, if that holds it. The longest are swept by all threads at once,
//! some columns of the eight rows each ([`top`]), and the rows are then data of their own: the same sums in the same order. Sixteen rows
//! in the 32 registers of AVX-512VL were measured to take more than twice the time: no cache keeps so many lines of one set.

use super::lanes::Lanes;

/// What is transformed in the first-level cache.
const LEAF: usize = 1 << 14;
/// What stays in the second-level cache.
pub(super) const PART: usize = 1 << 19;
/// L numbers as they lie in memory.
type Cell<const L: usize, V> = [<V as Lanes<L>>::Scalar; L];

/// The numbers of a block whose low levels are done in registers.
const FIRST: usize = 8;

/// Transforms `data`, a power of two of registers and at least eight.
///
/// Always inlined, as all below: the caller decides for which processor they are compiled. Closures would not be.
#[inline(always)]
pub(super) fn by_cache<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>]) {
    let (leaf, part) = (LEAF / size_of::<Cell<L, V>>(), PART / size_of::<Cell<L, V>>());
    // lengths whose top levels come first, longest first; sixteen cuts of three levels reach 2⁴⁸ parts
    let mut cuts = [(0, 0); 16];
    let (mut depth, mut length) = (0, data.len());
    while length > part {
        let rows = (length / part).min(8);
        cuts[depth] = (length, length / rows);
        length /= rows;
        depth += 1;
    }
    // part by part, each cut where it begins: what was just swept is swept again soon
    for first in (0..data.len()).step_by(length) {
        for &(length, stride) in &cuts[..depth] {
            if first.is_multiple_of(length) {
                levels::<L, V>(&mut data[first..first + length], stride);
            }
        }
        let part = &mut data[first..first + length];
        let leaf = leaf.min(length);
        for leaf in part.chunks_exact_mut(leaf) {
            lowest::<L, V>(leaf);
            levels::<L, V>(leaf, FIRST);
        }
        levels::<L, V>(part, leaf);
    }
}

/// The three levels above eight rows of one length.
#[inline(always)]
pub(super) fn top<const L: usize, V: Lanes<L>>(rows: [&mut [Cell<L, V>]; 8]) {
    columns::<L, V, 8>(rows);
}

/// All levels of each block of eight registers.
#[inline(always)]
fn lowest<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>]) {
    for block in data.as_chunks_mut::<FIRST>().0 {
        let mut x = [V::load(&block[0]); FIRST];
        for i in 0..FIRST {
            x[i] = V::load(&block[i]).transformed();
        }
        butterflies::<L, V, FIRST>(&mut x);
        for i in 0..FIRST {
            x[i].store(&mut block[i]);
        }
    }
}

/// The levels from `stride` registers on, three at a time, what is over first.
#[inline(always)]
fn levels<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>], mut stride: usize) {
    while stride < data.len() {
        stride *= match (data.len() / stride).ilog2() % 3 {
            1 => radix::<L, V, 2>(data, stride),
            2 => radix::<L, V, 4>(data, stride),
            _ => radix::<L, V, 8>(data, stride),
        };
    }
}

/// log₂ R levels from `stride` registers on. Returns R.
#[inline(always)]
fn radix<const L: usize, V: Lanes<L>, const R: usize>(data: &mut [Cell<L, V>], stride: usize) -> usize {
    for block in data.chunks_exact_mut(R * stride) {
        let mut rest = block.chunks_exact_mut(stride);
        columns::<L, V, R>(std::array::from_fn(|_| rest.next().unwrap_or_default()));
    }
    R
}

/// The log₂ R levels above R rows of one length.
#[inline(always)]
fn columns<const L: usize, V: Lanes<L>, const R: usize>(rows: [&mut [Cell<L, V>]; R]) {
    let length = rows[0].len();
    // once, so that it need not be asked for each column
    assert!(rows.iter().all(|row| row.len() == length));
    #[allow(clippy::needless_range_loop)] // a column of all rows, not one of `rows`
    for column in 0..length {
        let mut x = [V::load(&rows[0][column]); R];
        for i in 1..R {
            x[i] = V::load(&rows[i][column]);
        }
        butterflies::<L, V, R>(&mut x);
        for i in 0..R {
            x[i].store(&mut rows[i][column]);
        }
    }
}

/// The transform of R registers, the highest level first.
#[inline(always)]
fn butterflies<const L: usize, V: Lanes<L>, const R: usize>(x: &mut [V; R]) {
    let mut distance = R / 2;
    while distance > 0 {
        for i in 0..R {
            if i & distance == 0 {
                let (a, b) = (x[i], x[i + distance]);
                (x[i], x[i + distance]) = (a.plus(b), a.minus(b));
            }
        }
        distance /= 2;
    }
}
