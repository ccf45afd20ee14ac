//! Word vectors learned from the given corpus: shifted positive pointwise mutual information, then its best rank d.
//!
//! With #(w, c) the number of times w and c stand at most `window` words apart in a document, #(w) = Σ_c #(w, c) and D the
//! sum of all,
//!
//!   M(w, c) = max(0, ln(#(w, c) · D / (#(w) · #(c))) − ln shift),    M ≈ U Λ Uᵀ,    vector of w = row w of U |Λ|^½.
//!
//! For symmetric M the singular values are |Λ|, so this is the symmetric factor of the truncated SVD of Levy and
//! Goldberg, "Neural word embedding as implicit matrix factorization" (2014), §3 and §4. Labels are not used, but
//! the words of test documents are, as they would be in any pre-trained set that covers them.
//!
//! The eigenvectors come from a randomised subspace iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4) with an
//! oversampled block of k = d + 10 columns: (2·iterations + 1) products of the sparse M with a V × k block, as many thin QR
//! factorizations, one k × k eigendecomposition. Memory: 16 bytes a non-zero of M and 3·V·k doubles.

use landmark_core::linalg::{eigh, product, qr};
use landmark_core::stream::stream;
use ndarray::{Array2, ArrayView2, Axis, Zip};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WordVectors;
use crate::corpus::Corpus;
use crate::error::DataError;
use landmark_core::normal::standard_normal;

/// Length of a vector, as a part of the longest, below which it is rounding.
const NOTHING: f64 = 1e-6;

/// Columns beyond the d wanted ones, which make the last of these accurate.
const OVERSAMPLING: usize = 10;

/// Parameters of [`ppmi_svd`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PpmiParams {
    /// Numbers per word d.
    pub dimension: usize,
    /// Greatest distance in a document at which two words count as together.
    pub window: usize,
    /// Words that occur less often get no vector.
    pub min_count: u64,
    /// The k whose logarithm is taken off every mutual information; 1 takes off nothing.
    pub shift: f64,
    /// Power iterations, two products with M each; more sharpen the last dimensions.
    pub iterations: usize,
    /// Scales every vector to length 1; a word without a neighbor gets none. Without it a word that stands in few texts has a vector
    /// near 0, so that all such words are alike.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unit_length: bool,
}

impl Default for PpmiParams {
    fn default() -> Self {
        Self { dimension: 50, window: 10, min_count: 2, shift: 1.0, iterations: 3, unit_length: false }
    }
}

/// Learns a vector for every word of the corpus that occurs at least `min_count` times. A pure function of the corpus,
/// the parameters and the seed.
///
/// ```
/// use landmark_data::{Corpus, PpmiParams, TokenRules, embedded, ppmi_svd};
/// let corpus = Corpus::tokenize(&embedded::documents()?, &TokenRules::default());
/// let vectors = ppmi_svd(&corpus, &PpmiParams { dimension: 25, ..PpmiParams::default() }, 2022)?;
/// assert_eq!(vectors.dimension(), 25);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError::Parameter`] for a dimension of 0 or beyond the number of words, a window of 0 or a shift that is not
/// positive.
pub fn ppmi_svd(corpus: &Corpus, params: &PpmiParams, seed: u64) -> Result<WordVectors, DataError> {
    let kept: Vec<usize> = (0..corpus.words().len()).filter(|&w| corpus.counts()[w] >= params.min_count).collect();
    params.check(kept.len())?;
    let mut place = vec![None; corpus.words().len()];
    for (row, &word) in (0u32..).zip(&kept) {
        place[word] = Some(row);
    }
    let matrix = Ppmi::new(&cooccurrences(corpus, &place, params.window), kept.len(), params.shift);
    let mut words: Vec<String> = kept.iter().map(|&word| corpus.words()[word].clone()).collect();
    let mut vectors = leading_factor(&matrix, params, seed)?;
    if params.unit_length {
        let lengths: Vec<f64> = vectors.rows().into_iter().map(|vector| vector.dot(&vector).sqrt()).collect();
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        let known: Vec<usize> = (0..lengths.len()).filter(|&row| lengths[row] > NOTHING * longest).collect();
        vectors =
            Array2::from_shape_fn((known.len(), vectors.ncols()), |(a, k)| vectors[[known[a], k]] / lengths[known[a]]);
        words = known.into_iter().map(|row| std::mem::take(&mut words[row])).collect();
    }
    let source = format!(
        "ppmi_svd of the corpus (dimension {}, window {}, min_count {}, shift {}, iterations {}{}, seed {seed})",
        params.dimension,
        params.window,
        params.min_count,
        params.shift,
        params.iterations,
        if params.unit_length { ", unit length" } else { "" }
    );
    WordVectors::new(words, vectors.mapv(|value| value as f32), &source)
}

