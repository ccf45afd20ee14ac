//! Sequences side by side: which are computed together, and what happens when the device has no room for them.
//!
//! Sequences of one length make a batch, so that nothing is padded: no flop is spent on padding, and a score does not depend
//! on which others were asked for with it, but for the last bits of a product of another height.

use tch::{Device, Kind, Tensor};

use super::{ModelError, Sequence};
use crate::warning::warn;

/// Tokens of a batch on the CPU: enough to fill a matrix product, few enough that its activations stay in the cache.
const TOKENS_ON_CPU: usize = 2048;
/// Tokens of a batch on a GPU, which has thousands of lanes to fill.
const TOKENS_ON_GPU: usize = 1 << 16;

/// Sequences of token ids, padded to the longest of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBatch {
    ids: Vec<i64>,
    types: Vec<i64>,
    lengths: Vec<usize>,
    length: usize,
}

impl TokenBatch {
    /// Puts sequences side by side; `padding` is the id that fills up the shorter ones.
    pub fn new<'a>(sequences: impl IntoIterator<Item = &'a Sequence> + Clone, padding: i64) -> Self {
        let lengths: Vec<usize> = sequences.clone().into_iter().map(|sequence| sequence.ids.len()).collect();
        let length = lengths.iter().copied().max().unwrap_or(0);
        let mut batch = Self {
            ids: Vec::with_capacity(length * lengths.len()),
            types: Vec::with_capacity(length * lengths.len()),
            length,
            lengths,
        };
        for sequence in sequences {
            batch.ids.extend_from_slice(&sequence.ids);
            batch.types.extend_from_slice(&sequence.types);
            let filled = batch.ids.len().next_multiple_of(length.max(1));
            batch.ids.resize(filled, padding);
            batch.types.resize(filled, 0);
        }
        batch
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// True where there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Tokens of the longest sequence.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Tokens of each sequence.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Ids and types, each batch × length.
    pub(super) fn to_device(&self, device: Device) -> Result<(Tensor, Tensor), ModelError> {
        let shape = [whole(self.len()), whole(self.length)];
        let send = |values: &[i64]| Tensor::f_from_slice(values)?.f_view(shape)?.f_to_device(device);
        Ok((send(&self.ids)?, send(&self.types)?))
    }

    /// batch × 1 × 1 × length: 0 where there is a token, −∞ where there is padding; none where there is no padding.
    pub(super) fn mask(&self, device: Device, kind: Kind) -> Result<Option<Tensor>, ModelError> {
        if self.lengths.iter().all(|&length| length == self.length) {
            return Ok(None);
        }
        let row = |&length: &usize| (0..self.length).map(move |at| if at < length { 0.0 } else { f32::NEG_INFINITY });
        let mask: Vec<f32> = self.lengths.iter().flat_map(row).collect();
        let mask = Tensor::f_from_slice(&mask)?.f_view([whole(self.len()), 1, 1, whole(self.length)])?;
        Ok(Some(mask.f_to_kind(kind)?.f_to_device(device)?))
    }
}

