//! Stacked predictors: shift_ridge and kriging of the residual, for one proxy and for all, in one small regression; scattered entries;
//! and row by row what is left.
//!
//! ```text
//! LEVEL0(S)  for q of the main proxy, and of all: R = K[:,S] − q(P)[:,S]
//!            V = q(P) + shift_ridge(R)   and   V = q(P) + Rα + (Rα)ᵀ − αᵀWα,  α = (G[S,S] + 0.2 I)⁻¹ G[S,:]
//!            G = exp(3(cos e − 1)) + c cᵀ / mean c·c + 1,  c the rows of R over their root mean square
//! m(i, j)  = ridge of K on [1, V, p, p², a_i + a_j, (a_i + a_j)²], trained out of fold;  a_i = Σ_j R_ij / (count + 1)
//! K̃        = m + ½(w_i·φ_j + w_j·φ_i), exact where evaluated;  w_i krige the residuals of row i on 64 features φ
//! ```
//! The calls are divided as [`Scattered`](super::Scattered) divides them: by a given share, or by the share of least predicted error among
//! half, three quarters and all. shift_ridge around the main proxy on all s columns is a candidate of that choice. The design is linear in
//! V and the proxies, so that K̃ is a polynomial of the proxies, a signed low rank of at most 6s + 134, and a sparse matrix.
//! This project's own method (ALGORITHMS §10 B).
//!
//! Cost: the entries of s columns in number; seven times the flops of shift_ridge around a proxy, n·64³/3 and n²r a round; 80ns bytes
//! during the fit, and 8 bytes a feature and entry of the columns.

use std::sync::Arc;

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::scattered::residual_size::ResidualSize;
use super::scattered::ridge::{Linear, Moments};
use super::scattered::selection::Search;
use super::scattered::table::Table;
use super::scattered::{Chosen, Division, FEWEST_LANDMARKS, evaluate, folds};
use super::{Approximate, ApproximateError, ColumnReader, FitReport, Link, Proxied, ShiftRidgeParams};
use crate::approximation::{Approximation, Diagonal, Factors, Known, Signed};
use crate::entries::{EntryPlan, EntrySet};
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape, Pair, Remembered, ask_pairs};
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod blend;
mod columns;
mod krige;
mod level0;
#[cfg(test)]
mod tests;

use blend::{Blend, blend};
use columns::Columns;
use krige::Features;
use level0::{Level0, Similar};

const ID: &str = "stack";

/// Landmarks from which on the share of the columns is chosen by what they hold.
const ENOUGH_TO_CHOOSE: usize = 25;

/// The share where it is not.
const USUAL_SHARE: f64 = 0.75;

/// Shares that are tried.
const SHARES: [f64; 3] = [0.5, 0.75, 1.0];

/// Raw parameters of stack.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StackParams {
    /// f, the part of the calls that goes to columns, 0 < f ≤ 1; chosen by what half of them hold where nothing is said.
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
    ///
    /// # Errors
    /// [`ApproximateError::Parameter`].
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