impl PpmiParams {
    fn check(&self, words: usize) -> Result<(), DataError> {
        let refuse = |parameter, seen: String, wanted: String| Err(DataError::Parameter { parameter, seen, wanted });
        if self.dimension == 0 || self.dimension > words {
            let wanted = format!("1 to {words}, the number of words that occur at least {} times", self.min_count);
            return refuse("dimension", self.dimension.to_string(), wanted);
        }
        if self.window == 0 {
            return refuse("window", "0".into(), "at least 1 word".into());
        }
        if !(self.shift.is_finite() && self.shift > 0.0) {
            return refuse("shift", self.shift.to_string(), "a positive number, whose logarithm is taken off".into());
        }
        Ok(())
    }
}

/// Co-occurrence counts of two words, or of one twice: rows w ≤ c and #(w, c), ascending.
type Counts = Vec<((u32, u32), f64)>;

/// #(w, c) for w ≤ c; a pair of the same word counts twice, once in each direction. Words without a place still take up
/// room in the window. Memory: 8 bytes for every time two words stand together.
fn cooccurrences(corpus: &Corpus, place: &[Option<u32>], window: usize) -> Counts {
    let mut pairs = Vec::new();
    for i in 0..corpus.len() {
        let document = corpus.document(i);
        for (position, &word) in document.iter().enumerate() {
            let Some(w) = place[word as usize] else { continue };
            let others = document[position + 1..].iter().take(window);
            pairs.extend(others.filter_map(|&other| place[other as usize]).map(|c| (w.min(c), w.max(c))));
        }
    }
    pairs.sort_unstable();
    let directions = |(w, c): (u32, u32)| if w == c { 2.0 } else { 1.0 };
    pairs.chunk_by(|a, b| a == b).map(|run| (run[0], directions(run[0]) * run.len() as f64)).collect()
}

