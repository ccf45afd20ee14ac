//! Levels between rows of one length side by side: [`columns`] of up to eight rows, which fit the registers, [`top`] of up to 64.
//!
//! More than eight go through a buffer, since no cache keeps so many lines whose addresses differ by a power of two: some columns of all rows
//! are read in groups of eight, take half of the levels and stay in the buffer, from which they take the other half on their way
//! back. Sixteen rows in the 32 registers of AVX-512VL were measured to take twice the time, stores around the caches as well.
//!
//! An allocator hands out long vectors 16 bytes past a boundary, where every other register would lie across two cache lines, which costs
//! up to half as much again. Columns therefore begin at the first boundary within their rows, and what is left at both ends of a row
//! is taken number by number.

use super::ahead::{Ahead, fetch};
use super::lanes::{Cell, Lanes, butterflies};

/// The most rows that are swept side by side.
pub(super) const MOST: usize = 64;
/// Half of the registers of a row that go through a buffer at a time.
const HALF: usize = 16;
/// The registers of such a row in the buffer: a cache line more, so that rows do not lie a power of two apart there too.
const PITCH: usize = 2 * HALF + 2;

/// The levels above `rows` of one length, 2, 4 … 64 of them.
#[inline(always)]
pub(super) fn top<const L: usize, V: Lanes<L>>(rows: &mut [&mut [Cell<L, V>]]) {
    match rows {
        [a, b] => columns::<L, V, 2>([a, b], &mut Ahead::none()),
        [a, b, c, d] => columns::<L, V, 4>([a, b, c, d], &mut Ahead::none()),
        [a, b, c, d, e, f, g, h] => columns::<L, V, 8>([a, b, c, d, e, f, g, h], &mut Ahead::none()),
        _ => {
            // both ends of a row are taken number by number
            let head = head::<L, V>(rows[0]);
            let (mut first, mut cells, mut last) = (Vec::new(), Vec::new(), Vec::new());
            for row in rows {
                let (start, middle, end) = cut(row, head);
                first.push(start);
                cells.push(middle);
                last.push(end);
            }
            panels::<1, V::Single>(&mut first);
            panels::<L, V>(&mut cells);
            panels::<1, V::Single>(&mut last);
        }
    }
}

/// The same of 16, 32 or 64 rows that begin where a register may.
#[inline(always)]
fn panels<const L: usize, V: Lanes<L>>(rows: &mut [&mut [Cell<L, V>]]) {
    match rows.len() {
        16 => two_steps::<L, V, 4, 4>(rows),
        32 => two_steps::<L, V, 8, 4>(rows),
        _ => two_steps::<L, V, 8, 8>(rows),
    }
}

/// The levels above A · B rows: log₂ A of them on the way to a buffer, log₂ B on the way back.
#[inline(always)]
fn two_steps<const L: usize, V: Lanes<L>, const A: usize, const B: usize>(rows: &mut [&mut [Cell<L, V>]]) {
    let length = rows[0].len();
    assert!(rows.len() == A * B && rows.iter().all(|row| row.len() == length));
    let Some(any) = rows[0].first() else { return };
    let mut buffer = [[V::load(any); PITCH]; MOST];
    for run in (0..length).step_by(2 * HALF) {
        // half a run of a group of rows after the other; the place of the next is asked for meanwhile
        let place = |step: usize, groups: usize| (step / 2 % groups, run + step % 2 * HALF);
        for step in 0..2 * B {
            let ((group, start), (next, ahead)) = (place(step, B), place(step + 1, B));
            for column in start..(start + HALF).min(length) {
                let mut x = [V::load(&rows[group][column]); A];
                for i in 0..A {
                    x[i] = V::load(&rows[group + i * B][column]);
                    fetch::<true, _>(rows[next + i * B].as_ptr().wrapping_add(ahead + column - start));
                }
                butterflies::<L, V, A>(&mut x);
                for i in 0..A {
                    buffer[group + i * B][column - run] = x[i];
                }
            }
        }
        for step in 0..2 * A {
            let ((group, start), (next, ahead)) = (place(step, A), place(step + 1, A));
            for column in start..(start + HALF).min(length) {
                let mut x = [buffer[group * B][column - run]; B];
                for i in 0..B {
                    x[i] = buffer[group * B + i][column - run];
                    fetch::<true, _>(rows[next * B + i].as_ptr().wrapping_add(ahead + column - start));
                }
                butterflies::<L, V, B>(&mut x);
                for i in 0..B {
                    x[i].store(&mut rows[group * B + i][column]);
                }
            }
        }
    }
}

/// The log₂ R levels above R rows of one length, which lie a multiple of a register apart.
#[inline(always)]
pub(super) fn columns<const L: usize, V: Lanes<L>, const R: usize>(rows: [&mut [Cell<L, V>]; R], ahead: &mut Ahead) {
    let head = head::<L, V>(rows[0]);
    if head == 0 {
        return aligned_columns::<L, V, R>(rows, ahead);
    }
    // both ends of a row are taken number by number
    let mut cut = rows.map(|row| cut(row, head));
    aligned_columns::<1, V::Single, R>(cut.each_mut().map(|(first, _, _)| &mut **first), ahead);
    aligned_columns::<1, V::Single, R>(cut.each_mut().map(|(_, _, last)| &mut **last), ahead);
    aligned_columns::<L, V, R>(cut.map(|(_, cells, _)| cells), ahead);
}

/// Numbers of a row before a register may begin; none where it never may.
#[inline(always)]
fn head<const L: usize, V: Lanes<L>>(row: &[Cell<L, V>]) -> usize {
    let head = row.as_ptr().cast::<V::Scalar>().align_offset(size_of::<Cell<L, V>>());
    if head < L && !row.is_empty() { head } else { 0 }
}

/// Numbers one by one, as registers of one.
type Singles<'a, T> = &'a mut [[T; 1]];

/// The first `head` numbers of a row, what follows in registers, and the rest.
#[inline(always)]
fn cut<const L: usize, T>(row: &mut [[T; L]], head: usize) -> (Singles<'_, T>, &mut [[T; L]], Singles<'_, T>) {
    let (first, rest) = row.as_flattened_mut().split_at_mut(head);
    let (cells, last) = rest.as_chunks_mut::<L>();
    (first.as_chunks_mut().0, cells, last.as_chunks_mut().0)
}

/// The same of rows that begin where a register may.
#[inline(always)]
fn aligned_columns<const L: usize, V: Lanes<L>, const R: usize>(rows: [&mut [Cell<L, V>]; R], ahead: &mut Ahead) {
    let length = rows[0].len();
    // once, so that it need not be asked for each column
    assert!(rows.iter().all(|row| row.len() == length));
    #[allow(clippy::needless_range_loop)] // a column of all rows, not one of `rows`
    for column in 0..length {
        ahead.fetch();
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