/// Stacked predictors with scattered entries.
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

    /// shift_ridge, around the main proxy where there is one.
    fn base(&self) -> Result<Arc<dyn Approximate>, ApproximateError> {
        let bare: Arc<dyn Approximate> = Arc::new(ShiftRidgeParams::default().check()?);
        let link = Link::Polynomial { degree: self.params.degree };
        Ok(match self.proxies.first() {
            Some(proxy) => Arc::new(Proxied::new(bare, Arc::clone(proxy), link)),
            None => bare,
        })
    }

    /// The share of the first columns: the given one, or the smallest of those tried.
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
        for proxy in &self.proxies {
            super::require_symmetric("proxy", proxy.symmetry())?;
            if proxy.len() != shape.len {
                let value = format!("over {} items, the oracle over {}", proxy.len(), shape.len);
                return Err(BadParameter::new("proxy", value, "over the items of the oracle").of(ID).into());
            }
        }
        self.base()?.check_fit(shape, landmarks, rank)
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<EntryPlan, ApproximateError> {
        self.check_fit(shape, landmarks, rank)?;
        let Division { rank, pairs } = self.division(shape, landmarks, rank, self.first_share(rank))?;
        Ok(EntryPlan { chosen: pairs, ..EntryPlan::columns(&landmarks.order()[..rank]) })
    }

    fn factor(
        &self,
        columns: &mut ColumnReader<'_>,
        landmarks: &Landmarks,
        rank: usize,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let (shape, known) = (OracleShape::of(columns.oracle()), Known { diagonal: false, ..columns.known() });
        let first = self.division(shape, landmarks, rank, self.first_share(rank))?;
        // four landmarks, or all of K: nothing is left to be learned
        if first.pairs == 0 && (rank <= FEWEST_LANDMARKS || rank == shape.len || self.params.columns != Some(1.0)) {
            return self.base()?.fit(columns.oracle(), landmarks, first.rank, known, rng);
        }
        let oracle = Remembered::new(columns.oracle());
        oracle.buy(&EntryPlan::columns(&landmarks.order()[..first.rank]))?;
        let read = |rank| Columns::read(&oracle, &self.proxies, &landmarks.order()[..rank]);
        let start = read(first.rank)?;
        let stage = Stage::of(self, start, rng)?;
        let (choice, stage) = match self.choose(&stage, shape, landmarks, rank, first, rng)? {
            Choice::Base => {
                buy_columns(&oracle, landmarks, first.rank, rank)?;
                return self.base()?.fit(&oracle, landmarks, rank, known, rng);
            }
            Choice::Stacked(same) if same == first => (first, stage),
            Choice::Stacked(other) => {
                buy_columns(&oracle, landmarks, first.rank, other.rank)?;
                (other, Stage::of(self, read(other.rank)?, rng)?)
            }
        };
        self.complete(stage, &oracle, landmarks, (rank, choice), known, rng)
    }
}

/// Evaluates columns `from..to` of the order as pairs, those that are evaluated already left out.
fn buy_columns(
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

/// Verdict of half of the columns on the rest of the calls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// All of them for columns, and no stack.
    Base,
    /// So many.
    Stacked(Division),
}

/// LEVEL0 on some columns, and the same out of fold as a table of features.
struct Stage {
    columns: Columns,
    level0: Level0,
    /// Features of the rows of `table`, in its order.
    design: Vec<f64>,
    width: usize,
    table: Table,
}

/// m as a regression on the features.
struct Fit {
    linear: Linear,
    predicted: Vec<f64>,
    /// Root mean square of K − m over all rows.
    error: f64,
}

impl Stage {
    fn of(stack: &Stack, columns: Columns, rng: &mut Rng) -> Result<Self, ApproximateError> {
        let degree = stack.params.degree;
        let similar = stack.similar.as_deref();
        let level0 = Level0::fit(&columns, similar, degree, rng)?;
        let width = level0.width(stack.proxies.len());
        let mut stage = Self { columns, level0, design: Vec::new(), width, table: Table::default() };
        for fold in folds(stage.columns.items.len(), rng) {
            let kept: Vec<usize> = (0..stage.columns.items.len()).filter(|place| !fold.contains(place)).collect();
            if kept.is_empty() {
                continue;
            }
            let smaller = Level0::fit(&stage.columns.select(&kept), similar, degree, rng)?;
            let mut is_kept = vec![false; stage.columns.len()];
            kept.iter().for_each(|&place| is_kept[stage.columns.items[place]] = true);
            let rows: Vec<usize> = (0..stage.columns.len()).filter(|&i| !is_kept[i]).collect();
            stage.predict(&smaller, &rows, &fold);
        }
        Ok(stage)
    }

