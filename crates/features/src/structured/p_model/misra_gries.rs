//! Edge coloring with one color more than the largest degree, as Vizing's theorem promises.
//!
//! Misra & Gries 1992: for each edge (u, v) a fan of neighbors of u, a path of two colors turned round, the fan moved by one.
//! Cost: O(edges · nodes).

/// Colors 0 … `number` − 1 for the edges, `number` = Δ + 1.
pub(super) fn one_more_than_degree(nodes: usize, edges: &[(usize, usize)], number: usize) -> Vec<usize> {
    let mut coloring =
        EdgeColoring { edges, number, edge_at: vec![None; nodes * number], colors: vec![None; edges.len()] };
    (0..edges.len()).for_each(|edge| coloring.color(edge));
    coloring.colors.into_iter().flatten().collect()
}

struct EdgeColoring<'a> {
    edges: &'a [(usize, usize)],
    number: usize,
    edge_at: Vec<Option<usize>>,
    colors: Vec<Option<usize>>,
}

impl EdgeColoring<'_> {
    fn at(&self, node: usize, color: usize) -> Option<usize> {
        self.edge_at[node * self.number + color]
    }

    fn other_end(&self, edge: usize, node: usize) -> usize {
        let (a, b) = self.edges[edge];
        if node == a { b } else { a }
    }

    fn free_at(&self, node: usize) -> usize {
        (0..self.number).find(|&color| self.at(node, color).is_none()).unwrap_or(0)
    }

    fn set(&mut self, edge: usize, color: Option<usize>) {
        let (a, b) = self.edges[edge];
        for node in [a, b] {
            if let Some(old) = self.colors[edge] {
                self.edge_at[node * self.number + old] = None;
            }
        }
        for node in [a, b] {
            if let Some(color) = color {
                self.edge_at[node * self.number + color] = Some(edge);
            }
        }
        self.colors[edge] = color;
    }

    fn color(&mut self, edge: usize) {
        let center = self.edges[edge].0;
        let fan = self.fan(center, edge);
        let last = self.other_end(fan[fan.len() - 1], center);
        let (own, wanted) = (self.free_at(center), self.free_at(last));
        self.turn_path(center, wanted, own);
        // the shortest part of the fan that is one still and ends where `wanted` is free
        let mut end = 0;
        while self.at(self.other_end(fan[end], center), wanted).is_some() {
            end += 1;
        }
        for k in 0..end {
            let color = self.colors[fan[k + 1]];
            self.set(fan[k + 1], None);
            self.set(fan[k], color);
        }
        self.set(fan[end], Some(wanted));
    }

    /// Edges at `center`, the first uncolored, the color of each next one free at the far end of the one before; maximal.
    fn fan(&self, center: usize, first: usize) -> Vec<usize> {
        let mut fan = vec![first];
        loop {
            let tip = self.other_end(fan[fan.len() - 1], center);
            let next = (0..self.number)
                .filter(|&color| self.at(tip, color).is_none())
                .filter_map(|color| self.at(center, color))
                .find(|edge| !fan.contains(edge));
            match next {
                Some(edge) => fan.push(edge),
                None => return fan,
            }
        }
    }

    /// Exchanges `first` and `second` along the path that leaves `node` by `first`.
    fn turn_path(&mut self, node: usize, first: usize, second: usize) {
        let (mut path, mut node, mut color) = (Vec::new(), node, first);
        while let Some(edge) = self.at(node, color) {
            path.push(edge);
            node = self.other_end(edge, node);
            color = if color == first { second } else { first };
        }
        let turned: Vec<_> =
            path.iter().map(|&edge| if self.colors[edge] == Some(first) { second } else { first }).collect();
        path.iter().for_each(|&edge| self.set(edge, None));
        path.iter().zip(turned).for_each(|(&edge, color)| self.set(edge, Some(color)));
    }
}
