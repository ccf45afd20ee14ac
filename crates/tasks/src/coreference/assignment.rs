//! The heaviest matching of a sparse bipartite graph: the optimal alignment of CEAF.
//!
//! A key cluster has weight only with response clusters it shares a mention with, so the graph has at most as many edges as there
//! are mentions; Kuhn–Munkres on the full table of 10,000 × 10,000 clusters would take minutes. Shortest augmenting paths
//! (Jonker & Volgenant 1987) on the edges alone. First rows bid: each takes its cheapest column (cost −weight − price) and lowers its price
//! by the lead over the second choice, whoever had it bids again. A row that finds a tie instead is matched along the path of
//! least reduced cost, found by Dijkstra's search under the prices. A row may also stay unmatched at cost 0.
//!
//! Cost: O(rows · edges · log edges) at worst; a row whose best column is free costs its own edges. Memory: O(rows + columns + edges).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The sum of weights of the heaviest matching. `rows[i]` lists the edges of row i as (column, weight > 0), each column once;
/// columns are numbered below `columns`. Rows and columns may stay unmatched.
pub fn max_weight_matching(rows: &[Vec<(usize, f64)>], columns: usize) -> f64 {
    let mut search = Search::new(rows, columns);
    for row in search.bid() {
        search.match_row(row);
    }
    search.taken.iter().flatten().map(|edge| edge.weight).sum()
}

#[derive(Clone, Copy)]
struct Edge {
    column: usize,
    weight: f64,
}

struct Search {
    /// The edges of all rows, one row after the other.
    edges: Vec<Edge>,
    /// Start of the edges of each row, and the end of the last.
    starts: Vec<usize>,
    taken: Vec<Option<Edge>>,
    row_of: Vec<Option<usize>>,
    /// Column prices, ≤ 0: an edge costs −weight − price.
    prices: Vec<f64>,
    /// Least cost of a path to each column in the current search, valid where `seen` is the number of the search.
    costs: Vec<f64>,
    /// The row that such a path comes from, and the weight of its last edge.
    came_from: Vec<(usize, f64)>,
    seen: Vec<usize>,
    /// The search in which a column was settled last; rounding must not open it again.
    closed: Vec<usize>,
    settled: Vec<usize>,
    number: usize,
    heap: BinaryHeap<Nearest>,
    /// Columns no further away than what was settled last: clusters of few sizes have few different weights, so that most are tied.
    level: Vec<usize>,
}

/// Bids before the rows that are left are matched by search.
const BIDS_A_ROW: usize = 100;

#[derive(PartialEq)]
struct Nearest {
    cost: f64,
    column: usize,
}

impl Eq for Nearest {}

impl Ord for Nearest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.column.cmp(&self.column))
    }
}

impl PartialOrd for Nearest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

enum End {
    Free(usize),
    /// At a row that gives up its column and stays unmatched.
    Unmatched(usize),
}

