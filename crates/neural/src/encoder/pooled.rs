//! One vector a text: the mean of its tokens' hidden states, at length 1.
//!
//! Reimers & Gurevych 2019 (Sentence-BERT). The cosine of two such vectors is the bi-encoder's similarity: O(hidden) a pair
//! once each text was read.

use ndarray::{Array2, Axis};
use tch::{Kind, Tensor};

use super::batches::Run;
use super::weights::to_vec;
use super::{Batcher, DropoutRates, Encoder, ModelError, Sequence};

impl Encoder {
    /// The mean hidden state of each sequence, special tokens included, divided by its length: sequences × hidden.
    pub fn embeddings(&self, sequences: &[Sequence]) -> Result<Array2<f64>, ModelError> {
        let hidden = usize::try_from(self.config().hidden).unwrap_or(0);
        let _no_gradients = tch::no_grad_guard();
        let rows = Batcher::new(self.device()).run(sequences, |batch| {
            let states = self.hidden_states(batch, DropoutRates::default())?.f_to_kind(Kind::Float)?;
            let mean = |run: &Run| {
                let tokens = run.rows(&states)?.f_view([run.count, run.length, self.config().hidden])?;
                Ok::<_, ModelError>(tokens.f_mean_dim(1, false, Kind::Float)?)
            };
            let means = batch.runs().iter().map(mean).collect::<Result<Vec<_>, _>>()?;
            Ok(to_vec(&Tensor::f_cat(&means, 0)?)?.chunks_exact(hidden).map(<[f32]>::to_vec).collect())
        })?;
        let mut table = Array2::zeros((rows.len(), hidden));
        for (mut row, values) in table.axis_iter_mut(Axis(0)).zip(rows) {
            row.iter_mut().zip(values).for_each(|(cell, value)| *cell = f64::from(value));
            let length = row.dot(&row).sqrt();
            if length > 0.0 {
                row /= length;
            }
        }
        Ok(table)
    }
}