    /// Rows × the columns of a fold, as a fit without them says.
    fn predict(&mut self, smaller: &Level0, rows: &[usize], fold: &[usize]) {
        let held: Vec<usize> = fold.iter().map(|&place| self.columns.items[place]).collect();
        let proxies: Vec<Array2<f64>> = self.columns.proxies.iter().map(|p| select(p, rows, fold)).collect();
        let views = smaller.blocks(rows, &held, &proxies);
        let mut features = Vec::with_capacity(self.width);
        for (a, &i) in rows.iter().enumerate() {
            for (b, &j) in held.iter().enumerate() {
                if i == j {
                    continue;
                }
                features.clear();
                let (v, p) = (views.iter().map(|v| v[[a, b]]), proxies.iter().map(|p| p[[a, b]]));
                smaller.features(i, j, v, p, &mut features);
                self.design.extend(&features);
                self.table.push((i, j), 0.0, self.columns.scores[[i, fold[b]]]);
            }
        }
    }

    /// The features of pairs that no column holds.
    fn add(&mut self, pairs: &[Pair], scores: &[f64], proxies: &[Arc<dyn Oracle>]) -> Result<(), ApproximateError> {
        let cheap = proxies
            .iter()
            .map(|proxy| {
                let mut scores = vec![0.0; pairs.len()];
                ask_pairs(&**proxy, pairs, &mut scores).map(|()| scores)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let values = self.level0.pairs(pairs, &cheap)?;
        let mut features = Vec::with_capacity(self.width);
        for (k, (&(i, j), &score)) in pairs.iter().zip(scores).enumerate() {
            features.clear();
            let (v, p) = (values.iter().map(|v| v[k]), cheap.iter().map(|p| p[k]));
            self.level0.features(i, j, v, p, &mut features);
            self.design.extend(&features);
            self.table.push((i, j), 0.0, score);
        }
        Ok(())
    }

    /// θ, and m of every row.
    fn fit(&self) -> Result<Fit, ApproximateError> {
        let mut moments = Moments::of(Array2::zeros((0, self.width + 1)).view());
        let rows_at_a_time = super::scattered::table::ROWS_PER_TASK;
        let parts = self.design.chunks(self.width * rows_at_a_time).zip(self.table.scores.chunks(rows_at_a_time));
        for (design, scores) in parts {
            let rows = Array2::from_shape_fn((scores.len(), self.width + 1), |(row, k)| {
                if k < self.width { design[row * self.width + k] } else { scores[row] }
            });
            moments = moments.join(Moments::of(rows.view()));
        }
        let linear = moments.regress()?;
        let predicted: Vec<f64> = self.design.chunks(self.width).map(|features| linear.at(features)).collect();
        let squares = predicted.iter().zip(&self.table.scores).map(|(m, k)| (k - m) * (k - m)).sum::<f64>();
        let error = (squares / (predicted.len() as f64).max(1.0)).sqrt();
        Ok(Fit { linear, predicted, error })
    }

    /// Root mean square of what shift_ridge around the main proxy misses out of fold: V_1 is the first feature.
    fn base_error(&self) -> f64 {
        let squares =
            self.design.chunks(self.width).zip(&self.table.scores).map(|(features, k)| (k - features[0]).powi(2));
        (squares.sum::<f64>() / (self.table.len() as f64).max(1.0)).sqrt()
    }

    /// The table with m in its place.
    fn table(&self, fit: &Fit) -> Table {
        self.table.with_predicted(fit.predicted.clone())
    }
}

/// These rows and columns.
fn select(matrix: &Array2<f64>, rows: &[usize], cols: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), cols.len()), |(a, b)| matrix[[rows[a], cols[b]]])
}