impl Search {
    fn new(rows: &[Vec<(usize, f64)>], columns: usize) -> Self {
        let starts = std::iter::once(0).chain(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        Self {
            edges: rows.iter().flatten().map(|&(column, weight)| Edge { column, weight }).collect(),
            starts: starts.collect(),
            taken: vec![None; rows.len()],
            row_of: vec![None; columns],
            prices: vec![0.0; columns],
            costs: vec![0.0; columns],
            came_from: vec![(0, 0.0); columns],
            seen: vec![0; columns],
            closed: vec![0; columns],
            settled: Vec::new(),
            number: 0,
            heap: BinaryHeap::new(),
            level: Vec::new(),
        }
    }

    /// Rows take their best column in turn, a number of times that is bounded; the rows that are left.
    fn bid(&mut self) -> Vec<usize> {
        let mut bidders: Vec<usize> = (0..self.taken.len()).rev().collect();
        let (mut left, mut bids) = (Vec::new(), BIDS_A_ROW * self.taken.len());
        while let Some(row) = bidders.pop() {
            let Some((edge, lead)) = self.best_edge(row) else { continue };
            // a tie for a column that is taken would be bid for without end
            if bids == 0 || (lead == 0.0 && self.row_of[edge.column].is_some()) {
                left.push(row);
                continue;
            }
            bids -= 1;
            self.prices[edge.column] -= lead;
            self.taken[row] = Some(edge);
            if let Some(outbid) = self.row_of[edge.column].replace(row) {
                self.taken[outbid] = None;
                bidders.push(outbid);
            }
        }
        left
    }

    fn edges_of(&self, row: usize) -> &[Edge] {
        &self.edges[self.starts[row]..self.starts[row + 1]]
    }

    /// The edge of a row to its cheapest column, a free one among equals, and its lead over the second choice; none where the row had
    /// better stay unmatched.
    fn best_edge(&self, row: usize) -> Option<(Edge, f64)> {
        let (mut best, mut first, mut second) = (None, 0.0, f64::INFINITY);
        let is_free = |edge: &Edge| self.row_of[edge.column].is_none();
        for edge in self.edges_of(row) {
            let cost = -edge.weight - self.prices[edge.column];
            if cost < first {
                (best, second, first) = (Some(*edge), first, cost);
            } else {
                second = second.min(cost);
                if cost == first && best.is_some_and(|best| !is_free(&best)) && is_free(edge) {
                    best = Some(*edge);
                }
            }
        }
        best.map(|edge| (edge, second - first))
    }

    /// Finds the cheapest path from a free row to a free column or to a row that is better left alone, and flips it.
    fn match_row(&mut self, start: usize) {
        self.number += 1;
        self.settled.clear();
        self.heap.clear();
        self.level.clear();
        let (mut end, mut least) = (End::Unmatched(start), 0.0);
        self.relax(start, 0.0, f64::NEG_INFINITY, least);
        while let Some((cost, column)) = self.next_column() {
            if cost >= least {
                break;
            }
            let Some(row) = self.row_of[column] else {
                (end, least) = (End::Free(column), cost);
                break;
            };
            self.closed[column] = self.number;
            self.settled.push(column);
            // the row's own reduced cost: its matched edge is tight, so leaving it costs what the edge was worth
            let slack = cost + self.taken[row].map_or(0.0, |edge| edge.weight) + self.prices[column];
            if slack < least {
                (end, least) = (End::Unmatched(row), slack);
            }
            if let Some(free) = self.relax(row, slack, cost, least) {
                (end, least) = (End::Free(free), cost);
                break;
            }
        }
        for &column in &self.settled {
            self.prices[column] += (self.costs[column] - least).min(0.0);
        }
        self.flip(start, end);
    }

    fn next_column(&mut self) -> Option<(f64, usize)> {
        loop {
            let (cost, column) = match self.level.pop() {
                Some(column) => (self.costs[column], column),
                None => self.heap.pop().map(|Nearest { cost, column }| (cost, column))?,
            };
            if self.closed[column] != self.number && cost <= self.costs[column] {
                return Some((cost, column));
            }
        }
    }

    /// Looks at the edges of a row; a free column that costs no more than what was settled last ends the search, and what costs
    /// no less than the best end so far is not looked at again.
    fn relax(&mut self, row: usize, so_far: f64, settled: f64, least: f64) -> Option<usize> {
        for &Edge { column, weight } in &self.edges[self.starts[row]..self.starts[row + 1]] {
            let cost = so_far - weight - self.prices[column];
            let is_open = self.closed[column] != self.number;
            if is_open && cost < least && (self.seen[column] != self.number || cost < self.costs[column]) {
                self.seen[column] = self.number;
                self.costs[column] = cost;
                self.came_from[column] = (row, weight);
                if cost <= settled && self.row_of[column].is_none() {
                    return Some(column);
                }
                if cost <= settled {
                    self.level.push(column);
                } else {
                    self.heap.push(Nearest { cost, column });
                }
            }
        }
        None
    }

    /// Matches along the path back to `start`.
    fn flip(&mut self, start: usize, end: End) {
        let mut column = match end {
            End::Free(column) => column,
            End::Unmatched(row) if row == start => return,
            End::Unmatched(row) => {
                let Some(freed) = self.taken[row].take() else { return };
                freed.column
            }
        };
        loop {
            let (row, weight) = self.came_from[column];
            let before = self.taken[row].replace(Edge { column, weight });
            self.row_of[column] = Some(row);
            match before {
                Some(next) if row != start => column = next.column,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use pathfinding::matrix::Matrix;
    use pathfinding::prelude::kuhn_munkres;
    use rand::Rng;

    use super::*;

    #[test]
    fn the_matching_is_as_heavy_as_that_of_kuhn_and_munkres() {
        for case in 0..400_u64 {
            let rng = &mut stream(2022, "test", "matching", case);
            // a few are large and sparse, as clusters are
            let most = if case % 10 == 0 { 90 } else { 12 };
            let (rows, columns) = (rng.gen_range(1..most), rng.gen_range(1..most));
            let density = rng.gen_range(0.1..1.0) * 12.0 / most as f64;
            let largest = if case % 3 == 0 { 3 } else { 1000 }; // few values: many ties
            let table: Vec<Vec<i64>> = (0..rows)
                .map(|_| {
                    (0..columns).map(|_| if rng.gen_bool(density) { rng.gen_range(1..=largest) } else { 0 }).collect()
                })
                .collect();
            let edges: Vec<Vec<(usize, f64)>> = table
                .iter()
                .map(|row| (0..columns).filter(|&j| row[j] > 0).map(|j| (j, row[j] as f64)).collect())
                .collect();
            let side = rows.max(columns);
            let square = |i: usize, j: usize| table.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
            let full = Matrix::from_fn(side, side, |(i, j)| square(i, j));
            // sums of whole numbers are exact
            assert_eq!(max_weight_matching(&edges, columns), kuhn_munkres(&full).0 as f64, "case {case}: {table:?}");
        }
    }
}
