//! Choice of the link, where there are several proxies or hubness may take part: whichever predicts a column best that it
//! was not fitted to.
//!
//! Candidates: q of one proxy alone, for every proxy; all of them; all of them with hubness (three columns at least). The proxies are
//! ordered by how well each predicts alone, so by their R² on columns left out. Cost: at most 16 columns are left out in turn, on
//! as many entries as the fit of a link needs.

use std::sync::Arc;

use ndarray::{Array2, Axis};
use rand::seq::index::sample;

use super::fitted::Fitted;
use super::link::Link;
use crate::balance;
use crate::hubness::{HubLink, Hubness, LinkRow};
use crate::oracle::{Oracle, OracleError, block_of};
use crate::stream::Rng;

const LEFT_OUT: usize = 16;

/// Entries that a link is fitted to while a column is left out, at most.
const FOLD_ENTRIES: usize = 1 << 17;

/// Fewest columns that separate the hubness of an item from a single score.
pub(super) const FEWEST_COLUMNS: usize = 3;

/// Evaluated columns and the proxies' values of the same entries.
pub(super) struct Evidence {
    /// n.
    items: usize,
    columns: Vec<usize>,
    rows: Vec<usize>,
    /// K of those rows, rows × columns, and each proxy.
    scores: Array2<f64>,
    proxies: Vec<Array2<f64>>,
    hubness: Option<Hubness>,
    /// A power of two that keeps squares of the scores within range.
    unit: f64,
}

