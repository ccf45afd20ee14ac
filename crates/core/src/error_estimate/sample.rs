//! Error estimated from a few entries that the fit did not evaluate.
//!
//! The n² cells fall into three parts: rows and columns of the landmarks, which are evaluated and counted exactly; pairs {i, j} of other items, which are
//! sampled uniformly without replacement; and the diagonal of other items, which gets a twentieth of the sample (one cell in n would hardly ever meet it,
//! yet methods that shift eigenvalues err there most), or is counted exactly if self-similarity is known. The estimates of ‖K − K̃‖²_F and ‖K‖²_F are unbiased; the interval is that of their ratio (`interval`).
//!
//! The interval allows for cells that the sample did not meet, as long as their scores lie within the range of the scores that are known (evaluated
//! columns, draws, and a known self-similarity) and K̃ is there what it is at the draws.
//!
//! If the evaluated columns hold one order per pair and the mean of both is wanted, they are not exact either: [`Sample::with_evaluated`] draws from them
//! too, and nothing of them is read beyond that.
//!
//! Cost: m entries, the evaluated columns read once more, and what reading K̃ there costs.

use rand::{Rng as _, SeedableRng};

use super::agreement::{Agreement, DrawnPair};
use super::draw::{draw_evaluated, draw_items, draw_pairs};
use super::exact::{ratio, read};
use super::interval::{Extent, Stratum, interval};
use crate::approximation::Approximation;
use crate::balance::{balancing, largest};
use crate::contents::Contents;
use crate::entries::{EntryBlock, EntryPlan, Rows};
use crate::oracle::{InUnit, Oracle, OracleError, Pair, Symmetry, ask_pairs, block_of};
use crate::stream::Rng;

/// Cells of one block of rows: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

const DIAGONAL_SHARE: usize = 20;

/// Items whose pairs show how large K̃ can be, and fewer where an addend has to be evaluated.
const PREDICTED_ITEMS: [usize; 2] = [400, 100];

/// Cells drawn to estimate an error with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub(super) landmarks: Vec<usize>,
    pub(super) outside: Vec<usize>,
    /// Distinct pairs of two items outside, each in an order drawn by a coin.
    pub(super) pairs: Vec<Pair>,
    pub(super) diagonal: Vec<usize>,
    /// Distinct pairs with a landmark, where those are not exact.
    evaluated: Option<Vec<Pair>>,
}

fn outside(n: usize, landmarks: &[usize]) -> (Vec<bool>, Vec<usize>) {
    let mut is_landmark = vec![false; n];
    landmarks.iter().for_each(|&j| is_landmark[j] = true);
    let outside = (0..n).filter(|&i| !is_landmark[i]).collect();
    (is_landmark, outside)
}

fn on_diagonal(samples: usize, outside: usize) -> usize {
    (samples / DIAGONAL_SHARE).max(2).min(samples / 2).min(outside)
}

/// An error with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Lower end of the interval.
    pub lower: f64,
    pub upper: f64,
}

/// Estimate of an error, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimate {
    /// Estimate of ‖K − K̃‖_F / ‖K‖_F.
    pub relative_error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    pub upper: f64,
    pub off_diagonal: Estimate,
    /// The same over the entries off the diagonal that were not evaluated; none where none was drawn.
    pub unevaluated: Option<Estimate>,
    /// Agreement at the pairs that were drawn and not evaluated.
    pub agreement: Agreement,
    pub confidence: f64,
    /// Unbiased estimate of ‖K − K̃‖²_F.
    pub squared_error: f64,
    /// Unbiased estimate of ‖K‖²_F.
    pub squared_norm: f64,
    /// Entries sampled: pairs, and self-similarities where those are not known.
    pub samples: usize,
}

