//! The order in which memory is swept: each number is read and written as seldom as the caches allow.
//!
//! A leaf of 16 KiB takes its lowest levels in registers and a small buffer, the others three at a time. A part of 512 KiB takes the levels
//! above its leaves three at a time too, in the second-level cache. Longer data take their top levels first, three in a sweep over eight rows
//! side by side: as many as a cache keeps lines whose addresses differ by a power of two. Panels of more rows, which go to a buffer and
//! back, were measured to be slower: half of their lines are gone when they are written. Parts are done depth first, so that all
//! sweeps but the first find what they need in the third-level cache, if that holds it. The longest are swept by all threads at once,
//! some columns of the eight rows each ([`top`]), and the rows are then data of their own: the same sums in the same order. Sixteen rows
//! in the 32 registers of AVX-512VL were measured to take more than twice the time: no cache keeps so many lines of one set.
//!
//! An allocator hands out long vectors 16 bytes past a boundary, where every other register would lie across two cache lines, which costs
//! up to half as much again. Columns therefore begin at the first boundary within their rows, and what is left at both ends of a row
//! is taken number by number.

use super::lanes::Lanes;

/// What is transformed in the first-level cache.
const LEAF: usize = 1 << 14;
/// What stays in the second-level cache.
pub(super) const PART: usize = 1 << 19;
/// L numbers as they lie in memory.
type Cell<const L: usize, V> = [<V as Lanes<L>>::Scalar; L];

/// The registers of a block whose low levels are done in registers.
const FIRST: usize = 8;
/// Those of a block whose low levels are done on the way through a buffer.
const SECOND: usize = FIRST * FIRST;

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
            let done = lowest::<L, V>(leaf);
            levels::<L, V>(leaf, done);
        }
        levels::<L, V>(part, leaf);
    }
}

/// The three levels above eight rows of one length.
#[inline(always)]
pub(super) fn top<const L: usize, V: Lanes<L>>(rows: [&mut [Cell<L, V>]; 8]) {
    columns::<L, V, 8>(rows);
}

/// All levels of each block of 64 registers, or of eight where there are no more. Returns the length of such a block.
#[inline(always)]
fn lowest<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>]) -> usize {
    let (blocks, rest) = data.as_chunks_mut::<SECOND>();
    for block in blocks {
        let mut buffer = [V::load(&block[0]); SECOND];
        for (cells, room) in block.as_chunks::<FIRST>().0.iter().zip(buffer.as_chunks_mut::<FIRST>().0) {
            *room = registers::<L, V>(cells);
        }
        for column in 0..FIRST {
            let mut x = [buffer[column]; FIRST];
            for i in 1..FIRST {
                x[i] = buffer[i * FIRST + column];
            }
            butterflies::<L, V, FIRST>(&mut x);
            for i in 0..FIRST {
                x[i].store(&mut block[i * FIRST + column]);
            }
        }
    }
    // a power of two is whole blocks of the larger kind, or has none
    for block in rest.as_chunks_mut::<FIRST>().0 {
        let x = registers::<L, V>(block);
        for i in 0..FIRST {
            x[i].store(&mut block[i]);
        }
    }
    if rest.is_empty() { SECOND } else { FIRST }
}

/// All levels of eight registers.
#[inline(always)]
fn registers<const L: usize, V: Lanes<L>>(block: &[Cell<L, V>; FIRST]) -> [V; FIRST] {
    let mut x = [V::load(&block[0]); FIRST];
    for i in 0..FIRST {
        x[i] = V::load(&block[i]).transformed();
    }
    butterflies::<L, V, FIRST>(&mut x);
    x
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

/// The log₂ R levels above R rows of one length, which lie a multiple of a register apart.
#[inline(always)]
fn columns<const L: usize, V: Lanes<L>, const R: usize>(rows: [&mut [Cell<L, V>]; R]) {
    let head = rows[0].as_ptr().cast::<V::Scalar>().align_offset(size_of::<Cell<L, V>>());
    if head == 0 || head >= L || rows[0].is_empty() {
        return aligned_columns::<L, V, R>(rows);
    }
    // both ends of a row are taken number by number
    let mut cut = rows.map(|row| {
        let (first, rest) = row.as_flattened_mut().split_at_mut(head);
        let (cells, last) = rest.as_chunks_mut::<L>();
        (first.as_chunks_mut::<1>().0, cells, last.as_chunks_mut::<1>().0)
    });
    aligned_columns::<1, V::Single, R>(cut.each_mut().map(|(first, _, _)| &mut **first));
    aligned_columns::<1, V::Single, R>(cut.each_mut().map(|(_, _, last)| &mut **last));
    aligned_columns::<L, V, R>(cut.map(|(_, cells, _)| cells));
}

/// The same of rows that begin where a register may.
#[inline(always)]
fn aligned_columns<const L: usize, V: Lanes<L>, const R: usize>(rows: [&mut [Cell<L, V>]; R]) {
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
