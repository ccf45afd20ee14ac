//! A job on a thread of its own, while the thread that asked for it serves the score and heeds Ctrl-C.
//!
//! ```text
//! Python thread:  run(job) ─ waits ─ scores a batch ─ waits ─ … ─ answer, or the exception
//! job's thread:      plan, columns, factors; asks the desk for scores
//! ```
//! So a score runs where it was handed over, with that thread's grad mode, event loop and connections, and Python's own Ctrl-C ends it. A
//! job whose caller was interrupted is left behind: it ends at its next request, and whatever was scored is published.
//!
//! Any number of threads may run jobs on one score; whoever waits serves whichever request comes.
//!
//! Cost: some 20 µs a batch.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use landmark_core::oracle::{Identity, Oracle, OracleError, Pair, Symmetry};
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Raised;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(40);

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
pub(crate) struct Desk {
    function: Option<Py<PyAny>>,
    state: Mutex<DeskState>,
    changed: Condvar,
}

#[derive(Default)]
struct DeskState {
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

impl Desk {
    /// Of a function (rows, columns) → scores, or of a score that needs no interpreter.
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Arc<Self> {
        Arc::new(Self { function, state: Mutex::default(), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many scores of these items, in `room`, from whichever thread serves the desk.
    pub(crate) fn ask(&self, rows: Vec<i64>, columns: Vec<i64>, scores: usize, room: Vec<f64>) -> Scores {
        let (reply, answer) = mpsc::channel();
        let mut state = self.state();
        if state.sessions == 0 {
            return Err(interrupted());
        }
        state.waiting.push_back(Request { rows, columns, scores, room, reply });
        drop(state);
        self.changed.notify_all();
        answer.recv().unwrap_or_else(|_| Err(interrupted()))
    }

    fn next(&self, has_ended: &AtomicBool) -> Next {
        let mut state = self.state();
        if state.waiting.is_empty() && !has_ended.load(Ordering::Acquire) {
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
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
        self.changed.notify_all();
    }
}

fn interrupted() -> OracleError {
    let source = Box::new(Raised(PyKeyboardInterrupt::new_err("the search or fit was interrupted")));
    OracleError::Failed { what: "a score after an interrupt".to_owned(), source }
}

/// Runs a job while this thread serves the desk.
///
/// # Errors
/// Ctrl-C, or whatever else ended the score without being an ordinary exception; the job's own errors are its result.
pub(crate) fn run<T, J>(py: Python<'_>, desk: &Arc<Desk>, job: J) -> PyResult<T>
where
    T: Send + 'static,
    J: FnOnce(Stopped) -> T + Send + 'static,
{
    let (stopped, has_ended) = (Stopped::default(), Arc::new(AtomicBool::new(false)));
    let (send, answer) = mpsc::channel();
    desk.state().sessions += 1;
    let (its_stopped, its_end, its_desk) = (Arc::clone(&stopped), Arc::clone(&has_ended), Arc::clone(desk));
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| job(its_stopped)));
        // a caller that was interrupted listens no more
        let _ = send.send(done);
        its_end.store(true, Ordering::Release);
        // with the lock, so that no caller misses it between its look and its wait
        drop(its_desk.state());
        its_desk.changed.notify_all();
    };
    let started = thread::Builder::new().name("landmark".to_owned()).spawn(work);
    let served = match started {
        Ok(_) => py.detach(|| desk.serve_until(&has_ended)),
        Err(error) => Err(error.into()),
    };
    if served.is_err() {
        stopped.store(true, Ordering::Relaxed);
    }
    desk.leave();
    served?;
    match answer.recv() {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => Err(PyRuntimeError::new_err("a thread of landmark ended without an answer")),
    }
}

/// Runs numerics that ask no score while this thread heeds Ctrl-C. Who is interrupted leaves them behind, so they own what they read.
///
/// # Errors
/// Ctrl-C.
pub(crate) fn heeding<T: Send + 'static>(py: Python<'_>, numerics: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    run(py, &Desk::new(None), |_| numerics())
}

impl Desk {
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
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.inner.symmetry()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.inner.known_diagonal()
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.inner.evaluations_per_pair()
    }

    fn calls_at_once(&self) -> usize {
        self.inner.calls_at_once()
    }

    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        self.inner.vectors()
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.inner.features()
    }

    fn is_checked(&self) -> bool {
        self.inner.is_checked()
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
