//! Any program in any language as an oracle: JSON lines over its standard input and output.
//!
//! ```text
//! Landmark → program   {"landmark":1,"items":40000}
//! program → Landmark   {"landmark":1,"identity":"my scorer, version 3","symmetric":true}
//! Landmark → program   {"batch":1,"pairs":[["a text","another"],["a text","a third"]]}
//! program → Landmark   {"batch":1,"scores":[0.93,{"error":"empty text"}]}
//!                      … until standard input ends, upon which the program ends
//! ```
//!
//! That is version 1 of the protocol. One JSON object a line, UTF-8. In its greeting a program names everything that moves
//! its scores (`identity`: a new model, a new identity), states whether `f(a, b) = f(b, a)`, and may add `"pairs": "id"` or
//! `"index"` to be handed ids or numbers instead of texts, and `"diagonal": 1` where every item is that similar to itself.
//! It answers each batch once, in order, with one score a pair: a finite number, or an error in words. Everything else it
//! prints goes to standard error, whose last lines appear in messages. The answer must be flushed: a batch or two are on
//! their way at a time, never more.
//!
//! A program that ends or is silent for too long is started again and handed its batch again; where that ends it
//! once more, the batch is halved, on fresh processes, until the pair that does so stands alone and is named. Garbage, a
//! wrong number of scores or another order ends the run at once: no later score could be trusted. So does a program that
//! fails on every pair, even where failed pairs get a score.
//!
//! Cost: about 1 µs a pair on top of the program's own work, and twice the batch in memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use landmark_core::oracle::{
    Attempt, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, PairErrors, Symmetry, attempt_off_diagonal,
    even_chunk,
};

mod error;
mod group;
mod items;
mod message;
mod params;
mod process;

pub use error::SubprocessError;
pub use group::end_all;
pub use items::ScoredItems;
pub use message::{Greeting, PairForm};
pub use params::{FailedPairs, SubprocessParams};

use error::excerpt;
use message::{Answer, EXAMPLE, Score};
use process::{Heard, Lost, Process};

/// Batches that are on their way to one process: it need not wait for us.
const WINDOW: usize = 2;

const PROGRAM: &str = "a scoring program";
const WARNINGS: u64 = 5;
/// Failed pairs without a common item after which a program that scored none is given up, whatever failed pairs may do.
const MOST_FAILED: u64 = 20;

/// A scoring program as an oracle.
pub struct Subprocess {
    params: SubprocessParams,
    items: Arc<ScoredItems>,
    greeting: Greeting,
    identity: Identity,
    slots: Vec<Mutex<Slot>>,
    batches: AtomicU64,
    scored: AtomicBool,
    failed: AtomicU64,
    first_failed: OnceLock<Pair>,
    /// Failed pairs that share no item with it.
    failed_apart: AtomicU64,
    restarts: AtomicU64,
    pair_errors: PairErrors,
}

/// Room for one process, which is there once it was needed.
#[derive(Default)]
struct Slot(Option<Process>);

type Work<'a> = (&'a [Pair], &'a mut [f64]);

enum Trouble {
    /// The process is gone or hangs: a fresh one may do better.
    Lost(Lost),
    /// No later answer could be trusted.
    Broken(OracleError),
}

impl Subprocess {
    /// Starts the program and reads its greeting; further processes start when they are needed.
    ///
    /// # Errors
    /// A parameter out of range, a program that does not start, or greets wrongly or not at all.
    pub fn start(params: SubprocessParams, items: Arc<ScoredItems>) -> Result<Self, SubprocessError> {
        let params = params.check()?;
        let (process, greeting) = greet(&params, items.len())?;
        let identity = identity(&greeting, params.failed_pairs, items.identity());
        let mut slots: Vec<Mutex<Slot>> = (0..params.processes).map(|_| Mutex::default()).collect();
        slots[0] = Mutex::new(Slot(Some(process)));
        Ok(Self {
            params,
            items,
            greeting,
            identity,
            slots,
            batches: AtomicU64::new(0),
            scored: AtomicBool::new(false),
            failed: AtomicU64::new(0),
            first_failed: OnceLock::new(),
            failed_apart: AtomicU64::new(0),
            restarts: AtomicU64::new(0),
            pair_errors: PairErrors::default(),
        })
    }

    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    pub fn items(&self) -> &Arc<ScoredItems> {
        &self.items
    }

