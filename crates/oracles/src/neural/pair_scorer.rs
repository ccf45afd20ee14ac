//! Trained pair scorer over a list of mentions, free of libtorch.
//!
//! The first layer acts on [m₁, m₂, m₁ ∘ m₂], W = [W₁ W₂ W₃]: W₁ m₁ and W₂ m₂ are computed once a mention, so a pair costs
//! h·(d + h) products instead of h·(3d + h), and W₃ (m₁ ∘ m₂) serves both orders of it. d numbers a mention, h the width of the
//! hidden layers. f32 as trained; scores are f64 from the sigmoid on.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_finite, check_pairs};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Pairs that go through the layers together: their hidden states fit the cache of a core.
const PAIRS_AT_A_TIME: usize = 256;

/// The scorer with the mentions it is asked about; `Sync`, so every core scores.
#[derive(Debug, Clone)]
pub struct PairScorer {
    mentions: Array2<f32>,
    /// W₁ m + b of each mention, n × h.
    as_first: Array2<f32>,
    /// W₂ m of each mention, n × h.
    as_second: Array2<f32>,
    product: Array2<f32>,
    hidden: Array2<f32>,
    hidden_bias: Array1<f32>,
    output: Array1<f32>,
    output_bias: f32,
    identity: Identity,
}

/// Layers of a trained scorer: matrices, outputs × inputs, row after row, and biases.
#[derive(Debug, Clone)]
pub struct PairLayers {
    /// W and b of the first, h × 3d.
    pub first: (Vec<f32>, Vec<f32>),
    /// Those of the second, h × h.
    pub hidden: (Vec<f32>, Vec<f32>),
    /// Those of the output, 1 × h.
    pub output: (Vec<f32>, Vec<f32>),
}

impl PairScorer {
    /// Trained layers over n mentions of d numbers each.
    ///
    /// # Errors
    /// [`OracleError::Failed`] for mentions of another length than those of the training.
    pub fn new(layers: PairLayers, n: usize, mentions: Vec<f32>) -> Result<Self, OracleError> {
        let (h, d) = (layers.hidden.1.len(), mentions.len() / n.max(1));
        let shaped = |rows, columns, values| {
            Array2::from_shape_vec((rows, columns), values).map_err(|error| OracleError::Failed {
                what: format!("mentions of {d} numbers, which are not what the scorer was trained on"),
                source: error.into(),
            })
        };
        let mentions = shaped(n, d, mentions)?;
        let (first, first_bias) = (shaped(h, 3 * d, layers.first.0)?, Array1::from_vec(layers.first.1));
        let (hidden, hidden_bias) = (shaped(h, h, layers.hidden.0)?, Array1::from_vec(layers.hidden.1));
        let (output, output_bias) = (Array1::from_vec(layers.output.0), layers.output.1[0]);
        let part = |k: usize| first.slice(s![.., k * d..(k + 1) * d]);
        let as_first = mentions.dot(&part(0).t()) + &first_bias;
        let as_second = mentions.dot(&part(1).t());
        let product = part(2).to_owned();
        let matrices = [&mentions, &as_first, &as_second, &product, &hidden].into_iter().flatten();
        let vectors = [&hidden_bias, &output].into_iter().flatten().chain([&output_bias]);
        let bytes: Vec<u8> = matrices.chain(vectors).flat_map(|value| value.to_le_bytes()).collect();
        let shape = format!("{n} mentions of {d} numbers, {h} hidden units");
        let identity = Identity::of(&[
            ("kind", b"coreference pairs v2"),
            ("shape", shape.as_bytes()),
            ("weights and mentions", &bytes),
        ]);
        Ok(Self { mentions, as_first, as_second, product, hidden, hidden_bias, output, output_bias, identity })
    }

    /// The representations of the mentions, n × d: their cosine is the usual cheap proxy.
    pub fn mentions(&self) -> ArrayView2<'_, f32> {
        self.mentions.view()
    }

    /// Scores of all ordered pairs, n × n; W₃ (m₁ ∘ m₂) is computed once for both orders.
    pub fn matrix(&self) -> Array2<f64> {
        let n = self.mentions.nrows();
        let pairs: Vec<Pair> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
        let mut scores = Array2::zeros((n, n));
        let found: Vec<Vec<(f64, f64)>> =
            pairs.par_chunks(PAIRS_AT_A_TIME).map(|chunk| self.score_both_orders(chunk)).collect();
        for (&(i, j), (there, back)) in pairs.iter().zip(found.into_iter().flatten()) {
            scores[[i, j]] = there;
            scores[[j, i]] = back;
        }
        scores
    }

    fn score_both_orders(&self, pairs: &[Pair]) -> Vec<(f64, f64)> {
        let products = self.products(pairs);
        let there = self.finish(products.view(), pairs.iter().copied());
        let back = self.finish(products.view(), pairs.iter().map(|&(i, j)| (j, i)));
        there.into_iter().zip(back).collect()
    }

    /// W₃ (m₁ ∘ m₂), pairs × h.
    fn products(&self, pairs: &[Pair]) -> Array2<f32> {
        let mut joint = Array2::zeros((pairs.len(), self.mentions.ncols()));
        for (mut row, &(i, j)) in joint.outer_iter_mut().zip(pairs) {
            let (a, b) = (self.mentions.row(i), self.mentions.row(j));
            ndarray::Zip::from(&mut row).and(a).and(b).for_each(|out, &x, &y| *out = x * y);
        }
        joint.dot(&self.product.t())
    }

    /// The layers behind: relu, a hidden layer, relu, the output, the sigmoid.
    fn finish(&self, products: ArrayView2<'_, f32>, pairs: impl Iterator<Item = Pair>) -> Vec<f64> {
        let mut first = products.to_owned();
        for (mut row, (i, j)) in first.outer_iter_mut().zip(pairs) {
            let (a, b) = (self.as_first.row(i), self.as_second.row(j));
            ndarray::Zip::from(&mut row).and(a).and(b).for_each(|out, &x, &y| *out = (*out + x + y).max(0.0));
        }
        let second = first.dot(&self.hidden.t());
        let score = |row: ArrayView1<'_, f32>| {
            let mut sum = self.output_bias;
            for ((&x, &bias), &weight) in row.iter().zip(&self.hidden_bias).zip(&self.output) {
                sum += (x + bias).max(0.0) * weight;
            }
            1.0 / (1.0 + (-f64::from(sum)).exp())
        };
        second.axis_iter(Axis(0)).map(score).collect()
    }
}

impl Oracle for PairScorer {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.mentions.nrows(), Symmetry::Asymmetric)
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        pairs.par_chunks(PAIRS_AT_A_TIME).zip(out.par_chunks_mut(PAIRS_AT_A_TIME)).for_each(|(pairs, out)| {
            let products = self.products(pairs);
            out.copy_from_slice(&self.finish(products.view(), pairs.iter().copied()));
        });
        check_finite(pairs, out)
    }
}
