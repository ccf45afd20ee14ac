//! Sequences one after the other: which are computed together, and what happens when the device has no room for them.
//!
//! The tokens of a batch are the rows of one matrix, whatever their sequences' lengths: no flop is spent on padding, and a score
//! does not depend on which others were asked for with it, but for the last bits of a product of another height. Attention is
//! computed for each run of sequences of one length.

use tch::{Device, Tensor};

use super::{ModelError, Sequence};
use crate::warning::warn;

/// Tokens of a batch on the CPU: enough to fill a matrix product, few enough that its activations stay in the cache.
const TOKENS_ON_CPU: usize = 512;
/// Tokens of a batch on a GPU, which has thousands of lanes to fill.
const TOKENS_ON_GPU: usize = 1 << 16;
/// Rows come in multiples of this: oneDNN builds a kernel for each height that it meets, which takes as long as dozens of products.
const ROWS: usize = 16;

pub(crate) fn tokens_at_once(device: Device) -> usize {
    if device.is_cuda() { TOKENS_ON_GPU } else { TOKENS_ON_CPU }
}

/// How many of these lengths, from the first on, come to no more than `tokens`; one at least.
pub(crate) fn fitting(lengths: impl IntoIterator<Item = usize>, tokens: usize) -> usize {
    let mut sum = 0;
    let fits = |length: &usize| {
        sum += length;
        sum <= tokens
    };
    lengths.into_iter().take_while(fits).count().max(1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) sequence: i64,
    pub(super) row: i64,
    pub(super) count: i64,
    pub(super) length: i64,
}

impl Run {
    pub(super) fn rows(&self, matrix: &Tensor) -> Result<Tensor, ModelError> {
        Ok(matrix.f_narrow(0, self.row, self.count * self.length)?)
    }

    pub(super) fn sequences(&self, matrix: &Tensor) -> Result<Tensor, ModelError> {
        Ok(matrix.f_narrow(0, self.sequence, self.count)?)
    }
}

/// Sequences of token ids one after the other. Fewest calls where those of one length are neighbors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBatch {
    ids: Vec<i64>,
    types: Vec<i64>,
    places: Vec<i64>,
    lengths: Vec<usize>,
    runs: Vec<Run>,
}

impl TokenBatch {
    pub fn new<'a>(sequences: impl IntoIterator<Item = &'a Sequence>) -> Self {
        let (mut ids, mut types, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lengths, mut runs) = (Vec::new(), Vec::<Run>::new());
        for sequence in sequences {
            let length = whole(sequence.ids.len());
            match runs.last_mut() {
                Some(run) if run.length == length => run.count += 1,
                _ => runs.push(Run { sequence: whole(lengths.len()), row: whole(ids.len()), count: 1, length }),
            }
            ids.extend_from_slice(&sequence.ids);
            types.extend_from_slice(&sequence.types);
            places.extend(0..length);
            lengths.push(sequence.ids.len());
        }
        Self { ids, types, places, lengths, runs }
    }

    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    pub fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Ids, types and places in the sequence of every token, and of some zeros after them for a round number of rows.
    pub(super) fn to_device(&self, device: Device) -> Result<[Tensor; 3], ModelError> {
        Ok([rounded(&self.ids, device)?, rounded(&self.types, device)?, rounded(&self.places, device)?])
    }

    /// The rows of the first tokens, and zeros after them as in [`to_device`](Self::to_device).
    pub(super) fn first_rows(&self, device: Device) -> Result<Tensor, ModelError> {
        let rows = self.runs.iter().flat_map(|run| (0..run.count).map(|k| run.row + k * run.length));
        rounded(&rows.collect::<Vec<_>>(), device)
    }
}

/// Numbers on a device, filled up with zeros to a round count.
fn rounded(values: &[i64], device: Device) -> Result<Tensor, ModelError> {
    let mut values = values.to_vec();
    values.resize(values.len().next_multiple_of(ROWS), 0);
    Ok(Tensor::f_from_slice(&values)?.f_to_device(device)?)
}

