//! An exact search for an edge coloring: depth first, the edge with the fewest free colors next.

pub(super) enum Outcome {
    Found(Vec<usize>),
    /// No coloring has so few colors.
    Impossible,
    /// The steps are used up.
    GaveUp,
}

/// An edge in progress: its free colors, the next to be tried, and how many colors other edges have.
struct Branch {
    edge: usize,
    free: u128,
    next: usize,
    seen: usize,
}

/// Depth-first search with the most constrained edge next. Colors are bits of a word.
pub(super) struct Search<'a> {
    edges: &'a [(usize, usize)],
    used: Vec<u128>,
    colors: Vec<Option<usize>>,
    available: u128,
    steps: u64,
}

impl<'a> Search<'a> {
    /// Search for a coloring of the edges with `number` colors, in at most `effort` steps.
    pub(super) fn run(nodes: usize, edges: &'a [(usize, usize)], number: usize, effort: u64) -> Outcome {
        if number > 128 {
            return Outcome::GaveUp;
        }
        let available = u128::MAX >> (128 - number);
        let mut search =
            Self { edges, used: vec![0; nodes], colors: vec![None; edges.len()], available, steps: effort };
        match search.color_all() {
            Some(true) => Outcome::Found(search.colors.into_iter().flatten().collect()),
            Some(false) => Outcome::Impossible,
            None => Outcome::GaveUp,
        }
    }

    /// `None` when the steps are used up. Of the colors that no edge has yet only the first is tried: they are alike. Edges in progress are on a
    /// stack of their own, since a graph may have more of them than a thread has room for calls.
    fn color_all(&mut self) -> Option<bool> {
        let mut stack: Vec<Branch> = Vec::new();
        let mut seen = 0;
        'deeper: loop {
            let Some((edge, free)) = self.most_constrained() else { return Some(true) };
            self.steps = self.steps.checked_sub(1)?;
            stack.push(Branch { edge, free, next: 0, seen });
            while let Some(branch) = stack.last_mut() {
                let (a, b) = self.edges[branch.edge];
                if let Some(color) = self.colors[branch.edge].take() {
                    self.used[a] &= !(1 << color);
                    self.used[b] &= !(1 << color);
                }
                let last = branch.seen.min(127);
                if let Some(color) = (branch.next..=last).find(|color| branch.free >> color & 1 == 1) {
                    self.colors[branch.edge] = Some(color);
                    self.used[a] |= 1 << color;
                    self.used[b] |= 1 << color;
                    branch.next = color + 1;
                    seen = branch.seen.max(color + 1);
                    continue 'deeper;
                }
                stack.pop();
            }
            return Some(false);
        }
    }

    /// The uncolored edge with the fewest free colors, and those.
    fn most_constrained(&self) -> Option<(usize, u128)> {
        let free = |edge: usize| self.available & !(self.used[self.edges[edge].0] | self.used[self.edges[edge].1]);
        (0..self.edges.len())
            .filter(|&edge| self.colors[edge].is_none())
            .map(|edge| (edge, free(edge)))
            .min_by_key(|(_, free)| free.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_edges_are_colored_on_a_small_stack() {
        // each edge would be a call within a call
        let edges: Vec<(usize, usize)> = (0..3_000).map(|edge| (2 * edge, 2 * edge + 1)).collect();
        let run = move || match Search::run(6_000, &edges, 2, 10_000) {
            Outcome::Found(colors) => colors.len(),
            _ => 0,
        };
        let small = std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap();
        assert_eq!(small.join().unwrap(), 3_000);
    }
}
