//! Groups of items: connected by pairs that were found, or gathered around pivots.
//!
//! [`connected`]: items that a chain of pairs joins, by union–find. [`around_pivots`]: correlation clustering whose queries are columns. A
//! pivot takes every item still free whose similarity to it is at least a threshold, until the queries are used up; whoever is free
//! then stays alone.
//!
//! Source: Ailon, Charikar & Newman 2008 (pivots: 3·OPT in expectation for uniform ones); García-Soriano, Kutzkov, Bonchi & Tsourakakis 2020
//! (QECC: 3·OPT + O(n³/Q) for Q queries). Cost: near-linear in pairs; for pivots one similarity for each item that is free when a pivot is
//! chosen.

/// Groups of n items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Number of the group of each item; the largest group is 0, equal ones go by their first item.
    pub labels: Vec<usize>,
    pub sizes: Vec<usize>,
}

impl Groups {
    fn of(marks: &[usize]) -> Self {
        let mut sizes = vec![0_usize; marks.len()];
        marks.iter().for_each(|&mark| sizes[mark] += 1);
        let mut first = vec![usize::MAX; marks.len()];
        marks.iter().enumerate().rev().for_each(|(item, &mark)| first[mark] = item);
        let mut order: Vec<usize> = (0..marks.len()).filter(|&mark| sizes[mark] > 0).collect();
        order.sort_by_key(|&mark| (std::cmp::Reverse(sizes[mark]), first[mark]));
        let mut number = vec![0; marks.len()];
        order.iter().enumerate().for_each(|(new, &mark)| number[mark] = new);
        let labels = marks.iter().map(|&mark| number[mark]).collect();
        Self { labels, sizes: order.into_iter().map(|mark| sizes[mark]).collect() }
    }

    /// Groups of two items and more.
    pub fn shared(&self) -> usize {
        self.sizes.iter().filter(|&&size| size > 1).count()
    }
}

/// Groups of `items` that `pairs` connect.
///
/// # Panics
/// When a pair names an item that there is not.
pub fn connected(items: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Groups {
    let mut parents: Vec<usize> = (0..items).collect();
    for (i, j) in pairs {
        let (one, other) = (root(&mut parents, i), root(&mut parents, j));
        // the smaller root stays: marks do not depend on the order of the pairs
        parents[one.max(other)] = one.min(other);
    }
    let marks: Vec<usize> = (0..items).map(|item| root(&mut parents, item)).collect();
    Groups::of(&marks)
}

/// Mark of the group of an item; the way there is halved.
pub(crate) fn root(parents: &mut [usize], mut item: usize) -> usize {
    while parents[item] != item {
        parents[item] = parents[parents[item]];
        item = parents[item];
    }
    item
}

/// Clusters around pivots, and what they took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PivotGroups {
    pub groups: Groups,
    /// Pivots in the order in which they were taken.
    pub pivots: Vec<usize>,
    pub queries: u64,
    /// Items that were still free when the queries ended; each is alone.
    pub left: usize,
}