    /// Digest of all that moves a score but the items.
    pub fn identity_apart_from_items(&self) -> Identity {
        identity(&self.greeting, FailedPairs::Error, ScoredItems::NONE)
    }

    /// Pairs that got the score of `failed_pairs` so far.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Processes that were started again so far.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    fn score(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let size = even_chunk(pairs.len(), self.slots.len(), self.params.batch);
        let queue = Mutex::new(pairs.chunks(size).zip(out.chunks_mut(size)));
        let busy = pairs.len().div_ceil(size).min(self.slots.len());
        // ahead of an answer nothing is taken that another process would have to wait for
        let next = |is_ahead: bool| {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if is_ahead && queue.len() < busy { None } else { queue.next() }
        };
        let stop = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            // this thread serves the first process itself
            let Some((first, others)) = self.slots[..busy].split_first() else { return Ok(()) };
            let next = &next;
            let helpers: Vec<_> = others.iter().map(|slot| scope.spawn(move || self.work(slot, next, stop))).collect();
            let mut outcome = self.work(first, next, stop);
            for helper in helpers {
                let ended = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = outcome.and(ended);
            }
            outcome
        })
    }

    /// Has one process answer batches until there are none.
    fn work<'a>(
        &self,
        slot: &Mutex<Slot>,
        next: impl Fn(bool) -> Option<Work<'a>>,
        stop: &AtomicBool,
    ) -> Result<(), OracleError> {
        let mut slot: MutexGuard<'_, Slot> = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.work_with(&mut slot, next, stop);
        if outcome.is_err() {
            stop.store(true, Ordering::Relaxed);
            // answers may be on their way that nobody waits for any more
            slot.end();
        }
        outcome
    }

    fn work_with<'a>(
        &self,
        slot: &mut Slot,
        next: impl Fn(bool) -> Option<Work<'a>>,
        stop: &AtomicBool,
    ) -> Result<(), OracleError> {
        let mut flying: VecDeque<(u64, Work<'a>)> = VecDeque::new();
        loop {
            while flying.len() < WINDOW && !stop.load(Ordering::Relaxed) {
                let Some(work) = next(!flying.is_empty()) else { break };
                flying.push_back((self.send(slot, work.0)?, work));
            }
            let Some((number, (pairs, scores))) = flying.pop_front() else { return Ok(()) };
            match self.receive(slot, number, pairs, scores) {
                Ok(()) => {}
                Err(Trouble::Broken(error)) => return Err(error),
                Err(Trouble::Lost(lost)) => {
                    self.restart(slot, &lost);
                    self.bisect(slot, pairs, scores)?;
                    for (number, (pairs, _)) in &mut flying {
                        *number = self.send(slot, pairs)?;
                    }
                }
            }
        }
    }

    /// Has a batch scored that was on its way when a process was lost: whole, else halved until the pair stands alone.
    fn bisect(&self, slot: &mut Slot, pairs: &[Pair], scores: &mut [f64]) -> Result<(), OracleError> {
        let number = self.send(slot, pairs)?;
        let lost = match self.receive(slot, number, pairs, scores) {
            Ok(()) => return Ok(()),
            Err(Trouble::Broken(error)) => return Err(error),
            Err(Trouble::Lost(lost)) => lost,
        };
        self.restart(slot, &lost);
        if pairs.len() > 1 {
            let (first, second) = pairs.split_at(pairs.len() / 2);
            let (first_scores, second_scores) = scores.split_at_mut(first.len());
            self.bisect(slot, first, first_scores)?;
            return self.bisect(slot, second, second_scores);
        }
        let (i, j) = pairs[0];
        let crashing = SubprocessError::CrashingPair {
            command: self.params.in_words(),
            pair: self.in_words((i, j)),
            next_step: self.next_step(),
            what: lost.what,
            stderr: lost.stderr,
        };
        scores[0] = self.fail((i, j), crashing)?;
        Ok(())
    }

    fn send(&self, slot: &mut Slot, pairs: &[Pair]) -> Result<u64, OracleError> {
        let process = match slot.0.take() {
            Some(process) => process,
            None => self.start_another()?,
        };
        let process = slot.0.insert(process);
        let number = self.batches.fetch_add(1, Ordering::Relaxed) + 1;
        process.send(message::batch(number, pairs, self.greeting.pairs, &self.items));
        Ok(number)
    }

    fn receive(&self, slot: &mut Slot, number: u64, pairs: &[Pair], scores: &mut [f64]) -> Result<(), Trouble> {
        let Some(process) = &mut slot.0 else {
            return Err(Trouble::Lost(Lost { what: "is gone".to_owned(), stderr: String::new() }));
        };
        let heard = process.hear(self.params.timeout()).map_err(Trouble::Lost)?;
        let broken = |error: SubprocessError| Trouble::Broken(error.into());
        let command = || self.params.in_words();
        let garbage = |line: &[u8], reason: String, stderr| {
            broken(SubprocessError::Garbage {
                command: command(),
                batch: number,
                line: excerpt(line.trim_ascii()),
                reason,
                stderr,
            })
        };
        let line = match heard {
            Heard::Line(line) => line,
            Heard::TooLong(line) => return Err(garbage(&line, "a line without an end".to_owned(), process.stderr())),
        };
        let answer = Answer::parse(&line).map_err(|reason| garbage(&line, reason, process.stderr()))?;
        if answer.batch != number {
            return Err(broken(SubprocessError::Order { command: command(), seen: answer.batch, wanted: number }));
        }
        if answer.scores.len() != pairs.len() {
            let (seen, wanted) = (answer.scores.len(), pairs.len());
            return Err(broken(SubprocessError::Count { command: command(), batch: number, seen, wanted }));
        }
        if answer.scores.iter().any(|score| matches!(score, Score::Number(value) if value.is_finite())) {
            self.scored.store(true, Ordering::Relaxed);
        }
        // what stands behind a pair that fails is a score all the same
        let mut outcome = Ok(());
        for ((&pair, score), out) in pairs.iter().zip(answer.scores).zip(scores) {
            match self.read(pair, score) {
                Ok(score) => *out = score,
                Err(error) => outcome = outcome.and(Err(Trouble::Broken(error))),
            }
        }
        outcome
    }

    fn read(&self, (i, j): Pair, score: Score) -> Result<f64, OracleError> {
        match score {
            Score::Number(value) if value.is_finite() => Ok(value),
            // no failed pair: a program that knows that it has no score answers with an error
            Score::Number(_) | Score::NoNumber => Err(SubprocessError::NoNumber {
                command: self.params.in_words(),
                pair: self.in_words((i, j)),
                next_step: self.where_to_look(),
            }
            .into()),
            Score::Refused(reason) => {
                let refused = SubprocessError::Refused {
                    command: self.params.in_words(),
                    pair: self.in_words((i, j)),
                    next_step: self.next_step(),
                    reason,
                };
                self.fail((i, j), refused)
            }
        }
    }

    fn in_words(&self, (i, j): Pair) -> String {
        let ids = self.items.ids();
        format!("(`{}`, `{}`)", ids[i], ids[j])
    }

    fn next_step(&self) -> &'static str {
        match (self.scored.load(Ordering::Relaxed), self.params.failed_pairs) {
            (true, FailedPairs::Error) => "look at these two items, or set `oracle.failed_pairs: { score: 0 }`",
            _ => self.where_to_look(),
        }
    }

    /// The same of an answer that is no failed pair, whatever `failed_pairs` is set to.
    fn where_to_look(&self) -> &'static str {
        if self.scored.load(Ordering::Relaxed) {
            "look at these two items"
        } else {
            "look at the program, which has not scored a pair yet, and at these two items"
        }
    }

    /// No score, or an error, of a pair that cannot be scored; why is noted.
    fn fail(&self, (i, j): Pair, error: SubprocessError) -> Result<f64, OracleError> {
        self.pair_errors.note((i, j), error.to_string());
        match self.params.failed_pairs {
            FailedPairs::Error => Err(error.into()),
            FailedPairs::Score(score) => {
                let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
                let &(first, second) = self.first_failed.get_or_init(|| (i, j));
                let apart = ![first, second].iter().any(|item| [i, j].contains(item));
                let failed_apart = self.failed_apart.fetch_add(u64::from(apart), Ordering::Relaxed) + u64::from(apart);
                if failed_apart >= MOST_FAILED && !self.scored.load(Ordering::Relaxed) {
                    let (command, last) = (self.params.in_words(), Box::new(error));
                    return Err(SubprocessError::AllFailed { command, failed, last }.into());
                }
                match failed {
                    ..=WARNINGS => tracing::warn!("{error}; it gets the score {score}"),
                    _ => tracing::debug!("{error}; it gets the score {score}"),
                }
                if failed == WARNINGS {
                    tracing::warn!("further pairs that fail are counted, and named with `-vv` alone");
                }
                Ok(f64::NAN)
            }
        }
    }

    fn restart(&self, slot: &mut Slot, lost: &Lost) {
        let before = self.restarts.fetch_add(1, Ordering::Relaxed);
        if before == 0 {
            tracing::warn!(
                "the program `{}` {}; it is started again{}",
                self.params.in_words(),
                lost.what,
                lost.stderr
            );
            tracing::warn!("further starts are counted, and shown with `-vv` alone");
        } else {
            tracing::debug!(
                "the program `{}` {}; it is started again{}",
                self.params.in_words(),
                lost.what,
                lost.stderr
            );
        }
        slot.end();
    }

    fn start_another(&self) -> Result<Process, SubprocessError> {
        let (process, greeting) = greet(&self.params, self.items.len())?;
        if greeting != self.greeting {
            let in_words = |greeting: &Greeting| serde_json::to_string(greeting).unwrap_or_default();
            return Err(SubprocessError::Changed {
                command: self.params.in_words(),
                first: in_words(&self.greeting),
                second: in_words(&greeting),
            });
        }
        Ok(process)
    }
}

