//! The process group of a scoring program: what it starts belongs to it, and ends with it.
//!
//! A program leads a group of its own, so that Ctrl-C on a terminal reaches Landmark alone, which keeps first what is being scored. The group is ended as a
//! whole: a shell that is killed alone leaves its children behind. On Linux the program is killed as well when Landmark is (`PR_SET_PDEATHSIG`); the
//! system does so when the *thread* that started it ends, so that all are started by one thread that never does.

use std::io;
use std::process::{Child, Command};

#[derive(Debug)]
pub(super) struct Group {
    pub(super) child: Child,
    #[cfg(unix)]
    id: libc::pid_t,
    /// The process that started it: a forked child does not end the group.
    owner: u32,
}

#[cfg(unix)]
mod living {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static LIVING: Mutex<BTreeSet<libc::pid_t>> = Mutex::new(BTreeSet::new());

    pub(super) fn all() -> MutexGuard<'static, BTreeSet<libc::pid_t>> {
        LIVING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends every process of a group; that none is left is no news.
    pub(super) fn kill(id: libc::pid_t) {
        if id > 1 {
            // SAFETY: sends a signal to a group that a program of ours led
            unsafe { libc::kill(-id, libc::SIGKILL) };
        }
    }
}

impl Group {
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let child = spawn(command)?;
            let id = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
            living::all().insert(id);
            Ok(Self { child, id, owner: std::process::id() })
        }
        #[cfg(not(unix))]
        Ok(Self { child: command.spawn()?, owner: std::process::id() })
    }

    pub(super) fn is_own(&self) -> bool {
        self.owner == std::process::id()
    }

    /// Ends all of it at once, in the process that started it.
    pub(super) fn kill(&mut self) {
        if !self.is_own() {
            return;
        }
        #[cfg(unix)]
        if living::all().remove(&self.id) {
            living::kill(self.id);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends every scoring program of this process with all that it started, before the process itself ends without taking itself apart.
pub fn end_all() {
    #[cfg(unix)]
    for id in std::mem::take(&mut *living::all()) {
        living::kill(id);
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn spawn(mut command: Command) -> io::Result<Child> {
    command.spawn()
}

#[cfg(target_os = "linux")]
fn spawn(mut command: Command) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    use std::sync::mpsc::{self, Sender};
    use std::sync::{Mutex, PoisonError};

    type Order = (Command, Sender<io::Result<Child>>);
    /// The thread that starts programs, and the process that it is of: a fork has none of the threads.
    static STARTER: Mutex<Option<(u32, Sender<Order>)>> = Mutex::new(None);

    let ours = std::process::id();
    // SAFETY: all are calls of the system alone, as a child between fork and exec may make them
    unsafe {
        command.pre_exec(move || {
            // what Landmark ignores is no choice of the program's
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // the parent may have ended before that
            match u32::try_from(libc::getppid()) {
                Ok(parent) if parent == ours => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            }
        });
    }
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    let known = starter.take().filter(|(process, _)| *process == ours);
    let (_, orders) = starter.insert(match known {
        Some(known) => known,
        None => {
            let (orders, ordered) = mpsc::channel::<Order>();
            std::thread::Builder::new().name("starts programs".to_owned()).spawn(move || {
                for (mut command, answer) in ordered {
                    // whoever asked may have gone
                    let _ = answer.send(command.spawn());
                }
            })?;
            (ours, orders)
        }
    });
    let (answer, answered) = mpsc::channel();
    let gone = || io::Error::other("the thread that starts programs has ended");
    orders.send((command, answer)).map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}