/// Clusters of items whose similarity to their pivot is at least `threshold`. Pivots come in `order`, which names every item; `column` reads the
/// similarities of a pivot to the items given, or `None` when it may not, which ends the search.
pub fn around_pivots<E>(
    order: &[usize],
    threshold: f64,
    mut column: impl FnMut(usize, &[usize]) -> Result<Option<Vec<f64>>, E>,
) -> Result<PivotGroups, E> {
    let items = order.len();
    let mut marks: Vec<usize> = (0..items).collect();
    let mut is_free = vec![true; items];
    let (mut pivots, mut queries) = (Vec::new(), 0);
    let mut free: Vec<usize> = (0..items).collect();
    for &pivot in order {
        if !is_free[pivot] {
            continue;
        }
        is_free[pivot] = false;
        free.retain(|&item| is_free[item]);
        if free.is_empty() {
            break;
        }
        let Some(similarities) = column(pivot, &free)? else {
            is_free[pivot] = true;
            break;
        };
        queries += free.len() as u64;
        pivots.push(pivot);
        for (&item, similarity) in free.iter().zip(similarities) {
            if similarity >= threshold {
                (is_free[item], marks[item]) = (false, pivot);
            }
        }
    }
    let left = is_free.iter().filter(|&&free| free).count();
    Ok(PivotGroups { groups: Groups::of(&marks), pivots, queries, left })
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use proptest::prelude::*;
    use rand::Rng;

    use super::*;

    #[test]
    fn chains_are_one_group_and_the_largest_comes_first() {
        let groups = connected(7, [(5, 6), (0, 1), (6, 3), (1, 0)]);
        assert_eq!(groups.labels, [1, 1, 2, 0, 3, 0, 0]);
        assert_eq!((groups.sizes.as_slice(), groups.shared()), (&[3, 2, 1, 1][..], 2));
        assert_eq!(connected(0, []).labels, [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn items_share_a_group_where_a_search_from_one_reaches_the_other(pairs in prop::collection::vec((0_usize..12, 0_usize..12), 0..14)) {
            let groups = connected(12, pairs.iter().copied());
            for start in 0..12 {
                let mut reached = vec![start];
                let mut place = 0;
                while place < reached.len() {
                    let here = reached[place];
                    let near = pairs.iter().filter_map(|&(i, j)| if i == here { Some(j) } else if j == here { Some(i) } else { None });
                    let new: Vec<usize> = near.filter(|item| !reached.contains(item)).collect();
                    reached.extend(new);
                    place += 1;
                }
                let same: Vec<bool> = (0..12).map(|item| reached.contains(&item)).collect();
                let ours: Vec<bool> = (0..12).map(|item| groups.labels[item] == groups.labels[start]).collect();
                prop_assert_eq!(ours, same);
            }
        }
    }

    fn similar(i: usize, j: usize) -> f64 {
        if i / 4 == j / 4 { 1.0 } else { 0.0 }
    }

    fn column(pivot: usize, items: &[usize]) -> Result<Option<Vec<f64>>, ()> {
        Ok(Some(items.iter().map(|&item| similar(pivot, item)).collect()))
    }

    #[test]
    fn pivots_find_clusters_that_are_there_whatever_the_order_is() {
        for order in [(0..20).collect::<Vec<_>>(), (0..20).rev().collect()] {
            let found = around_pivots(&order, 0.5, column).unwrap();
            assert_eq!(found.groups, connected(20, (0..20).filter(|i| i % 4 > 0).map(|i| (i, i - 1))));
            // 19 + 15 + 11 + 7 + 3
            assert_eq!((found.pivots.len(), found.queries, found.left), (5, 55, 0));
        }
    }

    #[test]
    fn the_first_pivots_are_three_times_as_wrong_as_the_best_at_most() {
        // a partition with one sign in ten turned round: expected cost ≤ 3·OPT ≤ 3 · signs turned, on the mean of many orders
        let mut rng = stream(3, "groups", "signs", 0);
        let n = 40;
        let mut sign = ndarray::Array2::<f64>::zeros((n, n));
        let mut turned = 0.0;
        for i in 0..n {
            for j in 0..i {
                let turn = rng.gen_bool(0.1);
                turned += f64::from(u8::from(turn));
                let value = if turn { 1.0 - similar(i, j) } else { similar(i, j) };
                (sign[[i, j]], sign[[j, i]]) = (value, value);
            }
        }
        let mut cost = 0.0;
        let orders = 200;
        for number in 0..orders {
            let landmarks = landmark_core::landmarks::Landmarks::uniform(n, &mut stream(4, "groups", "order", number));
            let read =
                |pivot: usize, items: &[usize]| Ok::<_, ()>(Some(items.iter().map(|&j| sign[[pivot, j]]).collect()));
            let labels = around_pivots(landmarks.order(), 0.5, read).unwrap().groups.labels;
            for i in 0..n {
                cost += (0..i).filter(|&j| (labels[i] == labels[j]) != (sign[[i, j]] > 0.5)).count() as f64;
            }
        }
        assert!(cost / orders as f64 <= 3.0 * turned, "{} against {turned}", cost / orders as f64);
    }
}
