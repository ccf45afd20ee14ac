//! Error estimated from a few entries that the fit did not evaluate.
//!
//! The n² cells fall into three parts: rows and columns of the landmarks, which are evaluated and counted exactly; pairs {i, j}
//! of other items, of which most of the sample is drawn uniformly without replacement; and the diagonal of other items,
//! which gets a twentieth of it (one cell in n would hardly ever meet it, yet methods that shift eigenvalues err there
//! most), or is counted exactly where self-similarity is known. The estimates of ‖K − K̃‖²_F and ‖K‖²_F are unbiased; the
//! interval is that of their ratio. It needs some hundreds of draws, and cannot know of a few dominating cells it never
//! met. Where it met nothing but zeros (labels, sparse scores), the upper end says so: of m draws without one, a score other
//! than 0 may stand at −ln(1 − confidence)/m of the cells, missed in whole and as large as the largest that is known.
//!
//! Where the evaluated columns hold one order a pair and the mean of both is wanted, they are not exact either:
//! [`Sample::with_evaluated`] draws from them too, and nothing of them is read beyond that.
//!
//! Cost: m entries, the evaluated columns read once more, and what reading K̃ there costs.

use rand::{Rng as _, SeedableRng};

use super::agreement::{Agreement, DrawnPair};
use super::exact::{ratio, read};
use super::interval::{Stratum, interval};
use crate::approximation::Approximation;
use crate::contents::Contents;
use crate::entries::pair_map::PairSet;
use crate::entries::{EntryBlock, EntryPlan, Rows};
use crate::oracle::{Oracle, OracleError, Pair, Symmetry, ask_pairs, block_of};
use crate::stream::Rng;

/// Cells of one block of rows: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Scores below this part of the largest are zeros.
const ROUNDING: f64 = 1e-12;

/// One entry in so many is drawn on the diagonal.
const DIAGONAL_SHARE: usize = 20;

/// Cells drawn to estimate an error with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    landmarks: Vec<usize>,
    outside: Vec<usize>,
    /// Distinct pairs of two items outside, each in an order drawn by a coin.
    pairs: Vec<Pair>,
    /// Items outside.
    diagonal: Vec<usize>,
    /// Distinct pairs with a landmark, where those are not exact.
    evaluated: Option<Vec<Pair>>,
}

