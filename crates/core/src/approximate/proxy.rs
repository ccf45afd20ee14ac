//! Proxy + residual: approximate what a cheap relative of the score misses, not the score.
//!
//! ```text
//! K̃ = q(P) + method(K − q(P)),   q = argmin Σ (K[i,j] − q(P[i,j]))² over the bought off-diagonal entries
//! ```
//! Most expensive similarities have a cheap relative P: the cosine of a bi-encoder for a cross-encoder, word centroid or relaxed
//! distance for word mover's distance. Its entries are free, so the residual's columns are known wherever K's are, and any method runs on it.
//! Whether the residual can be learned at all is tried on held-out columns (a quarter of the landmarks, rows outside all of
//! them): where the method does not beat 0 there, its core is dropped and K̃ = q(P) with the known entries. This project's own
//! method (ALGORITHMS §2f).
//!
//! Cost: the entries of the method, no more; n·s entries of P at the fit, one of P a cell at reading. Besides the method's own work one fit
//! at ¾ of the rank. Memory: the bought entries (8ns bytes) while fitting.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use ndarray::{Array2, ArrayViewMut2};
use rand::seq::index;

use super::purchase::{Purchase, with_known};
use super::{Approximate, ApproximateError, FitReport, ShiftRidgeParams};
use crate::approximation::{Addend, Approximation, Embedding, Factors, Known, Signed};
use crate::entries::{EntryBlock, Plan, Rows};
use crate::landmarks::Landmarks;
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Remembered, Symmetry, check_finite};
use crate::stream::Rng;

mod link;

use link::Fitted;
pub use link::Link;

/// Rows outside the landmarks on which the residual is tried, at most.
const VALIDATION_ROWS: usize = 400;
/// Cells of P evaluated at a time while q is fitted: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;
/// Entries q is fitted to, at most: an even share of those that were bought.
const FITTED_ENTRIES: u64 = 1 << 22;
/// Landmarks of the embedding of q(P), at least and as a multiple of the rank.
const EMBEDDING_LANDMARKS: (usize, usize) = (500, 2);

/// Any method, on the residual of a proxy.
#[derive(Clone)]
pub struct Proxied {
    method: Arc<dyn Approximate>,
    proxy: Arc<dyn Oracle>,
    link: Link,
}

impl fmt::Debug for Proxied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxied({} on the residual of {:?} by {:?})", self.method.id(), self.proxy.identity(), self.link)
    }
}

impl Proxied {
    /// Wraps `method`. `proxy` must be symmetric, over the same items, and cheap: it is read n² times by whoever reads all of K̃.
    pub fn new(method: Arc<dyn Approximate>, proxy: Arc<dyn Oracle>, link: Link) -> Self {
        Self { method, proxy, link }
    }

    /// The proxy.
    pub fn proxy(&self) -> &dyn Oracle {
        self.proxy.as_ref()
    }

    fn check(&self, shape: OracleShape) -> Result<(), ApproximateError> {
        let refuse = |parameter, value: String, wanted| {
            Err(ApproximateError::Parameter { method: "proxy", parameter, value, wanted })
        };
        if self.proxy.len() != shape.len {
            return refuse("proxy", format!("over {} items", self.proxy.len()), "over the items of the oracle");
        }
        if self.proxy.symmetry() != Symmetry::Symmetric {
            return refuse("proxy", "asymmetric".into(), "symmetric: wrap it in `Symmetrized`");
        }
        match self.link {
            Link::Polynomial { degree } if !(1..=3).contains(&degree) => {
                refuse("degree", degree.to_string(), "1, 2 or 3")
            }
            _ => Ok(()),
        }
    }
}

