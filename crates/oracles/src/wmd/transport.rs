//! The transportation simplex: the cheapest way to carry supplies to demands, exactly.
//!
//! minimize Σ f_ij c_ij subject to Σ_j f_ij = supply_i, Σ_i f_ij = demand_j, f ≥ 0, with Σ supply = Σ demand.
//!
//! A basis is a spanning tree of the m rows and n columns; potentials with `u_i + v_j = c_ij` on its arcs prove it optimal
//! when no arc has `c_ij − u_i − v_j < 0` (Dantzig 1951). Three things make it fast and safe here:
//!
//! * Masses are whole numbers held in f64, all sums stay below 2⁵³: flows are exact, a tie is a tie, zero is zero. Trees
//!   are kept strongly feasible (every arc without flow points to the root; Cunningham 1976), so degenerate pivots cannot
//!   cycle, and every other pivot moves at least one unit: the method ends, and no cap on its iterations is needed.
//! * The tree is its preorder, an array in which each subtree is one contiguous range: finding the cycle, re-hanging a
//!   subtree and moving its potentials are a few passes over short arrays instead of a chase along pointers.
//! * The first basis serves the rows in the order of their regret against column-reduced costs; pricing looks at
//!   [`ROWS_PRICED`] rows at a time with vector registers and enters the best arc it saw.
//!
//! Cost: O(mn) for the first basis, O(ROWS_PRICED·n + m + n) a pivot; about 5 pivots for two tweets and 2.3·(m + n) for
//! two news articles. Memory: 8·mn + 60·(m + n) bytes, kept for the next problem.

use super::processor::{cheapest, padded, position_of, regret};
use multiversion::multiversion;

/// Rows looked at before the best arc seen enters the basis (measured: 2 to 8 are within 5 %).
const ROWS_PRICED: usize = 4;

/// An arc enters the basis when its reduced cost is below −`TOLERANCE` × the largest |cost|. Near the optimum no potential
/// exceeds twice that cost, so [`REFRESH`] additions round off less than a tenth of the tolerance: what enters then truly
/// improves.
const TOLERANCE: f64 = 1e-12;

/// Pivots after which potentials are computed again from the tree.
const REFRESH: u32 = 256;

const NONE: u32 = u32::MAX;

/// A column j is the node j, a row i the node `stride + i`.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    place: u32,
    /// Nodes of the subtree below and with this one: `preorder[place..place + size]`.
    size: u32,
    flow: f64,
}

const UNLINKED: Node = Node { parent: NONE, place: 0, size: 1, flow: 0.0 };

/// A transportation problem and the room to solve it, reused from one problem to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Transportation {
    rows: usize,
    columns: usize,
    stride: usize,
    /// rows × stride
    costs: Vec<f64>,
    /// Positive whole numbers; used up by the first basis.
    pub(super) supply: Vec<f64>,
    /// Positive whole numbers with the same sum; used up by the first basis.
    pub(super) demand: Vec<f64>,
    /// v of the columns (−∞ in the padding, so that it prices at +∞), then u of the rows.
    potentials: Vec<f64>,
    nodes: Vec<Node>,
    preorder: Vec<u32>,
    /// The subtree being moved; the free places while the first tree is numbered.
    moved: Vec<u32>,
    /// Nodes in the order in which the first basis used them up: children before parents.
    used_up: Vec<u32>,
    row_order: Vec<(f64, u32)>,
    largest_cost: f64,
}

