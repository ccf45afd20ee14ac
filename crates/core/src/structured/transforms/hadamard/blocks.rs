//! The order in which memory is swept: each number is read and written as seldom as the caches allow.
//!
//! A leaf of 16 KiB takes its lowest levels in registers and a small buffer, the next three in the first-level cache; meanwhile the next leaf
//! is asked for, so that memory does not wait for the processor. A part of 128 KiB takes the three levels above its leaves in the
//! second-level cache. Longer data take the levels above their parts first, up to six in one sweep over memory ([`super::rows::top`]),
//! and then part by part. Parts are of 512 KiB, with five levels above their leaves, where that spares a sweep.

use super::ahead::Ahead;
use super::lanes::{Cell, Lanes, butterflies};
use super::rows::{self, columns};

/// What is transformed in the first-level cache.
const LEAF: usize = 1 << 14;
/// What takes one sweep over the second-level cache beside that of its leaves.
const PART: usize = 1 << 17;
/// What takes two, which is better than one more over memory.
const LONG_PART: usize = 1 << 19;

/// The registers of a block whose low levels are done in registers.
const FIRST: usize = 8;
/// Those of a block whose low levels are done on the way through a buffer.
const SECOND: usize = FIRST * FIRST;

/// The rows in which `bytes` take their highest levels in one sweep ([`super::rows::top`]); one where they are a part or less.
pub(super) fn top_rows(bytes: usize) -> usize {
    let levels = |part: usize| (bytes / part).max(1).ilog2();
    let sweeps = |part: usize| levels(part).div_ceil(rows::MOST.ilog2());
    let levels = levels(if sweeps(LONG_PART) < sweeps(PART) { LONG_PART } else { PART });
    match levels % rows::MOST.ilog2() {
        0 if levels > 0 => rows::MOST,
        // what is over first
        over => 1 << over,
    }
}

/// Transforms vectors of `length` registers, one after the other: a power of two, at least eight, no more than a part.
///
/// Always inlined, as all below: the caller decides for which processor they are compiled. Closures would not be.
#[inline(always)]
pub(super) fn by_cache<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>], length: usize) {
    let leaf = (LEAF / size_of::<Cell<L, V>>()).min(length);
    let end = data.as_ptr_range().end.addr();
    for vector in data.chunks_exact_mut(length) {
        for leaf in vector.chunks_exact_mut(leaf) {
            let next = leaf.as_ptr_range().end.addr();
            let mut ahead = Ahead::new(next, end.min(next + size_of_val(leaf)));
            let done = lowest::<L, V>(leaf, &mut ahead);
            levels::<L, V>(leaf, done, &mut ahead);
        }
        levels::<L, V>(vector, leaf, &mut Ahead::none());
    }
}

/// All levels of each block of 64 registers, or of eight where there are no more. Returns the length of such a block.
#[inline(always)]
fn lowest<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>], ahead: &mut Ahead) -> usize {
    let (blocks, rest) = data.as_chunks_mut::<SECOND>();
    for block in blocks {
        // three quarters of such a block; the levels that follow ask for the rest
        for _ in 0..size_of_val(block) / Ahead::LINE * 3 / 4 {
            ahead.fetch();
        }
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
fn levels<const L: usize, V: Lanes<L>>(data: &mut [Cell<L, V>], mut stride: usize, ahead: &mut Ahead) {
    while stride < data.len() {
        stride *= match (data.len() / stride).ilog2() % 3 {
            1 => radix::<L, V, 2>(data, stride, ahead),
            2 => radix::<L, V, 4>(data, stride, ahead),
            _ => radix::<L, V, 8>(data, stride, ahead),
        };
    }
}

/// log₂ R levels from `stride` registers on. Returns R.
#[inline(always)]
fn radix<const L: usize, V: Lanes<L>, const R: usize>(
    data: &mut [Cell<L, V>],
    stride: usize,
    ahead: &mut Ahead,
) -> usize {
    for block in data.chunks_exact_mut(R * stride) {
        let mut rest = block.chunks_exact_mut(stride);
        columns::<L, V, R>(std::array::from_fn(|_| rest.next().unwrap_or_default()), ahead);
    }
    R
}