impl Slot {
    fn end(&mut self) {
        if let Some(process) = self.0.take() {
            process.kill();
        }
    }
}

fn identity(greeting: &Greeting, failed_pairs: FailedPairs, items: Identity) -> Identity {
    Identity::of(&[
        ("kind", b"subprocess v1"),
        ("program", greeting.identity.as_bytes()),
        ("symmetric", &[u8::from(greeting.symmetric)]),
        ("diagonal", format!("{:?}", greeting.diagonal).as_bytes()),
        ("failed pairs", format!("{failed_pairs:?}").as_bytes()),
        ("items", items.as_bytes()),
    ])
}

fn greet(params: &SubprocessParams, items: usize) -> Result<(Process, Greeting), SubprocessError> {
    let command = || params.in_words();
    let mut process = Process::start(params).map_err(|source| SubprocessError::Start { command: command(), source })?;
    process.send(message::hello(items));
    match process.hear(params.patience()) {
        Ok(Heard::Line(line) | Heard::TooLong(line)) => match Greeting::parse(&line) {
            Ok(greeting) => Ok((process, greeting)),
            Err(reason) => {
                let stderr = process.stderr();
                process.kill();
                let seen = excerpt(line.trim_ascii());
                Err(SubprocessError::BadGreeting { command: command(), seen, reason, wanted: EXAMPLE, stderr })
            }
        },
        Err(Lost { what, stderr }) => {
            process.kill();
            Err(SubprocessError::NoGreeting { command: command(), what, wanted: EXAMPLE, stderr })
        }
    }
}

