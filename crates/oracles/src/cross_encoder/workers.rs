//! One thread per device, each with its own copy of the model; sequences go to them over a channel.
//!
//! A `tch::Tensor` is not `Sync`: what owns one may not be shared between the threads that ask for scores.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use landmark_core::oracle::Identity;
use tch::{Device, Kind};

use crate::encoder::{Batcher, Classifier, Dropout, ModelError, ModelFiles, Precision, Sequence};

/// Sequences handed over at a time: enough of each length for whole batches, few enough that a crash loses seconds and that
/// several devices share the work.
const SEQUENCES: usize = 4096;

/// The number of a job and the outputs of its sequences.
type Answer = (usize, Result<Vec<Vec<f32>>, ModelError>);

/// Sequences to score, and where the answer goes.
struct Job {
    number: usize,
    sequences: Vec<Sequence>,
    reply: Sender<Answer>,
}

/// What a worker says once its model is there.
struct Model {
    identity: Identity,
    outputs: i64,
    longest: usize,
}

/// The threads that own a model.
pub(super) struct Workers {
    jobs: Option<Mutex<Sender<Job>>>,
    threads: Vec<JoinHandle<()>>,
    model: Model,
}

impl Workers {
    /// Reads the model on every device.
    pub(super) fn start(files: &ModelFiles, precision: Precision, devices: &[Device]) -> Result<Self, ModelError> {
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        let (ready, is_ready) = channel();
        let mut threads = Vec::with_capacity(devices.len());
        for &device in devices {
            let (files, ready, receiver) = (files.clone(), ready.clone(), Arc::clone(&receiver));
            threads.push(std::thread::spawn(move || match Classifier::open(&files, device, precision) {
                Ok(model) => {
                    let encoder = model.encoder();
                    let (outputs, longest) = (model.outputs(), encoder.config().longest());
                    let padding = encoder.config().padding;
                    // nobody waits any longer where another device failed
                    let _ = ready.send(Ok(Model { identity: model.identity(), outputs, longest }));
                    work(&model, &receiver, Batcher::new(device, padding));
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            }));
        }
        drop(ready);
        let mut model = None;
        // every thread answers once, and keeps its sender as long as it works
        for answer in is_ready.iter().take(devices.len()) {
            model = Some(answer?);
        }
        let model = model.ok_or_else(|| gone("no device was given"))?;
        Ok(Self { jobs: Some(Mutex::new(sender)), threads, model })
    }

    /// A digest of the model.
    pub(super) fn identity(&self) -> Identity {
        self.model.identity
    }

    /// Outputs of the head.
    pub(super) fn outputs(&self) -> i64 {
        self.model.outputs
    }

    /// Tokens it takes at most.
    pub(super) fn longest(&self) -> usize {
        self.model.longest
    }

    /// The outputs of the head for each sequence of `order`, handed to `take` with its number, in no particular order.
    pub(super) fn run(
        &self,
        order: &[usize],
        sequence: &dyn Fn(usize) -> Sequence,
        take: &mut dyn FnMut(usize, &[f32]),
        outputs: usize,
    ) -> Result<(), ModelError> {
        let jobs = match &self.jobs {
            Some(jobs) => jobs.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => return Err(gone("the model was closed")),
        };
        let (reply, answers) = channel();
        let chunks: Vec<&[usize]> = order.chunks(SEQUENCES).collect();
        let mut waiting = 0;
        // no more than two chunks a device are in flight, whatever was asked for
        let most = 2 * self.threads.len();
        for (number, chunk) in chunks.iter().enumerate() {
            let job = Job { number, sequences: chunk.iter().map(|&k| sequence(k)).collect(), reply: reply.clone() };
            jobs.send(job).map_err(|_| gone("its thread ended"))?;
            waiting += 1;
            if waiting == most {
                hand_over(&answers, &chunks, take, outputs)?;
                waiting -= 1;
            }
        }
        drop(reply);
        (0..waiting).try_for_each(|_| hand_over(&answers, &chunks, take, outputs))
    }
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

fn work(model: &Classifier, jobs: &Mutex<Receiver<Job>>, mut batcher: Batcher) {
    let outputs = usize::try_from(model.outputs()).unwrap_or(1);
    loop {
        // the lock is held only while waiting
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { number, sequences, reply }) = job else { return };
        let _no_gradients = tch::no_grad_guard();
        let rows = batcher.run(&sequences, |batch| {
            let logits = model.logits(batch, Dropout::default())?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?;
            let logits = logits.f_contiguous()?;
            let mut values = vec![0.0_f32; logits.numel()];
            logits.f_copy_data(&mut values, logits.numel())?;
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