impl Sample {
    /// `samples` distinct entries among those whose row and column are no landmark, or all of them where there are not
    /// as many. From one state of `rng`, more landmarks leave the entries that they do not touch in the sample, so that
    /// a growing rank asks for few new ones. O(n + samples).
    pub fn draw(n: usize, landmarks: &[usize], samples: usize, rng: &mut Rng) -> Self {
        let (is_landmark, outside) = outside(n, landmarks);
        let on_diagonal = on_diagonal(samples, outside.len());
        // streams of their own, so that one does not move the other
        let (mut first, mut second) = (Rng::seed_from_u64(rng.r#gen()), Rng::seed_from_u64(rng.r#gen()));
        let diagonal = draw_items(n, &is_landmark, &outside, on_diagonal, &mut first);
        let pairs = draw_pairs(n, &is_landmark, &outside, samples - on_diagonal, &mut second);
        Self { landmarks: landmarks.to_vec(), outside, pairs, diagonal, evaluated: None }
    }

    /// The same by the contents of the items: a list that gains, loses or reorders items keeps nearly all of its sample. O(n log n + samples),
    /// and a million pairs.
    pub fn draw_by_content(contents: &Contents, landmarks: &[usize], samples: usize, rng: &mut Rng) -> Self {
        let (_, outside) = outside(contents.len(), landmarks);
        let on_diagonal = on_diagonal(samples, outside.len());
        let diagonal = contents.draw_items(&outside, on_diagonal, rng);
        let pairs = contents.draw_pairs(&outside, samples - on_diagonal, rng);
        Self { landmarks: landmarks.to_vec(), outside, pairs, diagonal, evaluated: None }
    }

    /// The same with `samples` distinct pairs that hold a landmark, for columns whose entries are not the wanted ones themselves.
    #[must_use]
    pub fn with_evaluated(self, samples: usize, rng: &mut Rng) -> Self {
        let n = self.landmarks.len() + self.outside.len();
        let evaluated = draw_evaluated(n, &self.landmarks, samples, rng);
        Self { evaluated: Some(evaluated), ..self }
    }

    pub fn len(&self) -> usize {
        self.pairs.len() + self.diagonal.len() + self.evaluated.as_ref().map_or(0, Vec::len)
    }

    /// True where nothing is left to draw from.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries that [`estimate`](Self::estimate) asks for beyond the landmark columns.
    pub fn plan(&self) -> EntryPlan {
        plan_of(self.pairs.iter().copied().chain(self.diagonal.iter().map(|&i| (i, i))))
    }

    /// The pairs that it asks for, those with a landmark included: what the order that was not evaluated is asked for.
    pub fn plan_of_pairs(&self) -> EntryPlan {
        plan_of(self.pairs.iter().chain(self.evaluated.iter().flatten()).copied())
    }

    /// The relative error with its interval at a confidence such as 0.95.
    ///
    /// The columns of the landmarks are read as well; they are evaluated, so behind a store or a memory they cost nothing. Where
    /// they are sampled ([`with_evaluated`](Self::with_evaluated)), only their self-similarities are.
    pub fn estimate(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
        confidence: f64,
    ) -> Result<ErrorEstimate, OracleError> {
        let drawn = draw(&self.pairs, reference, approximation)?;
        let unit = self.unit(&drawn, approximation)?;
        if unit == 1.0 {
            return self.estimate_from(judged(drawn, reference, unit), reference, approximation, confidence);
        }
        let drawn = judged(drawn, reference, unit);
        let approximation = approximation.clone().in_unit(unit);
        let estimate = self.estimate_from(drawn, &InUnit::new(reference, unit), &approximation, confidence)?;
        let (squared_error, squared_norm) = (estimate.squared_error / unit / unit, estimate.squared_norm / unit / unit);
        Ok(ErrorEstimate { squared_error, squared_norm, ..estimate })
    }

    /// The power of two in which scores and K̃ are squared.
    fn unit(&self, drawn: &[Drawn], approximation: &Approximation) -> Result<f64, OracleError> {
        let of_pairs = largest(drawn.iter().flat_map(|drawn| [&drawn.score, &drawn.ours, &drawn.mirrored]));
        let cells: Vec<Pair> = self.landmarks.iter().map(|&t| (t, t)).collect();
        let mut ours = vec![0.0; cells.len()];
        approximation.pairs(&cells, &mut ours)?;
        Ok(balancing(of_pairs.max(largest(&ours))))
    }

    fn estimate_from(
        &self,
        drawn: Vec<DrawnPair>,
        reference: &dyn Oracle,
        approximation: &Approximation,
        confidence: f64,
    ) -> Result<ErrorEstimate, OracleError> {
        let evaluated = match &self.evaluated {
            Some(pairs) => Some(judged(draw(pairs, reference, approximation)?, reference, 1.0)),
            None => None,
        };
        let exact = match &self.evaluated {
            None => self.on_landmarks(reference, approximation)?,
            Some(_) => self.on_landmark_diagonal(reference, approximation)?,
        };
        let diagonal = self.diagonal_stratum(reference, approximation, exact.diagonal_scores)?;
        let met = drawn.iter().chain(evaluated.iter().flatten());
        let scores = Extent::of(met.map(|pair| pair.score)).and(exact.scores);
        let scores = range(scores, diagonal.scores, reference.known_diagonal());

        let is_symmetric = reference.symmetry() == Symmetry::Symmetric;
        let predicted = self.predictions(approximation)?;
        let stratum = |pairs: &[DrawnPair], size: f64| {
            let mean = |of: fn(&DrawnPair) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64;
            Stratum {
                cells: 2.0 * size,
                // of an asymmetric score one order of each pair is drawn
                fraction: if is_symmetric { pairs.len() as f64 / size.max(1.0) } else { 0.0 },
                drawn: pairs.iter().map(|pair| (pair.missed, pair.score * pair.score)).collect(),
                scores,
                ours: Extent::of(pairs.iter().map(|pair| pair.ours)).and(predicted),
                usual: (mean(|pair| pair.score), mean(|pair| pair.ours)),
            }
        };
        let mut strata = vec![stratum(&drawn, pairs_of(self.outside.len()))];
        if let Some(evaluated) = &evaluated {
            let (s, u) = (self.landmarks.len() as f64, self.outside.len() as f64);
            strata.push(stratum(evaluated, s * u + 0.5 * s * (s - 1.0)));
        }
        let sums = exact.all;
        let off_diagonal = ratio_of(&strata, sums.without(exact.diagonal), confidence);
        strata.push(diagonal);
        let all = ratio_of(&strata, sums, confidence);
        let squares = totals(&strata, sums);

        let evaluated = approximation.evaluated();
        let is_open = |pair: &DrawnPair| !evaluated.contains(pair.pair.0, pair.pair.1);
        let open: Vec<DrawnPair> = drawn.iter().copied().filter(is_open).collect();
        let unevaluated = (!open.is_empty()).then(|| {
            let size = pairs_of(self.outside.len()) * open.len() as f64 / drawn.len() as f64;
            ratio_of(&[stratum(&open, size)], Sums::default(), confidence)
        });
        // where all that is left is 0 nothing is relative to it
        let unevaluated = unevaluated.filter(|estimate| estimate.value.is_finite());
        Ok(ErrorEstimate {
            relative_error: all.value,
            lower: all.lower,
            upper: all.upper,
            off_diagonal,
            unevaluated,
            agreement: Agreement::of(&open),
            confidence,
            squared_error: squares.missed,
            squared_norm: squares.total,
            samples: self.len() - reference.known_diagonal().map_or(0, |_| self.diagonal.len()),
        })
    }

    /// Agreement at the pairs that were drawn and not evaluated, and no error.
    pub fn agreement(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Agreement, OracleError> {
        let drawn = draw(&self.pairs, reference, approximation)?;
        let unit = self.unit(&drawn, approximation)?;
        let drawn = judged(drawn, reference, unit);
        let evaluated = approximation.evaluated();
        let is_open = |pair: &DrawnPair| !evaluated.contains(pair.pair.0, pair.pair.1);
        Ok(Agreement::of(&drawn.into_iter().filter(is_open).collect::<Vec<_>>()))
    }

    /// Values of K̃ for pairs that may not be in the sample: for all pairs of some hundreds of items.
    fn predictions(&self, approximation: &Approximation) -> Result<Extent, OracleError> {
        let most = PREDICTED_ITEMS[usize::from(approximation.addend().is_some())];
        let step = self.outside.len().div_ceil(most).max(1);
        let items: Vec<usize> = self.outside.iter().copied().step_by(step).collect();
        let pairs: Vec<Pair> =
            items.iter().enumerate().flat_map(|(a, &i)| items[..a].iter().map(move |&j| (i, j))).collect();
        let mut ours = vec![0.0; pairs.len()];
        approximation.pairs(&pairs, &mut ours)?;
        Ok(Extent::of(ours))
    }

    fn on_landmarks(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Exact, OracleError> {
        let columns = &self.landmarks;
        let height = (CELLS_PER_BLOCK / columns.len().max(1)).max(1);
        let mut exact = Exact::default();
        let square = block_of(reference, columns, columns)?;
        let ours = read(approximation, columns, columns)?;
        for (((i, j), &value), &ours) in square.indexed_iter().zip(&ours) {
            exact.all.add(value, ours);
            let seen = if i == j { &mut exact.diagonal_scores } else { &mut exact.scores };
            *seen = seen.with(value);
        }
        exact.diagonal = Sums::of(square.diag().iter().zip(ours.diag()));
        for rows in self.outside.chunks(height) {
            let (below, ours) = (block_of(reference, rows, columns)?, read(approximation, rows, columns)?);
            below.iter().zip(&ours).for_each(|(&value, &ours)| exact.add(value, ours));
            // the mirrored part: the same numbers where both sides are symmetric
            let right = match reference.symmetry() {
                Symmetry::Symmetric => below.reversed_axes(),
                Symmetry::Asymmetric => block_of(reference, columns, rows)?,
            };
            let ours =
                if approximation.is_symmetric() { ours.reversed_axes() } else { read(approximation, columns, rows)? };
            right.iter().zip(&ours).for_each(|(&value, &ours)| exact.add(value, ours));
        }
        Ok(exact)
    }

    fn on_landmark_diagonal(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
    ) -> Result<Exact, OracleError> {
        let cells: Vec<Pair> = self.landmarks.iter().map(|&t| (t, t)).collect();
        let (scores, ours) = on_diagonal_cells(&cells, reference, approximation)?;
        let sums = Sums::of(scores.iter().zip(&ours));
        Ok(Exact { all: sums, diagonal: sums, diagonal_scores: Extent::of(scores), ..Exact::default() })
    }

    fn diagonal_stratum(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
        of_landmarks: Extent,
    ) -> Result<Stratum, OracleError> {
        let items = if reference.known_diagonal().is_some() { &self.outside } else { &self.diagonal };
        let cells: Vec<Pair> = items.iter().map(|&i| (i, i)).collect();
        let (scores, ours) = on_diagonal_cells(&cells, reference, approximation)?;
        let all = self.outside.len() as f64;
        // K̃ is free
        let (others, mut itself) =
            (self.outside.iter().map(|&i| (i, i)).collect::<Vec<_>>(), vec![0.0; self.outside.len()]);
        approximation.pairs(&others, &mut itself)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (usual, extent) = ((mean(&scores), mean(&itself)), Extent::of(itself));
        Ok(Stratum {
            cells: all,
            fraction: cells.len() as f64 / all.max(1.0),
            drawn: scores.iter().zip(&ours).map(|(score, ours)| ((score - ours).powi(2), score * score)).collect(),
            scores: Extent::of(scores).and(of_landmarks),
            ours: extent,
            usual,
        })
    }
}

/// Self-similarities, and the values of K̃ for them.
fn on_diagonal_cells(
    cells: &[Pair],
    reference: &dyn Oracle,
    approximation: &Approximation,
) -> Result<(Vec<f64>, Vec<f64>), OracleError> {
    let (mut scores, mut ours) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
    match reference.known_diagonal() {
        Some(value) => scores.fill(value),
        None => ask_pairs(reference, cells, &mut scores)?,
    }
    approximation.pairs(cells, &mut ours)?;
    Ok((scores, ours))
}

/// The scores that a pair may have which was not evaluated: those that are known, and if they are all the same the self-similarities.
fn range(scores: Extent, itself: Extent, known: Option<f64>) -> Extent {
    let mut range = known.map_or(scores, |value| scores.with(value));
    if range.is_point() {
        range = range.and(itself);
    }
    // where nothing but 0 is known any size will do: all of it would be missed
    if range.is_point() && range.greatest == 0.0 { range.with(1.0) } else { range }
}

/// The square root of an estimated ratio, with its interval.
fn ratio_of(strata: &[Stratum], exact: Sums, confidence: f64) -> Estimate {
    let Sums { missed, total } = totals(strata, exact);
    let (lower, upper) = interval(strata, (exact.missed, exact.total), confidence);
    Estimate { value: ratio(missed, total).sqrt(), lower: lower.sqrt(), upper: upper.sqrt() }
}

/// The score of a pair, and the values of K̃ for it in both orders.
struct Drawn {
    pair: Pair,
    score: f64,
    ours: f64,
    mirrored: f64,
}

/// Scores of pairs, and the values of K̃ for them.
fn draw(pairs: &[Pair], reference: &dyn Oracle, approximation: &Approximation) -> Result<Vec<Drawn>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    ask_pairs(reference, pairs, &mut scores)?;
    let (mut ours, mut mirrored) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
    approximation.pairs(pairs, &mut ours)?;
    let backward: Vec<Pair> = pairs.iter().map(|&(i, j)| (j, i)).collect();
    approximation.pairs(&backward, &mut mirrored)?;
    let drawn = pairs.iter().zip(scores).zip(ours.into_iter().zip(mirrored));
    Ok(drawn.map(|((&pair, score), (ours, mirrored))| Drawn { pair, score, ours, mirrored }).collect())
}

/// What K̃ misses of drawn pairs, all numbers times `unit`.
fn judged(drawn: Vec<Drawn>, reference: &dyn Oracle, unit: f64) -> Vec<DrawnPair> {
    let is_symmetric = reference.symmetry() == Symmetry::Symmetric;
    let of = |Drawn { pair, score, ours, mirrored }| {
        let [score, ours, mirrored] = [score, ours, mirrored].map(|number| unit * number);
        // a symmetric score shows what K̃ misses in both orders
        let other = if is_symmetric { mirrored } else { ours };
        let missed = 0.5 * (score - ours).powi(2) + 0.5 * (score - other).powi(2);
        DrawnPair { pair, score, ours: 0.5 * ours + 0.5 * other, apart: 0.5 * (ours - other), missed }
    };
    drawn.into_iter().map(of).collect()
}

/// Σ (K − K̃)² and Σ K².
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    missed: f64,
    total: f64,
}

impl Sums {
    /// Of (K, K̃).
    fn of<'a>(cells: impl Iterator<Item = (&'a f64, &'a f64)>) -> Self {
        let mut sums = Self::default();
        cells.for_each(|(&value, &ours)| sums.add(value, ours));
        sums
    }

    fn add(&mut self, value: f64, ours: f64) {
        self.missed += (value - ours).powi(2);
        self.total += value * value;
    }

    /// The rest without a part of them; nothing where there was nothing.
    fn without(self, part: Self) -> Self {
        Self { missed: (self.missed - part.missed).max(0.0), total: (self.total - part.total).max(0.0) }
    }
}

/// What is evaluated: sums over all of it and over self-similarities, and the scores off and on the diagonal.
#[derive(Debug, Clone, Copy)]
struct Exact {
    all: Sums,
    diagonal: Sums,
    scores: Extent,
    diagonal_scores: Extent,
}

impl Default for Exact {
    fn default() -> Self {
        let (all, scores) = (Sums::default(), Extent::EMPTY);
        Self { all, diagonal: all, scores, diagonal_scores: scores }
    }
}

impl Exact {
    fn add(&mut self, value: f64, ours: f64) {
        self.all.add(value, ours);
        self.scores = self.scores.with(value);
    }
}

fn totals(strata: &[Stratum], exact: Sums) -> Sums {
    strata.iter().fold(exact, |sums, stratum| {
        let (y, x) = stratum.totals();
        Sums { missed: sums.missed + y, total: sums.total + x }
    })
}

pub(super) fn pairs_of(items: usize) -> f64 {
    0.5 * items as f64 * items.saturating_sub(1) as f64
}

fn plan_of(cells: impl Iterator<Item = Pair>) -> EntryPlan {
    let block = |(i, j): Pair| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
    EntryPlan::exact(cells.map(block).collect())
}
