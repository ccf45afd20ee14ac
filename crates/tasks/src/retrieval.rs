//! Lists of neighbors against the true ones: recall@k and nDCG@k.
//!
//! ```text
//! recall@k = |{j in the first k of the list: K_ij ≥ the k-th largest score of row i}| / k, at most 1
//! nDCG@k   = Σ_r g(list_r) / log₂(r + 1)  ÷  the same of the true order,   g = k + 1 − place among the true, 0 beyond k
//! ```
//! Items that score alike are as good as each other, so a list loses nothing by another order of ties. The item itself is in no list. Each is a mean over
//! items, with its 95 % interval over them. Source of nDCG: Järvelin & Kekäläinen 2002. Cost: n² log n once for the truth, O(n k) a judgment.

use ndarray::{ArrayView1, ArrayView2};
use rayon::prelude::*;

/// The part of a list that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Share of the true nearest k among the first k.
    Recall(usize),
    /// Normalized discounted cumulative gain of the first k.
    Ndcg(usize),
}

impl Depth {
    /// The k of it.
    pub fn items(self) -> usize {
        match self {
            Self::Recall(k) | Self::Ndcg(k) => k,
        }
    }
}

/// Mean over items with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWithInterval {
    pub mean: f64,
    /// Lower end, at least 0.
    pub lower: f64,
    /// Upper end, at most 1.
    pub upper: f64,
}

impl MeanWithInterval {
    /// The mean over the items of several sets, each with its number of items. `None` where there is none.
    pub fn pooled(sets: &[(Self, usize)]) -> Option<Self> {
        let count = sets.iter().map(|(_, items)| *items).sum::<usize>() as f64;
        if count == 0.0 {
            return None;
        }
        let share = |items: usize| items as f64 / count;
        let mean = sets.iter().map(|(mean, items)| share(*items) * mean.mean).sum::<f64>();
        // an end may have been cut off at 0 or 1: the other one is the whole half
        let half = |of: &Self| (of.mean - of.lower).max(of.upper - of.mean);
        let half = sets.iter().map(|(mean, items)| (share(*items) * half(mean)).powi(2)).sum::<f64>().sqrt();
        Some(Self { mean, lower: (mean - half).max(0.0), upper: (mean + half).min(1.0) })
    }
}

/// The true scores of all pairs, and how high each row goes.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The largest scores of every row, descending, without the item itself.
    best: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
}

impl Truth {
    /// Of an n × n matrix, for lists of at most `longest` items.
    pub fn of(matrix: ArrayView2<'_, f64>, longest: usize) -> Self {
        Self::without(matrix, longest, |i, j| i == j)
    }

    /// Of m queries with n items each, m × n, none of which is the query itself.
    pub fn of_queries(scores: ArrayView2<'_, f64>, longest: usize) -> Self {
        Self::without(scores, longest, |_, _| false)
    }

    fn without(matrix: ArrayView2<'_, f64>, longest: usize, leaves_out: impl Fn(usize, usize) -> bool + Sync) -> Self {
        let rows: Vec<ArrayView1<'_, f64>> = matrix.rows().into_iter().collect();
        let best = |(i, row): (usize, &ArrayView1<'_, f64>)| {
            let kept = row.iter().enumerate().filter(|(j, _)| !leaves_out(i, *j));
            let mut scores: Vec<f64> = kept.map(|(_, &score)| score).collect();
            if longest < scores.len() {
                scores.select_nth_unstable_by(longest, |a, b| b.total_cmp(a));
                scores.truncate(longest);
            }
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            scores
        };
        let best = rows.par_iter().enumerate().map(best).collect();
        Self { best, rows: rows.iter().map(|row| row.to_vec()).collect() }
    }

