//! Whether columns are worth their calls: they show the hubness of an item, and that is worth a fifth of all calls only where items differ in
//! it by more than the proxies predict.
//!
//! ```text
//! r_il = K_il − link(p_il) of some rows i of every column l, less the mean of column l
//! share = mean of r_il r_im over rows and pairs l < m of columns, over the variance of K
//! ```
//! Two columns see the same hubness of a row and nothing else in common, so that the share is the part of the variance of K that hubness
//! explains beyond the proxies. Below a tenth, columns cost recall. The share of some hundred rows errs by about .1, and the wrong no costs more than
//! the wrong yes: columns are left out below a sixteenth.

use landmark_core::hubness::{HubLink, LinkRow};

use super::pool::Pool;

/// The share from which on columns are evaluated.
const WORTH: f64 = 0.0625;

/// Rows of a trial: `count` of the items that are no columns, evenly spaced.
pub(super) fn rows(count: usize, free: &[usize]) -> Vec<usize> {
    (0..count.min(free.len())).map(|k| free[k * free.len() / count]).collect()
}

/// True where hubness explains enough of K in the evaluated rows of `columns`, which are all that `pool` holds.
pub(super) fn is_worth_columns(pool: &Pool, columns: &[usize], proxies: usize) -> bool {
    let evaluated = |l: usize| pool.row(l).filter(|&slot| pool.score(slot).is_finite());
    let rows = |a: usize, take: &mut dyn FnMut(LinkRow<'_>)| {
        for slot in evaluated(columns[a]) {
            take(LinkRow { hubness: (0.0, 0.0), proxies: pool.proxies(slot), score: pool.score(slot) });
        }
    };
    let link = HubLink::fit(proxies, false, columns.len(), rows);
    // of each row: the number of its columns, the sum of what the link leaves over, and that of the squares
    let mut left = vec![(0.0, 0.0, 0.0); pool.len()];
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for &l in columns {
        let residual = |slot: usize| pool.score(slot) - link.at((0.0, 0.0), pool.proxies(slot));
        let seen = evaluated(l).count() as f64;
        let mean = evaluated(l).map(residual).sum::<f64>() / seen.max(1.0);
        for slot in evaluated(l) {
            let (score, residual) = (pool.score(slot), residual(slot) - mean);
            (count, sum, squares) = (count + 1.0, sum + score, squares + score * score);
            let (columns, total, square) = &mut left[pool.other(slot)];
            (*columns, *total, *square) = (*columns + 1.0, *total + residual, *square + residual * residual);
        }
    }
    let pairs = left.iter().map(|(columns, _, _)| columns * (columns - 1.0) / 2.0).sum::<f64>();
    let products = left.iter().map(|(_, total, square)| (total * total - square) / 2.0).sum::<f64>();
    let variance = squares / f64::max(count, 1.0) - (sum / f64::max(count, 1.0)).powi(2);
    // nothing to judge by: as without a trial
    pairs == 0.0 || products / pairs >= WORTH * variance
}
