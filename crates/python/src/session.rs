//! A job on a thread of its own, while the thread that asked for it serves the score and responds to Ctrl-C.
//!
//! ```text
//! Python thread:  run(job) ─ waits ─ scores a batch ─ waits ─ … ─ answer, or the exception
//! job's thread:      plan, columns, factors; asks the queue for scores
//! ```
//! So a score runs where it was handed over, with that thread's grad mode, event loop and connections, and Python's own Ctrl-C ends it. A
//! job whose caller was interrupted is left behind: it ends at its next request, and whatever was scored is published.
//!
//! Any number of threads may run jobs on one score; whoever waits serves whichever request comes.
//!
//! A forked child has none of its parent's threads, and rayon's own pool is started once and for all: what is handed to it there waits for ever. So a
//! child's numerics run on pools of its own, one for each job at a time ([`own_threads`]).
//!
//! Cost: some 20 µs a batch.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_store::PerProcess;
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Raised;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(40);

/// The process that rayon's own pool is of, the first one that computes; 0 before.
static HOME: AtomicU32 = AtomicU32::new(0);
/// Pools of a forked child that no job has at the moment.
static IDLE: OnceLock<PerProcess<Mutex<Vec<ThreadPool>>>> = OnceLock::new();

/// Threads that a job computes on: rayon's own pool, or in a forked child one that no other job has meanwhile. Two jobs in one pool could each wait for
/// what the other has locked, for a worker that waits takes up other work.
pub(crate) struct Threads(Option<ThreadPool>);

/// Threads of this process.
///
/// # Errors
/// A system that starts no more threads.
pub(crate) fn own_threads() -> PyResult<Threads> {
    let ours = std::process::id();
    let home = HOME.compare_exchange(0, ours, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|home| home);
    if home == 0 || home == ours {
        return Ok(Threads(None));
    }
    let idle = idle().pop();
    let pool = match idle {
        Some(pool) => pool,
        None => ThreadPoolBuilder::new()
            .build()
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads in this process: {error}")))?,
    };
    Ok(Threads(Some(pool)))
}

fn idle() -> MutexGuard<'static, Vec<ThreadPool>> {
    let pools = IDLE.get_or_init(PerProcess::default).get_or(Mutex::default);
    pools.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    fn compute<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            idle().push(pool);
        }
    }
}

/// Runs numerics on this thread without the interpreter's lock, for what is over too soon to be interrupted.
///
/// # Errors
/// A system that starts no more threads.
pub(crate) fn detached<T: Send>(py: Python<'_>, numerics: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = own_threads()?;
    Ok(py.detach(|| threads.compute(numerics)))
}

type Scores = Result<Vec<f64>, OracleError>;

/// Items that wait for their scores: those of the rows, those of the columns, and how many scores are the answer.
struct Request {
    rows: Vec<i64>,
    columns: Vec<i64>,
    scores: usize,
    /// Where the answer goes: fresh memory for every block costs as much as a cheap score.
    room: Vec<f64>,
    reply: mpsc::Sender<Scores>,
}

/// Requests of one score, and who is there to serve them.
pub(crate) struct ScoreQueue {
    function: Option<Py<PyAny>>,
    waiters: PerProcess<Waiters>,
}

/// Those that ask and those that serve, of one process.
#[derive(Default)]
struct Waiters {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Request>,
    sessions: usize,
}

/// True once the caller of a job was interrupted.
pub(crate) type Stopped = Arc<AtomicBool>;

enum Next {
    Ended,
    Serve(Request),
    Nothing,
}

impl ScoreQueue {
    /// Of a function (rows, columns) → scores, or of a score that needs no interpreter.
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Arc<Self> {
        Arc::new(Self { function, waiters: PerProcess::default() })
    }

    fn waiters(&self) -> &Waiters {
        self.waiters.get_or(Waiters::default)
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.waiters().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) -> &Condvar {
        &self.waiters().changed
    }

    /// The scores of these pairs of items, in `room`, by whichever thread calls Python.
    pub(crate) fn ask(&self, rows: Vec<i64>, columns: Vec<i64>, scores: usize, room: Vec<f64>) -> Scores {
        let (reply, answer) = mpsc::channel();
        let mut state = self.state();
        if state.sessions == 0 {
            return Err(interrupted());
        }
        state.waiting.push_back(Request { rows, columns, scores, room, reply });
        drop(state);
        self.changed().notify_all();
        answer.recv().unwrap_or_else(|_| Err(interrupted()))
    }

