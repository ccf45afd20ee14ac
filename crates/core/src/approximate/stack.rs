//! Stacked predictors: shift_ridge and kriging of the residual, for one proxy and for all, in one small regression; scattered entries;
//! and row by row what is left.
//!
//! ```text
//! LEVEL0(S)  for q of the main proxy, and of all: R = K[:,S] − q(P)[:,S]
//!            V = q(P) + shift_ridge(R)   and   V = q(P) + Rα + (Rα)ᵀ − αᵀWα,  α = (G[S,S] + 0.2 I)⁻¹ G[S,:]
//!            G = exp(3(cos e − 1)) + c cᵀ / mean c·c + 1,  c the rows of R over their root mean square
//! m(i, j)  = ridge of K on [1, V, p, p², a_i + a_j, (a_i + a_j)²], trained out of fold;  a_i = Σ_j R_ij / (count + 1)
//! K̃        = m + ½(w_i·φ_j + w_j·φ_i), within the range of the evaluated scores, and exact where evaluated;
//!            w_i krige the residuals of row i on 64 features φ
//! ```
//! The scattered pairs are those that m misses most. What m learns from them, it learns where few columns are known (counted in full they make the
//! error on questions under a tree kernel a tenth smaller at s/n = .02), and unlearns where most of K carries no information (a third larger on a
//! matrix of 0 and 1); so they count 0, a fifth or all of an entry of the columns, whichever predicts columns that were left out best. Rows are
//! kriged from all that is known.
//!
//! The range costs no call; a mat-vec then reads all entries.
//!
//! The calls are divided as [`Scattered`](super::Scattered) divides them: by a given share, or by the share of least predicted error among
//! half, three quarters and all. shift_ridge around the main proxy on all s columns is a candidate of that choice, and keeps its place unless
//! another promises to save 2 % of its squared error, or 250/s % where s is below 125. Errors out of fold are carried to other numbers of columns
//! by C (1 − s/n) s^(−2α), with α from half of the columns.
//!
//! The design is linear in V and the proxies, so that K̃ is, within its range, a polynomial of the proxies, a signed low rank of at most
//! 6s + 134, and a sparse matrix.
//! This project's own method.
//!
//! Cost: the entries of s columns in number; seven times the flops of shift_ridge around a proxy, n·64³/3 and n²r a round; some 200ns bytes
//! during the fit with one proxy, 300ns with several, and 8 bytes a feature and entry of the columns.

use std::sync::Arc;

use ndarray::Array2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::anchors::{choose_anchors, usual_anchors};
use super::scattered::{Chosen, Division, FEWEST_LANDMARKS};
use super::{Approximate, ApproximateError, ColumnReader, FitReport, Link, Proxied, ShiftRidgeParams};
use crate::approximation::{Approximation, Diagonal, Factors, Known, Signed};
use crate::entries::{EntryPlan, EntrySet};
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape, Pair, Remembered, ask_pairs};
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod blend;
mod choice;
mod columns;
mod krige;
mod level0;
mod out_of_fold;
#[cfg(test)]
mod tests;

use blend::{Blend, blend};
use choice::Choice;
use columns::Columns;
use krige::Features;
use level0::Similar;
use out_of_fold::{Fit, OutOfFold};

const ID: &str = "stack";

const ENOUGH_TO_CHOOSE: usize = 25;

const USUAL_SHARE: f64 = 0.75;

const SHARES: [f64; 3] = [0.5, 0.75, 1.0];

/// Raw parameters of stack.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StackParams {
    /// f, the part of the calls that goes to columns, 0 < f ≤ 1; none: chosen from the first half of them.
    pub columns: Option<f64>,
    /// Rounds in which scattered pairs are chosen.
    pub rounds: usize,
    /// Degree of the main proxy in q, 1 to 3.
    pub degree: usize,
}

impl Default for StackParams {
    fn default() -> Self {
        Self { columns: None, rounds: 2, degree: 2 }
    }
}