/// An error with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Estimate of an error, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorEstimate {
    /// Estimate of ‖K − K̃‖_F / ‖K‖_F.
    pub relative_error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The same off the diagonal.
    pub off_diagonal: Estimate,
    /// The same over the entries off the diagonal that were not evaluated; none where none was drawn.
    pub unevaluated: Option<Estimate>,
    /// Agreement at the pairs that were drawn and not evaluated.
    pub agreement: Agreement,
    /// The confidence it was asked for.
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
        let mut is_landmark = vec![false; n];
        landmarks.iter().for_each(|&j| is_landmark[j] = true);
        let outside: Vec<usize> = (0..n).filter(|&i| !is_landmark[i]).collect();
        let on_diagonal = (samples / DIAGONAL_SHARE).max(2).min(samples / 2).min(outside.len());
        // streams of their own, so that one does not move the other
        let (mut first, mut second) = (Rng::seed_from_u64(rng.r#gen()), Rng::seed_from_u64(rng.r#gen()));
        let diagonal = draw_items(n, &is_landmark, &outside, on_diagonal, &mut first);
        let pairs = draw_pairs(n, &is_landmark, &outside, samples - on_diagonal, &mut second);
        Self { landmarks: landmarks.to_vec(), outside, pairs, diagonal, evaluated: None }
    }

    /// The same by the contents of the items: a list that gains, loses or reorders items keeps nearly all of its sample. O(n log n + samples),
    /// and a million pairs.
    pub fn draw_by_content(contents: &Contents, landmarks: &[usize], samples: usize, rng: &mut Rng) -> Self {
        let mut is_landmark = vec![false; contents.len()];
        landmarks.iter().for_each(|&j| is_landmark[j] = true);
        let outside: Vec<usize> = (0..contents.len()).filter(|&i| !is_landmark[i]).collect();
        let on_diagonal = (samples / DIAGONAL_SHARE).max(2).min(samples / 2).min(outside.len());
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

    /// Entries drawn.
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
    ///
    /// # Errors
    /// Whatever the reference answers, or the addend of the approximation.
    pub fn estimate(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
        confidence: f64,
    ) -> Result<ErrorEstimate, OracleError> {
        let (drawn, pairs) = self.pair_stratum(reference, approximation)?;
        let mut strata = vec![pairs];
        let (exact, on_diagonal) = match &self.evaluated {
            None => self.on_landmarks(reference, approximation)?,
            Some(evaluated) => {
                strata.push(self.evaluated_stratum(evaluated, reference, approximation)?);
                let on_diagonal = self.on_landmark_diagonal(reference, approximation)?;
                (on_diagonal, on_diagonal)
            }
        };
        let open: Vec<DrawnPair> = unevaluated(drawn, approximation);
        let unseen = unseen(&strata, exact.largest, &open, confidence);
        let off_diagonal = estimate(&strata, exact.without(on_diagonal), unseen, confidence);
        strata.push(self.diagonal_stratum(reference, approximation)?);
        let (squares, all) = (sums(&strata, exact), estimate(&strata, exact, unseen, confidence));
        let unevaluated = (!open.is_empty()).then(|| {
            let drawn = open.iter().map(|pair| (pair.missed, pair.score * pair.score)).collect();
            let Stratum { cells, fraction, .. } = strata[0];
            estimate(&[Stratum { cells, fraction, drawn }], Sums::default(), unseen, confidence)
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
    ///
    /// # Errors
    /// As [`estimate`](Self::estimate).
    pub fn agreement(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Agreement, OracleError> {
        let (drawn, _) = self.pair_stratum(reference, approximation)?;
        Ok(Agreement::of(&unevaluated(drawn, approximation)))
    }

    /// Σ (K − K̃)² and Σ K² over the rows and columns of the landmarks, and over their self-similarities.
    fn on_landmarks(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<(Sums, Sums), OracleError> {
        let columns = &self.landmarks;
        let height = (CELLS_PER_BLOCK / columns.len().max(1)).max(1);
        let mut sums = Sums::default();
        let mut add = |value: f64, ours: f64| sums.add(value, ours);
        let square = block_of(reference, columns, columns)?;
        let ours = read(approximation, columns, columns)?;
        square.iter().zip(&ours).for_each(|(&value, &ours)| add(value, ours));
        let on_diagonal = Sums::of(square.diag().iter().zip(ours.diag()));
        for rows in self.outside.chunks(height) {
            let (below, ours) = (block_of(reference, rows, columns)?, read(approximation, rows, columns)?);
            below.iter().zip(&ours).for_each(|(&value, &ours)| add(value, ours));
            // the mirrored part: the same numbers where both sides are symmetric
            let right = match reference.symmetry() {
                Symmetry::Symmetric => below.reversed_axes(),
                Symmetry::Asymmetric => block_of(reference, columns, rows)?,
            };
            let ours =
                if approximation.is_symmetric() { ours.reversed_axes() } else { read(approximation, columns, rows)? };
            right.iter().zip(&ours).for_each(|(&value, &ours)| add(value, ours));
        }
        Ok((sums, on_diagonal))
    }

    /// The same over the self-similarities of the landmarks alone.
    fn on_landmark_diagonal(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Sums, OracleError> {
        let cells: Vec<Pair> = self.landmarks.iter().map(|&t| (t, t)).collect();
        let (mut scores, mut ours) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
        match reference.known_diagonal() {
            Some(value) => scores.fill(value),
            None => ask_pairs(reference, &cells, &mut scores)?,
        }
        approximation.pairs(&cells, &mut ours)?;
        Ok(Sums::of(scores.iter().zip(&ours)))
    }

    /// The pairs that hold a landmark, of a symmetric score.
    fn evaluated_stratum(
        &self,
        pairs: &[Pair],
        reference: &dyn Oracle,
        approximation: &Approximation,
    ) -> Result<Stratum, OracleError> {
        let (s, u) = (self.landmarks.len() as f64, self.outside.len() as f64);
        let cells = 2.0 * s * u + s * (s - 1.0);
        let drawn = draw(pairs, reference, approximation)?;
        let drawn: Vec<_> = drawn.iter().map(|pair| (pair.missed, pair.score * pair.score)).collect();
        Ok(Stratum { cells, fraction: 2.0 * drawn.len() as f64 / cells.max(1.0), drawn })
    }

    fn pair_stratum(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
    ) -> Result<(Vec<DrawnPair>, Stratum), OracleError> {
        let pairs = draw(&self.pairs, reference, approximation)?;
        let drawn = pairs.iter().map(|pair| (pair.missed, pair.score * pair.score)).collect();
        let is_symmetric = reference.symmetry() == Symmetry::Symmetric;
        let cells = self.outside.len() as f64 * self.outside.len().saturating_sub(1) as f64;
        let fraction = if is_symmetric { 2.0 * self.pairs.len() as f64 / cells.max(1.0) } else { 0.0 };
        Ok((pairs, Stratum { cells, fraction, drawn }))
    }

    fn diagonal_stratum(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Stratum, OracleError> {
        let items = if reference.known_diagonal().is_some() { &self.outside } else { &self.diagonal };
        let cells: Vec<Pair> = items.iter().map(|&i| (i, i)).collect();
        let (mut scores, mut ours) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
        match reference.known_diagonal() {
            Some(value) => scores.fill(value),
            None => ask_pairs(reference, &cells, &mut scores)?,
        }
        approximation.pairs(&cells, &mut ours)?;
        let drawn = scores.iter().zip(&ours).map(|(score, ours)| ((score - ours).powi(2), score * score)).collect();
        let all = self.outside.len() as f64;
        Ok(Stratum { cells: all, fraction: cells.len() as f64 / all.max(1.0), drawn })
    }
}

/// Scores of pairs, and what K̃ says of them.
fn draw(pairs: &[Pair], reference: &dyn Oracle, approximation: &Approximation) -> Result<Vec<DrawnPair>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    ask_pairs(reference, pairs, &mut scores)?;
    let (mut ours, mut mirrored) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
    approximation.pairs(pairs, &mut ours)?;
    let backward: Vec<Pair> = pairs.iter().map(|&(i, j)| (j, i)).collect();
    approximation.pairs(&backward, &mut mirrored)?;
    let is_symmetric = reference.symmetry() == Symmetry::Symmetric;
    let drawn = pairs.iter().zip(scores).zip(ours.into_iter().zip(mirrored));
    let of = |((&pair, score), (ours, mirrored)): ((&Pair, f64), (f64, f64))| {
        // a symmetric score says what K̃ misses in both orders
        let other = if is_symmetric { mirrored } else { ours };
        let missed = 0.5 * (score - ours).powi(2) + 0.5 * (score - other).powi(2);
        DrawnPair { pair, score, ours: 0.5 * ours + 0.5 * other, missed }
    };
    Ok(drawn.map(of).collect())
}

/// Those that the fit did not evaluate.
fn unevaluated(drawn: Vec<DrawnPair>, approximation: &Approximation) -> Vec<DrawnPair> {
    let evaluated = approximation.evaluated();
    drawn.into_iter().filter(|&DrawnPair { pair: (i, j), .. }| !evaluated.contains(i, j)).collect()
}

/// Σ (K − K̃)², Σ K² and the largest K².
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    missed: f64,
    total: f64,
    largest: f64,
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
        self.largest = self.largest.max(value * value);
    }

    /// The rest without a part of them; nothing where there was nothing.
    fn without(self, part: Self) -> Self {
        let missed = (self.missed - part.missed).max(0.0);
        Self { missed, total: (self.total - part.total).max(0.0), ..self }
    }
}

/// Both sums over strata and what is known exactly.
fn sums(strata: &[Stratum], exact: Sums) -> Sums {
    strata.iter().fold(exact, |sums, stratum| {
        let (y, x) = stratum.totals();
        Sums { missed: sums.missed + y, total: sums.total + x, ..sums }
    })
}

/// Σ (K − K̃)² that may stand at pairs which were not drawn, at most, where those that were drawn are all 0 and K̃ says so; 0 where some are not, or all were drawn.
fn unseen(strata: &[Stratum], largest: f64, open: &[DrawnPair], confidence: f64) -> f64 {
    let pairs = &strata[0];
    let drawn = strata.iter().flat_map(|stratum| &stratum.drawn);
    let largest = drawn.fold(largest, |largest, &(_, square)| largest.max(square));
    let is_zero = |pair: &DrawnPair| pair.missed.max(pair.score * pair.score) <= ROUNDING * ROUNDING * largest;
    if open.is_empty() || pairs.fraction >= 1.0 || !open.iter().all(is_zero) {
        return 0.0;
    }
    let share = (-(1.0 - confidence).ln()).min(open.len() as f64) / pairs.drawn.len() as f64;
    // where nothing but 0 is known any size will do: all of it would be missed
    pairs.cells * share * if largest > 0.0 { largest } else { 1.0 }
}

fn estimate(strata: &[Stratum], exact: Sums, unseen: f64, confidence: f64) -> Estimate {
    let Sums { missed, total, .. } = sums(strata, exact);
    let squared = ratio(missed, total);
    let (lower, upper) = interval(strata, squared, total, confidence);
    let upper = if unseen > 0.0 { upper.max((missed + unseen) / (total + unseen)) } else { upper };
    Estimate { value: squared.sqrt(), lower: lower.sqrt(), upper: upper.sqrt() }
}

fn plan_of(cells: impl Iterator<Item = Pair>) -> EntryPlan {
    let block = |(i, j): Pair| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
    EntryPlan::exact(cells.map(block).collect())
}

/// Distinct pairs that hold a landmark, uniformly; all of them where there are not more.
fn draw_evaluated(n: usize, landmarks: &[usize], count: usize, rng: &mut Rng) -> Vec<Pair> {
    let mut place_of = vec![None; n];
    landmarks.iter().enumerate().for_each(|(place, &t)| place_of[t] = Some(place));
    // a pair of two landmarks belongs to the later one
    let is_own = |i: usize, place: usize| place_of[i].is_none_or(|other| other < place);
    let s = landmarks.len();
    let most = s * (n - s) + s * s.saturating_sub(1) / 2;
    if count >= most {
        let of = |(place, &t): (usize, &usize)| (0..n).filter(move |&i| is_own(i, place)).map(move |i| (i, t));
        return landmarks.iter().enumerate().flat_map(of).collect();
    }
    let mut is_drawn = PairSet::default();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let (i, place) = (rng.gen_range(0..n), rng.gen_range(0..s));
        if is_own(i, place) && is_drawn.insert((i, landmarks[place])) {
            drawn.push((i, landmarks[place]));
        }
    }
    drawn
}

/// Drawing from all n items and turning landmarks away keeps samples of nested landmark sets alike; where nearly all are
/// landmarks, that would take forever.
fn draws_from_all(n: usize, outside: &[usize]) -> bool {
    outside.len() * 8 > n
}

fn draw_items(n: usize, is_landmark: &[bool], outside: &[usize], count: usize, rng: &mut Rng) -> Vec<usize> {
    if count == outside.len() {
        return outside.to_vec();
    }
    let mut is_drawn = vec![false; n];
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let i = draw_item(n, outside, rng);
        if !is_landmark[i] && !is_drawn[i] {
            is_drawn[i] = true;
            drawn.push(i);
        }
    }
    drawn
}

fn draw_item(n: usize, outside: &[usize], rng: &mut Rng) -> usize {
    if draws_from_all(n, outside) { rng.gen_range(0..n) } else { outside[rng.gen_range(0..outside.len())] }
}

fn draw_pairs(n: usize, is_landmark: &[bool], outside: &[usize], count: usize, rng: &mut Rng) -> Vec<Pair> {
    let u = outside.len();
    if u < 2 || count >= u * (u - 1) / 2 {
        let below = |a: usize| outside[..a].iter().map(move |&j| (outside[a], j));
        return (0..u).flat_map(below).collect();
    }
    let mut is_drawn = PairSet::default();
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let (i, j) = (draw_item(n, outside, rng), draw_item(n, outside, rng));
        if i != j && !is_landmark[i] && !is_landmark[j] && is_drawn.insert((i.max(j), i.min(j))) {
            drawn.push((i, j));
        }
    }
    drawn
}
