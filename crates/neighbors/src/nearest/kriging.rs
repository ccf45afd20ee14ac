//! Row kriging: what the link leaves over, predicted from an item's own known pairs.
//!
//! ```text
//! c_i = G[:, O_i] (G[O_i, O_i] + λI)⁻¹ D_i,O_i      E_ij += (c_ij + c_ji) / 2
//! ```
//! G is the main proxy, O_i the known others of item i (the nearest by the proxy, 256 at most), D what the link leaves over. λ is a
//! multiple of the mean diagonal of G, or kriging is left out: whichever predicts known entries of thirty random items best, each
//! left out in turn, by e_o = (Q D)_o / Q_oo with Q = (G[O, O] + λI)⁻¹. A G that is no kernel is so switched off.
//!
//! Cost: for an item with t known and w unknown candidates t²d + t³/3 + (t + w)d, where the proxy has vectors of d numbers, else
//! t² + tw scores of it.

use std::cmp;
use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

use super::pool::Pool;
use landmark_core::linalg::{self, Cholesky};
use landmark_core::oracle::{Oracle, OracleError, Pair, ask_pairs, block_of};
use landmark_core::rank::RankCmp;

/// Known pairs that an item is kriged from, at most.
const MOST_KNOWN: usize = 256;

/// λ, in parts of the mean diagonal of G.
const RIDGES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];

/// Items that λ is judged by.
pub(super) const JUDGES: usize = 30;

/// What the link predicts for a pair, given an item and a slot of its row.
pub(super) type Link<'a> = dyn Fn(usize, usize) -> f64 + Sync + 'a;

/// The main proxy as a kernel.
pub(super) struct Kernel<'a> {
    proxy: &'a dyn Oracle,
    mean_diagonal: f64,
}

/// λ that predicts best, and how well: sums of squares over known entries of the judges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// `None`: the link alone predicts better.
    pub(super) lambda: Option<f64>,
    pub(super) without: f64,
    pub(super) with: f64,
}

impl<'a> Kernel<'a> {
    /// Reads the diagonal: n scores of the proxy where it is not known.
    pub(super) fn new(proxy: &'a dyn Oracle) -> Result<Self, OracleError> {
        let mean_diagonal = match proxy.known_diagonal() {
            Some(value) => value,
            None => {
                let cells: Vec<Pair> = (0..proxy.len()).map(|i| (i, i)).collect();
                let mut diagonal = vec![0.0; cells.len()];
                ask_pairs(proxy, &cells, &mut diagonal)?;
                diagonal.iter().sum::<f64>() / cells.len().max(1) as f64
            }
        };
        Ok(Self { proxy, mean_diagonal })
    }

    /// G among some items.
    fn among(&self, items: &[usize]) -> Result<Array2<f64>, OracleError> {
        match self.proxy.vectors() {
            Some(vectors) => {
                let own = vectors.select(Axis(0), items);
                Ok(linalg::product(own.view(), own.t()))
            }
            None => block_of(self.proxy, items, items),
        }
    }