impl Transportation {
    /// Makes room for rows × columns. The caller then fills each [`row_mut`](Self::row_mut), `supply` and `demand`.
    pub(super) fn reshape(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns, self.stride) = (rows, columns, padded(columns));
        self.costs.resize(rows * self.stride, 0.0);
        self.supply.resize(rows, 0.0);
        self.demand.resize(columns, 0.0);
        self.potentials.resize(self.stride + rows, 0.0);
        self.nodes.clear();
        self.nodes.resize(self.stride + rows, UNLINKED);
        self.preorder.resize(rows + columns, 0);
        self.moved.resize(self.stride + rows, 0);
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.costs[i * self.stride..][..self.columns]
    }

    /// Fills the column j of the costs with those of `points`.
    pub(super) fn fill_column(&mut self, j: usize, costs: &[f64], points: &[u32]) {
        for (row, &point) in self.costs.chunks_exact_mut(self.stride).zip(points) {
            row[j] = costs[point as usize];
        }
    }

    pub(super) fn largest(&self) -> f64 {
        let rows = self.costs.chunks_exact(self.stride.max(1)).take(self.rows);
        rows.flat_map(|row| &row[..self.columns]).fold(0.0, |largest, cost| cost.abs().max(largest))
    }

    pub(super) fn scale(&mut self, change: impl Fn(f64) -> f64) {
        for row in self.costs.chunks_exact_mut(self.stride.max(1)).take(self.rows) {
            row[..self.columns].iter_mut().for_each(|cost| *cost = change(*cost));
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.costs[i * self.stride..][..self.stride]
    }

    fn prices(&self) -> &[f64] {
        &self.potentials[..self.stride]
    }

    fn is_row(&self, node: usize) -> bool {
        node >= self.stride
    }

    /// The (row, column) of the arc between two nodes.
    fn arc(&self, a: usize, b: usize) -> (usize, usize) {
        if self.is_row(a) { (a - self.stride, b) } else { (b - self.stride, a) }
    }

    fn arc_cost(&self, a: usize, b: usize) -> f64 {
        let (i, j) = self.arc(a, b);
        self.costs[i * self.stride + j]
    }

    /// Lowest total cost, in cost × units.
    pub(super) fn solve(&mut self) -> f64 {
        solve(self)
    }

    /// Each (row, column, units) of the basis, after [`solve`](Self::solve).
    pub(super) fn flows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.preorder[1..].iter().map(|&x| {
            let node = &self.nodes[x as usize];
            let (i, j) = self.arc(x as usize, node.parent as usize);
            (i, j, node.flow)
        })
    }

    /// Potentials u of the rows and v of the columns, after [`solve`](Self::solve).
    pub(super) fn duals(&mut self) -> (&[f64], &[f64]) {
        self.refresh_potentials();
        (&self.potentials[self.stride..], &self.potentials[..self.columns])
    }

    /// Serves the rows in the order of regret, each from its cheapest open column, and hangs whatever is used up below
    /// the node that used it up. A row of which nothing is left stays open until it hangs below a column by an arc
    /// without flow: such arcs point to the root, as a strongly feasible tree wants.
    #[inline(always)]
    fn first_basis(&mut self) {
        let stride = self.stride;
        self.reduce_columns();
        self.row_order.clear();
        for i in 0..self.rows {
            let key = -regret(self.row(i), self.prices());
            self.row_order.push((key, i as u32));
        }
        self.row_order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.used_up.clear();
        let mut root = stride;
        'rows: for k in 0..self.rows {
            let i = self.row_order[k].1 as usize;
            root = stride + i;
            loop {
                let lowest = cheapest(self.row(i), self.prices());
                if lowest == f64::INFINITY {
                    break 'rows; // no column is open: the sums agree, so this is the last row, and the root
                }
                let j = position_of(lowest, self.row(i), self.prices());
                let (supply, demand) = (self.supply[i], self.demand[j]);
                if supply < demand {
                    self.demand[j] = demand - supply;
                    self.hang_first(root, j, supply);
                    break;
                }
                self.supply[i] = supply - demand;
                self.hang_first(j, root, demand);
                self.potentials[j] = f64::NEG_INFINITY;
            }
        }
        self.number_first(root);
    }

    /// Sets the prices of the columns to their smallest costs and finds the largest |cost|.
    #[inline(always)]
    fn reduce_columns(&mut self) {
        let (columns, stride) = (self.columns, self.stride);
        self.potentials[..columns].fill(f64::INFINITY);
        self.potentials[columns..stride].fill(f64::NEG_INFINITY);
        let mut largest = 0.0_f64;
        for row in self.costs.chunks_exact(stride).take(self.rows) {
            for (price, &cost) in self.potentials[..columns].iter_mut().zip(row) {
                *price = if cost < *price { cost } else { *price };
                largest = if cost.abs() > largest { cost.abs() } else { largest };
            }
        }
        self.largest_cost = largest;
    }

    #[inline(always)]
    fn hang_first(&mut self, child: usize, parent: usize, flow: f64) {
        self.nodes[child].parent = parent as u32;
        self.nodes[child].flow = flow;
        self.used_up.push(child as u32);
    }

    /// Numbers the first tree in preorder. Children were used up before their parents, so sizes add up in that order and
    /// places are given in the reverse of it.
    #[inline(always)]
    fn number_first(&mut self, root: usize) {
        debug_assert_eq!(self.used_up.len() + 1, self.rows + self.columns, "supplies and demands must agree");
        for &x in &self.used_up {
            let Node { parent, size, .. } = self.nodes[x as usize];
            self.nodes[parent as usize].size += size;
        }
        let free = &mut self.moved;
        free[root] = 1;
        self.preorder[0] = root as u32;
        for &x in self.used_up.iter().rev() {
            let Node { parent, size, .. } = self.nodes[x as usize];
            let place = free[parent as usize];
            free[parent as usize] += size;
            free[x as usize] = place + 1;
            self.nodes[x as usize].place = place;
            self.preorder[place as usize] = x;
        }
        self.potentials[root] = 0.0;
        self.refresh_potentials();
    }

    #[inline(always)]
    fn refresh_potentials(&mut self) {
        for k in 1..self.preorder.len() {
            let x = self.preorder[k] as usize;
            let parent = self.nodes[x].parent as usize;
            self.potentials[x] = self.arc_cost(x, parent) - self.potentials[parent];
        }
    }

    /// Brings the arc (row i, column j) of negative reduced cost into the basis.
    #[inline(always)]
    fn pivot(&mut self, i: usize, j: usize, reduced_cost: f64) {
        let row = self.stride + i;
        let (apex, delta, leaving, below_column) = self.cycle(row, j);
        if delta > 0.0 {
            self.push(row, apex, delta);
            self.push(j, apex, delta);
        }
        let (inner, outer) = if below_column { (j, row) } else { (row, j) };
        let range = self.rehang(inner, outer, leaving, apex, delta);
        // the reduced cost of the new arc becomes 0: one side of the cut moves by it, rows against columns
        let shift = if below_column { reduced_cost } else { -reduced_cost };
        let (stride, potentials) = (self.stride, &mut self.potentials);
        let mut move_by = |nodes: &[u32], shift: f64| {
            for &x in nodes {
                potentials[x as usize] += if x as usize >= stride { -shift } else { shift };
            }
        };
        if 2 * range.len() <= self.preorder.len() {
            move_by(&self.preorder[range], shift);
        } else {
            move_by(&self.preorder[..range.start], -shift);
            move_by(&self.preorder[range.end..], -shift);
        }
    }

    /// The cycle that the arc row → column closes: its apex, the units that can go round, the child end of the arc that
    /// leaves, and whether that is on the column's side. Among equals the last arc leaves, as seen from the apex in the
    /// direction of the new arc: this keeps the tree strongly feasible.
    #[inline(always)]
    fn cycle(&self, row: usize, column: usize) -> (usize, f64, usize, bool) {
        let target = self.nodes[column].place;
        let (mut delta, mut leaving, mut below_column) = (f64::INFINITY, row, false);
        let mut x = row;
        loop {
            let node = &self.nodes[x];
            if target.wrapping_sub(node.place) < node.size {
                break;
            }
            if self.is_row(x) && node.flow < delta {
                (delta, leaving) = (node.flow, x);
            }
            x = node.parent as usize;
        }
        let apex = x;
        let mut y = column;
        while y != apex {
            let node = &self.nodes[y];
            if !self.is_row(y) && node.flow <= delta {
                (delta, leaving, below_column) = (node.flow, y, true);
            }
            y = node.parent as usize;
        }
        (apex, delta, leaving, below_column)
    }

    /// Sends `delta` units round the half of the cycle between an end of the new arc and the apex: arcs whose child is of
    /// the kind of that end give them up, the others take them.
    #[inline(always)]
    fn push(&mut self, end: usize, apex: usize, delta: f64) {
        let of_rows = self.is_row(end);
        let mut x = end;
        while x != apex {
            let gives = self.is_row(x) == of_rows;
            let node = &mut self.nodes[x];
            node.flow += if gives { -delta } else { delta };
            x = node.parent as usize;
        }
    }

    /// Cuts the arc above `leaving` and hangs that subtree, turned over so that `inner` is on top, below `outer` with
    /// `flow` units. Returns its new range of the preorder.
    #[inline(always)]
    fn rehang(&mut self, inner: usize, outer: usize, leaving: usize, apex: usize, flow: f64) -> std::ops::Range<usize> {
        let Node { parent, place, size, .. } = self.nodes[leaving];
        let (start, len) = (place as usize, size as usize);
        self.resize_up_to(apex, parent as usize, size.wrapping_neg());
        self.turn_over(inner, outer, leaving, flow);
        let Node { place, size: outer_size, .. } = self.nodes[outer];
        let end = (place + outer_size) as usize;
        self.resize_up_to(apex, outer, size);
        // as first or as last child, whichever moves less
        let first = place as usize + 1;
        let distance = |to: usize| if to <= start { start - to } else { to - (start + len) };
        let to = if distance(first) <= distance(end) { first } else { end };
        let (affected, new_start) = if to <= start {
            self.preorder.copy_within(to..start, to + len);
            (to..start + len, to)
        } else {
            self.preorder.copy_within(start + len..to, start);
            (start..to, to - len)
        };
        self.preorder[new_start..new_start + len].copy_from_slice(&self.moved[..len]);
        for k in affected {
            self.nodes[self.preorder[k] as usize].place = k as u32;
        }
        new_start..new_start + len
    }

    /// Adds `change` (modulo 2³²) to the sizes from `from` up to, not including, the apex.
    #[inline(always)]
    fn resize_up_to(&mut self, apex: usize, from: usize, change: u32) {
        let mut x = from;
        while x != apex {
            let node = &mut self.nodes[x];
            node.size = node.size.wrapping_add(change);
            x = node.parent as usize;
        }
    }

    /// Reverses the arcs between `inner` and `leaving` and writes the subtree's new preorder to `moved`: the old range of
    /// `inner`, then of each node above it what is not yet written.
    #[inline(always)]
    fn turn_over(&mut self, inner: usize, outer: usize, leaving: usize, flow: f64) {
        let whole = self.nodes[leaving].size;
        let mut x = inner;
        let (mut parent, mut flow, mut size) = (outer as u32, flow, whole);
        let (mut low, mut high) = (self.nodes[x].place as usize, self.nodes[x].place as usize);
        let mut written = 0;
        loop {
            let old = self.nodes[x];
            let (begin, end) = (old.place as usize, (old.place + old.size) as usize);
            for part in [begin..low, high..end] {
                let len = part.len();
                self.moved[written..written + len].copy_from_slice(&self.preorder[part]);
                written += len;
            }
            (low, high) = (begin, end);
            self.nodes[x] = Node { parent, place: old.place, size, flow };
            if x == leaving {
                break;
            }
            (parent, flow, size) = (x as u32, old.flow, whole - old.size);
            x = old.parent as usize;
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn solve(problem: &mut Transportation) -> f64 {
    solve_body(problem)
}

#[inline(always)]
fn solve_body(problem: &mut Transportation) -> f64 {
    problem.first_basis();
    let threshold = -TOLERANCE * problem.largest_cost;
    let (mut i, mut without_improvement, mut pivots) = (0, 0, 0_u32);
    while without_improvement < problem.rows {
        let (mut best, mut row, mut lowest) = (threshold, 0, 0.0);
        for _ in 0..ROWS_PRICED {
            let value = cheapest(problem.row(i), problem.prices());
            let reduced_cost = value - problem.potentials[problem.stride + i];
            if reduced_cost < best {
                (best, row, lowest) = (reduced_cost, i, value);
            }
            i = if i + 1 == problem.rows { 0 } else { i + 1 };
        }
        if best < threshold {
            let column = position_of(lowest, problem.row(row), problem.prices());
            problem.pivot(row, column, best);
            without_improvement = 0;
            pivots += 1;
            if pivots.is_multiple_of(REFRESH) {
                problem.refresh_potentials();
            }
        } else {
            without_improvement += ROWS_PRICED;
        }
    }
    problem.preorder[1..]
        .iter()
        .map(|&x| {
            let node = &problem.nodes[x as usize];
            node.flow * problem.arc_cost(x as usize, node.parent as usize)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use rand::Rng;

    use super::*;

    /// Whole masses of equal sum and costs of `distinct` values.
    fn random_problem(seed: u64, rows: usize, columns: usize, distinct: u32) -> Transportation {
        let mut rng = stream(seed, "transport", "problem", 0);
        let mut problem = Transportation::default();
        problem.reshape(rows, columns);
        for i in 0..rows {
            problem.row_mut(i).fill_with(|| f64::from(rng.gen_range(0..distinct)));
        }
        problem.supply.fill_with(|| f64::from(rng.gen_range(1..9)) * columns as f64);
        let total: f64 = problem.supply.iter().sum();
        problem.demand.fill((total / columns as f64).floor());
        problem.demand[0] += total - problem.demand.iter().sum::<f64>();
        problem
    }

    #[test]
    fn every_register_width_gives_the_same_flow_and_bits() {
        for seed in 0..20 {
            let mut widest = random_problem(seed, 23, 31, 1_000_000);
            let mut baseline = widest.clone();
            assert_eq!(solve(&mut widest).to_bits(), solve_body(&mut baseline).to_bits());
            assert!(widest.flows().eq(baseline.flows()));
        }
    }
}