impl Evidence {
    /// With hubness where there are at least `fewest` columns; without it where that is `None`.
    pub(super) fn read(
        oracle: &dyn Oracle,
        proxies: &[&dyn Oracle],
        columns: Vec<usize>,
        fewest: Option<usize>,
        rng: &mut Rng,
    ) -> Result<Self, OracleError> {
        let n = oracle.len();
        let hubness = if fewest.is_some_and(|fewest| columns.len() >= fewest) {
            let all: Vec<usize> = (0..n).collect();
            Some(Hubness::of(&columns, block_of(oracle, &all, &columns)?.view()))
        } else {
            None
        };
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&l| is_column[l] = true);
        let mut rows: Vec<usize> = (0..n).filter(|&i| !is_column[i]).collect();
        let affordable = (FOLD_ENTRIES / columns.len().max(1)).max(1);
        if rows.len() > affordable {
            rows = sample(rng, rows.len(), affordable).iter().map(|k| rows[k]).collect();
            rows.sort_unstable();
        }
        let scores = block_of(oracle, &rows, &columns)?;
        let proxies = proxies.iter().map(|proxy| block_of(*proxy, &rows, &columns)).collect::<Result<Vec<_>, _>>()?;
        let unit = balance::balancing_of(&[scores.view()]);
        Ok(Self { items: n, columns, rows, scores, proxies, hubness, unit })
    }

    /// The link without hubness that predicts best, fitted to all columns; and the one with it where that predicts better.
    pub(super) fn choose(&self, link: Link) -> (Fitted, Option<Fitted>) {
        let alone: Vec<f64> = (0..self.proxies.len()).map(|number| self.pair_error(link, number)).collect();
        let mut order: Vec<usize> = (0..self.proxies.len()).collect();
        order.sort_by(|&a, &b| alone[a].total_cmp(&alone[b]));
        let main = order[0];
        let of_all = if order.len() > 1 { self.all_error(&order, false) } else { f64::INFINITY };
        let with_hubness = if self.hubness.is_some() { self.all_error(&order, true) } else { f64::INFINITY };
        let pair = if of_all < alone[main] {
            self.fitted(order.clone(), false)
        } else {
            Fitted::Pair { main, link: link.fit(&self.pairs(main, None)) }
        };
        let is_better = with_hubness < alone[main].min(of_all);
        (pair, is_better.then(|| self.fitted(order, true)))
    }

    /// The link of all proxies in this order, fitted to all columns.
    pub(super) fn fitted(&self, order: Vec<usize>, knows_hubness: bool) -> Fitted {
        let link = self.fit_all(&order, knows_hubness, None);
        let known = self.hubness.clone().filter(|_| knows_hubness);
        let hubness = Arc::new(known.unwrap_or_else(|| Hubness::unknown(self.items)));
        Fitted::All { order, link, hubness, columns: self.columns.clone() }
    }

    fn left_out(&self) -> std::ops::Range<usize> {
        0..self.columns.len().min(LEFT_OUT)
    }

    fn pairs(&self, number: usize, without: Option<usize>) -> Vec<(f64, f64)> {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&a| Some(a) != without).collect();
        let (cheap, scores) = (self.proxies[number].select(Axis(1), &kept), self.scores.select(Axis(1), &kept));
        cheap.into_iter().zip(scores).collect()
    }

    /// Squared error of columns that q of one proxy was not fitted to.
    fn pair_error(&self, link: Link, number: usize) -> f64 {
        let of_column = |a: usize| {
            let fitted = link.fit(&self.pairs(number, Some(a)));
            let (cheap, scores) = (self.proxies[number].column(a), self.scores.column(a));
            cheap.iter().zip(scores).map(|(&p, score)| (self.unit * (score - fitted.at(p))).powi(2)).sum::<f64>()
        };
        self.left_out().map(of_column).sum()
    }

    /// Squared error of columns that neither the link of all proxies nor its hubness was fitted to.
    fn all_error(&self, order: &[usize], knows_hubness: bool) -> f64 {
        let of_column = |a: usize| {
            let link = self.fit_all(order, knows_hubness, Some(a));
            let mut proxies = vec![0.0; order.len()];
            let of_row = |row: usize| {
                self.read_proxies(order, row, a, &mut proxies);
                let hubness = if knows_hubness { self.hubness_of(row, a, &[a]) } else { (0.0, 0.0) };
                (self.unit * (self.scores[[row, a]] - link.at(hubness, &proxies))).powi(2)
            };
            (0..self.rows.len()).map(of_row).sum::<f64>()
        };
        self.left_out().map(of_column).sum()
    }

    fn fit_all(&self, order: &[usize], knows_hubness: bool, without: Option<usize>) -> HubLink {
        let rows = |a: usize, take: &mut dyn FnMut(LinkRow<'_>)| {
            if Some(a) == without {
                return;
            }
            let mut proxies = vec![0.0; order.len()];
            let left_out: Vec<usize> = std::iter::once(a).chain(without).collect();
            for row in 0..self.rows.len() {
                self.read_proxies(order, row, a, &mut proxies);
                let hubness = if knows_hubness { self.hubness_of(row, a, &left_out) } else { (0.0, 0.0) };
                take(LinkRow { hubness, proxies: &proxies, score: self.scores[[row, a]] });
            }
        };
        HubLink::fit(order.len(), knows_hubness, self.columns.len(), rows)
    }

    /// h of a row and of the a-th column, without the scores of some columns.
    fn hubness_of(&self, row: usize, a: usize, left_out: &[usize]) -> (f64, f64) {
        let Some(hubness) = &self.hubness else { return (0.0, 0.0) };
        let without = left_out.iter().map(|&a| (a, self.scores[[row, a]]));
        // the row of a column among those left out is not available here, and holds little information on its item
        (hubness.without(self.rows[row], without), hubness.values()[self.columns[a]])
    }

    fn read_proxies(&self, order: &[usize], row: usize, a: usize, out: &mut [f64]) {
        out.iter_mut().zip(order).for_each(|(out, &number)| *out = self.proxies[number][[row, a]]);
    }

    /// ‖K − q(P)‖ / ‖K‖ of what was looked at; none where there is nothing to divide by.
    pub(super) fn relative_error(&self, proxies: &[&dyn Oracle], fitted: &Fitted) -> Result<Option<f64>, OracleError> {
        let mut linked = Array2::zeros(self.scores.dim());
        fitted.block(proxies, &self.rows, &self.columns, linked.view_mut())?;
        Ok(balance::relative_error(self.scores.iter().copied().zip(linked.iter().copied())))
    }
}