    fn next(&self, has_ended: &AtomicBool) -> Next {
        let mut state = self.state();
        if state.waiting.is_empty() && !has_ended.load(Ordering::Acquire) {
            state = self.changed().wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        match state.waiting.pop_front() {
            Some(request) => Next::Serve(request),
            None if has_ended.load(Ordering::Acquire) => Next::Ended,
            None => Next::Nothing,
        }
    }

    /// Scores a request; the error is one that ends the session itself, such as Ctrl-C.
    fn serve(&self, py: Python<'_>, request: Request) -> PyResult<()> {
        let Request { rows, columns, scores, mut room, reply } = request;
        let what = format!("{scores} pairs from ({}, {})", rows[0], columns[0]);
        let scored = self.score(py, rows, columns, scores, &mut room).map(|()| room);
        let fatal = match &scored {
            Err(error) if !error.is_instance_of::<PyException>(py) => Err(error.clone_ref(py)),
            _ => Ok(()),
        };
        let failed = |error| OracleError::Failed { what, source: Box::new(Raised(error)) };
        // who asked may be gone
        let _ = reply.send(scored.map_err(failed));
        fatal
    }

    fn score(
        &self,
        py: Python<'_>,
        rows: Vec<i64>,
        columns: Vec<i64>,
        wanted: usize,
        room: &mut Vec<f64>,
    ) -> PyResult<()> {
        let Some(function) = &self.function else {
            return Err(PyRuntimeError::new_err("a score without a function was asked"));
        };
        let scored = function.bind(py).call1((rows.into_pyarray(py), columns.into_pyarray(py)))?;
        let scores: PyReadonlyArray1<'_, f64> = scored.extract()?;
        let scores = scores.as_array();
        if scores.len() != wanted {
            return Err(PyValueError::new_err(format!("{} scores for {wanted} pairs", scores.len())));
        }
        room.clear();
        match scores.as_slice() {
            Some(scores) => room.extend_from_slice(scores),
            None => room.extend(scores),
        }
        Ok(())
    }

    fn leave(&self) {
        let mut state = self.state();
        state.sessions -= 1;
        if state.sessions == 0 {
            // their senders go, and whoever waits learns that nobody answers
            state.waiting.clear();
        }
        drop(state);
        self.changed().notify_all();
    }
}

fn interrupted() -> OracleError {
    let source = Box::new(Raised(PyKeyboardInterrupt::new_err("the search or fit was interrupted")));
    OracleError::Failed { what: "a score after an interrupt".to_owned(), source }
}

/// Runs a job while this thread serves the queue.
///
/// # Errors
/// Ctrl-C, or whatever else ended the score without being an ordinary exception; the job's own errors are its result.
pub(crate) fn run<T, J>(py: Python<'_>, queue: &Arc<ScoreQueue>, job: J) -> PyResult<T>
where
    T: Send + 'static,
    J: FnOnce(Stopped) -> T + Send + 'static,
{
    let threads = own_threads()?;
    let (stopped, has_ended) = (Stopped::default(), Arc::new(AtomicBool::new(false)));
    let (send, answer) = mpsc::channel();
    queue.state().sessions += 1;
    let (its_stopped, its_end, its_queue) = (Arc::clone(&stopped), Arc::clone(&has_ended), Arc::clone(queue));
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| threads.compute(|| job(its_stopped))));
        drop(threads);
        // a caller that was interrupted listens no more
        let _ = send.send(done);
        its_end.store(true, Ordering::Release);
        // with the lock, so that no caller misses it between its look and its wait
        drop(its_queue.state());
        its_queue.changed().notify_all();
    };
    let started = thread::Builder::new().name("landmark".to_owned()).spawn(work);
    let served = match started {
        Ok(_) => py.detach(|| queue.serve_until(&has_ended)),
        Err(error) => Err(error.into()),
    };
    if served.is_err() {
        stopped.store(true, Ordering::Relaxed);
    }
    queue.leave();
    served?;
    match answer.recv() {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => Err(PyRuntimeError::new_err("a thread of landmark ended without an answer")),
    }
}

/// Runs numerics that ask no score while this thread responds to Ctrl-C. Who is interrupted leaves them behind, so they own what they read.
///
/// # Errors
/// Ctrl-C.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    numerics: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    run(py, &ScoreQueue::new(None), |_| numerics())
}

impl ScoreQueue {
    fn serve_until(&self, has_ended: &AtomicBool) -> PyResult<()> {
        loop {
            match self.next(has_ended) {
                Next::Ended => return Ok(()),
                Next::Serve(request) => Python::attach(|py| self.serve(py, request))?,
                Next::Nothing => Python::attach(|py| py.check_signals())?,
            }
        }
    }
}

/// An oracle that refuses once its caller was interrupted.
pub(crate) struct Interruptible<O> {
    pub(crate) inner: O,
    pub(crate) stopped: Stopped,
}

impl<O: Oracle> Interruptible<O> {
    fn check(&self) -> Result<(), OracleError> {
        if self.stopped.load(Ordering::Relaxed) { Err(interrupted()) } else { Ok(()) }
    }
}

impl<O: Oracle> Oracle for Interruptible<O> {
    fn shape(&self) -> OracleShape {
        self.inner.shape()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        self.inner.vectors()
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.inner.features()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.check()?;
        self.inner.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.check()?;
        self.inner.block(rows, cols, out)
    }
}