impl Approximate for Proxied {
    fn id(&self) -> &'static str {
        self.method.id()
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        self.check(shape)?;
        self.method.plan(shape, landmarks, rank)
    }

    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let start = Instant::now();
        let plan = self.plan(OracleShape::of(oracle), landmarks, rank)?;
        let bought = Remembered::new(oracle);
        bought.buy(&plan)?;
        let (link, proxy_error) = self.fit_link(&bought, &plan)?;
        let linked = Arc::new(Linked {
            identity: Identity::of(&[("proxy", self.proxy.identity().as_bytes()), ("link", &link.bytes())]),
            proxy: Arc::clone(&self.proxy),
            link,
            landmarks: Landmarks::uniform(oracle.len(), rng),
            rank: (EMBEDDING_LANDMARKS.1 * rank).max(EMBEDDING_LANDMARKS.0).min(oracle.len()),
        });
        let residual = Residual { inner: &bought, linked: &linked };

        let trial = self.try_residual(&residual, landmarks, rank, rng)?;
        let columns = Known { diagonal: false, ..known };
        let core = match trial {
            Some(trial) if trial.method < trial.zero => self.method.fit(&residual, landmarks, rank, columns, rng)?,
            Some(_) => zero_core(&residual, landmarks, rank, columns)?,
            // nothing to try it on: all items are landmarks, or there are too few
            None => self.method.fit(&residual, landmarks, rank, columns, rng)?,
        };
        let report = FitReport {
            proxy_error: Some(proxy_error),
            validation_error: trial.map(|trial| (trial.method.min(trial.zero) / trial.scale).sqrt()),
            seconds: start.elapsed().as_secs_f64(),
            ..core.report().clone()
        };
        let whole = core.with_addend(linked).with_report(report);
        with_known(whole, oracle, Known { landmarks: false, ..known }, None)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        self.method.rank_for_columns(n, columns)
    }
}

/// Squared errors on held-out residual columns.
#[derive(Debug, Clone, Copy)]
struct Trial {
    method: f64,
    zero: f64,
    /// ‖K‖² of the same cells.
    scale: f64,
}

impl Proxied {
    /// q, and the relative error of q(P) alone on the bought off-diagonal entries.
    fn fit_link(&self, bought: &Remembered<&dyn Oracle>, plan: &Plan) -> Result<(Fitted, f64), ApproximateError> {
        let (mut p, mut k) = (Vec::new(), Vec::new());
        let stride = plan.cells(bought.len()).div_ceil(FITTED_ENTRIES).max(1);
        let mut seen = 0;
        let all: Vec<usize> = (0..bought.len()).collect();
        for EntryBlock { rows, cols } in &plan.blocks {
            let rows = match rows {
                Rows::All => &all,
                Rows::These(rows) => rows,
            };
            for rows in rows.chunks((CELLS_PER_BLOCK / cols.len().max(1)).max(1)) {
                let (mut proxies, mut scores) =
                    (Array2::zeros((rows.len(), cols.len())), Array2::zeros((rows.len(), cols.len())));
                self.proxy.block(rows, cols, proxies.view_mut())?;
                bought.block(rows, cols, scores.view_mut())?;
                for (a, &i) in rows.iter().enumerate() {
                    for (b, _) in cols.iter().enumerate().filter(|&(_, &j)| i != j) {
                        seen += 1;
                        if seen % stride == 0 {
                            p.push(proxies[[a, b]]);
                            k.push(scores[[a, b]]);
                        }
                    }
                }
            }
        }
        let link = self.link.fit(&p, &k)?;
        let missed: f64 = p.iter().zip(&k).map(|(&p, &k)| (k - link.at(p)).powi(2)).sum();
        let total: f64 = k.iter().map(|k| k * k).sum();
        Ok((link, if total > 0.0 { (missed / total).sqrt() } else { 0.0 }))
    }

    /// Whether the method needs all of K, so that nothing is left to try it on.
    fn reads_all(&self, residual: &Residual<'_>, landmarks: &Landmarks, rank: usize) -> Result<bool, ApproximateError> {
        let n = residual.len() as u64;
        Ok(self.method.plan(OracleShape::of(residual), landmarks, rank)?.cells(residual.len()) >= n * n)
    }

