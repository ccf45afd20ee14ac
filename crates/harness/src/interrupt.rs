//! Ctrl-C and SIGTERM: what was evaluated is published, and the program ends with code 130.
//!
//! A store publishes about every second; without this the last second would be evaluated again. The batch that a scorer is working on
//! at that moment is waited for; batches take about half a second.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use landmark_core::oracle::Oracle;
use landmark_store::{AfterClose, Stored};

/// Act to be done before the end.
struct LastAct {
    /// There is still something to do it for.
    is_wanted: Box<dyn Fn() -> bool + Send>,
    /// Does it; answers whether there was anything to do it for.
    act: Box<dyn Fn() -> bool + Send>,
}

/// The exit code of a program that a signal ended: 128 + SIGINT.
pub const INTERRUPTED: i32 = 130;

static LAST_ACTS: Mutex<Vec<LastAct>> = Mutex::new(Vec::new());
/// A batch that takes long, or a disk that does not answer, must not keep the program.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has `act` done before an interrupted program ends, as long as `of` is alive.
fn before_the_end<T: Send + Sync + 'static>(of: &Arc<T>, act: impl Fn(&T) + Send + 'static) {
    let (of, watched) = (Arc::downgrade(of), Arc::downgrade(of));
    let act = LastAct {
        is_wanted: Box::new(move || watched.strong_count() > 0),
        act: Box::new(move || of.upgrade().map(|of| act(&of)).is_some()),
    };
    let mut acts = LAST_ACTS.lock().unwrap_or_else(PoisonError::into_inner);
    acts.retain(|act| (act.is_wanted)());
    acts.push(act);
}

/// Has what a store has not published yet published before an interrupted program ends.
pub(crate) fn flush_before_the_end<O: Oracle + 'static>(stored: &Arc<Stored<O>>) {
    before_the_end(stored, |stored| {
        if let Err(error) = stored.close(AfterClose::Wait) {
            eprintln!("cannot write the last scores: {error}");
        }
    });
}

/// Performs all acts, the last one first: a store that reads through another was opened after it, and waits for it while it closes. Answers whether
/// there was anything to do one for.
fn perform(acts: Vec<LastAct>) -> bool {
    acts.into_iter().rev().filter(|act| (act.act)()).count() > 0
}

/// From now on a write beyond the limit of a file's size is an error with a message, and does not end the process without a word (SIGXFSZ).
pub fn report_full_files() {
    #[cfg(unix)]
    // SAFETY: ignores a signal that has no handler of ours
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// From now on an interrupt is answered here.
pub fn listen() {
    let answer = || {
        let (done, waited) = channel();
        std::thread::spawn(move || {
            let acts = std::mem::take(&mut *LAST_ACTS.lock().unwrap_or_else(PoisonError::into_inner));
            // nobody waits any more: too late
            let _ = done.send(perform(acts));
        });
        match waited.recv_timeout(PATIENCE) {
            Ok(true) => eprintln!("\ninterrupted; scores are kept, and a rerun resumes"),
            Ok(false) => eprintln!("\ninterrupted"),
            Err(_) => eprintln!(
                "\ninterrupted; scores are kept except those of the last batch, which took more than {} s",
                PATIENCE.as_secs()
            ),
        }
        landmark_oracles::subprocess::end_all();
        end();
    };
    if let Err(error) = ctrlc::set_handler(answer) {
        tracing::debug!("interrupts end the program at once: {error}");
    }
}

/// Ends the process at once: what `exit` runs would take libtorch apart under the threads that compute with it.
#[cfg(unix)]
fn end() -> ! {
    // SAFETY: nothing of this process runs after it
    unsafe { libc::_exit(INTERRUPTED) }
}

#[cfg(not(unix))]
fn end() -> ! {
    std::process::exit(INTERRUPTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_last_is_closed_first_and_what_is_gone_is_not_counted() {
        let (performed, order) = channel();
        let act = |number: u32, is_alive: bool| -> LastAct {
            let performed = performed.clone();
            LastAct { is_wanted: Box::new(|| true), act: Box::new(move || performed.send(number).is_ok() && is_alive) }
        };
        assert!(perform(vec![act(1, true), act(2, false), act(3, false)]));
        assert!(!perform(vec![act(4, false)]));
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [3, 2, 1, 4]);
    }
}