/// Reads what a program prints: what `fuzz/` feeds.
///
/// # Panics
/// Where a score is taken for a number that is none.
#[cfg(fuzzing)]
pub fn read_output(bytes: &[u8]) {
    let (heard, lines) = std::sync::mpsc::sync_channel(bytes.len() + 1);
    process::read_answers(bytes, &heard);
    drop(heard);
    for line in lines {
        let (Heard::Line(line) | Heard::TooLong(line)) = line;
        let _ = (excerpt(&line), Greeting::parse(&line));
        let scores = Answer::parse(&line).map(|answer| answer.scores).unwrap_or_default();
        assert!(
            scores.iter().all(|score| !matches!(score, Score::Number(number) if !number.is_finite())),
            "{scores:?}"
        );
    }
}

impl Oracle for Subprocess {
    fn shape(&self) -> OracleShape {
        let symmetry = if self.greeting.symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        OracleShape {
            known_diagonal: self.greeting.diagonal,
            calls_at_once: self.slots.len(),
            ..OracleShape::new(self.items.len(), symmetry)
        }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        Some(self)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.attempt(pairs, out).settled(PROGRAM, self.stand_in(), out)
    }
}

impl Fallible for Subprocess {
    fn identity_of_scores(&self) -> Identity {
        identity(&self.greeting, FailedPairs::Error, self.items.identity())
    }

    fn stand_in(&self) -> Option<f64> {
        self.params.failed_pairs.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        attempt_off_diagonal((self.len(), self.greeting.diagonal), pairs, out, |pairs, out| {
            let error = self.score(pairs, out).err();
            let failed = self.pair_errors.take(pairs, out);
            // the error is that of the failed pair
            let is_reported = self.stand_in().is_none() && !failed.is_empty();
            Attempt { failed, error: error.filter(|_| !is_reported) }
        })
    }
}
