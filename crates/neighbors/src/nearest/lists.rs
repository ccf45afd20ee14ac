//! Lists of other items, one per item, end to end: a vector of its own for each of a million items would fragment the heap.

use rayon::prelude::*;

/// Rows that one task takes.
pub(super) const ROWS_PER_CHUNK: usize = 256;

/// One list per item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lists {
    /// The list of item i is `starts[i]..starts[i + 1]`; empty where there are no items.
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of n items as `row` appends them, on all cores. The vector that it gets holds the lists of earlier items, too.
    pub(super) fn by_rows(n: usize, row: impl Fn(usize, &mut Vec<u32>) + Sync) -> Self {
        let of_chunk = |chunk: usize| {
            let (mut ends, mut items) = (Vec::new(), Vec::new());
            for i in chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(n) {
                row(i, &mut items);
                ends.push(items.len());
            }
            (ends, items)
        };
        let chunks: Vec<(Vec<usize>, Vec<u32>)> =
            (0..n.div_ceil(ROWS_PER_CHUNK)).into_par_iter().map(of_chunk).collect();
        let mut lists = Self { starts: vec![0], items: Vec::with_capacity(chunks.iter().map(|one| one.1.len()).sum()) };
        for (ends, items) in chunks {
            let before = lists.items.len();
            lists.starts.extend(ends.into_iter().map(|end| before + end));
            lists.items.extend(items);
        }
        lists
    }

    /// Adds the list of the next item.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.items.extend(list);
        self.starts.push(self.items.len());
    }

    /// Gives back memory that no list needs.
    pub(super) fn shrink(&mut self) {
        self.items.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    /// Number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True if no list has an item.
    pub(super) fn are_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn list(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i]..self.starts[i + 1]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|i| self.list(i))
    }

    /// The lists and those of an earlier pool with every pair in both rows, each once and ascending: the starts of the rows, and their items.
    pub(super) fn symmetric(
        lists: &[Self],
        known: impl Iterator<Item = (usize, usize)> + Clone,
        (starts, others): (&[usize], &[u32]),
    ) -> (Vec<usize>, Vec<u32>) {
        let n = starts.len() - 1;
        let listed = lists.iter().flat_map(|lists| lists.iter().enumerate());
        let pairs = listed.flat_map(|(i, list)| list.iter().map(move |&j| (i, j as usize))).chain(known);
        let mut ends: Vec<usize> = std::iter::once(0).chain(starts.windows(2).map(|row| row[1] - row[0])).collect();
        for (i, j) in pairs.clone() {
            ends[i + 1] += 1;
            ends[j + 1] += 1;
        }
        (0..n).for_each(|i| ends[i + 1] += ends[i]);
        let mut items = vec![0; ends[n]];
        let mut next = ends.clone();
        for (i, row) in starts.windows(2).enumerate() {
            let row = &others[row[0]..row[1]];
            items[next[i]..next[i] + row.len()].copy_from_slice(row);
            next[i] += row.len();
        }
        for (i, j) in pairs {
            for (one, other) in [(i, j), (j, i)] {
                // the index of an item fits
                items[next[one]] = other as u32;
                next[one] += 1;
            }
        }
        let kept: Vec<usize> = by_rows(&ends, &mut items).map(sorted_once).collect();
        let mut starts = Vec::with_capacity(n + 1);
        let mut end = 0;
        for (&first, kept) in ends.iter().zip(kept) {
            starts.push(end);
            items.copy_within(first..first + kept, end);
            end += kept;
        }
        starts.push(end);
        items.truncate(end);
        items.shrink_to_fit();
        (starts, items)
    }
}

/// Values, cut into rows, in parallel and in order.
pub(super) fn by_rows<'a, T: Send>(
    starts: &'a [usize],
    mut values: &'a mut [T],
) -> impl IndexedParallelIterator<Item = &'a mut [T]> {
    let mut rows = Vec::with_capacity(starts.len() - 1);
    for pair in starts.windows(2) {
        let (row, rest) = values.split_at_mut(pair[1] - pair[0]);
        rows.push(row);
        values = rest;
    }
    rows.into_par_iter()
}

/// Brings the distinct items to the front, ascending; their number.
fn sorted_once(row: &mut [u32]) -> usize {
    row.sort_unstable();
    let mut kept = 0;
    for place in 0..row.len() {
        if kept == 0 || row[kept - 1] != row[place] {
            row[kept] = row[place];
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_by_rows_are_those_that_were_pushed() {
        let n = 3 * ROWS_PER_CHUNK + 5;
        let of = |i: usize| (0..i % 4).map(move |place| ((i + place + 1) % n) as u32);
        let mut pushed = Lists::default();
        (0..n).for_each(|i| pushed.push(of(i)));
        assert_eq!(Lists::by_rows(n, |i, row| row.extend(of(i))), pushed);
        assert_eq!((pushed.len(), Lists::default().len()), (n, 0));
        assert!(
            Lists::default().are_empty()
                && !pushed.are_empty()
                && pushed.iter().zip(0..).all(|(list, i)| list.iter().copied().eq(of(i)))
        );
    }

    #[test]
    fn every_pair_is_in_both_rows_once() {
        let mut lists = Lists::default();
        [vec![2, 1], vec![0], vec![], vec![0]].into_iter().for_each(|list| lists.push(list));
        let before: (&[usize], &[u32]) = (&[0, 1, 1, 2, 2], &[2, 0]);
        let (starts, items) = Lists::symmetric(&[lists, Lists::default()], [(1, 3)].into_iter(), before);
        assert_eq!(starts, [0, 3, 5, 6, 8]);
        assert_eq!(items, [1, 2, 3, 0, 3, 0, 0, 1]);
    }
}