    /// Judges a list an item, best first. Rows without a true neighbor count 1.
    ///
    /// # Panics
    /// When there is not one list an item, or an item of a list does not exist.
    pub fn judge(&self, depth: Depth, lists: &[Vec<usize>]) -> MeanWithInterval {
        assert_eq!(lists.len(), self.rows.len(), "lists and items");
        let values: Vec<f64> = lists.iter().enumerate().map(|(i, list)| self.value(depth, i, list)).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0).max(1.0);
        let half = 1.96 * (variance / count).sqrt();
        MeanWithInterval { mean, lower: (mean - half).max(0.0), upper: (mean + half).min(1.0) }
    }

    fn value(&self, depth: Depth, i: usize, list: &[usize]) -> f64 {
        let (best, row) = (&self.best[i], &self.rows[i]);
        let k = depth.items().min(best.len());
        if k == 0 {
            return 1.0;
        }
        let first = &list[..k.min(list.len())];
        match depth {
            Depth::Recall(_) => first.iter().filter(|&&j| row[j] >= best[k - 1]).count() as f64 / k as f64,
            Depth::Ndcg(_) => {
                // the place of a score: one more than those above it
                let gain = |score: f64| k.saturating_sub(best.partition_point(|&other| other > score)) as f64;
                let discounted = |scores: &mut dyn Iterator<Item = f64>| -> f64 {
                    scores.enumerate().map(|(rank, score)| gain(score) / (rank as f64 + 2.0).log2()).sum()
                };
                let ideal = discounted(&mut best[..k].iter().copied());
                discounted(&mut first.iter().map(|&j| row[j])) / ideal
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn recall_and_ndcg_of_a_list_are_those_of_their_definitions() {
        let matrix = array![[9.0, 1.0, 4.0, 3.0, 2.0], [1.0, 9.0, 1.0, 1.0, 1.0], [0.0; 5], [0.0; 5], [0.0; 5]];
        let truth = Truth::of(matrix.view(), 3);
        assert_eq!(truth.best[0], [4.0, 3.0, 2.0]);
        let value = |depth, list: &[usize]| truth.value(depth, 0, list);
        assert_eq!(value(Depth::Recall(1), &[2, 3]), 1.0);
        assert_eq!(value(Depth::Recall(2), &[2, 1]), 0.5);
        assert_eq!(value(Depth::Recall(3), &[1, 2, 4]), 2.0 / 3.0);
        assert_eq!(value(Depth::Ndcg(3), &[2, 3, 4]), 1.0);
        // gains 3, 2, 1 of items 2, 3, 4
        let (one, two, three) = (1.0, 1.0 / 3.0_f64.log2(), 0.5);
        let wanted = (2.0 * one + 3.0 * three) / (3.0 * one + 2.0 * two + 1.0 * three);
        // rounding
        assert!((value(Depth::Ndcg(3), &[3, 1, 2]) - wanted).abs() < 1e-15);
    }

    #[test]
    fn sets_are_pooled_by_their_items() {
        let judged = |mean: f64, half: f64| MeanWithInterval {
            mean,
            lower: (mean - half).max(0.0),
            upper: (mean + half).min(1.0),
        };
        let pooled = MeanWithInterval::pooled(&[(judged(0.5, 0.1), 30), (judged(0.9, 0.2), 10)]).unwrap();
        let half = (0.75 * 0.1_f64).hypot(0.25 * 0.2);
        for (ours, theirs) in [(pooled.mean, 0.6), (pooled.lower, 0.6 - half), (pooled.upper, 0.6 + half)] {
            // rounding
            assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
        }
        assert_eq!(MeanWithInterval::pooled(&[]), None);
    }

    #[test]
    fn a_mean_over_items_has_an_interval() {
        let matrix = array![[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 2.0, 0.0]];
        let truth = Truth::of(matrix.view(), 2);
        let judged = truth.judge(Depth::Recall(1), &[vec![1], vec![2], vec![1]]);
        assert!((judged.mean - 2.0 / 3.0).abs() < 1e-15 && judged.lower >= 0.0 && judged.upper == 1.0);
        let all = truth.judge(Depth::Recall(2), &[vec![1, 2], vec![2, 0], vec![1, 0]]);
        assert_eq!((all.mean, all.lower, all.upper), (1.0, 1.0, 1.0));
    }
}