/// The symmetric sparse matrix M in compressed rows.
struct Ppmi {
    offsets: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Ppmi {
    fn new(counts: &Counts, words: usize, shift: f64) -> Self {
        let mut totals = vec![0.0; words];
        for &((w, c), count) in counts {
            let (w, c) = (w as usize, c as usize);
            totals[w] += count;
            if w != c {
                totals[c] += count;
            }
        }
        let all: f64 = totals.iter().sum();
        let mut rows = vec![Vec::new(); words];
        for &((w, c), count) in counts {
            let (w, c) = (w as usize, c as usize);
            let value = (count * all / (totals[w] * totals[c])).ln() - shift.ln();
            if value > 0.0 {
                rows[w].push((c, value));
                if w != c {
                    rows[c].push((w, value));
                }
            }
        }
        let mut matrix = Self { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in rows {
            for (column, value) in row {
                matrix.columns.push(column);
                matrix.values.push(value);
            }
            matrix.offsets.push(matrix.columns.len());
        }
        matrix
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// M · block, V × k; each row is summed by one thread, so the number of threads moves nothing.
    fn times(&self, block: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = Array2::zeros(block.dim());
        Zip::indexed(out.rows_mut()).par_for_each(|row, mut sum| {
            for entry in self.offsets[row]..self.offsets[row + 1] {
                sum.scaled_add(self.values[entry], &block.row(self.columns[entry]));
            }
        });
        out
    }
}

/// U |Λ|^½ of the d eigenvalues of largest magnitude, V × d; of each column, the entry of largest magnitude is positive.
fn leading_factor(matrix: &Ppmi, params: &PpmiParams, seed: u64) -> Result<Array2<f64>, DataError> {
    let k = (params.dimension + OVERSAMPLING).min(matrix.len());
    let mut rng = stream(seed, "corpus", "ppmi_svd", 0);
    let start = Array2::from_shape_simple_fn((matrix.len(), k), || standard_normal(&mut rng));
    let mut basis = orthonormal(matrix.times(start.view()))?;
    for _ in 0..params.iterations {
        let half = orthonormal(matrix.times(basis.view()))?;
        basis = orthonormal(matrix.times(half.view()))?;
    }
    let small = product(basis.t(), matrix.times(basis.view()).view());
    let small = eigh(small.view()).map_err(not_factored)?;
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| small.values[b].abs().total_cmp(&small.values[a].abs()));
    order.truncate(params.dimension);
    let mut factor = product(basis.view(), small.vectors.select(Axis(1), &order).view());
    for (mut column, &from) in factor.columns_mut().into_iter().zip(&order) {
        let largest = column.iter().copied().fold(0.0, |a: f64, b: f64| if b.abs() > a.abs() { b } else { a });
        column *= small.values[from].abs().sqrt().copysign(largest);
    }
    Ok(factor)
}

fn orthonormal(block: Array2<f64>) -> Result<Array2<f64>, DataError> {
    qr(block.view()).map(|(q, _)| q).map_err(not_factored)
}

fn not_factored(error: landmark_core::linalg::LinalgError) -> DataError {
    DataError::Factorization { what: "the mutual information of the corpus", source: error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::TokenRules;
    use crate::embedded;

    fn corpus(texts: &[&str]) -> Corpus {
        let ids: Vec<String> = (0..texts.len()).map(|i| i.to_string()).collect();
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Corpus::from_texts(&ids, &texts, &TokenRules { drop_stop_words: false, ..TokenRules::default() })
    }

    fn all(n: u32) -> Vec<Option<u32>> {
        (0..n).map(Some).collect()
    }

    #[test]
    fn counts_reach_as_far_as_the_window_and_no_further() {
        let counts = cooccurrences(&corpus(&["moon soup moon rake"]), &all(3), 2);
        // moon–soup twice, moon–moon once in each direction, soup–rake and moon–rake once
        let wanted = [((0, 0), 2.0), ((0, 1), 2.0), ((0, 2), 1.0), ((1, 2), 1.0)];
        assert_eq!(counts, wanted);
    }

    #[test]
    fn all_dimensions_together_give_the_matrix_back_where_it_is_positive() {
        let texts = ["moon star moon star", "soup pan soup", "rake hose rake", "soup moon"];
        let corpus = corpus(&texts);
        let n = corpus.words().len();
        let matrix = Ppmi::new(&cooccurrences(&corpus, &all(6), 5), n, 1.0);
        let dense = matrix.times(Array2::eye(n).view());
        assert_eq!(dense, dense.t());
        // by hand: #(moon, star) = 4, #(moon) = 4 + 2 + 1, #(star) = 4 + 2, D = 7 + 6 + 5 + 2 + 4 + 2
        let by_hand = (4.0 * 26.0 / (7.0 * 6.0_f64)).ln();
        assert!((dense[[0, 1]] - by_hand).abs() < 1e-12, "{} {by_hand}", dense[[0, 1]]);

        let params = PpmiParams { dimension: n, ..PpmiParams::default() };
        let factor = leading_factor(&matrix, &params, 1).unwrap();
        // U|Λ|Uᵀ = |M|, whose square is that of M; the block spans the whole space, so only rounding is left
        let absolute = factor.dot(&factor.t());
        let gap = (absolute.dot(&absolute) - dense.dot(&dense)).mapv(f64::abs);
        assert!(gap.iter().all(|&value| value < 1e-9), "{gap}");
    }

    #[test]
    fn vectors_repeat_with_their_seed_and_hardly_move_with_another() {
        let corpus = Corpus::tokenize(&embedded::documents().unwrap(), &TokenRules::default());
        let params = PpmiParams { dimension: 10, ..PpmiParams::default() };
        let vectors = ppmi_svd(&corpus, &params, 1).unwrap();
        assert_eq!(vectors.identity(), ppmi_svd(&corpus, &params, 1).unwrap().identity());
        let gram = |seed| {
            let vectors = ppmi_svd(&corpus, &PpmiParams { iterations: 40, ..params.clone() }, seed).unwrap();
            vectors.vectors().dot(&vectors.vectors().t())
        };
        let (one, two) = (gram(1), gram(2));
        let gap = (&one - &two).iter().map(|value| value * value).sum::<f32>().sqrt();
        let size = one.iter().map(|value| value * value).sum::<f32>().sqrt();
        // the tenth and eleventh eigenvalue of a text's M are a few per cent apart: 80 powers of their ratio leave about 1 %
        assert!(gap < 0.05 * size, "{gap} of {size}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let corpus = corpus(&["moon star moon star"]);
        let defaults = PpmiParams { dimension: 1, ..PpmiParams::default() };
        for (params, wanted) in [
            (
                PpmiParams { dimension: 3, ..defaults.clone() },
                "`dimension` is 3; wanted is 1 to 2, the number of words",
            ),
            (PpmiParams { dimension: 0, ..defaults.clone() }, "`dimension` is 0"),
            (PpmiParams { window: 0, ..defaults.clone() }, "`window` is 0"),
            (PpmiParams { shift: 0.0, ..defaults.clone() }, "`shift` is 0"),
        ] {
            let message = ppmi_svd(&corpus, &params, 1).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