    /// Fits the method on ¾ of the landmarks and predicts the residual columns of the others. Everything it reads is bought:
    /// plans are nested. `None` where there is nothing to hold out, or the method reads all of K anyway.
    fn try_residual(
        &self,
        residual: &Residual<'_>,
        landmarks: &Landmarks,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Option<Trial>, ApproximateError> {
        let kept = rank * 3 / 4;
        let mut is_landmark = vec![false; residual.len()];
        landmarks.order()[..rank].iter().for_each(|&j| is_landmark[j] = true);
        let outside: Vec<usize> = (0..residual.len()).filter(|&i| !is_landmark[i]).collect();
        if kept == 0 || outside.is_empty() || self.reads_all(residual, landmarks, rank)? {
            return Ok(None);
        }
        let held = &landmarks.order()[kept..rank];
        let mut rows: Vec<usize> =
            index::sample(rng, outside.len(), VALIDATION_ROWS.min(outside.len())).iter().map(|k| outside[k]).collect();
        rows.sort_unstable();
        let core = self.method.fit(residual, landmarks, kept, Known::NOTHING, rng)?;
        let cells = (rows.len(), held.len());
        let (mut truth, mut guess, mut scores) = (Array2::zeros(cells), Array2::zeros(cells), Array2::zeros(cells));
        residual.block(&rows, held, truth.view_mut())?;
        residual.inner.block(&rows, held, scores.view_mut())?;
        core.block(&rows, held, guess.view_mut())?;
        let squared = |matrix: &Array2<f64>| matrix.iter().map(|v| v * v).sum::<f64>();
        Ok(Some(Trial {
            method: squared(&(&truth - &guess)),
            zero: squared(&truth),
            scale: squared(&scores).max(f64::MIN_POSITIVE),
        }))
    }
}

/// K̃ = 0 with the known columns of the residual.
fn zero_core(
    residual: &Residual<'_>,
    landmarks: &Landmarks,
    rank: usize,
    known: Known,
) -> Result<Approximation, ApproximateError> {
    let columns = &landmarks.order()[..rank];
    let mut purchase = Purchase::new(residual, columns);
    purchase.corner()?;
    let ([], kept) = purchase.finish([], known.landmarks)?;
    let factors = Factors::Signed(Signed {
        vectors: Array2::zeros((residual.len(), 0)),
        positive: 0,
        negative: 0,
        projector: Some(Array2::zeros((rank, 0))),
        psd_scale: None,
    });
    let report = FitReport { method: "zero".to_owned(), rank, ..FitReport::default() };
    with_known(Approximation::new(factors, columns.to_vec(), report), residual, known, kept)
}

/// K − q(P), over entries that are bought already.
struct Residual<'a> {
    inner: &'a Remembered<&'a dyn Oracle>,
    linked: &'a Linked,
}

impl Oracle for Residual<'_> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.inner.symmetry()
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("residual", self.inner.identity().as_bytes()), ("of", self.linked.identity.as_bytes())])
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.inner.evaluations_per_pair()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)?;
        let mut expected = vec![0.0; pairs.len()];
        Addend::pairs(self.linked, pairs, &mut expected)?;
        out.iter_mut().zip(&expected).for_each(|(score, expected)| *score -= expected);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.inner.block(rows, cols, out.view_mut())?;
        let mut expected = Array2::zeros(out.raw_dim());
        Addend::block(self.linked, rows, cols, expected.view_mut())?;
        out -= &expected;
        Ok(())
    }
}

/// q(P): evaluated where it is read.
struct Linked {
    proxy: Arc<dyn Oracle>,
    link: Fitted,
    identity: Identity,
    /// Landmarks of its own embedding, and how many.
    landmarks: Landmarks,
    rank: usize,
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Linked({:?}, {:?})", self.identity, self.link)
    }
}

impl Addend for Linked {
    fn len(&self) -> usize {
        self.proxy.len()
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn pairs(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.proxy.evaluate(pairs, out)?;
        check_finite(pairs, out)?;
        out.iter_mut().for_each(|value| *value = self.link.at(*value));
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.proxy.block(rows, cols, out.view_mut())?;
        ndarray::Zip::from(&mut out).par_for_each(|value| *value = self.link.at(*value));
        Ok(())
    }

    /// shift_ridge on many more landmarks than were bought: entries of P are free.
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        let method = ShiftRidgeParams::default().check()?;
        let mut rng = crate::stream::stream(0, "proxy", "embedding", 0);
        method.fit(&Free(self), &self.landmarks, self.rank, Known::NOTHING, &mut rng)?.into_embedding()
    }
}

/// q(P) as an oracle of its own, for its embedding.
struct Free<'a>(&'a Linked);

impl Oracle for Free<'_> {
    fn len(&self) -> usize {
        self.0.proxy.len()
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Symmetric
    }

    fn identity(&self) -> Identity {
        self.0.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        Addend::pairs(self.0, pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        Addend::block(self.0, rows, cols, out)
    }
}

#[cfg(test)]
mod tests;