/// The size of something in memory; none is above 2⁶³.
pub(super) fn whole(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Batching by the number of tokens computed together: fewer, once the device has run out of memory.
#[derive(Debug, Clone)]
pub struct Batcher {
    tokens_at_once: usize,
    padding: i64,
}

impl Batcher {
    /// For a device; `padding` is the id of the padding token.
    pub fn new(device: Device, padding: i64) -> Self {
        let tokens_at_once = if device.is_cuda() { TOKENS_ON_GPU } else { TOKENS_ON_CPU };
        Self { tokens_at_once, padding }
    }

    /// Computes something for every sequence, those of one length together; the answers come back in the order of the
    /// sequences. Where the device runs out of memory, the batch is halved, for good, and a warning says so.
    ///
    /// # Errors
    /// Whatever `compute` answers; [`ModelError::OutOfMemory`] where even one sequence is too much.
    pub fn run<T>(
        &mut self,
        sequences: &[Sequence],
        mut compute: impl FnMut(&TokenBatch) -> Result<Vec<T>, ModelError>,
    ) -> Result<Vec<T>, ModelError> {
        let length_of = |&k: &usize| sequences[k].ids.len();
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(length_of);
        let mut answers: Vec<Option<T>> = Vec::new();
        answers.resize_with(sequences.len(), || None);
        for alike in order.chunk_by(|a, b| length_of(a) == length_of(b)) {
            let length = alike.first().map_or(1, length_of).max(1);
            let mut rest = alike;
            while !rest.is_empty() {
                let count = (self.tokens_at_once / length).clamp(1, rest.len());
                let batch = TokenBatch::new(rest[..count].iter().map(|&k| &sequences[k]), self.padding);
                match compute(&batch) {
                    Ok(values) => {
                        rest[..count].iter().zip(values).for_each(|(&k, value)| answers[k] = Some(value));
                        rest = &rest[count..];
                    }
                    Err(error) if error.is_out_of_memory() && count > 1 => {
                        let half = count / 2;
                        warn(&format!(
                            "no memory for {count} sequences of {length} tokens; going on with {half} at a time"
                        ));
                        self.tokens_at_once = length * half;
                    }
                    Err(error) if error.is_out_of_memory() => return Err(ModelError::OutOfMemory { tokens: length }),
                    Err(error) => return Err(error),
                }
            }
        }
        // every sequence was in one batch
        Ok(answers.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(length: usize, id: i64) -> Sequence {
        Sequence { ids: vec![id; length], types: vec![0; length], cut: 0 }
    }

    fn first_ids(batch: &TokenBatch) -> Vec<i64> {
        batch.ids.chunks(batch.length()).map(|row| row[0]).collect()
    }

    #[test]
    fn answers_come_back_in_the_order_of_the_sequences_and_batches_have_one_length() {
        let sequences: Vec<Sequence> = (0..500).map(|k| sequence(1 + k * 7 % 13, k as i64)).collect();
        let answers = Batcher::new(Device::Cpu, 0).run(&sequences, |batch| {
            assert!(batch.lengths().iter().all(|&length| length == batch.length()));
            Ok(first_ids(batch))
        });
        assert_eq!(answers.unwrap(), (0..500).collect::<Vec<i64>>());
    }

    #[test]
    fn a_device_without_memory_gets_half_as_much_until_it_fits() {
        let sequences: Vec<Sequence> = (0..100).map(|k| sequence(8, k)).collect();
        let mut largest = 0;
        let answers = Batcher::new(Device::Cpu, 0).run(&sequences, |batch| {
            if batch.len() > 7 {
                return Err(ModelError::Torch(tch::TchError::Torch(
                    "CUDA out of memory. Tried to allocate".to_owned(),
                )));
            }
            largest = largest.max(batch.len());
            Ok(first_ids(batch))
        });
        assert_eq!(answers.unwrap(), (0..100).collect::<Vec<i64>>());
        assert_eq!(largest, 6); // 100, 50, 25, 12, 6
        let none = |_: &TokenBatch| -> Result<Vec<i64>, ModelError> {
            Err(ModelError::Torch(tch::TchError::Torch("CUDA out of memory".to_owned())))
        };
        let error = Batcher::new(Device::Cpu, 0).run(&sequences, none).unwrap_err();
        assert!(matches!(error, ModelError::OutOfMemory { tokens: 8 }), "{error}");
    }

    #[test]
    fn padding_is_masked() {
        let batch = TokenBatch::new(&[sequence(3, 7), sequence(1, 8)], 0);
        assert_eq!(batch.ids, [7, 7, 7, 8, 0, 0]);
        let mask = batch.mask(Device::Cpu, Kind::Float).unwrap().unwrap();
        let values: Vec<f32> = Vec::try_from(mask.view(-1)).unwrap();
        let minus = f32::NEG_INFINITY;
        assert_eq!(values, [0.0, 0.0, 0.0, 0.0, minus, minus]);
        assert!(TokenBatch::new(&[sequence(3, 7)], 0).mask(Device::Cpu, Kind::Float).unwrap().is_none());
    }
}