    /// Chooses λ by leaving out known entries of the `judges`.
    pub(super) fn choose(&self, pool: &Pool, link: &Link<'_>, judges: &[usize]) -> Result<Choice, OracleError> {
        let errors: Vec<[f64; RIDGES.len() + 1]> =
            judges.par_iter().map(|&i| self.left_out(pool, link, i)).collect::<Result<_, _>>()?;
        let mut sums = [0.0; RIDGES.len() + 1];
        errors.iter().for_each(|errors| sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error));
        let without = sums[RIDGES.len()];
        let none = Choice { lambda: None, without, with: without };
        let better = |best: Choice, (&ridge, &with): (&f64, &f64)| {
            if with < best.with { Choice { lambda: Some(ridge * self.mean_diagonal), without, with } } else { best }
        };
        Ok(RIDGES.iter().zip(&sums).fold(none, better))
    }

    /// Squared errors of the known entries of item i, each predicted from the others: for every λ, and for none.
    fn left_out(&self, pool: &Pool, link: &Link<'_>, i: usize) -> Result<[f64; RIDGES.len() + 1], OracleError> {
        let known = known(pool, i);
        let left = left_over(pool, link, i, &known);
        let mut errors = [f64::INFINITY; RIDGES.len() + 1];
        errors[RIDGES.len()] = left.iter().map(|d| d * d).sum();
        if let Some(turned) = self.turned(pool, &known, &left)? {
            for (error, ridge) in errors.iter_mut().zip(RIDGES) {
                let residuals = turned.residuals(ridge * self.mean_diagonal);
                *error = residuals.map_or(f64::INFINITY, |left| left.iter().map(|d| d * d).sum());
            }
        }
        Ok(errors)
    }

    /// What is left over at known slots, in the eigenvectors of G among their items; `None` where these can't be had.
    fn turned(&self, pool: &Pool, known: &[usize], left: &[f64]) -> Result<Option<Turned>, OracleError> {
        if known.is_empty() {
            return Ok(Some(Turned::default()));
        }
        let gram = self.among(&items(pool, known))?;
        let Ok(linalg::Eigh { values, vectors }) = linalg::eigh(gram.view()) else { return Ok(None) };
        let left = vectors.t().dot(&ndarray::aview1(left));
        Ok(Some(Turned { values, vectors, left }))
    }

    /// (c_ij + c_ji) / 2 of every pair that has no score yet and whose slots are `wanted`; 0 for the others. A row whose G is not positive definite
    /// adds 0.
    pub(super) fn predict(
        &self,
        pool: &Pool,
        link: &Link<'_>,
        lambda: f64,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<f64>, OracleError> {
        // a sum of two numbers is the same in both orders
        let sums: Vec<AtomicU64> = (0..pool.pair_count()).map(|_| AtomicU64::new(0.0_f64.to_bits())).collect();
        let add = |slot: usize, value: f64| {
            let sum = |bits| Some((f64::from_bits(bits) + value).to_bits());
            let _ = sums[pool.number(slot)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        };
        (0..pool.len())
            .into_par_iter()
            .map(|i| self.predict_row(pool, link, lambda, i, &wanted, add))
            .collect::<Result<(), _>>()?;
        Ok(sums.into_iter().map(|sum| f64::from_bits(sum.into_inner()) / 2.0).collect())
    }

    /// Adds what row i predicts for its slots.
    fn predict_row(
        &self,
        pool: &Pool,
        link: &Link<'_>,
        lambda: f64,
        i: usize,
        wanted: impl Fn(usize) -> bool,
        add: impl Fn(usize, f64),
    ) -> Result<(), OracleError> {
        let targets: Vec<usize> = pool.row(i).filter(|&slot| !pool.is_asked(slot) && wanted(slot)).collect();
        let known = known(pool, i);
        if targets.is_empty() || known.is_empty() {
            return Ok(());
        }
        let others = items(pool, &known);
        let mut gram = self.among(&others)?;
        gram.diag_mut().map_inplace(|value| *value += lambda);
        let left = left_over(pool, link, i, &known);
        let solved = Cholesky::with_tolerance(gram.view(), f64::EPSILON * left.len() as f64)
            .and_then(|factor| factor.solution(left));
        let weights = match solved {
            Ok(weights) => weights,
            // a proxy that is no kernel among these items predicts nothing about the row: the link alone stands
            Err(error) if error.is_finite() => return Ok(()),
            Err(error) => {
                return Err(OracleError::Failed { what: "kriging by the proxy".to_owned(), source: Box::new(error) });
            }
        };
        match self.proxy.vectors() {
            Some(vectors) => {
                let mut sum = ndarray::Array1::<f64>::zeros(vectors.ncols());
                others.iter().zip(&weights).for_each(|(&o, &weight)| sum.scaled_add(weight, &vectors.row(o)));
                targets.iter().for_each(|&slot| add(slot, vectors.row(pool.other(slot)).dot(&sum)));
            }
            None => {
                let block = block_of(self.proxy, &items(pool, &targets), &others)?;
                for (&slot, row) in targets.iter().zip(block.rows()) {
                    add(slot, row.dot(&ndarray::aview1(&weights)));
                }
            }
        }
        Ok(())
    }
}

/// What is left over, in the eigenvectors of G.
#[derive(Default)]
struct Turned {
    values: Array1<f64>,
    vectors: Array2<f64>,
    left: Array1<f64>,
}

impl Turned {
    /// e_o of every entry; `None` where G + λI is not positive definite, or by rounding alone.
    fn residuals(&self, lambda: f64) -> Option<Vec<f64>> {
        let largest = self.values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let rounding = largest * f64::EPSILON * self.values.len() as f64;
        if self.values.iter().any(|value| value + lambda <= rounding) {
            return None;
        }
        let inverse = self.values.mapv(|value| 1.0 / (value + lambda));
        let residual = |row: ArrayView1<'_, f64>| {
            let (mut residual, mut diagonal) = (0.0, 0.0);
            for ((v, z), q) in row.iter().zip(&self.left).zip(&inverse) {
                residual += v * z * q;
                diagonal += v * v * q;
            }
            residual / diagonal
        };
        Some(self.vectors.rows().into_iter().map(residual).collect())
    }
}