impl StackParams {
    /// The method, if the parameters make one.
    pub fn check(self) -> Result<Stack, ApproximateError> {
        let refuse = |parameter, value: String, wanted| Err(BadParameter::new(parameter, value, wanted).of(ID).into());
        if let Some(columns) = self.columns.filter(|columns| !(*columns > 0.0 && *columns <= 1.0)) {
            return refuse("columns", columns.to_string(), "above 0 and at most 1");
        }
        if self.rounds == 0 {
            return refuse("rounds", self.rounds.to_string(), "at least 1");
        }
        if !(1..=3).contains(&self.degree) {
            return refuse("degree", self.degree.to_string(), "1, 2 or 3");
        }
        Ok(Stack { params: self, proxies: Vec::new(), similar: None })
    }
}

#[derive(Clone)]
pub struct Stack {
    params: StackParams,
    proxies: Vec<Arc<dyn Oracle>>,
    similar: Option<Arc<Similar>>,
}

impl Stack {
    /// The same with free symmetric scores over the same items, the main one first.
    #[must_use]
    pub fn with_proxies(self, proxies: Vec<Arc<dyn Oracle>>) -> Self {
        Self { proxies, ..self }
    }

    /// The same with a vector an item (n × d): items alike are kriged alike.
    #[must_use]
    pub fn with_vectors(self, vectors: &Array2<f64>) -> Self {
        Self { similar: Some(Arc::new(Similar::of(vectors))), ..self }
    }

    fn base(&self) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let bare: Arc<dyn Approximate> = Arc::new(ShiftRidgeParams::default().check()?);
        let link = Link { degree: self.params.degree };
        Ok(match self.proxies.first() {
            Some(proxy) => Arc::new(Proxied::new(bare, Arc::clone(proxy), link)),
            None => bare,
        })
    }

    fn first_share(&self, rank: usize) -> f64 {
        match self.params.columns {
            Some(columns) => columns,
            None if rank < ENOUGH_TO_CHOOSE => USUAL_SHARE,
            None => SHARES[0],
        }
    }

    fn division(
        &self,
        shape: OracleShape,
        landmarks: &Landmarks,
        rank: usize,
        share: f64,
    ) -> Result<Division, ApproximateError> {
        Division::of(shape, rank, share, |rank| Ok(EntryPlan::columns(&landmarks.order()[..rank])))
    }
}

impl Approximate for Stack {
    fn id(&self) -> &'static str {
        ID
    }

    fn with_proxies(&self, proxies: &[Arc<dyn Oracle>]) -> Option<Arc<dyn Approximate>> {
        Some(Arc::new(self.clone().with_proxies(proxies.to_vec())))
    }

    fn check_fit(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        self.proxies.iter().try_for_each(|proxy| super::require_symmetric("proxy", proxy.symmetry()))?;
        super::check_proxies(ID, &self.proxies, shape.len)?;
        self.base()?.check_fit(shape, landmarks, rank)
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<EntryPlan, ApproximateError> {
        self.check_fit(shape, landmarks, rank)?;
        let Division { rank: first, pairs } = self.division(shape, landmarks, rank, self.first_share(rank))?;
        let (all, columns) =
            (EntryPlan::columns(&landmarks.order()[..rank]), EntryPlan::columns(&landmarks.order()[..first]));
        let (left, price) = (all.evaluations(shape) - columns.evaluations(shape), shape.evaluations_per_pair.max(1));
        // the fit may evaluate all columns instead, whose calls need not divide into pairs
        let chosen = if pairs == left / price { left.div_ceil(price) } else { pairs };
        Ok(EntryPlan { chosen, ..columns })
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        // every evaluated entry is exact, whether that was asked for or not
        let (shape, known) = (OracleShape::of(columns.oracle()), Known::LANDMARKS);
        let first = self.division(shape, landmarks, rank, self.first_share(rank))?;
        // four landmarks, or all of K: nothing is left to be learned
        if first.pairs == 0 && (rank <= FEWEST_LANDMARKS || rank == shape.len || self.params.columns != Some(1.0)) {
            return self.base()?.fit(columns.oracle(), landmarks, first.rank, known, rng);
        }
        let oracle = Remembered::new(columns.oracle());
        oracle.evaluate_plan(&EntryPlan::columns(&landmarks.order()[..first.rank]))?;
        if let Some(fitted) = columns.fit_in_unit(self, &oracle, rng)? {
            return Ok(fitted);
        }
        let read = |rank| Columns::read(&oracle, &self.proxies, &landmarks.order()[..rank]);
        let start = read(first.rank)?;
        let stage = OutOfFold::of(self, start, rng)?;
        let (choice, stage) = match self.choose(&stage, shape, landmarks, rank, first, rng)? {
            Choice::Base => {
                evaluate_columns(&oracle, landmarks, first.rank, rank)?;
                return self.base()?.fit(&oracle, landmarks, rank, known, rng);
            }
            Choice::Stacked(same) if same == first => (first, stage),
            Choice::Stacked(other) => {
                evaluate_columns(&oracle, landmarks, first.rank, other.rank)?;
                (other, OutOfFold::of(self, read(other.rank)?, rng)?)
            }
        };
        self.complete(stage, &oracle, landmarks, (rank, choice))
    }
}