impl Stack {
    /// The share of least predicted error, or that which was given.
    fn choose(
        &self,
        stage: &Stage,
        shape: OracleShape,
        landmarks: &Landmarks,
        rank: usize,
        first: Division,
        rng: &mut Rng,
    ) -> Result<Choice, ApproximateError> {
        let fit = stage.fit()?;
        let (error, base) = (fit.error, stage.base_error());
        let half = first.rank / 2;
        if self.params.columns.is_some() || rank < ENOUGH_TO_CHOOSE || half < 2 {
            return Ok(if base <= error { Choice::Base } else { Choice::Stacked(first) });
        }
        let smaller: Vec<usize> = (0..half).collect();
        let smaller = Stage::of(self, stage.columns.select(&smaller), rng)?;
        let falls = |at_half: f64, now: f64| ((at_half / now).ln() / 2.0_f64.ln()).clamp(0.0, 1.0);
        let (fall, fall_base) = (falls(smaller.fit()?.error, error), falls(smaller.base_error(), base));
        let left = Residuals::of(stage, &fit, &self.proxies)?;
        let n = shape.len as f64;
        // counts below 2^52
        let unknown = |rank: usize| (n - rank as f64) * (n - rank as f64 - 1.0) / 2.0;
        let grown = |rank: usize, fall: f64| (rank as f64 / first.rank as f64).powf(-2.0 * fall);
        let mut best = (Choice::Base, base * base * grown(rank, fall_base) * unknown(rank));
        for share in SHARES {
            let division = match share < 1.0 {
                true => self.division(shape, landmarks, rank, share)?,
                false => Division { rank, pairs: 0 },
            };
            let pairs = unknown(division.rank);
            let predicted =
                error * error * grown(division.rank, fall) * pairs * left.after(division.pairs as f64 / pairs.max(1.0));
            if predicted < best.1 {
                best = (Choice::Stacked(division), predicted);
            }
        }
        Ok(best.0)
    }

    /// Rounds of scattered pairs, the last regression and the kriging of what is left.
    fn complete(
        &self,
        mut stage: Stage,
        oracle: &Remembered<&dyn Oracle>,
        landmarks: &Landmarks,
        (asked, division): (usize, Division),
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let shape = OracleShape::of(oracle);
        let order = &landmarks.order()[..division.rank];
        let mut named = EntrySet::new(shape);
        named.add(&EntryPlan::columns(order));
        let mut chosen = Chosen::new(shape.len, named);
        for round in 0..self.params.rounds {
            let wanted = (division.pairs - chosen.len()) / (self.params.rounds - round) as u64;
            if wanted == 0 {
                continue;
            }
            let fit = stage.fit()?;
            let size = ResidualSize::fit(shape.len, &stage.table(&fit), &self.proxies)?;
            let predicted = self.model(&stage, &fit, None)?;
            let search = Search { predicted: &predicted, proxies: &self.proxies, size: &size, known: &chosen };
            let found = search.largest(wanted, rng)?;
            let scores = evaluate(*oracle.inner(), &found)?;
            stage.add(&found, &scores, &self.proxies)?;
            chosen.extend(found, scores);
        }
        let fit = stage.fit()?;
        let features = Features::of(&stage.columns, self.similar.as_deref())?;
        let weights = features.krige(&stage.table(&fit), &stage.columns.items)?;
        let model = self.model(&stage, &fit, Some((&features, &weights)))?.symmetrized()?;
        let factors = match model.factors() {
            Factors::Signed(signed) => Factors::Signed(Signed { projector: None, ..signed.clone() }),
            other => other.clone(),
        };
        let anchors = blend::anchors(landmarks, asked);
        let blend = Arc::new(self.blend(&stage, &fit, anchors));
        let diagonal = diagonal(oracle, &stage, &model, &blend)?;
        let report = FitReport {
            rank: asked,
            proxy: self.proxies.first().map(|proxy| proxy.identity().to_hex()),
            scattered: chosen.pairs.len(),
            validation_error: relative(fit.error, &stage.table.scores),
            ..FitReport::default()
        };
        let mut approximation = Approximation::new(factors, order.to_vec(), report);
        if known.landmarks {
            approximation = approximation.with_known_columns(&stage.columns.scores - &blend.columns(order)?);
        }
        let approximation = approximation.with_addend(blend);
        let approximation = match diagonal {
            Some(diagonal) => approximation.with_diagonal(diagonal),
            None => approximation,
        };
        Ok(approximation.with_scattered(chosen.entries(shape.len))?)
    }

