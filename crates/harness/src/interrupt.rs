//! Ctrl-C and SIGTERM: what was bought is published, and the program ends with code 130.
//!
//! A store publishes about every second; without this the last second would be bought again. The batch that a scorer is working on
//! at that moment is waited for; batches take about half a second.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Act to be done before the end; it answers whether there was anything to do it for.
type LastAct = Box<dyn Fn() -> bool + Send>;

/// The exit code of a program that a signal ended: 128 + SIGINT.
pub const INTERRUPTED: i32 = 130;

static LAST_ACTS: Mutex<Vec<LastAct>> = Mutex::new(Vec::new());
/// A batch that takes long, or a disk that does not answer, must not keep the program.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has `act` done before an interrupted program ends, as long as `of` is alive.
pub fn before_the_end<T: Send + Sync + 'static>(of: &Arc<T>, act: impl Fn(&T) + Send + 'static) {
    let of = Arc::downgrade(of);
    let act = move || of.upgrade().map(|of| act(&of)).is_some();
    LAST_ACTS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(act));
}

/// From now on an interrupt is answered here.
pub fn listen() {
    let answer = || {
        let (done, waited) = channel();
        std::thread::spawn(move || {
            let acts = std::mem::take(&mut *LAST_ACTS.lock().unwrap_or_else(PoisonError::into_inner));
            let bought = acts.iter().filter(|act| act()).count();
            // nobody waits any more: too late
            let _ = done.send(bought > 0);
        });
        match waited.recv_timeout(PATIENCE) {
            Ok(true) => eprintln!("\ninterrupted; what was bought is kept, and running again goes on from there"),
            Ok(false) => eprintln!("\ninterrupted"),
            Err(_) => eprintln!(
                "\ninterrupted; what was bought is kept but for the last batch, which took more than {} s",
                PATIENCE.as_secs()
            ),
        }
        std::process::exit(INTERRUPTED);
    };
    if let Err(error) = ctrlc::set_handler(answer) {
        tracing::debug!("interrupts end the program at once: {error}");
    }
}