/// Evaluates columns `from..to` of the order as pairs, those that are evaluated already left out.
fn evaluate_columns(
    oracle: &Remembered<&dyn Oracle>,
    landmarks: &Landmarks,
    from: usize,
    to: usize,
) -> Result<(), ApproximateError> {
    let order = landmarks.order();
    let mut is_column = vec![false; oracle.len()];
    order[..from].iter().for_each(|&j| is_column[j] = true);
    let is_known = oracle.known_diagonal().is_some();
    for &j in &order[from..to] {
        let pairs: Vec<Pair> =
            (0..oracle.len()).filter(|&i| !(is_column[i] || is_known && i == j)).map(|i| (i, j)).collect();
        ask_pairs(oracle, &pairs, &mut vec![0.0; pairs.len()])?;
        is_column[j] = true;
    }
    Ok(())
}

impl Stack {
    fn complete(
        &self,
        stage: OutOfFold,
        oracle: &Remembered<&dyn Oracle>,
        landmarks: &Landmarks,
        (asked, division): (usize, Division),
    ) -> Result<Approximation, ApproximateError> {
        let order = &landmarks.order()[..division.rank];
        let chosen = self.search(&stage, oracle, order, division.pairs)?;
        let fit = stage.fit_weighted(&chosen.pairs, &chosen.scores, &self.proxies)?;
        let mut table = stage.table(&fit);
        if !chosen.pairs.is_empty() {
            table.extend(&self.model(&stage, &fit, None)?, &chosen.pairs, &chosen.scores)?;
        }
        let features = Features::of(&stage.columns, self.similar.as_deref())?;
        let weights = features.krige(&table, &stage.columns.items)?;
        let model = self.model(&stage, &fit, Some((&features, &weights)))?.symmetrized()?;
        let factors = match model.factors() {
            Factors::Signed(signed) => Factors::Signed(Signed { projector: None, ..signed.clone() }),
            other => other.clone(),
        };
        let anchors = choose_anchors(landmarks, usual_anchors(asked).min(landmarks.len()), None);
        let blend = Arc::new(self.blend(&stage, &fit, anchors));
        let diagonal = diagonal(oracle, &stage, &model, &blend)?;
        let report = FitReport {
            rank: asked,
            proxy: self.proxies.first().map(|proxy| proxy.identity().to_hex()),
            scattered: chosen.pairs.len(),
            validation_error: relative(fit.error, &stage.table.scores),
            ..FitReport::default()
        };
        let evaluated = &stage.columns.scores - &blend.columns(order)?;
        let approximation = Approximation::new(factors, order.to_vec(), report).with_known_columns(evaluated);
        let (least, greatest) = stage.columns.range();
        let least = chosen.scores.iter().copied().fold(least, f64::min);
        let greatest = chosen.scores.iter().copied().fold(greatest, f64::max);
        let approximation = approximation.with_addend(blend).with_range(least, greatest).with_diagonal(diagonal);
        Ok(approximation.with_scattered(chosen.entries())?)
    }