    /// q(P) of m: what stands beside the low rank.
    fn blend(&self, stage: &Stage, fit: &Fit, anchors: Vec<usize>) -> Blend {
        Blend::new(self.proxies.clone(), stage.columns.len(), stage.level0.polynomials(&fit.linear), anchors)
    }

    /// m as an approximation, not symmetric to the last bit; with the kriging of what it leaves where that is given.
    fn model(
        &self,
        stage: &Stage,
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

/// Self-similarities: the known one; else the evaluated ones and their mean, unless m, trained on other pairs, says them better.
fn diagonal(
    oracle: &dyn Oracle,
    stage: &Stage,
    model: &Approximation,
    blend: &Blend,
) -> Result<Option<Diagonal>, ApproximateError> {
    if let Some(value) = oracle.known_diagonal() {
        return Ok(Some(Diagonal::Constant(value)));
    }
    let items = &stage.columns.items;
    let seen: Vec<f64> = items.iter().enumerate().map(|(b, &t)| stage.columns.scores[[t, b]]).collect();
    let cells: Vec<Pair> = items.iter().map(|&t| (t, t)).collect();
    let (mut ours, mut added) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
    model.pairs(&cells, &mut ours)?;
    ask_pairs(blend, &cells, &mut added)?;
    let count = seen.len() as f64;
    let mean = seen.iter().sum::<f64>() / count;
    // each predicted by the mean of the others
    let by_mean = seen.iter().map(|k| ((k - mean) * count / (count - 1.0).max(1.0)).powi(2)).sum::<f64>();
    let by_model = seen.iter().zip(ours.iter().zip(&added)).map(|(k, (m, q))| (k - m - q).powi(2)).sum::<f64>();
    if by_model < by_mean {
        return Ok(None);
    }
    let mut values = vec![mean; oracle.len()];
    items.iter().zip(seen).for_each(|(&t, k)| values[t] = k);
    Ok(Some(Diagonal::Each(values)))
}

/// The error over the root mean square of the scores.
fn relative(error: f64, scores: &[f64]) -> Option<f64> {
    let square = scores.iter().map(|score| score * score).sum::<f64>() / (scores.len() as f64).max(1.0);
    (square > 0.0).then(|| error / square.sqrt())
}

/// Squared residuals by falling predicted size, as a share of all that is left after each.
struct Residuals(Array1<f64>);

impl Residuals {
    fn of(stage: &Stage, fit: &Fit, proxies: &[Arc<dyn Oracle>]) -> Result<Self, ApproximateError> {
        let table = stage.table(fit);
        let size = ResidualSize::fit(stage.columns.len(), &table, proxies)?;
        let mut sized = Vec::with_capacity(table.len());
        for chunk in table.chunks() {
            let pairs = chunk.pairs();
            let mut cheap = Vec::new();
            for proxy in proxies {
                let mut scores = vec![0.0; pairs.len()];
                ask_pairs(&**proxy, &pairs, &mut scores)?;
                cheap.push(scores);
            }
            for (k, ((&(i, j), &m), residual)) in pairs.iter().zip(chunk.predicted).zip(chunk.residuals()).enumerate() {
                sized.push((size.at(i, j, m, cheap.iter().map(|scores| scores[k])), residual * residual));
            }
        }
        sized.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all: f64 = sized.iter().map(|(_, square)| square).sum();
        let mut left = all;
        let shares = sized.iter().map(|(_, square)| {
            left -= square;
            if all > 0.0 { (left / all).max(0.0) } else { 0.0 }
        });
        Ok(Self(std::iter::once(1.0).chain(shares).collect()))
    }

    /// T(x): what is left of them without the fraction x of largest predicted size.
    fn after(&self, fraction: f64) -> f64 {
        // a place within the table
        let place = (fraction.clamp(0.0, 1.0) * (self.0.len() - 1) as f64) as usize;
        self.0[place]
    }
}