/// The size of something in memory; none is above 2⁶³.
pub(super) fn whole(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Batching by the number of tokens computed together: fewer, once the device has run out of memory.
#[derive(Debug, Clone)]
pub struct Batcher {
    tokens_at_once: usize,
}

impl Batcher {
    pub fn new(device: Device) -> Self {
        Self { tokens_at_once: tokens_at_once(device) }
    }

    /// Computes something for every sequence, those of similar length together; the answers come back in the order of the
    /// sequences. Where the device runs out of memory, the batch is halved, for good, and a warning reports it.
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
        let mut rest = &order[..];
        while !rest.is_empty() {
            let count = fitting(rest.iter().map(length_of), self.tokens_at_once);
            let batch = TokenBatch::new(rest[..count].iter().map(|&k| &sequences[k]));
            match compute(&batch) {
                Ok(values) => {
                    rest[..count].iter().zip(values).for_each(|(&k, value)| answers[k] = Some(value));
                    rest = &rest[count..];
                }
                Err(error) if error.is_out_of_memory() && count > 1 => {
                    self.tokens_at_once = batch.tokens() / 2;
                    let (tokens, half) = (batch.tokens(), self.tokens_at_once);
                    warn(&format!("no memory for {tokens} tokens at once; going on with {half}"));
                }
                Err(error) if error.is_out_of_memory() => {
                    return Err(ModelError::OutOfMemory { tokens: batch.tokens() });
                }
                Err(error) => return Err(error),
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
        let starts = batch.lengths().iter().scan(0, |end, length| {
            *end += length;
            Some(*end - length)
        });
        starts.map(|start| batch.ids[start]).collect()
    }

    #[test]
    fn answers_come_back_in_the_order_of_the_sequences_and_batches_are_filled() {
        let sequences: Vec<Sequence> = (0..500).map(|k| sequence(1 + k * 7 % 13, k as i64)).collect();
        let mut filled = Vec::new();
        let answers = Batcher::new(Device::Cpu).run(&sequences, |batch| {
            assert!(batch.lengths().is_sorted());
            filled.push(batch.tokens());
            Ok(first_ids(batch))
        });
        assert_eq!(answers.unwrap(), (0..500).collect::<Vec<i64>>());
        let (last, others) = filled.split_last().unwrap();
        assert!(others.iter().all(|tokens| (TOKENS_ON_CPU - 12..=TOKENS_ON_CPU).contains(tokens)), "{others:?}");
        assert!(*last <= TOKENS_ON_CPU);
    }

    #[test]
    fn a_device_without_memory_gets_half_as_much_until_it_fits() {
        let sequences: Vec<Sequence> = (0..100).map(|k| sequence(8, k)).collect();
        let mut largest = 0;
        let answers = Batcher::new(Device::Cpu).run(&sequences, |batch| {
            if batch.len() > 7 {
                return Err(ModelError::Torch(tch::TchError::Torch(
                    "CUDA out of memory. Tried to allocate".to_owned(),
                )));
            }
            largest = largest.max(batch.len());
            Ok(first_ids(batch))
        });
        assert_eq!(answers.unwrap(), (0..100).collect::<Vec<i64>>());
        assert_eq!(largest, 4); // 64, 32, 16, 8, 4
        let none = |_: &TokenBatch| -> Result<Vec<i64>, ModelError> {
            Err(ModelError::Torch(tch::TchError::Torch("CUDA out of memory".to_owned())))
        };
        let error = Batcher::new(Device::Cpu).run(&sequences, none).unwrap_err();
        assert!(matches!(error, ModelError::OutOfMemory { tokens: 8 }), "{error}");
    }

    #[test]
    fn a_sequence_above_what_fits_is_a_batch_of_its_own() {
        assert_eq!(fitting([600, 1], 512), 1);
        assert_eq!(fitting([200, 300, 12, 1], 512), 3);
        assert_eq!(fitting([], 512), 1);
    }
}
