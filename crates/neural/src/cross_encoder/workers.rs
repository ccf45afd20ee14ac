//! Lanes: threads that each score whole batches, with the model of their device; sequences go to them over a channel.
//!
//! A GPU has one lane. The CPU has one a core, all with the same weights: batches side by side wait for nobody, where one
//! product cut in pieces waits for the slowest piece at every step. A `tch::Tensor` is not `Sync`: what owns one may not be
//! shared between the threads that ask for scores.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use landmark_core::oracle::Identity;
use landmark_oracles::neural::ModelFiles;
use landmark_oracles::neural::Precision;
use tch::Device;

use crate::encoder::{Batcher, Classifier, DropoutRates, ModelError, Sequence, fitting, to_vec, tokens_at_once};

/// Batches handed over at a time to a GPU: enough of each length for whole ones, few enough that a crash loses seconds.
const BATCHES_OF_A_GPU: usize = 4;
/// Sequences that keep a GPU busy at all; a core has enough of one.
const FEWEST_ON_GPU: usize = 64;

type Answer = (usize, Result<Vec<Vec<f32>>, ModelError>);

struct Job {
    number: usize,
    sequences: Vec<Sequence>,
    reply: Sender<Answer>,
}

pub(super) struct Workers {
    jobs: Option<Mutex<Sender<Job>>>,
    threads: Vec<JoinHandle<()>>,
    identity: Identity,
    outputs: i64,
    longest: usize,
    device: Device,
}

impl Workers {
    /// Reads the model once for every device; a device that is named several times has that number of lanes.
    pub(super) fn start(files: &ModelFiles, precision: Precision, devices: &[Device]) -> Result<Self, ModelError> {
        let mut models: Vec<Classifier> = Vec::with_capacity(devices.len());
        for &device in devices {
            let there = models.iter().find(|model| model.encoder().device() == device).map(Classifier::shared);
            models.push(there.map_or_else(|| Classifier::open(files, device, precision), Ok)?);
        }
        let Some(first) = models.first() else { return Err(gone("no device was given")) };
        let (identity, outputs, longest) = (first.identity(), first.outputs(), first.encoder().config().longest());
        let device = first.encoder().device();
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |model: Classifier| {
            let receiver = Arc::clone(&receiver);
            std::thread::spawn(move || work(&model, &receiver))
        };
        let threads = models.into_iter().map(start).collect();
        Ok(Self { jobs: Some(Mutex::new(sender)), threads, identity, outputs, longest, device })
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn outputs(&self) -> i64 {
        self.outputs
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn at_once(&self) -> usize {
        self.threads.len() * if self.device.is_cuda() { FEWEST_ON_GPU } else { 1 }
    }

    /// Tokens of a chunk that one lane works on while the others have theirs: a batch on the CPU, some on a GPU.
    fn tokens_of_a_chunk(&self) -> usize {
        tokens_at_once(self.device) * if self.device.is_cuda() { BATCHES_OF_A_GPU } else { 1 }
    }

    /// The outputs of the head for each sequence of `order`, handed to `take` with its number, in no particular order. `lengths`
    /// are the tokens of those sequences, from the shortest to the longest.
    pub(super) fn run(
        &self,
        order: &[usize],
        lengths: &[usize],
        sequence: &dyn Fn(usize) -> Sequence,
        take: &mut dyn FnMut(usize, &[f32]),
        outputs: usize,
    ) -> Result<(), ModelError> {
        let jobs = match &self.jobs {
            Some(jobs) => jobs.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => return Err(gone("the model was closed")),
        };
        let (reply, answers) = channel();
        let most = lengths.iter().sum::<usize>().div_ceil(self.threads.len()).min(self.tokens_of_a_chunk());
        let chunks = chunks(order, lengths, most);
        let mut waiting = 0;
        // no more than two chunks a lane are in flight, whatever was asked for
        let in_flight = 2 * self.threads.len();
        // the longest first: what a lane waits for at the end is short
        for (number, chunk) in chunks.iter().enumerate().rev() {
            let job = Job { number, sequences: chunk.iter().map(|&k| sequence(k)).collect(), reply: reply.clone() };
            jobs.send(job).map_err(|_| gone("its thread ended"))?;
            waiting += 1;
            if waiting == in_flight {
                hand_over(&answers, &chunks, take, outputs)?;
                waiting -= 1;
            }
        }
        drop(reply);
        (0..waiting).try_for_each(|_| hand_over(&answers, &chunks, take, outputs))
    }
}

/// Sequences cut into chunks of no more than `most` tokens, or one sequence: equal work, whatever their lengths.
fn chunks<'a>(mut order: &'a [usize], mut lengths: &[usize], most: usize) -> Vec<&'a [usize]> {
    let mut chunks = Vec::new();
    while !order.is_empty() {
        let count = fitting(lengths.iter().copied(), most);
        let (chunk, rest) = order.split_at(count);
        chunks.push(chunk);
        (order, lengths) = (rest, &lengths[count..]);
    }
    chunks
}

fn hand_over(
    answers: &Receiver<Answer>,
    chunks: &[&[usize]],
    take: &mut dyn FnMut(usize, &[f32]),
    outputs: usize,
) -> Result<(), ModelError> {
    let (number, rows) = answers.recv().map_err(|_| gone("its thread ended"))?;
    for (&k, row) in chunks[number].iter().zip(rows?) {
        debug_assert_eq!(row.len(), outputs);
        take(k, &row);
    }
    Ok(())
}

fn gone(why: &str) -> ModelError {
    ModelError::Torch(tch::TchError::Torch(format!("the model can't be reached: {why}")))
}

fn work(model: &Classifier, jobs: &Mutex<Receiver<Job>>) {
    let outputs = usize::try_from(model.outputs()).unwrap_or(1);
    let device = model.encoder().device();
    let mut batcher = Batcher::new(device);
    loop {
        // the lock is held only while waiting
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { number, sequences, reply }) = job else { return };
        if device == Device::Cpu {
            // libtorch's own threads would fight with the other lanes, and round sums by their number; it may have been changed
            // since the last job
            tch::set_num_threads(1);
        }
        let _no_gradients = tch::no_grad_guard();
        let rows = batcher.run(&sequences, |batch| {
            let values = to_vec(&model.logits(batch, DropoutRates::default())?)?;
            Ok(values.chunks_exact(outputs).map(<[f32]>::to_vec).collect())
        });
        // an asker that went away with an error of another chunk wants no answer
        let _ = reply.send((number, rows));
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // an end of jobs ends the threads
        self.jobs = None;
        self.threads.drain(..).for_each(|thread| {
            let _ = thread.join();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_of_equal_work_and_miss_nothing() {
        let order: Vec<usize> = (0..7).rev().collect();
        let cut = chunks(&order, &[2, 2, 2, 3, 5, 9, 9], 8);
        assert_eq!(cut, [&[6, 5, 4][..], &[3, 2], &[1], &[0]]);
        assert_eq!(chunks(&order, &[1; 7], 100), [&order[..]]);
        assert_eq!(chunks(&order[..1], &[0], 0), [&[6]]);
        assert!(chunks(&[], &[], 8).is_empty());
    }
}
