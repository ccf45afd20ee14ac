//! An exact search for an edge colouring: depth first, the edge with the fewest free colours next.

/// Outcome of a search.
pub(super) enum Outcome {
    /// A colour for each edge.
    Found(Vec<usize>),
    /// No colouring has so few colours.
    Impossible,
    /// The steps are used up.
    GaveUp,
}

/// Depth-first search with the most constrained edge next. Colours are bits of a word.
pub(super) struct Search<'a> {
    edges: &'a [(usize, usize)],
    /// Colours at each node.
    used: Vec<u128>,
    colors: Vec<Option<usize>>,
    available: u128,
    steps: u64,
}

impl<'a> Search<'a> {
    /// Search for a colouring of the edges with `number` colours, in at most `effort` steps.
    pub(super) fn run(nodes: usize, edges: &'a [(usize, usize)], number: usize, effort: u64) -> Outcome {
        if number > 128 {
            return Outcome::GaveUp;
        }
        let available = u128::MAX >> (128 - number);
        let mut search =
            Self { edges, used: vec![0; nodes], colors: vec![None; edges.len()], available, steps: effort };
        match search.color_the_rest(0) {
            Some(true) => Outcome::Found(search.colors.into_iter().flatten().collect()),
            Some(false) => Outcome::Impossible,
            None => Outcome::GaveUp,
        }
    }

    /// `None` when the steps are used up. Of the colours that no edge has yet only the first is tried: they are alike.
    fn color_the_rest(&mut self, colors_seen: usize) -> Option<bool> {
        let Some((edge, free)) = self.most_constrained() else { return Some(true) };
        self.steps = self.steps.checked_sub(1)?;
        let (a, b) = self.edges[edge];
        for color in 0..128 {
            if color > colors_seen || free >> color == 0 {
                break;
            }
            let bit = 1_u128 << color;
            if free & bit == 0 {
                continue;
            }
            self.colors[edge] = Some(color);
            self.used[a] |= bit;
            self.used[b] |= bit;
            let result = self.color_the_rest(colors_seen.max(color + 1));
            if result != Some(false) {
                return result;
            }
            self.colors[edge] = None;
            self.used[a] &= !bit;
            self.used[b] &= !bit;
        }
        Some(false)
    }

    /// The uncoloured edge with the fewest free colours, and those.
    fn most_constrained(&self) -> Option<(usize, u128)> {
        let free = |edge: usize| self.available & !(self.used[self.edges[edge].0] | self.used[self.edges[edge].1]);
        (0..self.edges.len())
            .filter(|&edge| self.colors[edge].is_none())
            .map(|edge| (edge, free(edge)))
            .min_by_key(|(_, free)| free.count_ones())
    }
}
