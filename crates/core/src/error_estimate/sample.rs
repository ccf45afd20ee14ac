//! Error estimated from a few entries that the fit did not evaluate.
//!
//! The n² cells fall into three parts: rows and columns of the landmarks, which are evaluated and counted exactly; pairs {i, j}
//! of other items, of which most of the sample is drawn uniformly without replacement; and the diagonal of other items,
//! which gets a twentieth of it (one cell in n would hardly ever meet it, yet methods that shift eigenvalues err there
//! most), or is counted exactly where self-similarity is known. The estimates of ‖K − K̃‖²_F and ‖K‖²_F are unbiased; the
//! interval is that of their ratio. It needs some hundreds of draws, and cannot know of a few dominating cells it never
//! met.
//!
//! Cost: m entries, the evaluated columns read once more, and what reading K̃ there costs.

use rand::{Rng as _, SeedableRng};

use super::exact::{ratio, read};
use super::interval::{Stratum, interval};
use crate::approximation::Approximation;
use crate::entries::pair_map::PairSet;
use crate::entries::{EntryBlock, EntryPlan, Rows};
use crate::oracle::{Oracle, OracleError, Pair, Symmetry, ask_pairs, block_of};
use crate::stream::Rng;

/// Cells of one block of rows: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

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
    /// The confidence it was asked for.
    pub confidence: f64,
    /// Unbiased estimate of ‖K − K̃‖²_F.
    pub squared_error: f64,
    /// Unbiased estimate of ‖K‖²_F.
    pub squared_norm: f64,
    /// Entries sampled.
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
        Self { landmarks: landmarks.to_vec(), outside, pairs, diagonal }
    }

    /// Entries drawn.
    pub fn len(&self) -> usize {
        self.pairs.len() + self.diagonal.len()
    }

    /// True where nothing is left to draw from.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries that [`estimate`](Self::estimate) asks for beyond the landmark columns.
    pub fn plan(&self) -> EntryPlan {
        let cells = self.pairs.iter().copied().chain(self.diagonal.iter().map(|&i| (i, i)));
        let block = |(i, j): Pair| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
        EntryPlan::exact(cells.map(block).collect())
    }

    /// The relative error with its interval at a confidence such as 0.95.
    ///
    /// The columns of the landmarks are read as well; they are evaluated, so behind a store or a memory they cost nothing.
    ///
    /// # Errors
    /// Whatever the reference answers, or the addend of the approximation.
    pub fn estimate(
        &self,
        reference: &dyn Oracle,
        approximation: &Approximation,
        confidence: f64,
    ) -> Result<ErrorEstimate, OracleError> {
        let (mut missed, mut total) = self.on_landmarks(reference, approximation)?;
        let strata = [self.pair_stratum(reference, approximation)?, self.diagonal_stratum(reference, approximation)?];
        for stratum in &strata {
            let (y, x) = stratum.totals();
            missed += y;
            total += x;
        }
        let squared = ratio(missed, total);
        let (lower, upper) = interval(&strata, squared, total, confidence);
        Ok(ErrorEstimate {
            relative_error: squared.sqrt(),
            lower: lower.sqrt(),
            upper: upper.sqrt(),
            confidence,
            squared_error: missed,
            squared_norm: total,
            samples: self.len(),
        })
    }

    /// Σ (K − K̃)² and Σ K² over the rows and columns of the landmarks.
    fn on_landmarks(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<(f64, f64), OracleError> {
        let columns = &self.landmarks;
        let height = (CELLS_PER_BLOCK / columns.len().max(1)).max(1);
        let (mut missed, mut total) = (0.0, 0.0);
        let mut add = |value: f64, ours: f64| {
            missed += (value - ours).powi(2);
            total += value * value;
        };
        let square = block_of(reference, columns, columns)?;
        square.iter().zip(&read(approximation, columns, columns)?).for_each(|(&value, &ours)| add(value, ours));
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
        Ok((missed, total))
    }

    fn pair_stratum(&self, reference: &dyn Oracle, approximation: &Approximation) -> Result<Stratum, OracleError> {
        let mut scores = vec![0.0; self.pairs.len()];
        ask_pairs(reference, &self.pairs, &mut scores)?;
        let (mut ours, mut mirrored) = (vec![0.0; self.pairs.len()], vec![0.0; self.pairs.len()]);
        approximation.pairs(&self.pairs, &mut ours)?;
        let backward: Vec<Pair> = self.pairs.iter().map(|&(i, j)| (j, i)).collect();
        approximation.pairs(&backward, &mut mirrored)?;
        let is_symmetric = reference.symmetry() == Symmetry::Symmetric;
        let drawn = scores.iter().zip(ours.iter().zip(&mirrored)).map(|(&score, (&ours, &mirrored))| {
            // a symmetric score says what K̃ misses in both orders
            let other = if is_symmetric { mirrored } else { ours };
            (0.5 * (score - ours).powi(2) + 0.5 * (score - other).powi(2), score * score)
        });
        let cells = self.outside.len() as f64 * self.outside.len().saturating_sub(1) as f64;
        let fraction = if is_symmetric { 2.0 * self.pairs.len() as f64 / cells.max(1.0) } else { 0.0 };
        Ok(Stratum { cells, fraction, drawn: drawn.collect() })
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