/// The share of pairs of known others, of one of the `judges`, that are put in the right order when each is predicted without its own score: by
/// `link`, and by kriging where that predicts better. Pairs of equal scores are left out, and those predicted equal count half.
pub(super) fn concordance(
    kernel: Option<&Kernel<'_>>,
    pool: &Pool,
    link: &Link<'_>,
    judges: &[usize],
) -> Result<f64, OracleError> {
    let lambda = kernel.map(|kernel| kernel.choose(pool, link, judges)).transpose()?.and_then(|choice| choice.lambda);
    let counted = |&i: &usize| -> Result<(f64, f64), OracleError> {
        let known = known(pool, i);
        let mut residuals = left_over(pool, link, i, &known);
        if let Some((kernel, lambda)) = kernel.zip(lambda) {
            let turned = kernel.turned(pool, &known, &residuals)?;
            residuals = turned.and_then(|turned| turned.residuals(lambda)).unwrap_or(residuals);
        }
        let scores: Vec<f64> = known.iter().map(|&slot| pool.score(slot)).collect();
        let predicted: Vec<f64> = scores.iter().zip(&residuals).map(|(score, residual)| score - residual).collect();
        Ok(in_order(&scores, &predicted))
    };
    let counts: Vec<(f64, f64)> = judges.par_iter().map(counted).collect::<Result<_, _>>()?;
    let (right, all) = counts.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Ok(right / f64::max(all, 1.0))
}

/// Pairs of unequal scores that are predicted in their order, and all.
fn in_order(scores: &[f64], predicted: &[f64]) -> (f64, f64) {
    let (mut right, mut all) = (0.0, 0.0);
    for a in 0..scores.len() {
        for b in (0..a).filter(|&b| scores[a] != scores[b]) {
            all += 1.0;
            right += match predicted[a].rank_cmp(&predicted[b]) {
                cmp::Ordering::Equal => 0.5,
                order => f64::from(u8::from(order == scores[a].rank_cmp(&scores[b]))),
            };
        }
    }
    (right, all)
}

/// What the link leaves over at known slots of row i.
fn left_over(pool: &Pool, link: &Link<'_>, i: usize, known: &[usize]) -> Vec<f64> {
    known.iter().map(|&slot| pool.score(slot) - link(i, slot)).collect()
}

/// Slots of row i that have a score, the nearest by the proxy where there are too many.
fn known(pool: &Pool, i: usize) -> Vec<usize> {
    let mut known: Vec<usize> = pool.row(i).filter(|&slot| pool.teaches(i, slot)).collect();
    if known.len() > MOST_KNOWN {
        known.sort_by(|&one, &other| pool.first_proxy(other).rank_cmp(&pool.first_proxy(one)));
        known.truncate(MOST_KNOWN);
    }
    known
}

fn items(pool: &Pool, slots: &[usize]) -> Vec<usize> {
    slots.iter().map(|&slot| pool.other(slot)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_order_are_counted_without_those_of_equal_scores_and_half_where_predicted_equal() {
        assert_eq!(in_order(&[1.0, 2.0, 3.0], &[0.1, 0.2, 0.3]), (3.0, 3.0));
        assert_eq!(in_order(&[1.0, 2.0, 3.0], &[0.3, 0.2, 0.1]), (0.0, 3.0));
        // 1 and the second 1 give no order, 2 against both is right once and undecided once
        assert_eq!(in_order(&[1.0, 1.0, 2.0], &[5.0, 6.0, 6.0]), (1.5, 2.0));
        assert_eq!(in_order(&[], &[]), (0.0, 0.0));
    }
}
