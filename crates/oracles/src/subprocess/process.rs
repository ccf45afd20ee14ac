//! One running program: its pipes, and how long it may be silent.
//!
//! Three threads serve it, because each of the three pipes may block: one writes batches, one reads answers, one keeps
//! the end of standard error for messages. All of them end when the program does.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use landmark_core::untrusted::{escaped, redacted};

use super::group::Group;
use super::message::beginning;
use super::params::SubprocessParams;

/// Longest line of an answer: 64 MiB.
const LONGEST_LINE: usize = 1 << 26;
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Lines of standard error that are kept for a message.
const LINES_KEPT: usize = 8;
const WAITING: usize = 4;
/// Time that an ending program may take to end.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// Time that the standard error of a program that ended may take to end.
const STDERR_GRACE: Duration = Duration::from_millis(500);

pub(super) struct Process {
    group: Group,
    orders: Option<SyncSender<Vec<u8>>>,
    answers: Receiver<Heard>,
    stderr_tail: Arc<Mutex<VecDeque<String>>>,
}

pub(super) enum Heard {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
}

pub(super) struct Lost {
    /// `exited with status 3`, `was killed by signal 9`, `gave no answer for 60 s`.
    pub(super) what: String,
    /// The end of its standard error, as it goes into a message.
    pub(super) stderr: String,
}

impl Process {
    pub(super) fn start(params: &SubprocessParams) -> io::Result<Self> {
        let mut command = Command::new(&params.command[0]);
        command.args(&params.command[1..]).envs(&params.environment);
        // the folder of a file that is named without one
        if let Some(folder) = params.folder.as_ref().filter(|folder| !folder.as_os_str().is_empty()) {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let child = &mut group.child;
        let missing = || io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (orders, to_write) = mpsc::sync_channel(WAITING);
        let (heard, answers) = mpsc::sync_channel(WAITING);
        let stderr_tail = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&stderr_tail);
        thread::spawn(move || write_orders(stdin, &to_write));
        thread::spawn(move || read_answers(BufReader::with_capacity(1 << 16, stdout), &heard));
        thread::spawn(move || keep_stderr(BufReader::new(stderr), &kept));
        Ok(Self { group, orders: Some(orders), answers, stderr_tail })
    }

    /// Hands over a line. One that cannot be written is noticed when its answer stays away.
    pub(super) fn send(&self, line: Vec<u8>) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(line);
        }
    }

    pub(super) fn hear(&mut self, patience: Duration) -> Result<Heard, Lost> {
        match self.answers.recv_timeout(patience) {
            Ok(heard) => Ok(heard),
            Err(RecvTimeoutError::Timeout) => {
                let what = format!("gave no answer for {} s", patience.as_secs_f64());
                Err(Lost { what, stderr: self.stderr() })
            }
            Err(RecvTimeoutError::Disconnected) => {
                let what = match self.ended() {
                    Some(status) => describe(status),
                    None => "closed its standard output".to_owned(),
                };
                Err(Lost { what, stderr: self.stderr() })
            }
        }
    }

    /// The end of its standard error: `; its standard error: …`, or nothing.
    pub(super) fn stderr(&self) -> String {
        let lines = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        format!("; its standard error: {}", lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / "))
    }

    fn ended(&mut self) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < EXIT_GRACE {
            if let Ok(Some(status)) = self.group.child.try_wait() {
                // what it wrote last may still be on its way; what it started may keep its standard error open
                let last = Instant::now();
                while Arc::strong_count(&self.stderr_tail) > 1 && last.elapsed() < STDERR_GRACE {
                    thread::sleep(Duration::from_millis(5));
                }
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Process {
    /// Closes its standard input, upon which it should end, and ends what has not ended then: it, and what it started.
    fn drop(&mut self) {
        if !self.group.is_own() {
            return;
        }
        self.orders = None;
        let idle = matches!(self.answers.try_recv(), Err(mpsc::TryRecvError::Empty | mpsc::TryRecvError::Disconnected));
        if idle {
            self.ended();
        }
        self.group.kill();
    }
}

impl Process {
    /// Ends it at once: it hangs, or its answers are of no use any more.
    pub(super) fn kill(mut self) {
        self.group.kill();
    }
}

fn describe(status: std::process::ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => format!("was ended by {status}"),
    }
}

fn write_orders(mut stdin: ChildStdin, orders: &Receiver<Vec<u8>>) {
    for line in orders {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

pub(super) fn read_answers(mut stdout: impl BufRead, heard: &SyncSender<Heard>) {
    // .NET and PowerShell print it in front of all else
    let mut may_be_marked = true;
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut line);
        if !matches!(read, Ok(bytes) if bytes > 0) {
            return;
        }
        let is_whole = line.last() == Some(&b'\n');
        if std::mem::take(&mut may_be_marked) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if !is_whole && line.len() < LONGEST_LINE {
            // ended in the middle of a line: the report of how it ended is more informative
            return;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let next = if is_whole { Heard::Line(line) } else { Heard::TooLong(line) };
        if heard.send(next).is_err() {
            return;
        }
    }
}

fn keep_stderr(mut stderr: impl BufRead, kept: &Mutex<VecDeque<String>>) {
    loop {
        let mut line = Vec::new();
        let read = stderr.by_ref().take(1 << 16).read_until(b'\n', &mut line);
        if !matches!(read, Ok(bytes) if bytes > 0) {
            return;
        }
        let line = beginning(escaped(&redacted(String::from_utf8_lossy(&line).trim_end())));
        tracing::debug!("scoring program: {line}");
        let mut lines = kept.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(line);
        if lines.len() > LINES_KEPT {
            lines.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_in_front_of_the_output_is_passed_over() {
        let (heard, answers) = mpsc::sync_channel(WAITING);
        read_answers(&b"\xef\xbb\xbf{\"landmark\": 1}\r\n[1]\r\n"[..], &heard);
        drop(heard);
        let lines: Vec<Vec<u8>> = answers.iter().map(|(Heard::Line(line) | Heard::TooLong(line))| line).collect();
        assert_eq!(lines, [b"{\"landmark\": 1}\r\n".to_vec(), b"[1]\r\n".to_vec()]);
    }
}