    /// Rounds of the pairs that m misses most.
    fn search(
        &self,
        stage: &OutOfFold,
        oracle: &Remembered<&dyn Oracle>,
        columns: &[usize],
        pairs: u64,
    ) -> Result<Chosen, ApproximateError> {
        let chosen = Chosen::new(EntrySet::of(OracleShape::of(oracle), &EntryPlan::columns(columns)));
        let fit = stage.fit()?;
        let (predicted, table) = (self.model(stage, &fit, None)?, stage.table(&fit));
        chosen.in_rounds(*oracle.inner(), (&predicted, &self.proxies), table, (pairs, self.params.rounds, None))
    }

    /// q(P) of m: what is added to the low rank.
    fn blend(&self, stage: &OutOfFold, fit: &Fit, anchors: Vec<usize>) -> Blend {
        let polynomials = stage.level0.polynomials(&fit.linear);
        Blend::new(self.proxies.clone(), stage.columns.len(), polynomials, anchors)
    }

    /// m as an approximation, not symmetric to the last bit; with the kriging of what it leaves where that is given.
    fn model(
        &self,
        stage: &OutOfFold,
        fit: &Fit,
        kriged: Option<(&Features, &Array2<f64>)>,
    ) -> Result<Approximation, ApproximateError> {
        let mut parts = stage.level0.parts(&fit.linear);
        if let Some((features, weights)) = kriged {
            parts.push((weights * 0.5, features.phi.clone()));
            parts.push((&features.phi * 0.5, weights.clone()));
        }
        let bare = Approximation::new(Factors::General(blend(&parts)), Vec::new(), FitReport::default());
        Ok(match kriged {
            Some(_) => bare,
            None => bare.with_addend(Arc::new(self.blend(stage, fit, Vec::new()))),
        })
    }
}

/// Self-similarities: the known one; else the evaluated ones, and for the others their mean, or what m, trained on other pairs, predicts
/// where that is better.
fn diagonal(
    oracle: &dyn Oracle,
    stage: &OutOfFold,
    model: &Approximation,
    blend: &Blend,
) -> Result<Diagonal, ApproximateError> {
    if let Some(value) = oracle.known_diagonal() {
        return Ok(Diagonal::Constant(value));
    }
    let items = &stage.columns.items;
    let seen: Vec<f64> = items.iter().enumerate().map(|(b, &t)| stage.columns.scores[[t, b]]).collect();
    let cells: Vec<Pair> = (0..oracle.len()).map(|i| (i, i)).collect();
    let (mut values, mut added) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
    model.pairs(&cells, &mut values)?;
    ask_pairs(blend, &cells, &mut added)?;
    values.iter_mut().zip(added).for_each(|(value, added)| *value += added);
    let count = seen.len() as f64;
    let mean = seen.iter().sum::<f64>() / count;
    // each predicted by the mean of the others
    let by_mean = seen.iter().map(|k| ((k - mean) * count / (count - 1.0).max(1.0)).powi(2)).sum::<f64>();
    let by_model = items.iter().zip(&seen).map(|(&t, k)| (k - values[t]).powi(2)).sum::<f64>();
    if by_model >= by_mean {
        values.fill(mean);
    }
    items.iter().zip(seen).for_each(|(&t, k)| values[t] = k);
    Ok(Diagonal::Each(values))
}

/// The error over the root mean square of the scores.
fn relative(error: f64, scores: &[f64]) -> Option<f64> {
    let square = scores.iter().map(|score| score * score).sum::<f64>() / (scores.len() as f64).max(1.0);
    (square > 0.0).then(|| error / square.sqrt())
}
